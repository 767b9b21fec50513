/* findings_text.c - a run's verdict and findings for a terminal: see report.h. */
#include <stdio.h>
#include <string.h>

#include "doc/lines.h"
#include "report/items.h"
#include "report/report.h"
#include "report/summary_text.h"

#define CODE_INDENT 23u

void mst_report_verdict_text(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_wrapped_styled(sink, MST_STYLE_STRONG, "", 0, MST_TEXT_WIDTH, s->verdict);
}

/* A sentence of the verdict, with its action below it: of two actions it is then clear which one is
 * for which sentence. Only the first has its prediction, which holds for the first action alone. */
static void put_headline(struct mst_sink *sink, const struct mst_summary *s, size_t which,
                         unsigned width)
{
    const struct mst_finding *f = &s->findings[which];

    mst_wrapped_styled(sink, MST_STYLE_STRONG, "", 0, width, s->headlines[which]);
    mst_wrapped(sink, "  do", MST_TEXT_INDENT, width, f->action);
    if (which == 0)
        mst_wrapped(sink, "  predicted", MST_TEXT_INDENT, width, f->predicted);
}

/* The findings behind the verdict by their names, each once. */
static void put_names(struct mst_sink *sink, const struct mst_summary *s, unsigned width)
{
    bool is_named[MST_CODE_COUNT] = { false };
    struct mst_items names = { 0 };
    size_t i;

    for (i = s->headline_count; i < s->finding_count; i++) {
        if (!is_named[s->findings[i].code])
            mst_items_add(&names, "%s", mst_code_names[s->findings[i].code]);
        is_named[s->findings[i].code] = true;
    }
    mst_wrapped(sink, "  also", MST_TEXT_INDENT, width, names.text);
}

void mst_summary_findings_text(struct mst_sink *sink, const struct mst_summary *s,
                               const struct mst_text_form *form)
{
    char lead[48], cause[MST_CAUSE_WORDS_MAX], text[sizeof s->findings->text + sizeof cause + 8];
    size_t i;

    for (i = 0; i < s->headline_count; i++)
        put_headline(sink, s, i, form->width);
    if (form->brief) {
        put_names(sink, s, form->width);
        return;
    }
    for (; i < s->finding_count; i++) {
        snprintf(lead, sizeof lead, "  %s", mst_code_names[s->findings[i].code]);
        mst_cause_words(cause, &s->findings[i].caused_by);
        snprintf(text, sizeof text, "%s%s%s%s", s->findings[i].text, cause[0] != '\0' ? " (" : "",
                 cause, cause[0] != '\0' ? ")" : "");
        mst_wrapped(sink, lead, CODE_INDENT, form->width, text);
    }
}

void mst_report_findings_text(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_summary_findings_text(sink, s, &(struct mst_text_form){ .width = MST_TEXT_WIDTH });
}

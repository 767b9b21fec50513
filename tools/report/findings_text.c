/* findings_text.c - a run's verdict and findings for a terminal: see report.h. */
#include <stdio.h>

#include "report/lines.h"
#include "report/report.h"

void mst_report_verdict_text(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_wrapped_styled(sink, MST_STYLE_STRONG, "", 0, MST_TEXT_WIDTH, s->verdict);
}

void mst_report_findings_text(struct mst_sink *sink, const struct mst_summary *s)
{
    char lead[48];
    size_t i;

    mst_report_verdict_text(sink, s);
    for (i = 0; i < s->finding_count; i++) {
        const struct mst_finding *f = &s->findings[i];

        if (i >= s->headline_count) {
            snprintf(lead, sizeof lead, "  %s", mst_code_names[f->code]);
            mst_wrapped(sink, lead, 23, MST_TEXT_WIDTH, f->text);
        } else if (f->action[0] != '\0') {
            mst_wrapped(sink, "  do", 12, MST_TEXT_WIDTH, f->action);
        }
        if (f->predicted[0] != '\0' && i == 0)
            mst_wrapped(sink, "  predicted", 12, MST_TEXT_WIDTH, f->predicted);
    }
}

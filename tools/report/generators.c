/* generators.c - a table of the load's generators: see generators.h. */
#include "report/generators.h"

#include <stdio.h>

#include "base/ratio.h"
#include "base/saturate.h"
#include "console/format.h"
#include "doc/table.h"
#include "report/metrics.h"

#define CLOCK_TEXT 80u

/* "312 s ahead, within 0.4 ms" */
static const char *clock_of(const struct mst_summary_generator *g, char text[CLOCK_TEXT])
{
    uint64_t apart = mst_magnitude(g->clock_ahead_ns);

    if (g->clock_uncertainty_ns == MST_UNKNOWN)
        snprintf(text, CLOCK_TEXT, "not known");
    else if (apart == 0)
        snprintf(text, CLOCK_TEXT, "the server's, within %s",
                 mst_format_time(g->clock_uncertainty_ns).text);
    else
        snprintf(text, CLOCK_TEXT, "%s %s, within %s", mst_format_time(apart).text,
                 g->clock_ahead_ns > 0 ? "ahead" : "behind",
                 mst_format_time(g->clock_uncertainty_ns).text);
    return text;
}

static uint64_t rate_milli(const struct mst_summary_generator *g)
{
    uint64_t span_ns = g->last_ns - g->first_ns;

    if (g->last_ns == MST_UNKNOWN || g->first_ns == MST_UNKNOWN || g->last_ns <= g->first_ns)
        return MST_UNKNOWN;
    return mst_rate_milli(g->requests, span_ns);
}

static const char *rest_of(const struct mst_summary *s, const struct mst_summary_generator *g)
{
    return g == mst_summary_limit(s) ? "at its limit" : g->cut_short || g->bad_lines > 0
                                     ? "cut short" : "";
}

void mst_generators_put(const struct mst_doc *doc, const struct mst_summary *s)
{
    static const struct mst_doc_column columns[] = {
        { "generator", .kind = MST_DOC_NAME },
        { "requests", .quantity = MST_QUANTITY_COUNT },
        { "failed", .quantity = MST_QUANTITY_COUNT },
        { "dropped", .quantity = MST_QUANTITY_COUNT },
        { "per s", .quantity = MST_QUANTITY_RATE },
        { "CPU", .quantity = MST_QUANTITY_SHARE },
        { "its clock", .kind = MST_DOC_WORDS },
        { "", .kind = MST_DOC_WORDS },
    };
    char clock[CLOCK_TEXT];
    struct mst_doc_table t;
    size_t i;

    if (s->generator_count == 0)
        return;
    mst_doc_heading(doc, "Generators of the load");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < s->generator_count; i++) {
        const struct mst_summary_generator *g = &s->generators[i];
        const char *rest = rest_of(s, g);

        mst_doc_row(&t, rest[0] != '\0' ? MST_STYLE_WARNING : MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s", g->name);
        mst_doc_number(&t, g->requests);
        mst_doc_number(&t, g->failed);
        mst_doc_number(&t, g->dropped);
        mst_doc_number(&t, rate_milli(g));
        mst_doc_number(&t, g->cpu_milli);
        mst_doc_words(&t, "%s", clock_of(g, clock));
        mst_doc_words(&t, "%s", rest);
    }
    mst_doc_table_end(&t, doc, "Generators of the load", "numbers");
    mst_doc_space(doc);
}

static void put_generator(struct mst_json *j, const struct mst_summary *s,
                          const struct mst_summary_generator *g)
{
    uint64_t apart = mst_magnitude(g->clock_ahead_ns);

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", g->name);
    mst_json_string(j, "tool", g->tool);
    mst_json_count(j, "requests", g->requests);
    mst_json_count(j, "failed", g->failed);
    mst_json_count(j, "dropped", g->dropped);
    mst_json_count(j, "bad_lines", g->bad_lines);
    mst_json_instant(j, "first", g->first_ns);
    mst_json_instant(j, "last", g->last_ns);
    mst_json_value(j, "clock_ahead_seconds");
    if (g->clock_uncertainty_ns == MST_UNKNOWN) {
        mst_sink_puts(j->out, "null");
    } else {
        mst_sink_puts(j->out, g->clock_ahead_ns < 0 ? "-" : "");
        mst_sink_seconds(j->out, apart);
    }
    mst_json_seconds(j, "clock_uncertainty_seconds", g->clock_uncertainty_ns);
    mst_put_milli(j, "fitting", g->fitting_milli);
    mst_put_milli(j, "cpu", g->cpu_milli);
    mst_json_bool(j, "cut_short", g->cut_short);
    mst_json_bool(j, "at_limit", g == mst_summary_limit(s));
    mst_json_end(j, '}');
}

void mst_generators_json(struct mst_json *j, const struct mst_summary *s)
{
    size_t i;

    if (s->generator_count == 0)
        return;
    mst_json_line(j, 1);
    mst_json_begin(j, "generators", '[');
    for (i = 0; i < s->generator_count; i++)
        put_generator(j, s, &s->generators[i]);
    mst_json_end(j, ']');
}

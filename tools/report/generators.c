/* generators.c - a table of the load's generators: see generators.h. */
#include "report/generators.h"

#include <stdio.h>

#include "console/format.h"
#include "report/lines.h"
#include "report/markup.h"
#include "report/page.h"

#define CLOCK_TEXT 80u

/* "312 s ahead, within 0.4 ms" */
static const char *clock_of(const struct mst_summary_generator *g, char text[CLOCK_TEXT])
{
    uint64_t apart = (uint64_t)(g->clock_ahead_ns < 0 ? -g->clock_ahead_ns : g->clock_ahead_ns);

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

static struct mst_formatted rate_of(const struct mst_summary_generator *g)
{
    uint64_t span_ns = g->last_ns - g->first_ns;

    if (g->last_ns == MST_UNKNOWN || g->first_ns == MST_UNKNOWN || g->last_ns <= g->first_ns)
        return mst_format_milli(MST_UNKNOWN);
    return mst_format_milli((uint64_t)((unsigned __int128)g->requests * 1000 * 1000000000u /
                                       span_ns));
}

static struct mst_formatted cpu_of(const struct mst_summary_generator *g)
{
    return mst_format_percent(g->cpu_milli);
}

static const char *rest_of(const struct mst_summary *s, const struct mst_summary_generator *g)
{
    return g == mst_summary_limit(s) ? "at its limit" : g->cut_short || g->bad_lines > 0
                                     ? "cut short" : "";
}

void mst_generators_text(struct mst_sink *sink, const struct mst_summary *s)
{
    char clock[CLOCK_TEXT];
    size_t i;

    if (s->generator_count == 0)
        return;
    mst_line(sink, "  %9s%9s%9s%9s%8s   %s", "requests", "failed", "dropped", "per s", "CPU",
             "generator, and its clock");
    for (i = 0; i < s->generator_count; i++) {
        const struct mst_summary_generator *g = &s->generators[i];
        const char *rest = rest_of(s, g);

        mst_line_styled(sink, rest[0] != '\0' ? MST_STYLE_WARNING : MST_STYLE_PLAIN,
                        "  %9s%9s%9s%9s%8s   %s%s%s", mst_format_count(g->requests).text,
                        mst_format_count(g->failed).text, mst_format_count(g->dropped).text,
                        rate_of(g).text, cpu_of(g).text, g->name, rest[0] != '\0' ? ": " : "",
                        rest);
        mst_line(sink, "  %44s   %s", "", clock_of(g, clock));
    }
    mst_sink_char(sink, '\n');
}

void mst_generators_markdown(struct mst_sink *sink, const struct mst_summary *s)
{
    char clock[CLOCK_TEXT];
    size_t i;

    if (s->generator_count == 0)
        return;
    mst_markdown(sink, "\n| generator | requests | failed | dropped | per s | CPU | its clock | |\n"
                 "|---|--:|--:|--:|--:|--:|---|---|\n");
    for (i = 0; i < s->generator_count; i++) {
        const struct mst_summary_generator *g = &s->generators[i];

        mst_markdown(sink, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", g->name,
                     mst_format_count(g->requests).text, mst_format_count(g->failed).text,
                     mst_format_count(g->dropped).text, rate_of(g).text, cpu_of(g).text,
                     clock_of(g, clock), rest_of(s, g));
    }
}

void mst_generators_html(struct mst_sink *sink, const struct mst_summary *s)
{
    char clock[CLOCK_TEXT];
    size_t i;

    if (s->generator_count == 0)
        return;
    mst_html(sink, "<h3>Generators of the load</h3>\n");
    mst_page_table(sink, "Generators of the load", "numbers");
    mst_html(sink, "<thead><tr><th scope=\"col\">file</th><th scope=\"col\">requests</th>"
             "<th scope=\"col\">failed</th><th scope=\"col\">dropped</th><th scope=\"col\">per s"
             "</th><th scope=\"col\">CPU</th><th scope=\"col\">its clock</th><th scope=\"col\">"
             "</th></tr></thead><tbody>\n");
    for (i = 0; i < s->generator_count; i++) {
        const struct mst_summary_generator *g = &s->generators[i];

        mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td>"
                 "<td>%s</td><td>%s</td><td>%s</td></tr>\n", g->name,
                 mst_format_count(g->requests).text, mst_format_count(g->failed).text,
                 mst_format_count(g->dropped).text, rate_of(g).text, cpu_of(g).text,
                 clock_of(g, clock), rest_of(s, g));
    }
    mst_html(sink, MST_PAGE_TABLE_END);
}

static void put_generator(struct mst_json *j, const struct mst_summary *s,
                          const struct mst_summary_generator *g)
{
    uint64_t apart = (uint64_t)(g->clock_ahead_ns < 0 ? -g->clock_ahead_ns : g->clock_ahead_ns);

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

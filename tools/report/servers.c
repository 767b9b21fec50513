/* servers.c - tables of a run's servers: see servers.h.
 *
 * Percentiles of all together are not known from those of each; mean and maximum are.
 */
#include "report/servers.h"

#include <stdio.h>

#include "console/format.h"
#include "report/lines.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/resources.h"
#include "segment/format.h"

#define NAME_COLUMN 67u
#define COLUMNS     7

static const char *const columns[COLUMNS] = {
    "requests", "requests/s", "mean", "max", "5xx", "busy", "limit",
};

struct row { struct mst_formatted cells[COLUMNS]; };

typedef void put_row(struct mst_sink *sink, const struct row *row, const char *name, bool is_all);

static struct row row_of(uint64_t requests, uint64_t rate_milli,
                         const struct mst_summary_times *total, uint64_t errors,
                         uint64_t busy_milli, uint64_t limit)
{
    bool is_timed = total->count > 0;

    return (struct row){ {
        mst_format_count(requests), mst_format_milli(rate_milli),
        mst_format_time(is_timed ? total->mean_ns : MST_UNKNOWN),
        mst_format_time(is_timed ? total->max_ns : MST_UNKNOWN), mst_format_count(errors),
        mst_format_milli(busy_milli), mst_format_count(limit),
    } };
}

/* Puts the servers of a kind, and all of them together. */
static void put_rows(struct mst_sink *sink, const struct mst_summary *s, bool php, put_row *put)
{
    const struct mst_summary_all all = mst_summary_all(s, php);
    char name[64];
    struct row row;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *one = &s->servers[i];

        if (mst_summary_is_php(one) != php)
            continue;
        row = row_of(one->requests, mst_summary_rate_milli(s, one), &one->phases[MST_PHASE_TOTAL],
                     one->errors_5xx, one->mean_busy_milli, one->workers_limit);
        put(sink, &row, mst_summary_called(one), false);
    }
    row = row_of(all.requests, all.rate_milli, &all.phases[MST_PHASE_TOTAL], all.errors_5xx,
                 all.mean_busy_milli, all.workers_limit);
    snprintf(name, sizeof name, "all %zu together", all.count);
    put(sink, &row, name, true);
}

/* ---- text ------------------------------------------------------------------------ */

static void put_text_row(struct mst_sink *sink, const struct row *row, const char *name,
                         bool is_all)
{
    const struct mst_formatted *c = row->cells;
    char figures[256];

    snprintf(figures, sizeof figures, "  %9s%12s%9s%9s%7s%9s%7s", c[0].text, c[1].text, c[2].text,
             c[3].text, c[4].text, c[5].text, c[6].text);
    figures[NAME_COLUMN - 1] = '\0';
    mst_wrapped_styled(sink, is_all ? MST_STYLE_STRONG : MST_STYLE_PLAIN, figures, NAME_COLUMN,
                       MST_TEXT_WIDTH, name);
}

void mst_servers_text(struct mst_sink *sink, const struct mst_summary *s)
{
    int php;

    for (php = 0; php < 2; php++) {
        if (mst_summary_all(s, php).count < 2)
            continue;
        mst_line(sink, "  %9s%12s%9s%9s%7s%9s%7s   %s", columns[0], columns[1], columns[2],
                 columns[3], columns[4], columns[5], columns[6], "server");
        put_rows(sink, s, php, put_text_row);
        mst_sink_char(sink, '\n');
    }
}

/* ---- Markdown -------------------------------------------------------------------- */

static void put_markdown_row(struct mst_sink *sink, const struct row *row, const char *name,
                             bool is_all)
{
    size_t i;

    mst_markdown(sink, is_all ? "| **%s** |" : "| %s |", name);
    for (i = 0; i < COLUMNS; i++)
        mst_markdown(sink, " %s |", row->cells[i].text);
    mst_markdown(sink, "\n");
}

void mst_servers_markdown(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;
    int php;

    for (php = 0; php < 2; php++) {
        if (mst_summary_all(s, php).count < 2)
            continue;
        mst_markdown(sink, "\n| server |");
        for (i = 0; i < COLUMNS; i++)
            mst_markdown(sink, " %s |", columns[i]);
        mst_markdown(sink, "\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
        put_rows(sink, s, php, put_markdown_row);
    }
}

/* ---- HTML ------------------------------------------------------------------------ */

static void put_html_row(struct mst_sink *sink, const struct row *row, const char *name,
                         bool is_all)
{
    size_t i;

    mst_html(sink, is_all ? "<tr><th scope=\"row\"><strong>%s</strong></th>"
                          : "<tr><th scope=\"row\">%s</th>", name);
    for (i = 0; i < COLUMNS; i++)
        mst_html(sink, "<td>%s</td>", row->cells[i].text);
    mst_html(sink, "</tr>\n");
}

void mst_servers_html(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;
    int php;

    for (php = 0; php < 2; php++) {
        if (mst_summary_all(s, php).count < 2)
            continue;
        mst_html(sink, "<h3>%s</h3>\n", php ? "PHPs" : "Servers");
        mst_page_table(sink, php ? "PHPs" : "Servers", "numbers");
        mst_html(sink, "<thead><tr><th scope=\"col\">server</th>");
        for (i = 0; i < COLUMNS; i++)
            mst_html(sink, "<th scope=\"col\">%s</th>", columns[i]);
        mst_html(sink, "</tr></thead><tbody>\n");
        put_rows(sink, s, php, put_html_row);
        mst_html(sink, MST_PAGE_TABLE_END);
    }
    if (mst_summary_fronts(s).count > 1)
        mst_html(sink, "<p>Phases, tables and the slowest requests below are those of %s.</p>\n",
                 mst_summary_called(mst_summary_front(s)));
}

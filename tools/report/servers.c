/* servers.c - tables of a run's servers: see servers.h.
 *
 * Percentiles of all together are not known from those of each; mean and maximum are.
 */
#include "report/servers.h"

#include <stdio.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "console/format.h"
#include "report/lines.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/summary_text.h"
#include "segment/format.h"

#define LINE_WIDTH 100u   /* of text: the figures leave little for long names */
#define NAME_LEAST 10u
#define BRIEF_ROWS 6u     /* servers; where there are more, the row of all together stands alone */

enum column {
    REQUESTS, RATE, MEAN, P50, P95, P99, MAX, ERRORS, PHP_WAIT, BUSY, LIMIT, COLUMNS
};

static const struct { const char *name, *in_text; enum mst_metric_unit unit; int width; }
columns[COLUMNS] = {
    [REQUESTS] = { "requests", "requests", MST_METRIC_COUNT, 10 },
    [RATE]     = { "requests/s", "per s", MST_METRIC_RATE, 7 },
    [MEAN]     = { "mean", "mean", MST_METRIC_TIME, 8 },
    [P50]      = { "p50", "p50", MST_METRIC_TIME, 8 },
    [P95]      = { "p95", "p95", MST_METRIC_TIME, 8 },
    [P99]      = { "p99", "p99", MST_METRIC_TIME, 8 },
    [MAX]      = { "max", "max", MST_METRIC_TIME, 8 },
    [ERRORS]   = { "5xx", "5xx", MST_METRIC_COUNT, 5 },
    [PHP_WAIT] = { "php_wait, mean", "php_wait", MST_METRIC_TIME, 9 },
    [BUSY]     = { "busy, mean", "busy", MST_METRIC_MEAN, 6 },
    [LIMIT]    = { "of limit", "of", MST_METRIC_COUNT, 5 },
};

/* Those of a kind, and which columns are shown, 1u << column each; width: of text. */
struct table { const struct mst_summary *s; bool php; unsigned shown, width; };

struct row { const char *name; bool is_all; uint64_t cells[COLUMNS]; };

typedef void put_row(struct mst_sink *sink, const struct table *table, const struct row *row);

static bool is_of(const struct table *table, const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) == table->php;
}

static bool is_shown(const struct table *table, size_t column)
{
    return (table->shown & 1u << column) != 0;
}

/* MST_UNKNOWN: none of its requests came to a PHP, as far as that is known. */
static uint64_t php_wait_of(const struct mst_summary_server *server)
{
    const struct mst_summary_times *wait = mst_php_wait(server);
    uint64_t came = mst_summary_is_php(server) ? wait->count : server->php.joined;

    return came > 0 && wait->count > 0 ? wait->mean_ns : MST_UNKNOWN;
}

/* percentiles: as mst_report_text() has them. PHP's wait is left out where none knows of PHP. */
static struct table table_of(const struct mst_summary *s, bool php, unsigned percentiles)
{
    static const struct { enum column column; enum mst_percentile percentile; } quantiles[] = {
        { P50, MST_P50 }, { P95, MST_P95 }, { P99, MST_P99 },
    };
    struct table table = { s, php, (1u << COLUMNS) - 1 - (1u << PHP_WAIT), LINE_WIDTH };
    size_t i;

    for (i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        if (!mst_percentile_is_shown(percentiles, quantiles[i].percentile))
            table.shown &= ~(1u << quantiles[i].column);
    for (i = 0; i < s->server_count; i++)
        if (is_of(&table, &s->servers[i]) && php_wait_of(&s->servers[i]) != MST_UNKNOWN)
            table.shown |= 1u << PHP_WAIT;
    return table;
}

static uint64_t mean_of(const struct mst_summary_times *t)
{
    return t->count > 0 ? t->mean_ns : MST_UNKNOWN;
}

static uint64_t percentile_of(const struct mst_summary_times *t, enum mst_percentile percentile)
{
    return t->count > 0 ? mst_summary_percentile(t, percentile) : MST_UNKNOWN;
}

static struct row row_of(const struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_times *total = &server->phases[MST_PHASE_TOTAL];

    return (struct row){ mst_summary_called(server), false, {
        [REQUESTS] = server->requests, [RATE] = mst_summary_rate_milli(s, server),
        [MEAN] = mean_of(total), [P50] = percentile_of(total, MST_P50),
        [P95] = percentile_of(total, MST_P95), [P99] = percentile_of(total, MST_P99),
        [MAX] = total->count > 0 ? total->max_ns : MST_UNKNOWN, [ERRORS] = server->errors_5xx,
        [PHP_WAIT] = php_wait_of(server), [BUSY] = server->mean_busy_milli,
        [LIMIT] = server->workers_limit,
    } };
}

static struct row row_of_all(const struct mst_summary_all *all, const char *name)
{
    const struct mst_summary_times *total = &all->phases[MST_PHASE_TOTAL];

    return (struct row){ name, true, {
        [REQUESTS] = all->requests, [RATE] = all->rate_milli, [MEAN] = mean_of(total),
        [P50] = MST_UNKNOWN, [P95] = MST_UNKNOWN, [P99] = MST_UNKNOWN,
        [MAX] = total->count > 0 ? total->max_ns : MST_UNKNOWN, [ERRORS] = all->errors_5xx,
        [PHP_WAIT] = MST_UNKNOWN, [BUSY] = all->mean_busy_milli, [LIMIT] = all->workers_limit,
    } };
}

/* Puts the servers of a kind together. */
static void put_sum(struct mst_sink *sink, const struct table *table, put_row *put)
{
    const struct mst_summary_all all = mst_summary_all(table->s, table->php);
    char name[64];
    struct row row;

    snprintf(name, sizeof name, "all %zu together", all.count);
    row = row_of_all(&all, name);
    put(sink, table, &row);
}

/* Puts the servers of a kind, and all of them together. */
static void put_rows(struct mst_sink *sink, const struct table *table, put_row *put)
{
    struct row row;
    size_t i;

    for (i = 0; i < table->s->server_count; i++) {
        if (!is_of(table, &table->s->servers[i]))
            continue;
        row = row_of(table->s, &table->s->servers[i]);
        put(sink, table, &row);
    }
    put_sum(sink, table, put);
}

static struct mst_formatted text_of(const struct row *row, size_t column)
{
    if (row->cells[column] == MST_UNKNOWN)
        return (struct mst_formatted){ "-" };
    return mst_metric_format(columns[column].unit, row->cells[column]);
}

/* ---- text ------------------------------------------------------------------------ */

/* A figure that is too long for its column moves what is right of it. */
static void put_text_line(struct mst_sink *sink, enum mst_style style, const struct table *table,
                          const char *const cells[COLUMNS], const char *name)
{
    char figures[512] = "";
    size_t used = 0, i;

    for (i = 0; i < COLUMNS; i++)
        if (is_shown(table, i)) {
            snprintf(figures + used, sizeof figures - used, "%*s", columns[i].width, cells[i]);
            used = strlen(figures);
        }
    used = used + 2 < table->width - NAME_LEAST ? used + 2 : table->width - NAME_LEAST;
    mst_wrapped_styled(sink, style, figures, (unsigned)used, table->width, name);
}

static void put_text_head(struct mst_sink *sink, const struct table *table)
{
    const char *names[COLUMNS];
    size_t i;

    for (i = 0; i < COLUMNS; i++)
        names[i] = columns[i].in_text;
    put_text_line(sink, MST_STYLE_PLAIN, table, names, "server");
}

static void put_text_row(struct mst_sink *sink, const struct table *table, const struct row *row)
{
    struct mst_formatted figures[COLUMNS];
    const char *cells[COLUMNS];
    size_t i;

    for (i = 0; i < COLUMNS; i++) {
        figures[i] = text_of(row, i);
        cells[i] = figures[i].text;
    }
    put_text_line(sink, row->is_all ? MST_STYLE_STRONG : MST_STYLE_PLAIN, table, cells, row->name);
}

static size_t count_used(const struct mst_summary *s, bool php)
{
    size_t count = 0, i;

    for (i = 0; i < s->server_count; i++)
        count += mst_summary_is_php(&s->servers[i]) == php && s->servers[i].requests > 0;
    return count;
}

void mst_servers_text(struct mst_sink *sink, const struct mst_summary *s,
                      const struct mst_text_form *form)
{
    struct table table;
    size_t count;
    int php;

    for (php = 0; php < 2; php++) {
        count = mst_summary_all(s, php).count;
        if ((form->brief ? count_used(s, php) : count) < 2)
            continue;
        table = table_of(s, php, form->percentiles);
        if (form->brief) {
            table.shown &= ~(1u << MAX);
            table.width = form->width;
        }
        put_text_head(sink, &table);
        if (form->brief && count > BRIEF_ROWS)
            put_sum(sink, &table, put_text_row);
        else
            put_rows(sink, &table, put_text_row);
        mst_sink_char(sink, '\n');
    }
}

/* ---- Markdown -------------------------------------------------------------------- */

static void put_markdown_row(struct mst_sink *sink, const struct table *table,
                             const struct row *row)
{
    size_t i;

    mst_markdown(sink, row->is_all ? "| **%s** |" : "| %s |", row->name);
    for (i = 0; i < COLUMNS; i++)
        if (is_shown(table, i))
            mst_markdown(sink, " %s |", text_of(row, i).text);
    mst_markdown(sink, "\n");
}

static void put_markdown_table(struct mst_sink *sink, const struct table *table)
{
    size_t i;

    mst_markdown(sink, "\n| server |");
    for (i = 0; i < COLUMNS; i++)
        if (is_shown(table, i))
            mst_markdown(sink, " %s |", columns[i].name);
    mst_markdown(sink, "\n|---|");
    for (i = 0; i < COLUMNS; i++)
        if (is_shown(table, i))
            mst_markdown(sink, "--:|");
    mst_markdown(sink, "\n");
    put_rows(sink, table, put_markdown_row);
}

void mst_servers_markdown(struct mst_sink *sink, const struct mst_summary *s)
{
    struct table table;
    int php;

    for (php = 0; php < 2; php++) {
        table = table_of(s, php, 0);
        if (mst_summary_all(s, php).count > 1)
            put_markdown_table(sink, &table);
    }
}

/* ---- HTML ------------------------------------------------------------------------ */

/* What is not known of all together is not said in each cell: the figures of each do not tell. */
static void put_html_row(struct mst_sink *sink, const struct table *table, const struct row *row)
{
    size_t i;

    mst_html(sink, row->is_all ? "<tr><th scope=\"row\"><strong>%s</strong></th>"
                               : "<tr><th scope=\"row\">%s</th>", row->name);
    for (i = 0; i < COLUMNS; i++) {
        if (!is_shown(table, i))
            continue;
        if (row->cells[i] == MST_UNKNOWN)
            mst_html(sink, row->is_all ? "<td></td>" : "<td class=\"unknown\">–</td>");
        else
            mst_page_cell(sink, columns[i].unit, row->cells[i]);
    }
    mst_html(sink, "</tr>\n");
}

static void put_html_table(struct mst_sink *sink, const struct table *table)
{
    const char *name = table->php ? "PHPs" : "Servers";
    size_t i;

    mst_html(sink, "<h3>%s</h3>\n", name);
    mst_page_table(sink, name, "servers");
    mst_html(sink, "<thead><tr><th scope=\"col\">server</th>");
    for (i = 0; i < COLUMNS; i++)
        if (is_shown(table, i))
            mst_html(sink, "<th scope=\"col\">%s</th>", columns[i].name);
    mst_html(sink, "</tr></thead><tbody>\n");
    put_rows(sink, table, put_html_row);
    mst_html(sink, MST_PAGE_TABLE_END);
}

void mst_servers_html(struct mst_sink *sink, const struct mst_summary *s)
{
    struct table table;
    int php;

    for (php = 0; php < 2; php++) {
        table = table_of(s, php, 0);
        if (mst_summary_all(s, php).count > 1)
            put_html_table(sink, &table);
    }
}

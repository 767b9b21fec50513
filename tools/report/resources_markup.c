/* resources_markup.c - pools of a run as tables of HTML and Markdown: see resources.h. */
#include <stdio.h>

#include "analysis/resources.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/resources.h"
#include "segment/fields.h"

/* The figures of a pool, in the order of both tables. */
static const struct { const char *name; enum mst_metric_unit unit; } columns[] = {
    { "limit", MST_METRIC_COUNT }, { "busy, mean", MST_METRIC_MEAN },
    { "busy, most seen", MST_METRIC_COUNT }, { "time at the limit", MST_METRIC_SHARE },
    { "limit reached", MST_METRIC_COUNT }, { "requests", MST_METRIC_COUNT },
    { "php_wait, mean", MST_METRIC_TIME }, { "php_run, mean", MST_METRIC_TIME },
    { "memory of a request, most", MST_METRIC_BYTES },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void figures_of(const struct mst_summary_pool *p, uint64_t figures[COLUMNS])
{
    const uint64_t all[] = {
        p->workers_limit, p->mean_busy_milli, p->max_busy, p->at_limit_milli, p->limit_reached,
        p->requests, mst_pool_mean_wait_ns(p), mst_pool_mean_run_ns(p), p->max_memory_bytes,
    };
    size_t i;

    _Static_assert(sizeof all / sizeof *all == COLUMNS, "a figure for each column");
    for (i = 0; i < COLUMNS; i++)
        figures[i] = all[i];
}

/* ---- HTML ---------------------------------------------------------------------------- */

/* The longest wait of php_run, as far as it is measured. */
static void put_longest_wait(struct mst_sink *sink, const struct mst_summary_pool *pool)
{
    int i, longest = 0;

    for (i = 1; i < MST_WAIT_COUNT; i++)
        if (pool->waits_sum_ns[i] > pool->waits_sum_ns[longest])
            longest = i;
    if (pool->measured == 0 || pool->waits_sum_ns[longest] == 0)
        mst_html(sink, "<td></td>");
    else
        mst_html(sink, "<td>%s, %s</td>", mst_wait_names[longest],
                 mst_metric_format(MST_METRIC_TIME,
                                   pool->waits_sum_ns[longest] / pool->measured).text);
}

static void put_html_row(struct mst_sink *sink, const struct mst_summary_pool *pool)
{
    uint64_t figures[COLUMNS];
    size_t i;

    figures_of(pool, figures);
    mst_html(sink, "<tr><th scope=\"row\">%s</th>", pool->label);
    for (i = 0; i < COLUMNS; i++)
        mst_page_cell(sink, columns[i].unit, figures[i]);
    put_longest_wait(sink, pool);
    mst_html(sink, "</tr>\n");
}

/* Of several PHPs the name; of one, nothing. */
static const char *name_among(const struct mst_summary *s, const struct mst_summary_server *php)
{
    return mst_summary_all(s, true).count > 1 ? mst_summary_called(php) : "";
}

static void put_html_table(struct mst_sink *sink, const struct mst_summary *s,
                           const struct mst_summary_server *server)
{
    const char *name = name_among(s, server);
    size_t i;

    mst_html(sink, "<h3>Pools of PHP-FPM%s%s</h3>\n", name[0] != '\0' ? ": " : "", name);
    mst_html(sink, "<p>Requests, waits and memory by the pool's label. "
             "Time at the limit is the share of samples in which all its workers were busy; limit "
             "reached is how often a request ended while they were, looked at once a second."
             "</p>\n");
    mst_page_table(sink, "Pools", "pools");
    mst_html(sink, "<thead><tr><th scope=\"col\">pool</th>");
    for (i = 0; i < COLUMNS; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", columns[i].name);
    mst_html(sink, "<th scope=\"col\">longest wait, mean</th></tr></thead><tbody>\n");
    for (i = 0; i < server->pool_count; i++)
        if (mst_pool_was_used(&server->pools[i]))
            put_html_row(sink, &server->pools[i]);
    mst_html(sink, MST_PAGE_TABLE_END);
}

void mst_pools_html(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (mst_pools_matter(&s->servers[i]))
            put_html_table(sink, s, &s->servers[i]);
}

/* ---- Markdown ------------------------------------------------------------------------ */

static void put_markdown_row(struct mst_sink *sink, const struct mst_summary_pool *pool)
{
    uint64_t figures[COLUMNS];
    size_t i;

    figures_of(pool, figures);
    mst_markdown(sink, "| %s |", pool->label);
    for (i = 0; i < COLUMNS; i++)
        mst_markdown(sink, " %s |", mst_metric_format(columns[i].unit, figures[i]).text);
    mst_markdown(sink, "\n");
}

void mst_pools_markdown(struct mst_sink *sink, const struct mst_summary *s, const char *run)
{
    const char *name;
    size_t i, k;

    for (i = 0; i < s->server_count; i++) {
        if (!mst_pools_matter(&s->servers[i]))
            continue;
        name = name_among(s, &s->servers[i]);
        mst_markdown(sink, "\n### Pools of PHP-FPM: %s%s%s\n\n| pool |", run,
                     name[0] != '\0' ? ", " : "", name);
        for (k = 0; k < COLUMNS; k++)
            mst_markdown(sink, " %s |", columns[k].name);
        mst_markdown(sink, "\n|---|");
        for (k = 0; k < COLUMNS; k++)
            mst_markdown(sink, "--:|");
        mst_markdown(sink, "\n");
        for (k = 0; k < s->servers[i].pool_count; k++)
            if (mst_pool_was_used(&s->servers[i].pools[k]))
                put_markdown_row(sink, &s->servers[i].pools[k]);
    }
}

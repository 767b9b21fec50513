/* servers.c - tables of a run's servers: see servers.h.
 *
 * Percentiles of all together are not known from those of each; mean and maximum are.
 */
#include "report/servers.h"

#include "analysis/bottleneck.h"
#include "doc/table.h"
#include "report/summary_text.h"
#include "segment/format.h"

#define BRIEF_ROWS 6u     /* servers; where there are more, the row of all together stands alone */

enum column {
    SERVER, REQUESTS, RATE, MEAN, P50, P95, P99, MAX, ERRORS, PHP_WAIT, BUSY, LIMIT, COLUMNS
};

static const struct mst_doc_column columns[COLUMNS] = {
    [SERVER]   = { "server", .kind = MST_DOC_NAME },
    [REQUESTS] = { "requests", .quantity = MST_QUANTITY_COUNT },
    [RATE]     = { "requests/s", .word = "per s", .quantity = MST_QUANTITY_RATE },
    [MEAN]     = { "mean", .quantity = MST_QUANTITY_TIME },
    [P50]      = { "p50", .quantity = MST_QUANTITY_TIME },
    [P95]      = { "p95", .quantity = MST_QUANTITY_TIME },
    [P99]      = { "p99", .quantity = MST_QUANTITY_TIME },
    [MAX]      = { "max", .quantity = MST_QUANTITY_TIME },
    [ERRORS]   = { "5xx", .quantity = MST_QUANTITY_COUNT },
    [PHP_WAIT] = { "php_wait", "mean", "php_wait", .quantity = MST_QUANTITY_TIME },
    [BUSY]     = { "busy", "mean", "busy", .quantity = MST_QUANTITY_MEAN },
    [LIMIT]    = { "of limit", .word = "of", .quantity = MST_QUANTITY_COUNT },
};

/* MST_UNKNOWN: none of its requests came to a PHP, as far as that is known. */
static uint64_t php_wait_of(const struct mst_summary_server *server)
{
    const struct mst_summary_times *wait = mst_php_wait(server);
    uint64_t came = mst_summary_is_php(server) ? wait->count : server->php.joined;

    return came > 0 && wait->count > 0 ? wait->mean_ns : MST_UNKNOWN;
}

static bool any_knows_php(const struct mst_summary *s, bool php)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) == php &&
            php_wait_of(&s->servers[i]) != MST_UNKNOWN)
            return true;
    return false;
}

static void hide(struct mst_doc_table *t, const struct mst_summary *s, bool php,
                 const struct mst_text_form *form)
{
    static const struct { enum column column; enum mst_percentile percentile; } quantiles[] = {
        { P50, MST_P50 }, { P95, MST_P95 }, { P99, MST_P99 },
    };
    size_t i;

    for (i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        if (!mst_percentile_is_shown(form->percentiles, quantiles[i].percentile))
            mst_doc_hide(t, quantiles[i].column);
    if (form->brief)
        mst_doc_hide(t, MAX);
    if (!any_knows_php(s, php))
        mst_doc_hide(t, PHP_WAIT);
}

static void put_server(struct mst_doc_table *t, const struct mst_summary *s,
                       const struct mst_summary_server *server)
{
    const struct mst_summary_times *total = &server->phases[MST_PHASE_TOTAL];
    bool known = total->count > 0;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", mst_summary_called(server));
    mst_doc_number(t, server->requests);
    mst_doc_number(t, mst_summary_rate_milli(s, server));
    mst_doc_number(t, known ? total->mean_ns : MST_UNKNOWN);
    mst_doc_number(t, known ? mst_summary_percentile(total, MST_P50) : MST_UNKNOWN);
    mst_doc_number(t, known ? mst_summary_percentile(total, MST_P95) : MST_UNKNOWN);
    mst_doc_number(t, known ? mst_summary_percentile(total, MST_P99) : MST_UNKNOWN);
    mst_doc_number(t, known ? total->max_ns : MST_UNKNOWN);
    mst_doc_number(t, server->errors_5xx);
    mst_doc_number(t, php_wait_of(server));
    mst_doc_number(t, server->mean_busy_milli);
    mst_doc_number(t, server->workers_limit);
}

/* What is not known of all together is left blank: the figures of each do not tell it. */
static void put_sum(struct mst_doc_table *t, const struct mst_summary_all *all)
{
    const struct mst_summary_times *total = &all->phases[MST_PHASE_TOTAL];
    bool known = total->count > 0;

    mst_doc_row(t, MST_STYLE_STRONG);
    mst_doc_words(t, "all %zu together", all->count);
    mst_doc_known(t, all->requests);
    mst_doc_known(t, all->rate_milli);
    mst_doc_known(t, known ? total->mean_ns : MST_UNKNOWN);
    mst_doc_blank(t);
    mst_doc_blank(t);
    mst_doc_blank(t);
    mst_doc_known(t, known ? total->max_ns : MST_UNKNOWN);
    mst_doc_known(t, all->errors_5xx);
    mst_doc_blank(t);
    mst_doc_known(t, all->mean_busy_milli);
    mst_doc_known(t, all->workers_limit);
}

static size_t count_used(const struct mst_summary *s, bool php)
{
    size_t count = 0, i;

    for (i = 0; i < s->server_count; i++)
        count += mst_summary_is_php(&s->servers[i]) == php && s->servers[i].requests > 0;
    return count;
}

static void put_table(const struct mst_doc *doc, const struct mst_summary *s, bool php,
                      const struct mst_text_form *form)
{
    const struct mst_summary_all all = mst_summary_all(s, php);
    const char *name = php ? "PHPs" : "Servers";
    struct mst_doc_table t;
    size_t i;

    if ((form->brief ? count_used(s, php) : all.count) < 2)
        return;
    mst_doc_heading(doc, "%s", name);
    mst_doc_table_begin(&t, columns, COLUMNS);
    hide(&t, s, php, form);
    for (i = 0; i < s->server_count && (!form->brief || all.count <= BRIEF_ROWS); i++)
        if (mst_summary_is_php(&s->servers[i]) == php)
            put_server(&t, s, &s->servers[i]);
    put_sum(&t, &all);
    mst_doc_table_end(&t, doc, name, "servers");
    mst_doc_space(doc);
}

void mst_servers_put(const struct mst_doc *doc, const struct mst_summary *s,
                     const struct mst_text_form *form)
{
    put_table(doc, s, false, form);
    put_table(doc, s, true, form);
}

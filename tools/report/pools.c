/* pools.c - tables of the pools of PHP-FPM: see resources.h. */
#include "analysis/resources.h"
#include "doc/table.h"
#include "report/resources.h"
#include "segment/fields.h"

static const struct mst_doc_column columns[] = {
    { "pool", .kind = MST_DOC_NAME },
    { "limit", .quantity = MST_QUANTITY_COUNT },
    { "busy", "mean", "busy", .quantity = MST_QUANTITY_MEAN },
    { "busy", "most seen", "most", .quantity = MST_QUANTITY_COUNT },
    { "time at the limit", .word = "full", .quantity = MST_QUANTITY_SHARE },
    { "limit reached", .word = "reached", .quantity = MST_QUANTITY_COUNT },
    { "requests", .quantity = MST_QUANTITY_COUNT },
    { "php_wait", "mean", "php_wait", .quantity = MST_QUANTITY_TIME },
    { "php_run", "mean", "php_run", .quantity = MST_QUANTITY_TIME },
    { "memory of a request", "most", "memory", .quantity = MST_QUANTITY_BYTES },
    { "longest wait", "mean", "longest wait", .kind = MST_DOC_WORDS },
};

/* The longest wait of php_run, as far as it is measured. */
static void put_longest_wait(struct mst_doc_table *t, const struct mst_summary_pool *pool)
{
    int i, longest = 0;

    for (i = 1; i < MST_WAIT_COUNT; i++)
        if (pool->waits_sum_ns[i] > pool->waits_sum_ns[longest])
            longest = i;
    if (pool->measured == 0 || pool->waits_sum_ns[longest] == 0)
        mst_doc_blank(t);
    else
        mst_doc_words(t, "%s, %s", mst_wait_names[longest],
                      mst_format_time(pool->waits_sum_ns[longest] / pool->measured).text);
}

static void put_pool(struct mst_doc_table *t, const struct mst_summary_pool *p)
{
    bool is_full = p->max_busy != MST_UNKNOWN && p->max_busy >= p->workers_limit;

    mst_doc_row(t, is_full ? MST_STYLE_WARNING : MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", p->label);
    mst_doc_number(t, p->workers_limit);
    mst_doc_number(t, p->mean_busy_milli);
    mst_doc_number(t, p->max_busy);
    mst_doc_number(t, p->at_limit_milli);
    mst_doc_number(t, p->limit_reached);
    mst_doc_number(t, p->requests);
    mst_doc_number(t, mst_pool_mean_wait_ns(p));
    mst_doc_number(t, mst_pool_mean_run_ns(p));
    mst_doc_number(t, p->max_memory_bytes);
    put_longest_wait(t, p);
}

void mst_pools_put(const struct mst_doc *doc, const struct mst_summary *s,
                   const struct mst_summary_server *server)
{
    bool is_one = mst_summary_all(s, true).count < 2;
    struct mst_doc_table t;
    size_t i;

    if (!mst_pools_matter(server))
        return;
    mst_doc_heading(doc, "Pools of PHP-FPM%s%s", is_one ? "" : ": ",
                    is_one ? "" : mst_summary_called(server));
    mst_doc_explain(doc, "Requests, waits and memory by the pool's label. Time at the limit is the "
                    "share of samples in which all its workers were busy; limit reached is how "
                    "often a request ended while they were, looked at once a second.");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < server->pool_count; i++)
        if (mst_pool_was_used(&server->pools[i]))
            put_pool(&t, &server->pools[i]);
    mst_doc_table_end(&t, doc, "Pools", "pools");
}

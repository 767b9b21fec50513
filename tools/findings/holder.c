/* holder.c - which group of requests has most of a time: see holder.h. */
#include "findings/holder.h"

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"

static void add_group(struct mst_holder *h, struct mst_query *row)
{
    uint64_t n = mst_row_number(row, "n");
    double time_ns = mst_row_real(row, "time_ns");

    if (h->groups++ == 0) {
        h->time_ns = time_ns;
        h->requests = n;
        mst_row_copy(row, "name", h->name, sizeof h->name);
    } else {
        h->others_waited_ns += mst_row_real(row, "waited_ns");
    }
    h->all_time_ns += time_ns;
    h->all_requests += n;
}

struct mst_holder mst_holder_ask(struct mst_inquiry *q, const char *sql, int64_t server_id,
                                 const char *kind)
{
    struct mst_query rows = mst_query_ask(q->db, sql, server_id);
    struct mst_holder h = { 0 };

    if (kind != NULL)
        mst_query_set_text(&rows, ":kind", kind);
    while (mst_query_next(&rows))
        add_group(&h, &rows);
    q->failed |= !mst_query_done(&rows);
    return h;
}

uint64_t mst_holder_of_time_milli(const struct mst_holder *h)
{
    return h->all_time_ns > 0 ? (uint64_t)(h->time_ns / h->all_time_ns * 1000) : 0;
}

uint64_t mst_holder_of_requests_milli(const struct mst_holder *h)
{
    return h->all_requests > 0 ? mst_milli(h->requests, h->all_requests) : 0;
}

bool mst_holder_stands_out(const struct mst_holder *h)
{
    uint64_t of_time = mst_holder_of_time_milli(h);

    return h->groups > 1 && of_time >= MST_HOLDER_TIME_MILLI &&
           mst_holder_of_requests_milli(h) * 2 <= of_time;
}

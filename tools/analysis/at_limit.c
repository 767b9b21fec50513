/* at_limit.c - see at_limit.h. */
#include "analysis/at_limit.h"

#include "archive/query.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "segment/format.h"

bool mst_at_limit_begin(struct mst_at_limit *a, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT time_ns, no_idle_ns FROM samples "
                                       "WHERE server_id = :id AND no_idle_ns IS NOT NULL "
                                       "ORDER BY time_ns", server_id);
    uint64_t before = 0, full_ns = 0, counted;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        counted = mst_row_number(&q, "no_idle_ns");
        /* A new start of the server counts from 0. */
        if (a->at_ns.count > 0 && counted != MST_UNKNOWN && counted > before)
            full_ns = mst_add_saturated(full_ns, counted - before);
        before = counted != MST_UNKNOWN ? counted : before;
        fine = mst_values_add(&a->at_ns, mst_row_number(&q, "time_ns")) == 0 &&
               mst_values_add(&a->full_ns, full_ns) == 0;
    }
    return mst_query_done(&q) && fine;
}

bool mst_at_limit_sample(struct mst_at_limit *a, uint64_t time_ns, bool is_full)
{
    size_t count = a->at_ns.count;
    uint64_t full_ns = count > 0 ? a->full_ns.items[count - 1] : 0, passed_ns;

    if (count > 0) {
        passed_ns = mst_subtract_saturated(time_ns, a->at_ns.items[count - 1]);
        full_ns = mst_add_saturated(full_ns, passed_ns / 2 * (a->was_full + is_full));
    }
    a->was_full = is_full;
    return mst_values_add(&a->at_ns, time_ns) == 0 && mst_values_add(&a->full_ns, full_ns) == 0;
}

/* The time at the limit until that instant. */
static uint64_t full_until(const struct mst_at_limit *a, uint64_t instant_ns)
{
    const uint64_t *at = a->at_ns.items, *full = a->full_ns.items;
    size_t low = 0, high = a->at_ns.count, middle;   /* how many samples are not after it */

    while (low < high) {
        middle = low + (high - low) / 2;
        if (at[middle] <= instant_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    if (low == a->at_ns.count)
        return full[low - 1];
    return full[low - 1] + mst_scale(full[low] - full[low - 1], instant_ns - at[low - 1],
                                     at[low] - at[low - 1]);
}

void mst_at_limit_add(struct mst_at_limit *a, uint64_t from_ns, uint64_t wait_ns)
{
    uint64_t until_ns = mst_add_saturated(from_ns, wait_ns);

    a->waited_ns = mst_add_saturated(a->waited_ns,
                                     mst_subtract_saturated(full_until(a, until_ns),
                                                            full_until(a, from_ns)));
}

uint64_t mst_at_limit_end(struct mst_at_limit *a, uint64_t first_ns, uint64_t last_ns,
                          uint64_t *full_ns)
{
    size_t count = a->full_ns.count;
    bool known = count > 0 && a->full_ns.items[count - 1] > 0 && first_ns != MST_UNKNOWN &&
                 last_ns != MST_UNKNOWN && first_ns < a->at_ns.items[count - 1] &&
                 last_ns > a->at_ns.items[0];

    *full_ns = known ? a->full_ns.items[count - 1] : MST_UNKNOWN;
    mst_values_free(&a->at_ns);
    mst_values_free(&a->full_ns);
    return known ? a->waited_ns : MST_UNKNOWN;
}

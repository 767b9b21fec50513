/* series_bins.c - the bins that time is cut into: see series.h. */
#include "analysis/series.h"

#include "archive/query.h"
#include "base/clock.h"
#include "segment/format.h"

#define BINS_MAX 2000000u   /* of a second: three weeks */

static uint64_t bins_for(uint64_t span_ns, uint64_t width_ns)
{
    return span_ns == 0 ? 1 : (span_ns + width_ns - 1) / width_ns;
}

/* 1, 2, 5, 10, ... tenths of a second: the narrowest with which `most` bins do. */
static uint64_t choose_width(uint64_t span_ns, size_t most)
{
    static const uint64_t steps[] = { 1, 2, 5 };
    uint64_t unit = MST_NS_PER_S / 10;
    size_t i;

    for (;; unit *= 10)
        for (i = 0; i < sizeof steps / sizeof *steps; i++)
            if (bins_for(span_ns, unit * steps[i]) <= most)
                return unit * steps[i];
}

/* The time until the load tool ended, and that for which the recorder then waited for requests
 * that it had left. */
bool mst_bins_make(struct mst_bins *bins, sqlite3 *db, const struct mst_summary *run,
                   size_t most, uint64_t width_ns)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT max(time_ns) AS last_ns FROM samples "
        "JOIN servers ON servers.id = samples.server_id WHERE servers.run_id = :id", run->id);
    uint64_t end_ns = run->ended_ns, sampled_ns = MST_UNKNOWN, span_ns;
    uint64_t start_ns = mst_known(run->started_ns);

    if (mst_query_next(&q))
        sampled_ns = mst_row_number(&q, "last_ns");
    if (!mst_query_done(&q))
        return false;
    if (end_ns == MST_UNKNOWN || (sampled_ns != MST_UNKNOWN && sampled_ns > end_ns))
        end_ns = sampled_ns;
    span_ns = end_ns != MST_UNKNOWN && end_ns > start_ns ? end_ns - start_ns : 0;
    bins->start_ns = start_ns;
    bins->width_ns = width_ns > 0 ? width_ns : choose_width(span_ns, most);
    bins->count = (size_t)bins_for(span_ns, bins->width_ns);
    if (bins->count <= BINS_MAX)
        return true;
    mst_query_refuse(&q, "a run in it lasts longer than three weeks, too long for a line a second");
    return false;
}

struct mst_bins mst_bins_widen(const struct mst_bins *bins, uint64_t step_ns)
{
    uint64_t factor = bins_for(step_ns, bins->width_ns);

    return (struct mst_bins){ bins->start_ns, bins->width_ns * factor,
                              (size_t)bins_for(bins->count, factor) };
}

/* allowance.c - what copying and showing boards may cost: see allowance.h. */
#include "read/allowance.h"

#include <inttypes.h>

#include "base/host.h"
#include "base/saturate.h"

/* Bytes: a lookup in /proc takes about as long as copying so many. */
#define PROCESS_COST 16384u

/* Bytes: a worker in a snapshot, and the time that rendering it takes. */
#define WORKER_COST  1024u

/* The lifecycle journal is among them, as window.c reads it. */
uint64_t mst_reader_cost(const struct mst_reader *r)
{
    static const enum mst_section_id counted[] = {
        MST_SECTION_FIELDS, MST_SECTION_TOTALS, MST_SECTION_PROCESSES, MST_SECTION_WORKERS,
        MST_SECTION_IN_FLIGHT, MST_SECTION_LABELS, MST_SECTION_COUNTERS, MST_SECTION_LIFECYCLE,
        MST_SECTION_ENDS, MST_SECTION_END_COUNTERS,
    };
    const struct mst_section *all = r->header.section, *s;
    uint64_t bytes = 0;   /* each section is within the file, of MST_FILE_MAX: no overflow */
    size_t i;

    for (i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        s = mst_section_in(&r->header, counted[i]);
        bytes += (uint64_t)s->count * s->stride;
    }
    return bytes + (uint64_t)all[MST_SECTION_PROCESSES].count * PROCESS_COST
         + (uint64_t)all[MST_SECTION_WORKERS].count * WORKER_COST;
}

int mst_allowance_take(struct mst_allowance *allowance, const struct mst_reader *r,
                    char error[MST_ERROR_MAX])
{
    bool ours = mst_owner_is_ours(r->owner);
    uint64_t cost = mst_reader_cost(r);
    uint64_t left = ours || allowance->all < allowance->others ? allowance->all : allowance->others;

    if (cost > left)
        return mst_fail(error, "the board %s costs too much to look at: expected at most %" PRIu64
                        " bytes, what is left for boards%s, found %" PRIu64 "; look at fewer "
                        "boards at once (mpmstat status FILE), or give its server fewer "
                        "processes, workers or labels", r->path, left,
                        ours ? "" : " of other users", cost);
    allowance->all -= cost;
    allowance->others -= ours ? 0 : cost;
    return 0;
}

void mst_allowance_give(struct mst_allowance *allowance, const struct mst_reader *r)
{
    uint64_t cost = mst_reader_cost(r);

    allowance->all = mst_add_saturated(allowance->all, cost);
    if (!mst_owner_is_ours(r->owner))
        allowance->others = mst_add_saturated(allowance->others, cost);
}

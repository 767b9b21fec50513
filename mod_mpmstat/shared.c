/* shared.c - the variables that the files of this module share. It calls none of them. */
#include "mod_mpmstat.h"

#include "write/worker.h"

struct mst_main_config mst_config;
struct mst_this_process mst_recording;
char mst_place[MST_HANDOVER_MAX];

void mst_thread_set_stripe(struct mst_thread *thread, uint32_t stripe)
{
    struct mst_board *b = mst_recording.board;

    thread->counters = mst_counters_of(b, 0, stripe);
    thread->ends = &b->end_counters[stripe & b->stripe_mask];
}

uint64_t mst_request_id_base(uint64_t serial)
{
    return (serial & 0x1fffff) << 32;
}

void mst_request_ids_without_entry(struct mst_board *b)
{
    static uint64_t ids;

    ids = 0;
    mst_recording.ids = &ids;
    mst_recording.id_base =
        mst_request_id_base(__atomic_add_fetch(&b->header->serial, 1, __ATOMIC_RELAXED));
}

/* snapshot_workers.c - a snapshot's workers: their states, times and the scoreboard. */
#include "read/snapshot_draft.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "read/call_place.h"
#include "read/component.h"
#include "segment/liveness.h"

static const char state_letters[MST_STATE_COUNT + 1] = "_RHSKCL";

/* When the worker's present state began. A less trusted process may have written any numbers: their
 * sum saturates, so the state begins far in the future, and no time has passed in it. */
static uint64_t state_since(const struct mst_worker *w)
{
    uint64_t since = w->base_ns;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        since = mst_add_saturated(since, mst_worker_spent_ns(w, i));
    return since;
}

/* The kind and the other end are what a less trusted process has written. */
static void fill_wait(struct mst_draft *m, struct mst_snapshot_slot *slot,
                      const struct mst_worker *w)
{
    uint64_t kind = (w->waits_for - 1) >> 32, end = (uint32_t)(w->waits_for - 1);

    slot->wait_for_ns = MST_UNKNOWN;
    if (w->waits_for == 0 || kind >= MST_WAIT_COUNT || w->request_start_ns == 0
        || w->waits_since_ns < w->request_start_ns)
        return;
    slot->wait = mst_wait_names[kind];
    slot->wait_for_ns = mst_elapsed(w->waits_since_ns, m->end_ns);
    if (end != MST_END_OTHER && end < m->copy->end_count && m->copy->ends[end].used)
        slot->wait_end = mst_draft_keep_unless_empty(m, m->copy->ends[end].name);
}

/* Where the wait was called, or the latest sample was taken: that can be an earlier request's, and
 * what came after it is not known. */
static void fill_code(struct mst_draft *m, struct mst_snapshot_slot *slot,
                      const struct mst_worker *w)
{
    bool runs = w->runs_ns >= w->request_start_ns && w->request_start_ns != 0;
    uint64_t in = slot->wait != NULL ? w->waits_in : runs ? w->runs_in : 0, index;
    struct mst_component component;
    struct mst_frame frame;

    slot->code_line = MST_UNKNOWN;
    if (in == 0 || !mst_call_place(m->copy->reader, in - 1, &index, &frame))
        return;
    mst_component_of(&component, frame.file);
    slot->code_function = mst_draft_keep_unless_empty(m, frame.function);
    slot->code_file = mst_draft_keep_unless_empty(m, frame.file);
    if (frame.line != 0)
        slot->code_line = frame.line;
    slot->code_component = mst_draft_keep_unless_empty(m, component.name);
}

/* A server that was killed left its workers as they were; how long they were so is not known. */
static void forget_times(struct mst_snapshot_slot *slot)
{
    slot->state_for_ns = slot->request_for_ns = slot->wait_for_ns = MST_UNKNOWN;
}

static void fill_slot(struct mst_draft *m, struct mst_snapshot_slot *slot, size_t worker,
                      const char *const *names)
{
    const struct mst_worker *w = &m->copy->workers[worker];

    slot->slot = worker;
    slot->pid = mst_draft_owner_of(m, worker)->pid;
    slot->state = mst_state_names[w->state];
    slot->state_for_ns = mst_elapsed(state_since(w), m->end_ns);
    slot->request_for_ns = w->request_start_ns != 0
                         ? mst_elapsed(w->request_start_ns, m->end_ns) : MST_UNKNOWN;
    slot->request_since_ns = w->request_start_ns != 0
                           ? mst_wall_ns(&m->copy->header, w->request_start_ns) : MST_UNKNOWN;
    slot->request_id = w->request_start_ns != 0 && w->request_id != 0 ? w->request_id
                                                                      : MST_UNKNOWN;
    slot->requests = w->requests;
    slot->label = w->request_label < m->copy->label_count ? names[w->request_label] : NULL;
    slot->path = mst_draft_keep_unless_empty(m, w->path);
    fill_wait(m, slot, w);
    fill_code(m, slot, w);
    if (m->killed)
        forget_times(slot);
    mst_draft_blank_foreign(m, MST_SCOPE_SLOT, slot);
}

/* Adds the time that is counted in each state, and that which still runs. A dead worker's time
 * runs until its entry is freed, when it is counted: so the sum never decreases. */
static void add_state_times(struct mst_draft *m, size_t worker)
{
    const struct mst_worker *w = &m->copy->workers[worker];
    uint64_t *state_ns = m->s->state_ns;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        state_ns[i] = mst_add_saturated(state_ns[i], mst_worker_spent_ns(w, i));
    if (mst_entry_is_claimed(mst_draft_owner_of(m, worker)) && w->state < MST_STATE_COUNT)
        state_ns[w->state] = mst_add_saturated(state_ns[w->state],
                                               mst_elapsed(state_since(w), m->end_ns));
}

static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* Orders by the time on the request, then by the time in the state, longest first. */
static int compare_busy(const void *left, const void *right)
{
    const struct mst_snapshot_slot *a = left, *b = right;
    /* + 1: MST_UNKNOWN (no request) becomes 0 and comes last. */
    int order = descending(a->request_for_ns + 1, b->request_for_ns + 1);

    if (order == 0)
        order = descending(a->state_for_ns, b->state_for_ns);
    return order == 0 ? descending(b->slot, a->slot) : order;
}

/* Whether the snapshot has a slot for the worker: of a server that was killed, those that died with
 * a request. */
static bool has_slot(const struct mst_draft *m, size_t worker)
{
    const struct mst_worker *w = &m->copy->workers[worker];

    if (!m->stopped)
        return mst_draft_is_working(m, worker);
    return m->killed && m->dead[worker / m->copy->header.threads_per_process] &&
           w->state > MST_STATE_IDLE && w->state < MST_STATE_COUNT && w->request_start_ns != 0;
}

/* Adds the workers that are idle, or those that are not, in the order of the entries. */
static void fill_slots(struct mst_draft *m, const char *const *names, bool idle)
{
    size_t i;

    for (i = 0; i < m->copy->worker_count; i++)
        if ((m->copy->workers[i].state == MST_STATE_IDLE) == idle && has_slot(m, i))
            fill_slot(m, &m->s->slots[m->s->slot_count++], i, names);
}

void mst_draft_fill_workers(struct mst_draft *m, const char *const *names, char *scoreboard)
{
    struct mst_snapshot *s = m->s;
    size_t i;

    for (i = 0; i < m->copy->worker_count; i++) {
        uint64_t state = m->copy->workers[i].state;

        add_state_times(m, i);
        if (m->stopped || !mst_draft_is_working(m, i))
            continue;
        s->workers[state]++;
        s->workers_busy += state != MST_STATE_IDLE;
        *scoreboard++ = state_letters[state];
    }
    *scoreboard = '\0';
    fill_slots(m, names, false);
    qsort(s->slots, s->slot_count, sizeof *s->slots, compare_busy);
    fill_slots(m, names, true);
}

size_t mst_draft_count_workers(const struct mst_draft *m)
{
    size_t count = 0, i;

    for (i = 0; i < m->copy->worker_count; i++)
        count += has_slot(m, i);
    return count;
}

/* worker.h - what a worker writes while it serves: its state, the counters. Hot path.
 *
 * Only its own thread writes a worker's entry (plain loads, relaxed stores); the workers of a
 * stripe share counters (relaxed adds).
 */
#ifndef MPMSTAT_WORKER_H
#define MPMSTAT_WORKER_H

#include "write/board.h"

/* CLOCK_MONOTONIC when the worker's present state began. */
static inline uint64_t mst_worker_since(const struct mst_worker *w)
{
#define PLUS_STATE(suffix, name) + mst_worker_spent_ns(w, MST_STATE_##suffix)
    return w->base_ns MST_STATES(PLUS_STATE);
#undef PLUS_STATE
}

/* Adds time in `state`. */
static inline void mst_worker_spend(struct mst_worker *w, enum mst_state state, uint64_t ns)
{
    uint64_t *time = mst_worker_state_ns(w, state);

    __atomic_store_n(time, *time + ns, __ATOMIC_RELAXED);
}

/* Ends the state in which *spent counts the worker's time (mst_worker_state_ns()) since since_ns,
 * and begins `state`, at now_ns. Precondition: now_ns is not before since_ns. */
static inline void mst_worker_pass(struct mst_worker *w, uint64_t *spent, enum mst_state state,
                                   uint64_t since_ns, uint64_t now_ns)
{
    __atomic_store_n(spent, *spent + now_ns - since_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->state, (uint64_t)state, __ATOMIC_RELAXED);
}

/* Ends the present state, which began at since_ns (mst_worker_since()), and begins `state`, at
 * now_ns or, where that is later, at since_ns. Returns which of the two. */
static inline uint64_t mst_worker_enter(struct mst_worker *w, enum mst_state state,
                                        uint64_t since_ns, uint64_t now_ns)
{
    uint64_t old = w->state;

    if (now_ns < since_ns)
        now_ns = since_ns;
    if (old < MST_STATE_COUNT)
        mst_worker_spend(w, (enum mst_state)old, now_ns - since_ns);
    __atomic_store_n(&w->state, (uint64_t)state, __ATOMIC_RELAXED);
    return now_ns;
}

/* The worker has a request in flight, picked up at start_ns. An index that is not a label's: the
 * request is under no label. */
static inline void mst_worker_show(struct mst_worker *w, uint64_t id, uint64_t start_ns,
                                   uint32_t label)
{
    __atomic_store_n(&w->request_id, id, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_start_ns, start_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_label, label, __ATOMIC_RELAXED);
}

/* The worker has no request in flight. */
static inline void mst_worker_show_none(struct mst_worker *w)
{
    __atomic_store_n(&w->request_label, MST_UNKNOWN, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_start_ns, 0, __ATOMIC_RELAXED);
    if (w->path[0])
        w->path[0] = '\0';
}

/* The worker waits, since since_ns, for `wait`: enum mst_wait << 32 | index of the other end. `in`:
 * the call stack's index plus 1; 0: not known. */
static inline void mst_worker_wait(struct mst_worker *w, uint64_t wait, uint64_t since_ns,
                                   uint64_t in)
{
    __atomic_store_n(&w->waits_since_ns, since_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->waits_in, in, __ATOMIC_RELAXED);
    __atomic_store_n(&w->waits_for, wait + 1, __ATOMIC_RELEASE);
}

/* The worker waits for nothing. */
static inline void mst_worker_wait_none(struct mst_worker *w)
{
    __atomic_store_n(&w->waits_for, 0, __ATOMIC_RELAXED);
}

/* At now_ns the worker's code was in that call stack. */
static inline void mst_worker_run(struct mst_worker *w, uint32_t stack, uint64_t now_ns)
{
    __atomic_store_n(&w->runs_ns, now_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->runs_in, (uint64_t)stack + 1, __ATOMIC_RELEASE);
}

static inline void mst_count(uint64_t *word, uint64_t n)
{
    __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}

/* Makes h's maximum at least ns. Seldom called, and so out of line. */
static __attribute__((noinline, unused)) void mst_raise(struct mst_histogram *h, uint64_t ns)
{
    uint64_t old = __atomic_load_n(&h->max_ns, __ATOMIC_RELAXED);

    while (ns > old && !__atomic_compare_exchange_n(&h->max_ns, &old, ns, true, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED))
        ;
}

/* Adds an observation. */
static inline void mst_histogram_record(struct mst_histogram *h, uint64_t ns)
{
    mst_count(&h->buckets[mst_histogram_bucket(ns)], 1);
    if (ns == 0)
        return;   /* an atomic addition of 0 would take as long as any other */
    mst_count(&h->sum_ns, ns);
    if (ns > __atomic_load_n(&h->max_ns, __ATOMIC_RELAXED))
        mst_raise(h, ns);
}

/* Counts calls to an other end that took ns together, connect_ns of that to connect to it. The
 * index must be below end_count. */
static inline void mst_other_end_add(struct mst_board *b, uint32_t end, uint32_t stripe,
                                     uint64_t calls, uint64_t failed, uint64_t ns,
                                     uint64_t connect_ns)
{
    struct mst_other_end_counters *c =
        &b->end_counters[(size_t)end * (b->stripe_mask + 1) + (stripe & b->stripe_mask)];

    mst_count(&c->calls, calls);
    mst_count(&c->end_ns, ns);
    if (failed > 0)
        mst_count(&c->failed, failed);
    if (connect_ns > 0)
        mst_count(&c->connect_ns, connect_ns);
}

/* Counts one call. */
static inline void mst_other_end_count(struct mst_board *b, uint32_t end, uint32_t stripe,
                                       uint64_t ns, bool failed)
{
    mst_other_end_add(b, end, stripe, 1, failed, ns, 0);
}

/* The label's counters that writers of this stripe share. The stripe can be any number: it is
 * masked. */
static inline struct mst_counters *mst_counters_of(struct mst_board *b, uint32_t label,
                                                   uint32_t stripe)
{
    return &b->counters[(size_t)label * (b->stripe_mask + 1) + (stripe & b->stripe_mask)];
}

#endif

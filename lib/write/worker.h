/* worker.h - what a worker writes while it serves: its state, the tallies. Hot path.
 *
 * A worker's entry is written by its own thread alone (plain loads, relaxed
 * stores); tallies are shared by the workers of a stripe (relaxed adds).
 */
#ifndef MPMSTAT_WORKER_H
#define MPMSTAT_WORKER_H

#include "write/board.h"

/* CLOCK_MONOTONIC when the worker's present state began. */
static inline uint64_t mst_worker_since(const struct mst_worker *w)
{
    uint64_t since = w->base_ns;
    unsigned i;

#ifndef __clang__   /* unrolls by itself */
#pragma GCC unroll 8
#endif
    for (i = 0; i < MST_STATE_COUNT; i++)
        since += w->state_ns[i];
    return since;
}

/* So much more time in `state`. */
static inline void mst_worker_spend(struct mst_worker *w, enum mst_state state, uint64_t ns)
{
    __atomic_store_n(&w->state_ns[state], w->state_ns[state] + ns, __ATOMIC_RELAXED);
}

/* Ends `old`, which began at since_ns, at now_ns, and begins `state`. For who knows for
 * certain that the worker is in `old`, and that now_ns is not before since_ns. */
static inline void mst_worker_pass(struct mst_worker *w, enum mst_state old, enum mst_state state,
                                   uint64_t since_ns, uint64_t now_ns)
{
    mst_worker_spend(w, old, now_ns - since_ns);
    __atomic_store_n(&w->state, (uint64_t)state, __ATOMIC_RELAXED);
}

/* Ends the present state, whatever it is, at now_ns and begins `state`. `since_ns` is when
 * the present one began, as the caller remembers it (mst_worker_since()'s value);
 * a now_ns before it counts as since_ns. Returns when the new state began. */
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

/* The worker has this request in flight. An index that is no label's: under none. */
static inline void mst_worker_show(struct mst_worker *w, uint64_t start_ns, uint32_t label)
{
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

static inline void mst_count(uint64_t *word, uint64_t n)
{
    __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}

/* Its longest is `ns` or more. Rare: not in the way of the others. */
static __attribute__((cold, noinline, unused)) void
mst_histogram_raise(struct mst_histogram *h, uint64_t ns)
{
    uint64_t max = __atomic_load_n(&h->max_ns, __ATOMIC_RELAXED);

    while (ns > max && !__atomic_compare_exchange_n(&h->max_ns, &max, ns, true,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* An observation that is hardly ever 0. `nth` is mst_histogram_nth(ns). */
static inline void mst_histogram_record_nth(struct mst_histogram *h, size_t nth, uint64_t ns)
{
    mst_count(&h->buckets[nth + 1], 1);
    mst_count(&h->sum_ns, ns);
    if (__builtin_expect(ns > __atomic_load_n(&h->max_ns, __ATOMIC_RELAXED), 0))
        mst_histogram_raise(h, ns);
}

/* Adding nothing is left out. */
static inline void mst_histogram_record(struct mst_histogram *h, uint64_t ns)
{
    if (ns == 0)
        mst_count(&h->buckets[0], 1);
    else
        mst_histogram_record_nth(h, mst_histogram_nth(ns), ns);
}

/* The tally of a label for writers of `stripe` (any number: it is masked). */
static inline struct mst_tally *mst_tally_of(struct mst_board *b, uint32_t label, uint32_t stripe)
{
    return &b->tallies[(size_t)label * (b->stripe_mask + 1) + (stripe & b->stripe_mask)];
}

#endif

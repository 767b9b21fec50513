/* waits.c - what a request waits for: times the functions of waits.def.
 *
 * These functions have a handler (timed.c) that reads the clocks, calls the original and reads them
 * again.
 *
 * Only the outermost timed call counts: what it calls back is part of it. A wait is the call's
 * wall time, less the CPU time in it, less the time in it in which the thread was ready to run
 * and had no CPU (the run delay). Reading the run delay takes a system call, so it is read only
 * around calls that are off the CPU for LONG_NS, and where so much time off the CPU has passed
 * since the last reading.
 *
 * While a timed call is under way, the worker's entry on the board says what it waits for.
 */
#include "waits.h"

#include <php.h>
#include <stdlib.h>
#include <zend_exceptions.h>

#include "base/clock.h"
#include "compat.h"
#include "delay.h"
#include "end_call.h"
#include "ends.h"
#include "state.h"
#include "timed.h"
#include "wait_place.h"
#include "write/worker.h"

#define LONG_NS (100 * MST_NS_PER_US)   /* a hundred times the cost of reading the run delay */

/* The timed call of a fiber that does not run now. */
struct mst_suspended {
    const void           *fiber;      /* its context */
    zend_execute_data    *call;
    const struct mst_timed_function *timed;
    struct mst_own_end   *own;
    uint64_t              wait;
    uint32_t              place;
    zval                 *result;
    uint64_t              waited_ns;
    struct mst_suspended *next;
};

int mst_timed_slot = -1;
struct mst_timed_function *mst_timed_all;

/* ---- time ------------------------------------------------------------------------------- */

/* ns less `part`, but at least 0. */
static uint64_t without(uint64_t ns, uint64_t part)
{
    return ns > part ? ns - part : 0;
}

/* Returns the run delay since the last reading; 0 where it is unknown. */
static __attribute__((cold)) uint64_t read_delay(struct mst_waits *w)
{
    uint64_t before = w->delay_ns;

    w->unread_ns = w->unread_outside_ns = 0;
    if (before == MST_UNKNOWN)
        return 0;
    w->delay_ns = mst_delay_read();
    return w->delay_ns != MST_UNKNOWN && w->delay_ns > before ? w->delay_ns - before : 0;
}

/* Starts the clock of the call under way. */
static inline void start_clock(struct mst_waits *w)
{
    uint64_t outside;

    w->began_ns = mst_clock_by(CLOCK_MONOTONIC, &w->clock);
    w->began_cpu_ns = mst_clock_by(CLOCK_THREAD_CPUTIME_ID, &w->clock);
    outside = without(w->began_ns - w->seen_ns, w->began_cpu_ns - w->seen_cpu_ns);
    w->unread_outside_ns += outside;
    w->unread_ns += outside;
    if (w->unread_ns >= LONG_NS)
        read_delay(w);
}

/* The run delay within a long call does not count as waiting. Time off the CPU outside timed calls
 * is taken for run delay, too. */
static __attribute__((cold)) uint64_t without_delay(struct mst_waits *w, uint64_t waited)
{
    uint64_t outside = w->unread_outside_ns;

    return without(waited, without(read_delay(w), outside));
}

static inline void stop_clock(struct mst_waits *w)
{
    uint64_t waited;

    w->seen_ns = mst_clock_by(CLOCK_MONOTONIC, &w->clock);
    w->seen_cpu_ns = mst_clock_by(CLOCK_THREAD_CPUTIME_ID, &w->clock);
    waited = without(w->seen_ns - w->began_ns, w->seen_cpu_ns - w->began_cpu_ns);
    if (waited >= LONG_NS)
        waited = without_delay(w, waited);
    else
        w->unread_ns += waited;
    w->waited_ns += waited;
}

/* ---- what the board shows ------------------------------------------------------------------ */

static inline void show_wait(const struct mst_waits *w)
{
    struct mst_worker *worker = MPMSTAT_G(worker);

    if (worker && !mst_worker_has_left())
        mst_worker_wait(worker, w->wait, w->began_ns, mst_wait_place_shown(w, w->place));
}

static inline void show_no_wait(void)
{
    struct mst_worker *worker = MPMSTAT_G(worker);

    if (worker && !mst_worker_has_left())
        mst_worker_wait_none(worker);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* What a call that begins waits for. Where only its end can tell the other end, that stays open, so
 * that the board's table has no names of calls that came to nothing. */
static inline uint64_t wait_of_beginning(const struct mst_timed_function *timed,
                                         struct mst_own_end *own, zend_execute_data *call)
{
    switch (timed->told_by) {
    case MST_TOLD_BY_LINE:
        return mst_wait_of_own(own);
    case MST_TOLD_BY_SUBJECT:
        return mst_call_known(call, own);
    case MST_TOLD_BY_RESULT:
        break;
    }
    return mst_wait_of(own->kind, MST_END_OTHER);
}

/* The index in `sums`. */
static uint32_t sum_of(uint64_t wait)
{
    uint32_t kind = (uint32_t)(wait >> 32), end = (uint32_t)wait;

    return end != MST_END_OTHER && end < MST_ENDS ? end : MST_ENDS + kind;
}

static struct mst_wait_sum *add_wait(struct mst_waits *w, uint64_t wait, uint32_t place,
                                     uint64_t ns, bool failed)
{
    uint32_t at = sum_of(wait);
    struct mst_wait_sum *s = &w->sums[at];

    if (s->calls++ == 0) {
        w->used[w->used_count++] = (uint8_t)at;
        s->kind = (uint32_t)(wait >> 32);
    }
    s->failed += failed;
    s->ns += ns;
    mst_wait_place_add(w, place, at, ns);
    return s;
}

static bool has_thrown(void)
{
    return EG(exception) && !mst_is_exit(EG(exception));
}

/* Ends the call under way, whose frame must be alive. */
static inline void end_call(struct mst_waits *w, bool is_broken)
{
    const struct mst_timed_function *timed = w->timed;
    struct mst_wait_line *line = timed->line;
    zend_execute_data *call = w->call;
    struct mst_wait_sum *sum;
    bool has_failed;

    stop_clock(w);
    show_no_wait();
    w->call = NULL;
    has_failed = is_broken || has_thrown()
        || (line->has_failed && line->has_failed(call, w->result));
    sum = add_wait(w, timed->end ? timed->end(w->own, call, w->result) : w->wait, w->place,
                   w->waited_ns, has_failed);
    if (timed->connecting)
        sum->connect_ns += timed->connecting(is_broken ? NULL : call, w->waited_ns);
}

/* Counts a call that PHP left without an error (exit before PHP 8, a client that went away). Its
 * frame is gone. */
static __attribute__((cold)) void count_left(struct mst_waits *w)
{
    struct mst_wait_sum *sum;

    stop_clock(w);
    show_no_wait();
    sum = add_wait(w, mst_wait_of_own(w->own), w->place, w->waited_ns, true);
    if (w->timed->connecting)
        sum->connect_ns += w->timed->connecting(NULL, w->waited_ns);
    w->call = NULL;
}

ZEND_NAMED_FUNCTION(mst_call_timed)
{
    const struct mst_timed_function *timed = EX(func)->internal_function.reserved[mst_timed_slot];
    struct mst_wait_line *line = timed->line;
    struct mst_own_end *own = &line->own;
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->call && CG(unclean_shutdown))   /* a shutdown function calls this one */
        count_left(w);
    if (!w->is_on || w->call
        || (line->can_wait && (own = line->can_wait(own, execute_data)) == NULL)) {
        timed->original(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        if (w->is_on && line->treatment == MST_IS_CONNECT)
            line->end(&line->own, execute_data, return_value);
        return;
    }
    w->call = execute_data;
    w->own = own;
    w->timed = timed;
    w->wait = wait_of_beginning(timed, own, execute_data);
    w->result = return_value;
    w->waited_ns = 0;
    w->place = mst_wait_place_find(w, execute_data);
    start_clock(w);
    show_wait(w);
    timed->original(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (w->call == execute_data)
        end_call(w, false);
}

ZEND_NAMED_FUNCTION(mst_call_noted)
{
    const struct mst_timed_function *timed = EX(func)->internal_function.reserved[mst_timed_slot];

    timed->original(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (MPMSTAT_G(waits).is_on)
        timed->line->end(&timed->line->own, execute_data, return_value);
}

/* ---- fibers ------------------------------------------------------------------------------ */

#ifdef MST_HAS_FIBERS
static void suspend(struct mst_waits *w, const void *fiber)
{
    struct mst_suspended *s = malloc(sizeof *s);

    stop_clock(w);
    show_no_wait();
    if (s) {
        *s = (struct mst_suspended){ fiber, w->call, w->timed, w->own, w->wait, w->place,
                                     w->result, w->waited_ns, w->suspended };
        w->suspended = s;
    } else {
        add_wait(w, mst_wait_of_own(w->own), w->place, w->waited_ns, false);
    }
    w->call = NULL;
}

static void resume(struct mst_waits *w, const void *fiber)
{
    struct mst_suspended **at = &w->suspended, *s;

    while (*at && (*at)->fiber != fiber)
        at = &(*at)->next;
    s = *at;
    if (!s)
        return;
    *at = s->next;
    w->call = s->call;
    w->timed = s->timed;
    w->own = s->own;
    w->wait = s->wait;
    w->place = s->place;
    w->result = s->result;
    w->waited_ns = s->waited_ns;
    free(s);
    start_clock(w);
    show_wait(w);
}

void mst_fiber_switched(zend_fiber_context *from, zend_fiber_context *to)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->call)
        suspend(w, from);
    if (w->suspended)
        resume(w, to);
}
#endif

/* ---- requests ---------------------------------------------------------------------------- */

void mst_waits_begin(uint64_t now_ns, uint64_t cpu_ns)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    w->is_on = MPMSTAT_G(measure_waits) && mst_timed_all != NULL;
    w->seen_ns = now_ns;
    w->seen_cpu_ns = cpu_ns != MST_UNKNOWN ? cpu_ns
                                          : mst_clock_read(CLOCK_THREAD_CPUTIME_ID);
    w->delay_ns = w->first_delay_ns = mst_delay_read();
    w->unread_ns = w->unread_outside_ns = 0;
    mst_wait_place_begin(w);
}

void mst_waits_break(void)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->call)
        end_call(w, true);
}

/* Counts the calls that did not return: one that PHP left, and those of fibers that were not
 * resumed. */
static void count_unreturned(struct mst_waits *w)
{
    struct mst_suspended *s;

    if (w->call)
        count_left(w);
    while ((s = w->suspended) != NULL) {
        w->suspended = s->next;
        add_wait(w, mst_wait_of_own(s->own), s->place, s->waited_ns, true);
        free(s);
    }
}

/* Adds ns to *part, at most what is left of the whole, and takes it off that. */
static void take(uint64_t *part, uint64_t ns, uint64_t *left)
{
    if (ns > *left)
        ns = *left;
    *part += ns;
    *left -= ns;
}

static void keep_longest(struct mst_php_request *r, const struct mst_wait_sum *s, uint32_t end)
{
    struct mst_php_wait wait = { mst_wait_of(s->kind, end),
                                 (uint64_t)s->calls << 32 | s->failed, s->ns };

    if (r->longest[0].calls_failed == 0 || wait.wait_ns > r->longest[0].wait_ns) {
        r->longest[1] = r->longest[0];
        r->longest[0] = wait;
    } else if (r->longest[1].calls_failed == 0 || wait.wait_ns > r->longest[1].wait_ns) {
        r->longest[1] = wait;
    }
}

static void count(struct mst_counters *t, const struct mst_wait_sum *s, uint32_t end)
{
    uint64_t connect_ns = s->connect_ns < s->ns ? s->connect_ns : s->ns;

    mst_other_end_add(&mst_php.board, end, MPMSTAT_G(stripe), s->calls, s->failed, s->ns,
                      connect_ns);
    mst_count(&t->php_waits[s->kind], s->calls);
    if (s->failed)
        mst_count(&t->php_waits_failed[s->kind], s->failed);
}

static void set_waits(struct mst_waits *w, struct mst_php_request *r, struct mst_counters *t,
                      uint64_t *left_ns)
{
    uint32_t i;

    for (i = 0; i < w->used_count; i++) {
        struct mst_wait_sum *s = &w->sums[w->used[i]];
        uint32_t end = w->used[i] < MST_ENDS ? w->used[i] : MST_END_OTHER;
        uint64_t before = r->waits_ns[s->kind];

        take(&r->waits_ns[s->kind], s->ns, left_ns);
        s->ns = r->waits_ns[s->kind] - before;
        mst_count(&t->php_waits_ns[s->kind], s->ns);
        keep_longest(r, s, end);
        count(t, s, end);
    }
    for (i = 0; i < MST_RECORD_ENDS && r->longest[i].calls_failed > 0; i++)
        r->places[i] = mst_wait_place_longest(w, sum_of(r->longest[i].kind_end),
                                              r->longest[i].wait_ns);
    mst_wait_place_end(w);
    for (i = 0; i < w->used_count; i++)
        memset(&w->sums[w->used[i]], 0, sizeof *w->sums);
    w->used_count = 0;
}

void mst_waits_end(struct mst_php_request *r, uint64_t left_ns)
{
    struct mst_waits *w = &MPMSTAT_G(waits);
    struct mst_counters *t = mst_counters_of(&mst_php.board, MPMSTAT_G(label_index),
                                             MPMSTAT_G(stripe));
    uint64_t last_delay_ns;

    memset(r->longest, 0, sizeof r->longest);
    memset(r->places, 0, sizeof r->places);
    memset(r->waits_ns, w->is_on ? 0 : 0xff, sizeof r->waits_ns);
    if (w->is_on) {
        count_unreturned(w);
        set_waits(w, r, t, &left_ns);
        mst_known_forget();
    }
    w->is_on = false;
    last_delay_ns = mst_delay_read();
    r->cpu_wait_ns = MST_UNKNOWN;
    if (last_delay_ns == MST_UNKNOWN || w->first_delay_ns == MST_UNKNOWN)
        return;
    r->cpu_wait_ns = 0;
    take(&r->cpu_wait_ns, last_delay_ns - w->first_delay_ns, &left_ns);
    mst_count(&t->php_cpu_wait_ns, r->cpu_wait_ns);
}

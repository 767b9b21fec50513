/* busy.c - how many workers are busy, and since when none is idle. */
#include "write/busy.h"

#include <unistd.h>

#include "base/clock.h"
#include "write/journal.h"
#include "write/worker.h"

/* Under saturation workers reach the limit and leave it many times a second. The clock counts each
 * time; events, at either end, are written at most this often. */
#define LIMIT_EVENT_NS MST_NS_PER_S

static void write_event(struct mst_board *b, uint64_t time_ns, uint64_t duration_ns)
{
    struct mst_lifecycle e = {
        .time_ns = time_ns,
        .event_kind = (uint64_t)MST_EVENT_LIMIT << 32
                    | (b->header->producer == MST_PRODUCER_PHP ? MST_KIND_PHP : MST_KIND_CHILD),
        .pid_parent = b->header->pid,
        .mpm_slot = -1,
        .generation = b->header->generation,
        .duration_ns = duration_ns,
        .requests = MST_UNKNOWN,
    };

    mst_journal_lifecycle(b, &e);
}

/* Whether LIMIT_EVENT_NS have passed since *last_ns; if so, sets it to now, in one process. */
static bool is_due(uint64_t *last_ns, uint64_t now_ns)
{
    uint64_t last = __atomic_load_n(last_ns, __ATOMIC_RELAXED);

    return (last == 0 || now_ns >= last + LIMIT_EVENT_NS)
        && __atomic_compare_exchange_n(last_ns, &last, now_ns, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/* Reports that no worker is idle from now on. */
static void report_begin(struct mst_board *b, uint64_t now_ns)
{
    if (is_due(&b->header->limit_event_ns, now_ns))
        write_event(b, now_ns, MST_UNKNOWN);
}

/* Reports how much time without an idle worker has passed since the last such report: many short
 * pieces, or one. */
static void report_length(struct mst_board *b, uint64_t total_ns, uint64_t ended_ns)
{
    uint64_t told = __atomic_load_n(&b->header->no_idle_told_ns, __ATOMIC_RELAXED);

    while (told < total_ns)
        if (__atomic_compare_exchange_n(&b->header->no_idle_told_ns, &told, total_ns, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            write_event(b, ended_ns, total_ns - told);
            return;
        }
}

static void report_end(struct mst_board *b, uint64_t total_ns, uint64_t now_ns)
{
    __atomic_store_n(&b->header->no_idle_ended_ns, now_ns, __ATOMIC_RELAXED);
    if (is_due(&b->header->limit_told_ns, now_ns))
        report_length(b, total_ns, now_ns);
}

/* False: it runs already. */
static bool start_clock(struct mst_board *b, uint64_t now_ns)
{
    uint64_t word = __atomic_load_n(&b->header->no_idle, __ATOMIC_ACQUIRE);

    while (!(word & MST_NO_IDLE_RUNNING))
        if (__atomic_compare_exchange_n(&b->header->no_idle, &word,
                                        MST_NO_IDLE_RUNNING | (now_ns - word), false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* False: it does not run. Sets *total_ns to all the time without an idle worker so far. */
static bool stop_clock(struct mst_board *b, uint64_t now_ns, uint64_t *total_ns)
{
    uint64_t word = __atomic_load_n(&b->header->no_idle, __ATOMIC_ACQUIRE);

    while (word & MST_NO_IDLE_RUNNING) {
        uint64_t began = word & ~MST_NO_IDLE_RUNNING;

        *total_ns = now_ns > began ? now_ns - began : 0;
        if (__atomic_compare_exchange_n(&b->header->no_idle, &word, *total_ns, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
    }
    return false;
}

#define UPDATE_ROUNDS 64u   /* a process that keeps writing nonsense must not hold others up */

/* Starts or stops the all-busy clock to match the busy count. Other processes change both
 * meanwhile: a process that changed the clock reads the count again, so that the last one to
 * read leaves them in agreement. */
void mst_busy_update(struct mst_board *b, uint64_t now_ns)
{
    bool changed = true;
    unsigned rounds;
    uint64_t total_ns;

    for (rounds = 0; changed && rounds < UPDATE_ROUNDS; rounds++) {
        int64_t busy = __atomic_load_n(&b->header->busy, __ATOMIC_SEQ_CST);

        if (busy >= 0 && mst_busy_at_limit(b, busy)) {
            changed = start_clock(b, now_ns);
            if (changed)
                report_begin(b, now_ns);
        }
        else {
            changed = stop_clock(b, now_ns, &total_ns);
            if (changed)
                report_end(b, total_ns, now_ns);
        }
    }
}

void mst_busy_raise(struct mst_board *b, int64_t busy)
{
    int64_t max = __atomic_load_n(&b->header->busy_max, __ATOMIC_RELAXED);

    while (busy > max && !__atomic_compare_exchange_n(&b->header->busy_max, &max, busy, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Corrects the sum: so many workers that it counts are not busy. */
static void take_off(struct mst_board *b, int64_t count, uint64_t now_ns)
{
    int64_t before = __atomic_fetch_sub(&b->header->busy, count, __ATOMIC_SEQ_CST);
    int64_t after = (int64_t)((uint64_t)before - (uint64_t)count);   /* nonsense wraps */

    mst_busy_raise(b, after);
    if (mst_busy_at_limit(b, count > 0 ? before : after))
        mst_busy_update(b, now_ns);
}

void mst_busy_drop(struct mst_board *b, struct mst_process *p, uint64_t now_ns)
{
    int64_t busy = __atomic_exchange_n(&p->busy, 0, __ATOMIC_RELAXED);

    if (busy != 0)
        take_off(b, busy, now_ns);
}

/* Between two samples. A worker is not between its two additions for so long, unless it has lost
 * its CPU. */
#define SAMPLE_INTERVAL_NS MST_NS_PER_MS
#define WAITING_SAMPLES    4u

/* By how much the sum is larger than its parts. Unsigned arithmetic: the words may hold any
 * value. */
static int64_t excess(const struct mst_board *b)
{
    uint64_t parts = 0;
    uint32_t i;

    for (i = 0; i < b->process_count; i++)
        parts += (uint64_t)__atomic_load_n(&b->processes[i].busy, __ATOMIC_RELAXED);
    return (int64_t)((uint64_t)__atomic_load_n(&b->header->busy, __ATOMIC_RELAXED) - parts);
}

void mst_busy_correct(struct mst_board *b, uint64_t now_ns)
{
    int64_t found = excess(b);

    if (found != 0 && found == b->busy_excess) {
        if (now_ns < b->busy_excess_ns + SAMPLE_INTERVAL_NS)
            return;
        take_off(b, found, now_ns);
        found = 0;
    }
    b->busy_excess = found;
    b->busy_excess_ns = now_ns;
}

void mst_busy_correct_waiting(struct mst_board *b)
{
    unsigned samples;

    for (samples = 0; samples < WAITING_SAMPLES; samples++) {
        mst_busy_correct(b, mst_now_ns());
        if (b->busy_excess == 0)
            return;
        usleep(2 * SAMPLE_INTERVAL_NS / MST_NS_PER_US);
    }
}

void mst_busy_tell(struct mst_board *b, uint64_t now_ns)
{
    uint64_t word = __atomic_load_n(&b->header->no_idle, __ATOMIC_ACQUIRE);

    if (!(word & MST_NO_IDLE_RUNNING) && is_due(&b->header->limit_told_ns, now_ns))
        report_length(b, word, __atomic_load_n(&b->header->no_idle_ended_ns, __ATOMIC_RELAXED));
}

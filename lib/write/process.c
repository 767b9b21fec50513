/* process.c - process entries: a child claims one when it starts; its parent frees it when the
 * child has ended, or a process that finds the owner dead does.
 *
 * A process is identified by its pid and start time, never by the MPM's slot: under worker a new
 * child can have the slot of one that still finishes its requests.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "write/board.h"
#include "write/busy.h"
#include "write/worker.h"

static struct mst_worker *workers_of(const struct mst_board *b, int process)
{
    return &b->workers[(size_t)process * b->threads];
}

/* kill(2) with signal 0 knows processes of other users, too (EPERM: alive). Less trusted processes
 * may have written the entry: the pids 0 and -1 would mean many processes. */
static bool is_gone(uint64_t owner)
{
    uint64_t pid = owner & ~MST_PROCESS_CLAIMING;

    return owner != 0 && pid - 1 < INT32_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* start_ticks 0: the owner could not read /proc when it started (in a chroot). */
static bool owner_is_dead(const struct mst_process *p)
{
    uint64_t owner = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE), start_ticks;
    struct mst_host_process process;

    if (owner == 0)
        return false;
    if (is_gone(owner))
        return true;
    if (owner & MST_PROCESS_CLAIMING)
        return false;   /* it has not written its start time yet */
    start_ticks = __atomic_load_n(&p->start_ticks, __ATOMIC_RELAXED);
    return mst_host_process(owner, &process)
        && (process.state == 'Z' || (start_ticks != 0 && process.start_ticks != start_ticks));
}

static bool take_entry(struct mst_process *p, uint64_t from, uint64_t claimant)
{
    return __atomic_compare_exchange_n(&p->pid, &from, claimant | MST_PROCESS_CLAIMING, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint64_t requests_of(const struct mst_board *b, int process)
{
    const struct mst_worker *w = workers_of(b, process);
    uint64_t sum = 0;
    uint32_t t;

    for (t = 0; t < b->threads; t++)
        sum += __atomic_load_n(&w[t].requests, __ATOMIC_RELAXED);
    return sum;
}

/* Sets the entry up for its new owner, all its workers idle from now_ns, and makes it visible last.
 * Precondition: this process has taken the entry (MST_PROCESS_CLAIMING). */
static void move_in(struct mst_board *b, int process, uint64_t pid, uint64_t generation,
                    uint64_t now_ns)
{
    struct mst_process *p = &b->processes[process];
    struct mst_worker *w = workers_of(b, process);
    uint32_t t;

    p->start_ticks = mst_host_start_ticks(pid);
    p->claimed_ns = now_ns;
    p->serial = __atomic_add_fetch(&b->header->serial, 1, __ATOMIC_RELAXED);
    p->generation = generation;
    p->mpm_slot = -1;
    p->clean_exit = 0;
    p->connections = 0;
    p->streams = 0;
    p->http2_busy = 0;
    p->request_ids = 0;
    p->requests_at_claim = requests_of(b, process);
    memset(&b->in_flight[(size_t)process * b->in_flight_stride], 0,
           b->in_flight_stride * sizeof *b->in_flight);
    for (t = 0; t < b->threads; t++) {
        uint64_t counted = mst_worker_since(&w[t]) - w[t].base_ns;

        w[t].request_label = MST_UNKNOWN;
        w[t].request_start_ns = 0;
        w[t].path[0] = '\0';
        mst_worker_wait_none(&w[t]);
        __atomic_store_n(&w[t].base_ns, now_ns - counted, __ATOMIC_RELAXED);
        __atomic_store_n(&w[t].state, t < b->threads_used ? MST_STATE_IDLE : MST_WORKER_FREE,
                         __ATOMIC_RELEASE);
    }
    __atomic_store_n(&p->pid, pid, __ATOMIC_RELEASE);
}

/* Requests that were in flight: those that workers show, and those in the process's row. */
static uint64_t in_flight_of(const struct mst_board *b, int process)
{
    const uint32_t *row = &b->in_flight[(size_t)process * b->in_flight_stride];
    const struct mst_worker *w = workers_of(b, process);
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < b->label_count; i++)
        sum += row[i] <= INT32_MAX ? row[i] : 0;
    for (i = 0; i < b->threads; i++)
        sum += w[i].request_label < b->label_count;
    return sum;
}

/* Ends the dead owner's time in its workers. Precondition: this process has taken the entry. */
static void evict(struct mst_board *b, int process, uint64_t now_ns, struct mst_process_end *end)
{
    struct mst_process *p = &b->processes[process];
    struct mst_worker *w = workers_of(b, process);
    uint32_t i;

    end->lifetime_ns = now_ns > p->claimed_ns ? now_ns - p->claimed_ns : 0;
    end->requests = requests_of(b, process) - p->requests_at_claim;
    end->generation = p->generation;
    end->mpm_slot = p->mpm_slot;
    end->clean = __atomic_load_n(&p->clean_exit, __ATOMIC_RELAXED) != 0;
    end->unfinished = in_flight_of(b, process);
    mst_busy_drop(b, p, now_ns);
    for (i = 0; i < b->threads; i++) {
        mst_worker_enter(&w[i], MST_STATE_IDLE, mst_worker_since(&w[i]), now_ns);
        mst_worker_wait_none(&w[i]);
        __atomic_store_n(&w[i].state, MST_WORKER_FREE, __ATOMIC_RELAXED);
    }
}

static int claim_free(struct mst_board *b, uint64_t pid, uint64_t generation, uint64_t now_ns)
{
    uint32_t i;

    for (i = 0; i < b->process_count; i++) {
        if (__atomic_load_n(&b->processes[i].pid, __ATOMIC_RELAXED) == 0
            && take_entry(&b->processes[i], 0, pid)) {
            move_in(b, (int)i, pid, generation, now_ns);
            return (int)i;
        }
    }
    return -1;
}

static int claim_dead(struct mst_board *b, uint64_t pid, uint64_t generation, uint64_t now_ns)
{
    struct mst_process_end unused;
    uint32_t i;

    for (i = 0; i < b->process_count; i++) {
        uint64_t owner = __atomic_load_n(&b->processes[i].pid, __ATOMIC_RELAXED);

        if (owner_is_dead(&b->processes[i]) && take_entry(&b->processes[i], owner, pid)) {
            evict(b, (int)i, now_ns, &unused);
            move_in(b, (int)i, pid, generation, now_ns);
            return (int)i;
        }
    }
    return -1;
}

int mst_process_claim(struct mst_board *b, uint64_t pid, uint64_t generation, uint64_t now_ns)
{
    int process = claim_free(b, pid, generation, now_ns);

    return process >= 0 ? process : claim_dead(b, pid, generation, now_ns);
}

/* The entry's index, or -1. Takes the entry, as another claimant may find the owner dead at the
 * same moment. */
static int take_entry_of(struct mst_board *b, uint64_t pid)
{
    uint32_t i;

    for (i = 0; i < b->process_count; i++)
        if (take_entry(&b->processes[i], pid, (uint64_t)getpid()))
            return (int)i;
    return -1;
}

static void vacate(struct mst_process *p)
{
    __atomic_store_n(&p->connections, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&p->streams, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&p->http2_busy, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&p->pid, 0, __ATOMIC_RELEASE);
}

bool mst_process_release(struct mst_board *b, uint64_t pid, uint64_t now_ns,
                         struct mst_process_end *end)
{
    int process = take_entry_of(b, pid);

    if (process < 0)
        return false;
    evict(b, process, now_ns, end);
    vacate(&b->processes[process]);
    return true;
}

void mst_process_sweep(struct mst_board *b, bool thorough, uint64_t now_ns,
                       mst_process_gone *gone, void *context)
{
    uint32_t i;

    mst_busy_correct(b, now_ns);
    for (i = 0; i < b->process_count; i++) {
        struct mst_process *p = &b->processes[i];
        uint64_t owner = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
        struct mst_process_end end;

        if (!(thorough ? owner_is_dead(p) : is_gone(owner))
            || !take_entry(p, owner, (uint64_t)getpid()))
            continue;
        evict(b, (int)i, now_ns, &end);
        vacate(p);
        gone(context, owner & ~MST_PROCESS_CLAIMING, &end);
    }
}

bool mst_process_any(const struct mst_board *b)
{
    uint32_t i;

    for (i = 0; i < b->process_count; i++)
        if (__atomic_load_n(&b->processes[i].pid, __ATOMIC_ACQUIRE) != 0
            && !owner_is_dead(&b->processes[i]))
            return true;
    return false;
}

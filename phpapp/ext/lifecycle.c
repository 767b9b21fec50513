/* lifecycle.c - PHP's workers: how they join the board, their forks and their ends.
 *
 *   FPM        each fork of the master is a worker, which joins at once, in the child's fork
 *              handler. A worker that ends by itself (pm.max_requests, a reload, idle) runs
 *              MSHUTDOWN and records its end. The master frees the entry of a killed one when
 *              it forks the next worker, or stops
 *   mod_php    a child of Apache joins at its first PHP request (under itk: the process of its
 *              connection). Apache's parent frees entries as FPM's master does
 *   php-cgi    a process joins at its first request, and frees entries of killed ones then
 *
 * The handlers of pthread_atfork() see forks. The fork of a worker (by its script) is recorded;
 * the forked process records nothing.
 */
#include "lifecycle.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "board_place.h"
#include "delay.h"
#include "ends.h"
#include "label.h"
#include "state.h"
#include "write/busy.h"
#include "write/journal.h"
#include "write/worker.h"

#define THOROUGH_NS (10 * MST_NS_PER_S)   /* between sweeps in which the parent reads /proc */

/* The latest fork of this thread. */
static __thread uint64_t fork_began_ns;

/* In a forked process, until it joins: time and duration of its fork. */
static uint64_t forked_at_ns, fork_took_ns;

static struct mst_lifecycle new_event(enum mst_event event, enum mst_kind kind, uint64_t pid,
                                      uint64_t time_ns)
{
    return (struct mst_lifecycle){
        .time_ns = time_ns,
        .event_kind = (uint64_t)event << 32 | (uint64_t)kind,
        .pid_parent = pid << 32,
        .mpm_slot = -1,
        .generation = mst_php.board.header->generation,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };
}

static bool is_parent(void)
{
    return mst_php.is_open && mst_php.parent == (uint64_t)getpid();
}

void mst_lifecycle_tell_loss(void)
{
    char sentence[MST_ERROR_MAX];

    if (mst_board_is_to_tell_loss(&mst_php.board, sentence))
        mst_board_place_warn(sentence);
}

/* ---- ends ------------------------------------------------------------------------------ */

static void tell_end(uint64_t pid, enum mst_reason reason, const struct mst_process_end *end,
                     uint64_t now_ns)
{
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, MST_KIND_PHP, pid, now_ns);

    e.pid_parent |= mst_php.board.header->pid;
    e.generation = end->generation;
    e.duration_ns = end->lifetime_ns;
    e.requests = end->requests;
    e.unfinished = end->unfinished;
    e.reason = reason;
    mst_journal_lifecycle(&mst_php.board, &e);
}

static void tell_killed(void *now_ns, uint64_t pid, const struct mst_process_end *end)
{
    tell_end(pid, MST_REASON_KILLED, end, *(const uint64_t *)now_ns);
}

static void sweep(bool thorough, uint64_t now_ns)
{
    mst_process_sweep(&mst_php.board, thorough, now_ns, tell_killed, &now_ns);
}

/* Among processes without a common parent, the end of the last one is the server's. A process that
 * joins at the same moment is seen here, or resets stopped_ns (join_now). */
static void note_stop_of_shared(uint64_t now_ns)
{
    struct mst_board *b = &mst_php.board;

    if (mst_process_any(b))
        return;
    __atomic_store_n(&b->header->stopped_ns, now_ns, __ATOMIC_SEQ_CST);
    if (mst_process_any(b))
        __atomic_store_n(&b->header->stopped_ns, 0, __ATOMIC_SEQ_CST);
}

static void leave(void)
{
    uint64_t now = mst_now_ns();
    struct mst_process_end end;

    __atomic_add_fetch(&mst_php.joins, 1, __ATOMIC_RELAXED);   /* no thread has a worker now */
    if (!mst_process_release(&mst_php.board, mst_php.pid, now, &end))
        return;
    tell_end(mst_php.pid, MST_REASON_CLEAN, &end, now);
    if (mst_php.origin == MST_ORIGIN_SHARED)
        note_stop_of_shared(now);
}

/* A process that a worker's script forked runs these functions at its end, too, but is not the
 * worker. */
void mst_lifecycle_end(void)
{
    bool is_worker = mst_php.pid == (uint64_t)getpid();

    if (!mst_php.is_open || mst_php.is_forked)
        return;
    if (is_worker)
        leave();
    if (is_parent()) {
        mst_guard_renew(&mst_php.board.guard);   /* httpd has restored its signal handlers */
        mst_lifecycle_tell_loss();
        sweep(true, mst_now_ns());
        mst_busy_tell(&mst_php.board, mst_now_ns());
        __atomic_store_n(&mst_php.board.header->stopped_ns, mst_now_ns(), __ATOMIC_RELAXED);
    }
    mst_php.is_open = false;
    if (MPMSTAT_THREADS > 1 && is_worker) {
        /* Another thread can be at a request and write to the board, so it stays mapped until the
         * process has ended. No request begins from here on. */
        mst_php.given_up = true;
        return;
    }
    mst_php.self = NULL;
    mst_board_close(&mst_php.board);
}

/* For a process that calls exit() without MSHUTDOWN (itk's, FPM's that failed to start). */
static __attribute__((destructor)) void end_at_exit(void)
{
    mst_lifecycle_end();
}

/* ---- joining ----------------------------------------------------------------------------- */

static void tell_start(uint64_t time_ns, uint64_t took_ns)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, MST_KIND_PHP, mst_php.pid, time_ns);

    e.pid_parent |= (uint32_t)getppid();
    e.duration_ns = took_ns;
    mst_journal_lifecycle(&mst_php.board, &e);
}

/* With ZTS it is unknown how many threads will come; the first one is there. */
static void free_further_workers(struct mst_worker *workers)
{
    uint32_t t;

    for (t = 1; t < mst_php.board.threads; t++)
        __atomic_store_n(&workers[t].state, MST_WORKER_FREE, __ATOMIC_RELAXED);
}

/* For a further thread, or one after another thread's end: its time counts from now on. */
static void take_further_worker(struct mst_worker *w)
{
    __atomic_store_n(&w->base_ns, mst_now_ns() - (mst_worker_since(w) - w->base_ns),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&w->state, MST_STATE_IDLE, __ATOMIC_RELEASE);
}

static void claim(uint64_t pid, uint64_t now_ns)
{
    struct mst_board *b = &mst_php.board;
    int process = mst_process_claim(b, pid, b->header->generation, now_ns);

    mst_php.self = process >= 0 ? &b->processes[process] : NULL;
    mst_php.threads = 0;
    mst_php.joins++;
    if (mst_php.self)
        free_further_workers(&b->workers[(size_t)process * b->threads]);
}

/* Other threads begin to record when they see the pid: it is set last. */
static void join_as_worker(uint64_t began_ns, uint64_t took_ns)
{
    uint64_t pid = (uint64_t)getpid();

    mst_busy_correct_waiting(&mst_php.board);
    mst_ends_join();
    mst_delay_open();
    claim(pid, mst_now_ns());
    __atomic_store_n(&mst_php.pid, pid, __ATOMIC_RELEASE);
    tell_start(began_ns, took_ns);
}

/* Joins this process now. One that called exec() began when PHP started in it; how long its fork
 * took is unknown. */
static bool join_now(void)
{
    if (mst_php.origin == MST_ORIGIN_SHARED && !mst_php.is_open)
        mst_board_place_open();
    if (!mst_php.is_open)
        return false;
    if (mst_php.origin == MST_ORIGIN_SHARED)
        sweep(true, mst_now_ns());
    if (forked_at_ns)
        join_as_worker(forked_at_ns, fork_took_ns);
    else
        join_as_worker(mst_php.minit_ns, MST_UNKNOWN);
    if (mst_php.origin == MST_ORIGIN_SHARED)
        __atomic_store_n(&mst_php.board.header->stopped_ns, 0, __ATOMIC_SEQ_CST);
    return true;
}

#ifdef ZTS
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
#endif

bool mst_lifecycle_join(void)
{
    bool joined;

    if (mst_php.is_forked || mst_php.given_up)
        return false;
#ifdef ZTS
    pthread_mutex_lock(&joining);
#endif
    joined = mst_php.pid != 0 || join_now();
#ifdef ZTS
    pthread_mutex_unlock(&joining);
#endif
    return joined;
}

/* The lowest number that no thread has; 0: all are taken. */
static uint32_t take_number(void)
{
    uint64_t taken = __atomic_load_n(&mst_php.threads, __ATOMIC_RELAXED), left;

    do {
        left = ~taken & (UINT64_MAX >> (64 - MPMSTAT_THREADS));
        if (left == 0)
            return 0;
    } while (!__atomic_compare_exchange_n(&mst_php.threads, &taken, taken | (left & -left), false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return (uint32_t)__builtin_ctzll(left) + 1;
}

void mst_lifecycle_thread(void)
{
    struct mst_board *b = &mst_php.board;
    uint32_t number = take_number();
    struct mst_worker *w = NULL;

    if (mst_php.self && number > 0 && number <= b->threads)
        w = &b->workers[(size_t)(mst_php.self - b->processes) * b->threads + number - 1];
    if (w && w->state == MST_WORKER_FREE)
        take_further_worker(w);
    MPMSTAT_G(thread) = number;
    MPMSTAT_G(worker) = w;
    MPMSTAT_G(worker_index) = w ? (uint32_t)(w - b->workers) : UINT32_MAX;
    MPMSTAT_G(stripe) = w ? MPMSTAT_G(worker_index) : (uint32_t)mst_php.pid;
    MPMSTAT_G(state_since_ns) = w ? mst_worker_since(w) : 0;
    mst_label_forget();
    mst_delay_open();
    MPMSTAT_G(joined) = __atomic_load_n(&mst_php.joins, __ATOMIC_RELAXED);
}

/* Where all of PHP ends, its worker is free already; in a forked process it is the parent's. */
void mst_lifecycle_thread_end(zend_mpmstat_globals *of)
{
    if (of->thread == 0 || mst_php.pid != (uint64_t)getpid()
        || of->joined != __atomic_load_n(&mst_php.joins, __ATOMIC_RELAXED))
        return;
    if (of->worker) {
        mst_worker_enter(of->worker, MST_STATE_IDLE, of->state_since_ns, mst_now_ns());
        __atomic_store_n(&of->worker->state, MST_WORKER_FREE, __ATOMIC_RELAXED);
    }
    __atomic_fetch_and(&mst_php.threads, ~(UINT64_C(1) << (of->thread - 1)), __ATOMIC_RELEASE);
    of->thread = 0;
    of->worker = NULL;
}

/* ---- forks --------------------------------------------------------------------------------- */

/* FPM's master installs its signal handlers after it has become a daemon and before its first
 * worker. Neither `php-fpm -t` nor the process that starts the daemon installs them. */
static bool is_fpm_master(void)
{
    struct sigaction reload;

    return sigaction(SIGUSR2, NULL, &reload) == 0
        && reload.sa_handler != SIG_DFL && reload.sa_handler != SIG_IGN;
}

void mst_lifecycle_open(void)
{
    struct mst_lifecycle e;

    mst_board_place_open();
    if (!mst_php.is_open || mst_php.board.header->generation == 0)
        return;
    e = new_event(MST_EVENT_GENERATION, MST_KIND_PHP, (uint64_t)getpid(), mst_now_ns());
    mst_journal_lifecycle(&mst_php.board, &e);
}

static void before_fork(void)
{
    static uint64_t swept_ns;

    if (mst_php.pid == 0 && !mst_php.is_forked) {
        if (mst_php.origin == MST_ORIGIN_FPM && !mst_php.is_open && !mst_php.given_up
            && is_fpm_master())
            mst_lifecycle_open();
        if (is_parent()) {
            bool thorough = mst_now_ns() - swept_ns > THOROUGH_NS;

            swept_ns = thorough ? mst_now_ns() : swept_ns;
            mst_guard_renew(&mst_php.board.guard);   /* httpd installs its own as it starts */
            mst_lifecycle_tell_loss();
            sweep(thorough, mst_now_ns());
            mst_busy_tell(&mst_php.board, mst_now_ns());
        }
    }
    fork_began_ns = mst_now_ns();
}

/* Whether this thread is at a request. Threads that are not PHP's can fork, too. */
static bool is_at_request(void)
{
#ifdef ZTS
    if (tsrm_get_ls_cache() == NULL)
        return false;
#endif
    return MPMSTAT_G(active);
}

/* Records the fork by a worker's script. */
static void tell_fork_of_worker(void)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, MST_KIND_REQUEST, (uint64_t)getpid(),
                                       fork_began_ns);

    e.pid_parent |= (uint32_t)mst_php.pid;
    e.duration_ns = mst_now_ns() - fork_began_ns;
    mst_journal_lifecycle(&mst_php.board, &e);
}

static void after_fork_in_child(void)
{
    forked_at_ns = fork_began_ns;
    fork_took_ns = mst_now_ns() - fork_began_ns;
    if (mst_php.is_forked)
        return;
    if (mst_php.pid) {
        mst_php.is_forked = true;
        if (mst_php.is_open && is_at_request()) {
            tell_fork_of_worker();
            MPMSTAT_G(active) = MPMSTAT_G(waits).is_on = false;
            MPMSTAT_G(waits).call = NULL;
            MPMSTAT_G(worker) = NULL;   /* it is the parent's */
            mst_delay_close();
        }
        return;
    }
    if (mst_php.origin != MST_ORIGIN_FPM || !mst_php.is_open)
        return;
    mst_label_join();
    join_as_worker(forked_at_ns, fork_took_ns);
}

/* glibc drops the handlers of a module that is unloaded, and this variable goes with it. */
void mst_lifecycle_start(void)
{
    static bool watching;

    mst_php.minit_ns = mst_now_ns();
    if (mst_php.origin == MST_ORIGIN_FPM) {
        mst_php.began_pid = (uint64_t)getpid();
        mst_php.began_ticks = mst_host_start_ticks(mst_php.began_pid);
    }
    if (!watching)
        watching = pthread_atfork(before_fork, NULL, after_fork_in_child) == 0;
}

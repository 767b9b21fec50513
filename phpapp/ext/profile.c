/* profile.c - samples of where PHP's code uses CPU time, mpmstat.profile times a second of it.
 *
 * A timer of the thread's CPU time sends a signal to a thread of its own, the watcher, and never to
 * one of PHP's: no system call of PHP's ends early. The watcher notes how much time has passed and
 * in which function, and asks the engine for an interrupt. At its next safe point (a loop's end, a
 * call, a return) the engine calls interrupted(), which takes the stack. A thread that does not run
 * has no CPU time, so that an idle server gets no signal.
 *
 * A process that a script forks has neither the timer nor the watcher, and no samples.
 */
#include "profile.h"

#include <errno.h>
#include <php.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "code_place.h"
#include "compat.h"
#include "state.h"
#include "write/worker.h"

#define WATCHER_STACK (64u * 1024)   /* its one function needs less than a page */

/* Real-time signals that come from a timer of this process, and only to the watcher. The others
 * that such programs use are counted from SIGRTMIN: glibc's own, and PHP's with threads. */
#define SIGNAL (SIGRTMAX - 5)

/* Where a thread's code was as its timer expired. */
struct seen {
    const zend_execute_data *frame;      /* the innermost frame of a script's code */
    const zend_function     *function;   /* of that frame */
    const zend_function     *called;     /* PHP's own function that it called; NULL: none */
};

/* What the watcher knows of a thread. These outlive the threads: a signal can come late, when
 * another thread has the target. */
struct target {
    mst_interrupt_flag *flag; /* of the thread's engine; NULL: it has ended */
    zend_execute_data **current;  /* the same, its innermost frame */
    uint32_t        tag;      /* the thread's signals have it: another one for each thread, of which
                               * the remainder by MPMSTAT_THREADS is this target's index */
    uint64_t        pending_ns;   /* CPU time that no sample stands for yet */
    uint64_t        writes;       /* of `seen`: begun and ended ones; odd: it is being written */
    struct seen     seen;
};

static struct target targets[MPMSTAT_THREADS];   /* by number of the thread, from 0 on */
static uint64_t period_ns;

/* The watcher of this process. */
static struct {
    pthread_mutex_t starting, raising;   /* raising: a target is used, or gets another thread */
    pthread_t       thread;
    pid_t           tid, pid;     /* pid: of the process in which it runs; another one has none */
    sem_t           is_ready;
    bool            ends;         /* it is asked to; atomic */
} watcher = { .starting = PTHREAD_MUTEX_INITIALIZER, .raising = PTHREAD_MUTEX_INITIALIZER };

static void (*next_interrupt)(zend_execute_data *);

/* ---- PHP's own functions --------------------------------------------------------------------- */

/* Their addresses, in order. What the watcher takes for a function can be anything: the thread goes
 * on while it looks. Only one of these is taken for one, and these live as long as PHP. With
 * threads, each thread calls copies of them, which have the original's address in a slot. */
static struct { const void **all; size_t count, room; } own;
static int original_slot = -1;   /* the index in zend_internal_function.reserved where a copy has
                                  * the address of its original; -1: PHP makes no copies */

static int compare(const void *left, const void *right)
{
    const void *a = *(const void *const *)left, *b = *(const void *const *)right;

    return (a > b) - (a < b);
}

static bool is_phps_own(const void *function)
{
    return own.count > 0 && bsearch(&function, own.all, own.count, sizeof *own.all, compare);
}

static void add_functions(HashTable *table)
{
    zend_function *f;

    ZEND_HASH_FOREACH_PTR(table, f) {
        if (f->type != ZEND_INTERNAL_FUNCTION
            || !mst_grow(&own.all, &own.room, own.count, sizeof *own.all))
            continue;
        own.all[own.count++] = f;
        if (original_slot >= 0)
            f->internal_function.reserved[original_slot] = f;
    } ZEND_HASH_FOREACH_END();
}

static mst_startup_result (*next_post_startup)(void);

static mst_startup_result find_functions(void)
{
    zend_class_entry *class;

    add_functions(CG(function_table));
    ZEND_HASH_FOREACH_PTR(CG(class_table), class) {
        if (class->type == ZEND_INTERNAL_CLASS)
            add_functions(&class->function_table);
    } ZEND_HASH_FOREACH_END();
    if (own.count > 0)
        qsort(own.all, own.count, sizeof *own.all, compare);
    return next_post_startup ? next_post_startup() : SUCCESS;
}

/* ---- the watcher ------------------------------------------------------------------------- */

/* The thread runs on meanwhile, and can give the memory back: the kernel says then that it is gone.
 * Where it may not be asked (a filter of system calls), nothing is seen. */
static bool copy_from(const void *from, void *to, size_t size)
{
    struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

    return from && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* The function, where it is PHP's own; else NULL. */
static const zend_function *phps_own(const zend_function *function)
{
    zend_internal_function copy;

    if (is_phps_own(function))
        return function;
    if (original_slot >= 0 && copy_from(function, &copy, sizeof copy)
        && copy.type == ZEND_INTERNAL_FUNCTION && is_phps_own(copy.reserved[original_slot]))
        return copy.reserved[original_slot];
    return NULL;
}

/* Looks where the thread is. */
static void look(const zend_execute_data *frame, struct seen *seen)
{
    zend_execute_data copy, caller;
    const zend_function *called;

    *seen = (struct seen){ NULL, NULL, NULL };
    if (!copy_from(frame, &copy, sizeof copy))
        return;
    called = phps_own(copy.func);
    if (!called)
        *seen = (struct seen){ frame, copy.func, NULL };
    else if (copy_from(copy.prev_execute_data, &caller, sizeof caller))
        *seen = (struct seen){ copy.prev_execute_data, caller.func, called };
}

/* Stores what was seen, so that the thread does not take half of it. */
static void keep(struct target *t)
{
    struct seen seen;

    look(__atomic_load_n(t->current, __ATOMIC_RELAXED), &seen);
    __atomic_fetch_add(&t->writes, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&t->seen.frame, seen.frame, __ATOMIC_RELAXED);
    __atomic_store_n(&t->seen.function, seen.function, __ATOMIC_RELAXED);
    __atomic_store_n(&t->seen.called, seen.called, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->writes, 1, __ATOMIC_RELEASE);
}

static void note(const siginfo_t *info)
{
    uint32_t tag = (uint32_t)info->si_value.sival_int;
    struct target *t = &targets[tag % MPMSTAT_THREADS];

    if (info->si_code != SI_TIMER)
        return;
    pthread_mutex_lock(&watcher.raising);
    if (t->flag && t->tag == tag) {
        __atomic_fetch_add(&t->pending_ns, (1 + (uint64_t)info->si_overrun) * period_ns,
                           __ATOMIC_RELAXED);
        keep(t);
        MST_RAISE(t->flag);
    }
    pthread_mutex_unlock(&watcher.raising);
}

static void *watch(void *unused)
{
    siginfo_t info;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    watcher.tid = (pid_t)syscall(SYS_gettid);
    sem_post(&watcher.is_ready);
    while (!__atomic_load_n(&watcher.ends, __ATOMIC_ACQUIRE))
        if (sigwaitinfo(&set, &info) == SIGNAL)
            note(&info);
    return unused;
}

/* No signal of the process is its. */
static bool start_watcher(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    bool is_started;

    if (sem_init(&watcher.is_ready, 0, 0) != 0 || pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, WATCHER_STACK);
    watcher.ends = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(&watcher.thread, &attributes, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!is_started)
        return false;
    while (sem_wait(&watcher.is_ready) != 0 && errno == EINTR)
        ;
    pthread_setname_np(watcher.thread, "mpmstat");
    watcher.pid = getpid();
    return true;
}

static bool has_watcher(void)
{
    bool has;

    pthread_mutex_lock(&watcher.starting);
    has = watcher.pid == getpid() || start_watcher();
    pthread_mutex_unlock(&watcher.starting);
    return has;
}

/* ---- samples ----------------------------------------------------------------------------- */

static bool read_seen(const struct target *t, struct seen *seen)
{
    uint64_t writes = __atomic_load_n(&t->writes, __ATOMIC_ACQUIRE);

    seen->frame = __atomic_load_n(&t->seen.frame, __ATOMIC_RELAXED);
    seen->function = __atomic_load_n(&t->seen.function, __ATOMIC_RELAXED);
    seen->called = __atomic_load_n(&t->seen.called, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return writes % 2 == 0 && writes == __atomic_load_n(&t->writes, __ATOMIC_RELAXED);
}

/* The engine stops at the next safe point. That can be in a function which was only called after
 * the time had passed: then the sample is of its caller, and of PHP's own function that this had
 * called. Where the frame has returned meanwhile, the sample is of the one that runs. */
static void take(const struct target *t, const zend_execute_data *call, uint64_t weight_ns)
{
    const zend_execute_data *frame = call;
    struct seen seen;
    uint32_t stack;

    if (!read_seen(t, &seen))
        seen.frame = NULL;
    while (frame && (frame != seen.frame || frame->func != seen.function))
        frame = frame->prev_execute_data;
    stack = mst_place_stack(frame ? frame : call, frame ? seen.called : NULL);

    if (MPMSTAT_G(worker))
        mst_worker_run(MPMSTAT_G(worker), stack, mst_now_ns());
    mst_place_sample(stack, 0, weight_ns);
}

/* This thread's, where it has a number. */
static struct target *own_target(void)
{
    return &targets[MPMSTAT_G(thread) - 1];
}

static void interrupted(zend_execute_data *call)
{
    uint64_t weight_ns = MPMSTAT_G(has_profile_timer)
        ? __atomic_exchange_n(&own_target()->pending_ns, 0, __ATOMIC_RELAXED) : 0;

    if (weight_ns > 0 && MPMSTAT_G(active) && call && !mst_worker_has_left())
        take(own_target(), call, weight_ns);
    if (next_interrupt)
        next_interrupt(call);
}

/* ---- threads of PHP ---------------------------------------------------------------------- */

static bool arm(uint32_t tag)
{
    struct timespec period = { (time_t)(period_ns / MST_NS_PER_S),
                               (long)(period_ns % MST_NS_PER_S) };
    struct itimerspec interval = { period, period };
    struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL,
                           .sigev_value.sival_int = (int)tag };

#ifdef sigev_notify_thread_id
    to.sigev_notify_thread_id = watcher.tid;
#else
    to._sigev_un._tid = watcher.tid;
#endif
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &MPMSTAT_G(profile_timer)) != 0)
        return false;
    if (timer_settime(MPMSTAT_G(profile_timer), 0, &interval, NULL) == 0)
        return true;
    timer_delete(MPMSTAT_G(profile_timer));
    return false;
}

/* A thread without a number has no samples. */
static void join(void)
{
    struct target *t;

    MPMSTAT_G(profile_pid) = mst_php.pid;
    MPMSTAT_G(has_profile_timer) = false;
    if (MPMSTAT_G(thread) == 0 || !has_watcher())
        return;
    t = own_target();
    pthread_mutex_lock(&watcher.raising);
    t->tag = (t->tag / MPMSTAT_THREADS + 1) * MPMSTAT_THREADS + MPMSTAT_G(thread) - 1;
    t->current = &EG(current_execute_data);
    t->flag = &EG(vm_interrupt);
    pthread_mutex_unlock(&watcher.raising);
    MPMSTAT_G(has_profile_timer) = arm(t->tag);
}

void mst_profile_begin(void)
{
    if (period_ns == 0 || mst_php.board.frame_count == 0)
        return;   /* or the board is an older process's, which has no room for samples */
    if (MPMSTAT_G(profile_pid) != mst_php.pid)
        join();
    if (MPMSTAT_G(has_profile_timer))   /* what passed between two requests does not count */
        __atomic_store_n(&own_target()->pending_ns, 0, __ATOMIC_RELAXED);
}

/* A forked process has copies of all this, whose lock can be the watcher's for ever. */
void mst_profile_leave(zend_mpmstat_globals *of)
{
    if (!of->has_profile_timer || of->profile_pid != (uint64_t)getpid())
        return;
    timer_delete(of->profile_timer);
    pthread_mutex_lock(&watcher.raising);
    targets[of->thread - 1].flag = NULL;
    pthread_mutex_unlock(&watcher.raising);
    of->has_profile_timer = false;
}

void mst_profile_install(void)
{
    if (MPMSTAT_G(profile) == 0)
        return;
    period_ns = MST_NS_PER_S / (uint64_t)MPMSTAT_G(profile);
    if (MPMSTAT_THREADS > 1)
        original_slot = mst_reserve_slot();
    next_interrupt = zend_interrupt_function;
    zend_interrupt_function = interrupted;
    next_post_startup = zend_post_startup_cb;
    zend_post_startup_cb = find_functions;
}

/* The code of the watcher is unloaded after this. pthread_cancel() loads libgcc_s, which a pool's
 * chroot can lack, and ends the process without it: so it is the last resort, where the user's
 * signals that wait are as many as RLIMIT_SIGPENDING allows. */
void mst_profile_uninstall(void)
{
    if (watcher.pid == getpid()) {
        __atomic_store_n(&watcher.ends, true, __ATOMIC_RELEASE);
        if (pthread_kill(watcher.thread, SIGNAL) != 0)
            pthread_cancel(watcher.thread);
        pthread_join(watcher.thread, NULL);
        watcher.pid = 0;
    }
    if (zend_interrupt_function == interrupted)
        zend_interrupt_function = next_interrupt;
    period_ns = 0;
    free(own.all);
    memset(&own, 0, sizeof own);
}

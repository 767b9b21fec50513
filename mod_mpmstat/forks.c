/* forks.c - every fork, and the ends of the processes that are not children of the MPM.
 *
 * pthread_atfork's handlers see forks. They do not see vfork, posix_spawn, popen and system.
 *
 *   parent -> child of the MPM   written by the parent, when child_status reports it
 *                                (processes.c)
 *   parent -> helper             (mod_cgid's daemon, a piped logger) noted on the board by the
 *                                forked process; written by the parent when the process has not
 *                                become a child of the MPM
 *   child  -> request's process  (itk, CGI) written by the forked process at once
 *   helper -> request's process  (CGI under mod_cgid) written by that at once
 *
 * A process that has called exec cannot write its own end, and httpd calls no hook when it waits
 * for such a process. So these check whether a process has ended, in this order:
 *
 *   the process itself    where it serves a connection (itk) and is told to stop
 *   its parent            after itk's process, which it waited for, has ended; after a request:
 *                         waitid() leaves the process for httpd to wait for, and says how it
 *                         ended, if it has by then
 *   a helper              right after its next fork
 *   the server's parent   every ten seconds: that the process is gone, not when or why
 */
#include "mod_mpmstat.h"

#include <http_core.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "write/fork_table.h"
#include "write/journal.h"

/* This thread's latest fork: when it began, and how long it took the parent. */
static __thread uint64_t fork_began_ns, fork_took_ns;

/* The pids of the MPM's latest children, whose entries are not helpers'. Only the parent sets
 * them. */
#define STARTED 64u
static uint64_t started_pids[STARTED];
static unsigned started_count;

/* This process's own entry, where it was forked for a request. */
static struct mst_fork *own_fork;

/* True if the parent forked this process, and it is not a child of the MPM (so far). */
static bool is_helper;

/* What itk logged in the child about the process that served its connection: the signal that
 * killed it; EXITED: it ended by itself, with an error; 0: nothing. */
#define EXITED (-1)
static int logged_by_itk;

/* ---- events of the journal ----------------------------------------------------------- */

static struct mst_lifecycle new_event(enum mst_event event, const struct mst_fork *fork,
                                      uint64_t pid)
{
    return (struct mst_lifecycle){
        .time_ns = fork->time_ns,
        .event_kind = (uint64_t)event << 32 | fork->kind,
        .pid_parent = pid << 32 | (uint32_t)fork->parent,
        .mpm_slot = fork->mpm_slot,
        .generation = fork->generation,
        .duration_ns = fork->duration_ns,
        .requests = MST_UNKNOWN,
    };
}

static void write_fork(struct mst_board *b, const struct mst_fork *fork)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, fork, fork->pid);

    mst_journal_lifecycle(b, &e);
}

/* Precondition: this process has taken the entry. is_recent: the process ended just now. */
static void write_end(struct mst_board *b, struct mst_fork *fork, uint64_t pid,
                      enum mst_reason reason, bool is_recent)
{
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, fork, pid);

    e.time_ns = mst_now_ns();
    e.duration_ns = is_recent ? e.time_ns - fork->time_ns : MST_UNKNOWN;
    e.reason = reason;
    mst_fork_free(fork);
    mst_journal_lifecycle(b, &e);
}

/* ---- ends ---------------------------------------------------------------------------- */

void mst_forks_closing(void)
{
    if (own_fork && own_fork->serves == MST_FORK_SERVING)
        own_fork->serves = MST_FORK_CLOSING;
}

void mst_forks_own_end(struct mst_board *b)
{
    uint64_t pid = mst_recording.pid;

    if (own_fork && own_fork->serves != MST_FORK_NO_SERVER && mst_fork_take(own_fork, pid))
        write_end(b, own_fork, pid, MST_REASON_CLEAN, true);
}

static enum mst_reason reason_of_signal(int signal)
{
    return signal == SIGKILL ? MST_REASON_KILLED : MST_REASON_SIGNAL;
}

/* Why a process ended whose status cannot be read: another process has waited for it, or none
 * will. */
static enum mst_reason reason_without_status(const struct mst_fork *fork)
{
    if (fork->serves == MST_FORK_NO_SERVER)
        return MST_REASON_UNKNOWN;
    if (logged_by_itk > 0)
        return reason_of_signal(logged_by_itk);
    return logged_by_itk == EXITED || fork->serves == MST_FORK_CLOSING ? MST_REASON_CLEAN
                                                                       : MST_REASON_KILLED;
}

/* Whether a child of this process still runs; if not, its end is written. WNOWAIT: httpd waits
 * for it itself, and needs its status. */
static bool still_runs(struct mst_board *b, struct mst_fork *fork, uint64_t pid)
{
    siginfo_t info = { 0 };
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    enum mst_reason reason = reason_without_status(fork);

    if (rc == 0 && info.si_pid == 0)
        return true;
    if (rc == 0)
        reason = info.si_code == CLD_EXITED ? MST_REASON_CLEAN : reason_of_signal(info.si_status);
    if (mst_fork_take(fork, pid))
        write_end(b, fork, pid, reason, reason != MST_REASON_UNKNOWN);
    return false;
}

void mst_forks_check(void)
{
    struct mst_board *b = mst_recording.board;
    uint32_t begun = __atomic_load_n(&mst_recording.forks_running, __ATOMIC_RELAXED);
    uint32_t i, end, running = 0;
    uint64_t self = (uint64_t)getpid();

    if (!b)
        return;
    end = mst_fork_end(b);
    for (i = 0; i < end; i++) {
        uint64_t pid = mst_fork_pid(&b->forks[i]);

        if (pid != 0 && b->forks[i].parent == self)
            running += still_runs(b, &b->forks[i], pid);
    }
    logged_by_itk = 0;
    /* Leaves the number alone if another thread has forked meanwhile. */
    __atomic_compare_exchange_n(&mst_recording.forks_running, &begun, running, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* When a process began, from its entry in /proc, which is exact to a tick. */
static uint64_t began_ns(const struct mst_host_process *process)
{
    struct timespec monotonic, boot;
    uint64_t asleep;

    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    asleep = (uint64_t)(boot.tv_sec - monotonic.tv_sec) * MST_NS_PER_S
           + (uint64_t)boot.tv_nsec - (uint64_t)monotonic.tv_nsec;
    return process->start_ticks * (MST_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) - asleep;
}

/* Whether the process of the entry is gone, or another has its pid by now. A zombie is left to
 * the process that forked it. */
static bool is_gone(const struct mst_fork *fork, uint64_t pid)
{
    struct mst_host_process process;

    return !mst_host_process(pid, &process)
        || (int64_t)(began_ns(&process) - fork->time_ns) > (int64_t)MST_NS_PER_S;
}

void mst_forks_sweep(struct mst_board *b)
{
    uint32_t i, end = mst_fork_end(b);

    for (i = 0; i < end; i++) {
        uint64_t pid = mst_fork_pid(&b->forks[i]);

        if (pid != 0 && b->forks[i].kind != MST_KIND_COUNT && is_gone(&b->forks[i], pid)
            && mst_fork_take(&b->forks[i], pid))
            write_end(b, &b->forks[i], pid, reason_without_status(&b->forks[i]), false);
    }
    mst_fork_reclaim(b);
}

void mst_forks_read_log(const char *line)
{
    if (strncmp(line, "child exited with non-zero", 26) == 0)
        logged_by_itk = EXITED;
    sscanf(line, "child died with signal %d", &logged_by_itk);
}

/* ---- forks --------------------------------------------------------------------------- */

/* httpd has installed its own signal handlers by the time of the MPM's first fork. */
static void before_fork(void)
{
    if (mst_recording.board && !mst_recording.pid)
        mst_guard_renew(&mst_recording.board->guard);
    fork_began_ns = mst_now_ns();
}

/* This handler runs when the fork failed, too, and does not know the pid. */
static void after_fork_in_parent(void)
{
    fork_took_ns = mst_now_ns() - fork_began_ns;
    if (mst_recording.pid)
        __atomic_fetch_add(&mst_recording.forks_running, 1, __ATOMIC_RELAXED);
    else if (is_helper)
        mst_forks_check();
}

static struct mst_fork new_fork(const struct mst_board *b, uint64_t kind, uint64_t took_ns)
{
    return (struct mst_fork){
        .pid = (uint64_t)getpid(),
        .parent = (uint64_t)getppid(),
        .time_ns = fork_began_ns,
        .duration_ns = took_ns,
        .kind = kind,
        .mpm_slot = mst_recording.self ? mst_recording.self->mpm_slot : -1,
        .generation = b->header->generation,
    };
}

/* Whether this process was forked to serve a connection (itk): by a child with one worker,
 * before the connection has a request. */
static bool serves_connection(void)
{
    return mst_recording.self && !mst_recording.listener_thread
        && !mst_recording.workers[0].request_start_ns;
}

/* This process was forked from a child of the MPM. It serves a connection of that child, and so
 * writes to the child's entry; or it is to become a CGI script. */
static void leave_child(struct mst_board *b)
{
    mst_recording.pid = (uint64_t)getpid();
    mst_recording.forked = true;
    mst_recording.forks_running = 0;
    if (!mst_recording.self)
        mst_request_ids_without_entry(b);
}

static void after_fork_in_child(void)
{
    struct mst_board *b = mst_recording.board;
    uint64_t took_ns = mst_now_ns() - fork_began_ns;
    struct mst_fork fork;

    if (!b)
        return;
    if (!mst_recording.pid && (uint64_t)getppid() == mst_recording.parent) {
        /* This is a child of the MPM or a helper: the parent finds out which, and writes it. */
        fork = new_fork(b, MST_KIND_COUNT, took_ns);
        mst_fork_add(b, &fork);
        is_helper = true;
        return;
    }
    if (mst_recording.pid)
        leave_child(b);
    fork = new_fork(b, MST_KIND_REQUEST, took_ns);
    fork.serves = serves_connection() ? MST_FORK_SERVING : MST_FORK_NO_SERVER;
    write_fork(b, &fork);
    own_fork = mst_fork_add(b, &fork);
}

/* glibc forgets the handlers with an unloaded module; where the module stays loaded over a
 * restart, so does this variable. */
void mst_forks_watch(void)
{
    static bool watching;

    if (!watching)
        watching = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

void mst_forks_latest(uint64_t *began, uint64_t *took)
{
    *began = fork_began_ns;
    *took = fork_took_ns;
}

/* ---- which forks of the parent are helpers ------------------------------------------- */

void mst_forks_started(uint64_t pid)
{
    started_pids[started_count++ % STARTED] = pid;
}

void mst_forks_joined(struct mst_board *b, uint64_t pid)
{
    is_helper = false;
    mst_fork_forget(b, pid);
}

static bool was_started_by_mpm(uint64_t pid)
{
    unsigned i;

    for (i = 0; i < STARTED; i++)
        if (started_pids[i] == pid)
            return true;
    return false;
}

/* An entry that no child took back within a second is a helper's: the MPM reports its children
 * at once, and they remove their entries when they join. */
static void report_helper(struct mst_board *b, struct mst_fork *fork, uint64_t now_ns)
{
    uint64_t pid = mst_fork_pid(fork);

    if (pid == 0 || fork->kind != MST_KIND_COUNT)
        return;
    if (was_started_by_mpm(pid)) {
        if (mst_fork_take(fork, pid))
            mst_fork_free(fork);
    }
    else if (now_ns >= fork->time_ns + MST_NS_PER_S) {
        fork->kind = MST_KIND_HELPER;
        write_fork(b, fork);
    }
}

void mst_forks_report_helpers(struct mst_board *b)
{
    uint64_t now_ns = mst_now_ns();
    uint32_t i, end = mst_fork_end(b);

    for (i = 0; i < end; i++)
        report_helper(b, &b->forks[i], now_ns);
}

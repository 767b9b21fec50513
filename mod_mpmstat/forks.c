/* forks.c - every fork, and the ends of those processes that are no children of the MPM.
 *
 * Forks are seen by pthread_atfork's handlers. What goes by vfork, posix_spawn, popen
 * or system is not seen.
 *
 *   parent -> child of the MPM   told by child_status (processes.c)
 *   parent -> helper             (mod_cgid's daemon, a piped logger) noted on the board
 *                                by the forked process itself, and told by the parent
 *                                when it is not the MPM's
 *   child  -> request's process  (itk, CGI) told by the forked process at once
 *   helper -> request's process  (CGI under mod_cgid) likewise
 *
 * A process that has called exec cannot tell of its end, and httpd tells nobody when it
 * waits for it. So ends are looked for, by those who do not have to make haste or have
 * forked, in this order:
 *
 *   the process itself    where it serves a connection (itk) and is told to stop
 *   the one that forked   after itk's, which it waited for, has ended; after a request:
 *                         waitid() leaves the process for httpd to wait for, and says
 *                         how it ended, if it has by then
 *   a helper              before its next fork
 *   the parent            every ten seconds: that it is gone, not when or why
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

/* The latest fork of this thread: when it began, and how long the parent was at it. */
static __thread uint64_t fork_began_ns, fork_took_ns;

/* The MPM's latest children: their entries are not a helper's. In the parent. */
#define STARTED 64u
static uint64_t started_pids[STARTED];
static unsigned started_count;

/* This process's own entry, where it was forked for a request. */
static struct mst_fork *own_fork;

/* Forked from the parent, and not (yet) a child of the MPM. */
static bool is_helper;

/* What itk logged in the child of the process that served its connection: the signal
 * that killed it; SELF: it ended by itself, with an error; 0: nothing. */
#define SELF (-1)
static int itk_said;

/* ---- forks ------------------------------------------------------------------------ */

/* httpd has installed its own signal handlers by the time of the MPM's first fork. */
static void before_fork(void)
{
    if (mst_recording.board && !mst_recording.pid)
        mst_guard_renew(&mst_recording.board->guard);
    fork_began_ns = mst_now_ns();
}

static void look_for_ends(struct mst_board *b);

/* Runs when the fork failed, too, and does not know the pid. */
static void after_fork_in_parent(void)
{
    fork_took_ns = mst_now_ns() - fork_began_ns;
    if (mst_recording.pid)
        __atomic_fetch_add(&mst_recording.forks_running, 1, __ATOMIC_RELAXED);
    else if (is_helper && mst_recording.board)
        look_for_ends(mst_recording.board);
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

static void tell_fork(struct mst_board *b, const struct mst_fork *fork)
{
    struct mst_lifecycle e = {
        .time_ns = fork->time_ns,
        .event_kind = (uint64_t)MST_EVENT_FORK << 32 | fork->kind,
        .pid_parent = fork->pid << 32 | (uint32_t)fork->parent,
        .mpm_slot = fork->mpm_slot,
        .generation = fork->generation,
        .duration_ns = fork->duration_ns,
        .requests = MST_UNKNOWN,
    };

    mst_journal_lifecycle(b, &e);
}

/* Whether this process was forked to serve a connection (itk): before there is a request
 * on it, by a child with one worker. */
static bool is_server(void)
{
    return mst_recording.self && !mst_recording.listener_thread
        && !mst_recording.workers[0].request_start_ns;
}

static void after_fork_in_child(void)
{
    struct mst_board *b = mst_recording.board;
    uint64_t took_ns = mst_now_ns() - fork_began_ns;
    struct mst_fork fork;

    if (!b)
        return;
    if (!mst_recording.pid && (uint64_t)getppid() == mst_recording.parent) {
        /* The parent knows better what it forked, so that is left for it. */
        fork = new_fork(b, MST_KIND_COUNT, took_ns);
        mst_fork_add(b, &fork);
        is_helper = true;
        return;
    }
    if (mst_recording.pid)
        mst_recording_forked();
    fork = new_fork(b, MST_KIND_REQUEST, took_ns);
    fork.serves = is_server() ? MST_FORK_SERVING : MST_FORK_NO_SERVER;
    tell_fork(b, &fork);
    own_fork = mst_fork_add(b, &fork);
}

/* glibc forgets the handlers with an unloaded module; where it stays loaded over
 * a restart, so does this variable. */
void mst_forks_watch(void)
{
    static bool watching;

    if (!watching)
        watching = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

void mst_forks_began(uint64_t *began_ns, uint64_t *took_ns)
{
    *began_ns = fork_began_ns;
    *took_ns = fork_took_ns;
}

/* ---- whose is it? -------------------------------------------------------------------- */

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

/* One that no child took back within a second is a helper's: the MPM tells of its
 * children at once, and they forget theirs when they join. */
static void tell_helper(struct mst_board *b, struct mst_fork *fork, uint64_t now_ns)
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
        tell_fork(b, fork);
    }
}

void mst_forks_tell_helpers(struct mst_board *b)
{
    uint64_t now_ns = mst_now_ns();
    uint32_t i, end = mst_fork_end(b);

    for (i = 0; i < end; i++)
        tell_helper(b, &b->forks[i], now_ns);
}

/* ---- ends ------------------------------------------------------------------------------ */

/* Of an entry that this process has taken. */
static void tell_end(struct mst_board *b, struct mst_fork *fork, uint64_t pid,
                     enum mst_reason reason, bool just_now)
{
    uint64_t now_ns = mst_now_ns();
    struct mst_lifecycle e = {
        .time_ns = now_ns,
        .event_kind = (uint64_t)MST_EVENT_EXIT << 32 | fork->kind,
        .pid_parent = pid << 32 | (uint32_t)fork->parent,
        .mpm_slot = fork->mpm_slot,
        .generation = fork->generation,
        .duration_ns = just_now ? now_ns - fork->time_ns : MST_UNKNOWN,
        .requests = MST_UNKNOWN,
        .reason = reason,
    };

    mst_fork_free(fork);
    mst_journal_lifecycle(b, &e);
}

void mst_forks_closing(void)
{
    if (own_fork && own_fork->serves == MST_FORK_SERVING)
        own_fork->serves = MST_FORK_CLOSING;
}

void mst_forks_own_end(struct mst_board *b)
{
    uint64_t pid = mst_recording.pid;

    if (own_fork && own_fork->serves != MST_FORK_NO_SERVER && mst_fork_take(own_fork, pid))
        tell_end(b, own_fork, pid, MST_REASON_CLEAN, true);
}

static enum mst_reason reason_of_signal(int signal)
{
    return signal == SIGKILL ? MST_REASON_KILLED : MST_REASON_SIGNAL;
}

/* Somebody has waited for it already, or nobody will. */
static enum mst_reason reason_unseen(const struct mst_fork *fork)
{
    if (fork->serves == MST_FORK_NO_SERVER)
        return MST_REASON_UNKNOWN;
    if (itk_said > 0)
        return reason_of_signal(itk_said);
    return itk_said == SELF || fork->serves == MST_FORK_CLOSING ? MST_REASON_CLEAN
                                                                : MST_REASON_KILLED;
}

/* A child of this process. WNOWAIT: httpd waits for it itself, and needs its status.
 * Whether it still runs. */
static bool look_at(struct mst_board *b, struct mst_fork *fork, uint64_t pid)
{
    siginfo_t info = { 0 };
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    enum mst_reason reason = reason_unseen(fork);

    if (rc == 0 && info.si_pid == 0)
        return true;
    if (rc == 0)
        reason = info.si_code == CLD_EXITED ? MST_REASON_CLEAN : reason_of_signal(info.si_status);
    if (mst_fork_take(fork, pid))
        tell_end(b, fork, pid, reason, reason != MST_REASON_UNKNOWN);
    return false;
}

static void look_for_ends(struct mst_board *b)
{
    uint32_t begun = __atomic_load_n(&mst_recording.forks_running, __ATOMIC_RELAXED);
    uint32_t i, end = mst_fork_end(b), running = 0;
    uint64_t self = (uint64_t)getpid();

    for (i = 0; i < end; i++) {
        uint64_t pid = mst_fork_pid(&b->forks[i]);

        if (pid != 0 && b->forks[i].parent == self)
            running += look_at(b, &b->forks[i], pid);
    }
    itk_said = 0;
    /* Unless another thread has forked meanwhile. */
    __atomic_compare_exchange_n(&mst_recording.forks_running, &begun, running, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void mst_forks_look(void)
{
    if (mst_recording.board)
        look_for_ends(mst_recording.board);
}

/* When a process began, by its entry in /proc: within a tick. */
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

/* Whether the process of the entry is no more, or another has its pid by now. A zombie
 * is left for the one that forked it to look at. */
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
            tell_end(b, &b->forks[i], pid, reason_unseen(&b->forks[i]), false);
    }
    mst_fork_mend(b);
}

/* ---- hooks ------------------------------------------------------------------------------- */

static void error_log(const ap_errorlog_info *info, const char *line)
{
    (void)info;
    if (!mst_recording.pid)
        return;
    if (strncmp(line, "child exited with non-zero", 26) == 0)
        itk_said = SELF;
    sscanf(line, "child died with signal %d", &itk_said);
}

void mst_forks_register(apr_pool_t *p)
{
    (void)p;
    ap_hook_error_log(error_log, NULL, NULL, APR_HOOK_MIDDLE);
}

/* lifecycle.c - forks, exits and restarts.
 *
 * Forks are seen by pthread_atfork's handlers: those of the MPM's children, of
 * helpers (mod_cgid's daemon, mod_fcgid's manager), of one request (CGI), of one
 * connection (itk).
 * What goes by vfork, posix_spawn, popen or system is not seen.
 *
 *   parent -> child of the MPM   told by child_status; the parent timed the fork
 *   parent -> helper             noted on the board by the forked process itself, and
 *                                told by the parent when it is not the MPM's
 *   child  -> request's process  told by the forked process at once
 *   helper -> request's process  likewise (CGI under mod_cgid)
 *
 * Why a child ended: it set a flag itself on its way out (clean), or httpd logged
 * the signal (AH00051, AH00052), or neither: killed, by SIGKILL (also the OOM
 * killer's), for httpd says nothing of that one and the child could not.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <http_core.h>
#include <mpm_common.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "board/busy.h"
#include "board/clock.h"
#include "board/journal.h"

/* The child whose death by a signal httpd reported last; its exit follows. */
static long signalled_pid;

static uint64_t event_kind(enum mst_event event, enum mst_kind kind)
{
    return (uint64_t)event << 32 | (uint64_t)kind;
}

/* An event of which nothing but this is known. */
static struct mst_lifecycle new_event(enum mst_event event, enum mst_kind kind, uint64_t time_ns)
{
    return (struct mst_lifecycle){
        .time_ns = time_ns,
        .event_kind = event_kind(event, kind),
        .pid_parent = (uint32_t)getpid(),
        .mpm_slot = -1,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };
}

void mst_lifecycle_generation(struct mst_board *b, uint64_t generation)
{
    struct mst_lifecycle e = new_event(MST_EVENT_GENERATION, MST_KIND_CHILD, mst_now_ns());

    e.pid_parent = (uint64_t)getpid() << 32;
    e.generation = generation;
    mst_journal_lifecycle(b, &e);
}

/* ---- forks ------------------------------------------------------------------- */

/* The latest fork of this thread: when it began, and how long the parent was at it. */
static __thread uint64_t fork_began_ns, fork_took_ns;

/* The MPM's latest children: their notes are not a helper's. In the parent. */
static uint64_t started_pids[2 * MST_FORK_NOTES];
static unsigned started_count;

static void before_fork(void)
{
    fork_began_ns = mst_now_ns();
}

/* Runs when the fork failed, too, and does not know the pid. */
static void after_fork_in_parent(void)
{
    fork_took_ns = mst_now_ns() - fork_began_ns;
}

/* The parent's own: it knows better what it forked, so this is left for it. */
static void leave_note(struct mst_header *h, uint64_t pid, uint64_t took_ns)
{
    unsigned i;

    for (i = 0; i < MST_FORK_NOTES; i++) {
        struct mst_fork_note *note = &h->fork_notes[i];
        uint64_t empty = 0;

        if (__atomic_compare_exchange_n(&note->pid, &empty, MST_UNKNOWN, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            note->time_ns = fork_began_ns;
            note->duration_ns = took_ns;
            __atomic_store_n(&note->pid, pid, __ATOMIC_RELEASE);
            return;
        }
    }
}

static void after_fork_in_child(void)
{
    struct mst_board *b = mst_recording.board;
    uint64_t took_ns = mst_now_ns() - fork_began_ns;
    struct mst_lifecycle e;

    if (!b)
        return;
    if (mst_recording.pid) {
        mst_recording_forked();
    }
    else if ((uint32_t)getppid() == b->header->pid) {
        leave_note(b->header, (uint64_t)getpid(), took_ns);
        return;
    }
    e = new_event(MST_EVENT_FORK, MST_KIND_REQUEST, fork_began_ns);
    e.pid_parent = (uint64_t)getpid() << 32 | (uint32_t)getppid();
    e.mpm_slot = mst_recording.self ? mst_recording.self->mpm_slot : -1;
    e.generation = b->header->generation;
    e.duration_ns = took_ns;
    mst_journal_lifecycle(b, &e);
}

/* glibc forgets the handlers with an unloaded module; where it stays loaded over
 * a restart, so does this variable. */
void mst_lifecycle_watch_forks(void)
{
    static bool watching;

    if (!watching)
        watching = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

static void note_fork(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, MST_KIND_CHILD, fork_began_ns);

    e.pid_parent = (uint64_t)pid << 32 | (uint32_t)getpid();
    e.mpm_slot = slot;
    e.generation = (uint64_t)generation;
    e.duration_ns = fork_took_ns;
    started_pids[started_count++ % (2 * MST_FORK_NOTES)] = (uint64_t)pid;
    mst_journal_lifecycle(b, &e);
}

/* It is the MPM's after all: told otherwise. */
void mst_lifecycle_joined(struct mst_board *b, uint64_t pid)
{
    unsigned i;

    for (i = 0; i < MST_FORK_NOTES; i++)
        if (__atomic_load_n(&b->header->fork_notes[i].pid, __ATOMIC_ACQUIRE) == pid)
            __atomic_store_n(&b->header->fork_notes[i].pid, 0, __ATOMIC_RELEASE);
}

static bool was_started_by_mpm(uint64_t pid)
{
    unsigned i;

    for (i = 0; i < 2 * MST_FORK_NOTES; i++)
        if (started_pids[i] == pid)
            return true;
    return false;
}

/* A note that nobody took back within a second is a helper's: the MPM tells of its
 * children at once, and they take theirs back when they join. */
static void read_fork_notes(struct mst_board *b, uint64_t now_ns)
{
    unsigned i;

    for (i = 0; i < MST_FORK_NOTES; i++) {
        struct mst_fork_note *note = &b->header->fork_notes[i];
        uint64_t pid = __atomic_load_n(&note->pid, __ATOMIC_ACQUIRE);

        if (pid == 0 || pid == MST_UNKNOWN)
            continue;
        if (!was_started_by_mpm(pid)) {
            struct mst_lifecycle e = new_event(MST_EVENT_FORK, MST_KIND_HELPER, note->time_ns);

            if (now_ns < note->time_ns + MST_NS_PER_S)
                continue;
            e.pid_parent = pid << 32 | (uint32_t)getpid();
            e.generation = b->header->generation;
            e.duration_ns = note->duration_ns;
            mst_journal_lifecycle(b, &e);
        }
        __atomic_store_n(&note->pid, 0, __ATOMIC_RELEASE);
    }
}

/* The parent, now and then. */
static int monitor(apr_pool_t *p, server_rec *s)
{
    (void)p, (void)s;
    if (mst_recording.board)
        read_fork_notes(mst_recording.board, mst_now_ns());
    return DECLINED;
}

/* ---- exits --------------------------------------------------------------------- */

static enum mst_reason exit_reason(bool known, bool clean, pid_t pid)
{
    if (signalled_pid == (long)pid)
        return MST_REASON_SIGNAL;
    if (!known)
        return MST_REASON_UNKNOWN;   /* it died before it had an entry to leave a flag in */
    return clean ? MST_REASON_CLEAN : MST_REASON_KILLED;
}

static void note_exit(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_process_end end = {0};
    uint64_t now = mst_now_ns();
    bool known = mst_process_release(b, (uint64_t)pid, now, &end);
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, MST_KIND_CHILD, now);

    e.pid_parent = (uint64_t)pid << 32 | (uint32_t)getpid();
    e.mpm_slot = slot;
    e.generation = (uint64_t)generation;
    if (known) {
        e.duration_ns = end.lifetime_ns;
        e.requests = end.requests;
        e.unfinished = end.unfinished;
        if (slot < 0)
            e.mpm_slot = end.mpm_slot;   /* worker: the slot was given away meanwhile */
    }
    e.reason = exit_reason(known, end.clean, pid);
    if (e.reason != MST_REASON_CLEAN)
        mst_busy_mend(b, now);
    mst_journal_lifecycle(b, &e);
}

static void child_status(server_rec *s, pid_t pid, ap_generation_t generation, int slot,
                         mpm_child_status status)
{
    struct mst_board *b = mst_recording.board;

    (void)s;
    if (!b || pid <= 0 || pid == getpid())   /* httpd -X: no child at all */
        return;
    read_fork_notes(b, mst_now_ns());
    switch (status) {
    case MPM_CHILD_STARTED:
        note_fork(b, pid, generation, slot);
        break;
    case MPM_CHILD_EXITED:
        mst_lifecycle_joined(b, (uint64_t)pid);   /* if it died before it could */
        note_exit(b, pid, generation, slot);
        break;
    case MPM_CHILD_LOST_SLOT:
        break;   /* it lives on; its exit comes with slot -1 */
    }
}

/* What httpd logs when fork(2) fails: prefork, worker, event. */
static bool is_failed_fork(const char *line)
{
    return strncmp(line, "AH00159:", 8) == 0 || strncmp(line, "AH00283:", 8) == 0
        || strncmp(line, "AH00481:", 8) == 0;
}

static void error_log(const ap_errorlog_info *info, const char *line)
{
    struct mst_lifecycle e;
    long pid;

    (void)info;
    if (mst_recording.pid || !mst_recording.board)
        return;   /* a child: only the parent forks and reports deaths */
    if (sscanf(line, "AH00051: child pid %ld", &pid) == 1
        || sscanf(line, "AH00052: child pid %ld", &pid) == 1)
        signalled_pid = pid;
    if (is_failed_fork(line)) {
        e = new_event(MST_EVENT_FORK_FAILED, MST_KIND_CHILD, fork_began_ns);
        mst_journal_lifecycle(mst_recording.board, &e);
    }
}

void mst_lifecycle_register(apr_pool_t *p)
{
    (void)p;
    /* Before core's own hook (MIDDLE), which ends generations. */
    ap_hook_child_status(child_status, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_monitor(monitor, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_error_log(error_log, NULL, NULL, APR_HOOK_MIDDLE);
}

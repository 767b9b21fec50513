/* processes.c - children of the MPM: their forks and exits; restarts.
 *
 * child_status tells of both; a fork's time is from pthread_atfork's handlers, which
 * see all other forks, too (forks.c).
 *
 * Why a child ended: it set a flag itself on its way out (clean), or httpd logged
 * the signal (AH00051, AH00052), or neither: killed, by SIGKILL (also the OOM
 * killer's), for httpd says nothing of that one and the child could not.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <http_core.h>
#include <mpm_common.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "write/busy.h"
#include "write/journal.h"

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

static void note_fork(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, MST_KIND_CHILD, 0);

    mst_forks_began(&e.time_ns, &e.duration_ns);
    e.pid_parent = (uint64_t)pid << 32 | (uint32_t)getpid();
    e.mpm_slot = slot;
    e.generation = (uint64_t)generation;
    mst_forks_started((uint64_t)pid);
    mst_journal_lifecycle(b, &e);
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
    mst_forks_tell_helpers(b);
    switch (status) {
    case MPM_CHILD_STARTED:
        mst_recording_relimit(b);
        mst_busy_mend(b, mst_now_ns());
        note_fork(b, pid, generation, slot);
        break;
    case MPM_CHILD_EXITED:
        mst_forks_joined(b, (uint64_t)pid);   /* if it died before it could */
        note_exit(b, pid, generation, slot);
        break;
    case MPM_CHILD_LOST_SLOT:
        break;   /* it lives on; its exit comes with slot -1 */
    }
}

/* A child of whose end the MPM does not tell: one beyond a limit that a restart lowered
 * (AH00167), or one that ended while the module was not loaded. Of those of which it
 * does, it has told by now. */
static void note_missed_exit(void *board, uint64_t pid, const struct mst_process_end *end)
{
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, MST_KIND_CHILD, mst_now_ns());

    e.pid_parent = pid << 32 | (uint32_t)getpid();
    e.mpm_slot = end->mpm_slot;
    e.generation = end->generation;
    e.requests = end->requests;
    e.unfinished = end->unfinished;
    e.reason = end->clean ? MST_REASON_CLEAN : MST_REASON_UNKNOWN;
    mst_journal_lifecycle(board, &e);
}

void mst_lifecycle_sweep(struct mst_board *b)
{
    mst_process_sweep(b, false, mst_now_ns(), note_missed_exit, b);
}

/* The parent, every ten seconds. */
static int monitor(apr_pool_t *p, server_rec *s)
{
    struct mst_board *b = mst_recording.board;

    (void)p;
    if (!b)
        return DECLINED;
    mst_recording_tell_loss(s);
    mst_forks_tell_helpers(b);
    mst_forks_sweep(b);
    mst_lifecycle_sweep(b);
    mst_busy_tell(b, mst_now_ns());
    return DECLINED;
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
    uint64_t took_ns;
    long pid;

    (void)info;
    if (mst_recording.pid || !mst_recording.board)
        return;   /* a child: only the parent forks and reports deaths */
    if (sscanf(line, "AH00051: child pid %ld", &pid) == 1
        || sscanf(line, "AH00052: child pid %ld", &pid) == 1)
        signalled_pid = pid;
    if (is_failed_fork(line)) {
        e = new_event(MST_EVENT_FORK_FAILED, MST_KIND_CHILD, 0);
        mst_forks_began(&e.time_ns, &took_ns);
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

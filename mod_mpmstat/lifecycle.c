/* lifecycle.c - forks and exits of the MPM's children, and restarts. In the parent.
 *
 * Why a child ended: it set a flag itself on its way out (clean), or httpd logged
 * the signal (AH00051, AH00052), or neither: killed, by SIGKILL (also the OOM
 * killer's), for httpd says nothing of that one and the child could not.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <http_core.h>
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

void mst_lifecycle_generation(struct mst_board *b, uint64_t generation)
{
    struct mst_lifecycle e = {
        .time_ns = mst_now_ns(),
        .event_kind = event_kind(MST_EVENT_GENERATION, MST_KIND_CHILD),
        .pid_parent = (uint64_t)getpid() << 32,
        .mpm_slot = -1,
        .generation = generation,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };

    mst_journal_lifecycle(b, &e);
}

static void note_fork(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_lifecycle e = {
        .time_ns = mst_now_ns(),
        .event_kind = event_kind(MST_EVENT_FORK, MST_KIND_CHILD),
        .pid_parent = (uint64_t)pid << 32 | (uint32_t)getpid(),
        .mpm_slot = slot,
        .generation = (uint64_t)generation,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };

    mst_journal_lifecycle(b, &e);
}

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
    struct mst_lifecycle e = {
        .time_ns = now,
        .event_kind = event_kind(MST_EVENT_EXIT, MST_KIND_CHILD),
        .pid_parent = (uint64_t)pid << 32 | (uint32_t)getpid(),
        .mpm_slot = slot,
        .generation = (uint64_t)generation,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };

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
    switch (status) {
    case MPM_CHILD_STARTED:
        note_fork(b, pid, generation, slot);
        break;
    case MPM_CHILD_EXITED:
        note_exit(b, pid, generation, slot);
        break;
    case MPM_CHILD_LOST_SLOT:
        break;   /* it lives on; its exit comes with slot -1 */
    }
}

static void error_log(const ap_errorlog_info *info, const char *line)
{
    long pid;

    (void)info;
    if (mst_recording.pid || !mst_recording.board)
        return;   /* a child: only the parent reports deaths */
    if (sscanf(line, "AH00051: child pid %ld", &pid) == 1
        || sscanf(line, "AH00052: child pid %ld", &pid) == 1)
        signalled_pid = pid;
}

void mst_lifecycle_register(apr_pool_t *p)
{
    (void)p;
    /* Before core's own hook (MIDDLE), which ends generations. */
    ap_hook_child_status(child_status, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_error_log(error_log, NULL, NULL, APR_HOOK_MIDDLE);
}

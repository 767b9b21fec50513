/* processes.c - the MPM's children: they claim a process entry when they start; the parent
 * writes their starts, their ends, and restarts.
 *
 * child_status reports starts and ends. How long a fork took comes from pthread_atfork's
 * handlers, which see all other forks, too (forks.c).
 *
 * Why a child ended: it set a flag itself on its way out (clean), or httpd logged the signal
 * (AH00051, AH00052), or neither: killed, by SIGKILL (also the OOM killer's). httpd logs nothing
 * of that signal, and the child has no chance to set its flag.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <http_core.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "write/busy.h"
#include "write/journal.h"

APLOG_USE_MODULE(mpmstat);

/* The child whose death by a signal httpd reported last; its exit follows. */
static long signalled_pid;

/* ---- in a child ---------------------------------------------------------------------- */

/* Processes that were forked from this child run its cleanups, too. */
static apr_status_t note_clean_exit(void *process)
{
    if (mst_recording.forked)
        mst_forks_own_end(mst_recording.board);
    else
        __atomic_store_n(&((struct mst_process *)process)->clean_exit, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

void mst_processes_join(apr_pool_t *pchild, server_rec *s)
{
    struct mst_board *b = mst_recording.board;
    int process;

    if (!b)
        return;
    mst_recording.pid = mst_recording.owner = (uint64_t)getpid();
    mst_forks_joined(b, mst_recording.pid);
    mst_thread_set_index(&mst_recording.other_threads, UINT32_MAX);
    mst_thread_set_stripe(&mst_recording.other_threads, (uint32_t)mst_recording.pid);
    mst_recording.default_end = mst_ends_index(MST_END_HANDLER, "default-handler", 0);
    mst_busy_correct_waiting(b);
    process = mst_process_claim(b, mst_recording.pid, mst_mpm_generation(), mst_now_ns());
    if (process < 0) {
        mst_request_ids_without_entry(b);
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, MPMSTAT_LOGNO(05)
                     "all %u process entries of the board are taken; this child's requests are "
                     "counted, its workers are not shown", b->process_count);
        return;
    }
    mst_recording.self = &b->processes[process];
    mst_recording.ids = &mst_recording.self->request_ids;
    mst_recording.id_base = mst_request_id_base(mst_recording.self->serial);
    mst_recording.first_worker = (uint32_t)process * b->threads;
    mst_recording.workers = &b->workers[mst_recording.first_worker];
    mst_recording.in_flight = &b->in_flight[(size_t)process * b->in_flight_stride];
    apr_pool_cleanup_register(pchild, mst_recording.self, note_clean_exit, apr_pool_cleanup_null);
}

/* ---- in the parent: events of the journal -------------------------------------------- */

/* An event of which nothing else is known. pid 0: it is about no process. */
static struct mst_lifecycle new_event(enum mst_event event, uint64_t pid, uint64_t time_ns)
{
    return (struct mst_lifecycle){
        .time_ns = time_ns,
        .event_kind = (uint64_t)event << 32 | MST_KIND_CHILD,
        .pid_parent = pid << 32 | (uint32_t)getpid(),
        .mpm_slot = -1,
        .duration_ns = MST_UNKNOWN,
        .requests = MST_UNKNOWN,
    };
}

void mst_processes_restarted(struct mst_board *b, uint64_t generation)
{
    struct mst_lifecycle e = new_event(MST_EVENT_GENERATION, 0, mst_now_ns());

    e.pid_parent = (uint64_t)getpid() << 32;
    e.generation = generation;
    mst_journal_lifecycle(b, &e);
}

static void write_fork(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_lifecycle e = new_event(MST_EVENT_FORK, (uint64_t)pid, 0);

    mst_forks_latest(&e.time_ns, &e.duration_ns);
    e.mpm_slot = slot;
    e.generation = (uint64_t)generation;
    mst_forks_started((uint64_t)pid);
    mst_journal_lifecycle(b, &e);
}

static enum mst_reason exit_reason(bool had_entry, bool clean, pid_t pid)
{
    if (signalled_pid == (long)pid)
        return MST_REASON_SIGNAL;
    if (!had_entry)
        return MST_REASON_UNKNOWN;   /* it had no entry to set a flag in */
    return clean ? MST_REASON_CLEAN : MST_REASON_KILLED;
}

static void write_exit(struct mst_board *b, pid_t pid, ap_generation_t generation, int slot)
{
    struct mst_process_end end = {0};
    uint64_t now = mst_now_ns();
    bool had_entry = mst_process_release(b, (uint64_t)pid, now, &end);
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, (uint64_t)pid, now);

    e.mpm_slot = slot;
    e.generation = (uint64_t)generation;
    if (had_entry) {
        e.duration_ns = end.lifetime_ns;
        e.requests = end.requests;
        e.unfinished = end.unfinished;
        if (slot < 0)
            e.mpm_slot = end.mpm_slot;   /* worker: another child has the slot by now */
    }
    e.reason = exit_reason(had_entry, end.clean, pid);
    mst_busy_correct(b, now);
    mst_journal_lifecycle(b, &e);
}

/* The end of a child that the MPM does not report: one beyond a limit that a restart lowered
 * (AH00167), or one that ended while the module was not loaded. The MPM has reported all others
 * by now. */
static void write_unreported_exit(void *board, uint64_t pid, const struct mst_process_end *end)
{
    struct mst_lifecycle e = new_event(MST_EVENT_EXIT, pid, mst_now_ns());

    e.mpm_slot = end->mpm_slot;
    e.generation = end->generation;
    e.requests = end->requests;
    e.unfinished = end->unfinished;
    e.reason = end->clean ? MST_REASON_CLEAN : MST_REASON_UNKNOWN;
    mst_journal_lifecycle(board, &e);
}

void mst_processes_sweep(struct mst_board *b)
{
    mst_process_sweep(b, false, mst_now_ns(), write_unreported_exit, b);
}

/* ---- in the parent: hooks ------------------------------------------------------------ */

/* The MPM may have changed its limit since the configuration was read
 * (ListenCoresBucketsRatio wants a child for each bucket). */
static void update_limit(struct mst_board *b)
{
    uint64_t limit = mst_mpm_workers_limit();

    if (limit == __atomic_load_n(&b->header->workers_limit, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&b->header->workers_limit, limit, __ATOMIC_RELAXED);
    mst_busy_update(b, mst_now_ns());
}

void mst_processes_child_status(server_rec *s, pid_t pid, ap_generation_t generation, int slot,
                                mpm_child_status status)
{
    struct mst_board *b = mst_recording.board;

    (void)s;
    if (!b || pid <= 0 || pid == getpid())   /* httpd -X: no child at all */
        return;
    mst_forks_report_helpers(b);
    switch (status) {
    case MPM_CHILD_STARTED:
        update_limit(b);
        mst_busy_correct(b, mst_now_ns());
        write_fork(b, pid, generation, slot);
        break;
    case MPM_CHILD_EXITED:
        mst_forks_joined(b, (uint64_t)pid);   /* it may have died before it joined */
        write_exit(b, pid, generation, slot);
        break;
    case MPM_CHILD_LOST_SLOT:
        break;   /* it lives on; its exit comes with slot -1 */
    }
}

/* Whether httpd logs with this line that fork(2) failed (prefork, worker, event). */
static bool is_failed_fork(const char *line)
{
    return strncmp(line, "AH00159:", 8) == 0 || strncmp(line, "AH00283:", 8) == 0
        || strncmp(line, "AH00481:", 8) == 0;
}

void mst_processes_read_log(const char *line)
{
    struct mst_lifecycle e;
    uint64_t took_ns;
    long pid;

    if (!mst_recording.board)
        return;
    if (sscanf(line, "AH00051: child pid %ld", &pid) == 1
        || sscanf(line, "AH00052: child pid %ld", &pid) == 1)
        signalled_pid = pid;
    if (is_failed_fork(line)) {
        e = new_event(MST_EVENT_FORK_FAILED, 0, 0);
        mst_forks_latest(&e.time_ns, &took_ns);
        mst_journal_lifecycle(mst_recording.board, &e);
    }
}

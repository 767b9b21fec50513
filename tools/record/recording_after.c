/* recording_after.c - a recording after its load: waits for the last requests, and decides how the
 * run ended. */
#include "record/recording_steps.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "console/diag.h"
#include "record/limits.h"
#include "segment/fields.h"

#define PROGRAM_DISK_BYTES (1 << 20)   /* less is a log's, and no disk feels it */

/* CPU time that no process of /proc took: of processes in another pid namespace, or that are hidden
 * from this user, or that nothing waited for. 0 where it is a small part of all. */
static uint64_t unseen_cpu(const struct mst_recording *r)
{
    uint64_t all = r->process_ns - r->process_before_ns, seen = 0;
    size_t i;

    if (r->process_ns == MST_UNKNOWN || r->process_before_ns == MST_UNKNOWN ||
        r->process_ns < r->process_before_ns)
        return 0;
    for (i = 0; i < r->programs.count; i++)
        seen += r->programs.items[i].cpu_ns > 0 ? (uint64_t)r->programs.items[i].cpu_ns : 0;
    return all > seen && (all - seen) * MST_UNSEEN_PART >= all ? all - seen : 0;
}

static int record_unseen(struct mst_recording *r)
{
    uint64_t cpu_ns = unseen_cpu(r);

    if (cpu_ns == 0 || cpu_ns < r->end.duration_ns / 1000)
        return 0;
    return mst_archive_add_program(r->archive, r->run_id, MST_UNSEEN_PROGRAMS, MST_PROC_UNSEEN,
                                   cpu_ns, MST_UNKNOWN);
}

/* The processes that a server is known by: its parent, also that of a new start, and those that
 * its board names. */
static bool add_server_roots(const struct mst_sampler *s, struct mst_proc_root **roots,
                             size_t *count)
{
    const struct mst_processes *p = &s->processes;
    size_t needed = *count + p->named_count + 2, i;
    struct mst_proc_root *bigger = realloc(*roots, needed * sizeof *bigger);
    char error[MST_ERROR_MAX];
    uint64_t pid;

    if (bigger == NULL)
        return false;
    *roots = bigger;
    if (p->start_ticks != 0)
        bigger[(*count)++] = (struct mst_proc_root){ p->pid, p->start_ticks, MST_PROC_SERVER };
    for (i = 0; i < p->named_count; i++)
        if (!p->named[i].foreign)
            bigger[(*count)++] = (struct mst_proc_root){ p->named[i].pid, p->named[i].start_ticks,
                                                         MST_PROC_SERVER };
    pid = mst_source_identity(s->source)->pid;
    if (pid != p->pid && pid != 0 && pid != MST_UNKNOWN &&
        mst_process_has_board(pid, mst_source_board(s->source), error))
        bigger[(*count)++] = (struct mst_proc_root){ pid, 0, MST_PROC_SERVER };
    return true;
}

/* An FPM without a board listens where Apache's requests went. */
static void find_backends(struct mst_recording *r, const struct mst_sampler *s)
{
    uint64_t sockets[MST_ENDS];
    size_t count = 0, i;

    for (i = 0; i < s->sample.end_count; i++) {
        const struct mst_sample_end *end = &s->sample.ends[i];

        if (end->kind == NULL ||
            strcmp(end->kind, mst_other_end_kind_names[MST_END_BACKEND]) != 0)
            continue;
        sockets[count] = mst_backend_socket(s->processes.pid, end->name);
        count += sockets[count] != 0;
    }
    mst_ownership_find_backends(&r->programs.after, sockets, count);
}

static bool find_owners(struct mst_recording *r)
{
    struct mst_proc_root *roots = calloc(1, sizeof *roots);
    bool fine = roots != NULL;
    size_t count = 0, i;

    if (fine && r->runner != NULL)
        roots[count++] = (struct mst_proc_root){ mst_runner_pid(r->runner), 0, MST_PROC_TOOL };
    for (i = 0; i < r->sampler_count && fine; i++)
        if (r->samplers[i].local && !r->samplers[i].others_processes)
            fine = add_server_roots(&r->samplers[i], &roots, &count);
    if (fine)
        mst_ownership_find(&r->programs.after, roots, count);
    for (i = 0; i < r->sampler_count && fine; i++)
        if (r->samplers[i].local && r->samplers[i].processes.start_ticks != 0)
            find_backends(r, &r->samplers[i]);
    free(roots);
    return fine;
}

/* Its CPU time is the load tool's, which is known from elsewhere. What the tool read and wrote is
 * the supervisor's as soon as it has waited for the tool. */
static bool is_supervisor(const struct mst_program *program)
{
    return program->owner == MST_PROC_TOOL && strcmp(program->name, MST_RUNNER_SUPERVISOR) == 0;
}

static uint64_t at_least_0(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* Whether it took a thousandth of the load's time, or as much of a disk that it is felt. */
static bool took_part(const struct mst_recording *r, const struct mst_program *program)
{
    return (program->cpu_ns > 0 && (uint64_t)program->cpu_ns >= r->end.duration_ns / 1000 &&
            !is_supervisor(program)) ||
           (program->disk_bytes >= PROGRAM_DISK_BYTES && !program->disk_unknown);
}

static int record_programs(struct mst_recording *r)
{
    const struct mst_program *program;
    size_t i;

    if (!r->programs_known || !mst_programs_after(&r->programs) || !find_owners(r) ||
        !mst_programs_sum(&r->programs))
        return 0;
    for (i = 0; i < r->programs.count; i++) {
        program = &r->programs.items[i];
        if (took_part(r, program) &&
            mst_archive_add_program(r->archive, r->run_id, program->name, program->owner,
                                    is_supervisor(program) ? 0 : at_least_0(program->cpu_ns),
                                    program->disk_unknown ? MST_UNKNOWN :
                                    at_least_0(program->disk_bytes)) != 0)
            return -1;
    }
    return record_unseen(r);
}

/* The next archive has what comes. */
static int hand_over(struct mst_recording *r)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++) {
        if (mst_sampler_hand_over(&r->samplers[i]) != 0)
            return mst_recording_archive_failed(r);
        r->end.memory_cost_ns += r->samplers[i].processes.cost_ns;
    }
    return MST_EXIT_OK;
}

/* Requests may end after the client has closed its connection: an event MPM still flushes, a
 * handler still runs. */
int mst_recording_drain(struct mst_recording *r)
{
    uint64_t until = mst_now_ns() + MST_DRAIN_NS;
    sig_atomic_t stops = r->stop.count;
    bool all_quiet, quiet;
    size_t i;

    if (mst_recording_sample_machine(r, MST_MOMENT_END) != 0 || record_programs(r) != 0)
        return mst_recording_archive_failed(r);
    for (i = 0; i < r->sampler_count; i++) {
        mst_source_set_deadline(r->samplers[i].source, r->samplers[i].by_url ?
                                mst_now_ns() + (mst_sampler_is_lost(&r->samplers[i]) ?
                                                MST_BRIEF_NS : MST_ANSWER_NS) : UINT64_MAX);
        if (mst_recording_offer_before(r, &r->samplers[i]) != 0 ||
            mst_sampler_end_load(&r->samplers[i]) != 0)
            return mst_recording_archive_failed(r);
    }
    if (r->hands_over)
        return hand_over(r);
    do {
        poll(NULL, 0, MST_DRAIN_STEP_MS);
        all_quiet = true;
        for (i = 0; i < r->sampler_count; i++) {
            if (mst_recording_offer_before(r, &r->samplers[i]) != 0 ||
                mst_sampler_drain(&r->samplers[i], &quiet) != 0)
                return mst_recording_archive_failed(r);
            all_quiet = all_quiet && quiet;
        }
        if (mst_archive_tick(r->archive, mst_now_ns()) != 0)
            return mst_recording_archive_failed(r);
    } while (!all_quiet && mst_now_ns() < until && r->stop.count == stops);
    r->end.memory_cost_ns = 0;
    for (i = 0; i < r->sampler_count; i++) {
        if (mst_sampler_finish(&r->samplers[i]) != 0)
            return mst_recording_archive_failed(r);
        r->end.memory_cost_ns += r->samplers[i].processes.cost_ns;
    }
    return MST_EXIT_OK;
}

static int tool_failed(struct mst_recording *r)
{
    const char *name = mst_load_name(&r->load);

    if (r->end.exit_signal != MST_UNKNOWN)
        mst_error("%s was ended by signal %" PRIu64 " (%s)", name, r->end.exit_signal,
                  strsignal((int)r->end.exit_signal));
    else
        mst_error("%s failed with exit status %" PRIu64, name, r->end.exit_status);
    mst_recording_end_progress(r);
    if (!r->options->verbose)
        mst_load_show(&r->load);
    if (r->load.plan.added != NULL && !r->load.has_result)
        mst_error("mpmstat had added %s to it: --no-flags runs it without", r->load.plan.added);
    return MST_EXIT_BAD;
}

/* How a load that was not stopped ended. An exit status for "done, with failures" counts only if
 * there are results: some tools have the same one for wrong usage. */
static enum mst_outcome how_it_ended(struct mst_recording *r)
{
    char text[MST_ERROR_MAX];

    if (r->end.exit_status == 0)
        return MST_OUTCOME_COMPLETE;
    if (r->load.tool == NULL || !r->load.has_result ||
        !mst_load_succeeded(&r->load, r->end.exit_status))
        return MST_OUTCOME_FAILED;
    snprintf(text, sizeof text, "%s ended with exit status %" PRIu64 ", which says that it was "
             "done and met failures, or missed a goal", mst_load_name(&r->load),
             r->end.exit_status);
    return mst_recording_note(r, text) == 0 ? MST_OUTCOME_COMPLETE : MST_OUTCOME_FAILED;
}

int mst_recording_finish(struct mst_recording *r)
{
    int status = MST_EXIT_OK;

    if (r->load.tool != NULL && mst_load_collect(&r->load, r->archive, r->run_id, &r->end) != 0)
        return mst_recording_archive_failed(r);
    if (r->end.outcome == MST_OUTCOME_UNFINISHED)
        r->end.outcome = r->runner != NULL ? how_it_ended(r) : MST_OUTCOME_COMPLETE;
    r->end.complete = r->end.outcome == MST_OUTCOME_COMPLETE;
    if (r->end.outcome == MST_OUTCOME_FAILED)
        status = tool_failed(r);
    else if (r->end.outcome == MST_OUTCOME_TIMEOUT)
        status = MST_EXIT_BAD;
    else if (r->end.outcome == MST_OUTCOME_INTERRUPTED)
        status = MST_EXIT_INTERRUPTED;
    if (mst_archive_end_run(r->archive, r->run_id, &r->end) != 0)
        return mst_recording_archive_failed(r);
    return status;
}

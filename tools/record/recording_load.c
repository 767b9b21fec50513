/* recording_load.c - a recording during its load: starts the load tool, samples the servers until
 * it has ended, and stops it on ^C and on the timeout. */
#include "record/recording_steps.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "console/diag.h"
#include "record/limits.h"
#include "system/ports.h"

/* After this instant no server is waited for. */
static void set_deadlines(struct mst_recording *r, uint64_t deadline_ns)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        mst_source_set_deadline(r->samplers[i].source, deadline_ns);
}

/* When the archive ends. */
static void set_deadline(struct mst_recording *r)
{
    uint64_t wall_ns = r->end.started_ns, end_ns = UINT64_MAX;

    if (r->options->rotation != NULL)
        end_ns = mst_rotation_end_ns(r->options->rotation, wall_ns);
    r->deadline_ns = end_ns != UINT64_MAX ? r->started_ns + (end_ns - wall_ns) : UINT64_MAX;
    if (r->deadline_ns > r->last_deadline_ns)
        r->deadline_ns = r->last_deadline_ns;
}

int mst_recording_start_load(struct mst_recording *r)
{
    uint64_t timeout_ns = r->options->timeout_ns;
    char error[MST_ERROR_MAX];
    struct mst_live_look look;
    size_t i;

    if (timeout_ns == 0 && r->options->command != NULL)
        timeout_ns = r->load.plan.timeout_ns;
    if (timeout_ns == 0 && r->options->command != NULL)
        timeout_ns = MST_RECORDING_TIMEOUT_NS;
    r->started_ns = r->handed_over_ns != 0 ? r->handed_over_ns : mst_now_ns();
    r->cpu_before_ns = mst_clock_read(CLOCK_PROCESS_CPUTIME_ID);
    r->end.started_ns = r->handed_over_ns != 0 ? r->handed_over_wall_ns : mst_realtime_ns();
    if (r->options->command != NULL) {
        r->runner = mst_load_start(&r->load, error);
        if (r->runner == NULL)
            return mst_failed(MST_EXIT_BAD, "%s", error);
        r->end.started_ns = mst_runner_started(r->runner);
    }
    if (r->runner != NULL)
        mst_progress("running %s; recording into %s (run %" PRId64 ")", mst_load_name(&r->load),
                     r->path, r->run_id);
    else
        mst_progress("recording into %s (run %" PRId64 ") until %s", r->path, r->run_id,
                     r->options->rotation != NULL ? "the next archive" : "^C");
    if (r->last_deadline_ns == 0)
        r->last_deadline_ns = timeout_ns > 0 ? r->started_ns + timeout_ns : UINT64_MAX;
    set_deadline(r);
    set_deadlines(r, r->deadline_ns);
    for (i = 0; i < r->sampler_count; i++)
        mst_sampler_load_began(&r->samplers[i], r->started_ns,
                               MST_MEMORY_ROUND_NS * i / r->sampler_count);
    look = mst_live_look_at(r->samplers, r->sampler_count, r->started_ns);
    mst_live_begin(&r->live, r->options->progress, &look);
    if (mst_archive_started(r->archive, r->run_id, r->end.started_ns) != 0)
        return mst_recording_archive_failed(r);
    return MST_EXIT_OK;
}

/* Called on ^C, on the timeout and where the load has been long enough. The load tool may still
 * print its results. */
static void stop_load(struct mst_recording *r, enum mst_outcome outcome)
{
    if (r->end.outcome == MST_OUTCOME_UNFINISHED)
        r->end.outcome = outcome;
    if (r->runner != NULL)
        mst_runner_stop(r->runner, r->load.plan.stop_signal);
}

static void check_clock_and_user(struct mst_recording *r, uint64_t now_ns)
{
    sig_atomic_t stops = r->stop.count;

    if (stops > r->stops_seen) {
        r->stops_seen = stops;
        r->stop.raised = 0;
        if (r->runner != NULL)
            mst_progress("interrupted: stopping %s (again: kill it)", mst_load_name(&r->load));
        stop_load(r, r->runner != NULL ? MST_OUTCOME_INTERRUPTED : MST_OUTCOME_COMPLETE);
    }
    if (now_ns >= r->deadline_ns) {
        if (r->runner != NULL)
            mst_error("%s had not ended after %" PRIu64 " s: stopped (--timeout SECONDS gives it "
                      "longer)", mst_load_name(&r->load),
                      (r->deadline_ns - r->started_ns) / MST_NS_PER_S);
        stop_load(r, r->runner != NULL ? MST_OUTCOME_TIMEOUT : MST_OUTCOME_COMPLETE);
        r->deadline_ns = UINT64_MAX;
        r->hands_over = r->options->rotation != NULL && stops == 0 && now_ns < r->last_deadline_ns;
    }
}

/* Ends an archive that has its size. */
static void check_size(struct mst_recording *r, uint64_t now_ns)
{
    if (r->options->rotation != NULL && mst_rotation_is_full(r->options->rotation, r->path))
        r->deadline_ns = now_ns;
}

/* Which addresses have a part of the local ports that matters. */
static int sample_ports(struct mst_recording *r, uint64_t now_ns)
{
    static struct mst_ports ports;

    if (now_ns < r->ports_due_ns)
        return 0;
    r->ports_due_ns = now_ns + MST_PORTS_NS;
    return mst_ports_read(&ports) ? mst_archive_add_ports(r->archive, r->run_id,
                                                          mst_realtime_ns(), &ports) : 0;
}

/* After the samples have been taken: the line never delays one. */
static void show_progress(struct mst_recording *r)
{
    if (r->options->progress != NULL)
        mst_live_draw(&r->live);
}

/* Takes the latest samples, and ends a load that has been steady for long enough. */
static void look_at_load(struct mst_recording *r)
{
    struct mst_live_look look;

    if (r->options->progress == NULL && r->options->steady_ns == 0)
        return;
    look = mst_live_look_at(r->samplers, r->sampler_count, mst_now_ns());
    mst_live_see(&r->live, &look);
    if (r->options->steady_ns == 0 || r->end.outcome != MST_OUTCOME_UNFINISHED)
        return;
    mst_steady_see(&r->steady, look.at_ns, r->live.now.requests);
    if ((r->options->warm_up ? mst_steady_lately(&r->steady, r->options->steady_ns)
                             : mst_steady_is(&r->steady, r->options->steady_ns)) ||
        look.at_ns - r->started_ns >= r->options->longest_ns)
        stop_load(r, MST_OUTCOME_COMPLETE);
}

void mst_recording_end_progress(const struct mst_recording *r)
{
    if (r->options->progress != NULL)
        mst_status_line(NULL);
}

static int sample_machine(struct mst_recording *r, uint64_t now_ns)
{
    uint64_t interval_ns = mst_recording_interval_ns(r);

    r->machine_due_ns = interval_ns > MST_SAMPLE_NS ? now_ns + interval_ns : 0;
    return mst_recording_sample_machine(r, MST_MOMENT_DURING);
}

static int tick_samplers(struct mst_recording *r, uint64_t now_ns)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (!r->samplers[i].has_thread &&
            ((now_ns >= r->samplers[i].due_ns &&
              mst_recording_offer_before(r, &r->samplers[i]) != 0) ||
             mst_sampler_tick(&r->samplers[i], now_ns) != 0))
            return -1;
    return 0;
}

/* While the load is being stopped a server has little time to answer: the end of the load tool
 * must be noticed. */
static int sample_servers(struct mst_recording *r, uint64_t now_ns)
{
    struct mst_drops drops = { .are_read = false };
    int result;

    if (r->end.outcome != MST_OUTCOME_UNFINISHED)
        set_deadlines(r, now_ns + MST_BRIEF_NS);
    mst_targets_share_drops(&r->targets, &drops);
    result = tick_samplers(r, now_ns);
    mst_targets_share_drops(&r->targets, NULL);
    if (result != 0 || mst_looks_failed(r))
        return -1;
    if ((now_ns >= r->machine_due_ns && sample_machine(r, now_ns) != 0) ||
        sample_ports(r, mst_now_ns()) != 0)
        return -1;
    if (r->options->verbose && r->runner != NULL)
        mst_load_follow(&r->load);
    if (r->options->tick != NULL && !r->options->tick(r->options->context))
        stop_load(r, MST_OUTCOME_FAILED);
    return mst_archive_tick(r->archive, mst_now_ns());
}

/* Waits until the next sample is due, or the load has ended. 1: it has ended; 0: not; -1: the
 * error has been said. */
static int wait_for_load(struct mst_recording *r, uint64_t due_ns)
{
    struct pollfd fd = { r->runner != NULL ? mst_runner_fd(r->runner) : -1, POLLIN, 0 };
    uint64_t now = mst_now_ns();
    struct mst_run_end end;
    char error[MST_ERROR_MAX];
    int result;

    mst_looks_pause(r);
    if (due_ns > now)
        poll(&fd, 1, (int)((due_ns - now + MST_NS_PER_MS - 1) / MST_NS_PER_MS));
    mst_looks_resume(r);
    if (r->runner == NULL)
        return r->end.outcome != MST_OUTCOME_UNFINISHED;
    result = mst_runner_ended(r->runner, &end, error);
    if (result < 0)
        mst_error("%s", error);
    if (result <= 0)
        return result;
    r->end.started_ns = end.started_wall_ns;
    r->end.ended_ns = end.ended_wall_ns;
    r->end.duration_ns = end.duration_ns;
    r->end.exit_status = end.exit_status;
    r->end.exit_signal = end.exit_signal;
    r->end.tool_cpu_ns = end.cpu_ns;
    return 1;
}

/* When the nth sample is due. Many loads have a period that is a multiple of the samples': those
 * would find the same moment of it each time. So each sample is at another moment of its interval,
 * and golden sections spread them evenly. */
static uint64_t sample_due_ns(uint64_t began_ns, uint64_t nth)
{
    return began_ns + nth * MST_SAMPLE_NS + nth * 618034 % 1000000 * (MST_SAMPLE_NS / 1000000);
}

/* The next interval that gets a sample. Where that of all servers took so long that its moment has
 * passed, it is taken at once; where a whole interval has passed, at the next moment that has not:
 * the recording must not take a CPU for itself. */
static uint64_t next_sample(uint64_t nth, uint64_t began_ns, uint64_t now_ns)
{
    uint64_t present = (now_ns - began_ns) / MST_SAMPLE_NS;

    if (present <= nth + 1)
        return nth + 1;
    return sample_due_ns(began_ns, present) > now_ns ? present : present + 1;
}

/* When to look at journals next, before the sample that is due then: soon, where one fills fast. */
static uint64_t next_look_ns(const struct mst_recording *r, uint64_t due_ns)
{
    uint64_t soon_ns = mst_now_ns() + MST_LOOK_NS;
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (mst_sampler_is_busy(&r->samplers[i]) && soon_ns < due_ns)
            return soon_ns;
    return due_ns;
}

static int look_at_busy_journals(struct mst_recording *r)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (mst_sampler_is_busy(&r->samplers[i]) && mst_sampler_look(&r->samplers[i]) != 0)
            return -1;
    return 0;
}

static int follow_load(struct mst_recording *r)
{
    uint64_t now = mst_now_ns(), began = now, nth = 0, due_ns;
    bool is_over;
    int ended;

    do {
        check_size(r, now);
        check_clock_and_user(r, now);
        is_over = r->runner == NULL && r->end.outcome != MST_OUTCOME_UNFINISHED;
        if (!is_over && sample_servers(r, now) != 0)
            return mst_recording_archive_failed(r);
        look_at_load(r);
        show_progress(r);
        now = mst_now_ns();
        nth = next_sample(nth, began, now);
        due_ns = sample_due_ns(began, nth);
        while ((ended = wait_for_load(r, next_look_ns(r, due_ns))) == 0
               && (now = mst_now_ns()) < due_ns)
            if (look_at_busy_journals(r) != 0)
                return mst_recording_archive_failed(r);
        now = mst_now_ns();
    } while (ended == 0);
    if (ended < 0)
        return MST_EXIT_BAD;
    r->end.recorder_cpu_ns = mst_clock_read(CLOCK_PROCESS_CPUTIME_ID) - r->cpu_before_ns;
    if (r->runner == NULL) {
        r->end.duration_ns = now - r->started_ns;
        r->end.ended_ns = r->end.started_ns + r->end.duration_ns;
        r->end.exit_status = r->end.exit_signal = r->end.tool_cpu_ns = MST_UNKNOWN;
        r->handed_over_ns = now;
        r->handed_over_wall_ns = r->end.ended_ns;
    }
    return MST_EXIT_OK;
}

int mst_recording_follow_load(struct mst_recording *r)
{
    int status;

    mst_looks_begin(r);
    status = follow_load(r);
    mst_looks_end(r);
    return status;
}

/* Its output is in no archive. */
static void show_load(struct mst_recording *r)
{
    const char *name = mst_load_name(&r->load);

    mst_recording_end_progress(r);
    if (r->load.plan.rows == MST_ROWS_ON_STDOUT)
        mst_load_show(&r->load);
    else
        mst_load_follow(&r->load);
    if (r->end.exit_signal != MST_UNKNOWN)
        mst_error("%s was ended by signal %" PRIu64 " (%s); its output is above", name,
                  r->end.exit_signal, strsignal((int)r->end.exit_signal));
    else
        mst_error("%s ended with exit status %" PRIu64 "; its output is above", name,
                  r->end.exit_status);
}

/* The archive can no longer be written, but the load is not mpmstat's to stop: it runs to its
 * end. */
void mst_recording_end_load_unrecorded(struct mst_recording *r)
{
    int ended = r->end.ended_ns > 0;

    while (ended == 0) {
        check_clock_and_user(r, mst_now_ns());
        if (r->options->verbose)
            mst_load_follow(&r->load);
        if (r->options->tick != NULL && !r->options->tick(r->options->context))
            stop_load(r, MST_OUTCOME_FAILED);
        ended = wait_for_load(r, mst_now_ns() + MST_SAMPLE_NS);
    }
    if (ended > 0)
        show_load(r);
}

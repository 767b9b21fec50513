/* recording.c - one run, from opening the servers to closing the archive: see recording.h. */
#include "record/recording.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/writer.h"
#include "base/clock.h"
#include "base/host.h"
#include "console/diag.h"
#include "console/stop.h"
#include "exec/runner.h"
#include "record/limits.h"
#include "record/load.h"
#include "record/sampler.h"
#include "segment/liveness.h"
#include "source/target.h"
#include "record/environment.h"
#include "system/owner.h"
#include "system/preflight.h"
#include "system/ports.h"
#include "system/programs.h"

struct recording {
    const struct mst_recording_options *options;
    struct mst_load     load;
    struct mst_targets  targets;
    struct mst_targets  behind;             /* PHP's boards in the status of the URLs among them */
    struct mst_sampler *samplers;
    size_t              sampler_count;      /* opened ones */
    struct mst_archive *archive;
    int64_t             run_id;
    struct mst_runner  *runner;
    struct mst_preflight preflight;
    struct mst_programs programs;
    bool                programs_known;
    uint64_t            started_ns, deadline_ns;    /* CLOCK_MONOTONIC */
    uint64_t            ports_due_ns;
    uint64_t            process_before_ns, process_ns;   /* struct mst_machine's: first, latest */
    uint64_t            cpu_before_ns;              /* our own, when the load began */
    struct mst_stop     stop;
    sig_atomic_t        stops_seen;
    struct mst_archive_run_end end;
};

/* ---- errors and notes ---------------------------------------------------------------- */

static int archive_failed(const struct recording *r)
{
    const char *why = mst_archive_error(r->archive);

    if (r->runner != NULL && r->end.ended_ns == 0)
        mst_error("%s. %s goes on, but nothing more of it is recorded", why,
                  mst_load_name(&r->load));
    else
        mst_error("%s", why);
    return MST_EXIT_OUTPUT;
}

static int note(struct recording *r, const char *text)
{
    mst_warn("%s", text);
    return mst_archive_add_note(r->archive, r->run_id, mst_realtime_ns(), text);
}

/* ---- before the load ------------------------------------------------------------- */

/* A board file whose server has ended can only be shown by `mpmstat status`. */
static bool has_stopped(const struct mst_target *target)
{
    return target->kind == MST_TARGET_FILE && target->is_open &&
           mst_reader_running(&target->reader) == 0;
}

/* The sampler, if any, that records the same server already: from its board, through its
 * status, or by another spelling of either. Two boards are not made at one moment. */
static const struct mst_sampler *known_as(const struct recording *r, const struct mst_sampler *last)
{
    const struct mst_source_identity *other, *identity = mst_source_identity(last->source);
    size_t i;

    for (i = 0; i < r->sampler_count && identity->started_wall_ns != MST_UNKNOWN; i++) {
        other = mst_source_identity(r->samplers[i].source);
        if (other->producer == identity->producer && other->pid == identity->pid &&
            other->started_wall_ns == identity->started_wall_ns)
            return &r->samplers[i];
    }
    return NULL;
}

/* Remembers the PHP's boards that the status of a named URL shows, but for those that
 * are named themselves. */
static bool find_behind(struct recording *r, const struct mst_sampler *s)
{
    const char *name;
    size_t k;

    for (k = 0; (name = mst_source_other(s->source, k)) != NULL; k++)
        if (!mst_targets_have(&r->targets, name) && !mst_targets_have(&r->behind, name) &&
            mst_targets_add_url(&r->behind, name) != 0) {
            mst_error("out of memory for %zu targets", r->behind.count + 1);
            return false;
        }
    return true;
}

/* Takes an opened sampler in. 0; 1: left out; -1 said why. */
static int keep_target(struct recording *r, struct mst_sampler *s)
{
    const struct mst_sampler *same = known_as(r, s);

    if (!find_behind(r, s)) {
        mst_sampler_close(s);
        return -1;
    }
    if (same == NULL) {
        r->sampler_count++;
        return 0;
    }
    mst_warn("%s is the server of %s: it is recorded once, from there",
             mst_source_name(s->source), mst_source_name(same->source));
    mst_sampler_close(s);
    return 1;
}

/* Opens one target. 0; 1: left out, because the user did not name it, or named it twice; -1: the
 * error has been said. */
static int open_target(struct recording *r, struct mst_target *target)
{
    struct mst_sampler *s = &r->samplers[r->sampler_count];
    bool asked_for = r->options->target_count > 0;
    char error[MST_ERROR_MAX];

    if (mst_sampler_open(s, target, &r->stop.raised, error) != 0) {
        (asked_for ? mst_error : mst_warn)("%s", error);
        return asked_for ? -1 : 1;
    }
    if (!has_stopped(target))
        return keep_target(r, s);
    (asked_for ? mst_error : mst_warn)("the server of %s is not running: start it first",
                                       target->name);
    mst_sampler_close(s);
    return asked_for ? -1 : 1;
}

/* Room for a sampler of each target, those found behind the others too. */
static bool make_room(struct recording *r)
{
    size_t room = r->targets.count + r->behind.count + 1;
    struct mst_sampler *samplers = reallocarray(r->samplers, room, sizeof *samplers);

    if (samplers != NULL)
        r->samplers = samplers;
    else
        mst_error("out of memory for %zu targets", room);
    return samplers != NULL;
}

/* A PHP's board shown by an Apache is recorded with it; where it cannot be, the
 * Apache still is. */
static void open_behind(struct recording *r)
{
    char error[MST_ERROR_MAX];
    struct mst_sampler *s;
    size_t i;

    for (i = 0; i < r->behind.count; i++) {
        s = &r->samplers[r->sampler_count];
        if (mst_sampler_open(s, &r->behind.items[i], &r->stop.raised, error) != 0)
            mst_warn("%s", error);
        else if (known_as(r, s) != NULL)
            mst_sampler_close(s);
        else
            r->sampler_count++;
    }
}

static int open_targets(struct recording *r)
{
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_targets_resolve(&r->targets, r->options->targets, r->options->target_count,
                            error) != 0) {
        mst_error("%s", error);
        return MST_EXIT_TARGET;
    }
    if (r->targets.note[0] != '\0')
        mst_warn("%s", r->targets.note);
    if (!make_room(r))
        return MST_EXIT_TARGET;
    for (i = 0; i < r->targets.count; i++)
        if (open_target(r, &r->targets.items[i]) < 0)
            return MST_EXIT_TARGET;
    if (!make_room(r))
        return MST_EXIT_TARGET;
    open_behind(r);
    if (r->sampler_count > 0)
        return MST_EXIT_OK;
    mst_error("there is no running server to record: name one with -t TARGET (its board, or its "
              "status URL)");
    return MST_EXIT_TARGET;
}

static int prepare_command(struct recording *r)
{
    const struct mst_recording_options *o = r->options;
    char error[MST_ERROR_MAX];

    if (o->command == NULL)
        return MST_EXIT_OK;
    if (!mst_spawn_finds(o->command[0])) {
        const char *package = mst_loadtool_for(o->command[0])->package;

        mst_error("cannot run %s: there is no such command%s%s%s", o->command[0],
                  package != NULL ? " (Debian: apt-get install " : "",
                  package != NULL ? package : "", package != NULL ? ")" : "");
        return MST_EXIT_BAD;
    }
    r->load.environment = o->environment;
    if (mst_load_prepare(&r->load, o->command, o->add_flags, error) != 0) {
        mst_error("%s", error);
        return MST_EXIT_OUTPUT;
    }
    if (r->load.plan.added != NULL)
        mst_progress("adding %s to %s, for %s (--no-flags: not)", r->load.plan.added,
                     mst_load_name(&r->load), r->load.plan.added_for);
    if (r->load.tool == &mst_loadtool_generic)
        mst_progress("%s is no load tool that mpmstat can read (those are: %s): recording the "
                     "server's side only", mst_load_name(&r->load), mst_loadtool_names());
    return MST_EXIT_OK;
}

static int open_archive(struct recording *r)
{
    const struct mst_archive_run run = {
        .name = r->options->name, .argv = r->load.plan.argv, .added = r->load.plan.added,
        .tool = r->load.tool != NULL ? r->load.tool->name : NULL, .started_ns = mst_realtime_ns(),
        .tool_threads = r->load.tool != NULL ? r->load.plan.threads : MST_UNKNOWN,
        .repetition = r->options->repetition,
    };
    char error[MST_ERROR_MAX];

    r->archive = mst_archive_create(r->options->archive, mst_tell, error);
    if (r->archive == NULL) {
        mst_error("%s", error);
        return MST_EXIT_OUTPUT;
    }
    if (mst_archive_begin_run(r->archive, &run, &r->run_id) != 0 ||
        mst_environment_record(r->archive, r->run_id) != 0)
        return archive_failed(r);
    return MST_EXIT_OK;
}

static int sample_machine(struct recording *r, enum mst_moment moment)
{
    struct mst_machine machine;

    mst_machine_read(&machine);
    if (moment == MST_MOMENT_BEFORE)
        r->process_before_ns = machine.process_ns;
    r->process_ns = machine.process_ns;
    return mst_archive_add_machine(r->archive, r->run_id, mst_realtime_ns(), moment, &machine);
}

/* Which addresses have a part of the local ports that matters. */
static int sample_ports(struct recording *r, uint64_t now_ns)
{
    static struct mst_ports ports;
    size_t i;

    if (now_ns < r->ports_due_ns)
        return 0;
    r->ports_due_ns = now_ns + MST_PORTS_NS;
    if (!mst_ports_read(&ports))
        return 0;
    for (i = 0; i < ports.count; i++)
        if (ports.remotes[i].ports * MST_PORTS_PART >= ports.limit &&
            mst_archive_add_ports(r->archive, r->run_id, mst_realtime_ns(),
                                  ports.remotes[i].address, ports.remotes[i].ports,
                                  ports.limit) != 0)
            return -1;
    return 0;
}

static bool is_busy(const struct mst_sampler *s)
{
    return s->sample.in_flight > 0 && s->sample.in_flight != MST_UNKNOWN;
}

/* Samples each server: whether all are idle. That one does not answer is said where its recording
 * begins. */
static bool all_idle(struct recording *r)
{
    char error[MST_ERROR_MAX];
    bool idle = true;
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (mst_source_sample(r->samplers[i].source, &r->samplers[i].sample, error) == 0 &&
            is_busy(&r->samplers[i]))
            idle = false;
    return idle;
}

static bool any_by_url(const struct recording *r)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (r->samplers[i].by_url)
            return true;
    return false;
}

/* Waits until the requests of an earlier load have ended, which would take their share of the
 * server; then samples the machine. Without a command, traffic is recorded as it is. */
static int settle(struct recording *r)
{
    uint64_t until = mst_now_ns() + MST_QUIET_NS, step = any_by_url(r) ? MST_SAMPLE_URL_NS
                                                                   : MST_SAMPLE_NS;
    struct mst_machine before, after;

    if (r->options->command == NULL)
        return MST_EXIT_OK;
    while (!all_idle(r) && mst_now_ns() < until && r->stop.count == 0)
        poll(NULL, 0, (int)(step / MST_NS_PER_MS));
    mst_preflight_read(&r->preflight);
    mst_machine_read(&before);
    poll(NULL, 0, (int)(MST_PREFLIGHT_LOOK_NS / MST_NS_PER_MS));
    mst_machine_read(&after);
    mst_preflight_sample(&r->preflight, &before, &after);
    return MST_EXIT_OK;
}

static int note_sentence(void *recording, const char *sentence)
{
    return note(recording, sentence);
}

/* Notes what disturbs a measurement and is known before it. */
static int warn_of_machine(struct recording *r)
{
    if (r->options->command == NULL)
        return 0;
    return mst_preflight_judge(&r->preflight, &r->load.plan, note_sentence, r);
}

/* Common, and not an error of the run, but a reader of its figures should know. */
static int keep_shared_cpus(struct recording *r, const struct mst_sampler *s)
{
    uint64_t shared = s->local ? mst_preflight_shared_cpus(mst_source_identity(s->source)->pid)
                               : MST_UNKNOWN;
    char text[32];

    if (shared == MST_UNKNOWN)
        return 0;
    if (shared > 0)
        mst_progress("the load tool and %s share %" PRIu64 " CPUs (taskset would part them)",
                     mst_source_name(s->source), shared);
    snprintf(text, sizeof text, "%" PRIu64, shared);
    return mst_archive_add_environment(r->archive, r->run_id, "cpus_shared_with_server", text);
}

static int warn_of_server(struct recording *r, const struct mst_sampler *s)
{
    const struct mst_source_identity *identity = mst_source_identity(s->source);
    const struct mst_preflight_server server = {
        .name = mst_source_name(s->source), .mpm = identity->mpm, .local = s->local,
        .workers_limit = s->sample.workers_limit, .queue_limit = s->sample.listen_queue_limit,
    };

    if (r->options->command == NULL || identity->producer != MST_PRODUCER_APACHE)
        return 0;
    if (keep_shared_cpus(r, s) != 0)
        return -1;
    return mst_preflight_judge_server(&r->preflight, &r->load.plan, &server, note_sentence, r);
}

/* Notes the owner of a board that belongs neither to root nor to the user, and a board that names
 * a process of another owner. */
static int warn_of_owner(struct recording *r, const struct mst_sampler *s)
{
    const struct mst_board_file_id *board = mst_source_board(s->source);
    const char *doubt = mst_source_doubt(s->source);
    char text[MST_ERROR_MAX];

    if (!s->by_url && board != NULL && !mst_owner_is_ours(board->owner)) {
        snprintf(text, sizeof text, "the board %.400s belongs to %s: what is in it is that user's "
                 "word", mst_source_name(s->source), mst_owner_name(board->owner).text);
        if (note(r, text) != 0)
            return -1;
    }
    return doubt[0] != '\0' ? note(r, doubt) : 0;
}

static int warn_beforehand(struct recording *r, const struct mst_sampler *s)
{
    const char *name = mst_source_name(s->source);
    char text[MST_ERROR_MAX];

    if (warn_of_owner(r, s) != 0)
        return -1;
    if (is_busy(s)) {
        snprintf(text, sizeof text, "requests are in flight at %.200s already (%" PRIu64 "): "
                 "another load? They are left out, but take their share of the server", name,
                 s->sample.in_flight);
        if (note(r, text) != 0)
            return -1;
    }
    if (s->by_url && s->local)
        mst_progress("each look at %s costs that server a request and a worker; its board can be "
                     "read here: -t %s", name, mst_source_identity(s->source)->board);
    return warn_of_server(r, s);
}

/* Whether another sampler reads the same processes: those of mod_php are its Apache's. */
static bool shares_processes(const struct recording *r, size_t which)
{
    const struct mst_sampler *s = &r->samplers[which];
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (i != which && s->local && r->samplers[i].local &&
            mst_source_identity(s->source)->producer == MST_PRODUCER_PHP &&
            mst_source_identity(r->samplers[i].source)->producer == MST_PRODUCER_APACHE &&
            mst_source_identity(s->source)->pid ==
            mst_source_identity(r->samplers[i].source)->pid)
            return true;
    return false;
}

/* Under "apache_", "php_"; of a second server of a kind "apache2_". */
static int record_server_environment(struct recording *r, size_t which)
{
    const struct mst_sampler *s = &r->samplers[which];
    const struct mst_source_identity *identity = mst_source_identity(s->source);
    bool seen = s->local && !s->others_processes;
    size_t i, nth = 1;
    char prefix[32];

    for (i = 0; i < which; i++)
        nth += mst_source_identity(r->samplers[i].source)->producer == identity->producer;
    snprintf(prefix, sizeof prefix, "%s", mst_producer_name(identity->producer));
    if (nth > 1)
        snprintf(prefix + strlen(prefix), sizeof prefix - strlen(prefix), "%zu", nth);
    return mst_environment_record_server(r->archive, r->run_id, prefix, identity->settings,
                                         seen ? identity->pid : MST_UNKNOWN);
}

static int begin_samplers(struct recording *r)
{
    char error[MST_ERROR_MAX];
    size_t i;
    int result;

    for (i = 0; i < r->sampler_count; i++) {
        r->samplers[i].others_processes = shares_processes(r, i);
        r->samplers[i].memory = r->options->memory;
        result = mst_sampler_begin(&r->samplers[i], r->archive, r->run_id, error);
        if (result > 0) {
            mst_error("%s", error);
            return MST_EXIT_TARGET;
        }
        if (result < 0 || record_server_environment(r, i) != 0 ||
            warn_beforehand(r, &r->samplers[i]) != 0)
            return archive_failed(r);
    }
    if (warn_of_machine(r) != 0)
        return archive_failed(r);
    r->programs_known = mst_programs_before(&r->programs);
    if (sample_machine(r, MST_MOMENT_BEFORE) != 0 || mst_archive_commit(r->archive) != 0)
        return archive_failed(r);
    return MST_EXIT_OK;
}

/* ---- the load -------------------------------------------------------------------- */

/* After this instant no server is waited for. */
static void set_deadlines(struct recording *r, uint64_t deadline_ns)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        mst_source_set_deadline(r->samplers[i].source, deadline_ns);
}

static int start_load(struct recording *r)
{
    uint64_t timeout_ns = r->options->timeout_ns;
    char error[MST_ERROR_MAX];
    size_t i;

    if (timeout_ns == 0 && r->options->command != NULL)
        timeout_ns = r->load.plan.timeout_ns;
    if (timeout_ns == 0 && r->options->command != NULL)
        timeout_ns = MST_RECORDING_TIMEOUT_NS;
    r->started_ns = mst_now_ns();
    r->cpu_before_ns = mst_clock_read(CLOCK_PROCESS_CPUTIME_ID);
    r->end.started_ns = mst_realtime_ns();
    if (r->options->command != NULL) {
        r->runner = mst_load_start(&r->load, error);
        if (r->runner == NULL) {
            mst_error("%s", error);
            return MST_EXIT_BAD;
        }
        r->end.started_ns = mst_runner_started(r->runner);
    }
    if (r->runner != NULL)
        mst_progress("running %s; recording into %s (run %" PRId64 ")", mst_load_name(&r->load),
                     r->options->archive, r->run_id);
    else
        mst_progress("recording into %s (run %" PRId64 ") until ^C", r->options->archive,
                     r->run_id);
    r->deadline_ns = timeout_ns > 0 ? r->started_ns + timeout_ns : UINT64_MAX;
    set_deadlines(r, r->deadline_ns);
    for (i = 0; i < r->sampler_count; i++)
        mst_sampler_load_began(&r->samplers[i], r->started_ns);
    if (mst_archive_started(r->archive, r->run_id, r->end.started_ns) != 0)
        return archive_failed(r);
    return MST_EXIT_OK;
}

/* Called on ^C and on the timeout. The load tool may still print its results. */
static void stop_load(struct recording *r, enum mst_outcome outcome)
{
    if (r->end.outcome == MST_OUTCOME_UNFINISHED)
        r->end.outcome = outcome;
    if (r->runner != NULL)
        mst_runner_stop(r->runner, r->load.plan.stop_signal);
}

static void check_clock_and_user(struct recording *r, uint64_t now_ns)
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
    }
}

/* A URL may take long to answer: what is there already is committed before. */
static int offer_before(struct recording *r, const struct mst_sampler *s)
{
    return s->by_url ? mst_archive_offer(r->archive) : 0;
}

/* While the load is being stopped a server has little time to answer: the end of the load tool
 * must be noticed. */
static int sample_servers(struct recording *r, uint64_t now_ns)
{
    size_t i;

    if (r->end.outcome != MST_OUTCOME_UNFINISHED)
        set_deadlines(r, now_ns + MST_BRIEF_NS);
    for (i = 0; i < r->sampler_count; i++)
        if ((now_ns >= r->samplers[i].due_ns && offer_before(r, &r->samplers[i]) != 0) ||
            mst_sampler_tick(&r->samplers[i], now_ns) != 0)
            return -1;
    if (sample_machine(r, MST_MOMENT_DURING) != 0 || sample_ports(r, mst_now_ns()) != 0)
        return -1;
    if (r->options->verbose && r->runner != NULL)
        mst_load_follow(&r->load);
    if (r->options->tick != NULL && !r->options->tick(r->options->context))
        stop_load(r, MST_OUTCOME_FAILED);
    return mst_archive_tick(r->archive, mst_now_ns());
}

/* Waits until the next sample is due, or the load has ended. 1: it has ended; 0: not; -1: the
 * error has been said. */
static int wait_for_load(struct recording *r, uint64_t due_ns)
{
    struct pollfd fd = { r->runner != NULL ? mst_runner_fd(r->runner) : -1, POLLIN, 0 };
    uint64_t now = mst_now_ns();
    struct mst_run_end end;
    char error[MST_ERROR_MAX];
    int result;

    if (due_ns > now)
        poll(&fd, 1, (int)((due_ns - now + MST_NS_PER_MS - 1) / MST_NS_PER_MS));
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

static int follow_load(struct recording *r)
{
    uint64_t now = mst_now_ns(), due = now;
    bool is_over;
    int ended;

    do {
        check_clock_and_user(r, now);
        is_over = r->runner == NULL && r->end.outcome != MST_OUTCOME_UNFINISHED;
        if (!is_over && sample_servers(r, now) != 0)
            return archive_failed(r);
        now = mst_now_ns();
        due = due + MST_SAMPLE_NS > now ? due + MST_SAMPLE_NS : now;
        ended = wait_for_load(r, due);
        now = mst_now_ns();
    } while (ended == 0);
    if (ended < 0)
        return MST_EXIT_BAD;
    r->end.recorder_cpu_ns = mst_clock_read(CLOCK_PROCESS_CPUTIME_ID) - r->cpu_before_ns;
    if (r->runner == NULL) {
        r->end.duration_ns = now - r->started_ns;
        r->end.ended_ns = r->end.started_ns + r->end.duration_ns;
        r->end.exit_status = r->end.exit_signal = r->end.tool_cpu_ns = MST_UNKNOWN;
    }
    return MST_EXIT_OK;
}

/* ---- after the load -------------------------------------------------------------- */

/* CPU time that no process of /proc took: of processes in another pid namespace, or that are hidden
 * from this user, or that nothing waited for. 0 where it is a small part of all. */
static uint64_t unseen_cpu(const struct recording *r)
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

static int record_unseen(struct recording *r)
{
    uint64_t cpu_ns = unseen_cpu(r);

    if (cpu_ns < r->end.duration_ns / 1000)
        return 0;
    return mst_archive_add_program(r->archive, r->run_id, MST_UNSEEN_PROGRAMS, cpu_ns);
}

/* Programs that took a thousandth of the load's time or more. The supervisor's time
 * is the load tool's, which is known from elsewhere. */
static int record_programs(struct recording *r)
{
    const struct mst_program *program;
    size_t i;

    if (!r->programs_known || !mst_programs_after(&r->programs))
        return 0;
    for (i = 0; i < r->programs.count; i++) {
        program = &r->programs.items[i];
        if (program->cpu_ns <= 0 || (uint64_t)program->cpu_ns < r->end.duration_ns / 1000)
            break;
        if (strcmp(program->name, MST_RUNNER_SUPERVISOR) != 0 &&
            mst_archive_add_program(r->archive, r->run_id, program->name,
                                    (uint64_t)program->cpu_ns) != 0)
            return -1;
    }
    return record_unseen(r);
}

/* Requests may end after the client has closed its connection: an event MPM still flushes, a
 * handler still runs. */
static int drain(struct recording *r)
{
    uint64_t until = mst_now_ns() + MST_DRAIN_NS;
    sig_atomic_t stops = r->stop.count;
    bool all_quiet, quiet;
    size_t i;

    if (sample_machine(r, MST_MOMENT_END) != 0 || record_programs(r) != 0)
        return archive_failed(r);
    for (i = 0; i < r->sampler_count; i++) {
        mst_source_set_deadline(r->samplers[i].source, r->samplers[i].by_url ?
                                mst_now_ns() + MST_ANSWER_NS : UINT64_MAX);
        if (offer_before(r, &r->samplers[i]) != 0 || mst_sampler_end_load(&r->samplers[i]) != 0)
            return archive_failed(r);
    }
    do {
        poll(NULL, 0, MST_DRAIN_STEP_MS);
        all_quiet = true;
        for (i = 0; i < r->sampler_count; i++) {
            if (offer_before(r, &r->samplers[i]) != 0 ||
                mst_sampler_drain(&r->samplers[i], &quiet) != 0)
                return archive_failed(r);
            all_quiet = all_quiet && quiet;
        }
        if (mst_archive_tick(r->archive, mst_now_ns()) != 0)
            return archive_failed(r);
    } while (!all_quiet && mst_now_ns() < until && r->stop.count == stops);
    r->end.memory_cost_ns = 0;
    for (i = 0; i < r->sampler_count; i++) {
        if (mst_sampler_finish(&r->samplers[i]) != 0)
            return archive_failed(r);
        r->end.memory_cost_ns += r->samplers[i].processes.cost_ns;
    }
    return MST_EXIT_OK;
}

static int tool_failed(struct recording *r)
{
    const char *name = mst_load_name(&r->load);

    if (r->end.exit_signal != MST_UNKNOWN)
        mst_error("%s was ended by signal %" PRIu64 " (%s)", name, r->end.exit_signal,
                  strsignal((int)r->end.exit_signal));
    else
        mst_error("%s failed with exit status %" PRIu64, name, r->end.exit_status);
    if (!r->options->verbose)
        mst_load_show(&r->load);
    if (r->load.plan.added != NULL && !r->load.has_result)
        mst_error("mpmstat had added %s to it: --no-flags runs it without", r->load.plan.added);
    return MST_EXIT_BAD;
}

/* How a load that was not stopped ended. An exit status for "done, with failures" counts only if
 * there are results: some tools have the same one for wrong usage. */
static enum mst_outcome how_it_ended(struct recording *r)
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
    return note(r, text) == 0 ? MST_OUTCOME_COMPLETE : MST_OUTCOME_FAILED;
}

static int finish(struct recording *r)
{
    int status = MST_EXIT_OK;

    if (r->load.tool != NULL && mst_load_collect(&r->load, r->archive, r->run_id, &r->end) != 0)
        return archive_failed(r);
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
        return archive_failed(r);
    return status;
}

/* ---- without an archive ---------------------------------------------------------- */

/* Its output is in no archive. */
static void show_load(struct recording *r)
{
    const char *name = mst_load_name(&r->load);

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
static void end_load_unrecorded(struct recording *r)
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

/* ---- all of it ------------------------------------------------------------------- */

static int run(struct recording *r)
{
    int (*const steps[])(struct recording *) = {
        open_targets, prepare_command, settle, open_archive, begin_samplers, start_load,
        follow_load, drain, finish,
    };
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < sizeof steps / sizeof *steps && status == MST_EXIT_OK; i++) {
        if (r->stop.count > 0 && r->started_ns == 0)
            return MST_EXIT_INTERRUPTED;
        status = steps[i](r);
    }
    if (status == MST_EXIT_OUTPUT && r->runner != NULL)
        end_load_unrecorded(r);
    /* A signal makes waiting for a server fail. */
    if (status != MST_EXIT_OK && r->stop.count > 0 && r->started_ns == 0)
        return MST_EXIT_INTERRUPTED;
    return status;
}

int mst_record(const struct mst_recording_options *options, int64_t *run_id)
{
    struct recording r = { .options = options };
    char error[MST_ERROR_MAX];
    int status;
    size_t i;

    mst_load_init(&r.load);
    mst_stop_begin(&r.stop);
    status = run(&r);
    mst_runner_close(r.runner);
    for (i = 0; i < r.sampler_count; i++)
        mst_sampler_close(&r.samplers[i]);
    if (mst_archive_close(r.archive, error) != 0 && status != MST_EXIT_OUTPUT) {
        mst_error("%s", error);
        status = MST_EXIT_OUTPUT;
    }
    mst_programs_free(&r.programs);
    free(r.samplers);
    mst_targets_free(&r.targets);
    mst_targets_free(&r.behind);
    mst_load_close(&r.load);
    mst_stop_end(&r.stop);
    *run_id = r.run_id;
    return status;
}

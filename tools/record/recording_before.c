/* recording_before.c - a recording before its load: waits until the servers are idle, notes what
 * disturbs a measurement, and begins the recording of each server. */
#include "record/recording_steps.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/states.h"
#include "base/clock.h"
#include "base/host.h"
#include "console/diag.h"
#include "record/environment.h"
#include "record/limits.h"
#include "system/owner.h"

static bool is_busy(const struct mst_sampler *s)
{
    return s->sample.in_flight > 0 && s->sample.in_flight != MST_UNKNOWN;
}

/* Samples each server: whether all are idle. That one does not answer is said where its recording
 * begins. */
static bool all_idle(struct mst_recording *r)
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

static bool any_by_url(const struct mst_recording *r)
{
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        if (r->samplers[i].by_url)
            return true;
    return false;
}

/* Waits until the requests of an earlier load have ended, which would take their share of the
 * server; then samples the machine. Without a command, traffic is recorded as it is. */
int mst_recording_settle(struct mst_recording *r)
{
    uint64_t until = mst_now_ns() + MST_QUIET_NS, step = any_by_url(r) ? MST_SAMPLE_URL_NS
                                                                   : MST_SAMPLE_NS;
    struct mst_machine before, after;

    if (r->options->command == NULL)
        return MST_EXIT_OK;
    while (!all_idle(r) && mst_now_ns() < until && r->stop.count == 0)
        poll(NULL, 0, (int)(step / MST_NS_PER_MS));
    mst_preflight_read(&r->preflight);
    mst_machine_read(&before, NULL);
    poll(NULL, 0, (int)(MST_PREFLIGHT_LOOK_NS / MST_NS_PER_MS));
    mst_machine_read(&after, NULL);
    mst_preflight_sample(&r->preflight, &before, &after);
    return MST_EXIT_OK;
}

static int note_sentence(void *recording, const char *sentence)
{
    return mst_recording_note(recording, sentence);
}

/* Notes what disturbs a measurement and is known before it. */
static int warn_of_machine(struct mst_recording *r)
{
    if (r->options->command == NULL)
        return 0;
    return mst_preflight_judge(&r->preflight, &r->load.plan, note_sentence, r);
}

/* Common, and not an error of the run, but a reader of its figures should know. */
static int keep_shared_cpus(struct mst_recording *r, const struct mst_sampler *s)
{
    uint64_t shared = s->local ? mst_preflight_shared_cpus(mst_source_identity(s->source)->pid)
                               : MST_UNKNOWN;
    char text[32];

    if (shared == MST_UNKNOWN)
        return 0;
    if (shared > 0)
        mst_progress("the load tool and %s share %" PRIu64 " CPUs (taskset can separate them)",
                     mst_source_called(s->source), shared);
    snprintf(text, sizeof text, "%" PRIu64, shared);
    return mst_archive_add_environment(r->archive, r->run_id, "cpus_shared_with_server", text);
}

static int warn_of_server(struct mst_recording *r, const struct mst_sampler *s)
{
    const struct mst_source_identity *identity = mst_source_identity(s->source);
    const struct mst_preflight_server server = {
        .name = mst_source_called(s->source), .mpm = identity->mpm, .local = s->local,
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
static int warn_of_owner(struct mst_recording *r, const struct mst_sampler *s)
{
    const struct mst_board_file_id *board = mst_source_board(s->source);
    const char *doubt = mst_source_doubt(s->source);
    char text[MST_ERROR_MAX];

    if (!s->by_url && board != NULL && !mst_owner_is_ours(board->owner)) {
        snprintf(text, sizeof text, "the board %.400s belongs to %s: what is in it is that user's "
                 "word", mst_source_name(s->source), mst_owner_name(board->owner).text);
        if (mst_recording_note(r, text) != 0)
            return -1;
    }
    return doubt[0] != '\0' ? mst_recording_note(r, doubt) : 0;
}

static int warn_beforehand(struct mst_recording *r, const struct mst_sampler *s)
{
    const char *name = mst_source_called(s->source);
    char text[MST_ERROR_MAX];

    if (warn_of_owner(r, s) != 0)
        return -1;
    if (is_busy(s)) {
        snprintf(text, sizeof text, "requests are in flight at %.200s already (%" PRIu64 "): "
                 "another load? They are left out, but take their share of the server", name,
                 s->sample.in_flight);
        if (mst_recording_note(r, text) != 0)
            return -1;
    }
    if (s->by_url && s->local)
        mst_progress("each look at %s costs that server a request and a worker; its board can be "
                     "read here: -t %s", name, mst_source_identity(s->source)->board);
    return warn_of_server(r, s);
}

/* Whether another sampler reads the same processes: those of mod_php are its Apache's. */
static bool shares_processes(const struct mst_recording *r, size_t which)
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
static int record_server_environment(struct mst_recording *r, size_t which)
{
    const struct mst_sampler *s = &r->samplers[which];
    const struct mst_source_identity *identity = mst_source_identity(s->source);
    bool seen = s->local && !s->others_processes;
    size_t i, nth = 1;
    char prefix[MST_PREFIX_MAX];

    for (i = 0; i < which; i++)
        nth += mst_source_identity(r->samplers[i].source)->producer == identity->producer;
    mst_server_prefix(prefix, identity->producer, nth);
    if (mst_archive_add_config(r->archive, r->run_id, s->server_id, prefix, identity, seen) != 0)
        return -1;
    return seen ? mst_environment_record_server(r->archive, r->run_id, prefix, identity->pid) : 0;
}

/* Finds the CPUs that the servers of this machine may use, where these are not all: another tool,
 * a unit's CPUAffinity or a container has pinned them. A server that cannot be seen may use all. */
static int look_at_cpus(struct mst_recording *r)
{
    cpu_set_t all, one;
    size_t i;

    CPU_ZERO(&r->servers_cpus);
    for (i = 0; i < r->sampler_count; i++) {
        uint64_t pid = mst_source_identity(r->samplers[i].source)->pid;

        if (!r->samplers[i].local || pid == 0 || pid > INT32_MAX ||
            sched_getaffinity((pid_t)pid, sizeof one, &one) != 0)
            return 0;
        CPU_OR(&all, &r->servers_cpus, &one);
        r->servers_cpus = all;
    }
    r->servers_have_few_cpus = r->sampler_count > 0 &&
                               CPU_COUNT(&r->servers_cpus) < sysconf(_SC_NPROCESSORS_ONLN);
    return r->servers_have_few_cpus ? mst_environment_record_servers_cpus(
               r->archive, r->run_id, (uint64_t)CPU_COUNT(&r->servers_cpus)) : 0;
}

int mst_recording_begin_samplers(struct mst_recording *r)
{
    char error[MST_ERROR_MAX];
    size_t i;
    int result;

    for (i = 0; i < r->sampler_count && r->part > 1; i++)
        if (mst_sampler_go_on(&r->samplers[i], r->archive, r->run_id) != 0 ||
            record_server_environment(r, i) != 0)
            return mst_recording_archive_failed(r);
    for (i = 0; i < r->sampler_count && r->part == 1; i++) {
        r->samplers[i].others_processes = shares_processes(r, i);
        r->samplers[i].memory = r->options->memory;
        r->samplers[i].all = &r->processes;
        r->samplers[i].interval_ns = mst_recording_interval_ns(r);
        result = mst_sampler_begin(&r->samplers[i], r->archive, r->run_id, error);
        if (result > 0)
            return mst_failed(MST_EXIT_TARGET, "%s", error);
        if (result < 0 || record_server_environment(r, i) != 0 ||
            warn_beforehand(r, &r->samplers[i]) != 0)
            return mst_recording_archive_failed(r);
    }
    if (r->part == 1 && warn_of_machine(r) != 0)
        return mst_recording_archive_failed(r);
    r->programs_known = mst_programs_before(&r->programs);
    if (look_at_cpus(r) != 0 || mst_recording_sample_machine(r, MST_MOMENT_BEFORE) != 0 ||
        mst_archive_commit(r->archive) != 0)
        return mst_recording_archive_failed(r);
    return MST_EXIT_OK;
}

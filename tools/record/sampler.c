/* sampler.c - one server during a recording: see sampler.h. */
#include "record/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/limits.h"
#include "record/sampler_notes.h"

/* ---- the journal ----------------------------------------------------------------- */

/* Whether it was in flight before the load began. The source's clock tells, even if the wall clock
 * was set meanwhile; another machine's as far as its offset is certain. */
static bool is_ghost(const struct mst_sampler *s, uint64_t wall_start_ns)
{
    const struct mst_clock_offset *clock = mst_source_clock(s->source);
    uint64_t tolerance_ns = MST_START_TOLERANCE_NS
                          + (clock != NULL ? 2 * clock->uncertainty_ns : 0);

    return (s->local || clock != NULL) && s->load_wall_ns > 0 &&
           wall_start_ns + tolerance_ns < s->load_wall_ns;
}

static int on_request(void *context, const struct mst_request *request,
                      const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key)
{
    struct mst_sampler *s = context;

    if (strcmp(names->label, MST_LABEL_STATUS_NAME) != 0)
        s->requests_seen++;
    return mst_archive_add_request(s->archive, s->server_id, request, names, wall_start_ns, key,
                                   is_ghost(s, wall_start_ns));
}

static int on_php_request(void *context, const struct mst_php_request *request,
                          const struct mst_record_names *names, uint64_t wall_start_ns,
                          uint64_t key)
{
    struct mst_sampler *s = context;
    uint64_t waited_ns = request->wait_ns != MST_UNKNOWN ? request->wait_ns : 0;
    uint64_t handed_ns = wall_start_ns > waited_ns ? wall_start_ns - waited_ns : 0;

    s->requests_seen++;
    return mst_archive_add_php_request(s->archive, s->server_id, request, names, wall_start_ns,
                                       key, is_ghost(s, handed_ns));
}

static int on_mark(void *context, const struct mst_mark *mark, uint64_t wall_ns,
                   uint64_t request_wall_ns, uint64_t key)
{
    struct mst_sampler *s = context;

    return mst_archive_add_mark(s->archive, s->server_id, mark, wall_ns, request_wall_ns, key);
}

static int on_frame(void *context, uint64_t id, const struct mst_frame *frame)
{
    struct mst_sampler *s = context;

    return mst_archive_add_frame(s->archive, s->server_id, id, frame);
}

static int on_stack(void *context, uint64_t id, uint64_t caller_id, uint64_t frame_id)
{
    struct mst_sampler *s = context;

    return mst_archive_add_stack(s->archive, s->server_id, id, caller_id, frame_id);
}

static int on_code_sample(void *context, const struct mst_code_sample *sample, uint64_t stack_id,
                          uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key)
{
    struct mst_sampler *s = context;

    return mst_archive_add_php_sample(s->archive, s->server_id, sample, stack_id, wall_ns,
                                      request_wall_ns, key);
}

static int on_lifecycle(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
                        uint64_t key)
{
    struct mst_sampler *s = context;

    return mst_archive_add_lifecycle(s->archive, s->server_id, event, wall_ns, key);
}

/* Its request may be on a later page of the journal, or still be written. */
static int keep_late(struct mst_sampler *s, const struct mst_delivery *delivery, uint64_t key)
{
    if (!mst_grow(&s->late, &s->late_room, s->late_count, sizeof *s->late))
        return mst_sampler_note_trouble(s, "out of memory for late deliveries");
    s->late[s->late_count++] = (struct mst_late_delivery){ *delivery, key };
    return 0;
}

static int on_delivery(void *context, const struct mst_delivery *delivery, uint64_t key)
{
    struct mst_sampler *s = context;
    bool found;

    if (mst_archive_add_delivery(s->archive, s->server_id, delivery, key, &found) != 0)
        return -1;
    return found ? 0 : keep_late(s, delivery, key);
}

/* Adds the late deliveries to their requests. Where the request is still not in the archive, it is
 * from before the recording, or its record is lost: the delivery is dropped. */
static int add_late(struct mst_sampler *s)
{
    bool found;
    size_t i;

    for (i = 0; i < s->late_count; i++)
        if (mst_archive_add_delivery(s->archive, s->server_id, &s->late[i].delivery,
                                     s->late[i].key, &found) != 0)
            return -1;
    s->late_count = 0;
    return 0;
}

static int poll_journal(struct mst_sampler *s)
{
    const struct mst_source_events events = {
        .context = s, .on_request = on_request, .on_lifecycle = on_lifecycle,
        .on_php_request = on_php_request, .on_mark = on_mark,
        .on_delivery = on_delivery, .on_frame = on_frame, .on_stack = on_stack,
        .on_code_sample = on_code_sample,
    };
    char error[MST_ERROR_MAX];
    long given = mst_source_poll(s->source, &events, error);

    s->poll_failed = given < 0;
    s->looked = given > 0 ? (uint64_t)given : 0;
    if (!s->poll_failed || (error[0] != '\0' && *s->stop))
        return 0;
    return error[0] != '\0' ? mst_sampler_note_trouble(s, error) : -1;
}

/* ---- samples --------------------------------------------------------------------- */

/* Processes without a common parent are known from the board only. */
static void name_processes(struct mst_sampler *s)
{
    size_t i;

    if (!s->local || !s->processes.by_name)
        return;
    for (i = 0; i < s->sample.process_count; i++)
        if (!mst_processes_name(&s->processes, s->sample.processes[i].pid))
            snprintf(s->processes.problem, sizeof s->processes.problem,
                     "out of memory for the list of its processes");
}

/* Where more has changed since the last time than the counts of a cache at work. */
static int add_opcache(struct mst_sampler *s, bool is_first)
{
    const struct mst_opcache *now = &s->sample.opcache, *last = &s->opcache;

    if (!is_first && now->state == last->state && now->scripts == last->scripts &&
        now->keys == last->keys && now->wasted_bytes == last->wasted_bytes &&
        now->restarts == last->restarts)
        return 0;
    s->opcache = *now;
    return mst_archive_add_opcache(s->archive, s->server_id, s->sample.wall_ns, now);
}

static int add_sample(struct mst_sampler *s, enum mst_moment moment)
{
    struct mst_cgroup_use use;

    mst_cgroup_use_read(&use, &s->groups);
    if (mst_archive_add_sample(s->archive, s->server_id, moment, &s->sample, &use) != 0 ||
        add_opcache(s, moment == MST_MOMENT_BEFORE) != 0)
        return -1;
    return mst_archive_add_pools(s->archive, s->server_id, moment, &s->sample);
}

/* A server that is gone stays on its board until it is started again. */
static int see_end(struct mst_sampler *s)
{
    const struct mst_sample *now = &s->sample;
    bool was_stopped = now->stopped_ns != MST_UNKNOWN, knew = s->has_ended;

    s->has_ended = now->has_ended;
    if (!now->has_ended)
        s->alive_ns = now->wall_ns;
    return !now->has_ended || knew ? 0 :
           mst_archive_add_stop(s->archive, s->server_id,
                                was_stopped ? now->stopped_ns : s->alive_ns, was_stopped);
}

static int take_sample(struct mst_sampler *s, enum mst_moment moment)
{
    char error[MST_ERROR_MAX];

    s->sampled = mst_source_sample(s->source, &s->sample, error) == 0;
    if (!s->sampled)
        return *s->stop ? 0 : mst_sampler_see_no_answer(s, error);
    if (mst_sampler_see_answer(s) != 0 || see_end(s) != 0)
        return -1;
    name_processes(s);
    return add_sample(s, moment);
}

static uint64_t grown(uint64_t before, uint64_t after)
{
    return before == MST_UNKNOWN || after == MST_UNKNOWN || after < before ? MST_UNKNOWN
                                                                          : after - before;
}

static const struct mst_sample_end *end_before(const struct mst_sampler *s,
                                               const struct mst_sample_end *end)
{
    static const struct mst_sample_end none = { 0 };
    size_t i;

    for (i = 0; i < s->end_count; i++)
        if (s->ends[i].kind == end->kind && strcmp(s->ends[i].name, end->name) == 0)
            return &s->ends[i];
    return &none;
}

/* After a new start the counters are of that alone. */
static int add_ends(struct mst_sampler *s)
{
    size_t i;

    if (!s->sampled || mst_source_restarts(s->source) > 0)
        return 0;
    for (i = 0; i < s->sample.end_count; i++) {
        struct mst_sample_end end = s->sample.ends[i];
        const struct mst_sample_end *before = end_before(s, &end);

        end.calls = grown(before->calls, end.calls);
        end.failed = grown(before->failed, end.failed);
        end.end_ns = grown(before->end_ns, end.end_ns);
        end.connect_ns = grown(before->connect_ns, end.connect_ns);
        if (end.kind != NULL && end.calls > 0 && end.calls != MST_UNKNOWN &&
            mst_archive_add_end(s->archive, s->server_id, &end) != 0)
            return -1;
    }
    return 0;
}

static int take_process(void *context, uint64_t wall_ns, const struct mst_proc *process,
                        uint64_t cost_ns)
{
    struct mst_sampler *s = context;

    return mst_archive_add_process(s->archive, s->server_id, wall_ns, process, cost_ns);
}

static int read_memory(struct mst_sampler *s, bool all)
{
    struct mst_memory_round round;
    int result;

    if (!s->local || !s->memory || s->others_processes)
        return 0;
    result = mst_processes_tick(&s->processes, all, take_process, s, &round);
    if (result <= 0)
        return result;
    return mst_archive_add_memory(s->archive, s->server_id, round.wall_ns, round.began_wall_ns,
                                  round.processes, round.pss_bytes, round.cost_ns,
                                  round.rss_bytes);
}

/* ---- the order of a recording ---------------------------------------------------- */

int mst_sampler_open(struct mst_sampler *s, struct mst_target *target,
                     const volatile sig_atomic_t *stop, char error[MST_ERROR_MAX])
{
    *s = (struct mst_sampler){ .cpu_ns = MST_UNKNOWN, .cpu_before_ns = MST_UNKNOWN };
    s->source = mst_source_open(target, error);
    if (s->source == NULL)
        return -1;
    s->by_url = target->kind == MST_TARGET_URL;
    s->local = mst_source_local(s->source);
    mst_sampler_set_stop(s, stop);
    return 0;
}

void mst_sampler_set_stop(struct mst_sampler *s, const volatile sig_atomic_t *stop)
{
    s->stop = stop;
    mst_source_set_stop(s->source, stop);
}

void mst_sampler_close(struct mst_sampler *s)
{
    mst_source_close(s->source);
    mst_sample_free(&s->sample);
    mst_processes_free(&s->processes);
    free(s->late);
    *s = (struct mst_sampler){ 0 };
}

/* php-cgi's processes have none in common: see processes.h. */
static bool has_parent(const struct mst_source_identity *identity)
{
    return identity->pid != 0 && identity->pid != MST_UNKNOWN;
}

/* 0; 1: the server does not answer, with the sentence; -1: the archive failed. */
static int begin_processes(struct mst_sampler *s, const struct mst_source_identity *identity,
                           char error[MST_ERROR_MAX])
{
    if (!s->local)
        return 0;
    if (has_parent(identity)) {
        mst_processes_init(&s->processes, identity->pid, mst_source_board(s->source));
    } else {
        mst_processes_init_named(&s->processes, mst_source_board(s->source));
        if (mst_source_sample(s->source, &s->sample, error) != 0)
            return 1;
        name_processes(s);
    }
    s->processes.shared = s->all;
    if (read_memory(s, true) != 0)
        return -1;
    if (!s->others_processes)
        s->cpu_before_ns = mst_processes_cpu(&s->processes);
    return 0;
}

/* Only of a server whose parent process is on this machine; mod_php's group is its Apache's. */
static void watch_cgroup(struct mst_sampler *s)
{
    const struct mst_source_identity *identity = mst_source_identity(s->source);

    mst_cgroup_watch(&s->groups, s->local && !s->others_processes && has_parent(identity)
                                     ? identity->pid : 0);
}

/* If the parent has ended, or moved to another group, the growth of the counters is not known. */
static void end_cgroup(struct mst_sampler *s)
{
    struct mst_cgroup *before = &s->cgroup, after;

    watch_cgroup(s);
    mst_cgroup_read(&after, &s->groups);
    if (strcmp(before->name, after.name) != 0)
        after.oom_kills = after.memory_stall_ns = after.throttled_ns = MST_UNKNOWN;
    before->oom_kills = grown(before->oom_kills, after.oom_kills);
    before->memory_stall_ns = grown(before->memory_stall_ns, after.memory_stall_ns);
    before->throttled_ns = grown(before->throttled_ns, after.throttled_ns);
}

/* Looks at a server on another machine again: the shortest round trip tells most of its clock. */
static int learn_clock(struct mst_sampler *s, char error[MST_ERROR_MAX])
{
    const struct mst_clock_offset *clock;
    unsigned i;

    for (i = 0; i < MST_CLOCK_LOOKS && mst_source_clock(s->source) != NULL; i++)
        if (mst_source_sample(s->source, &s->sample, error) != 0)
            return 1;
    clock = mst_source_clock(s->source);
    return clock != NULL ? mst_archive_clock_server(s->archive, s->server_id, clock) : 0;
}

/* The server's row, its processes and its group. As begin_processes(): where the server does not
 * answer, what is known of it is there. */
static int enter(struct mst_sampler *s, struct mst_archive *archive, int64_t run_id,
                 char error[MST_ERROR_MAX])
{
    const struct mst_source_identity *identity = mst_source_identity(s->source);
    const char *label = mst_source_target(s->source)->label;
    int result;

    s->archive = archive;
    s->run_id = run_id;
    mst_source_set_clock(s->source);
    if (mst_archive_add_server(archive, run_id, mst_source_name(s->source), s->local, identity,
                               &s->server_id) != 0 ||
        (label != NULL && mst_archive_name_server(archive, s->server_id, label) != 0))
        return -1;
    result = begin_processes(s, identity, error);
    watch_cgroup(s);
    mst_cgroup_read(&s->cgroup, &s->groups);
    return result;
}

/* The counters that those of the archive's end are compared with. */
static int keep_before(struct mst_sampler *s)
{
    memcpy(s->ends, s->sample.ends, sizeof s->ends);
    s->end_count = s->sample.end_count;
    return add_sample(s, MST_MOMENT_BEFORE);
}

int mst_sampler_begin(struct mst_sampler *s, struct mst_archive *archive, int64_t run_id,
                      char error[MST_ERROR_MAX])
{
    int result = enter(s, archive, run_id, error);

    if (result != 0)
        return result;
    if (mst_source_sample(s->source, &s->sample, error) != 0)
        return 1;
    s->alive_ns = s->sample.wall_ns;
    result = learn_clock(s, error);
    if (result != 0)
        return result;
    if (mst_source_mark(s->source, error) != 0)
        return 1;
    return keep_before(s);
}

int mst_sampler_go_on(struct mst_sampler *s, struct mst_archive *archive, int64_t run_id)
{
    const struct mst_clock_offset *clock = mst_source_clock(s->source);
    char error[MST_ERROR_MAX] = "";

    mst_processes_free(&s->processes);
    s->cpu_ns = s->cpu_before_ns = MST_UNKNOWN;
    s->noted_count = 0;
    s->outages = 0;
    s->has_ended = false;
    s->late_count = 0;
    s->end_count = 0;
    mst_source_count_on(s->source);
    mst_source_forget_code(s->source);
    if (enter(s, archive, run_id, error) < 0 ||
        (clock != NULL && mst_archive_clock_server(archive, s->server_id, clock) != 0))
        return -1;
    return s->sampled ? keep_before(s) : 0;
}

void mst_sampler_load_began(struct mst_sampler *s, uint64_t now_ns, uint64_t memory_after_ns)
{
    s->memory_from_ns = now_ns + memory_after_ns;
    s->load_wall_ns = mst_source_wall_ns(s->source, now_ns);
}

int mst_sampler_tick(struct mst_sampler *s, uint64_t now_ns)
{
    if (now_ns < s->due_ns)
        return 0;
    if (s->by_url)
        s->due_ns = s->due_ns + MST_SAMPLE_URL_NS > now_ns ? s->due_ns + MST_SAMPLE_URL_NS
                                                           : now_ns + MST_SAMPLE_URL_NS;
    if (now_ns >= s->sample_due_ns) {
        s->sample_due_ns = s->interval_ns > MST_SAMPLE_NS ? now_ns + s->interval_ns : 0;
        if (take_sample(s, MST_MOMENT_DURING) != 0)
            return -1;
    }
    if (poll_journal(s) != 0)
        return -1;
    return now_ns < s->memory_from_ns ? 0 : read_memory(s, false);
}

int mst_sampler_look(struct mst_sampler *s)
{
    return poll_journal(s);
}

int mst_sampler_end_load(struct mst_sampler *s)
{
    uint64_t cpu;

    /* Counters and journal at one moment, as far as that can be; the rest takes longer. */
    if (take_sample(s, MST_MOMENT_END) != 0 || poll_journal(s) != 0)
        return -1;
    end_cgroup(s);
    if (s->local && !s->others_processes) {
        cpu = mst_processes_cpu(&s->processes);
        if (cpu != MST_UNKNOWN && s->cpu_before_ns != MST_UNKNOWN && cpu >= s->cpu_before_ns)
            s->cpu_ns = cpu - s->cpu_before_ns;
        if (read_memory(s, true) != 0)
            return -1;
    }
    return 0;
}

int mst_sampler_drain(struct mst_sampler *s, bool *quiet)
{
    uint64_t before = s->requests_seen;

    if (poll_journal(s) != 0 || take_sample(s, MST_MOMENT_AFTER) != 0)
        return -1;
    *quiet = !s->sampled || s->poll_failed ||
             (s->sample.in_flight == 0 && s->requests_seen == before &&
              !mst_source_pending(s->source));
    return 0;
}

/* What is known at the end of the archive. */
static int end_server(struct mst_sampler *s)
{
    struct mst_archive_server_end end = { .cpu_ns = s->cpu_ns };
    char unknown[MST_ERROR_MAX], text[MST_ERROR_MAX];

    if (s->local && s->cpu_before_ns != MST_UNKNOWN && !mst_processes_alive(&s->processes)) {
        snprintf(text, sizeof text, "the parent process of %.200s ended during the run",
                 mst_source_called(s->source));
        if (mst_sampler_note(s, text) != 0)
            return -1;
    }
    if (mst_sampler_is_lost(s) &&
        mst_sampler_note_lost(s, "it did not come back; the other servers were recorded on") != 0)
        return -1;
    if (mst_sampler_note_clock(s) != 0)
        return -1;
    mst_sampler_say_unknown(s, unknown);
    end.lost = s->poll_failed ? MST_UNKNOWN : mst_source_lost(s->source);
    end.restarts = mst_source_restarts(s->source);
    end.unknown = unknown;
    end.listens = s->sample.listens;
    end.cgroup = s->cgroup;
    return mst_archive_end_server(s->archive, s->server_id, &end);
}

int mst_sampler_hand_over(struct mst_sampler *s)
{
    return add_late(s) != 0 || add_ends(s) != 0 ? -1 : end_server(s);
}

int mst_sampler_finish(struct mst_sampler *s)
{
    char text[MST_ERROR_MAX];

    if (poll_journal(s) != 0 || add_late(s) != 0 || add_ends(s) != 0)
        return -1;
    mst_source_finish(s->source);
    if (end_server(s) != 0)
        return -1;
    if (s->sampled && s->sample.in_flight > 0 && s->sample.in_flight != MST_UNKNOWN) {
        snprintf(text, sizeof text, "requests were still in flight when the recording ended: %llu",
                 (unsigned long long)s->sample.in_flight);
        return mst_sampler_note(s, text);
    }
    return 0;
}

/* rows_server.c - what a recording writes into an archive of its servers: requests, events,
 * samples, and what was measured of their processes and machine. See writer.h. */
#include <string.h>

#include "archive/internal.h"
#include "segment/format.h"
#include "segment/traceparent.h"

/* Fewer of all ports towards one address are not worth a row: a hundredth. */
#define PORTS_PART 100u

static const char *name_of(const char *const *names, uint64_t count, uint64_t index)
{
    return index < count ? names[index] : NULL;
}

/* The sum of counters of which any may be unknown. */
static uint64_t sum(const uint64_t *words, size_t n)
{
    uint64_t total = 0;
    size_t i;

    for (i = 0; i < n; i++)
        if (words[i] == MST_UNKNOWN || __builtin_add_overflow(total, words[i], &total))
            return MST_UNKNOWN;
    return total;
}

/* The parts of words that a board's record packs into one. */
struct packed { uint64_t flags, status, pid, worker; };

static struct packed unpack(uint64_t label_status, uint64_t pid_worker)
{
    uint64_t status = label_status & 0xffff, worker = pid_worker & UINT32_MAX;

    return (struct packed){
        .flags = label_status >> 16 & 0xffff, .status = mst_or_unknown(status > 0, status),
        .pid = pid_worker >> 32, .worker = mst_or_unknown(worker != UINT32_MAX, worker),
    };
}

/* "" where the request is in no trace. */
struct trace_text { char id[33], parent[17]; };

static struct trace_text trace_of(const struct mst_request *r)
{
    struct trace_text text = { "", "" };

    if (r->trace_parent != 0) {
        mst_hex(text.id, r->trace_high, 16);
        mst_hex(text.id + 16, r->trace_low, 16);
        mst_hex(text.parent, r->trace_parent, 16);
    }
    return text;
}

int mst_archive_add_request(struct mst_archive *a, int64_t server_id,
                            const struct mst_request *r, const struct mst_record_names *names,
                            uint64_t wall_start_ns, uint64_t key, bool ghost)
{
    const struct packed p = unpack(r->label_status, r->pid_worker);
    const struct trace_text trace = trace_of(r);
    bool traced = r->trace_parent != 0;
    const struct server_requests_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .start_ns = NUMBER(wall_start_ns),
#define MST_REQUEST_WORD(member, kind, json) .member = NUMBER(r->member),
#include "segment/records.def"
#undef MST_REQUEST_WORD
        .label = TEXT(names->label), .status = NUMBER(p.status),
        .aborted = NUMBER((p.flags & MST_REQUEST_ABORTED) != 0),
        .no_worker = NUMBER((p.flags & MST_REQUEST_NO_WORKER) != 0), .pid = NUMBER(p.pid),
        .worker = NUMBER(p.worker), .connection = NUMBER(r->connection >> 16),
        .port = NUMBER(r->connection & 0xffff), .request_id = NUMBER(r->id),
        .ghost = NUMBER(ghost),
        .client_id = NUMBER(mst_or_unknown(r->client_id > 0, r->client_id - 1)),
        .undelivered_ns = NUMBER(MST_UNKNOWN), .undelivered_bytes = NUMBER(MST_UNKNOWN),
        .handler = TEXT(names->ends[0]), .backend = TEXT(names->ends[1]),
        .trace_id = TEXT(traced ? trace.id : NULL),
        .parent_span = TEXT(traced ? trace.parent : NULL),
        .sampled = NUMBER(mst_or_unknown(traced, r->label_status >> MST_TRACE_FLAGS_SHIFT &
                                                 MST_TRACE_SAMPLED)),
        .weight = NUMBER(1), .path = TEXT(names->path),
    };

    return insert_server_requests(a, &row);
}

int mst_archive_add_delivery(struct mst_archive *a, int64_t server_id,
                             const struct mst_delivery *d, uint64_t key, bool *found)
{
    const struct server_requests_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .request_id = NUMBER(d->id),
        .undelivered_ns = NUMBER(d->undelivered_ns),
        .undelivered_bytes = NUMBER(d->undelivered_bytes),
    };
    int status = mst_archive_put(a, DELIVERED, &row.server_id);

    *found = status == 0 && sqlite3_changes(a->db) > 0;
    return status;
}

/* What a request waited for in PHP, by the row. */
static int add_wait(struct mst_archive *a, int64_t server_id, uint64_t key, uint64_t kind,
                    const char *end, const struct mst_php_wait *wait,
                    const struct mst_php_wait_place *from, const struct mst_record_place *place)
{
    bool known = place->stack > 0;
    const struct php_waits_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .kind = TEXT(mst_wait_names[kind]),
        .end = TEXT(end), .calls = NUMBER(mst_or_unknown(end != NULL, wait->calls_failed >> 32)),
        .failed = NUMBER(mst_or_unknown(end != NULL, wait->calls_failed & UINT32_MAX)),
        .wait_ns = NUMBER(wait->wait_ns), .stack = NUMBER(mst_or_unknown(known, place->stack)),
        .frame = NUMBER(mst_or_unknown(place->frame > 0, place->frame)),
        .stack_calls = NUMBER(mst_or_unknown(known, from->stack_calls & UINT32_MAX)),
        .stack_ns = NUMBER(mst_or_unknown(known, from->wait_ns)),
    };

    return insert_php_waits(a, &row);
}

/* The longest with their ends, and of each kind what is left of its time. */
static int add_waits(struct mst_archive *a, int64_t server_id, const struct mst_php_request *r,
                     const struct mst_record_names *names, uint64_t key)
{
    uint64_t left[MST_WAIT_COUNT], kind;
    size_t i;

    memcpy(left, r->waits_ns, sizeof left);
    for (i = 0; i < MST_RECORD_ENDS; i++) {
        kind = r->longest[i].kind_end >> 32;
        if (r->longest[i].calls_failed == 0 || kind >= MST_WAIT_COUNT || names->ends[i] == NULL ||
            r->longest[i].wait_ns > left[kind])
            continue;
        left[kind] -= r->longest[i].wait_ns;
        if (add_wait(a, server_id, key, kind, names->ends[i], &r->longest[i], &r->places[i],
                     &names->places[i]) != 0)
            return -1;
    }
    for (kind = 0; kind < MST_WAIT_COUNT; kind++) {
        const struct mst_php_wait rest = { .wait_ns = left[kind] };
        const struct mst_php_wait_place nowhere = { 0 };
        const struct mst_record_place unknown = { 0 };

        if (left[kind] > 0 &&
            add_wait(a, server_id, key, kind, NULL, &rest, &nowhere, &unknown) != 0)
            return -1;
    }
    return 0;
}

/* Text of a board can be any bytes: SQLite keeps it as it is. */
int mst_archive_add_php_request(struct mst_archive *a, int64_t server_id,
                                const struct mst_php_request *r,
                                const struct mst_record_names *names, uint64_t wall_start_ns,
                                uint64_t key, bool ghost)
{
    const struct packed p = unpack(r->label_status, r->pid_worker);
    bool waits = mst_php_waits_known(r);
    const struct php_requests_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .start_ns = NUMBER(wall_start_ns),
#define MST_PHP_REQUEST_WORD(member, kind, json) .member = NUMBER(r->member),
#include "segment/records.def"
#undef MST_PHP_REQUEST_WORD
        .request_id = NUMBER(r->id), .label = TEXT(names->label), .status = NUMBER(p.status),
        .script = TEXT(r->script), .aborted = NUMBER((p.flags & MST_PHP_ABORTED) != 0),
        .fatal = NUMBER((p.flags & MST_PHP_FATAL) != 0),
        .timeout = NUMBER((p.flags & MST_PHP_TIMEOUT) != 0),
        .cached = NUMBER(mst_or_unknown((p.flags & (MST_PHP_CACHED | MST_PHP_UNCACHED)) != 0,
                                    (p.flags & MST_PHP_CACHED) != 0)),
        .pid = NUMBER(p.pid), .worker = NUMBER(p.worker), .ghost = NUMBER(ghost),
        .waits_ns = NUMBER(mst_or_unknown(waits, sum(r->waits_ns, MST_WAIT_COUNT))),
        .weight = NUMBER(1),
    };

    if (insert_php_requests(a, &row) != 0)
        return -1;
    return waits ? add_waits(a, server_id, r, names, key) : 0;
}

int mst_archive_add_mark(struct mst_archive *a, int64_t server_id, const struct mst_mark *mark,
                         uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key)
{
    const struct marks_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .time_ns = NUMBER(wall_ns),
        .name = TEXT(mark->name), .pid = NUMBER(mark->pid),
        .request_start_ns = NUMBER(request_wall_ns),
    };

    return insert_marks(a, &row);
}

int mst_archive_add_frame(struct mst_archive *a, int64_t server_id, uint64_t id,
                          const struct mst_frame *frame)
{
    const struct frames_row row = {
        .server_id = NUMBER(server_id), .frame = NUMBER(id), .function = TEXT(frame->function),
        .file = TEXT(frame->file), .line = NUMBER(mst_or_unknown(frame->line > 0, frame->line)),
    };

    return insert_frames(a, &row);
}

int mst_archive_add_stack(struct mst_archive *a, int64_t server_id, uint64_t id,
                          uint64_t caller_id, uint64_t frame_id)
{
    const struct stacks_row row = {
        .server_id = NUMBER(server_id), .stack = NUMBER(id),
        .caller = NUMBER(mst_or_unknown(caller_id > 0, caller_id)), .frame = NUMBER(frame_id),
    };

    return insert_stacks(a, &row);
}

int mst_archive_add_php_sample(struct mst_archive *a, int64_t server_id,
                               const struct mst_code_sample *sample, uint64_t stack_id,
                               uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key)
{
    uint64_t what = sample->stack_what & UINT32_MAX;
    const struct php_samples_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .time_ns = NUMBER(wall_ns),
        .request_start_ns = NUMBER(request_wall_ns), .pid = NUMBER(sample->pid_worker >> 32),
        .stack = NUMBER(stack_id),
        .kind = TEXT(what == 0 ? "cpu" : name_of(mst_wait_names, MST_WAIT_COUNT, what - 1)),
        .weight_ns = NUMBER(sample->weight_ns),
    };

    return insert_php_samples(a, &row);
}

int mst_archive_add_opcache(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                            const struct mst_opcache *o)
{
    const struct opcache_row row = {
        .server_id = NUMBER(server_id), .time_ns = NUMBER(wall_ns),
        .state = TEXT(mst_opcache_names[o->state]), .used_bytes = NUMBER(o->used_bytes),
        .wasted_bytes = NUMBER(o->wasted_bytes), .limit_bytes = NUMBER(o->limit_bytes),
        .scripts = NUMBER(o->scripts), .keys = NUMBER(o->keys),
        .keys_limit = NUMBER(o->keys_limit), .hits = NUMBER(o->hits),
        .misses = NUMBER(o->misses), .restarts = NUMBER(o->restarts),
    };

    return o->state == MST_OPCACHE_UNKNOWN ? 0 : insert_opcache(a, &row);
}

int mst_archive_add_lifecycle(struct mst_archive *a, int64_t server_id,
                              const struct mst_lifecycle *event, uint64_t wall_ns, uint64_t key)
{
    uint64_t number = event->event_kind >> 32, kind = event->event_kind & UINT32_MAX;
    const char *name = name_of(mst_event_names, MST_EVENT_COUNT, number);
    const char *kind_name = name_of(mst_kind_names, MST_KIND_COUNT, kind);
    const char *reason = name_of(mst_reason_names, MST_REASON_COUNT, event->reason);
    bool exits = number == MST_EVENT_EXIT;
    const struct lifecycle_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(key), .time_ns = NUMBER(wall_ns),
        .event = TEXT(name != NULL ? name : "unknown"),
        .kind = TEXT(number == MST_EVENT_FORK || exits ? kind_name : NULL),
        .pid = NUMBER(event->pid_parent >> 32), .parent = NUMBER(event->pid_parent & UINT32_MAX),
        .slot = NUMBER(mst_or_unknown(event->mpm_slot >= 0, (uint64_t)event->mpm_slot)),
        .generation = NUMBER(event->generation), .duration_ns = NUMBER(event->duration_ns),
        .requests = NUMBER(mst_or_unknown(exits, event->requests)),
        .unfinished = NUMBER(mst_or_unknown(exits, event->unfinished)),
        .reason = TEXT(exits ? reason : NULL),
    };

    return insert_lifecycle(a, &row);
}

int mst_archive_add_stop(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                         bool was_stopped)
{
    const struct lifecycle_row row = {
        .server_id = NUMBER(server_id), .key = NUMBER(0), .time_ns = NUMBER(wall_ns),
        .event = TEXT("stopped"), .kind = TEXT(NULL), .pid = NUMBER(MST_UNKNOWN),
        .parent = NUMBER(MST_UNKNOWN), .slot = NUMBER(MST_UNKNOWN),
        .generation = NUMBER(MST_UNKNOWN), .duration_ns = NUMBER(MST_UNKNOWN),
        .requests = NUMBER(MST_UNKNOWN), .unfinished = NUMBER(MST_UNKNOWN),
        .reason = TEXT(was_stopped ? "clean" : "unknown"),
    };

    return insert_lifecycle(a, &row);
}

int mst_archive_add_sample(struct mst_archive *a, int64_t server_id, enum mst_moment moment,
                           const struct mst_sample *s, const struct mst_cgroup_use *use)
{
    /* Processes with workers: an Apache's children, a PHP's. */
    const uint64_t forks[] = { s->forks[MST_KIND_CHILD], s->forks[MST_KIND_PHP] };
    const struct samples_row row = {
        .server_id = NUMBER(server_id), .time_ns = NUMBER(s->wall_ns),
        .moment = TEXT(mst_moment_names[moment]), .cost_ns = NUMBER(s->cost_ns),
        .workers_limit = NUMBER(s->workers_limit), .workers_busy = NUMBER(s->workers_busy),
        .idle = NUMBER(s->states[MST_STATE_IDLE]), .reading = NUMBER(s->states[MST_STATE_READING]),
        .handling = NUMBER(s->states[MST_STATE_HANDLING]),
        .sending = NUMBER(s->states[MST_STATE_SENDING]),
        .keepalive = NUMBER(s->states[MST_STATE_KEEPALIVE]),
        .closing = NUMBER(s->states[MST_STATE_CLOSING]),
        .idle_ns = NUMBER(s->state_ns[MST_STATE_IDLE]),
        .reading_ns = NUMBER(s->state_ns[MST_STATE_READING]),
        .handling_ns = NUMBER(s->state_ns[MST_STATE_HANDLING]),
        .sending_ns = NUMBER(s->state_ns[MST_STATE_SENDING]),
        .keepalive_ns = NUMBER(s->state_ns[MST_STATE_KEEPALIVE]),
        .closing_ns = NUMBER(s->state_ns[MST_STATE_CLOSING]),
        .connections = NUMBER(s->connections), .in_flight = NUMBER(s->in_flight),
        .accepted = NUMBER(s->accepted), .shed = NUMBER(s->shed), .requests = NUMBER(s->requests),
        .status_requests = NUMBER(s->requests_status), .bytes = NUMBER(s->bytes),
        .forks = NUMBER(sum(forks, sizeof forks / sizeof *forks)),
        .exits = NUMBER(sum(s->exits, MST_REASON_COUNT)), .forks_failed = NUMBER(s->forks_failed),
        .no_idle_ns = NUMBER(s->no_idle_ns), .generations = NUMBER(s->generations),
        .unfinished = NUMBER(s->unfinished), .listen_queue = NUMBER(s->listen_queue),
        .listen_queue_limit = NUMBER(s->listen_queue_limit),
        .logging = NUMBER(s->states[MST_STATE_LOGGING]),
        .logging_ns = NUMBER(s->state_ns[MST_STATE_LOGGING]),
        .group_cpu_ns = NUMBER(use->cpu_ns), .group_cpu_limit_milli = NUMBER(use->cpu_limit_milli),
        .group_throttled_ns = NUMBER(use->throttled_ns),
        .group_memory_bytes = NUMBER(use->memory_bytes),
        .group_memory_limit_bytes = NUMBER(use->memory_limit),
        .group_io_stall_ns = NUMBER(use->io_stall_ns),
        .listen_address = TEXT(s->listen_address[0] != '\0' ? s->listen_address : NULL),
        .http2_workers_limit = NUMBER(s->http2_workers_limit),
        .http2_workers_busy = NUMBER(s->http2_workers_busy),
        .listen_pool = TEXT(s->listen_pool[0] != '\0' ? s->listen_pool : NULL),
        .weight = NUMBER(1),
    };

    return insert_samples(a, &row);
}

int mst_archive_add_pools(struct mst_archive *a, int64_t server_id, enum mst_moment moment,
                          const struct mst_sample *s)
{
    int status = 0;
    size_t i;

    for (i = 0; i < s->pool_count && status == 0; i++) {
        const struct mst_sample_pool *pool = &s->pools[i];
        const struct pool_samples_row row = {
            .server_id = NUMBER(server_id), .time_ns = NUMBER(s->wall_ns),
            .moment = TEXT(mst_moment_names[moment]), .label = TEXT(pool->label),
            .workers_limit = NUMBER(pool->workers_limit), .workers_busy = NUMBER(pool->in_flight),
            .limit_reached = NUMBER(pool->limit_reached), .weight = NUMBER(1),
        };

        status = insert_pool_samples(a, &row);
    }
    return status;
}

int mst_archive_add_ports(struct mst_archive *a, int64_t run_id, uint64_t wall_ns,
                          const struct mst_ports *ports)
{
    int status = 0;
    size_t i;

    for (i = 0; i < ports->count && status == 0; i++) {
        const struct port_samples_row row = {
            .run_id = NUMBER(run_id), .time_ns = NUMBER(wall_ns),
            .remote = TEXT(ports->remotes[i].address), .ports = NUMBER(ports->remotes[i].ports),
            .ports_limit = NUMBER(ports->limit),
        };

        if (ports->remotes[i].ports * PORTS_PART >= ports->limit)
            status = insert_port_samples(a, &row);
    }
    return status;
}

int mst_archive_add_end(struct mst_archive *a, int64_t server_id, const struct mst_sample_end *end)
{
    const struct ends_row row = {
        .server_id = NUMBER(server_id), .kind = TEXT(end->kind), .end = TEXT(end->name),
        .calls = NUMBER(end->calls), .failed = NUMBER(end->failed), .end_ns = NUMBER(end->end_ns),
        .connect_ns = NUMBER(end->connect_ns),
    };

    return insert_ends(a, &row);
}

int mst_archive_add_process(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                            const struct mst_proc *process, uint64_t cost_ns)
{
    const char state[2] = { process->state, '\0' };
    const struct process_samples_row row = {
        .server_id = NUMBER(server_id), .time_ns = NUMBER(wall_ns), .pid = NUMBER(process->pid),
        .pss_bytes = NUMBER(process->pss_bytes), .cost_ns = NUMBER(cost_ns),
        .files = NUMBER(process->files), .files_limit = NUMBER(process->files_limit),
        .state = TEXT(state[0] != '\0' ? state : NULL),
    };

    return insert_process_samples(a, &row);
}

int mst_archive_add_memory(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                           uint64_t began_ns, uint64_t processes, uint64_t pss_bytes,
                           uint64_t cost_ns, uint64_t rss_bytes)
{
    const struct memory_samples_row row = {
        .server_id = NUMBER(server_id), .time_ns = NUMBER(wall_ns), .began_ns = NUMBER(began_ns),
        .processes = NUMBER(processes), .pss_bytes = NUMBER(pss_bytes),
        .cost_ns = NUMBER(cost_ns), .rss_bytes = NUMBER(rss_bytes), .weight = NUMBER(1),
    };

    return insert_memory_samples(a, &row);
}

int mst_archive_add_machine(struct mst_archive *a, int64_t run_id, uint64_t wall_ns,
                            enum mst_moment moment, const struct mst_machine *m)
{
    const struct machine_samples_row row = {
        .run_id = NUMBER(run_id), .time_ns = NUMBER(wall_ns),
        .moment = TEXT(mst_moment_names[moment]), .busy_ns = NUMBER(m->busy_ns),
        .total_ns = NUMBER(m->total_ns), .stolen_ns = NUMBER(m->stolen_ns),
        .memory_available = NUMBER(m->memory_available),
        .listen_overflows = NUMBER(m->listen_overflows),
        .listen_drops = NUMBER(m->listen_drops), .memory_stall_ns = NUMBER(m->memory_stall_ns),
        .oom_kills = NUMBER(m->oom_kills), .runnable = NUMBER(m->runnable),
        .blocked = NUMBER(m->blocked), .cpu_stall_ns = NUMBER(m->cpu_stall_ns),
        .context_switches = NUMBER(m->context_switches), .forks = NUMBER(m->forks),
        .tcp_segments = NUMBER(m->tcp_segments), .tcp_retransmits = NUMBER(m->tcp_retransmits),
        .syn_retransmits = NUMBER(m->syn_retransmits), .io_stall_ns = NUMBER(m->io_stall_ns),
    };

    return insert_machine_samples(a, &row);
}

int mst_archive_add_program(struct mst_archive *a, int64_t run_id, const char *name,
                            enum mst_proc_owner owner, uint64_t cpu_ns, uint64_t disk_bytes)
{
    const struct programs_row row = {
        .run_id = NUMBER(run_id), .program = TEXT(name), .cpu_ns = NUMBER(cpu_ns),
        .owner = TEXT(mst_proc_owner_names[owner]), .disk_bytes = NUMBER(disk_bytes),
    };

    return insert_programs(a, &row);
}

/* past.c - makes a run of what the journals have of the last minutes: requests and events as they
 * were recorded, and samples that are computed from them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "archive/states.h"
#include "archive/writer.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "console/diag.h"
#include "explain/occupancy.h"
#include "explain/steps.h"

#define STEPS       600u        /* samples of the window */
#define MISSED_NS   (50 * MST_NS_PER_MS)   /* without an idle worker in the window, below which that
                                            * does not count as "all workers were busy" */
#define POLLS_MAX   1000u       /* of one journal; a board's takes one, a URL's one for each page */

/* ---- the journal --------------------------------------------------------------------------- */

struct gathering {
    struct mst_explanation      *e;
    struct mst_explained_server *s;
    uint64_t first_end_ns;       /* of all requests that the journal still has; MST_UNKNOWN */
    uint64_t begins_ns;          /* what ended before is not wanted; 0: all is */
};

/* Whether a request is wanted that ended then. */
static bool is_wanted(struct gathering *g, uint64_t end_ns)
{
    g->first_end_ns = end_ns < g->first_end_ns ? end_ns : g->first_end_ns;
    g->s->last_ns = end_ns > g->s->last_ns ? end_ns : g->s->last_ns;
    return end_ns >= g->begins_ns;
}

static int on_request(void *context, const struct mst_request *r,
                      const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key)
{
    struct gathering *g = context;

    if (!is_wanted(g, wall_start_ns + r->queue_ns + r->read_ns + r->handle_ns + r->send_ns))
        return 0;
    return mst_archive_add_request(g->e->archive, g->s->id, r, names, wall_start_ns, key, false);
}

static int on_php_request(void *context, const struct mst_php_request *r,
                          const struct mst_record_names *names, uint64_t wall_start_ns,
                          uint64_t key)
{
    struct gathering *g = context;

    if (!is_wanted(g, wall_start_ns + r->run_ns))
        return 0;
    return mst_archive_add_php_request(g->e->archive, g->s->id, r, names, wall_start_ns, key,
                                       false);
}

static int on_frame(void *context, uint64_t id, const struct mst_frame *frame)
{
    struct gathering *g = context;

    return mst_archive_add_frame(g->e->archive, g->s->id, id, frame);
}

static int on_stack(void *context, uint64_t id, uint64_t caller_id, uint64_t frame_id)
{
    struct gathering *g = context;

    return mst_archive_add_stack(g->e->archive, g->s->id, id, caller_id, frame_id);
}

static int on_code_sample(void *context, const struct mst_code_sample *sample, uint64_t stack_id,
                          uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key)
{
    struct gathering *g = context;

    return wall_ns < g->begins_ns ? 0 :
           mst_archive_add_php_sample(g->e->archive, g->s->id, sample, stack_id, wall_ns,
                                      request_wall_ns, key);
}

static int on_lifecycle(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
                        uint64_t key)
{
    struct gathering *g = context;

    return wall_ns < g->begins_ns ? 0 : mst_archive_add_lifecycle(g->e->archive, g->s->id, event,
                                                                  wall_ns, key);
}

static int on_delivery(void *context, const struct mst_delivery *delivery, uint64_t key)
{
    struct gathering *g = context;
    bool found;

    return mst_archive_add_delivery(g->e->archive, g->s->id, delivery, key, &found);
}

/* 0; -1: the archive failed. A journal that cannot be read to its end is told, and what there is of
 * it is used. */
static int read_journal(struct mst_explanation *e, struct mst_explained_server *s,
                        uint64_t begins_ns)
{
    struct gathering g = { e, s, MST_UNKNOWN, begins_ns };
    const struct mst_source_events events = {
        .context = &g, .on_request = on_request, .on_php_request = on_php_request,
        .on_lifecycle = on_lifecycle, .on_delivery = on_delivery,
        .on_frame = on_frame, .on_stack = on_stack, .on_code_sample = on_code_sample,
    };
    char error[MST_ERROR_MAX] = "";
    unsigned polls = 0;
    long given = mst_source_rewind(s->source, error) == 0 ? 1 : -1;

    mst_source_forget_code(s->source);
    while (given > 0 && polls++ < POLLS_MAX)
        given = mst_source_poll(s->source, &events, error);
    mst_source_finish(s->source);
    if (given < 0 && error[0] == '\0')
        return -1;
    if (given < 0)
        mst_warn("%s", error);
    s->since_ns = mst_source_identity(s->source)->started_wall_ns;
    if (mst_source_lost(s->source) > 0 && g.first_end_ns != MST_UNKNOWN)
        s->since_ns = g.first_end_ns;
    return 0;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* A time in which a server's workers were all busy, at the limit. */
struct full { uint64_t from_ns, until_ns; };

/* Writes the samples of one server, or of one pool. */
struct sampling {
    struct mst_explanation      *e;
    struct mst_explained_server *s;
    const char                  *pool;     /* NULL: the server */
    uint64_t                     limit;    /* of its workers; MST_UNKNOWN */
    struct mst_sample            sample;   /* all unknown, but for what does not change */
    struct full                 *full;
    size_t                       full_count, full_room;
    uint64_t                     reloaded_ns;   /* the latest reload in the window: before it, the
                                                 * limit is not known; 0: there was none */
    uint64_t                     stepped_busy_ns, stepped_full_ns;   /* until the latest step */
    uint64_t                     kept_ns;  /* time of workers without a request, and not idle */
};

struct events { uint64_t forks, exits, unfinished, generations; };

/* Events between a moment and now: the counters of that moment are as many less. */
static bool count_events(struct sampling *p, struct events *n)
{
    struct mst_query q = mst_query_ask(mst_archive_db(p->e->archive),
        "SELECT total(event = 'fork') AS forks, total(event = 'exit') AS exits, "
        "total(unfinished) AS unfinished, "
        "(SELECT count(*) FROM lifecycle WHERE server_id = :id AND event = 'generation') "
        "AS generations, (SELECT max(time_ns) FROM lifecycle WHERE server_id = :id "
        "AND event = 'generation') AS reloaded_ns "
        "FROM lifecycle WHERE server_id = :id AND kind IN ('child', 'php')", p->s->id);
    const struct mst_row_member members[] = {
        { "forks", &n->forks }, { "exits", &n->exits }, { "unfinished", &n->unfinished },
        { "generations", &n->generations }, { "reloaded_ns", &p->reloaded_ns },
    };

    *n = (struct events){ 0 };
    if (mst_query_next(&q))
        mst_row_numbers(&q, members, sizeof members / sizeof *members);
    p->reloaded_ns = mst_known(p->reloaded_ns);
    return mst_query_done(&q);
}

/* There is room for it. */
static void add_full(struct sampling *p, uint64_t from_ns, uint64_t until_ns)
{
    from_ns = from_ns > p->reloaded_ns ? from_ns : p->reloaded_ns;
    if (from_ns < until_ns)
        p->full[p->full_count++] = (struct full){ from_ns, until_ns };
}

/* An event at such a time's end has its duration; of the last one there can be its begin only. It
 * goes on while all are busy now; else the end is still to be told, and is not after the latest
 * request's. Times before a reload were at another limit. */
static bool read_full(struct sampling *p)
{
    bool is_now = p->limit != MST_UNKNOWN && p->s->now.worker_count >= p->limit;
    struct mst_query q = mst_query_ask(mst_archive_db(p->e->archive),
        "SELECT time_ns, duration_ns FROM lifecycle WHERE server_id = :id AND event = 'limit' "
        "ORDER BY time_ns", p->s->id);
    uint64_t time_ns, length_ns, begun_ns = MST_UNKNOWN;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        time_ns = mst_row_number(&q, "time_ns");
        length_ns = mst_row_number(&q, "duration_ns");
        begun_ns = length_ns == MST_UNKNOWN ? time_ns : MST_UNKNOWN;
        fine = mst_grow(&p->full, &p->full_room, p->full_count, sizeof *p->full);
        if (fine && length_ns != MST_UNKNOWN)
            add_full(p, mst_subtract_saturated(time_ns, length_ns), time_ns);
    }
    if (fine && begun_ns != MST_UNKNOWN)
        add_full(p, begun_ns, is_now ? UINT64_MAX : p->s->last_ns);
    return mst_query_done(&q) && fine;
}

/* The time at the limit until then. */
static uint64_t full_until(const struct sampling *p, uint64_t at_ns)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < p->full_count; i++)
        if (p->full[i].from_ns < at_ns)
            sum = mst_add_saturated(sum, (p->full[i].until_ns < at_ns ? p->full[i].until_ns
                                                                      : at_ns) -
                                         p->full[i].from_ns);
    return sum;
}

/* Requests that end are counted, by what they held the workers for; those in flight are added. */
static bool gather(struct sampling *p, struct mst_occupancy *o)
{
    bool is_php = mst_source_identity(p->s->source)->producer == MST_PRODUCER_PHP, fine = true;
    struct mst_query q = mst_query_ask(mst_archive_db(p->e->archive), is_php ?
        "SELECT start_ns AS began, run_ns AS held FROM php_requests WHERE server_id = :id "
        "AND (:pool IS NULL OR label = :pool)" :
        "SELECT start_ns + queue_ns AS began, held_ns AS held FROM server_requests "
        "WHERE server_id = :id AND no_worker = 0 AND (:pool IS NULL OR label = :pool)", p->s->id);
    uint64_t began, held;
    size_t i;

    mst_query_set_text(&q, ":pool", p->pool);
    while (fine && mst_query_next(&q)) {
        began = mst_row_number(&q, "began");
        held = mst_row_number(&q, "held");
        if (began != MST_UNKNOWN && held != MST_UNKNOWN)
            fine = mst_occupancy_add(o, began, began + held);
    }
    fine = mst_query_done(&q) && fine;
    for (i = 0; i < p->s->now.worker_count && fine; i++) {
        const struct mst_present_worker *w = &p->s->now.workers[i];

        if (w->busy_ns != MST_UNKNOWN && (p->pool == NULL || strcmp(w->label, p->pool) == 0))
            fine = mst_occupancy_add(o, p->e->until_ns - (w->busy_ns < p->e->until_ns ?
                                     w->busy_ns : p->e->until_ns), p->e->until_ns + 1);
    }
    return fine;
}

static int put_sample(struct sampling *p, enum mst_moment moment)
{
    const struct mst_cgroup_use limit = {
        .memory_bytes = MST_UNKNOWN, .memory_limit = MST_UNKNOWN, .cpu_ns = MST_UNKNOWN,
        .cpu_limit_milli = p->s->cpu_limit_milli, .throttled_ns = MST_UNKNOWN,
        .io_stall_ns = MST_UNKNOWN,
    };

    return p->pool != NULL
        ? mst_archive_add_pools(p->e->archive, p->s->id, moment, &p->sample)
        : mst_archive_add_sample(p->e->archive, p->s->id, moment, &p->sample, &limit);
}

/* While no worker is idle, idle connections hold those that have no request. Not so with event,
 * whose workers do not wait for idle connections, and with HTTP/2, whose requests run on other
 * threads. In a step that was full for a part of its time, all of its requests are subtracted. */
static void take_kept(struct sampling *p, uint64_t busy_ns)
{
    const struct mst_source_identity *server = mst_source_identity(p->s->source);
    uint64_t full_ns = p->sample.no_idle_ns;

    if (server->producer == MST_PRODUCER_APACHE && strcmp(server->mpm, "event") != 0 &&
        mst_known(p->s->sample.http2_workers_limit) == 0 && p->limit != MST_UNKNOWN)
        p->kept_ns += mst_subtract_saturated((full_ns - p->stepped_full_ns) * p->limit,
                                             busy_ns - p->stepped_busy_ns);
    p->stepped_full_ns = full_ns;
    p->stepped_busy_ns = busy_ns;
}

/* What is known of now only: of a window that ends now. */
static void take_present(struct sampling *p)
{
    p->sample.connections = p->s->sample.connections;
    p->sample.states[MST_STATE_IDLE] = p->s->sample.states[MST_STATE_IDLE];
}

/* A mst_occupancy_step. A worker without a request was idle, but for take_kept(). A request's end
 * and the next one's begin on its worker can overlap by a little. */
static int take_step(void *context, uint64_t at_ns, uint64_t most, uint64_t busy_ns)
{
    struct sampling *p = context;
    struct mst_sample *s = &p->sample;
    uint64_t all_ns = p->limit != MST_UNKNOWN ? (at_ns - p->e->from_ns) * p->limit : MST_UNKNOWN;
    bool was_other = at_ns <= p->reloaded_ns;   /* the limit, perhaps */

    s->wall_ns = at_ns;
    s->no_idle_ns = full_until(p, at_ns);
    s->workers_limit = was_other ? MST_UNKNOWN : p->limit;
    most = was_other ? MST_UNKNOWN :
           p->limit != MST_UNKNOWN && most > p->limit ? p->limit : most;
    if (p->pool != NULL) {
        s->pools[0].in_flight = most;
        return was_other ? 0 : put_sample(p, MST_MOMENT_DURING);
    }
    s->workers_busy = most;
    take_kept(p, busy_ns);
    s->states[MST_STATE_HANDLING] = most;
    s->states[MST_STATE_IDLE] = MST_UNKNOWN;   /* how many processes there were is not known */
    s->state_ns[MST_STATE_HANDLING] = busy_ns;
    s->state_ns[MST_STATE_KEEPALIVE] = p->kept_ns;
    busy_ns = mst_add_saturated(busy_ns, p->kept_ns);
    s->state_ns[MST_STATE_IDLE] = all_ns != MST_UNKNOWN && all_ns > busy_ns ? all_ns - busy_ns : 0;
    if (at_ns == p->e->until_ns && p->e->ends_now)
        take_present(p);
    return put_sample(p, at_ns == p->e->until_ns ? MST_MOMENT_END : MST_MOMENT_DURING);
}

static bool sweep(struct sampling *p)
{
    struct mst_occupancy o = { 0 };
    bool fine = gather(p, &o) && mst_occupancy_sweep(&o, p->e->from_ns, p->e->until_ns, STEPS,
                                                     take_step, p) == 0;

    if (p->pool == NULL)
        p->s->any_busy_ns = mst_occupancy_any_ns(&o, p->e->from_ns, p->e->until_ns);
    mst_occupancy_free(&o);
    return fine;
}

/* What is known of now is of the last sample; the counters of the first one are those of now less
 * what happened since. */
static bool sample_server(struct sampling *p)
{
    const struct mst_sample *now = &p->s->sample;
    struct mst_sample *s = &p->sample;
    struct events n;
    unsigned state;

    if (!count_events(p, &n) || !read_full(p))
        return false;
    for (state = 0; state < MST_STATE_COUNT; state++)
        s->states[state] = s->state_ns[state] = 0;
    s->wall_ns = p->e->from_ns;
    s->workers_limit = p->limit;
    s->workers_busy = 0;
    s->forks[MST_KIND_CHILD] = s->forks[MST_KIND_PHP] = 0;
    memset(s->exits, 0, sizeof s->exits);
    s->generations = s->in_flight = s->unfinished = 0;
    s->no_idle_ns = p->stepped_full_ns = full_until(p, s->wall_ns);
    if (put_sample(p, MST_MOMENT_BEFORE) != 0)
        return false;
    s->cost_ns = MISSED_NS / STEPS;
    /* That it is empty now tells nothing of before. */
    s->listen_queue = now->listen_queue > 0 ? now->listen_queue : MST_UNKNOWN;
    s->listen_queue_limit = now->listen_queue_limit;
    memcpy(s->listen_address, now->listen_address, sizeof s->listen_address);
    memcpy(s->listen_pool, now->listen_pool, sizeof s->listen_pool);
    if (mst_archive_add_opcache(p->e->archive, p->s->id, now->wall_ns, &now->opcache) != 0)
        return false;
    s->http2_workers_limit = now->http2_workers_limit;
    s->forks[MST_KIND_CHILD] = n.forks;
    s->exits[MST_REASON_CLEAN] = n.exits;
    s->unfinished = n.unfinished;
    s->generations = n.generations;
    return sweep(p);
}

static bool sample_pools(struct sampling *p)
{
    const struct mst_sample *now = &p->s->sample;
    struct mst_sample_pool pool;
    bool fine = true;
    size_t i;

    p->sample.pools = &pool;
    p->sample.pool_count = 1;
    for (i = 0; i < now->pool_count && fine; i++) {
        pool = now->pools[i];
        pool.limit_reached = MST_UNKNOWN;
        p->pool = pool.label;
        p->limit = pool.workers_limit;
        fine = sweep(p);
    }
    return fine;
}

static bool add_samples(struct mst_explanation *e, struct mst_explained_server *s)
{
    struct sampling p = { .e = e, .s = s, .limit = s->sample.workers_limit };
    bool fine;

    memset(&p.sample, 0xff, sizeof p.sample);
    p.sample.end_count = p.sample.process_count = p.sample.pool_count = 0;
    p.sample.listens[0] = p.sample.listen_address[0] = p.sample.listen_pool[0] = '\0';
    p.sample.processes = NULL;
    fine = sample_server(&p) && sample_pools(&p);
    free(p.full);
    return fine;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* The window ends now, or with the latest request where no request is in flight. Each journal
 * reaches back only so far: all have what is left. */
static void find_window(struct mst_explanation *e)
{
    uint64_t last = 0, now = 0;
    size_t i, busy = 0;

    for (i = 0; i < e->server_count; i++) {
        const struct mst_explained_server *s = &e->servers[i];

        busy += s->now.worker_count;
        last = s->last_ns > last ? s->last_ns : last;
        if (s->sample.wall_ns > now)
            now = s->sample.wall_ns;
    }
    e->ends_now = busy > 0 || last == 0 || last > now;
    e->until_ns = e->ends_now ? now : last;
    e->from_ns = now > e->last_ns ? now - e->last_ns : 0;
    for (i = 0; i < e->server_count; i++)
        if (e->servers[i].since_ns < e->until_ns && e->servers[i].since_ns > e->from_ns)
            e->from_ns = e->servers[i].since_ns;   /* one that began since then has no requests */
    if (e->from_ns > e->until_ns)
        e->from_ns = e->until_ns;
}

/* Time before the first request is not a part of the load. */
static bool begin_with_first(struct mst_explanation *e)
{
    struct mst_query q = mst_query_ask(mst_archive_db(e->archive),
        "SELECT min(start_ns) AS first FROM (SELECT start_ns FROM server_requests WHERE label <> '"
        MST_LABEL_STATUS_NAME "' UNION ALL SELECT start_ns - coalesce(wait_ns, 0) FROM "
        "php_requests) WHERE :id >= 0", 0);
    uint64_t first = mst_query_next(&q) ? mst_row_number(&q, "first") : MST_UNKNOWN;

    if (first != MST_UNKNOWN && first > e->from_ns && first < e->until_ns)
        e->from_ns = first;
    return mst_query_done(&q);
}

/* sql has the begin of the window as :id. */
static bool change(struct mst_explanation *e, const char *sql)
{
    struct mst_query q = mst_query_ask(mst_archive_db(e->archive), sql, (int64_t)e->from_ns);

    mst_query_next(&q);
    return mst_query_done(&q);
}

static bool forget_earlier_requests(struct mst_explanation *e)
{
    return change(e, "DELETE FROM server_requests WHERE start_ns + queue_ns + read_ns + handle_ns "
                     "+ send_ns < :id") &&
           change(e, "DELETE FROM php_waits WHERE EXISTS (SELECT 1 FROM php_requests p WHERE "
                     "p.server_id = php_waits.server_id AND p.key = php_waits.key AND "
                     "start_ns + run_ns < :id)") &&
           change(e, "DELETE FROM php_requests WHERE start_ns + run_ns < :id");
}

/* The names of what PHP waited for. A request has only its longest waits, so how many calls there
 * were is not known. */
static bool add_ends(struct mst_explanation *e)
{
    return change(e, "INSERT INTO ends (server_id, kind, end, end_ns) SELECT server_id, kind, end, "
                     "sum(wait_ns) FROM php_waits WHERE end IS NOT NULL AND :id >= 0 "
                     "GROUP BY server_id, kind, end");
}

static bool begin(struct mst_explanation *e, uint64_t now_ns)
{
    const struct mst_archive_run run = { .started_ns = now_ns, .tool_threads = MST_UNKNOWN };
    size_t i;

    if (mst_archive_begin_run(e->archive, &run, &e->run_id) != 0)
        return false;
    for (i = 0; i < e->server_count; i++) {
        struct mst_explained_server *s = &e->servers[i];

        s->since_ns = MST_UNKNOWN;
        if (mst_archive_add_server(e->archive, e->run_id, mst_source_name(s->source),
                                   mst_source_local(s->source), mst_source_identity(s->source),
                                   &s->id) != 0 ||
            (s->target->label != NULL &&
             mst_archive_name_server(e->archive, s->id, s->target->label) != 0))
            return false;
    }
    return true;
}

/* Of a server that was killed it is known until when it served. */
static bool add_stop(struct mst_explanation *e, const struct mst_explained_server *s)
{
    bool was_stopped = s->sample.stopped_ns != MST_UNKNOWN;
    uint64_t served_ns = s->last_ns > 0 ? s->last_ns : s->since_ns;

    return s->is_running || s->workers_left > 0 ||
           mst_archive_add_stop(e->archive, s->id, was_stopped ? s->sample.stopped_ns : served_ns,
                                was_stopped) == 0;
}

/* What the servers run with, for advice that they accept. */
static int add_settings(struct mst_explanation *e)
{
    size_t nth[2] = { 0, 0 }, i;
    int status = 0;

    for (i = 0; i < e->server_count && status == 0; i++) {
        const struct mst_source_identity *server = mst_source_identity(e->servers[i].source);
        char prefix[MST_PREFIX_MAX];

        mst_server_prefix(prefix, server->producer, ++nth[mst_server_is_php(&e->servers[i])]);
        status = mst_archive_add_config(e->archive, e->run_id, e->servers[i].id, prefix, server,
            e->servers[i].is_running && mst_source_local(e->servers[i].source));
    }
    return status;
}

static bool any_is_local(const struct mst_explanation *e)
{
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (e->servers[i].is_running && mst_source_local(e->servers[i].source))
            return true;
    return false;
}

/* The local ports that are in use at this moment. Counting them reads all connections, so it is
 * done only where answers failed, as they do where ports have run out. */
static bool add_ports(struct mst_explanation *e)
{
    struct mst_query q = mst_query_ask(mst_archive_db(e->archive), "SELECT 1 AS one FROM "
                                       "server_requests WHERE status >= 500 AND :id >= 0 LIMIT 1",
                                       0);
    bool has_failed = mst_query_next(&q);
    struct mst_ports ports;

    if (!mst_query_done(&q))
        return false;
    return !has_failed || !any_is_local(e) || !mst_ports_read(&ports) ||
           mst_archive_add_ports(e->archive, e->run_id, e->until_ns, &ports) == 0;
}

static bool end(struct mst_explanation *e)
{
    struct mst_archive_server_end server = { .cpu_ns = MST_UNKNOWN, .lost = 0 };
    const struct mst_archive_run_end run = {
        .outcome = MST_OUTCOME_COMPLETE, .complete = true, .started_ns = e->from_ns,
        .ended_ns = e->until_ns, .duration_ns = e->until_ns - e->from_ns,
        .exit_status = MST_UNKNOWN, .exit_signal = MST_UNKNOWN, .tool_cpu_ns = MST_UNKNOWN,
        .memory_cost_ns = MST_UNKNOWN, .recorder_cpu_ns = MST_UNKNOWN,
    };
    size_t i;

    memset(&server.cgroup, 0xff, sizeof server.cgroup);
    server.cgroup.name[0] = '\0';
    for (i = 0; i < e->server_count; i++) {
        server.listens = e->servers[i].sample.listens;
        if (!add_samples(e, &e->servers[i]) || !add_stop(e, &e->servers[i]) ||
            mst_archive_end_server(e->archive, e->servers[i].id, &server) != 0)
            return false;
    }
    return add_ports(e) && mst_archive_end_run(e->archive, e->run_id, &run) == 0;
}

int mst_explain_past(struct mst_explanation *e)
{
    uint64_t now_ns = mst_realtime_ns();
    char error[MST_ERROR_MAX];
    bool fine;
    size_t i;

    e->archive = mst_archive_in_memory(error);
    if (e->archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    fine = begin(e, now_ns);
    for (i = 0; i < e->server_count && fine && e->stuck_count == 0; i++)
        fine = read_journal(e, &e->servers[i], now_ns > e->last_ns ? now_ns - e->last_ns : 0) == 0;
    find_window(e);
    fine = fine && mst_explain_add_cpus(e) == 0 && add_settings(e) == 0 &&
           mst_archive_commit(e->archive) == 0 &&
           mst_explain_outage(e) &&
           forget_earlier_requests(e) && add_ends(e) &&
           begin_with_first(e) && change(e, "DELETE FROM lifecycle WHERE time_ns < :id") && end(e);
    return fine ? MST_EXIT_OK : mst_failed(MST_EXIT_OUTPUT, "the journals cannot be kept: %s",
                                           mst_archive_error(e->archive));
}

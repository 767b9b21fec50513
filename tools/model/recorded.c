/* recorded.c - see recorded.h. */
#include "model/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/clock.h"
#include "memory/pool.h"

#define REQUESTS_MIN     100u     /* fewer tell too little of how requests differ */
#define REQUESTS_MOST    40000u   /* of more, evenly chosen ones are taken */
#define FAILED_MOST      50u      /* in thousandths: the times of failed requests are not those of
                                   * answers */
#define WAITING_MIN      2.0      /* with so many on average, nearly always one waits */
#define AT_ALL           100e-6   /* a lock that is free takes less */
#define AT_ONCE_MIN      1.1      /* of fewer, it is not told by how many others one waits for */
#define KERNEL_MOST      0.5      /* of what server and load tool take: more was taken by programs
                                   * that ended before they were seen */
#define CLIENTS_MOST     100000u  /* no load tool has more */
#define ENDS_MOST        256u     /* other ends with a name; further ones are one for each kind */
#define ALWAYS           UINT32_MAX   /* a limit that is none */
#define DEFAULT_TIMEOUT  5.0      /* Apache's KeepAliveTimeout, in seconds */

static double in_seconds(uint64_t ns)
{
    return ns != MST_UNKNOWN ? (double)ns / (double)MST_NS_PER_S : NAN;
}

static uint32_t or_default(uint64_t number, uint32_t otherwise)
{
    return number < ALWAYS ? (uint32_t)number : otherwise;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* ---- PHP's requests: their pools and waits ----------------------------------------- */

/* A wait of a PHP request for an end; end SIZE_MAX: there is none, the row has the pool alone. */
struct wait { uint64_t row; size_t gate, end; double seconds; };

struct building {
    struct mst_model_run *r;
    struct wait *waits;             /* by row */
    size_t   wait_count, wait_room;
    struct mst_values starts;       /* instants of all arrivals */
    size_t   step_room, work_room, own_room;
    uint64_t seen;
    size_t   front_cpus, php_cpus;
    double   php_seconds, php_cpu_wait;      /* sums of PHP's CPU time, and of its waits for it */
    double   php_requests, unlocked;         /* of a request's run: without locks */
    struct end_sum *sums;           /* of each end */
    size_t   sum_count;
    bool     has_php_gate, failed;
};

/* The waits for an end, of all requests. */
struct end_sum {
    double   seconds;
    uint64_t requests, long_ones;   /* long_ones: that waited at all */
    size_t   gate;                  /* of an end that lets in one at a time; 0: it is none */
    double   inside;                /* of such a one: the time for which each is inside */
};

static size_t add_end(struct building *b, const char *kind, const char *name)
{
    apr_pool_t *pool = b->r->pool;
    struct mst_model_end *end = mst_pool_append(pool, &b->r->system.ends, &b->r->system.end_count,
                                                sizeof *end);

    *end = (struct mst_model_end){
        .kind = apr_pstrdup(pool, kind), .name = apr_pstrdup(pool, name),
        .wait_factor = 1, .compute_factor = 1,
    };
    /* Some names begin with their kind: "lock flock". */
    end->called = name[0] == '\0' ? end->kind : strncmp(name, kind, strlen(kind)) == 0 ? end->name :
                  apr_pstrcat(pool, kind, " ", name, NULL);
    mst_pool_append(pool, &b->sums, &b->sum_count, sizeof *b->sums);
    return b->r->system.end_count - 1;
}

static size_t find_end(struct building *b, const char *kind, const char *name)
{
    const struct mst_model_run *r = b->r;
    size_t i;

    for (i = MST_END_FIXED_COUNT; i < r->system.end_count; i++)
        if (strcmp(r->system.ends[i].kind, kind) == 0 &&
            strcmp(r->system.ends[i].name, name) == 0)
            return i;
    return i < ENDS_MOST || name[0] == '\0' ? add_end(b, kind, name) : find_end(b, kind, "");
}

static size_t add_gate(struct mst_model_run *r, const char *name, uint64_t limit)
{
    struct mst_gate *gate = mst_pool_append(r->pool, &r->system.gates, &r->system.gate_count,
                                            sizeof *gate);

    gate->name = name;
    gate->limit = limit < ALWAYS ? (uint32_t)limit : ALWAYS;
    return r->system.gate_count - 1;
}

static size_t add_cpus(struct mst_model_run *r, const char *name, double count)
{
    struct mst_cpus *cpus = mst_pool_append(r->pool, &r->system.cpus, &r->system.cpus_count,
                                            sizeof *cpus);

    *cpus = (struct mst_cpus){ name, count };
    return r->system.cpus_count - 1;
}

/* The gate of a pool of the PHP's, by its label. */
static size_t gate_of(const struct mst_model_run *r, const char *label)
{
    size_t i;

    for (i = 0; i < r->workers_count; i++)
        if (mst_summary_is_php(r->workers[i].server) &&
            (r->workers[i].pool == NULL || strcmp(r->workers[i].pool->label, label) == 0))
            return r->workers[i].gate;
    return SIZE_MAX;
}

static bool read_waits(struct building *b)
{
    static const char sql[] =
        "SELECT p.rowid AS id, p.label AS label, w.kind AS kind, w.end AS end, "
        "w.wait_ns AS wait_ns FROM main.php_requests p LEFT JOIN main.php_waits w ON "
        "w.server_id = p.server_id AND w.key = p.key WHERE p.server_id = :id ORDER BY p.rowid";
    struct mst_query q = mst_query_ask(b->r->db, sql, b->r->php->id);
    const char *kind, *name;
    char label[MST_NAME_MAX];

    while (mst_query_next(&q)) {
        struct wait w = { mst_row_number(&q, "id"), 0, SIZE_MAX, 0 };

        mst_row_copy(&q, "label", label, sizeof label);
        w.gate = gate_of(b->r, label);
        kind = mst_row_text(&q, "kind");
        name = mst_row_text(&q, "end");
        if (kind != NULL) {
            char known[MST_NAME_MAX];

            apr_cpystrn(known, kind, sizeof known);
            w.end = find_end(b, known, name != NULL ? name : "");
            w.seconds = or_zero(in_seconds(mst_row_number(&q, "wait_ns")));
            b->sums[w.end].seconds += w.seconds;
            b->sums[w.end].requests++;
            b->sums[w.end].long_ones += w.seconds > AT_ALL;
        }
        if (!mst_grow(&b->waits, &b->wait_room, b->wait_count, sizeof *b->waits))
            mst_out_of_memory();
        b->waits[b->wait_count++] = w;
    }
    return mst_query_done(&q);
}

/* The first of a request's rows; `wait_count`: there is none. */
static size_t waits_of(const struct building *b, uint64_t row)
{
    size_t low = 0, high = b->wait_count, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (b->waits[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->wait_count && b->waits[low].row == row ? low : b->wait_count;
}

/* ---- the steps of a request -------------------------------------------------------- */

static void add_step(struct building *b, enum mst_step_kind kind, size_t at, size_t end,
                     double seconds)
{
    struct mst_system *s = &b->r->system;

    if (!mst_grow(&s->steps, &b->step_room, s->step_count, sizeof *s->steps))
        mst_out_of_memory();
    s->steps[s->step_count++] = (struct mst_model_step){
        kind, (uint32_t)at, (uint32_t)end, seconds,
    };
    s->works[s->work_count - 1].count++;
}

static void compute(struct building *b, size_t cpus, size_t end, double seconds)
{
    add_step(b, MST_STEP_COMPUTE, cpus, end, seconds);
}

static void wait_for(struct building *b, size_t end, double seconds)
{
    if (seconds > 0)
        add_step(b, MST_STEP_WAIT, 0, end, seconds);
}

/* Whether it is a lock that lets in one at a time. */
static bool is_lock(const struct building *b, size_t end)
{
    return b->sums[end].gate != 0 && strcmp(b->r->system.ends[end].kind, "lock") == 0;
}

static double part(const struct mst_walked *w, enum mst_part which)
{
    return (double)w->split.parts_ns[which] / (double)MST_NS_PER_S;
}

/* A named wait, and what the other end computes for it where it is on this machine. */
static void add_wait(struct building *b, size_t end, double seconds)
{
    const struct end_sum *sum = &b->sums[end];

    if (sum->gate != 0) {
        add_step(b, MST_STEP_ENTER, sum->gate, end, 0);
        wait_for(b, end, sum->inside);
        add_step(b, MST_STEP_LEAVE, sum->gate, end, 0);
    } else {
        compute(b, 0, end, seconds);
        wait_for(b, end, seconds);
    }
}

/* A part of what PHP does for a request, without its locks that let in one at a time. */
static void add_run(struct building *b, const struct mst_walked *w, size_t first, double share)
{
    double cpu = part(w, MST_PART_CPU) + part(w, MST_PART_COMPILE) + part(w, MST_PART_GC);
    size_t i;

    compute(b, b->php_cpus, MST_END_PHP, cpu * share / 2);
    for (i = first; i < b->wait_count && b->waits[i].row == w->php_row; i++)
        if (b->waits[i].end != SIZE_MAX && !is_lock(b, b->waits[i].end))
            add_wait(b, b->waits[i].end, b->waits[i].seconds * share);
    wait_for(b, MST_END_PHP, part(w, MST_PART_REST) * share);
    compute(b, b->php_cpus, MST_END_PHP, cpu * share / 2);
}

/* The lock among a request's waits; SIZE_MAX: there is none. */
static size_t lock_of(const struct building *b, const struct mst_walked *w, size_t first)
{
    size_t i;

    for (i = first; i < b->wait_count && b->waits[i].row == w->php_row; i++)
        if (b->waits[i].end != SIZE_MAX && is_lock(b, b->waits[i].end))
            return b->waits[i].end;
    return SIZE_MAX;
}

/* A lock is held while the script does something else: as much of its work lies inside as takes
 * the time for which each request has the lock. */
static void add_locked_run(struct building *b, const struct mst_walked *w, size_t first,
                           size_t lock)
{
    double inside = b->sums[lock].inside, work = b->unlocked;
    double share = work > inside ? inside / work : 1;

    add_step(b, MST_STEP_ENTER, b->sums[lock].gate, lock, 0);
    add_run(b, w, first, share);
    wait_for(b, lock, inside - work);
    add_step(b, MST_STEP_LEAVE, b->sums[lock].gate, lock, 0);
    if (share < 1)
        add_run(b, w, first, 1 - share);
}

static void add_php(struct building *b, const struct mst_walked *w)
{
    size_t first = waits_of(b, w->php_row), lock = lock_of(b, w, first);
    size_t gate = first < b->wait_count ? b->waits[first].gate : SIZE_MAX;
    bool has_gate = b->has_php_gate && gate != SIZE_MAX;

    b->php_seconds += part(w, MST_PART_CPU) + part(w, MST_PART_COMPILE) + part(w, MST_PART_GC);
    b->php_cpu_wait += part(w, MST_PART_CPU_WAIT);
    b->php_requests++;
    if (has_gate)
        add_step(b, MST_STEP_ENTER, gate, 0, 0);
    else
        wait_for(b, MST_END_PHP, part(w, MST_PART_PHP_WAIT));
    compute(b, b->php_cpus, MST_END_PHP_ITSELF, 1);
    wait_for(b, MST_END_PHP_ITSELF, 1);
    if (lock != SIZE_MAX)
        add_locked_run(b, w, first, lock);
    else
        add_run(b, w, first, 1);
    if (has_gate)
        add_step(b, MST_STEP_LEAVE, gate, 0, 0);
}

static void add_backend(struct building *b, size_t end, double seconds)
{
    b->sums[end].seconds += seconds;
    b->sums[end].requests++;
    add_wait(b, end, seconds);
}

static void add_front(struct building *b, const struct mst_walked *w)
{
    double own = part(w, MST_PART_READ) + part(w, MST_PART_CHECKS) + part(w, MST_PART_HANDLE) +
                 part(w, MST_PART_SEND) + part(w, MST_PART_TLS);
    double backend = part(w, MST_PART_BACKEND);

    /* What PHP's time does not explain of Apache's wait for it is work of both. */
    if (w->has_php)
        own += backend;
    if (!mst_grow(&b->r->own, &b->own_room, b->r->own_count, sizeof own))
        mst_out_of_memory();
    b->r->own[b->r->own_count++] = own;
    compute(b, b->front_cpus, MST_END_SERVER, 0.5);
    wait_for(b, MST_END_SERVER, own);
    wait_for(b, MST_END_CLIENT, part(w, MST_PART_UPLOAD) + part(w, MST_PART_H2_WAIT));
    if (w->has_php)
        add_php(b, w);
    else if (backend > 0)
        add_backend(b, find_end(b, "backend", w->handler), backend);
    wait_for(b, MST_END_CLIENT, part(w, MST_PART_SEND_CLIENT) + part(w, MST_PART_SEND_NETWORK) +
                                part(w, MST_PART_SEND_SERVER));
    compute(b, b->front_cpus, MST_END_SERVER, 0.5);
}

static bool take_request(void *context, const struct mst_walked *w)
{
    struct building *b = context;
    struct mst_model_run *r = b->r;
    struct mst_system *s = &r->system;
    uint64_t n = r->front->requests;

    if (!mst_walked_counts(w))
        return true;
    if (mst_values_add(&b->starts, w->start_ns) != 0)
        mst_out_of_memory();
    b->seen++;
    if (n > REQUESTS_MOST && b->seen * REQUESTS_MOST / n == (b->seen - 1) * REQUESTS_MOST / n)
        return true;
    if (!mst_grow(&s->works, &b->work_room, s->work_count, sizeof *s->works))
        mst_out_of_memory();
    s->works[s->work_count++] = (struct mst_work){ s->step_count, 0 };
    compute(b, 0, MST_END_KERNEL, 1);
    add_step(b, MST_STEP_ENTER, 0, 0, 0);
    if (mst_summary_is_php(r->front))
        add_php(b, w);
    else
        add_front(b, w);
    wait_for(b, MST_END_SERVER_ITSELF, 1);
    add_step(b, MST_STEP_LEAVE, 0, 0, 0);
    add_step(b, MST_STEP_WAIT, 0, MST_END_OUTSIDE, 1);
    if (r->tool_gate != SIZE_MAX) {
        add_step(b, MST_STEP_ENTER, r->tool_gate, 0, 0);
        compute(b, 0, MST_END_TOOL, 1);
        add_step(b, MST_STEP_LEAVE, r->tool_gate, 0, 0);
    }
    return true;
}

/* ---- gates and CPUs ---------------------------------------------------------------- */

static void add_workers(struct mst_model_run *r, const struct mst_summary_server *server,
                        const struct mst_summary_pool *pool)
{
    bool is_php = mst_summary_is_php(server);
    uint64_t limit = pool != NULL ? pool->workers_limit : server->workers_limit;
    const char *label = pool != NULL ? pool->label : server->pool_count == 1 ?
                        server->pools[0].label : NULL;
    struct mst_model_workers *w;
    size_t gate;

    gate = add_gate(r, !is_php ? "apache-workers" : pool == NULL ? "php-workers" :
                    mst_pool_printf(r->pool, "php-workers %s", pool->label), limit);
    w = mst_pool_append(r->pool, &r->workers, &r->workers_count, sizeof *w);
    *w = (struct mst_model_workers){ gate, is_php ? "pm.max_children" : "MaxRequestWorkers", server,
                                     pool, is_php ? label : NULL };
}

/* What stands in the server's files, of an FPM in a pool's section; MST_UNKNOWN. */
static uint64_t setting(struct building *b, const struct mst_model_workers *w, const char *name)
{
    static const char sql[] = "SELECT CAST(value AS INTEGER) AS number FROM settings WHERE "
                              "server_id = :id AND name = :name AND coalesce(section, '') = "
                              ":section AND value IS NOT NULL";
    struct mst_query q = mst_query_ask(b->r->db, sql, w->server->id);
    uint64_t number;

    mst_query_set_text(&q, ":name", name);
    mst_query_set_text(&q, ":section", w->settings != NULL ? w->settings : "");
    number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;
    b->failed |= !mst_query_done(&q);
    return number;
}

static bool is_dynamic(struct building *b, const struct mst_model_workers *w)
{
    static const char sql[] = "SELECT 1 AS one FROM settings WHERE server_id = :id AND "
                              "name = 'pm' AND section = :section AND value = 'dynamic'";
    struct mst_query q = mst_query_ask(b->r->db, sql, w->server->id);
    bool found;

    mst_query_set_text(&q, ":section", w->settings != NULL ? w->settings : "");
    found = mst_query_next(&q);
    b->failed |= !mst_query_done(&q);
    return found;
}

/* The workers that were there when the load began; 0: it is not known. */
static uint64_t workers_at_start(struct building *b, const struct mst_summary_server *server)
{
    static const char sql[] = "SELECT idle + reading + handling + sending + keepalive + closing + "
                              "coalesce(logging, 0) AS number FROM samples WHERE server_id = :id "
                              "AND idle IS NOT NULL ORDER BY time_ns LIMIT 1";
    struct mst_query q = mst_query_ask(b->r->db, sql, server->id);
    uint64_t number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;

    b->failed |= !mst_query_done(&q);
    return mst_known(number);
}

/* How the server starts processes under load. The defaults are those of httpd and of FPM. */
static void make_growth(struct building *b, const struct mst_model_workers *w)
{
    struct mst_gate *gate = &b->r->system.gates[w->gate];
    bool is_php = mst_summary_is_php(w->server), threaded = mst_summary_is_threaded(w->server);
    uint64_t start = workers_at_start(b, w->server);

    if (start == 0 || start >= gate->limit || !mst_query_has_table(b->r->db, "settings") ||
        (is_php && (w->pool != NULL || !is_dynamic(b, w))))
        return;
    if (is_php)
        gate->growth = (struct mst_growth){
            .start = (uint32_t)start, .unit = 1, .missing = true,
            .min_spare = or_default(setting(b, w, "pm.min_spare_servers"), 1),
            .max_spare = or_default(setting(b, w, "pm.max_spare_servers"), 1),
            .most = or_default(setting(b, w, "pm.max_spawn_rate"), 32),
        };
    else
        gate->growth = (struct mst_growth){
            .start = (uint32_t)start, .most = 32,
            .unit = threaded ? or_default(setting(b, w, "ThreadsPerChild"), 25) : 1,
            .min_spare = threaded ? or_default(setting(b, w, "MinSpareThreads"), 75) :
                                    or_default(setting(b, w, "MinSpareServers"), 5),
            .max_spare = threaded ? or_default(setting(b, w, "MaxSpareThreads"), 250) :
                                    or_default(setting(b, w, "MaxSpareServers"), 10),
        };
}

/* An FPM's workers are a gate; those of mod_php are Apache's, and CGI has one for each request. */
static bool has_gate(const struct mst_summary_server *php)
{
    return php->sapi_kind == MST_SAPI_FPM && php->workers_limit != MST_UNKNOWN;
}

static void make_gates(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *php = r->php;
    size_t i;

    if (!mst_summary_is_php(r->front)) {
        add_workers(r, r->front, NULL);
        r->system.gates[0].backlog = or_default(r->front->listen_queue_limit, 0);
    } else {
        add_gate(r, "", ALWAYS);    /* of a PHP alone; its own gates follow */
    }
    b->has_php_gate = php != NULL && has_gate(php);
    if (!b->has_php_gate)
        return;
    if (php->pool_count <= 1)
        add_workers(r, php, NULL);
    for (i = 0; php->pool_count > 1 && i < php->pool_count; i++)
        if (php->pools[i].requests > 0)
            add_workers(r, php, &php->pools[i]);
}

/* The CPUs that a group's limit leaves a server; those of the machine where there is none. */
static size_t cpus_of(struct mst_model_run *r, const struct mst_summary_server *server)
{
    uint64_t limit = server->resources.group_cpu_limit_milli;

    if (limit == MST_UNKNOWN || r->summary->cpus == MST_UNKNOWN ||
        limit >= 1000 * r->summary->cpus)
        return 0;
    return add_cpus(r, mst_pool_printf(r->pool, "cpu for %s", mst_summary_called(server)),
                    (double)limit / 1000);
}

/* CPU time of programs that have nothing to do with the load, and what other machines took. */
static double taken_by_others(const struct mst_summary *s, double seconds)
{
    double taken = or_zero((double)mst_known(s->machine_stolen_milli)) / 1000 * (double)s->cpus;
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner != MST_PROC_SERVER && s->programs[i].owner != MST_PROC_TOOL)
            taken += or_zero(in_seconds(s->programs[i].cpu_ns)) / seconds;
    return taken;
}

static void make_cpus(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary *s = r->summary;
    bool known = s->cpus != MST_UNKNOWN && s->machine_busy_milli != MST_UNKNOWN && r->front->local;

    r->cpus = known ? (double)s->cpus : NAN;
    r->cpus_taken = known ? taken_by_others(s, in_seconds(s->duration_ns)) : NAN;
    add_cpus(r, "cpu", known ? fmax(r->cpus - r->cpus_taken, r->cpus / 10) : INFINITY);
    b->front_cpus = cpus_of(r, r->front);
    b->php_cpus = b->front_cpus;
    if (r->php != NULL && r->php != r->front && b->has_php_gate)
        b->php_cpus = r->php->cgroup != NULL && r->front->cgroup != NULL &&
                      strcmp(r->php->cgroup, r->front->cgroup) == 0 ? b->front_cpus :
                      cpus_of(r, r->php);
}

/* ---- what cannot be seen of a single request --------------------------------------- */

/* CPU time that the servers' programs took beyond the recorded servers: a database on this
 * machine. */
static double others_cpu(const struct mst_summary *s)
{
    double servers = 0, programs = 0;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (!mst_summary_is_php(&s->servers[i]) || s->servers[i].sapi_kind == MST_SAPI_FPM)
            servers += or_zero(in_seconds(s->servers[i].cpu_ns));
    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner == MST_PROC_SERVER)
            programs += or_zero(in_seconds(s->programs[i].cpu_ns));
    return fmax(programs - servers, 0);
}

/* A load tool that ended before the programs were looked at is not among them. */
static double all_programs_cpu(const struct mst_summary *s)
{
    double all = 0, tool = 0;
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner == MST_PROC_TOOL)
            tool += or_zero(in_seconds(s->programs[i].cpu_ns));
        else
            all += or_zero(in_seconds(s->programs[i].cpu_ns));
    return all + fmax(tool, or_zero(in_seconds(s->tool_cpu_ns)));
}

/* Whether another program works while PHP waits for that end. */
static bool may_compute(const struct building *b, size_t end)
{
    const char *kind = b->r->system.ends[end].kind;

    return b->sums[end].gate == 0 && strcmp(kind, "sleep") != 0 && strcmp(kind, "lock") != 0;
}

/* A worker that always finds the next request waiting has so much time for each; what the request
 * itself does not take of it passes between two of them. Not known where there were not always as
 * many workers. */
static double turn_of(const struct mst_model_run *r, size_t gate, double rate, double waited,
                      double held)
{
    uint32_t limit = r->system.gates[gate].limit;

    if (limit == ALWAYS || r->system.gates[gate].growth.start > 0 || isnan(waited) ||
        isnan(held) || rate * waited < WAITING_MIN)
        return NAN;
    return fmax((double)limit / rate - held, 0);
}

static void find_turns(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *front = r->front, *php = r->php;
    double queue = in_seconds(front->phases[MST_PHASE_QUEUE].mean_ns);

    r->php_turn = r->front_turn = NAN;
    if (!mst_summary_is_php(front) && front->mpm != NULL && strcmp(front->mpm, "event") != 0 &&
        r->system.load.keepalive_timeout <= 0)
        r->front_turn = turn_of(r, 0, r->measured.rate, queue,
                                in_seconds(front->phases[MST_PHASE_TOTAL].mean_ns) - queue);
    if (b->has_php_gate && php->pool_count <= 1)
        r->php_turn = turn_of(r, r->workers[r->workers_count - 1].gate,
                              r->measured.rate * b->php_requests / (double)front->requests,
                              in_seconds(php->phases[MST_PHASE_PHP_WAIT].mean_ns),
                              in_seconds(php->phases[MST_PHASE_PHP_RUN].mean_ns));
}

/* Spreads what is known of processes over the requests. */
static void spread_cpu(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary *s = r->summary;
    struct mst_model_end *ends = r->system.ends;
    double n = (double)r->front->requests, own, php_own = 0, waits = 0, others, rest;
    size_t i;

    own = or_zero(in_seconds(r->front->cpu_ns));
    if (!mst_summary_is_php(r->front) && r->php != NULL && !b->has_php_gate)
        own -= b->php_seconds;    /* mod_php and CGI: PHP computes in Apache's processes */
    if (b->has_php_gate)
        php_own = or_zero(in_seconds(r->php->cpu_ns)) - b->php_seconds;
    if (mst_summary_is_php(r->front))
        own = 0;
    ends[MST_END_SERVER].compute_factor = fmax(own, 0) / n;
    ends[MST_END_PHP_ITSELF].compute_factor = b->php_requests > 0 ?
                                              fmax(php_own, 0) / b->php_requests : 0;
    ends[MST_END_TOOL].compute_factor = r->tool_gate != SIZE_MAX ? in_seconds(s->tool_cpu_ns) / n
                                                                 : 0;
    others = others_cpu(s);
    for (i = MST_END_FIXED_COUNT; i < r->system.end_count; i++)
        if (may_compute(b, i))
            waits += b->sums[i].seconds;
    for (i = MST_END_FIXED_COUNT; i < r->system.end_count; i++)
        ends[i].compute_factor = may_compute(b, i) && waits > 0 ? fmin(others / waits, 1) : 0;
    rest = isnan(r->cpus) ? 0 : (double)mst_cpu_worked_ns(s) / (double)MST_NS_PER_S -
                                all_programs_cpu(s);
    ends[MST_END_KERNEL].compute_factor = fmin(fmax(rest, 0) / n, KERNEL_MOST *
        (ends[MST_END_SERVER].compute_factor + ends[MST_END_TOOL].compute_factor));
    ends[MST_END_OUTSIDE].wait_factor = 0;
    r->php_stretch = b->php_seconds > 0 ? (b->php_seconds + b->php_cpu_wait) / b->php_seconds
                                        : NAN;
}

/* ---- ends that let in one at a time ------------------------------------------------ */

/* The findings' answer, of a kind of PHP's waits. */
static bool is_one_at_a_time(const struct mst_summary *s, const char *kind)
{
    static const struct { enum mst_code code; const char *kind; } kinds[] = {
#define MST_WAIT_PART(id, name, ...) { MST_CODE_##id, name },
#include "segment/parts.def"
    };
    size_t i, k, n;

    for (i = 0; i < s->finding_count; i++)
        for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (n = 0; kinds[k].code == s->findings[i].code &&
                        strcmp(kinds[k].kind, kind) == 0 && n < s->findings[i].number_count; n++)
                if (strcmp(s->findings[i].numbers[n].name, "one_at_a_time") == 0 &&
                    s->findings[i].numbers[n].value == 1)
                    return true;
    return false;
}

/* For how long a request has a lock. A request that comes while another one has it waits, so that
 * the part of the requests that waited is the part of the time in which one of the others had it.
 * Several locks of one name are like one that is held for a shorter time. */
static double lock_held(const struct building *b, const struct end_sum *lock)
{
    const struct mst_summary_server *php = b->r->php;
    double at_once = or_zero((double)php->mean_busy_milli / 1000);
    double rate = (double)php->requests / b->r->seconds;

    if (php->mean_busy_milli == MST_UNKNOWN || at_once < AT_ONCE_MIN)
        return 0;
    return fmin((double)lock->long_ones / (double)php->requests * at_once / (at_once - 1), 1) /
           rate;
}

/* An end that lets in one at a time, and has always one inside: the time of each is the load's
 * divided by their number. */
static void make_serial_ends(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_interval *parts = r->php != NULL ? r->php->parts : NULL;
    struct mst_model_end *end;
    bool is_lock, is_full;
    size_t i;

    for (i = MST_END_FIXED_COUNT; i < r->system.end_count; i++) {
        end = &r->system.ends[i];
        is_lock = strcmp(end->kind, "lock") == 0;
        is_full = is_one_at_a_time(r->summary, end->kind);
        if (b->sums[i].requests == 0 || (!is_full && !is_lock) ||
            (!is_full && lock_held(b, &b->sums[i]) <= 0))
            continue;
        b->sums[i].gate = add_gate(r, end->called, 1);
        b->sums[i].inside = !is_full ? lock_held(b, &b->sums[i]) :
            fmin(r->seconds, b->sums[i].seconds) / (double)b->sums[i].requests;
    }
    if (r->php != NULL)
        b->unlocked = or_zero(in_seconds(r->php->phases[MST_PHASE_PHP_RUN].mean_ns)) -
                      or_zero(in_seconds(parts[MST_PART_LOCK].times.mean_ns)) -
                      or_zero(in_seconds(parts[MST_PART_CPU_WAIT].times.mean_ns));
}

/* ---- the load ---------------------------------------------------------------------- */

static double first_known(uint64_t a, uint64_t b)
{
    return a != MST_UNKNOWN ? in_seconds(a) : in_seconds(b);
}

static void measure(struct mst_model_run *r)
{
    const struct mst_summary_client *c = &r->summary->client;
    const struct mst_summary_times *total = &r->front->phases[MST_PHASE_TOTAL];

    r->by_client = c->known && c->times.p50_ns != MST_UNKNOWN && !c->corrected;
    r->step = r->by_client ? or_zero(in_seconds(c->time_step_ns)) : 0;
    r->measured.rate = (double)mst_summary_rate_milli(r->summary, r->front) / 1000;
    if (r->by_client)
        r->measured = (struct mst_measured){
            r->measured.rate, first_known(c->times.mean_ns, total->mean_ns),
            in_seconds(mst_summary_percentile(&c->times, MST_P50)),
            in_seconds(mst_summary_percentile(&c->times, MST_P90)),
            in_seconds(mst_summary_percentile(&c->times, MST_P95)),
            in_seconds(mst_summary_percentile(&c->times, MST_P99)),
        };
    else
        r->measured = (struct mst_measured){
            r->measured.rate, in_seconds(total->mean_ns),
            in_seconds(mst_summary_percentile(total, MST_P50)),
            in_seconds(mst_summary_percentile(total, MST_P90)),
            in_seconds(mst_summary_percentile(total, MST_P95)),
            in_seconds(mst_summary_percentile(total, MST_P99)),
        };
}

/* Prefork's and worker's connections keep a worker while they are idle. */
static bool make_keepalive(struct mst_model_run *r)
{
    static const char sql[] = "SELECT count(*) AS number FROM server_requests WHERE "
                              "server_id = :id AND ghost = 0 AND nth = 0";
    static const char timeout[] = "SELECT CAST(value AS REAL) AS seconds FROM settings WHERE "
                                  "server_id = :id AND name = 'KeepAliveTimeout'";
    struct mst_model_load *load = &r->system.load;
    const char *mpm = r->front->mpm;
    struct mst_query q;
    double connections, seconds = 0;

    if (mpm == NULL || strcmp(mpm, "event") == 0)
        return true;
    q = mst_query_ask(r->db, sql, r->front->id);
    connections = mst_query_next(&q) ? mst_row_real(&q, "number") : 0;
    if (!mst_query_done(&q))
        return false;
    if (mst_query_has_table(r->db, "settings")) {
        q = mst_query_ask(r->db, timeout, r->front->id);
        seconds = mst_query_next(&q) ? mst_row_real(&q, "seconds") : 0;
        if (!mst_query_done(&q))
            return false;
    }
    if (connections > 0 && (double)r->front->requests > 1.05 * connections) {
        load->requests_a_connection = (double)r->front->requests / connections;
        load->keepalive_timeout = seconds > 0 ? seconds : DEFAULT_TIMEOUT;
    }
    return true;
}

/* How much longer a request takes for the client than for the server: where it is known of each
 * request, else of their middle. A mean has the time in which the load begins and ends, too. */
static double outside_of(const struct mst_model_run *r)
{
    const struct mst_summary_client *c = &r->summary->client;

    if (c->join.by != MST_JOIN_NONE && c->join.apart.count > 0)
        return in_seconds(c->join.apart.p50_ns);
    return fmax(or_zero(r->measured.p50 - in_seconds(r->front->phases[MST_PHASE_TOTAL].p50_ns)), 0);
}

static void make_load(struct building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_client *c = &r->summary->client;
    struct mst_model_load *load = &r->system.load;
    double *gaps, cycle, ends;
    size_t i;

    r->outside_most = r->by_client ? outside_of(r) : 0;
    load->rate = r->measured.rate;
    mst_values_sort(&b->starts);
    gaps = apr_palloc(r->pool, (b->starts.count + 1) * sizeof *gaps);
    for (i = 1; i < b->starts.count; i++)
        gaps[i - 1] = in_seconds(b->starts.items[i] - b->starts.items[i - 1]);
    load->gaps = gaps;
    load->gap_count = b->starts.count > 0 ? b->starts.count - 1 : 0;
    load->arrivals = MST_ARRIVALS_RECORDED;
    if (!c->known || c->concurrency == MST_UNKNOWN || c->concurrency == 0 ||
        c->concurrency > CLIENTS_MOST)
        return;
    load->arrivals = MST_ARRIVALS_CLOSED;
    load->clients = (uint32_t)c->concurrency;
    cycle = (double)load->clients / r->measured.rate;
    /* As the load ends, each client has a request that is half done, or none to do any more. */
    ends = r->measured.mean / 2 * load->clients / (double)r->front->requests;
    load->think = fmax(cycle - r->measured.mean - ends, 0);
    /* Of kept connections, the workers tell: what waits for a kept worker when the load ends has
     * no answer, and is in no mean. */
    if (load->keepalive_timeout > 0 &&
        r->front->mean_state_milli[MST_STATE_KEEPALIVE] != MST_UNKNOWN)
        load->think = (double)r->front->mean_state_milli[MST_STATE_KEEPALIVE] / 1000 /
                      r->measured.rate;
}

/* ---- all of it --------------------------------------------------------------------- */

/* Makes the pool's what grew outside of it. */
static void keep(struct mst_model_run *r)
{
    struct mst_system *s = &r->system;
    struct mst_model_step *steps = s->steps;
    struct mst_work *works = s->works;
    double *own;

    s->steps = apr_pmemdup(r->pool, steps, s->step_count * sizeof *steps);
    s->works = apr_pmemdup(r->pool, works, s->work_count * sizeof *works);
    free(steps);
    free(works);
    own = r->own;
    r->own = apr_pmemdup(r->pool, own, r->own_count * sizeof *own);
    free(own);
}

static const char *why_not(const struct mst_summary *s, const struct mst_summary_server *front)
{
    uint64_t made = mst_summary_made(&s->client), failed = mst_summary_failures(&s->client);

    if (front == NULL || front->requests == 0)
        return "no server had requests in it";
    if (s->need_count > 0)
        return "its load went to several servers";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < MST_SIZING_RUN_MIN_NS)
        return "it was shorter than two seconds, or did not come to its end";
    if (front->requests < REQUESTS_MIN)
        return "it has fewer than 100 requests";
    if (s->client.known && made != MST_UNKNOWN && failed * 1000 > made * FAILED_MOST)
        return "more than a twentieth of its requests failed";
    if (mst_summary_rate_milli(s, front) == 0 || mst_summary_rate_milli(s, front) == MST_UNKNOWN)
        return "its rate is not known";
    if (front->lost != 0)
        return "records of requests were lost, or it is not known how many";
    return NULL;
}

bool mst_model_run_make(struct mst_model_run *r, const struct mst_summary *s, sqlite3 *db,
                       apr_pool_t *pool)
{
    static const char *const fixed[MST_END_FIXED_COUNT] = {
        [MST_END_SERVER] = "server", [MST_END_PHP] = "php", [MST_END_PHP_ITSELF] = "php itself",
        [MST_END_SERVER_ITSELF] = "server itself",
        [MST_END_CLIENT] = "client", [MST_END_TOOL] = "load tool", [MST_END_OUTSIDE] = "outside",
        [MST_END_KERNEL] = "kernel",
    };
    struct building b = { .r = r };
    bool fine = true;
    size_t i;

    *r = (struct mst_model_run){ .pool = pool, .db = db, .summary = s, .tool_gate = SIZE_MAX };
    r->front = mst_summary_front(s);
    r->why_not = why_not(s, r->front);
    if (r->why_not != NULL)
        return true;
    r->php = mst_summary_behind(s);
    r->seconds = in_seconds(mst_summary_under_load_ns(s, r->front));
    measure(r);
    for (i = 0; i < MST_END_FIXED_COUNT; i++)
        add_end(&b, fixed[i], "");
    make_gates(&b);
    for (i = 0; i < r->workers_count; i++)
        make_growth(&b, &r->workers[i]);
    make_cpus(&b);
    if (s->client.tool != NULL && s->tool_cpu_ns != MST_UNKNOWN && r->front->local)
        r->tool_gate = add_gate(r, "load tool", s->tool_threads != MST_UNKNOWN &&
                                s->tool_threads > 0 ? s->tool_threads : ALWAYS);
    fine = r->php == NULL || read_waits(&b);
    make_serial_ends(&b);
    fine = fine && mst_requests_read(s, db, r->front, take_request, &b, NULL) && make_keepalive(r);
    if (fine && r->system.work_count < REQUESTS_MIN) {
        r->why_not = "it has fewer than 100 requests";
    } else if (fine) {
        make_load(&b);
        spread_cpu(&b);
        find_turns(&b);
    }
    keep(r);
    free(b.waits);
    mst_values_free(&b.starts);
    return fine && !b.failed;
}

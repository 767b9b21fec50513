/* limits.c - how many requests a recorded system lets in at a time, and its CPUs: building.h. */
#include <string.h>

#include "analysis/configured.h"
#include "base/saturate.h"
#include "memory/pool.h"
#include "model/building.h"

/* ---- CPUs -------------------------------------------------------------------------- */

static size_t add_cpus(struct mst_model_run *r, const char *name, double count)
{
    struct mst_cpus *cpus = mst_pool_append(r->pool, &r->system.cpus, &r->system.cpus_count,
                                            sizeof *cpus);

    *cpus = (struct mst_cpus){ name, count };
    return r->system.cpus_count - 1;
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

/* Servers on other machines are loaded by a tool that has CPUs of its own. */
static bool are_local(const struct mst_model_run *r)
{
    bool local = true;
    size_t i;

    for (i = 0; i < r->server_count; i++)
        local = local && r->servers[i].front->local;
    return local;
}

/* CPU time of programs that have nothing to do with the load, and what other machines took. */
static double taken_by_others(const struct mst_summary *s, double seconds)
{
    double taken = mst_or_zero((double)mst_known(s->machine_stolen_milli)) / 1000 * (double)s->cpus;
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner != MST_PROC_SERVER && s->programs[i].owner != MST_PROC_TOOL)
            taken += mst_or_zero(mst_in_seconds(s->programs[i].cpu_ns)) / seconds;
    return taken;
}

void mst_building_make_cpus(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary *s = r->summary;
    bool known = s->cpus != MST_UNKNOWN && s->machine_busy_milli != MST_UNKNOWN && are_local(r);

    r->cpus = known ? (double)s->cpus : NAN;
    r->cpus_taken = known ? taken_by_others(s, mst_in_seconds(s->duration_ns)) : NAN;
    add_cpus(r, "cpu", known ? fmax(r->cpus - r->cpus_taken, r->cpus / 10) : INFINITY);
}

static void make_quotas(struct mst_building *b)
{
    const struct mst_summary_server *front = b->at->front, *php = b->at->php;

    b->front_cpus = b->php_cpus = cpus_of(b->r, front);
    if (php != NULL && php != front && b->has_php_gate)
        b->php_cpus = php->cgroup != NULL && front->cgroup != NULL &&
                      strcmp(php->cgroup, front->cgroup) == 0 ? b->front_cpus :
                      cpus_of(b->r, php);
}

/* ---- gates ------------------------------------------------------------------------- */

size_t mst_model_add_gate(struct mst_model_run *r, const char *name, uint64_t limit)
{
    struct mst_gate *gate = mst_pool_append(r->pool, &r->system.gates, &r->system.gate_count,
                                            sizeof *gate);

    gate->name = name;
    gate->limit = limit < MST_ALWAYS ? (uint32_t)limit : MST_ALWAYS;
    gate->front = r->system.front_count - 1;
    return r->system.gate_count - 1;
}

/* Of several servers it says whose it is: "php-workers shop of web1#php". */
static const char *name_of(struct mst_model_run *r, const char *what, const char *pool,
                           const struct mst_summary_server *server)
{
    bool alone = r->server_count == 1;

    return mst_pool_printf(r->pool, "%s%s%s%s%s", what, pool[0] != '\0' ? " " : "", pool,
                           alone ? "" : " of ", alone ? "" : mst_summary_called(server));
}

static void add_workers(struct mst_model_run *r, const struct mst_summary_server *server,
                        const struct mst_summary_pool *pool)
{
    bool is_php = mst_summary_is_php(server);
    uint64_t limit = pool != NULL ? pool->workers_limit : server->workers_limit;
    const char *label = pool != NULL ? pool->label : server->pool_count == 1 ?
                        server->pools[0].label : NULL;
    struct mst_model_workers *w;
    size_t gate;

    gate = mst_model_add_gate(r, name_of(r, is_php ? "php-workers" : "apache-workers",
                                         pool != NULL ? pool->label : "", server), limit);
    w = mst_pool_append(r->pool, &r->workers, &r->workers_count, sizeof *w);
    *w = (struct mst_model_workers){ gate, is_php ? mst_fpm_names[MST_FPM_CHILDREN] :
                                     mst_mpm_directives[0][MST_MPM_WORKERS].name, server, pool,
                                     is_php ? label : NULL };
}

/* What stands in the server's files, of an FPM in a pool's section; an older archive has no such
 * table. */
static struct mst_query ask_setting(struct mst_building *b, const struct mst_model_workers *w,
                                    const char *name)
{
    return mst_configured_ask(b->r->db, w->server, w->settings != NULL ? w->settings : "", name,
                              NULL);
}

/* usual: where it is not known. */
static uint32_t setting(struct mst_building *b, const struct mst_model_workers *w, const char *name,
                        uint32_t usual)
{
    struct mst_query q = ask_setting(b, w, name);
    uint64_t number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;

    b->failed |= !mst_query_done(&q);
    return mst_or_default(number, usual);
}

static uint32_t mpm_setting(struct mst_building *b, const struct mst_model_workers *w,
                            enum mst_mpm_setting which)
{
    const struct mst_mpm_directive *d =
        &mst_mpm_directives[mst_summary_is_threaded(w->server)][which];

    return setting(b, w, d->name, (uint32_t)d->usual);
}

static bool is_dynamic(struct mst_building *b, const struct mst_model_workers *w)
{
    struct mst_query q = ask_setting(b, w, "pm");
    const char *pm = mst_query_next(&q) ? mst_row_text(&q, "value") : NULL;
    bool is = pm != NULL && strcmp(pm, mst_pm_names[MST_PM_DYNAMIC]) == 0;

    b->failed |= !mst_query_done(&q);
    return is;
}

/* The workers that were there when the load began; 0: it is not known. */
static uint64_t workers_at_start(struct mst_building *b, const struct mst_summary_server *server)
{
    static const char sql[] = "SELECT idle + reading + handling + sending + keepalive + closing + "
                              "coalesce(logging, 0) AS number FROM samples WHERE server_id = :id "
                              "AND idle IS NOT NULL ORDER BY time_ns LIMIT 1";
    struct mst_query q = mst_query_ask(b->r->db, sql, server->id);
    uint64_t number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;

    b->failed |= !mst_query_done(&q);
    return mst_known(number);
}

/* How the server starts processes under load. The defaults of pm.max_spawn_rate and of what httpd
 * starts at once at most are theirs. */
static void make_growth(struct mst_building *b, const struct mst_model_workers *w)
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
            .min_spare = setting(b, w, mst_fpm_names[MST_FPM_MIN_SPARE], 1),
            .max_spare = setting(b, w, mst_fpm_names[MST_FPM_MAX_SPARE], 1),
            .most = setting(b, w, "pm.max_spawn_rate", 32),
        };
    else
        gate->growth = (struct mst_growth){
            .start = (uint32_t)start, .most = 32,
            .unit = threaded ? mpm_setting(b, w, MST_MPM_THREADS) : 1,
            .min_spare = mpm_setting(b, w, MST_MPM_MIN_SPARE),
            .max_spare = mpm_setting(b, w, MST_MPM_MAX_SPARE),
        };
}

/* An FPM's workers are a gate; those of mod_php are Apache's, and CGI has one for each request. */
static bool has_gate(const struct mst_summary_server *php)
{
    return php->sapi_kind == MST_SAPI_FPM && php->workers_limit != MST_UNKNOWN;
}

static void make_php_gates(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *php = b->at->php;
    size_t i;

    b->has_php_gate = php != NULL && has_gate(php);
    if (b->has_php_gate && php->pool_count <= 1)
        add_workers(r, php, NULL);
    for (i = 0; b->has_php_gate && php->pool_count > 1 && i < php->pool_count; i++)
        if (php->pools[i].requests > 0)
            add_workers(r, php, &php->pools[i]);
}

void mst_building_make_gates(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *front = b->at->front;
    size_t first = r->workers_count, gate = r->system.gate_count, i;

    if (!mst_summary_is_php(front)) {
        add_workers(r, front, NULL);
        r->system.gates[gate].backlog = mst_or_default(front->listen_queue_limit, 0);
    } else {
        mst_model_add_gate(r, "", MST_ALWAYS);    /* of a PHP alone; its own gates follow */
    }
    r->system.fronts[r->system.front_count - 1].gate = (uint32_t)gate;
    make_php_gates(b);
    for (i = first; i < r->workers_count; i++)
        make_growth(b, &r->workers[i]);
    make_quotas(b);
}

void mst_building_make_tool_gate(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary *s = r->summary;

    if (s->client.tool == NULL || s->tool_cpu_ns == MST_UNKNOWN || !are_local(r))
        return;
    r->tool_gate = mst_model_add_gate(r, "load tool", s->tool_threads > 0 ? s->tool_threads
                                                                          : MST_ALWAYS);
    r->system.gates[r->tool_gate].front = SIZE_MAX;
}

/* recorded.c - see recorded.h. */
#include "model/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/kept.h"
#include "analysis/thresholds.h"
#include "memory/pool.h"
#include "model/building.h"

#define REQUESTS_MIN     100u     /* fewer tell too little of how requests differ */
#define FAILED_MOST      50u      /* in thousandths: the times of failed requests are not those of
                                   * answers */

static apr_status_t free_array(void *array)
{
    free(array);
    return APR_SUCCESS;
}

/* The pool frees what grew outside of it. */
static void keep(const struct mst_model_run *r)
{
    void *const arrays[] = { r->system.steps, r->system.works };
    size_t i;

    for (i = 0; i < sizeof arrays / sizeof *arrays; i++)
        apr_pool_cleanup_register(r->pool, arrays[i], free_array, apr_pool_cleanup_null);
    for (i = 0; i < r->server_count; i++)
        apr_pool_cleanup_register(r->pool, r->servers[i].own, free_array, apr_pool_cleanup_null);
}

/* ---- why a run cannot be simulated ------------------------------------------------- */

static const char *why_not(const struct mst_summary *s)
{
    uint64_t made = mst_summary_made(&s->client), failed = mst_summary_failures(&s->client);

    if (s->duration_ns == MST_UNKNOWN)
        return "its recording did not come to its end";
    if (s->duration_ns < MST_SIZING_RUN_MIN_NS)
        return "it was shorter than two seconds";
    if (s->client.known && made != MST_UNKNOWN && failed * 1000 > made * FAILED_MOST)
        return "more than a twentieth of its requests failed";
    return NULL;
}

static const char *why_not_server(const struct mst_summary *s,
                                  const struct mst_summary_server *front)
{
    if (front->requests < REQUESTS_MIN)
        return "it has fewer than 100 requests";
    if (mst_summary_rate_milli(s, front) == 0 || mst_summary_rate_milli(s, front) == MST_UNKNOWN)
        return "its rate is not known";
    if (front->lost != 0)
        return "records of requests were lost, or it is not known how many";
    return NULL;
}

static bool share_a_php(const struct mst_model_run *r)
{
    size_t i, k;

    for (i = 0; i < r->server_count; i++)
        for (k = 0; k < i; k++)
            if (r->servers[i].php != NULL && r->servers[i].php == r->servers[k].php)
                return true;
    return false;
}

/* What a system of several servers cannot have. */
static const char *why_not_together(const struct mst_building *b)
{
    const struct mst_model_run *r = b->r;
    size_t i;

    if (r->server_count < 2)
        return NULL;
    if (r->system.load.keepalive_timeout > 0)
        return "its load went to several servers, and idle connections keep workers of theirs: "
               "a recording of one server alone tells more";
    for (i = 0; i < r->system.end_count; i++)
        if (b->sums[i].is_full)
            return mst_pool_printf(r->pool, "its load went to several servers, and whether they "
                                   "share \"%s\", which lets in one request at a time, is not "
                                   "known: a recording of one server alone tells more",
                                   r->system.ends[i].called);
    return NULL;
}

/* A backend that computes in processes of Apache, where they all wait for CPUs, too: PHP measures
 * that wait, and nothing else does. */
static const char *why_not_backend(const struct mst_building *b)
{
    const struct mst_model_run *r = b->r;
    size_t i;

    if (!mst_cpu_is_full(r->summary))
        return NULL;
    for (i = 0; i < r->system.end_count; i++)
        if (b->sums[i].front_part > 0)
            return mst_pool_printf(r->pool, "its CPUs were full, and how much of the wait for "
                                   "\"%s\" is a wait for a CPU is not known: a recording with "
                                   "fewer clients tells more", r->system.ends[i].called);
    return NULL;
}

/* ---- the servers ------------------------------------------------------------------- */

static void find_servers(struct mst_model_run *r)
{
    const struct mst_summary *s = r->summary;
    const char *why = NULL;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *front = &s->servers[i];
        const struct mst_summary_server *php;
        struct mst_model_server *server;

        if (!mst_summary_is_served(s, front))
            continue;
        php = mst_summary_php_of(s, front);
        server = mst_pool_append(r->pool, &r->servers, &r->server_count, sizeof *server);
        *server = (struct mst_model_server){
            .front = front, .php = php != NULL && php->requests > 0 ? php : NULL,
        };
        r->requests += front->requests;
    }
    if (r->server_count == 0)
        r->why_not = "no server had requests in it";
    for (i = 0; i < r->server_count && r->why_not == NULL; i++) {
        why = why_not_server(s, r->servers[i].front);
        if (why != NULL)
            r->why_not = r->server_count == 1 ? why :
                mst_pool_printf(r->pool, "of its servers, %s cannot be simulated: %s",
                                mst_summary_called(r->servers[i].front), why);
    }
    if (r->why_not == NULL && share_a_php(r))
        r->why_not = "its load went to several servers that have one PHP behind them, or it is not "
                     "known whose that is: a recording of one server alone tells more";
}

/* The gates, ends and requests of one of them. */
static bool add_server(struct mst_building *b, struct mst_model_server *server)
{
    static const char *const own[MST_END_SERVER_COUNT] = {
        [MST_END_SERVER] = "server", [MST_END_PHP] = "php", [MST_END_PHP_ITSELF] = "php itself",
        [MST_END_SERVER_ITSELF] = "server itself",
    };
    struct mst_model_run *r = b->r;
    struct mst_front *front = mst_pool_append(r->pool, &r->system.fronts, &r->system.front_count,
                                              sizeof *front);
    bool fine;
    size_t i;

    *front = (struct mst_front){ .first_work = r->system.work_count };
    b->at = server;
    b->own_room = 0;
    b->php_seconds = b->php_requests = b->unlocked = 0;
    server->ends = r->system.end_count;
    for (i = 0; i < MST_END_SERVER_COUNT; i++)
        mst_building_add_end(b, own[i], "");
    mst_building_make_gates(b);
    if (server == r->servers)
        mst_building_make_tool_gate(b);
    fine = server->php == NULL || mst_building_read_waits(b);
    mst_building_make_serial_ends(b);
    fine = fine && mst_kept_walk(server->front->kept, mst_building_take, b) &&
           mst_building_make_keepalive(b);
    mst_building_spread_server_cpu(b);
    mst_building_find_turns(b);
    if (fine && front->work_count < REQUESTS_MIN)
        r->why_not = "it has fewer than 100 requests";
    return fine;
}

/* ---- all of it --------------------------------------------------------------------- */

static bool make(struct mst_building *b)
{
    static const char *const fixed[MST_END_FIXED_COUNT] = {
        [MST_END_CLIENT] = "client", [MST_END_TOOL] = "load tool", [MST_END_OUTSIDE] = "outside",
        [MST_END_KERNEL] = "kernel",
    };
    struct mst_model_run *r = b->r;
    bool fine = true;
    size_t i;

    for (i = 0; i < MST_END_FIXED_COUNT; i++)
        mst_building_add_end(b, fixed[i], "");
    mst_building_make_cpus(b);
    for (i = 0; i < r->server_count && fine; i++)
        fine = add_server(b, &r->servers[i]);
    if (r->why_not == NULL)
        r->why_not = why_not_together(b);
    if (r->why_not == NULL)
        r->why_not = why_not_backend(b);
    if (fine && r->why_not == NULL) {
        mst_building_measure(b);
        mst_building_make_load(b);
        mst_building_spread_cpu(b);
    }
    keep(r);
    return fine && !b->failed;
}

bool mst_model_run_make(struct mst_model_run *r, const struct mst_summary *s, sqlite3 *db,
                       apr_pool_t *pool)
{
    struct mst_building b = { .r = r };
    bool fine;

    *r = (struct mst_model_run){ .pool = pool, .db = db, .summary = s, .tool_gate = SIZE_MAX };
    find_servers(r);
    if (r->server_count > 0 && why_not(s) != NULL)
        r->why_not = why_not(s);
    if (r->why_not != NULL)
        return true;
    r->seconds = mst_in_seconds(mst_summary_under_load_ns(s, mst_summary_front(s)));
    fine = make(&b);
    free(b.waits);
    free(b.arrivals);
    mst_values_free(&b.totals);
    return fine;
}

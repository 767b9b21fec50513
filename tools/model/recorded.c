/* recorded.c - see recorded.h. */
#include "model/recorded.h"

#include <stdlib.h>
#include <string.h>

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
    void *const arrays[] = { r->system.steps, r->system.works, r->own };
    size_t i;

    for (i = 0; i < sizeof arrays / sizeof *arrays; i++)
        apr_pool_cleanup_register(r->pool, arrays[i], free_array, apr_pool_cleanup_null);
}

static const char *why_not(const struct mst_summary *s, const struct mst_summary_server *front)
{
    uint64_t made = mst_summary_made(&s->client), failed = mst_summary_failures(&s->client);

    if (front == NULL || front->requests == 0)
        return "no server had requests in it";
    if (s->need_count > 0)
        return "its load went to several servers";
    if (s->duration_ns == MST_UNKNOWN)
        return "its recording did not come to its end";
    if (s->duration_ns < MST_SIZING_RUN_MIN_NS)
        return "it was shorter than two seconds";
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
    struct mst_building b = { .r = r };
    bool fine = true;
    size_t i;

    *r = (struct mst_model_run){ .pool = pool, .db = db, .summary = s, .tool_gate = SIZE_MAX };
    r->front = mst_summary_front(s);
    r->why_not = why_not(s, r->front);
    if (r->why_not != NULL)
        return true;
    r->php = mst_summary_behind(s);
    r->seconds = mst_in_seconds(mst_summary_under_load_ns(s, r->front));
    mst_building_measure(r);
    for (i = 0; i < MST_END_FIXED_COUNT; i++)
        mst_building_add_end(&b, fixed[i], "");
    mst_building_make_gates(&b);
    mst_building_make_cpus(&b);
    fine = r->php == NULL || mst_building_read_waits(&b);
    mst_building_make_serial_ends(&b);
    fine = fine && mst_kept_walk(r->front->kept, mst_building_take, &b) &&
           mst_building_make_keepalive(r);
    if (fine && r->system.work_count < REQUESTS_MIN) {
        r->why_not = "it has fewer than 100 requests";
    } else if (fine) {
        mst_building_make_load(&b);
        mst_building_spread_cpu(&b);
        mst_building_find_turns(&b);
    }
    keep(r);
    free(b.waits);
    mst_values_free(&b.starts);
    return fine && !b.failed;
}

/* capacity_levels.c - see capacity_levels.h. */
#include "cli/capacity_levels.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "archive/states.h"
#include "cli/record_runs.h"
#include "console/diag.h"
#include "findings/findings.h"
#include "model/change.h"
#include "model/enough.h"
#include "render/figures.h"

#define FAILED_MILLI 10u    /* a level at which more than 10 of 1000 answers fail is too high */
#define DONE         0.9    /* a level is too high where the server does less than this part of
                             * the requests that the load asks for */
#define AT_SERVERS   0.5    /* such a part of the clients has a request at the servers on average,
                             * or their time passes elsewhere */
#define NAME         "capacity "
#define AGAIN        " again"

const char *mst_capacity_name(apr_pool_t *pool, bool by_rate, uint64_t at, bool again)
{
    const char *behind = again ? AGAIN : "";

    if (by_rate)
        return mst_pool_printf(pool, NAME "%" PRIu64 "/s%s", at, behind);
    return mst_pool_printf(pool, NAME "%s%s", mst_capacity_clients(pool, at), behind);
}

/* ---- a run in numbers ------------------------------------------------------------ */

/* By the load tool's times of the single requests. A tool's own table lacks percentiles, or has
 * times in it that were not measured: then by the servers that it talks to, the slowest one. */
static void read_times(struct mst_capacity_run *run, const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    enum mst_percentile p;
    uint64_t ns;
    size_t i;

    for (p = 0; p < MST_PERCENTILE_COUNT; p++) {
        run->times_ns[p] = MST_UNKNOWN;
        if (s->client.times.count > 0 && !s->client.corrected) {
            run->times_ns[p] = mst_summary_percentile(&s->client.times, p);
            continue;
        }
        for (i = 0; i < s->server_count; i++) {
            if (mst_summary_is_php(&s->servers[i]) != mst_summary_is_php(front))
                continue;
            ns = mst_summary_percentile(&s->servers[i].phases[MST_PHASE_TOTAL], p);
            if (s->servers[i].requests > 0 && ns != MST_UNKNOWN &&
                (run->times_ns[p] == MST_UNKNOWN || ns > run->times_ns[p]))
                run->times_ns[p] = ns;
        }
    }
}

/* By either side, whichever knows of more: errors, and requests without an answer. Redirects are
 * answers. */
static void read_failures(struct mst_capacity_run *run, const struct mst_summary *s)
{
    const struct mst_summary_all all = mst_summary_fronts(s);
    uint64_t client = s->client.known ? mst_summary_failures(&s->client) : 0;

    client -= all.redirects < client ? all.redirects : client;
    run->failed = all.errors_4xx + all.errors_5xx;
    run->failed = client > run->failed ? client : run->failed;
    run->requests = mst_summary_made(&s->client);
    if (run->requests == MST_UNKNOWN || run->requests < run->failed)
        run->requests = all.requests > run->failed ? all.requests : run->failed;
}

/* What ran out, where that explains enough and does not follow from something else; or else, and
 * where answers fail, the first finding. */
static void read_finding(apr_pool_t *pool, struct mst_capacity_run *run,
                         const struct mst_summary *s, enum mst_level_is is)
{
    const struct mst_finding *f = s->findings;
    size_t i;

    if (s->finding_count == 0)
        return;
    for (i = is == MST_LEVEL_FAILED ? 0 : s->finding_count; i-- > 0;)
        if (mst_code_ran_out(s->findings[i].code) && !s->findings[i].caused_by.known &&
            s->findings[i].weight >= MST_HEADLINE_MILLI)
            f = &s->findings[i];
    run->code = f->code;
    run->has_finding = true;
    run->text = apr_pstrdup(pool, f->text);
    run->action = apr_pstrdup(pool, f->action);
}

/* Requests that the servers have at once on average, those in their accept queues among them
 * (Little's law). PHP alone does not know of those that wait for it. A queue that overflowed is the
 * server's. */
static void find_elsewhere(apr_pool_t *pool, const struct mst_capacity_levels *l,
                           struct mst_capacity_run *run, const struct mst_summary *s,
                           uint64_t clients)
{
    const struct mst_summary_all all = mst_summary_fronts(s);
    double at_once = (double)all.rate_milli / 1000 *
                     ((double)all.phases[MST_PHASE_TOTAL].mean_ns / MST_NS_PER_S);

    run->elsewhere = !l->command->by_rate && all.requests > 0 &&
                     !mst_summary_is_php(mst_summary_front(s)) &&
                     s->checks[MST_CHECK_ACCEPT_QUEUE].ok != MST_ANSWER_NO &&
                     at_once < AT_SERVERS * (double)clients &&
                     !(run->has_finding && mst_code_ran_out(run->code));
    if (!run->elsewhere || (run->has_finding && run->code == MST_CODE_CLIENT_BEYOND_SERVER))
        return;
    run->code = MST_CODE_CLIENT_BEYOND_SERVER;
    run->has_finding = true;
    run->text = mst_pool_printf(pool, "With %s, the servers had %s requests at once on average, in "
                                "their queues or at work. The rest of the time is the load tool's, "
                                "or of what is between it and them.",
                                mst_capacity_clients(pool, clients), mst_format_real(at_once).text);
    run->action = "Take another load tool, or one on another machine, and look at what is between "
                  "them (a proxy, the network).";
}

/* A load tool that only leaves the server idle between two requests makes more with more clients:
 * it is not the limit yet. */
static enum mst_level_is judge(const struct mst_capacity_levels *l, const struct mst_level *level,
                               const struct mst_capacity_run *run, const struct mst_summary *s)
{
    enum mst_percentile which;

    if (run->tool_failed || run->requests == 0 ||
        run->failed * 1000 > run->requests * FAILED_MILLI)
        return MST_LEVEL_FAILED;
    if (s->checks[MST_CHECK_GENERATOR].ok == MST_ANSWER_NO)
        return MST_LEVEL_TOOL;
    if (mst_slo_broken(l->slo, run, &which))
        return MST_LEVEL_BROKEN;
    if (l->command->by_rate && level->rate < DONE * (double)level->at)
        return MST_LEVEL_SHORT;
    return MST_LEVEL_GOOD;
}

/* A level that is measured again takes the place of the one before. */
static void put(struct mst_capacity_levels *l, const struct mst_level *level,
                const struct mst_capacity_run *run)
{
    size_t levels = l->count, i;

    for (i = 0; i < l->count && l->levels[i].at < level->at; i++)
        ;
    if (i == l->count || l->levels[i].at != level->at) {
        mst_pool_append(l->pool, &l->levels, &levels, sizeof *l->levels);
        mst_pool_append(l->pool, &l->runs, &l->count, sizeof *l->runs);
        memmove(&l->levels[i + 1], &l->levels[i], (l->count - 1 - i) * sizeof *l->levels);
        memmove(&l->runs[i + 1], &l->runs[i], (l->count - 1 - i) * sizeof *l->runs);
    }
    l->levels[i] = *level;
    l->runs[i] = *run;
}

static void take(struct mst_capacity_levels *l, uint64_t at, bool again,
                 const struct mst_summary *s, bool tool_failed)
{
    struct mst_level level = { .at = at };
    struct mst_capacity_run run = { .id = s->id, .tool_failed = tool_failed,
                                    .steady = s->checks[MST_CHECK_STEADY].ok };

    level.rate = (double)mst_summary_fronts(s).rate_milli / 1000;
    read_times(&run, s);
    read_failures(&run, s);
    level.is = judge(l, &level, &run, s);
    read_finding(l->pool, &run, s, level.is);
    if (level.is == MST_LEVEL_GOOD)
        find_elsewhere(l->pool, l, &run, s, at);
    l->again.known = again;
    if (again)
        l->again = (struct mst_capacity_again){ true, level, run };
    else
        put(l, &level, &run);
}

int mst_capacity_add(struct mst_capacity_levels *l, uint64_t at, bool again, int64_t run_id,
                     bool tool_failed)
{
    struct mst_summary s;
    int status = mst_record_summarise(&s, l->archive, run_id);

    if (status == MST_EXIT_OK && s.server_count == 0)
        status = mst_failed(MST_EXIT_TARGET, "run %" PRId64 " has no server: there is nothing to "
                            "measure", run_id);
    if (status == MST_EXIT_OK)
        take(l, at, again, &s, tool_failed);
    mst_summary_free(&s);
    return status;
}

/* ---- an archive that has levels -------------------------------------------------- */

/* Whether these words, in JSON, are the command with that load. */
static bool is_ours(const struct mst_capacity_levels *l, uint64_t at, const char *words_json)
{
    json_t *words = json_loads(words_json, 0, NULL), *word;
    struct mst_list list = { 0 };
    size_t i;

    json_array_foreach(words, i, word)
        if (json_is_string(word))
            mst_list_add(l->pool, &list, json_string_value(word));
    json_decref(words);
    return list.count > 0 && mst_level_was(l->command, at, l->seconds, list.items);
}

/* The level that the name says; 0: it is no level's. */
static uint64_t level_of(const struct mst_capacity_levels *l, const char *name, bool *again)
{
    char *end;
    uint64_t at = strtoull(name + strlen(NAME), &end, 10);

    *again = strstr(end, AGAIN) != NULL;
    return end > name + strlen(NAME) &&
           at <= MST_CAPACITY_MOST &&
           strcmp(name, mst_capacity_name(l->pool, *end == '/', at, *again)) == 0 ? at : 0;
}

/* A run that may be a level. */
struct earlier { int64_t id; uint64_t at; bool again; };

static int find_earlier(struct mst_capacity_levels *l, struct mst_archive *archive,
                        struct earlier **found, size_t *count)
{
    struct mst_query q = mst_query_ask(mst_archive_db(archive),
        "SELECT id, name, command, command_line FROM runs WHERE :id AND name LIKE '" NAME "%' "
        "AND outcome = 'complete' ORDER BY id", 1);
    char error[MST_ERROR_MAX];
    struct earlier *one;
    uint64_t at;
    bool again;

    while (mst_query_next(&q)) {
        int64_t id = mst_row_id(&q, "id");

        at = level_of(l, mst_row_text(&q, "name"), &again);
        if (at == 0)
            continue;
        if (!is_ours(l, at, mst_row_text(&q, "command"))) {
            mst_usage_error("capacity", "%s has levels of another command: run %" PRId64 " is %s. "
                            "Give this one an archive of its own", l->archive, id,
                            mst_row_text(&q, "command_line"));
            mst_query_done(&q);
            return MST_EXIT_USAGE;
        }
        one = mst_pool_append(l->pool, found, count, sizeof *one);
        *one = (struct earlier){ id, at, again };
    }
    if (mst_query_done(&q))
        return MST_EXIT_OK;
    mst_archive_unreadable(archive, error);
    return mst_failed(MST_EXIT_TARGET, "%s", error);
}

int mst_capacity_go_on(struct mst_capacity_levels *l)
{
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive;
    struct earlier *found = NULL;
    size_t count = 0, i;
    struct stat file;
    int status;

    if (stat(l->archive, &file) != 0 || file.st_size == 0)
        return MST_EXIT_OK;
    archive = mst_archive_read(l->archive, error);
    if (archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    status = find_earlier(l, archive, &found, &count);
    for (i = 0; i < count && status == MST_EXIT_OK; i++) {
        struct mst_summary s;

        if (mst_summary_make(&s, archive, found[i].id, error) != 0 ||
            mst_findings_causes(&s, archive, error) != 0)
            status = mst_failed(MST_EXIT_TARGET, "%s", error);
        else if (s.server_count > 0)
            take(l, found[i].at, found[i].again, &s, false);
        mst_summary_free(&s);
    }
    mst_archive_close(archive, ignored);
    return status;
}

/* ---- what would be next ---------------------------------------------------------- */

/* The workers that ran out, as the model has them. NULL: it was something else. */
static const struct mst_model_workers *workers_of(const struct mst_model_run *run,
                                                  enum mst_code code)
{
    bool is_php = code == MST_CODE_PHP_WORKERS;
    size_t i;

    if (!is_php && code != MST_CODE_APACHE_WORKERS)
        return NULL;
    for (i = 0; i < run->workers_count; i++)
        if (mst_summary_is_php(run->workers[i].server) == is_php && run->workers[i].pool == NULL)
            return &run->workers[i];
    return NULL;
}

static void find_next(struct mst_capacity_next *next, const struct mst_prediction *p,
                      enum mst_code code)
{
    const struct mst_model_run *run = p->run;
    const struct mst_model_workers *workers = workers_of(run, code);
    const struct mst_model_end *busier;
    struct mst_model_next beyond;

    if (workers == NULL || !mst_model_find_next(&beyond, p, workers->gate))
        return;
    *next = (struct mst_capacity_next){
        .known = true, .clients = beyond.clients,
        .name = beyond.then.limit != NULL ? beyond.then.limit->name : NULL,
        .workers = beyond.then.uses[workers->gate].used,
        .rate = mst_model_estimate_of(p, &beyond.then, MST_MEASURE_RATE),
    };
    busier = mst_model_busier_end(p, &beyond.then);
    if (busier != NULL)
        next->busier = busier->called;
}

/* With as many clients as each level has. */
static void foresee_levels(struct mst_capacity *c, const struct mst_prediction *p)
{
    struct mst_capacity_foreseen *foreseen = apr_palloc(c->pool, c->count * sizeof *foreseen);
    struct mst_forecast then;
    size_t i;

    if (p->run->system.load.arrivals != MST_ARRIVALS_CLOSED)
        return;
    for (i = 0; i < c->count; i++) {
        struct mst_system system = mst_system_copy(p->run);

        system.load.clients = c->levels[i].at < UINT32_MAX ? (uint32_t)c->levels[i].at : UINT32_MAX;
        mst_model_forecast(&then, p, &system, p->run);
        foreseen[i].rate = mst_model_estimate_of(p, &then, MST_MEASURE_RATE);
        foreseen[i].p95 = mst_model_estimate_of(p, &then, MST_MEASURE_P95);
    }
    c->foreseen = foreseen;
}

static void foresee(struct mst_capacity *c, struct mst_model_run *run, enum mst_code code,
                    bool of_levels)
{
    struct mst_prediction p;

    if (isnan(run->cpus))
        return;
    mst_model_calibrate(&p, run);
    if (p.why_not != NULL)
        return;
    find_next(&c->next, &p, code);
    if (of_levels)
        foresee_levels(c, &p);
}

int mst_capacity_foresee(struct mst_capacity *c, const struct mst_capacity_levels *l,
                         bool of_levels)
{
    const struct mst_capacity_run *limit = mst_capacity_limit(c);
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive;
    struct mst_model_run run;
    struct mst_summary s;
    int status = MST_EXIT_OK;

    if (limit == NULL)
        return MST_EXIT_OK;
    archive = mst_archive_read(l->archive, error);
    if (archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    if (mst_summary_make(&s, archive, limit->id, error) != 0 ||
        mst_findings_causes(&s, archive, error) != 0)
        status = mst_failed(MST_EXIT_TARGET, "%s", error);
    else if (!mst_model_run_make(&run, &s, mst_archive_db(archive), l->pool))
        status = mst_failed(MST_EXIT_TARGET, "%s cannot be read", l->archive);
    else if (run.why_not == NULL && run.server_count == 1)
        foresee(c, &run, limit->code, of_levels);
    mst_summary_free(&s);
    mst_archive_close(archive, ignored);
    return status;
}

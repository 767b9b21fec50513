/* advice.c - advice on limits from a run's measurements: see advice.h. */
#include "findings/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "console/format.h"
#include "findings/chains.h"
#include "findings/demand.h"
#include "findings/needs.h"
#include "findings/plan.h"
#include "findings/say.h"

static void cannot_tell(struct mst_advice *advice, const char *why)
{
    advice->known = false;
    MST_SAY(advice->answer, "cannot tell");
    MST_SAY(advice->arithmetic, "%s", why);
    advice->uncertainty[0] = '\0';
}

static struct mst_formatted bytes_text(double bytes)
{
    return mst_format_bytes(bytes > 0 ? (uint64_t)bytes : 0);
}

/* What memory allows, behind the uncertainty. */
static void add_memory(struct mst_advice *advice, const struct mst_per_process *p, uint64_t ram,
                       bool threaded)
{
    uint64_t fit = mst_processes_fit(p, ram);
    size_t used = strlen(advice->uncertainty);

    if (fit == MST_UNKNOWN)
        mst_say(advice->uncertainty + used, sizeof advice->uncertainty - used,
            "What memory allows is not known.");
    else
        mst_say(advice->uncertainty + used, sizeof advice->uncertainty - used,
            "Memory: 80 %% of %s / %s a process (%s) = %" PRIu64 " processes%s, where nothing else "
            "needs it.",
            mst_format_bytes(ram).text, bytes_text(p->high).text,
            p->slope ? "what one more takes, upper end" : "an upper bound: shared pages included",
            fit, threaded ? " of several workers each" : "");
}

/* ---- workers --------------------------------------------------------------------- */

/* The advice on a server's workers that the findings have already: that of its need where the run
 * has several servers, else that of its finding. workers: the limit to set; MST_UNKNOWN: there is
 * no such number. action: what to do, or why more cannot help. predicted: what that changes. */
struct said { uint64_t workers; const char *action, *predicted; };

static struct said said_of(const struct mst_summary *run, const struct mst_summary_server *server)
{
    const struct mst_need *need = mst_needs_get(run, server);
    const struct mst_finding *f;

    if (need != NULL)
        return (struct said){ need->advised, need->action, need->predicted };
    f = mst_findings_get(run, mst_summary_is_php(server) ? MST_CODE_PHP_WORKERS :
                                                           MST_CODE_APACHE_WORKERS,
                         mst_summary_called(mst_summary_front(run)));
    if (f == NULL)
        return (struct said){ MST_UNKNOWN, "", "" };
    if (f->caused_by.known && f->action[0] == '\0')   /* more cannot help while the root stands */
        return (struct said){ 0, mst_finding_root(run, f)->text, "" };
    return (struct said){ mst_finding_number(f, "workers_advised"), f->action, f->predicted };
}

/* Requests waited for workers, and a finding has what to do. */
static void repeat(struct mst_advice *advice, const struct mst_summary_server *server,
                   const struct said *said, const char *why_unforeseen)
{
    uint64_t limit = server->workers_limit != MST_UNKNOWN ? server->workers_limit
                                                          : server->max_busy;
    char now[32] = "now";

    advice->known = true;
    if (server->workers_limit != MST_UNKNOWN)
        snprintf(now, sizeof now, "%" PRIu64, limit);
    if (said->workers == MST_UNKNOWN)
        MST_SAY(advice->answer, "more than %s", now);
    else if (said->workers <= limit)
        MST_SAY(advice->answer, "%s, as it is", now);
    else
        MST_SAY(advice->answer, "more than %s: up to %" PRIu64, now, said->workers);
    MST_SAY(advice->arithmetic, "%s", said->action);
    if (said->predicted[0] != '\0')
        MST_SAY(advice->uncertainty, "Predicted: %s. ", said->predicted);
    else if (why_unforeseen != NULL)
        MST_SAY(advice->uncertainty, "Nothing is predicted of this run: %s. ", why_unforeseen);
}

/* Nothing is simulated: what was seen is all that is known. */
static void advise_seen(struct mst_advice *advice, const struct mst_summary_server *server,
                        const char *why_not)
{
    char limit[32] = "";

    if (server->workers_limit != MST_UNKNOWN)
        MST_SAY(limit, " of %" PRIu64, server->workers_limit);
    MST_SAY(advice->answer, "not known; %" PRIu64 " busy at most", server->max_busy);
    MST_SAY(advice->arithmetic, "The samples found at most %" PRIu64 "%s workers busy, and "
            "requests %swaited for one. No simulation of this run tells how many are enough: %s.",
            server->max_busy, limit, mst_demand_ran_out(server) ? "" : "hardly ", why_not);
}

static void advise_enough(struct mst_advice *advice, const struct mst_summary_server *server,
                          const struct mst_workers_enough *enough)
{
    const struct mst_model_least *least = &enough->least;
    char filled[64] = "", next[MST_LIMIT_CALLED_MAX + 32] = "", called[MST_LIMIT_CALLED_MAX];
    char said[384 + sizeof next];

    advice->known = true;
    if (least->next != NULL)
        MST_SAY(next, ", because the limit is %s", mst_limit_called(called, least->next));
    if (enough->workers > least->limit)
        MST_SAY(filled, " (%" PRIu64 " fill its processes)", enough->workers);
    MST_SAY(advice->answer, "%" PRIu64 " for this load", enough->workers);
    if (least->limit == least->at_once)
        MST_SAY(said, "up to %" PRIu32 " requests want a worker at once%s. With fewer workers they "
                "take more than 3 %% longer", least->at_once, filled);
    else
        MST_SAY(said, "with %" PRIu32 " workers%s a request waits %s for one and takes %s, on "
                "average. With a worker for each (up to %" PRIu32 " at once) it takes no more than "
                "3 %% less%s; with fewer it takes longer", least->limit, filled,
                mst_format_seconds(least->wait).text, mst_format_seconds(least->mean).text,
                least->at_once, next);
    MST_SAY(advice->arithmetic, "Simulated: %s. The samples found at most %s busy.", said,
            mst_format_count(server->max_busy).text);
    MST_SAY(advice->uncertainty, "mpmstat whatif simulates other loads. ");
}

/* How many are enough; where that is not known, how many were busy. */
static void advise_number(struct mst_advice *advice, struct mst_inquiry *q,
                          const struct mst_summary_server *server)
{
    struct mst_workers_enough enough;

    mst_plan_enough(&enough, q, server, NULL);
    if (enough.why_not == NULL)
        advise_enough(advice, server, &enough);
    else if (mst_known(server->max_busy) > 0)
        advise_seen(advice, server, enough.why_not);
    else
        cannot_tell(advice, enough.why_not);
}

static void advise_workers(struct mst_advice *advice, struct mst_inquiry *q,
                           const struct mst_summary_server *server, uint64_t ram)
{
    const struct said said = said_of(q->s, server);
    struct mst_per_process process;

    q->failed |= !mst_per_process_read(&process, q->db, server->id);
    if (mst_demand_ran_out(server) && said.action[0] != '\0')
        repeat(advice, server, &said, mst_why_unforeseen(q));
    else
        advise_number(advice, q, server);
    if (mst_known(server->max_busy) > 0)
        add_memory(advice, &process, ram, mst_summary_is_threaded(server));
}

/* ---- pools ----------------------------------------------------------------------- */

static void add_pool(struct mst_advice *advice, const char *pool, uint64_t workers)
{
    size_t used = strlen(advice->answer);
    char many[32] = "more than now";

    if (workers != MST_UNKNOWN)
        snprintf(many, sizeof many, "%" PRIu64, workers);
    mst_say(advice->answer + used, sizeof advice->answer - used, "%s%s: %s", used > 0 ? "; " : "",
            pool, many);
}

/* That its workers ran out; NULL. */
static const struct mst_finding *finding_of(const struct mst_summary *run,
                                            const struct mst_summary_server *php,
                                            const struct mst_summary_pool *pool)
{
    size_t i;

    for (i = 0; i < run->finding_count; i++)
        if (run->findings[i].code == MST_CODE_PHP_WORKERS && run->findings[i].of == php &&
            strcmp(run->findings[i].subject, pool->label) == 0)
            return &run->findings[i];
    return NULL;
}

/* Each of several pools has a limit of its own. */
static void advise_pools(struct mst_advice *advice, struct mst_inquiry *q,
                         const struct mst_summary_server *php)
{
    const struct mst_finding *first = NULL, *f;
    const struct mst_summary_pool *pool;
    struct mst_workers_enough enough;
    bool simulated = false;

    for (pool = php->pools; pool < php->pools + php->pool_count; pool++) {
        f = finding_of(q->s, php, pool);
        if (f != NULL) {
            add_pool(advice, pool->label, mst_finding_number(f, "workers_advised"));
            first = first == NULL ? f : first;
        } else if (mst_pool_was_used(pool)) {
            mst_plan_enough(&enough, q, php, pool);
            if (enough.why_not == NULL)
                add_pool(advice, pool->label, enough.workers);
            simulated |= enough.why_not == NULL;
        }
    }
    advice->known = true;
    if (first != NULL)
        MST_SAY(advice->arithmetic, "%s", first->action[0] != '\0' ? first->action :
                mst_finding_root(q->s, first)->text);
    else
        MST_SAY(advice->arithmetic, "PHP-FPM has %zu pools, each with a limit of its own: in none "
                "of them did requests wait for a worker for a good part of their time.",
                php->pool_count);
    if (simulated)
        MST_SAY(advice->uncertainty, "Where nothing ran out it is simulated: with so many workers, "
                "requests take no more than 3 %% longer than with a worker for each.");
    else if (advice->answer[0] == '\0')
        MST_SAY(advice->answer, "as they are");
}

/* ---- the accept queue ------------------------------------------------------------ */

static void advise_backlog(struct mst_advice *advice, const struct mst_summary *run,
                           const struct mst_summary_server *server)
{
    uint64_t longest, limit;

    if (server == NULL || server->max_listen_queue == MST_UNKNOWN ||
        server->listen_queue_limit == MST_UNKNOWN) {
        cannot_tell(advice, "the length of the accept queue is not known: it is seen on the "
                            "server's machine only, by root or the server's user");
        return;
    }
    longest = server->max_listen_queue;
    limit = server->listen_queue_limit;
    advice->known = true;
    MST_SAY(advice->uncertainty, "The figure is for one listening socket, at the time when its "
        "queue was fullest. Between two samples the queue may have been longer. The kernel limits "
        "ListenBacklog to net.core.somaxconn.");
    if (server->local && run->listen_overflows != MST_UNKNOWN && run->listen_overflows > 0) {
        MST_SAY(advice->answer, "more than %" PRIu64, limit);
        MST_SAY(advice->arithmetic, "Connections found a queue full %" PRIu64 " times on this "
            "machine, and had to try again after 0.2 s or more; the queue has room "
            "for %" PRIu64 ".", run->listen_overflows, limit);
    } else if (longest * 2 > limit) {
        MST_SAY(advice->answer, "%" PRIu64 ", twice what was seen", longest * 2);
        MST_SAY(advice->arithmetic, "At most %" PRIu64 " of %" PRIu64 " connections were seen "
            "waiting, and none was refused: little is left.", longest, limit);
    } else {
        MST_SAY(advice->answer, "%" PRIu64 ", as it is", limit);
        MST_SAY(advice->arithmetic, "At most %" PRIu64 " connections were seen waiting; the "
            "queue has room for %" PRIu64 "%s.", longest, limit,
            limit == MST_DEFAULT_BACKLOG ? " (the default)" : "");
    }
}

/* ---- all of it ------------------------------------------------------------------- */

/* What PHP's row says where PHP has no limit to set; NULL: it has one. */
static const char *no_limit(const struct mst_inquiry *q, const struct mst_summary_server *php)
{
    if (php == NULL)
        return q->s->need_count > 0 ? "no PHP that works for this server was recorded" :
               "no PHP was recorded: its extension was not loaded, or its board was not among the "
               "targets";
    return php->sapi_kind == MST_SAPI_FPM ? NULL : "this PHP is not PHP-FPM: it has no such limit";
}

static void make(struct mst_sizing *sizing, struct mst_inquiry *q, uint64_t ram)
{
    const struct mst_summary_server *front = mst_summary_front(q->s);
    const struct mst_summary_server *php = mst_summary_behind(q->s);
    struct mst_advice *advice = sizing->advice;
    const char *why_not = no_limit(q, php);

    advise_backlog(&advice[MST_ADVICE_BACKLOG], q->s, front);
    if (front == NULL || mst_summary_is_php(front))
        cannot_tell(&advice[MST_ADVICE_WORKERS], "no Apache was recorded");
    else
        advise_workers(&advice[MST_ADVICE_WORKERS], q, front, ram);
    if (why_not != NULL)
        cannot_tell(&advice[MST_ADVICE_PHP], why_not);
    else if (php->pool_count > 1 && mst_pools_matter(php))
        advise_pools(&advice[MST_ADVICE_PHP], q, php);
    else
        advise_workers(&advice[MST_ADVICE_PHP], q, php, ram);
}

void mst_find_sizing(struct mst_inquiry *q)
{
    static const char *const directives[MST_ADVICE_COUNT] = {
        [MST_ADVICE_WORKERS] = "MaxRequestWorkers", [MST_ADVICE_PHP] = "pm.max_children",
        [MST_ADVICE_BACKLOG] = "ListenBacklog",
    };
    struct mst_sizing *sizing = calloc(1, sizeof *sizing);
    uint64_t ram;
    int i;

    q->s->sizing = sizing;
    if (sizing == NULL || !mst_ram_read(&ram, q->db, q->s->id)) {
        q->failed = true;
        return;
    }
    for (i = 0; i < MST_ADVICE_COUNT; i++)
        sizing->advice[i].directive = directives[i];
    make(sizing, q, ram);
    mst_needs_find_enough(q);
}

/* advice.c - advice on limits from a run's measurements: see advice.h.
 *
 * Little's law: the mean number of workers that requests hold is the rate at which
 * requests arrive times the mean time that each holds one, whatever the order and
 * the distribution. Where no request waits, the number held scatters about that mean as
 * Poisson's distribution does: 99 % of the time it is below mean + 2.33 sqrt(mean).
 */
#include "findings/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "findings/chains.h"
#include "findings/demand.h"
#include "findings/inquiry.h"
#include "findings/needs.h"
#include "findings/plan.h"
#include "findings/say.h"
#include "stats/distribution.h"

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

/* With a figure more than the product has, so that a reader can multiply. */
static struct mst_formatted rate_text(double rate)
{
    struct mst_formatted text;

    snprintf(text.text, sizeof text.text, rate < 1e4 ? "%.4g" : "%.0f", rate);
    return text;
}

/* Says how many requests there were at once on average, waiting and with a worker. Returns how
 * many. */
static double add_at_once(char *text, size_t size, const struct mst_summary_server *server,
                          const struct mst_demand *d)
{
    double waited = (double)mst_demand_waiting(server)->mean_ns / (double)MST_NS_PER_S;
    double all = mst_demand_at_once(server, d);

    if (!mst_keepalive_holds(server))
        mst_say(text, size, "%s/s x (%s held + %s waited) = %s requests at once",
            rate_text(d->rate).text, mst_format_seconds(d->held).text,
            mst_format_seconds(waited).text,
            mst_format_real(all).text);
    else
        mst_say(text, size, "%s workers busy on average (%s of them with idle keep-alive "
            "connections) + %s/s x %s waited = %s at once",
            mst_format_milli(server->mean_busy_milli).text,
            mst_format_milli(server->mean_state_milli[MST_STATE_KEEPALIVE]).text,
            rate_text(d->rate).text, mst_format_seconds(waited).text, mst_format_real(all).text);
    return all;
}

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

/* Requests waited for workers. Enough would be a worker for each request that was there on average,
 * with a worker or waiting. Where the limit is as high already, requests waited at times only, and
 * an average gives no number. A number that a finding advises is used instead of the average. */
static void advise_more(struct mst_advice *advice, const struct mst_summary *run,
                        const struct mst_summary_server *server, const struct mst_demand *d)
{
    const struct said said = said_of(run, server);
    uint64_t limit = server->workers_limit != MST_UNKNOWN ? server->workers_limit
                                                          : server->max_busy;
    uint64_t up_to = said.workers;
    char at_once[256], now[32] = "now", most[64] = "";
    double all = ceil(add_at_once(at_once, sizeof at_once, server, d));

    advice->known = true;
    if (server->workers_limit != MST_UNKNOWN)
        snprintf(now, sizeof now, "%" PRIu64, limit);
    if (up_to != MST_UNKNOWN && up_to <= limit) {
        MST_SAY(advice->answer, "%s, as it is", now);
        MST_SAY(advice->arithmetic, "%s", said.action);
        return;
    }
    if (up_to != MST_UNKNOWN) {
        if ((double)up_to > all)
            snprintf(most, sizeof most, " on average, and up to %" PRIu64, up_to);
        all = (double)up_to;
    }
    if (all > (double)limit) {
        MST_SAY(advice->answer, "more than %s: up to %.0f", now, all);
        MST_SAY(advice->arithmetic, "Requests waited for workers. %s%s: with a worker each, none "
            "of them would have waited.", at_once, most);
    } else {
        MST_SAY(advice->answer, "more than %s", now);
        MST_SAY(advice->arithmetic, "Requests waited for workers. %s, on average, for %" PRIu64
            " workers: at times there were more, and a mean does not tell how many.", at_once,
            limit);
    }
    if (said.predicted[0] != '\0')
        MST_SAY(advice->uncertainty, "Predicted: %s. ", said.predicted);
    else
        MST_SAY(advice->uncertainty, "This holds if a request takes no longer with more workers, "
            "which only a run with more of them can show, and for as many clients as in this "
            "run. ");
}

static void advise_enough(struct mst_advice *advice, const struct mst_summary_server *server,
                          const struct mst_demand *d)
{
    advice->known = true;
    MST_SAY(advice->answer, "%" PRIu64 " for this load", mst_demand_enough(server, d));
    MST_SAY(advice->arithmetic, "%s requests/s x %s held = %s workers on average. If requests "
        "arrive at random, the number is at most %.0f for 99 %% of the time. The samples found "
        "at most %s busy.",
        rate_text(d->rate).text, mst_format_seconds(d->held).text,
        mst_format_real(d->workers).text, mst_poisson_most(d->high),
        mst_format_count(server->max_busy).text);
    MST_SAY(advice->uncertainty, "The 95 %% interval of the mean is %s to %s. For another rate, "
        "multiply the time held by that rate. ", mst_format_real(d->low).text,
        mst_format_real(d->high).text);
}

static bool advise_workers(struct mst_advice *advice, const struct mst_summary *run,
                           const struct mst_summary_server *server, sqlite3 *db, uint64_t ram)
{
    struct mst_demand d = mst_demand_of(run, server);
    struct mst_per_process process;
    const char *why;

    if (!mst_per_process_read(&process, db, server->id))
        return false;
    why = mst_demand_obstacle(run, server, &d);
    if (why != NULL)
        cannot_tell(advice, why);
    else if (mst_demand_ran_out(server))
        advise_more(advice, run, server, &d);
    else
        advise_enough(advice, server, &d);
    if (advice->known)
        add_memory(advice, &process, ram, mst_summary_is_threaded(server));
    return true;
}

static void add_pool(struct mst_advice *advice, const struct mst_finding *f)
{
    size_t used = strlen(advice->answer);
    uint64_t workers = mst_finding_number(f, "workers_advised");

    mst_say(advice->answer + used, sizeof advice->answer - used, "%s%s: ", used > 0 ? "; " : "",
            f->subject);
    used = strlen(advice->answer);
    if (workers == MST_UNKNOWN)
        mst_say(advice->answer + used, sizeof advice->answer - used, "more than now");
    else
        mst_say(advice->answer + used, sizeof advice->answer - used, "%" PRIu64, workers);
}

/* Each of several pools has a limit of its own, and a finding where it ran out. */
static void advise_pools(struct mst_advice *advice, const struct mst_summary *run,
                         const struct mst_summary_server *php)
{
    const struct mst_finding *first = NULL;
    size_t i;

    for (i = 0; i < run->finding_count; i++)
        if (run->findings[i].code == MST_CODE_PHP_WORKERS && run->findings[i].of == php) {
            add_pool(advice, &run->findings[i]);
            first = first == NULL ? &run->findings[i] : first;
        }
    advice->known = true;
    if (first != NULL) {
        MST_SAY(advice->arithmetic, "%s", first->action[0] != '\0' ? first->action :
                mst_finding_root(run, first)->text);
        return;
    }
    MST_SAY(advice->answer, "as they are");
    MST_SAY(advice->arithmetic, "PHP-FPM has %zu pools, each with a limit of its own: in none of "
            "them did requests wait for a worker for a good part of their time.", php->pool_count);
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

bool mst_sizing_make(struct mst_sizing *sizing, const struct mst_summary *run, sqlite3 *db)
{
    static const char *const directives[MST_ADVICE_COUNT] = {
        [MST_ADVICE_WORKERS] = "MaxRequestWorkers", [MST_ADVICE_PHP] = "pm.max_children",
        [MST_ADVICE_BACKLOG] = "ListenBacklog",
    };
    const struct mst_summary_server *front = mst_summary_front(run);
    const struct mst_summary_server *php = mst_summary_behind(run);
    struct mst_advice *advice = sizing->advice;
    uint64_t ram;
    int i;

    memset(sizing, 0, sizeof *sizing);
    for (i = 0; i < MST_ADVICE_COUNT; i++)
        advice[i].directive = directives[i];
    if (!mst_ram_read(&ram, db, run->id))
        return false;
    advise_backlog(&advice[MST_ADVICE_BACKLOG], run, front);
    if (front == NULL || mst_summary_is_php(front))
        cannot_tell(&advice[MST_ADVICE_WORKERS], "no Apache was recorded");
    else if (!advise_workers(&advice[MST_ADVICE_WORKERS], run, front, db, ram))
        return false;
    if (php == NULL)
        cannot_tell(&advice[MST_ADVICE_PHP], run->need_count > 0 ?
                    "no PHP that works for this server was recorded" :
                    "no PHP was recorded: its extension was not loaded, or its board was not among "
                    "the targets");
    else if (php->pool_count > 1 && mst_pools_matter(php))
        advise_pools(&advice[MST_ADVICE_PHP], run, php);
    else if (!advise_workers(&advice[MST_ADVICE_PHP], run, php, db, ram))
        return false;
    return true;
}

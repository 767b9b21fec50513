/* stuck.c - the findings of what servers do at this moment: workers that are stuck. The sentences
 * are here, too: no other finding is made of the same evidence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "explain/steps.h"
#include "findings/findings.h"
#include "findings/inquiry.h"
#include "findings/say.h"
#include "system/proc.h"

/* With this much pressure the CPUs were full for half of the time. */
#define MST_PRESSURE_MILLI 500u

/* What most of some workers do: one wait in PHP, or one state. */
struct doing {
    const struct mst_now_worker *example;
    uint64_t count, of;
    uint64_t longest_ns;
};

static bool is_of(const struct mst_now_worker *w, const char *label)
{
    return label == NULL || strcmp(w->label, label) == 0;
}

static bool does_the_same(const struct mst_now_worker *a, const struct mst_now_worker *b)
{
    if (a->wait[0] != '\0' || b->wait[0] != '\0')
        return strcmp(a->wait, b->wait) == 0 && strcmp(a->wait_end, b->wait_end) == 0;
    return strcmp(a->state, b->state) == 0;
}

static uint64_t count_same(const struct mst_explained_server *s, const char *label,
                           const struct mst_now_worker *w, struct doing *d)
{
    uint64_t same = 0;
    size_t i;

    d->of = d->longest_ns = 0;
    for (i = 0; i < s->worker_count; i++) {
        if (!is_of(&s->workers[i], label))
            continue;
        d->of++;
        if (!does_the_same(&s->workers[i], w))
            continue;
        same++;
        if (s->workers[i].busy_ns > d->longest_ns)
            d->longest_ns = s->workers[i].busy_ns;
    }
    return same;
}

static struct doing find_most(const struct mst_explained_server *s, const char *label)
{
    struct doing best = { 0 }, d = { 0 };
    size_t i;

    /* Where one group has half of all, no more than a few workers have to be looked at. */
    for (i = 0; i < s->worker_count && 2 * best.count <= best.of; i++)
        if (is_of(&s->workers[i], label)) {
            d.example = &s->workers[i];
            d.count = count_same(s, label, d.example, &d);
            best = d.count > best.count ? d : best;
        }
    return best;
}

/* The wait's name is its finding's. */
static enum mst_code code_of_state(const char *state)
{
    static const enum mst_code codes[MST_STATE_COUNT] = {
        [MST_STATE_IDLE] = MST_CODE_CANNOT_TELL, [MST_STATE_READING] = MST_CODE_SLOW_HEADERS,
        [MST_STATE_HANDLING] = MST_CODE_STUCK_REQUESTS,
        [MST_STATE_SENDING] = MST_CODE_SLOW_CLIENTS, [MST_STATE_KEEPALIVE] = MST_CODE_KEEPALIVE,
        [MST_STATE_CLOSING] = MST_CODE_SLOW_CLIENTS, [MST_STATE_LOGGING] = MST_CODE_LOGGING,
    };
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        if (strcmp(mst_state_names[i], state) == 0)
            return codes[i];
    return MST_CODE_CANNOT_TELL;
}

/* How many of the workers run or want a CPU at this moment. */
static uint64_t count_running(const struct mst_explained_server *s, const char *label)
{
    uint64_t running = 0;
    struct mst_proc process;
    size_t i;

    if (!mst_source_local(s->source))
        return 0;
    for (i = 0; i < s->worker_count; i++)
        running += is_of(&s->workers[i], label) && mst_proc_stat(s->workers[i].pid, &process) &&
                   process.state == 'R';
    return running;
}

/* What Apache's workers are taken to wait for where they are with requests of which nothing more is
 * known: PHP's workers, and the connections that wait for these, are as many. */
struct in_php { uint64_t busy, queued; };

static bool is_in_php(const struct mst_explanation *e, uint64_t requests, struct in_php *in)
{
    size_t apaches = 0, i;

    *in = (struct in_php){ 0 };
    for (i = 0; i < e->server_count; i++) {
        const struct mst_explained_server *s = &e->servers[i];

        if (!mst_server_is_php(s)) {
            apaches++;
        } else if (s->is_running && s->sample.workers_limit != MST_UNKNOWN) {
            in->busy += s->worker_count;
            in->queued += mst_known(s->sample.listen_queue);
        }
    }
    return apaches == 1 && in->busy > 0 &&
           (in->busy + in->queued) * 1000 >= requests * MST_STUCK_MILLI;
}

#define DOING_MAX 160u

static void say_wait(struct mst_finding *f, const struct doing *d, char doing[DOING_MAX])
{
    const struct mst_now_worker *w = d->example;
    const char *space = w->wait_end[0] != '\0' ? " " : "";

    f->code = mst_code_of(w->wait);
    f->certainty = MST_CERTAIN;
    snprintf(f->subject, sizeof f->subject, "%s", w->wait_end);
    snprintf(doing, DOING_MAX, "wait for %s%s%s", w->wait, space, w->wait_end);
    MST_ACTION(f, "Look at %s%s first. More workers would wait there, too.",
               w->wait_end[0] != '\0' ? "" : "what they wait for: ",
               w->wait_end[0] != '\0' ? w->wait_end : w->wait);
}

static void say_in_php(struct mst_finding *f, const struct in_php *in, char doing[DOING_MAX])
{
    f->code = MST_CODE_BACKEND;
    f->certainty = MST_LIKELY;
    snprintf(f->subject, sizeof f->subject, "PHP");
    snprintf(doing, DOING_MAX, "wait for PHP (%" PRIu64 " of their requests are with its workers, "
             "%" PRIu64 " wait for one)", in->busy, in->queued);
    MST_ACTION(f, "Look first at what PHP's workers do: they are below. More workers of Apache "
               "would wait for them, too.");
}

static void say_state(struct mst_finding *f, const struct mst_explained_server *s,
                      const struct doing *d, const char *label, char doing[DOING_MAX])
{
    f->code = code_of_state(d->example->state);
    f->certainty = MST_LIKELY;
    snprintf(doing, DOING_MAX, "are in the state %s", d->example->state);
    if (f->code == MST_CODE_STUCK_REQUESTS && 2 * count_running(s, label) > d->of) {
        f->code = MST_CODE_APPLICATION_CPU;
        snprintf(doing, DOING_MAX, "compute");
        MST_ACTION(f, "A profiler names the function: perf top -p %" PRIu64 ".", d->example->pid);
    } else if (f->code == MST_CODE_STUCK_REQUESTS) {
        f->certainty = MST_CANNOT_TELL;
        MST_ACTION(f, "What they wait for is not measured. gdb -p %" PRIu64 " -batch -ex bt tells "
                   "it.", d->example->pid);
    }
}

static void say_doing(struct mst_finding *f, const struct mst_explanation *e,
                      const struct mst_explained_server *s, const struct doing *d,
                      const char *label, char doing[DOING_MAX])
{
    struct in_php in;

    if (d->example->wait[0] != '\0' && mst_code_of(d->example->wait) != MST_CODE_COUNT)
        say_wait(f, d, doing);
    else if (!mst_server_is_php(s) && !d->example->is_in_php &&
             code_of_state(d->example->state) == MST_CODE_STUCK_REQUESTS &&
             is_in_php(e, d->count, &in))
        say_in_php(f, &in, doing);
    else
        say_state(f, s, d, label, doing);
}

static void say_stuck(struct mst_finding *f, const struct mst_explained_server *s,
                      const struct doing *d, const char *doing, const char *pool,
                      uint64_t limit, uint64_t idle_ns)
{
    char queue[96] = "";

    if (s->sample.listen_queue != MST_UNKNOWN && s->sample.listen_queue > 0)
        snprintf(queue, sizeof queue, " %" PRIu64 " connection%s in the accept queue.",
                 s->sample.listen_queue, s->sample.listen_queue > 1 ? "s wait" : " waits");
    MST_TEXT(f, "%s stuck: %" PRIu64 " of its %" PRIu64 " workers %s, the longest for %s. %s are "
             "busy, and none has taken a request for %s.%s",
             pool != NULL ? pool : mst_server_is_php(s) ? "PHP is" : "Apache is", d->count, limit,
             doing, mst_format_time(d->longest_ns).text, d->of >= limit ? "All" : "Nearly all",
             mst_format_time(idle_ns).text, queue);
}

/* Of several servers the one behind the others has the cause: PHP's come first. */
static bool add_stuck(struct mst_explanation *e, const struct mst_explained_server *s,
                      const char *label, uint64_t limit)
{
    struct mst_finding f = { .share_milli = MST_UNKNOWN };
    char pool[MST_NAME_MAX + 16], doing[DOING_MAX];
    uint64_t idle_ns;
    struct doing d;

    if (!mst_now_is_stuck(s, label, limit, &idle_ns))
        return true;
    d = find_most(s, label);
    say_doing(&f, e, s, &d, label, doing);
    snprintf(pool, sizeof pool, "PHP's pool %s is", label != NULL ? label : "");
    say_stuck(&f, s, &d, doing, label != NULL ? pool : NULL, limit, idle_ns);
    f.requests = d.count;
    f.weight = 2 * MST_WEIGHT_FIRST + (mst_server_is_php(s) ? 1 : 0);
    f.numbers[f.number_count++] = (struct mst_finding_number){ "workers_limit", limit };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "busy", d.of };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "longest_ns", d.longest_ns };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "none_taken_ns", idle_ns };
    return mst_findings_add(&e->summary, &f);
}

static const struct mst_summary_server *summary_of(const struct mst_explanation *e,
                                                   const struct mst_explained_server *s)
{
    size_t i;

    for (i = 0; i < e->summary.server_count; i++)
        if (e->summary.servers[i].id == s->id)
            return &e->summary.servers[i];
    return NULL;
}

static void say_long(struct mst_finding *f, const struct mst_explained_server *s, uint64_t limit,
                     bool any_ended)
{
    const struct doing most = find_most(s, NULL);
    char doing[DOING_MAX], waits[DOING_MAX + 64] = "";

    MST_ACTION(f, "Look at these requests: below are their labels, pids and what they wait for.");
    if (most.example->wait[0] != '\0') {
        say_wait(f, &most, doing);
        snprintf(waits, sizeof waits, "; %" PRIu64 " of %" PRIu64 " busy ones %s", most.count,
                 most.of, doing);
    }
    f->code = MST_CODE_STUCK_REQUESTS;
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " workers of %s are with requests for longer than %s, "
             "the longest for %s%s.", f->requests, limit,
             mst_producer_name(mst_source_identity(s->source)->producer),
             any_ended ? "any that ended took" : mst_format_time(MST_STUCK_NS).text,
             mst_format_time(s->workers[0].busy_ns).text, waits);
}

/* Requests that are in flight for longer than any that ended: the figures of those say nothing of
 * them. What stuck workers do is told already. */
static bool add_long(struct mst_explanation *e, const struct mst_explained_server *s)
{
    const struct mst_summary_server *summary = summary_of(e, s);
    struct mst_finding f = {
        .code = MST_CODE_STUCK_REQUESTS, .certainty = MST_CERTAIN, .share_milli = MST_UNKNOWN,
    };
    bool any_ended = summary != NULL && summary->requests > 0;
    uint64_t longest = any_ended ? summary->phases[MST_PHASE_TOTAL].max_ns : 0;
    uint64_t limit = s->sample.workers_limit;
    size_t i;

    longest = longest < MST_STUCK_NS ? MST_STUCK_NS : longest;
    for (i = 0; i < s->worker_count && s->workers[i].busy_ns != MST_UNKNOWN; i++)
        f.requests += s->workers[i].busy_ns > longest;
    if (e->is_stuck || f.requests == 0 || limit == MST_UNKNOWN || limit == 0)
        return true;
    f.weight = f.requests < limit ? f.requests * 1000 / limit : 1000;
    if (!any_ended && f.weight < MST_HEADLINE_MILLI)
        f.weight = MST_HEADLINE_MILLI;   /* there is nothing else to tell */
    f.numbers[f.number_count++] = (struct mst_finding_number){ "longest_ns",
                                                               s->workers[0].busy_ns };
    say_long(&f, s, limit, any_ended);
    return mst_findings_add(&e->summary, &f);
}

static bool knows_cpu(const struct mst_explanation *e)
{
    return mst_findings_get(&e->summary, MST_CODE_CPU, "") != NULL ||
           mst_findings_get(&e->summary, MST_CODE_CPU_NEIGHBOUR, "") != NULL;
}

/* Threads that wait for a CPU are known over the last seconds only, and neither whose work it was
 * nor whom it delayed, if the requests do not tell: so it is no headline. */
static bool add_cpu(struct mst_explanation *e)
{
    static const uint64_t spans_s[MST_PRESSURE_SPANS] = { 10, 60, 300 };
    uint64_t window_s = (e->until_ns - e->from_ns) / MST_NS_PER_S;
    uint64_t ago_s = (mst_realtime_ns() - e->until_ns) / MST_NS_PER_S, milli;
    struct mst_finding f = {
        .code = MST_CODE_CPU, .certainty = MST_LIKELY, .requests = MST_UNKNOWN,
    };
    unsigned i = 0;

    while (i + 1 < MST_PRESSURE_SPANS && spans_s[i] < window_s)
        i++;
    milli = e->cpu_pressure_milli[i];
    if (e->is_stuck || knows_cpu(e) || !e->knows_pressure || ago_s > spans_s[i] / 2 ||
        milli < MST_PRESSURE_MILLI)
        return true;
    f.share_milli = milli;
    f.share_of = MST_SHARE_OF_SPAN;
    f.weight = MST_HEADLINE_MILLI - 1;
    f.numbers[f.number_count++] = (struct mst_finding_number){ "pressure_milli", milli };
    MST_TEXT(&f, "Threads of this machine waited for a CPU for %s of the last %" PRIu64 " s. Whose "
             "work filled the CPUs is not known without a recording.",
             mst_format_percent(milli).text, spans_s[i]);
    MST_ACTION(&f, "Record a load (mpmstat record), or look at top while it is slow.");
    return mst_findings_add(&e->summary, &f);
}

bool mst_explain_now(struct mst_explanation *e)
{
    bool fine = mst_explain_down(e) && add_cpu(e);
    size_t i, k;

    for (i = 0; i < e->server_count && fine; i++) {
        const struct mst_explained_server *s = &e->servers[i];

        if (s->is_running && s->sample.pool_count < 2)
            fine = add_stuck(e, s, NULL, s->sample.workers_limit);
        fine = fine && add_long(e, s);
        for (k = 0; k < s->sample.pool_count && s->sample.pool_count > 1 && fine; k++)
            fine = add_stuck(e, s, s->sample.pools[k].label, s->sample.pools[k].workers_limit);
    }
    return fine;
}

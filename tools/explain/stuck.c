/* stuck.c - the findings of what servers do at this moment: workers that are stuck, and servers
 * that do not run. The sentences are here, too: no other finding is made of the same evidence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "explain/steps.h"
#include "findings/findings.h"
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

static void say_wait(struct mst_finding *f, const struct doing *d)
{
    const struct mst_now_worker *w = d->example;

    f->code = mst_code_of(w->wait);
    f->certainty = MST_CERTAIN;
    snprintf(f->subject, sizeof f->subject, "%s", w->wait_end);
    MST_ACTION(f, "Look at %s%s first. More workers would wait there, too.",
               w->wait_end[0] != '\0' ? "" : "what they wait for: ",
               w->wait_end[0] != '\0' ? w->wait_end : w->wait);
}

static void say_state(struct mst_finding *f, const struct mst_explained_server *s,
                      const struct doing *d, const char *label)
{
    f->code = code_of_state(d->example->state);
    f->certainty = MST_LIKELY;
    if (f->code == MST_CODE_STUCK_REQUESTS && 2 * count_running(s, label) > d->of) {
        f->code = MST_CODE_APPLICATION_CPU;
        MST_ACTION(f, "A profiler names the function: perf top -p %" PRIu64 ".", d->example->pid);
    } else if (f->code == MST_CODE_STUCK_REQUESTS) {
        f->certainty = MST_CANNOT_TELL;
        MST_ACTION(f, "What they wait for is not measured. gdb -p %" PRIu64 " -batch -ex bt tells "
                   "it.", d->example->pid);
    }
}

static void say_stuck(struct mst_finding *f, const struct mst_explained_server *s,
                      const struct doing *d, const char *label, uint64_t limit,
                      uint64_t idle_ns)
{
    bool is_php = mst_source_identity(s->source)->producer == MST_PRODUCER_PHP;
    const char *wait_end = d->example->wait_end;
    char what[160], queue[96] = "";

    if (d->example->wait[0] != '\0')
        snprintf(what, sizeof what, "wait for %s%s%s", d->example->wait,
                 wait_end[0] != '\0' ? " " : "", wait_end);
    else
        snprintf(what, sizeof what, f->code == MST_CODE_APPLICATION_CPU ? "compute"
                 : "are in the state %s", d->example->state);
    if (s->sample.listen_queue != MST_UNKNOWN && s->sample.listen_queue > 0)
        snprintf(queue, sizeof queue, " %" PRIu64 " connection%s in the accept queue.",
                 s->sample.listen_queue, s->sample.listen_queue > 1 ? "s wait" : " waits");
    MST_TEXT(f, "%s stuck: %" PRIu64 " of its %" PRIu64 " workers %s, the longest for %s. %s are "
             "busy, and none has taken a request for %s.%s",
             label != NULL ? label : is_php ? "PHP is" : "Apache is", d->count, limit, what,
             mst_format_time(d->longest_ns).text, d->of >= limit ? "All" : "Nearly all",
             mst_format_time(idle_ns).text, queue);
}

/* The paths that a server has in flight are an Apache's. "" where they are not shown. */
static bool is_apache(const struct mst_explained_server *s)
{
    return mst_source_identity(s->source)->producer == MST_PRODUCER_APACHE;
}

/* The only path that more than half of them can have, by a vote of all (Boyer and Moore). */
static const char *path_of_most(const struct mst_explanation *e)
{
    const char *most = "", *path;
    uint64_t votes = 0;
    size_t i, k;

    for (i = 0; i < e->server_count; i++)
        for (k = 0; is_apache(&e->servers[i]) && k < e->servers[i].worker_count; k++) {
            path = e->servers[i].workers[k].path;
            if (path[0] == '\0')
                continue;
            if (votes == 0)
                most = path;
            if (strcmp(path, most) == 0)
                votes++;
            else
                votes--;
        }
    return most;
}

static uint64_t count_paths(const struct mst_explanation *e, const char *only)
{
    uint64_t count = 0;
    const char *path;
    size_t i, k;

    for (i = 0; i < e->server_count; i++)
        for (k = 0; is_apache(&e->servers[i]) && k < e->servers[i].worker_count; k++) {
            path = e->servers[i].workers[k].path;
            count += path[0] != '\0' && (only == NULL || strcmp(path, only) == 0);
        }
    return count;
}

/* Which page it is about, where Apache shows the paths of what it has in flight (MPMStatPaths). */
static void say_page(struct mst_finding *f, const struct mst_explanation *e)
{
    const char *path = path_of_most(e);
    uint64_t count = count_paths(e, path), of = count_paths(e, NULL);
    size_t length = strlen(f->text);

    if (of > 1 && 2 * count > of)
        mst_say(f->text + length, sizeof f->text - length, " %" PRIu64 " of %" PRIu64 " requests "
                "in flight in Apache are for %s.", count, of, path);
}

/* Of several servers the one behind the others has the cause: PHP's come first. */
static bool add_stuck(struct mst_explanation *e, const struct mst_explained_server *s,
                      const char *label, uint64_t limit)
{
    bool is_php = mst_source_identity(s->source)->producer == MST_PRODUCER_PHP;
    struct mst_finding f = { .share_milli = MST_UNKNOWN };
    char subject[MST_NAME_MAX + 16];
    uint64_t idle_ns;
    struct doing d;

    if (!mst_now_is_stuck(s, label, limit, &idle_ns))
        return true;
    d = find_most(s, label);
    if (d.example->wait[0] != '\0' && mst_code_of(d.example->wait) != MST_CODE_COUNT)
        say_wait(&f, &d);
    else
        say_state(&f, s, &d, label);
    snprintf(subject, sizeof subject, "PHP's pool %s is", label != NULL ? label : "");
    say_stuck(&f, s, &d, label != NULL ? subject : NULL, limit, idle_ns);
    say_page(&f, e);
    f.requests = d.count;
    f.weight = 2 * MST_WEIGHT_FIRST + (is_php ? 1 : 0);
    f.numbers[f.number_count++] = (struct mst_finding_number){ "workers_limit", limit };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "busy", d.of };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "longest_ns", d.longest_ns };
    f.numbers[f.number_count++] = (struct mst_finding_number){ "none_taken_ns", idle_ns };
    return mst_findings_add(&e->summary, &f);
}

static bool add_ended(struct mst_explanation *e, const struct mst_explained_server *s)
{
    struct mst_finding f = {
        .code = MST_CODE_SERVER_RESTARTED, .certainty = MST_CERTAIN, .share_milli = MST_UNKNOWN,
        .requests = MST_UNKNOWN, .weight = 3 * MST_WEIGHT_FIRST,
    };

    snprintf(f.subject, sizeof f.subject, "%s", mst_source_called(s->source));
    MST_TEXT(&f, "The server of %s does not run: it %s. What follows is of the time before.",
             mst_source_called(s->source), s->has_stopped ? "was stopped" :
             "ended without being stopped (killed, or crashed)");
    MST_ACTION(&f, "%s", s->has_stopped ? "Start it." :
               "The error log and the kernel's log (dmesg, for a lack of memory) say why.");
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

/* Requests that are in flight for longer than any that ended: the figures of those say nothing of
 * them. */
static bool add_long(struct mst_explanation *e, const struct mst_explained_server *s)
{
    const struct mst_summary_server *summary = summary_of(e, s);
    struct mst_finding f = {
        .code = MST_CODE_STUCK_REQUESTS, .certainty = MST_CERTAIN, .share_milli = MST_UNKNOWN,
    };
    uint64_t longest, limit = s->sample.workers_limit;
    size_t i;

    if (summary == NULL || summary->requests == 0)
        return true;
    longest = summary->phases[MST_PHASE_TOTAL].max_ns;
    longest = longest < MST_STUCK_NS ? MST_STUCK_NS : longest;
    for (i = 0; i < s->worker_count && s->workers[i].busy_ns != MST_UNKNOWN; i++)
        f.requests += s->workers[i].busy_ns > longest;
    if (f.requests == 0 || limit == MST_UNKNOWN || limit == 0)
        return true;
    f.weight = f.requests < limit ? f.requests * 1000 / limit : 1000;
    f.numbers[f.number_count++] = (struct mst_finding_number){ "longest_ns",
                                                               s->workers[0].busy_ns };
    MST_TEXT(&f, "%" PRIu64 " of %" PRIu64 " workers of %s are with requests for longer than any "
             "that ended took, the longest for %s.", f.requests, limit,
             mst_producer_name(mst_source_identity(s->source)->producer),
             mst_format_time(s->workers[0].busy_ns).text);
    MST_ACTION(&f, "Look at these requests: below are their labels, pids and what they wait for.");
    return mst_findings_add(&e->summary, &f);
}

/* Threads that wait for a CPU are known over the last seconds only, and neither whose work it was
 * nor whom it delayed: so it is no headline. */
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
    if (e->is_stuck || !e->knows_pressure || ago_s > spans_s[i] / 2 || milli < MST_PRESSURE_MILLI)
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
    bool fine = add_cpu(e);
    size_t i, k;

    for (i = 0; i < e->server_count && fine; i++) {
        const struct mst_explained_server *s = &e->servers[i];

        if (!s->is_running)
            fine = add_ended(e, s);
        else if (s->sample.pool_count < 2)
            fine = add_stuck(e, s, NULL, s->sample.workers_limit);
        fine = fine && add_long(e, s);
        for (k = 0; k < s->sample.pool_count && s->sample.pool_count > 1 && fine; k++)
            fine = add_stuck(e, s, s->sample.pools[k].label, s->sample.pools[k].workers_limit);
    }
    return fine;
}

/* stuck.c - the findings of what servers do at this moment: workers that are stuck, or have long
 * requests. read/present.h has the rule, render/held.h the sentence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "explain/steps.h"
#include "findings/chains.h"
#include "findings/findings.h"
#include "findings/inquiry.h"
#include "findings/own_end.h"
#include "findings/say.h"
#include "findings/sentences.h"
#include "render/held.h"
#include "system/proc.h"

/* With this much pressure the CPUs were full for half of the time. */
#define MST_PRESSURE_MILLI 500u

/* What workers do that are stuck in a state, and what helps. judge_state() adds to handling. */
static const struct in_state { enum mst_code code; const char *action; } states[MST_STATE_COUNT] = {
    [MST_STATE_IDLE] = { MST_CODE_CANNOT_TELL, "" },
    [MST_STATE_READING] = { MST_CODE_SLOW_HEADERS, "Set a shorter RequestReadTimeout "
                            "(mod_reqtimeout), which ends connections that send too slowly." },
    [MST_STATE_HANDLING] = { MST_CODE_STUCK_REQUESTS, "" },
    [MST_STATE_SENDING] = { MST_CODE_SLOW_CLIENTS, "Put a proxy in front that takes whole answers, "
                            "or have more workers." },
    [MST_STATE_KEEPALIVE] = { MST_CODE_KEEPALIVE, MST_KEEPALIVE_ACTION },
    [MST_STATE_CLOSING] = { MST_CODE_SLOW_CLIENTS, "" },
    [MST_STATE_LOGGING] = { MST_CODE_LOGGING, "Look at what takes the log: a disk, or the program "
                            "behind a piped log." },
};

static const struct in_state *find_state(const char *state)
{
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        if (strcmp(mst_state_names[i], state) == 0)
            return &states[i];
    return &states[MST_STATE_IDLE];
}

/* NULL: it is not of this machine, and nothing more is known of its processes. */
static const struct mst_explained_server *local_server(const struct mst_explanation *e,
                                                       const struct mst_held *held)
{
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (&e->servers[i].now == held->server)
            return mst_source_local(e->servers[i].source) ? &e->servers[i] : NULL;
    return NULL;
}

/* What /proc says of the held workers at this moment: how many run or want a CPU, are stopped, or
 * wait uninterruptibly (mostly for a disk), and one of each of these two (pid 0: there is none). */
struct in_states {
    uint64_t running, stopped, uninterruptible;
    uint64_t stopped_pid, uninterruptible_pid;
};

static struct in_states look_at_states(const struct mst_explanation *e,
                                       const struct mst_held *held)
{
    const struct mst_present_worker *w;
    struct in_states in = { 0 };
    struct mst_proc process;
    size_t i;

    if (local_server(e, held) == NULL)
        return in;
    for (i = 0; i < held->server->worker_count; i++) {
        w = &held->server->workers[i];
        if (!w->has_request || !mst_proc_stat(w->pid, &process) ||
            (held->pool != NULL && strcmp(w->label, held->pool->label) != 0))
            continue;
        in.running += process.state == 'R';
        if (mst_proc_is_stopped(&process) && in.stopped++ == 0)
            in.stopped_pid = w->pid;
        if (process.state == 'D' && in.uninterruptible++ == 0)
            in.uninterruptible_pid = w->pid;
    }
    return in;
}

/* A process that is stopped keeps its request, whatever that waits for; where few are, what helps
 * the others remains the advice. One that waits uninterruptibly is told where most do, and nothing
 * says for what. */
static void note_halted(struct mst_finding *f, const struct mst_explanation *e,
                        const struct mst_held *held)
{
    struct in_states in = look_at_states(e, held);
    bool is_stopped = in.stopped > 0;
    uint64_t now_ns = mst_realtime_ns();
    const struct mst_halted halted = {
        .pid = is_stopped ? in.stopped_pid : in.uninterruptible_pid, .since_ns = now_ns,
        .until_ns = now_ns, .requests = 1, .state = is_stopped ? 'T' : 'D',
        .is_php = held->server->is_php,
    };
    char action[MST_ACTION_MAX];

    if (!is_stopped && (f->code != MST_CODE_STUCK_REQUESTS || 2 * in.uninterruptible < held->busy))
        return;
    if (is_stopped)
        mst_found_number(f, MST_STOPPED_PID, halted.pid);
    MST_SAY(action, "%s", f->action);
    mst_say_halted(f, &halted);
    if (is_stopped && 2 * in.stopped < held->busy)
        MST_ACTION(f, "%s", action);
}

/* What a server waits for now is not in its logs yet. */
static const char *action_now(enum mst_code code, const char *wait)
{
    const char *action = mst_wait_action(wait);

    if (code == MST_CODE_DATABASE)
        return "Look what it does now (MariaDB, MySQL: SHOW FULL PROCESSLIST; PostgreSQL: "
               "pg_stat_activity): a lock, or a query without an index, which is in no slow log "
               "before it ends.";
    if (code == MST_CODE_DNS)
        return "Look whether the name servers in /etc/resolv.conf answer. Use a caching resolver "
               "on this machine, or addresses instead of names.";
    return action != NULL ? action : "Shorten what they wait for.";
}

/* Whether what PHP waits for is the only Apache here, or the one in front of it. */
static bool is_own_end(struct mst_explanation *e, const struct mst_held *held)
{
    const struct mst_explained_server *s = local_server(e, held);
    enum mst_code code = mst_code_of(held->example->wait);
    struct mst_inquiry q = { .s = &e->summary, .db = mst_archive_db(e->archive) };
    const struct mst_summary_server *summary, *own;

    if (s == NULL || (code != MST_CODE_HTTP && code != MST_CODE_STREAM))
        return false;
    summary = mst_explain_summary_of(e, s);
    own = mst_own_end(&q, held->example->wait_end);
    return own != NULL && summary != NULL &&
           (own == summary || own == mst_summary_front_of(&e->summary, summary, own));
}

static void judge_wait(struct mst_finding *f, struct mst_explanation *e,
                       const struct mst_held *held)
{
    const struct mst_present_worker *w = held->example;

    f->code = mst_code_of(w->wait);
    f->certainty = MST_CERTAIN;
    snprintf(f->subject, sizeof f->subject, "%s", w->wait_end);
    MST_ACTION(f, "%s%s%s%s More workers would wait there, too.",
               action_now(f->code, w->wait),
               w->path[0] != '\0' ? " One of them runs " : "", w->path,
               w->path[0] != '\0' ? "." : "");
    if (is_own_end(e, held))
        mst_found_answer(f, MST_CALLS_ITSELF, MST_ANSWER_YES);
}

/* Behind the text, which is said of all that is held. */
static void say_more(struct mst_finding *f, const struct mst_explanation *e,
                     const struct mst_held *held)
{
    if (mst_finding_answer(f, MST_CALLS_ITSELF) == MST_ANSWER_YES)
        mst_say_own_end(f, held->example->wait_end);
    note_halted(f, e, held);
}

static void judge_in_php(struct mst_finding *f)
{
    f->code = MST_CODE_BACKEND;
    f->certainty = MST_LIKELY;
    snprintf(f->subject, sizeof f->subject, "PHP");
    MST_ACTION(f, "Look first at what PHP's workers do: they are below. More workers of Apache "
               "would wait for them, too.");
}

static void judge_state(struct mst_finding *f, struct mst_explanation *e, struct mst_held *held)
{
    const struct in_state *in = find_state(held->example->state);
    uint64_t pid = held->example->pid;

    f->code = in->code;
    f->certainty = MST_LIKELY;
    MST_ACTION(f, "%s", in->action);
    if (f->code != MST_CODE_STUCK_REQUESTS)
        return;
    held->computes = 2 * look_at_states(e, held).running > held->busy;
    if (held->computes) {
        f->code = MST_CODE_APPLICATION_CPU;
        if (held->code_count > 0)
            MST_ACTION(f, "Look there for a loop that does not end, or ends late.");
        else
            MST_ACTION(f, "mpmstat.profile = 100 in php.ini names the function; so does perf top "
                       "-p %" PRIu64 ".", pid);
    } else {
        f->certainty = MST_CANNOT_TELL;
        MST_ACTION(f, "What they wait for is not measured. gdb -p %" PRIu64 " -batch -ex bt tells "
                   "it.", pid);
    }
}

static void judge(struct mst_finding *f, struct mst_explanation *e, struct mst_held *held)
{
    if (mst_code_of(held->example->wait) != MST_CODE_COUNT)
        judge_wait(f, e, held);
    else if (held->php_busy > 0)
        judge_in_php(f);
    else
        judge_state(f, e, held);
}

/* The only path that more than half of the requests in flight in Apache can have, by a vote of all
 * (Boyer and Moore). "" where paths are not shown. */
static const char *path_of_most(const struct mst_explanation *e)
{
    const char *most = "", *path;
    uint64_t votes = 0;
    size_t i, k;

    for (i = 0; i < e->server_count; i++)
        for (k = 0; !e->servers[i].now.is_php && k < e->servers[i].now.worker_count; k++) {
            path = e->servers[i].now.workers[k].path;
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
        for (k = 0; !e->servers[i].now.is_php && k < e->servers[i].now.worker_count; k++) {
            path = e->servers[i].now.workers[k].path;
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

/* What Apache's workers wait for in PHP is what PHP's are stuck in; of several PHPs that are stuck,
 * it is not known which. */
static void follow_php(struct mst_finding *f, struct mst_explanation *e)
{
    struct mst_finding root = { .share_milli = MST_UNKNOWN };
    struct mst_held *php = NULL;
    size_t i, count = 0;

    for (i = 0; i < e->stuck_count; i++)
        if (e->stuck[i].server->is_php) {
            php = &e->stuck[i];
            count++;
        }
    if (count != 1)
        return;
    judge(&root, e, php);
    mst_follows(f, &root, false);
}

static bool add_stuck(struct mst_explanation *e, struct mst_held *held, uint64_t rank)
{
    struct mst_finding f = { .share_milli = MST_UNKNOWN };
    char sentence[MST_HELD_MAX];

    judge(&f, e, held);
    mst_held_say(sentence, held);
    MST_TEXT(&f, "%s", sentence);
    say_page(&f, e);
    say_more(&f, e, held);
    if (f.code == MST_CODE_BACKEND && !held->server->is_php)
        follow_php(&f, e);
    f.requests = held->count;
    f.weight = 2 * MST_WEIGHT_FIRST + rank;
    mst_found_number(&f, "workers_limit", held->limit);
    mst_found_number(&f, "busy", held->busy);
    mst_found_number(&f, "longest_ns", held->longest_ns);
    mst_found_number(&f, MST_NONE_TAKEN_NS, held->idle_ns);
    return mst_findings_add(&e->summary, &f);
}

/* Workers are left, but every request that came in waits for the same: nobody gets an answer. */
static bool all_wait(const struct mst_explained_server *s, const struct mst_held *held)
{
    return held->count >= MST_STALL_REQUESTS_MIN && held->count == s->now.worker_count &&
           held->example->wait[0] != '\0';
}

/* It comes before what delayed requests that ended, and PHP before the Apache in front of it. */
static uint64_t weight_of_long(const struct mst_explained_server *s, const struct mst_held *held,
                               bool any_ended)
{
    uint64_t share = held->busy < held->limit ? held->busy * 1000 / held->limit : 1000;

    if (all_wait(s, held))
        return mst_server_is_php(s) ? 1002 : 1001;
    if (!any_ended && share < MST_HEADLINE_MILLI)
        return MST_HEADLINE_MILLI;   /* there is nothing else to tell */
    return share;
}

/* Most workers wait for the same, and not one of them gets it soon: a lock that is passed on every
 * few seconds leaves no server stuck, and what ended before tells of its past. */
static bool most_wait(const struct mst_explanation *e, const struct mst_explained_server *s,
                      struct mst_held *held)
{
    return e->stuck_count == 0 && s->now.limit != MST_UNKNOWN && s->now.limit > 1 &&
           mst_present_is_long(&s->now, MST_STUCK_NS, held) && 2 * held->count > held->limit &&
           mst_code_of(held->example->wait) != MST_CODE_COUNT;
}

/* Whose workers these are: the same server's, or those of the Apache in front of it. */
static bool is_of_their_server(struct mst_explanation *e, const struct mst_finding *f,
                               const struct mst_explained_server *s)
{
    const struct mst_summary_server *own = mst_explain_summary_of(e, s), *front;

    if (own == NULL || f->of != NULL)
        return own == NULL || f->of == own;
    front = mst_summary_front_of(&e->summary, own, own);
    return f->server[0] == '\0' ||
           strncmp(f->server, mst_summary_called(front), sizeof f->server - 1) == 0;
}

static bool add_most(struct mst_explanation *e, const struct mst_explained_server *s,
                     struct mst_held *held)
{
    struct mst_finding f = { .share_milli = MST_UNKNOWN, .requests = held->count,
                             .weight = 2 * MST_WEIGHT_FIRST };
    char sentence[MST_HELD_MAX];
    size_t i;

    judge_wait(&f, e, held);
    for (i = 0; i < e->summary.finding_count; i++)
        if ((e->summary.findings[i].code == MST_CODE_PHP_WORKERS ||
             e->summary.findings[i].code == MST_CODE_APACHE_WORKERS) &&
            is_of_their_server(e, &e->summary.findings[i], s))
            mst_follows(&e->summary.findings[i], &f, false);   /* more would wait there, too */
    mst_held_say(sentence, held);
    MST_TEXT(&f, "%s", sentence);
    say_more(&f, e, held);
    mst_found_number(&f, "longest_ns", held->longest_ns);
    return mst_findings_add(&e->summary, &f);
}

/* Requests that are in flight for longer than any that ended: the figures of those say nothing of
 * them; and of all that are in flight, where all wait. What stuck workers do is told already. */
static bool add_long(struct mst_explanation *e, const struct mst_explained_server *s)
{
    const struct mst_summary_server *summary = mst_explain_summary_of(e, s);
    struct mst_finding f = {
        .code = MST_CODE_STUCK_REQUESTS, .certainty = MST_CERTAIN, .share_milli = MST_UNKNOWN,
    };
    bool any_ended = summary != NULL && summary->requests > 0;
    uint64_t longest = any_ended ? summary->phases[MST_PHASE_TOTAL].max_ns : 0;
    char sentence[MST_HELD_MAX];
    struct mst_held held;

    if (most_wait(e, s, &held))
        return add_most(e, s, &held);
    longest = longest < MST_STUCK_NS ? MST_STUCK_NS : longest;
    if (e->stuck_count > 0 || s->now.limit == MST_UNKNOWN || s->now.limit == 0)
        return true;
    if (!(mst_present_is_long(&s->now, MST_STUCK_NS, &held) && all_wait(s, &held)) &&
        !mst_present_is_long(&s->now, longest, &held))
        return true;
    if (held.example->wait[0] != '\0')
        snprintf(f.subject, sizeof f.subject, "%s", held.example->wait_end);
    f.requests = held.busy;
    f.weight = weight_of_long(s, &held, any_ended);
    mst_found_number(&f, "longest_ns", held.longest_ns);
    mst_held_say(sentence, &held);
    MST_TEXT(&f, "%s%s", sentence, any_ended && held.than_ns == longest ?
             " No request that ended took so long." : "");
    MST_ACTION(&f, "Look at these requests: below are their labels, pids and what they wait for.");
    note_halted(&f, e, &held);
    return mst_findings_add(&e->summary, &f);
}

static bool knows_cpu(const struct mst_explanation *e)
{
    return mst_findings_get(&e->summary, MST_CODE_CPU, "") != NULL ||
           mst_findings_get(&e->summary, MST_CODE_CPU_NEIGHBOUR, "") != NULL;
}

/* Threads that wait for a CPU are known over the last seconds only, and neither whose work it was
 * nor whom it delayed, if the requests do not tell: so it is not a headline. */
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
    if (e->stuck_count > 0 || knows_cpu(e) || !e->knows_pressure || ago_s > spans_s[i] / 2 ||
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

/* Of several servers the one behind the others has the cause: the weights keep their order. */
bool mst_explain_now(struct mst_explanation *e)
{
    bool fine = mst_explain_down(e) && add_cpu(e);
    size_t i;

    for (i = 0; i < e->stuck_count && fine; i++)
        fine = add_stuck(e, &e->stuck[i], e->stuck_count - i);
    for (i = 0; i < e->server_count && fine; i++)
        fine = add_long(e, &e->servers[i]);
    return fine;
}

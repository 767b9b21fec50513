/* settings.c - what of the findings' actions a program can do: the settings that change.c finds,
 * and how they are said. Where it finds none, the action's words remain.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "archive/states.h"
#include "findings/change.h"
#include "findings/inquiry.h"
#include "findings/rules.h"
#include "findings/say.h"

#define BACKLOG_MOST 65535u   /* FPM and the kernel take no more */

/* ---- what to change -------------------------------------------------------------------------- */

/* How many workers to have ready before the load: the largest of those that were busy at most, of
 * the requests that wanted to be served at once, and of the load tool's connections. The last two
 * count up to the limit. */
static uint64_t ready_for(const struct mst_inquiry *q, const struct mst_summary_server *server)
{
    uint64_t wanted = q->b.fleet ? 0 : mst_known(q->s->client.concurrency);
    uint64_t at_once = mst_known(server->at_once_p99), busy = mst_known(server->max_busy);

    wanted = at_once > wanted ? at_once : wanted;
    if (server->workers_limit != MST_UNKNOWN && wanted > server->workers_limit)
        wanted = server->workers_limit;
    return wanted > busy ? wanted : busy;
}

/* The longest accept queue that can be set: net.core.somaxconn when the recording began, at most
 * BACKLOG_MOST. BACKLOG_MOST where somaxconn is not known. */
static uint64_t somaxconn(struct mst_inquiry *q)
{
    struct mst_query row = mst_query_ask(q->db, "SELECT CAST(value AS INTEGER) AS number FROM "
        "environment WHERE name = 'somaxconn' AND run_id = :id", q->s->id);
    uint64_t most = mst_end_with_number(q, &row);

    return most < BACKLOG_MOST ? most : BACKLOG_MOST;
}

/* Twice as much, at most `most`; nothing where it is not known how much there is. */
static void double_alone(struct mst_changes *c, const struct mst_changed *of, enum mst_alone which,
                         uint64_t now, uint64_t most)
{
    if (now != MST_UNKNOWN && now > 0 && now < most)
        mst_change_alone(c, of, which, now, now < most / 2 ? 2 * now : most);
}

static void change_what_is_advised(struct mst_inquiry *q, const struct mst_finding *f,
                                   struct mst_changes *c, const struct mst_changed *of)
{
    uint64_t workers = mst_finding_number(f, "workers_advised"), factor;
    const struct mst_summary_server *server = of->server;

    switch (f->code) {
    case MST_CODE_APACHE_WORKERS:
    case MST_CODE_PHP_WORKERS:
        if (workers != MST_UNKNOWN && workers > mst_known(of->limit))
            mst_change_limit(c, of, workers);
        break;
    case MST_CODE_APACHE_SPAWNING:
    case MST_CODE_PHP_SPAWNING:
        if (workers != MST_UNKNOWN)
            mst_change_limit_and_ready(c, of, workers);
        else
            mst_change_ready(c, of, ready_for(q, server));
        break;
    case MST_CODE_CHILD_CHURN:
        mst_change_lifetime(c, of);
        break;
    case MST_CODE_KEEPALIVE:
        mst_change_alone(c, of, MST_ALONE_KEEPALIVE, MST_UNKNOWN, 1);
        break;
    case MST_CODE_EVENT_CONNECTIONS:
        factor = mst_setting_in_force(of, "AsyncRequestWorkerFactor");
        double_alone(c, of, MST_ALONE_ASYNC_FACTOR, factor != MST_UNKNOWN && factor > 0 ? factor :
                     MST_DEFAULT_ASYNC_FACTOR, 64);
        break;
    case MST_CODE_H2_WORKERS:
        double_alone(c, of, MST_ALONE_HTTP2_WORKERS, server->resources.http2_workers_limit, 4096);
        break;
    case MST_CODE_ACCEPT_QUEUE:
        double_alone(c, of, MST_ALONE_LISTEN_BACKLOG, server->listen_queue_limit, somaxconn(q));
        break;
    case MST_CODE_PHP_ACCEPT_QUEUE:
        double_alone(c, of, MST_ALONE_FPM_BACKLOG, server->listen_queue_limit, somaxconn(q));
        break;
    case MST_CODE_DESCRIPTORS:
        if (mst_summary_is_php(server))
            double_alone(c, of, MST_ALONE_FPM_FILES, server->resources.files_limit, 1u << 20);
        break;
    default:
        break;
    }
}

/* ---- how it is said -------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4)))
static void add_words(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* What the settings do, where they say more than the action's own words. NULL: the words remain. */
static const char *purpose_of(enum mst_code code)
{
    switch (code) {
    case MST_CODE_APACHE_SPAWNING:
    case MST_CODE_PHP_SPAWNING:
        return "Start more processes before the load comes.";
    case MST_CODE_CHILD_CHURN:
        return "Let processes serve more requests.";
    case MST_CODE_EVENT_CONNECTIONS:
        return "Let each process accept more connections for each idle worker.";
    case MST_CODE_H2_WORKERS:
        return "Allow more of HTTP/2's workers in each child.";
    case MST_CODE_ACCEPT_QUEUE:
        return "Make the accept queue longer, or have more workers take connections.";
    case MST_CODE_PHP_ACCEPT_QUEUE:
        return "Make the accept queue longer.";
    case MST_CODE_DESCRIPTORS:
        return "Allow more open files.";
    default:
        return NULL;
    }
}

/* "Edit FILE and FILE, check with COMMAND, then reload." */
static void say_files(char *text, size_t size, const struct mst_changes *c)
{
    const char *lead = " Edit ";
    size_t i, k;

    for (i = 0; i < c->count; i++) {
        for (k = 0; k < i && strcmp(c->settings[k].file, c->settings[i].file) != 0; k++)
            ;
        if (k < i || c->settings[i].file[0] == '\0')
            continue;
        add_words(text, size, "%s%s", lead, c->settings[i].file);
        lead = " and ";
    }
    add_words(text, size, "%s%s, then %s.", lead[1] == 'E' ? " Check with " : ", check with ",
              c->check[0] != '\0' ? c->check : "the server's own test (-t)",
              c->restart ? "stop and start it: a reload is not enough" : "reload");
}

void mst_say_changes(char *text, size_t size, const struct mst_changes *c, size_t named)
{
    const char *lead = named > 0 ? " Also set" : " Set";
    size_t i;

    if (c->count == 0)
        return;
    for (i = named; i < c->count; i++, lead = ",")
        add_words(text, size, "%s %s to %s (now %s%s)", lead, c->settings[i].name,
                  c->settings[i].to, c->settings[i].now,
                  c->settings[i].line == MST_UNKNOWN && c->settings[i].file[0] != '\0' ?
                  ", set in no file" : "");
    add_words(text, size, "%s", c->count > named ? "." : "");
    say_files(text, size, c);
}

/* ---- whose it is ----------------------------------------------------------------------------- */

/* The pool of an FPM that the finding is of, and its limit. */
static void find_pool(struct mst_changed *of, const struct mst_finding *f)
{
    const struct mst_summary_server *server = of->server;
    size_t i;

    for (i = 0; i < server->pool_count; i++)
        if (server->pool_count == 1 || strcmp(server->pools[i].label, f->subject) == 0) {
            of->pool = server->pools[i].label;
            of->limit = server->pools[i].workers_limit;
        }
    if (f->code == MST_CODE_PHP_ACCEPT_QUEUE && server->listen_pool != NULL)
        of->pool = server->listen_pool;
}

uint64_t mst_setting_number(struct mst_inquiry *q, const struct mst_summary_server *apache,
                            const char *directive)
{
    return mst_setting_in_force(&(struct mst_changed){ q->db, q->s, apache, NULL,
                                                       apache->workers_limit }, directive);
}

/* What is predicted is predicted of all settings that the advice has: the limit of workers is noted
 * with the prediction, and the others go with it. */
static void note_in_ledger(struct mst_finding *f)
{
    size_t i;

    for (i = 0; i < f->changes.count && f->ledger.setting_count > 0; i++) {
        const struct mst_setting *s = &f->changes.settings[i];

        if (!mst_ledger_is_limit(s->name) &&
            !mst_ledger_add_setting(&f->ledger, s->section, s->name, s->to))
            f->ledger.setting_count = 0;
    }
}

void mst_find_settings(struct mst_inquiry *q, size_t first)
{
    size_t i;

    for (i = first; i < q->s->finding_count && !q->failed; i++) {
        struct mst_finding *f = &q->s->findings[i];
        const struct mst_summary_server *server = f->of != NULL ? f->of : q->b.front;
        struct mst_changed of = { q->db, q->s, server, NULL, MST_UNKNOWN };
        bool of_workers = f->code == MST_CODE_PHP_WORKERS || f->code == MST_CODE_APACHE_WORKERS;

        if (server == NULL || f->action[0] == '\0' ||
            (mst_summary_is_php(server) && server->sapi_kind != MST_SAPI_FPM))
            continue;
        of.limit = server->workers_limit;
        if (mst_summary_is_php(server))
            find_pool(&of, f);
        change_what_is_advised(q, f, &f->changes, &of);
        note_in_ledger(f);
        if (f->changes.count > 0 && purpose_of(f->code) != NULL)
            MST_ACTION(f, "%s", purpose_of(f->code));
        mst_say_changes(f->action, sizeof f->action, &f->changes, of_workers ? 1 : 0);
    }
}

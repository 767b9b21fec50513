/* settings.c - the values of the server's configuration that an action changes, so that the server
 * accepts them together with the rest of that configuration; and the command that checks them.
 *
 * FPM refuses to start with values that contradict each other (fpm_conf_post_process()), Apache
 * lowers them to what its other limits allow. Without the configuration, the action's words remain.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "archive/states.h"
#include "findings/inquiry.h"
#include "findings/rules.h"
#include "findings/say.h"

/* The defaults of httpd 2.4 where a directive stands nowhere. */
#define LISTEN_BACKLOG   511u
#define BACKLOG_MOST     65535u   /* FPM and the kernel take no more */

struct configuration {
    struct mst_inquiry *q;
    const struct mst_summary_server *server;
    char     prefix[MST_PREFIX_MAX];   /* of its names in the environment: "apache", "php2" */
    char     pool[MST_NAME_MAX];   /* FPM's; "": it is an Apache */
    struct mst_finding *f;
    bool     restarts;          /* a reload does not change it */
};

/* ---- what is configured --------------------------------------------------------------------- */

static bool ask(const struct configuration *c, const char *name, char *value, size_t size)
{
    struct mst_query row = mst_query_ask(c->q->db, "SELECT value FROM environment WHERE run_id = "
                                         ":id AND name = :name", c->q->s->id);
    bool found;

    mst_query_set_text(&row, ":name", name);
    found = mst_query_next(&row) && mst_row_text(&row, "value") != NULL;
    if (found)
        snprintf(value, size, "%s", mst_row_text(&row, "value"));
    c->q->failed |= !mst_query_done(&row);
    return found;
}

/* The value of a setting in the files, and the file; false: it stands in none that was read. */
static bool find_in_files(const struct configuration *c, const char *name, char now[24],
                          char file[160])
{
    char full[160], value[256];
    size_t n;

    if (c->pool[0] != '\0')
        snprintf(full, sizeof full, "%s_pool %s %s", c->prefix, c->pool, name);
    else
        snprintf(full, sizeof full, "%s_file %s", c->prefix, name);
    if (!ask(c, full, value, sizeof value))
        return false;
    n = strcspn(value, " ");
    snprintf(now, 24, "%.*s", (int)n, value);
    snprintf(file, 160, "%s", value[n] != '\0' ? value + n + 1 : "");
    return true;
}

/* Whether these are the settings of that Apache. The environment numbers servers as the recording
 * met them: of several, one that was lost at the start has none, and the others' do not fit. */
static bool are_its(const struct configuration *c, const char *settings)
{
    static const char workers[] = "MaxRequestWorkers ";
    size_t apaches = 0, i;

    if (strncmp(settings, workers, strlen(workers)) == 0)
        return strtoull(settings + strlen(workers), NULL, 10) == c->server->workers_limit;
    for (i = 0; i < c->q->s->server_count; i++)
        apaches += !mst_summary_is_php(&c->q->s->servers[i]);
    return apaches == 1;
}

/* A number in force: what the Apache told, else what the files have. MST_UNKNOWN: neither. */
static uint64_t number_of(const struct configuration *c, const char *name)
{
    char full[48], all[512], sought[48], now[24], file[160];
    const char *at = NULL;

    snprintf(full, sizeof full, "%s_settings", c->prefix);
    if (c->pool[0] == '\0' && ask(c, full, all, sizeof all) && are_its(c, all)) {
        snprintf(sought, sizeof sought, "%s ", name);
        for (at = strstr(all, sought); at != NULL && at != all && at[-1] != ' ';)
            at = strstr(at + 1, sought);
    }
    if (at != NULL)
        return strtoull(at + strlen(sought), NULL, 10);
    return find_in_files(c, name, now, file) && now[0] >= '0' && now[0] <= '9'
         ? strtoull(now, NULL, 10) : MST_UNKNOWN;
}

/* Where a setting belongs that stands nowhere: beside those of the same kind. */
static void find_neighbour(const struct configuration *c, char file[160])
{
    static const char *const neighbours[] = {
        "pm.max_children", "MaxRequestWorkers", "ThreadsPerChild", "StartServers",
        "KeepAliveTimeout",
    };
    char now[24];
    size_t i;

    file[0] = '\0';
    for (i = 0; i < sizeof neighbours / sizeof *neighbours; i++)
        if (find_in_files(c, neighbours[i], now, file))
            return;
}

/* ---- what to change -------------------------------------------------------------------------- */

static void change(struct configuration *c, const char *name, const char *to)
{
    struct mst_finding *f = c->f;
    struct mst_setting *s = &f->settings[f->setting_count];
    uint64_t now;

    if (f->setting_count == MST_FINDING_SETTINGS)
        return;
    *s = (struct mst_setting){ .name = name };
    if (!find_in_files(c, name, s->now, s->file))
        find_neighbour(c, s->file);
    now = s->now[0] == '\0' ? number_of(c, name) : MST_UNKNOWN;
    if (now != MST_UNKNOWN)
        MST_SAY(s->now, "%" PRIu64, now);
    MST_SAY(s->to, "%s", to);
    if (strcmp(s->now, s->to) != 0)
        f->setting_count++;
}

static void change_number(struct configuration *c, const char *name, uint64_t to)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, to);
    change(c, name, text);
}

/* Twice as much; nothing where it is not known how much there is. */
static void double_number(struct configuration *c, const char *name, uint64_t now, uint64_t most)
{
    if (now != MST_UNKNOWN && now > 0 && now < most)
        change_number(c, name, now < most / 2 ? 2 * now : most);
}

/* A pool that has all its processes from its start: the spare values do not count then. */
static void change_to_static(struct configuration *c)
{
    char now[24], file[160];

    if (find_in_files(c, "pm", now, file) && strcmp(now, "static") != 0)
        change(c, "pm", "static");
}

/* More of pm.max_children contradicts no spare value. */
static void change_pool(struct configuration *c, uint64_t workers)
{
    change_number(c, "pm.max_children", workers);
    if (mst_finding_number(c->f, "start_servers_too") == 1)
        change_to_static(c);
}

/* MaxRequestWorkers is a multiple of ThreadsPerChild, of no more processes than ServerLimit. */
static void change_apache(struct configuration *c, uint64_t workers)
{
    uint64_t threads = number_of(c, "ThreadsPerChild"), limit = number_of(c, "ServerLimit");
    uint64_t processes;

    threads = threads == MST_UNKNOWN || threads == 0 ? 1 : threads;
    processes = workers / threads + (workers % threads != 0);
    change_number(c, "MaxRequestWorkers", processes * threads);
    if (limit != MST_UNKNOWN && processes > limit) {
        change_number(c, "ServerLimit", processes);
        c->restarts = true;
    }
}

/* As many from the start as would have been busy, and as many in reserve: those that waited came
 * too early for the processes that were there. */
static void change_spares(struct configuration *c)
{
    uint64_t threads = number_of(c, "ThreadsPerChild"), limit = c->server->workers_limit;
    uint64_t busy = c->server->max_busy, at_once = c->server->at_once_p99;

    if (busy == MST_UNKNOWN || busy == 0 || limit == MST_UNKNOWN || threads == 0)
        return;
    if (at_once != MST_UNKNOWN && at_once > busy)
        busy = at_once < limit ? at_once : limit;
    if (number_of(c, "MinSpareThreads") != MST_UNKNOWN && threads != MST_UNKNOWN) {
        change_number(c, "StartServers", busy / threads + (busy % threads != 0));
        change_number(c, "MinSpareThreads", busy);
        change_number(c, "MaxSpareThreads", limit);
    } else if (number_of(c, "MinSpareServers") != MST_UNKNOWN) {
        change_number(c, "StartServers", busy);
        change_number(c, "MinSpareServers", busy);
        change_number(c, "MaxSpareServers", limit);
    }
}

static void change_what_is_advised(struct configuration *c)
{
    uint64_t workers = mst_finding_number(c->f, "workers_advised");
    uint64_t now = mst_finding_number(c->f, "workers_limit"), backlog;

    switch (c->f->code) {
    case MST_CODE_APACHE_WORKERS:
    case MST_CODE_PHP_WORKERS:
        if (workers != MST_UNKNOWN && now != MST_UNKNOWN && workers > now)
            (c->pool[0] != '\0' ? change_pool : change_apache)(c, workers);
        break;
    case MST_CODE_PHP_SPAWNING:
        change_to_static(c);
        break;
    case MST_CODE_APACHE_SPAWNING:
        change_spares(c);
        break;
    case MST_CODE_KEEPALIVE:
        change_number(c, "KeepAliveTimeout", 1);
        break;
    case MST_CODE_EVENT_CONNECTIONS:
        double_number(c, "AsyncRequestWorkerFactor", number_of(c, "AsyncRequestWorkerFactor"), 64);
        break;
    case MST_CODE_H2_WORKERS:
        double_number(c, "H2MaxWorkers", c->server->resources.http2_workers_limit, 4096);
        break;
    case MST_CODE_ACCEPT_QUEUE:
        backlog = number_of(c, "ListenBacklog");
        double_number(c, "ListenBacklog", backlog != MST_UNKNOWN ? backlog : LISTEN_BACKLOG,
                      BACKLOG_MOST);
        c->restarts = true;   /* a reload keeps the sockets */
        break;
    case MST_CODE_PHP_ACCEPT_QUEUE:
        double_number(c, "listen.backlog", c->server->listen_queue_limit, BACKLOG_MOST);
        c->restarts = true;
        break;
    case MST_CODE_CHILD_CHURN:
        change_number(c, c->pool[0] != '\0' ? "pm.max_requests" : "MaxConnectionsPerChild", 0);
        break;
    default:
        break;
    }
}

/* ---- how it is said -------------------------------------------------------------------------- */

/* "php-fpm8.2 -t" of the very program that runs. */
static void find_check(const struct configuration *c)
{
    char name[48], program[48];

    if (c->pool[0] == '\0') {
        MST_SAY(c->f->check, "apachectl configtest");
        return;
    }
    snprintf(name, sizeof name, "%s_program", c->prefix);
    if (!ask(c, name, program, sizeof program))
        MST_SAY(program, "php-fpm");
    MST_SAY(c->f->check, "%s -t", program);
}

__attribute__((format(printf, 2, 3)))
static void add_words(struct mst_finding *f, const char *format, ...)
{
    size_t used = strlen(f->action);
    va_list args;

    va_start(args, format);
    vsnprintf(f->action + used, sizeof f->action - used, format, args);
    va_end(args);
}

static bool is_named(const struct mst_finding *f, const struct mst_setting *s)
{
    char words[96];

    snprintf(words, sizeof words, "%s to %s ", s->name, s->to);
    return strstr(f->action, words) != NULL;
}

/* Those that the action does not name yet, where they stand, and what checks them. */
static void say_settings(const struct configuration *c)
{
    struct mst_finding *f = c->f;
    const char *lead = " Set";
    size_t i;

    for (i = 0; i < f->setting_count; i++)
        if (is_named(f, &f->settings[i]))
            lead = " Also set";
    for (i = 0; i < f->setting_count; i++) {
        const struct mst_setting *s = &f->settings[i];

        if (is_named(f, s))
            continue;
        add_words(f, "%s %s to %s", lead, s->name, s->to);
        if (s->now[0] != '\0')
            add_words(f, " (now %s)", s->now);
        lead = ",";
    }
    if (lead[0] == ',')
        add_words(f, ".");
    if (f->settings[0].file[0] != '\0')
        add_words(f, " Edit %s, check with %s, then %s.", f->settings[0].file, f->check,
                  c->restarts ? "restart" : "reload");
    else
        add_words(f, " Check with %s, then %s.", f->check, c->restarts ? "restart" : "reload");
}

/* ---- whose it is ----------------------------------------------------------------------------- */

static void find_prefix(struct configuration *c)
{
    const struct mst_summary_server *other;
    size_t nth = 1;

    for (other = c->q->s->servers; other < c->server; other++)
        nth += mst_summary_is_php(other) == mst_summary_is_php(c->server);
    mst_server_prefix(c->prefix, mst_summary_is_php(c->server) ? MST_PRODUCER_PHP
                                                               : MST_PRODUCER_APACHE, nth);
}

/* The pool of an FPM that the finding is of. False: it is not known, or its file is not the one
 * that FPM has read. */
static bool find_pool(struct configuration *c)
{
    char now[24], file[160];
    uint64_t limit = c->server->workers_limit;
    size_t i;

    for (i = 0; i < c->server->pool_count; i++)
        if (c->server->pool_count == 1 || strcmp(c->server->pools[i].label, c->f->subject) == 0) {
            snprintf(c->pool, sizeof c->pool, "%s", c->server->pools[i].label);
            limit = c->server->pools[i].workers_limit;
        }
    return c->pool[0] != '\0' && find_in_files(c, "pm.max_children", now, file) &&
           strtoull(now, NULL, 10) == limit;
}

static bool is_phps(const struct mst_finding *f)
{
    return f->code == MST_CODE_PHP_WORKERS || f->code == MST_CODE_PHP_SPAWNING ||
           f->code == MST_CODE_PHP_ACCEPT_QUEUE ||
           (f->code == MST_CODE_CHILD_CHURN && strncmp(f->text, "PHP", 3) == 0);
}

uint64_t mst_setting_number(struct mst_inquiry *q, const struct mst_summary_server *apache,
                            const char *directive)
{
    struct configuration c = { .q = q, .server = apache };

    find_prefix(&c);
    return number_of(&c, directive);
}

void mst_find_settings(struct mst_inquiry *q, size_t first)
{
    size_t i;

    for (i = first; i < q->s->finding_count && !q->failed; i++) {
        struct configuration c = { .q = q, .f = &q->s->findings[i] };

        c.server = is_phps(c.f) ? q->b.php : q->b.front;
        if (c.server == NULL || (is_phps(c.f) && c.server->sapi_kind != MST_SAPI_FPM))
            continue;
        find_prefix(&c);
        if (is_phps(c.f) && !find_pool(&c))
            continue;
        change_what_is_advised(&c);
        if (c.f->setting_count == 0)
            continue;
        find_check(&c);
        say_settings(&c);
    }
}

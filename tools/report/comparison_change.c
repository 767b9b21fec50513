/* comparison_change.c - whether B is the change that a prediction is for: see comparison_ledger.h.
 *
 * What a server does follows from its limits, its settings, its CPUs and its load. Each of them has
 * to be as the change says, or as it is in A. What else differs is a warning of the comparison.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "console/format.h"
#include "report/comparison_ledger.h"
#include "report/comparison_steps.h"
#include "segment/format.h"

#define CLAUSES_MOST 3u       /* that are said */
#define LIST_MOST    16384u   /* bytes of what a server tells: none tells as many */

/* A prediction beside a run of B. */
struct matching {
    apr_pool_t *pool;
    const struct mst_comparison_prediction *p;
    const struct mst_compare_run *a, *b;
    const char *where;           /* "B", of several runs "run 7 of B" */
    struct mst_list clauses;
};

__attribute__((format(printf, 2, 3)))
static void differ(struct matching *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mst_list_addv(m->pool, &m->clauses, format, args);
    va_end(args);
}

/* What is not known of a run is NULL: then there is nothing to compare. */
static void match_text(struct matching *m, const char *what, const char *a, const char *b)
{
    if (a != NULL && b != NULL && strcmp(a, b) != 0)
        differ(m, "%s is %s in %s and %s in A", what, b, m->where, a);
}

/* ---- limits ------------------------------------------------------------------------ */

static bool has_pools(const struct mst_compare_run *run)
{
    const struct mst_summary_server *php = mst_summary_behind(&run->summary);

    return php != NULL && php->pool_count > 1;
}

const char *mst_comparison_called(apr_pool_t *pool, const struct mst_compare_run *run,
                                  const char *section, const char *name)
{
    return section[0] != '\0' && has_pools(run) ? mst_pool_printf(pool, "%s of %s", name, section)
                                                : name;
}

static uint64_t limit_of_pool(const struct mst_summary_server *php, const char *label)
{
    size_t i;

    for (i = 0; i < php->pool_count; i++)
        if (strcmp(php->pools[i].label, label) == 0)
            return php->pools[i].workers_limit;
    return MST_UNKNOWN;
}

/* The workers that there can be, as the server itself tells; MST_UNKNOWN. */
static uint64_t limit_of(const struct mst_compare_run *run, const char *section, const char *name)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    const struct mst_summary_server *php = mst_summary_behind(&run->summary);

    if (strcmp(name, "pm.max_children") != 0)
        return front != NULL && !mst_summary_is_php(front) ? front->workers_limit : MST_UNKNOWN;
    if (php == NULL || php->sapi_kind != MST_SAPI_FPM)
        return MST_UNKNOWN;
    return has_pools(run) ? limit_of_pool(php, section) : php->workers_limit;
}

/* Whether it is part of the change. Of one pool, its label can differ from its name in the file. */
static bool is_predicted(const struct matching *m, const char *section, const char *name)
{
    const struct mst_ledger_entry *e = &m->p->entry;
    size_t i;

    for (i = 0; i < e->setting_count; i++)
        if (strcmp(e->settings[i].name, name) == 0 &&
            (!has_pools(m->a) || strcmp(e->settings[i].section, section) == 0))
            return true;
    return false;
}

static void match_other_limit(struct matching *m, const char *section, const char *name)
{
    uint64_t a = limit_of(m->a, section, name), b = limit_of(m->b, section, name);

    if (!is_predicted(m, section, name) && a != b && a != MST_UNKNOWN && b != MST_UNKNOWN)
        differ(m, "%s is %" PRIu64 " in %s and %" PRIu64 " in A",
               mst_comparison_called(m->pool, m->a, section, name), b, m->where, a);
}

static void match_other_limits(struct matching *m)
{
    const struct mst_summary_server *php = mst_summary_behind(&m->a->summary);
    size_t i;

    match_other_limit(m, "", "MaxRequestWorkers");
    if (php == NULL || !has_pools(m->a))
        match_other_limit(m, "", "pm.max_children");
    for (i = 0; php != NULL && has_pools(m->a) && i < php->pool_count; i++)
        match_other_limit(m, php->pools[i].label, "pm.max_children");
}

/* ---- settings in files ------------------------------------------------------------- */

/* NULL: it stands in no file, or the files are not known. Where section is NULL, of any pool. */
static const char *configured(const struct mst_compare_run *run, const char *section,
                              const char *name)
{
    size_t i;

    for (i = 0; i < run->configured_count; i++) {
        const struct mst_ledger_setting *s = &run->configured[i];

        if (strcmp(s->name, name) == 0 && (section == NULL || strcmp(s->section, section) == 0))
            return s->value;
    }
    return NULL;
}

static void match_predicted(struct matching *m, const struct mst_ledger_setting *s)
{
    const char *called = mst_comparison_called(m->pool, m->a, s->section, s->name), *value;
    uint64_t limit = limit_of(m->b, s->section, s->name);

    if (mst_ledger_is_bound(s->name))
        return;
    if (mst_ledger_is_limit(s->name))
        value = limit != MST_UNKNOWN ? mst_pool_printf(m->pool, "%" PRIu64, limit) : "";
    else
        value = configured(m->b, s->section, s->name);
    if (value == NULL || value[0] == '\0')
        differ(m, "%s is not known in %s", called, m->where);
    else if (strcmp(value, s->value) != 0)
        differ(m, "%s is %s in %s", called, value, m->where);
}

/* Limits are compared as the servers tell them. */
static bool is_compared(const struct matching *m, const char *section, const char *name)
{
    return !mst_ledger_is_limit(name) && !mst_ledger_is_bound(name) &&
           !is_predicted(m, section, name);
}

/* Settings that FPM takes of a pool with pm = dynamic alone. */
static bool is_of_dynamic(const char *name)
{
    return strcmp(name, "pm.start_servers") == 0 || strcmp(name, "pm.min_spare_servers") == 0 ||
           strcmp(name, "pm.max_spare_servers") == 0;
}

static bool is_idle(const struct mst_compare_run *run, const struct mst_ledger_setting *s)
{
    const char *pm = is_of_dynamic(s->name) ? configured(run, s->section, "pm") : NULL;

    return pm != NULL && pm[0] != '\0' && strcmp(pm, "dynamic") != 0;
}

/* Settings of `one` that the other one has not, or with another value. */
static void match_configured(struct matching *m, const struct mst_compare_run *one,
                             const struct mst_compare_run *other)
{
    const char *called, *value;
    size_t i;

    for (i = 0; i < one->configured_count && other->configured_count > 0; i++) {
        const struct mst_ledger_setting *s = &one->configured[i];

        if (!is_compared(m, s->section, s->name) || is_idle(one, s))
            continue;
        called = mst_comparison_called(m->pool, m->a, s->section, s->name);
        value = configured(other, s->section, s->name);
        if (value == NULL)
            differ(m, "%s is set in %s alone", called, one == m->a ? "A" : m->where);
        else if (one == m->a && s->value[0] != '\0' && value[0] != '\0')
            match_text(m, called, s->value, value);
    }
}

/* ---- what servers and their machine tell ------------------------------------------- */

static const char *told(const struct mst_compare_run *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->setting_count; i++)
        if (strcmp(run->settings[i].name, name) == 0)
            return run->settings[i].value;
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), n = strlen(end);

    return length >= n && strcmp(text + length - n, end) == 0;
}

/* Where the value begins of an item "Timeout 300" or "memory_limit = 128M". */
static const char *value_at(const char *behind_name)
{
    return behind_name + (strncmp(behind_name, " = ", 3) == 0 ? 3 : 1);
}

/* The value of an item of "Timeout 300; KeepAlive On"; NULL: it has none of that name. */
static const char *value_in(apr_pool_t *pool, const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at = list;

    while (at != NULL && !(strncmp(at, name, length) == 0 && at[length] == ' ')) {
        at = strstr(at, "; ");
        at = at != NULL ? at + 2 : NULL;
    }
    if (at == NULL)
        return NULL;
    at = value_at(at + length);
    return apr_pstrmemdup(pool, at, strcspn(at, ";"));
}

/* What a server says that it runs with. */
static void match_list(struct matching *m, const char *a, const char *b)
{
    char *item, *rest = apr_pstrdup(m->pool, a), *blank;
    const char *value;

    while ((item = rest) != NULL) {
        rest = strstr(item, "; ");
        if (rest != NULL) {
            *rest = '\0';
            rest += 2;
        }
        blank = strchr(item, ' ');
        if (blank == NULL)
            continue;
        value = value_at(blank);
        *blank = '\0';
        if (is_compared(m, "", item) && configured(m->a, NULL, item) == NULL)
            match_text(m, item, value, value_in(m->pool, b, item));
    }
}

/* The recorder's own limit of open files is none of the servers'. */
static bool limits_servers(const char *name)
{
    return (ends_with(name, "_limit") && strcmp(name, "open_files_limit") != 0) ||
           strcmp(name, "cpu_model") == 0 || strcmp(name, "somaxconn") == 0 ||
           strcmp(name, "tcp_max_syn_backlog") == 0;
}

static void match_environment(struct matching *m)
{
    const char *name, *other;
    size_t i;

    for (i = 0; i < m->a->setting_count; i++) {
        name = m->a->settings[i].name;
        other = told(m->b, name);
        if (other != NULL && ends_with(name, "_settings") &&
            strlen(m->a->settings[i].value) + strlen(other) < LIST_MOST)
            match_list(m, m->a->settings[i].value, other);
        else if (limits_servers(name))
            match_text(m, name, m->a->settings[i].value, other);
    }
}

static void match_number(struct matching *m, const char *what, uint64_t a, uint64_t b)
{
    if (a != b)
        differ(m, "%s: %s in %s and %s in A", what,
               b != MST_UNKNOWN ? mst_format_milli(b).text : "none", m->where,
               a != MST_UNKNOWN ? mst_format_milli(a).text : "none");
}

static void match_server(struct matching *m, const char *what, const struct mst_summary_server *a,
                         const struct mst_summary_server *b)
{
    if ((a == NULL) != (b == NULL))
        differ(m, "%s was recorded in %s alone", what, a != NULL ? "A" : m->where);
    if (a == NULL || b == NULL)
        return;
    match_text(m, what, a->server, b->server);
    match_text(m, "the MPM", a->mpm, b->mpm);
    match_text(m, "the SAPI", a->sapi, b->sapi);
    match_number(m, "the CPUs of its control group", a->resources.group_cpu_limit_milli,
                 b->resources.group_cpu_limit_milli);
}

/* Servers that the load came to. */
static size_t count_servers(const struct mst_summary *s)
{
    size_t count = 0, i;

    for (i = 0; i < s->server_count; i++)
        count += s->servers[i].requests > 0;
    return count;
}

static void match_servers(struct matching *m)
{
    const struct mst_summary *a = &m->a->summary, *b = &m->b->summary;
    size_t of_a = count_servers(a), of_b = count_servers(b);

    if (of_a != of_b)
        differ(m, "%zu servers had requests in %s and %zu in A", of_b, m->where, of_a);
    match_server(m, "the server", mst_summary_front(a), mst_summary_front(b));
    if (mst_summary_behind(a) != mst_summary_front(a))
        match_server(m, "PHP", mst_summary_behind(a), mst_summary_behind(b));
    if (a->cpus != MST_UNKNOWN && b->cpus != MST_UNKNOWN && a->cpus != b->cpus)
        differ(m, "there are %" PRIu64 " CPUs in %s and %" PRIu64 " in A", b->cpus, m->where,
               a->cpus);
}

/* ---- the load ---------------------------------------------------------------------- */

bool mst_comparison_same_load(uint64_t a, uint64_t b)
{
    uint64_t more = a > b ? a : b, less = a > b ? b : a;

    return a == b || (a != MST_UNKNOWN && b != MST_UNKNOWN &&
                      more - less <= more / 1000 * MST_SAME_LOAD_MILLI);
}

/* Clients that wait for answers; MST_UNKNOWN: there are none, or it is not known how many. */
static uint64_t clients_of(const struct mst_compare_run *run)
{
    const struct mst_summary_client *c = &run->summary.client;

    return c->known ? c->concurrency : MST_UNKNOWN;
}

static uint64_t rate_of(const struct mst_compare_run *run)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);

    return front != NULL ? mst_summary_rate_milli(&run->summary, front) : MST_UNKNOWN;
}

static bool has_load_of(const struct mst_compare_run *run, const struct mst_ledger_entry *e)
{
    return e->clients != MST_UNKNOWN ? clients_of(run) == e->clients :
           clients_of(run) == MST_UNKNOWN && mst_comparison_same_load(rate_of(run), e->load_milli);
}

bool mst_comparison_changes_load(const struct mst_comparison_prediction *p)
{
    return !has_load_of(p->run, &p->entry);
}

/* Whether a word ends with the number, and how long it is before. */
static bool ends_with_number(const char *word, size_t length, uint64_t number, size_t *before)
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);

    *before = length >= n ? length - n : 0;
    return length >= n && strncmp(word + *before, digits, n) == 0;
}

/* "-c8" and "-c16" are alike where the one is of 8 clients, the other of 16. */
static bool are_alike(const struct matching *m, const char *a, size_t a_length, const char *b,
                      size_t b_length)
{
    size_t a_before, b_before;

    return (a_length == b_length && strncmp(a, b, a_length) == 0) ||
           (ends_with_number(a, a_length, clients_of(m->a), &a_before) &&
            ends_with_number(b, b_length, clients_of(m->b), &b_before) &&
            a_before == b_before && strncmp(a, b, a_before) == 0);
}

/* Word by word, but for the number of clients. */
static bool is_like_command(const struct matching *m)
{
    const char *a = m->a->load != NULL ? m->a->load : "", *b = m->b->load != NULL ? m->b->load : "";
    size_t a_length, b_length;

    for (; *a != '\0' && *b != '\0'; a += a_length, b += b_length) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        a_length = strcspn(a, " ");
        b_length = strcspn(b, " ");
        if (!are_alike(m, a, a_length, b, b_length))
            return false;
    }
    return *a == *b;
}

/* The path of the first URL of the text, up to its end; "": the text has none. */
static const char *path_of(apr_pool_t *pool, const char *urls)
{
    const char *host = strstr(urls, "://"), *path;

    if (host == NULL)
        return "";
    path = host + 3 + strcspn(host + 3, "/ ");
    return *path == '/' ? apr_pstrmemdup(pool, path, strcspn(path, " ")) : "/";
}

static void match_load(struct matching *m)
{
    const struct mst_ledger_entry *e = &m->p->entry;

    if (!has_load_of(m->b, e) && e->clients != MST_UNKNOWN)
        differ(m, "%s has %s clients", m->where, clients_of(m->b) != MST_UNKNOWN ?
               mst_pool_printf(m->pool, "%" PRIu64, clients_of(m->b)) : "no fixed number of");
    else if (!has_load_of(m->b, e))
        differ(m, "%s has %s requests per second", m->where, mst_format_milli(rate_of(m->b)).text);
    else if (e->clients != MST_UNKNOWN && !is_like_command(m))
        differ(m, "the command of the load differs");
    if (m->a->urls != NULL && m->b->urls != NULL)
        match_text(m, "the URL's path", path_of(m->pool, m->a->urls), path_of(m->pool, m->b->urls));
}

/* ---- all of it --------------------------------------------------------------------- */

static struct matching matching_of(const struct mst_comparison_table *t,
                                   const struct mst_comparison_prediction *p, size_t nth)
{
    const struct mst_compare_run *b = &t->b.runs[nth];

    return (struct matching){
        .pool = t->pool, .p = p, .a = p->run, .b = b, .where = t->b.count == 1 ? "B" :
        mst_pool_printf(t->pool, "run %" PRId64 " of B", b->summary.id),
    };
}

static bool have_one_load(const struct mst_compare_run *a, const struct mst_compare_run *b)
{
    return clients_of(a) == clients_of(b) &&
           (clients_of(a) != MST_UNKNOWN || mst_comparison_same_load(rate_of(a), rate_of(b)));
}

bool mst_comparison_is_tried(const struct mst_comparison_table *t,
                             const struct mst_comparison_prediction *p)
{
    const struct mst_ledger_entry *e = &p->entry;
    size_t i, k;

    for (i = 0; i < t->b.count; i++) {
        const struct mst_compare_run *b = &t->b.runs[i];

        if (mst_comparison_changes_load(p) && !have_one_load(b, p->run))
            return true;
        for (k = 0; k < e->setting_count; k++)
            if (mst_ledger_is_limit(e->settings[k].name) &&
                limit_of(b, e->settings[k].section, e->settings[k].name) !=
                limit_of(p->run, e->settings[k].section, e->settings[k].name))
                return true;
    }
    return false;
}

/* Failures and other answers forbid it, and so does another load where the same was predicted. */
static void match_obstacles(struct matching *m, const struct mst_comparison_table *t)
{
    if (m->clauses.count > 0)
        return;
    if (!mst_comparison_changes_load(m->p) && t->obstacles.count > 0)
        differ(m, "%s", t->obstacles.items[0]);
    else if (mst_comparison_fails(&t->a) || mst_comparison_fails(&t->b))
        differ(m, "many requests failed");
}

static const char *join(const struct matching *m)
{
    const char *text = "";
    size_t i;

    for (i = 0; i < m->clauses.count && i < CLAUSES_MOST; i++)
        text = mst_pool_printf(m->pool, "%s%s%s", text, i > 0 ? "; " : "", m->clauses.items[i]);
    return i == m->clauses.count ? text :
           mst_pool_printf(m->pool, "%s; and %zu more", text, m->clauses.count - i);
}

const char *mst_comparison_other_change(const struct mst_comparison_table *t,
                                        const struct mst_comparison_prediction *p)
{
    size_t i, k;

    for (i = 0; i < t->b.count; i++) {
        struct matching m = matching_of(t, p, i);

        for (k = 0; k < p->entry.setting_count; k++)
            match_predicted(&m, &p->entry.settings[k]);
        match_load(&m);
        match_other_limits(&m);
        match_servers(&m);
        match_configured(&m, m.a, m.b);
        match_configured(&m, m.b, m.a);
        match_environment(&m);
        match_obstacles(&m, t);
        if (m.clauses.count > 0)
            return join(&m);
    }
    return NULL;
}

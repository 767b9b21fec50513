/* change.c - see change.h. */
#include "model/change.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "console/number.h"
#include "memory/pool.h"

#define CLIENTS_MOST 100000.0
#define RATE_MOST    1e6
#define FACTOR_MOST  1000.0
#define LIMIT_MOST   20000.0   /* httpd's own limit of ServerLimit and ThreadLimit */

/* ---- numbers ----------------------------------------------------------------------- */

/* NAN: it is none of these. */
static double number(const char *text, double least, double most)
{
    double value = mst_number_read(text);

    return value >= least && value <= most ? value : NAN;
}

static double whole_number(const char *text, double least, double most)
{
    double value = number(text, least, most);

    return value == floor(value) ? value : NAN;
}

/* "x2", "x0.5". */
static double factor(const char *text)
{
    return text[0] == 'x' ? number(text + 1, 0, FACTOR_MOST) : NAN;
}

/* ---- the system -------------------------------------------------------------------- */

struct mst_system mst_system_copy(const struct mst_model_run *r)
{
    struct mst_system s = r->system;

    s.gates = apr_pmemdup(r->pool, s.gates, s.gate_count * sizeof *s.gates);
    s.cpus = apr_pmemdup(r->pool, s.cpus, s.cpus_count * sizeof *s.cpus);
    s.ends = apr_pmemdup(r->pool, s.ends, s.end_count * sizeof *s.ends);
    return s;
}

/* ---- settings ---------------------------------------------------------------------- */

/* Whether the setting is of these workers, in the view's server or in any: "pm.max_children", or
 * with the section that it stands in, "www:pm.max_children". */
static bool is_set_by(const struct mst_model_run *r, const struct mst_model_workers *w,
                      const char *name)
{
    const char *colon = strchr(name, ':'), *directive = colon != NULL ? colon + 1 : name;
    size_t front = r->system.gates[w->gate].front, length = (size_t)(directive - name);

    if (strcasecmp(directive, "MaxClients") == 0)
        directive = "MaxRequestWorkers";
    return strcasecmp(w->directive, directive) == 0 &&
           (r->view->server == NULL || r->servers[front].front == r->view->server) &&
           (colon == NULL || (w->settings != NULL && strlen(w->settings) == length - 1 &&
                              strncmp(w->settings, name, length - 1) == 0));
}

/* The pools of one server that have the setting, where these are several; else 0. *one: one of
 * them. */
static size_t several_pools(const struct mst_model_run *r, const char *name,
                            const struct mst_model_workers **one)
{
    size_t i, k, count;

    for (i = 0; i < r->workers_count; i++) {
        *one = &r->workers[i];
        for (k = count = 0; k < r->workers_count; k++)
            count += r->workers[k].server == (*one)->server && is_set_by(r, &r->workers[k], name);
        if (count > 1)
            return count;
    }
    return 0;
}

static const char *set_limit(struct mst_system *s, const struct mst_model_run *r, const char *name,
                             const char *value)
{
    const struct mst_model_workers *one;
    double limit = whole_number(value, 1, LIMIT_MOST);
    size_t i, count = several_pools(r, name, &one);

    if (count > 1)
        return mst_pool_printf(r->pool, "there are %zu pools: name one, as in \"%s:%s=%s\"", count,
                               one->settings, one->directive, value);
    for (i = 0; i < r->workers_count; i++)
        if (is_set_by(r, &r->workers[i], name)) {
            s->gates[r->workers[i].gate].limit = isnan(limit) ? 0 : (uint32_t)limit;
            count++;
        }
    if (count == 0)
        return mst_pool_printf(r->pool, "the recording has no workers that %s limits", name);
    if (isnan(limit))
        return mst_pool_printf(r->pool, "expected %s to be a whole number from 1 to %.0f, found "
                               "\"%s\"", name, LIMIT_MOST, value);
    return NULL;
}

static const char *set_keepalive(struct mst_system *s, const struct mst_model_run *r,
                                 const char *value)
{
    if (strcasecmp(value, "Off") != 0)
        return "expected KeepAlive to be Off: what connections would keep is not recorded";
    s->load.requests_a_connection = s->load.keepalive_timeout = 0;
    (void)r;
    return NULL;
}

static const char *set_timeout(struct mst_system *s, const struct mst_model_run *r,
                               const char *value)
{
    double seconds = mst_model_seconds(value);

    if (!(seconds <= 86400))
        return mst_pool_printf(r->pool, "expected KeepAliveTimeout to be seconds, or a time such "
                               "as 500ms, found \"%s\"", value);
    if (s->load.keepalive_timeout > 0)
        s->load.keepalive_timeout = seconds;
    return NULL;
}

const char *mst_change_setting(struct mst_system *s, const struct mst_model_run *r,
                               const char *text)
{
    const char *equals = strchr(text, '='), *value;
    char *name;

    if (equals == NULL)
        return mst_pool_printf(r->pool, "expected a setting and its value, as in "
                               "\"pm.max_children=20\", found \"%s\"", text);
    name = apr_pstrmemdup(r->pool, text, (apr_size_t)(equals - text));
    value = equals + 1;
    if (strcasecmp(name, "KeepAlive") == 0)
        return set_keepalive(s, r, value);
    if (strcasecmp(name, "KeepAliveTimeout") == 0)
        return set_timeout(s, r, value);
    if (strcasecmp(name, "mpm") == 0) {
        if (strcmp(value, "event") != 0)
            return mst_pool_printf(r->pool, "expected mpm to be event, found \"%s\"", value);
        s->load.requests_a_connection = s->load.keepalive_timeout = 0;
        return NULL;
    }
    return set_limit(s, r, name, value);
}

/* ---- the load ---------------------------------------------------------------------- */

const char *mst_change_clients(struct mst_system *s, const struct mst_model_run *r,
                               const char *text)
{
    double clients = whole_number(text, 1, CLIENTS_MOST);

    if (isnan(clients))
        return mst_pool_printf(r->pool, "expected --clients to be a whole number from 1 to %.0f, "
                               "found \"%s\"", CLIENTS_MOST, text);
    if (s->load.arrivals != MST_ARRIVALS_CLOSED)
        return "the recorded load has no fixed number of clients: use --rate or --load";
    s->load.clients = (uint32_t)clients;
    return NULL;
}

const char *mst_change_load(struct mst_system *s, const struct mst_model_run *r, const char *text)
{
    double times = factor(text), clients = times * s->load.clients;

    if (isnan(times) || times <= 0)
        return mst_pool_printf(r->pool, "expected --load to be a factor, as in \"x2\", found "
                               "\"%s\"", text);
    if (s->load.arrivals != MST_ARRIVALS_CLOSED) {
        s->load.rate *= times;
        return NULL;
    }
    if (clients > CLIENTS_MOST)
        return mst_pool_printf(r->pool, "expected at most %.0f clients, found %.0f", CLIENTS_MOST,
                               clients);
    s->load.clients = (uint32_t)fmax(clients + 0.5, 1);
    return NULL;
}

const char *mst_change_rate(struct mst_system *s, const struct mst_model_run *r, const char *text)
{
    char error[MST_ERROR_MAX];
    double rate;

    if (mst_rate_read(&rate, "rate", text, RATE_MOST, error) != 0)
        return apr_pstrdup(r->pool, error);
    s->load.arrivals = MST_ARRIVALS_RANDOM;
    s->load.rate = rate;
    return NULL;
}

/* ---- CPUs and ends ----------------------------------------------------------------- */

const char *mst_change_cpus(struct mst_system *s, const struct mst_model_run *r, const char *text)
{
    double cpus = number(text, 0.1, 4096);

    if (isnan(cpus))
        return mst_pool_printf(r->pool, "expected --cpus to be a number from 0.1 to 4096, found "
                               "\"%s\"", text);
    if (isnan(r->cpus))
        return "the recording does not tell how many CPUs the servers had";
    /* Other programs take the same part of them. */
    s->cpus[0].count = cpus * r->system.cpus[0].count / r->cpus;
    return NULL;
}

static bool is_named(const struct mst_model_end *end, const char *text)
{
    return strcmp(text, end->kind) == 0 || strcmp(text, end->called) == 0;
}

/* Each of several servers has ends of its own, and these can have the same names. */
static bool is_first_of_name(const struct mst_model_run *r, size_t nth)
{
    const struct mst_model_end *ends = r->system.ends;
    size_t i;

    for (i = 0; i < nth; i++)
        if (ends[i].is_other && strcmp(ends[i].called, ends[nth].called) == 0)
            return false;
    return ends[nth].is_other;
}

/* The names of all ends, for messages. */
static const char *names(const struct mst_model_run *r)
{
    const char *all = "";
    size_t i;

    for (i = 0; i < r->system.end_count; i++)
        if (is_first_of_name(r, i))
            all = mst_pool_printf(r->pool, "%s%s\"%s\"", all, all[0] != '\0' ? ", " : "",
                                  r->system.ends[i].called);
    return all[0] != '\0' ? all : "none";
}

/* The gate of an end that lets in one at a time has the end's name. */
static void open_gates(struct mst_system *s, const struct mst_model_end *end)
{
    size_t i;

    for (i = 0; i < s->gate_count; i++)
        if (strcmp(end->called, s->gates[i].name) == 0)
            s->gates[i].limit = UINT32_MAX;
}

static const char *change_ends(struct mst_system *s, const struct mst_model_run *r,
                               const char *text, double times)
{
    size_t i, count = 0;

    for (i = 0; i < s->end_count; i++)
        if (s->ends[i].is_other && is_named(&s->ends[i], text)) {
            s->ends[i].wait_factor *= times;
            s->ends[i].compute_factor *= times;
            if (times <= 0)
                open_gates(s, &s->ends[i]);
            count++;
        }
    return count > 0 ? NULL : mst_pool_printf(r->pool, "no request waited for \"%s\"; the "
                                              "recording has: %s", text, names(r));
}

const char *mst_change_end(struct mst_system *s, const struct mst_model_run *r, const char *text)
{
    const char *equals = strrchr(text, '=');
    double times = equals != NULL ? factor(equals + 1) : NAN;

    if (isnan(times))
        return mst_pool_printf(r->pool, "expected --end to be an end and a factor, as in "
                               "\"database=x0.5\", found \"%s\"", text);
    return change_ends(s, r, apr_pstrmemdup(r->pool, text, (apr_size_t)(equals - text)), times);
}

const char *mst_change_without(struct mst_system *s, const struct mst_model_run *r,
                               const char *text)
{
    return change_ends(s, r, text, 0);
}

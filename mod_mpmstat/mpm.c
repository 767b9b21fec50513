/* mpm.c - the limits and timeouts that this server runs with. The board's header has them, as
 * the configuration may have changed by the time that a measurement is read.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <http_config.h>
#include <apr_strings.h>
#include <apr_time.h>

/* The queries for the values of an MPM's directives. The value of a directive that it does not have
 * is 0 or not supported. */
static const struct {
    const char *directive;
    int         query;
} limits[] = {
    { "ServerLimit", AP_MPMQ_HARD_LIMIT_DAEMONS },
    { "MinSpareServers", AP_MPMQ_MIN_SPARE_DAEMONS },
    { "MaxSpareServers", AP_MPMQ_MAX_SPARE_DAEMONS },
    { "MinSpareThreads", AP_MPMQ_MIN_SPARE_THREADS },
    { "MaxSpareThreads", AP_MPMQ_MAX_SPARE_THREADS },
};

int mst_mpm_number(int query, int unless_positive)
{
    int n = 0;

    return ap_mpm_query(query, &n) == APR_SUCCESS && n > 0 ? n : unless_positive;
}

uint64_t mst_mpm_generation(void)
{
    return (uint64_t)mst_mpm_number(AP_MPMQ_GENERATION, 0);
}

uint64_t mst_mpm_workers_limit(void)
{
    return (uint64_t)mst_mpm_number(AP_MPMQ_MAX_DAEMONS, 1)
         * (uint64_t)mst_mpm_number(AP_MPMQ_MAX_THREADS, 1);
}

/* The argument of the main server's last directive of that name; NULL: there is none. Files that
 * are included, and the content of <IfModule>, are part of the same list. */
static const char *directive_argument(apr_pool_t *p, const char *name)
{
    const ap_directive_t *d;
    const char *found = NULL;

    for (d = ap_conftree; d; d = d->next) {
        const char *args = d->args;

        if (strcasecmp(d->directive, name) == 0)
            found = ap_getword_conf(p, &args);
    }
    return found;
}

/* The same, if it is a number; else 0. */
static uint64_t directive_number(apr_pool_t *p, const char *name)
{
    const char *argument = directive_argument(p, name);

    return argument ? strtoull(argument, NULL, 10) : 0;
}

uint64_t mst_mpm_http2_workers_limit(apr_pool_t *p)
{
    uint64_t threads = (uint64_t)mst_mpm_number(AP_MPMQ_MAX_THREADS, 1), most, least;

    if (mst_mpm_number(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED) == AP_MPMQ_NOT_SUPPORTED
        || !ap_find_linked_module("mod_http2.c"))
        return 0;
    most = directive_number(p, "H2MaxWorkers");
    if (most > 0)
        return most;
    least = directive_number(p, "H2MinWorkers");
    most = 3 * (least > 0 ? least : threads) / 2;   /* as h2_get_workers_config() */
    return most > 4 ? most : 4;
}

/* The duration as a directive takes it: seconds, or milliseconds with their unit. */
static const char *duration(apr_pool_t *p, apr_interval_time_t t)
{
    if (t % APR_USEC_PER_SEC == 0)
        return apr_psprintf(p, "%" APR_TIME_T_FMT, apr_time_sec(t));
    return apr_psprintf(p, "%" APR_TIME_T_FMT "ms", apr_time_as_msec(t));
}

/* Event answers no query with it; without the directive it is httpd's default. */
static const char *async_factor(apr_pool_t *p)
{
    const char *factor = directive_argument(p, "AsyncRequestWorkerFactor");

    return factor ? factor : "2";
}

const char *mst_mpm_settings(apr_pool_t *p, const server_rec *s)
{
    const char *text = apr_psprintf(p, "MaxRequestWorkers %" APR_UINT64_T_FMT,
                                    (apr_uint64_t)mst_mpm_workers_limit());
    int number;
    size_t i;

    if (mst_mpm_number(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED) != AP_MPMQ_NOT_SUPPORTED)
        text = apr_psprintf(p, "%s; ThreadsPerChild %d", text,
                            mst_mpm_number(AP_MPMQ_MAX_THREADS, 1));
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        if ((number = mst_mpm_number(limits[i].query, 0)) > 0)
            text = apr_psprintf(p, "%s; %s %d", text, limits[i].directive, number);
    if (mst_mpm_number(AP_MPMQ_IS_ASYNC, 0) > 0)
        text = apr_psprintf(p, "%s; AsyncRequestWorkerFactor %.15s", text, async_factor(p));
    return apr_psprintf(p, "%s; MaxConnectionsPerChild %d; KeepAlive %s; KeepAliveTimeout %s; "
                        "MaxKeepAliveRequests %d; Timeout %s", text,
                        mst_mpm_number(AP_MPMQ_MAX_REQUESTS_DAEMON, 0),
                        s->keep_alive ? "On" : "Off", duration(p, s->keep_alive_timeout),
                        s->keep_alive_max, duration(p, s->timeout));
}

/* ramp.c - see ramp.h. */
#include "lab/study/ramp.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/spawn.h"

#define RATE_MAX    100000u
#define SECONDS_MAX 86400u
#define AFTER_S     30u       /* for what is under way when the last request has been sent */
#define STAY_S      "3"       /* of tsung's users, which write for 2 s: see loadtools/tsung.c */
#define MANY        5000u     /* requests under way at once, at most */

struct ramp {
    apr_pool_t *pool;
    unsigned from, to, over;  /* requests a second, seconds */
    char     host[64];
    unsigned port;
    char     path[1024];
    const char *url;
};

struct program {
    const char *name;
    bool        rises;        /* it can raise the rate */
    int       (*make)(struct mst_ramp *ramp, const struct ramp *r, const char *directory,
                      char error[MST_ERROR_MAX]);
};

/* ---- what is asked for ------------------------------------------------------------ */

static int take_number(const char *text, unsigned most, unsigned *number,
                       char error[MST_ERROR_MAX])
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (unsigned)value;
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= most)
        return 0;
    return mst_fail(error, "expected a whole number up to %u for a ramp's from, to and over, found "
                    "\"%.60s\"", most, text);
}

static int take_options(struct ramp *r, const struct mst_ramp_options *o,
                        char error[MST_ERROR_MAX])
{
    r->url = o->url;
    if (take_number(o->from, RATE_MAX, &r->from, error) != 0 ||
        take_number(o->to, RATE_MAX, &r->to, error) != 0 ||
        take_number(o->over, SECONDS_MAX, &r->over, error) != 0)
        return -1;
    if (r->over == 0 || r->from + r->to == 0)
        return mst_fail(error, "expected a ramp that lasts 1 s or more, with from or to of 1 "
                        "request/s or more, found from %u to %u over %u s", r->from, r->to,
                        r->over);
    snprintf(r->path, sizeof r->path, "/");
    if (sscanf(o->url, "http://%63[0-9.]:%u%1023s", r->host, &r->port, r->path) >= 2)
        return 0;
    return mst_fail(error, "expected http://ADDRESS:PORT/PATH for a ramp, found \"%.200s\"",
                    o->url);
}

/* ---- commands and files ----------------------------------------------------------- */

/* Opens a new file of that name in the directory; *path is where. */
static FILE *make_file(apr_pool_t *pool, const char *directory, const char *name, char **path,
                       char error[MST_ERROR_MAX])
{
    FILE *file;

    *path = apr_pstrcat(pool, directory, "/", name, NULL);
    file = fopen(*path, "wxe");
    if (file == NULL)
        mst_fail(error, "cannot write %s in %s for a ramp: %s", name, directory, strerror(errno));
    return file;
}

static int close_file(FILE *file, const char *path, char error[MST_ERROR_MAX])
{
    if (fclose(file) == 0)
        return 0;
    return mst_fail(error, "cannot write %s: %s", path, strerror(errno));
}

/* ---- the programs ----------------------------------------------------------------- */

static void write_k6(FILE *file, const struct ramp *r)
{
    fprintf(file, "import http from 'k6/http';\n"
            "export const options = { discardResponseBodies: true, noConnectionReuse: true,\n"
            "    scenarios: { page: { executor: 'ramping-arrival-rate', startRate: %u,\n"
            "        timeUnit: '1s', preAllocatedVUs: %u, maxVUs: %u, gracefulStop: '%us',\n"
            "        stages: [{ target: %u, duration: '%us' }] } } };\n"
            "export default function () { http.get('%s', { timeout: '%us' }); }\n",
            r->from, 2 * (r->from > r->to ? r->from : r->to), MANY, AFTER_S, r->to, r->over,
            r->url, AFTER_S);
}

static int make_k6(struct mst_ramp *ramp, const struct ramp *r, const char *directory,
                   char error[MST_ERROR_MAX])
{
    char *path;
    FILE *file = make_file(r->pool, directory, "ramp.js", &path, error);

    if (file == NULL)
        return -1;
    write_k6(file, r);
    mst_list_add_all(r->pool, &ramp->argv, (const char *const []){ "k6", "run", path, NULL });
    return close_file(file, path, error);
}

/* Its time out is as long as the others': a request that was sent is waited for. */
static int make_oha(struct mst_ramp *ramp, const struct ramp *r, const char *directory,
                    char error[MST_ERROR_MAX])
{
    char rate[32], duration[32], many[32], timeout[32];

    (void)directory, (void)error;
    snprintf(rate, sizeof rate, "%u", r->to);
    snprintf(duration, sizeof duration, "%us", r->over);
    snprintf(many, sizeof many, "%u", MANY);
    snprintf(timeout, sizeof timeout, "%us", AFTER_S);
    mst_list_add_all(r->pool, &ramp->argv, (const char *const []){
        "oha", "--no-tui", "-q", rate, "-z", duration, "-w", "-c", many, "-t", timeout,
        "--disable-keepalive", r->url, NULL });
    return 0;
}

/* How many users tsung has to be told, so that `wanted` of them come in a phase. Users come by
 * chance. When the phase is over, tsung forgets those that have not come, and it never has more
 * than it was told. So of n users some are missing: sqrt(n/2pi) on average, which is half of the
 * Poisson distribution's mean deviation. */
static double told(double wanted)
{
    double root = sqrt(1 / (2 * M_PI)) / 2;

    root += sqrt(root * root + wanted);   /* of n - sqrt(n/2pi) = wanted */
    return root * root;
}

/* A phase a second. A phase whose rate is 0 would be an error: it has a request in a
 * thousand seconds. Each user stays until tsung has written what it knows of it; its
 * connection is closed before (HTTP/1.0). */
static void write_tsung(FILE *file, const struct ramp *r)
{
    double rate;
    unsigned i;

    fprintf(file, "<?xml version=\"1.0\"?>\n"
            "<!DOCTYPE tsung SYSTEM \"/usr/share/tsung/tsung-1.0.dtd\">\n"
            "<tsung loglevel=\"warning\" dumptraffic=\"protocol_local\" version=\"1.0\">\n"
            "  <clients><client host=\"localhost\" use_controller_vm=\"true\" maxusers=\"%u\"/>"
            "</clients>\n"
            "  <servers><server host=\"%s\" port=\"%u\" type=\"tcp\"/></servers>\n"
            "  <load duration=\"%u\" unit=\"second\">\n", 30000u, r->host, r->port,
            r->over + AFTER_S);
    for (i = 0; i < r->over; i++) {
        rate = r->from + ((double)r->to - r->from) * (i + 0.5) / r->over;
        fprintf(file, "    <arrivalphase phase=\"%u\" duration=\"1\" unit=\"second\">"
                "<users arrivalrate=\"%.3f\" unit=\"second\"/></arrivalphase>\n", i + 1,
                rate > 0.001 ? told(rate) : 0.001);
    }
    fprintf(file, "  </load>\n"
            "  <options><option name=\"connect_timeout\" value=\"%u\"/>"
            "<option name=\"max_retries\" value=\"0\"/></options>\n"
            "  <sessions><session name=\"page\" probability=\"100\" type=\"ts_http\">\n"
            "    <request><http url=\"", AFTER_S * 1000);
    for (const char *at = r->path; *at != '\0'; at++)
        fputs(*at == '&' ? "&amp;" : (char[]){ *at, '\0' }, file);
    fputs("\" method=\"GET\" version=\"1.0\"/></request>\n"
          "    <thinktime value=\"" STAY_S "\"/>\n"
          "  </session></sessions>\n"
          "</tsung>\n", file);
}

static int make_tsung(struct mst_ramp *ramp, const struct ramp *r, const char *directory,
                      char error[MST_ERROR_MAX])
{
    char *path;
    FILE *file = make_file(r->pool, directory, "tsung.xml", &path, error);

    if (file == NULL)
        return -1;
    write_tsung(file, r);
    /* Its daemons listen on loopback only. */
    mst_list_add(r->pool, &ramp->variables, "ERL_EPMD_ADDRESS=127.0.0.1");
    mst_list_add(r->pool, &ramp->variables,
                 "ERL_ZFLAGS=-kernel inet_dist_use_interface {127,0,0,1}");
    mst_list_add_all(r->pool, &ramp->argv, (const char *const []){
        "tsung", "-n", "-f", path, "-l", directory, "start", NULL });
    return close_file(file, path, error);
}

static const struct program programs[] = {
    { "k6", true, make_k6 }, { "oha", false, make_oha }, { "tsung", true, make_tsung },
};
#define PROGRAM_COUNT (sizeof programs / sizeof *programs)

static const struct program *choose(bool rises)
{
    size_t i;

    for (i = 0; i < PROGRAM_COUNT; i++)
        if ((programs[i].rises || !rises) && mst_spawn_finds(programs[i].name))
            return &programs[i];
    return NULL;
}

const char *mst_ramp_program(bool rises)
{
    const struct program *program = choose(rises);

    return program != NULL ? program->name : NULL;
}

int mst_ramp_make(apr_pool_t *pool, struct mst_ramp *ramp, const struct mst_ramp_options *options,
                  char error[MST_ERROR_MAX])
{
    const struct program *program;
    struct ramp r = { .pool = pool };

    *ramp = (struct mst_ramp){ 0 };
    if (take_options(&r, options, error) != 0)
        return -1;
    program = choose(r.from != r.to);
    if (program != NULL)
        return program->make(ramp, &r, options->directory, error);
    return mst_fail(error, "there is no program here that sends requests at a rate: expected k6%s "
                    "or tsung (apt-get install tsung)", r.from == r.to ? ", oha" : "");
}

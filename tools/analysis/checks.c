/* checks.c - whether the two sides of a run agree, and whether to believe them.
 *
 * Each sentence says what was compared and how much it may differ (where nothing is
 * said: not at all), and one that fails, what that means.
 */
#include "analysis/steps.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "console/format.h"

__attribute__((format(printf, 3, 4)))
static void answer(struct mst_check *check, enum mst_answer ok, const char *format, ...)
{
    va_list args;

    check->ok = ok;
    va_start(args, format);
    vsnprintf(check->text, sizeof check->text, format, args);
    va_end(args);
}

/* ---- counts ---------------------------------------------------------------------- */

/* All the servers that the load tool talks to. A PHP behind an Apache answers
 * the same requests once more: it counts only where there is no Apache. */
struct totals { uint64_t requests, in_flight_before, aborted, late, errors_5xx, unfinished; };

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a == MST_UNKNOWN || b == MST_UNKNOWN ? MST_UNKNOWN : a + b;
}

static struct totals add_up(const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    struct totals t = { 0 };
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *server = &s->servers[i];
        uint64_t requests = server->requests;

        if (server->producer != front->producer)
            continue;
        /* Records that the journal lost are in the counters all the same. */
        if (server->lost != 0 && server->counted != MST_UNKNOWN &&
            server->counted >= server->requests + server->in_flight_before)
            requests = server->counted - server->in_flight_before;
        t.requests += requests;
        t.in_flight_before += server->in_flight_before;
        t.aborted += server->aborted;
        t.late += server->late;
        t.errors_5xx += server->errors_5xx;
        t.unfinished = plus(t.unfinished, server->unfinished);
    }
    return t;
}

/* What else there was, behind the sentence. */
static void add_remarks(struct mst_check *check, const struct totals *t)
{
    size_t used = strlen(check->text);

    if (t->in_flight_before > 0)
        used += (size_t)snprintf(check->text + used, sizeof check->text - used,
                                 "; %" PRIu64 " that began before the load are left out",
                                 t->in_flight_before);
    if (t->unfinished != MST_UNKNOWN && t->unfinished > 0 && used < sizeof check->text &&
        strstr(check->text, "with their worker process") == NULL)
        snprintf(check->text + used, sizeof check->text - used, "; %" PRIu64 " died with their "
                 "worker process, uncounted", t->unfinished);
}

/* How many requests the load tool may have left behind when it ended: no more
 * than it had in flight. */
static uint64_t left_behind(const struct mst_summary *s, const struct totals *t)
{
    if (s->complete && !s->client.abandons)
        return 0;
    return s->client.concurrency != MST_UNKNOWN ? s->client.concurrency : t->aborted + t->late;
}

static void server_has_more(struct mst_check *check, const struct mst_summary *s,
                            const struct totals *t)
{
    uint64_t more = t->requests - s->client.requests;

    if (more == t->errors_5xx && s->client.failed != MST_UNKNOWN && more <= s->client.failed)
        answer(check, MST_ANSWER_YES, "%" PRIu64 " requests on both sides, and %" PRIu64 " that "
               "the server answered with 5xx and %s counts as failed", s->client.requests, more,
               s->client.tool);
    else if (mst_summary_redirects_followed(s) > 0)
        answer(check, MST_ANSWER_YES, "%" PRIu64 " requests on both sides, and %" PRIu64 " more on "
               "the server's, which answered %" PRIu64 " with a redirect that %s followed",
               s->client.requests, more, mst_summary_redirects_followed(s), s->client.tool);
    else if (more <= left_behind(s, t))
        answer(check, MST_ANSWER_YES, "%" PRIu64 " requests on both sides, and %" PRIu64 " more on "
               "the server's that were in flight when %s ended", s->client.requests, more,
               s->client.tool);
    else
        answer(check, MST_ANSWER_NO, "the server completed %" PRIu64 " requests, %" PRIu64
               " more than %s counted (%" PRIu64 "): another client, or requests that %s gave up",
               t->requests, more, s->client.tool, s->client.requests, s->client.tool);
}

static void client_has_more(struct mst_check *check, const struct mst_summary *s,
                            const struct totals *t)
{
    uint64_t missing = s->client.requests - t->requests;

    if (missing == t->unfinished)
        answer(check, MST_ANSWER_YES, "%" PRIu64 " requests on both sides; the other %" PRIu64
               " of %s's died on the server, with their worker process", t->requests, missing,
               s->client.tool);
    else if (t->requests == 0)
        answer(check, MST_ANSWER_NO, "none of %s's %" PRIu64 " requests was recorded here: does "
               "its URL lead to this server, and is MPMStat on there?", s->client.tool,
               s->client.requests);
    else if (s->client.failed > s->client.failed_length && s->client.failed != MST_UNKNOWN &&
             s->client.failed_length != MST_UNKNOWN)
        answer(check, MST_ANSWER_NO, "%" PRIu64 " of %s's %" PRIu64 " requests were never "
               "completed by the server; %s itself calls %" PRIu64 " failed", missing,
               s->client.tool, s->client.requests, s->client.tool,
               s->client.failed - s->client.failed_length);
    else
        answer(check, MST_ANSWER_NO, "%" PRIu64 " of %s's %" PRIu64 " requests were not recorded "
               "here: something before this server answered them, or recording is off for them",
               missing, s->client.tool, s->client.requests);
}

static void check_counts(struct mst_check *check, const struct mst_summary *s)
{
    struct totals t = { 0 };

    if (s->server_count > 0)
        t = add_up(s);
    if (s->client.tool == NULL)
        answer(check, MST_ANSWER_UNKNOWN, "no load tool was run; the server completed %" PRIu64
               " requests", t.requests);
    else if (!s->client.known)
        answer(check, MST_ANSWER_UNKNOWN, "how many requests the load tool made is not known; the "
               "server completed %" PRIu64, t.requests);
    else if (s->server_count == 0)
        answer(check, MST_ANSWER_UNKNOWN, "no server was recorded");
    else if (t.requests == 0 && s->client.requests == 0)
        answer(check, MST_ANSWER_UNKNOWN, "neither side completed a request");
    else if (t.requests == s->client.requests)
        answer(check, MST_ANSWER_YES, "%" PRIu64 " requests on both sides", t.requests);
    else if (t.requests > s->client.requests)
        server_has_more(check, s, &t);
    else
        client_has_more(check, s, &t);
    add_remarks(check, &t);
}

/* ---- the journal ----------------------------------------------------------------- */

/* Counters and journal are read one after the other: where there is no load tool, requests end
 * between the two, when the recording begins and when it ends. */
static bool is_at_edges(const struct mst_summary *s, uint64_t counted, uint64_t records)
{
    uint64_t apart = counted > records ? counted - records : records - counted;

    return s->command_line == NULL ? mst_milli(apart, records + 1) <= MST_EDGES_MILLI : apart == 0;
}

static void check_journal(struct mst_check *check, const struct mst_summary *s)
{
    uint64_t lost = 0, restarts = 0, records = 0, counted = 0;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        lost = plus(lost, s->servers[i].lost);
        restarts = plus(restarts, s->servers[i].restarts);
        counted = plus(counted, s->servers[i].counted);
        records += s->servers[i].requests + s->servers[i].in_flight_before;
    }
    if (lost == MST_UNKNOWN || s->server_count == 0)
        answer(check, MST_ANSWER_UNKNOWN, "how many records were lost is not known");
    else if (lost > 0)
        answer(check, MST_ANSWER_NO, "%" PRIu64 " records were lost, %" PRIu64 " are here: "
               "overwritten before they could be read, or their writer was killed (MPMStatJournal "
               "keeps more); times are of those that are here", lost, records);
    else if (restarts == 0 && counted != MST_UNKNOWN && !is_at_edges(s, counted, records))
        answer(check, MST_ANSWER_UNKNOWN, "no record was lost, but the server counted %" PRIu64
               " requests and %" PRIu64 " are here: some ended while the recording began or ended",
               counted, records);
    else
        answer(check, MST_ANSWER_YES, "no record was lost%s", restarts > 0 && restarts !=
               MST_UNKNOWN ? ", although the server was restarted" : "");
}

/* ---- Little's law ---------------------------------------------------------------- */

/* What it means that the two are apart; whether something explains it that is not a request's
 * time. A worker that reads from a connection on which no request comes (a client that is slow, or
 * gone, or whose packets were lost) spends such time. So does one that has an HTTP/2 connection:
 * threads of mod_http2 serve its requests. */
static bool explain_gap(char *text, size_t room, const struct mst_summary_server *server,
                        uint64_t by_requests, uint64_t by_workers)
{
    uint64_t reading = server->mean_state_milli[MST_STATE_READING];

    bool is_reading = by_requests < by_workers && reading != MST_UNKNOWN &&
                      reading >= (by_workers - by_requests) / 2;
    bool is_http2 = mst_known(server->resources.http2_workers) > 0;

    if (by_requests > by_workers)
        snprintf(text, room, ": times or counters are wrong, do not use them");
    else if (is_reading)
        snprintf(text, room, "; %s on average read from connections, also from some that sent "
                 "no request", mst_format_milli(reading).text);
    else if (is_http2)
        snprintf(text, room, ": connections with HTTP/2 held workers, too, while threads of "
                 "mod_http2 serve the requests");
    else
        snprintf(text, room, ": something else than recorded requests held workers");
    return is_reading ? reading >= by_workers - by_requests
                      : is_http2 && by_requests < by_workers;
}

/* Why the law cannot be tried on a server. NULL: it can. */
static const char *lacks_for_littles_law(const struct mst_summary *s,
                                         const struct mst_summary_server *server)
{
    if (server->lost != 0 || server->restarts != 0 || server->working_ns == MST_UNKNOWN ||
        server->held_ns == MST_UNKNOWN || s->duration_ns == MST_UNKNOWN ||
        server->span_ns == MST_UNKNOWN || server->span_ns == 0)
        return "records or counters are missing for it";
    if (server->in_flight != 0 && s->command_line != NULL)
        return "requests were still in flight when the recording ended";
    if (s->duration_ns < MST_LITTLE_RUN_MIN_NS || server->requests < MST_LITTLE_REQUESTS_MIN)
        return "too short a run: it takes a second and 20 requests";
    return NULL;
}

/* Throughput times the mean time that a request held its worker is the mean
 * number of workers at work: once from the requests, once from the workers. Both with what
 * was still done after the load, so over that time, too. */
static void try_littles_law(struct mst_check *check, const struct mst_summary_server *server)
{
    uint64_t by_requests, by_workers, apart, held = server->held_ns, worked = server->working_ns;
    char more[128] = "", tolerance[64];
    bool explained = false;

    by_requests = mst_milli(held, server->span_ns);
    by_workers = mst_milli(worked, server->span_ns);
    apart = held > worked ? held - worked : worked - held;
    apart = worked > 0 ? mst_milli(apart, worked) :
            apart > 0 ? 1000 : 0;
    if (apart > MST_LITTLE_TOLERANCE_MILLI)
        explained = explain_gap(more, sizeof more, server, by_requests, by_workers);
    snprintf(tolerance, sizeof tolerance, " (up to %s is fine)",
             mst_format_percent(MST_LITTLE_TOLERANCE_MILLI).text);
    /* Requests in flight at the end are those of a server that goes on; reading without a request
     * is its clients'. Neither makes the times wrong. */
    answer(check, apart <= MST_LITTLE_TOLERANCE_MILLI ? MST_ANSWER_YES :
           explained || server->in_flight != 0 ? MST_ANSWER_UNKNOWN : MST_ANSWER_NO,
           "throughput x %s = %s workers, %s were at work: %s apart%s%s",
           mst_summary_is_php(server) ? "php_run" : "time held",
           mst_format_milli(by_requests).text, mst_format_milli(by_workers).text,
           mst_format_percent(apart).text, tolerance, more);
}

static void check_one_littles_law(struct mst_check *check, const struct mst_summary *s,
                                  const struct mst_summary_server *server)
{
    const char *lacks = server == NULL ? "no server was recorded"
                                       : lacks_for_littles_law(s, server);

    if (lacks != NULL)
        answer(check, MST_ANSWER_UNKNOWN, "%s", lacks);
    else
        try_littles_law(check, server);
}

/* Of the server that the load was for, and of the PHP behind it: each board has
 * its own workers. One that fails makes the answer; what is known stays known. */
static void check_littles_law(struct mst_check *check, const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    const struct mst_summary_server *behind = mst_summary_behind(s);
    struct mst_check of_php;
    size_t used;

    check_one_littles_law(check, s, front);
    if (behind == NULL || behind == front || behind->requests == 0)
        return;
    check_one_littles_law(&of_php, s, behind);
    used = strlen(check->text);
    snprintf(check->text + used, sizeof check->text - used, "; PHP: %.240s", of_php.text);
    if (of_php.ok == MST_ANSWER_NO)
        check->ok = MST_ANSWER_NO;
}

/* ---- the generator --------------------------------------------------------------- */

/* Several processes made the load: each can be at its limit by itself. */
static void check_generators(struct mst_check *check, const struct mst_summary *s)
{
    const struct mst_summary_generator *limit = mst_summary_limit(s);
    size_t known = 0, i;

    for (i = 0; i < s->generator_count; i++)
        known += s->generators[i].cpu_milli != MST_UNKNOWN;
    if (limit != NULL && limit->cpu_milli != MST_UNKNOWN &&
        limit->cpu_milli > MST_GENERATOR_BUSY_MILLI)
        answer(check, MST_ANSWER_NO, "%.200s was at its limit: it took %s of the one CPU that it "
               "can use (up to %s is fine)", limit->name, mst_format_percent(limit->cpu_milli).text,
               mst_format_percent(MST_GENERATOR_BUSY_MILLI).text);
    else if (limit != NULL)
        answer(check, MST_ANSWER_NO, "%.200s was at its limit: it had no virtual user free for %s "
               "iterations, besides the %s requests that it made", limit->name,
               mst_format_count(limit->dropped).text, mst_format_count(limit->requests).text);
    else if (known == s->generator_count)
        answer(check, MST_ANSWER_YES, "each of %zu generators took less than %s of a CPU",
               s->generator_count, mst_format_percent(MST_GENERATOR_BUSY_MILLI).text);
    else
        answer(check, MST_ANSWER_UNKNOWN, "%zu of %zu generators do not say how busy they were",
               s->generator_count - known, s->generator_count);
}

static void check_generator(struct mst_check *check, const struct mst_summary *s)
{
    const struct mst_formatted most = mst_format_percent(MST_GENERATOR_BUSY_MILLI);
    const char *tool = s->client.tool;
    uint64_t milli, threads;
    char cpus[48];

    if (s->generator_count > 0) {
        check_generators(check, s);
        return;
    }
    if (tool == NULL) {
        answer(check, MST_ANSWER_UNKNOWN, "no load tool was run");
        return;
    }
    if (s->tool_cpu_ns == MST_UNKNOWN || s->duration_ns == MST_UNKNOWN ||
        s->duration_ns < MST_GENERATOR_RUN_MIN_NS) {
        answer(check, MST_ANSWER_UNKNOWN, "too short a run to tell how busy the load tool was");
        return;
    }
    milli = mst_milli(s->tool_cpu_ns, s->duration_ns);
    threads = s->cpus != MST_UNKNOWN && s->tool_threads > s->cpus ? s->cpus : s->tool_threads;
    snprintf(cpus, sizeof cpus, threads == 1 ? "the one CPU" : "the %" PRIu64 " CPUs", threads);
    if (s->tool_threads == MST_UNKNOWN || threads == 0)
        answer(check, MST_ANSWER_UNKNOWN, "the load tool took %s of a CPU; how many it can use is "
               "not known", mst_format_percent(milli).text);
    else if (milli / threads > MST_GENERATOR_BUSY_MILLI)
        answer(check, MST_ANSWER_NO, "%s itself was at its limit: %s of %s that it can use (up "
               "to %s is fine)", tool, mst_format_percent(milli / threads).text, cpus, most.text);
    else
        answer(check, MST_ANSWER_YES, "%s took %s of %s that it can use (up to %s is "
               "fine)", tool, mst_format_percent(milli / threads).text, cpus, most.text);
}

/* ---- the accept queue ------------------------------------------------------------- */

/* Whether this queue cannot have been full, although one of the machine was: of all requests that
 * waited at once there were fewer than have room in it. */
static bool had_room(const struct mst_summary_server *server)
{
    return server->max_listen_queue < server->listen_queue_limit && server->lost == 0 &&
           server->queued_at_once != MST_UNKNOWN &&
           server->queued_at_once < server->listen_queue_limit;
}

/* The kernel counts overflows of the whole machine; where a server is elsewhere
 * they are not its own. A lost SYN is sent again after a second (TCP_TIMEOUT_INIT); where
 * the handshake's last packet was the one that found no room, data is, after 0.2 s
 * (TCP_RTO_MIN). */
static void check_accept_queue(struct mst_check *check, const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    bool overflowed = server != NULL && server->local && s->listen_overflows != MST_UNKNOWN &&
                      s->listen_overflows > 0;

    if (server == NULL || server->max_listen_queue == MST_UNKNOWN ||
        server->listen_queue_limit == MST_UNKNOWN)
        answer(check, MST_ANSWER_UNKNOWN, "the length of the accept queue is not known");
    else if (server->max_listen_queue >= server->listen_queue_limit && !overflowed)
        answer(check, MST_ANSWER_NO, "at most %" PRIu64 " of %" PRIu64 " connections were seen "
               "waiting: further ones had to try again, after 0.2 s or more",
               server->max_listen_queue, server->listen_queue_limit);
    else if (!overflowed)
        answer(check, MST_ANSWER_YES, "at most %" PRIu64 " of %" PRIu64 " connections were seen "
               "waiting", server->max_listen_queue, server->listen_queue_limit);
    else if (had_room(server))
        answer(check, MST_ANSWER_YES, "at most %" PRIu64 " of %" PRIu64 " connections were seen "
               "waiting. Another queue of the machine was full: connections found it so %" PRIu64
               " times", server->max_listen_queue, server->listen_queue_limit,
               s->listen_overflows);
    else
        answer(check, MST_ANSWER_NO, "connections found an accept queue full %" PRIu64 " times and "
               "had to try again after 0.2 s or more; seen: at most %" PRIu64 " of %" PRIu64
               " waiting", s->listen_overflows, server->max_listen_queue,
               server->listen_queue_limit);
}

/* ---- all of them ----------------------------------------------------------------- */

void mst_summary_check(struct mst_summary *s)
{
    static const char *const names[MST_CHECK_COUNT] = {
        [MST_CHECK_COUNTS] = "counts", [MST_CHECK_LITTLES_LAW] = "littles-law",
        [MST_CHECK_JOURNAL_COMPLETE] = "journal-complete", [MST_CHECK_GENERATOR] = "generator",
        [MST_CHECK_ACCEPT_QUEUE] = "accept-queue", [MST_CHECK_STEADY] = "steady",
    };
    int i;

    for (i = 0; i < MST_CHECK_COUNT; i++)
        s->checks[i].name = names[i];
    check_counts(&s->checks[MST_CHECK_COUNTS], s);
    check_littles_law(&s->checks[MST_CHECK_LITTLES_LAW], s);
    check_journal(&s->checks[MST_CHECK_JOURNAL_COMPLETE], s);
    check_generator(&s->checks[MST_CHECK_GENERATOR], s);
    check_accept_queue(&s->checks[MST_CHECK_ACCEPT_QUEUE], s);
    mst_summary_check_steady(&s->checks[MST_CHECK_STEADY], s);
}

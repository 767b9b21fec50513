/* chains.c - which finding follows from which other one: see chains.h.
 *
 * A row of the tables below is a mechanism: where there are findings of both codes, and what the
 * row asks of them holds, one follows from the other. Of several rows for a finding the first one
 * counts. No row leads back to a finding that a row leads to it from: chains have an end.
 */
#include "findings/chains.h"

#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"

struct link {
    enum mst_code symptom, root;
    bool (*holds)(const struct mst_inquiry *q, const struct mst_finding *symptom,
                  const struct mst_finding *root);   /* NULL: wherever there are both */
    bool helps;                                      /* the symptom's own advice, all the same */
};

/* ---- what rows ask ------------------------------------------------------------------------- */

/* Whether Apache's workers spent at least half of the time of their requests so. */
static bool have_half(const struct mst_inquiry *q, uint64_t ns)
{
    const struct mst_budget *b = &q->b;
    uint64_t before = b->ns[MST_PART_QUEUE] + b->ns[MST_PART_H2_WAIT];

    return b->total_ns > before && ns >= (b->total_ns - before) / 2;
}

/* Half would leave out a queue in front of both, which fills Apache's workers evenly. */
static bool are_held_by_php(const struct mst_inquiry *q, const struct mst_finding *symptom,
                            const struct mst_finding *root)
{
    (void)symptom, (void)root;
    return have_half(q, 2 * q->b.ns[MST_PART_PHP_WAIT]);
}

static bool are_held_by_uploads(const struct mst_inquiry *q, const struct mst_finding *symptom,
                                const struct mst_finding *root)
{
    (void)symptom, (void)root;
    return have_half(q, q->b.ns[MST_PART_UPLOAD]);
}

/* Time that requests waited for PHP is not a worker's of PHP. */
static bool are_phps_held_by_uploads(const struct mst_inquiry *q, const struct mst_finding *symptom,
                                     const struct mst_finding *root)
{
    (void)symptom, (void)root;
    return have_half(q, q->b.ns[MST_PART_UPLOAD] + q->b.ns[MST_PART_PHP_WAIT] / 2);
}

static bool are_held_by_headers(const struct mst_inquiry *q, const struct mst_finding *symptom,
                                const struct mst_finding *root)
{
    (void)symptom, (void)root;
    return mst_mostly_in(q->b.front, MST_STATE_READING) || have_half(q, q->b.ns[MST_PART_READ]);
}

/* Connections, without a worker. */
static bool are_mostly_sending(const struct mst_inquiry *q, const struct mst_finding *symptom,
                               const struct mst_finding *root)
{
    const uint64_t *ns = q->b.ns;

    (void)symptom, (void)root;
    return have_half(q, ns[MST_PART_SEND_CLIENT] + ns[MST_PART_SEND_NETWORK] + ns[MST_PART_SEND]);
}

static bool are_held_by_sending(const struct mst_inquiry *q, const struct mst_finding *symptom,
                                const struct mst_finding *root)
{
    const struct mst_summary_server *front = q->b.front;

    if (front->mean_state_milli[MST_STATE_SENDING] == MST_UNKNOWN && front->mpm != NULL &&
        strcmp(front->mpm, "event") != 0)
        return are_mostly_sending(q, symptom, root);   /* a worker has the request till its end */
    return mst_mostly_in(front, MST_STATE_SENDING);
}

static bool are_held_by_logging(const struct mst_inquiry *q, const struct mst_finding *symptom,
                                const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return root->certainty == MST_CERTAIN && root->share_milli >= MST_HOLDER_TIME_MILLI;
}

static bool are_held_by_checks(const struct mst_inquiry *q, const struct mst_finding *symptom,
                               const struct mst_finding *root)
{
    (void)symptom, (void)root;
    return have_half(q, q->b.ns[MST_PART_CHECKS]);
}

/* More workers would wait there, too. */
static bool is_one_at_a_time(const struct mst_inquiry *q, const struct mst_finding *symptom,
                             const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return mst_finding_answer(root, MST_ONE_AT_A_TIME) == MST_ANSWER_YES &&
           root->weight >= MST_HOLDER_TIME_MILLI;
}

/* The calls take the workers that others, and they themselves, wait for. */
static bool calls_itself(const struct mst_inquiry *q, const struct mst_finding *symptom,
                         const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return mst_finding_answer(root, MST_CALLS_ITSELF) == MST_ANSWER_YES;
}

/* The plan for these workers finds no number that is better, as the CPUs are full. */
static bool is_more_no_help(const struct mst_inquiry *q, const struct mst_finding *symptom,
                            const struct mst_finding *root)
{
    uint64_t advised = mst_finding_number(symptom, "workers_advised");
    uint64_t limit = mst_finding_number(symptom, "workers_limit");
    uint64_t cpu_milli = mst_finding_number(symptom, "predicted_cpu_milli");

    (void)q, (void)root;
    return advised != MST_UNKNOWN && limit != MST_UNKNOWN && advised <= limit &&
           cpu_milli != MST_UNKNOWN && cpu_milli >= MST_CPU_MUCH_MILLI;
}

static bool is_headline(const struct mst_inquiry *q, const struct mst_finding *symptom,
                        const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return root->share_milli != MST_UNKNOWN && root->share_milli >= MST_HEADLINE_MILLI;
}

/* What its own rule has not more than likely, because it computes, too. */
static bool is_only_likely(const struct mst_inquiry *q, const struct mst_finding *symptom,
                           const struct mst_finding *root)
{
    (void)q, (void)root;
    return symptom->certainty == MST_LIKELY;
}

/* Compiling took at least half of PHP's CPU time, and PHP took at least half of the CPU time that
 * the machine was busy for, where that is known. */
static bool is_half_of_cpu(const struct mst_inquiry *q, const struct mst_finding *symptom,
                           const struct mst_finding *root)
{
    uint64_t php_ns = mst_budget_php_cpu_ns(&q->b);
    uint64_t cpus = mst_finding_number(symptom, "cpus");
    uint64_t busy_milli = mst_finding_number(symptom, "busy_milli");
    double busy_ns = (double)q->s->duration_ns * (double)cpus * (double)busy_milli / 1000;

    return mst_known(mst_finding_number(root, MST_OF_CPU)) >= MST_HOLDER_TIME_MILLI &&
           (busy_milli == MST_UNKNOWN || cpus == MST_UNKNOWN || 2 * (double)php_ns >= busy_ns);
}

/* Whether the hypervisor had at least a quarter of what the CPUs were busy with. */
static bool is_much_of_busy(const struct mst_inquiry *q, const struct mst_finding *symptom,
                            const struct mst_finding *root)
{
    (void)symptom;
    return root->share_milli >= q->s->machine_busy_milli / 4;
}

/* The kernel has no room to keep them. */
static bool read_files_again(const struct mst_inquiry *q, const struct mst_finding *symptom,
                             const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return mst_finding_answer(root, MST_READS_FILES_AGAIN) == MST_ANSWER_YES;
}

/* What Apache calls its backend's time is the queue in front of PHP. A backend that lets in one at
 * a time is what PHP's workers wait for: the other way round. */
static bool are_lost_in_queue(const struct mst_inquiry *q, const struct mst_finding *symptom,
                              const struct mst_finding *root)
{
    (void)q;
    return mst_finding_number(root, MST_LOST_BY_APACHE) == 1 &&
           mst_finding_answer(symptom, MST_ONE_AT_A_TIME) != MST_ANSWER_YES;
}

/* ---- slowness ------------------------------------------------------------------------------ */

#define ONE_AT_A_TIME(symptom) \
    { symptom, MST_CODE_LOCK, is_one_at_a_time, false }, \
    { symptom, MST_CODE_DATABASE, is_one_at_a_time, false }, \
    { symptom, MST_CODE_CACHE, is_one_at_a_time, false }, \
    { symptom, MST_CODE_HTTP, is_one_at_a_time, false }, \
    { symptom, MST_CODE_STREAM, is_one_at_a_time, false }, \
    { symptom, MST_CODE_FILE, is_one_at_a_time, false }, \
    { symptom, MST_CODE_PROCESS, is_one_at_a_time, false }, \
    { symptom, MST_CODE_BACKEND, is_one_at_a_time, false }, \
    { symptom, MST_CODE_CHECKS, is_one_at_a_time, false }, \
    { symptom, MST_CODE_SERVER_PACED, is_one_at_a_time, false }
#define CALLS_ITSELF(symptom) \
    { symptom, MST_CODE_HTTP, calls_itself, true }, \
    { symptom, MST_CODE_STREAM, calls_itself, true }
#define FULL_CPUS(symptom, holds) \
    { symptom, MST_CODE_CPU_QUOTA, holds, false }, { symptom, MST_CODE_CPU, holds, false }, \
    { symptom, MST_CODE_CPU_NEIGHBOUR, holds, false }
#define SLOW_CLIENTS(symptom, holds) \
    { symptom, MST_CODE_SLOW_CLIENTS, holds, true }, \
    { symptom, MST_CODE_SLOW_NETWORK, holds, true }, \
    { symptom, MST_CODE_SERVER_PACED, holds, true }

static const struct link slowness[] = {
    { MST_CODE_H2_WORKERS, MST_CODE_PHP_WORKERS, NULL, false },
    { MST_CODE_APACHE_WORKERS, MST_CODE_PHP_WORKERS, are_held_by_php, false },
    { MST_CODE_BACKEND, MST_CODE_PHP_WORKERS, are_lost_in_queue, false },
    { MST_CODE_H2_WORKERS, MST_CODE_PHP_CONNECTIONS, NULL, false },
    { MST_CODE_APACHE_WORKERS, MST_CODE_PHP_CONNECTIONS, NULL, false },
    { MST_CODE_APACHE_WORKERS, MST_CODE_FCGID_WAITS, are_held_by_php, false },
    { MST_CODE_STUCK_REQUESTS, MST_CODE_PHP_CONNECTIONS, NULL, false },
    CALLS_ITSELF(MST_CODE_PHP_WORKERS),
    CALLS_ITSELF(MST_CODE_APACHE_WORKERS),
    ONE_AT_A_TIME(MST_CODE_PHP_WORKERS),
    ONE_AT_A_TIME(MST_CODE_APACHE_WORKERS),
    ONE_AT_A_TIME(MST_CODE_H2_WORKERS),
    { MST_CODE_PHP_WORKERS, MST_CODE_SLOW_UPLOAD, are_phps_held_by_uploads, true },
    { MST_CODE_APACHE_WORKERS, MST_CODE_SLOW_UPLOAD, are_held_by_uploads, true },
    { MST_CODE_APACHE_WORKERS, MST_CODE_SLOW_HEADERS, are_held_by_headers, true },
    SLOW_CLIENTS(MST_CODE_APACHE_WORKERS, are_held_by_sending),
    { MST_CODE_APACHE_WORKERS, MST_CODE_LOGGING, are_held_by_logging, false },
    { MST_CODE_APACHE_WORKERS, MST_CODE_CHECKS, are_held_by_checks, true },
    FULL_CPUS(MST_CODE_PHP_WORKERS, is_more_no_help),
    FULL_CPUS(MST_CODE_APACHE_WORKERS, is_more_no_help),
    SLOW_CLIENTS(MST_CODE_EVENT_CONNECTIONS, are_mostly_sending),
    { MST_CODE_ACCEPT_QUEUE, MST_CODE_KEEPALIVE, NULL, true },
    { MST_CODE_ACCEPT_QUEUE, MST_CODE_APACHE_WORKERS, is_headline, true },
    { MST_CODE_ACCEPT_QUEUE, MST_CODE_EVENT_CONNECTIONS, NULL, true },
    { MST_CODE_PHP_ACCEPT_QUEUE, MST_CODE_PHP_WORKERS, NULL, true },
    FULL_CPUS(MST_CODE_SERVER_PACED, is_only_likely),
    FULL_CPUS(MST_CODE_LOGGING, is_only_likely),
    { MST_CODE_CPU, MST_CODE_COMPILING, is_half_of_cpu, false },
    { MST_CODE_CPU, MST_CODE_CPU_STOLEN, is_much_of_busy, true },
    { MST_CODE_CPU_NEIGHBOUR, MST_CODE_CPU_STOLEN, is_much_of_busy, false },
    { MST_CODE_FILE, MST_CODE_DISK_NEIGHBOUR, is_headline, false },
    { MST_CODE_FILE, MST_CODE_MEMORY, read_files_again, false },
    { MST_CODE_DISK, MST_CODE_MEMORY, read_files_again, false },
};

/* ---- failures ------------------------------------------------------------------------------ */

static bool has_status(const struct mst_finding *answers, uint64_t least, uint64_t most)
{
    uint64_t status = mst_finding_number(answers, "status");

    return status != MST_UNKNOWN && status >= least && status <= most;
}

/* Whether the root tells of at least half as many requests. */
static bool is_of_half(const struct mst_finding *symptom, const struct mst_finding *root)
{
    return symptom->requests == MST_UNKNOWN || root->requests == MST_UNKNOWN ||
           root->requests >= symptom->requests / 2;
}

static bool are_all_its(const struct mst_inquiry *q, const struct mst_finding *symptom,
                        const struct mst_finding *root)
{
    (void)q;
    return symptom->requests <= root->requests;
}

static bool are_fatal(const struct mst_inquiry *q, const struct mst_finding *symptom,
                      const struct mst_finding *root)
{
    (void)q;
    return has_status(symptom, 500, 500) && is_of_half(symptom, root);
}

/* The gateway's own answers: it lost its backend, or has none. */
static bool are_of_gateway(const struct mst_inquiry *q, const struct mst_finding *symptom,
                           const struct mst_finding *root)
{
    (void)q;
    return has_status(symptom, 502, 503) && is_of_half(symptom, root);
}

static bool are_refused(const struct mst_inquiry *q, const struct mst_finding *symptom,
                        const struct mst_finding *root)
{
    (void)q, (void)root;
    return has_status(symptom, 403, 403) || has_status(symptom, 500, 503);
}

/* Whether the load tool says that most of them are of that kind. */
static bool are_mostly(const struct mst_finding *f, const char *kind)
{
    return f->requests != MST_UNKNOWN &&
           mst_known(mst_finding_number(f, kind)) * 2 >= f->requests;
}

static bool are_lost(const struct mst_inquiry *q, const struct mst_finding *symptom,
                     const struct mst_finding *root)
{
    (void)q, (void)root;
    return are_mostly(symptom, "receive") || are_mostly(symptom, "connect");
}

static bool are_closed(const struct mst_inquiry *q, const struct mst_finding *symptom,
                       const struct mst_finding *root)
{
    (void)q, (void)root;
    return are_mostly(symptom, "receive");
}

static bool are_not_taken(const struct mst_inquiry *q, const struct mst_finding *symptom,
                          const struct mst_finding *root)
{
    (void)q, (void)root;
    return are_mostly(symptom, "connect") || are_mostly(symptom, "timeouts");
}

static bool is_killed(const struct mst_inquiry *q, const struct mst_finding *symptom,
                      const struct mst_finding *root)
{
    (void)q, (void)symptom;
    return mst_known(mst_finding_number(root, "killed")) > 0;
}

/* As many of them as a stopped process has kept. */
static bool are_of_stopped(const struct mst_inquiry *q, const struct mst_finding *symptom,
                           const struct mst_finding *root)
{
    (void)q;
    return mst_finding_number(root, MST_STOPPED_PID) != MST_UNKNOWN &&
           symptom->requests <= root->requests;
}

/* By their parent, and not by a signal from elsewhere. */
static bool were_ended(const struct mst_inquiry *q, const struct mst_finding *symptom,
                       const struct mst_finding *root)
{
    (void)q, (void)root;
    return mst_known(mst_finding_number(symptom, "processes_killed")) == 0;
}

static const struct link failures[] = {
    { MST_CODE_REQUESTS_DIED, MST_CODE_MEMORY, is_killed, false },
    { MST_CODE_REQUESTS_DIED, MST_CODE_SERVER_RESTARTED, were_ended, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_PHP_DOWN, are_all_its, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_PHP_FATAL, are_fatal, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_REQUESTS_DIED, are_of_gateway, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_PHP_ACCEPT_QUEUE, are_of_gateway, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_DESCRIPTORS, are_refused, false },
    { MST_CODE_ANSWERS_5XX, MST_CODE_LOCAL_PORTS, are_refused, false },
    { MST_CODE_ANSWERS_4XX, MST_CODE_DESCRIPTORS, are_refused, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_REQUESTS_DIED, are_lost, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_SERVER_RESTARTED, are_lost, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_DESCRIPTORS, are_lost, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_ACCEPT_QUEUE, are_not_taken, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_KEEPALIVE, are_closed, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_APACHE_WORKERS, are_closed, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_EVENT_CONNECTIONS, are_closed, false },
    { MST_CODE_CLIENT_ABORTS, MST_CODE_STUCK_REQUESTS, are_of_stopped, false },
    { MST_CODE_CLIENT_ERRORS, MST_CODE_STUCK_REQUESTS, are_of_stopped, false },
    { MST_CODE_CLIENT_BEYOND_SERVER, MST_CODE_GENERATOR, NULL, false },
};

/* Whether somebody gave up waiting: what took the requests' time made them fail. */
static bool took_too_long(const struct mst_finding *f)
{
    return f->code == MST_CODE_CLIENT_ABORTS ||
           (f->code == MST_CODE_CLIENT_ERRORS && mst_known(mst_finding_number(f, "timeouts")) * 2 >=
                                                 f->requests) ||
           (f->code == MST_CODE_ANSWERS_5XX && has_status(f, 504, 504));
}

/* The strongest finding of what took the requests' time. NULL: none explains much of it. */
static const struct mst_finding *find_what_took_it(const struct mst_summary *s)
{
    const struct mst_finding *most = NULL, *f;
    size_t i;

    for (i = 0; i < s->finding_count; i++) {
        f = &s->findings[i];
        if (!mst_code_is_failure(f->code) && f->certainty != MST_CANNOT_TELL &&
            (f->share_of == MST_SHARE_OF_TIME || f->share_of == MST_SHARE_OF_AT_ONCE) &&
            f->share_milli != MST_UNKNOWN &&
            f->share_milli >= MST_HEADLINE_MILLI && (most == NULL || f->weight > most->weight))
            most = f;
    }
    return most != NULL ? mst_finding_root(s, most) : NULL;
}

/* ---- links --------------------------------------------------------------------------------- */

void mst_follows(struct mst_finding *f, const struct mst_finding *root, bool helps)
{
    f->caused_by.known = true;
    f->caused_by.code = root->code;
    memcpy(f->caused_by.subject, root->subject, sizeof f->caused_by.subject);
    f->predicted[0] = '\0';
    if (!helps) {
        f->action[0] = '\0';
        f->changes = (struct mst_changes){ 0 };
    }
}

/* Whether both are of the same server, or one of them is of the run or of several servers. */
static bool are_together(const struct mst_finding *a, const struct mst_finding *b)
{
    return a->server[0] == '\0' || b->server[0] == '\0' || a->servers > 1 || b->servers > 1 ||
           strcmp(a->server, b->server) == 0;
}

/* The strongest finding that the row takes as the root. NULL: there is none. */
static const struct mst_finding *find_root(const struct mst_inquiry *q, const struct link *link,
                                           const struct mst_finding *symptom)
{
    const struct mst_finding *most = NULL, *f;
    size_t i;

    for (i = 0; i < q->s->finding_count; i++) {
        f = &q->s->findings[i];
        if (f->code == link->root && are_together(f, symptom) &&
            (link->holds == NULL || link->holds(q, symptom, f)) &&
            (most == NULL || f->weight > most->weight))
            most = f;
    }
    return most;
}

static void follow(struct mst_inquiry *q, const struct link *links, size_t count)
{
    const struct mst_finding *root;
    struct mst_finding *f;
    size_t i, k;

    for (i = 0; i < count; i++)
        for (k = 0; k < q->s->finding_count; k++) {
            f = &q->s->findings[k];
            if (f->code != links[i].symptom || f->caused_by.known)
                continue;
            root = find_root(q, &links[i], f);
            if (root != NULL)
                mst_follows(f, root, links[i].helps);
        }
}

void mst_chain_slowness(struct mst_inquiry *q)
{
    follow(q, slowness, sizeof slowness / sizeof *slowness);
}

void mst_chain_failures(struct mst_inquiry *q)
{
    const struct mst_finding *took;
    size_t i;

    follow(q, failures, sizeof failures / sizeof *failures);
    took = find_what_took_it(q->s);
    for (i = 0; i < q->s->finding_count && took != NULL; i++)
        if (!q->s->findings[i].caused_by.known && took_too_long(&q->s->findings[i]))
            mst_follows(&q->s->findings[i], took, false);
}

/* ---- order --------------------------------------------------------------------------------- */

/* The number of the finding that f follows from; the count of all where there is none. A stall and
 * the wait that it is of have the same code and subject: it is the stronger one. */
static size_t find_cause(const struct mst_summary *s, const struct mst_finding *f)
{
    size_t most = s->finding_count, i;
    const struct mst_finding *g;

    for (i = 0; i < s->finding_count && f->caused_by.known; i++) {
        g = &s->findings[i];
        if (g != f && g->code == f->caused_by.code && are_together(f, g) &&
            strcmp(g->subject, f->caused_by.subject) == 0 &&
            (most == s->finding_count || g->weight > s->findings[most].weight))
            most = i;
    }
    return most;
}

/* steps: how far f is from it. */
static size_t find_root_number(const struct mst_summary *s, const struct mst_finding *f,
                               size_t *steps)
{
    size_t at = (size_t)(f - s->findings), next;

    for (*steps = 0; *steps < s->finding_count; ++*steps) {
        next = find_cause(s, &s->findings[at]);
        if (next == s->finding_count)
            break;
        at = next;
    }
    return at;
}

const struct mst_finding *mst_finding_root(const struct mst_summary *s,
                                           const struct mst_finding *f)
{
    size_t steps;

    return &s->findings[find_root_number(s, f, &steps)];
}

/* What both explain of the requests' time: the parts are apart. */
static uint64_t explain_together(const struct mst_finding *root, const struct mst_finding *f)
{
    uint64_t sum;

    if (root->share_of != MST_SHARE_OF_TIME || f->share_of != MST_SHARE_OF_TIME ||
        root->share_milli == MST_UNKNOWN || f->share_milli == MST_UNKNOWN)
        return 0;
    sum = root->share_milli + f->share_milli;
    return sum < 1000 ? sum : 1000;
}

/* What follows from it is no headline: in the order in which one follows from the other. */
static void put_before(struct mst_finding *root, struct mst_finding *f, size_t steps)
{
    uint64_t together = explain_together(root, f);

    if (mst_code_is_failure(f->code) && !mst_code_is_failure(root->code) &&
        f->weight >= MST_WEIGHT_FIRST && f->weight > root->weight) {
        root->weight = f->weight - 1;
        return;
    }
    if (root->weight <= f->weight)
        root->weight = f->weight + 1;
    if (root->weight < together)
        root->weight = together;
    if (f->weight > MST_HEADLINE_MILLI - steps)
        f->weight = MST_HEADLINE_MILLI - steps;
}

void mst_chain_order(struct mst_summary *s)
{
    size_t i, root, steps;

    for (i = 0; i < s->finding_count; i++) {
        root = find_root_number(s, &s->findings[i], &steps);
        if (root != i)
            put_before(&s->findings[root], &s->findings[i], steps);
    }
}

/* odd.c - the rule for a server that differs from its peers of the same run. See rules.h. */
#include <stdlib.h>

#include "analysis/thresholds.h"
#include "findings/rules.h"
#include "findings/sentences.h"

static uint64_t limit_of(const struct mst_summary_server *s)
{
    return s->workers_limit;
}

/* The median: a few slow requests do not make a server odd. */
static uint64_t time_of(const struct mst_summary_server *s)
{
    return s->phases[mst_summary_is_php(s) ? MST_PHASE_PHP_RUN : MST_PHASE_TOTAL].p50_ns;
}

/* The mean: the median can be 0 although some requests wait long. */
static uint64_t wait_of(const struct mst_summary_server *s)
{
    enum mst_phase phase = mst_summary_is_php(s) ? MST_PHASE_PHP_WAIT : MST_PHASE_QUEUE;

    return s->phases[phase].count > 0 ? s->phases[phase].mean_ns : MST_UNKNOWN;
}

static uint64_t busy_of(const struct mst_summary_server *s)
{
    if (s->mean_busy_milli == MST_UNKNOWN || s->workers_limit == MST_UNKNOWN ||
        s->workers_limit == 0)
        return MST_UNKNOWN;
    return s->mean_busy_milli / s->workers_limit;
}

static uint64_t errors_of(const struct mst_summary_server *s)
{
    return mst_summary_milli(s->errors_5xx, s->requests);
}

static const struct measure {
    uint64_t  (*of)(const struct mst_summary_server *server);
    uint64_t    apart_min;     /* less is not a difference */
    const char *number;        /* its name among the finding's figures */
} measures[MST_ODD_COUNT] = {
    [MST_ODD_LIMIT]  = { limit_of, 1, "workers_limit" },
    [MST_ODD_TIME]   = { time_of, MST_ODD_TIME_MIN_NS, "p50_ns" },
    [MST_ODD_WAIT]   = { wait_of, MST_ODD_WAIT_MIN_NS, "wait_mean_ns" },
    [MST_ODD_BUSY]   = { busy_of, MST_ODD_BUSY_MIN_MILLI, "busy_milli" },
    [MST_ODD_ERRORS] = { errors_of, MST_FAILURES_FIRST_MILLI, "errors_milli" },
};

/* What is compared: servers of a kind with enough requests. */
struct peers {
    const struct mst_summary_server **servers;
    size_t    count;
    uint64_t *values;                  /* scratch: one for each */
    uint64_t  usual[MST_ODD_COUNT];    /* the medians; MST_UNKNOWN: one of them is not known */
    uint64_t  spread[MST_ODD_COUNT];   /* the medians of the distances from these */
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static uint64_t median(struct peers *p)
{
    qsort(p->values, p->count, sizeof *p->values, by_value);
    return p->values[p->count / 2];
}

static void learn_usual(struct peers *p, const struct measure *m, uint64_t *usual,
                        uint64_t *spread)
{
    bool known = true;
    size_t i;

    for (i = 0; i < p->count; i++) {
        p->values[i] = m->of(p->servers[i]);
        known = known && p->values[i] != MST_UNKNOWN;
    }
    *usual = known ? median(p) : MST_UNKNOWN;
    for (i = 0; i < p->count; i++)
        p->values[i] = distance(m->of(p->servers[i]), *usual);
    *spread = known ? median(p) : 0;
}

/* A limit is exact: it is odd where it differs from the one limit that most peers have. Any other
 * value is odd where it is far from the peers' median: by more than half of the median, and by more
 * than MST_ODD_SPREADS times the median distance of the peers from it. */
static bool is_odd(const struct peers *p, enum mst_odd which, uint64_t value)
{
    uint64_t usual = p->usual[which], spread = p->spread[which], apart;

    if (usual == MST_UNKNOWN || value == MST_UNKNOWN)
        return false;
    apart = distance(value, usual);
    if (which == MST_ODD_LIMIT)
        return spread == 0 && apart > 0;
    return apart >= measures[which].apart_min && apart / MST_ODD_SPREADS > spread &&
           apart > usual / 2;
}

static void judge(struct mst_inquiry *q, const struct peers *p,
                  const struct mst_summary_server *server)
{
    struct mst_finding *f = NULL;
    bool by_limit = false, by_effect = false;
    uint64_t value;
    size_t i;

    for (i = 0; i < MST_ODD_COUNT; i++) {
        value = measures[i].of(server);
        if (!is_odd(p, (enum mst_odd)i, value))
            continue;
        if (f == NULL) {
            f = mst_found(q, MST_CODE_ODD_SERVER, MST_LIKELY, 0);
            f->share_milli = MST_UNKNOWN;
            f->requests = server->requests;
            mst_found_subject(f, mst_summary_called(server));
            mst_say_odd(f, server, p->count);
        }
        mst_say_odd_in(f, server, (enum mst_odd)i, value, p->usual[i]);
        mst_found_number(f, measures[i].number, value);
        by_limit |= i == MST_ODD_LIMIT;
        by_effect |= i != MST_ODD_LIMIT;
    }
    if (f == NULL)
        return;
    /* A cause with its effect is certain, and worth the verdict. */
    f->certainty = by_limit ? MST_CERTAIN : MST_LIKELY;
    f->weight = by_limit && by_effect ? MST_HEADLINE_MILLI : MST_HEADLINE_MILLI - 1;
}

static void find_among(struct mst_inquiry *q, struct peers *p, bool is_php)
{
    const struct mst_summary *s = q->s;
    size_t i;

    p->count = 0;
    for (i = 0; i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) == is_php &&
            s->servers[i].requests >= MST_ODD_REQUESTS_MIN)
            p->servers[p->count++] = &s->servers[i];
    if (p->count < MST_ODD_SERVERS_MIN)
        return;
    for (i = 0; i < MST_ODD_COUNT; i++)
        learn_usual(p, &measures[i], &p->usual[i], &p->spread[i]);
    for (i = 0; i < p->count; i++)
        judge(q, p, p->servers[i]);
}

void mst_find_odd(struct mst_inquiry *q)
{
    struct peers p = { .count = 0 };

    p.servers = calloc(q->s->server_count + 1, sizeof *p.servers);
    p.values = calloc(q->s->server_count + 1, sizeof *p.values);
    if (p.servers != NULL && p.values != NULL) {
        find_among(q, &p, false);
        find_among(q, &p, true);
    } else {
        q->failed = true;
    }
    free(p.servers);
    free(p.values);
}

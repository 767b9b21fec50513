/* when.c - the part of the run in which findings hold: see when.h.
 *
 * The run is cut into bins. Each request's time is spread over the bins of its duration, part by
 * part. A finding is about a part, or about some of the requests; it holds in the shortest time
 * that has nearly all of that. Where this time has nearly all requests, too, it says when the load
 * was.
 */
#include "findings/when.h"

#include <string.h>

#include "analysis/kept.h"
#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "findings/sentences.h"

#define BINS 200u

/* What findings are about: a part of the time, or requests that are special. */
enum { TRACK_4XX = MST_PART_COUNT, TRACK_5XX, TRACK_SLOW, TRACK_ALL, TRACK_COUNT };

struct tracks {
    uint64_t start_ns, width_ns;    /* of the first bin; of each */
    uint64_t slow_ns;               /* from here on a request is of the tail; MST_UNKNOWN: none */
    uint64_t bins[TRACK_COUNT][BINS];
};

/* The bin of an instant; those before and after the run are in the first and in the last one. */
static size_t bin_of(const struct tracks *t, uint64_t at_ns)
{
    uint64_t bin = at_ns > t->start_ns ? (at_ns - t->start_ns) / t->width_ns : 0;

    return bin < BINS ? (size_t)bin : BINS - 1;
}

static void spread(struct tracks *t, unsigned track, size_t first, size_t last, uint64_t amount)
{
    size_t i;

    for (i = first; amount > 0 && i <= last; i++)
        t->bins[track][i] += amount / (last - first + 1);
}

static bool take(void *context, const struct mst_walked *r)
{
    struct tracks *t = context;
    size_t first = bin_of(t, r->start_ns), last = bin_of(t, r->start_ns + r->total_ns);
    enum mst_part part;

    for (part = 0; part < MST_PART_COUNT; part++)
        spread(t, part, first, last, r->split.parts_ns[part]);
    t->bins[TRACK_ALL][first]++;
    t->bins[TRACK_4XX][last] += r->status >= 400 && r->status < 500;
    t->bins[TRACK_5XX][last] += r->status >= 500 && r->status < 600;
    t->bins[TRACK_SLOW][first] += r->total_ns > t->slow_ns;
    return true;
}

static uint64_t sum_of(const uint64_t bins[BINS])
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < BINS; i++)
        sum += bins[i];
    return sum;
}

/* The shortest time that has so many thousandths of it. */
struct window { size_t first, count; };

static struct window shortest(const uint64_t bins[BINS], uint64_t milli)
{
    uint64_t wanted = mst_scale(sum_of(bins), milli, 1000) + 1, inside = 0;
    struct window best = { 0, BINS };
    size_t first = 0, i;

    for (i = 0; i < BINS; i++) {
        inside += bins[i];
        while (inside - bins[first] >= wanted && first < i)
            inside -= bins[first++];
        if (inside >= wanted && i - first + 1 < best.count)
            best = (struct window){ first, i - first + 1 };
    }
    return best;
}

static uint64_t inside(const uint64_t bins[BINS], const struct window *w)
{
    uint64_t sum = 0;
    size_t i;

    for (i = w->first; i < w->first + w->count; i++)
        sum += bins[i];
    return sum;
}

/* TRACK_COUNT: it is about no such thing. */
static unsigned track_of(const struct mst_finding *f)
{
    static const struct { enum mst_code code; unsigned track; } tracks[] = {
        { MST_CODE_ANSWERS_4XX, TRACK_4XX }, { MST_CODE_ANSWERS_5XX, TRACK_5XX },
        { MST_CODE_TAIL, TRACK_SLOW },
        { MST_CODE_APACHE_WORKERS, MST_PART_QUEUE }, { MST_CODE_APACHE_SPAWNING, MST_PART_QUEUE },
        { MST_CODE_EVENT_CONNECTIONS, MST_PART_QUEUE }, { MST_CODE_KEEPALIVE, MST_PART_QUEUE },
        { MST_CODE_H2_WORKERS, MST_PART_H2_WAIT }, { MST_CODE_PHP_WORKERS, MST_PART_PHP_WAIT },
        { MST_CODE_PHP_SPAWNING, MST_PART_PHP_WAIT },
        { MST_CODE_FCGID_WAITS, MST_PART_PHP_WAIT }, { MST_CODE_CGI_PROCESSES, MST_PART_PHP_WAIT },
        { MST_CODE_PHP_CONNECTIONS, MST_PART_PHP_WAIT }, { MST_CODE_COMPILING, MST_PART_COMPILE },
        { MST_CODE_CPU, MST_PART_CPU_WAIT }, { MST_CODE_CPU_NEIGHBOUR, MST_PART_CPU_WAIT },
        { MST_CODE_CPU_STOLEN, MST_PART_CPU_WAIT }, { MST_CODE_CPU_QUOTA, MST_PART_CPU_WAIT },
        { MST_CODE_APPLICATION_CPU, MST_PART_CPU },
        { MST_CODE_SLOW_CLIENTS, MST_PART_SEND_CLIENT },
        { MST_CODE_SLOW_NETWORK, MST_PART_SEND_NETWORK },
        { MST_CODE_SERVER_PACED, MST_PART_SEND_SERVER }, { MST_CODE_SLOW_UPLOAD, MST_PART_UPLOAD },
        { MST_CODE_SLOW_HEADERS, MST_PART_READ }, { MST_CODE_CHECKS, MST_PART_CHECKS },
        { MST_CODE_TLS, MST_PART_TLS }, { MST_CODE_BACKEND, MST_PART_BACKEND },
#define MST_WAIT_PART(id, ...) { MST_CODE_##id, MST_PART_##id },
#include "segment/parts.def"
    };
    size_t i;

    for (i = 0; i < sizeof tracks / sizeof *tracks; i++)
        if (tracks[i].code == f->code)
            return tracks[i].track;
    return TRACK_COUNT;
}

static void find(const struct mst_inquiry *q, struct mst_finding *f, const struct tracks *t)
{
    unsigned track = track_of(f);
    uint64_t requests = sum_of(t->bins[TRACK_ALL]);
    struct window w;

    if (track == TRACK_COUNT || sum_of(t->bins[track]) == 0 ||
        (track < MST_PART_COUNT &&
         mst_budget_milli(&q->b, sum_of(t->bins[track])) < MST_FINDING_MILLI))
        return;
    w = shortest(t->bins[track], MST_WHEN_MILLI);
    if (w.count * 1000 > BINS * MST_WHEN_MOST_MILLI ||
        mst_milli(inside(t->bins[TRACK_ALL], &w), requests) > MST_WHEN_REQUESTS_MILLI)
        return;
    f->when = (struct mst_when){ true, t->start_ns + w.first * t->width_ns,
                                 t->start_ns + (w.first + w.count) * t->width_ns };
    mst_say_when(f, q->s);
}

static uint64_t slow_from(const struct mst_summary *s)
{
    const struct mst_finding *tail = mst_findings_get(s, MST_CODE_TAIL, "");

    return tail != NULL ? mst_finding_number(tail, "border_ns") : MST_UNKNOWN;
}

void mst_find_when(struct mst_inquiry *q)
{
    struct tracks t = { .start_ns = q->s->started_ns, .width_ns = q->s->duration_ns / BINS,
                        .slow_ns = slow_from(q->s) };
    size_t i;

    if (t.width_ns == 0 || q->b.front->requests < MST_WHEN_REQUESTS_MIN)
        return;
    q->failed |= !mst_kept_walk(q->b.front->kept, take, &t);
    for (i = 0; i < q->s->finding_count; i++)
        if (!q->s->findings[i].when.known && q->s->findings[i].server[0] == '\0')
            find(q, &q->s->findings[i], &t);
}

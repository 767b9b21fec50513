/* steadiness.c - the check `steady`: whether the load's halves are alike, and where a warm-up
 * ended: see steps.h.
 *
 * The time from the first answer to the last request's start is cut into bins: before and after it
 * the load begins and ends, which is no warm-up. Two halves differ where their rates or their mean
 * times are apart by more than 5 %, and by more than the scatter of the second half's bins
 * explains: a short warm-up would hide in the scatter that it gives the first half. The warm-up is
 * the shortest beginning without which the halves are alike.
 */
#include "analysis/steps.h"

#include <math.h>
#include <stdio.h>

#include "analysis/kept.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "console/format.h"
#include "stats/distribution.h"

#define BINS         20u
#define WARMUP_MAX   (BINS / 2)  /* what is longer is no beginning */
#define REQUESTS_MIN 200u        /* ten a bin */
#define APART        0.05        /* as for the load of mpmstat capacity (record/steady.c) */

struct bin { double requests, total_ns; };

struct course {
    uint64_t from_ns, until_ns;  /* of the first answer, of the last request's start */
    double   width_ns;           /* of a bin */
    struct bin bins[BINS];
};

/* What some bins have in common, and the error of it by their scatter. */
struct stretch { double rate, rate_error, mean_ns, mean_error_ns; };

/* ---- reading --------------------------------------------------------------------- */

static bool find_range(void *context, const struct mst_walked *r)
{
    struct course *c = context;

    if (r->start_ns + r->total_ns < c->from_ns)
        c->from_ns = r->start_ns + r->total_ns;
    if (r->start_ns > c->until_ns)
        c->until_ns = r->start_ns;
    return true;
}

static bool add_to_bin(void *context, const struct mst_walked *r)
{
    struct course *c = context;
    uint64_t end_ns = r->start_ns + r->total_ns;
    size_t bin;

    if (end_ns < c->from_ns || end_ns >= c->until_ns)
        return true;
    bin = (size_t)((double)(end_ns - c->from_ns) / c->width_ns);
    c->bins[bin < BINS ? bin : BINS - 1].requests++;
    c->bins[bin < BINS ? bin : BINS - 1].total_ns += (double)r->total_ns;
    return true;
}

/* All servers that the load tool talks to. */
static void walk(const struct mst_summary *s, mst_walk_each *each, struct course *c)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].producer == front->producer)
            mst_kept_walk(s->servers[i].kept, each, c);
}

/* False: it is too short, or has too few requests. */
static bool read_course(struct course *c, const struct mst_summary *s)
{
    double requests = 0;
    size_t i;

    *c = (struct course){ .from_ns = UINT64_MAX };
    walk(s, find_range, c);
    if (c->from_ns >= c->until_ns || c->until_ns - c->from_ns < MST_LITTLE_RUN_MIN_NS)
        return false;
    c->width_ns = (double)(c->until_ns - c->from_ns) / BINS;
    walk(s, add_to_bin, c);
    for (i = 0; i < BINS; i++)
        requests += c->bins[i].requests;
    return requests >= REQUESTS_MIN;
}

/* ---- comparing ------------------------------------------------------------------- */

static struct stretch stretch_of(const struct course *c, size_t from, size_t to)
{
    struct stretch s = { 0 };
    double requests = 0, total_ns = 0, n = (double)(to - from), rate, mean_ns;
    size_t i;

    for (i = from; i < to; i++) {
        requests += c->bins[i].requests;
        total_ns += c->bins[i].total_ns;
    }
    s.rate = requests / n;
    s.mean_ns = requests > 0 ? total_ns / requests : 0;
    for (i = from; i < to; i++) {
        rate = c->bins[i].requests;
        mean_ns = rate > 0 ? c->bins[i].total_ns / rate : s.mean_ns;
        s.rate_error += (rate - s.rate) * (rate - s.rate);
        s.mean_error_ns += (mean_ns - s.mean_ns) * (mean_ns - s.mean_ns);
    }
    s.rate_error = sqrt(s.rate_error / (n - 1) / n);
    s.mean_error_ns = sqrt(s.mean_error_ns / (n - 1) / n);
    return s;
}

/* error: of the difference. */
static bool apart(double a, double b, double error, double freedom)
{
    return fabs(a - b) > APART * fmax(a, b) && fabs(a - b) > mst_student(0.99, freedom) * error;
}

/* Whether both halves of what begins at that bin are alike. */
static bool is_steady(const struct course *c, size_t from)
{
    size_t middle = (from + BINS + 1) / 2;
    const struct stretch a = stretch_of(c, from, middle), b = stretch_of(c, middle, BINS);
    double bins = (double)(BINS - middle), both = sqrt(1 + bins / (double)(middle - from));

    return !apart(a.rate, b.rate, b.rate_error * both, bins - 1) &&
           !apart(a.mean_ns, b.mean_ns, b.mean_error_ns * both, bins - 1);
}

/* ---- what is said ---------------------------------------------------------------- */

struct said { char text[128]; };

/* "201 requests/s, mean 24.1 ms" */
static struct said say(const struct course *c, const struct stretch *s)
{
    struct said said;

    snprintf(said.text, sizeof said.text, "%s requests/s, mean %s",
             mst_format_milli((uint64_t)(s->rate / c->width_ns * 1e12)).text,
             mst_format_time((uint64_t)s->mean_ns).text);
    return said;
}

static void say_warm_up(struct mst_check *check, const struct course *c, size_t from)
{
    const struct stretch all = stretch_of(c, 0, BINS), rest = stretch_of(c, from, BINS);
    const struct stretch first = stretch_of(c, 0, from);
    uint64_t until_ns = (uint64_t)(c->width_ns * (double)from);
    double by = fmax(fabs(all.rate / rest.rate - 1), fabs(all.mean_ns / rest.mean_ns - 1));

    check->ok = by > APART ? MST_ANSWER_NO : MST_ANSWER_YES;
    snprintf(check->text, sizeof check->text, "the first %s were a warm-up (%s), then it was "
             "steady (%s): with them the run's rate or mean is %.*f %% off%s",
             mst_format_time(until_ns).text, say(c, &first).text, say(c, &rest).text,
             by < 0.0995 ? 1 : 0, by * 100, by > APART ? "; record it with --steady" : "");
}

void mst_summary_check_steady(struct mst_check *check, const struct mst_summary *s)
{
    struct course c;
    struct stretch first, second;
    size_t from = 0;

    check->ok = MST_ANSWER_UNKNOWN;
    if (s->client.tool == NULL || s->server_count == 0 || s->thinned_of > 0) {
        snprintf(check->text, sizeof check->text, "%s", s->server_count == 0 ?
                 "no server was recorded" : s->client.tool == NULL ? "no load tool was run: "
                 "traffic changes by itself" : "the archive is thinned");
        return;
    }
    if (!read_course(&c, s)) {
        snprintf(check->text, sizeof check->text, "too short a run: it takes a second and %u "
                 "requests between its first answer and its last request", REQUESTS_MIN);
        return;
    }
    while (from <= WARMUP_MAX && !is_steady(&c, from))
        from++;
    if (from > 0 && from <= WARMUP_MAX) {
        say_warm_up(check, &c, from);
        return;
    }
    first = stretch_of(&c, 0, BINS / 2);
    second = stretch_of(&c, BINS / 2, BINS);
    check->ok = from == 0 ? MST_ANSWER_YES : MST_ANSWER_NO;
    snprintf(check->text, sizeof check->text, from == 0 ? "both halves are alike: %s; %s" :
             "it never was steady: the first half had %s, the second %s", say(&c, &first).text,
             say(&c, &second).text);
}

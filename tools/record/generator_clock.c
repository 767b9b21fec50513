/* generator_clock.c - a generator's clock against the server's: see generator_clock.h.
 *
 * First a coarse offset: the requests' starts in bins of 10 ms, both sides correlated by a Fourier
 * transform. Its highest peaks are candidates, and so is 0. Then the bounds, for each candidate:
 * each of the client's requests allows those offsets at which it encloses a request of the
 * server's, and the offset is where most of them agree.
 */
#include "record/generator_clock.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "segment/format.h"   /* MST_UNKNOWN */

#define BIN_NS        (10 * (int64_t)MST_NS_PER_MS)
#define BINS_MAX      (1u << 19)           /* of 16 bytes, on each side */
#define PEAKS         8u
#define NEAR_NS       (50 * (int64_t)MST_NS_PER_MS)   /* looked through on each side of a peak */
#define PAIRS_COARSE  1000000u             /* looked at for one candidate */
#define PAIRS_FINE    4000000u
#define ROWS_COARSE   2000u                /* of the client, spread over all */
#define ROWS_FINE     50000u
#define ROWS_MIN      10u                  /* fewer agree on some offset by chance */
/* So many of the client's requests need not fit, and one in so many: clocks are adjusted, and a
 * busy machine lets a process wait before it notes the time. */
#define OUTLIERS      2
#define OUTLIERS_PART 100
/* Some requests fit any offset by chance. Of the others, so many in a hundred have to fit the best
 * offset: else none is known. */
#define DISTINCT_PERCENT 50
#define RANGE_NS      (INT64_MAX / 8)

/* ---- where offsets agree --------------------------------------------------------- */

struct edge { int64_t at; int delta; };
struct edges { struct edge *items; size_t count, room; };

/* Offsets of the server's clock less the client's that are looked at, and what was found there. */
struct window {
    int64_t from, to;
    size_t  rows, pairs;                   /* looked at: the client's rows; their pairs */
    long    best;                          /* how many rows fit the best offset */
    double  mean;                          /* how many rows fit any offset, on average */
    int64_t low, high;                     /* offsets that nearly as many rows fit */
};

static int by_place(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : y->delta - x->delta;
}

static bool add_edge(struct edges *e, int64_t at, int delta)
{
    if (!mst_grow(&e->items, &e->room, e->count, sizeof *e->items))
        return false;
    e->items[e->count++] = (struct edge){ at, delta };
    return true;
}

/* One row's ranges become one set: where two of the server's requests fit, it counts once. */
static void unite(struct edges *e, size_t first)
{
    size_t count = e->count - first, i;
    struct edge *at = count > 0 ? e->items + first : NULL;
    int depth = 0, before;

    if (count > 0)
        qsort(at, count, sizeof *at, by_place);
    e->count = first;
    for (i = 0; i < count; i++) {
        before = depth;
        depth += at[i].delta;
        if ((before == 0) != (depth == 0))
            e->items[e->count++] = at[i];
    }
}

static void find_best(struct window *w, struct edges *e)
{
    long depth = 0, least;
    int64_t last = w->from;
    size_t i;

    if (e->count > 0)
        qsort(e->items, e->count, sizeof *e->items, by_place);
    for (i = 0; i < e->count; i++) {
        w->mean += (double)depth * (double)(e->items[i].at - last) / (double)(w->to - w->from);
        last = e->items[i].at;
        depth += e->items[i].delta;
        w->best = depth > w->best ? depth : w->best;
    }
    least = w->best - w->best / OUTLIERS_PART - OUTLIERS;
    w->low = w->to;
    w->high = w->from;
    for (i = 0, depth = 0; i < e->count; i++) {
        if (e->items[i].delta < 0 && depth >= least)
            w->high = e->items[i].at;
        depth += e->items[i].delta;
        if (e->items[i].delta > 0 && depth >= least && e->items[i].at < w->low)
            w->low = e->items[i].at;
    }
}

/* ---- pairs ----------------------------------------------------------------------- */

struct sides {
    const struct mst_spans *clients, *servers;
    int64_t step;
    bool    by_id;                         /* both are sorted by it; else by their starts */
};

/* The first of the server's requests that can be this one's. */
static size_t first_server(const struct sides *s, const struct mst_span *client, int64_t offset)
{
    size_t low = 0, high = s->servers->count, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (s->by_id ? s->servers->items[middle].client_id < client->client_id
                     : s->servers->items[middle].from_ns < client->from_ns + offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_beyond(const struct sides *s, const struct mst_span *client,
                      const struct mst_span *server, int64_t offset)
{
    return s->by_id ? server->client_id != client->client_id
                    : server->from_ns > client->to_ns + s->step + offset;
}

static bool add_row(struct edges *e, const struct sides *s, const struct mst_span *client,
                    struct window *w)
{
    size_t first = e->count, i;
    int64_t low, high;

    for (i = first_server(s, client, w->from); i < s->servers->count; i++) {
        const struct mst_span *server = &s->servers->items[i];

        if (is_beyond(s, client, server, w->to))
            break;
        w->pairs++;
        low = server->to_ns - client->to_ns - s->step;
        high = server->from_ns - client->from_ns;
        low = low > w->from ? low : w->from;
        high = high < w->to ? high : w->to;
        if (low <= high && (!add_edge(e, low, 1) || !add_edge(e, high, -1)))
            return false;
    }
    unite(e, first);
    return true;
}

/* Looks at as many rows, spread over all, as there is room for their pairs. */
static bool look_through(struct window *w, const struct sides *s, size_t rows_max,
                         size_t pairs_max)
{
    const struct mst_spans *clients = s->clients;
    struct edges edges = { 0 };
    size_t step = clients->count > rows_max ? clients->count / rows_max : 1, i;
    bool fine = true;

    for (i = step / 2; i < clients->count && w->pairs < pairs_max && fine; i += step) {
        fine = add_row(&edges, s, &clients->items[i], w);
        w->rows++;
    }
    if (fine)
        find_best(w, &edges);
    free(edges.items);
    return fine;
}

/* ---- the coarse offset ----------------------------------------------------------- */

/* Cooley and Tukey's; count is a power of two. Inverse without the division. */
static void transform(double complex *x, size_t count, bool inverse)
{
    const double turn = inverse ? 2 * M_PI : -2 * M_PI;
    double complex root, factor, odd;
    size_t length, i, k, bit, j = 0;

    for (i = 1; i < count; i++) {
        for (bit = count / 2; (j & bit) != 0; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            odd = x[i];
            x[i] = x[j];
            x[j] = odd;
        }
    }
    for (length = 2; length <= count; length *= 2)
        for (k = 0; k < length / 2; k++) {
            root = cexp(I * turn * (double)k / (double)length);
            for (i = k; i < count; i += length) {
                factor = root * x[i + length / 2];
                x[i + length / 2] = x[i] - factor;
                x[i] += factor;
            }
        }
}

/* A side's starts in bins. Some rows of other times must not make all bins wide. */
struct bins { int64_t from; size_t used; };

static struct bins range_of(const struct mst_spans *spans, int64_t *length)
{
    size_t apart = spans->count / 100;
    int64_t from = spans->items[apart].from_ns, to = spans->items[spans->count - 1 - apart].from_ns;

    *length = to - from;
    return (struct bins){ .from = from };
}

static void fill(double complex *x, struct bins *bins, const struct mst_spans *spans, int64_t width,
                 int64_t length)
{
    size_t i, inside = 0;
    int64_t at;

    bins->used = (size_t)(length / width) + 1;
    for (i = 0; i < spans->count; i++) {
        at = spans->items[i].from_ns - bins->from;
        if (at >= 0 && at <= length) {
            x[at / width] += 1;
            inside++;
        }
    }
    for (i = 0; i < bins->used; i++)
        x[i] -= (double)inside / (double)bins->used;
}

/* Takes the highest peak away, with its slopes. */
static size_t take_peak(double complex *x, size_t count)
{
    size_t best = 0, i;

    for (i = 1; i < count; i++)
        if (creal(x[i]) > creal(x[best]))
            best = i;
    for (i = 0; i < 5; i++)
        x[(best + count + i - 2) % count] = 0;
    return best;
}

/* Fills in PEAKS offsets; *width is how wide a bin was. False: out of memory. */
static bool find_peaks(int64_t *offsets, int64_t *width, const struct mst_spans *clients,
                       const struct mst_spans *servers)
{
    int64_t client_length, server_length;
    struct bins client = range_of(clients, &client_length);
    struct bins server = range_of(servers, &server_length);
    size_t count = 1, i, peak;
    double complex *x, *y;

    *width = BIN_NS;
    while ((client_length + server_length) / *width + 2 > (int64_t)BINS_MAX)
        *width *= 2;
    while ((int64_t)count < (client_length + server_length) / *width + 2)
        count *= 2;
    x = calloc(count, sizeof *x);
    y = calloc(count, sizeof *y);
    if (x != NULL && y != NULL) {
        fill(x, &client, clients, *width, client_length);
        fill(y, &server, servers, *width, server_length);
        transform(x, count, false);
        transform(y, count, false);
        for (i = 0; i < count; i++)
            y[i] *= conj(x[i]);
        transform(y, count, true);
        for (i = 0; i < PEAKS; i++) {
            peak = take_peak(y, count);
            offsets[i] = server.from - client.from + *width *
                         (peak < server.used ? (int64_t)peak : (int64_t)peak - (int64_t)count);
        }
    }
    free(x);
    free(y);
    return x != NULL && y != NULL;
}

/* ---- all of it ------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    int64_t x = ((const struct mst_span *)a)->from_ns, y = ((const struct mst_span *)b)->from_ns;

    return (x > y) - (x < y);
}

static int by_client_id(const void *a, const void *b)
{
    uint64_t x = ((const struct mst_span *)a)->client_id;
    uint64_t y = ((const struct mst_span *)b)->client_id;

    return (x > y) - (x < y);
}

static void sort(struct mst_spans *spans, int (*order)(const void *, const void *))
{
    if (spans->count > 1)
        qsort(spans->items, spans->count, sizeof *spans->items, order);
}

static int64_t middle_duration(const struct mst_spans *spans)
{
    const struct mst_span *s = &spans->items[spans->count / 2];

    return s->to_ns - s->from_ns;
}

/* Whether the client's requests agree on an offset rather than on most of them. */
static bool is_distinct(const struct window *w)
{
    return w->rows >= ROWS_MIN && ((double)w->best - w->mean) * 100 >=
                                      ((double)w->rows - w->mean) * DISTINCT_PERCENT;
}

static void conclude(struct mst_generator_clock *o, const struct window *w)
{
    int64_t farthest = -w->low > w->high ? -w->low : w->high;
    bool agrees = w->low <= 0 && w->high >= 0;

    o->looked_at = w->rows;
    o->fitting = (size_t)w->best;
    if (!is_distinct(w))
        return;
    o->answer = MST_CLOCK_KNOWN;
    o->ahead_ns = agrees ? 0 : -(w->low + (w->high - w->low) / 2);
    o->uncertainty_ns = (uint64_t)(agrees ? farthest : (w->high - w->low) / 2 + 1);
}

static bool find_by_id(struct mst_generator_clock *o, struct sides *s)
{
    struct window w = { .from = -RANGE_NS, .to = RANGE_NS };
    struct edges edges = { 0 };
    bool fine = true;
    size_t i;

    s->by_id = o->by_id = true;
    for (i = 0; i < s->clients->count && s->clients->items[i].client_id != MST_UNKNOWN && fine;
         i++) {
        size_t before = edges.count;

        fine = add_row(&edges, s, &s->clients->items[i], &w);
        w.rows += edges.count > before;
    }
    if (fine)
        find_best(&w, &edges);
    free(edges.items);
    conclude(o, &w);
    return fine;
}

static bool find_by_time(struct mst_generator_clock *o, const struct sides *s)
{
    int64_t candidates[PEAKS + 1] = { 0 }, width, near;
    struct window best = { 0 };
    size_t i;

    if (!find_peaks(candidates + 1, &width, s->clients, s->servers))
        return false;
    near = 2 * width > NEAR_NS ? 2 * width : NEAR_NS;
    near += middle_duration(s->clients) + s->step;
    for (i = 0; i < PEAKS + 1; i++) {
        struct window w = { .from = candidates[i] - near, .to = candidates[i] + near };

        if (!look_through(&w, s, ROWS_COARSE, PAIRS_COARSE))
            return false;
        /* 0 comes first: another one has to be better. */
        if (i == 0 || (double)w.best * (double)best.rows >
                      (double)best.best * (double)w.rows * 1.02)
            best = w;
    }
    conclude(o, &best);
    if (o->answer == MST_CLOCK_KNOWN) {
        struct window w = { .from = best.low - (best.high - best.low) - MST_NS_PER_MS,
                            .to = best.high + (best.high - best.low) + MST_NS_PER_MS };

        if (!look_through(&w, s, ROWS_FINE, PAIRS_FINE))
            return false;
        w.mean = best.mean / (double)best.rows * (double)w.rows;
        conclude(o, &w);
    }
    return true;
}

static bool overlap(const struct mst_spans *a, const struct mst_spans *b)
{
    return a->items[0].from_ns <= b->items[b->count - 1].to_ns &&
           b->items[0].from_ns <= a->items[a->count - 1].to_ns;
}

bool mst_generator_clock_find(struct mst_generator_clock *o, struct mst_spans *clients,
                           struct mst_spans *servers, uint64_t step_ns)
{
    struct sides s = { clients, servers, (int64_t)step_ns, false };
    bool fine = true;

    *o = (struct mst_generator_clock){ .answer = MST_CLOCK_STRANGE };
    if (clients->count == 0 || servers->count == 0)
        return true;
    sort(clients, by_client_id);
    sort(servers, by_client_id);
    if (clients->items[0].client_id != MST_UNKNOWN && servers->items[0].client_id != MST_UNKNOWN)
        fine = find_by_id(o, &s);
    s.by_id = false;
    sort(clients, by_start);
    sort(servers, by_start);
    if (o->answer != MST_CLOCK_KNOWN && !o->by_id)
        fine = fine && find_by_time(o, &s);
    if (o->answer != MST_CLOCK_KNOWN && !o->by_id && overlap(clients, servers))
        o->answer = MST_CLOCK_UNSURE;
    return fine;
}

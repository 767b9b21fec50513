/* series_requests.c - requests over time: see series.h.
 *
 * The rows are read once and all durations are sorted once: the spectrum is read from that order,
 * and durations that are dealt out to the bins in it are sorted in each bin, too.
 */
#include "analysis/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kept.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "memory/pool.h"
#include "segment/format.h"
#include "stats/quantile.h"

#define HEAT_ROWS_PER_DECADE 16
#define HEAT_ROWS            192    /* twelve decades from 1 us */
#define HEAT_BINS_MAX        10000u /* a map is for the page, which has fewer */
#define WORKERS_MAX          65536u
#define STATUSES_MAX         1000u  /* HTTP's have three digits */

/* ---- bins ------------------------------------------------------------------------ */

/* Returns bins->count where the instant is in no bin. */
static size_t bin_of(const struct mst_bins *bins, uint64_t instant_ns)
{
    uint64_t bin;

    if (instant_ns < bins->start_ns)
        return bins->count;
    bin = (instant_ns - bins->start_ns) / bins->width_ns;
    return bin < bins->count ? (size_t)bin : bins->count;
}

static double bin_start(const struct mst_bins *bins, size_t bin)
{
    return (double)bin * mst_cell_seconds(bins->width_ns);
}

/* ---- gathering ------------------------------------------------------------------- */

enum { CLASS_1XX, CLASS_2XX, CLASS_3XX, CLASS_4XX, CLASS_5XX, CLASS_ABORTED, CLASS_NONE,
       CLASS_COUNT };
/* The columns of over_time with a request's time, which add up to it. PHP's are taken out of
 * `handle` and `send`; where no PHP was recorded they are not known, and 0 in the sums. */
enum { PART_QUEUE, PART_READ, PART_PHP_WAIT, PART_PHP_RUN, PART_HANDLE, PART_SEND_PHP, PART_SEND,
       PART_COUNT };
#define ALL_PARTS ((1u << PART_COUNT) - 1)
#define PHP_PARTS (1u << PART_PHP_WAIT | 1u << PART_PHP_RUN)

struct per_bin {
    uint64_t completed, started;
    uint64_t columns_ns[PART_COUNT], parts_ns[MST_PART_COUNT], classes[CLASS_COUNT];
    size_t   sorted_from, sorted;   /* its durations, while they are dealt out */
};

struct gathering {
    struct mst_bins   bins;
    struct per_bin   *per_bin;      /* bins.count, and one for those in none */
    uint32_t        (*heat)[HEAT_ROWS];   /* as many; NULL: too many for a map */
    struct mst_owned_value *durations;    /* owner: the bin */
    size_t            count, room;
    unsigned          parts;        /* those that are known, as bits */
};

static void begin(struct gathering *g, const struct mst_bins *bins)
{
    *g = (struct gathering){
        .bins = *bins, .per_bin = mst_have(calloc(bins->count + 1, sizeof *g->per_bin)),
    };
    if (bins->count <= HEAT_BINS_MAX)
        g->heat = mst_have(calloc(bins->count + 1, sizeof *g->heat));
}

static void end(struct gathering *g)
{
    free(g->per_bin);
    free(g->heat);
    free(g->durations);
}

static unsigned heat_row(uint64_t ns)
{
    double row = ns < MST_NS_PER_US ? 0 :
                 log10((double)ns / (double)MST_NS_PER_US) * HEAT_ROWS_PER_DECADE;

    return row < HEAT_ROWS ? (unsigned)row : HEAT_ROWS - 1;
}

static struct per_bin *gather(struct gathering *g, uint64_t start_ns, uint64_t duration_ns)
{
    size_t bin = bin_of(&g->bins, start_ns + duration_ns);

    if (!mst_grow(&g->durations, &g->room, g->count, sizeof *g->durations))
        mst_out_of_memory();
    g->durations[g->count++] = (struct mst_owned_value){ duration_ns, bin };
    g->per_bin[bin_of(&g->bins, start_ns)].started++;
    g->per_bin[bin].completed++;
    if (g->heat != NULL)
        g->heat[bin][heat_row(duration_ns)]++;
    return &g->per_bin[bin];
}

/* ---- quantiles ------------------------------------------------------------------- */

/* Nearest rank, in millionths: see mst_values_quantile. */
static size_t rank_of(size_t count, uint64_t millionths)
{
    unsigned __int128 scaled = (unsigned __int128)count * millionths;
    size_t rank = (size_t)((scaled + 999999) / 1000000);

    return rank > 0 ? rank - 1 : 0;
}

/* From 0 in steps of 5 %, of 0.5 % from 0.9 on, of 0.05 % from 0.99 on: dense in the tail. Ends
 * with the slowest request as soon as less than one request would be slower. */
static void make_spectrum(struct mst_table *table, const struct gathering *g)
{
    static const char *const columns[] = { "quantile", "seconds" };
    uint64_t above = 1000000, step = 50000;
    double *row;

    *table = MST_TABLE("spectrum", columns);
    while (g->count > 0) {
        row = mst_table_add(table);
        row[0] = (double)(1000000 - above) / 1e6;
        row[1] = mst_cell_seconds(g->durations[rank_of(g->count, 1000000 - above)].value);
        if (above == 0)
            break;
        if (above <= 2 * step && step >= 10)
            step /= 10;
        above = above > step && (unsigned __int128)(above - step) * g->count >= 1000000 ?
                above - step : 0;
    }
}

static double quantile_of(const uint64_t *sorted, size_t count, uint64_t millionths)
{
    return count > 0 ? mst_cell_seconds(sorted[rank_of(count, millionths)]) : NAN;
}

/* All durations, bin after bin, each bin's sorted; the caller frees them. */
static uint64_t *deal_out(struct gathering *g)
{
    uint64_t *dealt = mst_have(calloc(g->count + 1, sizeof *dealt));
    size_t bin, from = 0, i;

    for (bin = 0; bin <= g->bins.count; bin++) {
        g->per_bin[bin].sorted_from = from;
        from += g->per_bin[bin].completed;
    }
    for (i = 0; i < g->count; i++) {
        struct per_bin *to = &g->per_bin[g->durations[i].owner];

        dealt[to->sorted_from + to->sorted++] = g->durations[i].value;
    }
    return dealt;
}

/* ---- tables ---------------------------------------------------------------------- */

static const char *const part_columns[1 + MST_PART_COUNT] = {
    "t",
#define MST_PART(id, within, name, colour, noun) name,
#include "segment/parts.def"
};

enum { T, COMPLETED, STARTED, MEAN, P50, P90, P99, MAX, QUEUE, CLASSES = QUEUE + PART_COUNT,
       COLUMNS = CLASSES + CLASS_COUNT };
const char *const mst_over_time_columns[] = {
    "t", "completed", "started", "mean", "p50", "p90", "p99", "max",
    "queue", "read", "php_wait", "php_run", "handle", "send_php", "send",
    "1xx", "2xx", "3xx", "4xx", "5xx", "aborted", "none",
};
_Static_assert(sizeof mst_over_time_columns / sizeof *mst_over_time_columns == COLUMNS,
               "a name each");
const size_t mst_over_time_count = COLUMNS;

/* The parts are means over the requests that ended in the bin. */
static void fill_row(double *row, const struct gathering *g, size_t bin, const uint64_t *dealt)
{
    const struct per_bin *b = &g->per_bin[bin];
    const uint64_t *sorted = dealt + b->sorted_from;
    double sum = 0;
    size_t i;

    row[T] = bin_start(&g->bins, bin);
    row[COMPLETED] = (double)b->completed;
    row[STARTED] = (double)b->started;
    for (i = 0; i < CLASS_COUNT; i++)
        row[CLASSES + i] = (double)b->classes[i];
    if (b->completed == 0)
        return;
    for (i = 0; i < b->completed; i++)
        sum += (double)sorted[i];
    row[MEAN] = sum / (double)b->completed / (double)MST_NS_PER_S;
    row[P50] = quantile_of(sorted, b->completed, 500000);
    row[P90] = quantile_of(sorted, b->completed, 900000);
    row[P99] = quantile_of(sorted, b->completed, 990000);
    row[MAX] = quantile_of(sorted, b->completed, 1000000);
    for (i = 0; i < PART_COUNT; i++)
        if (g->parts & 1u << i)
            row[QUEUE + i] = mst_cell_seconds(b->columns_ns[i]) / (double)b->completed;
}

/* Only cells that have requests; `row` r is from 10^(r / 16) microseconds on. */
static void make_heatmap(struct mst_table *table, const struct gathering *g)
{
    static const char *const columns[] = { "bin", "row", "requests" };
    size_t bin, row;
    double *cells;

    *table = MST_TABLE("heatmap", columns);
    for (bin = 0; g->heat != NULL && bin < g->bins.count; bin++)
        for (row = 0; row < HEAT_ROWS; row++) {
            if (g->heat[bin][row] == 0)
                continue;
            cells = mst_table_add(table);
            cells[0] = (double)bin;
            cells[1] = (double)row;
            cells[2] = (double)g->heat[bin][row];
        }
}

static void finish(struct mst_series_requests *s, struct gathering *g)
{
    uint64_t *dealt;
    size_t bin;

    mst_owned_values_sort(g->durations, g->count);
    dealt = deal_out(g);
    s->bins = g->bins;
    s->count = g->count;
    s->outside = g->per_bin[g->bins.count].completed;
    s->over_time = MST_TABLE("over_time", mst_over_time_columns);
    for (bin = 0; bin < g->bins.count && g->count > 0; bin++)
        fill_row(mst_table_add(&s->over_time), g, bin, dealt);
    free(dealt);
    make_spectrum(&s->spectrum, g);
    make_heatmap(&s->heatmap, g);
}

void mst_series_requests_free(struct mst_series_requests *s)
{
    mst_table_free(&s->over_time);
    mst_table_free(&s->spectrum);
    mst_table_free(&s->heatmap);
    mst_table_free(&s->parts);
    mst_table_free(&s->workers);
    mst_table_free(&s->statuses);
}

/* ---- the client ------------------------------------------------------------------ */

static unsigned class_of(uint64_t status, bool aborted)
{
    if (aborted)
        return CLASS_ABORTED;
    return status >= 100 && status < 600 ? (unsigned)(status / 100) - 1 : CLASS_NONE;
}

/* Where the tool's clock for starts ticks once a second, a request began half a second later on
 * average than the tool says, and no bin is narrower than a second. */
bool mst_series_client(struct mst_series_requests *s, sqlite3 *db, int64_t run_id,
                       const struct mst_bins *bins, uint64_t start_step_ns)
{
    uint64_t step = mst_known(start_step_ns);
    struct mst_bins wide = mst_bins_widen(bins, step);
    struct mst_query q = mst_query_ask(db, "SELECT start_ns, duration_ns, status "
                                           "FROM client_requests WHERE run_id = :id", run_id);
    struct gathering g;
    bool fine;

    memset(s, 0, sizeof *s);
    begin(&g, &wide);
    while (mst_query_next(&q)) {
        struct per_bin *b = gather(&g, mst_row_number(&q, "start_ns") + step / 2,
                                   mst_row_number(&q, "duration_ns"));

        b->classes[class_of(mst_row_number(&q, "status"), false)]++;
    }
    fine = mst_query_done(&q);
    if (fine)
        finish(s, &g);
    end(&g);
    return fine;
}

/* ---- the server ------------------------------------------------------------------ */

struct worker { uint64_t requests, held_ns; };

static void make_workers(struct mst_table *table, const struct worker *workers)
{
    static const char *const columns[] = { "worker", "requests", "held" };
    double *row;
    size_t i;

    *table = MST_TABLE("workers", columns);
    for (i = 0; i < WORKERS_MAX; i++) {
        if (workers[i].requests == 0)
            continue;
        row = mst_table_add(table);
        row[0] = (double)i;
        row[1] = (double)workers[i].requests;
        row[2] = mst_cell_seconds(workers[i].held_ns);
    }
}

struct status { uint64_t requests, aborted; };

/* What the requests that ended in each bin consisted of. */
static void make_parts(struct mst_table *table, const struct gathering *g,
                       const struct mst_summary_server *server)
{
    size_t bin, i;
    double *row;

    *table = MST_TABLE("parts", part_columns);
    for (bin = 0; bin < g->bins.count && g->count > 0; bin++) {
        const struct per_bin *b = &g->per_bin[bin];

        row = mst_table_add(table);
        row[0] = bin_start(&g->bins, bin);
        for (i = 0; i < MST_PART_COUNT && b->completed > 0; i++)
            if (server->parts[i].requests > 0)
                row[1 + i] = mst_cell_seconds(b->parts_ns[i]) / (double)b->completed;
    }
}

/* Those without a status of HTTP come first: theirs is not a number. */
static void make_statuses(struct mst_table *table, const struct status statuses[STATUSES_MAX + 1])
{
    static const char *const columns[] = { "status", "requests", "aborted" };
    double *row;
    size_t i, status;

    *table = MST_TABLE("statuses", columns);
    for (i = 0; i <= STATUSES_MAX; i++) {
        status = i == 0 ? STATUSES_MAX : i - 1;
        if (statuses[status].requests == 0)
            continue;
        row = mst_table_add(table);
        row[0] = status < STATUSES_MAX ? (double)status : NAN;
        row[1] = (double)statuses[status].requests;
        row[2] = (double)statuses[status].aborted;
    }
}

struct server_gathering {
    struct gathering g;
    bool             is_php;
    struct worker   *workers;
    struct status    statuses[STATUSES_MAX + 1];   /* the last: of those without one */
};

static void read_columns(uint64_t columns[PART_COUNT], const struct server_gathering *s,
                         const struct mst_walked *r)
{
    const struct mst_split *split = &r->split;
    uint64_t wait = split->parts_ns[MST_PART_PHP_WAIT];

    columns[PART_PHP_WAIT] = wait;
    columns[PART_PHP_RUN] = split->handle_run_ns;
    if (s->is_php)
        return;
    columns[PART_QUEUE] = split->parts_ns[MST_PART_QUEUE] + split->parts_ns[MST_PART_H2_WAIT];
    columns[PART_READ] = split->parts_ns[MST_PART_READ] + split->parts_ns[MST_PART_TLS];
    columns[PART_HANDLE] = r->handle_ns - wait - split->handle_run_ns;
    columns[PART_SEND_PHP] = split->send_run_ns;
    columns[PART_SEND] = r->send_ns - split->send_run_ns;
}

static bool take(void *context, const struct mst_walked *r)
{
    struct server_gathering *s = context;
    struct status *same = &s->statuses[r->status < STATUSES_MAX ? r->status : STATUSES_MAX];
    struct per_bin *b = gather(&s->g, r->start_ns, r->total_ns);
    uint64_t columns[PART_COUNT] = { 0 };
    size_t i;

    read_columns(columns, s, r);
    for (i = 0; i < PART_COUNT; i++)
        b->columns_ns[i] += columns[i];
    for (i = 0; i < MST_PART_COUNT; i++)
        b->parts_ns[i] += r->split.parts_ns[i];
    b->classes[class_of(r->status, r->aborted)]++;
    same->requests++;
    same->aborted += r->aborted;
    if (r->worker < WORKERS_MAX) {
        s->workers[r->worker].requests++;
        s->workers[r->worker].held_ns += r->held_ns;
    }
    return true;
}

void mst_series_server(struct mst_series_requests *series,
                       const struct mst_summary_server *server, const struct mst_bins *bins)
{
    bool php = mst_summary_is_php(server), joined = !php && server->php.joined > 0;
    struct server_gathering of = {
        .is_php = php, .workers = mst_have(calloc(WORKERS_MAX, sizeof *of.workers)),
    };

    memset(series, 0, sizeof *series);
    begin(&of.g, bins);
    of.g.parts = php ? PHP_PARTS : joined ? ALL_PARTS :
                 ALL_PARTS & ~(PHP_PARTS | 1u << PART_SEND_PHP);
    mst_kept_walk(server->kept, take, &of);
    finish(series, &of.g);
    make_parts(&series->parts, &of.g, server);
    make_workers(&series->workers, of.workers);
    make_statuses(&series->statuses, of.statuses);
    end(&of.g);
    free(of.workers);
}

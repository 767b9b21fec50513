/* account.c - adds up where the time of a server's requests went, from the kept requests: its
 * phases, their parts, and PHP's time in them. See summary.h and steps.h.
 */
#include "analysis/kept.h"
#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "stats/quantile.h"

/* A column of times, one of each request: first the parts, then PHP's time within Apache's phases,
 * whose parts add up to it, then the phases. */
enum {
    HANDLE_WAIT = MST_PART_COUNT, HANDLE_RUN, HANDLE_OTHER, SEND_RUN, SEND_OTHER, RUN, PHASES
};

/* The values that are gathered at once, so many at most (8 bytes each): a column of a million
 * requests has a million. With fewer requests more columns fit, and fewer walks are needed. */
#define VALUES_MOST (UINT64_C(1) << 21)
#define AT_ONCE_MOST 16u

struct gathering {
    struct mst_summary_server *server;
    unsigned count, most;              /* columns */
    unsigned columns[AT_ONCE_MOST];
    struct mst_values values[AT_ONCE_MOST];
};

static uint64_t phase_ns(enum mst_phase phase, const struct mst_walked *r)
{
    switch (phase) {
    case MST_PHASE_QUEUE:    return r->queue_ns;
    case MST_PHASE_READ:     return r->read_ns;
    case MST_PHASE_HANDLE:   return r->handle_ns;
    case MST_PHASE_SEND:     return r->send_ns;
    case MST_PHASE_TOTAL:    return r->total_ns;
    case MST_PHASE_HELD:     return r->held_ns;
    case MST_PHASE_FRONT:    return r->front_ns;
    case MST_PHASE_PHP_WAIT: return r->wait_unknown ? MST_UNKNOWN
                                                    : r->split.parts_ns[MST_PART_PHP_WAIT];
    case MST_PHASE_PHP_RUN:  return r->split.handle_run_ns;
    default:                 return MST_UNKNOWN;
    }
}

/* MST_UNKNOWN: the request has no such time. */
static uint64_t column_ns(unsigned column, const struct mst_walked *r)
{
    uint64_t wait_ns = r->split.parts_ns[MST_PART_PHP_WAIT];

    switch (column) {
    case HANDLE_WAIT:  return wait_ns;
    case HANDLE_RUN:   return r->split.handle_run_ns;
    case HANDLE_OTHER: return r->handle_ns - wait_ns - r->split.handle_run_ns;
    case SEND_RUN:     return r->split.send_run_ns;
    case SEND_OTHER:   return r->send_ns - r->split.send_run_ns;
    case RUN:          return r->split.handle_run_ns + r->split.send_run_ns;
    default:           break;
    }
    if (column >= PHASES)
        return phase_ns(column - PHASES, r);
    return r->split.parts_ns[column] > 0 ? r->split.parts_ns[column] : MST_UNKNOWN;
}

static bool gather(void *context, const struct mst_walked *r)
{
    struct gathering *g = context;
    bool fine = true;
    unsigned i;

    for (i = 0; i < g->count && fine; i++) {
        uint64_t ns = column_ns(g->columns[i], r);

        fine = ns == MST_UNKNOWN || mst_values_add(&g->values[i], ns) == 0;
    }
    return fine;
}

/* A part is 0 for the requests that do not have it. */
static bool end_part(struct mst_summary_server *s, unsigned part, struct mst_values *values)
{
    s->parts[part].requests = values->count;
    return mst_summary_times_with_zeros(&s->parts[part].times, values, s->requests);
}

static bool end_column(struct mst_summary_server *s, unsigned column, struct mst_values *values)
{
    struct mst_summary_times *const by_phase[] = {
        &s->php.handle_wait, &s->php.handle_run, &s->php.handle_other, &s->php.send_run,
        &s->php.send_other, &s->php.run,
    };

    if (column < MST_PART_COUNT)
        return end_part(s, column, values);
    mst_summary_times_of(column < PHASES ? by_phase[column - HANDLE_WAIT]
                                         : &s->phases[column - PHASES], values);
    mst_values_free(values);
    return true;
}

static bool end_columns(struct gathering *g)
{
    bool fine = mst_kept_walk(g->server->kept, gather, g);
    unsigned i;

    for (i = 0; i < g->count; i++)
        fine = end_column(g->server, g->columns[i], &g->values[i]) && fine;
    return fine;
}

static bool add_column(struct gathering *g, unsigned column)
{
    bool fine = true;

    if (g->count == g->most) {
        fine = end_columns(g);
        *g = (struct gathering){ .server = g->server, .most = g->most };
    }
    g->columns[g->count++] = column;
    return fine;
}

/* At least two, at most AT_ONCE_MOST. */
static unsigned most_columns(uint64_t requests)
{
    uint64_t most = VALUES_MOST / (requests + 1);

    return most < 2 ? 2 : most > AT_ONCE_MOST ? AT_ONCE_MOST : (unsigned)most;
}

bool mst_summary_account(struct mst_summary_server *s)
{
    struct gathering g = { .server = s, .most = most_columns(s->requests) };
    const enum mst_phase *phases;
    size_t phase_count = mst_summary_phases(s, &phases), i;
    bool fine = true;
    unsigned column;

    for (i = 0; i < phase_count && fine; i++)
        fine = add_column(&g, PHASES + phases[i]);
    for (column = 0; column < PHASES && fine; column++)
        if (column < MST_PART_COUNT ? mst_kept_parts(s->kept) >> column & 1 : s->php.known)
            fine = add_column(&g, column);
    return end_columns(&g) && fine;
}

/* ---- an Apache's intervals ------------------------------------------------------------------ */

/* In which phase each lies; `undelivered` and `log` follow the response. */
static const enum mst_phase phases_of_intervals[] = {
#define MST_INTERVAL_PART(id, within, name, colour, noun, meaning, todo) \
    [MST_INTERVAL_##id] = MST_PHASE_##within,
#include "segment/parts.def"
    [MST_INTERVAL_UNDELIVERED] = MST_PHASE_TOTAL, [MST_INTERVAL_LOG] = MST_PHASE_HELD,
};

bool mst_summary_has_interval(const struct mst_summary_server *s, enum mst_interval interval)
{
    const struct mst_summary_interval *i = &s->intervals[interval];
    uint64_t whole_ns = s->phases[phases_of_intervals[interval]].sum_ns;
    uint64_t share = mst_summary_milli(i->times.sum_ns, whole_ns);

    return i->requests > 0 && i->times.sum_ns > 0 && share != MST_UNKNOWN &&
           share >= MST_PART_SHARE_MILLI;
}

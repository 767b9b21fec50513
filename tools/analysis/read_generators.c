/* read_generators.c - the load generators whose rows were added to a run, for read.c. */
#include "analysis/steps.h"

#include <stdlib.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/ratio.h"

static bool read_generator(struct mst_summary_generator *g, struct mst_query *q)
{
    uint64_t cpu_ns = mst_row_number(q, "cpu_ns"), wall_ns = mst_row_number(q, "cpu_wall_ns");

    g->name = mst_row_string(q, "name");
    g->tool = mst_row_string(q, "tool");
    g->requests = mst_row_number(q, "requests");
    g->failed = mst_row_number(q, "failed");
    g->bad_lines = mst_row_number(q, "bad_lines");
    g->first_ns = mst_row_number(q, "first_ns");
    g->last_ns = mst_row_number(q, "last_ns");
    g->clock_ahead_ns = mst_row_id(q, "clock_ahead_ns");
    g->clock_uncertainty_ns = mst_row_number(q, "clock_uncertainty_ns");
    g->fitting_milli = mst_row_number(q, "fitting_milli");
    g->dropped = mst_row_number(q, "dropped");
    g->cpu_milli = cpu_ns == MST_UNKNOWN ? MST_UNKNOWN : mst_summary_milli(cpu_ns, wall_ns);
    g->cut_short = mst_row_number(q, "ended") == 0;
    return g->name != NULL && g->tool != NULL;
}

bool mst_summary_read_generators(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT name, tool, requests, failed, bad_lines, first_ns, last_ns, clock_ahead_ns, "
        "clock_uncertainty_ns, fitting_milli, dropped, cpu_ns, cpu_wall_ns, ended FROM generators "
        "WHERE run_id = :id ORDER BY id", s->id);
    struct mst_summary_generator *g;

    while (mst_query_next(&q)) {
        g = mst_append(&s->generators, &s->generator_count, sizeof *g);
        if (g == NULL || !read_generator(g, &q)) {
            mst_query_no_memory(&q);
            break;
        }
    }
    return mst_query_done(&q);
}

/* Whether it dropped more of its requests than a run without it could overlook. */
static bool dropped_much(const struct mst_summary_generator *g)
{
    return g->dropped != MST_UNKNOWN && g->dropped > 0 && g->requests != MST_UNKNOWN &&
           mst_milli(g->dropped, g->dropped + g->requests) >= MST_GENERATOR_DROPPED_MILLI;
}

const struct mst_summary_generator *mst_summary_limit(const struct mst_summary *s)
{
    const struct mst_summary_generator *busiest = NULL, *g;
    size_t i;

    for (i = 0; i < s->generator_count; i++) {
        g = &s->generators[i];
        if (g->cpu_milli != MST_UNKNOWN && g->cpu_milli > MST_GENERATOR_BUSY_MILLI &&
            (busiest == NULL || g->cpu_milli > busiest->cpu_milli))
            busiest = g;
    }
    for (i = 0; i < s->generator_count && busiest == NULL; i++)
        if (dropped_much(&s->generators[i]))
            busiest = &s->generators[i];
    return busiest;
}

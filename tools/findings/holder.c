/* holder.c - which group of requests has most of a time: see holder.h. */
#include "findings/holder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/ratio.h"
#include "stats/names.h"

struct group { uint64_t requests; double time_ns, waited_ns; };

struct grouping {
    struct mst_names names;
    struct group    *groups;     /* by the names' numbers; [0]: those of too many names */
    size_t           room;
};

/* False: out of memory. */
static bool add_holder(struct grouping *g, struct mst_query *row)
{
    const char *name = mst_row_text(row, "name");
    size_t count = g->names.count, number;

    if (!mst_names_number(&g->names, name != NULL ? name : "", &number) ||
        !mst_grow(&g->groups, &g->room, count, sizeof *g->groups))
        return false;
    if (g->names.count > count)
        g->groups[count] = (struct group){ 0 };
    g->groups[number].requests++;
    g->groups[number].time_ns += mst_row_real(row, "time_ns");
    g->groups[number].waited_ns += mst_row_real(row, "waited_ns");
    return true;
}

static bool gather(struct grouping *g, struct mst_query *rows)
{
    bool fine = mst_names_begin(&g->names) &&
                mst_grow(&g->groups, &g->room, 0, sizeof *g->groups);

    if (fine)
        g->groups[0] = (struct group){ 0 };
    while (fine && mst_query_next(rows))
        fine = add_holder(g, rows);
    return mst_query_done(rows) && fine;
}

/* The group of a name with most time; 0: there is none. */
static size_t longest(const struct grouping *g)
{
    size_t most = 0, i;

    for (i = 1; i < g->names.count; i++)
        if (most == 0 || g->groups[i].time_ns > g->groups[most].time_ns ||
            (g->groups[i].time_ns == g->groups[most].time_ns &&
             strcmp(g->names.items[i], g->names.items[most]) < 0))
            most = i;
    return most;
}

static struct mst_holder holder_of(const struct grouping *g)
{
    size_t most = longest(g), i;
    struct mst_holder h = { .requests = g->groups[most].requests,
                            .time_ns = g->groups[most].time_ns };

    if (most > 0)
        snprintf(h.name, sizeof h.name, "%s", g->names.items[most]);
    for (i = 0; i < g->names.count; i++) {
        h.groups += g->groups[i].requests > 0;
        h.all_requests += g->groups[i].requests;
        h.all_time_ns += g->groups[i].time_ns;
        h.others_waited_ns += i != most ? g->groups[i].waited_ns : 0;
    }
    return h;
}

/* SQLite's GROUP BY sorts the rows, which takes three times as long. */
struct mst_holder mst_holder_ask(struct mst_inquiry *q, const struct mst_holders *holders,
                                 int64_t server_id, const char *kind)
{
    struct mst_query rows = mst_query_ask(q->db, holders->sql, server_id);
    struct grouping g = { 0 };
    struct mst_holder h = { 0 };

    if (kind != NULL)
        mst_query_set_text(&rows, ":kind", kind);
    if (strstr(holders->sql, ":front") != NULL)
        mst_query_set(&rows, ":front", q->b.front->id);
    if (gather(&g, &rows))
        h = holder_of(&g);
    else
        q->failed = true;
    mst_names_end(&g.names);
    free(g.groups);
    return h;
}

uint64_t mst_holder_of_time_milli(const struct mst_holder *h)
{
    return h->all_time_ns > 0 ? (uint64_t)(h->time_ns / h->all_time_ns * 1000) : 0;
}

uint64_t mst_holder_of_requests_milli(const struct mst_holder *h)
{
    return h->all_requests > 0 ? mst_milli(h->requests, h->all_requests) : 0;
}

bool mst_holder_knows_pages(const struct mst_inquiry *q, const struct mst_summary_server *server)
{
    return q->b.front->with_path > 0 && (!mst_summary_is_php(server) || !q->s->is_thinned);
}

bool mst_holder_stands_out(const struct mst_holder *h, const struct mst_holders *holders)
{
    uint64_t of_time = mst_holder_of_time_milli(h);

    if (holders->are_pages && h->name[0] != '/')
        return false;
    return h->groups > 1 && of_time >= MST_HOLDER_TIME_MILLI &&
           mst_holder_of_requests_milli(h) * 2 <= of_time;
}

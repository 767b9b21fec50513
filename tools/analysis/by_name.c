/* by_name.c - the requests of a server by name: see by_name.h.
 *
 * Each request that the summary keeps leaves its time and its name's number; sorted by time once,
 * they give the quantiles of every name. Only other ends are read from the archive.
 */
#include "analysis/by_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kept.h"
#include "analysis/steps.h"
#include "archive/query.h"
#include "base/array.h"
#include "stats/names.h"
#include "stats/quantile.h"

#define NAME_SIZE 320u

struct gathering {
    struct mst_names names;           /* those beyond are among the others */
    struct mst_by_name_row *rows;     /* of each name, by its number */
    size_t        row_room;
    struct mst_owned_value *values;   /* owner: the name's number */
    size_t        value_count, room;
    uint64_t      sum_ns;
};

/* ---- names --------------------------------------------------------------------------- */

static bool begin(struct gathering *g)
{
    *g = (struct gathering){ 0 };
    if (!mst_names_begin(&g->names) || !mst_grow(&g->rows, &g->row_room, 0, sizeof *g->rows))
        return false;
    g->rows[0] = (struct mst_by_name_row){ 0 };
    return true;
}

static void end(struct gathering *g)
{
    mst_names_end(&g->names);
    free(g->rows);
    free(g->values);
}

/* The row of the name, which is new or not, and its number. NULL: out of memory. */
static struct mst_by_name_row *row_of(struct gathering *g, const char *name, size_t *number)
{
    size_t count = g->names.count;

    if (!mst_names_number(&g->names, name, number) ||
        !mst_grow(&g->rows, &g->row_room, count, sizeof *g->rows))
        return NULL;
    if (g->names.count > count)
        g->rows[count] = (struct mst_by_name_row){ .name = g->names.items[count] };
    return &g->rows[*number];
}

/* Adds a request to its name, whose row is returned until the next call. NULL: out of memory. */
static struct mst_by_name_row *add_to_name(struct gathering *g, const char *name, uint64_t ns,
                                           uint64_t status, bool aborted)
{
    size_t number;
    struct mst_by_name_row *row = row_of(g, name, &number);

    if (row == NULL || !mst_grow(&g->values, &g->room, g->value_count, sizeof *g->values))
        return NULL;
    g->values[g->value_count++] = (struct mst_owned_value){ ns, number };
    row->requests++;
    row->sum_ns += ns;
    g->sum_ns += ns;
    if (aborted)
        row->aborted++;
    else if (status >= 400 && status < 500)
        row->errors_4xx++;
    else if (status >= 500 && status < 600)
        row->errors_5xx++;
    return row;
}

static void add_parts(struct mst_by_name_row *row, const uint64_t parts_ns[MST_PART_COUNT])
{
    size_t i;

    for (i = 0; i < MST_PART_COUNT; i++)
        row->parts_ns[i] += parts_ns[i];
}

/* ---- the table ----------------------------------------------------------------------- */

static int by_sum(const void *a, const void *b)
{
    const struct mst_by_name_row *x = *(struct mst_by_name_row *const *)a;
    const struct mst_by_name_row *y = *(struct mst_by_name_row *const *)b;

    if (x->sum_ns != y->sum_ns)
        return x->sum_ns < y->sum_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void merge(struct mst_by_name_row *into, const struct mst_by_name_row *row)
{
    into->names++;
    into->requests += row->requests;
    into->sum_ns += row->sum_ns;
    into->errors_4xx += row->errors_4xx;
    into->errors_5xx += row->errors_5xx;
    into->aborted += row->aborted;
    add_parts(into, row->parts_ns);
}

/* Moves the names into rows; place_of[number] is then the row of each. */
static bool make_rows(struct mst_by_name *table, struct gathering *g, size_t most, size_t *place_of)
{
    size_t names = g->names.count - 1, named = names < most ? names : most, number, i;
    struct mst_by_name_row **sorted = calloc(names + 1, sizeof *sorted);
    bool merged = names > most || g->rows[0].requests > 0;

    table->rows = calloc(named + 1, sizeof *table->rows);
    if (sorted == NULL || table->rows == NULL) {
        free(sorted);
        return false;
    }
    for (i = 0; i < names; i++)
        sorted[i] = &g->rows[i + 1];
    if (names > 1)
        qsort(sorted, names, sizeof *sorted, by_sum);
    place_of[0] = named;
    for (i = 0; i < names; i++) {
        number = (size_t)(sorted[i] - g->rows);
        place_of[number] = i < named ? i : named;
        if (i >= named) {
            merge(&table->rows[named], sorted[i]);
            continue;
        }
        table->rows[i] = *sorted[i];
        table->rows[i].names = 1;
        g->names.items[number] = NULL;
    }
    if (g->rows[0].requests > 0)
        merge(&table->rows[named], &g->rows[0]);
    table->count = named + merged;
    free(sorted);
    return true;
}

/* Nearest rank of a number of values, from 1. */
static uint64_t rank(uint64_t count, unsigned per_mille)
{
    return (count * per_mille + 999) / 1000;
}

/* Of few requests there is none: mst_percentile_needs(). */
static void forget_quantiles(struct mst_by_name_row *row)
{
    if (row->requests < mst_percentile_needs(MST_P95))
        row->p95_ns = MST_UNKNOWN;
    if (row->requests < mst_percentile_needs(MST_P99))
        row->p99_ns = MST_UNKNOWN;
}

static bool fill_quantiles(struct mst_by_name *table, struct gathering *g,
                           const size_t *place_of)
{
    uint64_t *seen = calloc(table->count + 1, sizeof *seen);
    size_t i;

    if (seen == NULL)
        return false;
    mst_owned_values_sort(g->values, g->value_count);
    for (i = 0; i < g->value_count; i++) {
        size_t at = place_of[g->values[i].owner];
        struct mst_by_name_row *row = &table->rows[at];
        uint64_t ns = g->values[i].value;

        seen[at]++;
        row->p50_ns = seen[at] == rank(row->requests, 500) ? ns : row->p50_ns;
        row->p95_ns = seen[at] == rank(row->requests, 950) ? ns : row->p95_ns;
        row->p99_ns = seen[at] == rank(row->requests, 990) ? ns : row->p99_ns;
    }
    free(seen);
    for (i = 0; i < table->count; i++)
        forget_quantiles(&table->rows[i]);
    return true;
}

static bool finish(struct mst_by_name *table, struct gathering *g, size_t most)
{
    size_t *place_of = calloc(g->names.count, sizeof *place_of);
    bool fine = place_of != NULL && make_rows(table, g, most, place_of) &&
                fill_quantiles(table, g, place_of);

    table->sum_ns = g->sum_ns;
    free(place_of);
    return fine;
}

/* ---- by what a request has ------------------------------------------------------------ */

/* A table by a name that a request has. */
struct column {
    size_t           name;         /* where it is in struct mst_walked */
    const char      *nameless;     /* the row of the requests without such a name; NULL: none */
    struct gathering gathering;
    uint64_t         unnamed_ns;   /* time of the requests that have no row */
};

static bool take(void *context, const struct mst_walked *r)
{
    struct column *c = context;
    const char *name = *(const char *const *)((const char *)r + c->name);
    struct mst_by_name_row *row;

    if (name[0] == '\0')
        name = c->nameless;
    if (name == NULL) {
        c->unnamed_ns += r->total_ns;
        return true;
    }
    row = add_to_name(&c->gathering, name, r->total_ns, r->status, r->aborted);
    if (row != NULL)
        add_parts(row, r->split.parts_ns);
    return row != NULL;
}

static bool by_column(struct mst_by_name *table, size_t name, const char *nameless,
                      const struct mst_summary_server *server, size_t most)
{
    struct column c = { .name = name, .nameless = nameless };
    bool fine;

    *table = (struct mst_by_name){ 0 };
    fine = begin(&c.gathering) && mst_kept_walk(server->kept, take, &c) &&
           finish(table, &c.gathering, most);
    table->sum_ns += c.unnamed_ns;
    end(&c.gathering);
    return fine;
}

bool mst_by_name_read(struct mst_by_name *table, enum mst_by by,
                      const struct mst_summary_server *server, size_t most)
{
    static const struct { size_t name; const char *nameless; } columns[] = {
        [MST_BY_PAGE] = { offsetof(struct mst_walked, path), NULL },
        [MST_BY_LABEL] = { offsetof(struct mst_walked, label), NULL },
        [MST_BY_HANDLER] = { offsetof(struct mst_walked, handler), NULL },
        [MST_BY_SCRIPT] = { offsetof(struct mst_walked, script), "(not known)" },
    };

    return by_column(table, columns[by].name, columns[by].nameless, server, most);
}

bool mst_summary_read_pages(struct mst_summary *s)
{
    bool fine = true;
    size_t i;

    for (i = 0; i < s->server_count && fine; i++)
        if (s->servers[i].with_path > 0)
            fine = mst_by_name_read(&s->servers[i].pages, MST_BY_PAGE, &s->servers[i],
                                    MST_PAGES_MOST);
    return fine;
}

/* ---- by other end --------------------------------------------------------------------- */

static const char waits_sql[] =
    "SELECT w.kind AS kind, w.end AS end, w.wait_ns AS ns, p.status AS status, "
    "p.aborted AS aborted FROM php_requests p "
    "CROSS JOIN php_waits w ON w.server_id = p.server_id AND w.key = p.key "
    "WHERE p.server_id = :id AND p.ghost = 0 AND w.end IS NOT NULL ORDER BY p.rowid";

static bool add_wait(struct gathering *ends, struct mst_query *q)
{
    const char *kind = mst_row_text(q, "kind"), *other = mst_row_text(q, "end");
    uint64_t ns = mst_row_number(q, "ns"), status = mst_row_number(q, "status");
    bool aborted = mst_row_number(q, "aborted") == 1;
    char name[NAME_SIZE];

    if (mst_wait_named(kind) == MST_WAIT_COUNT || other == NULL || ns == MST_UNKNOWN)
        return true;
    snprintf(name, sizeof name, strcmp(kind, other) == 0 ? "%s" : "%s %s", kind, other);
    return add_to_name(ends, name, ns, status, aborted) != NULL;
}

bool mst_by_name_ends(struct mst_by_name *table, sqlite3 *db,
                      const struct mst_summary_server *server, size_t most)
{
    struct mst_query q = mst_query_ask(db, waits_sql, server->id);
    struct gathering ends;
    bool fine = begin(&ends);

    *table = (struct mst_by_name){ 0 };
    while (fine && mst_query_next(&q))
        fine = add_wait(&ends, &q);
    fine = mst_query_done(&q) && fine && finish(table, &ends, most);
    table->sum_ns = mst_known(server->phases[MST_PHASE_TOTAL].sum_ns);
    end(&ends);
    return fine;
}

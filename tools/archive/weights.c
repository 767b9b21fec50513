/* weights.c - a thinned archive to its readers: each row as often as it stands for.
 *
 * Temporary views take the place of the tables that have a weight: there, a row of weight w is w
 * rows. So counts, sums, means and quantiles are right without a reader that knows of weights. What
 * has to be single rows is read from main.server_requests and main.php_requests.
 *
 * The copies of a request differ in their rowid and request_id, by the number of the copy above
 * 2^40: so PHP's n-th copy joins Apache's n-th one, and the first has both as they are in the
 * table. Copies of a sample differ in nothing. All of them are at the same instant.
 */
#include <stdio.h>
#include <stdlib.h>

#include "archive/internal.h"
#include "archive/query.h"
#include "base/saturate.h"

#define COPY         " + (c.n << 40)"          /* ids and rowids are below 2^40 */
#define WEIGHT_MAX   (UINT64_C(1) << 22)       /* of one row: copies stay below 2^62 */
#define ROWS_MAX     UINT64_C(200000000)       /* that a reader can be given */

static const struct table { const char *name; bool are_requests; } tables[] = {
    { "server_requests", true }, { "php_requests", true }, { "samples", false },
    { "pool_samples", false }, { "memory_samples", false },
};
#define TABLES (sizeof tables / sizeof *tables)

struct size { uint64_t rows, weights, most; };

/* Adds the rows of a table. */
static bool measure(struct mst_archive *a, const char *table, struct size *size)
{
    struct mst_query q;
    char sql[160];
    bool fine;

    snprintf(sql, sizeof sql, "SELECT count(*) AS rows, CAST(total(weight) AS INTEGER) AS weights, "
             "max(weight) AS most FROM main.%s WHERE :id", table);
    q = mst_query_ask(a->db, sql, 1);
    fine = mst_query_next(&q);
    if (fine) {
        uint64_t most = mst_row_number(&q, "most");

        size->rows += mst_row_number(&q, "rows");
        size->weights = mst_add_saturated(size->weights, mst_row_number(&q, "weights"));
        size->most = most != MST_UNKNOWN && most > size->most ? most : size->most;
    }
    return mst_query_done(&q) && fine;
}

/* Returns the statement, to be freed; NULL: out of memory, or SQLite failed. A column that a user
 * has added under an odd name is left out. */
static char *view_of(struct mst_archive *a, const struct table *table)
{
    struct mst_query q = mst_query_ask(a->db,
        "SELECT group_concat(CASE name WHEN 'weight' THEN '1' WHEN 'request_id' THEN "
        "'r.request_id" COPY "' ELSE 'r.' || name END || ' AS ' || name, ', ') AS columns "
        "FROM pragma_table_info(:table, 'main') WHERE :id AND name NOT GLOB '*[^a-z0-9_]*'", 1);
    char *view = NULL;
    bool fine;

    mst_query_set_text(&q, ":table", table->name);
    fine = mst_query_next(&q) &&
           asprintf(&view, "CREATE TEMP VIEW %s AS SELECT r.rowid%s AS rowid, %s FROM main.%s r "
                    "CROSS JOIN temp.copies c WHERE c.n < r.weight", table->name,
                    table->are_requests ? COPY : "", mst_row_text(&q, "columns"),
                    table->name) >= 0;
    if (mst_query_done(&q) && fine)
        return view;
    free(view);
    return NULL;
}

static int make_views(struct mst_archive *a, uint64_t most)
{
    char numbers[256], *view;
    int status;
    size_t i;

    snprintf(numbers, sizeof numbers, "CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY); "
             "WITH RECURSIVE up(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM up WHERE n + 1 < %llu) "
             "INSERT INTO copies SELECT n FROM up", (unsigned long long)most);
    status = mst_archive_execute(a, numbers);
    for (i = 0; i < TABLES && status == 0; i++) {
        view = view_of(a, &tables[i]);
        status = view != NULL ? mst_archive_execute(a, view) : mst_archive_fail(a);
        free(view);
    }
    return status;
}

static bool is_thinned(struct mst_archive *a)
{
    struct mst_query q = mst_query_ask(a->db, "SELECT EXISTS (SELECT 1 FROM main.runs WHERE "
                                       "thinned_ns IS NOT NULL) AS thinned WHERE :id", 1);
    bool thinned = mst_query_next(&q) && mst_row_number(&q, "thinned") == 1;

    return mst_query_done(&q) && thinned;
}

int mst_archive_repeat_rows(struct mst_archive *a, uint64_t *times)
{
    struct size size = { 0 };
    bool fine = true;
    size_t i;

    *times = 1;
    if (!is_thinned(a))
        return a->guard.problem[0] == '\0' ? 0 : mst_archive_fail(a);
    for (i = 0; i < TABLES && fine; i++)
        fine = measure(a, tables[i].name, &size);
    if (!fine)
        return mst_archive_fail(a);
    if (size.most > WEIGHT_MAX || size.weights == MST_UNKNOWN)
        snprintf(a->error, sizeof a->error, "the archive %s has a row that stands for more than "
                 "mpmstat lets one: " MST_GUARD_ODD, a->path);
    else if (size.weights > ROWS_MAX)
        snprintf(a->error, sizeof a->error, "the archive %s stands for %llu rows, and at most %llu "
                 "can be read at once: take a shorter time (--from, --to)", a->path,
                 (unsigned long long)size.weights, (unsigned long long)ROWS_MAX);
    if (a->error[0] != '\0')
        return -1;
    *times = size.weights / (size.rows + 1) + 1;
    return make_views(a, size.most);
}

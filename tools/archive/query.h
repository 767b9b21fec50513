/* query.h - the rows that a query of an archive finds, one after the other.
 *
 * Values are taken from a row, and given to a query, by their names: a column's, or the one that
 * the query's AS gives it. A query that names no such column fails.
 *
 * The first error is kept: a query that failed has no more rows, and mst_query_done() returns
 * false.
 */
#ifndef MPMSTAT_QUERY_H
#define MPMSTAT_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_QUERY_COLUMNS 48   /* a query has no more, and names each: it never asks for * */

struct mst_guard;

struct mst_query {
    sqlite3      *db;
    struct mst_guard *guard;   /* NULL: the database is not an archive's */
    sqlite3_stmt *statement;
    int           status;      /* SQLite's */
    uint64_t      rows;        /* found so far */
    int           next;        /* column: names are usually taken in the columns' order */
    const char   *names[MST_QUERY_COLUMNS];   /* of the columns taken so far */
};

/* `id` is the value of the parameter :id, which every query has: a run, a server or a study. */
struct mst_query mst_query_ask(sqlite3 *db, const char *sql, int64_t id);
/* The query's other parameters; names have the colon in front: ":ended_ns". */
void mst_query_set(struct mst_query *q, const char *name, int64_t value);
void mst_query_set_text(struct mst_query *q, const char *name, const char *value);

bool mst_query_next(struct mst_query *q);
/* Ends it. Returns whether all went well. */
bool mst_query_done(struct mst_query *q);
/* What the query finds cannot be true: it fails, for this reason: "it has ...". */
void mst_query_refuse(struct mst_query *q, const char *problem);
/* The caller has no memory for what the query finds: it fails. */
void mst_query_no_memory(struct mst_query *q);

/* ---- a column of the present row --------------------------------------------------- */

/* `name` is a string literal, or lives as long as the query and does not change.
 *
 * NULL, and what no honest archive has (a negative number, a text), is MST_UNKNOWN. */
uint64_t mst_row_number(struct mst_query *q, const char *name);
/* The key of a row: any integer. */
int64_t mst_row_id(struct mst_query *q, const char *name);
/* A mean or a sum; what is none (NULL, below 0, beyond MST_QUERY_REAL_MAX) is 0. */
#define MST_QUERY_REAL_MAX 1e38
double mst_row_real(struct mst_query *q, const char *name);
bool mst_row_is_null(struct mst_query *q, const char *name);
/* Valid until the next row; NULL for NULL. */
const char *mst_row_text(struct mst_query *q, const char *name);
/* The same, copied and cut to `size` bytes; "" for NULL. */
void mst_row_copy(struct mst_query *q, const char *name, char *to, size_t size);
/* The length of that text; a NUL can be in it. */
size_t mst_row_text_bytes(struct mst_query *q, const char *name);
/* The same, to be freed. NULL also where memory runs out: then the query has failed. */
char *mst_row_string(struct mst_query *q, const char *name);

/* Several numbers at once. */
struct mst_row_member { const char *name; uint64_t *to; };
void mst_row_numbers(struct mst_query *q, const struct mst_row_member *members, size_t count);

/* Whether the archive has that table: one of an older mpmstat has fewer. */
bool mst_query_has_table(sqlite3 *db, const char *table);

#endif

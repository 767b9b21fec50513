/* query.h - an archive's rows, one after the other, for whoever analyses them.
 *
 * The first error is kept: a query that failed has no rows, and mst_query_done()
 * says so at the end.
 */
#ifndef MPMSTAT_QUERY_H
#define MPMSTAT_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mst_guard;

struct mst_query {
    sqlite3      *db;
    struct mst_guard *guard;   /* NULL: the database is none of an archive's */
    sqlite3_stmt *statement;
    int           status;      /* SQLite's */
};

/* The first parameter, ?1, is the id of a run or of a server. */
struct mst_query mst_query_ask(sqlite3 *db, const char *sql, int64_t id);
/* Further parameters, from 2 on. */
void mst_query_bind(struct mst_query *q, int at, int64_t value);
void mst_query_bind_text(struct mst_query *q, int at, const char *value);

bool mst_query_next(struct mst_query *q);
/* Ends it: whether all went well. */
bool mst_query_done(struct mst_query *q);
/* That what it finds cannot be: the query has failed. "it has ...". */
void mst_query_refuse(struct mst_query *q, const char *problem);

/* A column of the present row. NULL, and what no honest archive has (a negative
 * number, a text), is MST_UNKNOWN. */
uint64_t mst_query_number(struct mst_query *q, int column);
/* A mean or a sum; what is none (NULL, below 0, beyond MST_QUERY_REAL_MAX) is 0. */
#define MST_QUERY_REAL_MAX 1e38
double mst_query_real(struct mst_query *q, int column);
/* Valid until the next row; NULL for NULL. */
const char *mst_query_text(struct mst_query *q, int column);
/* How long that text is; a NUL may be in it. */
size_t mst_query_text_bytes(struct mst_query *q, int column);
/* The same, to be freed. NULL also where there is no memory: then the query has failed. */
char *mst_query_string(struct mst_query *q, int column);

/* Whether the archive has that table, or that column in it: those of an older
 * mpmstat have less. */
bool mst_query_has_table(sqlite3 *db, const char *table);
bool mst_query_has_column(sqlite3 *db, const char *table, const char *column);

#endif

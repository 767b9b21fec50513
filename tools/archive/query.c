/* query.c - an archive's rows: see query.h. */
#include "archive/query.h"

#include <stddef.h>
#include <string.h>

#include "archive/guard.h"
#include "segment/format.h"

struct mst_query mst_query_ask(sqlite3 *db, const char *sql, int64_t id)
{
    struct mst_query q = { db, mst_guard_of(db), NULL, SQLITE_OK };

    if (q.guard != NULL)
        q.status = mst_guard_ask(q.guard);
    if (q.status == SQLITE_OK)
        q.status = sqlite3_prepare_v2(db, sql, -1, &q.statement, NULL);
    mst_query_bind(&q, 1, id);
    return q;
}

void mst_query_bind(struct mst_query *q, int at, int64_t value)
{
    if (q->status == SQLITE_OK)
        q->status = sqlite3_bind_int64(q->statement, at, value);
}

void mst_query_bind_text(struct mst_query *q, int at, const char *value)
{
    if (q->status == SQLITE_OK)
        q->status = sqlite3_bind_text(q->statement, at, value, -1, SQLITE_TRANSIENT);
}

bool mst_query_next(struct mst_query *q)
{
    if (q->status != SQLITE_OK)
        return false;
    q->status = sqlite3_step(q->statement);
    if (q->status != SQLITE_ROW)
        return false;
    q->status = SQLITE_OK;
    return true;
}

bool mst_query_done(struct mst_query *q)
{
    bool fine = q->status == SQLITE_OK || q->status == SQLITE_DONE;

    if (!fine && q->guard != NULL)
        mst_guard_note(q->guard, q->status);
    sqlite3_finalize(q->statement);
    q->statement = NULL;
    return fine;
}

void mst_query_refuse(struct mst_query *q, const char *problem)
{
    if (q->guard != NULL)
        mst_guard_complain(q->guard, problem);
    q->status = SQLITE_TOOBIG;
}

/* total() and avg() give a real number. */
uint64_t mst_query_number(struct mst_query *q, int column)
{
    int type = sqlite3_column_type(q->statement, column);
    int64_t value;

    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return MST_UNKNOWN;
    value = sqlite3_column_int64(q->statement, column);
    return value >= 0 ? (uint64_t)value : MST_UNKNOWN;
}

double mst_query_real(struct mst_query *q, int column)
{
    double value = sqlite3_column_double(q->statement, column);

    return value >= 0 && value <= MST_QUERY_REAL_MAX ? value : 0;
}

const char *mst_query_text(struct mst_query *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q->statement, column);

    if (text == NULL || q->guard == NULL ||
        mst_guard_take_text(q->guard, (uint64_t)sqlite3_column_bytes(q->statement, column)))
        return text;
    q->status = SQLITE_TOOBIG;   /* there is no next row */
    return "";
}

size_t mst_query_text_bytes(struct mst_query *q, int column)
{
    return q->status == SQLITE_OK ? (size_t)sqlite3_column_bytes(q->statement, column) : 0;
}

char *mst_query_string(struct mst_query *q, int column)
{
    const char *text = mst_query_text(q, column);
    char *copy = text != NULL ? strdup(text) : NULL;

    if (text != NULL && copy == NULL)
        q->status = SQLITE_NOMEM;
    return copy;
}

bool mst_query_has_table(sqlite3 *db, const char *table)
{
    return mst_query_has_column(db, table, NULL);
}

bool mst_query_has_column(sqlite3 *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

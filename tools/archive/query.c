/* query.c - an archive's rows: see query.h. */
#include "archive/query.h"

#include <stddef.h>

#include "format.h"

struct mst_query mst_query_ask(sqlite3 *db, const char *sql, int64_t id)
{
    struct mst_query q = { db, NULL, SQLITE_OK };

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
    sqlite3_finalize(q->statement);
    q->statement = NULL;
    return q->status == SQLITE_OK || q->status == SQLITE_DONE;
}

uint64_t mst_query_number(struct mst_query *q, int column)
{
    int64_t value;

    if (sqlite3_column_type(q->statement, column) == SQLITE_NULL)
        return MST_UNKNOWN;
    value = sqlite3_column_int64(q->statement, column);
    return value >= 0 ? (uint64_t)value : MST_UNKNOWN;
}

const char *mst_query_text(struct mst_query *q, int column)
{
    return (const char *)sqlite3_column_text(q->statement, column);
}

static bool finds(sqlite3 *db, const char *sql, const char *table, const char *column)
{
    sqlite3_stmt *statement;
    bool found;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return false;
    found = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
            (column == NULL ||
             sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC) == SQLITE_OK) &&
            sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

bool mst_query_has_table(sqlite3 *db, const char *table)
{
    return finds(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", table, NULL);
}

bool mst_query_has_column(sqlite3 *db, const char *table, const char *column)
{
    return finds(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}

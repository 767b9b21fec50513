/* query.c - an archive's rows: see query.h. */
#include "archive/query.h"

#include <stdio.h>
#include <string.h>

#include "archive/guard.h"
#include "segment/format.h"

struct mst_query mst_query_ask(sqlite3 *db, const char *sql, int64_t id)
{
    struct mst_query q = { .db = db, .guard = mst_guard_of(db), .status = SQLITE_OK };

    if (q.guard != NULL)
        q.status = mst_guard_ask(q.guard);
    if (q.status == SQLITE_OK)
        q.status = sqlite3_prepare_v2(db, sql, -1, &q.statement, NULL);
    if (q.status == SQLITE_OK)
        mst_query_set(&q, ":id", id);
    return q;
}

/* A query without a parameter or column of that name is a bug of ours; tests run all queries. */
static void refuse_name(struct mst_query *q, const char *name)
{
    char problem[128];

    if (q->status != SQLITE_OK)
        return;
    snprintf(problem, sizeof problem, "mpmstat asks for %s, which its query does not have", name);
    mst_query_refuse(q, problem);
}

/* 0, which no parameter has, where there is none. */
static int parameter(struct mst_query *q, const char *name)
{
    int at = q->status == SQLITE_OK ? sqlite3_bind_parameter_index(q->statement, name) : 0;

    if (at == 0)
        refuse_name(q, name);
    return at;
}

void mst_query_set(struct mst_query *q, const char *name, int64_t value)
{
    int at = parameter(q, name);

    if (at > 0)
        q->status = sqlite3_bind_int64(q->statement, at, value);
}

void mst_query_set_text(struct mst_query *q, const char *name, const char *value)
{
    int at = parameter(q, name);

    if (at > 0)
        q->status = sqlite3_bind_text(q->statement, at, value, -1, SQLITE_TRANSIENT);
}

bool mst_query_next(struct mst_query *q)
{
    if (q->status != SQLITE_OK)
        return false;
    q->next = 0;
    q->status = sqlite3_step(q->statement);
    if (q->status != SQLITE_ROW)
        return false;
    q->status = SQLITE_OK;
    if (q->guard == NULL || q->rows++ < q->guard->rows_max)
        return true;
    mst_query_refuse(q, "it has more rows than an archive of its size can have: " MST_GUARD_ODD);
    return false;
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

void mst_query_no_memory(struct mst_query *q)
{
    q->status = SQLITE_NOMEM;
}

/* ---- columns ---------------------------------------------------------------------- */

static int find_column(struct mst_query *q, const char *name)
{
    int columns = sqlite3_column_count(q->statement), i;

    for (i = 0; i < columns && i < MST_QUERY_COLUMNS; i++)
        if (q->names[i] == name)
            return i;
    for (i = 0; i < columns && i < MST_QUERY_COLUMNS; i++)
        if (strcmp(sqlite3_column_name(q->statement, i), name) == 0) {
            q->names[i] = name;
            return i;
        }
    refuse_name(q, name);
    return columns;   /* SQLite reads NULL from there */
}

/* A report takes millions of values: a name that is where it was in the last row is not
 * compared, only its address. */
static int column(struct mst_query *q, const char *name)
{
    int at = q->next < MST_QUERY_COLUMNS && q->names[q->next] == name ? q->next
                                                                     : find_column(q, name);

    q->next = at + 1;
    return at;
}

/* total() and avg() give a real number. What is not a number reads as 0, or as the digits that a
 * text begins with; such a text is only in an archive that mpmstat did not write. The type is asked
 * for where the number is 0: that saves 3 % of a report's instructions. */
uint64_t mst_row_number(struct mst_query *q, const char *name)
{
    int at = column(q, name), type;
    int64_t value = sqlite3_column_int64(q->statement, at);

    if (value > 0)
        return (uint64_t)value;
    type = sqlite3_column_type(q->statement, at);
    return value == 0 && (type == SQLITE_INTEGER || type == SQLITE_FLOAT) ? 0 : MST_UNKNOWN;
}

int64_t mst_row_id(struct mst_query *q, const char *name)
{
    return sqlite3_column_int64(q->statement, column(q, name));
}

double mst_row_real(struct mst_query *q, const char *name)
{
    double value = sqlite3_column_double(q->statement, column(q, name));

    return value >= 0 && value <= MST_QUERY_REAL_MAX ? value : 0;
}

bool mst_row_is_null(struct mst_query *q, const char *name)
{
    return sqlite3_column_type(q->statement, column(q, name)) == SQLITE_NULL;
}

const char *mst_row_text(struct mst_query *q, const char *name)
{
    int at = column(q, name);
    const char *text = (const char *)sqlite3_column_text(q->statement, at);

    if (text == NULL || q->guard == NULL ||
        mst_guard_take_text(q->guard, (uint64_t)sqlite3_column_bytes(q->statement, at)))
        return text;
    q->status = SQLITE_TOOBIG;   /* there is no next row */
    return "";
}

void mst_row_copy(struct mst_query *q, const char *name, char *to, size_t size)
{
    const char *text = mst_row_text(q, name);
    size_t length = text != NULL ? strnlen(text, size - 1) : 0;

    memcpy(to, length > 0 ? text : "", length);
    to[length] = '\0';
}

size_t mst_row_text_bytes(struct mst_query *q, const char *name)
{
    int at = column(q, name);

    return q->status == SQLITE_OK ? (size_t)sqlite3_column_bytes(q->statement, at) : 0;
}

char *mst_row_string(struct mst_query *q, const char *name)
{
    const char *text = mst_row_text(q, name);
    char *copy = text != NULL ? strdup(text) : NULL;

    if (text != NULL && copy == NULL)
        q->status = SQLITE_NOMEM;
    return copy;
}

void mst_row_numbers(struct mst_query *q, const struct mst_row_member *members, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        *members[i].to = mst_row_number(q, members[i].name);
}

/* ---- the schema ------------------------------------------------------------------- */

bool mst_query_has_table(sqlite3 *db, const char *table)
{
    return sqlite3_table_column_metadata(db, "main", table, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

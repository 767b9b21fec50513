/* copier.c - copies rows of a table from one archive into another: internal.h. */
#include <stdio.h>
#include <stdlib.h>

#include "archive/internal.h"
#include "archive/query.h"

bool mst_copier_begin(struct mst_copier *c, sqlite3 *to, const struct mst_copied_rows *what)
{
    struct mst_query q = mst_query_ask(to,
        "SELECT group_concat(name, ', ') AS names, group_concat(':' || name, ', ') AS places, "
        "group_concat(CASE name WHEN :new_id THEN ':new_id' WHEN 'ghost' THEN "
        "coalesce(:ghost, name) ELSE name END, ', ') AS selected FROM pragma_table_info(:table) "
        "WHERE :id AND (:new_id IS NULL OR NOT (name = 'id' AND pk > 0))", 1);
    char *insert = NULL;
    bool fine;

    *c = (struct mst_copier){ 0 };
    mst_query_set_text(&q, ":table", what->table);
    mst_query_set_text(&q, ":new_id", what->new_id);
    mst_query_set_text(&q, ":ghost", what->ghost);
    fine = mst_query_next(&q) && !mst_row_is_null(&q, "names") &&
           asprintf(&insert, "INSERT INTO %s (%s) VALUES (%s)", what->table,
                    mst_row_text(&q, "names"), mst_row_text(&q, "places")) >= 0 &&
           asprintf(&c->select, "SELECT %s FROM main.%s WHERE %s", mst_row_text(&q, "selected"),
                    what->table, what->rows) >= 0 &&
           sqlite3_prepare_v2(to, insert, -1, &c->insert, NULL) == SQLITE_OK;
    free(insert);
    return mst_query_done(&q) && fine;
}

bool mst_copier_row(const struct mst_copier *c, sqlite3_stmt *row, uint64_t weight)
{
    int columns = sqlite3_column_count(row), at, i;
    bool fine;

    for (i = 0; i < columns; i++)
        sqlite3_bind_value(c->insert, i + 1, sqlite3_column_value(row, i));
    at = weight > 0 ? sqlite3_bind_parameter_index(c->insert, ":weight") : 0;
    if (at > 0)
        sqlite3_bind_int64(c->insert, at, (int64_t)weight);
    fine = sqlite3_step(c->insert) == SQLITE_DONE;
    sqlite3_reset(c->insert);
    return fine;
}

void mst_copier_end(struct mst_copier *c)
{
    sqlite3_finalize(c->insert);
    free(c->select);
    *c = (struct mst_copier){ 0 };
}

/* schema.c - which version an archive is of, and making it one of the present. */
#include <stdio.h>
#include <string.h>

#include "archive/internal.h"
#include "archive/query.h"

static const char schema[] =
#include "tools/archive/schema.inc"
;

/* What cannot be done by adding columns: up to version 3, a table's key allowed a program only once
 * in a run, and requests had an index that nothing uses. */
static const char upgrade_of_3[] =
    "DROP INDEX IF EXISTS server_requests_server;"
    "ALTER TABLE programs RENAME TO older_programs;"
    "CREATE TABLE programs (run_id INTEGER NOT NULL REFERENCES runs(id), program TEXT NOT NULL, "
    "cpu_ns INTEGER NOT NULL, owner TEXT);"
    "INSERT INTO programs SELECT run_id, program, cpu_ns, NULL FROM older_programs;"
    "DROP TABLE older_programs;";

/* The first column of the first row. 0, or SQLite's error. */
static int ask(sqlite3 *db, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement;
    int status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    *value = 0;
    if (status != SQLITE_OK)
        return status;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    return sqlite3_finalize(statement);
}

/* What users take for an archive, by how it begins. */
static const char *what_it_is(const char *path)
{
    char begin[8] = "";
    FILE *file = fopen(path, "rb");

    if (file != NULL) {
        if (fread(begin, 1, sizeof begin - 1, file) == 0)
            begin[0] = '\0';
        fclose(file);
    }
    return begin[0] == '<' ? " but a page (HTML or XML)" :
           strcmp(begin, "MPMSTAT") == 0 ? " but a server's board, which mpmstat status shows" : "";
}

int mst_archive_examine(struct mst_archive *a)
{
    int64_t id, version = 0, tables;
    int status = ask(a->db, "PRAGMA application_id", &id);

    if (status == SQLITE_OK)
        status = ask(a->db, "PRAGMA user_version", &version);
    if (status == SQLITE_OK)
        status = ask(a->db, "SELECT EXISTS (SELECT 1 FROM sqlite_master)", &tables);
    if (status == SQLITE_NOTADB || (status == SQLITE_OK && id != MST_ARCHIVE_ID && tables > 0))
        snprintf(a->error, sizeof a->error, "%s is not an archive of mpmstat%s: name a file that "
                 "mpmstat record has written, or to record into, one that is not there yet",
                 a->path, what_it_is(a->path));
    else if (status != SQLITE_OK)
        snprintf(a->error, sizeof a->error, "cannot read the archive %s: %s", a->path,
                 mst_archive_reason(a->db));
    else if (id == MST_ARCHIVE_ID && (version < 1 || version > MST_ARCHIVE_VERSION))
        snprintf(a->error, sizeof a->error, "the archive %s has schema version %lld, and this "
                 "mpmstat knows versions 1 to %d: take another file, or a newer mpmstat", a->path,
                 (long long)version, MST_ARCHIVE_VERSION);
    else
        return id == MST_ARCHIVE_ID ? (int)version : 0;
    return -1;
}

int mst_archive_check(struct mst_archive *a, bool all)
{
    char problem[MST_ERROR_MAX];

    if (a->error[0] != '\0')
        return -1;
    if (mst_guard_check(&a->guard, schema, all, problem))
        return 0;
    snprintf(a->error, sizeof a->error, "the archive %s %.300s: " MST_GUARD_ODD, a->path, problem);
    return -1;
}

/* The columns of the schema, in its order, each with the SQL that adds it to its table. */
static const char schema_columns[] =
    "SELECT t.name AS in_table, c.name AS name, printf('ALTER TABLE %s ADD COLUMN %s %s%s%s', "
    "t.name, c.name, c.type, CASE c.\"notnull\" WHEN 1 THEN ' NOT NULL' ELSE '' END, "
    "ifnull(' DEFAULT ' || c.dflt_value, '')) AS adds FROM sqlite_master t, "
    "pragma_table_info(t.name) c WHERE :id AND t.type = 'table' ORDER BY t.rowid, c.cid";

/* Whether the archive has that table without that column. */
static bool lacks(struct mst_archive *a, const char *table, const char *column)
{
    struct mst_query q = mst_query_ask(a->db, "SELECT 1 WHERE :id AND "
        "EXISTS (SELECT 1 FROM pragma_table_info(:table)) AND "
        "NOT EXISTS (SELECT 1 FROM pragma_table_info(:table) WHERE name = :column)", 1);
    bool found;

    mst_query_set_text(&q, ":table", table);
    mst_query_set_text(&q, ":column", column);
    found = mst_query_next(&q);
    return mst_query_done(&q) && found;
}

/* Adds the columns that later versions have added to a table, at its end: a column is unknown, or
 * has a default. Whole tables are not made here. 0, or -1: the error is kept. */
static int add_columns(struct mst_archive *a)
{
    sqlite3 *like = NULL;
    struct mst_query q;
    int status = 0;

    if (sqlite3_open(":memory:", &like) != SQLITE_OK ||
        sqlite3_exec(like, schema, NULL, NULL, NULL) != SQLITE_OK)
        status = -1;
    q = mst_query_ask(like, schema_columns, 1);
    while (status == 0 && mst_query_next(&q))
        if (lacks(a, mst_row_text(&q, "in_table"), mst_row_text(&q, "name")))
            status = mst_archive_execute(a, mst_row_text(&q, "adds"));
    if (!mst_query_done(&q) && status == 0)
        status = -1;
    if (status != 0 && a->error[0] == '\0')
        snprintf(a->error, sizeof a->error, "cannot make %s an archive of this version: %s",
                 a->path, sqlite3_errmsg(like));
    sqlite3_close(like);
    return status;
}

int mst_archive_upgrade(struct mst_archive *a, int version)
{
    if (mst_archive_check(a, false) != 0 || mst_archive_execute(a, "BEGIN IMMEDIATE") != 0)
        return -1;
    if (version > 0 && version <= 3 && mst_archive_execute(a, upgrade_of_3) != 0)
        return -1;
    if (version > 0 && add_columns(a) != 0)
        return -1;
    if (mst_archive_execute(a, schema) != 0 || mst_archive_check(a, true) != 0)
        return -1;
    return mst_archive_execute(a, "COMMIT");
}


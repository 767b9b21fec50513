/* statements.c - the statements that write an archive, prepared, and values for them by the
 * names of their columns.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "archive/internal.h"
#include "segment/format.h"

static const struct table {
    const char *name;
    int         width;
    const char *columns[MST_STATEMENT_VALUES];
} tables[TABLE_COUNT] = {
#include "tools/archive/column_names.inc"
};

/* Those of which a row is replaced where it is there already. */
static bool is_replaced(int table)
{
    return table == TABLE_ENVIRONMENT || table == TABLE_OUTPUT || table == TABLE_FINDINGS ||
           table == TABLE_CLIENT_RESULTS;
}

/* A parameter is called like the column whose value it takes. */
static const struct { int table; const char *sql; } changes[] = {
    [START_RUN - TABLE_COUNT] = { TABLE_RUNS,
        "UPDATE runs SET started_ns = :started_ns WHERE id = :id" },
    [END_RUN - TABLE_COUNT] = { TABLE_RUNS,
        "UPDATE runs SET outcome = :outcome, complete = :complete, started_ns = :started_ns, "
        "ended_ns = :ended_ns, duration_ns = :duration_ns, exit_status = :exit_status, "
        "exit_signal = :exit_signal, tool_cpu_ns = :tool_cpu_ns, memory_cost_ns = "
        ":memory_cost_ns, recorder_cpu_ns = :recorder_cpu_ns WHERE id = :id" },
    [SET_TOOL - TABLE_COUNT] = { TABLE_RUNS, "UPDATE runs SET tool = :tool WHERE id = :id" },
    [CLEAR_FINDINGS - TABLE_COUNT] = { TABLE_FINDINGS,
        "DELETE FROM findings WHERE run_id = :run_id" },
    [CLEAR_PREDICTION - TABLE_COUNT] = { TABLE_PREDICTIONS,
        "DELETE FROM predictions WHERE run_id = :run_id AND number = :number" },
    [CLEAR_PREDICTED_SETTINGS - TABLE_COUNT] = { TABLE_PREDICTED_SETTINGS,
        "DELETE FROM predicted_settings WHERE run_id = :run_id AND number = :number" },
    [END_SERVER - TABLE_COUNT] = { TABLE_SERVERS,
        "UPDATE servers SET lost = :lost, restarts = :restarts, cpu_ns = :cpu_ns, unknown = "
        ":unknown, cgroup = :cgroup, memory_limit_bytes = :memory_limit_bytes, oom_kills = "
        ":oom_kills, memory_stall_ns = :memory_stall_ns, throttled_ns = :throttled_ns, "
        "listens = :listens WHERE id = :id" },
    [NAME_SERVER - TABLE_COUNT] = { TABLE_SERVERS,
        "UPDATE servers SET name = :name WHERE id = :id" },
    [CLOCK_SERVER - TABLE_COUNT] = { TABLE_SERVERS,
        "UPDATE servers SET clock_ahead_ns = :clock_ahead_ns, clock_uncertainty_ns = "
        ":clock_uncertainty_ns WHERE id = :id" },
    [CONFIG_SERVER - TABLE_COUNT] = { TABLE_SERVERS,
        "UPDATE servers SET config_file = :config_file, config_check = :config_check "
        "WHERE id = :id" },
    /* Ids and keys begin again at a new start of the server, whose number is in the key. */
    [DELIVERED - TABLE_COUNT] = { TABLE_SERVER_REQUESTS,
        "UPDATE server_requests SET undelivered_ns = :undelivered_ns, undelivered_bytes = "
        ":undelivered_bytes WHERE server_id = :server_id AND request_id = :request_id AND "
        "key >> 48 = :key >> 48" },
    [END_STUDY - TABLE_COUNT] = { TABLE_STUDIES,
        "UPDATE studies SET ended_ns = :ended_ns WHERE id = :id" },
    [INTERRUPT_STUDY - TABLE_COUNT] = { TABLE_STUDIES,
        "UPDATE studies SET interrupted = interrupted + 1 WHERE id = :id" },
    [BEGIN_STEP - TABLE_COUNT] = { TABLE_STEPS,
        "UPDATE steps SET state = :state, started_ns = :started_ns "
        "WHERE study_id = :study_id AND ordinal = :ordinal" },
    [END_STEP - TABLE_COUNT] = { TABLE_STEPS,
        "UPDATE steps SET state = :state, run_id = :run_id, failure = :failure, page_bytes = "
        ":page_bytes, ended_ns = :ended_ns, warmup_ns = :warmup_ns, load = coalesce(:load, load) "
        "WHERE study_id = :study_id AND ordinal = :ordinal" },
    [REPLAN_STEPS - TABLE_COUNT] = { TABLE_STEPS,
        "UPDATE steps SET state = 'planned', run_id = NULL, started_ns = NULL "
        "WHERE study_id = :study_id AND state = 'running'" },
};

static const struct table *table_of(int statement)
{
    return &tables[statement < TABLE_COUNT ? statement : changes[statement - TABLE_COUNT].table];
}

/* ---- preparing --------------------------------------------------------------------- */

/* "INSERT INTO notes (run_id, time_ns, text) VALUES (:run_id, :time_ns, :text)". */
static void insert_sql(char *sql, size_t size, int table)
{
    const struct table *t = &tables[table];
    size_t used = 0;
    int i;

    used += (size_t)snprintf(sql, size, "INSERT%s INTO %s",
                             is_replaced(table) ? " OR REPLACE" : "", t->name);
    for (i = 0; i < t->width; i++)
        used += (size_t)snprintf(sql + used, size - used, "%s%s", i > 0 ? ", " : " (",
                                 t->columns[i]);
    for (i = 0; i < t->width; i++)
        used += (size_t)snprintf(sql + used, size - used, "%s%s", i > 0 ? ", :" : ") VALUES (:",
                                 t->columns[i]);
    used += (size_t)snprintf(sql + used, size - used, ")");
    assert(used < size);
}

static int column_of(const struct table *t, const char *name)
{
    int i = 0;

    while (i < t->width && strcmp(t->columns[i], name) != 0)
        i++;
    assert(i < t->width);
    return i;
}

int mst_archive_prepare(struct mst_archive *a)
{
    struct mst_statement *s;
    char sql[2048];
    int i, k;

    for (i = 0; i < STATEMENT_COUNT; i++) {
        s = &a->statements[i];
        if (i < TABLE_COUNT)
            insert_sql(sql, sizeof sql, i);
        if (sqlite3_prepare_v2(a->db, i < TABLE_COUNT ? sql : changes[i - TABLE_COUNT].sql, -1,
                               &s->prepared, NULL) != SQLITE_OK)
            return mst_archive_fail(a);
        for (k = 1; k <= sqlite3_bind_parameter_count(s->prepared); k++)
            s->column[k] = (signed char)column_of(table_of(i), sqlite3_bind_parameter_name(
                                                                   s->prepared, k) + 1);
    }
    return 0;
}

void mst_archive_finalize(struct mst_archive *a)
{
    int i;

    for (i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(a->statements[i].prepared);
}

/* ---- executing --------------------------------------------------------------------- */

static int bind_value(sqlite3_stmt *statement, int at, const struct mst_value *value)
{
    const char *text = value->bytes;

    switch (value->kind) {
    case MST_VALUE_NUMBER:
        if (value->number > INT64_MAX)
            break;
        return sqlite3_bind_int64(statement, at, (int64_t)value->number);
    case MST_VALUE_SIGNED:
        return sqlite3_bind_int64(statement, at, (int64_t)value->number);
    case MST_VALUE_TEXT:
        if (text == NULL || text[0] == '\0')
            break;
        return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    case MST_VALUE_BYTES:
        return sqlite3_bind_blob64(statement, at, value->bytes, value->size, SQLITE_STATIC);
    case MST_VALUE_NOT_GIVEN:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

/* A row is given whole, or it has an id, by which the rest is updated later; an update is given
 * what it names, and nothing else. */
static void check_row(int which, const struct mst_statement *s, const struct mst_value *row)
{
    const struct table *t = table_of(which);
    int parameters = sqlite3_bind_parameter_count(s->prepared), given = 0, i;

    for (i = 0; i < t->width; i++)
        given += row[i].kind != MST_VALUE_NOT_GIVEN;
    assert(given == parameters || (which < TABLE_COUNT && strcmp(t->columns[0], "id") == 0));
    for (i = 1; i <= parameters && which >= TABLE_COUNT; i++)
        assert(row[s->column[i]].kind != MST_VALUE_NOT_GIVEN);
    (void)given;
}

int mst_archive_put(struct mst_archive *a, int which, const struct mst_value *row)
{
    const struct mst_statement *s = &a->statements[which];
    int status = SQLITE_OK, count, i;

    if (mst_archive_begin_batch(a) != 0)
        return -1;
    check_row(which, s, row);
    count = sqlite3_bind_parameter_count(s->prepared);
    for (i = 1; i <= count && status == SQLITE_OK; i++)
        status = bind_value(s->prepared, i, &row[s->column[i]]);
    if (status != SQLITE_OK || sqlite3_step(s->prepared) != SQLITE_DONE)
        status = mst_archive_fail(a);
    sqlite3_reset(s->prepared);
    return status;
}

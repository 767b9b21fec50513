/* schema.c - which version an archive is of, and making it one of the present. */
#include <stdio.h>
#include <string.h>

#include "archive/internal.h"

static const char schema[] =
#include "tools/archive/schema.inc"
;

/* SQL that makes an archive of version i + 1 one of the next, except whole tables and indices:
 * the schema itself makes those that are missing, but a table
 * that a later step changes is made here. */
static const char *const upgrades[MST_ARCHIVE_VERSION - 1] = {
    "ALTER TABLE runs ADD COLUMN repetition INTEGER;"
    "ALTER TABLE runs ADD COLUMN recorder_cpu_ns INTEGER;"
    "ALTER TABLE servers ADD COLUMN clock_offset_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN front_ns INTEGER;"
    "ALTER TABLE client_results ADD COLUMN failed_timeout INTEGER;"
    "ALTER TABLE client_results ADD COLUMN time_step_ns INTEGER;"
    "ALTER TABLE client_results ADD COLUMN corrected INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN memory_stall_ns INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN oom_kills INTEGER;"
    "CREATE TABLE php_requests (server_id INTEGER NOT NULL REFERENCES servers(id), "
    "key INTEGER NOT NULL, start_ns INTEGER NOT NULL, request_id INTEGER, wait_ns INTEGER, "
    "run_ns INTEGER NOT NULL, user_ns INTEGER, system_ns INTEGER, memory_bytes INTEGER, "
    "label TEXT NOT NULL, status INTEGER, script TEXT, aborted INTEGER NOT NULL, "
    "fatal INTEGER NOT NULL, timeout INTEGER NOT NULL, cached INTEGER, pid INTEGER, "
    "worker INTEGER, ghost INTEGER NOT NULL);",
    "ALTER TABLE memory_samples ADD COLUMN rss_bytes INTEGER;"
    "ALTER TABLE servers ADD COLUMN cgroup TEXT;"
    "ALTER TABLE servers ADD COLUMN memory_limit_bytes INTEGER;"
    "ALTER TABLE servers ADD COLUMN oom_kills INTEGER;"
    "ALTER TABLE servers ADD COLUMN memory_stall_ns INTEGER;"
    "ALTER TABLE servers ADD COLUMN throttled_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN client_id INTEGER;"
    "ALTER TABLE client_requests ADD COLUMN client_id INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN runnable INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN blocked INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN cpu_stall_ns INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN context_switches INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN forks INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN tcp_segments INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN tcp_retransmits INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN syn_retransmits INTEGER;",
    "ALTER TABLE server_requests ADD COLUMN tls_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN h2_wait_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN checks_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN upload_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN backend_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN send_client_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN send_network_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN send_server_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN undelivered_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN undelivered_bytes INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN log_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN handler TEXT;"
    "ALTER TABLE server_requests ADD COLUMN backend TEXT;"
    "DROP INDEX IF EXISTS server_requests_server;"
    "ALTER TABLE php_requests ADD COLUMN cpu_wait_ns INTEGER;"
    "ALTER TABLE php_requests ADD COLUMN waits_ns INTEGER;"
    "ALTER TABLE samples ADD COLUMN logging INTEGER;"
    "ALTER TABLE samples ADD COLUMN logging_ns INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_cpu_ns INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_cpu_limit_milli INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_throttled_ns INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_memory_bytes INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_memory_limit_bytes INTEGER;"
    "ALTER TABLE samples ADD COLUMN group_io_stall_ns INTEGER;"
    "ALTER TABLE samples ADD COLUMN listen_address TEXT;"
    "ALTER TABLE samples ADD COLUMN http2_workers_limit INTEGER;"
    "ALTER TABLE samples ADD COLUMN http2_workers_busy INTEGER;"
    "ALTER TABLE samples ADD COLUMN listen_pool TEXT;"
    "ALTER TABLE process_samples ADD COLUMN files INTEGER;"
    "ALTER TABLE process_samples ADD COLUMN files_limit INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN io_stall_ns INTEGER;"
    "CREATE TABLE pool_samples (server_id INTEGER NOT NULL REFERENCES servers(id), "
    "time_ns INTEGER NOT NULL, moment TEXT NOT NULL, label TEXT NOT NULL, "
    "workers_limit INTEGER NOT NULL, workers_busy INTEGER, limit_reached INTEGER);"
    "ALTER TABLE programs RENAME TO older_programs;"
    "CREATE TABLE programs (run_id INTEGER NOT NULL REFERENCES runs(id), program TEXT NOT NULL, "
    "cpu_ns INTEGER NOT NULL, owner TEXT);"
    "INSERT INTO programs SELECT run_id, program, cpu_ns, NULL FROM older_programs;"
    "DROP TABLE older_programs;",
    "ALTER TABLE runs ADD COLUMN recording TEXT;"
    "ALTER TABLE runs ADD COLUMN part INTEGER;"
    "ALTER TABLE servers ADD COLUMN name TEXT;"
    "ALTER TABLE servers ADD COLUMN clock_ahead_ns INTEGER;"
    "ALTER TABLE servers ADD COLUMN clock_uncertainty_ns INTEGER;"
    "ALTER TABLE client_requests ADD COLUMN generator_id INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN trace_id TEXT;"
    "ALTER TABLE server_requests ADD COLUMN parent_span TEXT;"
    "ALTER TABLE server_requests ADD COLUMN sampled INTEGER;",
    "ALTER TABLE runs ADD COLUMN thinned_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE php_requests ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE samples ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE pool_samples ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE memory_samples ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;",
    "ALTER TABLE server_requests ADD COLUMN path TEXT;"
    "ALTER TABLE servers ADD COLUMN config_file TEXT;"
    "ALTER TABLE servers ADD COLUMN config_check TEXT;",
};

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

int mst_archive_upgrade(struct mst_archive *a, int version)
{
    char pragmas[128];

    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             MST_ARCHIVE_ID, MST_ARCHIVE_VERSION);
    if (mst_archive_check(a, false) != 0 || mst_archive_execute(a, "BEGIN IMMEDIATE") != 0)
        return -1;
    for (; version > 0 && version < MST_ARCHIVE_VERSION; version++)
        if (mst_archive_execute(a, upgrades[version - 1]) != 0)
            return -1;
    if (mst_archive_execute(a, schema) != 0 || mst_archive_execute(a, pragmas) != 0 ||
        mst_archive_check(a, true) != 0)
        return -1;
    return mst_archive_execute(a, "COMMIT");
}


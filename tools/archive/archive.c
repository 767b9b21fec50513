/* archive.c - writes and opens archives: see archive.h, and schema.sql for what
 * is in them.
 *
 * While it is written an archive has a write-ahead log (WAL): FILE-wal, and FILE-shm, the log's
 * index. Whoever reads sees what was committed, and holds up no commit; a killed recorder
 * leaves what it committed. An archive that nobody has open is one file, to be copied and
 * mailed: the last that closes it puts the log into the file, and ends the log.
 *
 * Batches are committed without waiting for the disk, which would show in the measurement: a
 * killed recording loses nothing by it, and only the system's own crash could. The end of a
 * run is written through to the disk.
 *
 * Some file systems cannot share memory, which the log takes. There a rollback journal is
 * written, which lets no batch be committed while anybody reads: a batch stays open, and
 * grows, until its reader has gone. To look at an archive must not end the load.
 */
#include "archive/archive.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/guard.h"
#include "base/clock.h"
#include "console/diag.h"
#include "exec/shell_quote.h"

#define BUSY_TIMEOUT_MS 3000   /* for another who writes */
#define RETRY_MS        50     /* between attempts to commit where there is nothing else to do */
#define BATCH_MAX       (512 << 20)   /* bytes of memory that a batch may take meanwhile */
#define LOG_PAGES       4096   /* of the log: then it goes into the file. 16 MB take 10 ms */
#define OLDER_MAX       (256 << 20)   /* bytes of an archive of an earlier version to be read */

static const char schema[] =
#include "tools/archive/schema.inc"
;

/* What makes an archive of version i + 1 one of the next, but for whole tables and
 * indices, which the schema makes where they are not there. */
static const char *const upgrades[MST_ARCHIVE_VERSION - 1] = {
    "ALTER TABLE runs ADD COLUMN repetition INTEGER;"
    "ALTER TABLE runs ADD COLUMN recorder_cpu_ns INTEGER;"
    "ALTER TABLE servers ADD COLUMN clock_offset_ns INTEGER;"
    "ALTER TABLE server_requests ADD COLUMN front_ns INTEGER;"
    "ALTER TABLE client_results ADD COLUMN failed_timeout INTEGER;"
    "ALTER TABLE client_results ADD COLUMN time_step_ns INTEGER;"
    "ALTER TABLE client_results ADD COLUMN corrected INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN memory_stall_ns INTEGER;"
    "ALTER TABLE machine_samples ADD COLUMN oom_kills INTEGER;",
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
};

enum statement {
    INSERT_RUN, START_RUN, END_RUN, INSERT_SERVER, END_SERVER, INSERT_REQUEST,
    INSERT_PHP_REQUEST, INSERT_MARK, INSERT_LIFECYCLE,
    INSERT_SAMPLE, INSERT_PROCESS, INSERT_MEMORY, INSERT_MACHINE, INSERT_PROGRAM, INSERT_RESULT,
    INSERT_ROW, INSERT_ENVIRONMENT, INSERT_OUTPUT, INSERT_NOTE, INSERT_STUDY, INSERT_STUDY_FILE,
    END_STUDY, INTERRUPT_STUDY, INSERT_STEP, BEGIN_STEP, END_STEP, REPLAN_STEPS, STATEMENT_COUNT
};

#define P5  "?,?,?,?,?"
#define P10 P5 "," P5
static const char *const statement_sql[STATEMENT_COUNT] = {
    [INSERT_RUN] = "INSERT INTO runs (name, command, command_line, added, tool, started_ns, "
                   "tool_threads, mpmstat_version, repetition) VALUES (" P5 ",?,?,?,?)",
    [START_RUN] = "UPDATE runs SET started_ns = ?2 WHERE id = ?1",
    [END_RUN] = "UPDATE runs SET outcome = ?2, complete = ?3, started_ns = ?4, ended_ns = ?5, "
                "duration_ns = ?6, exit_status = ?7, exit_signal = ?8, tool_cpu_ns = ?9, "
                "memory_cost_ns = ?10, recorder_cpu_ns = ?11 WHERE id = ?1",
    [INSERT_SERVER] = "INSERT INTO servers (run_id, target, board, producer, server, mpm, sapi, "
                      "version, pid, started_ns, local, clock_offset_ns) VALUES (" P10 ",?,?)",
    [END_SERVER] = "UPDATE servers SET lost = ?2, restarts = ?3, cpu_ns = ?4, unknown = ?5, "
                   "cgroup = ?6, memory_limit_bytes = ?7, oom_kills = ?8, memory_stall_ns = ?9, "
                   "throttled_ns = ?10 WHERE id = ?1",
    [INSERT_REQUEST] = "INSERT INTO server_requests VALUES (" P10 "," P10 ",?,?)",
    [INSERT_PHP_REQUEST] = "INSERT INTO php_requests VALUES (" P10 "," P5 ",?,?,?,?)",
    [INSERT_MARK] = "INSERT INTO marks VALUES (" P5 ",?)",
    [INSERT_LIFECYCLE] = "INSERT INTO lifecycle VALUES (" P10 ",?,?,?)",
    [INSERT_SAMPLE] = "INSERT INTO samples VALUES (" P10 "," P10 "," P10 ",?,?,?)",
    [INSERT_PROCESS] = "INSERT INTO process_samples VALUES (" P5 ")",
    [INSERT_MEMORY] = "INSERT INTO memory_samples VALUES (" P5 ",?,?)",
    [INSERT_MACHINE] = "INSERT INTO machine_samples VALUES (" P10 "," P5 ",?,?)",
    [INSERT_PROGRAM] = "INSERT OR REPLACE INTO programs VALUES (?,?,?)",
    [INSERT_RESULT] = "INSERT INTO client_results VALUES (" P10 "," P10 "," P5 ")",
    [INSERT_ROW] = "INSERT INTO client_requests VALUES (" P5 ",?,?)",
    [INSERT_ENVIRONMENT] = "INSERT OR REPLACE INTO environment VALUES (?,?,?)",
    [INSERT_OUTPUT] = "INSERT OR REPLACE INTO output VALUES (?,?,?,?)",
    [INSERT_NOTE] = "INSERT INTO notes VALUES (?,?,?)",
    [INSERT_STUDY] = "INSERT INTO studies (name, title, size, seed, only, directory, text, "
                     "started_ns, interrupted) VALUES (" P5 ",?,?,?,0)",
    [INSERT_STUDY_FILE] = "INSERT INTO study_files VALUES (?,?,?,?)",
    [END_STUDY] = "UPDATE studies SET ended_ns = ?2 WHERE id = ?1",
    [INTERRUPT_STUDY] = "UPDATE studies SET interrupted = interrupted + 1 WHERE id = ?1",
    [INSERT_STEP] = "INSERT INTO steps (study_id, ordinal, block, repetition, start, runs, stack, "
                    "workload, load, parameters, state) VALUES (" P10 ",'planned')",
    [BEGIN_STEP] = "UPDATE steps SET state = 'running', started_ns = ?3 "
                   "WHERE study_id = ?1 AND ordinal = ?2",
    [END_STEP] = "UPDATE steps SET state = ?3, run_id = ?4, failure = ?5, page_bytes = ?6, "
                 "ended_ns = ?7, warmup_ns = ?8, load = coalesce(?9, load) "
                 "WHERE study_id = ?1 AND ordinal = ?2",
    [REPLAN_STEPS] = "UPDATE steps SET state = 'planned', run_id = NULL, started_ns = NULL "
                     "WHERE study_id = ? AND state = 'running'",
};

struct mst_archive {
    struct mst_guard guard;
    sqlite3      *db;                          /* the guard's */
    char         *path;
    char          error[MST_ERROR_MAX];
    bool          has_log;
    int           log_limit;                   /* pages of the log: then it goes into the file */
    bool          in_batch;
    uint64_t      batch_ns;                    /* CLOCK_MONOTONIC: when the batch began */
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

/* ---- errors ---------------------------------------------------------------------- */

/* Why the last call failed, for people: the system's own reason where it is one. */
static const char *reason(sqlite3 *db)
{
    int system = sqlite3_system_errno(db);

    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        return "the disk is full";
    case SQLITE_BUSY: case SQLITE_LOCKED:
        return "another program is using it";
    case SQLITE_CANTOPEN: case SQLITE_IOERR:
        if (system != 0)
            return strerror(system);
        break;
    }
    return sqlite3_errmsg(db);
}

static const char *remedy(sqlite3 *db)
{
    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        return ". Make room on it, or name a file on another disk (-o)";
    case SQLITE_READONLY: case SQLITE_IOERR: case SQLITE_CANTOPEN:
        return ". Name a file that can be written (-o)";
    }
    return "";
}

static int fail(struct mst_archive *a)
{
    if (a->error[0] == '\0')
        snprintf(a->error, sizeof a->error, "cannot write the archive %s: %s%s", a->path,
                 reason(a->db), remedy(a->db));
    return -1;
}

const char *mst_archive_error(const struct mst_archive *a)
{
    return a->error;
}

int mst_archive_unreadable(const struct mst_archive *a, char error[MST_ERROR_MAX])
{
    snprintf(error, MST_ERROR_MAX, "cannot read the archive %s: %s", a->path,
             a->guard.problem[0] != '\0' ? a->guard.problem : "out of memory, or it is damaged");
    return -1;
}

const char *mst_archive_path(const struct mst_archive *a)
{
    return a->path;
}

sqlite3 *mst_archive_db(struct mst_archive *a)
{
    return a->db;
}

/* ---- opening --------------------------------------------------------------------- */

static int execute(struct mst_archive *a, const char *sql)
{
    if (a->error[0] != '\0')
        return -1;
    return sqlite3_exec(a->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(a);
}

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

static bool is_logged(struct mst_archive *a)
{
    sqlite3_stmt *statement = NULL;
    const char *mode = NULL;
    bool logged;

    if (sqlite3_prepare_v2(a->db, "PRAGMA journal_mode", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        mode = (const char *)sqlite3_column_text(statement, 0);
    logged = mode != NULL && strcmp(mode, "wal") == 0;
    sqlite3_finalize(statement);
    return logged;
}

/* What the file is: the version of an archive that this program knows, 0 for an
 * empty database, -1 with a sentence. */
static int examine(struct mst_archive *a)
{
    int64_t id, version = 0, tables;
    int status = ask(a->db, "PRAGMA application_id", &id);

    if (status == SQLITE_OK)
        status = ask(a->db, "PRAGMA user_version", &version);
    if (status == SQLITE_OK)
        status = ask(a->db, "SELECT EXISTS (SELECT 1 FROM sqlite_master)", &tables);
    if (status == SQLITE_NOTADB || (status == SQLITE_OK && id != MST_ARCHIVE_ID && tables > 0))
        snprintf(a->error, sizeof a->error, "%s is not an archive of mpmstat: it should be one "
                 "(then the run is added to it) or not be there yet", a->path);
    else if (status != SQLITE_OK)
        snprintf(a->error, sizeof a->error, "cannot read the archive %s: %s", a->path,
                 reason(a->db));
    else if (id == MST_ARCHIVE_ID && (version < 1 || version > MST_ARCHIVE_VERSION))
        snprintf(a->error, sizeof a->error, "the archive %s has schema version %lld, and this "
                 "mpmstat knows versions 1 to %d: take another file, or a newer mpmstat", a->path,
                 (long long)version, MST_ARCHIVE_VERSION);
    else
        return id == MST_ARCHIVE_ID ? (int)version : 0;
    return -1;
}

/* That it has the tables and columns that it should, as such: see guard.h. */
static int check(struct mst_archive *a, bool all)
{
    char problem[MST_ERROR_MAX];

    if (a->error[0] != '\0')
        return -1;
    if (mst_guard_check(&a->guard, schema, all, problem))
        return 0;
    snprintf(a->error, sizeof a->error, "the archive %s %.300s: " MST_GUARD_ODD, a->path, problem);
    return -1;
}

/* Makes of an archive of `version` (0: an empty database) one of the present. */
static int upgrade(struct mst_archive *a, int version)
{
    char pragmas[128];

    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             MST_ARCHIVE_ID, MST_ARCHIVE_VERSION);
    if (check(a, false) != 0 || execute(a, "BEGIN IMMEDIATE") != 0)
        return -1;
    for (; version > 0 && version < MST_ARCHIVE_VERSION; version++)
        if (execute(a, upgrades[version - 1]) != 0)
            return -1;
    if (execute(a, schema) != 0 || execute(a, pragmas) != 0 || check(a, true) != 0)
        return -1;
    return execute(a, "COMMIT");
}

/* SQLite takes a name that begins with a colon, and an empty one, for no file. */
static char *file_name(const char *path)
{
    char *name;

    if (asprintf(&name, "%s%s", path[0] == ':' ? "./" : "", path) < 0)
        return NULL;
    return name;
}

/* SQLite's status. */
static int connect(struct mst_archive *a, const char *name, int flags)
{
    int status = mst_guard_open(&a->guard, name, flags);

    a->db = a->guard.db;
    if (status == SQLITE_OK)
        sqlite3_busy_timeout(a->db, BUSY_TIMEOUT_MS);
    return status;
}

static struct mst_archive *open_file(const char *path, int flags, char error[MST_ERROR_MAX])
{
    struct mst_archive *a;
    struct stat st;

    if (path[0] == '\0' || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        snprintf(error, MST_ERROR_MAX, "the archive \"%s\" should be a file%s", path,
                 path[0] == '\0' ? "" : ", and that is something else");
        return NULL;
    }
    a = calloc(1, sizeof *a);
    if (a == NULL || (a->path = file_name(path)) == NULL) {
        snprintf(error, MST_ERROR_MAX, "out of memory for the archive");
        free(a);
        return NULL;
    }
    if (connect(a, a->path, flags) == SQLITE_OK)
        return a;
    snprintf(error, MST_ERROR_MAX, "cannot open the archive %s: %s", path,
             a->db != NULL ? reason(a->db) : "out of memory");
    mst_guard_close(&a->guard);
    free(a->path);
    free(a);
    return NULL;
}

static void discard(struct mst_archive *a, char error[MST_ERROR_MAX])
{
    char ignored[MST_ERROR_MAX];

    snprintf(error, MST_ERROR_MAX, "%s", a->error);
    mst_archive_close(a, ignored);
}

/* ---- waiting for others ---------------------------------------------------------------- */

struct patience { uint64_t began_ns; bool told; };

/* A program that only looked may not know what that did. */
static int give_up(struct mst_archive *a, const char *why)
{
    snprintf(a->error, sizeof a->error, "cannot write the archive %s: another program is using it "
             "(one that only reads it keeps it from being written, too), %s", a->path, why);
    return -1;
}

/* Where others keep the archive from being written: waits a little. 0, or -1: it was too
 * long. */
static int wait_for_others(struct mst_archive *a, struct patience *p)
{
    uint64_t waited_ns = mst_now_ns() - p->began_ns;

    if (waited_ns >= MST_ARCHIVE_PATIENCE_NS)
        return give_up(a, "and did not let go of it");
    if (!p->told && waited_ns >= MST_NS_PER_S)
        mst_progress("another program is reading the archive %s: waiting for it, %llu s at "
                     "most", a->path, (unsigned long long)(MST_ARCHIVE_PATIENCE_NS / MST_NS_PER_S));
    p->told = p->told || waited_ns >= MST_NS_PER_S;
    poll(NULL, 0, RETRY_MS);
    return 0;
}

/* ---- the log --------------------------------------------------------------------------- */

/* Whether processes can share memory by a file next to the archive. Where no file can be made
 * there SQLite will say so. */
static bool can_share_memory(const char *path)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *shared = MAP_FAILED;
    bool known = false;
    char *name;
    int fd;

    if (asprintf(&name, "%s.XXXXXX", path) < 0)
        return true;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        unlink(name);
        known = ftruncate(fd, (off_t)size) == 0;
        if (known)
            shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    free(name);
    if (shared != MAP_FAILED)
        munmap(shared, size);
    return !known || shared != MAP_FAILED;
}

/* Puts what is in the log into the file. What a reader still needs in the log stays there, and
 * the log grows on. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    struct mst_archive *a = context;
    int in_log = 0, in_file = 0;

    if (pages < a->log_limit)
        return SQLITE_OK;
    sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_file);
    a->log_limit = in_log == in_file ? LOG_PAGES : pages + LOG_PAGES;
    return SQLITE_OK;   /* what was committed is committed */
}

static int begin_log(struct mst_archive *a)
{
    struct patience p = { mst_now_ns(), false };
    int status;

    if (!can_share_memory(a->path))
        return 0;
    while ((status = sqlite3_exec(a->db, "PRAGMA journal_mode = WAL", NULL, NULL,
                                  NULL)) == SQLITE_BUSY)
        if (wait_for_others(a, &p) != 0)
            return -1;
    if (status != SQLITE_OK)
        return fail(a);
    a->has_log = is_logged(a);
    a->log_limit = LOG_PAGES;
    sqlite3_wal_hook(a->db, on_commit, a);
    return 0;
}

/* Makes it one file again, unless another has it open. */
static void end_log(struct mst_archive *a)
{
    sqlite3_busy_timeout(a->db, 0);
    sqlite3_exec(a->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

/* All of it, and to the disk. false: some of it has to stay in the log. */
static bool empty_log(struct mst_archive *a)
{
    int in_log = -1, in_file = 0;
    int status = sqlite3_wal_checkpoint_v2(a->db, "main", SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                           &in_file);

    return status == SQLITE_OK && in_log == in_file;
}

static void close_log(struct mst_archive *a)
{
    bool empty;

    sqlite3_busy_timeout(a->db, 0);
    sqlite3_exec(a->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    empty = empty_log(a);
    if (!empty)
        mst_warn("the archive %s is two files as yet: what was recorded last is in %s-wal (%s). "
                 "Copy both, or none", a->path, a->path,
                 sqlite3_errcode(a->db) == SQLITE_OK ? "another program reads it" : reason(a->db));
    end_log(a);
}

/* ---- opening to write ----------------------------------------------------------------- */

/* All statements, so that what keeps one of them from being executed is known before the
 * load begins. */
static int prepare(struct mst_archive *a)
{
    int i;

    for (i = 0; i < STATEMENT_COUNT; i++)
        if (sqlite3_prepare_v2(a->db, statement_sql[i], -1, &a->statements[i], NULL) != SQLITE_OK)
            return fail(a);
    return 0;
}

/* SQLite would try to read what it cannot make, and say that there is no such file. */
static int make_file(const char *path, char error[MST_ERROR_MAX])
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd >= 0) {
        close(fd);
        return 0;
    }
    snprintf(error, MST_ERROR_MAX, "cannot open the archive %s: %s. Name a file that can be written "
             "(-o)", path, strerror(errno));
    return -1;
}

/* A new archive that was not made is nothing to keep. */
static void remove_empty(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
}

struct mst_archive *mst_archive_create(const char *path, char error[MST_ERROR_MAX])
{
    bool is_new = path[0] != '\0' && access(path, F_OK) != 0;
    struct mst_archive *a;
    int kind;

    if (is_new && make_file(path, error) != 0)
        return NULL;
    a = open_file(path, SQLITE_OPEN_READWRITE, error);
    if (a == NULL)
        return NULL;
    kind = examine(a);
    if (kind >= 0 && sqlite3_db_readonly(a->db, "main") == 1)
        snprintf(a->error, sizeof a->error, "the archive %s is read-only: it should be writable "
                 "for a run to be added. Name another file (-o), or make it writable", a->path);
    else if (kind >= 0 && execute(a, "PRAGMA synchronous = OFF") == 0 &&
             (kind < MST_ARCHIVE_VERSION ? upgrade(a, kind) : check(a, true)) == 0 &&
             begin_log(a) == 0 && execute(a, "BEGIN IMMEDIATE; ROLLBACK") == 0)
        prepare(a);   /* it can be written: so it can be begun */
    if (a->error[0] == '\0')
        return a;
    discard(a, error);
    if (is_new)
        remove_empty(path);
    return NULL;
}

/* ---- opening to read ------------------------------------------------------------------ */

/* Bytes that the file takes on the disk, with its log: what it cost to make it that long. */
static uint64_t bytes_of(const struct mst_archive *a)
{
    static const char *const parts[] = { "", "-wal" };
    uint64_t bytes = 0, allocated;
    struct stat st;
    char *name;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (asprintf(&name, "%s%s", a->path, parts[i]) < 0)
            continue;
        if (stat(name, &st) == 0) {
            allocated = (uint64_t)st.st_blocks * 512;
            bytes += (uint64_t)st.st_size < allocated ? (uint64_t)st.st_size : allocated;
        }
        free(name);
    }
    return bytes;
}

/* Whether there is anything in FILE-wal or FILE-journal. */
static bool has_more(const struct mst_archive *a)
{
    static const char *const parts[] = { "-wal", "-journal" };
    struct stat st;
    bool more = false;
    char *name;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (asprintf(&name, "%s%s", a->path, parts[i]) < 0)
            return true;
        more = more || (lstat(name, &st) == 0 && (st.st_size > 0 || !S_ISREG(st.st_mode)));
        free(name);
    }
    return more;
}

/* The file as a URI that says that nobody changes it. */
static char *immutable_name(const char *path)
{
    char *real = realpath(path, NULL), *uri = NULL;
    size_t size;
    FILE *out = real != NULL ? open_memstream(&uri, &size) : NULL;
    const char *at;

    if (out != NULL) {
        fputs("file://", out);
        for (at = real; *at != '\0'; at++)
            fprintf(out, isalnum((unsigned char)*at) || *at == '/' ? "%c" : "%%%02X",
                    (unsigned char)*at);
        fputs("?immutable=1", out);
        if (fclose(out) != 0) {
            free(uri);
            uri = NULL;
        }
    }
    free(real);
    return uri;
}

/* An archive that was copied while its log was in use asks for one where it is read, too:
 * where none can be made, and none is there, the file by itself is all there is. */
static int examine_alone(struct mst_archive *a)
{
    char *name = immutable_name(a->path);
    int status = SQLITE_NOMEM;

    mst_guard_close(&a->guard);
    if (name != NULL)
        status = connect(a, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI);
    free(name);
    if (status != SQLITE_OK)
        return -1;
    mst_guard_limit_reading(&a->guard, bytes_of(a));
    a->error[0] = '\0';
    return examine(a);
}

static int examine_to_read(struct mst_archive *a)
{
    int kind;

    mst_guard_limit_reading(&a->guard, bytes_of(a));
    kind = examine(a);
    if (kind < 0 && sqlite3_errcode(a->db) == SQLITE_CANTOPEN && !has_more(a)) {
        a->error[0] = '\0';
        kind = examine(a);   /* now that a journal is rolled back */
        if (kind < 0)
            kind = examine_alone(a);
    }
    if (kind < 0 && (sqlite3_errcode(a->db) == SQLITE_CANTOPEN ||
                     sqlite3_errcode(a->db) == SQLITE_READONLY))
        snprintf(a->error, sizeof a->error, "cannot read the archive %s: what was recorded last "
                 "is in %s-wal or %s-journal, which cannot be used here. Copy all of them to where "
                 "you may write, and read that", a->path, a->path, a->path);
    return kind;
}

/* One of an earlier version is brought up to date in memory. */
static int read_older(struct mst_archive *a, int version)
{
    struct stat st;
    int status;

    if (stat(a->path, &st) != 0 || st.st_size > OLDER_MAX) {
        snprintf(a->error, sizeof a->error, "the archive %s has schema version %d and %lld MB: of "
                 "earlier versions only up to %d MB can be read. Record a run into a copy of it "
                 "(-o), which brings that up to date", a->path, version,
                 (long long)st.st_size >> 20, OLDER_MAX >> 20);
        return -1;
    }
    status = mst_guard_to_memory(&a->guard, (uint64_t)st.st_size);
    a->db = a->guard.db;
    if (status == SQLITE_OK)
        return upgrade(a, version);
    snprintf(a->error, sizeof a->error, "cannot read the archive %s: %s", a->path,
             sqlite3_errstr(status));
    return -1;
}

/* All that is read is of one moment, where that holds up nobody. */
static int begin_reading(struct mst_archive *a)
{
    a->has_log = is_logged(a);
    if (a->has_log && execute(a, "BEGIN; SELECT 1 FROM runs LIMIT 1") != 0)
        return -1;
    mst_guard_lock(&a->guard);
    return 0;
}

struct mst_archive *mst_archive_read(const char *path, char error[MST_ERROR_MAX])
{
    struct mst_archive *a;
    struct stat st;
    int kind;

    if (stat(path, &st) != 0) {
        snprintf(error, MST_ERROR_MAX, "cannot open the archive %s: %s", path, strerror(errno));
        return NULL;
    }
    /* Where a recording was killed, reading it begins with a rollback: a write. */
    a = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
    if (a == NULL)
        return NULL;
    kind = examine_to_read(a);
    if (kind == 0)
        snprintf(a->error, sizeof a->error, "%s is empty: there is no run in it", a->path);
    if (kind > 0 && (kind < MST_ARCHIVE_VERSION ? read_older(a, kind) : check(a, true)) == 0 &&
        begin_reading(a) == 0)
        return a;
    discard(a, error);
    return NULL;
}

/* ---- closing -------------------------------------------------------------------------- */

/* What cannot be read as it should is not written to either. */
static void close_reader(struct mst_archive *a)
{
    mst_guard_unlock(&a->guard);
    sqlite3_progress_handler(a->db, 0, NULL, NULL);
    if (a->error[0] != '\0' || a->guard.problem[0] != '\0')
        sqlite3_db_config(a->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else if (a->has_log && sqlite3_exec(a->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_db_readonly(a->db, "main") == 0)
        end_log(a);
}

int mst_archive_close(struct mst_archive *a, char error[MST_ERROR_MAX])
{
    int status = 0, i;

    error[0] = '\0';
    if (a == NULL)
        return 0;
    if (!a->guard.reads)
        status = mst_archive_commit(a);
    if (status != 0)
        snprintf(error, MST_ERROR_MAX, "%s", a->error);
    for (i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(a->statements[i]);
    if (a->guard.reads)
        close_reader(a);
    else if (a->has_log)
        close_log(a);
    mst_guard_close(&a->guard);
    free(a->path);
    free(a);
    return status;
}

/* ---- batches --------------------------------------------------------------------- */

static int begin_batch(struct mst_archive *a)
{
    if (a->error[0] != '\0')
        return -1;
    if (a->in_batch)
        return 0;
    if (execute(a, "BEGIN IMMEDIATE") != 0)
        return -1;
    /* SQLite would wait for readers whenever its cache is full. It does with more memory. */
    sqlite3_busy_timeout(a->db, 0);
    a->in_batch = true;
    a->batch_ns = mst_now_ns();
    return 0;
}

/* 0; 1: somebody reads, and there is no log: the batch is still open; or -1. No new reader gets
 * in then. */
static int try_commit(struct mst_archive *a)
{
    int status;

    if (a->error[0] != '\0')
        return -1;
    if (!a->in_batch)
        return 0;
    status = sqlite3_exec(a->db, "COMMIT", NULL, NULL, NULL);
    if (status == SQLITE_BUSY)
        return 1;
    a->in_batch = false;
    if (status != SQLITE_OK)
        return fail(a);
    sqlite3_busy_timeout(a->db, BUSY_TIMEOUT_MS);
    return 0;
}

int mst_archive_commit(struct mst_archive *a)
{
    struct patience p = { mst_now_ns(), false };
    int status;

    while ((status = try_commit(a)) > 0)
        if (wait_for_others(a, &p) != 0)
            return -1;
    return status;
}

static bool takes_too_much(struct mst_archive *a)
{
    int bytes, most;

    return sqlite3_db_status(a->db, SQLITE_DBSTATUS_CACHE_USED, &bytes, &most, 0) == SQLITE_OK &&
           bytes > BATCH_MAX;
}

int mst_archive_offer(struct mst_archive *a)
{
    int status = try_commit(a);

    if (status <= 0)
        return status;
    a->batch_ns = mst_now_ns();
    return takes_too_much(a) ? give_up(a, "and memory for what it keeps out runs short") : 0;
}

int mst_archive_tick(struct mst_archive *a, uint64_t now_ns)
{
    if (!a->in_batch || now_ns - a->batch_ns < MST_ARCHIVE_BATCH_NS)
        return a->error[0] == '\0' ? 0 : -1;
    return mst_archive_offer(a);
}

/* ---- rows ------------------------------------------------------------------------ */

/* A number that is not known, or that no honest server counts to, is NULL. */
static int bind_u64(sqlite3_stmt *statement, int at, uint64_t value)
{
    if (value > INT64_MAX)
        return sqlite3_bind_null(statement, at);
    return sqlite3_bind_int64(statement, at, (int64_t)value);
}

/* Text that no known thing has is NULL. */
static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return sqlite3_bind_null(statement, at);
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

/* types: a letter a value. i int64_t, u uint64_t (MST_UNKNOWN: NULL), s const
 * char * (NULL or "": NULL), b const void * and size_t. */
static int bind(sqlite3_stmt *statement, const char *types, va_list values)
{
    int at, status = SQLITE_OK;

    for (at = 1; types[at - 1] != '\0' && status == SQLITE_OK; at++) {
        switch (types[at - 1]) {
        case 'i': status = sqlite3_bind_int64(statement, at, va_arg(values, int64_t)); break;
        case 'u': status = bind_u64(statement, at, va_arg(values, uint64_t)); break;
        case 's': status = bind_text(statement, at, va_arg(values, const char *)); break;
        case 'b': {
            const void *bytes = va_arg(values, const void *);

            status = sqlite3_bind_blob64(statement, at, bytes, va_arg(values, size_t),
                                         SQLITE_STATIC);
            break;
        }
        }
    }
    return status;
}

/* Runs a statement with these values, within a batch. */
static int put(struct mst_archive *a, enum statement which, const char *types, ...)
{
    sqlite3_stmt *statement = a->statements[which];
    va_list values;
    int status;

    if (begin_batch(a) != 0)
        return -1;
    assert(strlen(types) == (size_t)sqlite3_bind_parameter_count(statement));
    va_start(values, types);
    status = bind(statement, types, values);
    va_end(values);
    if (status != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE)
        status = fail(a);
    sqlite3_reset(statement);
    return status;
}

/* ---- the run --------------------------------------------------------------------- */

int mst_archive_begin_run(struct mst_archive *a, const struct mst_archive_run *run,
                          int64_t *run_id)
{
    char *command = mst_argv_json(run->argv), *line = mst_shell_quote(run->argv);
    int status = -1;

    if (command == NULL || line == NULL)
        snprintf(a->error, sizeof a->error, "out of memory for the archive %s", a->path);
    else
        status = put(a, INSERT_RUN, "sssssuusu", run->name, command, line, run->added, run->tool,
                     run->started_ns, run->tool_threads, MPMSTAT_VERSION,
                     run->repetition > 0 ? run->repetition : MST_UNKNOWN);
    free(command);
    free(line);
    *run_id = sqlite3_last_insert_rowid(a->db);
    return status == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_started(struct mst_archive *a, int64_t run_id, uint64_t started_ns)
{
    return put(a, START_RUN, "iu", run_id, started_ns);
}

/* The last transaction waits for the disk; with it all before it are there too. */
int mst_archive_end_run(struct mst_archive *a, int64_t run_id,
                        const struct mst_archive_run_end *end)
{
    if (mst_archive_commit(a) != 0 || execute(a, "PRAGMA synchronous = FULL") != 0)
        return -1;
    if (put(a, END_RUN, "isiuuuuuuuu", run_id, end->outcome, (int64_t)end->complete,
            end->started_ns, end->ended_ns, end->duration_ns, end->exit_status, end->exit_signal,
            end->tool_cpu_ns, end->memory_cost_ns, end->recorder_cpu_ns) != 0 ||
        mst_archive_commit(a) != 0)
        return -1;
    if (a->has_log)
        empty_log(a);
    return execute(a, "PRAGMA synchronous = OFF");
}

int mst_archive_add_server(struct mst_archive *a, int64_t run_id, const char *target, bool local,
                           const struct mst_source_identity *identity, int64_t *server_id)
{
    const char *producer = identity->producer == MST_PRODUCER_PHP ? "php" : "apache";
    int status = put(a, INSERT_SERVER, "isssssssuuiu", run_id, target, identity->board, producer,
                     identity->server, identity->mpm, identity->sapi, identity->version,
                     identity->pid, identity->started_wall_ns, (int64_t)local,
                     identity->clock_offset_ns);

    *server_id = sqlite3_last_insert_rowid(a->db);
    return status;
}

int mst_archive_end_server(struct mst_archive *a, int64_t server_id,
                           const struct mst_archive_server_end *end)
{
    return put(a, END_SERVER, "iuuussuuuu", server_id, end->lost, end->restarts, end->cpu_ns,
               end->unknown, end->cgroup.name, end->cgroup.memory_limit, end->cgroup.oom_kills,
               end->cgroup.memory_stall_ns, end->cgroup.throttled_ns);
}

/* ---- the server's side ----------------------------------------------------------- */

int mst_archive_add_request(struct mst_archive *a, int64_t server_id,
                            const struct mst_request *request, const char *label,
                            uint64_t wall_start_ns, uint64_t key, bool ghost)
{
    uint64_t flags = request->label_status >> 16 & 0xffff, status = request->label_status & 0xffff;
    uint64_t worker = request->pid_worker & UINT32_MAX;

    return put(a, INSERT_REQUEST, "iuuuuuuuusuiiuuuuuuiuu", server_id, key, wall_start_ns,
               request->queue_ns, request->read_ns, request->handle_ns, request->send_ns,
               request->held_ns, request->bytes, label, status > 0 ? status : MST_UNKNOWN,
               (int64_t)((flags & MST_REQUEST_ABORTED) != 0),
               (int64_t)((flags & MST_REQUEST_NO_WORKER) != 0), request->pid_worker >> 32,
               worker != UINT32_MAX ? worker : MST_UNKNOWN, request->connection >> 16,
               request->connection & 0xffff, request->nth, request->id, (int64_t)ghost,
               request->front_ns, request->client_id > 0 ? request->client_id - 1 : MST_UNKNOWN);
}

/* Text of a board is anybody's bytes: SQLite keeps it as it is. */
int mst_archive_add_php_request(struct mst_archive *a, int64_t server_id,
                                const struct mst_php_request *r, const char *label,
                                uint64_t wall_start_ns, uint64_t key, bool ghost)
{
    uint64_t flags = r->label_status >> 16 & 0xffff, status = r->label_status & 0xffff;
    uint64_t worker = r->pid_worker & UINT32_MAX;
    uint64_t cached = flags & MST_PHP_CACHED ? 1 : flags & MST_PHP_UNCACHED ? 0 : MST_UNKNOWN;

    return put(a, INSERT_PHP_REQUEST, "iuuuuuuuususiiiuuui", server_id, key, wall_start_ns,
               r->id, r->wait_ns, r->run_ns, r->user_ns, r->system_ns, r->memory_bytes, label,
               status > 0 ? status : MST_UNKNOWN, r->script,
               (int64_t)((flags & MST_PHP_ABORTED) != 0), (int64_t)((flags & MST_PHP_FATAL) != 0),
               (int64_t)((flags & MST_PHP_TIMEOUT) != 0), cached, r->pid_worker >> 32,
               worker != UINT32_MAX ? worker : MST_UNKNOWN, (int64_t)ghost);
}

int mst_archive_add_mark(struct mst_archive *a, int64_t server_id, const struct mst_mark *mark,
                         uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key)
{
    return put(a, INSERT_MARK, "iuusuu", server_id, key, wall_ns, mark->name, mark->pid,
               request_wall_ns);
}

static const char *name_of(const char *const *names, uint64_t count, uint64_t index)
{
    return index < count ? names[index] : NULL;
}

int mst_archive_add_lifecycle(struct mst_archive *a, int64_t server_id,
                              const struct mst_lifecycle *event, uint64_t wall_ns, uint64_t key)
{
    uint64_t number = event->event_kind >> 32, kind = event->event_kind & UINT32_MAX;
    const char *name = name_of(mst_event_names, MST_EVENT_COUNT, number);
    bool exits = number == MST_EVENT_EXIT;

    return put(a, INSERT_LIFECYCLE, "iuussuuuuuuus", server_id, key, wall_ns,
               name != NULL ? name : "unknown",
               number == MST_EVENT_FORK || exits ? name_of(mst_kind_names, MST_KIND_COUNT, kind)
                                                 : NULL,
               event->pid_parent >> 32, event->pid_parent & UINT32_MAX,
               event->mpm_slot >= 0 ? (uint64_t)event->mpm_slot : MST_UNKNOWN, event->generation,
               event->duration_ns, exits ? event->requests : MST_UNKNOWN,
               exits ? event->unfinished : MST_UNKNOWN,
               exits ? name_of(mst_reason_names, MST_REASON_COUNT, event->reason) : NULL);
}

/* The sum of counters of which any may be unknown. */
static uint64_t sum(const uint64_t *words, size_t n)
{
    uint64_t total = 0;
    size_t i;

    for (i = 0; i < n; i++)
        if (words[i] == MST_UNKNOWN || __builtin_add_overflow(total, words[i], &total))
            return MST_UNKNOWN;
    return total;
}

/* Processes with workers: an Apache's children, a PHP's. */
static uint64_t workers_forked(const struct mst_sample *s)
{
    const uint64_t kinds[] = { s->forks[MST_KIND_CHILD], s->forks[MST_KIND_PHP] };

    return sum(kinds, sizeof kinds / sizeof *kinds);
}

int mst_archive_add_sample(struct mst_archive *a, int64_t server_id, const char *moment,
                           const struct mst_sample *s)
{
    return put(a, INSERT_SAMPLE, "iusuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu", server_id, s->wall_ns, moment,
               s->cost_ns, s->workers_limit, s->workers_busy, s->states[MST_STATE_IDLE],
               s->states[MST_STATE_READING], s->states[MST_STATE_HANDLING],
               s->states[MST_STATE_SENDING], s->states[MST_STATE_KEEPALIVE],
               s->states[MST_STATE_CLOSING], s->state_ns[MST_STATE_IDLE],
               s->state_ns[MST_STATE_READING], s->state_ns[MST_STATE_HANDLING],
               s->state_ns[MST_STATE_SENDING], s->state_ns[MST_STATE_KEEPALIVE],
               s->state_ns[MST_STATE_CLOSING], s->connections, s->in_flight, s->accepted, s->shed,
               s->requests, s->requests_status, s->bytes, workers_forked(s),
               sum(s->exits, MST_REASON_COUNT), s->forks_failed, s->no_idle_ns, s->generations,
               s->unfinished, s->listen_queue, s->listen_queue_limit);
}

int mst_archive_add_process(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                            uint64_t pid, uint64_t pss_bytes, uint64_t cost_ns)
{
    return put(a, INSERT_PROCESS, "iuuuu", server_id, wall_ns, pid, pss_bytes, cost_ns);
}

int mst_archive_add_memory(struct mst_archive *a, int64_t server_id, uint64_t wall_ns,
                           uint64_t began_ns, uint64_t processes, uint64_t pss_bytes,
                           uint64_t cost_ns, uint64_t rss_bytes)
{
    return put(a, INSERT_MEMORY, "iuuuuuu", server_id, wall_ns, began_ns, processes, pss_bytes,
               cost_ns, rss_bytes);
}

int mst_archive_add_machine(struct mst_archive *a, int64_t run_id, uint64_t wall_ns,
                            const char *moment, const struct mst_machine *m)
{
    return put(a, INSERT_MACHINE, "iusuuuuuuuuuuuuuu", run_id, wall_ns, moment, m->busy_ns,
               m->total_ns, m->listen_overflows, m->listen_drops, m->memory_stall_ns, m->oom_kills,
               m->runnable, m->blocked, m->cpu_stall_ns, m->context_switches, m->forks,
               m->tcp_segments, m->tcp_retransmits, m->syn_retransmits);
}

int mst_archive_add_program(struct mst_archive *a, int64_t run_id, const char *name,
                            uint64_t cpu_ns)
{
    return put(a, INSERT_PROGRAM, "isu", run_id, name, cpu_ns);
}

/* ---- the client's side ----------------------------------------------------------- */

int mst_archive_add_client_result(struct mst_archive *a, int64_t run_id,
                                  const struct mst_client_result *r, const struct mst_plan *plan)
{
    bool rows = plan->rows != MST_ROWS_NONE;

    return put(a, INSERT_RESULT, "iuuuiuuuuuuuuuuuuuuuuuuuu", run_id, r->requests,
               plan->requested, r->unfinished, (int64_t)plan->abandons, r->failed,
               r->failed_connect, r->failed_receive, r->failed_length, r->failed_other, r->non_2xx,
               r->concurrency, r->bytes, r->duration_ns, r->requests_per_1000s, r->mean_ns,
               r->p50_ns, r->p90_ns, r->p99_ns, r->max_ns,
               rows ? plan->row_start_step_ns : MST_UNKNOWN,
               rows ? plan->row_time_step_ns : MST_UNKNOWN, r->failed_timeout, r->time_step_ns,
               r->corrected);
}

int mst_archive_add_client_row(struct mst_archive *a, int64_t run_id,
                               const struct mst_client_row *row)
{
    return put(a, INSERT_ROW, "iuuuuuu", run_id, row->start_ns, row->duration_ns, row->connect_ns,
               row->wait_ns, row->status, row->client_id);
}

/* ---- the rest -------------------------------------------------------------------- */

int mst_archive_add_environment(struct mst_archive *a, int64_t run_id, const char *name,
                                const char *value)
{
    return put(a, INSERT_ENVIRONMENT, "iss", run_id, name, value);
}

int mst_archive_add_output(struct mst_archive *a, int64_t run_id, const char *stream,
                           uint64_t bytes, const void *content, size_t n)
{
    return put(a, INSERT_OUTPUT, "isub", run_id, stream, bytes, content, n);
}

int mst_archive_add_note(struct mst_archive *a, int64_t run_id, uint64_t wall_ns, const char *text)
{
    return put(a, INSERT_NOTE, "ius", run_id, wall_ns, text);
}

/* ---- the lab's studies ------------------------------------------------------------- */

int mst_archive_begin_study(struct mst_archive *a, const struct mst_archive_study *study,
                            int64_t *study_id)
{
    int status = put(a, INSERT_STUDY, "sssusssu", study->name, study->title, study->size,
                     study->seed, study->only, study->directory, study->text, study->started_ns);

    *study_id = sqlite3_last_insert_rowid(a->db);
    return status;
}

int mst_archive_add_study_file(struct mst_archive *a, int64_t study_id, const char *kind,
                               const char *name, const char *text)
{
    return put(a, INSERT_STUDY_FILE, "isss", study_id, kind, name, text);
}

int mst_archive_add_step(struct mst_archive *a, int64_t study_id,
                         const struct mst_archive_step *step)
{
    return put(a, INSERT_STEP, "iuuuusssss", study_id, step->ordinal, step->block,
               step->repetition, step->start, step->runs, step->stack, step->workload, step->load,
               step->parameters);
}

int mst_archive_begin_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                           uint64_t now_ns)
{
    return put(a, BEGIN_STEP, "iuu", study_id, ordinal, now_ns) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_end_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                         const struct mst_archive_step_end *end)
{
    if (put(a, END_STEP, "iususuuus", study_id, ordinal, end->state, end->run_id, end->failure,
            end->page_bytes, end->ended_ns, end->warmup_ns, end->load) != 0)
        return -1;
    return mst_archive_commit(a);
}

int mst_archive_end_study(struct mst_archive *a, int64_t study_id, uint64_t now_ns)
{
    return put(a, END_STUDY, "iu", study_id, now_ns) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_interrupt_study(struct mst_archive *a, int64_t study_id)
{
    return put(a, INTERRUPT_STUDY, "i", study_id) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_replan_steps(struct mst_archive *a, int64_t study_id, bool *any)
{
    if (put(a, REPLAN_STEPS, "i", study_id) != 0)
        return -1;
    *any = sqlite3_changes(a->db) > 0;
    return mst_archive_commit(a);
}

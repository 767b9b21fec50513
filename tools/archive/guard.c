/* guard.c - opens databases that somebody else may have made: see guard.h. */
#include "archive/guard.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "console/stop.h"

#define VFS_NAME "mpmstat"

/* What reading costs is counted in steps of SQLite's virtual machine; to fetch a page counts as
 * several, since a long value is many pages in one step. A report of a million requests, with
 * every chart, costs 2.2 a byte of its archive. File systems that compress tell fewer bytes. */
#define COST_PER_BYTE 64u
#define COST_AT_LEAST UINT64_C(20000000)
#define COST_PAGE     16u
#define COST_QUERY    2000u     /* to parse and plan it */
#define STEPS         10000     /* after which the cost is checked again */

/* Bytes of memory that SQLite may take: for all archives that are read, and for each. It takes a
 * whole row to compare its key, however long that is. */
#define HEAP_MAX      (INT64_C(64) << 20)
#define HEAP_EACH     (INT64_C(8) << 20)

/* Values of rows are kept in memory, some 70 bytes of each at most. A row and its entries in
 * indices take 25 bytes of a file, 75 as they are recorded; see above for files that compress. */
#define ROW_BYTES_MIN 8u
#define ROWS_AT_LEAST UINT64_C(100000)

/* Text is taken out into memory: commands, settings, notes. */
#define TEXT_PER_BYTE 8u
#define TEXT_AT_LEAST (UINT64_C(64) << 20)

/* ---- files ------------------------------------------------------------------------ */

static sqlite3_vfs *original;

/* A journal that was left behind may name a super-journal, as journals of transactions over
 * several databases do: SQLite opens that file and deletes it in the end. No archive has one.
 * SQLite would also block on a pipe in a journal's place. */
static int open_own(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    struct stat st;

    (void)vfs;
    file->pMethods = NULL;
    if (flags & SQLITE_OPEN_SUPER_JOURNAL)
        return SQLITE_CANTOPEN;
    if (name != NULL && lstat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return SQLITE_CANTOPEN;
    return original->xOpen(original, name, file, flags, out_flags);
}

/* The system's VFS with another function to open files. The system's functions work on the copy
 * as on the original: they read only members that are the same in both. */
static const char *vfs_name(void)
{
    static sqlite3_vfs vfs;

    if (original != NULL)
        return VFS_NAME;
    original = sqlite3_vfs_find(NULL);
    if (original == NULL)
        return NULL;
    vfs = *original;
    vfs.zName = VFS_NAME;
    vfs.pNext = NULL;
    vfs.xOpen = open_own;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK)
        original = NULL;
    return original != NULL ? VFS_NAME : NULL;
}

/* ---- connections ------------------------------------------------------------------- */

/* Of all threads: mpmstat serve has an archive for an explanation, and another for what it
 * exports. */
static struct mst_guard *guards;
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;

/* SQLite has one limit for the process. None holds while an archive is written: a batch can be
 * large. Precondition: the list is locked. */
static void limit_heap(void)
{
    const struct mst_guard *guard;
    int64_t most = HEAP_MAX;
    bool writes = false;

    for (guard = guards; guard != NULL; guard = guard->next) {
        writes = writes || !guard->reads;
        most += HEAP_EACH + guard->in_memory;
    }
    sqlite3_hard_heap_limit64(guards == NULL || writes ? 0 : most);
}

/* What SQLite recommends for files of unknown origin. */
static void protect(sqlite3 *db)
{
    static const int off[] = {
        SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_FKEY,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
    };
    static const struct { int limit, value; } limits[] = {
        { SQLITE_LIMIT_LENGTH, MST_GUARD_VALUE_MAX }, { SQLITE_LIMIT_SQL_LENGTH, 100000 },
        { SQLITE_LIMIT_COLUMN, 200 }, { SQLITE_LIMIT_EXPR_DEPTH, 50 },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };
    size_t i;

    for (i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db, off[i], 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].limit, limits[i].value);
    sqlite3_drop_modules(db, NULL);   /* no virtual table is of any use to us */
    sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
                 "PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL);
}

static int guarded(struct mst_guard *guard, int status)
{
    if (status != SQLITE_OK)
        return status;
    guard->cost_left = guard->text_left = guard->rows_max = UINT64_MAX;
    pthread_mutex_lock(&guards_lock);
    guard->next = guards;
    guards = guard;
    limit_heap();
    pthread_mutex_unlock(&guards_lock);
    protect(guard->db);
    return SQLITE_OK;
}

int mst_guard_open(struct mst_guard *guard, const char *path, int flags)
{
    const char *vfs;

    pthread_mutex_lock(&guards_lock);
    vfs = vfs_name();
    pthread_mutex_unlock(&guards_lock);
    *guard = (struct mst_guard){ 0 };
    return guarded(guard, vfs != NULL ? sqlite3_open_v2(path, &guard->db, flags, vfs)
                                      : SQLITE_NOMEM);
}

void mst_guard_close(struct mst_guard *guard)
{
    struct mst_guard **at;

    pthread_mutex_lock(&guards_lock);
    for (at = &guards; *at != NULL; at = &(*at)->next)
        if (*at == guard) {
            *at = guard->next;
            break;
        }
    limit_heap();
    pthread_mutex_unlock(&guards_lock);
    sqlite3_close(guard->db);
    guard->db = NULL;
}

int mst_guard_to_memory(struct mst_guard *guard, uint64_t bytes)
{
    sqlite3 *memory = NULL;
    sqlite3_backup *backup = NULL;
    int status = sqlite3_open(":memory:", &memory);

    pthread_mutex_lock(&guards_lock);
    guard->in_memory = (int64_t)(2 * bytes);   /* what makes it a later version takes as much */
    limit_heap();
    pthread_mutex_unlock(&guards_lock);
    if (status == SQLITE_OK)
        backup = sqlite3_backup_init(memory, "main", guard->db, "main");
    if (backup != NULL) {
        sqlite3_backup_step(backup, -1);
        status = sqlite3_backup_finish(backup);
    } else if (status == SQLITE_OK) {
        status = sqlite3_errcode(memory);
    }
    if (status != SQLITE_OK) {
        sqlite3_close(memory);
        return status;
    }
    sqlite3_close(guard->db);
    guard->db = memory;
    protect(memory);
    return SQLITE_OK;
}

/* The list is short: one for each open archive. */
struct mst_guard *mst_guard_of(sqlite3 *db)
{
    struct mst_guard *guard;

    pthread_mutex_lock(&guards_lock);
    for (guard = guards; guard != NULL && guard->db != db; guard = guard->next)
        continue;
    pthread_mutex_unlock(&guards_lock);
    return guard;
}

/* ---- what reading costs ------------------------------------------------------------- */

static uint64_t pages_fetched(sqlite3 *db)
{
    int hits = 0, misses = 0, most;

    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &most, 1);
    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &most, 1);
    return (uint64_t)hits + (uint64_t)misses;
}

static bool costs(struct mst_guard *guard, uint64_t cost)
{
    if (guard->reads)
        guard->cost_left = guard->cost_left > cost ? guard->cost_left - cost : 0;
    return guard->cost_left == 0;
}

/* SQLite calls this every STEPS steps; true interrupts the statement. */
static int is_too_much(void *context)
{
    struct mst_guard *guard = context;

    return costs(guard, STEPS + COST_PAGE * pages_fetched(guard->db)) || mst_stop_asked();
}

int mst_guard_ask(struct mst_guard *guard)
{
    return costs(guard, COST_QUERY) ? SQLITE_INTERRUPT : SQLITE_OK;
}

void mst_guard_limit_reading(struct mst_guard *guard, uint64_t bytes)
{
    pthread_mutex_lock(&guards_lock);
    guard->reads = true;
    limit_heap();
    pthread_mutex_unlock(&guards_lock);
    guard->cost_left = COST_AT_LEAST + COST_PER_BYTE * bytes;
    guard->text_left = TEXT_AT_LEAST + TEXT_PER_BYTE * bytes;
    guard->rows_max = ROWS_AT_LEAST + bytes / ROW_BYTES_MIN;
    sqlite3_progress_handler(guard->db, STEPS, is_too_much, guard);
}

bool mst_guard_take_text(struct mst_guard *guard, uint64_t bytes)
{
    if (guard->text_left >= bytes) {
        guard->text_left -= bytes;
        return true;
    }
    guard->text_left = 0;
    mst_guard_complain(guard, "its texts are longer together than those of an archive of its size "
                       "can be: " MST_GUARD_ODD);
    return false;
}

void mst_guard_complain(struct mst_guard *guard, const char *problem)
{
    if (guard->problem[0] == '\0')
        snprintf(guard->problem, sizeof guard->problem, "%s", problem);
}

void mst_guard_note(struct mst_guard *guard, int status)
{
    char longer[128];

    snprintf(longer, sizeof longer, "a value in it is longer than %d MB, which mpmstat never "
             "writes: " MST_GUARD_ODD, MST_GUARD_VALUE_MAX >> 20);
    if (status == SQLITE_INTERRUPT && guard->cost_left == 0)
        mst_guard_complain(guard, "to read it takes far more work than an archive of its size "
                           "needs: " MST_GUARD_ODD);
    else if (status == SQLITE_TOOBIG)
        mst_guard_complain(guard, longer);
    else if (status == SQLITE_NOMEM)
        mst_guard_complain(guard, "to read it takes more memory than there is, or than an archive "
                           "needs: " MST_GUARD_ODD);
    else
        mst_guard_complain(guard, sqlite3_errmsg(guard->db));
}

/* ---- what statements may do ------------------------------------------------------- */

static int authorize_reading(void *context, int action, const char *first, const char *second,
                             const char *database, const char *inner)
{
    (void)context, (void)first, (void)second, (void)database, (void)inner;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
           action == SQLITE_TRANSACTION ? SQLITE_OK : SQLITE_DENY;
}

void mst_guard_lock(struct mst_guard *guard)
{
    sqlite3_set_authorizer(guard->db, authorize_reading, NULL);
}

void mst_guard_unlock(struct mst_guard *guard)
{
    sqlite3_set_authorizer(guard->db, NULL, NULL);
}

/* ---- tables ------------------------------------------------------------------------ */

/* False for a view. A virtual table counts as a table but has no columns: its module is gone. */
static bool is_table(sqlite3 *db, const char *name)
{
    return sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static sqlite3_stmt *columns_of(sqlite3 *db, const char *table)
{
    sqlite3_stmt *columns = NULL;
    char pragma[128];

    snprintf(pragma, sizeof pragma, "PRAGMA main.table_xinfo(%s)", table);
    sqlite3_prepare_v2(db, pragma, -1, &columns, NULL);
    return columns;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text != NULL ? text : "";
}

/* Columns of what table_xinfo returns. A hidden column is a computed one. */
enum { COLUMN_NAME = 1, COLUMN_TYPE, COLUMN_DEFAULT = 4, COLUMN_KEY, COLUMN_HIDDEN };

static bool is_same_column(sqlite3_stmt *found, sqlite3_stmt *expected)
{
    return strcmp(text_of(found, COLUMN_NAME), text_of(expected, COLUMN_NAME)) == 0 &&
           strcmp(text_of(found, COLUMN_TYPE), text_of(expected, COLUMN_TYPE)) == 0 &&
           strcmp(text_of(found, COLUMN_DEFAULT), text_of(expected, COLUMN_DEFAULT)) == 0 &&
           sqlite3_column_int(found, COLUMN_KEY) == sqlite3_column_int(expected, COLUMN_KEY) &&
           sqlite3_column_int(found, COLUMN_HIDDEN) == 0;
}

/* Users may add columns behind ours; they are never read. */
static bool has_columns(sqlite3 *db, sqlite3 *like, const char *table,
                        char problem[MST_ERROR_MAX])
{
    sqlite3_stmt *found = columns_of(db, table), *expected = columns_of(like, table);
    bool same = found != NULL && expected != NULL;

    problem[0] = '\0';
    while (same && sqlite3_step(expected) == SQLITE_ROW) {
        same = sqlite3_step(found) == SQLITE_ROW && is_same_column(found, expected);
        if (!same)
            snprintf(problem, MST_ERROR_MAX, "has no plain column %s %s in its table %s where it "
                     "should be", text_of(expected, COLUMN_NAME), text_of(expected, COLUMN_TYPE),
                     table);
    }
    if (!same && problem[0] == '\0')
        snprintf(problem, MST_ERROR_MAX, "has a table %s whose columns cannot be read", table);
    sqlite3_finalize(found);
    sqlite3_finalize(expected);
    return same;
}

static bool has_name(sqlite3 *db, const char *name)
{
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(db, "SELECT 1 FROM main.sqlite_master WHERE lower(name) = ?1",
                                  -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;

    sqlite3_finalize(statement);
    return has;
}

static bool check_table(sqlite3 *db, sqlite3 *like, const char *table, bool all,
                        char problem[MST_ERROR_MAX])
{
    if (!is_table(db, table) && (all || has_name(db, table))) {
        snprintf(problem, MST_ERROR_MAX, "has %s %s where it should have a table",
                 has_name(db, table) ? "something else called" : "no", table);
        return false;
    }
    return !all || has_columns(db, like, table, problem);
}

bool mst_guard_check(struct mst_guard *guard, const char *schema, bool all,
                     char problem[MST_ERROR_MAX])
{
    sqlite3 *like = NULL;
    sqlite3_stmt *tables = NULL;
    bool fine = sqlite3_open(":memory:", &like) == SQLITE_OK &&
                sqlite3_exec(like, schema, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(like, "SELECT name FROM sqlite_master WHERE type = 'table'", -1,
                                   &tables, NULL) == SQLITE_OK;

    if (!fine)
        snprintf(problem, MST_ERROR_MAX, "cannot be checked: %s", sqlite3_errmsg(like));
    while (fine && sqlite3_step(tables) == SQLITE_ROW)
        fine = check_table(guard->db, like, text_of(tables, 0), all, problem);
    sqlite3_finalize(tables);
    sqlite3_close(like);
    return fine;
}

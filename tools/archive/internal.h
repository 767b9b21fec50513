/* internal.h - what the files of an archive share. A file calls only those above it:
 *
 *   archive.c     the handle, its errors, closing
 *   schema.c      which version a file is of, and making it one of the present
 *   batch.c       transactions; waiting for other programs
 *   wal.c         the write-ahead log
 *   statements.c  prepared statements, and values for them
 *   weights.c     what readers see of a thinned archive
 *   rows.c        what a recording writes
 *   rows_server.c what it writes of its servers
 *   rows_study.c  what the lab writes
 *   reader.c, writer.c   opening
 *   copier.c      rows of one archive for another
 *   slice.c       makes an archive of a time
 *   thin_choose.c, thin.c   makes a thinned copy
 */
#ifndef MPMSTAT_ARCHIVE_INTERNAL_H
#define MPMSTAT_ARCHIVE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "archive/archive.h"
#include "archive/guard.h"
#include "archive/writer.h"
#include "base/clock.h"

#define MST_STATEMENT_COUNT   48
#define MST_STATEMENT_VALUES  64     /* columns of the widest table, and some */

struct mst_statement {
    sqlite3_stmt *prepared;
    signed char   column[MST_STATEMENT_VALUES];   /* of the table, for each parameter from 1 on */
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
    mst_archive_tell *tell;                    /* can be NULL */
    void        (*end)(struct mst_archive *a);   /* ends what opening it began */
    struct mst_statement statements[MST_STATEMENT_COUNT];
};

static inline uint64_t mst_or_unknown(bool known, uint64_t value)
{
    return known ? value : MST_UNKNOWN;
}

/* ---- archive.c --------------------------------------------------------------------- */

/* Opens the file, unexamined. NULL with a sentence. */
struct mst_archive *mst_archive_open_file(const char *path, int flags, char error[MST_ERROR_MAX]);
/* Connects to `name`, a file's or a URI. SQLite's status. */
int mst_archive_connect(struct mst_archive *a, const char *name, int flags);
/* Closes what could not be opened to its end, and moves the sentence to `error`. */
void mst_archive_discard(struct mst_archive *a, char error[MST_ERROR_MAX]);

/* The reason of the last call's failure, for people. */
const char *mst_archive_reason(sqlite3 *db);
/* Keeps that as the error, unless there is one. -1. */
int mst_archive_fail(struct mst_archive *a);
/* Runs SQL without results. 0, or -1: the error is kept. */
int mst_archive_execute(struct mst_archive *a, const char *sql);

/* ---- schema.c ---------------------------------------------------------------------- */

/* The file's version; 0: an empty database; -1: not an archive, the error is kept. */
int mst_archive_examine(struct mst_archive *a);
/* Whether it has the tables, as such; with `all` each of them with its columns: see guard.h. */
int mst_archive_check(struct mst_archive *a, bool all);
/* Makes of an archive of `version` (0: an empty database) one of the present. */
int mst_archive_upgrade(struct mst_archive *a, int version);

/* ---- weights.c --------------------------------------------------------------------- */

/* Where the archive is thinned, queries find each row, from now on, as often as it stands for.
 * *times: how often that is on average; 1 where the archive is whole. 0, or -1: the error is
 * kept. */
int mst_archive_repeat_rows(struct mst_archive *a, uint64_t *times);

/* A thinned archive knows of each request in which minute it ended, and no more. */
#define MST_MINUTE_NS (60 * MST_NS_PER_S)

/* ---- batch.c ----------------------------------------------------------------------- */

#define MST_ARCHIVE_BUSY_MS 3000   /* that SQLite waits for another program that writes */

struct mst_patience { uint64_t began_ns; bool told; };
/* Other programs keep the archive from being written: waits a little. 0; -1: it took too long. */
int mst_archive_wait(struct mst_archive *a, struct mst_patience *p);
int mst_archive_begin_batch(struct mst_archive *a);

/* ---- wal.c ------------------------------------------------------------------------- */

bool mst_wal_is_on(struct mst_archive *a);
int  mst_wal_begin(struct mst_archive *a);
/* Puts all of the log into the file, and both on the disk. false: some had to stay in the log. */
bool mst_wal_empty(struct mst_archive *a);
/* Makes it one file again, unless another program has it open. */
void mst_wal_end(struct mst_archive *a);

/* ---- statements.c ------------------------------------------------------------------ */

/* A value for a column. NUMBER: MST_UNKNOWN, and what no honest server counts to, is NULL; TEXT:
 * NULL and "" are NULL. What is not given at all may only be the rest of a row that is updated
 * later. */
struct mst_value {
    enum { MST_VALUE_NOT_GIVEN, MST_VALUE_NUMBER, MST_VALUE_SIGNED, MST_VALUE_TEXT,
           MST_VALUE_BYTES } kind;
    uint64_t    number;
    const void *bytes;
    size_t      size;
};
#define NUMBER(value)        { .kind = MST_VALUE_NUMBER, .number = (uint64_t)(value) }
#define SIGNED(value)        { .kind = MST_VALUE_SIGNED, .number = (uint64_t)(value) }
#define TEXT(value)          { .kind = MST_VALUE_TEXT, .bytes = (value) }
#define BYTES(content, n)    { .kind = MST_VALUE_BYTES, .bytes = (content), .size = (n) }

/* Prepares all statements, so that what keeps one of them from being executed is known before
 * the load begins. */
int  mst_archive_prepare(struct mst_archive *a);
void mst_archive_finalize(struct mst_archive *a);

/* Executes a statement with the row's values, within a batch. `which` is a table, into which
 * the row is inserted (columns.inc has a function for each), or one of these, which take the
 * columns that their SQL names. */
int mst_archive_put(struct mst_archive *a, int which, const struct mst_value *row);

/* ---- copier.c ---------------------------------------------------------------------- */

/* Which rows of a table are copied, and as what. */
struct mst_copied_rows {
    const char *table, *rows;      /* rows: a condition */
    const char *new_id;            /* the column whose value becomes the parameter :new_id, in rows
                                    * that get keys of their own; NULL: they keep theirs */
    const char *ghost;             /* SQL, instead of the column; NULL: as it is */
};
/* Copies them: all columns that mpmstat writes, without those that users have added. */
struct mst_copier {
    char         *select;          /* SQL: asks the one archive for the rows */
    sqlite3_stmt *insert;          /* into the other */
};

/* False: SQLite failed, or memory ran out. End it in either case. */
bool mst_copier_begin(struct mst_copier *c, sqlite3 *to, const struct mst_copied_rows *what);
/* Copies the present row of `select`. weight 0: the row's own. False: SQLite failed. */
bool mst_copier_row(const struct mst_copier *c, sqlite3_stmt *row, uint64_t weight);
void mst_copier_end(struct mst_copier *c);

#include "tools/archive/columns.inc"

enum {
    START_RUN = TABLE_COUNT, END_RUN, SET_TOOL, CLEAR_FINDINGS, CLEAR_PREDICTION,
    CLEAR_PREDICTED_SETTINGS, END_SERVER, DELIVERED, NAME_SERVER, CLOCK_SERVER, CONFIG_SERVER,
    END_STUDY, INTERRUPT_STUDY, BEGIN_STEP, END_STEP, REPLAN_STEPS, STATEMENT_COUNT
};
_Static_assert(STATEMENT_COUNT == MST_STATEMENT_COUNT, "room for each");

#endif

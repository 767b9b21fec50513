/* guard.h - what an archive may do to the program that opens it.
 *
 * An archive may come from a stranger. Its schema may have a view, a trigger or a virtual table
 * under a table's name; its values may have any type and length; its pages may form circles; the
 * journal next to it may name any file of the system, which SQLite would delete. So every archive
 * is opened through this guard. A guarded connection opens and deletes no file but the archive's
 * own, executes nothing from the archive's schema, and accepts no value longer than mpmstat
 * writes. If it only reads, it stops when reading costs more, or finds more rows, than an archive
 * of that size can need, and when the user interrupts it.
 */
#ifndef MPMSTAT_GUARD_H
#define MPMSTAT_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The longest value and the longest row. The longest that is written is a load tool's output
 * of MST_ARCHIVE_OUTPUT bytes. */
#define MST_GUARD_VALUE_MAX (8 << 20)

struct mst_guard {
    sqlite3  *db;
    bool      reads;           /* the connection only reads */
    uint64_t  cost_left;       /* see guard.c */
    uint64_t  text_left;       /* bytes of text that may still be taken out */
    uint64_t  rows_max;        /* that one query may find: most are kept in memory */
    int64_t   in_memory;       /* bytes, of a copy in memory */
    char      problem[256];    /* why reading failed first; "" it did not */
    struct mst_guard *next;
};

/* sqlite3_open_v2() with a guard. The connection is guard->db, even after a failure. Call
 * mst_guard_close() in every case. */
int mst_guard_open(struct mst_guard *guard, const char *path, int flags);
void mst_guard_close(struct mst_guard *guard);

/* Replaces the connection by one to a copy in memory, of that many bytes. Returns SQLite's
 * status. */
int mst_guard_to_memory(struct mst_guard *guard, uint64_t bytes);

/* From now on the connection only reads, within the limits for an archive of that many bytes. */
void mst_guard_limit_reading(struct mst_guard *guard, uint64_t bytes);
/* Until it is unlocked, only statements that read tables can be prepared. */
void mst_guard_lock(struct mst_guard *guard);
void mst_guard_unlock(struct mst_guard *guard);

/* Whether each table of `schema` (SQL) that is in the database, or, where `all` is true, each
 * table of it, is an ordinary table there; with `all` also whether it has those columns, and
 * none that is computed. false with a sentence's end: "has ...". */
bool mst_guard_check(struct mst_guard *guard, const char *schema, bool all,
                     char problem[MST_ERROR_MAX]);

/* The guard of that connection; NULL: it has none. */
struct mst_guard *mst_guard_of(sqlite3 *db);
/* Counts a query. Returns SQLITE_OK, or SQLITE_INTERRUPT if it was one too many. */
int mst_guard_ask(struct mst_guard *guard);
/* Counts text that is copied from the archive. false, and a problem, if it is too much. */
bool mst_guard_take_text(struct mst_guard *guard, uint64_t bytes);
/* Keeps a problem, or the reason of SQLite's `status` as one. The first stays. */
void mst_guard_complain(struct mst_guard *guard, const char *problem);
void mst_guard_note(struct mst_guard *guard, int status);

/* How such sentences end. */
#define MST_GUARD_ODD "it is damaged, or no mpmstat made it"

#endif

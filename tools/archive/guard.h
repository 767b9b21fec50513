/* guard.h - what an archive may do to the program that opens it.
 *
 * An archive is a file, and a file may come from anybody: its schema may have a view, a trigger
 * or a virtual table under a table's name, its values may be of any type and length, its pages
 * may lead in circles, and the journal next to it may name any file of the system, which
 * SQLite would delete. Every archive is opened through here. A guarded connection opens and
 * deletes no file but the archive's own, runs nothing of the archive's schema, accepts no value
 * that is longer than any that mpmstat writes, and, where it only reads, ends when its reading
 * costs more than an archive of that size can need, or when the user asks for it.
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

/* sqlite3_open_v2() with a guard. The connection is guard->db, also where it failed. Needs
 * mst_guard_close() in any case. */
int mst_guard_open(struct mst_guard *guard, const char *path, int flags);
void mst_guard_close(struct mst_guard *guard);

/* Goes on with a copy in memory, of so many bytes. SQLite's status. */
int mst_guard_to_memory(struct mst_guard *guard, uint64_t bytes);

/* From here on the connection reads, and may cost what an archive of that many bytes can
 * cost. */
void mst_guard_limit_reading(struct mst_guard *guard, uint64_t bytes);
/* From here on only statements can be prepared that read tables; until it is unlocked. */
void mst_guard_lock(struct mst_guard *guard);
void mst_guard_unlock(struct mst_guard *guard);

/* Whether each table of `schema` (SQL) that is in the database, or, where `all` is true, each
 * table of it, is an ordinary table there; with `all` also whether it has those columns, and
 * none that is computed. false with a sentence's end: "has ...". */
bool mst_guard_check(struct mst_guard *guard, const char *schema, bool all,
                     char problem[MST_ERROR_MAX]);

/* The guard of that connection; NULL: it has none. */
struct mst_guard *mst_guard_of(sqlite3 *db);
/* Counts a query. SQLite's status: it was one too many. */
int mst_guard_ask(struct mst_guard *guard);
/* Counts text that is taken out of the archive. false: it was too much, which is a problem. */
bool mst_guard_take_text(struct mst_guard *guard, uint64_t bytes);
/* Keeps that as the problem, or the reason of SQLite's `status`, unless there is one. */
void mst_guard_complain(struct mst_guard *guard, const char *problem);
void mst_guard_note(struct mst_guard *guard, int status);

/* How such sentences end. */
#define MST_GUARD_ODD "it is damaged, or no mpmstat made it"

#endif

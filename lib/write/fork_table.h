/* fork_table.h - processes that were forked and are not children of the MPM: helpers, and
 * processes for one request. An entry stays until a process has reported the end.
 *
 * Written by: the forked process; the process that takes its entry to report its end.
 * Read by:    the processes of the same server.
 */
#ifndef MPMSTAT_FORK_TABLE_H
#define MPMSTAT_FORK_TABLE_H

#include "write/board.h"

/* Adds an entry. NULL: there is no room, or the board has no such table. */
struct mst_fork *mst_fork_add(struct mst_board *b, const struct mst_fork *fork);

/* The index from which on all entries are free. */
uint32_t mst_fork_end(const struct mst_board *b);

/* The pid of an entry; 0: it is free, or a process is writing it. */
uint64_t mst_fork_pid(const struct mst_fork *fork);

/* Takes the entry of `pid` for this process alone. False: another process has taken it, or it is
 * another's entry by now. */
bool mst_fork_take(struct mst_fork *fork, uint64_t pid);

/* Frees an entry that this process has taken. */
void mst_fork_free(struct mst_fork *fork);

/* Frees the entry of `pid`, if there is one. */
void mst_fork_forget(struct mst_board *b, uint64_t pid);

/* Frees entries whose writer was killed midway. */
void mst_fork_reclaim(struct mst_board *b);

#endif

/* forks.h - processes that were forked and are no children of the MPM: helpers, and
 * those for one request. Kept until somebody tells of their end.
 *
 * Written by: the forked process; whoever takes its entry to tell of its end.
 * Read by:    the processes of the same server.
 */
#ifndef MPMSTAT_FORKS_H
#define MPMSTAT_FORKS_H

#include "write/board.h"

/* Adds one. NULL: no room, or a board without. */
struct mst_fork *mst_fork_add(struct mst_board *b, const struct mst_fork *fork);

/* How many entries there are to look at: those from here on are free. */
uint32_t mst_fork_end(const struct mst_board *b);

/* The pid of an entry; 0: free, or somebody is at it. */
uint64_t mst_fork_pid(const struct mst_fork *fork);

/* Takes the entry of `pid` from everybody else. False: another has, or it is not there. */
bool mst_fork_take(struct mst_fork *fork, uint64_t pid);

/* Frees an entry that was taken. */
void mst_fork_free(struct mst_fork *fork);

/* Frees the entry of `pid` where there is one: it is followed otherwise. */
void mst_fork_forget(struct mst_board *b, uint64_t pid);

/* Frees entries that somebody was at when he was killed. */
void mst_fork_mend(struct mst_board *b);

#endif

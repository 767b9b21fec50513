/* liveness.h - whether the processes that a board names are alive, as far as /proc tells.
 *
 * Used by: readers, for "running"; writers, before they take over or replace a board. The
 * answers are 1 yes, 0 no, -1 unknown.
 */
#ifndef MPMSTAT_LIVENESS_H
#define MPMSTAT_LIVENESS_H

#include "segment/reader.h"

/* Whether the server's parent is alive. Unknown in another pid or time namespace. Of a board
 * whose processes have no parent in common (see mst_header.pid): 1 in the same boot. */
int mst_header_running(const struct mst_header *header);

/* Whether the processes of a board have no parent in common: php-cgi's of one user. */
bool mst_header_has_no_parent(const struct mst_header *header);

/* The same as mst_header_running() of an open board. Unknown, too, where the parent is a process
 * of another user than the file: the file's owner can write any pid into it. */
int mst_reader_running(const struct mst_reader *r);

/* Whether a process holds the entry, alive or not. */
bool mst_entry_is_claimed(const struct mst_process *p);

/* Whether the process that holds a claimed entry of the board is alive. */
int mst_entry_running(const struct mst_reader *r, const struct mst_process *p);

/* How many processes that hold entries can be alive; those that can be read. */
uint32_t mst_reader_processes_alive(const struct mst_reader *r);

/* The same as mst_header_running(); of a board whose processes have no parent in common:
 * whether any of them can be alive. Reads their entries; 0 where it cannot. */
int mst_reader_alive(const struct mst_reader *r);

#endif

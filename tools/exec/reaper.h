/* reaper.h - what processes that keep others have in common: signals as they were, and an
 * end to whatever became theirs.
 */
#ifndef MPMSTAT_REAPER_H
#define MPMSTAT_REAPER_H

/* In a new process, before it becomes another program: every signal as by default, none
 * blocked. */
void mst_reset_signals(void);

/* In a process that is its descendants' reaper (PR_SET_CHILD_SUBREAPER): kills its
 * children, and what becomes its child thereby, until nothing is left. */
void mst_kill_children(void);

#endif

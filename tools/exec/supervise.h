/* supervise.h - what the processes have in common that stand between mpmstat and what it
 * starts: one for a load tool (runner.h), one for the lab's servers.
 *
 * A supervisor takes orders through a pipe or socket alone, outlives neither mpmstat nor its
 * children, and is the reaper of all its descendants, so that nothing escapes by becoming
 * init's child.
 */
#ifndef MPMSTAT_SUPERVISE_H
#define MPMSTAT_SUPERVISE_H

/* Makes this new process one: a session of its own, this name (as ps shows it), no signals that
 * ask for an end, the reaper of its descendants. 0, or -1 with errno. */
int mst_supervise(const char *name);

/* Kills its children, and what becomes its child thereby, until nothing is left. */
void mst_kill_children(void);

/* Lets this process, and what it starts, have so many files open, or as many as it may. */
void mst_raise_open_files(unsigned count);

#endif

/* sandbox.h - ROOT, the private directory of a running stack: made, locked, removed; and what
 * killed processes have left of it.
 *
 * Its lab.lock is locked (flock) for as long as the runner or the supervisor lives, and names
 * every process by pid and start time. A directory whose lock is free is a leftover: the next start
 * ends the processes that verifiably belong to it, and removes it. A process belongs to it if
 * lab.lock names it, if its environment has MPMSTAT_LAB=ROOT, or if it is in the supervisor's
 * session and has a file below ROOT open.
 */
#ifndef MPMSTAT_LAB_SANDBOX_H
#define MPMSTAT_LAB_SANDBOX_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define MST_SANDBOX_VARIABLE "MPMSTAT_LAB"   /* in the environment of what runs there: ROOT */

struct mst_sandbox {
    char path[PATH_MAX];
    int  fd;               /* of the directory */
    int  lock;             /* of lab.lock */
};

/* Where one would be made: a template for mkdtemp(). 0, or -1 with a sentence. */
int mst_sandbox_template(char path[PATH_MAX], char error[MST_ERROR_MAX]);
/* Makes one, and names this process as its runner. 0, or -1 with a sentence. */
int mst_sandbox_make(struct mst_sandbox *root, char error[MST_ERROR_MAX]);
/* Notes a process in lab.lock; role: "keeper", "server". */
int mst_sandbox_note(const struct mst_sandbox *root, const char *role, pid_t pid);
/* Closes its descriptors, and with the last process to do so the lock is free. */
void mst_sandbox_close(struct mst_sandbox *root);

/* Removes the directory and all below it, following no links out of it. 0, or -1 with a
 * sentence. */
int mst_sandbox_remove(const char *path, char error[MST_ERROR_MAX]);

/* Ends what runs there without a supervisor, tears down, and removes it. The caller has its
 * lock. 0, or -1 with a sentence. */
int mst_sandbox_clean(const char *path, char error[MST_ERROR_MAX]);
/* The same of every directory of this user whose lock is free; says so on stderr. */
void mst_sandbox_clean_leftovers(void);

#endif

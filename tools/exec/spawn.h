/* spawn.h - starts a program: the one place where mpmstat forks and executes. */
#ifndef MPMSTAT_SPAWN_H
#define MPMSTAT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#define MST_DEV_NULL (-2)      /* in place of a descriptor */

/* How a program is started. */
struct mst_spawn {
    char *const *argv;         /* argv[0] without a slash is searched in the program's PATH */
    char *const *environment;  /* "NAME=VALUE", NULL at its end; NULL: this process's */
    const char  *directory;    /* it begins there; NULL: where this process is */
    int          in, out, err; /* its standard streams */
    int          inherited;    /* stays open in it under the same number; -1: none */
    bool         group;        /* it leads a process group of its own */
    int          orphan_signal;   /* the kernel sends it when this process ends; 0: none */
};

/* Starts it with every signal at its default and none blocked. Returns its pid when it has
 * become the program; -1 with errno: it could not, and no process is left. */
pid_t mst_spawn(const struct mst_spawn *spawn);

/* Waits until the child ends, at most so long. Returns whether it has ended; the caller reaps
 * it. */
bool mst_spawn_wait(pid_t pid, int timeout_ms);

/* This process's environment with these variables ("NAME=VALUE", NULL at their end) in place of
 * those of the same names. Free it with mst_strings_free_items(). NULL: out of memory. */
char **mst_environment_with(char *const *variables);

/* Whether mst_spawn() would find an executable file of this name. */
bool mst_spawn_finds(const char *command);

#endif

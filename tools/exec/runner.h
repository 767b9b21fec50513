/* runner.h - runs one command under a keeper, so that nothing of it can be left over.
 *
 * The command runs in a session of its own, out of reach of the terminal's ^C:
 * what happens at a ^C is the caller's decision. Between the caller and the
 * command stands a keeper process that does nothing but wait: it ends the
 * command, and everything the command started, when told to, when the command
 * itself has ended, and when the caller is gone (kill -9). The caller ignores
 * SIGPIPE: the keeper may be gone when it is told something.
 */
#ifndef MPMSTAT_RUNNER_H
#define MPMSTAT_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define MST_RUNNER_GRACE_NS UINT64_C(3000000000)   /* between the asking and the killing */

#define MST_RUNNER_KEEPER "mpmstat-keeper"   /* the keeper's name, as ps shows it */

struct mst_runner;

struct mst_run_end {
    uint64_t exit_status, exit_signal;     /* MST_UNKNOWN: not so */
    uint64_t cpu_ns;                       /* user and system, with what it waited for */
    uint64_t started_wall_ns, ended_wall_ns;
    uint64_t duration_ns;
};

/* Whether execvp() would find an executable file of this name. */
bool mst_runner_finds(const char *command);

/* Starts argv (execvp). Its stdout and stderr go to these descriptors;
 * inherited_fd (-1: none) stays open in it under the same number. NULL with a
 * sentence: the command could not be executed. */
struct mst_runner *mst_runner_start(char *const *argv, int stdout_fd, int stderr_fd,
                                    int inherited_fd, char error[MST_ERROR_MAX]);

uint64_t mst_runner_started(const struct mst_runner *runner);   /* since 1970, as in the end */

/* A descriptor that becomes readable when the command has ended, for poll(). */
int mst_runner_fd(const struct mst_runner *runner);

/* 1: it has ended, *end is filled; 0: it still runs; -1 with a sentence: the
 * keeper was killed, and with it the command. Does not wait. */
int mst_runner_ended(struct mst_runner *runner, struct mst_run_end *end,
                     char error[MST_ERROR_MAX]);

/* Asks the command to end with this signal; MST_RUNNER_GRACE_NS later it is
 * killed. Again: killed now. Does not wait. */
void mst_runner_stop(struct mst_runner *runner, int signal);

/* Kills what still runs, waits for that, frees. NULL is fine. */
void mst_runner_close(struct mst_runner *runner);

#endif

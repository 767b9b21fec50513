/* runner.h - runs one command under a supervisor, so that nothing of it can be left over.
 *
 * The command runs in a session of its own, out of reach of the terminal's ^C:
 * what happens at a ^C is the caller's decision. Between the caller and the
 * command stands a supervisor process that does nothing but wait: it ends the
 * command, and everything the command started, when told to, when the command
 * itself has ended, and when the caller is gone (kill -9). The caller ignores
 * SIGPIPE: the supervisor can be gone when it is told something.
 */
#ifndef MPMSTAT_RUNNER_H
#define MPMSTAT_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/spawn.h"

#define MST_RUNNER_GRACE_NS UINT64_C(3000000000)   /* between the asking and the killing */

#define MST_RUNNER_SUPERVISOR "mpmstat-keeper"   /* the supervisor's name, as ps shows it */

struct mst_runner;

struct mst_run_end {
    uint64_t exit_status, exit_signal;     /* one of them is MST_UNKNOWN */
    uint64_t cpu_ns;                       /* user and system, with its children's it waited for */
    uint64_t started_wall_ns, ended_wall_ns;
    uint64_t duration_ns;
};

/* Starts it; in a process group of its own whatever the options say. NULL with a sentence: the
 * command could not be executed. */
struct mst_runner *mst_runner_start(const struct mst_spawn *spawn, char error[MST_ERROR_MAX]);

uint64_t mst_runner_started(const struct mst_runner *runner);   /* since 1970, as in the end */

/* The supervisor's process id: until mst_runner_close() everything that the command started is
 * below it. */
uint64_t mst_runner_pid(const struct mst_runner *runner);

/* A descriptor that becomes readable when the command has ended, for poll(). */
int mst_runner_fd(const struct mst_runner *runner);

/* 1: it has ended, *end is filled; 0: it still runs; -1 with a sentence: the
 * supervisor was killed, and with it the command. Does not wait. */
int mst_runner_ended(struct mst_runner *runner, struct mst_run_end *end,
                     char error[MST_ERROR_MAX]);

/* Asks the command to end with this signal; MST_RUNNER_GRACE_NS later it is
 * killed. Again: killed now. Does not wait. */
void mst_runner_stop(struct mst_runner *runner, int signal);

/* Kills what still runs, waits for that, frees. NULL is fine. */
void mst_runner_close(struct mst_runner *runner);

#endif

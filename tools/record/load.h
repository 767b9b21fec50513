/* load.h - the load tool's part in a recording: its command, its output, its rows. */
#ifndef MPMSTAT_LOAD_H
#define MPMSTAT_LOAD_H

#include "archive/writer.h"
#include "exec/runner.h"
#include "loadtools/loadtool.h"

struct mst_load {
    const struct mst_loadtool *tool;      /* the adapter; NULL: no command */
    struct mst_plan plan;
    char *const    *environment;          /* of what is started for it; NULL: mpmstat's own */
    int             out_fd, err_fd;       /* where its stdout and stderr go */
    int             rows_fd;              /* where its rows may go */
    uint64_t        out_shown, err_shown; /* bytes that mst_load_follow has shown */
    bool            has_result;           /* mst_load_collect found out what it did */
};

/* Initializes a load without a command. */
void mst_load_init(struct mst_load *load);
void mst_load_close(struct mst_load *load);

/* Finds the adapter and lets it prepare the command. 0, or -1 with a sentence. */
int mst_load_prepare(struct mst_load *load, char *const *command, bool add_flags,
                     char error[MST_ERROR_MAX]);

/* Starts the prepared command. NULL with a sentence. */
struct mst_runner *mst_load_start(const struct mst_load *load, char error[MST_ERROR_MAX]);

/* The command's name, without its directory. */
const char *mst_load_name(const struct mst_load *load);

/* Whether the exit status means that the load was completed; some tools have a second one, for
 * a complete run with failures. */
bool mst_load_succeeded(const struct mst_load *load, uint64_t exit_status);

/* Shows on stderr what it has printed since the last call. */
void mst_load_follow(struct mst_load *load);

/* After its end: puts its output, what it said of the run, and its rows into the
 * archive. What is missing, though it ended well, becomes a note and a warning.
 * 0, or -1 where the archive failed. */
int mst_load_collect(struct mst_load *load, struct mst_archive *archive, int64_t run_id,
                     const struct mst_archive_run_end *end);

/* Shows on stderr the first and the last lines of what it printed: what went
 * wrong is said first (and the usage behind it), or last. */
void mst_load_show(const struct mst_load *load);

#endif

/* loadtool.h - what `mpmstat record` must know of a load tool: an adapter each.
 *
 * An adapter says which command it is for, which flags to add (never one that
 * changes the load, never one that the user has chosen), and reads what the
 * tool printed and the rows it wrote. It starts nothing and opens nothing.
 * A new adapter is a file here and a line in loadtools.c.
 */
#ifndef MPMSTAT_LOADTOOL_H
#define MPMSTAT_LOADTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "copy.h"     /* MST_ERROR_MAX */
#include "format.h"   /* MST_UNKNOWN */

/* How a command is to be run. Made by prepare. */
struct mst_plan {
    char   **argv;            /* what to execute: the user's, and what was added */
    char    *added;           /* what was added, for the user to read; NULL: nothing */
    char    *rows_path;       /* where the user has the rows written; NULL: not chosen */
    bool     rows_in_fd;      /* the rows go to the descriptor that prepare was given */
    int      stop_signal;     /* the one on which the tool still prints what it has */
    uint64_t requested;       /* requests that it is to make; MST_UNKNOWN */
    uint64_t timeout_ns;      /* it must have ended by then; 0: cannot tell */
    /* Requests in flight when its time is up are abandoned and not counted. */
    bool     abandons;
};

/* What a load tool says of the whole run. MST_UNKNOWN where it does not. */
struct mst_client_result {
    uint64_t requests;           /* complete, as the tool counts them */
    uint64_t failed;             /* as the tool counts them */
    uint64_t unfinished;         /* asked for and never done */
    uint64_t failed_connect, failed_receive, failed_length, failed_other;   /* parts of failed */
    uint64_t non_2xx;            /* complete, with such a status */
    uint64_t concurrency;
    uint64_t bytes;              /* received, headers included */
    uint64_t duration_ns;        /* by its own clock */
    uint64_t requests_per_1000s; /* a rate, in thousandths of a request a second */
    uint64_t mean_ns, p50_ns, p90_ns, p99_ns, max_ns;   /* of a request; by its own table */
};

/* A request as the client saw it. MST_UNKNOWN where the tool does not say. */
struct mst_client_row {
    uint64_t start_ns;        /* nanoseconds since 1970, in steps of row_start_step_ns */
    uint64_t duration_ns;     /* from the start to the last byte */
    uint64_t connect_ns;      /* the part that connecting took; 0 on a kept-alive connection */
    uint64_t wait_ns;         /* from the request sent to the answer's first byte */
    uint64_t status;          /* HTTP's */
};

/* Takes a row. A nonzero return stops the reading. */
typedef int mst_take_row(void *context, const struct mst_client_row *row);

struct mst_loadtool {
    const char *name;
    bool        single_threaded;      /* it can use one CPU at most */
    uint64_t    row_start_step_ns;    /* resolution of a row's start; 0: it writes no rows */
    uint64_t    row_time_step_ns;     /* resolution of its times */

    /* Fills plan for argv (NULL at its end). rows_fd is open for writing, the
     * tool will inherit it; -1: no rows wanted. 0, or -1 with a sentence. */
    int (*prepare)(struct mst_plan *plan, char *const *argv, int rows_fd,
                   char error[MST_ERROR_MAX]);

    /* Reads what the tool wrote to its stdout. 0, or -1 with a sentence: no
     * result is in there. May be NULL: nothing to be read. */
    int (*parse)(struct mst_client_result *result, const struct mst_plan *plan,
                 const char *output, size_t n, char error[MST_ERROR_MAX]);

    /* Reads the rows. Returns how many, or -1 with a sentence; *bad is how many
     * lines were no rows (a half-written last one). May be NULL. */
    long (*read_rows)(FILE *rows, mst_take_row *take, void *context, uint64_t *bad,
                      char error[MST_ERROR_MAX]);
};

/* The adapter for a command, by the base name of its argv[0]: never NULL, the
 * generic one where no other knows it. */
const struct mst_loadtool *mst_loadtool_for(const char *command);

/* Their names, for --help: "ab, ...". */
const char *mst_loadtool_names(void);

/* ---- for adapters ---------------------------------------------------------------- */

/* A plan that runs argv as it is, with `insert` (NULL: nothing) behind argv[0].
 * 0, or -1: out of memory. */
int  mst_plan_init(struct mst_plan *plan, char *const *argv, const char *const *insert);
void mst_plan_free(struct mst_plan *plan);

void mst_client_result_init(struct mst_client_result *result);

extern const struct mst_loadtool mst_loadtool_ab, mst_loadtool_generic;

#endif

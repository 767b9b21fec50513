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

#include "base/error.h"
#include "segment/format.h"   /* MST_UNKNOWN */

/* Where the tool writes its rows, a line for each request. */
enum mst_rows_place {
    MST_ROWS_NONE,
    MST_ROWS_IN_FD,      /* in the descriptor that prepare was given */
    MST_ROWS_AT_PATH,    /* where the user has them written: rows_path */
    MST_ROWS_ON_STDOUT,
};

/* How a command is to be run. Made by prepare. */
struct mst_plan {
    char   **argv;            /* what to execute: the user's, and what was added */
    char    *added;           /* what was added, for the user to read; NULL: nothing */
    const char *added_for;    /* "its times of each request" */
    const char *why_not_added;   /* a sentence for the user; NULL: there is no reason */
    enum mst_rows_place rows;
    char    *rows_path;       /* NULL: not chosen */
    /* A command to run after it, which reads the rows in the tool's own format and
     * prints them as lines; NULL: they are lines. It gets the same descriptor. */
    char   **convert;
    uint64_t row_start_step_ns;   /* resolution of a row's start; 0: it writes no rows */
    uint64_t row_time_step_ns;    /* resolution of its times */
    int      stop_signal;     /* the one on which the tool still prints what it has */
    /* The exit status of a tool that did all that it should, but met failures or
     * missed a goal; 0: it has none. */
    uint64_t unhappy_status;
    uint64_t requested;       /* requests that it is to make; MST_UNKNOWN */
    uint64_t concurrency;     /* requests in flight at most; MST_UNKNOWN */
    uint64_t connections;     /* open at once, at most; MST_UNKNOWN */
    /* Each request has a connection of its own; connections are kept for the next
     * one. Neither: not known. */
    bool     connects_anew, keeps_alive;
    uint64_t threads;         /* CPUs that it can use; MST_UNKNOWN: as many as there are */
    uint64_t timeout_ns;      /* it must have ended by then; 0: cannot tell */
    /* Requests in flight when its time is up are abandoned and not counted. */
    bool     abandons;
    bool     corrected;       /* its rows' times are, in the sense of mst_client_result */
};

/* Why a request has no complete answer. */
enum mst_failure {
    MST_FAILURE_CONNECT,      /* no connection */
    MST_FAILURE_RECEIVE,      /* the connection ended first */
    MST_FAILURE_TIMEOUT,      /* the client waited no longer */
    MST_FAILURE_OTHER,        /* another reason, or not known which */
    MST_FAILURE_COUNT
};

/* Which of the failed requests a tool counts among its `requests`, too. */
enum mst_failed_among {
    MST_FAILED_BESIDES,          /* none: all requests together are `requests` + `failed` */
    MST_FAILED_TIMEOUTS_AMONG,   /* those that were answered too late, but no others */
    MST_FAILED_AMONG,            /* all: `requests` are all that were made */
};

/* What a load tool says of the whole run. MST_UNKNOWN where it does not. Every
 * member is a uint64_t. */
struct mst_client_result {
    /* Answered, whatever the status. ab, wrk and Locust count failed ones too (the
     * adapter's failed_among), and siege no answer with 5xx: see their adapters. */
    uint64_t requests;
    uint64_t failed;             /* without a complete answer, or as the tool counts them */
    uint64_t unfinished;         /* asked for and never done */
    /* Parts of failed. length: complete, but of another length than the first answer. */
    uint64_t failed_connect, failed_receive, failed_length, failed_timeout, failed_other;
    uint64_t non_2xx;            /* answered, with such a status; siege, wrk: 4xx and 5xx */
    uint64_t concurrency;
    uint64_t bytes;              /* received, headers included (hey, Locust, oha, siege: bodies
                                  * only) */
    uint64_t duration_ns;        /* by its own clock */
    uint64_t requests_per_1000s; /* a rate, in thousandths of a request a second */
    uint64_t mean_ns, p50_ns, p90_ns, p99_ns, max_ns;   /* of a request; by its own table */
    uint64_t time_step_ns;       /* resolution of these times */
    /* 1: these times include made-up ones, for requests that would have been sent
     * had the server not been slow (a correction of coordinated omission). */
    uint64_t corrected;
};

#define MST_NO_ANSWER 0u      /* for a status: the request failed */

/* A request as the client saw it. MST_UNKNOWN where the tool does not say. */
struct mst_client_row {
    uint64_t start_ns;        /* nanoseconds since 1970, in steps of row_start_step_ns */
    uint64_t duration_ns;     /* from the start to the last byte */
    uint64_t connect_ns;      /* the part that connecting took; 0 on a kept-alive connection */
    uint64_t wait_ns;         /* from the request sent to the answer's first byte */
    uint64_t status;          /* HTTP's, or MST_NO_ANSWER */
    enum mst_failure failure; /* of one without an answer */
    uint64_t client_id;       /* that it sent with it, for the server to record */
};

/* Takes a row. A nonzero return stops the reading. */
typedef int mst_take_row(void *context, const struct mst_client_row *row);

/* All rows together. */
struct mst_row_totals {
    uint64_t rows, failed, failures[MST_FAILURE_COUNT], non_2xx;
    uint64_t answered_ns, max_ns;      /* times of those with an answer: their sum, the longest */
    uint64_t first_start_ns, last_end_ns;
    bool     status_unknown;           /* of any row */
    uint64_t bad;                      /* lines that were not rows; set by the reader */
    uint64_t users;                    /* that were busy all the time; 0: not known; set by the
                                        * reader */
};

/* What a file of rows says besides its requests. */
enum mst_rows_end { MST_ROWS_END_UNKNOWN, MST_ROWS_ENDED, MST_ROWS_CUT_SHORT };
struct mst_rows_said {
    uint64_t bad;                      /* lines that are not rows (a half-written last one) */
    uint64_t start_step_ns;            /* resolution of starts; 0: the tool's plan says it */
    uint64_t dropped;                  /* iterations that could not begin when they should */
    /* Virtual users by the tool's own counts, its limit of them among these; all their iterations'
     * time. */
    bool     counts_users;
    uint64_t users_least, users_most, iterations_ns;
    uint64_t cpu_ns, cpu_wall_ns;      /* CPU time of the process, in that time; 0: not known */
    enum mst_rows_end end;
};

/* What a reader of rows keeps between two lines. */
#define MST_ROW_COLUMNS 8u
struct mst_row_reader {
    uint64_t started_ns;               /* when the tool was started, since 1970 */
    size_t   columns[MST_ROW_COLUMNS]; /* the adapter's: where the columns it needs are */
    struct mst_client_row row;         /* the adapter's: a row of several lines */
    bool     has_row, is_json;
    struct mst_rows_said said;
};

/* What the tool printed. Each text ends with a NUL behind its n bytes. */
struct mst_printed {
    const char *out, *err;
    size_t      out_n, err_n;
};

struct mst_level_flag;

struct mst_loadtool {
    const char *name;
    const char *package;              /* Debian's; NULL: none */
    const char *version_flag;         /* makes it print its version and end; NULL: it has none */
    bool        rows_omit_failures;   /* a request without an answer has no row */
    bool        follows_redirects;    /* unless it is told not to */
    unsigned    failed_from_status;   /* answers with this status or a higher one are among its
                                       * `failed`; 0: none are */
    const char *failure_mark;         /* behind it in its output stands, on the same line or the
                                       * next, why a request failed; NULL: it does not say */
    enum mst_failed_among failed_among;
    /* The flags that set its load, and the word behind which they go, NULL: its name (level.h).
     * NULL: it has no such flags. */
    const struct mst_level_flag *level_flags;
    const char *level_word;
    uint64_t    clients_most;         /* it takes no more clients; 0: no limit */

    /* Fills plan for argv (NULL at its end). rows_fd is open for writing, the
     * tool will inherit it; -1: no flags wanted. 0, or -1 with a sentence. */
    int (*prepare)(struct mst_plan *plan, char *const *argv, int rows_fd,
                   char error[MST_ERROR_MAX]);

    /* Reads what the tool printed. 0, or -1 with a sentence: no result is in
     * there. May be NULL: nothing to be read. */
    int (*parse)(struct mst_client_result *result, const struct mst_plan *plan,
                 const struct mst_printed *printed, char error[MST_ERROR_MAX]);

    /* Reads the first line of the rows. 0, or -1 with a sentence: it is not what
     * the tool writes. NULL: the first line is a row. */
    int (*read_header)(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX]);

    /* Reads a line, without its end, which it may change; NULL: there are no more.
     * 1: *row is one; 0: the line makes no row of its own; -1: it is not a line of
     * such rows. NULL: it writes no rows. */
    int (*read_row)(struct mst_row_reader *reader, struct mst_client_row *row, char *line);
};

/* The adapter for a command, by the base name of its argv[0]: never NULL, the
 * generic one where no other knows it. */
const struct mst_loadtool *mst_loadtool_for(const char *command);

/* The index-th adapter, NULL behind the last. The generic one is not among them. */
const struct mst_loadtool *mst_loadtool_at(size_t index);

/* Their names, for --help: "ab, ...". */
const char *mst_loadtool_names(void);

/* How many of the failed requests come on top of `requests`: with these it is all that
 * were made. MST_UNKNOWN where `failed` is. */
uint64_t mst_loadtool_failed_besides(const struct mst_loadtool *tool, uint64_t failed,
                                     uint64_t failed_timeout);

/* Reads rows, from the stream's present place to its end. Returns how many, or -1
 * with a sentence, also where not one of the lines is a row. started_ns is when the tool was
 * started, since 1970. */
long mst_loadtool_read_rows(const struct mst_loadtool *tool, FILE *rows, uint64_t started_ns,
                            mst_take_row *take, void *context, struct mst_rows_said *said,
                            char error[MST_ERROR_MAX]);

/* How many virtual users there were, each of which made one iteration after the other all the time
 * from the first request to the last answer. 0: that is not known, or not so. */
uint64_t mst_rows_users(const struct mst_rows_said *said, const struct mst_row_totals *totals);

/* The adapter that reads a file of rows which begins with that line, by itself: its instants are
 * since 1970. NULL: none. */
const struct mst_loadtool *mst_loadtool_of_rows(const char *first_line);

/* Adds a row to the totals, which begin as all zeros. */
void mst_row_totals_add(struct mst_row_totals *totals, const struct mst_client_row *row);

/* What the rows say of the whole run, where the tool itself says nothing.
 * `ended`: it did all that it should, so that what has no row has failed. */
void mst_client_result_from_rows(struct mst_client_result *result,
                                 const struct mst_loadtool *tool, const struct mst_plan *plan,
                                 const struct mst_row_totals *totals, bool ended);

void mst_plan_free(struct mst_plan *plan);

/* How a file begins that contrib's locust/mpmstat_rows.py writes. */
#define MST_LOCUST_ROWS "#mpmstat-locust-rows,1,"

/* ---- for adapters ---------------------------------------------------------------- */

/* A plan that runs argv as it is, with `insert` (NULL: nothing) behind argv[at].
 * 0, or -1: out of memory, with the sentence. */
int mst_plan_init(struct mst_plan *plan, char *const *argv, size_t at, const char *const *insert,
                  char error[MST_ERROR_MAX]);

/* What messages and the archive call that which was inserted, where its words are long. As
 * above. */
int mst_plan_call_added(struct mst_plan *plan, const char *words, char error[MST_ERROR_MAX]);

/* Remembers where the user has the rows written. 0, or -1 with the sentence; then
 * the plan is freed. */
int mst_plan_rows_at(struct mst_plan *plan, const char *path, char error[MST_ERROR_MAX]);

/* Sets the command that makes lines of the rows, NULL at its end. As above. */
int mst_plan_convert(struct mst_plan *plan, const char *const *command,
                     char error[MST_ERROR_MAX]);

void mst_client_result_init(struct mst_client_result *result);

/* Why a request failed, by the sentence of a program in Go or Rust. */
enum mst_failure mst_failure_of(const char *text, size_t n);

/* One more failed request, or several, of that kind. */
void mst_client_result_add_failures(struct mst_client_result *result, enum mst_failure kind,
                                    uint64_t count);

extern const struct mst_loadtool mst_loadtool_ab, mst_loadtool_generic, mst_loadtool_h2load,
                                 mst_loadtool_hey, mst_loadtool_k6, mst_loadtool_locust,
                                 mst_loadtool_locust_rows,
                                 mst_loadtool_oha, mst_loadtool_siege, mst_loadtool_tsung,
                                 mst_loadtool_vegeta,
                                 mst_loadtool_wrk;

#endif

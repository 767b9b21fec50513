/* records.h - the records of a board's journals: requests of Apache and of PHP, late deliveries,
 * lifecycle events, marks. format.h has the rules for all bytes of a board; record.h the check.
 */
#ifndef MPMSTAT_RECORDS_H
#define MPMSTAT_RECORDS_H

#include <stdint.h>

#include "segment/terms.h"

/* Ring records: {ticket, payload, check}. The check (record.h) depends on ticket and payload: it
 * does not match where the writer was killed midway or overtaken by the ring's next round. New
 * words go to the end of the payload, before the check; readers see them by the stride. */
struct mst_request {
    uint64_t id;            /* unique over the board's life */
    uint64_t start_ns;      /* CLOCK_MONOTONIC at the beginning of the phase `queue` */
    uint64_t queue_ns;
    uint64_t read_ns;
    uint64_t handle_ns;
    uint64_t send_ns;
    uint64_t held_ns;
    uint64_t bytes;         /* sent of the response's body */
    uint64_t label_status;  /* label << 32 | trace's flags << 24 | flags << 16 | HTTP status */
    uint64_t pid_worker;    /* pid << 32 | worker entry's index; ~0u: no worker */
    uint64_t connection;    /* connection's number in this process << 16 | client's TCP port */
    uint64_t nth;           /* its number on the connection, from 0 */
    uint64_t front_ns;      /* from X-Request-Start to start_ns; MST_UNKNOWN; not in `total` */
    uint64_t client_id;     /* id that the client sent, plus 1; 0: none, or an older writer */
    /* Intervals: 0 where there was none. Each lies within its phase. */
    uint64_t ends;          /* handler << 32 | backend, indices of the other ends; MST_END_OTHER
                             * << 32: unknown. Backend MST_NO_END: none */
    uint64_t checks_ns;     /* in handle: from the parsed headers to the handler's call */
    uint64_t upload_ns;     /* in handle: blocked in reading the request's body */
    uint64_t backend_ns;    /* in handle: from the hand-over to a backend to its first byte */
    uint64_t tls_ns;        /* in read: the handshake; the connection's first request only */
    uint64_t h2_wait_ns;    /* in queue: a stream that was ready waited for an HTTP/2 worker */
    uint64_t send_client_ns;   /* in send: the client read too slowly; these three are MST_UNKNOWN
                                * where sending was too short to ask the kernel */
    uint64_t send_network_ns;  /* in send: the network had the data */
    uint64_t send_server_ns;   /* in send: the server had nothing to send */
    uint64_t log_ns;        /* after the total: logging */
    /* From the header traceparent (traceparent.h), where the server reads it; the flags are in
     * label_status. All 0: there was none. */
    uint64_t trace_high;    /* trace id, the first 16 digits */
    uint64_t trace_low;     /* trace id, the others */
    uint64_t trace_parent;  /* the client's span */
    uint64_t path;          /* index of the path; MST_NO_PATH: not recorded, or an older writer */
};
#define MST_NO_END UINT32_MAX
#define MST_REQUEST_WORDS (sizeof(struct mst_request) / 8)
enum mst_request_flag {
    MST_REQUEST_ABORTED   = 1u << 0,   /* the client closed before the end */
    MST_REQUEST_NO_WORKER = 1u << 1    /* ran on a thread that is not a worker of the MPM */
};
#define MST_TRACE_FLAGS_SHIFT 24u

/* What the kernel still held of a response when it was complete. The kernel tells it later: at the
 * connection's next request or at its end. */
struct mst_delivery {
    uint64_t id;                 /* mst_request.id */
    uint64_t undelivered_ns;     /* from `complete` until the client had all; MST_UNKNOWN: the
                                  * client did not have all when the kernel was asked */
    uint64_t undelivered_bytes;  /* that the client did not have at `complete` */
    uint64_t time_ns;            /* CLOCK_MONOTONIC when that was found out */
};
#define MST_DELIVERY_WORDS (sizeof(struct mst_delivery) / 8)
#define MST_DELIVERY_RECORDS 8192u   /* kept */

struct mst_lifecycle {
    uint64_t time_ns;       /* CLOCK_MONOTONIC */
    uint64_t event_kind;    /* enum mst_event << 32 | enum mst_kind */
    uint64_t pid_parent;    /* pid << 32 | parent's pid */
    int64_t  mpm_slot;      /* -1 unknown */
    uint64_t generation;
    uint64_t duration_ns;   /* fork: how long it took; exit: lifetime; limit, at its end:
                             * time without an idle worker since the last such event;
                             * MST_UNKNOWN */
    uint64_t requests;      /* exit: requests served; MST_UNKNOWN */
    uint64_t unfinished;    /* exit: requests in flight when it ended */
    uint64_t reason;        /* exit: enum mst_reason */
};
#define MST_LIFECYCLE_WORDS (sizeof(struct mst_lifecycle) / 8)

/* All waits of a request in PHP for one other end. */
struct mst_php_wait {
    uint64_t kind_end;      /* enum mst_wait << 32 | other end's index */
    uint64_t calls_failed;  /* calls << 32 | those of them that failed; 0: no such wait */
    uint64_t wait_ns;
};

/* The other ends that a record names: a request's handler and backend; a PHP request's two longest
 * waits. */
#define MST_RECORD_ENDS 2u

/* From where most of a wait's time was called. */
struct mst_php_wait_place {
    uint64_t stack_calls;   /* index of the call stack << 32 | calls from there; 0: not known, or
                             * the writer is older */
    uint64_t wait_ns;       /* of these calls */
};

/* A request in PHP. `start_ns` is RINIT; Apache handed it over wait_ns before. */
struct mst_php_request {
    uint64_t id;            /* Apache's mst_request.id (handover.h); MST_UNKNOWN: none */
    uint64_t start_ns;      /* CLOCK_MONOTONIC */
    uint64_t wait_ns;       /* php_wait: from the hand-over to RINIT; MST_UNKNOWN */
    uint64_t run_ns;        /* php_run: from RINIT to RSHUTDOWN */
    uint64_t user_ns;       /* CPU time of the worker during php_run; MST_UNKNOWN */
    uint64_t system_ns;
    uint64_t memory_bytes;  /* the most that PHP's allocator held at once */
    uint64_t label_status;  /* label << 32 | flags << 16 | HTTP status (0: none was set) */
    uint64_t pid_worker;    /* pid << 32 | worker entry's index; ~0u: no entry was free */
    char     script[MST_PATH_MAX];  /* its file without the query; a long one lacks its beginning */
    /* run_ns = user_ns + system_ns + cpu_wait_ns + all of waits_ns + the rest, which is not stored.
     * The writer sees to it that the parts are not more than the whole. */
    uint64_t cpu_wait_ns;   /* runnable, without a CPU; MST_UNKNOWN */
    struct mst_php_wait longest[MST_RECORD_ENDS];   /* the other ends that took longest, longest
                                                     * first */
    uint64_t waits_ns[MST_WAITS_ROOM];   /* by enum mst_wait, all other ends together; all are
                                          * MST_UNKNOWN where waits are not measured */
    uint64_t compile_ns;    /* of user_ns and system_ns: compiling scripts that OPcache did not
                             * have; MST_UNKNOWN: the writer is older */
    struct mst_php_wait_place places[MST_RECORD_ENDS];   /* of each of `longest` */
    uint64_t gc_ns;         /* of user_ns and system_ns, without compile_ns: collecting garbage;
                             * MST_UNKNOWN: the writer is older */
};
#define MST_PHP_REQUEST_WORDS (sizeof(struct mst_php_request) / 8)
enum mst_php_request_flag {
    MST_PHP_ABORTED  = 1u << 0,   /* the client closed before the end */
    MST_PHP_FATAL    = 1u << 1,   /* ended by a fatal error or an uncaught exception */
    MST_PHP_TIMEOUT  = 1u << 2,   /* ended by max_execution_time */
    MST_PHP_CACHED   = 1u << 3,   /* OPcache had the script when the request began */
    MST_PHP_UNCACHED = 1u << 4    /* OPcache did not have it; neither flag: unknown */
};

/* mpmstat_mark(): a step of the request that has this pid and start. */
struct mst_mark {
    uint64_t request_start_ns;   /* mst_php_request.start_ns */
    uint64_t time_ns;            /* CLOCK_MONOTONIC */
    uint64_t pid;
    char     name[MST_MARK_MAX]; /* cut; with its NUL, then zeroes */
};
#define MST_MARK_WORDS (sizeof(struct mst_mark) / 8)

/* Where PHP's code was as a time of CPU ended, or for what it waited in that time. A sample stands
 * for `weight_ns`: of CPU time of its thread since the one before, or of waiting. */
struct mst_code_sample {
    uint64_t time_ns;            /* CLOCK_MONOTONIC */
    uint64_t request_start_ns;   /* mst_php_request.start_ns */
    uint64_t pid_worker;         /* pid << 32 | worker entry's index; ~0u: no entry was free */
    uint64_t stack_what;         /* stack's index << 32 | 0: CPU time; else enum mst_wait plus 1 */
    uint64_t weight_ns;
};
#define MST_CODE_SAMPLE_WORDS (sizeof(struct mst_code_sample) / 8)
#define MST_CODE_SAMPLES 16384u   /* kept: 160 s of CPU time, 100 to the second */

struct mst_code_sample_record {
    uint64_t               ticket;
    struct mst_code_sample payload;
    uint64_t               check;
};
struct mst_delivery_record {
    uint64_t            ticket;
    struct mst_delivery payload;
    uint64_t            check;
};
struct mst_request_record {
    uint64_t           ticket;    /* from 1; 0: never written */
    struct mst_request payload;
    uint64_t           check;
};
struct mst_lifecycle_record {
    uint64_t             ticket;
    struct mst_lifecycle payload;
    uint64_t             check;
};
struct mst_php_request_record {
    uint64_t               ticket;
    struct mst_php_request payload;
    uint64_t               check;
};
struct mst_mark_record {
    uint64_t        ticket;
    struct mst_mark payload;
    uint64_t        check;
};

#endif

/* format.h - the board's bytes: what is at which offset of the shared file.
 *
 * Written by: one server (an Apache, or the PHP processes of one master or user), through
 *             write/board.h.
 * Read by:    every process that has the permission, through reader.h, which trusts no byte.
 *
 * A board is a file of fixed-width little-endian words without pointers. Its
 * header says where each section is, how many entries it has and how far apart
 * they are (the stride); entries grow only at their end, so a reader takes
 * min(stride, its own size), and what an older writer lacks stays unknown.
 * Counters carry their names (the `fields` section) and are found by name.
 *
 * Every word that can change under a reader is an aligned 64-bit (or 32-bit) word of its
 * own, stored with relaxed atomics: a single word is never torn.
 */
#ifndef MPMSTAT_FORMAT_H
#define MPMSTAT_FORMAT_H

#include <stdint.h>

#include "segment/histogram.h"
#include "segment/records.h"
#include "segment/terms.h"

#define MST_MAGIC           "MPMSTAT"   /* 7 letters and the NUL: 8 bytes */
#define MST_FORMAT_VERSION  2u          /* readers refuse every other number */
#define MST_CACHE_LINE      64u
#define MST_PAGE            4096u

#define MST_STRIPES_MAX     16u
#define MST_LABELS_MAX      1024u
#define MST_LABELS_DEFAULT  64u
#define MST_JOURNAL_MAX     (1u << 24)
#define MST_LIFECYCLE_RECORDS 4096u     /* lifecycle events kept: about a day's */
#define MST_MARK_RECORDS    8192u       /* PHP's marks kept */
#define MST_BOARD_SUFFIX    ".board"    /* of a board's file name, unless configured otherwise */
#define MST_FILE_MAX        (UINT64_C(4) << 30) /* far above any configuration that could run */

/* Where a section is. count is 0 for the rings that the producer does not write. */
struct mst_section {
    uint64_t offset;   /* bytes from the start of the file */
    uint32_t count;    /* entries */
    uint32_t stride;   /* bytes from one entry to the next; a multiple of 8 */
};

enum mst_section_id {
    MST_SECTION_FIELDS,      /* struct mst_field_name: names of totals' and counters' words */
    MST_SECTION_TOTALS,      /* one struct mst_totals */
    MST_SECTION_PROCESSES,   /* struct mst_process */
    MST_SECTION_WORKERS,     /* struct mst_worker: threads_per_process for each process */
    MST_SECTION_IN_FLIGHT,   /* uint32_t[labels] for each process: requests that no worker
                              * shows */
    MST_SECTION_LABELS,      /* struct mst_name */
    MST_SECTION_COUNTERS,     /* struct mst_counters: stripes for each label */
    MST_SECTION_REQUESTS,    /* struct mst_request_record: Apache's request journal, a ring */
    MST_SECTION_LIFECYCLE,   /* struct mst_lifecycle_record: the lifecycle journal's ring */
    MST_SECTION_PHP_REQUESTS, /* struct mst_php_request_record: PHP's request journal, a ring */
    MST_SECTION_MARKS,       /* struct mst_mark_record: a ring of PHP's marks */
    MST_SECTION_FORKS,       /* struct mst_fork: Apache's forks that are not known to have
                              * ended */
    MST_SECTION_FIRST,       /* the header's `section` has those before, `more` the others */
    MST_SECTION_ENDS = MST_SECTION_FIRST,   /* struct mst_name: the other ends */
    MST_SECTION_END_COUNTERS, /* struct mst_other_end_counters: stripes for each other end */
    MST_SECTION_DELIVERIES,  /* struct mst_delivery_record: a ring of Apache's late deliveries */
    MST_SECTION_PATHS,       /* struct mst_path: Apache's, of requests where MPMStatPaths is On */
    MST_SECTION_FRAMES,      /* struct mst_frame: functions of PHP's code */
    MST_SECTION_STACKS,      /* struct mst_call_stack: how they call each other */
    MST_SECTION_CODE_SAMPLES, /* struct mst_code_sample_record: a ring of PHP's samples */
    MST_SECTION_COUNT
};
#define MST_SECTION_ROOM 8u  /* entries of `more`: the words after it keep their offsets */

/* The header's words up to and with pid_start_ticks are the same in every version, so that every
 * version can find the server of a board. */
#define MST_HEADER_FOREVER 48u

enum mst_ready {
    MST_READY_NOT,          /* the board is being built */
    MST_READY,              /* published */
    MST_READY_ENDED         /* a process lost pages of it: recording has ended */
};

/* What OPcache said of itself (PHP's opcache_get_status()) as a worker asked it last: once a
 * second at most, as a request ends. All of it changes. */
struct mst_opcache {
    uint64_t looked_ns;             /* CLOCK_MONOTONIC of then; 0: never */
    uint64_t state;                 /* enum mst_opcache_state */
    uint64_t used_bytes, wasted_bytes, limit_bytes;   /* 0 each, as all below: not known */
    uint64_t scripts, keys, keys_limit;
    uint64_t hits, misses, restarts;                  /* since PHP started */
};

/* The first page. Constant after `ready` is set, except the words marked (changes). */
struct mst_header {
    char     magic[8];              /* MST_MAGIC */
    uint32_t version;               /* MST_FORMAT_VERSION */
    uint32_t header_bytes;          /* sizeof(struct mst_header) of the writer */
    uint64_t file_bytes;
    uint32_t byte_order;            /* 0x01020304 as the writer stores it */
    uint32_t ready;                 /* enum mst_ready */

    uint32_t producer;              /* enum mst_producer */
    uint32_t pid;                   /* the parent's (master's), in pid_namespace; 0 on PHP's boards
                                     * of processes without a common parent (php-cgi): such a
                                     * server runs while any of them does */
    uint64_t pid_start_ticks;       /* /proc/PID/stat field 22: identifies it, with the pid */
    uint64_t started_ns;            /* CLOCK_MONOTONIC when the board was made */
    int64_t  realtime_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC at that moment */
    uint64_t pid_namespace;         /* inode of /proc/self/ns/pid, 0 unknown */
    uint64_t time_namespace;        /* inode of /proc/self/ns/time, 0 unknown */
    uint32_t kernel_hz;             /* jiffies a second: the resolution of `queue` */
    uint32_t threads_per_process;   /* entries of `workers` for each of `processes` */
    uint32_t stripes;               /* entries of `counters` for each label; power of two */
    uint32_t told;                  /* (changes) a set of enum mst_told: what the server has
                                     * logged, and does not log again */
    char     boot_id[40];           /* /proc/sys/kernel/random/boot_id */
    /* These five may change at a restart. */
    char     server[64];            /* "Apache/2.4.62 (Debian)" */
    char     mpm[16];               /* "event"; empty: none */
    char     sapi[16];              /* "fpm-fcgi"; empty: none */
    char     version_text[16];      /* mpmstat's version */
    char     settings[MST_SETTINGS_MAX];   /* limits and timeouts, in the syntax of the server's
                                     * configuration: "KeepAlive On; Timeout 300" */

    uint64_t generation;            /* (changes) restarts so far */
    uint64_t workers_limit;         /* (changes) MaxRequestWorkers; MST_UNKNOWN */
    uint64_t stopped_ns;            /* (changes) CLOCK_MONOTONIC of a clean stop, else 0 */

    struct mst_section section[MST_SECTION_FIRST];

    /* Ring heads: tickets given out so far. Each on a cache line of its own. */
    uint64_t requests_written  __attribute__((aligned(64)));   /* (changes) */
    uint64_t lifecycle_written __attribute__((aligned(64)));   /* (changes) */
    uint64_t serial            __attribute__((aligned(64)));   /* (changes) entries claimed */

    /* Busy workers of all processes together (busy.h). */
    int64_t  busy              __attribute__((aligned(64)));   /* (changes) now */
    int64_t  busy_max;          /* (changes) the most at once so far */
    uint64_t no_idle;           /* (changes) see MST_NO_IDLE_RUNNING */
    uint64_t limit_event_ns;    /* (changes) time of the latest event about no idle worker */
    uint64_t no_idle_told_ns;   /* (changes) the part of no_idle that events have reported */
    uint64_t no_idle_ended_ns;  /* (changes) when a worker last became idle again */
    uint64_t limit_told_ns;     /* (changes) time of the latest event that reported a part */
    uint64_t forks_end;         /* (changes) entries of `forks` from here on were never used */

    uint64_t php_requests_written __attribute__((aligned(64)));   /* (changes) ring heads */
    uint64_t marks_written        __attribute__((aligned(64)));   /* (changes) */

    /* Headers of older writers end here. */
    struct mst_section more[MST_SECTION_ROOM] __attribute__((aligned(64)));
    uint64_t deliveries_written   __attribute__((aligned(64)));   /* (changes) */
    uint64_t http2_workers_limit;   /* (changes) of each process: H2MaxWorkers; 0: no mod_http2, or
                                     * an older writer */
    uint64_t code_samples_written __attribute__((aligned(64)));   /* (changes) a ring head */
    struct mst_opcache opcache __attribute__((aligned(64)));       /* (changes) of PHP's boards */
} __attribute__((aligned(64)));

/* Where the header says that a section is. A section that an older writer lacks has a count
 * of 0: readers fill what is missing of a header with zeroes. */
static inline struct mst_section *mst_section_of(struct mst_header *h, unsigned id)
{
    return id < MST_SECTION_FIRST ? &h->section[id] : &h->more[id - MST_SECTION_FIRST];
}

static inline const struct mst_section *mst_section_in(const struct mst_header *h, unsigned id)
{
    return id < MST_SECTION_FIRST ? &h->section[id] : &h->more[id - MST_SECTION_FIRST];
}

/* no_idle holds the time without an idle worker in one word, so that no reader sees it torn:
 * while a worker is idle, the nanoseconds so far; while none is, this bit and the
 * CLOCK_MONOTONIC that lies those nanoseconds before now. */
#define MST_NO_IDLE_RUNNING (UINT64_C(1) << 63)

enum mst_told {
    MST_TOLD_NO_ROOM  = 1u << 0,   /* a tenant's label found no room */
    MST_TOLD_NO_LABEL = 1u << 1    /* a tenant set a name that is not a label */
};

/* Name and place of a counter inside the struct of its storage. */
struct mst_field_name {
    char     name[48];   /* the id in fields.def */
    uint32_t storage;    /* enum mst_storage */
    uint32_t type;       /* enum mst_type */
    uint32_t offset;     /* bytes from the start of that struct */
    uint32_t words;      /* 64-bit words it takes */
};

/* A process. It claims the entry by compare-and-swap on `pid` (0: free) and writes it. The
 * parent frees the entry, or a claimant that found the owner dead. */
struct mst_process {
    uint64_t pid;                /* owner; 0: free; with MST_PROCESS_CLAIMING: its claimant */
    uint64_t start_ticks;        /* /proc/PID/stat field 22 */
    uint64_t claimed_ns;         /* CLOCK_MONOTONIC */
    uint64_t serial;             /* unique over the board's life */
    uint64_t generation;
    int64_t  mpm_slot;           /* the scoreboard's child number; -1: not known yet */
    uint64_t clean_exit;         /* 1: set by the child when it exits in order */
    int64_t  connections;        /* open now */
    uint64_t accepted;           /* connections accepted so far; a new owner continues it */
    uint64_t requests_at_claim;  /* sum of its workers' `requests` when claimed */
    int64_t  busy;               /* busy workers now: its part of the header's `busy` */
    uint64_t request_ids;        /* ids given to requests so far, also by its forked processes */
    int64_t  streams;            /* HTTP/2 streams in flight now */
    uint64_t journal_answers;    /* journals that it is answering with now (status page) */
    int64_t  http2_busy;         /* threads of mod_http2 that work on streams now */
    uint64_t reserved[1];
} __attribute__((aligned(64)));
#define MST_PROCESS_CLAIMING (UINT64_C(1) << 63)

/* A worker (thread). Only that thread writes it, through write/worker.h.
 *
 * The time in the present state is not stored. base_ns plus the times of all states is when the
 * present state began, so a copy taken between any two of the writer's stores is off by at most
 * that transition, and never counts time twice. These times and `requests` are counters of the
 * entry: a new owner continues them. */
struct mst_worker {
    uint64_t base_ns;                        /* see above; changes only at a claim */
    uint64_t state;                          /* enum mst_state, or MST_WORKER_FREE */
    uint64_t state_ns[MST_STATES_FIRST];
    uint64_t requests;                       /* completed by this worker */
    uint64_t request_label;                  /* label index of the request in flight; MST_UNKNOWN:
                                              * none */
    uint64_t request_start_ns;               /* when the worker took it; 0: none */
    char     path[MST_PATH_MAX];             /* its URL path where MPMStatPaths is On; else "" */
    uint64_t later_state_ns[MST_STATE_COUNT - MST_STATES_FIRST];   /* of the further states: older
                                              * writers' entries end before */
    /* What PHP's worker waits for now. Both words are 0 in older writers' entries. A wait that does
     * not lie within the request in flight is an earlier one's: there is none then. */
    uint64_t waits_for;                      /* the call under way: enum mst_wait << 32 | index of
                                              * the other end (MST_END_OTHER: not known which),
                                              * plus 1. 0: none, or none that is measured */
    uint64_t waits_since_ns;                 /* CLOCK_MONOTONIC when that call began, or its fiber
                                              * went on; stored before waits_for */
    uint64_t request_id;                     /* of the request in flight: mst_request.id, also in
                                              * PHP, to which Apache hands it; stored before
                                              * request_start_ns. 0 (and older writers' entries) or
                                              * MST_UNKNOWN: none */
    /* Where PHP's code is: a call stack's index, plus 1. 0: not known, or the writer is older. */
    uint64_t waits_in;                       /* of the call of waits_for; stored before that */
    uint64_t runs_in;                        /* of the latest sample of CPU time, */
    uint64_t runs_ns;                        /* and CLOCK_MONOTONIC when that was taken; stored
                                              * before runs_in. It is of the request in flight where
                                              * that began before */
} __attribute__((aligned(64)));

/* Where an entry has the time that its worker has spent in a state. */
static inline uint64_t *mst_worker_state_ns(struct mst_worker *w, unsigned state)
{
    return state < MST_STATES_FIRST ? &w->state_ns[state]
                                    : &w->later_state_ns[state - MST_STATES_FIRST];
}

static inline uint64_t mst_worker_spent_ns(const struct mst_worker *w, unsigned state)
{
    return state < MST_STATES_FIRST ? w->state_ns[state]
                                    : w->later_state_ns[state - MST_STATES_FIRST];
}

#define MST_WORKER_FREE UINT64_MAX           /* no thread has the entry: no time passes in it */

/* A forked process that is not a child of the MPM: a helper, or one for a request. The parent's
 * forks are here for a moment, too, until their kind is known. The forked process writes the
 * entry; the process that reports its end frees it (write/fork_table.h). */
struct mst_fork {
    uint64_t pid;                /* 0: free; with MST_PROCESS_CLAIMING: of the process that
                                  * changes the entry; stored last */
    uint64_t parent;             /* its parent's pid */
    uint64_t time_ns;            /* CLOCK_MONOTONIC when the fork began */
    uint64_t duration_ns;        /* how long the fork took */
    uint64_t kind;               /* enum mst_kind; MST_KIND_COUNT: not known yet */
    int64_t  mpm_slot;           /* of the child that forked it; -1: none */
    uint64_t serves;             /* enum mst_fork_serves */
    uint64_t generation;
} __attribute__((aligned(64)));
enum mst_fork_serves {           /* whether it serves a connection (itk) */
    MST_FORK_NO_SERVER, MST_FORK_SERVING, MST_FORK_CLOSING
};
#define MST_FORKS 1024u          /* the ends of further ones are not reported */

struct mst_name {
    uint64_t used;               /* 0: free; 1: `name` is valid (stored last); others: unusable */
    char     name[MST_NAME_MAX];
    uint64_t owner;              /* a label's: the tenant that made it (mst_label_owner()); 0: made
                                  * by the server's own configuration. An other end's:
                                  * tenant << 32 | enum mst_other_end_kind */
    /* These five are set where the label is an FPM pool's (write/pools.h): */
    uint64_t workers_limit;      /* pm.max_children; 0: it is not a pool's, or not known */
    uint64_t limit_reached;      /* how often all of the pool's workers were found busy */
    uint64_t looked_ns;          /* CLOCK_MONOTONIC when a worker last looked for that */
    uint64_t listen;             /* mst_listen_hash() of the address on which the pool listens (see
                                  * listen_hash.h); 0: not known */
    uint64_t pools;              /* how many pools have this label; 0: an older writer's, too */
};

/* Label 0 counts requests whose label found no room; label 1 those of the status page. */
#define MST_LABEL_OTHER  0u
#define MST_LABEL_STATUS 1u
#define MST_LABEL_OTHER_NAME  "other"
#define MST_LABEL_STATUS_NAME "mpm-status"

/* The other ends: what requests were handed to (Apache's handlers and backends), or waited for in
 * PHP. They are names, never queries: "mysql 127.0.0.1:3306". End 0 counts all other ends that
 * found no room, of whatever kind; it has no kind itself. */
#define MST_ENDS 64u
#define MST_END_OTHER 0u
#define MST_END_OTHER_NAME "other"

/* The path that requests are for, without query and folded (write/path.h): "/item/{n}". A process
 * claims an entry by compare-and-swap on `hash`. */
struct mst_path {
    uint64_t used;               /* 1: `path` is valid (stored last) */
    char     path[MST_PATH_NAME_MAX];
    uint64_t hash;               /* of the path; 0: the entry is free */
};
#define MST_PATHS_MAX 1024u      /* that readers take */
#define MST_PATHS 512u           /* a power of two; entries are never freed */
#define MST_PATH_RESERVED 1u     /* the hash of these first entries: no path has it */
#define MST_NO_PATH      0u
#define MST_PATH_OTHER   1u      /* paths for which there was no room */
#define MST_PATH_UNNAMED 2u      /* answers 3xx and 4xx of paths that have no entry */
#define MST_PATH_OTHER_NAME   "(other)"

/* A function of PHP's code, where it is in a file. Names of functions and files only: no arguments.
 * A process claims an entry by compare-and-swap on `hash`. */
struct mst_frame {
    uint64_t hash;               /* of the three below; 0: the entry is free */
    uint64_t used;               /* 1: they are valid (stored last) */
    uint64_t line;               /* of the file, from 1; 0: not known, or code of PHP itself */
    char     function[MST_FRAME_FUNCTION_MAX];   /* "strlen", "Repository->find", "{main}"; a long
                                  * one lacks its beginning */
    char     file[MST_FRAME_FILE_MAX];           /* as `function`; "": code of PHP itself */
};
#define MST_FRAMES_MAX   65536u  /* that readers take */
#define MST_FRAMES_OF(samples) ((samples) / 4u)   /* a power of two, as these are; entries are never
                                                   * freed */
#define MST_FRAME_OTHER  0u      /* functions for which there was no room, and cut stacks */
#define MST_FRAME_OTHER_NAME "(other)"

/* A call stack: its innermost function, and the stack that called that. The whole entry is one
 * word, which a process claims by compare-and-swap. */
struct mst_call_stack {
    uint64_t caller_frame;       /* the caller's index << 32 | frame's index plus 1; 0: free */
};
#define MST_STACKS_MAX   65536u  /* that readers take */
#define MST_STACKS_OF(samples) (samples)          /* the same */
#define MST_STACK_NONE   0u      /* the caller of an outermost function; nothing is stored there */
#define MST_STACK_OTHER  1u      /* stacks for which there was no room: MST_FRAME_OTHER alone */
#define MST_STACK_DEPTH  64u     /* functions of one stack; of a deeper one the innermost */
#define MST_PATH_UNNAMED_NAME "(3xx or 4xx)"

/* The `owner` of an other end's entry has its enum mst_other_end_kind in the lower 32 bits. In the
 * upper 32 bits it has a number of the tenant that made the entry; 0: the server's own
 * configuration made it. */
#define MST_END_OWNER(kind, tenant) ((uint64_t)(tenant) << 32 | (kind))
#define MST_END_KIND_OF(owner)      ((uint32_t)(owner))
#define MST_END_TENANT_OF(owner)    ((uint32_t)((owner) >> 32))

#endif

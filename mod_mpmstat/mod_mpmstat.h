/* mod_mpmstat.h - what the module's files share, file by file; request.h has the hot path's
 * part. Glue to httpd: the library in lib/ knows nothing of this.
 *
 * Calls go one way:
 *
 *   hooks.c       config.c    handler.c
 *     |              |            |
 *     v              v            v
 *   recording.c   exports.c    access.c, answer_limit.c, listeners.c, scoreboard.c
 *   processes.c   connections.c
 *   forks.c       http2.c, backend.c, tls.c
 *   mpm.c         timing.c
 *                 record.c
 *                 accept_wait.c, delivery.c, upload.c
 *                 tcp_info.c
 *                    |
 *                    v
 *                 ends.c
 *                 shared.c
 */
#ifndef MOD_MPMSTAT_H
#define MOD_MPMSTAT_H

#include <httpd.h>
#include <http_config.h>
#include <http_log.h>
#include <mpm_common.h>

#include "segment/handover.h"
#include "write/board.h"

/* The build hides all symbols but the module record, which httpd looks up by its name. */
extern __attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA mpmstat_module;

/* Of a variable of the module that no other object sees, so that its address is known when the
 * module is linked. On three variables that saves 30 of a request's instructions. */
#define MST_HIDDEN __attribute__((visibility("hidden")))

/* The same, by a name that only the module's own files see. */
extern MST_HIDDEN module mst_module;

/* Each line that the module logs begins with a tag of its own, as httpd's lines do. */
#define MPMSTAT_LOGNO(n) "MPMSTAT" #n ": "

/* ---- shared.c: the configuration and this process's part of the board ---------------- */

/* A name given by MPMStatLabel. All merged configurations share it. */
struct mst_label_ref {
    const char           *name;
    uint32_t              index;     /* on the board: set when the board is made; in .htaccess at
                                      * once */
    struct mst_label_ref *next;
};

/* What is done with the header traceparent. */
enum mst_trace_context {
    MST_TRACE_IGNORED, MST_TRACE_READ,
    MST_TRACE_PARENT   /* it is read, and programs get it with the request's own span */
};

/* Of a directory. A directive that is not set here is -1. */
struct mst_dir_config {
    int                   enabled;   /* MPMStat */
    int                   paths;     /* MPMStatPaths */
    int                   trust_request_start; /* MPMStatTrustRequestStart */
    int                   trust_client_id; /* MPMStatTrustClientId */
    int                   trace_context; /* MPMStatTraceContext: an enum mst_trace_context */
    int                   trust_proxy; /* MPMStatTrustProxy */
    int                   notes;     /* MPMStatNotes */
    int                   server_timing; /* MPMStatServerTiming */
    const struct mst_label_ref *label; /* MPMStatLabel; NULL: the virtual host's */
};

/* Of a virtual host. recording.c sets both when the server starts. */
struct mst_server_config {
    uint32_t label;                  /* index of the host's own label */
    uint64_t tenant;                 /* the owner of labels that its .htaccess files make */
};

/* Of the whole server. config.c resets it before each reading of the configuration. */
struct mst_main_config {
    const char           *board;     /* MPMStatBoard; NULL: the default place */
    uint32_t              journal;   /* MPMStatJournal; 0: by CPUs */
    uint32_t              labels;    /* MPMStatMaxLabels */
    uint32_t              tenant_labels; /* MPMStatTenantLabels */
    const char           *php_boards; /* MPMStatPHPBoards; NULL: Off */
    struct mst_label_ref *refs;      /* every MPMStatLabel in the configuration */
    bool                  trust_request_start; /* On in some directory */
    bool                  notes;               /* On in some directory */
    bool                  server_timing;       /* On in some directory */
};
extern MST_HIDDEN struct mst_main_config mst_config;

static inline const struct mst_dir_config *mst_dir_config_of(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &mst_module);
}

static inline const struct mst_server_config *mst_server_config_of(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &mst_module);
}

/* A thread that serves connections. Exists as long as the process. */
struct mst_thread {
    struct mst_worker *worker;        /* its entry; NULL: it has none */
    uint64_t           pid_worker;    /* of records: pid << 32 | that entry's index on the board,
                                       * UINT32_MAX: none */
    uint64_t           idle_since_ns; /* since when it has had no connection */
    struct mst_counters *counters;    /* of label 0 in the stripe that it counts in */
    struct mst_other_end_counters *ends;   /* in the same stripe, those of end 0 */
} __attribute__((aligned(64)));

/* This process's part of the board. Constant once connections are served, unless a member says
 * otherwise. board NULL: nothing is recorded, and each hook returns at once. */
struct mst_this_process {
    struct mst_board   *board;
    struct mst_process *self;         /* this child's entry; NULL: the parent, or no entry was
                                       * free */
    struct mst_worker  *workers;      /* its workers, one for each thread that it may have */
    uint32_t            first_worker; /* index of the first one on the board */
    struct mst_thread  *worker_threads;    /* those of its workers that have served so far */
    struct mst_thread   other_threads;     /* all others, together */
    const struct worker_score *scores; /* its workers on httpd's scoreboard; NULL: not known yet */
    uint32_t           *in_flight;    /* its requests that no worker shows, by label; atomic */
    uint32_t            threads;      /* ThreadLimit */
    uint64_t            pid;          /* of this process; 0: the parent. (getpid() is a system
                                       * call.) */
    uint64_t           *ids;          /* how many ids requests got so far, in this process and in
                                       * its forks; atomic */
    uint64_t            id_base;      /* added to those: tells processes apart */
    uint64_t            parent;       /* pid of the server's parent */
    uint64_t            started_ns;   /* when the board was made, since 1970 */
    uint64_t            owner;        /* pid of the child that claimed `self` */
    bool                forked;       /* this process was forked from that child: by itk, for a
                                       * connection, or to become a CGI script */
    uint32_t            forks_running; /* processes forked from this one, not known to have
                                       * ended; atomic */
    bool                listener_thread; /* one thread accepts for all workers of a process */
    bool                suspends;     /* the MPM suspends kept-alive connections: event */
    uint32_t            stripes;      /* counters for each label */
    uint32_t            default_end;  /* index of the other end "default-handler" */
    uint64_t            idle_enough_ns; /* a worker idle for so long kept no connection waiting */
};
extern MST_HIDDEN struct mst_this_process mst_recording;

/* Which worker the thread is, in this process; UINT32_MAX: none. */
static inline void mst_thread_set_index(struct mst_thread *thread, uint32_t index)
{
    thread->pid_worker = mst_recording.pid << 32 | index;
}

/* Which of the board's stripes the thread counts in. */
void mst_thread_set_stripe(struct mst_thread *thread, uint32_t stripe);

/* Where this server runs, for mst_handover_format(). Constant once connections are served. */
extern char mst_place[MST_HANDOVER_MAX];

/* What the ids of requests begin with in the process whose entry has this serial number. */
uint64_t mst_request_id_base(uint64_t serial);

/* Gives this process ids of its own where it has no process entry, whose serial number would
 * tell its ids from those of other processes. */
void mst_request_ids_without_entry(struct mst_board *b);

/* ---- config.c: the directives -------------------------------------------------------- */

extern const command_rec mst_commands[];
void *mst_create_dir_config(apr_pool_t *p, char *dir);
void *mst_merge_dir_config(apr_pool_t *p, void *base, void *add);
void *mst_create_server_config(apr_pool_t *p, server_rec *s);
int   mst_config_reset(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp);

/* ---- hooks.c: which function runs when ----------------------------------------------- */

void mst_hooks_register(apr_pool_t *p);

/* ---- mpm.c: limits and timeouts of the server ---------------------------------------- */

/* What the MPM answers to AP_MPMQ_..., where that is above 0; else unless_positive. */
int mst_mpm_number(int query, int unless_positive);

/* How many restarts there were; 0 where the MPM does not say. */
uint64_t mst_mpm_generation(void);

/* How many workers there can be at once. */
uint64_t mst_mpm_workers_limit(void);

/* Threads that mod_http2 can have for streams in each child; 0: it serves none. */
uint64_t mst_mpm_http2_workers_limit(apr_pool_t *p);

/* The directives that decide what a load meets: "MaxRequestWorkers 150; ServerLimit 16; ...;
 * Timeout 300". Timeouts are the main server's; a virtual host may have others. From the pool. */
const char *mst_mpm_settings(apr_pool_t *p, const server_rec *s);

/* ---- recording.c: the board from start to stop --------------------------------------- */

/* post_config: makes the board, or keeps that from before a restart. */
int mst_recording_open(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s);

/* Logs, once for the whole server, that the board has lost pages, if it has. */
void mst_recording_report_loss(const server_rec *s);

/* ---- processes.c: the MPM's children ------------------------------------------------- */

/* child_init: claims a process entry. */
void mst_processes_join(apr_pool_t *pchild, server_rec *s);

/* child_status: a child's start and end, in the parent. */
void mst_processes_child_status(server_rec *s, pid_t pid, ap_generation_t generation, int slot,
                                mpm_child_status status);

/* error_log, in the parent: which signal ended a child, and that a fork failed. */
void mst_processes_read_log(const char *line);

/* Writes the ends of children that the MPM did not report. In the parent. */
void mst_processes_sweep(struct mst_board *b);

/* Writes that there was a restart. In the parent. */
void mst_processes_restarted(struct mst_board *b, uint64_t generation);

/* ---- forks.c: all other forked processes --------------------------------------------- */

/* Follows forks from now on, in this process and its descendants. */
void mst_forks_watch(void);

/* When this thread's latest fork began, and how long it took. */
void mst_forks_latest(uint64_t *began_ns, uint64_t *took_ns);

/* The parent forked `pid` for the MPM. */
void mst_forks_started(uint64_t pid);

/* `pid` is a child of the MPM: processes.c follows it, not forks.c. */
void mst_forks_joined(struct mst_board *b, uint64_t pid);

/* Writes which forks of the parent were helpers. In the parent. */
void mst_forks_report_helpers(struct mst_board *b);

/* Writes the ends of processes whose ends no process has seen. In the parent. */
void mst_forks_sweep(struct mst_board *b);

/* Writes which forks of this process have ended. Call it after a request, where
 * mst_recording.forks_running. */
void mst_forks_check(void);

/* This process closes the connection that it was forked for. itk ends it then without running
 * the cleanups of pools. */
void mst_forks_closing(void);

/* This process, forked for a connection, ends by itself. */
void mst_forks_own_end(struct mst_board *b);

/* error_log, in a child: how the process ended that served its connection (itk). */
void mst_forks_read_log(const char *line);

/* ---- exports.c: what programs, access logs and browsers learn of a request ----------- */

void mst_exports_register_filter(void);

/* post_config: where this server runs, for the hand-over to PHP. */
int mst_exports_find_place(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s);

/* The configuration has a first MPMStatServerTiming On. */
void mst_exports_use_server_timing(void);

/* The handler of r is about to begin, which has a name or is a program's media type. */
void mst_exports_hand_over(request_rec *r);

/* The configuration has a first MPMStatNotes On. */
void mst_exports_use_notes(void);

/* ---- ends.c: what requests are handed to --------------------------------------------- */

/* The index of the other end of this kind and name, which this process keeps. `tenant` is that of a
 * virtual host whose .htaccess files can make such a name; 0: none can. */
uint32_t mst_ends_index(enum mst_other_end_kind kind, const char *name, uint64_t tenant);

/* ---- handler.c: /mpm-status ---------------------------------------------------------- */

int mst_handle_status(request_rec *r);

#endif

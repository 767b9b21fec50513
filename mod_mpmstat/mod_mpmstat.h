/* mod_mpmstat.h - what the module's own files share. httpd glue: nothing here is
 * seen by the board library, which knows neither APR nor httpd. */
#ifndef MOD_MPMSTAT_H
#define MOD_MPMSTAT_H

#include <httpd.h>
#include <http_config.h>
#include <http_log.h>

#include "write/board.h"

/* The one name that httpd has to see: the build hides all others. */
extern __attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA mpmstat_module;

/* The same by a name that is found without the dynamic linker's table. */
extern module mst_module;

/* Every line that the module logs carries a tag of its own, as httpd's do. */
#define MPMSTAT_LOGNO(n) "MPMSTAT" #n ": "

/* ---- configuration (config.c) ------------------------------------------- */

/* A name given by MPMStatLabel. Its index on the board is known once the board
 * is there (recording.c sets it; in .htaccess at once), and all merged configurations
 * share it. */
struct mst_label_ref {
    const char           *name;
    uint32_t              index;
    struct mst_label_ref *next;
};

/* Per directory. -1: not set here. */
struct mst_dir_config {
    int                   enabled;   /* MPMStat */
    int                   paths;     /* MPMStatPaths */
    int                   trust_request_start; /* MPMStatTrustRequestStart */
    int                   trust_client_id; /* MPMStatTrustClientId */
    int                   trust_proxy; /* MPMStatTrustProxy */
    int                   notes;     /* MPMStatNotes */
    int                   server_timing; /* MPMStatServerTiming */
    const struct mst_label_ref *label; /* MPMStatLabel; NULL: the virtual host's */
};

/* Per virtual host. */
struct mst_server_config {
    uint32_t label;                  /* index of the host's own label; these two are set by
                                      * recording.c */
    uint64_t tenant;                 /* as which its .htaccess files make labels */
};

/* Of the whole server, fresh at each (re)start. */
struct mst_main_config {
    const char           *board;     /* MPMStatBoard; NULL: the default place */
    uint32_t              journal;   /* MPMStatJournal */
    uint32_t              labels;    /* MPMStatMaxLabels */
    uint32_t              tenant_labels; /* MPMStatTenantLabels */
    const char           *php_boards; /* MPMStatPHPBoards; NULL: Off */
    struct mst_label_ref *refs;      /* every MPMStatLabel in the configuration */
    bool                  trust_request_start; /* somewhere; these two, too */
    bool                  server_timing;
};
extern struct mst_main_config mst_config;

extern const command_rec mst_commands[];
void *mst_create_dir_config(apr_pool_t *p, char *dir);
void *mst_merge_dir_config(apr_pool_t *p, void *base, void *add);
void *mst_create_server_config(apr_pool_t *p, server_rec *s);
int   mst_config_reset(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp);

static inline const struct mst_dir_config *mst_dir_config_of(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &mst_module);
}

static inline const struct mst_server_config *mst_server_config_of(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &mst_module);
}

/* ---- recording (recording.c) --------------------------------------------- */

/* This process's part of the board. Set before the first connection, constant
 * afterwards. board NULL: nothing is recorded, every hook returns at once. */
struct mst_recording {
    struct mst_board   *board;
    struct mst_process *self;         /* this child's entry; NULL: the parent, or none was free */
    struct mst_worker  *workers;      /* its workers, one for each thread there may be */
    uint32_t            first_worker; /* the first one's index on the board */
    const struct worker_score *scores; /* its workers on the scoreboard; NULL: not known yet */
    uint32_t           *in_flight;    /* its requests in flight, by label */
    uint32_t            threads;      /* ThreadLimit */
    uint64_t            pid;          /* this process's; 0: the parent. getpid() is a system call */
    uint64_t           *ids;          /* given to requests so far, by it and its forks */
    uint64_t            id_base;      /* what they are added to: which process */
    uint64_t            parent;       /* pid of the server's parent */
    uint64_t            owner;        /* pid of the child that has claimed `self` */
    bool                forked;       /* from that child: itk's, for one connection; CGI's */
    uint32_t            forks_running; /* forked from this process, not known to have ended */
    bool                listener_thread; /* one accepts for all workers of a process */
    bool                suspends;     /* kept-alive connections: event */
    uint32_t            stripes;      /* of the tallies */
    uint64_t            idle_enough_ns; /* a worker idle for so long kept nobody waiting */
};
extern struct mst_recording mst_recording;

void mst_recording_register(apr_pool_t *p);

/* What the MPM says of itself (AP_MPMQ_...), where that is a number above 0. */
int mst_mpm_number(int query, int unless_positive);

/* The MPM starts children, and may have changed its limit since the configuration was
 * read (ListenCoresBucketsRatio wants a child for each bucket). In the parent. */
void mst_recording_relimit(struct mst_board *b);

/* Logs, once for the whole server, that the board has lost pages, if it has. */
void mst_recording_tell_loss(const server_rec *s);

/* ---- mpm.c ------------------------------------------------------------ */

/* The directives that decide what a load meets, as configured: "MaxRequestWorkers 150;
 * ServerLimit 16; ...; Timeout 300". Of the main server; a virtual host may have its own
 * timeouts. From the pool. */
const char *mst_settings(apr_pool_t *p, const server_rec *s, uint64_t workers_limit);

/* ---- the rest, a file each ----------------------------------------------- */

void mst_lifecycle_register(apr_pool_t *p);
void mst_timing_register(apr_pool_t *p);
void mst_connections_register(apr_pool_t *p);
void mst_http2_register(apr_pool_t *p);
void mst_listeners_register(apr_pool_t *p);

/* The handler "mpm-status" (handler.c). */
int mst_handle_status(request_rec *r);

/* Answers with a sentence instead of httpd's page: programs read it, too. Returns OK. */
int mst_refuse(request_rec *r, int status, const char *sentence);

/* It tells timing that this is the status page's own request. */
void mst_timing_set_label(request_rec *r, uint32_t label);

/* Of the request that the client sent, which r is, or serves: */

/* Its id. 0: none, it is not recorded. */
uint64_t mst_timing_id(request_rec *r);

/* Its phases so far, as they would be if its response began now: times and id only.
 * False: it is not recorded. */
bool mst_timing_so_far(request_rec *r, struct mst_request *so_far);

/* ---- what others are told of a request (exports.c) ------------------------ */

void mst_exports_register(apr_pool_t *p);

/* The first MPMStatServerTiming On of the configuration has been read. */
void mst_exports_use_server_timing(void);

/* The handler of r, which may be a program, is about to begin. */
void mst_exports_hand_over(request_rec *r);

/* Notes for the access log, from the record as it goes to the journal. `last` is what
 * became of r by internal redirects. Called before mod_log_config writes its line. */
void mst_exports_note(request_rec *r, request_rec *last, const struct mst_request *record);

/* ---- forks (forks.c) ------------------------------------------------------ */

void mst_forks_register(apr_pool_t *p);

/* From now on forks are seen, in this process and all that come of it. */
void mst_forks_watch(void);

/* When this thread's latest fork began, and how long it took. */
void mst_forks_began(uint64_t *began_ns, uint64_t *took_ns);

/* The parent started `pid` for the MPM. */
void mst_forks_started(uint64_t pid);

/* The process `pid` is a child of the MPM: followed as such. */
void mst_forks_joined(struct mst_board *b, uint64_t pid);

/* The parent tells which of its forks were helpers. */
void mst_forks_tell_helpers(struct mst_board *b);

/* The parent tells of processes that have gone unseen. */
void mst_forks_sweep(struct mst_board *b);

/* After a request, where mst_recording.forks_running: have they ended? */
void mst_forks_look(void);

/* This process closes the connection that it was forked for. itk ends it then, without
 * running the cleanups of pools. */
void mst_forks_closing(void);

/* This process, forked for a connection, ends by itself. */
void mst_forks_own_end(struct mst_board *b);

/* This process was forked from a child of the MPM. It serves a connection of that
 * child (itk), and so writes to its entry; or it is to become a CGI script. */
void mst_recording_forked(void);

/* Tells of children that have ended without the MPM's telling. In the parent. */
void mst_lifecycle_sweep(struct mst_board *b);

/* Notes a restart on the board (processes.c). Called in the parent. */
void mst_lifecycle_generation(struct mst_board *b, uint64_t generation);

#endif

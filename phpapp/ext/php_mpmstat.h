/* php_mpmstat.h - what the extension's own files share. Zend glue: nothing here is
 * seen by the board library, which does not know Zend.
 *
 *   mpmstat.c    module entry, ini settings, phpinfo(), mpmstat_mark()
 *   place.c      which board is this process's, and making or opening it
 *   label.c      what a request is tallied under
 *   lifecycle.c  workers: joining the board, forks, ends
 *   request.c    one request: time stamps, tallies, journal record
 */
#ifndef PHP_MPMSTAT_H
#define PHP_MPMSTAT_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <zend_ini.h>

#include "segment/handover.h"
#include "write/board.h"

#define MPMSTAT_MARKS_MAX 64u   /* marks of one request; more are left out */

#ifdef ZTS
#define MPMSTAT_THREADS 64u     /* workers of one process; further threads have no entry */
#else
#define MPMSTAT_THREADS 1u
#endif

/* Per thread (NTS: the one there is). Settings, then the present request. */
ZEND_BEGIN_MODULE_GLOBALS(mpmstat)
    bool      enable, enable_cli, trust_request_start;
    char     *board, *group;
    zend_long workers_limit, processes, journal, tenant_labels;
    const char *label;             /* what is set, or else the pool */
    bool      label_is_tenants;    /* it is a tenant's setting, not the server's own */
    bool      label_stays_tenants; /* and still is when what this request set is taken back */
    char      own_label[MST_NAME_MAX];   /* the latest that was the server's own; empty: none */

    bool      active;              /* between RINIT and post-deactivate of a recorded request */
    bool      fatal;               /* ended by an error that always ends it */
    bool      maybe_fatal;         /* saw one that a handler may have taken */
    bool      compiled;            /* the script had to be compiled */
    bool      executed;            /* there was a script */
    unsigned  marks;
    uint32_t  label_index, stripe, worker_index;
    uint64_t  id, start_ns, wait_ns, user_ns, system_ns;
    char      script[MST_PATH_MAX];

    char      label_name[MST_NAME_MAX];  /* for which label_index was chosen; empty: none yet,
                                          * or the label was refused */
    char      refused_name[MST_NAME_MAX];
    uint64_t  refused_owner;       /* the tenant that it was refused to */
    struct mst_worker *worker;     /* this thread's entry; NULL: none */
    uint64_t  state_since_ns;
    uint64_t  joined;              /* as of which mst_php.joins `worker` is */
ZEND_END_MODULE_GLOBALS(mpmstat)

ZEND_EXTERN_MODULE_GLOBALS(mpmstat)
#define MPMSTAT_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(mpmstat, v)
#if defined(ZTS) && defined(COMPILE_DL_MPMSTAT)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* Who makes the board. */
enum mst_sapi {
    MST_SAPI_OFF,      /* not a server, or none that is known: nothing is recorded */
    MST_SAPI_FPM,      /* the master, just before it forks its first worker */
    MST_SAPI_APACHE,   /* Apache's parent, when it loads PHP */
    MST_SAPI_SHARED    /* nobody is everybody's parent: whoever comes first */
};

/* This process's part of the board. */
struct mst_php {
    enum mst_sapi       sapi;
    struct mst_board    board;
    bool                is_open;
    bool                given_up;    /* it was tried and said why not */
    char                why_not[MST_ERROR_MAX];   /* for phpinfo(); empty: no reason */
    uint64_t            parent;      /* pid of the server's parent; 0: not this board's */
    uint64_t            pid;         /* as which it joined; 0: it has not */
    bool                is_forked;   /* from a worker by its script: records nothing */
    struct mst_process *self;        /* its entry; NULL: none was free */
    uint32_t            threads;     /* that have asked for a worker so far */
    uint64_t            joins;       /* so far: a thread's worker may be an earlier process's */
    uint64_t            minit_ns;    /* when PHP started here */
    char                boot[MST_HANDOVER_BOOT];   /* of hand-overs of this boot */
    char                place[MST_HANDOVER_MAX];  /* of hand-overs from this machine */
};
extern struct mst_php mst_php;

/* ---- place.c ------------------------------------------------------------------- */

enum mst_sapi mst_place_sapi(void);

/* The server's parent: takes up the board that it had before a restart, or makes one.
 * Sets mst_php.is_open, or given_up after having said why, once. */
void mst_place_open_parent(void);

/* A process without a parent: takes the board of its user, or makes it. */
void mst_place_open_shared(void);

/* A line in PHP's error log. */
void mst_place_say(const char *text);

/* Plain CGI: a process for each request, each of which would log the same. */
bool mst_place_is_one_of_many(void);

/* This process's command line, or -1; it stays that of this process, whatever root it has
 * when it is read. */
int mst_place_title_open(void);

/* Reads the beginning of a command line, its NULs as spaces, and closes it. */
void mst_place_title_read(int fd, char *to, size_t size);

/* ---- settings.c ---------------------------------------------------------------- */

/* "memory_limit = 128M; max_execution_time = 30; ...", cut where it does not fit. */
void mst_settings_write(char *to, size_t size);

/* ---- label.c ------------------------------------------------------------------- */

/* In a new worker of FPM, before it serves as another user and with another root. */
void mst_label_join(void);

/* RINIT, recorded or not: the first one learns the pool's name. */
void mst_label_learn(void);

/* mpmstat.label changes. */
ZEND_INI_MH(mst_label_update);

/* Sets MPMSTAT_G(label_index). */
void mst_label_choose(void);

/* The board, or the process on it, is another: the next request chooses again. */
void mst_label_forget(void);

/* For phpinfo(): this request's label, and where it was not to be had, which was set. */
void mst_label_show(char *to, size_t size);

/* ---- lifecycle.c ---------------------------------------------------------------- */

/* At MINIT: forks are seen from now on. */
void mst_lifecycle_start(void);

/* The parent: opens its board, and tells of a restart. */
void mst_lifecycle_open(void);

/* Makes this process a worker of the board, at its first request; false: it records
 * nothing. */
bool mst_lifecycle_join(void);

/* Sets this thread's worker. */
void mst_lifecycle_thread(void);

/* Logs, once for all processes of the board, that it has lost pages, if it has. */
void mst_lifecycle_tell_loss(void);

/* At MSHUTDOWN, and when the process exits without one: a worker leaves the board, a
 * parent notes the stop. With threads (ZTS) others may be at a request meanwhile. */
void mst_lifecycle_end(void);

/* ---- request.c ------------------------------------------------------------------ */

/* At MINIT and MSHUTDOWN: watches errors and compilations. */
void mst_request_start_watching(void);
void mst_request_stop_watching(void);

void mst_request_begin(void);      /* RINIT */
void mst_request_look(void);       /* RSHUTDOWN: what is gone after it */
void mst_request_end(void);        /* post-deactivate: everything is torn down */
void mst_request_mark(const char *name, size_t length);

#endif

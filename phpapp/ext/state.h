/* state.h - the state that the extension's files share: settings and the present request for
 * each thread (MPMSTAT_G), the board for the process (mst_php).
 *
 *   mpmstat.c    module entry, ini settings, phpinfo(), mpmstat_mark(): calls all below
 *   request.c    one request: time stamps, counters, journal record
 *   lifecycle.c  workers: joining the board, forks, ends
 *   label.c      the label that a request is counted under
 *   place.c      which board is this process's, and making or opening it
 *   settings.c   php.ini's settings for the board's header
 *   state.c      the variables declared here
 *
 * A file calls only those below it. The library (lib/) does not know Zend.
 */
#ifndef MPMSTAT_PHP_STATE_H
#define MPMSTAT_PHP_STATE_H

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

#endif

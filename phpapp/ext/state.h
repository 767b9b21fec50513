/* state.h - the state that the extension's files share: settings and the present request for
 * each thread (MPMSTAT_G), the board for the process (mst_php).
 *
 *   mpmstat.c    module entry, ini settings, phpinfo(), mpmstat_mark(): calls all below
 *   request.c    one request: time stamps, counters, journal record
 *   waits.c      what a request waits for: times the functions of waits.def
 *   wait_place.c from where in PHP's code it waits
 *   timed.c      replaces the handlers of these functions
 *   ends.c       the table of waits.def
 *   end_*.c      what such a function waits for, kind and other end: of databases, caches, http,
 *                paths, sockets, streams
 *   end_call.c   what the arguments of its call say
 *   end_url.c    URLs that scripts open
 *   end_known.c  the objects and resources whose other ends are known
 *   end_name.c   the names of other ends
 *   lifecycle.c  workers: joining the board, forks, ends
 *   label.c      the label that a request is counted under
 *   board_place.c  which board is this process's, and making or opening it
 *   pools.c      FPM's pools, and the limit of workers of each
 *   profile.c    samples of where PHP's code uses CPU time
 *   code_place.c where PHP's code is, as functions and call stacks of the board
 *   delay.c      how long a thread was ready to run and had no CPU
 *   settings.c   php.ini's settings for the board's header
 *   state.c      the variables declared here
 *   compat.h     where the versions of PHP differ
 *
 * A file calls only those below it. The library (lib/) does not know Zend.
 */
#ifndef MPMSTAT_PHP_STATE_H
#define MPMSTAT_PHP_STATE_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <zend_ini.h>

#include "segment/handover.h"
#include "write/board.h"

#define MPMSTAT_MARKS_MAX 64u   /* recorded marks of one request */

#ifdef ZTS
#define MPMSTAT_THREADS 64u     /* entries of one process; further threads have none. At most 64 */
#else
#define MPMSTAT_THREADS 1u
#endif

/* What calls to one other end cost a request. */
struct mst_wait_sum {
    uint64_t ns, connect_ns;       /* all of them; those that connect */
    uint32_t calls, failed, kind;
};

/* An object or resource of PHP's, and what its functions wait for. */
struct mst_known {
    uintptr_t key;                 /* as mst_known_key(); 0: no entry */
    uint64_t  wait;                /* as mst_wait_of() */
};
#define MPMSTAT_KNOWN 256u         /* a power of two */

/* A function whose frame is known, in this request. */
struct mst_code_place {
    const void *code;              /* its operations, or itself where it is PHP's own */
    uint64_t    request_ns;        /* start_ns of the request */
    uint32_t    line, frame;
};
#define MPMSTAT_FUNCTIONS 256u

/* From where calls of the present request waited for one other end. */
struct mst_wait_place {
    uint64_t chain;                /* mst_place_chain(); 0: no entry */
    uint64_t ns;
    uint32_t stack, calls;
    uint32_t sum;                  /* index of mst_waits.sums; MPMSTAT_NO_SUM: no call has ended */
};
#define MPMSTAT_WAIT_PLACES 128u
#define MPMSTAT_NO_PLACE UINT32_MAX
#define MPMSTAT_NO_SUM   UINT32_MAX

struct mst_wait_places {
    bool     is_on;
    uint32_t used_count;
    uint8_t  used[MPMSTAT_WAIT_PLACES];
    struct mst_wait_place all[MPMSTAT_WAIT_PLACES];   /* by chain */
    uint64_t left_ns;              /* of all requests: waits that no sample stands for yet */
};

struct mst_own_end;
struct mst_timed_function;
struct mst_suspended;

/* The waits of a thread's present request. Time off the CPU is wall time less CPU time. */
struct mst_waits {
    bool     is_on;                /* the request is recorded and its waits are measured */
    bool     has_known;            /* `known` has entries */
    struct _zend_execute_data *call;   /* the outermost timed call under way; NULL: none */
    const struct mst_timed_function *timed; /* the function called */
    struct mst_own_end *own;       /* what it waits for, where no more is known */
    uint64_t wait;                 /* what that waits for, as far as is known before its end */
    uint32_t place;                /* index of `places` from where it was called */
    zval    *result;
    uint64_t began_ns, began_cpu_ns;   /* when it began, or its fiber went on */
    uint64_t waited_ns;            /* off the CPU in it before its fiber was suspended */
    uint64_t seen_ns, seen_cpu_ns; /* when the latest call ended; else when the request began */
    uint64_t delay_ns;             /* run delay as last read; MST_UNKNOWN */
    uint64_t first_delay_ns;       /* the same as the request began */
    uint64_t unread_ns;            /* off the CPU since the run delay was read */
    uint64_t unread_outside_ns;    /* of that, outside timed calls */
    struct timespec clock;         /* room for a clock's answer */
    struct mst_suspended *suspended;   /* timed calls in fibers that do not run now */
    uint32_t used_count;
    uint8_t  used[MST_ENDS + MST_WAIT_COUNT];   /* which of `sums` are not empty */
    struct mst_wait_sum sums[MST_ENDS + MST_WAIT_COUNT];  /* by other end; those of MST_END_OTHER
                                                           * by kind, from MST_ENDS */
    struct mst_known known[MPMSTAT_KNOWN];
    struct mst_wait_places places;
};

/* Of each thread (NTS has one): the settings, then the present request. */
ZEND_BEGIN_MODULE_GLOBALS(mpmstat)
    bool      enable, enable_cli, trust_request_start, measure_waits, name_ends, places;
    char     *board, *group;
    zend_long workers_limit, processes, journal, tenant_labels, profile;
    const char *label;             /* as set; else the pool's name */
    bool      label_is_tenants;    /* a tenant's setting, not the server's own */
    bool      label_stays_tenants; /* the same, after PHP restores what the request set */
    char      own_label[MST_NAME_MAX];   /* the latest of the server's own; "": none */

    bool      active;              /* from RINIT to post-deactivate of a recorded request */
    bool      fatal;               /* an error that always ends a request has ended it */
    bool      maybe_fatal;         /* it had an error that a handler could have taken */
    bool      compiled;            /* the script was compiled, not taken from OPcache */
    bool      executed;            /* a script ran */
    unsigned  marks;
    uint32_t  label_index, stripe, worker_index;
    uint64_t  id, start_ns, wait_ns, user_ns, system_ns;
    uint64_t  compile_ns;          /* CPU time for scripts that OPcache did not have */
    uint64_t  compiled_until_ns;   /* the thread's CPU time when one of them was compiled, while
                                    * OPcache goes on with it; else 0 */
    uint64_t  gc_ns;               /* CPU time for collecting garbage */
    uint64_t  upload_ns;           /* blocked in reading the body before the request began */
    char      script[MST_PATH_MAX];

    char      label_name[MST_NAME_MAX];  /* label_index is for this name; "": none was chosen
                                          * yet, or the label was refused */
    char      refused_name[MST_NAME_MAX];
    uint64_t  refused_owner;       /* the tenant to which it was refused */
    uint32_t  thread;              /* this thread's number in the process, from 1 on; 0: none */
    struct mst_worker *worker;     /* this thread's entry; NULL: none */
    uint64_t  state_since_ns;
    uint64_t  joined;              /* mst_php.joins when `worker` was set */
    int       delay_fd;            /* this thread's schedstat; -1: not open */
    bool      has_profile_timer;
    uint64_t  profile_pid;         /* the process in which this thread has set its timer */
    timer_t   profile_timer;
    struct mst_code_place functions[MPMSTAT_FUNCTIONS];
    struct mst_waits waits;
ZEND_END_MODULE_GLOBALS(mpmstat)

ZEND_EXTERN_MODULE_GLOBALS(mpmstat)
#define MPMSTAT_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(mpmstat, v)
#ifdef ZTS
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* How this process gets its board. */
enum mst_board_origin {
    MST_ORIGIN_OFF,    /* no server, or an unknown one: nothing is recorded */
    MST_ORIGIN_FPM,    /* the master makes it before it forks its first worker */
    MST_ORIGIN_APACHE, /* Apache's parent makes it when it loads PHP */
    MST_ORIGIN_SHARED  /* no common parent: the first process makes it */
};

/* This process and its board. */
struct mst_php {
    enum mst_board_origin origin;
    struct mst_board    board;
    bool                is_open;
    bool                given_up;    /* opening it has failed; the reason was logged */
    char                why_not[MST_ERROR_MAX];   /* for phpinfo(); "": no reason */
    uint64_t            parent;      /* pid of the server's parent; 0: it has none */
    uint64_t            pid;         /* of the process that joined; 0: none has */
    bool                is_forked;   /* a worker's script forked this process: it records nothing */
    struct mst_process *self;        /* its entry; NULL: none was free */
    uint64_t            threads;     /* a bit for each number that a thread has */
    uint64_t            joins;       /* joins so far: a thread's worker can be of an earlier one */
    uint64_t            minit_ns;    /* when PHP started here */
    uint64_t            began_pid, began_ticks;   /* FPM's process then, which forks a daemon */
    char                boot[MST_HANDOVER_BOOT];   /* BOOT in hand-overs of this boot */
    char                place[MST_HANDOVER_MAX];  /* the place in hand-overs from this machine */
};
extern struct mst_php mst_php;

/* Returns an index of zend_internal_function.reserved that is this extension's; -1: none is
 * free. */
int mst_reserve_slot(void);

/* Whether another thread has ended PHP, and so freed this process's entry, while this thread was
 * at its request. */
static inline bool mst_worker_has_left(void)
{
    return MPMSTAT_THREADS > 1
        && MPMSTAT_G(joined) != __atomic_load_n(&mst_php.joins, __ATOMIC_RELAXED);
}

#endif

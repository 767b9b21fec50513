/* source.h - one server as a recording sees it: journal and samples, from a
 * board file or from a status URL alike.
 *
 * A source belongs to one thread at a time. Calls on a board file take
 * milliseconds; calls on a URL wait for the server, at most
 * MST_SOURCE_TIMEOUT_MS, and less where the stop flag is raised.
 *
 * The usual order: open, sample (totals before), mark, {poll, sample}...,
 * poll, finish, sample (totals after), lost, close.
 */
#ifndef MPMSTAT_SOURCE_H
#define MPMSTAT_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/tail.h"
#include "source/remote_clock.h"
#include "source/target.h"
#include "system/processes.h"

#define MST_SOURCE_TIMEOUT_MS 10000L   /* the longest that one HTTP answer may take */

struct mst_source;

/* Which server it is, as of open or of the last restart. Empty: not known. */
struct mst_source_identity {
    enum mst_producer producer;
    char     server[64], version[16], mpm[16], sapi[16];
    char     settings[MST_SETTINGS_MAX];   /* its limits and timeouts */
    char     board[512];             /* the board's path on the server's machine */
    uint64_t pid;                    /* the parent's (master's) */
    uint64_t started_wall_ns;        /* nanoseconds since 1970 */
    /* The instants of its records less this are its CLOCK_MONOTONIC, by which records of
     * different boards of one machine compare exactly. MST_UNKNOWN: over a URL. */
    uint64_t clock_offset_ns;
};

/* A status URL is its Apache; URL#NAME is the PHP's board of that base name among
 * those that the same status shows.
 * Borrows the target: it must stay where it is until the source is closed.
 * Opens it, asks it once. NULL with a sentence. */
struct mst_source *mst_source_open(struct mst_target *target, char error[MST_ERROR_MAX]);
void mst_source_close(struct mst_source *source);

const struct mst_source_identity *mst_source_identity(const struct mst_source *source);
const char *mst_source_name(const struct mst_source *source);   /* the target's name */
/* What people call it: its name in the file of targets, or else the same. */
const char *mst_source_called(const struct mst_source *source);
const struct mst_target *mst_source_target(const struct mst_source *source);

/* Reads again by how much the wall clock is ahead of CLOCK_MONOTONIC. By that alone
 * monotonic times become instants from now on, records' and samples' alike, so that
 * neither a wall clock that was set since the server's start nor one that is set
 * during a run parts them. Open does it; a caller that begins a run does it again. */
void mst_source_set_clock(struct mst_source *source);

/* How far the clock of a server on another machine is ahead of ours, as far as its answers have
 * told until mark; its instants are given by our clock. NULL: it is here, or that is not known. */
const struct mst_clock_offset *mst_source_clock(const struct mst_source *source);

/* By how much an answer has contradicted that: its clock was set, or it does not tell the truth.
 * 0: none has. */
uint64_t mst_source_clock_jump_ns(const struct mst_source *source);

/* The instant of a CLOCK_MONOTONIC of this machine, to compare with the source's. */
uint64_t mst_source_wall_ns(const struct mst_source *source, uint64_t monotonic_ns);

/* What else can be recorded where this is: a URL for each PHP's board in the status
 * of an Apache, as of open. NULL behind the last. */
const char *mst_source_other(const struct mst_source *source, size_t index);

/* Whether its pids are processes of this machine and pid namespace, so that
 * /proc tells of them. A board file: where its namespace is ours, and the process that it
 * names has the board (processes.h). A URL: where the host is loopback and the same holds
 * of the board it names, the process being alive. */
bool mst_source_local(const struct mst_source *source);

/* Whether two servers can have the same requests: both are of this machine, or one status URL shows
 * both. */
bool mst_source_is_beside(const struct mst_source *a, const struct mst_source *b);

/* Why the process that the board names is not taken for its server's; "" where it is, or
 * where there is none to see. */
const char *mst_source_doubt(const struct mst_source *source);

/* The board's file on this machine. NULL: it cannot be read here. */
const struct mst_board_file_id *mst_source_board(const struct mst_source *source);

/* Waiting for an HTTP answer ends soon after *stop becomes nonzero (a signal
 * handler's flag); the call then fails. NULL: never. */
void mst_source_set_stop(struct mst_source *source, const volatile sig_atomic_t *stop);

/* Called around each wait for an answer: another thread can have its turn meanwhile. */
struct mst_source_wait {
    void (*begin)(void *context);
    void (*end)(void *context);
    void  *context;
};
/* Borrows *wait. NULL: as at open. */
void mst_source_set_wait(struct mst_source *source, const struct mst_source_wait *wait);

/* Nothing is asked for, read or waited for after this instant (CLOCK_MONOTONIC). A poll
 * that it or the stop flag ends is not a failure: what is left is pending. UINT64_MAX: never,
 * as at open. */
void mst_source_set_deadline(struct mst_source *source, uint64_t deadline_ns);

/* ---- the journal ---------------------------------------------------------- */

/* From where a request of PHP's waited: ids as of on_stack and on_frame; 0: not known. */
struct mst_record_place {
    uint64_t stack;
    uint64_t frame;   /* of the stack, the one that is named (call_place.h) */
};

/* The names that a record refers to. */
struct mst_record_names {
    const char *label;
    const char *ends[MST_RECORD_ENDS];   /* NULL: none, or not known */
    const char *path;                    /* NULL: none, or not known */
    struct mst_record_place places[MST_RECORD_ENDS];
};

/* Of a frame's or a stack's id, the bits above these count the starts, too. */
#define MST_SOURCE_CODE_BITS 24u

/* Of a record's key, the bits above these count the starts of its server since mark. */
#define MST_SOURCE_TICKET_BITS 48u

/* Where records go. A function that is NULL: such records are not wanted. Pointers are valid during
 * the call only. A nonzero return stops the poll, which then returns -1 with error "" (the callee
 * has said why). `key` is unique among the records of a kind, also across restarts of the server.
 * Records may come a little out of order. wall_ns: since 1970. Texts within records end with a NUL.
 * Over a URL the records' monotonic times (start_ns, time_ns) and the indices of names are 0. */
struct mst_source_events {
    void *context;
    int (*on_request)(void *context, const struct mst_request *request,
                      const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key);
    int (*on_lifecycle)(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
                        uint64_t key);
    int (*on_php_request)(void *context, const struct mst_php_request *request,
                          const struct mst_record_names *names, uint64_t wall_start_ns,
                          uint64_t key);
    int (*on_mark)(void *context, const struct mst_mark *mark, uint64_t wall_ns,
                   uint64_t request_wall_ns, uint64_t key);
    int (*on_delivery)(void *context, const struct mst_delivery *delivery, uint64_t key);
    /* Of PHP's code. A frame and a stack come before what refers to them; the same one can come
     * again. Ids are unique in the server, and not 0. */
    int (*on_frame)(void *context, uint64_t id, const struct mst_frame *frame);
    int (*on_stack)(void *context, uint64_t id, uint64_t caller_id, uint64_t frame_id);
    int (*on_code_sample)(void *context, const struct mst_code_sample *sample, uint64_t stack_id,
                          uint64_t wall_ns, uint64_t request_wall_ns, uint64_t key);
};

/* Frames and stacks that were given are given again: for another archive. */
void mst_source_forget_code(struct mst_source *source);

/* The journal's position is now: polls give what comes after. */
int mst_source_mark(struct mst_source *source, char error[MST_ERROR_MAX]);

/* The journal's position is its oldest record. What its ring has overwritten counts as lost. */
int mst_source_rewind(struct mst_source *source, char error[MST_ERROR_MAX]);

/* Gives what has come since the last poll (or mark). Returns the number of
 * records, or -1 with a sentence; what was given before the error stays given,
 * and the next poll goes on behind it. After a new start of the server it goes
 * on with the new board from its beginning. */
long mst_source_poll(struct mst_source *source, const struct mst_source_events *events,
                     char error[MST_ERROR_MAX]);

/* From here on lost and restarts are counted, as from mark; the journal's position stays. */
void mst_source_count_on(struct mst_source *source);

/* Whether the last poll left records behind that are still being written, or
 * more than it could take: worth another poll soon. */
bool mst_source_pending(const struct mst_source *source);

/* Gives up on records that are not complete yet: they count as lost. Call it
 * after the last poll, before mst_source_lost. */
void mst_source_finish(struct mst_source *source);

/* Records overwritten before they were read, or never completed, since mark or count_on.
 * MST_UNKNOWN: it cannot be known (a restart seen through a URL; the last poll was ended
 * before it had all). */
uint64_t mst_source_lost(const struct mst_source *source);

/* Starts of the server (new boards) seen since mark or count_on. Counters began at 0 again. */
unsigned mst_source_restarts(const struct mst_source *source);

/* ---- samples --------------------------------------------------------------- */

struct mst_sample_process {
    uint64_t pid;
    uint64_t start_ticks;    /* /proc/PID/stat field 22; 0 not known */
};

/* A pool of FPM's, which is a label with a limit of its own. */
struct mst_sample_pool {
    char     label[MST_NAME_MAX];
    uint64_t workers_limit;
    uint64_t in_flight;      /* requests under that label: workers that are busy with them */
    uint64_t limit_reached;  /* how often all of its workers were busy, since its start */
};

/* An other end's totals since the server's start. */
struct mst_sample_end {
    const char *kind;             /* NULL: only a newer server knows it */
    char        name[MST_NAME_MAX];
    uint64_t    calls, failed, end_ns, connect_ns;   /* connect_ns: of end_ns; MST_UNKNOWN */
};

#define MST_LISTENS_MAX 1024u
#define MST_LISTEN_ADDRESS_MAX 128u   /* a path of a Unix socket has at most 108 bytes */

/* The server now, and its totals since its start. MST_UNKNOWN where not known. */
struct mst_sample {
    uint64_t wall_ns;                         /* when it was so, since 1970 (our clock) */
    bool     has_ended;                       /* the server's parent does not run */
    uint64_t stopped_ns;                      /* when it was stopped, since 1970; MST_UNKNOWN: it
                                               * runs, or ended without being stopped */
    uint64_t cost_ns;                         /* how long taking it took */
    /* Now; by URL without the worker that answers, unless requests wait for it. */
    uint64_t workers_limit, workers_busy;
    uint64_t states[MST_STATE_COUNT];         /* workers in each state */
    uint64_t state_ns[MST_STATE_COUNT];       /* of all workers, with the present state's so far */
    uint64_t connections, in_flight;          /* now; in_flight without mpm-status */
    uint64_t accepted, shed;
    uint64_t http2_workers_limit, http2_workers_busy;   /* now, of the child that is fullest */
    uint64_t listen_queue, listen_queue_limit;   /* now, of the fullest listening socket */
    char     listens[MST_LISTENS_MAX];        /* addresses of all its listening sockets, separated
                                               * by blanks; "" not known, or too many */
    char     listen_address[MST_LISTEN_ADDRESS_MAX];   /* of that socket, cut; "" not known */
    char     listen_pool[MST_NAME_MAX];       /* the FPM pool that it is of; "" none, not known */
    struct mst_opcache opcache;               /* a PHP's; its other words are MST_UNKNOWN where
                                               * they are not known */
    uint64_t requests;                        /* completed, without the label mpm-status */
    uint64_t requests_status;                 /* completed, with the label mpm-status */
    uint64_t bytes;                           /* without mpm-status */
    uint64_t classes[MST_CLASS_COUNT];        /* requests by class, without mpm-status */
    uint64_t forks[MST_KIND_COUNT], exits[MST_REASON_COUNT];
    uint64_t forks_failed, no_idle_ns, generations, unfinished;
    uint64_t requests_written, lifecycle_written;   /* records in the journal so far */

    size_t                end_count;            /* those that were called */
    struct mst_sample_end ends[MST_ENDS];

    size_t                     process_count;   /* live ones, without the parent */
    size_t                     process_room;
    struct mst_sample_process *processes;

    size_t                  pool_count, pool_room;
    struct mst_sample_pool *pools;
};

/* Fills *sample; zero it before the first use, then use it again and again:
 * its lists are reused. Returns 0, or -1 with a sentence. */
int  mst_source_sample(struct mst_source *source, struct mst_sample *sample,
                       char error[MST_ERROR_MAX]);
void mst_sample_free(struct mst_sample *sample);

/* From now on each sample also shows the snapshot that it is made of. */
typedef void mst_source_see(void *context, const struct mst_snapshot *board);
void mst_source_watch(struct mst_source *source, mst_source_see *see, void *context);

#endif

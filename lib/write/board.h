/* board.h - makes a board, and writes to it: for servers.
 *
 * The parent creates the board before it forks; children inherit the mapping and claim a process
 * entry each. What a request needs is in worker.h, busy.h and journal.h: that part takes no lock,
 * makes no system call, allocates nothing and cannot fail.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. A function that returns -1 has set `error` to a
 * sentence: what was expected, what was found, what to do.
 */
#ifndef MPMSTAT_BOARD_H
#define MPMSTAT_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "segment/fields.h"
#include "segment/format.h"
#include "segment/layout.h"
#include "segment/reader.h"
#include "write/guard.h"

/* The server that writes the board. Texts are copied into the header and cut to its size; NULL is
 * empty. */
struct mst_identity {
    const char *server, *mpm, *sapi, *version;
    const char *settings;          /* see struct mst_header */
    uint64_t    workers_limit;     /* MST_UNKNOWN: not known */
    uint64_t    http2_workers_limit;   /* of each process; 0: none */
    bool        no_parent;         /* its processes have no common parent: the header names no
                                    * pid */
};

/* A board that this process has mapped. Pointers are into the mapping. The struct must stay where
 * it is in memory while it is open: a signal handler knows its guard. */
struct mst_board {
    int                       fd;   /* open for reading only: no process that inherits it can
                                     * change the file's size */
    struct mst_page_guard     guard;
    size_t                    bytes;
    struct mst_header        *header;
    struct mst_totals        *totals;
    struct mst_process       *processes;
    struct mst_worker        *workers;
    uint32_t                 *in_flight;
    struct mst_name          *labels;
    struct mst_counters         *counters;
    struct mst_request_record   *requests;
    struct mst_lifecycle_record *lifecycle;
    struct mst_php_request_record *php_requests;   /* on PHP's boards */
    struct mst_mark_record      *marks;            /* on PHP's boards */
    struct mst_fork          *forks;               /* on Apache's boards, as `requests` */
    struct mst_name          *ends;
    struct mst_other_end_counters  *end_counters;
    struct mst_delivery_record *deliveries;        /* on Apache's boards */
    struct mst_path          *paths;               /* on Apache's boards */
    struct mst_frame         *frames;              /* these three on PHP's boards */
    struct mst_call_stack    *stacks;
    struct mst_code_sample_record *code_samples;
    uint32_t process_count, threads, label_count, stripe_mask, fork_count, end_count;
    uint32_t path_count;            /* a power of two, or 0; as these two */
    uint32_t frame_count, stack_count;
    uint32_t threads_used;          /* of `threads`, by a process that claims an entry now */
    uint32_t in_flight_stride;      /* words of in_flight for each process */
    uint64_t requests_mask, lifecycle_mask, php_requests_mask, marks_mask, deliveries_mask,
             code_samples_mask;
    int64_t  busy_excess;           /* by how many workers mst_busy_correct() last found the sum too
                                     * large */
    uint64_t busy_excess_ns;        /* when it did */
    char     path[512];
};

/* Makes a board and publishes it at `path`: allocates, maps and fills a private file in the same
 * directory, then renames it. Its mode is 0640, its group `gid` ((gid_t)-1: the process's own).
 * Refuses to replace a board that a live server has mapped, and a file that is not a board; but a
 * file named *.board of this user's, in a directory that only this user may write to, is replaced
 * whatever its bytes are. Returns 0, or -1 with a sentence; then no file is left behind. Sets
 * warning to a sentence where the board is not on a tmpfs (it works, and costs disk writes), else
 * to "". */
int mst_board_create(struct mst_board *b, const char *path, const struct mst_layout *layout,
                     const struct mst_identity *identity, gid_t gid,
                     char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Maps the board at `path` that this process itself made, before an exec or a reload of the code
 * that writes it: the header names this pid and its start time, the layout is `layout`, and no
 * other user may write to the file. False: there is no such board. */
bool mst_board_adopt(struct mst_board *b, const char *path, const struct mst_layout *layout);

/* The generation of a board that takes the place of the one at `path`, where the process `pid` that
 * began at start_ticks made that: one more than its own. For a server that executes itself again,
 * and then becomes a daemon, which is another process. 0: there is no such board. */
uint64_t mst_board_next_generation(const char *path, uint64_t pid, uint64_t start_ticks);

/* Maps the board at `path` that processes of one user share, or makes it where there is none: in a
 * private file, which is then linked into place, so that one of several processes that come at
 * once is first. Never replaces a board that a living process writes to, and takes none that
 * another user may write to. Returns and sets as mst_board_create(). Precondition:
 * identity->no_parent. */
int mst_board_share(struct mst_board *b, const char *path, const struct mst_layout *layout,
                    const struct mst_identity *identity, gid_t gid,
                    char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Whether this build can write to the board that r reads: it has that layout, and its counters are
 * where this build has them. Sets sections to where its sections are. */
bool mst_board_fits(const struct mst_reader *r, const struct mst_layout *layout,
                    struct mst_section sections[MST_SECTION_COUNT]);

/* Sets the identity in the header, after a restart. */
void mst_board_identify(struct mst_board *b, const struct mst_identity *identity);

/* Unmaps the board. The file stays, for readers. */
void mst_board_close(struct mst_board *b);

/* Whether a page of the board is lost and no process has reported it: true in one process, once.
 * Marks the board as ended for its readers, and sets the sentence to log. */
bool mst_board_is_to_tell_loss(struct mst_board *b, char sentence[MST_ERROR_MAX]);

/* ---- labels (label.c) ---------------------------------------------------------------- */

/* Whether a label may have this name: 1 to MST_NAME_MAX - 1 letters, digits and - _ . : /, which
 * no format has to escape. */
bool mst_label_is_valid(const char *name);

/* The index of a label of the server's own configuration. Adds the label where there is room, else
 * returns MST_LABEL_OTHER. Other processes may call it at the same time: it waits a moment for one
 * that is adding a label. Cuts the name to MST_NAME_MAX - 1 bytes. Whatever other processes have
 * written to the table, the index of a label is below label_count, that of an other end below
 * end_count. */
uint32_t mst_label_intern(struct mst_board *b, const char *name);

/* The same for a server's parent, which must not wait for a child. */
uint32_t mst_label_reserve(struct mst_board *b, const char *name);

/* A tenant makes labels in files that the server's administrator does not write (.htaccess,
 * .user.ini). Labels are never removed: so each tenant has a quota, and all tenants together a
 * share of the table; the rest is for the server's configuration. */
struct mst_tenant {
    uint64_t owner;   /* mst_label_owner() of what names the tenant: its virtual host, its pool */
    uint32_t quota;   /* labels that it may make */
    uint32_t share;   /* labels that all tenants may make together */
};
#define MST_TENANT_LABELS_DEFAULT 8u   /* a quota */
#define MST_TENANTS_PART          4u   /* the share is label_count over this */

/* A tenant's number, by its name; never 0. */
uint64_t mst_label_owner(const char *name);

/* Sets *index to that of the label that a tenant names. False, and *index is left alone,
 * where the label is not there and the tenant may not add it, or it is the status page's. */
bool mst_label_intern_tenant(struct mst_board *b, const char *name,
                             const struct mst_tenant *tenant, uint32_t *index);

/* Copies the label's name out of the table. */
void mst_label_read(const struct mst_board *b, uint32_t index, char name[MST_NAME_MAX]);

/* The index of the other end of this kind and name, which the server's own configuration names or
 * of whose names there are few. Adds it where there is room; MST_END_OTHER where there is none.
 * Waits a moment for a process that is adding one. A name that has other bytes than printable
 * ASCII has `?` for them; it is cut to MST_NAME_MAX - 1 bytes. Searches the table: callers keep
 * the index. */
uint32_t mst_other_end_intern(struct mst_board *b, enum mst_other_end_kind kind, const char *name);

/* The same for a name that a tenant can make: a script, a .htaccess. `owner` is
 * mst_label_owner() of what names the tenant. Each tenant may add MST_TENANT_ENDS, and all of them
 * MST_TENANTS_ENDS. */
#define MST_TENANT_ENDS  (MST_ENDS / 2)
#define MST_TENANTS_ENDS (MST_ENDS / 4 * 3)
uint32_t mst_other_end_intern_tenant(struct mst_board *b, enum mst_other_end_kind kind,
                                     const char *name, uint64_t owner);

/* Whether to log this: true once in the board's life, in one process. */
static inline bool mst_board_tell_once(struct mst_board *b, enum mst_told what)
{
    return !(__atomic_fetch_or(&b->header->told, (uint32_t)what, __ATOMIC_RELAXED) & what);
}

/* Claims a process entry for pid, with all its workers idle. Where no entry is free, takes one
 * whose owner is dead. Returns its index, or -1: there is none. */
int mst_process_claim(struct mst_board *b, uint64_t pid, uint64_t generation, uint64_t now_ns);

/* What a process leaves behind when it ends. */
struct mst_process_end {
    uint64_t lifetime_ns, requests, unfinished, generation;
    int64_t  mpm_slot;
    bool     clean;
};

/* Frees the entry of a process that has ended: time stops in its workers, its gauges no longer
 * count. False: pid has no entry, and *end is left alone. */
bool mst_process_release(struct mst_board *b, uint64_t pid, uint64_t now_ns,
                         struct mst_process_end *end);

/* Frees the entries whose owners are dead, and calls `gone` for each: in one process, where several
 * find the same owner dead. For ends that no parent has reported. thorough: reads /proc for each
 * entry, so that another process with the owner's pid is not taken for the owner. */
typedef void mst_process_gone(void *context, uint64_t pid, const struct mst_process_end *end);
void mst_process_sweep(struct mst_board *b, bool thorough, uint64_t now_ns,
                       mst_process_gone *gone, void *context);

/* Whether a living process has an entry. */
bool mst_process_any(const struct mst_board *b);

#endif

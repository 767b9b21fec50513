/* board.h - makes a board, and writes to it: for servers.
 *
 * The parent creates the board before it forks; children inherit the mapping
 * and claim a process entry each. Nothing on the way of a request locks, makes
 * a system call, allocates or fails: worker.h and journal.h hold that part.
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

/* Who writes it; copied into the header, cut where too long. NULL: empty. */
struct mst_identity {
    const char *server, *mpm, *sapi, *version;
    const char *settings;          /* see struct mst_header; NULL: none are told */
    uint64_t    workers_limit;
    bool        no_parent;         /* its processes have none in common: the header names no pid */
};

/* A mapped board of this process. Pointers are into the mapping. It stays where it is in
 * memory for as long as it is open: a signal handler knows its guard. */
struct mst_board {
    int                       fd;   /* open for reading only, so that no process which inherits
                                     * it can change the file's size */
    struct mst_guard          guard;
    size_t                    bytes;
    struct mst_header        *header;
    struct mst_totals        *totals;
    struct mst_process       *processes;
    struct mst_worker        *workers;
    uint32_t                 *in_flight;
    struct mst_label_name    *labels;
    struct mst_tally         *tallies;
    struct mst_request_record   *requests;
    struct mst_lifecycle_record *lifecycle;
    struct mst_php_request_record *php_requests;   /* these two: PHP's boards only, and */
    struct mst_mark_record      *marks;            /* `requests` Apache's only */
    struct mst_fork          *forks;               /* Apache's only */
    uint32_t process_count, threads, label_count, stripe_mask, fork_count;
    uint32_t threads_used;          /* of them, by a process that claims an entry now */
    uint32_t in_flight_stride;      /* words of in_flight for each process */
    uint64_t requests_mask, lifecycle_mask, php_requests_mask, marks_mask;
    int64_t  busy_excess;           /* what mst_busy_mend() found last, and when */
    uint64_t busy_excess_ns;
    char     path[512];
};

/* Makes a board and publishes it at `path`: built in a private file beside it
 * (O_EXCL, O_NOFOLLOW), fully allocated, mapped, filled, then renamed. The mode
 * is 0640, the group `gid` ((gid_t)-1: the process's own). Refuses where `path`
 * is a board that a live server has mapped, or a file that is no board; but one named
 * *.board of this user's, in a directory that only this user may write to, is replaced
 * whatever its bytes say. Returns 0, or -1 with a sentence; then nothing was left behind. warning is set to a sentence where the board is not
 * on a tmpfs (it works, and costs disk writes), else to "". */
int mst_board_create(struct mst_board *b, const char *path, const struct mst_layout *layout,
                     const struct mst_identity *identity, gid_t gid,
                     char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Maps the board at `path` that this very process made before (an exec, a reload of
 * the module that writes it): the header names its pid and start time, the layout is
 * the one wanted, and nobody else could write to the file. False: there is none
 * such, so make one. */
bool mst_board_adopt(struct mst_board *b, const char *path, const struct mst_layout *layout);

/* Maps the board at `path` that processes of one user share, or makes it where there
 * is none: built in a private file, then linked into place, so that of several who
 * come at once one is first. Never replaces one that a living process writes to, and
 * takes none that is not this user's alone to write. Returns and sets as
 * mst_board_create(); identity->no_parent must be true. */
int mst_board_share(struct mst_board *b, const char *path, const struct mst_layout *layout,
                    const struct mst_identity *identity, gid_t gid,
                    char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Whether this build can write to the board that r reads: the layout is that one, its
 * counters are where this build has them. sections: set to where its sections are. */
bool mst_board_fits(const struct mst_reader *r, const struct mst_layout *layout,
                    struct mst_section sections[MST_SECTION_COUNT]);

/* After a restart: who writes it now, and with what limit. */
void mst_board_identify(struct mst_board *b, const struct mst_identity *identity);

/* Unmaps. The file stays, for whoever asks what happened. */
void mst_board_close(struct mst_board *b);

/* Whether a page of the board is lost and no process has said so: true in one process, once.
 * Marks the board as ended for its readers, and sets the sentence to say. */
bool mst_board_is_to_tell_loss(struct mst_board *b, char sentence[MST_ERROR_MAX]);

/* ---- labels (label.c) --------------------------------------------------------------- */

/* Whether users may name a label so: 1 to MST_NAME_MAX - 1 letters, digits and - _ . : /,
 * which every format shows as they are and people can type. */
bool mst_label_is_valid(const char *name);

/* The index of a label of the server's own configuration, added where there is room;
 * MST_LABEL_OTHER where not. Safe among processes: waits a moment for one that is adding a
 * label. The name is cut to MST_NAME_MAX - 1 bytes. Every index from here is below
 * label_count, whatever others have written to the table. */
uint32_t mst_label_intern(struct mst_board *b, const char *name);

/* The same for a server's parent: it waits for nobody. */
uint32_t mst_label_reserve(struct mst_board *b, const char *name);

/* Who makes labels in files that the server's administrator does not write (.htaccess,
 * .user.ini), and how many: entries stay for good, so that each tenant has a quota, and all of
 * them together a share of the table; the rest is the configuration's. */
struct mst_tenant {
    uint64_t owner;   /* mst_label_owner() of what names the tenant: its virtual host, its pool */
    uint32_t quota;   /* labels that it may make */
    uint32_t share;   /* labels that all tenants may make together */
};
#define MST_TENANT_LABELS_DEFAULT 8u   /* a quota */
#define MST_TENANTS_PART          4u   /* the share is label_count over this */

/* A number for a name, never 0. */
uint64_t mst_label_owner(const char *name);

/* Sets *index to that of the label that a tenant names. False, and *index is left alone,
 * where the label is not there and the tenant may not add it, or it is the status page's. */
bool mst_label_intern_tenant(struct mst_board *b, const char *name,
                             const struct mst_tenant *tenant, uint32_t *index);

/* Copies the label's name out of the table. */
void mst_label_read(const struct mst_board *b, uint32_t index, char name[MST_NAME_MAX]);

/* Whether this is to be logged, which it is once in the board's life, by any process. */
static inline bool mst_board_tell_once(struct mst_board *b, enum mst_told what)
{
    return !(__atomic_fetch_or(&b->header->told, (uint32_t)what, __ATOMIC_RELAXED) & what);
}

/* Claims a process entry for pid with all its workers idle, or -1: none free.
 * Frees entries whose owner has died where no other is left. */
int mst_process_claim(struct mst_board *b, uint64_t pid, uint64_t generation, uint64_t now_ns);

/* What a process leaves behind when it ends. */
struct mst_process_end {
    uint64_t lifetime_ns, requests, unfinished, generation;
    int64_t  mpm_slot;
    bool     clean;
};

/* Frees the entry of a process that has ended: time stops in its workers, its
 * gauges no longer count. False where pid has no entry (any more): *end is then
 * left alone. */
bool mst_process_release(struct mst_board *b, uint64_t pid, uint64_t now_ns,
                         struct mst_process_end *end);

/* Frees the entries whose owners have died without a word and tells of each (a
 * process that two find dead at once is told of by one). For servers whose parent
 * does not tell of its children's ends. thorough: reads /proc for every entry, so
 * that a pid which is somebody else's by now does not pass for its owner. */
typedef void mst_process_gone(void *context, uint64_t pid, const struct mst_process_end *end);
void mst_process_sweep(struct mst_board *b, bool thorough, uint64_t now_ns,
                       mst_process_gone *gone, void *context);

/* Whether an entry is some living process's. */
bool mst_process_any(const struct mst_board *b);

#endif

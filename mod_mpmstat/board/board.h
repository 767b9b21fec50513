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

#include "copy.h"     /* MST_ERROR_MAX */
#include "fields.h"
#include "format.h"

/* What a board is to have room for. */
struct mst_layout {
    enum mst_producer producer;
    uint32_t processes;            /* entries, also for the quiescing ones of old generations */
    uint32_t threads_per_process;
    uint32_t labels;               /* 2..MST_LABELS_MAX, `other` and `mpm-status` included */
    uint32_t stripes;              /* mst_layout_stripes() */
    uint32_t requests;             /* journal records, rounded up to a power of two */
    uint32_t lifecycle;            /* lifecycle records, likewise */
};

/* Who writes it; copied into the header, cut where too long. NULL: empty. */
struct mst_identity {
    const char *server, *mpm, *sapi, *version;
    uint64_t    workers_limit;
};

/* CPUs rounded up to a power of two, at most MST_STRIPES_MAX. */
uint32_t mst_layout_stripes(void);

/* The size of such a board in bytes: the one place where it is computed. 0
 * where the layout is out of range. */
uint64_t mst_layout_bytes(const struct mst_layout *layout);

/* A mapped board of this process. Pointers are into the mapping. */
struct mst_board {
    int                       fd;
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
    uint32_t process_count, threads, label_count, stripe_mask;
    uint32_t in_flight_stride;      /* words of in_flight for each process */
    uint64_t requests_mask, lifecycle_mask;
    char     path[512];
};

/* Makes a board and publishes it at `path`: built in a private file beside it
 * (O_EXCL, O_NOFOLLOW), fully allocated, mapped, filled, then renamed. The mode
 * is 0640, the group `gid` ((gid_t)-1: the process's own). Refuses where `path`
 * is a board whose server is alive. Returns 0, or -1 with a sentence; then
 * nothing was left behind. warning is set to a sentence where the board is not
 * on a tmpfs (it works, and costs disk writes), else to "". */
int mst_board_create(struct mst_board *b, const char *path, const struct mst_layout *layout,
                     const struct mst_identity *identity, gid_t gid,
                     char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Unmaps. The file stays, for whoever asks what happened. */
void mst_board_close(struct mst_board *b);

/* The label's index, added where there is room; MST_LABEL_OTHER where not.
 * Safe among processes. The name is cut to MST_NAME_MAX - 1 bytes. */
uint32_t mst_label_intern(struct mst_board *b, const char *name);

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

#endif

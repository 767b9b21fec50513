/* source_kind.h - what a kind of source is: for source.c, open.c and the kinds alone. */
#ifndef MPMSTAT_SOURCE_KIND_H
#define MPMSTAT_SOURCE_KIND_H

#include "base/strings.h"
#include "source/source.h"

/* The functions behind source.h's of the same name. */
struct mst_source_kind {
    void (*close)(struct mst_source *source);
    int  (*mark)(struct mst_source *source, bool from_head, char error[MST_ERROR_MAX]);
    void (*forget_code)(struct mst_source *source);   /* NULL: it gives none */
    long (*poll)(struct mst_source *source, const struct mst_source_events *events,
                 char error[MST_ERROR_MAX]);
    void (*finish)(struct mst_source *source);
    int  (*sample)(struct mst_source *source, struct mst_sample *sample,
                   char error[MST_ERROR_MAX]);
};

/* What all kinds have in common; the first member of each one's own struct. */
struct mst_source {
    const struct mst_source_kind *kind;
    struct mst_target            *target;
    struct mst_source_identity    identity;
    const volatile sig_atomic_t  *stop;
    const struct mst_source_wait *wait;          /* see mst_source_set_wait */
    struct mst_strings            others;        /* see mst_source_other */
    bool                          local, pending;
    bool                          cut;           /* the last poll ended before it had all */
    uint64_t                      deadline_ns;   /* see mst_source_set_deadline */
    bool                          has_board;
    struct mst_board_file_id      board;         /* see mst_source_board */
    char                          doubt[MST_ERROR_MAX];   /* see mst_source_doubt */
    bool                          same_clock;    /* its CLOCK_MONOTONIC is ours */
    uint64_t                      clock_offset_ns;   /* see mst_source_set_clock */
    bool                          knows_clock;       /* see mst_source_clock */
    struct mst_clock_offset       clock;
    uint64_t                      clock_jump_ns;     /* see mst_source_clock_jump_ns */
    uint64_t                      lost;       /* since mark */
    unsigned                      restarts;   /* since mark */
    uint64_t                      lost_before;      /* since mark, until count_on */
    unsigned                      restarts_before;
    mst_source_see               *see;        /* see mst_source_watch; NULL: nobody watches */
    void                         *see_context;
};

/* NULL with a sentence. */
struct mst_source *mst_source_open_file(struct mst_target *target, char error[MST_ERROR_MAX]);
struct mst_source *mst_source_open_url(struct mst_target *target, char error[MST_ERROR_MAX]);

/* Whether it is time to end: the stop flag is up, or the deadline has passed. */
bool mst_source_is_over(const struct mst_source *source);

/* Notes who owns the board's file, and whether its processes can be seen here: local, board,
 * doubt. The identity's board names the file. */
void mst_source_take_board(struct mst_source *source, const struct mst_reader *reader);

/* A snapshot's numbers as a sample; the process list stays as it is. */
void mst_sample_from_snapshot(struct mst_sample *sample, const struct mst_snapshot *board);

/* Shows the source's watcher the snapshot of a sample. */
void mst_source_show(const struct mst_source *source, const struct mst_snapshot *board);

/* Takes the worker out that made the status it is shown in: by URL, each sample is a
 * request of ours, mpm-status, and no load's. */
void mst_sample_leave_out_asker(struct mst_sample *sample, const struct mst_snapshot *board);

/* Adds a process, which can be in the list already. Returns 0, or -1: out of memory. When
 * all have been added, each is to be there once. */
int  mst_sample_add_process(struct mst_sample *sample, uint64_t pid, uint64_t start_ticks);
void mst_sample_unite_processes(struct mst_sample *sample);

/* The key of a ticket: after each start of the server tickets begin at 0 again. */
static inline uint64_t mst_source_key(unsigned restarts, uint64_t ticket)
{
    return (uint64_t)restarts << MST_SOURCE_TICKET_BITS | ticket;
}

#endif

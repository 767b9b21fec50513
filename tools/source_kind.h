/* source_kind.h - what a kind of source is to source.c: for source*.c alone. */
#ifndef MPMSTAT_SOURCE_KIND_H
#define MPMSTAT_SOURCE_KIND_H

#include "source.h"

/* The functions behind source.h's of the same name. */
struct mst_source_kind {
    void (*close)(struct mst_source *source);
    int  (*mark)(struct mst_source *source, char error[MST_ERROR_MAX]);
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
    size_t                        other_count;   /* see mst_source_other */
    char                        **others;
    bool                          local, pending;
    bool                          same_clock;    /* its CLOCK_MONOTONIC is ours */
    uint64_t                      clock_offset_ns;   /* see mst_source_set_clock */
    uint64_t                      lost;       /* since mark */
    unsigned                      restarts;   /* since mark */
};

/* NULL with a sentence. */
struct mst_source *mst_source_open_file(struct mst_target *target, char error[MST_ERROR_MAX]);
struct mst_source *mst_source_open_url(struct mst_target *target, char error[MST_ERROR_MAX]);

/* A snapshot's numbers as a sample; the process list stays as it is. */
void mst_sample_from_snapshot(struct mst_sample *sample, const struct mst_snapshot *board);

/* Takes the worker out that made the status it is shown in: by URL, each look is a
 * request of ours, mpm-status, and no load's. */
void mst_sample_leave_out_asker(struct mst_sample *sample, const struct mst_snapshot *board);

/* Adds a process that is not in the list yet. Returns 0, or -1: out of memory. */
int mst_sample_add_process(struct mst_sample *sample, uint64_t pid, uint64_t start_ticks);

/* The key of a ticket: tickets begin anew with each start of the server. */
static inline uint64_t mst_source_key(unsigned restarts, uint64_t ticket)
{
    return (uint64_t)restarts << 48 | ticket;
}

#endif

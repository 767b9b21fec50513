/* sampler.h - records one server into the archive.
 *
 * Ten times a second (twice through a URL, where each sample costs the server a request) it takes
 * a sample of the workers and counters, the new records of the journal, and the memory of some
 * processes. In a recording of several archives samples are taken once a second.
 *
 * The order: open, begin, {tick}..., end_load, {drain}..., finish, close. Where another archive
 * follows: ..., end_load, hand_over, {tick}... Calls
 * return 0, or -1 where the archive failed. Trouble with the server does not
 * end a recording: it becomes a note in the archive, and a warning.
 */
#ifndef MPMSTAT_SAMPLER_H
#define MPMSTAT_SAMPLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "archive/writer.h"
#include "source/source.h"
#include "system/processes.h"

#define MST_NOTES_MAX 16u   /* different sentences about trouble with one server */

/* A sixteenth of the smallest journal by default. */
#define MST_BUSY_RECORDS 1024u

struct mst_late_delivery { struct mst_delivery delivery; uint64_t key; };

struct mst_sampler {
    struct mst_source   *source;
    struct mst_archive  *archive;
    int64_t              run_id, server_id;
    bool                 local, by_url;
    bool                 has_thread;     /* of recording_looks.c, which calls the ticks */
    const volatile sig_atomic_t *stop;   /* not zero: what fails then is nothing wrong */
    bool                 has_ended;      /* the archive knows that the server does not run */
    uint64_t             alive_ns;       /* the latest sample of it alive, since 1970 */
    uint64_t             answered_wall_ns;   /* the latest sample that succeeded; 0: none has */
    unsigned             outages;        /* that have been noted */
    uint64_t             lost_wall_ns;   /* since when it does not answer; 0: it does */
    bool                 memory;         /* read it, where it can be; set before begin */
    uint64_t             interval_ns;    /* between two samples; set before begin */
    bool                 others_processes;   /* another sampler reads the same ones (mod_php in its
                                              * Apache); set before begin */
    struct mst_all_processes *all;       /* borrowed; shared with the others; set before begin */
    struct mst_sample    sample;         /* the latest */
    struct mst_sample_end ends[MST_ENDS];   /* the other ends before the load */
    size_t               end_count;
    struct mst_late_delivery *late;      /* deliveries whose requests have not been read yet */
    size_t               late_count, late_room;
    bool                 sampled;        /* the latest attempt succeeded */
    struct mst_processes processes;
    uint64_t             due_ns;         /* CLOCK_MONOTONIC: the next look; at a board it is at
                                          * each tick */
    uint64_t             sample_due_ns;  /* the next sample: with the look that is not before */
    uint64_t             memory_from_ns; /* CLOCK_MONOTONIC: the first round of the load */
    uint64_t             load_wall_ns;   /* the load began, by the source's clock; 0: not yet */
    uint64_t             cpu_before_ns, cpu_ns;
    struct mst_opcache   opcache;            /* as the archive has it last */
    struct mst_cgroup_watch groups;
    struct mst_cgroup    cgroup;         /* before the load; then its counters are of the load */
    uint64_t             requests_seen;  /* journal records, without mpm-status */
    uint64_t             looked;         /* records of all journals that the latest look brought */
    bool                 poll_failed;    /* the latest poll */
    uint64_t             noted[MST_NOTES_MAX];   /* hashes of the sentences in the archive */
    size_t               noted_count;
};

/* Opens the target. Nothing is written yet. 0, or -1 with a sentence. */
int  mst_sampler_open(struct mst_sampler *s, struct mst_target *target,
                      const volatile sig_atomic_t *stop, char error[MST_ERROR_MAX]);
void mst_sampler_close(struct mst_sampler *s);

/* Waiting for the server ends soon after *stop becomes nonzero. */
void mst_sampler_set_stop(struct mst_sampler *s, const volatile sig_atomic_t *stop);

/* Whether it has not answered the latest look. */
static inline bool mst_sampler_is_lost(const struct mst_sampler *s)
{
    return s->lost_wall_ns != 0;
}

/* Whether so many records came since the look before that the next should be soon: journals must
 * not overwrite them first. A look through a URL costs the server a request, and is not made
 * sooner. */
static inline bool mst_sampler_is_busy(const struct mst_sampler *s)
{
    return !s->by_url && s->looked >= MST_BUSY_RECORDS;
}

/* Takes the sample before the load, and marks the journal. Returns 1 where the
 * server does not answer: `error` is the sentence. */
int mst_sampler_begin(struct mst_sampler *s, struct mst_archive *archive, int64_t run_id,
                      char error[MST_ERROR_MAX]);
/* The load began (CLOCK_MONOTONIC): earlier requests are not part of it. The first round through
 * the memory of processes is so long after that: many servers must not have theirs at once. */
void mst_sampler_load_began(struct mst_sampler *s, uint64_t now_ns, uint64_t memory_after_ns);
int mst_sampler_tick(struct mst_sampler *s, uint64_t now_ns);

/* Looks at the journal alone, between two ticks. */
int mst_sampler_look(struct mst_sampler *s);
/* The load is over: the last sample of it, CPU, memory. */
int mst_sampler_end_load(struct mst_sampler *s);
/* Takes what is still added to the journal. *quiet: no request is in flight and none was added,
 * or the server does not answer any more. */
int mst_sampler_drain(struct mst_sampler *s, bool *quiet);
int mst_sampler_finish(struct mst_sampler *s);

/* Ends this server's part of an archive that another one follows. Journal records from here on
 * belong to the next archive, which begins with the last sample of this one. Call
 * mst_sampler_go_on() before the next tick. A server that does not answer is not an error. */
int mst_sampler_hand_over(struct mst_sampler *s);
int mst_sampler_go_on(struct mst_sampler *s, struct mst_archive *archive, int64_t run_id);

#endif

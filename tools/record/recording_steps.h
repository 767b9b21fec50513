/* recording_steps.h - the steps of which mst_record() consists, in this order.
 *
 * Each step returns an enum mst_exit, and has said the error. The others return 0, or -1 with the
 * error in the archive: see mst_recording_archive_failed().
 */
#ifndef MPMSTAT_RECORDING_STEPS_H
#define MPMSTAT_RECORDING_STEPS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "archive/writer.h"
#include "console/stop.h"
#include "exec/runner.h"
#include "record/live.h"
#include "record/load.h"
#include "record/recording.h"
#include "record/sampler.h"
#include "record/steady.h"
#include "record/thinning.h"
#include "source/target.h"
#include "system/preflight.h"
#include "system/programs.h"

/* The threads that look at servers by URL during the load: recording_looks.c. */
struct mst_looks {
    struct mst_look_thread *threads;        /* NULL: the load does not run */
    size_t                  count;
    pthread_mutex_t         lock;
    pthread_cond_t          end;
    volatile sig_atomic_t   is_over;        /* answers are not waited for any more */
    struct mst_source_wait  wait;
};

/* Boards that are left out, because their servers do not run. */
struct mst_left_over {
    size_t      count;
    const char *board;                      /* the first one's name, borrowed from the targets */
    const char *fpm;                        /* a PHP-FPM's, borrowed too; NULL: none */
    uint64_t    fpm_stopped_ns;             /* since 1970; 0: it was killed, or crashed */
};

struct mst_recording {
    const struct mst_recording_options *options;
    struct mst_load     load;
    struct mst_targets  targets;
    struct mst_targets  behind;             /* PHP's boards in the status of the URLs among them */
    struct mst_sampler *samplers;
    size_t              sampler_count;      /* opened ones */
    struct mst_left_over left_over;
    struct mst_all_processes processes;     /* of this machine: the samplers share them */
    struct mst_looks    looks;
    char               *path;               /* of the archive */
    struct mst_archive *archive;
    int64_t             run_id;
    char                recording[17];      /* with a rotation: its archives have it in common */
    uint64_t            part;               /* the archive's number in it, from 1 */
    bool                hands_over;         /* another archive follows this one */
    struct mst_thinning thinning;           /* of the archives before */
    struct mst_runner  *runner;
    struct mst_preflight preflight;
    struct mst_programs programs;
    bool                programs_known;
    uint64_t            started_ns, deadline_ns;    /* CLOCK_MONOTONIC */
    uint64_t            last_deadline_ns;   /* of all archives together */
    uint64_t            handed_over_ns;     /* the archive before ended then; 0: there was none */
    uint64_t            handed_over_wall_ns;
    uint64_t            ports_due_ns, machine_due_ns;
    struct mst_live     live;               /* what is going on, and how steadily */
    struct mst_steady   steady;
    cpu_set_t           servers_cpus;       /* where there are others that no server may use */
    bool                servers_have_few_cpus;
    uint64_t            process_before_ns, process_ns;   /* struct mst_machine's: first, latest */
    uint64_t            cpu_before_ns;              /* our own, when the load began */
    struct mst_stop     stop;
    sig_atomic_t        stops_seen;
    struct mst_archive_run_end end;
};

/* recording_targets.c */
int mst_recording_open_targets(struct mst_recording *r);

/* recording_before.c: mst_recording_settle() before the archive is opened, then
 * mst_recording_begin_samplers(). */
int mst_recording_settle(struct mst_recording *r);
int mst_recording_begin_samplers(struct mst_recording *r);

/* recording_load.c. mst_recording_end_load_unrecorded(): the archive can no longer be written, but
 * the load is not mpmstat's to stop. It runs to its end. */
int mst_recording_start_load(struct mst_recording *r);
int mst_recording_follow_load(struct mst_recording *r);
void mst_recording_end_load_unrecorded(struct mst_recording *r);

/* recording_looks.c. Between begin and end the caller holds the lock, but for pauses. Failed: a
 * thread could not write the archive. */
void mst_looks_begin(struct mst_recording *r);
void mst_looks_pause(struct mst_recording *r);
void mst_looks_resume(struct mst_recording *r);
bool mst_looks_failed(const struct mst_recording *r);
void mst_looks_end(struct mst_recording *r);

/* Takes away the line on the terminal, for lines that are not messages. It waits for the terminal:
 * call it when nothing is left to record. */
void mst_recording_end_progress(const struct mst_recording *r);

/* recording_after.c */
int mst_recording_drain(struct mst_recording *r);
int mst_recording_finish(struct mst_recording *r);

/* recording_archive.c: creates the archive and begins the run in it; closes it. */
int mst_recording_open_archive(struct mst_recording *r);
int mst_recording_close_archive(struct mst_recording *r);

/* Says why the archive cannot be written; returns the exit status. */
int mst_recording_archive_failed(const struct mst_recording *r);

/* Warns the user, and keeps the warning with the run. */
int mst_recording_note(struct mst_recording *r, const char *text);

/* Between two samples. */
uint64_t mst_recording_interval_ns(const struct mst_recording *r);
int mst_recording_sample_machine(struct mst_recording *r, enum mst_moment moment);

/* A URL can take long to answer: commits what is there already before it is asked. */
int mst_recording_offer_before(struct mst_recording *r, const struct mst_sampler *s);

#endif

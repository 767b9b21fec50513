/* compare_runs.h - the runs that `mpmstat compare` compares: repetitions
 * of one thing on each side, as the archives have them.
 */
#ifndef MPMSTAT_COMPARE_RUNS_H
#define MPMSTAT_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/ledger.h"
#include "analysis/summary.h"
#include "archive/archive.h"
#include "memory/pool.h"

struct mst_compare_setting { const char *name, *value; };   /* of the environment */

struct mst_compare_run {
    struct mst_summary summary;
    bool     lent;                   /* the summary is mst_compare_side_lend()'s caller's */
    uint64_t repetition;             /* MST_UNKNOWN */
    const char *load;                /* the command apart from its URLs and from how many requests
                                      * it makes; NULL: none */
    const char *urls;                /* those; "" none */
    uint64_t status;                 /* the most frequent that is not 2xx; MST_UNKNOWN: none */
    size_t   setting_count;          /* where it ran, by name */
    struct mst_compare_setting *settings;
    size_t   configured_count;       /* what stands in the files of the front server and its PHP; 0
                                      * also: these are not known */
    struct mst_ledger_setting *configured;   /* value "": which is in force is not known */
    size_t   prediction_count;       /* that the archive keeps of it */
    struct mst_ledger_entry *predictions;
};

struct mst_compare_side {
    apr_pool_t *pool;                /* all is there but the summaries */
    const char *given;               /* as on the command line */
    struct mst_archive *archive;
    struct mst_compare_run *runs;    /* complete ones, the oldest first */
    size_t      count;
    size_t      incomplete;          /* left out: they were not completed */
    size_t      unpaired;            /* left out: without a counterpart on the other side */
};

/* `given` is FILE, all of whose runs must then have one name (or none), FILE#NAME or
 * FILE#NUMBER. 0, or -1 with a sentence; close it in either case. */
int  mst_compare_side_read(apr_pool_t *pool, struct mst_compare_side *side, const char *given,
                           char error[MST_ERROR_MAX]);
/* Adds a run that the caller has read, to a side that begins as { .pool = POOL }. Its summary stays
 * the caller's, and has to live as long as the side. Incomplete runs are counted and left out.
 * 0, or -1 with a sentence. */
int  mst_compare_side_lend(struct mst_compare_side *side, struct mst_archive *archive,
                           const struct mst_summary *summary, char error[MST_ERROR_MAX]);
void mst_compare_side_close(struct mst_compare_side *side);

/* The value of a setting of the run's; NULL: it has none of that name. */
const char *mst_compare_setting(const struct mst_compare_run *run, const char *name);

/* What to say behind "there is no run NAME in FILE": "; it has runs called ...". */
void mst_compare_run_names(struct mst_archive *archive, char names[MST_ERROR_MAX]);

/* Whether the two sides' runs alternated. Then runs[i] of both sides are neighbours of the same
 * repetition, and runs without a counterpart are left out. */
bool mst_compare_pair(struct mst_compare_side *a, struct mst_compare_side *b);

#endif

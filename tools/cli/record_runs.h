/* record_runs.h - one run or several, recorded and shown: for mpmstat record and lab try. */
#ifndef MPMSTAT_RECORD_RUNS_H
#define MPMSTAT_RECORD_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/exit_by_finding.h"
#include "record/recording.h"

#define MST_VARIANTS_MAX 26u     /* their names without --name: A to Z */

/* One of the commands that take turns. */
struct mst_variant {
    const char  *name;           /* NULL: none */
    char *const *command;        /* NULL: none */
};

struct mst_summary;

struct mst_record_request {
    /* Name, command and repetition are set for each run. archive NULL: a new one here. */
    struct mst_recording_options recording;
    char   **client_rows;        /* files and directories of rows, to be added to each run */
    size_t   client_rows_count;
    unsigned repeat;             /* 0: not said */
    bool     until_decided;      /* instead: pairs, until they decide */
    double   limit;              /* of until_decided, as struct mst_pairs has them */
    uint64_t within_ns;
    bool     interleave, json;
    bool     steady;             /* run each command first, until its rate is steady */
    bool     quiet;              /* the verdicts alone */
    unsigned percentiles;        /* of the text, as mst_report_text() has them */
    struct mst_fail_on fail_on;
    struct mst_variant variants[MST_VARIANTS_MAX];
    size_t   variant_count;
    char     default_archive[64];
};
#define MST_RECORD_REQUEST { .recording = { .add_flags = true, .memory = true } }

/* Takes one of the options that several verbs have: --output, --format, --timeout, --repeat,
 * --no-flags, --no-memory, --verbose, --fail-on, --percentiles, --quiet. Returns an enum
 * mst_exit. */
int mst_record_option(struct mst_record_request *request, const char *verb, int option,
                      const char *argument);

/* Gives the request an archive, where the user has named none: a new one in this directory. */
void mst_record_choose_archive(struct mst_record_request *request);

/* Warns where a shell has cut the URL of a command at an &, as it seems. */
void mst_record_warn_of_cut_url(char *const *words);

/* Makes the summary of a run that has been recorded, with its findings, and puts these into the
 * archive. Returns an enum mst_exit; free with mst_summary_free() in either case. */
int mst_record_summarise(struct mst_summary *summary, const char *archive, int64_t run_id);

/* Shows a run that has been recorded into request->recording.archive, and puts its findings there.
 * Returns an enum mst_exit. */
int mst_record_show(const struct mst_record_request *request, int64_t run_id);

/* Makes the runs and shows them. Returns an enum mst_exit. */
int mst_record_runs(struct mst_record_request *request);

#endif

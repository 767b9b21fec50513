/* report.h - runs as text for people, as JSON for programs, as a page for both.
 *
 * Every format is written to a sink, from archives alone.
 */
#ifndef MPMSTAT_REPORT_H
#define MPMSTAT_REPORT_H

#include <stdbool.h>

#include "analysis/summary.h"
#include "analysis/usl.h"
#include "findings/advice.h"
#include "memory/pool.h"
#include "render/sink.h"
#include "report/profile.h"

/* All of it, in at most 100 columns. path: the archive's, as it is shown. percentiles: those that
 * tables show, 1u << enum mst_percentile each; 0: all. */
void mst_report_text(struct mst_sink *sink, const struct mst_summary *summary, const char *path,
                     unsigned percentiles);

/* What a terminal of 80 x 24 shows at once: the verdict and what to do, client and server, the
 * phases that matter, the checks that say NO, and where the rest is. percentiles 0: one of them. */
void mst_report_brief(struct mst_sink *sink, const struct mst_summary *summary, const char *path,
                      unsigned percentiles);

/* The verdict alone. */
void mst_report_verdict_text(struct mst_sink *sink, const struct mst_summary *summary);

/* What it begins with: the verdict, what to do about it, and what else was found. */
void mst_report_findings_text(struct mst_sink *sink, const struct mst_summary *summary);

/* One object, without a newline behind it. Its names are promises. */
void mst_report_json(struct mst_sink *sink, const struct mst_summary *summary);

/* ---- several runs: mpmstat report ------------------------------------------------ */

struct mst_report_run {
    struct mst_archive *archive;
    const char         *path;       /* the archive's, as the user gave it */
    const char         *title;      /* the run's name, or "run 1" */
    struct mst_summary  summary;
};

struct mst_report {
    apr_pool_t            *pool;    /* of what is made for it: groups, lines, tables */
    struct mst_report_run *runs;
    size_t                 count;
    bool                   several_archives;   /* then a run's archive is named with it */
    unsigned               percentiles;        /* of the text, as mst_report_text() has them */
};

/* One self-contained page: nothing is fetched. 0, or -1 with a sentence: an archive
 * cannot be read. */
int mst_report_html(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX]);

/* PHP's code as a profile: folded stacks of all servers, the other formats of one. 0, or -1 as
 * above. */
int mst_report_profile(struct mst_sink *sink, const struct mst_report *report,
                       enum mst_profile_format format, char error[MST_ERROR_MAX]);

/* Writes text for a pull request: verdicts, checks, a table of runs, sizing. */
int mst_report_markdown(struct mst_sink *sink, const struct mst_report *report,
                        char error[MST_ERROR_MAX]);

/* A line a run; a line for each second of each run. The first line names the columns. */
void mst_report_csv(struct mst_sink *sink, const struct mst_report *report);
int  mst_report_csv_series(struct mst_sink *sink, const struct mst_report *report,
                           char error[MST_ERROR_MAX]);

/* Writes for each run what record prints, then the sizing advice. */
int mst_report_texts(struct mst_sink *sink, const struct mst_report *report,
                     char error[MST_ERROR_MAX]);

#endif

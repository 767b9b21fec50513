/* trend.h - many recordings of the same load, by their time: mpmstat report --trend.
 *
 * The complete runs of one archive with one name are a point; points with the same name are a line.
 */
#ifndef MPMSTAT_REPORT_TREND_H
#define MPMSTAT_REPORT_TREND_H

#include "analysis/trend.h"
#include "doc/doc.h"
#include "report/report.h"

enum mst_trend_figure {
    MST_TREND_RATE, MST_TREND_P50, MST_TREND_P95, MST_TREND_P99, MST_TREND_ERRORS,
    MST_TREND_FIGURES
};

/* A point of a line: figure[i] of `figures` is the mean of its runs. */
struct mst_trend_runs {
    const struct mst_report_run *first;  /* its first run */
    size_t   count, incomplete;
    size_t   thinned;                    /* of `count`: those of a thinned archive */
    enum mst_code finding;               /* the first one of most runs; MST_CODE_COUNT: none */
};

struct mst_trend_line {
    const char *name;                    /* the runs'; NULL: they have none */
    size_t count;
    struct mst_trend_runs *runs;
    struct mst_trend_point *figures[MST_TREND_FIGURES];
    struct mst_trend_drift drifts[MST_TREND_FIGURES];
};

struct mst_trend_lines {
    apr_pool_t *pool;
    struct mst_trend_line *items;
    size_t count;
};

/* The lines are in the report's pool. */
void mst_trend_make(struct mst_trend_lines *lines, const struct mst_report *report);

void mst_trend_text(struct mst_sink *sink, const struct mst_trend_lines *lines);
void mst_trend_markdown(struct mst_sink *sink, const struct mst_trend_lines *lines);
void mst_trend_json(struct mst_sink *sink, const struct mst_trend_lines *lines);
/* One self-contained page, without scripts. */
void mst_trend_html(struct mst_sink *sink, const struct mst_trend_lines *lines);

/* ---- for these formats: trend.c ---------------------------------------------------- */

extern const char *const mst_trend_names[MST_TREND_FIGURES];     /* "requests/s" */
/* "1,234", "12.3 ms", "0.4 %"; "-". */
struct mst_formatted mst_trend_format(enum mst_trend_figure figure, double value);
/* "p99 rose from 12.3 ms to 15.1 ms: by 23 %", with what is not sure about it. False: it did not
 * change. */
bool mst_trend_sentence(char *text, size_t size, const struct mst_trend_line *line,
                        enum mst_trend_figure figure, size_t point);
/* "p99 drifted from 12.3 ms to 15.1 ms, by 23 %, ...". False: it did not. */
bool mst_trend_drift_sentence(char *text, size_t size, const struct mst_trend_line *line,
                              enum mst_trend_figure figure);
/* "2026-11-23 04:58", UTC. */
struct mst_formatted mst_trend_time(const struct mst_trend_runs *runs);
const char *mst_trend_archive(const struct mst_trend_runs *runs);
/* "~" behind the time of a point with runs of a thinned archive, else "". */
const char *mst_trend_mark(const struct mst_trend_runs *runs);

/* Writes the changes of a line, what put_figures does, and its table. put_figures: NULL. */
typedef void mst_trend_figures(struct mst_sink *sink, const struct mst_trend_line *line);
void mst_trend_put(const struct mst_doc *doc, const struct mst_trend_line *line,
                   mst_trend_figures *put_figures);

#endif

/* comparison.h - the runs of two sides, compared metric by metric, as text and Markdown for people
 * and as JSON for programs; with warnings about what should be equal on both sides and is not.
 */
#ifndef MPMSTAT_COMPARISON_H
#define MPMSTAT_COMPARISON_H

#include "analysis/compare.h"
#include "analysis/compare_runs.h"
#include "render/sink.h"
#include "report/metrics.h"

/* The first finding of most runs of a side. */
struct mst_comparison_cause {
    enum mst_code code;              /* MST_CODE_COUNT: the runs have no findings */
    size_t        runs;              /* of which it is the first */
};

/* A metric of two sides. */
struct mst_comparison_row {
    const struct mst_metric *metric;
    struct mst_comparison    result;
    bool                     gate;   /* --fail-if-slower looks at it */
    enum mst_limit           limit;  /* where it does */
};

struct mst_comparison_table {
    struct mst_compare_side a, b;
    bool   paired;
    size_t row_count;
    struct mst_comparison_row rows[MST_M_COUNT];
    struct mst_comparison_cause cause_a, cause_b;
    size_t warning_count;
    char **warnings;                 /* sentences */
    double limit;                    /* --fail-if-slower as a fraction; below 0: none */
    enum mst_limit verdict;          /* of all gates together; UNSURE where there is no limit */
};

/* Whether the JSON has a metric of that name. */
bool mst_comparison_has(const char *metric);
/* All their names, for a message: "client_requests_per_second, ...". */
void mst_comparison_names(char *text, size_t size);

/* Compares the sides, which the table has, and finds what differs. gates: names of
 * metrics, gate_count of them; 0: throughput and mean. 0, or -1: out of memory. */
int  mst_comparison_make(struct mst_comparison_table *t, char *const *gates, size_t gate_count);
void mst_comparison_free(struct mst_comparison_table *t);

/* Whether the first finding is the same on both sides: a sentence. "": a side has none. */
#define MST_COMPARISON_CAUSES_MAX 256u
void mst_comparison_causes(const struct mst_comparison_table *t,
                           char text[MST_COMPARISON_CAUSES_MAX]);

/* Writes text for a terminal. */
void mst_comparison_text(struct mst_sink *sink, const struct mst_comparison_table *t);
/* Writes a sentence, and a table of all metrics, for a pull request on GitHub. */
void mst_comparison_markdown(struct mst_sink *sink, const struct mst_comparison_table *t);
/* One object. Its names are promises. */
void mst_comparison_json(struct mst_sink *sink, const struct mst_comparison_table *t);

#endif

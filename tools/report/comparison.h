/* comparison.h - the runs of two sides, compared metric by metric, as text and Markdown for people
 * and as JSON for programs; with warnings about what should be equal on both sides and is not.
 */
#ifndef MPMSTAT_COMPARISON_H
#define MPMSTAT_COMPARISON_H

#include "analysis/compare.h"
#include "analysis/compare_runs.h"
#include "doc/doc.h"
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

/* The time of one label's requests, or a part of it. */
struct mst_comparison_name {
    const char   *name, *part;       /* part NULL: all of the time */
    const double *a, *b;             /* the mean of each run, in nanoseconds */
    struct mst_comparison result;    /* its interval is wider, for there are many rows */
    enum mst_limit limit;            /* of the whole time, where there is one */
};

struct mst_comparison_prediction;

struct mst_comparison_table {
    apr_pool_t *pool;
    struct mst_compare_side a, b;
    bool   paired;
    bool   until_decided;            /* the pairs went on until they decided: wider intervals */
    size_t row_count;
    struct mst_comparison_row rows[MST_M_COUNT];
    const char *name_word;           /* what the names are: "label", "page", "script" */
    size_t names_compared, name_count;   /* names, and rows with their parts; 0: fewer than two */
    struct mst_comparison_name *names;
    struct mst_comparison_cause cause_a, cause_b;
    struct mst_list obstacles;       /* what forbids the comparison: clauses */
    struct mst_list warnings;        /* what else differs, or is to be known: clauses */
    size_t main_warning_count;       /* that short comparisons show: the first ones */
    size_t prediction_count;         /* of A's runs, for what B changed: comparison_ledger.h */
    struct mst_comparison_prediction *predictions;
    char   sentence[2048];           /* which is faster, and by how much; or what forbids it */
    bool   is_long;                  /* text shows all metrics and warnings */
    double limit;                    /* --fail-if-slower as a fraction; below 0: none */
    enum mst_limit verdict;          /* of all gates together; UNSURE where there is no limit */
};

/* Whether the JSON has a metric of that name. */
bool mst_comparison_has(const char *metric);
/* All their names, for a message: "client_requests_per_second, ...". */
void mst_comparison_names(char *text, size_t size);

/* Compares the sides, which the table has, and finds what differs. gates: names of
 * metrics, gate_count of them; 0: throughput and mean. */
void mst_comparison_make(struct mst_comparison_table *t, char *const *gates, size_t gate_count);
/* Closes the sides. */
void mst_comparison_end(struct mst_comparison_table *t);

/* Whether short comparisons show the row. */
bool mst_comparison_shows(const struct mst_comparison_table *t,
                          const struct mst_comparison_row *row);

/* Whether the first finding is the same on both sides: a sentence. "": a side has none. */
#define MST_COMPARISON_CAUSES_MAX 256u
void mst_comparison_causes(const struct mst_comparison_table *t,
                           char text[MST_COMPARISON_CAUSES_MAX]);
/* The sentence of the first run of the side that has the cause; "": it has none. */
const char *mst_comparison_cause_text(const struct mst_compare_side *side,
                                      const struct mst_comparison_cause *cause);
/* Whose the CPU time and the memory are: a sentence. "": no row has them. */
const char *mst_comparison_whose(const struct mst_comparison_table *t);

/* Writes the rows that short comparisons show, the others, or all; returns how many. */
enum mst_comparison_which { MST_COMPARISON_SHORT, MST_COMPARISON_REST, MST_COMPARISON_ALL };
size_t mst_comparison_rows(const struct mst_doc *doc, const struct mst_comparison_table *t,
                           enum mst_comparison_which which);
/* Writes the rows of names of which it is certain that they differ. */
void mst_comparison_put_names(const struct mst_doc *doc, const struct mst_comparison_table *t);

/* What stands around them: the causes; what was predicted of B, and what came; what stars, brackets
 * and A/A mean, and whose figures they are; the warnings of that range. */
void mst_comparison_put_causes(const struct mst_doc *doc, const struct mst_comparison_table *t);
void mst_comparison_put_predictions(const struct mst_doc *doc,
                                    const struct mst_comparison_table *t);
void mst_comparison_put_notes(const struct mst_doc *doc, const struct mst_comparison_table *t);
void mst_comparison_put_warnings(const struct mst_doc *doc, const struct mst_comparison_table *t,
                                 size_t from, size_t to);

/* Writes text for a terminal. */
void mst_comparison_text(struct mst_sink *sink, const struct mst_comparison_table *t);
/* Writes a sentence, and a table of all metrics, for a pull request on GitHub. */
void mst_comparison_markdown(struct mst_sink *sink, const struct mst_comparison_table *t);
/* A line for each metric, with a heading: RFC 4180 with \n. What is not known is empty. The columns
 * are promises. */
void mst_comparison_csv(struct mst_sink *sink, const struct mst_comparison_table *t);
/* One object. Its names are promises. */
void mst_comparison_json(struct mst_sink *sink, const struct mst_comparison_table *t);

#endif

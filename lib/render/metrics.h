/* metrics.h - boards as families of metrics, whatever the format: which families there are, the
 * labels and values of their samples, the bounds of their histograms. For the renderers of metrics.
 *
 * The samples of a family, those of all boards, follow each other. So the outer loop is over the
 * field table and the inner one over the boards. Rows that share a family are texts: they become
 * the labels of one info metric, named by their ids.
 */
#ifndef MPMSTAT_METRICS_H
#define MPMSTAT_METRICS_H

#include "render/render.h"
#include "render/scope.h"

enum mst_metric_kind {
    MST_METRIC_COUNTER, MST_METRIC_GAUGE, MST_METRIC_HISTOGRAM, MST_METRIC_INFO
};
enum mst_metric_kind mst_metric_kind(const struct mst_field *f);

#define MST_SAMPLE_LABELS 16u

/* One sample, or one histogram. What it points to is borrowed until the callback returns. */
struct mst_metric_sample {
    size_t                      label_count;
    struct {
        const char *name, *value;         /* a value is not escaped; NULL: empty */
    }                           labels[MST_SAMPLE_LABELS];
    uint64_t                    word;     /* a number; 1 of an info metric */
    const struct mst_histogram *histogram;
    bool                        bounded;  /* the histogram's bounds are wanted, beyond count and
                                           * sum */
    enum mst_phase              phase;    /* the histogram's */
    const struct mst_exemplar *const *exemplars;   /* the latest of each of its buckets; NULL: none
                                                    * of that bucket */
};

/* What a format does with families and samples; `out` is its own. */
struct mst_metrics_form {
    void (*begin_family)(void *out, const struct mst_field *f);
    void (*sample)(void *out, const struct mst_field *f, const struct mst_metric_sample *s);
    void (*end_family)(void *out);
};

/* Calls the form for all families that the boards can have, and all of their known samples; then
 * for those of the program's own. */
void mst_metrics_walk(const struct mst_shown *shown, const struct mst_metrics_form *form,
                      void *out);

/* The same for one of the boards, and for the program's own, for formats that keep them apart. */
void mst_metrics_walk_board(const struct mst_shown *shown, size_t which,
                            const struct mst_metrics_form *form, void *out);
void mst_metrics_walk_own(const struct mst_shown *shown, const struct mst_metrics_form *form,
                          void *out);

/* Writes a family's help, each text of it by `put`: of an info metric, one for each label. */
void mst_metrics_help(struct mst_sink *sink, const struct mst_field *f,
                      void (*put)(struct mst_sink *sink, const char *text));

/* The latest exemplar of the histogram's buckets from `from` up to, not including, `end`; NULL:
 * none. */
const struct mst_exemplar *mst_sample_exemplar(const struct mst_metric_sample *s, unsigned from,
                                               unsigned end);

/* ---- the bounds of a histogram -------------------------------------------------------
 * Bounds are powers of two in nanoseconds, from 16 us to 73 min, and between 1 ms and 60 s also
 * some of the tallies' own eight bounds an octave: all of them are exact. They are the same for
 * all servers, for all labels and at all times, or sums and rates over them break; so bounds
 * where nothing was observed are not left out. */
struct mst_bound {
    unsigned bucket;   /* the first bucket above it */
    uint64_t ns;
    uint64_t below;    /* observations below ns */
};

/* The bounds an octave that are shown: those that were asked for, or the default. */
unsigned mst_bounds_wanted(const struct mst_shown *shown);

/* Steps to the next bound; begin with zeroes. per_octave: 1, 2, 4 or 8. False: there is none. */
bool mst_bound_next(struct mst_bound *b, const struct mst_histogram *h, unsigned per_octave);

/* The native histogram's bucket for one of the tallies', which is not the first: it ends at
 * 2^(index / 32) seconds. A bucket of the tallies always goes into the same one, so no count ever
 * decreases; no two of them are neighbours. */
#define MST_NATIVE_SCHEMA 5
int64_t mst_native_index(unsigned bucket);

#endif

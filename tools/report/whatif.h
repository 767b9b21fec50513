/* whatif.h - what a changed server would do, beside what it did: mpmstat whatif. */
#ifndef MPMSTAT_WHATIF_H
#define MPMSTAT_WHATIF_H

#include "doc/doc.h"
#include "model/predict.h"

struct mst_whatif {
    const char *archive;               /* its path */
    const char *changes;               /* in words: "pm.max_children=20, clients 64" */
    const struct mst_model_run   *recorded;
    const struct mst_prediction *prediction;
    const struct mst_system     *changed;   /* the first point's where there are several */
    size_t      count;                 /* 1, or the points of a sweep; 0: nothing is predicted */
    const char *swept;                 /* "pm.max_children"; NULL: one point */
    const double             *at;      /* the swept values */
    const struct mst_forecast *then;
};

/* For people. A page has the curve of a sweep besides. */
void mst_whatif_put(const struct mst_doc *doc, const struct mst_whatif *w);
void mst_whatif_html(struct mst_sink *sink, const struct mst_whatif *w);
/* An object, with a line's end. Its names are promises. */
void mst_whatif_json(struct mst_sink *sink, const struct mst_whatif *w);

#endif

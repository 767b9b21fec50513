/* estimates.h - means, intervals and ratios of the repetitions of cases. */
#ifndef MPMSTAT_LAB_ESTIMATES_H
#define MPMSTAT_LAB_ESTIMATES_H

#include "lab/report/cases.h"

/* A metric of a case over its repetitions. */
struct mst_estimate {
    size_t count;                  /* repetitions that have it; 0: not known */
    double mean;                   /* geometric, where all are above 0; else arithmetic */
    double low, high;              /* 95 %; NaN: too few repetitions, or one of them is 0 */
    double least, most;
};

struct mst_estimate mst_estimate_of(const struct mst_study_case *c,
                                    enum mst_metric_id metric);

/* The ratio of one case to another. It is paired where the repetitions of both were made in the
 * same blocks. */
struct mst_ratio {
    bool   known, bounded;         /* bounded: low and high are */
    double ratio, low, high;
    size_t runs, of;               /* repetitions of either */
};

struct mst_ratio mst_ratio_of(const struct mst_study_case *c, const struct mst_study_case *to,
                              enum mst_metric_id metric);

#endif

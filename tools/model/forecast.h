/* forecast.h - what many simulations of one system come to, each of other recorded requests. */
#ifndef MPMSTAT_MODEL_FORECAST_H
#define MPMSTAT_MODEL_FORECAST_H

#include "model/recorded.h"
#include "model/simulate.h"

#define MST_CPUS_FULL 0.95   /* CPUs that are this busy are full */

/* What is in use on average, of what there is. */
struct mst_model_use {
    const char *name;      /* "apache-workers", "cpu", ... */
    double limit;          /* INFINITY: there is none, or it is not known */
    double used, waiting;  /* requests that wait for it; of CPUs, that compute and have none */
    double full;           /* part of the time in which nothing was free; of CPUs used / limit */
    double most;           /* in use at once, at most; of CPUs 0 */
};

/* What simulations have for one of the run's views. */
struct mst_forecast_view {
    double *values[MST_MEASURE_COUNT];   /* of each simulation, in its order */
    double  medians[MST_MEASURE_COUNT];
};

/* A system's simulations, many of them. */
struct mst_forecast {
    struct mst_forecast_view *views;     /* in the order of the run's */
    size_t  count;                       /* simulations */
    struct mst_model_use *uses;          /* of the system's gates but those without a limit, then of
                                          * its CPUs; means */
    size_t  use_count;
    double *at_ends;
    bool    others_matter;               /* what other programs give back of the CPUs is not known,
                                          * and the interval is for all of it to nothing */
    bool    overloaded;                  /* in most of them */
    const struct mst_model_use *limit;   /* what runs out for the requests of the view; NULL:
                                          * nothing does */
};

/* more_cpus: CPUs that the system has perhaps besides. The interval is for all of them to none. */
void mst_forecast_make(struct mst_forecast *o, const struct mst_system *system,
                       const struct mst_model_run *r, double more_cpus);

/* A few simulations. They draw the same requests whatever the system: so the means of two systems
 * compare better than their forecasts do. */
void mst_forecast_try(struct mst_forecast *few, const struct mst_system *system,
                      const struct mst_model_run *r);

/* How one of them is made. */
struct mst_simulation mst_forecast_one(const struct mst_system *system,
                                       const struct mst_model_run *r);

/* The number of the view that is told about. */
size_t mst_forecast_view(const struct mst_model_run *r);

/* What runs out for the requests of a view; NULL: nothing does. */
const struct mst_model_use *mst_forecast_limit(const struct mst_forecast *o,
                                               const struct mst_system *system, size_t view);

/* Of the simulations' values for a view; NAN: there are none, or one is not known. */
double mst_forecast_quantile(const struct mst_forecast *o, size_t view, enum mst_measure measure,
                             double part);

#endif

/* predict.h - what a changed system would do, from the simulation of the recorded one.
 *
 * The recorded run is simulated first. Where the simulation does not come to what was measured,
 * nothing is predicted. Else a prediction is the measured value times the ratio of the two
 * simulations, the changed system's and the recorded one's.
 */
#ifndef MPMSTAT_MODEL_PREDICT_H
#define MPMSTAT_MODEL_PREDICT_H

#include "model/forecast.h"

/* 90 % of the recordings of the changed server are between low and high. NAN: not known. */
struct mst_model_estimate { double value, low, high; };

struct mst_prediction {
    const char *why_not;       /* why nothing is predicted of the view, a sentence; NULL */
    bool is_explained;         /* it says what in the recording is the reason */
    const struct mst_model_run *run;
    struct mst_forecast now;   /* of the recorded system */
};

/* Fits the system to what was measured, and simulates it. Changes r->system. */
void mst_model_calibrate(struct mst_prediction *p, struct mst_model_run *r);

/* From here on, what is told is of the requests of that server alone; NULL: of all of them. False:
 * it is none of several that the load was for. */
bool mst_model_look_at(struct mst_prediction *p, struct mst_model_run *r,
                       const struct mst_summary_server *front);

/* What the simulations have for the view that is told about. */
const struct mst_forecast_view *mst_model_seen(const struct mst_prediction *p,
                                               const struct mst_forecast *o);

/* What the changed system does. */
void mst_model_forecast(struct mst_forecast *o, const struct mst_prediction *p,
                        const struct mst_system *system, const struct mst_model_run *r);

/* The estimate of one measure, of the view that is told about; of that view, by its number. */
struct mst_model_estimate mst_model_estimate_of(const struct mst_prediction *p,
                                       const struct mst_forecast *then, enum mst_measure measure);
struct mst_model_estimate mst_model_estimate_for(const struct mst_prediction *p, size_t view,
                                       const struct mst_forecast *then, enum mst_measure measure);

/* Whether the simulation of the recorded system does not come to what was measured there. */
bool mst_model_is_off(const struct mst_prediction *p, size_t view);

/* Whether what is in use are CPUs; those that a control group may use; an end of PHP's that lets in
 * one request at a time. */
bool mst_model_is_quota(const struct mst_prediction *p, const struct mst_model_use *use);
bool mst_model_is_cpus(const struct mst_prediction *p, const struct mst_model_use *use);
bool mst_model_is_serial_end(const struct mst_prediction *p, const struct mst_model_use *use);

/* Whether the end would have more requests at once than was ever seen: how long it takes for them
 * is not known then. */
bool mst_model_is_busier(const struct mst_prediction *p, const struct mst_forecast *then,
                         size_t nth);
/* The first such end; NULL: there is none. */
const struct mst_model_end *mst_model_busier_end(const struct mst_prediction *p,
                                                 const struct mst_forecast *then);

#endif

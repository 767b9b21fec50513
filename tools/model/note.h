/* note.h - a prediction as an archive keeps it: analysis/ledger.h. */
#ifndef MPMSTAT_MODEL_NOTE_H
#define MPMSTAT_MODEL_NOTE_H

#include "analysis/ledger.h"
#include "model/predict.h"

/* Notes what is predicted of the changed system, and its load. The rate is a measure only where
 * clients wait for answers: other requests come at the load's. */
void mst_model_note(struct mst_ledger_entry *e, const struct mst_prediction *p,
                    const struct mst_system *changed, const struct mst_forecast *then);
/* Adds the settings that the changed system has other than the recorded one: limits of workers.
 * False: something else is changed, too, but for the load. */
bool mst_model_note_settings(struct mst_ledger_entry *e, const struct mst_model_run *r,
                             const struct mst_system *changed);

#endif

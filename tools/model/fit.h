/* fit.h - fits a recorded system to what was measured: of the recorded times it finds what is
 * computing, what requests wait for outside of the server, and which CPUs other programs leave.
 */
#ifndef MPMSTAT_MODEL_FIT_H
#define MPMSTAT_MODEL_FIT_H

#include "model/recorded.h"

/* Changes r->system: the factors of its ends, and the number of its CPUs. */
void mst_model_fit(struct mst_model_run *r);

#endif

/* predicted.h - predicts from a run, for tests of archives that others made. */
#ifndef MPMSTAT_TEST_PREDICTED_H
#define MPMSTAT_TEST_PREDICTED_H

#include <stdbool.h>

#include "report/report.h"

/* What would be, of a load that is twice as large, in all formats; nobody reads it. False: the
 * archive cannot be read. */
bool predict_from(const struct mst_report_run *recorded, apr_pool_t *pool);

#endif

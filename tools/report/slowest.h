/* slowest.h - the slowest requests of one run, each with the parts of its time. */
#ifndef MPMSTAT_REPORT_SLOWEST_H
#define MPMSTAT_REPORT_SLOWEST_H

#include "doc/doc.h"
#include "report/report.h"

#define MST_SLOWEST_FEW 5u    /* text and Markdown show so many */

/* At most so many, of the server that the load was for. False: the archive cannot be read. */
bool mst_slowest_put(const struct mst_doc *doc, const struct mst_report_run *run, size_t most);

#endif

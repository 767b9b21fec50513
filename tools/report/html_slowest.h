/* html_slowest.h - the slowest requests of one run with their parts, as HTML. */
#ifndef MPMSTAT_HTML_SLOWEST_H
#define MPMSTAT_HTML_SLOWEST_H

#include "report/report.h"

/* Those of the server that the load was for. False: the archive cannot be read. */
bool mst_html_slowest(struct mst_sink *sink, const struct mst_report_run *run, size_t most);

#endif

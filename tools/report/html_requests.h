/* html_requests.h - the requests of one run, as HTML: tables by name, and the slowest with their
 * parts. */
#ifndef MPMSTAT_HTML_REQUESTS_H
#define MPMSTAT_HTML_REQUESTS_H

#include "report/report.h"

/* Tables by label, by handler, by script and by other end, at most `most` rows each and one of all
 * others. assets/report.js sorts them. False: the archive cannot be read. */
bool mst_html_by_name(struct mst_sink *sink, const struct mst_report_run *run, size_t most);

/* The slowest requests of the server that the load was for. False: the same. */
bool mst_html_slowest(struct mst_sink *sink, const struct mst_report_run *run, size_t most);

#endif

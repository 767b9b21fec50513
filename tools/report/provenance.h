/* provenance.h - where a run's numbers come from: its command, archive, servers and environment. */
#ifndef MPMSTAT_REPORT_PROVENANCE_H
#define MPMSTAT_REPORT_PROVENANCE_H

#include "doc/doc.h"
#include "report/report.h"

/* False: the archive cannot be read. */
bool mst_provenance_put(const struct mst_doc *doc, const struct mst_report_run *run);

/* The same as an article of a page, with what the load tool printed. */
bool mst_provenance_html(struct mst_sink *sink, const struct mst_report_run *run);

#endif

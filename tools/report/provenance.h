/* provenance.h - where a run's numbers come from: its command, archive, servers, environment, and
 * what the load tool printed. Only the page has it: a comment on a pull request, which Markdown is
 * for, has to be short, and can be public.
 */
#ifndef MPMSTAT_REPORT_PROVENANCE_H
#define MPMSTAT_REPORT_PROVENANCE_H

#include "archive/query.h"
#include "doc/table.h"
#include "report/report.h"

/* An article of a page. False: the archive cannot be read. */
bool mst_provenance_html(struct mst_sink *sink, const struct mst_report_run *run);

/* Adds a pair for each row's name and value, and ends the query; a value that is NULL is left out.
 * False: the archive cannot be read. */
bool mst_provenance_pairs(struct mst_doc_table *t, struct mst_query *rows);

#endif

/* provenance.h - where a study's numbers come from: its archive, size, order, servers, environment
 * and files. */
#ifndef MPMSTAT_LAB_PROVENANCE_H
#define MPMSTAT_LAB_PROVENANCE_H

#include "doc/doc.h"
#include "lab/report/cases.h"

/* False: the archive cannot be read. */
bool mst_study_provenance_put(const struct mst_doc *doc, const struct mst_study_data *data);

/* The same as a section of a page, with how it differs from the original, the load tools' commands
 * and the files that it was run from. */
bool mst_study_provenance_html(struct mst_sink *sink, const struct mst_study_data *data);

#endif

/* servers.h - several servers of a kind in a run, and all of them together. Nothing is written
 * where there is one of a kind. */
#ifndef MPMSTAT_SERVERS_H
#define MPMSTAT_SERVERS_H

#include "analysis/summary.h"
#include "doc/doc.h"

struct mst_text_form;

/* In brief, many servers are one row, that of all together, and there have to be two with
 * requests. */
void mst_servers_put(const struct mst_doc *doc, const struct mst_summary *s,
                     const struct mst_text_form *form);

#endif

/* sides.h - what the load tool saw beside what the servers know: how much, how long. */
#ifndef MPMSTAT_REPORT_SIDES_H
#define MPMSTAT_REPORT_SIDES_H

#include "analysis/summary.h"
#include "doc/doc.h"

struct mst_text_form;

/* The load tool, and all servers that it talks to. */
void mst_sides_put(const struct mst_doc *doc, const struct mst_summary *s,
                   const struct mst_text_form *form);

/* Whether both sides counted the same: in brief that is a word and not a row. */
bool mst_sides_have_one_count(const struct mst_summary *s);

#endif

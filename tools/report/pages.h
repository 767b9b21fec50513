/* pages.h - an Apache's requests by page: the paths that took the most time. */
#ifndef MPMSTAT_PAGES_H
#define MPMSTAT_PAGES_H

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"

/* What stands where no path was recorded. */
#define MST_PAGES_UNKNOWN "Which page is slow is not known: with MPMStatPaths On in its " \
    "configuration, Apache records the path of each request, without the query."

/* Nothing of a PHP: its requests are an Apache's, or have no path. */
void mst_pages_put(const struct mst_doc *doc, const struct mst_summary_server *server);
/* The member "pages"; null where no path is known. */
void mst_pages_json(struct mst_json *j, const struct mst_summary_server *server);

#endif

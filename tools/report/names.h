/* names.h - a server's requests by name: an Apache's by page, by label, by what it handed them to;
 * a PHP's by script, and what they waited for by other end. The names that took the most time have
 * a row each. */
#ifndef MPMSTAT_REPORT_NAMES_H
#define MPMSTAT_REPORT_NAMES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"

#define MST_NAMES_FEW 8u   /* rows, for a terminal and for a pull request */

/* At most `most` rows with a name each, and one of all others. Text leaves out a table with one
 * name, and that of other ends, which have another table there. False: the archive cannot be read.
 */
bool mst_names_put(const struct mst_doc *doc, const struct mst_summary_server *server, sqlite3 *db,
                   size_t most);

/* The pages alone, or that they are not known. Nothing of a PHP. */
void mst_pages_put(const struct mst_doc *doc, const struct mst_summary_server *server, size_t most);
/* The member "pages"; null where no path is known. */
void mst_pages_json(struct mst_json *j, const struct mst_summary_server *server);

#endif

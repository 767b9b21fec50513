/* code.h - where in PHP's code a server's time was: by component, by function, as a flame graph. */
#ifndef MPMSTAT_REPORT_CODE_H
#define MPMSTAT_REPORT_CODE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"

/* The bills, with at most `most` rows each, and on a page the place of the flame graph, which its
 * script draws from the data of that run and server; nothing where there are no samples. False: the
 * archive cannot be read. */
bool mst_code_put(const struct mst_doc *doc, const struct mst_summary_server *server, sqlite3 *db,
                  size_t most, size_t run, size_t number);

/* The member "code" of the page's data; null where there are no samples. False as above. */
bool mst_code_data(struct mst_json *j, const struct mst_summary_server *server, sqlite3 *db);

#endif

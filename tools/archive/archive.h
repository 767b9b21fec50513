/* archive.h - the SQLite file that a recording writes and reports read: opening it to read, and
 * closing it. writer.h has what it takes to write one, query.h to ask it.
 *
 * schema.sql describes what is in it. Other programs may read it at any time.
 *
 * The first error is kept: after it every call fails and changes nothing, and
 * mst_archive_error() is a sentence for the user.
 */
#ifndef MPMSTAT_ARCHIVE_H
#define MPMSTAT_ARCHIVE_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "tools/archive/version.inc"        /* MST_ARCHIVE_ID, MST_ARCHIVE_VERSION */

#define MST_ARCHIVE_OUTPUT   (4u << 20)     /* bytes kept of what the load tool printed */

/* Between two samples of a server; of one that is read through a URL, where each costs it a
 * request. */
/* In a run's environment: it is one of as many as it took to decide (--repeat until-decided). */
#define MST_ENVIRONMENT_REPEATED "repeated"
#define MST_UNTIL_DECIDED        "until-decided"

#define MST_SAMPLE_NS     UINT64_C(100000000)
#define MST_SAMPLE_URL_NS UINT64_C(500000000)
/* Between two looks at a journal that fills fast. */
#define MST_LOOK_NS       UINT64_C(25000000)
/* In a recording that goes on for weeks: all day long, ten a second are most of its archives. */
#define MST_SAMPLE_LONG_NS UINT64_C(1000000000)

struct mst_archive;

/* Opens an archive to read it. A recording may still be writing to it. One of an
 * earlier version stays as it is: a copy in memory is read instead. */
struct mst_archive *mst_archive_read(const char *path, char error[MST_ERROR_MAX]);

/* Commits what is there and closes. 0, or -1 where something was not written: then `error` is
 * the sentence. NULL is fine. */
int mst_archive_close(struct mst_archive *a, char error[MST_ERROR_MAX]);

const char *mst_archive_path(const struct mst_archive *a);
const char *mst_archive_error(const struct mst_archive *a);   /* "" none */
sqlite3 *mst_archive_db(struct mst_archive *a);                /* to query */

/* Returns -1 with the sentence for a query that failed, or found what cannot be. */
int mst_archive_unreadable(const struct mst_archive *a, char error[MST_ERROR_MAX]);

#endif

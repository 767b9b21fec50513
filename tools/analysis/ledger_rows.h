/* ledger_rows.h - reads and writes the predictions of an archive: ledger.h. */
#ifndef MPMSTAT_LEDGER_ROWS_H
#define MPMSTAT_LEDGER_ROWS_H

#include <apr_pools.h>
#include <sqlite3.h>

#include "analysis/ledger.h"
#include "archive/archive.h"

/* The run's entries, by number; rows that cannot be a prediction are left out. *entries is the
 * pool's. False: the archive cannot be read. */
bool mst_ledger_read(apr_pool_t *pool, sqlite3 *db, int64_t run_id,
                     struct mst_ledger_entry **entries, size_t *count);

/* Writes an entry into an archive that is open for writing, in place of one for the same change and
 * load; the number is found. 0, or -1: mst_archive_error(), or it cannot be read. */
int mst_ledger_write(struct mst_archive *a, int64_t run_id, const struct mst_ledger_entry *e);
/* Removes what findings said: they are made anew. */
int mst_ledger_forget_advice(struct mst_archive *a, int64_t run_id);

#endif

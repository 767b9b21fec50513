/* analyse.c - makes a run's summary, step by step: see summary.h and steps.h. */
#include <inttypes.h>

#include "analysis/steps.h"
#include "archive/archive.h"

int mst_summary_make(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                     char error[MST_ERROR_MAX])
{
    sqlite3 *db = mst_archive_db(a);
    int found = mst_summary_read(s, db, run_id);

    if (found == 0)
        return mst_fail(error, "there is no run %" PRId64 " in the archive %s", run_id,
                        mst_archive_path(a));
    if (found < 0 || !mst_summary_read_pages(s) || !mst_summary_join_client(s, db))
        return mst_archive_unreadable(a, error);
    mst_summary_check(s);
    return 0;
}

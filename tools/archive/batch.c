/* batch.c - transactions of an archive that is written, and waiting for other programs that
 * use it.
 *
 * Batches are committed without waiting for the disk, which would show in the measurement. A
 * killed recording loses nothing by that; only a crash of the system could lose a batch. The end
 * of a run is written through to the disk.
 */
#include <poll.h>
#include <stdio.h>

#include "archive/internal.h"
#include "base/clock.h"

#define RETRY_MS  50            /* between attempts to commit where there is nothing else to do */
#define BATCH_MAX (512 << 20)   /* bytes of memory that a batch may take meanwhile */

/* ---- waiting for others ---------------------------------------------------------------- */

/* The user of a program that only reads need not know that it stops a recording. */
static int give_up(struct mst_archive *a, const char *why)
{
    snprintf(a->error, sizeof a->error, "cannot write the archive %s: another program is using it "
             "(one that only reads it keeps it from being written, too), %s", a->path, why);
    return -1;
}

int mst_archive_wait(struct mst_archive *a, struct mst_patience *p)
{
    char sentence[MST_ERROR_MAX];
    uint64_t waited_ns = mst_now_ns() - p->began_ns;

    if (waited_ns >= MST_ARCHIVE_PATIENCE_NS)
        return give_up(a, "and did not let go of it");
    if (!p->told && waited_ns >= MST_NS_PER_S) {
        if (a->tell != NULL) {
            snprintf(sentence, sizeof sentence, "another program is reading the archive %s: "
                     "waiting for it, %u s at most", a->path,
                     (unsigned)(MST_ARCHIVE_PATIENCE_NS / MST_NS_PER_S));
            a->tell(false, sentence);
        }
        p->told = true;
    }
    poll(NULL, 0, RETRY_MS);
    return 0;
}

/* ---- batches --------------------------------------------------------------------- */

int mst_archive_begin_batch(struct mst_archive *a)
{
    if (a->error[0] != '\0')
        return -1;
    if (a->in_batch)
        return 0;
    if (mst_archive_execute(a, "BEGIN IMMEDIATE") != 0)
        return -1;
    /* With a full cache SQLite would wait for readers; without a timeout it takes more memory. */
    sqlite3_busy_timeout(a->db, 0);
    a->in_batch = true;
    a->batch_ns = mst_now_ns();
    return 0;
}

/* 0; -1; or 1: there is no log and a program reads, so the batch stays open, and no new reader
 * is let in. */
static int try_commit(struct mst_archive *a)
{
    int status;

    if (a->error[0] != '\0')
        return -1;
    if (!a->in_batch)
        return 0;
    status = sqlite3_exec(a->db, "COMMIT", NULL, NULL, NULL);
    if (status == SQLITE_BUSY)
        return 1;
    a->in_batch = false;
    if (status != SQLITE_OK)
        return mst_archive_fail(a);
    sqlite3_busy_timeout(a->db, MST_ARCHIVE_BUSY_MS);
    return 0;
}

int mst_archive_commit(struct mst_archive *a)
{
    struct mst_patience p = { mst_now_ns(), false };
    int status;

    while ((status = try_commit(a)) > 0)
        if (mst_archive_wait(a, &p) != 0)
            return -1;
    return status;
}

int mst_archive_undo(struct mst_archive *a)
{
    int status;

    if (a->error[0] != '\0')
        return -1;
    if (!a->in_batch)
        return 0;
    a->in_batch = false;
    status = sqlite3_exec(a->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != SQLITE_OK)
        return mst_archive_fail(a);
    sqlite3_busy_timeout(a->db, MST_ARCHIVE_BUSY_MS);
    return 0;
}

static bool takes_too_much(struct mst_archive *a)
{
    int bytes, most;

    return sqlite3_db_status(a->db, SQLITE_DBSTATUS_CACHE_USED, &bytes, &most, 0) == SQLITE_OK &&
           bytes > BATCH_MAX;
}

int mst_archive_offer(struct mst_archive *a)
{
    int status = try_commit(a);

    if (status <= 0)
        return status;
    a->batch_ns = mst_now_ns();
    return takes_too_much(a) ? give_up(a, "and memory for what it keeps out runs short") : 0;
}

int mst_archive_tick(struct mst_archive *a, uint64_t now_ns)
{
    if (!a->in_batch || now_ns - a->batch_ns < MST_ARCHIVE_BATCH_NS)
        return a->error[0] == '\0' ? 0 : -1;
    return mst_archive_offer(a);
}


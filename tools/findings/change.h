/* change.h - which settings to change in a server's files, so that it accepts all of them.
 *
 * What stands in the files is in the archive's tables servers and settings, and what an Apache runs
 * with in its environment. Where neither is known, where a setting is doubtful, or where the server
 * runs with another limit than its files say, a change has no settings.
 */
#ifndef MPMSTAT_CHANGE_H
#define MPMSTAT_CHANGE_H

#include <sqlite3.h>

#include "analysis/finding.h"
#include "analysis/summary.h"

/* Whose files: a server, and of an FPM the pool (NULL: it has one). */
struct mst_changed {
    sqlite3 *db;
    const struct mst_summary *run;
    const struct mst_summary_server *server;
    const char *pool;
    uint64_t    limit;          /* of its workers, with which it runs; MST_UNKNOWN */
};

/* So many workers at most. */
void mst_change_limit(struct mst_changes *c, const struct mst_changed *of, uint64_t workers);
/* So many of them there before the load comes. */
void mst_change_ready(struct mst_changes *c, const struct mst_changed *of, uint64_t workers);
/* Both. */
void mst_change_limit_and_ready(struct mst_changes *c, const struct mst_changed *of,
                                uint64_t workers);
/* Makes processes live longer: removes the limit on their requests; where there is none and
 * pm = ondemand, sets a longer idle timeout; where neither is to be changed, has as many processes
 * ready as were busy at most. */
void mst_change_lifetime(struct mst_changes *c, const struct mst_changed *of);

/* A setting that can be changed alone: the server accepts its value with any other settings. */
enum mst_alone {
    MST_ALONE_LISTEN_BACKLOG, MST_ALONE_FPM_BACKLOG, MST_ALONE_HTTP2_WORKERS,
    MST_ALONE_ASYNC_FACTOR, MST_ALONE_KEEPALIVE, MST_ALONE_FPM_FILES, MST_ALONE_COUNT
};
/* in_force: what the server runs with, where it stands in no file; MST_UNKNOWN: its default. */
void mst_change_alone(struct mst_changes *c, const struct mst_changed *of, enum mst_alone which,
                      uint64_t in_force, uint64_t to);

/* A number that an Apache runs with, as it told or as its files have it; MST_UNKNOWN. */
uint64_t mst_setting_in_force(const struct mst_changed *of, const char *directive);

#endif

/* follow.h - the requests of running servers to export, from their boards' journals, as they come.
 *
 * The chosen ones wait in an archive in memory until PHP's records of them are there, too; then
 * they are exported like those of a recording. Each is exported once. What a server had recorded
 * before it was followed is not; of a server that starts later, everything is.
 */
#ifndef MPMSTAT_EXPORT_FOLLOW_H
#define MPMSTAT_EXPORT_FOLLOW_H

#include "export/export.h"

/* Kept at most: requests of Apache's that wait, and PHP's that ended in the last minute or two. */
#define MST_FOLLOW_REQUESTS     20000u
#define MST_FOLLOW_PHP_REQUESTS 50000u

/* So long after its end a request is exported: PHP's record can be later than Apache's. */
#define MST_FOLLOW_SETTLE_NS    UINT64_C(2000000000)

struct mst_follow;

struct mst_follow_counts {
    uint64_t boards;     /* that are followed now */
    uint64_t lost;       /* records that the journals had overwritten before they were read */
    uint64_t dropped;    /* requests that were chosen, and for which there was no room, or whose
                          * times cannot be */
};

/* Follows what the targets are at each time (none: this machine's boards). They are borrowed. Among
 * the chosen are none for being one of the slowest. NULL: out of memory. */
struct mst_follow *mst_follow_open(char *const *targets, size_t target_count,
                                   const struct mst_export_choice *choice);
void mst_follow_close(struct mst_follow *follow);

/* Reads what the journals have got since the last time; a few times a second. */
void mst_follow_poll(struct mst_follow *follow);

/* Exports those that have waited long enough; `at_end`: all. *e has all but the choice. What cannot
 * be exported is dropped. */
void mst_follow_export(struct mst_follow *follow, struct mst_export *e, bool at_end);

struct mst_follow_counts mst_follow_counts(const struct mst_follow *follow);

#endif

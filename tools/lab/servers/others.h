/* others.h - what the servers take that mpmstat cannot be in (nginx): memory, CPU time.
 *
 * They have no board, and so are not among a run's servers. Theirs goes to the run's
 * environment, so that what all servers together take is known: others_pss_bytes,
 * others_rss_bytes and others_processes, read once when the load is over (their processes
 * stay, and keep what they took), and others_cpu_ns, from the load's beginning to then.
 */
#ifndef MPMSTAT_LAB_OTHERS_H
#define MPMSTAT_LAB_OTHERS_H

#include "archive/writer.h"
#include "lab/servers/servers.h"
#include "system/processes.h"

struct mst_others {
    size_t count;
    struct mst_processes *items;
    uint64_t cpu_ns;        /* when the load began; MST_UNKNOWN */
};

/* Finds them among the servers. */
void mst_others_begin(apr_pool_t *pool, struct mst_others *others,
                      const struct mst_servers *servers);

/* Keeps what they took where all of it is known. 0, or -1: mst_archive_error(). */
int mst_others_keep(struct mst_others *others, struct mst_archive *archive, int64_t run_id);

void mst_others_end(struct mst_others *others);

#endif

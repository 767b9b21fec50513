/* resources.h - how near a run came to the limits around it: struct mst_summary_resources, pools,
 * ports and disks of a summary, as shares that tables and findings use.
 */
#ifndef MPMSTAT_RESOURCES_H
#define MPMSTAT_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"

/* From this share of its limit on, tables show a resource. */
#define MST_NEAR_LIMIT_MILLI   500u
/* From this share of the load on, tables show for how long programs waited for a disk. */
#define MST_STALL_SHOWN_MILLI   50u

/* Thousandths of the limit that were used: at most; for CPU time, on average over the load.
 * MST_UNKNOWN: not known, or there is no limit. */
uint64_t mst_files_milli(const struct mst_summary_server *server);
uint64_t mst_group_cpu_milli(const struct mst_summary *s, const struct mst_summary_server *server);
uint64_t mst_group_memory_milli(const struct mst_summary_server *server);
uint64_t mst_http2_workers_milli(const struct mst_summary_server *server);
/* Of the remote address towards which most ports were in use. */
uint64_t mst_ports_milli(const struct mst_summary *s);

bool mst_is_near_limit(uint64_t milli);
/* Whether the load waited for a disk that long. */
bool mst_is_stalled(const struct mst_summary *s, uint64_t stall_ns);

/* How often FPM found any of its pools at its limit; MST_UNKNOWN: of none it is known. */
uint64_t mst_limits_reached(const struct mst_summary_server *server);
/* Whether the pool had requests, or busy workers. */
bool mst_pool_was_used(const struct mst_summary_pool *pool);
/* Whether the pools tell more than their sum does: several were used, or one was at its limit. */
bool mst_pools_matter(const struct mst_summary_server *server);

/* Mean php_wait and php_run of the pool's requests; MST_UNKNOWN where none tells. */
uint64_t mst_pool_mean_wait_ns(const struct mst_summary_pool *pool);
uint64_t mst_pool_mean_run_ns(const struct mst_summary_pool *pool);

#endif

/* environment.h - where a recording ran: machine, kernel, limits. */
#ifndef MPMSTAT_ENVIRONMENT_H
#define MPMSTAT_ENVIRONMENT_H

#include <stdint.h>

#include "archive/writer.h"

/* Writes what may explain a run's figures into the archive. 0, or -1 where the
 * archive failed; what cannot be found out is left out. */
int mst_environment_record(struct mst_archive *archive, int64_t run_id);

/* The same of a server's parent process: how it was started, and its limits (pid 0 or MST_UNKNOWN:
 * it is not known). The names of the values begin with `prefix`. */
int mst_environment_record_server(struct mst_archive *archive, int64_t run_id, const char *prefix,
                                  uint64_t pid);

/* How many CPUs the servers may use, where these are not all that the machine has. */
int mst_environment_record_servers_cpus(struct mst_archive *archive, int64_t run_id, uint64_t cpus);

#endif

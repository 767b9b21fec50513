/* quantities.h - times and sizes on the command line. */
#ifndef MPMSTAT_QUANTITIES_H
#define MPMSTAT_QUANTITIES_H

#include <stdint.h>

/* "500ms", "90s", "5m", "2h", "30d", within the bounds. Returns an enum mst_exit; option is as it
 * was typed. */
int mst_time_read(uint64_t *ns, const char *verb, const char *option, const char *text,
                  uint64_t least_ns, uint64_t most_ns);

/* An instant in the past, in nanoseconds since 1970: "-2h" before now, "07:30" today, "2026-11-23",
 * "2026-11-23 07:30:10", by local time; with a Z at its end by UTC. Returns an enum mst_exit. */
int mst_instant_read(uint64_t *wall_ns, const char *verb, const char *option, const char *text);

/* "64M", "2G": K, M, G and T are powers of 1024. Returns an enum mst_exit. */
int mst_bytes_read(uint64_t *bytes, const char *verb, const char *option, const char *text,
                   uint64_t least);

#endif

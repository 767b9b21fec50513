/* quantities.h - times, sizes and percentages on the command line. */
#ifndef MPMSTAT_QUANTITIES_H
#define MPMSTAT_QUANTITIES_H

#include <stdint.h>

/* Each reads an option's value, and returns an enum mst_exit. option: without its dashes. */

/* A time: "500ms", "90s", "5m", "2h", "30d". */
int mst_time_read(const char *verb, const char *option, const char *text, uint64_t low_ns,
                  uint64_t high_ns, uint64_t *ns);

/* An instant in the past, in nanoseconds since 1970: "-2h" before now, "07:30" today, "2026-11-23",
 * "2026-11-23 07:30:10", by local time; with a Z at its end by UTC. */
int mst_instant_read(const char *verb, const char *option, const char *text, uint64_t *wall_ns);

/* A percentage, "5%" or "5", from `least` to 1000; as a fraction, 0.05. */
int mst_percent_read(const char *verb, const char *option, const char *text, double least,
                     double *fraction);

/* A size: "64M", "2G"; K, M, G and T are powers of 1024. */
int mst_bytes_read(const char *verb, const char *option, const char *text, uint64_t least,
                   uint64_t *bytes);

#endif

/* figures.h - numbers as people read them: three figures and a unit. */
#ifndef MPMSTAT_FIGURES_H
#define MPMSTAT_FIGURES_H

#include <stdint.h>

/* A number as text, by value, so that several fit in one printf. */
struct mst_formatted { char text[32]; };

/* "39.9 ms", "1.02 s", "512 us"; "-" where it is not known. */
struct mst_formatted mst_format_time(uint64_t ns);
/* The same of seconds, 0 or more. */
struct mst_formatted mst_format_seconds(double seconds);
/* "59.2 MB" (of 10^6 bytes, as everywhere here); "-". */
struct mst_formatted mst_format_bytes(uint64_t bytes);
/* Thousandths: "19.8" of 19800; "-". */
struct mst_formatted mst_format_milli(uint64_t milli);
/* A number with three figures, or all those before the point; not below 0. */
struct mst_formatted mst_format_real(double value);
/* Thousandths as a percentage: "99.6 %" of 996; "-". */
struct mst_formatted mst_format_percent(uint64_t milli);
/* "2000"; "-". */
struct mst_formatted mst_format_count(uint64_t n);
/* "35 s", "4 min", "2 h 10 min". */
struct mst_formatted mst_format_duration(uint64_t ns);

#endif

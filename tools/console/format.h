/* format.h - numbers as people read them: three figures and a unit; a text's ends. */
#ifndef MPMSTAT_CONSOLE_FORMAT_H
#define MPMSTAT_CONSOLE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number as text, by value, so that several fit in one printf. */
struct mst_formatted { char text[32]; };

/* "39.9 ms", "1.02 s", "512 us"; "-" where it is not known. */
struct mst_formatted mst_format_time(uint64_t ns);
/* "59.2 MB" (of 10^6 bytes, as everywhere here); "-". */
struct mst_formatted mst_format_bytes(uint64_t bytes);
/* Thousandths: "19.8" of 19800; "-". */
struct mst_formatted mst_format_milli(uint64_t milli);
/* Thousandths as a percentage: "99.6 %" of 996; "-". */
struct mst_formatted mst_format_percent(uint64_t milli);
/* "2000"; "-". */
struct mst_formatted mst_format_count(uint64_t n);
/* "35 s", "4 min", "2 h 10 min". */
struct mst_formatted mst_format_duration(uint64_t ns);
/* An instant (since 1970) of today: "04:07:09", local time; "-". */
struct mst_formatted mst_format_clock(uint64_t wall_ns);
/* Now, for the name of a file: "20261121-154500", local time. */
struct mst_formatted mst_format_stamp(void);

/* The first and the last `count` lines of what a program said, indented, "..." for what is
 * between: it says first what is wrong (and its usage behind it), or last. */
void mst_format_ends(FILE *out, const char *text, size_t count);

#endif

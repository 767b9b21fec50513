/* format.h - numbers as people read them (render/figures.h), the name of a file, a text's ends. */
#ifndef MPMSTAT_CONSOLE_FORMAT_H
#define MPMSTAT_CONSOLE_FORMAT_H

#include <stddef.h>
#include <stdio.h>

#include "render/figures.h"

/* An instant (since 1970) of today: "04:07:09", local time; "-". */
struct mst_formatted mst_format_clock(uint64_t wall_ns);
/* The instant's date and time: "2026-11-21 04:07:09 UTC"; "-". */
struct mst_formatted mst_format_instant(uint64_t wall_ns);
/* Now, for the name of a file: "20261121-154500", local time. */
struct mst_formatted mst_format_stamp(void);

/* The first and the last `count` lines of what a program said, indented, "..." for what is
 * between: it says first what is wrong (and its usage behind it), or last. */
void mst_format_ends(FILE *out, const char *text, size_t count);

#endif

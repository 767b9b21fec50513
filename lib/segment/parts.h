/* parts.h - the parts of a request's time, and what people read of them: see parts.def. */
#ifndef MPMSTAT_SEGMENT_PARTS_H
#define MPMSTAT_SEGMENT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/terms.h"

/* QUEUE, READ, HANDLE and SEND are the rest of their phase: the time that no other part of it
 * explains. REST is the rest of PHP's run. */
enum mst_part {
#define MST_PART(id, within, name, colour, noun) MST_PART_##id,
#include "segment/parts.def"
    MST_PART_COUNT,
    MST_PART_WAITS = MST_PART_DATABASE   /* the first of MST_WAIT_COUNT */
};

/* What a part is a part of. PHP_RUN is itself in HANDLE, and in SEND where PHP goes on. */
enum mst_within { MST_WITHIN_QUEUE, MST_WITHIN_READ, MST_WITHIN_HANDLE, MST_WITHIN_PHP_RUN,
                  MST_WITHIN_SEND };

struct mst_part_words {
    enum mst_within within;
    const char *name, *colour, *noun;
};
extern const struct mst_part_words mst_parts[MST_PART_COUNT];

/* The part's name in a table that has parts below their phase: without the phase's name in front.
 * The part that is the rest of the phase is called "other". */
const char *mst_part_row(enum mst_part part);

/* Whether it is what is left of a phase, or of PHP's run. */
bool mst_part_is_rest(enum mst_part part);

/* The sum of the parts that are directly in `within`: HANDLE and SEND do not include PHP_RUN. */
uint64_t mst_parts_within(const uint64_t parts_ns[MST_PART_COUNT], enum mst_within within);

/* The part with most of the time; the first of equal ones. */
enum mst_part mst_part_longest(const uint64_t parts_ns[MST_PART_COUNT]);

#endif

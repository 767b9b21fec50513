/* quantity.h - numbers with what they count: how people read them, and what programs get.
 *
 * A value is a whole number: COUNT and BYTES by one, TIME in nanoseconds, MEAN, RATE and SHARE in
 * thousandths, BYTE_RATE in bytes a second. MST_UNKNOWN: it is not known.
 */
#ifndef MPMSTAT_QUANTITY_H
#define MPMSTAT_QUANTITY_H

#include <stdint.h>

#include "console/format.h"
#include "render/sink.h"

enum mst_quantity {
    MST_QUANTITY_COUNT, MST_QUANTITY_MEAN, MST_QUANTITY_RATE, MST_QUANTITY_TIME,
    MST_QUANTITY_BYTES, MST_QUANTITY_BYTE_RATE, MST_QUANTITY_SHARE
};

/* "1.02 s"; "not known". */
struct mst_formatted mst_quantity_format(enum mst_quantity quantity, uint64_t value);

/* "35.9 us" as "35.9 µs", for where that letter can be shown. */
struct mst_formatted mst_quantity_micro(struct mst_formatted number);

/* Writes it as an element of a page: people read "1.02 s", programs the value; "not known". */
void mst_quantity_html(struct mst_sink *sink, enum mst_quantity quantity, uint64_t value);

/* Writes it for programs, in seconds, bytes or plain numbers; `unknown` where it is not known. */
void mst_quantity_put(struct mst_sink *sink, enum mst_quantity quantity, uint64_t value,
                      const char *unknown);

/* The same of a number that is already in seconds, bytes or plain: a whole one as it is, any other
 * with six significant digits. NaN: it is not known. */
void mst_real_put(struct mst_sink *sink, double value, const char *unknown);

/* Returns the divisor that makes plain numbers, seconds or bytes of such a value. */
double mst_quantity_scale(enum mst_quantity quantity);

#endif

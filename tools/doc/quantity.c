/* quantity.c - numbers with what they count: see quantity.h. */
#include "doc/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "doc/markup.h"
#include "segment/terms.h"

double mst_quantity_scale(enum mst_quantity quantity)
{
    switch (quantity) {
    case MST_QUANTITY_TIME:
        return (double)MST_NS_PER_S;
    case MST_QUANTITY_MEAN: case MST_QUANTITY_RATE: case MST_QUANTITY_SHARE:
        return 1000;
    default:
        return 1;
    }
}

struct mst_formatted mst_quantity_format(enum mst_quantity quantity, uint64_t value)
{
    if (value == MST_UNKNOWN)
        return (struct mst_formatted){ "not known" };
    switch (quantity) {
    case MST_QUANTITY_MEAN:  return mst_format_milli(value);
    case MST_QUANTITY_RATE:  return mst_format_milli(value);
    case MST_QUANTITY_TIME:  return mst_format_time(value);
    case MST_QUANTITY_BYTES: return mst_format_bytes(value);
    case MST_QUANTITY_SHARE: return mst_format_percent(value);
    default:               return mst_format_count(value);
    }
}

struct mst_formatted mst_quantity_micro(struct mst_formatted number)
{
    size_t length = strlen(number.text);

    if (length > 3 && strcmp(number.text + length - 3, " us") == 0)
        snprintf(number.text + length - 2, sizeof number.text - length + 2, "µs");
    return number;
}

void mst_quantity_put(struct mst_sink *sink, enum mst_quantity quantity, uint64_t value,
                      const char *unknown)
{
    char fraction[8];

    if (value == MST_UNKNOWN) {
        mst_sink_puts(sink, unknown);
    } else if (quantity == MST_QUANTITY_TIME) {
        mst_sink_seconds(sink, value);
    } else if (mst_quantity_scale(quantity) == 1000) {
        snprintf(fraction, sizeof fraction, ".%03u", (unsigned)(value % 1000));
        mst_sink_u64(sink, value / 1000);
        mst_sink_puts(sink, fraction);
    } else {
        mst_sink_u64(sink, value);
    }
}

#define WHOLE_MAX 1e15   /* whole numbers up to here are exact */

void mst_real_put(struct mst_sink *sink, double value, const char *unknown)
{
    char text[32];

    if (!isfinite(value)) {
        mst_sink_puts(sink, unknown);
        return;
    }
    snprintf(text, sizeof text, fabs(value) < WHOLE_MAX && value == rint(value) ? "%.0f" : "%.6g",
             value);
    mst_sink_puts(sink, strcmp(text, "-0") == 0 ? "0" : text);
}

void mst_quantity_html(struct mst_sink *sink, enum mst_quantity quantity, uint64_t value)
{
    if (value == MST_UNKNOWN) {
        mst_html(sink, "<span class=\"unknown\">not known</span>");
        return;
    }
    mst_html(sink, "<data value=\"");
    mst_quantity_put(sink, quantity, value, "");
    mst_html(sink, "\">%s</data>", mst_quantity_micro(mst_quantity_format(quantity, value)).text);
}

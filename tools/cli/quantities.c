/* quantities.c - times and sizes on the command line: see quantities.h. */
#include "cli/quantities.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"

struct unit { const char *name; double size; };

/* A number with one of the units, within the bounds. */
static bool read_with_unit(uint64_t *value, const char *text, const struct unit *units,
                           size_t count, uint64_t least, uint64_t most)
{
    char *unit;
    double number = strtod(text, &unit);
    size_t i;

    for (i = 0; i < count && unit != text; i++)
        if (strcmp(unit, units[i].name) == 0 && number * units[i].size >= (double)least &&
            number * units[i].size <= (double)most) {
            *value = (uint64_t)(number * units[i].size);
            return true;
        }
    return false;
}

int mst_time_read(uint64_t *ns, const char *verb, const char *option, const char *text,
                  uint64_t least_ns, uint64_t most_ns)
{
    static const struct unit units[] = {
        { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
    };

    if (read_with_unit(ns, text, units, sizeof units / sizeof *units, least_ns, most_ns))
        return MST_EXIT_OK;
    return mst_usage_error(verb, "expected %s to be a time from %s to %s with its unit (500ms, "
                           "90s, 5m, 2h, 30d), found \"%s\"", option,
                           mst_format_duration(least_ns).text, mst_format_duration(most_ns).text,
                           text);
}

int mst_bytes_read(uint64_t *bytes, const char *verb, const char *option, const char *text,
                   uint64_t least)
{
    static const struct unit units[] = {
        { "K", 0x1p10 }, { "M", 0x1p20 }, { "G", 0x1p30 }, { "T", 0x1p40 },
    };

    if (read_with_unit(bytes, text, units, sizeof units / sizeof *units, least, INT64_MAX))
        return MST_EXIT_OK;
    return mst_usage_error(verb, "expected %s to be a size of %s or more with its unit (64M, 2G), "
                           "found \"%s\"", option, mst_format_bytes(least).text, text);
}

/* quantities.c - times, sizes and percentages on the command line: see quantities.h. */
#include "cli/quantities.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static const struct unit times[] = {
    { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
};
#define TIMES (sizeof times / sizeof *times)

int mst_time_read(const char *verb, const char *option, const char *text, uint64_t low_ns,
                  uint64_t high_ns, uint64_t *ns)
{
    if (read_with_unit(ns, text, times, TIMES, low_ns, high_ns))
        return MST_EXIT_OK;
    return mst_usage_error(verb, "expected --%s to be a time with its unit (500ms, 2s, 5m, 7d), %s "
                           "or more, found \"%s\"", option, mst_format_duration(low_ns).text,
                           text);
}

#define PERCENT_MAX 1000.0

int mst_percent_read(const char *verb, const char *option, const char *text, double least,
                     double *fraction)
{
    char *end;
    double percent = strtod(text, &end);

    if (end == text || (strcmp(end, "") != 0 && strcmp(end, "%") != 0) ||
        !(percent >= least && percent <= PERCENT_MAX))
        return mst_usage_error(verb, "--%s takes a percentage from %g to %g, as 5%%, not \"%s\"",
                               option, least, PERCENT_MAX, text);
    *fraction = percent / 100;
    return MST_EXIT_OK;
}

/* By one of the formats. Today, where it has no date; its seconds and its time can be left out. */
static bool read_clock(uint64_t *wall_ns, const char *text)
{
    static const char *const formats[] = {
        "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d",
        "%H:%M:%S", "%H:%M",
    };
    time_t now = time(NULL), found;
    const char *end;
    struct tm tm;
    size_t i;

    for (i = 0; i < sizeof formats / sizeof *formats; i++) {
        bool utc = text[0] != '\0' && text[strlen(text) - 1] == 'Z';

        if ((utc ? gmtime_r(&now, &tm) : localtime_r(&now, &tm)) == NULL)
            return false;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        end = strptime(text, formats[i], &tm);
        if (end == NULL || strcmp(end, utc ? "Z" : "") != 0)
            continue;
        found = utc ? timegm(&tm) : mktime(&tm);
        *wall_ns = (uint64_t)found * MST_NS_PER_S;
        return found > 0;
    }
    return false;
}

int mst_instant_read(const char *verb, const char *option, const char *text, uint64_t *wall_ns)
{
    uint64_t ago_ns, now_ns = mst_realtime_ns();

    if (text[0] == '-' && read_with_unit(&ago_ns, text + 1, times, TIMES, 0, now_ns)) {
        *wall_ns = now_ns - ago_ns;
        return MST_EXIT_OK;
    }
    if (read_clock(wall_ns, text))
        return MST_EXIT_OK;
    return mst_usage_error(verb, "expected --%s to be a time ago (-2h), a time of today (07:30) or "
                           "a date with a time (\"2026-11-23 07:30\"), found \"%s\"", option, text);
}

int mst_bytes_read(const char *verb, const char *option, const char *text, uint64_t least,
                   uint64_t *bytes)
{
    static const struct unit units[] = {
        { "K", 0x1p10 }, { "M", 0x1p20 }, { "G", 0x1p30 }, { "T", 0x1p40 },
    };

    if (read_with_unit(bytes, text, units, sizeof units / sizeof *units, least, INT64_MAX))
        return MST_EXIT_OK;
    return mst_usage_error(verb, "expected --%s to be a size of %s or more with its unit (64M, "
                           "2G), found \"%s\"", option, mst_format_bytes(least).text, text);
}

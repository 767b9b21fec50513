/* figures.c - numbers as people read them: see figures.h. */
#include "render/figures.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "segment/format.h"

static struct mst_formatted unknown(void)
{
    return (struct mst_formatted){ "-" };
}

/* Three figures: 1.02, 10.2, 102, 1024. */
static struct mst_formatted scaled(double value, const char *unit)
{
    struct mst_formatted h;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(h.text, sizeof h.text, "%.*f%s", decimals, value, unit);
    return h;
}

struct mst_formatted mst_format_time(uint64_t ns)
{
    if (ns == MST_UNKNOWN)
        return unknown();
    if (ns == 0)
        return (struct mst_formatted){ "0" };
    if (ns < 999500)
        return scaled((double)ns / 1e3, " us");
    if (ns < UINT64_C(999500000))
        return scaled((double)ns / 1e6, " ms");
    return scaled((double)ns / 1e9, " s");
}

struct mst_formatted mst_format_seconds(double seconds)
{
    return mst_format_time((uint64_t)(seconds * (double)MST_NS_PER_S + 0.5));
}

struct mst_formatted mst_format_bytes(uint64_t bytes)
{
    static const char *const units[] = { " B", " kB", " MB", " GB", " TB" };
    double value = (double)bytes;
    unsigned i = 0;

    if (bytes == MST_UNKNOWN)
        return unknown();
    while (value >= 999.5 && i < sizeof units / sizeof *units - 1) {
        value /= 1000;
        i++;
    }
    return scaled(value, units[i]);
}

struct mst_formatted mst_format_milli(uint64_t milli)
{
    return milli == MST_UNKNOWN ? unknown() : scaled((double)milli / 1000, "");
}

struct mst_formatted mst_format_real(double value)
{
    return scaled(value, "");
}

struct mst_formatted mst_format_percent(uint64_t milli)
{
    struct mst_formatted h;

    if (milli == MST_UNKNOWN)
        return unknown();
    snprintf(h.text, sizeof h.text, "%.1f %%", (double)milli / 10);
    return h;
}

struct mst_formatted mst_format_count(uint64_t n)
{
    struct mst_formatted h;

    if (n == MST_UNKNOWN)
        return unknown();
    snprintf(h.text, sizeof h.text, "%" PRIu64, n);
    return h;
}

struct mst_formatted mst_format_duration(uint64_t ns)
{
    uint64_t s = (ns + MST_NS_PER_S - 1) / MST_NS_PER_S;
    struct mst_formatted h;

    if (s < 90)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " s", s);
    else if (s < 5400)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " min", (s + 30) / 60);
    else
        snprintf(h.text, sizeof h.text, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
    return h;
}

/* figures.c - figures by their names in studies, and as text: see figures.h. */
#include "lab/report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* ---- names ----------------------------------------------------------------------- */

/* Endings of names in other units, the ending of our name, and the factor between the units. */
static const struct { const char *end, *ours; double scale; } units[] = {
    { "_ms", "_seconds", 1e-3 }, { "_s", "_seconds", 1 },
    { "_kb_per_second", "_bytes_per_second", 1024 }, { "_kb_s", "_bytes_per_second", 1024 },
    { "_mb_per_second", "_bytes_per_second", 1 << 20 },
    { "_mb", "_bytes", 1e6 }, { "_percent", "", 0.01 }, { "_percent", "_share", 0.01 },
};

/* The load tools' own names. */
static const struct { const char *theirs, *ours; } synonyms[] = {
    { "transactions", "requests" }, { "complete_requests", "requests" },
    { "transactions_per_second", "requests_per_second" },
    { "response_seconds", "mean_seconds" }, { "longest_seconds", "max_seconds" },
    { "elapsed_seconds", "time_taken_seconds" },
    { "throughput_bytes_per_second", "transfer_bytes_per_second" },
    { "total_transferred_bytes", "transferred_bytes" },
};

static enum mst_metric_id named(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].theirs, name) == 0)
            name = synonyms[i].ours;
    for (i = 0; i < MST_M_COUNT; i++)
        if (mst_metrics[i].study != NULL && strcmp(mst_metrics[i].study, name) == 0)
            return (enum mst_metric_id)i;
    return MST_M_COUNT;
}

enum mst_metric_id mst_study_metric_find(const char *word, double *scale)
{
    enum mst_metric_id id = named(word);
    size_t length = strlen(word), i;
    char ours[96];

    *scale = 1;
    for (i = 0; id == MST_M_COUNT && i < sizeof units / sizeof *units; i++) {
        size_t end = strlen(units[i].end);

        if (length <= end || length >= 64 || strcmp(word + length - end, units[i].end) != 0)
            continue;
        snprintf(ours, sizeof ours, "%.*s%s", (int)(length - end), word, units[i].ours);
        id = named(ours);
        *scale = units[i].scale;
    }
    return id;
}

/* ---- as text --------------------------------------------------------------------- */

struct mst_formatted mst_study_format(enum mst_quantity unit, double value)
{
    struct mst_formatted h = { "not known" };

    if (!isfinite(value) || value < 0 || value > 1e15)
        return h;
    switch (unit) {
    case MST_QUANTITY_TIME:
        return mst_quantity_micro(
            mst_format_time((uint64_t)llround(value * (double)MST_NS_PER_S)));
    case MST_QUANTITY_BYTES:
        return mst_format_bytes((uint64_t)llround(value));
    case MST_QUANTITY_SHARE:
        return mst_format_percent((uint64_t)llround(value * 1000));
    case MST_QUANTITY_COUNT:
        if (value == rint(value))
            return mst_format_count((uint64_t)value);
        return mst_format_milli((uint64_t)llround(value * 1000));
    default:
        h = unit == MST_QUANTITY_BYTE_RATE ? mst_format_bytes((uint64_t)llround(value)) :
            mst_format_milli((uint64_t)llround(value * 1000));
        if (unit != MST_QUANTITY_MEAN)
            strncat(h.text, "/s", sizeof h.text - strlen(h.text) - 1);
        return h;
    }
}

struct mst_formatted mst_study_ratio(double ratio)
{
    return mst_study_format(MST_QUANTITY_MEAN, ratio);
}

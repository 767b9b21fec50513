/* comparison_output.c - a comparison as text and as JSON: see comparison.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "console/format.h"
#include "report/comparison.h"
#include "report/lines.h"

/* ---- text ------------------------------------------------------------------------ */

/* "-" where it is none. */
static struct mst_human human(const struct mst_metric *metric, double value)
{
    if (!(value > 0))
        return (struct mst_human){ "-" };
    return mst_metric_human(metric->unit, (uint64_t)llround(value));
}

static void put_side(struct mst_sink *sink, char letter, const struct mst_compare_side *side)
{
    const struct mst_summary *first = &side->runs[0].summary;

    mst_line(sink, "  %c  %s: %zu run%s%s%s", letter, side->given, side->count,
             side->count == 1 ? "" : "s", first->command_line != NULL ? " of " : "",
             first->command_line != NULL ? first->command_line : "");
}

static void put_row(struct mst_sink *sink, const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;
    char noise[32] = "-";

    if (c->noise >= 0)
        snprintf(noise, sizeof noise, c->noise < 0.0995 ? "%.1f %%" : "%.0f %%", c->noise * 100);
    mst_line(sink, "%c %-14s%10s%10s%8s  %s", row->gate ? '*' : ' ',
             row->metric->compared, human(row->metric, c->a).text,
             human(row->metric, c->b).text, noise, c->text);
}

/* What --fail-if-slower says. */
static void put_verdict(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    static const char *const verdicts[] = {
        [MST_LIMIT_UNSURE] = "Cannot tell whether B is", [MST_LIMIT_WITHIN] = "B is not",
        [MST_LIMIT_BEYOND] = "B is",
    };

    if (t->limit < 0)
        return;
    mst_sink_char(sink, '\n');
    mst_line(sink, "%s slower by more than %g %%, as the lines with * tell.",
             verdicts[t->verdict], t->limit * 100);
}

void mst_comparison_text(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    size_t i;

    put_side(sink, 'A', &t->a);
    put_side(sink, 'B', &t->b);
    mst_line(sink, "     %s", t->paired ?
             "made alternately: each run of B is compared with its neighbour of A" :
             "not made alternately: all runs of B are compared with all of A");
    mst_sink_char(sink, '\n');
    mst_line(sink, "  %-14s%10s%10s%8s", "", "A", "B", "A/A");
    for (i = 0; i < t->row_count; i++)
        put_row(sink, &t->rows[i]);
    mst_sink_puts(sink, "\n"
                  "  In brackets: where the truth is in 95 of 100 such comparisons (so that one "
                  "line in 20 is\n  wrong by chance). A/A: by how much halves of A's runs differ, "
                  "with nothing changed.\n");
    for (i = 0; i < t->warning_count; i++) {
        mst_sink_puts(sink, i == 0 ? "\n" : "");
        mst_line(sink, "  beware: %s", t->warnings[i]);
    }
    put_verdict(sink, t);
}

/* ---- JSON ------------------------------------------------------------------------ */

/* A double as JSON has numbers, independent of the locale; what is none is null. */
static void put_double(struct mst_sink *sink, double value)
{
    char text[64], *comma;

    if (!isfinite(value)) {
        mst_sink_puts(sink, "null");
        return;
    }
    snprintf(text, sizeof text, "%.9g", value);
    comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    mst_sink_puts(sink, text);
}

static void put_member(struct mst_sink *sink, const char *name, double value)
{
    mst_sink_puts(sink, ", \"");
    mst_sink_puts(sink, name);
    mst_sink_puts(sink, "\": ");
    put_double(sink, value);
}

static void put_json_side(struct mst_sink *sink, const char *name,
                          const struct mst_compare_side *side)
{
    size_t i;

    mst_sink_puts(sink, " \"");
    mst_sink_puts(sink, name);
    mst_sink_puts(sink, "\": {\"given\": ");
    mst_sink_json_string(sink, side->given);
    mst_sink_puts(sink, ", \"archive\": ");
    mst_sink_json_string(sink, mst_archive_path(side->archive));
    mst_sink_puts(sink, ", \"name\": ");
    mst_sink_json_string(sink, side->runs[0].summary.name);
    mst_sink_puts(sink, ", \"command\": ");
    mst_sink_json(sink, side->runs[0].summary.command_json);
    mst_sink_puts(sink, ", \"runs\": [");
    for (i = 0; i < side->count; i++) {
        mst_sink_puts(sink, i > 0 ? ", " : "");
        mst_sink_i64(sink, side->runs[i].summary.id);
    }
    mst_sink_puts(sink, "]},\n");
}

/* Seconds, bytes, requests a second. */
static double in_units(const struct mst_comparison_row *row, double value)
{
    return value > 0 ? value / mst_metric_scale(row->metric->unit) : NAN;
}

static void put_json_row(struct mst_sink *sink, const struct mst_comparison_row *row)
{
    static const char *const changes[] = {
        [MST_CHANGE_UNSURE] = "null", [MST_CHANGE_LESS] = "\"less\"",
        [MST_CHANGE_MORE] = "\"more\"",
    };
    const struct mst_comparison *c = &row->result;

    mst_sink_puts(sink, "{\"metric\": ");
    mst_sink_json_string(sink, row->metric->column);
    put_member(sink, "a", in_units(row, c->a));
    put_member(sink, "b", in_units(row, c->b));
    put_member(sink, "ratio", c->interval.ratio);
    put_member(sink, "low", c->bounded ? c->interval.low : NAN);
    put_member(sink, "high", c->bounded ? c->interval.high : NAN);
    put_member(sink, "noise", c->noise >= 0 ? c->noise : NAN);
    mst_sink_puts(sink, ", \"change\": ");
    mst_sink_puts(sink, changes[c->change]);
    mst_sink_puts(sink, ", \"gate\": ");
    mst_sink_puts(sink, row->gate ? "true" : "false");
    mst_sink_puts(sink, ", \"text\": ");
    mst_sink_json_string(sink, c->text);
    mst_sink_puts(sink, "}");
}

void mst_comparison_json(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    static const char *const verdicts[] = {
        [MST_LIMIT_UNSURE] = "null", [MST_LIMIT_WITHIN] = "false", [MST_LIMIT_BEYOND] = "true",
    };
    size_t i;

    mst_sink_puts(sink, "{");
    put_json_side(sink, "a", &t->a);
    put_json_side(sink, "b", &t->b);
    mst_sink_puts(sink, " \"paired\": ");
    mst_sink_puts(sink, t->paired ? "true" : "false");
    mst_sink_puts(sink, ", \"confidence\": " MST_BOOTSTRAP_CONFIDENCE ", \"method\": ");
    mst_sink_json_string(sink, MST_BOOTSTRAP_METHOD);
    mst_sink_puts(sink, ",\n \"metrics\": [");
    for (i = 0; i < t->row_count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n  " : "");
        put_json_row(sink, &t->rows[i]);
    }
    mst_sink_puts(sink, "],\n \"warnings\": [");
    for (i = 0; i < t->warning_count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n  " : "");
        mst_sink_json_string(sink, t->warnings[i]);
    }
    mst_sink_puts(sink, "]");
    put_member(sink, "fail_if_slower", t->limit >= 0 ? t->limit : NAN);
    mst_sink_puts(sink, ", \"slower\": ");
    mst_sink_puts(sink, verdicts[t->verdict]);
    mst_sink_puts(sink, "}\n");
}

/* comparison_output.c - a comparison as text, Markdown and JSON: see comparison.h. */
#include <math.h>
#include <stdio.h>

#include "console/format.h"
#include "render/json_writer.h"
#include "report/comparison.h"
#include "report/lines.h"
#include "report/markup.h"

/* ---- text ------------------------------------------------------------------------ */

/* "-" for what is not a positive number. */
static struct mst_formatted format(const struct mst_metric *metric, double value)
{
    if (!(value > 0))
        return (struct mst_formatted){ "-" };
    return mst_metric_format(metric->unit, (uint64_t)llround(value));
}

static void put_side(struct mst_sink *sink, char letter, const struct mst_compare_side *side)
{
    const struct mst_summary *first = &side->runs[0].summary;

    mst_line(sink, "  %c  %s: %zu run%s%s%s", letter, side->given, side->count,
             side->count == 1 ? "" : "s", first->command_line != NULL ? " of " : "",
             first->command_line != NULL ? first->command_line : "");
}

/* By how much A's runs differ among themselves. */
static struct mst_formatted noise_of(const struct mst_comparison *c)
{
    struct mst_formatted noise = { "-" };

    if (c->noise >= 0)
        snprintf(noise.text, sizeof noise.text, c->noise < 0.0995 ? "%.1f %%" : "%.0f %%",
                 c->noise * 100);
    return noise;
}

static void put_row(struct mst_sink *sink, const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;

    mst_line(sink, "%c %-14s%10s%10s%8s  %s", row->gate ? '*' : ' ',
             row->metric->compared, format(row->metric, c->a).text,
             format(row->metric, c->b).text, noise_of(c).text, c->text);
}

static void put_causes(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    char causes[MST_COMPARISON_CAUSES_MAX];

    mst_comparison_causes(t, causes);
    if (causes[0] == '\0')
        return;
    mst_sink_char(sink, '\n');
    mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, causes);
}

/* The answer to --fail-if-slower: what comes before "slower by more than". */
static const char *const verdicts[] = {
    [MST_LIMIT_UNSURE] = "Cannot tell whether B is", [MST_LIMIT_WITHIN] = "B is not",
    [MST_LIMIT_BEYOND] = "B is",
};

static void put_verdict(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    if (t->limit < 0)
        return;
    mst_sink_char(sink, '\n');
    mst_line_styled(sink, MST_STYLE_STRONG,
                    "%s slower by more than %g %%, as the lines with * tell.",
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
    put_causes(sink, t);
    for (i = 0; i < t->warning_count; i++) {
        mst_sink_puts(sink, i == 0 ? "\n" : "");
        mst_wrapped_styled(sink, MST_STYLE_WARNING, "  beware: ", 10, MST_TEXT_WIDTH,
                           t->warnings[i]);
    }
    put_verdict(sink, t);
}

/* ---- Markdown -------------------------------------------------------------------- */

/* What the lines say that decide: rate and mean time, or those that --metric names. */
static void put_sentence(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    const char *before = "**";
    char limit[32];
    size_t i;

    if (t->limit >= 0) {
        snprintf(limit, sizeof limit, "%g %%", t->limit * 100);
        mst_markdown(sink, "**%s slower by more than %s", verdicts[t->verdict], limit);
        before = ": ";
    }
    for (i = 0; i < t->row_count; i++)
        if (t->rows[i].gate) {
            mst_sink_puts(sink, before);
            mst_markdown(sink, "%s: %s", t->rows[i].metric->compared, t->rows[i].result.text);
            before = "; ";
        }
    if (before[0] == '*')
        mst_sink_puts(sink, "**The runs have no rate and no mean time in common");
    mst_sink_puts(sink, ".**\n\n");
}

static void put_markdown_side(struct mst_sink *sink, char letter,
                              const struct mst_compare_side *side)
{
    const char *name = side->runs[0].summary.name;

    mst_sink_char(sink, letter);
    if (name != NULL)
        mst_markdown(sink, ": %s", name);
    mst_markdown(sink, " (%zu run%s) | ", side->count, side->count == 1 ? "" : "s");
}

void mst_comparison_markdown(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    size_t i;

    put_sentence(sink, t);
    mst_markdown(sink, "| | ");
    put_markdown_side(sink, 'A', &t->a);
    put_markdown_side(sink, 'B', &t->b);
    mst_markdown(sink, "A/A | |\n|---|--:|--:|--:|---|\n");
    for (i = 0; i < t->row_count; i++) {
        const struct mst_comparison_row *row = &t->rows[i];

        mst_markdown(sink, "| %s | %s | %s | %s | %s |\n", row->metric->compared,
                     format(row->metric, row->result.a).text,
                     format(row->metric, row->result.b).text, noise_of(&row->result).text,
                     row->result.text);
    }
    for (i = 0; i < t->warning_count; i++)
        mst_markdown(sink, "%s- beware: %s\n", i == 0 ? "\n" : "", t->warnings[i]);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_real(struct mst_json *j, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.9g", value);
    mst_json_value(j, key);
    mst_sink_puts(j->out, isfinite(value) ? text : "null");
}

static void put_json_side(struct mst_json *j, const char *key, const struct mst_compare_side *side,
                          const struct mst_comparison_cause *cause)
{
    size_t i;

    mst_json_line(j, 1);
    mst_json_begin(j, key, '{');
    mst_json_string(j, "given", side->given);
    mst_json_string(j, "archive", mst_archive_path(side->archive));
    mst_json_string(j, "name", side->runs[0].summary.name);
    mst_json_value(j, "command");
    mst_sink_json(j->out, side->runs[0].summary.command_json);
    mst_json_string(j, "cause", cause->code != MST_CODE_COUNT ? mst_code_names[cause->code] : NULL);
    mst_json_count(j, "runs_with_cause", cause->runs);
    mst_json_begin(j, "runs", '[');
    for (i = 0; i < side->count; i++) {
        mst_json_value(j, NULL);
        mst_sink_i64(j->out, side->runs[i].summary.id);
    }
    mst_json_end(j, ']');
    mst_json_end(j, '}');
}

/* Seconds, bytes, requests a second. */
static double in_units(const struct mst_comparison_row *row, double value)
{
    return value > 0 ? value / mst_metric_scale(row->metric->unit) : NAN;
}

static void put_json_row(struct mst_json *j, const struct mst_comparison_row *row)
{
    static const char *const changes[] = {
        [MST_CHANGE_UNSURE] = NULL, [MST_CHANGE_LESS] = "less", [MST_CHANGE_MORE] = "more",
    };
    const struct mst_comparison *c = &row->result;

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "metric", row->metric->column);
    put_real(j, "a", in_units(row, c->a));
    put_real(j, "b", in_units(row, c->b));
    put_real(j, "ratio", c->interval.ratio);
    put_real(j, "low", c->bounded ? c->interval.low : NAN);
    put_real(j, "high", c->bounded ? c->interval.high : NAN);
    put_real(j, "noise", c->noise >= 0 ? c->noise : NAN);
    mst_json_string(j, "change", changes[c->change]);
    mst_json_bool(j, "gate", row->gate);
    mst_json_string(j, "text", c->text);
    mst_json_end(j, '}');
}

void mst_comparison_json(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    static const char *const slower[] = {
        [MST_LIMIT_UNSURE] = "null", [MST_LIMIT_WITHIN] = "false", [MST_LIMIT_BEYOND] = "true",
    };
    struct mst_json json = { .out = sink, .spaced = true }, *j = &json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    put_json_side(j, "a", &t->a, &t->cause_a);
    put_json_side(j, "b", &t->b, &t->cause_b);
    mst_json_line(j, 1);
    mst_json_bool(j, "paired", t->paired);
    mst_json_value(j, "confidence");
    mst_sink_puts(sink, MST_BOOTSTRAP_CONFIDENCE);
    mst_json_string(j, "method", MST_BOOTSTRAP_METHOD);
    mst_json_line(j, 1);
    mst_json_begin(j, "metrics", '[');
    for (i = 0; i < t->row_count; i++)
        put_json_row(j, &t->rows[i]);
    mst_json_end(j, ']');
    mst_json_line(j, 1);
    mst_json_begin(j, "warnings", '[');
    for (i = 0; i < t->warning_count; i++) {
        mst_json_line(j, 2);
        mst_json_string(j, NULL, t->warnings[i]);
    }
    mst_json_end(j, ']');
    put_real(j, "fail_if_slower", t->limit >= 0 ? t->limit : NAN);
    mst_json_value(j, "slower");
    mst_sink_puts(sink, slower[t->verdict]);
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}

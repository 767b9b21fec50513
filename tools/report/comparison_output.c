/* comparison_output.c - a comparison as text, Markdown and JSON: see comparison.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "console/format.h"
#include "render/json_writer.h"
#include "report/comparison.h"
#include "doc/lines.h"
#include "doc/markup.h"

/* ---- text ------------------------------------------------------------------------ */

static void put_side(struct mst_sink *sink, char letter, const struct mst_compare_side *side)
{
    const char *command = side->runs[0].summary.command_line;
    char first[8], *line;

    snprintf(first, sizeof first, "  %c  ", letter);
    if (asprintf(&line, "%s, %zu run%s%s%s", side->given, side->count, side->count == 1 ? "" : "s",
                 command != NULL ? ": " : "", command != NULL ? command : "") < 0)
        return;
    mst_wrapped(sink, first, 5, MST_TEXT_WIDTH, line);
    free(line);
}

/* By how much A's runs differ among themselves, which it takes four of them to know. */
static struct mst_formatted noise_of(const struct mst_comparison *c)
{
    struct mst_formatted noise = { "-" };

    if (c->noise >= 0)
        snprintf(noise.text, sizeof noise.text, c->noise < 0.0995 ? "%.1f %%" : "%.0f %%",
                 c->noise * 100);
    return noise;
}

static bool has_noise(const struct mst_comparison_table *t)
{
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (t->rows[i].result.noise >= 0)
            return true;
    return false;
}

/* Of single runs the sentence has said once that they cannot tell, and of what does not compare,
 * that none is the faster one. */
static const char *text_of(const struct mst_comparison_table *t, const struct mst_comparison *c)
{
    bool is_plain = (c->bounded && t->obstacle_count == 0) || c->by[0] == '\0';

    return is_plain ? c->text : c->by;
}

static void put_row(struct mst_sink *sink, const struct mst_comparison_table *t,
                    const struct mst_comparison_row *row, bool with_noise)
{
    const struct mst_comparison *c = &row->result;

    mst_line(sink, "%c %-14s%10s%10s%*s  %s", row->gate && t->limit >= 0 ? '*' : ' ',
             row->metric->compared, mst_comparison_format(row->metric, c->a).text,
             mst_comparison_format(row->metric, c->b).text, with_noise ? 8 : 0,
             with_noise ? noise_of(c).text : "", text_of(t, c));
}

static void put_rows(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    bool with_noise = has_noise(t);
    size_t i, left_out = 0;

    mst_line(sink, "  %-14s%10s%10s%8s", "", "A", "B", with_noise ? "A/A" : "");
    for (i = 0; i < t->row_count; i++) {
        if (t->is_long || mst_comparison_shows(t, &t->rows[i]))
            put_row(sink, t, &t->rows[i], with_noise);
        else
            left_out++;
    }
    mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, mst_comparison_whose(t));
    if (left_out > 0)
        mst_line(sink, "  %zu more lines: --verbose", left_out);
    if (t->limit >= 0)
        mst_line(sink, "  The limit of %g %% is for the lines with *.", t->limit * 100);
    if (t->is_long || with_noise)
        mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, "In brackets: where the truth is in 95 of 100 "
                    "such comparisons (so that one line in 20 is wrong by chance). A/A: by how "
                    "much halves of A's runs differ, with nothing changed.");
}

/* Where the causes are not the same, the sentences of both are worth reading. */
static void put_causes(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    char causes[MST_COMPARISON_CAUSES_MAX];

    mst_comparison_causes(t, causes);
    if (causes[0] == '\0')
        return;
    mst_wrapped(sink, "", 0, MST_TEXT_WIDTH, causes);
    if (t->cause_a.code == t->cause_b.code)
        return;
    mst_wrapped(sink, "  A  ", 5, MST_TEXT_WIDTH, mst_comparison_cause_text(&t->a, &t->cause_a));
    mst_wrapped(sink, "  B  ", 5, MST_TEXT_WIDTH, mst_comparison_cause_text(&t->b, &t->cause_b));
}

static void put_warnings(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    size_t shown = t->is_long ? t->warning_count : t->main_warning_count, i;

    for (i = 0; i < shown; i++) {
        mst_sink_puts(sink, i == 0 ? "\n" : "");
        mst_wrapped_styled(sink, MST_STYLE_WARNING, "  beware: ", 10, MST_TEXT_WIDTH,
                           t->warnings[i]);
    }
}

void mst_comparison_text(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    mst_wrapped_styled(sink, t->obstacle_count > 0 ? MST_STYLE_WARNING : MST_STYLE_STRONG, "", 0,
                       MST_TEXT_WIDTH, t->sentence);
    put_causes(sink, t);
    mst_sink_char(sink, '\n');
    put_side(sink, 'A', &t->a);
    put_side(sink, 'B', &t->b);
    if (t->a.count + t->b.count > 2)
        mst_line(sink, "     %s", t->paired ?
                 "made alternately: each run of B is compared with its neighbour of A" :
                 "not made alternately: all runs of B are compared with all of A");
    mst_sink_char(sink, '\n');
    put_rows(sink, t);
    put_warnings(sink, t);
}

/* ---- Markdown -------------------------------------------------------------------- */

static void put_markdown_side(struct mst_sink *sink, char letter,
                              const struct mst_compare_side *side)
{
    const char *name = side->runs[0].summary.name;

    mst_sink_char(sink, letter);
    if (name != NULL)
        mst_markdown(sink, ": %s", name);
    mst_markdown(sink, " (%zu run%s) | ", side->count, side->count == 1 ? "" : "s");
}

static void put_markdown_row(struct mst_sink *sink, const struct mst_comparison_table *t,
                             const struct mst_comparison_row *row, bool with_noise)
{
    mst_markdown(sink, "| %s | %s | %s | ", row->metric->compared,
                 mst_comparison_format(row->metric, row->result.a).text,
                 mst_comparison_format(row->metric, row->result.b).text);
    if (with_noise)
        mst_markdown(sink, "%s | ", noise_of(&row->result).text);
    mst_markdown(sink, "%s |\n", text_of(t, &row->result));
}

/* The rows that short comparisons show, or all others. */
static void put_markdown_table(struct mst_sink *sink, const struct mst_comparison_table *t,
                               bool shown)
{
    bool with_noise = has_noise(t);
    size_t i;

    mst_markdown(sink, "| | ");
    put_markdown_side(sink, 'A', &t->a);
    put_markdown_side(sink, 'B', &t->b);
    mst_sink_puts(sink, with_noise ? "A/A | |\n|---|--:|--:|--:|---|\n"
                                   : "|\n|---|--:|--:|---|\n");
    for (i = 0; i < t->row_count; i++)
        if (mst_comparison_shows(t, &t->rows[i]) == shown)
            put_markdown_row(sink, t, &t->rows[i], with_noise);
}

static void put_markdown_causes(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    char causes[MST_COMPARISON_CAUSES_MAX];

    mst_comparison_causes(t, causes);
    if (causes[0] == '\0')
        return;
    mst_markdown(sink, "%s\n", causes);
    if (t->cause_a.code != t->cause_b.code)
        mst_markdown(sink, "\n- A: %s\n- B: %s\n", mst_comparison_cause_text(&t->a, &t->cause_a),
                     mst_comparison_cause_text(&t->b, &t->cause_b));
    mst_sink_char(sink, '\n');
}

static bool has_more(const struct mst_comparison_table *t)
{
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (!mst_comparison_shows(t, &t->rows[i]))
            return true;
    return false;
}

static void put_markdown_warnings(struct mst_sink *sink, const struct mst_comparison_table *t,
                                  size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        mst_markdown(sink, i == from ? "\n- beware: %s\n" : "- beware: %s\n", t->warnings[i]);
}

void mst_comparison_markdown(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    mst_markdown(sink, "**%s**\n\n", t->sentence);
    put_markdown_causes(sink, t);
    put_markdown_table(sink, t, true);
    mst_markdown(sink, "\n%s\n", mst_comparison_whose(t));
    put_markdown_warnings(sink, t, 0, t->main_warning_count);
    if (!has_more(t))
        return;
    mst_sink_puts(sink, "\n<details><summary>More figures</summary>\n\n");
    put_markdown_table(sink, t, false);
    put_markdown_warnings(sink, t, t->main_warning_count, t->warning_count);
    mst_sink_puts(sink, "\n</details>\n");
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
    return value > 0 ? value / mst_quantity_scale(row->metric->unit) : NAN;
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

static void put_json_strings(struct mst_json *j, const char *key, char *const *strings,
                             size_t count)
{
    size_t i;

    mst_json_line(j, 1);
    mst_json_begin(j, key, '[');
    for (i = 0; i < count; i++) {
        mst_json_line(j, 2);
        mst_json_string(j, NULL, strings[i]);
    }
    mst_json_end(j, ']');
}

void mst_comparison_json(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    static const char *const slower[] = {
        [MST_LIMIT_UNSURE] = "null", [MST_LIMIT_WITHIN] = "false", [MST_LIMIT_BEYOND] = "true",
    };
    struct mst_json json = { .out = sink, .spaced = true }, *j = &json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "sentence", t->sentence);
    put_json_strings(j, "obstacles", t->obstacles, t->obstacle_count);
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
    put_json_strings(j, "warnings", t->warnings, t->warning_count);
    put_real(j, "fail_if_slower", t->limit >= 0 ? t->limit : NAN);
    mst_json_value(j, "slower");
    mst_sink_puts(sink, slower[t->verdict]);
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}

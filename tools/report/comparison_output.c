/* comparison_output.c - a comparison as text, Markdown and JSON: see comparison.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "console/format.h"
#include "doc/lines.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "render/json_writer.h"
#include "report/comparison.h"
#include "report/comparison_ledger.h"

/* ---- the table ------------------------------------------------------------------- */

static uint64_t whole(double value)
{
    return value > 0 ? (uint64_t)llround(value) : MST_UNKNOWN;
}

/* By how much A's runs differ among themselves, which it takes four of them to know. */
static void put_noise(struct mst_doc_table *t, const struct mst_comparison *c)
{
    if (c->noise >= 0)
        mst_doc_words(t, c->noise < 0.0995 ? "%.1f %%" : "%.0f %%", c->noise * 100);
    else
        mst_doc_words(t, "-");
}

static bool has_noise(const struct mst_comparison_table *t)
{
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (t->rows[i].result.noise >= 0)
            return true;
    return false;
}

/* A row says which side is faster only where that can be told. Else it has the difference alone:
 * the sentence above says once that single runs cannot tell, or that the sides do not compare. */
static const char *text_of(const struct mst_comparison_table *t, const struct mst_comparison *c)
{
    bool is_plain = (c->bounded && t->obstacles.count == 0) || c->by[0] == '\0';

    return is_plain ? c->text : c->by;
}

/* "A: before (3 runs)" */
static void name_side(char *name, size_t size, char letter, const struct mst_compare_side *side)
{
    const char *called = side->runs[0].summary.name;

    snprintf(name, size, "%c%s%s (%zu run%s)", letter, called != NULL ? ": " : "",
             called != NULL ? called : "", side->count, side->count == 1 ? "" : "s");
}

/* --fail-if-slower looks at those with a star. */
static void put_row(struct mst_doc_table *t, const struct mst_comparison_table *of,
                    const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;

    mst_doc_row(t, c->change != MST_CHANGE_UNSURE ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
    mst_doc_words(t, "%s%s", row->metric->compared, row->gate && of->limit >= 0 ? " *" : "");
    mst_doc_number_of(t, row->metric->unit, whole(c->a));
    mst_doc_number_of(t, row->metric->unit, whole(c->b));
    put_noise(t, c);
    mst_doc_words(t, "%s", text_of(of, c));
}

size_t mst_comparison_rows(const struct mst_doc *doc, const struct mst_comparison_table *of,
                           enum mst_comparison_which which)
{
    char a[128], b[128];
    const struct mst_doc_column columns[] = {
        { "", .kind = MST_DOC_LABEL },
        { a, .word = "A", .quantity = MST_QUANTITY_COUNT },
        { b, .word = "B", .quantity = MST_QUANTITY_COUNT },
        { "A/A", .quantity = MST_QUANTITY_SHARE },
        { "B against A", .word = "", .kind = MST_DOC_NAME },
    };
    struct mst_doc_table t;
    size_t count = 0, i;

    name_side(a, sizeof a, 'A', &of->a);
    name_side(b, sizeof b, 'B', &of->b);
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    if (!has_noise(of))
        mst_doc_hide(&t, 3);
    for (i = 0; i < of->row_count; i++)
        if (which == MST_COMPARISON_ALL ||
            mst_comparison_shows(of, &of->rows[i]) == (which == MST_COMPARISON_SHORT)) {
            put_row(&t, of, &of->rows[i]);
            count++;
        }
    mst_doc_table_end(&t, doc, "A and B", "compared");
    return count;
}

/* ---- by name ---------------------------------------------------------------------- */

static void put_name(struct mst_doc_table *t, const struct mst_comparison_name *row)
{
    mst_doc_row(t, row->part == NULL ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", row->name[0] != '\0' ? row->name : "(none)");
    mst_doc_words(t, "%s", row->part != NULL ? row->part : "all of it");
    mst_doc_number(t, whole(row->result.a));
    mst_doc_number(t, whole(row->result.b));
    mst_doc_words(t, "%s", row->result.by);
}

void mst_comparison_put_names(const struct mst_doc *doc, const struct mst_comparison_table *of)
{
    const struct mst_doc_column columns[] = {
        { of->name_word, .kind = MST_DOC_NAME }, { "time", .kind = MST_DOC_NAME },
        { "A", .quantity = MST_QUANTITY_TIME }, { "B", .quantity = MST_QUANTITY_TIME },
        { "B against A", .word = "", .kind = MST_DOC_NAME },
    };
    struct mst_doc_table t;
    size_t i, differ = 0;

    for (i = 0; i < of->name_count; i++)
        differ += of->names[i].result.change != MST_CHANGE_UNSURE;
    if (of->name_count == 0 || of->obstacles.count > 0 || !of->names[0].result.bounded)
        return;
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "By %s, %zu of them: of %zu times and their parts %zu "
                      "differ%s.", of->name_word, of->names_compared, of->name_count, differ,
                      differ > 0 ? ", certain in spite of so many (95 % for all together)" : "");
    if (differ == 0)
        return;
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < of->name_count; i++)
        if (of->names[i].result.change != MST_CHANGE_UNSURE)
            put_name(&t, &of->names[i]);
    mst_doc_table_end(&t, doc, "A and B by name", "compared");
}

/* ---- what stands around it -------------------------------------------------------- */

/* Where the causes are not the same, the sentences of both are worth reading. */
void mst_comparison_put_causes(const struct mst_doc *doc, const struct mst_comparison_table *t)
{
    char causes[MST_COMPARISON_CAUSES_MAX];

    mst_comparison_causes(t, causes);
    if (causes[0] == '\0')
        return;
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s", causes);
    if (t->cause_a.code == t->cause_b.code)
        return;
    mst_doc_item(doc, MST_STYLE_PLAIN, "A", mst_comparison_cause_text(&t->a, &t->cause_a));
    mst_doc_item(doc, MST_STYLE_PLAIN, "B", mst_comparison_cause_text(&t->b, &t->cause_b));
}

void mst_comparison_put_notes(const struct mst_doc *doc, const struct mst_comparison_table *t)
{
    if (t->limit >= 0)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "The limit of %g %% is for the lines with *.",
                          t->limit * 100);
    if (t->is_long || has_noise(t))
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "In brackets: where the truth is in 95 of 100 such "
                          "comparisons%s (so that one line in 20 is wrong by chance). A/A: by how "
                          "much halves of A's runs differ, with nothing changed.",
                          t->until_decided ? ", however often the pairs were looked at" : "");
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "%s", mst_comparison_whose(t));
}

void mst_comparison_put_warnings(const struct mst_doc *doc, const struct mst_comparison_table *t,
                                 size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        mst_doc_item(doc, MST_STYLE_WARNING, "beware", t->warnings.items[i]);
}

/* ---- text ------------------------------------------------------------------------- */

static void put_side(struct mst_sink *sink, char letter, const struct mst_compare_side *side)
{
    const char *command = side->runs[0].summary.command_line;
    char first[8];

    snprintf(first, sizeof first, "  %c  ", letter);
    mst_wrapped(sink, first, 5, MST_TEXT_WIDTH,
                mst_pool_printf(side->pool, "%s, %zu run%s%s%s", side->given, side->count,
                                side->count == 1 ? "" : "s", command != NULL ? ": " : "",
                                command != NULL ? command : ""));
}

void mst_comparison_text(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    const struct mst_doc doc = mst_doc_text(sink, MST_TEXT_WIDTH);
    size_t warnings = t->is_long ? t->warnings.count : t->main_warning_count, shown;

    mst_wrapped_styled(sink, t->obstacles.count > 0 ? MST_STYLE_WARNING : MST_STYLE_STRONG, "", 0,
                       MST_TEXT_WIDTH, t->sentence);
    mst_comparison_put_causes(&doc, t);
    mst_comparison_put_predictions(&doc, t);
    mst_sink_char(sink, '\n');
    put_side(sink, 'A', &t->a);
    put_side(sink, 'B', &t->b);
    if (t->a.count + t->b.count > 2)
        mst_line(sink, "     %s", t->paired ?
                 "made alternately: each run of B is compared with its neighbour of A" :
                 "not made alternately: all runs of B are compared with all of A");
    mst_sink_char(sink, '\n');
    shown = mst_comparison_rows(&doc, t, t->is_long ? MST_COMPARISON_ALL : MST_COMPARISON_SHORT);
    if (shown < t->row_count)
        mst_line(sink, "  %zu more lines: --verbose", t->row_count - shown);
    mst_comparison_put_names(&doc, t);
    mst_comparison_put_notes(&doc, t);
    if (warnings > 0)
        mst_sink_char(sink, '\n');
    mst_comparison_put_warnings(&doc, t, 0, warnings);
}

/* ---- Markdown --------------------------------------------------------------------- */

void mst_comparison_markdown(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    size_t i = 0;

    mst_markdown(sink, "**%s**\n", t->sentence);
    mst_comparison_put_causes(&doc, t);
    mst_comparison_put_predictions(&doc, t);
    mst_comparison_rows(&doc, t, MST_COMPARISON_SHORT);
    mst_comparison_put_names(&doc, t);
    mst_comparison_put_notes(&doc, t);
    mst_comparison_put_warnings(&doc, t, 0, t->main_warning_count);
    while (i < t->row_count && mst_comparison_shows(t, &t->rows[i]))
        i++;
    if (i == t->row_count)
        return;
    mst_doc_details_begin(&doc, "More figures");
    mst_comparison_rows(&doc, t, MST_COMPARISON_REST);
    mst_comparison_put_warnings(&doc, t, t->main_warning_count, t->warnings.count);
    mst_doc_details_end(&doc);
}

/* ---- programs --------------------------------------------------------------------- */

static const char *const changes[] = {
    [MST_CHANGE_UNSURE] = NULL, [MST_CHANGE_LESS] = "less", [MST_CHANGE_MORE] = "more",
};

/* Seconds, bytes, requests a second. */
static double in_units(const struct mst_comparison_row *row, double value)
{
    return value > 0 ? value / mst_quantity_scale(row->metric->unit) : NAN;
}

/* In the order of the columns of CSV and the members of JSON. */
enum figure { FIGURE_A, FIGURE_B, FIGURE_RATIO, FIGURE_LOW, FIGURE_HIGH, FIGURE_NOISE,
              FIGURE_SMALLEST, FIGURES };
static const char *const figure_names[FIGURES] = { "a", "b", "ratio", "low", "high", "noise",
                                                  "smallest" };

/* NAN: it is not known. */
static double figure_of(const struct mst_comparison_row *row, enum figure which)
{
    const struct mst_comparison *c = &row->result;
    const double figures[FIGURES] = {
        [FIGURE_A] = in_units(row, c->a), [FIGURE_B] = in_units(row, c->b),
        [FIGURE_RATIO] = c->interval.ratio, [FIGURE_LOW] = c->bounded ? c->interval.low : NAN,
        [FIGURE_HIGH] = c->bounded ? c->interval.high : NAN,
        [FIGURE_NOISE] = c->noise >= 0 ? c->noise : NAN,
        [FIGURE_SMALLEST] = c->smallest >= 0 ? c->smallest : NAN,
    };

    return figures[which];
}

static void put_real(struct mst_sink *sink, double value, const char *unknown)
{
    char text[32];

    snprintf(text, sizeof text, "%.9g", value);
    mst_sink_puts(sink, isfinite(value) ? text : unknown);
}

/* ---- CSV ------------------------------------------------------------------------- */

void mst_comparison_csv(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    const struct mst_comparison_row *row;
    const char *change;
    unsigned which;
    size_t i;

    mst_sink_puts(sink, "metric");
    for (which = 0; which < FIGURES; which++) {
        mst_sink_char(sink, ',');
        mst_sink_puts(sink, figure_names[which]);
    }
    mst_sink_puts(sink, ",change,gate\n");
    for (i = 0; i < t->row_count; i++) {
        row = &t->rows[i];
        change = changes[row->result.change];
        mst_sink_csv_string(sink, row->metric->column);
        for (which = 0; which < FIGURES; which++) {
            mst_sink_char(sink, ',');
            put_real(sink, figure_of(row, which), "");
        }
        mst_sink_char(sink, ',');
        mst_sink_puts(sink, change != NULL ? change : "");
        mst_sink_puts(sink, row->gate ? ",yes\n" : ",no\n");
    }
}

/* ---- JSON ------------------------------------------------------------------------ */

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

static void put_json_row(struct mst_json *j, const struct mst_comparison_row *row)
{
    unsigned which;

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "metric", row->metric->column);
    for (which = 0; which < FIGURES; which++) {
        mst_json_value(j, figure_names[which]);
        put_real(j->out, figure_of(row, which), "null");
    }
    mst_json_string(j, "change", changes[row->result.change]);
    mst_json_bool(j, "gate", row->gate);
    mst_json_string(j, "text", row->result.text);
    mst_json_end(j, '}');
}

/* Times in seconds. */
static void put_json_name(struct mst_json *j, const struct mst_comparison_name *row)
{
    const struct mst_comparison *c = &row->result;
    const struct { const char *key; double value; } figures[] = {
        { "a", c->a / 1e9 }, { "b", c->b / 1e9 }, { "ratio", c->interval.ratio },
        { "low", c->bounded ? c->interval.low : NAN },
        { "high", c->bounded ? c->interval.high : NAN },
    };
    size_t i;

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", row->name);
    mst_json_string(j, "part", row->part);
    for (i = 0; i < sizeof figures / sizeof *figures; i++) {
        mst_json_value(j, figures[i].key);
        put_real(j->out, figures[i].value, "null");
    }
    mst_json_string(j, "change", changes[c->change]);
    mst_json_string(j, "text", c->text);
    mst_json_end(j, '}');
}

static void put_json_names(struct mst_json *j, const struct mst_comparison_table *t)
{
    size_t i;

    mst_json_line(j, 1);
    mst_json_string(j, "names_are", t->name_count > 0 ? t->name_word : NULL);
    mst_json_begin(j, "names", '[');
    for (i = 0; i < t->name_count; i++)
        put_json_name(j, &t->names[i]);
    mst_json_end(j, ']');
}

static void put_json_strings(struct mst_json *j, const char *key, const struct mst_list *strings)
{
    size_t i;

    mst_json_line(j, 1);
    mst_json_begin(j, key, '[');
    for (i = 0; i < strings->count; i++) {
        mst_json_line(j, 2);
        mst_json_string(j, NULL, strings->items[i]);
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
    put_json_strings(j, "obstacles", &t->obstacles);
    put_json_side(j, "a", &t->a, &t->cause_a);
    put_json_side(j, "b", &t->b, &t->cause_b);
    mst_json_line(j, 1);
    mst_json_bool(j, "paired", t->paired);
    mst_json_bool(j, "until_decided", t->until_decided);
    mst_json_value(j, "confidence");
    mst_sink_puts(sink, MST_BOOTSTRAP_CONFIDENCE);
    mst_json_string(j, "method", MST_BOOTSTRAP_METHOD);
    mst_json_line(j, 1);
    mst_json_begin(j, "metrics", '[');
    for (i = 0; i < t->row_count; i++)
        put_json_row(j, &t->rows[i]);
    mst_json_end(j, ']');
    put_json_names(j, t);
    mst_comparison_json_predictions(j, t);
    put_json_strings(j, "warnings", &t->warnings);
    mst_json_value(j, "fail_if_slower");
    put_real(j->out, t->limit >= 0 ? t->limit : NAN, "null");
    mst_json_value(j, "slower");
    mst_sink_puts(sink, slower[t->verdict]);
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}

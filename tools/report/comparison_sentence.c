/* comparison_sentence.c - what a comparison begins with: what forbids it, which side is faster and
 * by how much, and whether the causes are the same. See comparison.h.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analysis/thresholds.h"
#include "base/strings.h"
#include "report/comparison_steps.h"

/* ---- appending ------------------------------------------------------------------- */

struct saying {
    struct mst_comparison_table *t;
    size_t used;
};

__attribute__((format(printf, 2, 3)))
static void say(struct saying *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    s->used = mst_string_append(s->t->sentence, sizeof s->t->sentence, s->used, format, args);
    va_end(args);
}

/* A value of a row; "-" for what is not a positive number. */
static struct mst_formatted value_text(const struct mst_metric *metric, double value)
{
    if (!(value > 0))
        return (struct mst_formatted){ "-" };
    return mst_quantity_format(metric->unit, (uint64_t)llround(value));
}

/* ---- what is said ---------------------------------------------------------------- */

static bool is_said(const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;

    return row->gate && c->a > 0 && c->b > 0 && c->by[0] != '\0';
}

/* 1: B's value is better than A's, -1: worse, 0: not known, or in single runs next to none. */
static int better(const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;
    int more = c->bounded ? (c->change == MST_CHANGE_MORE) - (c->change == MST_CHANGE_LESS)
             : (c->b > c->a * MST_SAME_RATIO) - (c->a > c->b * MST_SAME_RATIO);

    return row->metric->unit == MST_QUANTITY_RATE ? more : -more;
}

static const char *meaning_of(const struct mst_comparison_table *t)
{
    static const char *const meanings[2][4] = {
        { "A and B were equally fast", "B was faster", "B was slower",
          "Mean time and rate did not agree on which is faster" },
        { "Which of the two is faster cannot be told", "B is faster", "B is slower",
          "Mean time and rate do not agree on which is faster" },
    };
    bool bounded = false, any_better = false, any_worse = false;
    size_t i;

    for (i = 0; i < t->row_count; i++) {
        if (!is_said(&t->rows[i]))
            continue;
        bounded |= t->rows[i].result.bounded;
        any_better |= better(&t->rows[i]) > 0;
        any_worse |= better(&t->rows[i]) < 0;
    }
    return meanings[bounded][any_better + 2 * any_worse];
}

/* The answer to --fail-if-slower: what comes before "slower by more than". */
static const char *const verdicts[] = {
    [MST_LIMIT_UNSURE] = "Cannot tell whether B is", [MST_LIMIT_WITHIN] = "B is not",
    [MST_LIMIT_BEYOND] = "B is",
};

static void say_obstacles(struct saying *s)
{
    size_t i;

    for (i = 0; i < s->t->obstacles.count; i++)
        say(s, "%s%s", i == 0 ? "A and B do not compare: " : "; ", s->t->obstacles.items[i]);
    if (s->t->obstacles.count > 0)
        say(s, ". ");
}

static void say_meaning(struct saying *s)
{
    if (s->t->limit >= 0)
        say(s, "%s slower by more than %g %%", verdicts[s->t->verdict], s->t->limit * 100);
    else
        say(s, "%s", s->t->obstacles.count > 0 ? "What was seen" : meaning_of(s->t));
}

/* "62.8 ms a request instead of 204 ms, 69 % less (60 to 76 %)". */
static void say_row(struct saying *s, const struct mst_comparison_row *row)
{
    const struct mst_comparison *c = &row->result;

    if (row->metric->said == NULL)
        say(s, "%s ", row->metric->compared);
    say(s, "%s", value_text(row->metric, c->b).text);
    if (row->metric->said != NULL)
        say(s, " %s", row->metric->said);
    say(s, " instead of %s, %s", value_text(row->metric, c->a).text, c->by);
}

/* Times first: they are what users of the site have. */
static bool say_rows(struct saying *s)
{
    const char *before = ": ";
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < s->t->row_count; i++) {
            const struct mst_comparison_row *row = &s->t->rows[i];

            if (!is_said(row) || (row->metric->unit == MST_QUANTITY_TIME) != (k == 0))
                continue;
            say(s, "%s", before);
            say_row(s, row);
            before = "; ";
        }
    return before[0] == ';';
}

/* Names that are beyond the limit, which the mean of all requests does not show. */
static void say_names(struct saying *s)
{
    size_t i;

    for (i = 0; i < s->t->name_count; i++) {
        const struct mst_comparison_name *row = &s->t->names[i];

        if (row->limit == MST_LIMIT_BEYOND)
            say(s, "; %s %.60s: %s instead of %s, %s", s->t->name_word, row->name,
                mst_format_time((uint64_t)row->result.b).text,
                mst_format_time((uint64_t)row->result.a).text, row->result.by);
    }
}

/* Whether the row has no answer: to the limit, or where there is none, to what differs. */
static bool is_unsure(const struct mst_comparison_table *t, const struct mst_comparison_row *row)
{
    return t->limit >= 0 ? row->limit == MST_LIMIT_UNSURE
                         : row->result.change == MST_CHANGE_UNSURE;
}

/* The gates of which it cannot be told, and the smallest difference that they could have shown. */
static void say_smallest(struct saying *s)
{
    double smallest = -1;
    size_t i;

    for (i = 0; i < s->t->row_count; i++) {
        const struct mst_comparison_row *row = &s->t->rows[i];

        if (row->gate && is_unsure(s->t, row) && row->result.smallest > smallest)
            smallest = row->result.smallest;
    }
    if (smallest > 0)
        say(s, " A difference of %.*f %% shows in 4 of 5 comparisons of such runs%s.",
            smallest < 0.0995 ? 1 : 0, smallest * 100, s->t->until_decided ? "" :
            "; a smaller one takes more of them (record --repeat " MST_UNTIL_DECIDED ")");
}

static void say_remark(struct saying *s)
{
    size_t a = s->t->a.count, b = s->t->b.count;

    if (s->t->obstacles.count > 0)
        return;
    if (a == 1 && b == 1)
        say(s, " One run each cannot tell whether that is chance: record both with --repeat 5 "
            "--interleave.");
    else if (a < MST_BOOTSTRAP_RUNS_MIN || b < MST_BOOTSTRAP_RUNS_MIN)
        say(s, " %zu and %zu runs cannot tell whether that is chance: it takes %u each, better "
            "five (--repeat 5 --interleave).", a, b, MST_BOOTSTRAP_RUNS_MIN);
    else
        say_smallest(s);
}

void mst_comparison_say(struct mst_comparison_table *t)
{
    struct saying s = { .t = t };

    say_obstacles(&s);
    say_meaning(&s);
    if (say_rows(&s))
        say_names(&s);
    else
        say(&s, ": the runs have no such values in common");
    say(&s, ".");
    say_remark(&s);
}

/* ---- causes ---------------------------------------------------------------------- */

static bool is_of_most(const struct mst_comparison_cause *cause,
                       const struct mst_compare_side *side)
{
    return 2 * cause->runs > side->count;
}

/* False for the findings that say that no cause is known. */
static bool is_cause(enum mst_code code)
{
    return code != MST_CODE_NOTHING && code != MST_CODE_TOO_SHORT && code != MST_CODE_CANNOT_TELL;
}

void mst_comparison_causes(const struct mst_comparison_table *t,
                           char text[MST_COMPARISON_CAUSES_MAX])
{
    const struct mst_comparison_cause *a = &t->cause_a, *b = &t->cause_b;

    text[0] = '\0';
    if (a->code == MST_CODE_COUNT || b->code == MST_CODE_COUNT)
        return;
    if (!is_of_most(a, &t->a) || !is_of_most(b, &t->b))
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "Whether the cause changed is not known: it is "
                 "not the same in most runs of a side. Most often it is %s in A (%zu of %zu runs) "
                 "and %s in B (%zu of %zu).", mst_code_names[a->code], a->runs, t->a.count,
                 mst_code_names[b->code], b->runs, t->b.count);
    else if (!is_cause(a->code) || !is_cause(b->code))
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "Whether the cause changed is not known: what "
                 "was found is %s in A and %s in B.", mst_code_names[a->code],
                 mst_code_names[b->code]);
    else if (t->a.count == 1 && t->b.count == 1)
        snprintf(text, MST_COMPARISON_CAUSES_MAX, a->code == b->code ?
                 "The cause is the same: %s." : "The cause changed from %s to %s.",
                 mst_code_names[a->code], mst_code_names[b->code]);
    else if (a->code == b->code)
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "The cause is the same: %s (%zu of %zu and %zu "
                 "of %zu runs).", mst_code_names[a->code], a->runs, t->a.count, b->runs,
                 t->b.count);
    else
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "The cause changed from %s (%zu of %zu runs) to "
                 "%s (%zu of %zu).", mst_code_names[a->code], a->runs, t->a.count,
                 mst_code_names[b->code], b->runs, t->b.count);
}

const char *mst_comparison_cause_text(const struct mst_compare_side *side,
                                      const struct mst_comparison_cause *cause)
{
    size_t i;

    for (i = 0; i < side->count; i++) {
        const struct mst_summary *s = &side->runs[i].summary;

        if (s->finding_count > 0 && s->findings[0].code == cause->code)
            return s->findings[0].text;
    }
    return "";
}

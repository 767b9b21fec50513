/* insights.c - what a study came to, in sentences: see insights.h. */
#include "lab/report/insights.h"

#include <math.h>

#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/published.h"

const char *const mst_insight_titles[MST_INSIGHT_KINDS] = {
    [MST_INSIGHT_HOLDS] = "What still holds", [MST_INSIGHT_FAILS] = "What does not hold",
    [MST_INSIGHT_UNSURE] = "What cannot be told",
    [MST_INSIGHT_UNMEASURED] = "What the original could not see",
};

void mst_insights_add(struct mst_insights *findings, enum mst_insight_kind kind,
                      const struct mst_study_section *section, const char *claim, const char *text)
{
    struct mst_insight *finding = mst_pool_append(findings->pool, &findings->items,
                                                  &findings->count, sizeof *finding);

    *finding = (struct mst_insight){ kind, section, claim, text };
}

/* ---- the order of what was published ---------------------------------------------- */

/* The case that a row is about, where there is exactly one that was run. */
static const struct mst_study_case *case_of_row(const struct mst_study_section *section, size_t row)
{
    const struct mst_study_case *found = NULL;
    size_t i;

    for (i = 0; i < section->case_count; i++) {
        if (section->cases[i].run_count == 0 || !mst_published_is(section, row, &section->cases[i]))
            continue;
        if (found != NULL)
            return NULL;
        found = &section->cases[i];
    }
    return found;
}

struct orders { size_t same, reversed, unsure; };

static void count_pair(struct orders *t, const struct mst_study_section *section, size_t a,
                       size_t b, enum mst_metric_id metric)
{
    const struct mst_study_case *left = case_of_row(section, a), *right = case_of_row(section, b);
    double theirs = mst_published_value(section, a, metric) /
                    mst_published_value(section, b, metric);
    struct mst_ratio ours;

    if (left == NULL || right == NULL || left == right || !isfinite(theirs) || theirs == 1)
        return;
    ours = mst_ratio_of(left, right, metric);
    if (!ours.bounded || (ours.low <= 1 && ours.high >= 1))
        t->unsure++;
    else if ((ours.low > 1) == (theirs > 1))
        t->same++;
    else
        t->reversed++;
}

static struct orders count_pairs(const struct mst_study_section *section,
                                 enum mst_metric_id metric)
{
    struct orders t = { 0 };
    size_t a, b;

    for (a = 1; a < section->published->rows.count; a++)
        for (b = a + 1; b < section->published->rows.count; b++)
            count_pair(&t, section, a, b, metric);
    return t;
}

const char *mst_insights_ranking(const struct mst_study_section *section)
{
    const struct mst_row *names;
    double scale;
    size_t i;

    if (section->published == NULL)
        return NULL;
    names = &section->published->rows.items[0];
    for (i = 0; i < names->count; i++) {
        enum mst_metric_id metric = mst_study_metric_find(names->words[i], &scale);
        struct orders t = { 0 };

        if (metric != MST_M_COUNT)
            t = count_pairs(section, metric);
        if (t.same + t.reversed + t.unsure > 0)
            return mst_pool_printf(section->pool, "By %s, of the %zu pairs of published systems "
                                   "%zu %s in the same order here, %zu %s reversed, and %zu cannot "
                                   "be told apart.", mst_metrics[metric].study_label,
                                   t.same + t.reversed + t.unsure, t.same,
                                   t.same == 1 ? "is" : "are", t.reversed,
                                   t.reversed == 1 ? "is" : "are", t.unsure);
    }
    return NULL;
}

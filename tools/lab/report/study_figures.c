/* study_figures.c - what a study's repetitions come to, and what was published of it: see
 * study_data.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/study_data.h"

/* ---- ours ------------------------------------------------------------------------- */

/* The known values of a metric; how many, and whether all are above 0. */
static size_t values_of(const struct mst_study_case *c, enum mst_metric_id metric,
                        double *values, bool *positive)
{
    size_t count = 0, i;

    *positive = true;
    for (i = 0; i < c->run_count; i++) {
        double value = c->runs[i].values[metric];

        if (!isfinite(value))
            continue;
        values[count++] = value;
        *positive = *positive && value > 0;
    }
    return count;
}

static void take_plain(struct mst_estimate *e, const double *values)
{
    double sum = 0;
    size_t i;

    e->least = e->most = values[0];
    for (i = 0; i < e->count; i++) {
        sum += values[i];
        e->least = fmin(e->least, values[i]);
        e->most = fmax(e->most, values[i]);
    }
    e->mean = sum / (double)e->count;
}

struct mst_estimate mst_estimate_of(const struct mst_study_case *c, enum mst_metric_id metric)
{
    struct mst_estimate e = { .mean = NAN, .low = NAN, .high = NAN, .least = NAN, .most = NAN };
    double *values = calloc(c->run_count + 1, sizeof *values);
    struct mst_interval interval;
    bool positive;

    if (values == NULL)
        return e;
    e.count = values_of(c, metric, values, &positive);
    if (e.count > 0)
        take_plain(&e, values);
    if (e.count > 0 && positive) {
        bool bounded = mst_bootstrap_interval(&interval, values, e.count);
        bool exact = e.least == e.most;    /* then it is that value, to the last digit */

        e.mean = exact ? e.least : interval.ratio;
        e.low = !bounded ? NAN : exact ? e.least : interval.low;
        e.high = !bounded ? NAN : exact ? e.most : interval.high;
    }
    free(values);
    return e;
}

/* Both cases' values of the same repetitions side by side, where each has one and in the
 * same block. Returns how many, 0: they are not paired. */
static size_t pair_up(const struct mst_study_case *a, const struct mst_study_case *b,
                      enum mst_metric_id metric, double *of_a, double *of_b)
{
    size_t i;

    if (a->run_count != b->run_count)
        return 0;
    for (i = 0; i < a->run_count; i++) {
        of_a[i] = a->runs[i].values[metric];
        of_b[i] = b->runs[i].values[metric];
        if (a->runs[i].repetition != b->runs[i].repetition ||
            a->runs[i].block != b->runs[i].block || !isfinite(of_a[i]) || !isfinite(of_b[i]))
            return 0;
    }
    return a->run_count;
}

struct mst_ratio mst_ratio_of(const struct mst_study_case *c, const struct mst_study_case *to,
                              enum mst_metric_id metric)
{
    struct mst_ratio r = { .ratio = NAN, .low = NAN, .high = NAN };
    double *a = calloc(to->run_count + 1, sizeof *a), *b = calloc(c->run_count + 1, sizeof *b);
    bool positive_a = false, positive_b = false, paired;
    struct mst_interval interval;

    if (a != NULL && b != NULL) {
        paired = pair_up(to, c, metric, a, b) > 0;
        r.of = values_of(to, metric, a, &positive_a);
        r.runs = values_of(c, metric, b, &positive_b);
        r.known = r.of > 0 && r.runs > 0 && positive_a && positive_b;
        if (r.known) {
            r.bounded = mst_bootstrap_ratio(&interval, a, r.of, b, r.runs, paired);
            r.ratio = interval.ratio;
        }
        if (r.bounded) {
            r.low = interval.low;
            r.high = interval.high;
        }
    }
    free(a);
    free(b);
    return r;
}

/* ---- theirs ----------------------------------------------------------------------- */

/* Whether the name is one of those in a word with commas. */
static bool is_among(const char *words, const char *name)
{
    size_t length = strlen(name);
    const char *at = words;

    for (; at != NULL; at = strchr(at, ',')) {
        at += at != words;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

bool mst_published_is(const struct mst_study_section *section, size_t row,
                      const struct mst_study_case *c)
{
    const struct mst_row *names = &section->published->rows.items[0];
    const struct mst_row *cells = &section->published->rows.items[row];
    size_t i;

    for (i = 0; i < names->count && i < cells->count; i++) {
        const char *name = names->words[i], *cell = cells->words[i], *ours = cell;

        if (strcmp(name, MST_PUBLISHED_STACK) == 0 && !is_among(cell, c->stack))
            return false;
        if (strcmp(name, MST_PUBLISHED_WORKLOAD) == 0)
            ours = c->workload;
        else if (name[0] >= 'A' && name[0] <= 'Z')
            ours = mst_study_value(c, name);
        if (strcmp(cell, MST_PUBLISHED_NONE) != 0 && (ours == NULL || strcmp(ours, cell) != 0))
            return false;
    }
    return true;
}

static int column_of(const struct mst_study_section *section, enum mst_metric_id metric,
                     double *scale)
{
    const struct mst_row *names;
    size_t i;

    if (section->published == NULL)
        return -1;
    names = &section->published->rows.items[0];
    for (i = 0; i < names->count; i++)
        if (mst_study_metric_find(names->words[i], scale) == metric)
            return (int)i;
    return -1;
}

double mst_published_value(const struct mst_study_section *section, size_t row,
                           enum mst_metric_id metric)
{
    double scale, value;
    int column = column_of(section, metric, &scale);
    const char *cell;
    char *end;

    if (column < 0 || (size_t)column >= section->published->rows.items[row].count)
        return NAN;
    cell = section->published->rows.items[row].words[column];
    value = strtod(cell, &end);
    return end != cell && *end == '\0' ? value * scale : NAN;
}

bool mst_published_has(const struct mst_study_section *section, enum mst_metric_id metric)
{
    double scale;

    return column_of(section, metric, &scale) >= 0;
}

const struct mst_study_case *mst_reference_of(const struct mst_study_section *section)
{
    size_t row, i;

    for (row = 1; section->published != NULL && row < section->published->rows.count; row++)
        for (i = 0; i < section->case_count; i++)
            if (section->cases[i].run_count > 0 &&
                mst_published_is(section, row, &section->cases[i]))
                return &section->cases[i];
    for (i = 0; i < section->case_count; i++)
        if (section->cases[i].run_count > 0)
            return &section->cases[i];
    return NULL;
}

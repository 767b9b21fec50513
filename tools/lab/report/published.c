/* published.c - the original's table: see published.h. */
#include "lab/report/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/figures.h"

/* Whether the name is in the list, which has commas between names. */
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

/* cases.c - answers about the cases of a study: see cases.h. */
#include "lab/report/cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *mst_study_value(const struct mst_study_case *c, const char *key)
{
    size_t i;

    for (i = 0; i < c->key_count; i++)
        if (strcmp(c->keys[i], key) == 0)
            return c->values[i];
    return NULL;
}

bool mst_study_is_known(const struct mst_study_section *section, enum mst_metric_id metric)
{
    size_t i, k;

    for (i = 0; i < section->case_count; i++)
        for (k = 0; k < section->cases[i].run_count; k++) {
            double value = section->cases[i].runs[k].values[metric];

            if (isfinite(value) && value != 0)
                return true;
        }
    return false;
}

const struct mst_study_case *mst_study_heaviest(const struct mst_study_section *section,
                                                size_t line)
{
    const struct mst_study_line *l = &section->lines[line];
    size_t i;

    for (i = l->first + l->count; i > l->first; i--)
        if (section->cases[i - 1].run_count > 0)
            return &section->cases[i - 1];
    return NULL;
}

void mst_spoken(char word[MST_SPOKEN_MAX], const char *key)
{
    size_t i;

    for (i = 0; key[i] != '\0' && i < MST_SPOKEN_MAX - 1; i++)
        word[i] = key[i] == '_' ? ' ' : (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 :
                                                                               key[i]);
    word[i] = '\0';
}

const char *mst_study_label(const struct mst_study_section *section,
                            const struct mst_study_case *c)
{
    const char *line = section->lines[c->line].label;
    char word[MST_SPOKEN_MAX];

    if (section->x_name == NULL)
        return line;
    mst_spoken(word, section->x_name);
    return mst_pool_printf(section->pool, "%s, %s %s", line, word,
                           mst_study_value(c, section->x_name));
}

/* lines.c - sorts the cases of a section into lines, and names them: see cases.h. */
#include "lab/report/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X_LEAST 3u      /* values that a variable takes, at least, to be a line's x */
#define X_USUAL "CONCURRENCY"

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- which variables tell cases apart ------------------------------------------------ */

static bool is_alike(const struct mst_study_case *a, const struct mst_study_case *b)
{
    return strcmp(a->stack, b->stack) == 0 && strcmp(a->workload, b->workload) == 0;
}

static bool is_number(const char *value)
{
    char *end;

    if (value == NULL || value[0] == '\0')
        return false;
    return isfinite(strtod(value, &end)) && *end == '\0';
}

/* An order of cases that groups those with the same stack, the same workload and the same values of
 * these variables. */
struct order { const char *const *keys; size_t count; };

static int compare_words(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_alike(const void *left, const void *right, void *context)
{
    const struct mst_study_case *a = *(const struct mst_study_case *const *)left;
    const struct mst_study_case *b = *(const struct mst_study_case *const *)right;
    const struct order *order = context;
    int by = strcmp(a->stack, b->stack);
    size_t i;

    if (by == 0)
        by = strcmp(a->workload, b->workload);
    for (i = 0; by == 0 && i < order->count; i++)
        by = compare_words(mst_study_value(a, order->keys[i]), mst_study_value(b, order->keys[i]));
    return by;
}

/* The caller frees them. */
static const struct mst_study_case **order_cases(const struct mst_study_section *section,
                                                 struct order *order)
{
    const struct mst_study_case **cases = mst_have(calloc(section->case_count + 1, sizeof *cases));
    size_t i;

    for (i = 0; i < section->case_count; i++)
        cases[i] = &section->cases[i];
    qsort_r(cases, section->case_count, sizeof *cases, compare_alike, order);
    return cases;
}

/* How many values the variable takes with one stack and one workload, at most; 0 where one of its
 * values is not a number. */
static size_t numbers_of(const struct mst_study_section *section, const char *key)
{
    struct order order = { &key, 1 };
    const struct mst_study_case **cases = order_cases(section, &order);
    size_t most = 0, count = 0, i;

    for (i = 0; i < section->case_count; i++) {
        if (!is_number(mst_study_value(cases[i], key))) {
            most = 0;
            break;
        }
        if (i == 0 || !is_alike(cases[i - 1], cases[i]))
            count = 0;
        count += count == 0 || !is_same(mst_study_value(cases[i - 1], key),
                                        mst_study_value(cases[i], key));
        most = count > most ? count : most;
    }
    free(cases);
    return most;
}

/* x is the variable with the most values; of several with as many the usual one, else the first. */
static void choose_x(struct mst_study_section *section)
{
    size_t most = X_LEAST - 1, i, count;

    for (i = 0; i < section->runs->variable_count; i++) {
        const char *name = section->runs->variables[i].name;

        count = section->runs->kind == MST_RUNS_LOAD ? numbers_of(section, name) : 0;
        if (count > most ||
            (count == most && section->x_name != NULL && strcmp(name, X_USUAL) == 0)) {
            most = count;
            section->x_name = name;
        }
    }
}

/* Whether some two cases differ in the last of these variables only: then a label has to name its
 * value. */
static bool tells_apart(const struct mst_study_section *section, struct order *order)
{
    const struct mst_study_case **cases = order_cases(section, order);
    struct order others = { order->keys, order->count - 1 };
    const char *key = order->keys[others.count];
    bool tells = false;
    size_t i;

    for (i = 1; !tells && i < section->case_count; i++)
        tells = compare_alike(&cases[i - 1], &cases[i], &others) == 0 &&
                !is_same(mst_study_value(cases[i - 1], key), mst_study_value(cases[i], key));
    free(cases);
    return tells;
}

static void choose_telling(struct mst_study_section *section)
{
    struct order order;
    size_t i;

    section->telling = apr_pcalloc(section->pool, (section->runs->variable_count + 1) *
                                                  sizeof *section->telling);
    choose_x(section);
    if (section->x_name != NULL)
        section->telling[section->telling_count++] = section->x_name;
    for (i = 0; i < section->runs->variable_count; i++) {
        section->telling[section->telling_count] = section->runs->variables[i].name;
        order = (struct order){ section->telling, section->telling_count + 1 };
        section->telling_count += tells_apart(section, &order);
    }
}

/* The index of the first telling variable that is not x. */
static size_t beyond_x(const struct mst_study_section *section)
{
    return section->x_name != NULL;
}

static size_t place_in(char *const *list, const char *name)
{
    size_t i;

    for (i = 0; list != NULL && list[i] != NULL; i++)
        if (strcmp(list[i], name) == 0)
            return i;
    return i;
}

static int compare_values(const char *a, const char *b)
{
    double x, y;

    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    if (!is_number(a) || !is_number(b))   /* numbers come first: the order is total */
        return is_number(a) != is_number(b) ? is_number(b) - is_number(a) : strcmp(a, b);
    x = strtod(a, NULL);
    y = strtod(b, NULL);
    return (x > y) - (x < y);
}

/* As the study's file has them: stack, workload, what tells them apart; then by x. */
static int compare_cases(const void *left, const void *right, void *context)
{
    const struct mst_study_case *a = left, *b = right;
    const struct mst_study_section *section = context;
    const struct mst_runs *runs = section->runs;
    size_t x = place_in(runs->stacks, a->stack), y = place_in(runs->stacks, b->stack), i;
    int by = (x > y) - (x < y);

    if (by == 0) {
        x = place_in(runs->workloads, a->workload);
        y = place_in(runs->workloads, b->workload);
        by = (x > y) - (x < y);
    }
    for (i = beyond_x(section); by == 0 && i < section->telling_count; i++)
        by = compare_values(mst_study_value(a, section->telling[i]),
                            mst_study_value(b, section->telling[i]));
    if (by == 0 && section->x_name != NULL)
        by = (a->x > b->x) - (a->x < b->x);
    return by;
}

static const char *label_of(const struct mst_study_section *section, const struct mst_study_case *c)
{
    bool several = section->runs->workloads != NULL && section->runs->workloads[0] != NULL &&
                   section->runs->workloads[1] != NULL;
    char *label = apr_pstrcat(section->pool, c->title, several ? ", " : "",
                              several ? c->workload : "", NULL), word[MST_SPOKEN_MAX];
    size_t i;

    for (i = beyond_x(section); i < section->telling_count; i++) {
        const char *value = mst_study_value(c, section->telling[i]);

        if (value == NULL)
            continue;
        mst_spoken(word, section->telling[i]);
        label = apr_pstrcat(section->pool, label, ", ", word, " ", value, NULL);
    }
    return label;
}

static bool begins_line(const struct mst_study_section *section, size_t i)
{
    const struct mst_study_case *a = &section->cases[i], *b = a - 1;
    size_t k;

    if (i == 0 || section->x_name == NULL || !is_alike(a, b))
        return true;
    for (k = beyond_x(section); k < section->telling_count; k++)
        if (!is_same(mst_study_value(a, section->telling[k]),
                     mst_study_value(b, section->telling[k])))
            return true;
    return false;
}

void mst_study_make_lines(struct mst_study_section *section)
{
    size_t i;

    choose_telling(section);
    section->lines = apr_pcalloc(section->pool, (section->case_count + 1) *
                                                sizeof *section->lines);
    for (i = 0; i < section->case_count && section->x_name != NULL; i++)
        section->cases[i].x = strtod(mst_study_value(&section->cases[i], section->x_name), NULL);
    if (section->case_count > 0)
        qsort_r(section->cases, section->case_count, sizeof *section->cases, compare_cases,
                section);
    for (i = 0; i < section->case_count; i++) {
        if (begins_line(section, i))
            section->lines[section->line_count++] = (struct mst_study_line){
                .label = label_of(section, &section->cases[i]), .first = i };
        section->lines[section->line_count - 1].count++;
        section->cases[i].line = section->line_count - 1;
    }
}

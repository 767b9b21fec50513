/* variables.c - the variables of a study's runs, and the values that they are swept over: see
 * section.h.
 */
#include "lab/files/section.h"

#include <inttypes.h>
#include <string.h>

#define QUICK      MST_QUICK_PREFIX
#define VALUES_MAX 1000u      /* of one sweep */

static int cannot_count(const struct mst_study *study, const struct mst_fact *fact,
                        char error[MST_ERROR_MAX])
{
    return mst_text_fail(&study->text, fact->line, error, "expected A B ... Z with whole numbers A "
                         "< B < Z in equal steps, and at most %u values, found \"%.60s\"",
                         VALUES_MAX, fact->value);
}

/* Replaces "A B ... Z" at the end of the values by all of them. */
static int count_on(const struct mst_study *study, const struct mst_fact *fact,
                    struct mst_variable *v, char error[MST_ERROR_MAX])
{
    uint64_t first, second, last, step, count, i;
    size_t dots = v->count - 2;
    char **values;

    if (dots < 2 || !mst_read_number(v->values[dots - 2], UINT32_MAX, &first) ||
        !mst_read_number(v->values[dots - 1], UINT32_MAX, &second) ||
        !mst_read_number(v->values[dots + 1], UINT32_MAX, &last) || second <= first ||
        last <= second || (last - second) % (second - first) != 0)
        return cannot_count(study, fact, error);
    step = second - first;
    count = (last - second) / step;
    if (count + dots > VALUES_MAX)
        return cannot_count(study, fact, error);
    values = apr_pcalloc(study->text.pool, (dots + count + 1) * sizeof *values);
    memcpy(values, v->values, dots * sizeof *values);
    for (i = 0; i < count; i++)
        values[dots + i] = mst_pool_printf(study->text.pool, "%" PRIu64, second + (i + 1) * step);
    v->values = values;
    v->count = dots + count;
    return 0;
}

/* A value with ${...} in it is one, whatever blanks are in it. */
static int take_values(const struct mst_study *study, const struct mst_fact *fact,
                       struct mst_variable *v, char error[MST_ERROR_MAX])
{
    if (strstr(fact->value, "${") != NULL) {
        v->values = apr_pcalloc(study->text.pool, 2 * sizeof *v->values);
        v->values[0] = fact->value;
        v->count = 1;
        return 0;
    }
    v->values = mst_words_split(study->text.pool, fact->value, &v->count);
    if (v->values == NULL)
        return mst_text_fail(&study->text, fact->line, error, "a quote that begins here does not "
                             "end in its line");
    if (v->count == 0)
        return mst_text_fail(&study->text, fact->line, error, "expected a value, found none");
    if (v->count >= 2 && strcmp(v->values[v->count - 2], "...") == 0)
        return count_on(study, fact, v, error);
    return 0;
}

/* The value's part for the index-th of the names that stand together: "dynamic+50". */
static char *part_of(apr_pool_t *pool, const char *value, size_t index, size_t names)
{
    const char *at = value, *end;
    size_t i;

    for (i = 0; i < index && at != NULL; i++)
        at = (at = strchr(at, '+')) != NULL ? at + 1 : NULL;
    if (at == NULL)
        return NULL;
    end = strchrnul(at, '+');
    return end > at && (*end == '\0') == (index + 1 == names)
               ? apr_pstrmemdup(pool, at, (size_t)(end - at)) : NULL;
}

/* Makes of whole values, which several variables share, those of one. */
static int take_parts(const struct mst_sized_section *s, const struct mst_fact *fact,
                      struct mst_variable *v, size_t index, size_t names,
                      char error[MST_ERROR_MAX])
{
    char *part;
    size_t i;

    for (i = 0; i < v->count && names > 1; i++) {
        part = part_of(s->study->text.pool, v->values[i], index, names);
        if (part == NULL)
            return mst_text_fail(&s->study->text, fact->line, error, "expected %zu values with + "
                                 "between them, as there are names, found \"%.60s\"", names,
                                 v->values[i]);
        v->values[i] = part;
    }
    return 0;
}

static size_t count_names(const char *names)
{
    size_t count = 1;

    for (; *names != '\0'; names++)
        count += *names == '+';
    return count;
}

/* STACK.NAME, NAME, or several names that are swept together. */
static const char *names_of(const struct mst_fact *fact, const char **stack, size_t *length)
{
    const char *key = fact->key + (mst_is_quick(fact) ? strlen(QUICK) : 0);
    const char *dot = strrchr(key, '.');

    *stack = key;
    *length = dot != NULL ? (size_t)(dot - key) : 0;
    return dot != NULL ? dot + 1 : key;
}

static int take_variable(const struct mst_sized_section *s, struct mst_runs *runs,
                         const struct mst_fact *fact, size_t index, char error[MST_ERROR_MAX])
{
    struct mst_variable *v = &runs->variables[runs->variable_count];
    const char *key = fact->key + (mst_is_quick(fact) ? strlen(QUICK) : 0), *stack, *names;
    size_t length, count;

    names = names_of(fact, &stack, &length);
    count = count_names(names);
    *v = (struct mst_variable){ .line = fact->line, .with_previous = index > 0 };
    runs->variable_count++;
    v->name = count > 1 ? part_of(s->study->text.pool, names, index, count)
                        : apr_pstrdup(s->study->text.pool, names);
    v->stack = length > 0 ? apr_pstrmemdup(s->study->text.pool, stack, length) : NULL;
    if (take_values(s->study, mst_sized_find(s, key), v, error) != 0)
        return -1;
    return take_parts(s, fact, v, index, count, error);
}

/* Whether it is a variable that counts at this size: each once, where it stands first. */
static bool is_counted(const struct mst_sized_section *s, const struct mst_fact *fact)
{
    const char *key = fact->key + (mst_is_quick(fact) ? strlen(QUICK) : 0), *stack;
    size_t length;

    if (!mst_are_variables(names_of(fact, &stack, &length)))
        return false;
    return !mst_is_quick(fact) || (s->size == MST_STUDY_QUICK &&
                               mst_facts_find(&s->facts, key) == NULL);
}

int mst_study_variables(const struct mst_sized_section *s, struct mst_runs *runs,
                        char error[MST_ERROR_MAX])
{
    size_t room = 1, i, k;

    for (i = 0; i < s->facts.count; i++)
        room += count_names(s->facts.items[i].key);
    runs->variables = apr_pcalloc(s->study->text.pool, room * sizeof *runs->variables);
    for (i = 0; i < s->facts.count; i++) {
        const char *stack, *names;
        size_t length;

        if (!is_counted(s, &s->facts.items[i]))
            continue;
        names = names_of(&s->facts.items[i], &stack, &length);
        for (k = 0; k < count_names(names); k++)
            if (take_variable(s, runs, &s->facts.items[i], k, error) != 0)
                return -1;
    }
    return 0;
}

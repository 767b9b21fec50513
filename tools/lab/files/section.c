/* section.c - the facts of a study's section, at the size that is wanted: see section.h. */
#include "lab/files/section.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define QUICK       MST_QUICK_PREFIX
#define SECONDS_MAX 86400u

/* A name of variables: uppercase letters, digits and _. */
static bool is_variable(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return n > 0 && name[n] == '\0' && isupper((unsigned char)name[0]);
}

/* One such name, or several with + between them. */
bool mst_are_variables(const char *names)
{
    char name[64];
    size_t length;

    for (;; names += length + 1) {
        length = strcspn(names, "+");
        if (length >= sizeof name)
            return false;
        memcpy(name, names, length);
        name[length] = '\0';
        if (!is_variable(name))
            return false;
        if (names[length] == '\0')
            return true;
    }
}

/* A whole number. False: it is none, or beyond `most`. */
bool mst_read_number(const char *value, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    return isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0 && *number <= most;
}

bool mst_is_quick(const struct mst_fact *fact)
{
    return strncmp(fact->key, QUICK, strlen(QUICK)) == 0;
}

/* The fact with this key, or what stands in its place at this size. */
const struct mst_fact *mst_sized_find(const struct mst_sized_section *s, const char *key)
{
    const struct mst_fact *fact = NULL;

    if (s->size == MST_STUDY_QUICK)
        fact = mst_facts_find(&s->facts, apr_pstrcat(s->study->text.pool, QUICK, key, NULL));
    return fact != NULL ? fact : mst_facts_find(&s->facts, key);
}

static const char *value(const struct mst_sized_section *s, const char *key)
{
    const struct mst_fact *fact = mst_sized_find(s, key);

    return fact != NULL ? fact->value : NULL;
}

/* 0, or -1 with a sentence. *copy is NULL where there is no such fact and need not be. */
int mst_sized_text(const struct mst_sized_section *s, const char *key, bool needed, char **copy,
                   char error[MST_ERROR_MAX])
{
    const char *text = value(s, key);

    if (needed && (text == NULL || text[0] == '\0'))
        return mst_text_fail(&s->study->text, s->line, error, "expected \"%s = ...\" in this "
                             "section, found none", key);
    if (text != NULL)
        *copy = apr_pstrdup(s->study->text.pool, text);
    return 0;
}

int mst_sized_list(const struct mst_sized_section *s, const char *key, char ***list,
                   char error[MST_ERROR_MAX])
{
    const char *text = value(s, key);
    size_t count;

    if (text == NULL || text[0] == '\0')
        return mst_text_fail(&s->study->text, s->line, error, "expected \"%s = ...\" in this "
                             "section, found none", key);
    *list = mst_words_split(s->study->text.pool, text, &count);
    if (*list != NULL)
        return 0;
    return mst_text_fail(&s->study->text, s->line, error, "expected words after %s =, found a "
                         "quote that does not end", key);
}

int mst_sized_number(const struct mst_sized_section *s, const char *key, uint64_t most,
                     uint64_t otherwise, uint64_t *number, char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = mst_sized_find(s, key);

    *number = otherwise;
    if (fact == NULL || mst_read_number(fact->value, most, number))
        return 0;
    return mst_text_fail(&s->study->text, fact->line, error, "expected a whole number from 0 to "
                         "%llu for %s, found \"%.60s\"", (unsigned long long)most, key,
                         fact->value);
}

int mst_sized_seconds(const struct mst_sized_section *s, const char *key, uint64_t otherwise,
                      uint64_t *ns, char error[MST_ERROR_MAX])
{
    uint64_t seconds;

    if (mst_sized_number(s, key, SECONDS_MAX, otherwise, &seconds, error) != 0)
        return -1;
    *ns = seconds * MST_NS_PER_S;
    return 0;
}

/* That there are no other facts than these, and variables where they can be. */
int mst_sized_expect(const struct mst_sized_section *s, const char *const *keys, bool variables,
                     char error[MST_ERROR_MAX])
{
    const char *key, *dot;
    size_t i, k;

    for (i = 0; i < s->facts.count; i++) {
        key = s->facts.items[i].key;
        key += mst_is_quick(&s->facts.items[i]) ? strlen(QUICK) : 0;
        dot = strrchr(key, '.');
        for (k = 0; keys[k] != NULL && strcmp(keys[k], key) != 0; k++)
            ;
        if (keys[k] == NULL && !(variables && mst_are_variables(dot != NULL ? dot + 1 : key)))
            return mst_text_fail(&s->study->text, s->facts.items[i].line, error, "there is no "
                                 "\"%s\" here: expected %s", key, variables ?
                                 "a VARIABLE, or stacks, workload, load, repetitions and the like"
                                 : "title, number, year, language, original, question or limit");
    }
    return 0;
}

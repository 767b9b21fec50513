/* expand.c - the lab's variables: see expand.h. */
#include "lab/files/expand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NUMBER_MAX 1000000000L   /* of what is computed with */

/* ---- a list of names and values --------------------------------------------------- */

static struct mst_parameter *find(const struct mst_parameters *parameters, const char *name,
                                  size_t length)
{
    size_t i;

    for (i = 0; i < parameters->count; i++)
        if (strncmp(parameters->items[i].name, name, length) == 0 &&
            parameters->items[i].name[length] == '\0')
            return &parameters->items[i];
    return NULL;
}

const char *mst_parameters_get(const struct mst_parameters *parameters, const char *name)
{
    const struct mst_parameter *found = find(parameters, name, strlen(name));

    return found != NULL ? found->value : NULL;
}

void mst_parameters_set(struct mst_parameters *parameters, const char *name, const char *value)
{
    struct mst_parameter *item = find(parameters, name, strlen(name));

    if (item == NULL) {
        item = mst_pool_append(parameters->pool, &parameters->items, &parameters->count,
                               sizeof *item);
        item->name = apr_pstrdup(parameters->pool, name);
    }
    item->value = apr_pstrdup(parameters->pool, value);
}

void mst_parameters_unset(struct mst_parameters *parameters, const char *name)
{
    struct mst_parameter *item = find(parameters, name, strlen(name));

    if (item != NULL)
        *item = parameters->items[--parameters->count];
}

/* The length of the variable's name that text begins with; 0: it begins with none. */
static size_t name_length(const char *text)
{
    return strspn(text, UPPER) > 0 ? strspn(text, UPPER DIGITS "_") : 0;
}

int mst_parameters_assign(struct mst_parameters *parameters, const char *assignment,
                          char error[MST_ERROR_MAX])
{
    size_t length = name_length(assignment);
    const char *c;

    if (length == 0 || assignment[length] != '=')
        return mst_fail(error, "expected PARAMETER=VALUE with a name of upper case letters, digits "
                        "and _, found \"%.100s\"", assignment);
    for (c = assignment + length; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return mst_fail(error, "expected a value in one line for %.*s, found a control "
                            "character in it", (int)length, assignment);
    mst_parameters_set(parameters, apr_pstrmemdup(parameters->pool, assignment, length),
                       assignment + length + 1);
    return 0;
}

/* ---- ${NAME} ---------------------------------------------------------------------- */

/* The name within ${...} that begins here, and its length; NULL: here begins none. */
static const char *variable_at(const char *at, size_t *length)
{
    if (at[0] != '$' || at[1] != '{')
        return NULL;
    *length = name_length(at + 2);
    return *length > 0 && at[2 + *length] == '}' ? at + 2 : NULL;
}

static int fail_unknown(const struct mst_parameters *variables, const char *path, unsigned line,
                        const char *name, size_t length, char error[MST_ERROR_MAX])
{
    char known[MST_ERROR_MAX] = "";
    size_t i;

    for (i = 0; i < variables->count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? " " : "",
                 variables->items[i].name);
    return mst_fail(error, "%s:%u: expected a parameter or a variable of the lab, found "
                    "${%.*s}; there are: %s", path, line, (int)length, name, known);
}

char *mst_expand(const struct mst_parameters *variables, const char *path, unsigned first_line,
                 const char *body, char error[MST_ERROR_MAX])
{
    const struct mst_parameter *variable = NULL;
    const char *at, *name = NULL;
    struct mst_stream text;
    unsigned line = first_line;
    size_t length;
    bool known = true;
    char *expanded;

    mst_stream_begin(&text);
    for (at = body; *at != '\0' && known; at++) {
        line += *at == '\n';
        name = variable_at(at, &length);
        if (name == NULL) {
            fputc(*at, text.out);
            continue;
        }
        variable = find(variables, name, length);
        known = variable != NULL;
        if (known)
            fputs(variable->value, text.out);
        at = name + length;   /* the brace */
    }
    expanded = mst_stream_end(&text, variables->pool);
    if (known)
        return expanded;
    fail_unknown(variables, path, line, name, length, error);
    return NULL;
}

/* ---- parameters ------------------------------------------------------------------- */

/* Takes a whole number off *at. */
static bool take_number(const char **at, long *number)
{
    char *end;

    if (strspn(*at, DIGITS) == 0)
        return false;
    errno = 0;
    *number = strtol(*at, &end, 10);
    *at = end;
    return errno == 0 && *number <= NUMBER_MAX;
}

/* Whether the value is a number, an operator and a number; then *result is what they make. */
static bool compute(const char *value, long *result)
{
    const char *at = value;
    long a, b;
    char operator;

    if (!take_number(&at, &a) || at[0] != ' ' || strchr("+-*/", at[1]) == NULL || at[2] != ' ')
        return false;
    operator = at[1];
    at += 3;
    if (!take_number(&at, &b) || *at != '\0' || (operator == '/' && b == 0))
        return false;
    *result = operator == '+' ? a + b : operator == '-' ? a - b : operator == '*' ? a * b
              : (a + b - 1) / b;
    return true;
}

/* Resolves one parameter. False: its value needs another that is not known yet. */
static bool resolve(struct mst_parameters *variables, const struct mst_facts *parameters,
                    const struct mst_fact *fact, const char *value)
{
    char unknown[MST_ERROR_MAX];   /* check_resolved() tells it, where it stays so */
    char *expanded = mst_expand(variables, parameters->text->path, fact->line, value, unknown);
    long result;

    if (expanded == NULL)
        return false;
    if (compute(expanded, &result))
        expanded = mst_pool_printf(variables->pool, "%ld", result);
    mst_parameters_set(variables, fact->key, expanded);
    return true;
}

static int check_names(const struct mst_facts *parameters, const struct mst_parameters *variables,
                       char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact;
    size_t i;

    for (i = 0; i < parameters->count; i++) {
        fact = &parameters->items[i];
        if (name_length(fact->key) != strlen(fact->key))
            return mst_text_fail(parameters->text, fact->line, error, "expected a parameter's name "
                                 "of upper case letters, digits and _, found \"%.60s\"",
                                 fact->key);
        if (mst_parameters_get(variables, fact->key) != NULL)
            return mst_text_fail(parameters->text, fact->line, error, "expected a name that is not "
                                 "taken: %.60s is a variable of the lab, or a parameter of both "
                                 "stack and workload", fact->key);
    }
    return 0;
}

/* What is to be expanded: the value that was given, else the file's. */
static const char *value_of(const struct mst_fact *fact, const struct mst_parameters *given)
{
    const char *value = given != NULL ? mst_parameters_get(given, fact->key) : NULL;

    return value != NULL ? value : fact->value;
}

/* One round over those that have no value yet. How many got one. */
static size_t resolve_round(struct mst_parameters *variables, const struct mst_facts *parameters,
                            const struct mst_parameters *given)
{
    const struct mst_fact *fact;
    size_t resolved = 0, i;

    for (i = 0; i < parameters->count; i++) {
        fact = &parameters->items[i];
        if (mst_parameters_get(variables, fact->key) == NULL)
            resolved += resolve(variables, parameters, fact, value_of(fact, given));
    }
    return resolved;
}

/* A variable in the value that is none of the parameters, and not known. NULL: there is none. */
static const char *unknown_in(const struct mst_parameters *variables,
                              const struct mst_facts *parameters, const char *value,
                              size_t *length)
{
    const char *at, *name;
    size_t i;

    for (at = value; *at != '\0'; at++) {
        name = variable_at(at, length);
        if (name == NULL || find(variables, name, *length) != NULL)
            continue;
        for (i = 0; i < parameters->count; i++)
            if (strncmp(parameters->items[i].key, name, *length) == 0 &&
                parameters->items[i].key[*length] == '\0')
                break;
        if (i == parameters->count)
            return name;
    }
    return NULL;
}

/* What is left after the last round needs an unknown one, or each other. */
static int check_resolved(const struct mst_parameters *variables,
                          const struct mst_facts *parameters, const struct mst_parameters *given,
                          char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact, *circular = NULL;
    const char *name;
    size_t i, length;

    for (i = 0; i < parameters->count; i++) {
        fact = &parameters->items[i];
        if (mst_parameters_get(variables, fact->key) != NULL)
            continue;
        name = unknown_in(variables, parameters, value_of(fact, given), &length);
        if (name != NULL)
            return fail_unknown(variables, parameters->text->path, fact->line, name, length,
                                error);
        circular = fact;
    }
    if (circular == NULL)
        return 0;
    return mst_text_fail(parameters->text, circular->line, error, "expected a value that does not "
                         "need itself, found %.60s = %.60s", circular->key,
                         value_of(circular, given));
}

int mst_expand_parameters(struct mst_parameters *variables, const struct mst_facts *parameters,
                          const struct mst_parameters *given, char error[MST_ERROR_MAX])
{
    if (check_names(parameters, variables, error) != 0)
        return -1;
    while (resolve_round(variables, parameters, given) > 0)
        ;
    return check_resolved(variables, parameters, given, error);
}

/* plan.c - from a study to its steps: see plan.h. */
#include "lab/study/plan.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL "URL"   /* a load's variable that only the started servers know */

struct maker {
    struct mst_schedule     *schedule;
    const struct mst_study  *study;
    const struct mst_schedule_options *options;
    char                    *error;
};

/* ---- stacks and workloads --------------------------------------------------------- */

static const struct mst_stack *find_stack(struct maker *m, const char *name)
{
    struct mst_schedule *s = m->schedule;
    struct mst_stack **stack;
    size_t i;

    for (i = 0; i < s->stack_count; i++)
        if (strcmp(s->stacks[i]->name, name) == 0)
            return s->stacks[i];
    stack = mst_pool_append(s->pool, &s->stacks, &s->stack_count, sizeof *stack);
    *stack = mst_stack_read(s->pool, name, m->options->beside, m->error);
    return *stack;
}

static const struct mst_workload *find_workload(struct maker *m, const char *name)
{
    struct mst_schedule *s = m->schedule;
    struct mst_workload **workload;
    size_t i;

    for (i = 0; i < s->workload_count; i++)
        if (strcmp(s->workloads[i]->name, name) == 0)
            return s->workloads[i];
    workload = mst_pool_append(s->pool, &s->workloads, &s->workload_count, sizeof *workload);
    *workload = mst_workload_read(s->pool, name, m->options->beside, m->error);
    return *workload;
}

static bool is_wanted(const struct maker *m, const char *stack)
{
    size_t i;

    for (i = 0; m->options->only != NULL && m->options->only[i] != NULL; i++)
        if (strcmp(m->options->only[i], stack) == 0)
            return true;
    return m->options->only == NULL;
}

/* ---- one case --------------------------------------------------------------------- */

static bool is_of_stack(const struct mst_variable *v, const struct mst_stack *stack)
{
    return v->stack != NULL && strcmp(v->stack, stack->name) == 0;
}

/* Whether a variable counts for the stack: it is this stack's own; or it is for all stacks, and
 * this stack has no own variable of the same name. */
static bool counts(const struct mst_runs *runs, const struct mst_variable *v,
                   const struct mst_stack *stack)
{
    size_t i;

    if (v->stack != NULL)
        return is_of_stack(v, stack);
    for (i = 0; i < runs->variable_count; i++)
        if (is_of_stack(&runs->variables[i], stack) &&
            strcmp(runs->variables[i].name, v->name) == 0)
            return false;
    return true;
}

/* Computes the variables of a case; chosen[i] is which value of the i-th. */
static int compute(struct maker *m, struct mst_planned *c, const size_t *chosen)
{
    const struct mst_runs *runs = c->runs;
    struct mst_facts facts = { .text = &m->study->text, .line = runs->line };
    const struct mst_parameters none = { 0 };
    size_t i;

    facts.items = apr_pcalloc(m->schedule->pool,
                              (runs->variable_count + 1) * sizeof *facts.items);
    for (i = 0; i < runs->variable_count; i++) {
        const struct mst_variable *v = &runs->variables[i];

        if (counts(runs, v, c->stack))
            facts.items[facts.count++] = (struct mst_fact){ v->name, v->values[chosen[i]], NULL,
                                                            v->line };
    }
    return mst_expand_parameters(&c->variables, &facts, &none, m->error);
}

static void give(struct mst_planned *c)
{
    const struct mst_parameter *p;
    size_t i;

    for (i = 0; i < c->variables.count; i++) {
        p = &c->variables.items[i];
        if (mst_facts_find(&c->stack->parameters, p->name) != NULL ||
            mst_facts_find(&c->workload->parameters, p->name) != NULL)
            mst_parameters_set(&c->given, p->name, p->value);
    }
}

/* Numbers as numbers, so that an archive's reader can compare them. */
static json_t *value_as_json(const char *value)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (value[0] != '\0' && strspn(value, "0123456789") == strlen(value) && errno == 0)
        return json_integer(number);
    return json_string(value);
}

static const char *parameters_as_json(const struct mst_parameters *parameters)
{
    json_t *object = mst_have(json_object());
    char *text, *copy;
    size_t i;

    for (i = 0; i < parameters->count; i++)
        json_object_set_new(object, parameters->items[i].name,
                            mst_have(value_as_json(parameters->items[i].value)));
    text = mst_have(json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT));
    copy = apr_pstrdup(parameters->pool, text);
    free(text);
    json_decref(object);
    return copy;
}

/* The texts of the runs with the case's values in them. */
static int expand_texts(struct maker *m, struct mst_planned *c)
{
    const struct { const char *from, **to; } texts[] = {
        { c->runs->load != NULL ? c->runs->load : "", &c->load },
        { c->runs->from, &c->from }, { c->runs->to, &c->to }, { c->runs->over, &c->over },
    };
    struct mst_parameters all = { .pool = m->schedule->pool };
    size_t i;

    for (i = 0; i < c->variables.count; i++)
        mst_parameters_set(&all, c->variables.items[i].name, c->variables.items[i].value);
    mst_parameters_set(&all, URL, "${" URL "}");
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].from != NULL) {
            *texts[i].to = mst_expand(&all, m->study->text.path, c->runs->line, texts[i].from,
                                      m->error);
            if (*texts[i].to == NULL)
                return -1;
        }
    return 0;
}

static int add_case(struct maker *m, const struct mst_planned *of, const size_t *chosen)
{
    struct mst_schedule *s = m->schedule;
    struct mst_planned *c;

    if (s->case_count >= MST_STEPS_MAX)
        return mst_text_fail(&m->study->text, of->runs->line, m->error, "expected at most %u cases "
                             "of all stacks, workloads and variables, found more", MST_STEPS_MAX);
    c = mst_pool_append(s->pool, &s->cases, &s->case_count, sizeof *c);
    *c = *of;
    c->variables.pool = c->given.pool = s->pool;
    if (compute(m, c, chosen) != 0 || expand_texts(m, c) != 0)
        return -1;
    give(c);
    c->parameters = parameters_as_json(&c->variables);
    return 0;
}

/* ---- all cases -------------------------------------------------------------------- */

/* Takes the next value of the i-th variable, and of those that are swept with it. False:
 * there is none, and it is the first again. */
static bool take_next(const struct mst_runs *runs, size_t i, size_t *chosen)
{
    bool more = ++chosen[i] < runs->variables[i].count;
    size_t k;

    if (!more)
        chosen[i] = 0;
    for (k = i + 1; k < runs->variable_count && runs->variables[k].with_previous; k++)
        chosen[k] = chosen[i];
    return more;
}

/* Goes on to the next combination of values. False: there is none. */
static bool choose_next(const struct mst_planned *of, size_t *chosen)
{
    const struct mst_runs *runs = of->runs;
    size_t i;

    for (i = runs->variable_count; i-- > 0;)
        if (!runs->variables[i].with_previous && counts(runs, &runs->variables[i], of->stack) &&
            take_next(runs, i, chosen))
            return true;
    return false;
}

static int add_combinations(struct maker *m, const struct mst_planned *of)
{
    size_t *chosen = apr_pcalloc(m->schedule->pool,
                                 (of->runs->variable_count + 1) * sizeof *chosen);
    int failed;

    do
        failed = add_case(m, of, chosen);
    while (!failed && choose_next(of, chosen));
    return failed;
}

static int add_stack(struct maker *m, const struct mst_runs *runs, const char *name)
{
    struct mst_planned of = { .runs = runs };
    size_t i;

    of.stack = find_stack(m, name);
    if (of.stack == NULL)
        return -1;
    for (i = 0; runs->workloads[i] != NULL; i++) {
        of.workload = find_workload(m, runs->workloads[i]);
        if (of.workload == NULL || mst_stack_serves(of.stack, of.workload, m->error) != 0 ||
            add_combinations(m, &of) != 0)
            return -1;
    }
    return 0;
}

/* Whether a text has ${NAME} in it. */
static bool mentions(const char *text, const char *name)
{
    const char *at = text;
    size_t length = strlen(name);

    while (at != NULL && (at = strstr(at, "${")) != NULL) {
        at += 2;
        if (strncmp(at, name, length) == 0 && at[length] == '}')
            return true;
    }
    return false;
}

static bool is_in_texts(const struct mst_runs *runs, const char *name)
{
    size_t i;

    for (i = 0; i < runs->variable_count; i++)
        if (mentions(runs->variables[i].values[0], name))
            return true;
    return mentions(runs->load, name) || mentions(runs->from, name) || mentions(runs->to, name) ||
           mentions(runs->over, name);
}

/* Whether one of the cases of these runs passes it to its stack. */
static bool is_given(const struct mst_schedule *s, const struct mst_runs *runs,
                     const struct mst_variable *v)
{
    size_t i;

    for (i = 0; i < s->case_count; i++)
        if (s->cases[i].runs == runs && (v->stack == NULL || is_of_stack(v, s->cases[i].stack)) &&
            mst_parameters_get(&s->cases[i].given, v->name) != NULL)
            return true;
    return false;
}

/* Checks that every variable is used: one that is not used is a typing error. Where only some of
 * the stacks are run, this is not checked: a variable can be for the others. */
static int check_variables(struct maker *m, const struct mst_runs *runs)
{
    const struct mst_variable *v;
    size_t i;

    for (i = 0; i < runs->variable_count && m->options->only == NULL; i++) {
        v = &runs->variables[i];
        if (!is_in_texts(runs, v->name) && !is_given(m->schedule, runs, v))
            return mst_text_fail(&m->study->text, v->line, m->error, "%s is of no use: it is not a "
                                 "parameter of %s, and not in the load", v->name,
                                 v->stack != NULL ? v->stack : "these stacks or workloads");
    }
    return 0;
}

static int add_runs(struct maker *m, const struct mst_runs *runs)
{
    size_t i;

    if (runs->repetitions == 0)
        return 0;
    for (i = 0; runs->stacks[i] != NULL; i++)
        if (is_wanted(m, runs->stacks[i]) && add_stack(m, runs, runs->stacks[i]) != 0)
            return -1;
    return check_variables(m, runs);
}

static int check_only(struct maker *m)
{
    const struct mst_study *study = m->study;
    size_t i, r, k;
    bool found;

    for (i = 0; m->options->only != NULL && m->options->only[i] != NULL; i++) {
        found = false;
        for (r = 0; r < study->runs_count && !found; r++)
            for (k = 0; study->runs[r].stacks[k] != NULL && !found; k++)
                found = strcmp(study->runs[r].stacks[k], m->options->only[i]) == 0;
        if (!found)
            return mst_fail(m->error, "the study %s has no stack \"%s\": see mpmstat lab list",
                            study->name, m->options->only[i]);
    }
    return 0;
}

/* ---- all of it -------------------------------------------------------------------- */

static int make(struct maker *m)
{
    size_t i;

    if (check_only(m) != 0)
        return -1;
    for (i = 0; i < m->study->runs_count; i++)
        if (add_runs(m, &m->study->runs[i]) != 0)
            return -1;
    if (m->schedule->case_count == 0)
        return mst_fail(m->error, "there is nothing to run in %s", m->study->name);
    return mst_schedule_order(m->schedule, m->study->name, m->error);
}

int mst_schedule_make(apr_pool_t *pool, struct mst_schedule *schedule,
                      const struct mst_study *study, const struct mst_schedule_options *options,
                      char error[MST_ERROR_MAX])
{
    struct maker m = { .schedule = schedule, .study = study, .options = options, .error = error };

    *schedule = (struct mst_schedule){ .pool = pool, .seed = options->seed };
    return make(&m);
}

char *mst_planned_name(apr_pool_t *pool, const struct mst_planned *of, bool with_workload)
{
    struct mst_stream name;
    size_t i;

    mst_stream_begin(&name);
    fprintf(name.out, "%s %s", of->runs->name, of->stack->name);
    if (with_workload)
        fprintf(name.out, " %s", of->workload->name);
    for (i = 0; i < of->runs->variable_count; i++) {
        const struct mst_variable *v = &of->runs->variables[i];
        const char *value = mst_parameters_get(&of->variables, v->name);

        if (v->count > 1 && value != NULL && (v->stack == NULL || is_of_stack(v, of->stack)))
            fprintf(name.out, " %s=%s", v->name, value);
    }
    return mst_stream_end(&name, pool);
}

/* study.c - reads a study's file: see study.h. */
#include "lab/files/study.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define QUICK            "quick."
#define VALUES_MAX       1000u      /* of one sweep */
#define REPETITIONS_MAX  1000u
#define SECONDS_MAX      86400u
#define ABOUT_S          10u        /* how long a run takes, where the file says nothing */
#define LIMIT_S          300u       /* and at most */
#define WARMUP_S         10u

const char *const mst_study_size_names[2] = { "full", "quick" };
const char *const mst_runs_kind_names[3] = { "load", "spawn", "ramp" };

/* ---- small things ----------------------------------------------------------------- */

static int no_memory(const struct mst_study *study, char error[MST_ERROR_MAX])
{
    return mst_fail(error, "out of memory for %s", study->text.path);
}

/* A name of variables: uppercase letters, digits and _. */
static bool is_variable(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return n > 0 && name[n] == '\0' && isupper((unsigned char)name[0]);
}

/* One such name, or several with + between them. */
static bool are_variables(const char *names)
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

static void free_list(char **words)
{
    size_t i;

    for (i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* The words of a value, each to be freed. NULL: out of memory. */
static char **copy_words(const char *value, size_t *count)
{
    char **words = mst_words_split(value), **copy = NULL;
    size_t n = 0;

    while (words != NULL && words[n] != NULL)
        n++;
    if (words != NULL)
        copy = calloc(n + 1, sizeof *copy);
    for (*count = 0; copy != NULL && *count < n; (*count)++)
        if ((copy[*count] = strdup(words[*count])) == NULL) {
            free_list(copy);
            copy = NULL;
        }
    free(words);
    return copy;
}

/* A whole number. False: it is none, or beyond `most`. */
static bool read_number(const char *value, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    return isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0 && *number <= most;
}

/* ---- the facts of a section, at this size ----------------------------------------- */

/* The facts that count: those of the other size are left out. */
struct section {
    struct mst_study *study;
    struct mst_facts  facts;
    enum mst_study_size size;
    unsigned          line;
};

static bool is_quick(const struct mst_fact *fact)
{
    return strncmp(fact->key, QUICK, strlen(QUICK)) == 0;
}

/* The fact with this key, or what stands in its place at this size. */
static const struct mst_fact *find(const struct section *s, const char *key)
{
    const struct mst_fact *fact = NULL;
    char *quick = NULL;

    if (s->size == MST_STUDY_QUICK && asprintf(&quick, QUICK "%s", key) >= 0)
        fact = mst_facts_find(&s->facts, quick);
    free(quick);
    return fact != NULL ? fact : mst_facts_find(&s->facts, key);
}

static const char *value(const struct section *s, const char *key)
{
    const struct mst_fact *fact = find(s, key);

    return fact != NULL ? fact->value : NULL;
}

/* 0, or -1 with a sentence. *copy is NULL where there is no such fact and need not be. */
static int take_text(const struct section *s, const char *key, bool needed, char **copy,
                     char error[MST_ERROR_MAX])
{
    const char *text = value(s, key);

    if (needed && (text == NULL || text[0] == '\0'))
        return mst_text_fail(&s->study->text, s->line, error, "expected \"%s = ...\" in this "
                             "section, found none", key);
    if (text == NULL)
        return 0;
    *copy = strdup(text);
    return *copy != NULL ? 0 : no_memory(s->study, error);
}

static int take_list(const struct section *s, const char *key, char ***list,
                     char error[MST_ERROR_MAX])
{
    const char *text = value(s, key);
    size_t count;

    if (text == NULL || text[0] == '\0')
        return mst_text_fail(&s->study->text, s->line, error, "expected \"%s = ...\" in this "
                             "section, found none", key);
    *list = copy_words(text, &count);
    return *list != NULL ? 0 : no_memory(s->study, error);
}

static int take_number(const struct section *s, const char *key, uint64_t most, uint64_t otherwise,
                       uint64_t *number, char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = find(s, key);

    *number = otherwise;
    if (fact == NULL || read_number(fact->value, most, number))
        return 0;
    return mst_text_fail(&s->study->text, fact->line, error, "expected a whole number from 0 to "
                         "%llu for %s, found \"%.60s\"", (unsigned long long)most, key,
                         fact->value);
}

static int take_seconds(const struct section *s, const char *key, uint64_t otherwise,
                        uint64_t *ns, char error[MST_ERROR_MAX])
{
    uint64_t seconds;

    if (take_number(s, key, SECONDS_MAX, otherwise, &seconds, error) != 0)
        return -1;
    *ns = seconds * MST_NS_PER_S;
    return 0;
}

/* That there are no other facts than these, and variables where they may be. */
static int expect(const struct section *s, const char *const *keys, bool variables,
                  char error[MST_ERROR_MAX])
{
    const char *key, *dot;
    size_t i, k;

    for (i = 0; i < s->facts.count; i++) {
        key = s->facts.items[i].key;
        key += is_quick(&s->facts.items[i]) ? strlen(QUICK) : 0;
        dot = strrchr(key, '.');
        for (k = 0; keys[k] != NULL && strcmp(keys[k], key) != 0; k++)
            ;
        if (keys[k] == NULL && !(variables && are_variables(dot != NULL ? dot + 1 : key)))
            return mst_text_fail(&s->study->text, s->facts.items[i].line, error, "there is no "
                                 "\"%s\" here: expected %s", key, variables ?
                                 "a VARIABLE, or stacks, workload, load, repetitions and the like"
                                 : "title, number, year, language, original, question or limit");
    }
    return 0;
}

/* ---- variables -------------------------------------------------------------------- */

static int cannot_count(const struct mst_study *study, const struct mst_fact *fact,
                        char error[MST_ERROR_MAX])
{
    return mst_text_fail(&study->text, fact->line, error, "expected two numbers before ... and "
                         "one behind it that is reached by steps of the same size (at most %u), "
                         "found \"%.60s\"", VALUES_MAX, fact->value);
}

/* Replaces "A B ... Z" at the end of the values by all of them. */
static int count_on(const struct mst_study *study, const struct mst_fact *fact,
                    struct mst_variable *v, char error[MST_ERROR_MAX])
{
    uint64_t first, second, last, step, count, i;
    size_t dots = v->count - 2;
    char **values;

    if (dots < 2 || !read_number(v->values[dots - 2], UINT32_MAX, &first) ||
        !read_number(v->values[dots - 1], UINT32_MAX, &second) ||
        !read_number(v->values[dots + 1], UINT32_MAX, &last) || second <= first ||
        last <= second || (last - second) % (second - first) != 0)
        return cannot_count(study, fact, error);
    step = second - first;
    count = (last - second) / step;
    if (count + dots > VALUES_MAX)
        return cannot_count(study, fact, error);
    values = calloc(dots + count + 1, sizeof *values);
    if (values == NULL)
        return no_memory(study, error);
    memcpy(values, v->values, dots * sizeof *values);
    for (i = 0; i < count; i++)
        if (asprintf(&values[dots + i], "%llu", (unsigned long long)(second + (i + 1) * step)) < 0)
            values[dots + i] = NULL;
    free(v->values[dots]);
    free(v->values[dots + 1]);
    free(v->values);
    v->values = values;
    v->count = dots + count;
    return values[v->count - 1] != NULL ? 0 : no_memory(study, error);
}

/* A value with ${...} in it is one, whatever blanks are in it. */
static int take_values(const struct mst_study *study, const struct mst_fact *fact,
                       struct mst_variable *v, char error[MST_ERROR_MAX])
{
    if (strstr(fact->value, "${") != NULL) {
        v->values = calloc(2, sizeof *v->values);
        if (v->values == NULL || (v->values[0] = strdup(fact->value)) == NULL)
            return no_memory(study, error);
        v->count = 1;
        return 0;
    }
    v->values = copy_words(fact->value, &v->count);
    if (v->values == NULL)
        return no_memory(study, error);
    if (v->count == 0)
        return mst_text_fail(&study->text, fact->line, error, "expected a value, found none");
    if (v->count >= 2 && strcmp(v->values[v->count - 2], "...") == 0)
        return count_on(study, fact, v, error);
    return 0;
}

/* The value's part for the index-th of the names that stand together: "dynamic+50". */
static char *part_of(const char *value, size_t index, size_t names)
{
    const char *at = value, *end;
    size_t i;

    for (i = 0; i < index && at != NULL; i++)
        at = (at = strchr(at, '+')) != NULL ? at + 1 : NULL;
    if (at == NULL)
        return NULL;
    end = strchrnul(at, '+');
    return end > at && (*end == '\0') == (index + 1 == names) ? strndup(at, (size_t)(end - at))
                                                              : NULL;
}

/* Makes of whole values, which several variables share, those of one. */
static int take_parts(const struct section *s, const struct mst_fact *fact, struct mst_variable *v,
                      size_t index, size_t names, char error[MST_ERROR_MAX])
{
    char *part;
    size_t i;

    for (i = 0; i < v->count && names > 1; i++) {
        part = part_of(v->values[i], index, names);
        if (part == NULL)
            return mst_text_fail(&s->study->text, fact->line, error, "expected %zu values with + "
                                 "between them, as there are names, found \"%.60s\"", names,
                                 v->values[i]);
        free(v->values[i]);
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
    const char *key = fact->key + (is_quick(fact) ? strlen(QUICK) : 0);
    const char *dot = strrchr(key, '.');

    *stack = key;
    *length = dot != NULL ? (size_t)(dot - key) : 0;
    return dot != NULL ? dot + 1 : key;
}

static int take_variable(const struct section *s, struct mst_runs *runs,
                         const struct mst_fact *fact, size_t index, char error[MST_ERROR_MAX])
{
    struct mst_variable *v = &runs->variables[runs->variable_count];
    const char *key = fact->key + (is_quick(fact) ? strlen(QUICK) : 0), *stack, *names;
    size_t length, count;

    names = names_of(fact, &stack, &length);
    count = count_names(names);
    *v = (struct mst_variable){ .line = fact->line, .with_previous = index > 0 };
    runs->variable_count++;
    v->name = count > 1 ? part_of(names, index, count) : strdup(names);
    v->stack = length > 0 ? strndup(stack, length) : NULL;
    if (v->name == NULL || (length > 0 && v->stack == NULL))
        return no_memory(s->study, error);
    if (take_values(s->study, find(s, key), v, error) != 0)
        return -1;
    return take_parts(s, fact, v, index, count, error);
}

/* Whether it is a variable that counts at this size: each once, where it stands first. */
static bool is_counted(const struct section *s, const struct mst_fact *fact)
{
    const char *key = fact->key + (is_quick(fact) ? strlen(QUICK) : 0), *stack;
    size_t length;

    if (!are_variables(names_of(fact, &stack, &length)))
        return false;
    return !is_quick(fact) || (s->size == MST_STUDY_QUICK &&
                               mst_facts_find(&s->facts, key) == NULL);
}

static int take_variables(const struct section *s, struct mst_runs *runs,
                          char error[MST_ERROR_MAX])
{
    size_t room = 1, i, k;

    for (i = 0; i < s->facts.count; i++)
        room += count_names(s->facts.items[i].key);
    runs->variables = calloc(room, sizeof *runs->variables);
    if (runs->variables == NULL)
        return no_memory(s->study, error);
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

/* ---- %% runs ---------------------------------------------------------------------- */

static int take_kind(const struct section *s, struct mst_runs *runs, char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = find(s, "kind");
    size_t i;

    if (fact == NULL)
        return 0;
    for (i = 0; i < sizeof mst_runs_kind_names / sizeof *mst_runs_kind_names; i++)
        if (strcmp(fact->value, mst_runs_kind_names[i]) == 0) {
            runs->kind = (enum mst_runs_kind)i;
            return 0;
        }
    return mst_text_fail(&s->study->text, fact->line, error, "expected load, spawn or ramp for "
                         "kind, found \"%.60s\"", fact->value);
}

/* What a load needs, or what it is made of. */
static int take_load(const struct section *s, struct mst_runs *runs, char error[MST_ERROR_MAX])
{
    bool ramp = runs->kind == MST_RUNS_RAMP;
    const struct mst_fact *wrong = find(s, ramp ? "load" : "from");

    if (wrong != NULL)
        return mst_text_fail(&s->study->text, wrong->line, error, "%s", ramp ?
                             "a ramp has no load of its own: from, to and over say what it is" :
                             "only runs of the kind ramp have from, to and over");
    if (take_text(s, "load", !ramp, &runs->load, error) != 0 ||
        take_text(s, "from", ramp, &runs->from, error) != 0 ||
        take_text(s, "to", ramp, &runs->to, error) != 0)
        return -1;
    return take_text(s, "over", ramp, &runs->over, error);
}

static int take_times(const struct section *s, struct mst_runs *runs, char error[MST_ERROR_MAX])
{
    uint64_t repetitions, warmup = runs->kind == MST_RUNS_SPAWN ? 0 : WARMUP_S;

    if (take_number(s, "repetitions", REPETITIONS_MAX, 1, &repetitions, error) != 0 ||
        take_seconds(s, "about", ABOUT_S, &runs->about_ns, error) != 0 ||
        take_seconds(s, "limit", LIMIT_S, &runs->limit_ns, error) != 0 ||
        take_seconds(s, "warmup", warmup, &runs->warmup_ns, error) != 0)
        return -1;
    runs->repetitions = (unsigned)repetitions;
    if (runs->limit_ns == 0)
        return mst_text_fail(&s->study->text, runs->line, error, "expected a limit of a second or "
                             "more, found 0");
    return 0;
}

static int take_runs(struct section *s, struct mst_runs *runs, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = {
        "title", "kind", "stacks", "workload", "load", "from", "to", "over", "repetitions",
        "about", "limit", "warmup", NULL,
    };

    if (expect(s, keys, true, error) != 0 || take_kind(s, runs, error) != 0 ||
        take_text(s, "title", false, &runs->title, error) != 0 ||
        take_list(s, "stacks", &runs->stacks, error) != 0 ||
        take_list(s, "workload", &runs->workloads, error) != 0 ||
        take_load(s, runs, error) != 0 || take_times(s, runs, error) != 0)
        return -1;
    if (runs->title == NULL && (runs->title = strdup(runs->name)) == NULL)
        return no_memory(s->study, error);
    return take_variables(s, runs, error);
}

static int name_section(const struct mst_study *study, const struct mst_text_section *section,
                        char **name, char error[MST_ERROR_MAX])
{
    if (section->name[0] == '\0')
        return mst_text_fail(&study->text, section->line, error, "expected a name behind %s, found "
                             "none", section->kind);
    *name = strdup(section->name);
    return *name != NULL ? 0 : no_memory(study, error);
}

static int add_runs(struct mst_study *study, const struct mst_text_section *section,
                    char error[MST_ERROR_MAX])
{
    struct mst_runs *runs = &study->runs[study->runs_count];
    struct section s = { .study = study, .size = study->size, .line = section->line };
    int failed;

    if (section->name[0] != '\0' && mst_study_runs(study, section->name) != NULL)
        return mst_text_fail(&study->text, section->line, error, "there is a section runs %s "
                             "already", section->name);
    *runs = (struct mst_runs){ .line = section->line };
    study->runs_count++;
    if (name_section(study, section, &runs->name, error) != 0 ||
        mst_facts_read(&s.facts, &study->text, section, error) != 0)
        return -1;
    failed = take_runs(&s, runs, error);
    mst_facts_free(&s.facts);
    return failed;
}

/* ---- %% study --------------------------------------------------------------------- */

static int take_study(const struct section *s, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = {
        "title", "number", "year", "language", "original", "question", "limit", NULL,
    };
    struct mst_study *study = s->study;
    const struct { const char *key; char **to; } texts[] = {
        { "year", &study->year }, { "language", &study->language },
        { "original", &study->original }, { "question", &study->question },
    };
    uint64_t number;
    size_t i;

    if (expect(s, keys, false, error) != 0 ||
        take_text(s, "title", true, &study->title, error) != 0 ||
        take_number(s, "number", 1000, 0, &number, error) != 0 ||
        take_seconds(s, "limit", 0, &study->limit_ns, error) != 0)
        return -1;
    study->number = (unsigned)number;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (take_text(s, texts[i].key, false, texts[i].to, error) != 0)
            return -1;
        if (*texts[i].to == NULL && (*texts[i].to = strdup("")) == NULL)
            return no_memory(study, error);
    }
    return 0;
}

static int read_study_section(struct mst_study *study, char error[MST_ERROR_MAX])
{
    const struct mst_text_section *section = mst_text_find(&study->text, "study", NULL);
    struct section s = { .study = study, .size = study->size };
    int failed;

    if (section == NULL)
        return mst_text_fail(&study->text, 1, error, "expected a section %%%% study, found none");
    s.line = section->line;
    if (mst_facts_read(&s.facts, &study->text, section, error) != 0)
        return -1;
    failed = take_study(&s, error);
    mst_facts_free(&s.facts);
    return failed;
}

/* ---- %% published ----------------------------------------------------------------- */

static int add_published(struct mst_study *study, const struct mst_text_section *section,
                         char error[MST_ERROR_MAX])
{
    struct mst_published *published = &study->published[study->published_count];

    *published = (struct mst_published){ 0 };
    study->published_count++;
    if (name_section(study, section, &published->name, error) != 0 ||
        mst_table_read(&published->rows, &study->text, section, error) != 0)
        return -1;
    if (mst_study_runs(study, published->name) == NULL)
        return mst_text_fail(&study->text, section->line, error, "there is no section runs %s that "
                             "these figures could be of", published->name);
    if (published->rows.count < 2)
        return mst_text_fail(&study->text, section->line, error, "expected a line with the names "
                             "of the columns, and one or more with figures");
    return 0;
}

/* ---- %% claims -------------------------------------------------------------------- */

/* A line's words, one after the other. */
struct claim_line {
    const struct mst_study *study;
    const struct mst_row   *row;
    size_t                  at;
};

static const char *next(struct claim_line *line)
{
    return line->at < line->row->count ? line->row->words[line->at++] : "";
}

static int not_a_claim(const struct claim_line *line, char error[MST_ERROR_MAX])
{
    return mst_text_fail(&line->study->text, line->row->line, error, "expected RUNS: STACK > STACK "
                         "by FIGURE [times N | apart N] \"what the original says\" (or <, or ~ "
                         "for about the same), found \"%.60s\"",
                         line->at > 0 ? line->row->words[line->at - 1] : "");
}

static bool read_real(const char *word, double *number)
{
    char *end;

    *number = strtod(word, &end);
    return (isdigit((unsigned char)word[0]) || word[0] == '.') && *end == '\0';
}

/* "KEY=VALUE,KEY=VALUE]": cuts it up. */
static bool take_keys(struct mst_claim_side *side, char *text)
{
    char *save = NULL, *pair, *equals;
    size_t length = strlen(text), room = length / 2 + 1;

    if (length < 2 || text[length - 1] != ']')
        return false;
    text[length - 1] = '\0';
    side->keys = calloc(room, sizeof *side->keys);
    side->values = calloc(room, sizeof *side->values);
    if (side->keys == NULL || side->values == NULL)
        return false;
    for (pair = strtok_r(text, ",", &save); pair != NULL; pair = strtok_r(NULL, ",", &save)) {
        equals = strchr(pair, '=');
        if (equals == NULL || equals == pair)
            return false;
        *equals = '\0';
        side->keys[side->key_count] = strdup(pair);
        side->values[side->key_count] = strdup(equals + 1);
        side->key_count++;
        if (side->keys[side->key_count - 1] == NULL || side->values[side->key_count - 1] == NULL)
            return false;
    }
    return side->key_count > 0;
}

static bool take_side(struct mst_claim_side *side, const char *word)
{
    char *copy, *bracket, *at;
    bool good = true;

    if (read_real(word, &side->number))
        return true;
    if (word[0] == '\0' || (copy = strdup(word)) == NULL)
        return false;
    bracket = strchr(copy, '[');
    if (bracket != NULL) {
        *bracket = '\0';
        good = take_keys(side, bracket + 1);
    }
    at = strchr(copy, '@');
    if (at != NULL) {
        *at = '\0';
        side->workload = strdup(at + 1);
        good = good && side->workload != NULL && at[1] != '\0';
    }
    side->stack = copy;
    return good && copy[0] != '\0';
}

static bool take_relation(struct mst_claim *claim, const char *word)
{
    static const char relations[] = "><~";
    const char *at = word[0] != '\0' && word[1] == '\0' ? strchr(relations, word[0]) : NULL;

    if (at != NULL)
        claim->relation = (enum mst_claim_relation)(at - relations);
    return at != NULL;
}

/* The words in their order. */
static bool take_words(struct mst_claim *claim, struct claim_line *line)
{
    const char *word = next(line);
    size_t length = strlen(word);

    if (length < 2 || word[length - 1] != ':')
        return false;
    claim->runs = strndup(word, length - 1);
    if (claim->runs == NULL || !take_side(&claim->left, next(line)) ||
        claim->left.stack == NULL || !take_relation(claim, next(line)) ||
        !take_side(&claim->right, next(line)) || strcmp(next(line), "by") != 0)
        return false;
    word = next(line);
    claim->figure = word[0] != '\0' ? strdup(word) : NULL;
    word = next(line);
    if (strcmp(word, "times") == 0 || strcmp(word, "apart") == 0) {
        double *number = word[0] == 't' ? &claim->times : &claim->apart;

        if (!read_real(next(line), number) || *number <= 0)
            return false;
        word = next(line);
    }
    claim->sentence = word[0] != '\0' ? strdup(word) : NULL;
    return claim->figure != NULL && claim->sentence != NULL && line->at == line->row->count;
}

static int add_claim(struct mst_study *study, const struct mst_row *row,
                     char error[MST_ERROR_MAX])
{
    struct mst_claim *claim = &study->claims[study->claim_count];
    struct claim_line line = { study, row, 0 };

    *claim = (struct mst_claim){ .line = row->line };
    study->claim_count++;
    if (!take_words(claim, &line))
        return not_a_claim(&line, error);
    if (mst_study_runs(study, claim->runs) == NULL)
        return mst_text_fail(&study->text, row->line, error, "there is no section runs %s that "
                             "this could be said of", claim->runs);
    return 0;
}

static int add_claims(struct mst_study *study, const struct mst_text_section *section,
                      char error[MST_ERROR_MAX])
{
    struct mst_rows rows = { 0 };
    struct mst_claim *claims;
    int failed = 0;
    size_t i;

    if (mst_rows_read(&rows, &study->text, section, error) != 0)
        return -1;
    claims = reallocarray(study->claims, study->claim_count + rows.count + 1, sizeof *claims);
    if (claims != NULL)
        study->claims = claims;
    else
        failed = no_memory(study, error);
    for (i = 0; i < rows.count && !failed; i++)
        failed = add_claim(study, &rows.items[i], error);
    mst_rows_free(&rows);
    return failed;
}

/* ---- the file --------------------------------------------------------------------- */

/* Sections of one kind, each to whoever reads it. */
static int each(struct mst_study *study, const char *kind,
                int (*add)(struct mst_study *, const struct mst_text_section *,
                           char error[MST_ERROR_MAX]), char error[MST_ERROR_MAX])
{
    size_t i;

    for (i = 0; i < study->text.count; i++)
        if (strcmp(study->text.sections[i].kind, kind) == 0 &&
            add(study, &study->text.sections[i], error) != 0)
            return -1;
    return 0;
}

static int check_kinds(const struct mst_study *study, char error[MST_ERROR_MAX])
{
    static const char *const kinds[] = { "study", "runs", "published", "claims", "notes" };
    size_t i, k;

    for (i = 0; i < study->text.count; i++) {
        for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(study->text.sections[i].kind, kinds[k]) == 0)
                break;
        if (k == sizeof kinds / sizeof *kinds)
            return mst_text_fail(&study->text, study->text.sections[i].line, error, "expected a "
                                 "section study, runs, published, claims or notes, found \"%.60s\"",
                                 study->text.sections[i].kind);
    }
    return 0;
}

/* What the text says, which has been read. */
static int read_sections(struct mst_study *study, char error[MST_ERROR_MAX])
{
    const struct mst_text_section *notes = mst_text_find(&study->text, "notes", NULL);
    size_t count = study->text.count;

    study->notes = notes != NULL ? notes->body : "";
    study->runs = calloc(count + 1, sizeof *study->runs);
    study->published = calloc(count + 1, sizeof *study->published);
    if (study->name == NULL || study->runs == NULL || study->published == NULL)
        return no_memory(study, error);
    if (check_kinds(study, error) != 0 || read_study_section(study, error) != 0 ||
        each(study, "runs", add_runs, error) != 0 ||
        each(study, "published", add_published, error) != 0 ||
        each(study, "claims", add_claims, error) != 0)
        return -1;
    if (study->runs_count == 0)
        return mst_text_fail(&study->text, 1, error, "expected a section %%%% runs NAME, found "
                             "none");
    return 0;
}

static char *name_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base), suffix = strlen(MST_STUDY_SUFFIX);

    if (length > suffix && strcmp(base + length - suffix, MST_STUDY_SUFFIX) == 0)
        length -= suffix;
    return strndup(base, length);
}

static int finish(struct mst_study *study, char error[MST_ERROR_MAX])
{
    int failed = read_sections(study, error);

    if (failed)
        mst_study_free(study);
    return failed;
}

int mst_study_read(struct mst_study *study, const char *path, enum mst_study_size size,
                   char error[MST_ERROR_MAX])
{
    *study = (struct mst_study){ .size = size };
    if (mst_text_read(&study->text, path, error) != 0)
        return -1;
    study->name = name_of_path(path);
    return finish(study, error);
}

int mst_study_parse(struct mst_study *study, const char *name, const char *text,
                    enum mst_study_size size, char error[MST_ERROR_MAX])
{
    *study = (struct mst_study){ .size = size };
    if (mst_text_parse(&study->text, name, text, strlen(text), error) != 0)
        return -1;
    study->name = strdup(name);
    return finish(study, error);
}

static void free_runs(struct mst_runs *runs)
{
    size_t i;

    for (i = 0; i < runs->variable_count; i++) {
        free(runs->variables[i].stack);
        free(runs->variables[i].name);
        free_list(runs->variables[i].values);
    }
    free(runs->variables);
    free_list(runs->stacks);
    free_list(runs->workloads);
    free(runs->name);
    free(runs->title);
    free(runs->load);
    free(runs->from);
    free(runs->to);
    free(runs->over);
}

static void free_side(struct mst_claim_side *side)
{
    size_t i;

    for (i = 0; i < side->key_count; i++) {
        free(side->keys[i]);
        free(side->values[i]);
    }
    free(side->keys);
    free(side->values);
    free(side->stack);
    free(side->workload);
}

void mst_study_free(struct mst_study *study)
{
    size_t i;

    for (i = 0; i < study->runs_count; i++)
        free_runs(&study->runs[i]);
    for (i = 0; i < study->published_count; i++) {
        free(study->published[i].name);
        mst_rows_free(&study->published[i].rows);
    }
    for (i = 0; i < study->claim_count; i++) {
        free(study->claims[i].runs);
        free_side(&study->claims[i].left);
        free_side(&study->claims[i].right);
        free(study->claims[i].figure);
        free(study->claims[i].sentence);
    }
    free(study->runs);
    free(study->published);
    free(study->claims);
    free(study->name);
    free(study->title);
    free(study->year);
    free(study->language);
    free(study->original);
    free(study->question);
    mst_text_free(&study->text);
    *study = (struct mst_study){ 0 };
}

const struct mst_runs *mst_study_runs(const struct mst_study *study, const char *name)
{
    size_t i;

    for (i = 0; i < study->runs_count; i++)
        if (study->runs[i].name != NULL && strcmp(study->runs[i].name, name) == 0)
            return &study->runs[i];
    return NULL;
}

const struct mst_published *mst_study_published(const struct mst_study *study, const char *runs)
{
    size_t i;

    for (i = 0; i < study->published_count; i++)
        if (strcmp(study->published[i].name, runs) == 0)
            return &study->published[i];
    return NULL;
}

int mst_published_column(const struct mst_published *published, const char *name)
{
    size_t i;

    for (i = 0; i < published->rows.items[0].count; i++)
        if (strcmp(published->rows.items[0].words[i], name) == 0)
            return (int)i;
    return -1;
}

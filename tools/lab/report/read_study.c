/* read_study.c - reads a study that was run from its archive: see cases.h. */
#include "lab/report/cases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "archive/states.h"
#include "base/array.h"
#include "base/strings.h"
#include "lab/files/outcome.h"
#include "lab/files/stack.h"
#include "lab/report/spawn_curve.h"

#define KEYS_MAX 100u   /* variables of a case */

static int no_memory(char error[MST_ERROR_MAX])
{
    return mst_fail(error, "out of memory for the study's report");
}

static int unreadable(const struct mst_study_data *data, char error[MST_ERROR_MAX])
{
    return mst_archive_unreadable(data->archive, error);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- the study -------------------------------------------------------------------- */

bool mst_study_in(struct mst_archive *archive)
{
    sqlite3 *db = mst_archive_db(archive);
    struct mst_query q;
    bool any;

    if (!mst_query_has_table(db, "studies"))
        return false;
    q = mst_query_ask(db, "SELECT 1 FROM studies WHERE id >= :id LIMIT 1", 0);
    any = mst_query_next(&q);
    return mst_query_done(&q) && any;
}

static int read_study(struct mst_study_data *data, char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT id, name, size, seed, only, text, started_ns, ended_ns, interrupted, "
        "(SELECT count(*) FROM studies) AS studies FROM studies WHERE id >= :id "
        "ORDER BY id DESC LIMIT 1", 0);
    enum mst_study_size size;
    int failed = -1;

    if (mst_query_next(&q)) {
        data->id = mst_row_id(&q, "id");
        data->size = mst_row_string(&q, "size");
        data->seed = mst_row_number(&q, "seed");
        data->only = mst_row_string(&q, "only");
        data->started_ns = mst_row_number(&q, "started_ns");
        data->ended_ns = mst_row_number(&q, "ended_ns");
        data->interrupted = mst_row_number(&q, "interrupted");
        data->others = (size_t)mst_row_number(&q, "studies") - 1;
        size = is_same(data->size, mst_study_size_names[MST_STUDY_QUICK]) ? MST_STUDY_QUICK
                                                                          : MST_STUDY_FULL;
        failed = mst_study_parse(&data->study, mst_row_text(&q, "name"), mst_row_text(&q, "text"),
                                 size, error);
    } else {
        snprintf(error, MST_ERROR_MAX, "there is no study in %s", data->path);
    }
    return mst_query_done(&q) ? failed : unreadable(data, error);
}

/* ---- cases ------------------------------------------------------------------------ */

static void free_case(struct mst_study_case *c)
{
    mst_strings_free_items(c->keys);
    mst_strings_free_items(c->values);
    free(c->stack);
    free(c->workload);
    free(c->title);
    free(c->runs);
    free(c->mpm);
    free(c->sapi);
}

/* Takes the variables from the JSON object: strings as they are, numbers as they are written. */
static bool read_keys(struct mst_study_case *c, const char *parameters)
{
    json_t *object = parameters != NULL ? json_loads(parameters, 0, NULL) : NULL, *value;
    const char *key;
    bool fine = json_is_object(object) && json_object_size(object) <= KEYS_MAX;

    c->keys = calloc(json_object_size(object) + 1, sizeof *c->keys);
    c->values = calloc(json_object_size(object) + 1, sizeof *c->values);
    fine = fine && c->keys != NULL && c->values != NULL;
    if (fine)
        json_object_foreach(object, key, value) {
            c->keys[c->key_count] = strdup(key);
            c->values[c->key_count] = json_is_string(value) ? strdup(json_string_value(value)) :
                                      json_dumps(value, JSON_ENCODE_ANY);
            fine = fine && c->keys[c->key_count] != NULL && c->values[c->key_count] != NULL;
            c->key_count++;
            if (!fine)
                break;
        }
    json_decref(object);
    return fine;
}

/* Counts the servers of the stack's file. */
static void count_servers(struct mst_study_servers *servers, const struct mst_text *text)
{
    size_t i;

    for (i = 0; i < text->count; i++) {
        if (!mst_stack_is_server(&text->sections[i]))
            continue;
        if (!mst_stack_has_board(text->sections[i].kind))
            servers->others++;
        else if (strcmp(text->sections[i].kind, "apache") == 0)
            servers->apache++;
        else
            servers->fpm++;
    }
}

/* Takes the title and the servers from the stack's file as it was when the study was run. Without
 * one, the title is the stack's name. */
static void read_stack(struct mst_study_data *data, struct mst_study_case *c)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT text FROM study_files WHERE study_id = :id AND kind = 'stack' AND name = :name",
        data->id);
    struct mst_text text;
    struct mst_facts facts = { 0 };
    char ignored[MST_ERROR_MAX];
    const struct mst_text_section *section;
    const char *contents;

    mst_query_set_text(&q, ":name", c->stack);
    contents = mst_query_next(&q) ? mst_row_text(&q, "text") : NULL;
    if (contents != NULL &&
        mst_text_parse(&text, c->stack, contents, strlen(contents), ignored) == 0) {
        section = mst_text_find(&text, "stack", NULL);
        if (section != NULL && mst_facts_read(&facts, &text, section, ignored) == 0)
            c->title = strdup(mst_facts_value(&facts, "title", c->stack));
        count_servers(&c->servers, &text);
        mst_facts_free(&facts);
        mst_text_free(&text);
    }
    mst_query_done(&q);
    if (c->title == NULL)
        c->title = strdup(c->stack);
}

static struct mst_study_section *section_of(struct mst_study_data *data, const char *runs)
{
    size_t i;

    for (i = 0; i < data->section_count; i++)
        if (is_same(data->sections[i].runs->name, runs))
            return &data->sections[i];
    return NULL;
}

static struct mst_study_case *find_case(struct mst_study_section *section,
                                        const struct mst_study_case *like)
{
    size_t i, k;

    for (i = 0; i < section->case_count; i++) {
        struct mst_study_case *c = &section->cases[i];

        if (strcmp(c->stack, like->stack) != 0 || strcmp(c->workload, like->workload) != 0 ||
            c->key_count != like->key_count)
            continue;
        for (k = 0; k < c->key_count; k++)
            if (!is_same(mst_study_value(like, c->keys[k]), c->values[k]))
                break;
        if (k == c->key_count)
            return c;
    }
    return NULL;
}

/* The case of a step, which is added if it is new. NULL: out of memory, or the step's parameters
 * are not a JSON object. */
static struct mst_study_case *case_of(struct mst_study_data *data,
                                      struct mst_study_section *section, struct mst_query *q)
{
    struct mst_study_case c = { .x = NAN, .stack = mst_row_string(q, "stack"),
                                .workload = mst_row_string(q, "workload") };
    struct mst_study_case *kept, *old;

    if (c.stack == NULL || c.workload == NULL || !read_keys(&c, mst_row_text(q, "parameters"))) {
        free_case(&c);
        return NULL;
    }
    old = find_case(section, &c);
    if (old != NULL) {
        free_case(&c);
        return old;
    }
    read_stack(data, &c);
    kept = c.title != NULL ? mst_append(&section->cases, &section->case_count, sizeof *kept) : NULL;
    if (kept == NULL) {
        free_case(&c);
        return NULL;
    }
    *kept = c;
    return kept;
}

/* ---- steps ------------------------------------------------------------------------ */

/* Takes MPM and SAPI from what the servers said of themselves. */
static void name_servers(struct mst_study_case *c, const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        if (c->mpm == NULL && s->servers[i].mpm != NULL)
            c->mpm = strdup(s->servers[i].mpm);
        if (c->sapi == NULL && s->servers[i].sapi != NULL)
            c->sapi = strdup(s->servers[i].sapi);
    }
}

static int add_run(struct mst_study_data *data, const struct mst_study_section *section,
                   struct mst_study_case *c, struct mst_query *q, char error[MST_ERROR_MAX])
{
    struct mst_study_run *run = mst_append(&c->runs, &c->run_count, sizeof *run);
    sqlite3 *db = mst_archive_db(data->archive);
    struct mst_summary summary = { 0 };
    int failed = -1;

    if (run == NULL)
        return no_memory(error);
    *run = (struct mst_study_run){
        .run_id = mst_row_id(q, "run_id"), .page_bytes = mst_row_number(q, "page_bytes"),
        .repetition = (unsigned)mst_row_number(q, "repetition"),
        .block = (unsigned)mst_row_number(q, "block"),
    };
    if (mst_summary_make(&summary, data->archive, run->run_id, error) == 0) {
        bool fine = mst_study_measure(run->values, &summary, &c->servers, db);

        if (section->runs->kind == MST_RUNS_SPAWN)
            fine = fine && mst_spawn_measure(run->values, &summary, db);
        name_servers(c, &summary);
        c->in_part |= !mst_study_is_whole(&summary, &c->servers, db);
        failed = fine ? 0 : unreadable(data, error);
    } else {
        c->run_count--;
    }
    mst_summary_free(&summary);
    return failed;
}

/* "CONCURRENCY 50, WORKERS 300". */
static char *words_of(const struct mst_study_case *c)
{
    char *words = strdup(c->workload), *more;
    size_t i;

    for (i = 0; words != NULL && i < c->key_count; i++) {
        if (asprintf(&more, "%s, %s %s", words, c->keys[i], c->values[i]) < 0)
            more = NULL;
        free(words);
        words = more;
    }
    return words;
}

static int add_unrun(struct mst_study_data *data, const struct mst_study_case *c,
                     struct mst_query *q, char error[MST_ERROR_MAX])
{
    struct mst_study_unrun *unrun = mst_append(&data->unrun, &data->unrun_count, sizeof *unrun);

    if (unrun == NULL)
        return no_memory(error);
    *unrun = (struct mst_study_unrun){
        .section = mst_row_string(q, "runs"), .stack = mst_row_string(q, "stack"),
        .what = words_of(c), .state = mst_row_string(q, "state"),
        .failure = mst_row_string(q, "failure"),
        .repetition = (unsigned)mst_row_number(q, "repetition"),
    };
    return 0;
}

static int add_step(struct mst_study_data *data, struct mst_query *q, char error[MST_ERROR_MAX])
{
    struct mst_study_section *section = section_of(data, mst_row_text(q, "runs"));
    enum mst_step_state state = mst_step_state_of(mst_row_text(q, "state"));
    struct mst_study_case *c;

    if (section == NULL)
        return mst_fail(error, "the study in %s has a step of a section \"%.80s\" that its text "
                        "has not", data->path, mst_row_text(q, "runs"));
    c = case_of(data, section, q);
    if (c == NULL)
        return mst_fail(error, "expected the parameters of a step in %s to be a JSON object, found "
                        "%.80s", data->path, mst_row_text(q, "parameters"));
    c->planned++;
    data->steps++;
    c->failed += state == MST_STEP_STATE_FAILED;
    c->skipped += state == MST_STEP_STATE_SKIPPED;
    if (mst_step_is_discarded(state))
        return add_unrun(data, c, q, error);
    if (!mst_step_counts(state, mst_row_number(q, "run_id"))) {
        c->waiting++;
        return 0;
    }
    data->done++;
    return add_run(data, section, c, q, error);
}

static int read_steps(struct mst_study_data *data, char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT runs, stack, workload, parameters, state, run_id, repetition, block, page_bytes, "
        "failure FROM steps WHERE study_id = :id ORDER BY repetition, ordinal",
        data->id);
    int failed = 0;

    while (!failed && mst_query_next(&q)) {
        if (data->steps == MST_STEPS_MAX)
            mst_query_refuse(&q, "the study in it has more steps than there can be");
        else
            failed = add_step(data, &q, error);
    }
    if (!mst_query_done(&q) && !failed)
        failed = unreadable(data, error);
    return failed;
}

/* ---- all of it -------------------------------------------------------------------- */

int mst_study_load(struct mst_study_data *data, struct mst_archive *archive, const char *path,
                   char error[MST_ERROR_MAX])
{
    size_t i;

    *data = (struct mst_study_data){ .archive = archive, .path = path };
    if (read_study(data, error) != 0)
        return -1;
    data->sections = calloc(data->study.runs_count, sizeof *data->sections);
    if (data->sections == NULL)
        return no_memory(error);
    for (data->section_count = 0; data->section_count < data->study.runs_count;
         data->section_count++) {
        const struct mst_runs *runs = &data->study.runs[data->section_count];

        data->sections[data->section_count] = (struct mst_study_section){
            .runs = runs, .published = mst_study_published(&data->study, runs->name),
            .study = &data->study };
    }
    if (read_steps(data, error) != 0)
        return -1;
    for (i = 0; i < data->section_count; i++)
        if (!mst_study_make_lines(&data->sections[i]))
            return no_memory(error);
    return 0;
}

static void free_section(struct mst_study_section *section)
{
    size_t i;

    for (i = 0; i < section->case_count; i++)
        free_case(&section->cases[i]);
    for (i = 0; i < section->line_count; i++)
        free(section->lines[i].label);
    free(section->cases);
    free(section->lines);
    free(section->telling);
}

void mst_study_unload(struct mst_study_data *data)
{
    size_t i;

    for (i = 0; i < data->section_count; i++)
        free_section(&data->sections[i]);
    for (i = 0; i < data->unrun_count; i++) {
        free(data->unrun[i].section);
        free(data->unrun[i].stack);
        free(data->unrun[i].what);
        free(data->unrun[i].state);
        free(data->unrun[i].failure);
    }
    free(data->sections);
    free(data->unrun);
    free(data->size);
    free(data->only);
    mst_study_free(&data->study);
}

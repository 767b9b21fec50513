/* read_study.c - reads a study that was run from its archive: see cases.h. */
#include "lab/report/cases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "archive/states.h"
#include "lab/files/outcome.h"
#include "lab/files/stack.h"
#include "lab/report/spawn_curve.h"

#define KEYS_MAX 100u   /* variables of a case */

static int unreadable(const struct mst_study_data *data, char error[MST_ERROR_MAX])
{
    return mst_archive_unreadable(data->archive, error);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A copy of a text of the row; NULL: it has none. */
static const char *text_of(const struct mst_study_data *data, struct mst_query *q,
                           const char *column)
{
    return apr_pstrdup(data->pool, mst_row_text(q, column));
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
        data->size = text_of(data, &q, "size");
        data->seed = mst_row_number(&q, "seed");
        data->only = text_of(data, &q, "only");
        data->started_ns = mst_row_number(&q, "started_ns");
        data->ended_ns = mst_row_number(&q, "ended_ns");
        data->interrupted = mst_row_number(&q, "interrupted");
        data->others = (size_t)mst_row_number(&q, "studies") - 1;
        size = is_same(data->size, mst_study_size_names[MST_STUDY_QUICK]) ? MST_STUDY_QUICK
                                                                          : MST_STUDY_FULL;
        failed = mst_study_parse(data->pool, &data->study, mst_row_text(&q, "name"),
                                 mst_row_text(&q, "text"), size, error);
    } else {
        snprintf(error, MST_ERROR_MAX, "there is no study in %s", data->path);
    }
    return mst_query_done(&q) ? failed : unreadable(data, error);
}

/* ---- cases ------------------------------------------------------------------------ */

/* Takes the variables from the JSON object: strings as they are, numbers as they are written.
 * False: it is not one. */
static bool read_keys(apr_pool_t *pool, struct mst_study_case *c, const char *parameters)
{
    json_t *object = parameters != NULL ? json_loads(parameters, 0, NULL) : NULL, *value;
    bool fine = json_is_object(object) && json_object_size(object) <= KEYS_MAX;
    const char *key;
    char *written;

    if (fine) {
        c->keys = apr_pcalloc(pool, (json_object_size(object) + 1) * sizeof *c->keys);
        c->values = apr_pcalloc(pool, (json_object_size(object) + 1) * sizeof *c->values);
        json_object_foreach(object, key, value) {
            written = json_is_string(value) ? NULL : mst_have(json_dumps(value, JSON_ENCODE_ANY));
            c->keys[c->key_count] = apr_pstrdup(pool, key);
            c->values[c->key_count++] = apr_pstrdup(pool, written != NULL ? written
                                                          : json_string_value(value));
            free(written);
        }
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
    struct mst_facts facts;
    char ignored[MST_ERROR_MAX];
    const struct mst_text_section *section;
    const char *contents;

    mst_query_set_text(&q, ":name", c->stack);
    contents = mst_query_next(&q) ? mst_row_text(&q, "text") : NULL;
    c->title = c->stack;
    if (contents != NULL &&
        mst_text_parse(data->pool, &text, c->stack, contents, strlen(contents), ignored) == 0) {
        section = mst_text_find(&text, "stack", NULL);
        if (section != NULL && mst_facts_read(&facts, &text, section, ignored) == 0)
            c->title = mst_facts_value(&facts, "title", c->stack);
        count_servers(&c->servers, &text);
    }
    mst_query_done(&q);
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

/* The case of a step, which is added if it is new. NULL: the step's parameters are not a JSON
 * object. */
static struct mst_study_case *case_of(struct mst_study_data *data,
                                      struct mst_study_section *section, struct mst_query *q)
{
    struct mst_study_case c = { .x = NAN, .stack = text_of(data, q, "stack"),
                                .workload = text_of(data, q, "workload") }, *known;

    if (c.stack == NULL || c.workload == NULL ||
        !read_keys(data->pool, &c, mst_row_text(q, "parameters")))
        return NULL;
    known = find_case(section, &c);
    if (known != NULL)
        return known;
    read_stack(data, &c);
    known = mst_pool_append(data->pool, &section->cases, &section->case_count, sizeof *known);
    *known = c;
    return known;
}

/* ---- steps ------------------------------------------------------------------------ */

/* Takes MPM and SAPI from what the servers said of themselves. */
static void name_servers(apr_pool_t *pool, struct mst_study_case *c, const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        if (c->mpm == NULL)
            c->mpm = apr_pstrdup(pool, s->servers[i].mpm);
        if (c->sapi == NULL)
            c->sapi = apr_pstrdup(pool, s->servers[i].sapi);
    }
}

static int add_run(struct mst_study_data *data, const struct mst_study_section *section,
                   struct mst_study_case *c, struct mst_query *q, char error[MST_ERROR_MAX])
{
    struct mst_study_run *run = mst_pool_append(data->pool, &c->runs, &c->run_count, sizeof *run);
    sqlite3 *db = mst_archive_db(data->archive);
    struct mst_summary summary = { 0 };
    int failed = -1;

    *run = (struct mst_study_run){
        .run_id = mst_row_id(q, "run_id"), .page_bytes = mst_row_number(q, "page_bytes"),
        .repetition = (unsigned)mst_row_number(q, "repetition"),
        .block = (unsigned)mst_row_number(q, "block"),
    };
    if (mst_summary_make(&summary, data->archive, run->run_id, error) == 0) {
        bool fine = mst_study_measure(run->values, &summary, &c->servers, db);

        if (section->runs->kind == MST_RUNS_SPAWN)
            fine = fine && mst_spawn_measure(run->values, &summary, db);
        name_servers(data->pool, c, &summary);
        c->in_part |= !mst_study_is_whole(&summary, &c->servers, db);
        failed = fine ? 0 : unreadable(data, error);
    }
    mst_summary_free(&summary);
    return failed;
}

/* "CONCURRENCY 50, WORKERS 300". */
static const char *words_of(apr_pool_t *pool, const struct mst_study_case *c)
{
    const char *words = c->workload;
    size_t i;

    for (i = 0; i < c->key_count; i++)
        words = apr_pstrcat(pool, words, ", ", c->keys[i], " ", c->values[i], NULL);
    return words;
}

static void add_unrun(struct mst_study_data *data, const struct mst_study_case *c,
                      struct mst_query *q)
{
    struct mst_study_unrun *unrun = mst_pool_append(data->pool, &data->unrun, &data->unrun_count,
                                                    sizeof *unrun);

    *unrun = (struct mst_study_unrun){
        .section = text_of(data, q, "runs"), .stack = text_of(data, q, "stack"),
        .what = words_of(data->pool, c), .state = text_of(data, q, "state"),
        .failure = text_of(data, q, "failure"),
        .repetition = (unsigned)mst_row_number(q, "repetition"),
    };
}

static int add_step(struct mst_study_data *data, struct mst_query *q, char error[MST_ERROR_MAX])
{
    struct mst_study_section *section = section_of(data, mst_row_text(q, "runs"));
    enum mst_step_state state = mst_step_state_of(mst_row_text(q, "state"));
    struct mst_study_case *c;

    if (section == NULL)
        return mst_fail(error, "the study in %s has a step of the section \"%.80s\", but its text "
                        "does not have this section", data->path, mst_row_text(q, "runs"));
    c = case_of(data, section, q);
    if (c == NULL)
        return mst_fail(error, "expected the parameters of a step in %s to be a JSON object, found "
                        "%.80s", data->path, mst_row_text(q, "parameters"));
    c->planned++;
    data->steps++;
    c->failed += state == MST_STEP_STATE_FAILED;
    c->skipped += state == MST_STEP_STATE_SKIPPED;
    if (mst_step_is_discarded(state)) {
        add_unrun(data, c, q);
        return 0;
    }
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

int mst_study_load(apr_pool_t *pool, struct mst_study_data *data, struct mst_archive *archive,
                   const char *path, char error[MST_ERROR_MAX])
{
    size_t i;

    *data = (struct mst_study_data){ .pool = pool, .archive = archive, .path = path };
    if (read_study(data, error) != 0)
        return -1;
    data->section_count = data->study.runs_count;
    data->sections = apr_pcalloc(pool, data->section_count * sizeof *data->sections);
    for (i = 0; i < data->section_count; i++) {
        const struct mst_runs *runs = &data->study.runs[i];

        data->sections[i] = (struct mst_study_section){
            .pool = pool, .runs = runs, .study = &data->study,
            .published = mst_study_published(&data->study, runs->name),
        };
    }
    if (read_steps(data, error) != 0)
        return -1;
    for (i = 0; i < data->section_count; i++)
        mst_study_make_lines(&data->sections[i]);
    return 0;
}

/* store.c - the study in its archive: what it is made from, its steps, and how to go on with
 * one that was interrupted. See lab.h. */
#include "lab/study/lab.h"

#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "base/clock.h"
#include "console/diag.h"
#include "lab/files/paths.h"

/* Takes a file that the study is made from. Returns an exit status, told where it is not OK. */
typedef int study_file(struct mst_lab *lab, const char *kind, const char *name, const char *text);

struct included {
    struct mst_lab *lab;
    study_file *take;
};

static int take_include(void *context, const char *path)
{
    const struct included *included = context;
    const char *name = strrchr(path, '/') + 1;
    char error[MST_ERROR_MAX], *text;
    size_t length;

    text = mst_text_load(included->lab->pool, path, &length, error);
    if (text == NULL)
        return mst_failed(MST_EXIT_BAD, "%s", error);
    return included->take(included->lab, "include", name, text);
}

/* All that the study is made from, but its own file: the stacks, what they may include, and
 * the workloads. */
static int each_file(struct mst_lab *lab, study_file *take)
{
    const struct mst_schedule *s = &lab->schedule;
    struct included included = { lab, take };
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < s->stack_count && status == MST_EXIT_OK; i++)
        status = take(lab, "stack", s->stacks[i]->name, s->stacks[i]->text.contents);
    for (i = 0; i < s->workload_count && status == MST_EXIT_OK; i++)
        status = take(lab, "workload", s->workloads[i]->name, s->workloads[i]->text.contents);
    return status != MST_EXIT_OK ? status : mst_lab_each_include(take_include, &included);
}

static int store_file(struct mst_lab *lab, const char *kind, const char *name, const char *text)
{
    return mst_archive_add_study_file(lab->archive, lab->study_id, kind, name, text) == 0
           ? MST_EXIT_OK : mst_lab_archive_failed(lab);
}

static int store_steps(struct mst_lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    size_t i;

    for (i = 0; i < s->step_count; i++) {
        const struct mst_step *step = &s->steps[i];
        const struct mst_archive_step row = {
            .ordinal = step->ordinal, .block = step->block, .repetition = step->repetition,
            .start = step->start, .runs = step->of->runs->name, .stack = step->of->stack->name,
            .workload = step->of->workload->name, .load = step->of->load,
            .parameters = step->of->parameters,
        };

        if (mst_archive_add_step(lab->archive, lab->study_id, &row) != 0)
            return -1;
    }
    return 0;
}

int mst_lab_store_study(struct mst_lab *lab)
{
    char *only = lab->options->only.count > 0 ? mst_list_join(lab->pool, &lab->options->only)
                                              : NULL;
    const struct mst_archive_study study = {
        .name = lab->study.name, .title = lab->study.title,
        .size = mst_study_size_names[lab->study.size], .only = only, .directory = lab->beside,
        .text = lab->study.text.contents, .seed = lab->schedule.seed,
        .started_ns = mst_realtime_ns(),
    };
    int status = MST_EXIT_OK;

    if (mst_archive_begin_study(lab->archive, &study, &lab->study_id) != 0)
        status = mst_lab_archive_failed(lab);
    if (status == MST_EXIT_OK)
        status = each_file(lab, store_file);
    if (status == MST_EXIT_OK &&
        (store_steps(lab) != 0 || mst_archive_commit(lab->archive) != 0))
        status = mst_lab_archive_failed(lab);
    return status;
}

/* ---- going on with one --------------------------------------------------------------- */

/* Reads the study from the archive as it was then; the stacks wanted go to *only. */
static int reread_study(struct mst_lab *lab, uint64_t *seed, char **only)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT id, name, size, seed, only, directory, text FROM studies WHERE id >= :id "
        "ORDER BY id DESC LIMIT 1", 0);
    int status = MST_EXIT_USAGE;
    char error[MST_ERROR_MAX];
    const char *size, *text;

    if (!mst_query_next(&q)) {
        mst_error("there is no study in %s/" MST_STUDY_ARCHIVE, lab->directory);
        goto done;
    }
    lab->study_id = mst_row_id(&q, "id");
    size = mst_row_text(&q, "size");
    *seed = mst_row_number(&q, "seed");
    text = mst_row_text(&q, "only");
    *only = apr_pstrdup(lab->pool, text);
    text = mst_row_text(&q, "directory");
    lab->beside = apr_pstrdup(lab->pool, text);
    if (mst_study_parse(lab->pool, &lab->study, mst_row_text(&q, "name"), mst_row_text(&q, "text"),
                        size != NULL && strcmp(size, "full") == 0 ? MST_STUDY_FULL
                                                                  : MST_STUDY_QUICK, error) == 0)
        status = MST_EXIT_OK;
    else
        mst_error("%s", error);
done:
    mst_query_done(&q);
    return status;
}

/* That the file still is what it was. */
static int check_file(struct mst_lab *lab, const char *kind, const char *name, const char *text)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT text FROM study_files WHERE study_id = :id AND kind = :kind AND name = :name",
        lab->study_id);
    const char *then = NULL;
    bool same;

    mst_query_set_text(&q, ":kind", kind);
    mst_query_set_text(&q, ":name", name);
    if (mst_query_next(&q))
        then = mst_row_text(&q, "text");
    same = then != NULL && strcmp(then, text) == 0;
    mst_query_done(&q);
    if (!same)
        mst_error("the %s %s has changed since the study began: new results could not be compared "
                  "with those that are there. Begin a new study", kind, name);
    return same ? MST_EXIT_OK : MST_EXIT_USAGE;
}

/* Notes what is done; the plan must be the one that was begun with. */
static int take_steps(struct mst_lab *lab)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT ordinal, stack, parameters, state FROM steps WHERE study_id = :id "
        "ORDER BY ordinal", lab->study_id);
    const struct mst_schedule *s = &lab->schedule;
    size_t i = 0;
    bool same = true;

    while (same && mst_query_next(&q)) {
        const char *stack = mst_row_text(&q, "stack");
        const char *parameters = mst_row_text(&q, "parameters");
        enum mst_step_state state = mst_step_state_of(mst_row_text(&q, "state"));

        same = i < s->step_count && mst_row_number(&q, "ordinal") == s->steps[i].ordinal &&
               stack != NULL && strcmp(stack, s->steps[i].of->stack->name) == 0 &&
               parameters != NULL && strcmp(parameters, s->steps[i].of->parameters) == 0;
        if (!same)
            break;
        lab->finished[i] = state != MST_STEP_STATE_PLANNED;
        lab->done += state == MST_STEP_STATE_DONE;
        lab->failed += state == MST_STEP_STATE_FAILED;
        lab->skipped += state == MST_STEP_STATE_SKIPPED;
        i++;
    }
    same = mst_query_done(&q) && same && i == s->step_count;
    if (!same)
        mst_error("the steps in %s are not those of this mpmstat: the study was begun by another "
                  "version. Begin a new one", lab->directory);
    return same ? 0 : -1;
}

int mst_lab_resume(struct mst_lab *lab)
{
    char *only = NULL, **names = NULL;
    uint64_t seed = 0;
    size_t count;
    bool any;
    int status;

    status = mst_lab_open_output(lab);
    if (status == MST_EXIT_OK)
        status = reread_study(lab, &seed, &only);
    if (status == MST_EXIT_OK && only != NULL)
        names = mst_words_split(lab->pool, only, &count);
    if (status == MST_EXIT_OK)
        status = mst_lab_plan(lab, seed, names);
    if (status != MST_EXIT_OK)
        return status;
    if (mst_archive_replan_steps(lab->archive, lab->study_id, &any) != 0 ||
        (any && mst_archive_interrupt_study(lab->archive, lab->study_id) != 0))
        return mst_lab_archive_failed(lab);
    status = each_file(lab, check_file);
    if (status == MST_EXIT_OK && take_steps(lab) != 0)
        status = MST_EXIT_USAGE;
    return status;
}

/* rows_study.c - what the lab's studies write into an archive: see writer.h. */
#include "archive/internal.h"

int mst_archive_begin_study(struct mst_archive *a, const struct mst_archive_study *study,
                            int64_t *study_id)
{
    const struct studies_row row = {
        .name = TEXT(study->name), .title = TEXT(study->title), .size = TEXT(study->size),
        .seed = NUMBER(study->seed), .only = TEXT(study->only),
        .directory = TEXT(study->directory), .text = TEXT(study->text),
        .started_ns = NUMBER(study->started_ns), .interrupted = NUMBER(0),
    };
    int status = insert_studies(a, &row);

    *study_id = sqlite3_last_insert_rowid(a->db);
    return status;
}

int mst_archive_add_study_file(struct mst_archive *a, int64_t study_id, const char *kind,
                               const char *name, const char *text)
{
    const struct study_files_row row = {
        .study_id = NUMBER(study_id), .kind = TEXT(kind), .name = TEXT(name), .text = TEXT(text),
    };

    return insert_study_files(a, &row);
}

int mst_archive_add_step(struct mst_archive *a, int64_t study_id,
                         const struct mst_archive_step *step)
{
    const struct steps_row row = {
        .study_id = NUMBER(study_id), .ordinal = NUMBER(step->ordinal),
        .block = NUMBER(step->block), .repetition = NUMBER(step->repetition),
        .start = NUMBER(step->start), .runs = TEXT(step->runs), .stack = TEXT(step->stack),
        .workload = TEXT(step->workload), .load = TEXT(step->load),
        .parameters = TEXT(step->parameters),
        .state = TEXT(mst_step_state_names[MST_STEP_STATE_PLANNED]),
    };

    return insert_steps(a, &row);
}

int mst_archive_begin_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                           uint64_t now_ns)
{
    const struct steps_row row = {
        .study_id = NUMBER(study_id), .ordinal = NUMBER(ordinal), .started_ns = NUMBER(now_ns),
        .state = TEXT(mst_step_state_names[MST_STEP_STATE_RUNNING]),
    };

    return mst_archive_put(a, BEGIN_STEP, &row.id) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_end_step(struct mst_archive *a, int64_t study_id, uint64_t ordinal,
                         const struct mst_archive_step_end *end)
{
    const struct steps_row row = {
        .study_id = NUMBER(study_id), .ordinal = NUMBER(ordinal),
        .state = TEXT(mst_step_state_names[end->state]), .run_id = NUMBER(end->run_id),
        .failure = TEXT(end->failure), .page_bytes = NUMBER(end->page_bytes),
        .ended_ns = NUMBER(end->ended_ns), .warmup_ns = NUMBER(end->warmup_ns),
        .load = TEXT(end->load),
    };

    return mst_archive_put(a, END_STEP, &row.id) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_end_study(struct mst_archive *a, int64_t study_id, uint64_t now_ns)
{
    const struct studies_row row = { .id = NUMBER(study_id), .ended_ns = NUMBER(now_ns) };

    return mst_archive_put(a, END_STUDY, &row.id) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_interrupt_study(struct mst_archive *a, int64_t study_id)
{
    const struct studies_row row = { .id = NUMBER(study_id) };

    return mst_archive_put(a, INTERRUPT_STUDY, &row.id) == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_replan_steps(struct mst_archive *a, int64_t study_id, bool *any)
{
    const struct steps_row row = { .study_id = NUMBER(study_id) };

    if (mst_archive_put(a, REPLAN_STEPS, &row.id) != 0)
        return -1;
    *any = sqlite3_changes(a->db) > 0;
    return mst_archive_commit(a);
}

/* study_report.c - the report of a study, whatever its format: see study_report.h. */
#include "lab/report/study_report.h"

#include <stdio.h>

#include "console/output.h"

int mst_sayings_make(struct mst_sayings *sayings, const struct mst_study_data *data)
{
    int failed;
    size_t i;

    *sayings = (struct mst_sayings){ 0 };
    failed = mst_sayings_of_claims(sayings, data);
    for (i = 0; i < data->section_count && !failed; i++)
        failed = mst_sayings_unseen(sayings, &data->sections[i]);
    return failed;
}

int mst_study_report(struct mst_sink *sink, enum mst_study_format format,
                     struct mst_archive *archive, const char *path, char error[MST_ERROR_MAX])
{
    struct mst_study_data data;
    struct mst_sayings sayings = { 0 };
    int failed = mst_study_load(&data, archive, path, error);

    if (!failed && mst_sayings_make(&sayings, &data) != 0) {
        snprintf(error, MST_ERROR_MAX, "out of memory for the study's report");
        failed = -1;
    }
    if (!failed)
        failed = format == MST_STUDY_HTML ? mst_study_html(sink, &data, &sayings, error) :
                                            mst_study_markdown(sink, &data, &sayings, error);
    mst_sayings_free(&sayings);
    mst_study_unload(&data);
    return failed;
}

struct job {
    enum mst_study_format format;
    struct mst_archive   *archive;
    const char           *path;
    char                 *error;
};

static mst_output_put put;
static int put(struct mst_sink *sink, const void *context)
{
    const struct job *job = context;

    return mst_study_report(sink, job->format, job->archive, job->path, job->error);
}

int mst_study_report_file(const char *to, enum mst_study_format format,
                          struct mst_archive *archive, const char *path,
                          char error[MST_ERROR_MAX])
{
    const struct job job = { format, archive, path, error };

    return mst_output_file(to, put, &job, error);
}

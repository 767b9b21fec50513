/* report.c - the report of a study, whatever its format: see report.h. */
#include "lab/report/report.h"

#include <stdio.h>

#include "console/output.h"

int mst_insights_make(struct mst_insights *findings, const struct mst_study_data *data)
{
    int failed;
    size_t i;

    *findings = (struct mst_insights){ 0 };
    failed = mst_insights_of_claims(findings, data);
    for (i = 0; i < data->section_count && !failed; i++)
        failed = mst_insights_unmeasured(findings, &data->sections[i]);
    return failed;
}

int mst_study_report(struct mst_sink *sink, enum mst_study_format format,
                     struct mst_archive *archive, const char *path, char error[MST_ERROR_MAX])
{
    struct mst_study_data data;
    struct mst_insights findings = { 0 };
    int failed = mst_study_load(&data, archive, path, error);

    if (!failed && mst_insights_make(&findings, &data) != 0) {
        snprintf(error, MST_ERROR_MAX, "out of memory for the study's report");
        failed = -1;
    }
    if (!failed)
        failed = format == MST_STUDY_HTML ? mst_study_html(sink, &data, &findings, error) :
                                            mst_study_markdown(sink, &data, &findings, error);
    mst_insights_free(&findings);
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

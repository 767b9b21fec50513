/* report.c - the report of a study, whatever its format: see report.h. */
#include "lab/report/report.h"

#include "console/output.h"

void mst_insights_make(struct mst_insights *findings, const struct mst_study_data *data)
{
    size_t i;

    *findings = (struct mst_insights){ .pool = data->pool };
    mst_insights_of_claims(findings, data);
    for (i = 0; i < data->section_count; i++)
        mst_insights_unmeasured(findings, &data->sections[i]);
}

int mst_study_report(struct mst_sink *sink, enum mst_study_format format,
                     struct mst_archive *archive, const char *path, char error[MST_ERROR_MAX])
{
    apr_pool_t *pool = mst_pool_new(NULL);
    struct mst_study_data data;
    struct mst_insights findings;
    int failed = mst_study_load(pool, &data, archive, path, error);

    if (!failed) {
        mst_insights_make(&findings, &data);
        failed = format == MST_STUDY_HTML ? mst_study_html(sink, &data, &findings, error) :
                                            mst_study_markdown(sink, &data, &findings, error);
    }
    apr_pool_destroy(pool);
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

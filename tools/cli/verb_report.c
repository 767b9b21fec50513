/* verb_report.c - mpmstat report: recorded runs as a page, as tables, as text. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/compare_runs.h"
#include "archive/archive.h"
#include "archive/query.h"
#include "archive/slice.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/exit_by_finding.h"
#include "cli/report_options.h"
#include "cli/study_reports.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/output.h"
#include "findings/findings.h"
#include "report/report.h"
#include "report/trend.h"

static const char help[] =
#include "tools/cli/help/report.inc"
    ;

struct archives {
    apr_pool_t          *pool;
    struct mst_archive **items;
    size_t               count;
};

/* ---- the runs -------------------------------------------------------------------- */

/* Replaces the archives by one with the wanted time of all of them: called where the user names a
 * time, or a directory of archives. */
static int slice(struct archives *a, const struct mst_report_options *o)
{
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *part;

    part = mst_archive_slice(a->items, a->count, o->from_ns,
                             o->to_ns != 0 ? o->to_ns : mst_realtime_ns(), error);
    while (a->count > 0)
        mst_archive_close(a->items[--a->count], ignored);
    if (part == NULL)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    a->items[a->count++] = part;
    return MST_EXIT_OK;
}

static int open_archive(struct archives *a, const char *path)
{
    char error[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_read(path, error), **item;

    if (archive == NULL)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    item = mst_pool_append(a->pool, &a->items, &a->count, sizeof *item);
    *item = archive;
    return MST_EXIT_OK;
}

static int is_archive_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 3 && strcmp(entry->d_name + length - 3, ".db") == 0;
}

/* The archives of a directory, but for those that were written last before the time that is
 * wanted. */
static int open_directory(struct archives *a, const struct mst_report_options *o,
                          const char *directory)
{
    struct dirent **names;
    int count = scandir(directory, &names, is_archive_name, alphasort), status = MST_EXIT_OK, i;
    struct stat st;
    char *path;

    if (count < 0)
        return mst_failed(MST_EXIT_TARGET, "cannot read the directory %s: %s", directory,
                          strerror(errno));
    for (i = 0; i < count; i++) {
        path = apr_pstrcat(a->pool, directory, "/", names[i]->d_name, NULL);
        if (status == MST_EXIT_OK && stat(path, &st) == 0 && st.st_size > 0 &&
            ((uint64_t)st.st_mtim.tv_sec + 1) * MST_NS_PER_S > o->from_ns)
            status = open_archive(a, path);
        free(names[i]);
    }
    free(names);
    if (status == MST_EXIT_OK && a->count == 0)
        status = mst_failed(MST_EXIT_TARGET, "%s has no archive (*.db) that was written then",
                            directory);
    return status;
}

static int open_archives(struct archives *a, const struct mst_report_options *o)
{
    int status = MST_EXIT_OK, i;
    bool whole = o->from_ns == 0 && o->to_ns == 0;
    struct stat st;

    for (i = 0; i < o->file_count && status == MST_EXIT_OK; i++)
        if (stat(o->files[i], &st) == 0 && S_ISDIR(st.st_mode)) {
            whole = false;
            status = open_directory(a, o, o->files[i]);
        } else {
            status = open_archive(a, o->files[i]);
        }
    return status == MST_EXIT_OK && !whole ? slice(a, o) : status;
}

/* One run can be selected twice, by its number and by its name. */
static bool is_selected(const struct mst_report_options *o, const struct mst_summary *s)
{
    bool wanted = o->selected_count == 0;
    char number[32];
    size_t i;

    snprintf(number, sizeof number, "%lld", (long long)s->id);
    for (i = 0; i < o->selected_count; i++)
        if (strcmp(o->selected[i].run, number) == 0 ||
            (s->name != NULL && strcmp(o->selected[i].run, s->name) == 0))
            wanted = o->selected[i].found = true;
    return wanted;
}

/* The run's name, or its number; where there are several archives, its archive too. */
static const char *title_of(apr_pool_t *pool, const struct mst_summary *s, const char *path,
                            bool several)
{
    const char *base = strrchr(path, '/');
    char number[32];

    snprintf(number, sizeof number, "run %lld", (long long)s->id);
    base = base != NULL ? base + 1 : path;
    return apr_pstrcat(pool, s->name != NULL ? s->name : number, several ? ", " : "",
                       several ? base : "", NULL);
}

static bool shows_sizing(const struct mst_report_options *o)
{
    return !o->trend && (o->format == MST_REPORT_HTML || o->format == MST_REPORT_MD ||
                         o->format == MST_REPORT_TEXT || o->format == MST_REPORT_JSON);
}

/* Summarized, and added where it is wanted. */
static int add_run(struct mst_report *report, const struct mst_report_options *o,
                   struct mst_archive *archive, const char *path, int64_t id)
{
    struct mst_report_run run = { .archive = archive, .path = path }, *kept;
    char error[MST_ERROR_MAX];
    int status = shows_sizing(o) ? mst_findings_sizing(&run.summary, archive, id, error) :
                                   mst_findings_summary(&run.summary, archive, id, error);

    if (status != 0) {
        mst_error("%s", error);
        mst_summary_free(&run.summary);
        return MST_EXIT_TARGET;
    }
    if (!is_selected(o, &run.summary)) {
        mst_summary_free(&run.summary);
        return MST_EXIT_OK;
    }
    run.title = title_of(report->pool, &run.summary, path, report->several_archives);
    kept = mst_pool_append(report->pool, &report->runs, &report->count, sizeof *kept);
    *kept = run;
    return MST_EXIT_OK;
}

static int add_runs(struct mst_report *report, const struct mst_report_options *o,
                    struct mst_archive *archive, const char *path)
{
    char error[MST_ERROR_MAX];
    int status = MST_EXIT_OK;
    int64_t *ids;
    size_t count, i;

    if (mst_summary_runs(archive, &ids, &count, error) != 0)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    for (i = 0; i < count && status == MST_EXIT_OK; i++)
        status = add_run(report, o, archive, path, ids[i]);
    free(ids);
    return status;
}

/* Says each that no archive has. */
static int check_selected(const struct mst_report_options *o, const struct archives *archives)
{
    char names[MST_ERROR_MAX] = ": runs are selected by number or name";
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < o->selected_count; i++)
        if (!o->selected[i].found) {
            if (archives->count == 1)
                mst_compare_run_names(archives->items[0], names);
            mst_error("there is no run \"%s\" in %s%s%s", o->selected[i].run, o->files[0],
                      o->file_count > 1 ? " and the others" : "", names);
            status = MST_EXIT_TARGET;
        }
    return status;
}

static int find_runs(struct mst_report *report, const struct mst_report_options *o,
                     const struct archives *archives)
{
    size_t i;
    int status;

    report->several_archives = archives->count > 1;
    for (i = 0; i < archives->count; i++) {
        status = add_runs(report, o, archives->items[i], o->files[i]);
        if (status != MST_EXIT_OK)
            return status;
    }
    status = check_selected(o, archives);
    if (status != MST_EXIT_OK || report->count > 0)
        return status;
    return mst_failed(MST_EXIT_TARGET, "there is no run in %s%s", o->files[0],
                      archives->count > 1 ? " and the others" : "");
}

/* ---- writing --------------------------------------------------------------------- */

static void put_json(struct mst_sink *sink, const struct mst_report *report)
{
    size_t i;

    mst_sink_puts(sink, "[");
    for (i = 0; i < report->count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n" : "");
        mst_report_json(sink, &report->runs[i].summary);
    }
    mst_sink_puts(sink, "]\n");
}

/* What is to be written: the runs, or the study of the one archive. */
struct job {
    const struct mst_report_options    *o;
    const struct mst_report *report;
    struct mst_archive      *study;     /* NULL: the runs */
};

static void put_trend(struct mst_sink *sink, const struct mst_report *report,
                      enum mst_report_format format)
{
    void (*const put_lines[MST_REPORT_FORMATS])(struct mst_sink *,
                                                const struct mst_trend_lines *) = {
        [MST_REPORT_HTML] = mst_trend_html, [MST_REPORT_MD] = mst_trend_markdown,
        [MST_REPORT_JSON] = mst_trend_json, [MST_REPORT_TEXT] = mst_trend_text,
    };
    struct mst_trend_lines lines;

    mst_trend_make(&lines, report);
    put_lines[format](sink, &lines);
}

static int put_runs(struct mst_sink *sink, const struct mst_report *report,
                    const struct mst_report_options *o, char error[MST_ERROR_MAX])
{
    int status = 0;

    switch (o->format) {
    case MST_REPORT_HTML: status = mst_report_html(sink, report, error); break;
    case MST_REPORT_MD:   status = mst_report_markdown(sink, report, error); break;
    case MST_REPORT_TEXT: status = mst_report_texts(sink, report, error); break;
    case MST_REPORT_JSON: put_json(sink, report); break;
    case MST_REPORT_FOLDED:
    case MST_REPORT_SPEEDSCOPE:
    case MST_REPORT_PPROF:
        status = mst_report_profile(sink, report, (enum mst_profile_format)
                                    (o->format - MST_REPORT_FOLDED), error);
        break;
    default:
        if (o->series)
            status = mst_report_csv_series(sink, report, error);
        else
            mst_report_csv(sink, report);
    }
    return status;
}

static mst_output_put put;
static int put(struct mst_sink *sink, const void *context)
{
    const struct job *job = context;
    char error[MST_ERROR_MAX];
    int failed = 0;

    if (job->study != NULL)
        failed = mst_put_study(sink, job->o->format == MST_REPORT_HTML, job->study,
                               job->o->files[0], error);
    else if (job->o->trend)
        put_trend(sink, job->report, job->o->format);
    else
        failed = put_runs(sink, job->report, job->o, error);
    if (!failed)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_TARGET, "%s", error);
}

static bool goes_into_file(const struct mst_report_options *o)
{
    return o->output != NULL && strcmp(o->output, "-") != 0;
}

static int write_report(const struct job *job)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;
    int status;

    if (goes_into_file(job->o)) {
        status = mst_output_file(job->o->output, put, job, error);
        if (status >= 0)
            return status;
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    }
    mst_sink_init(&sink, mst_write_file, stdout);
    status = put(&sink, job);
    mst_sink_flush(&sink);   /* main checks that stdout took all of it */
    return status;
}

/* An archive of a study is reported as one, unless single runs or numbers are wanted. */
static bool is_study(const struct mst_report_options *o, const struct archives *archives)
{
    return archives->count == 1 && o->selected_count == 0 && !o->trend &&
           (o->format == MST_REPORT_HTML || o->format == MST_REPORT_MD) &&
           mst_is_study(archives->items[0]);
}

static int report_files(apr_pool_t *pool, const struct mst_report_options *o)
{
    struct archives archives = { .pool = pool };
    struct mst_report report = { .pool = pool, .percentiles = o->percentiles };
    struct job job = { .o = o, .report = &report };
    char ignored[MST_ERROR_MAX];
    bool failed = false;
    size_t i;
    int status = open_archives(&archives, o);

    if (status == MST_EXIT_OK && is_study(o, &archives))
        job.study = archives.items[0];
    else if (status == MST_EXIT_OK)
        status = find_runs(&report, o, &archives);
    if (status == MST_EXIT_OK)
        status = write_report(&job);
    for (i = 0; i < report.count && status == MST_EXIT_OK; i++)
        failed |= mst_fail_on_found(&o->fail_on, &report.runs[i].summary);
    for (i = 0; i < report.count; i++)
        mst_summary_free(&report.runs[i].summary);
    for (i = 0; i < archives.count; i++)
        mst_archive_close(archives.items[i], ignored);
    return status == MST_EXIT_OK && failed ? MST_EXIT_BAD : status;
}

int mst_verb_report(int argc, char **argv)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    struct mst_report_options o = {
        .selected = apr_pcalloc(pool, (size_t)argc * sizeof *o.selected),
    };
    int status = mst_report_options_read(&o, argc, argv);

    mst_style_use(o.colour, goes_into_file(&o) ? -1 : STDOUT_FILENO);
    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = report_files(pool, &o);
    apr_pool_destroy(pool);
    return status;
}

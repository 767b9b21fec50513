/* output.c - a study's output directory, its archive and reports: see lab.h. */
#include "lab/study/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console/diag.h"
#include "console/format.h"
#include "lab/report/report.h"

int mst_lab_archive_failed(const struct mst_lab *lab)
{
    return mst_failed(MST_EXIT_OUTPUT, "%s", mst_archive_error(lab->archive));
}

/* The load tools are told of files in it: by a path that is right everywhere. */
static int make_absolute(struct mst_lab *lab)
{
    char real[PATH_MAX];

    if (realpath(lab->directory, real) == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "cannot open the directory %s: %s", lab->directory,
                          strerror(errno));
    lab->directory = apr_pstrdup(lab->pool, real);
    return MST_EXIT_OK;
}

static int lock_output(struct mst_lab *lab)
{
    if (make_absolute(lab) != MST_EXIT_OK)
        return MST_EXIT_OUTPUT;
    lab->lock = open(lab->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lab->lock >= 0 && flock(lab->lock, LOCK_EX | LOCK_NB) == 0)
        return MST_EXIT_OK;
    if (lab->lock >= 0 && errno == EWOULDBLOCK)
        mst_error("another mpmstat lab run is writing to %s", lab->directory);
    else
        mst_error("cannot open the directory %s: %s", lab->directory, strerror(errno));
    return MST_EXIT_OUTPUT;
}

/* Whether nothing is in the directory yet. What cannot be read is not empty. */
static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool empty = directory != NULL;

    while (empty && (entry = readdir(directory)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory != NULL)
        closedir(directory);
    return empty;
}

static int open_archive(struct mst_lab *lab, bool is_there)
{
    char *path = apr_pstrcat(lab->pool, lab->directory, "/" MST_STUDY_ARCHIVE, NULL);
    char error[MST_ERROR_MAX];
    int status = MST_EXIT_OUTPUT;

    if (!is_there && access(path, F_OK) == 0)
        mst_error("there is a study in %s already: mpmstat lab run --resume %s goes on with it, or "
                  "take another directory", lab->directory, lab->directory);
    else if (!is_there && !is_empty(lab->directory))
        mst_error("%s is not empty: a study has a directory of its own, in which files are "
                  "replaced and removed; take another", lab->directory);
    else if (is_there && access(path, F_OK) != 0)
        mst_error("there is no study in %s: expected %s, as an interrupted mpmstat lab run leaves "
                  "it", lab->directory, path);
    else if ((lab->archive = mst_archive_create(path, mst_tell, error)) == NULL)
        mst_error("%s", error);
    else
        status = MST_EXIT_OK;
    return status;
}

int mst_lab_open_output(struct mst_lab *lab)
{
    int status;

    lab->directory = lab->options->resume;
    status = lock_output(lab);
    return status == MST_EXIT_OK ? open_archive(lab, true) : status;
}

int mst_lab_make_output(struct mst_lab *lab)
{
    int status;

    lab->directory = lab->options->output != NULL ? lab->options->output
                     : mst_pool_printf(lab->pool, "mpmstat-lab-%s-%s", lab->study.name,
                                       mst_format_stamp().text);
    if (mkdir(lab->directory, 0777) != 0 && errno != EEXIST)
        return mst_failed(MST_EXIT_OUTPUT, "cannot make the directory %s: %s", lab->directory,
                          strerror(errno));
    status = lock_output(lab);
    return status == MST_EXIT_OK ? open_archive(lab, false) : status;
}

int mst_lab_write_reports(struct mst_lab *lab)
{
    static const struct { const char *name; enum mst_study_format format; } files[] = {
        { "report.html", MST_STUDY_HTML }, { "report.md", MST_STUDY_MARKDOWN },
    };
    char error[MST_ERROR_MAX];
    int failed = 0;
    size_t i;

    for (i = 0; i < sizeof files / sizeof *files && !failed; i++) {
        failed = mst_study_report_file(apr_pstrcat(lab->pool, lab->directory, "/", files[i].name,
                                                   NULL),
                                       files[i].format, lab->archive,
                                       mst_archive_path(lab->archive), error);
        if (failed)
            mst_error("%s", error);
    }
    return failed ? MST_EXIT_OUTPUT : MST_EXIT_OK;
}

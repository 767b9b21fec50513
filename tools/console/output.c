/* output.c - results to stdout and into files: see output.h. */
#include "console/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console/diag.h"
#include "console/replace.h"

/* Why the first write to stdout failed: stdio remembers only that it did. */
static int first_error;

int mst_write_file(void *file, const void *bytes, size_t n)
{
    int error;

    errno = 0;
    if (fwrite(bytes, 1, n, file) == n)
        return 0;
    error = errno != 0 ? errno : EIO;
    if (file == stdout && first_error == 0)
        first_error = error;
    return error;
}

/* 0, or an errno value; *status is what `put` returned. */
static int write_all(FILE *file, mst_output_put *put, const void *context, int *status)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, file);
    *status = put(&sink, context);
    return mst_sink_flush(&sink);
}

static int replace(const char *path, mst_output_put *put, const void *context, int *status)
{
    struct mst_replacement r;
    int error = mst_replace_begin(&r, path), ended;

    if (error != 0)
        return error;
    error = write_all(r.file, put, context, status);
    ended = mst_replace_end(&r, *status == 0 && error == 0);
    return error != 0 ? error : ended;
}

/* Links stay, what they lead to is replaced. */
static int replace_through_links(const char *path, mst_output_put *put, const void *context,
                                 int *status)
{
    char *real = realpath(path, NULL);
    int error;

    if (real == NULL)
        return errno;
    error = replace(real, put, context, status);
    free(real);
    return error;
}

static int write_into(const char *path, mst_output_put *put, const void *context, int *status)
{
    FILE *file = fopen(path, "we");
    int error;

    if (file == NULL)
        return errno;
    error = write_all(file, put, context, status);
    if (fclose(file) != 0 && error == 0)
        error = errno;
    return error;
}

/* Whether it is stdout by a name (/dev/stdout), where that is a file which the shell may append
 * to, or a socket: neither can be opened again as what it is. */
static bool is_stdout(const struct stat *file)
{
    struct stat out;

    return (S_ISREG(file->st_mode) || S_ISSOCK(file->st_mode)) &&
           fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == file->st_dev &&
           out.st_ino == file->st_ino;
}

/* Whether it arrived, mst_finish_output() says. */
static int write_stdout(mst_output_put *put, const void *context, int *status)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, stdout);
    *status = put(&sink, context);
    mst_sink_flush(&sink);
    return 0;
}

/* A device or a pipe is written to, never replaced. */
static int write_there(const char *path, mst_output_put *put, const void *context, int *status)
{
    struct stat file;

    if (stat(path, &file) != 0) {
        if (lstat(path, &file) == 0)   /* a link to what is not there yet */
            return write_into(path, put, context, status);
        return replace(path, put, context, status);
    }
    if (is_stdout(&file))
        return write_stdout(put, context, status);
    if (S_ISREG(file.st_mode))
        return replace_through_links(path, put, context, status);
    return write_into(path, put, context, status);
}

int mst_output_file(const char *path, mst_output_put *put, const void *context,
                    char error[MST_ERROR_MAX])
{
    int status = 0, number = write_there(path, put, context, &status);

    if (number == 0)
        return status;
    return mst_fail(error, "cannot write the report %s: %s%s", path, strerror(number),
                    number == ENOENT ? ". The directory has to be there: make it first" : "");
}

bool mst_flush_output(void)
{
    errno = 0;
    if (fflush(stdout) != 0 && first_error == 0)
        first_error = errno;
    return !ferror(stdout);
}

int mst_finish_output(int status)
{
    int failed = ferror(stdout), error;

    errno = 0;
    if (fflush(stdout) != 0 || close(STDOUT_FILENO) != 0)
        failed = 1;
    if (!failed)
        return status;
    error = first_error != 0 ? first_error : errno;
    if (error == EPIPE)
        return MST_EXIT_OUTPUT;   /* who reads has seen enough, as `head` */
    return mst_failed(MST_EXIT_OUTPUT, "the output is not complete: cannot write to stdout%s%s",
                      error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
}

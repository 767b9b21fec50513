/* output.c - results to stdout and into files: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"

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
static int write_whole(const char *beside, const char *path, mst_output_put *put,
                       const void *context, int *status)
{
    struct mst_sink sink;
    FILE *file = fopen(beside, "we");
    int error;

    if (file == NULL)
        return errno;
    mst_sink_init(&sink, mst_write_file, file);
    *status = put(&sink, context);
    error = mst_sink_flush(&sink);
    if (fclose(file) != 0 && error == 0)
        error = errno;
    if (*status == 0 && error == 0 && rename(beside, path) != 0)
        error = errno;
    if (*status != 0 || error != 0)
        unlink(beside);
    return error;
}

int mst_output_file(const char *path, mst_output_put *put, const void *context,
                    char error[MST_ERROR_MAX])
{
    int number = ENOMEM, status = 0;
    char *beside;

    if (asprintf(&beside, "%s.part", path) >= 0) {
        number = write_whole(beside, path, put, context, &status);
        free(beside);
    }
    if (number == 0)
        return status;
    snprintf(error, MST_ERROR_MAX, "cannot write the report %s: %s", path, strerror(number));
    return -1;
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
    mst_error("the output is not complete: cannot write to stdout%s%s", error != 0 ? ": " : "",
              error != 0 ? strerror(error) : "");
    return MST_EXIT_OUTPUT;
}

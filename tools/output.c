/* output.c - results to stdout: see output.h. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
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

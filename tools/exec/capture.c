/* capture.c - nameless files for a load tool's output: see capture.h. */
#include "exec/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int mst_capture_open(char error[MST_ERROR_MAX])
{
    const char *directory = getenv("TMPDIR");
    int fd;

    if (directory == NULL || directory[0] == '\0')
        directory = "/tmp";
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, MST_CAPTURE_ROOM);
    if (fd < 0)    /* not every file system has such files */
        fd = memfd_create("mpmstat", MFD_CLOEXEC);
    if (fd < 0)
        snprintf(error, MST_ERROR_MAX, "cannot make a temporary file in %s: %s", directory,
                 strerror(errno));
    return fd;
}

uint64_t mst_capture_bytes(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

char *mst_capture_end(int fd, size_t most, size_t *n)
{
    uint64_t bytes = mst_capture_bytes(fd), from = bytes > most ? bytes - most : 0;
    char *text = malloc((size_t)(bytes - from) + 1);
    ssize_t got = 1;

    *n = 0;
    while (text != NULL && *n < bytes - from && got > 0) {
        got = pread(fd, text + *n, (size_t)(bytes - from) - *n, (off_t)(from + *n));
        if (got > 0)
            *n += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    if (text != NULL && got < 0) {
        free(text);
        return NULL;
    }
    if (text != NULL)
        text[*n] = '\0';
    return text;
}

void mst_capture_follow(int fd, uint64_t *offset, int to)
{
    char buffer[4096];
    ssize_t n;

    while ((n = pread(fd, buffer, sizeof buffer, (off_t)*offset)) > 0) {
        *offset += (uint64_t)n;
        if (write(to, buffer, (size_t)n) != n)
            return;   /* a person was to see it; it is in the archive all the same */
    }
}

/* output.h - results to stdout, and whether they arrived there. */
#ifndef MPMSTAT_OUTPUT_H
#define MPMSTAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "render/sink.h"

/* A sink's writer (sink.h) over stdio; the context is a FILE *. Returns 0 or
 * an errno value. */
int mst_write_file(void *file, const void *bytes, size_t n);

/* Writes a file by writing another in its directory first: what was there is replaced by a whole
 * one or not at all. A link stays, and what it leads to is replaced; a device, a pipe or what
 * stdout is (/dev/stdout) is written to as it is. 0; what `put` returned, where that is not 0;
 * -1 with a sentence where the file cannot be written. */
typedef int mst_output_put(struct mst_sink *sink, const void *context);
int mst_output_file(const char *path, mst_output_put *put, const void *context,
                    char error[MST_ERROR_MAX]);

/* Shows what is in stdout's buffer now: a person, or a pipe's reader, waits for it. False: it
 * cannot be written, which mst_finish_output() says. */
bool mst_flush_output(void);

/* Flushes stdout: buffered output fails late, or silently (a full disk, a pipe
 * that has lost its reader). Returns `status` where everything arrived, else
 * MST_EXIT_OUTPUT, and says why, but for a reader that has closed its pipe. */
int mst_finish_output(int status);

#endif

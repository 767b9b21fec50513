/* output.h - results to stdout, and whether they arrived there. */
#ifndef MPMSTAT_OUTPUT_H
#define MPMSTAT_OUTPUT_H

#include <stddef.h>

/* A sink's writer (sink.h) over stdio; the context is a FILE *. Returns 0 or
 * an errno value. */
int mst_write_file(void *file, const void *bytes, size_t n);

/* Flushes stdout: buffered output fails late, or silently (a full disk, a pipe
 * that nobody reads any more). Returns `status` where everything arrived, else
 * says so and returns MST_EXIT_OUTPUT. The last thing that the tool does. */
int mst_finish_output(int status);

#endif

/* paths.h - where the lab's files, the module and the extension are: in the build tree that
 * this program runs from, or where they were installed.
 */
#ifndef MPMSTAT_LAB_PATHS_H
#define MPMSTAT_LAB_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "memory/pool.h"

/* The directory with lab/, workloads/ and real/: $MPMSTAT_DATADIR, or that of the build
 * tree, or the installed one. */
void mst_data_directory(char path[PATH_MAX]);

/* mod_mpmstat.so; and whether it is there: 0, or -1 with a sentence. */
void mst_module_path(char path[PATH_MAX]);
int mst_module_check(char error[MST_ERROR_MAX]);
/* mpmstat.so, PHP's extension; "" where there is none. */
void mst_extension_path(char path[PATH_MAX]);

/* Whether the lab's data are there: 0, or -1 with a sentence that says what to install. */
int mst_lab_data_check(char error[MST_ERROR_MAX]);

/* The path of NAME.KIND (kind: stack, workload, study), as a user wrote the name: see
 * stack.h. 0, or -1 with a sentence that lists what there is. */
int mst_lab_file(const char *name, const char *kind, const char *beside, char path[PATH_MAX],
                 char error[MST_ERROR_MAX]);

/* Calls `take` with the path of each file of a kind in the data directory, in the order
 * of their names, until it returns nonzero, which is returned. */
int mst_lab_each(const char *kind, int (*take)(void *context, const char *path), void *context);

/* The same of the files that stacks include. */
int mst_lab_each_include(int (*take)(void *context, const char *path), void *context);

/* A file's name without directory and suffix. */
char *mst_lab_name(apr_pool_t *pool, const char *path);

#endif

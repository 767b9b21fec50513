/* generators.h - a load from several processes or machines: the rows that each load generator wrote
 * into a file of its own become part of a recorded run.
 *
 * Their instants are by each generator's clock. They become the server's by an offset that the
 * requests themselves tell: see generator_clock.h.
 */
#ifndef MPMSTAT_GENERATORS_H
#define MPMSTAT_GENERATORS_H

#include <stddef.h>
#include <stdint.h>

struct mst_generator_import {
    const char  *archive;         /* its path */
    int64_t      run_id;
    char *const *paths;           /* files, and directories of files */
    size_t       count;
};

/* Adds the files to the run, and says on stderr what came of each. A file that cannot belong to
 * the run is left out. Returns an enum mst_exit: MST_EXIT_BAD where any was left out. */
int mst_generators_import(const struct mst_generator_import *import);

#endif

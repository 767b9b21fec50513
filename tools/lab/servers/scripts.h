/* scripts.h - setup and teardown: a stack's and a workload's shell scripts.
 *
 * They are files below ROOT together with their variables, so that a later mpmstat that
 * finds ROOT left over can run the teardown, too. setup runs below the supervisor: what it
 * starts in the background becomes the supervisor's child, and ends with it.
 */
#ifndef MPMSTAT_LAB_SCRIPTS_H
#define MPMSTAT_LAB_SCRIPTS_H

#include <stdbool.h>

#include "base/error.h"

#define MST_SCRIPTS_DIRECTORY "scripts"            /* below ROOT; closed to others */
#define MST_SCRIPTS_LOG       "scripts/output.log" /* what they say */

/* Which of them run in which order: NULL at the end. Below MST_SCRIPTS_DIRECTORY. */
extern const char *const mst_scripts_setup_names[3];

/* Asked while a script runs, ten times a second; true: it is to be ended. */
typedef bool mst_scripts_stop(void *context);

/* Runs those scripts of ROOT that exist. 0, or -1 with a sentence. */
int mst_scripts_run(const char *root, const char *const *names, mst_scripts_stop *stop,
                    void *context, char error[MST_ERROR_MAX]);
int mst_scripts_teardown(const char *root, char error[MST_ERROR_MAX]);

/* The environment of what runs in ROOT: PATH and its like, and what the caller's has for
 * sanitizers; of a server also where PHP's settings are. NULL at its end; NULL: out of
 * memory. Free with mst_strings_free_items(). */
char **mst_environment_make(const char *root, bool of_server);

#endif

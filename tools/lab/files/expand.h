/* expand.h - variables of the lab: ${NAME} in a stack's sections is replaced by its value.
 *
 * Only names of upper case letters, digits and _ are the lab's; any other $ is the
 * server's own.
 */
#ifndef MPMSTAT_LAB_EXPAND_H
#define MPMSTAT_LAB_EXPAND_H

#include <stddef.h>

#include "lab/files/textfile.h"

/* Parameters as a user, or a study, gives them; and all variables with their values. They begin as
 * { .pool = POOL }. */
struct mst_parameter {
    const char *name, *value;
};

struct mst_parameters {
    apr_pool_t           *pool;
    size_t                count;
    struct mst_parameter *items;
};

/* Sets one to a copy of the value, in place of what it was. */
void mst_parameters_set(struct mst_parameters *parameters, const char *name, const char *value);
void mst_parameters_unset(struct mst_parameters *parameters, const char *name);
/* "NAME=VALUE", as on a command line. 0, or -1 with a sentence. */
int mst_parameters_assign(struct mst_parameters *parameters, const char *assignment,
                          char error[MST_ERROR_MAX]);
/* NULL: there is none. */
const char *mst_parameters_get(const struct mst_parameters *parameters, const char *name);

/* The body with every variable replaced, in their pool. It begins in line first_line of the
 * file `path`. NULL with a sentence (file:line): an unknown one. */
char *mst_expand(const struct mst_parameters *variables, const char *path, unsigned first_line,
                 const char *body, char error[MST_ERROR_MAX]);

/* Adds the parameters of a file to the variables: what `given` says (NULL: nothing), or
 * the file's value, expanded, in any order; A + B, A - B, A * B, A / B (rounded up) of
 * whole numbers is computed. 0, or -1 with a sentence. */
int mst_expand_parameters(struct mst_parameters *variables, const struct mst_facts *parameters,
                          const struct mst_parameters *given, char error[MST_ERROR_MAX]);

#endif

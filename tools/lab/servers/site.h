/* site.h - what a stack with a workload comes to: every variable's value, every file.
 *
 * Nothing is written or started here: a dry run shows it, a start writes it.
 */
#ifndef MPMSTAT_LAB_SITE_H
#define MPMSTAT_LAB_SITE_H

#include <stddef.h>

#include "lab/files/expand.h"
#include "lab/files/stack.h"

#define MST_PORTS 4

struct mst_site_file {
    const char *path;        /* below ROOT */
    const char *text;
    unsigned mode;
    int      owner;          /* of the test users; -1: the user that runs the lab */
};

struct mst_site_server {
    const char *kind, *name;
    const char *directory;   /* its own */
    char      **argv;        /* NULL at its end */
};

struct mst_site {
    apr_pool_t *pool;        /* all of it is there */
    const char *root;
    struct mst_parameters variables;
    size_t file_count;
    struct mst_site_file *files;
    size_t server_count;
    struct mst_site_server *servers;
    const char *url;         /* where the workload's page is */
    const char *expects;
    const char *status_url;  /* where the status page should be */
};

/* Works it out for this directory (which need not exist) and these ports; given can be
 * NULL. 0, or -1 with a sentence. */
int mst_site_make(apr_pool_t *pool, struct mst_site *site, const struct mst_stack *stack,
                  const struct mst_workload *workload, const struct mst_parameters *given,
                  const char *root, const unsigned ports[MST_PORTS], char error[MST_ERROR_MAX]);

/* site_variables.c: sets a variable to ROOT/below. 0, or -1 with a sentence. */
int mst_site_set_below(struct mst_site *site, const char *name, const char *below,
                       char error[MST_ERROR_MAX]);
/* site_variables.c: sets the built-in variables (servers.h). 0, or -1 with a sentence. */
int mst_site_set_variables(struct mst_site *site, const struct mst_stack *stack,
                           const unsigned ports[MST_PORTS], char error[MST_ERROR_MAX]);

/* The variables PORT, PORT_2, ... */
extern const char *const mst_site_port_names[MST_PORTS];

#endif

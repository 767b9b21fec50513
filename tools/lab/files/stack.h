/* stack.h - a stack and a workload of the lab, as read from their text files.
 *
 * A stack's sections: "stack" (facts: title, family, needs, serves, root, tenants,
 * status), "parameters", one "apache NAME", "fpm NAME" or "nginx NAME" a server in the
 * order of their start, "file PATH [mode=MODE] [owner=USER]", "setup" and "teardown".
 * A workload's: "workload" (facts: title, kind, docroot, url, expects, needs, php),
 * "parameters", "file", "setup", "teardown". Nothing here is expanded yet.
 */
#ifndef MPMSTAT_LAB_STACK_H
#define MPMSTAT_LAB_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/files/textfile.h"

struct mst_stack {
    struct mst_text  text;           /* all is in its pool */
    char            *name;           /* the file's, without directory and suffix */
    struct mst_facts facts, parameters;
    const char      *title, *family;
    const char      *status;         /* URL of its status page, as written; "" /mpm-status */
    char           **needs;          /* Debian packages; NULL at their end */
    char           **serves;         /* kinds of workload */
    bool             root;           /* cannot run without */
    bool             test_users;     /* wants users of its own (so root as well) */
};

struct mst_workload {
    struct mst_text  text;
    char            *name;
    struct mst_facts facts, parameters;
    const char      *title, *kind, *url;
    const char      *expects;        /* a text that the page has */
    char           **needs;
    char           **php;            /* extensions of PHP that it needs, by their names */
};

/* By name, or by the path of a file (a name with a slash in it, or with the suffix
 * .stack or .workload). A name is searched in `beside` (a directory, NULL: none), then
 * in the lab's data directory. NULL with a sentence. */
struct mst_stack *mst_stack_read(apr_pool_t *pool, const char *name, const char *beside,
                                 char error[MST_ERROR_MAX]);
struct mst_workload *mst_workload_read(apr_pool_t *pool, const char *name, const char *beside,
                                       char error[MST_ERROR_MAX]);

/* Whether the stack can serve the workload. 0, or -1 with a sentence. */
int mst_stack_serves(const struct mst_stack *stack, const struct mst_workload *workload,
                     char error[MST_ERROR_MAX]);

/* Whether a section is that of a server. */
bool mst_stack_is_server(const struct mst_text_section *section);

/* Whether mpmstat can be in servers of this kind, and has a board of each. */
bool mst_stack_has_board(const char *kind);

#endif

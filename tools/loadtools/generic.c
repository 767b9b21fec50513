/* generic.c - any command: it runs as it is, and only the server's side is known. */
#include "loadtool.h"

#include <stdio.h>

static int prepare(struct mst_plan *plan, char *const *argv, int rows_fd,
                   char error[MST_ERROR_MAX])
{
    (void)rows_fd;
    if (mst_plan_init(plan, argv, NULL) == 0)
        return 0;
    snprintf(error, MST_ERROR_MAX, "out of memory for the command");
    return -1;
}

const struct mst_loadtool mst_loadtool_generic = {
    .name = "generic",
    .prepare = prepare,
};

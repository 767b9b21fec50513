/* generic.c - any command: it runs as it is, and only the server's side is known. */
#include "loadtools/loadtool.h"

static int prepare_generic(struct mst_plan *plan, char *const *argv, int rows_fd,
                           char error[MST_ERROR_MAX])
{
    (void)rows_fd;
    return mst_plan_init(plan, argv, 0, NULL, error);
}

const struct mst_loadtool mst_loadtool_generic = {
    .name = "generic",
    .prepare = prepare_generic,
};

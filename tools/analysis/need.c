/* need.c - the names of what bounds a server's workers: see need.h. */
#include "analysis/need.h"

const char *const mst_bound_names[MST_BOUND_COUNT] = {
    [MST_BOUND_LIMIT] = "limit", [MST_BOUND_CPU] = "cpu", [MST_BOUND_ONE_BY_ONE] = "one-at-a-time",
    [MST_BOUND_MEMORY] = "memory", [MST_BOUND_PHP] = "php-workers",
    [MST_BOUND_KEEPALIVE] = "keepalive",
};

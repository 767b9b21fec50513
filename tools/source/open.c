/* open.c - which kind of source a target is: above the kinds, which are above source.c. */
#include "source/source_kind.h"

struct mst_source *mst_source_open(struct mst_target *target, char error[MST_ERROR_MAX])
{
    struct mst_source *source = target->kind == MST_TARGET_URL
                                    ? mst_source_open_url(target, error)
                                    : mst_source_open_file(target, error);

    if (source != NULL)
        mst_source_set_clock(source);
    return source;
}

/* end_file.c - the other ends of functions that open something by its path, and of popen(). */
#include "end_call.h"
#include "end_functions.h"
#include "end_known.h"
#include "end_url.h"

MST_CAN_WAIT(may_be_distant)
{
    struct mst_part path = mst_call_text(call, 0);
    struct mst_url url;

    return path.text && mst_url_read(path, &url) && mst_url_is_distant(&url);
}

/* A plain file or a distant one; neither memory, nor a wrapper in PHP, whose own calls count. */
MST_CAN_WAIT(may_be_file)
{
    struct mst_part path = mst_call_text(call, 0);
    struct mst_url url;

    if (!path.text || mst_part_starts_with(path, "data:"))
        return false;
    return !mst_url_read(path, &url) || mst_url_is_distant(&url)
        || mst_part_starts_with(url.scheme, "file");
}

MST_END(path)
{
    (void)result;
    return mst_url_wait_of_path(mst_call_text(call, 0), &line->own);
}

MST_END(opened)
{
    uint64_t wait = mst_url_wait_of_path(mst_call_text(call, 0), &line->own);

    /* A file is known by its stream: only what is not a file is remembered. */
    mst_known_set(mst_known_in(result), wait != mst_wait_of_own(&line->own) ? wait
                                                                            : MST_KNOWN_NONE);
    return wait;
}

MST_END(opened_process)
{
    (void)call;
    mst_known_set(mst_known_in(result), mst_wait_of_own(&line->own));
    return mst_wait_of_own(&line->own);
}

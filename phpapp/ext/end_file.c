/* end_file.c - the other ends of functions that open something by its path, and of popen(). */
#include "end_call.h"
#include "end_functions.h"
#include "end_url.h"

static struct mst_own_end http_end = { MST_WAIT_HTTP, 0, "http" };
static struct mst_own_end ftp_end = { MST_WAIT_STREAM, 0, "ftp" };

void mst_end_file_join(void)
{
    http_end.index = ftp_end.index = 0;
}

static struct mst_own_end *distant_end(const struct mst_url *url)
{
    return mst_part_starts_with(url->scheme, "ftp") ? &ftp_end : &http_end;
}

MST_CAN_WAIT(may_be_distant)
{
    struct mst_part path = mst_call_text(call, 0);
    struct mst_url url;

    (void)own;
    return path.text && mst_url_read(path, &url) && mst_url_is_distant(&url) ? distant_end(&url)
                                                                             : NULL;
}

/* A plain file or a distant one; neither memory, nor a wrapper in PHP, whose own calls count. */
MST_CAN_WAIT(may_be_file)
{
    struct mst_part path = mst_call_text(call, 0);
    struct mst_url url;

    if (!path.text || mst_part_starts_with(path, "data:"))
        return NULL;
    if (!mst_url_read(path, &url) || mst_part_starts_with(url.scheme, "file"))
        return own;
    return mst_url_is_distant(&url) ? distant_end(&url) : NULL;
}

MST_END(path)
{
    (void)result;
    return mst_url_wait_of_path(mst_call_text(call, 0), own);
}

MST_END(opened)
{
    uint64_t wait = mst_url_wait_of_path(mst_call_text(call, 0), own);

    if (wait >> 32 != MST_WAIT_FILE)   /* a file's stream tells that it is one */
        mst_known_set(mst_known_key(result), wait);
    return wait;
}

MST_END(opened_process)
{
    (void)call;
    mst_known_set(mst_known_key(result), mst_wait_of_own(own));
    return mst_wait_of_own(own);
}

/* ends.c - the table of waits.def, and how lines of every kind name the other end. */
#include "ends.h"

#include "end_call.h"
#include "end_functions.h"
#include "end_known.h"

MST_END(fixed)
{
    (void)call, (void)result;
    return mst_wait_of_own(&line->own);
}

MST_END(subject)
{
    (void)result;
    return mst_call_known(call, &line->own);
}

/* The result speaks to the same other end as the subject. */
MST_END(made)
{
    uint64_t wait = mst_call_known(call, &line->own);

    mst_known_set(mst_known_in(result), wait);
    return wait;
}

/* A constructor: the object speaks to the same other end as the first argument. */
MST_END(made_of)
{
    zval *first = mst_call_argument(call, 0);
    uint64_t known = mst_known_find(first ? mst_known_in(first) : NULL);
    uint64_t wait = known != MST_KNOWN_NONE ? known : mst_wait_of_own(&line->own);

    (void)result;
    mst_known_set(mst_call_subject(call), wait);
    return wait;
}

#define mst_can_wait_always NULL
#define MST_WAIT(treatment, class_name, function, kind, name, can_wait, end, failure) \
    { class_name, function, { MST_WAIT_##kind, 0, name }, mst_can_wait_##can_wait, mst_end_##end, \
      MST_FAILS_##failure, MST_IS_##treatment },
struct mst_wait_line mst_wait_lines[] = {
#include "waits.def"
};
#undef MST_WAIT
const uint32_t mst_wait_line_count = sizeof mst_wait_lines / sizeof mst_wait_lines[0];

void mst_ends_join(void)
{
    uint32_t i;

    for (i = 0; i < mst_wait_line_count; i++)
        mst_wait_lines[i].own.index = 0;
    mst_end_stream_join();
}

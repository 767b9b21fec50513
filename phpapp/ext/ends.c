/* ends.c - the table of waits.def, and how lines of every kind name the other end. */
#include "ends.h"

#include <string.h>

#include "end_call.h"
#include "end_functions.h"

/* ---- other ends --------------------------------------------------------------------------- */

MST_END(fixed)
{
    (void)call, (void)result;
    return mst_wait_of_own(own);
}

MST_END(subject)
{
    (void)result;
    return mst_call_known(call, own);
}

/* The result speaks to the same other end as the subject. */
MST_END(made)
{
    uint64_t wait = mst_call_known(call, own);

    mst_known_set(mst_known_key(result), wait);
    return wait;
}

/* The new object is not connected yet. What is noted for its address is about an earlier object: it
 * is cleared. */
MST_END(new)
{
    bool is_constructor = Z_TYPE(call->This) == IS_OBJECT;

    mst_known_set(is_constructor ? mst_call_subject(call) : mst_known_key(result), MST_KNOWN_NONE);
    return mst_wait_of_own(own);
}

/* A constructor: the object speaks to the same other end as the first argument. */
MST_END(made_of)
{
    zval *first = mst_call_argument(call, 0);
    uint64_t known = mst_known_find(first ? mst_known_key(first) : 0);
    uint64_t wait = known != MST_KNOWN_NONE ? known : mst_wait_of_own(own);

    (void)result;
    mst_known_set(mst_call_subject(call), wait);
    return wait;
}

/* ---- failures ---------------------------------------------------------------------------- */

#define HAS_FAILED(rule) \
    static bool has_failed_##rule(const zend_execute_data *call, const zval *result)

HAS_FAILED(FALSE)
{
    (void)call;
    return Z_TYPE_P(result) == IS_FALSE;
}

HAS_FAILED(NEGATIVE)
{
    (void)call;
    return Z_TYPE_P(result) == IS_LONG && Z_LVAL_P(result) < 0;
}

/* Look-ups return a name that they cannot resolve. An address is its own answer. */
HAS_FAILED(SAME)
{
    const zval *argument = ZEND_CALL_ARG(call, 1);

    return ZEND_CALL_NUM_ARGS(call) > 0 && Z_TYPE_P(argument) == IS_STRING
        && Z_TYPE_P(result) == IS_STRING && zend_string_equals(Z_STR_P(argument), Z_STR_P(result))
        && strspn(Z_STRVAL_P(result), "0123456789.") != Z_STRLEN_P(result);
}

/* ---- the table --------------------------------------------------------------------------- */

#define mst_can_wait_always NULL
#define has_failed_NONE NULL
#define MST_WAIT(treatment, class_name, function, kind, name, can_wait, end, failure) \
    { class_name, function, { MST_WAIT_##kind, 0, name }, mst_can_wait_##can_wait, mst_end_##end, \
      has_failed_##failure, MST_IS_##treatment },
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
    mst_end_file_join();
}

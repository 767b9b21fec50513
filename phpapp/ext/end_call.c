/* end_call.c - what the arguments of a timed call say of the other end. */
#include "end_call.h"

#include <stdio.h>


struct mst_part mst_call_text_of(const zval *value)
{
    if (!value || Z_TYPE_P(value) != IS_STRING)
        return (struct mst_part){ NULL, 0 };
    return (struct mst_part){ Z_STRVAL_P(value), Z_STRLEN_P(value) };
}

struct mst_part mst_call_text(zend_execute_data *call, uint32_t n)
{
    return mst_call_text_of(mst_call_argument(call, n));
}

struct mst_part mst_call_port_of(const zval *value, const char *standard, char to[16])
{
    if (value && Z_TYPE_P(value) == IS_LONG && Z_LVAL_P(value) > 0) {
        snprintf(to, 16, "%ld", (long)Z_LVAL_P(value));
        return mst_part_of(to);
    }
    if (value && Z_TYPE_P(value) == IS_STRING && Z_STRLEN_P(value) > 0)
        return mst_call_text_of(value);
    return mst_part_of(standard);
}

uint64_t mst_call_known(zend_execute_data *call, struct mst_own_end *own)
{
    if (MPMSTAT_G(waits).has_known) {
        uint64_t known = mst_known_find(mst_call_subject(call));

        if (known != MST_KNOWN_NONE)
            return known;
    }
    return mst_wait_of_own(own);
}

uint64_t mst_call_connected(zend_execute_data *call, const zval *result, uint64_t wait)
{
    uintptr_t subject = mst_call_subject(call);

    mst_known_set(subject ? subject : mst_known_key(result), wait);
    return wait;
}

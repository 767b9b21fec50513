/* end_call.h - what the arguments of a timed call say of the other end. */
#ifndef MPMSTAT_PHP_END_CALL_H
#define MPMSTAT_PHP_END_CALL_H

#include <php.h>
#include <stdint.h>

#include "end_known.h"
#include "end_name.h"

/* Argument n, from 0; NULL: it was not given. */
static inline zval *mst_call_argument(zend_execute_data *call, uint32_t n)
{
    zval *value;

    if (ZEND_CALL_NUM_ARGS(call) <= n)
        return NULL;
    value = ZEND_CALL_ARG(call, n + 1);
    ZVAL_DEREF(value);
    return value;
}

/* The text of a value; its text is NULL where it is not a string. */
struct mst_part mst_call_text_of(const zval *value);
struct mst_part mst_call_text(zend_execute_data *call, uint32_t n);

/* Writes a port to `to`; the standard one where the value has none. */
struct mst_part mst_call_port_of(const zval *value, const char *standard, char to[16]);

/* The key of what the function is called for: the object of a method, else the first argument. */
static inline uintptr_t mst_call_subject(const zend_execute_data *call)
{
    if (Z_TYPE(call->This) == IS_OBJECT)
        return mst_known_key(&call->This);
    return ZEND_CALL_NUM_ARGS(call) > 0 ? mst_known_key(ZEND_CALL_ARG(call, 1)) : 0;
}

/* What is noted for the subject; else the own end. */
uint64_t mst_call_known(zend_execute_data *call, struct mst_own_end *own);

/* Notes the wait for the object of a constructor or method; else for an object that the first
 * argument is; else for the result. Returns the wait. */
uint64_t mst_call_connected(zend_execute_data *call, const zval *result, uint64_t wait);

#endif

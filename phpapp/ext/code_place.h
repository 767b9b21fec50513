/* code_place.h - where PHP's code is, as functions and call stacks of the board. */
#ifndef MPMSTAT_PHP_CODE_PLACE_H
#define MPMSTAT_PHP_CODE_PLACE_H

#include <php.h>
#include <stdint.h>

/* The board's stack of `call` and all its callers. Of the innermost function the line is that which
 * it is at; of the others the one at which they begin, so that a stack is the same whichever of its
 * lines calls. */
uint32_t mst_place_stack(const zend_execute_data *call);

#endif

/* code_place.h - where PHP's code is, as functions and call stacks of the board. */
#ifndef MPMSTAT_PHP_CODE_PLACE_H
#define MPMSTAT_PHP_CODE_PLACE_H

#include <php.h>
#include <stdint.h>

/* The board's stack of `call` and all its callers, each at the line that it is at. `called`: PHP's
 * own function that `call` has called, which lives as long as PHP; NULL: none. */
uint32_t mst_place_stack(const zend_execute_data *call, const zend_function *called);

/* A number that stands for `call`, all its callers and where they are, in this request; not 0. */
uint64_t mst_place_chain(const zend_execute_data *call);

/* Adds a sample of this request to the board's, as struct mst_code_sample: what is 0 for CPU time,
 * else enum mst_wait plus 1. */
void mst_place_sample(uint32_t stack, uint32_t what, uint64_t weight_ns);

#endif

/* wait_place.h - from where in PHP's code the waits of a request were called. */
#ifndef MPMSTAT_PHP_WAIT_PLACE_H
#define MPMSTAT_PHP_WAIT_PLACE_H

#include "state.h"

/* A request begins: sets w->places.is_on. */
void mst_wait_place_begin(struct mst_waits *w);

/* A timed call begins. Sets w->chain, and returns the call's stack on the board plus 1; 0: not
 * known. */
uint64_t mst_wait_place_of_call(struct mst_waits *w, const struct _zend_execute_data *call);

/* The same of w->chain, whose call is known. */
uint64_t mst_wait_place_of_chain(const struct mst_waits *w);

/* A call of that chain ended, after ns; `sum`: the index in w->sums to which it was added. */
void mst_wait_place_add(struct mst_waits *w, uint64_t chain, uint32_t sum, uint64_t ns);

/* From where most of the time of that sum was called, which is at most ns. */
struct mst_php_wait_place mst_wait_place_longest(const struct mst_waits *w, uint32_t sum,
                                                 uint64_t ns);

/* The request ends: its waits become samples of the board's, and are forgotten here. */
void mst_wait_place_end(struct mst_waits *w);

#endif

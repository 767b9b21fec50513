/* wait_place.h - from where in PHP's code the waits of a request were called. */
#ifndef MPMSTAT_PHP_WAIT_PLACE_H
#define MPMSTAT_PHP_WAIT_PLACE_H

#include "state.h"

/* A request begins: sets w->places.is_on. */
void mst_wait_place_begin(struct mst_waits *w);

/* A timed call begins. Returns the index of its place in w->places; MPMSTAT_NO_PLACE: none. */
uint32_t mst_wait_place_find(struct mst_waits *w, const struct _zend_execute_data *call);
/* The place's call stack on the board, plus 1; 0: none. */
static inline uint64_t mst_wait_place_shown(const struct mst_waits *w, uint32_t place)
{
    return place != MPMSTAT_NO_PLACE ? (uint64_t)w->places.all[place].stack + 1 : 0;
}

/* The entry of that place for calls that waited for another end; NULL: there is no room. */
struct mst_wait_place *mst_wait_place_other(struct mst_waits *w, uint32_t place, uint32_t sum);

/* A call from that place ended, after ns; `sum`: the index in w->sums to which it was added. In
 * line: that spares some 15 of a timed call's 400 instructions. */
static inline void mst_wait_place_add(struct mst_waits *w, uint32_t place, uint32_t sum,
                                      uint64_t ns)
{
    struct mst_wait_place *to;

    if (place == MPMSTAT_NO_PLACE)
        return;
    to = &w->places.all[place];
    if (to->sum != sum && to->sum != MPMSTAT_NO_SUM
        && (to = mst_wait_place_other(w, place, sum)) == NULL)
        return;
    to->sum = sum;
    to->ns += ns;
    to->calls++;
}

/* From where most of the time of that sum was called, which is at most ns. */
struct mst_php_wait_place mst_wait_place_longest(const struct mst_waits *w, uint32_t sum,
                                                 uint64_t ns);

/* The request ends: its waits become samples of the board's, and are forgotten here. */
void mst_wait_place_end(struct mst_waits *w);

#endif

/* random.h - random numbers that a seed determines: the same seed, the same numbers. */
#ifndef MPMSTAT_RANDOM_H
#define MPMSTAT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014). *state is the seed at first. */
uint64_t mst_random_word(uint64_t *state);
/* From 0 to n - 1. */
size_t mst_random_below(uint64_t *state, size_t n);
/* Puts the items into any order (Fisher and Yates). A study's seed is in its archive and must
 * lead to the same order in every version. */
void mst_random_shuffle(size_t *items, size_t count, uint64_t *state);

#endif

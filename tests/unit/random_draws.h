/* random_draws.h - draws from distributions, for tests of statistics. */
#ifndef TEST_RANDOM_DRAWS_H
#define TEST_RANDOM_DRAWS_H

#include <stdint.h>

/* *state is the seed at first. */
double draw_uniform(uint64_t *state);    /* between 0 and 1, neither of them */
double draw_normal(uint64_t *state);     /* mean 0, deviation 1 */

#endif

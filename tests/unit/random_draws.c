/* random_draws.c - see random_draws.h. */
#include "random_draws.h"

#include <math.h>

#include "stats/random.h"

double draw_uniform(uint64_t *state)
{
    return ((double)(mst_random_word(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller's. */
double draw_normal(uint64_t *state)
{
    double length = sqrt(-2 * log(draw_uniform(state)));

    return length * cos(2 * M_PI * draw_uniform(state));
}

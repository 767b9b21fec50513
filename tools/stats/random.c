/* random.c - see random.h. */
#include "stats/random.h"

uint64_t mst_random_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t mst_random_below(uint64_t *state, size_t n)
{
    return (size_t)((unsigned __int128)mst_random_word(state) * n >> 64);
}

void mst_random_shuffle(size_t *items, size_t count, uint64_t *state)
{
    size_t i, k, kept;

    for (i = count; i > 1; i--) {
        k = mst_random_word(state) % i;   /* as ever: see random.h */
        kept = items[i - 1];
        items[i - 1] = items[k];
        items[k] = kept;
    }
}

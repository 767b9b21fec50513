/* siphash.c - SipHash-2-4 (Aumasson and Bernstein, 2012): see siphash.h. */
#include "base/siphash.h"

struct siphash { uint64_t v[4]; };

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void siphash_rounds(struct siphash *s, unsigned rounds)
{
    uint64_t *v = s->v;

    while (rounds-- > 0) {
        v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
        v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
    }
}

static void siphash_word(struct siphash *s, uint64_t word)
{
    s->v[3] ^= word;
    siphash_rounds(s, 2);
    s->v[0] ^= word;
}

/* Little-endian, whatever the machine: both sides can be of different builds. */
static uint64_t load_word(const unsigned char *from, size_t n)
{
    uint64_t word = 0;
    size_t i;

    for (i = 0; i < n; i++)
        word |= (uint64_t)from[i] << 8 * i;
    return word;
}

uint64_t mst_siphash(const unsigned char key[MST_SIPHASH_KEY], const void *data, size_t size)
{
    uint64_t k0 = load_word(key, 8), k1 = load_word(key + 8, 8);
    struct siphash s = { { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                           k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) } };
    const unsigned char *at = data;
    size_t left;

    for (left = size; left >= 8; left -= 8, at += 8)
        siphash_word(&s, load_word(at, 8));
    siphash_word(&s, load_word(at, left) | (uint64_t)size << 56);
    s.v[2] ^= 0xff;
    siphash_rounds(&s, 4);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

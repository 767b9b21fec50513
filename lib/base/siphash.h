/* siphash.h - SipHash-2-4, a hash with a key of 128 bits. Without the key its output looks like
 * random bits, and finding the key from outputs means trying all keys. The hand-over
 * (handover.c) uses it; it is not for passwords or files.
 */
#ifndef MPMSTAT_SIPHASH_H
#define MPMSTAT_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define MST_SIPHASH_KEY 16u

uint64_t mst_siphash(const unsigned char key[MST_SIPHASH_KEY], const void *data, size_t size);

#endif

/* listen_hash.h - an address on which a pool listens, as one word of the board. */
#ifndef MPMSTAT_LISTEN_HASH_H
#define MPMSTAT_LISTEN_HASH_H

#include <stdint.h>

/* FNV-1a of an address as the kernel writes it: "127.0.0.1:9000", "/run/php.sock"; or of a port
 * alone ("9000"), where the pool listens on all addresses. */
static inline uint64_t mst_listen_hash(const char *address)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *address; address++)
        hash = (hash ^ (unsigned char)*address) * UINT64_C(0x100000001b3);
    return hash;
}

#endif

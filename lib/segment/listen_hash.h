/* listen_hash.h - an address on which a pool listens: as one word of the board, and whether it is
 * every address of the machine. */
#ifndef MPMSTAT_LISTEN_HASH_H
#define MPMSTAT_LISTEN_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fnv.h"

/* Of an address as the kernel writes it: "127.0.0.1:9000", "/run/php.sock"; or of a port
 * alone ("9000"), where the pool listens on all addresses. */
static inline uint64_t mst_listen_hash(const char *address)
{
    return mst_fnv_text(MST_FNV_BEGIN, address);
}

/* Whether the address, as the kernel writes it, is every address of the machine. */
static inline bool mst_listens_on_all(const char *address)
{
    return strncmp(address, "0.0.0.0:", 8) == 0 || strncmp(address, "[::]:", 5) == 0;
}

#endif

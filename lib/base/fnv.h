/* fnv.h - the hash FNV-1a, 64 bits: for tables. Others can make texts that have the same one. */
#ifndef MPMSTAT_FNV_H
#define MPMSTAT_FNV_H

#include <stddef.h>
#include <stdint.h>

#define MST_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t mst_fnv_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* Adds a text without its NUL. */
static inline uint64_t mst_fnv_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = mst_fnv_byte(hash, (unsigned char)*text);
    return hash;
}

#endif

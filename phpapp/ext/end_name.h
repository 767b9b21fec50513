/* end_name.h - the names of other ends, and their places in the board's table.
 *
 * A name is what is spoken there, host and port: "mysql 127.0.0.1:3306". Never a path, a query or
 * another argument.
 */
#ifndef MPMSTAT_PHP_END_NAME_H
#define MPMSTAT_PHP_END_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

/* A part of a text. */
struct mst_part {
    const char *text;
    size_t      length;
};

struct mst_part mst_part_of(const char *text);
/* In upper or lower case. */
bool mst_part_starts_with(struct mst_part p, const char *prefix);
bool mst_part_equals(struct mst_part p, const char *text);

/* A name in the making. What has no room is cut off. */
struct mst_end_name {
    char   text[MST_NAME_MAX];
    size_t length;
};

void mst_end_name_append(struct mst_end_name *n, struct mst_part p);
void mst_end_name_append_lower(struct mst_end_name *n, struct mst_part p);

/* A wait: enum mst_wait << 32 | index of the other end. */
static inline uint64_t mst_wait_of(uint32_t kind, uint32_t end)
{
    return (uint64_t)kind << 32 | end;
}

/* The wait for an other end whose name a script has chosen. */
uint64_t mst_wait_of_name(uint32_t kind, const char *name);
/* The same for "SERVICE HOST:PORT"; "SERVICE localhost" where there is no host, or a socket's
 * path. */
uint64_t mst_wait_of_host(uint32_t kind, struct mst_part service, struct mst_part host,
                          struct mst_part port);

/* An other end whose name is the extension's own. */
struct mst_own_end {
    uint32_t    kind;          /* enum mst_wait */
    uint32_t    index;         /* in the board's table, plus 1; 0: not looked up yet */
    const char *name;
};

uint64_t mst_own_end_look_up(struct mst_own_end *end);

/* The wait for it. */
static inline uint64_t mst_wait_of_own(struct mst_own_end *end)
{
    uint32_t index = __atomic_load_n(&end->index, __ATOMIC_RELAXED);

    if (index == 0 || !MPMSTAT_G(name_ends))
        return mst_own_end_look_up(end);
    return mst_wait_of(end->kind, index - 1);
}

#endif

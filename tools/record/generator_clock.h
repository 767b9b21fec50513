/* generator_clock.h - how far a load generator's clock is from the server's, by the requests that
 * both have seen.
 *
 * A request begins at the client before it begins at the server, and ends there later. So each pair
 * bounds the offset from both sides, and all pairs together bound it more closely than any of them.
 * Which request of the server was which of the client's is known where the client sent an id. Else
 * the offset is looked for at which most of the client's requests enclose one of the server's.
 */
#ifndef MPMSTAT_GENERATOR_CLOCK_H
#define MPMSTAT_GENERATOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request, by the clock of its side. The server's ends where it sends the response's first byte:
 * the client has all of it later. */
struct mst_span {
    int64_t  from_ns, to_ns;
    uint64_t client_id;              /* MST_UNKNOWN: none */
};

struct mst_spans { struct mst_span *items; size_t count, room; };

enum mst_clock_answer {
    MST_CLOCK_KNOWN,
    MST_CLOCK_UNSURE,                /* any offset explains the requests as well: 0 is taken */
    MST_CLOCK_STRANGE                /* no offset does, or they are of another time */
};

struct mst_generator_clock {
    enum mst_clock_answer answer;
    int64_t  ahead_ns;               /* generator's clock minus the server's */
    uint64_t uncertainty_ns;         /* the offset is at most this far from ahead_ns; KNOWN only */
    size_t   looked_at, fitting;     /* requests of the client: those that enclose one of the
                                      * server's, by the offset */
    bool     by_id;
};

/* Needs little more than 16 MB, and time for some ten million pairs, however many there are.
 * step_ns is the resolution of the client's instants. Sorts both. False: out of memory. */
bool mst_generator_clock_find(struct mst_generator_clock *offset, struct mst_spans *clients,
                           struct mst_spans *servers, uint64_t step_ns);

#endif

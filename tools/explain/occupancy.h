/* occupancy.h - how many workers were busy when, from when each request began and ended.
 *
 * Samples of the past are not there: the journal tells the same of requests. Workers that were held
 * by something else (idle keep-alive connections) are not in it.
 */
#ifndef MPMSTAT_OCCUPANCY_H
#define MPMSTAT_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mst_occupancy {
    uint64_t *begins, *ends;           /* instants, by request; unordered until a sweep */
    size_t    count, begin_room, end_room;
};

/* Adds a worker's time with one request. False: out of memory. */
bool mst_occupancy_add(struct mst_occupancy *o, uint64_t begin_ns, uint64_t end_ns);
void mst_occupancy_free(struct mst_occupancy *o);

/* The time of [from_ns, until_ns] in which any worker was busy; of what a sweep has ordered. */
uint64_t mst_occupancy_any_ns(const struct mst_occupancy *o, uint64_t from_ns, uint64_t until_ns);

/* One step of a sweep: the step's end, the most workers that were busy at once in it, and the time
 * of all workers since the sweep's begin. 0 to go on. */
typedef int mst_occupancy_step(void *context, uint64_t at_ns, uint64_t most, uint64_t busy_ns);

/* Goes through [from_ns, until_ns] in `steps` steps; orders what was added. Returns what a step
 * returned that was not 0, else 0. */
int mst_occupancy_sweep(struct mst_occupancy *o, uint64_t from_ns, uint64_t until_ns,
                        unsigned steps, mst_occupancy_step *step, void *context);

#endif

/* occupancy.c - how many workers were busy when: see occupancy.h. */
#include "explain/occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

bool mst_occupancy_add(struct mst_occupancy *o, uint64_t begin_ns, uint64_t end_ns)
{
    if (!mst_grow(&o->begins, &o->begin_room, o->count, sizeof *o->begins) ||
        !mst_grow(&o->ends, &o->end_room, o->count, sizeof *o->ends))
        return false;
    o->begins[o->count] = begin_ns;
    o->ends[o->count++] = end_ns > begin_ns ? end_ns : begin_ns;
    return true;
}

void mst_occupancy_free(struct mst_occupancy *o)
{
    free(o->begins);
    free(o->ends);
    memset(o, 0, sizeof *o);
}

static int by_instant(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

struct sweep {
    const struct mst_occupancy *o;
    size_t   begun, ended;
    uint64_t at_ns, most, busy_ns;
};

/* A request that took no time ends before it begins. */
static uint64_t busy_of(const struct sweep *s)
{
    return s->begun > s->ended ? s->begun - s->ended : 0;
}

static void pass_time(struct sweep *s, uint64_t at_ns)
{
    if (at_ns > s->at_ns) {
        s->busy_ns += busy_of(s) * (at_ns - s->at_ns);
        s->at_ns = at_ns;
    }
}

/* Goes on to `stop`. Of two at one instant the end comes first: the worker is free for the request
 * that begins. */
static void go_on(struct sweep *s, uint64_t stop)
{
    const struct mst_occupancy *o = s->o;
    bool begins;
    uint64_t at;

    while (s->ended < o->count) {
        begins = s->begun < o->count && o->begins[s->begun] < o->ends[s->ended];
        at = begins ? o->begins[s->begun] : o->ends[s->ended];
        if (at > stop)
            break;
        pass_time(s, at);
        s->begun += begins;
        s->ended += !begins;
        s->most = busy_of(s) > s->most ? busy_of(s) : s->most;
    }
    pass_time(s, stop);
}

int mst_occupancy_sweep(struct mst_occupancy *o, uint64_t from_ns, uint64_t until_ns,
                        unsigned steps, mst_occupancy_step *step, void *context)
{
    struct sweep s = { .o = o };
    uint64_t stop;
    unsigned i;
    int result = 0;

    if (o->count > 0) {
        qsort(o->begins, o->count, sizeof *o->begins, by_instant);
        qsort(o->ends, o->count, sizeof *o->ends, by_instant);
    }
    go_on(&s, from_ns);
    s.busy_ns = 0;
    for (i = 1; i <= steps && result == 0; i++) {
        s.most = busy_of(&s);
        stop = i < steps ? from_ns + (until_ns - from_ns) / steps * i : until_ns;
        go_on(&s, stop);
        result = step(context, stop, s.most, s.busy_ns);
    }
    return result;
}

uint64_t mst_occupancy_any_ns(const struct mst_occupancy *o, uint64_t from_ns, uint64_t until_ns)
{
    uint64_t sum = 0, begin, end;
    size_t i;

    /* Ordered by themselves, begins and ends are of other requests, but where none is busy as many
     * have ended as have begun. */
    for (i = 0; i < o->count; i++) {
        begin = i > 0 && o->ends[i - 1] > o->begins[i] ? o->ends[i - 1] : o->begins[i];
        begin = begin > from_ns ? begin : from_ns;
        end = o->ends[i] < until_ns ? o->ends[i] : until_ns;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

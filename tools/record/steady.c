/* steady.c - see steady.h. */
#include "record/steady.h"

#include <math.h>

#define APART    0.05   /* what the rates of the halves differ by at most */
#define REQUESTS 2.0    /* or the requests of the halves: an edge cuts one off or not */

/* Every other look goes, where there is no room left. */
static void thin(struct mst_steady *s)
{
    size_t i;

    for (i = 0; 2 * i < s->count; i++)
        s->looks[i] = s->looks[2 * i];
    s->count = i;
    s->step = s->step > 0 ? 2 * s->step : 2;
}

void mst_steady_see(struct mst_steady *s, uint64_t at_ns, uint64_t requests)
{
    if (s->count == 0 && requests == 0)
        return;
    if (s->count == MST_STEADY_LOOKS)
        thin(s);
    if (s->step > 0 && s->seen++ % s->step != 0)
        return;
    s->looks[s->count].at_ns = at_ns;
    s->looks[s->count++].requests = requests;
}

/* Whether the halves of the time since that look agree. */
static bool halves_agree(const struct mst_steady *s, size_t start)
{
    size_t last = s->count - 1, half = start;
    double first_s, second_s, first, second;

    while (s->looks[half].at_ns - s->looks[start].at_ns <
           s->looks[last].at_ns - s->looks[half].at_ns)
        half++;
    if (half == last)
        return false;
    first_s = (double)(s->looks[half].at_ns - s->looks[start].at_ns);
    second_s = (double)(s->looks[last].at_ns - s->looks[half].at_ns);
    first = (double)(s->looks[half].requests - s->looks[start].requests);
    second = (double)(s->looks[last].requests - s->looks[half].requests) * first_s / second_s;
    return first > 0 && fabs(second - first) <= fmax(APART * fmax(first, second), REQUESTS);
}

static bool lasted(const struct mst_steady *s, size_t start, uint64_t least_ns)
{
    return s->count > start + 2 &&
           s->looks[s->count - 1].at_ns - s->looks[start].at_ns >= least_ns;
}

bool mst_steady_is(const struct mst_steady *s, uint64_t least_ns)
{
    return lasted(s, 0, least_ns) && halves_agree(s, 0);
}

bool mst_steady_lately(const struct mst_steady *s, uint64_t lately_ns)
{
    size_t start = 0;

    while (lasted(s, start + 1, lately_ns))
        start++;
    return lasted(s, start, lately_ns) && halves_agree(s, start);
}

/* search.c - see search.h. */
#include "capacity/search.h"

#define GROWS  1.1     /* a rate that does not grow by so much has not grown: runs differ, too */
#define NEARLY 0.9     /* so much of the highest rate is nearly the same */
#define TENTH  10u     /* the knee is known where the levels around it are so near */
#define DOUBLED 2u     /* each load is so many times the one before, */
#define RAISED 4u      /* and two of them that bring no more show that the rate does not grow */

const char *const mst_level_is_names[MST_LEVEL_IS_COUNT] = {
    [MST_LEVEL_GOOD] = "good", [MST_LEVEL_FAILED] = "failed", [MST_LEVEL_BROKEN] = "slo-broken",
    [MST_LEVEL_SHORT] = "too-few", [MST_LEVEL_TOOL] = "load-tool",
};
const char *const mst_search_end_names[MST_SEARCH_END_COUNT] = {
    [MST_SEARCH_RISES] = "unfinished", [MST_SEARCH_FLAT] = "flat",
    [MST_SEARCH_FAILED] = "failed", [MST_SEARCH_BROKEN] = "slo-broken",
    [MST_SEARCH_SHORT] = "too-few", [MST_SEARCH_TOOL] = "load-tool", [MST_SEARCH_MOST] = "most",
};

/* ---- as far as the load was raised ----------------------------------------------- */

static size_t find_ceiling(const struct mst_level *levels, size_t count)
{
    size_t i;

    for (i = 0; i < count && levels[i].is == MST_LEVEL_GOOD; i++)
        ;
    return i;
}

static size_t find_best(const struct mst_level *levels, size_t count)
{
    size_t i, best = 0;

    for (i = 1; i < count; i++)
        if (levels[i].rate > levels[best].rate)
            best = i;
    return best;
}

/* The lowest level whose rate is nearly the highest. */
static size_t find_knee(const struct mst_level *levels, size_t best)
{
    size_t i;

    for (i = 0; i < best && levels[i].rate < NEARLY * levels[best].rate; i++)
        ;
    return i;
}

/* Whether a level that is much lower than the last one has nearly the highest rate; or the last one
 * has less, at twice the load. */
static bool is_flat(const struct mst_level *levels, size_t count, size_t best)
{
    const struct mst_level *last = &levels[count - 1];
    size_t i;

    for (i = 0; i < best && levels[i].rate * GROWS < levels[best].rate; i++)
        ;
    return last->at >= RAISED * levels[i].at ||
           (last->at >= DOUBLED * levels[best].at && last->rate < NEARLY * levels[best].rate);
}

static enum mst_search_end end_of(const struct mst_search_bounds *bounds,
                                  const struct mst_level *levels, size_t count,
                                  const struct mst_search *s)
{
    static const enum mst_search_end ends[MST_LEVEL_IS_COUNT] = {
        [MST_LEVEL_FAILED] = MST_SEARCH_FAILED, [MST_LEVEL_BROKEN] = MST_SEARCH_BROKEN,
        [MST_LEVEL_SHORT] = MST_SEARCH_SHORT, [MST_LEVEL_TOOL] = MST_SEARCH_TOOL,
    };

    if (s->ceiling < count)
        return ends[levels[s->ceiling].is];
    if (count == 0)
        return MST_SEARCH_RISES;
    if (!bounds->by_rate && is_flat(levels, count, s->best))
        return MST_SEARCH_FLAT;
    return levels[count - 1].at >= bounds->most ? MST_SEARCH_MOST : MST_SEARCH_RISES;
}

/* ---- what is between levels ------------------------------------------------------ */

/* The level between two that are too far apart to say where the knee is; 0: they are not. */
static uint64_t between(uint64_t low, uint64_t high)
{
    uint64_t near = high / TENTH > 1 ? high / TENTH : 1;

    return high - low > near ? low + (high - low) / 2 : 0;
}

/* Whether the rate still grew with the load up to this level, by more than half as much. */
static bool is_steep(const struct mst_level *levels, size_t level)
{
    double grows = level > 0 ? levels[level].rate - levels[level - 1].rate : levels[0].rate;
    uint64_t more = level > 0 ? levels[level].at - levels[level - 1].at : levels[0].at;

    return grows * (double)levels[level].at * 2 > levels[level].rate * (double)more;
}

/* Above the best level, where the next one is worse or the rate grew until there: it can be higher
 * between them. */
static uint64_t above_best(const struct mst_level *levels, size_t count,
                           const struct mst_search *s)
{
    size_t next = s->best + 1;

    if (next >= count || (next != s->ceiling && !is_steep(levels, s->best) &&
                          levels[next].rate >= NEARLY * levels[s->best].rate))
        return 0;
    return between(levels[s->best].at, levels[next].at);
}

static uint64_t raised(const struct mst_search_bounds *bounds, const struct mst_level *levels,
                       size_t count)
{
    uint64_t next = count == 0 ? bounds->first : DOUBLED * levels[count - 1].at;

    return next < bounds->most ? next : bounds->most;
}

void mst_search(struct mst_search *s, const struct mst_search_bounds *bounds,
                const struct mst_level *levels, size_t count)
{
    size_t good;

    *s = (struct mst_search){ .ceiling = find_ceiling(levels, count) };
    /* What the load tool made, the server took. */
    good = s->ceiling + (s->ceiling < count && levels[s->ceiling].is == MST_LEVEL_TOOL);
    s->has_best = good > 0;
    if (s->has_best) {
        s->best = find_best(levels, good);
        s->knee = bounds->by_rate ? s->best : find_knee(levels, s->best);
        s->low = s->knee > 0 ? levels[s->knee - 1].at : 0;
        s->high = levels[s->knee].at;
    }
    s->end = end_of(bounds, levels, count, s);
    if (s->end == MST_SEARCH_RISES)
        s->next = raised(bounds, levels, count);
    else if (s->end == MST_SEARCH_TOOL || s->end == MST_SEARCH_MOST)
        s->next = 0;
    else if (!s->has_best)
        s->next = between(0, levels[0].at);
    else
        s->next = above_best(levels, count, s);
    if (s->next == 0 && s->has_best && !bounds->by_rate && s->end != MST_SEARCH_TOOL &&
        s->end != MST_SEARCH_MOST)
        s->next = between(s->low, s->high);
    if (bounds->by_rate && s->has_best) {
        s->low = levels[s->best].at;
        s->high = s->ceiling < count ? levels[s->ceiling].at : s->low;
    }
}

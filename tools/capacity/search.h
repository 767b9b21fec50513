/* search.h - how much a server takes: which load to measure next, and where the knee is.
 *
 * The load is doubled until it is too much: its rate grows no more, what was promised does not
 * hold, answers fail. Then the load between the last good level and the next one is halved until
 * the place is known within a tenth. Nothing here measures: it takes the levels that were measured.
 */
#ifndef MPMSTAT_CAPACITY_SEARCH_H
#define MPMSTAT_CAPACITY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became of a load. The names are promises (JSON). */
enum mst_level_is {
    MST_LEVEL_GOOD,
    MST_LEVEL_FAILED,      /* answers failed, or the load tool did */
    MST_LEVEL_BROKEN,      /* what was promised does not hold */
    MST_LEVEL_SHORT,       /* fewer requests were done than the load asked for */
    MST_LEVEL_TOOL,        /* the load tool was the limit: the server takes at least as much */
    MST_LEVEL_IS_COUNT
};
extern const char *const mst_level_is_names[MST_LEVEL_IS_COUNT];

/* A load that was measured. */
struct mst_level {
    uint64_t at;           /* clients, or requests a second that are asked for */
    double   rate;         /* requests a second that were done */
    enum mst_level_is is;
};

struct mst_search_bounds {
    uint64_t first, most;  /* levels */
    bool     by_rate;      /* the load asks for a rate, and does not wait for answers */
};

/* Why the load is raised no further. The names are promises (JSON). */
enum mst_search_end {
    MST_SEARCH_RISES,      /* it can be raised yet */
    MST_SEARCH_FLAT,       /* the rate grows no more */
    MST_SEARCH_FAILED, MST_SEARCH_BROKEN, MST_SEARCH_SHORT, MST_SEARCH_TOOL,   /* a level is so */
    MST_SEARCH_MOST,       /* it is as high as it may be */
    MST_SEARCH_END_COUNT
};
extern const char *const mst_search_end_names[MST_SEARCH_END_COUNT];

struct mst_search {
    uint64_t next;         /* the level to measure; 0: all is known */
    enum mst_search_end end;
    size_t   ceiling;      /* the lowest level that is too much; the count of levels: none is */
    /* No level is good: has_best is false, and what follows is not set. */
    bool     has_best;
    size_t   best;         /* the level with the highest rate */
    size_t   knee;         /* the lowest level that has this rate, or nearly */
    uint64_t low, high;    /* the knee is above low, and not above high */
};

/* Looks at the levels, which are in ascending order and no two are the same. */
void mst_search(struct mst_search *search, const struct mst_search_bounds *bounds,
                const struct mst_level *levels, size_t count);

#endif

/* wait_place.c - from where in PHP's code the waits of a request were called.
 *
 * A place is a call stack, which a chain stands for: a hash of the instructions that are under way
 * in all its functions. So a call costs a walk over its callers; the names are looked for only as a
 * request comes to a place for the first time. Chains are valid for one request: what PHP compiles
 * later can have the same addresses.
 *
 * As the request ends, its waits become samples as those of CPU time are (profile.c): each stands
 * for PERIOD_NS or a multiple. What is left over is added to the next, so that all samples together
 * have the whole time.
 */
#include "wait_place.h"

#include "base/clock.h"
#include "code_place.h"

#define PERIOD_NS (10 * MST_NS_PER_MS)

/* The first entry from `at` on that has the chain or is free. */
static uint32_t find(const struct mst_wait_places *p, uint64_t chain, uint32_t at)
{
    while (p->all[at].chain != 0 && p->all[at].chain != chain)
        at = (at + 1) % MPMSTAT_WAIT_PLACES;
    return at;
}

/* Whether the entry could be taken for that chain: one stays free, where searches end. */
static bool take(struct mst_wait_places *p, uint32_t at, uint64_t chain, uint32_t stack)
{
    if (p->used_count == MPMSTAT_WAIT_PLACES - 1)
        return false;
    p->used[p->used_count++] = (uint8_t)at;
    p->all[at] = (struct mst_wait_place){ .chain = chain, .stack = stack, .sum = MPMSTAT_NO_SUM };
    return true;
}

void mst_wait_place_begin(struct mst_waits *w)
{
    w->places.is_on = w->is_on && MPMSTAT_G(places) && mst_php.board.stack_count > 0;
}

uint32_t mst_wait_place_find(struct mst_waits *w, const zend_execute_data *call)
{
    struct mst_wait_places *p = &w->places;
    uint64_t chain;
    uint32_t at;

    if (!p->is_on)
        return MPMSTAT_NO_PLACE;
    chain = mst_place_chain(call);
    at = find(p, chain, (uint32_t)(chain >> 32) % MPMSTAT_WAIT_PLACES);
    if (p->all[at].chain == 0 && !take(p, at, chain, mst_place_stack(call, NULL)))
        return MPMSTAT_NO_PLACE;
    return at;
}

struct mst_wait_place *mst_wait_place_other(struct mst_waits *w, uint32_t place, uint32_t sum)
{
    struct mst_wait_places *p = &w->places;
    const struct mst_wait_place of = p->all[place];

    do
        place = find(p, of.chain, (place + 1) % MPMSTAT_WAIT_PLACES);
    while (p->all[place].chain != 0 && p->all[place].sum != sum);
    return p->all[place].chain != 0 || take(p, place, of.chain, of.stack) ? &p->all[place] : NULL;
}

struct mst_php_wait_place mst_wait_place_longest(const struct mst_waits *w, uint32_t sum,
                                                 uint64_t ns)
{
    const struct mst_wait_place *longest = NULL;
    uint32_t i;

    for (i = 0; i < w->places.used_count; i++) {
        const struct mst_wait_place *p = &w->places.all[w->places.used[i]];

        if (p->sum == sum && (!longest || p->ns > longest->ns))
            longest = p;
    }
    if (!longest)
        return (struct mst_php_wait_place){ 0 };
    return (struct mst_php_wait_place){ (uint64_t)longest->stack << 32 | longest->calls,
                                        longest->ns < ns ? longest->ns : ns };
}

static uint32_t kind_of(const struct mst_waits *w, const struct mst_wait_place *place)
{
    return w->sums[place->sum].kind;
}

void mst_wait_place_end(struct mst_waits *w)
{
    struct mst_wait_places *p = &w->places;
    uint32_t i;

    for (i = 0; i < p->used_count; i++) {
        struct mst_wait_place *place = &p->all[p->used[i]];

        p->left_ns += place->ns;
        if (place->sum != MPMSTAT_NO_SUM && p->left_ns >= PERIOD_NS) {
            mst_place_sample(place->stack, kind_of(w, place) + 1,
                             p->left_ns - p->left_ns % PERIOD_NS);
            p->left_ns %= PERIOD_NS;
        }
        place->chain = 0;
    }
    p->used_count = 0;
    p->is_on = false;
}

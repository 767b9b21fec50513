/* fleet.c - judges each of several servers, and says once what several have: see fleet.h. */
#include "findings/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/array.h"
#include "base/ratio.h"
#include "findings/sentences.h"

/* The findings of all servers, one by one, and what each explains of its own server's time. */
struct one { struct mst_finding f; uint64_t own_weight; };
struct collection { struct one *items; size_t count; };

/* From a server's to that of all servers, of which it has `part` of `whole`. */
static uint64_t of_fleet(uint64_t number, uint64_t part, uint64_t whole)
{
    return number == MST_UNKNOWN || whole == 0 ? number : mst_scale(number, part, whole);
}

/* Whether the shares of several servers are parts of one whole, all servers' time or requests. */
static bool sums_up(const struct mst_finding *f)
{
    return f->share_of == MST_SHARE_OF_TIME || f->share_of == MST_SHARE_OF_REQUESTS;
}

/* From a share of the time or requests of a server to one of all. What comes before all shares
 * stays there, and failures stay in sight. */
static void scale(struct mst_finding *f, enum mst_fleet_share share, uint64_t part, uint64_t whole)
{
    uint64_t floor = share == MST_FLEET_REQUESTS && f->weight >= MST_HEADLINE_MILLI ?
                     MST_HEADLINE_MILLI - 1 : 0;

    if (sums_up(f))
        f->share_milli = of_fleet(f->share_milli, part, whole);
    if (f->weight >= MST_WEIGHT_FIRST)
        return;
    f->weight = of_fleet(f->weight, part, whole);
    if (f->weight < floor)
        f->weight = floor;
}

/* Takes the findings from `first` on away from the run's. */
static bool collect(struct collection *all, struct mst_inquiry *q, size_t first,
                    enum mst_fleet_share share, const struct mst_summary_all *fronts)
{
    const struct mst_summary_server *front = q->b.front;
    struct mst_summary *s = q->s;
    struct one *one;

    for (; s->finding_count > first; s->finding_count--) {
        one = mst_append(&all->items, &all->count, sizeof *one);
        if (one == NULL)
            return false;
        one->f = s->findings[s->finding_count - 1];
        one->own_weight = one->f.weight;
        strncpy(one->f.server, mst_summary_called(front), sizeof one->f.server - 1);
        if (share == MST_FLEET_TIME)
            scale(&one->f, share, q->b.total_ns,
                  mst_known(fronts->phases[MST_PHASE_TOTAL].sum_ns));
        else
            scale(&one->f, share, front->requests, fronts->requests);
    }
    return true;
}

/* 0 where both say the same of two servers; why something cannot be told is in the text only. */
static int compare_kinds(const struct mst_finding *a, const struct mst_finding *b)
{
    int order = strcmp(a->subject, b->subject);

    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    return order != 0 || a->certainty != MST_CANNOT_TELL ? order : strcmp(a->text, b->text);
}

/* Puts findings that say the same next to each other, first the one that explains most of its own
 * server's time. */
static int by_kind(const void *left, const void *right)
{
    const struct one *a = left, *b = right;
    int order = compare_kinds(&a->f, &b->f);

    if (order == 0 && a->own_weight != b->own_weight)
        order = a->own_weight > b->own_weight ? -1 : 1;
    return order != 0 ? order : strcmp(a->f.server, b->f.server);
}

/* The sum of those that are known. */
static uint64_t add_known(uint64_t a, uint64_t b)
{
    return a == MST_UNKNOWN ? b : b == MST_UNKNOWN ? a : a + b;
}

/* The sum where there is one whole, else the largest share. */
static void add_share(struct mst_finding *f, const struct mst_finding *more)
{
    if (more->share_of != f->share_of || more->share_milli == MST_UNKNOWN)
        return;
    if (sums_up(f))
        f->share_milli = add_known(f->share_milli, more->share_milli);
    else if (f->share_milli == MST_UNKNOWN || f->share_milli < more->share_milli)
        f->share_milli = more->share_milli;
}

/* Findings of `count` servers as one. */
static bool add_as_one(struct mst_summary *s, const struct one *same, size_t count, size_t servers)
{
    struct mst_finding *f = mst_append(&s->findings, &s->finding_count, sizeof *f);
    bool same_action = true;
    size_t i;

    if (f == NULL)
        return false;
    *f = same[0].f;
    f->servers = count;
    for (i = 1; i < count; i++) {
        add_share(f, &same[i].f);
        f->requests = add_known(f->requests, same[i].f.requests);
        if (f->weight < MST_WEIGHT_FIRST)
            f->weight += same[i].f.weight;
        same_action = same_action && strcmp(same[i].f.action, f->action) == 0;
    }
    mst_say_servers(f, count == 2 ? same[1].f.server : NULL, servers, same_action);
    return true;
}

static bool add_all(struct mst_summary *s, struct collection *all, size_t servers)
{
    const struct one *one = all->items;
    size_t i, same;
    bool fine = true;

    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, by_kind);
    for (i = 0; fine && i < all->count; i += same) {
        for (same = 1; i + same < all->count && compare_kinds(&one[i + same].f, &one[i].f) == 0;
             same++)
            ;
        fine = add_as_one(s, &one[i], same, servers);
    }
    return fine;
}

void mst_for_each_front(struct mst_inquiry *q, enum mst_fleet_share share,
                        void (*rule)(struct mst_inquiry *q))
{
    struct mst_summary_all fronts = mst_summary_fronts(q->s);
    const struct mst_budget of_front = q->b;
    struct collection all = { 0 };
    size_t first = q->s->finding_count, served = 0, i;
    bool fine = true;

    if (!q->b.fleet) {
        rule(q);
        return;
    }
    for (i = 0; i < q->s->server_count && fine; i++) {
        if (!mst_is_served(&of_front, &q->s->servers[i]))
            continue;
        served++;
        q->b = mst_budget_of(&of_front, &q->s->servers[i]);
        rule(q);
        fine = collect(&all, q, first, share, &fronts);
    }
    q->b = of_front;
    q->failed |= !fine || !add_all(q->s, &all, served);
    free(all.items);
}

/* The heaviest finding that is of that server alone, by its name or its PHP's. */
static struct mst_finding *cause_of(struct mst_summary *s, const char *called)
{
    struct mst_finding *cause = NULL, *f;
    const char *name = called;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (strcmp(mst_summary_called(&s->servers[i]), called) == 0)
            name = mst_summary_called(mst_summary_front_of(s, &s->servers[i],
                                                           mst_summary_front(s)));
    for (i = 0; i < s->finding_count; i++) {
        f = &s->findings[i];
        if (f->servers == 1 && f->certainty != MST_CANNOT_TELL &&
            strncmp(f->server, name, sizeof f->server - 1) == 0 &&
            (cause == NULL || f->weight > cause->weight))
            cause = f;
    }
    return cause;
}

void mst_fleet_causes_first(struct mst_summary *s)
{
    struct mst_finding *cause;
    size_t i;

    for (i = 0; i < s->finding_count; i++) {
        if (s->findings[i].code != MST_CODE_ODD_SERVER)
            continue;
        cause = cause_of(s, s->findings[i].subject);
        if (cause != NULL && cause->weight <= s->findings[i].weight)
            cause->weight = s->findings[i].weight + 1;
    }
}

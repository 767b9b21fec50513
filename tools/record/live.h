/* live.h - the line on a terminal while a run is recorded: what the samplers have seen so far, and
 * what is plain from it.
 *
 * It looks at nothing itself: a look is put together of the latest samples.
 */
#ifndef MPMSTAT_LIVE_H
#define MPMSTAT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/sampler.h"

/* All servers of a kind together. MST_UNKNOWN: not known. */
struct mst_live_side {
    bool     exists;
    uint64_t requests, errors;         /* since the servers' start; answers with 5xx */
    uint64_t busy, limit;              /* workers */
};

struct mst_live_look {
    uint64_t at_ns;                    /* CLOCK_MONOTONIC */
    bool     all_answer;               /* no server's latest sample failed */
    struct mst_live_side apache, php;
    uint64_t queue, queue_limit;       /* the accept queue that is fullest */
};

/* The requests that were done at a moment. */
struct mst_live_mark { uint64_t at_ns, requests, errors; };

/* When all workers were seen busy: first and last, with less than a second between two such looks:
 * each worker is idle for a moment between two requests. since_ns 0: they are not. */
struct mst_live_full { uint64_t since_ns, last_ns; };

struct mst_live {
    const char *lead;                  /* what the line begins with: "run 2 of 10"; "" nothing */
    uint64_t    began_ns, drawn_ns;
    struct mst_live_look look;         /* the latest */
    struct mst_live_mark now;          /* since the begin */
    struct mst_live_mark marks[2];     /* the later one is at most a second old; the rate is of
                                        * the time since the earlier one */
    struct mst_live_full apache_full, php_full;
};

/* Puts the latest samples together. */
struct mst_live_look mst_live_look_at(const struct mst_sampler *samplers, size_t count,
                                      uint64_t now_ns);

/* The load begins at the time of the look. */
void mst_live_begin(struct mst_live *live, const char *lead, const struct mst_live_look *look);

/* Takes a later look. */
void mst_live_see(struct mst_live *live, const struct mst_live_look *look);

/* Writes the line, at most `width` columns. Where it is too long, the fields at its end are left
 * out, but not the finding. */
void mst_live_text(const struct mst_live *live, size_t width, char *text, size_t size);

/* Draws it, a few times a second; call it as often as you like. */
void mst_live_draw(struct mst_live *live);

#endif

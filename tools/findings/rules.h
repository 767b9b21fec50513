/* rules.h - the rules that make findings, by group; findings.c calls all of them.
 *
 * A rule adds a finding where its evidence is there. How much it explains is its weight: so the
 * rules do not exclude each other, and no threshold of one hides another. The sentences are in
 * sentences.c.
 */
#ifndef MPMSTAT_RULES_H
#define MPMSTAT_RULES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "findings/budget.h"

struct mst_inquiry {
    struct mst_summary *s;
    sqlite3            *db;
    struct mst_budget   b;
    bool                failed;   /* SQLite failed, or memory ran out */
};

/* Adds a finding; its share is part_ns of the time of all requests, and so is its weight at first.
 * Never NULL: where memory runs out the inquiry has failed, and the finding is nobody's. */
struct mst_finding *mst_found(struct mst_inquiry *q, enum mst_code code,
                              enum mst_certainty certainty, uint64_t part_ns);
/* The same of a share of all requests: how many. */
struct mst_finding *mst_found_requests(struct mst_inquiry *q, enum mst_code code,
                                       enum mst_certainty certainty, uint64_t requests,
                                       uint64_t of);
/* A figure for programs; unknown ones are left out. */
void mst_found_number(struct mst_finding *f, const char *name, uint64_t value);
void mst_found_subject(struct mst_finding *f, const char *subject);

/* Why what was recorded is no evidence of what ran out. NULL: it is. */
const char *mst_find_obstacle(const struct mst_inquiry *q, enum mst_code *code);

void mst_find_failures(struct mst_inquiry *q);     /* failed.c */
void mst_find_memory(struct mst_inquiry *q);       /* machine.c */
void mst_find_cpu(struct mst_inquiry *q);          /* machine.c */
void mst_find_exhausted(struct mst_inquiry *q);    /* machine.c */
void mst_find_generator(struct mst_inquiry *q);    /* client.c */
void mst_find_beyond(struct mst_inquiry *q);       /* client.c */
void mst_find_workers(struct mst_inquiry *q);      /* workers.c */
void mst_find_queues(struct mst_inquiry *q);       /* workers.c */
void mst_find_holders(struct mst_inquiry *q);      /* held.c */
void mst_find_waits(struct mst_inquiry *q);        /* waited.c */
void mst_find_tail(struct mst_inquiry *q);         /* tail.c */

/* What a limited resource explains of the time that requests waited for workers: workers that it
 * holds for part_ns of their requests' time are held that much longer. Thousandths. */
uint64_t mst_weight_with_queue(const struct mst_budget *b, uint64_t part_ns);

#endif

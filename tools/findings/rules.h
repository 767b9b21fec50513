/* rules.h - the rules that make findings, by group; findings.c calls all of them.
 *
 * A rule adds a finding where its evidence is there. How much it explains is its weight: so the
 * rules do not exclude each other, and no threshold of one hides another. The sentences are in
 * sentences.c.
 */
#ifndef MPMSTAT_RULES_H
#define MPMSTAT_RULES_H

#include "findings/inquiry.h"

/* Of the run. */
void mst_find_client_failures(struct mst_inquiry *q);   /* unanswered.c */
void mst_find_memory(struct mst_inquiry *q);       /* machine.c */
void mst_find_cpu(struct mst_inquiry *q);          /* machine.c */
/* Whether requests can have waited so long, all together, for CPUs that others had. */
bool mst_cpu_explains(const struct mst_inquiry *q, uint64_t ns);   /* machine.c */
/* Whether they can have waited so long for each other at the CPUs: more threads wanted one at once
 * than there are CPUs, also where these were not full for all of the run. */
bool mst_crowd_explains(const struct mst_inquiry *q, uint64_t ns);   /* machine.c */
void mst_find_exhausted(struct mst_inquiry *q);    /* machine.c */
void mst_find_generator(struct mst_inquiry *q);    /* client.c */
void mst_find_beyond(struct mst_inquiry *q);       /* client.c */
void mst_find_odd(struct mst_inquiry *q);          /* odd.c */
void mst_find_accept_queue(struct mst_inquiry *q); /* workers.c */

/* Of one server, the budget's front, and the PHP behind it. */
void mst_find_failures(struct mst_inquiry *q);     /* failed.c */
void mst_find_down(struct mst_inquiry *q);         /* down.c; after failures */
void mst_find_workers(struct mst_inquiry *q);      /* workers.c */
void mst_find_h2_workers(struct mst_inquiry *q);   /* workers.c */
void mst_find_holders(struct mst_inquiry *q);      /* held.c */
void mst_find_waits(struct mst_inquiry *q);        /* waited.c */
/* Adds to a finding about slow or stuck requests that a process of the front or its PHP was
 * stopped, or waited uninterruptibly, while it had requests; where it cannot be told why requests
 * waited, also that one was stopped while it had none. */
void mst_note_halted(struct mst_inquiry *q, struct mst_finding *f);   /* halted.c */
/* Whether a process of the server was seen stopped. */
bool mst_was_stopped(struct mst_inquiry *q, const struct mst_summary_server *server);
void mst_find_tail(struct mst_inquiry *q);         /* tail.c */
void mst_find_cold_start(struct mst_inquiry *q);   /* cold.c */
void mst_find_predictions(struct mst_inquiry *q);   /* without.c; after waits and workers */

/* The configuration of what the findings from number `first` on advise. settings.c; after these. */
void mst_find_settings(struct mst_inquiry *q, size_t first);
/* Says them behind the text, without the first `named`, which it names itself; and which files to
 * edit, what checks them, and what makes the server read them. Nothing where there are none. */
void mst_say_changes(char *text, size_t size, const struct mst_changes *c, size_t named);
/* A number that an Apache runs with, as it told or as its files have it; MST_UNKNOWN. */
uint64_t mst_setting_number(struct mst_inquiry *q, const struct mst_summary_server *apache,
                            const char *directive);
void mst_find_stall(struct mst_inquiry *q);        /* stall.c; after all others */

#endif

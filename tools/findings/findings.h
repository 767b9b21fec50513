/* findings.h - what a run's numbers mean: findings, strongest first, and the verdict. */
#ifndef MPMSTAT_FINDINGS_H
#define MPMSTAT_FINDINGS_H

#include "analysis/summary.h"

/* Makes s->findings and s->verdict of a summary of that archive, which has none yet. 0, or -1 with
 * a sentence. */
int mst_findings_make(struct mst_summary *s, struct mst_archive *a, char error[MST_ERROR_MAX]);

/* The same without predictions: these take a second of simulations. What advice needs them for, as
 * the number of workers from which on the CPUs are the limit, is not in it. */
int mst_findings_causes(struct mst_summary *s, struct mst_archive *a, char error[MST_ERROR_MAX]);

/* mst_summary_make(), with s->findings and s->verdict. 0, or -1 with a sentence. Free with
 * mst_summary_free() in either case. */
int mst_findings_summary(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                         char error[MST_ERROR_MAX]);

/* The same with s->sizing, which takes more simulations. */
int mst_findings_sizing(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                        char error[MST_ERROR_MAX]);

/* Adds a finding that was made elsewhere, in its order, and makes the verdict of all. False: out of
 * memory. */
bool mst_findings_add(struct mst_summary *s, const struct mst_finding *f);

/* What to do about PHP's waits of that name (database, lock, ...): a sentence. NULL: there is no
 * such wait. */
const char *mst_wait_action(const char *wait);

#endif

/* steps.h - the steps of an explanation, in this order: for the files of this room. */
#ifndef MPMSTAT_EXPLAIN_STEPS_H
#define MPMSTAT_EXPLAIN_STEPS_H

#include <string.h>

#include "explain/explain.h"

/* now.c: opens the servers and looks at them once. An enum mst_exit, having said the error. */
int mst_explain_look(struct mst_explanation *e, const struct mst_target_names *targets);

static inline bool mst_server_is_php(const struct mst_explained_server *s)
{
    return mst_source_identity(s->source)->producer == MST_PRODUCER_PHP;
}

/* The workers of any other PHP than FPM's are Apache's, or end with their request. */
static inline bool mst_server_is_fpm(const struct mst_explained_server *s)
{
    return strcmp(mst_source_identity(s->source)->sapi, "fpm-fcgi") == 0;
}

/* The summary's server of these; NULL: it has none. */
static inline struct mst_summary_server *
mst_explain_summary_of(struct mst_explanation *e, const struct mst_explained_server *s)
{
    size_t i;

    for (i = 0; i < e->summary.server_count; i++)
        if (e->summary.servers[i].id == s->id)
            return &e->summary.servers[i];
    return NULL;
}

/* now.c: what their workers do, in the order of the servers. Free the array. NULL: out of
 * memory. */
struct mst_present **mst_explain_present(struct mst_explanation *e);

/* now.c: the process of each server that has most of the descriptors that it may have, into the
 * summary. */
void mst_explain_note_files(struct mst_explanation *e);

/* past.c: makes a run of what the journals have of the last minutes, or an empty one where a server
 * is stuck. An enum mst_exit, having said the error. */
int mst_explain_past(struct mst_explanation *e);

/* stuck.c: adds the findings of what stuck workers do now, and those of down.c. False: out of
 * memory. */
bool mst_explain_now(struct mst_explanation *e);

/* cpus.c: tells the archive how many CPUs the servers may use, where that is known. -1: the archive
 * failed. */
int mst_explain_add_cpus(struct mst_explanation *e);
/* What is known of the servers' CPU time, into the summary. */
void mst_explain_note_cpu(struct mst_explanation *e);

/* down.c: looks for a time before PHP-FPM was started in which requests for it failed, while the
 * archive has them; adds the findings of servers that do not run. False: the archive failed; out of
 * memory. */
bool mst_explain_outage(struct mst_explanation *e);
bool mst_explain_down(struct mst_explanation *e);

#endif

/* record_pairs.c - pairs of runs until they decide: see record_pairs.h. */
#include "cli/record_pairs.h"

#include <stdio.h>

#include "analysis/thresholds.h"
#include "console/diag.h"
#include "console/format.h"
#include "console/output.h"
#include "memory/pool.h"
#include "report/comparison.h"

/* ---- runs ------------------------------------------------------------------------ */

static bool is_fine(const struct mst_summary *s)
{
    uint64_t mean_ns = mst_metric_get(&mst_metrics[MST_M_MEAN], s);

    return mean_ns != MST_UNKNOWN && mean_ns > 0 &&
           (s->client.time_step_ns == MST_UNKNOWN ||
            (double)s->client.time_step_ns <= MST_COARSE_CLOCK * (double)mean_ns);
}

int mst_pairs_add(struct mst_pairs *pairs, size_t variant, const struct mst_summary *summary)
{
    uint64_t time_ns;

    if (pairs->metric == NULL)
        pairs->metric = &mst_metrics[is_fine(summary) ? MST_M_MEAN : MST_M_SERVER_MEAN];
    time_ns = mst_metric_get(pairs->metric, summary);
    if (time_ns == MST_UNKNOWN || time_ns == 0)
        return mst_failed(MST_EXIT_BAD, "nothing can be decided: run %lld has no mean time of a "
                          "request, neither by the load tool nor by a server",
                          (long long)summary->id);
    pairs->times[variant][pairs->runs[variant]++] = (double)time_ns;
    return MST_EXIT_OK;
}

bool mst_pairs_go_on(struct mst_pairs *pairs, uint64_t took_ns)
{
    pairs->pairs_ns += took_ns;
    if (took_ns > pairs->longest_ns)
        pairs->longest_ns = took_ns;
    pairs->decision = mst_sequence_look(&pairs->seen, pairs->times[0], pairs->times[1],
                                        pairs->runs[0], pairs->limit);
    return pairs->decision == MST_DECISION_NONE && pairs->runs[0] < MST_SEQUENCE_LAST &&
           pairs->pairs_ns + pairs->longest_ns <= pairs->within_ns;
}

/* ---- what is said ---------------------------------------------------------------- */

void mst_pairs_put_look(const struct mst_pairs *pairs)
{
    printf("after %zu pair%s, the time of B: %s\n", pairs->runs[0],
           pairs->runs[0] == 1 ? "" : "s", pairs->seen.by);
    mst_flush_output();
}

/* The sentence that compare has for the runs of these names. Where the archive had such runs
 * before, it is about all of them: then the pairs' own. */
static void put_comparison(const struct mst_pairs *pairs, const char *archive,
                           const char *const names[2])
{
    struct mst_comparison_table t = { .limit = -1, .pool = mst_pool_new(NULL) };
    char error[MST_ERROR_MAX];
    const char *given[2];
    size_t i;

    for (i = 0; i < 2; i++)
        given[i] = apr_pstrcat(t.pool, archive, "#", names[i], NULL);
    if (mst_compare_side_read(t.pool, &t.a, given[0], error) != 0 ||
        mst_compare_side_read(t.pool, &t.b, given[1], error) != 0) {
        mst_warn("%s", error);
    } else {
        mst_comparison_make(&t, NULL, 0);
        if (t.a.count == pairs->runs[0])
            puts(t.sentence);
        else
            printf("The time of B: %s. The archive has earlier runs of these names, which "
                   "compare would count.\n", pairs->seen.by);
    }
    mst_comparison_end(&t);
    apr_pool_destroy(t.pool);
}

void mst_pairs_put_decision(const struct mst_pairs *pairs, const char *archive,
                            const char *const names[2])
{
    size_t count = pairs->runs[0];

    switch (pairs->decision) {
    case MST_DECISION_DIFFERENT:
        printf("Decided after %zu pairs. ", count);
        break;
    case MST_DECISION_SAME:
        printf("Decided after %zu pairs: A and B differ by less than %g %%. The time of "
               "B: %s.\n",
               count, pairs->limit * 100, pairs->seen.by);
        return;
    case MST_DECISION_NONE:
        printf("Not decided after %zu pair%s%s. ", count, count == 1 ? "" : "s",
               count == MST_SEQUENCE_LAST ? ", which is the most" :
               ": another one could end after --within");
        break;
    }
    put_comparison(pairs, archive, names);
}

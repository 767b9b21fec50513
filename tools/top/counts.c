/* counts.c - a server's counters as the model keeps them: see counts.h. */
#include "top/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "read/split.h"

bool mst_top_is_status(const char *label)
{
    return label != NULL && strcmp(label, MST_LABEL_STATUS_NAME) == 0;
}

void mst_top_copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text != NULL ? text : "");
}

/* ---- collecting ------------------------------------------------------------------------------ */

static struct mst_top_times times_of(const struct mst_snapshot_phase *phase)
{
    return (struct mst_top_times){ phase->count, phase->sum_ns };
}

static void count_label_into(struct mst_top_counts *c, const struct mst_snapshot_label *label)
{
    unsigned i;

    c->requests = mst_add_saturated(c->requests, label->requests);
    mst_split_add_label(c->parts_ns, label);
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        struct mst_top_times times = times_of(&label->phases[i]);

        c->phases[i].count = mst_add_saturated(c->phases[i].count, times.count);
        c->phases[i].sum_ns = mst_add_saturated(c->phases[i].sum_ns, times.sum_ns);
    }
    mst_histogram_add(&c->histogram, &label->phases[MST_PHASE_TOTAL].times);
}

static bool add_label(struct mst_top_counts *c, const struct mst_snapshot_label *from)
{
    struct mst_top_label_counts *to;

    if (!mst_grow(&c->labels, &c->label_room, c->label_count, sizeof *c->labels))
        return false;
    to = &c->labels[c->label_count++];
    mst_top_copy(to->name, sizeof to->name, from->label);
    to->requests = from->requests;
    to->class_4xx = from->status[MST_CLASS_4XX];
    to->class_5xx = from->status[MST_CLASS_5XX];
    to->total = times_of(&from->phases[MST_PHASE_TOTAL]);
    to->histogram = from->phases[MST_PHASE_TOTAL].times;
    return true;
}

static bool add_end(struct mst_top_counts *c, const struct mst_snapshot_end *from)
{
    struct mst_top_end_counts *to;

    if (!mst_grow(&c->ends, &c->end_room, c->end_count, sizeof *c->ends))
        return false;
    to = &c->ends[c->end_count++];
    mst_top_copy(to->kind, sizeof to->kind, from->end_kind);
    mst_top_copy(to->name, sizeof to->name, from->name);
    to->calls = from->calls;
    to->failed = from->failed;
    to->time_ns = from->end_ns;
    return true;
}

static void count_lifecycle(struct mst_top_counts *c, const struct mst_snapshot *board)
{
    c->forks = mst_add_saturated(board->forks[MST_KIND_CHILD], board->forks[MST_KIND_PHP]);
    memcpy(c->exits, board->exits, sizeof c->exits);
    c->forks_failed = board->forks_failed;
    c->generations = board->generations;
    c->unfinished = board->unfinished;
    c->overflows = board->listen_overflows;
}

static void begin(struct mst_top_counts *c)
{
    struct mst_top_label_counts *labels = c->labels;
    struct mst_top_end_counts *ends = c->ends;
    size_t label_room = c->label_room, end_room = c->end_room;

    memset(c, 0, sizeof *c);
    c->labels = labels;
    c->label_room = label_room;
    c->ends = ends;
    c->end_room = end_room;
}

bool mst_top_count(struct mst_top_counts *c, const struct mst_snapshot *board)
{
    bool complete = true;
    size_t i;

    begin(c);
    count_lifecycle(c, board);
    for (i = 0; i < board->label_count && complete; i++) {
        if (mst_top_is_status(board->labels[i].label))
            continue;
        count_label_into(c, &board->labels[i]);
        complete = add_label(c, &board->labels[i]);
    }
    for (i = 0; i < board->end_count && complete; i++)
        if (!mst_top_is_status(board->ends[i].name))   /* the handler */
            complete = add_end(c, &board->ends[i]);
    return complete;
}

void mst_top_counts_free(struct mst_top_counts *c)
{
    free(c->labels);
    free(c->ends);
}

/* ---- comparing ------------------------------------------------------------------------------- */

uint64_t mst_top_added(uint64_t before, uint64_t now)
{
    return before == MST_UNKNOWN || now == MST_UNKNOWN ? MST_UNKNOWN : mst_elapsed(before, now);
}

/* Names are only ever added: an entry is where it was, or a little before. */
const struct mst_top_label_counts *mst_top_find_label(const struct mst_top_counts *c,
                                                      const char *name, size_t hint)
{
    size_t i, at;

    for (i = 0; i < c->label_count; i++) {
        at = (hint + c->label_count - i) % c->label_count;
        if (strcmp(c->labels[at].name, name) == 0)
            return &c->labels[at];
    }
    return NULL;
}

const struct mst_top_end_counts *mst_top_find_end(const struct mst_top_counts *c,
                                                  const struct mst_top_end_counts *like,
                                                  size_t hint)
{
    size_t i, at;

    for (i = 0; i < c->end_count; i++) {
        at = (hint + c->end_count - i) % c->end_count;
        if (strcmp(c->ends[at].name, like->name) == 0 && strcmp(c->ends[at].kind, like->kind) == 0)
            return &c->ends[at];
    }
    return NULL;
}

uint64_t mst_top_mean(struct mst_top_times before, struct mst_top_times now)
{
    uint64_t count = mst_top_added(before.count, now.count);
    uint64_t sum_ns = mst_top_added(before.sum_ns, now.sum_ns);

    return count > 0 && count != MST_UNKNOWN && sum_ns != MST_UNKNOWN ? sum_ns / count
                                                                      : MST_UNKNOWN;
}

uint64_t mst_top_p99(const struct mst_histogram *before, const struct mst_histogram *now)
{
    struct mst_histogram added;
    unsigned i;

    added.sum_ns = mst_elapsed(before->sum_ns, now->sum_ns);
    added.max_ns = now->max_ns;
    for (i = 0; i < MST_HIST_BUCKETS; i++)
        added.buckets[i] = mst_elapsed(before->buckets[i], now->buckets[i]);
    return mst_histogram_quantile(&added, 0.99);
}

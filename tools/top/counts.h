/* counts.h - a server's counters as the model keeps them between two snapshots. */
#ifndef MPMSTAT_TOP_COUNTS_H
#define MPMSTAT_TOP_COUNTS_H

#include "top/model.h"

/* Whether the status page's own requests are counted there: they are not load. */
bool mst_top_is_status(const char *label);

/* Copies a string of a board; NULL as "". */
void mst_top_copy(char *to, size_t size, const char *text);

/* Fills *c, whose arrays are used again. False: out of memory, labels or other ends are missing. */
bool mst_top_count(struct mst_top_counts *c, const struct mst_snapshot *board);
void mst_top_counts_free(struct mst_top_counts *c);

/* The entry of that name, looked for from index `hint` on. NULL: there is none. */
const struct mst_top_label_counts *mst_top_find_label(const struct mst_top_counts *c,
                                                      const char *name, size_t hint);
const struct mst_top_end_counts *mst_top_find_end(const struct mst_top_counts *c,
                                                  const struct mst_top_end_counts *like,
                                                  size_t hint);

/* What was added to a counter; MST_UNKNOWN where either is unknown. */
uint64_t mst_top_added(uint64_t before, uint64_t now);

/* Of the times that were added; MST_UNKNOWN: none was, or it is not known. */
uint64_t mst_top_mean(struct mst_top_times before, struct mst_top_times now);
uint64_t mst_top_p99(const struct mst_histogram *before, const struct mst_histogram *now);

#endif

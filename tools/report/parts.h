/* parts.h - the parts that a request's time at a server consists of, for tables and bars. */
#ifndef MPMSTAT_PARTS_H
#define MPMSTAT_PARTS_H

#include "analysis/summary.h"

struct mst_part {
    const char *name;                        /* as in report.css */
    const char *label;
    const struct mst_summary_times *times;
};

enum { MST_PARTS_MAX = 10 };

/* The parts in their order, which add up to the total; where PHP was recorded, with its time in two
 * of them apart. With `intervals`, those that follow each other in a phase are parts, too, where
 * there is much of them. Returns how many the parts are. */
size_t mst_parts_of(const struct mst_summary_server *s, bool intervals,
                    struct mst_part parts[MST_PARTS_MAX]);

#endif

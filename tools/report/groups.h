/* groups.h - the runs of a report by what they are runs of: repetitions of one name are a group.
 */
#ifndef MPMSTAT_REPORT_GROUPS_H
#define MPMSTAT_REPORT_GROUPS_H

#include "report/report.h"

/* Runs of one archive and one name (without a name: of one command, repeated) at the same
 * concurrency. */
struct mst_report_group {
    size_t *runs, count;    /* indices of report->runs, in their order */
    size_t  shown;          /* one of them, which the page shows for all: see mst_groups_make() */
};

struct mst_report_groups {
    struct mst_report_group *items;
    size_t                   count;
};

/* The run shown is the one with the median rate of the complete runs whose first finding is the
 * most frequent. The groups are in the report's pool. */
void mst_groups_make(struct mst_report_groups *groups, const struct mst_report *report);

/* The rate that a page shows of a run: the client's, else the server's. */
uint64_t mst_groups_rate(const struct mst_summary *s);

/* data.c: the JSON of the page's charts, {"summaries": [...], "runs": [...]}. 0, or -1 with a
 * sentence: an archive cannot be read. */
int mst_report_data(struct mst_sink *sink, const struct mst_report *report,
                    const struct mst_report_groups *groups, char error[MST_ERROR_MAX]);

#endif

/* runs.c - several runs as text: see report.h. */
#include "archive/archive.h"
#include "report/advice.h"
#include "report/needs.h"
#include "report/report.h"
#include "report/side_by_side.h"
#include "report/slowest.h"

#define WIDTH 98u

int mst_report_texts(struct mst_sink *sink, const struct mst_report *report,
                     char error[MST_ERROR_MAX])
{
    const struct mst_doc doc = mst_doc_text(sink, WIDTH);
    size_t i;

    for (i = 0; i < report->count; i++) {
        mst_report_text(sink, &report->runs[i].summary, report->runs[i].path,
                        report->percentiles);
        mst_doc_space(&doc);
        if (!mst_slowest_put(&doc, &report->runs[i], MST_SLOWEST_FEW))
            return mst_archive_unreadable(report->runs[i].archive, error);
        mst_needs_put(&doc, &report->runs[i].summary);
        mst_advice_put(&doc, report->runs[i].summary.sizing);
    }
    if (report->count > 1)
        mst_side_by_side_brief(&doc, report);
    mst_knee_put(&doc, report);
    return 0;
}

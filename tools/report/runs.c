/* runs.c - what the formats of several runs have in common, and their text: report.h. */
#include <stdlib.h>

#include "archive/archive.h"
#include "doc/lines.h"
#include "report/needs.h"
#include "report/report.h"
#include "report/slowest.h"
#include "segment/format.h"

int mst_report_sizing(struct mst_sizing *sizing, const struct mst_report_run *run,
                      char error[MST_ERROR_MAX])
{
    return mst_sizing_make(sizing, &run->summary, mst_archive_db(run->archive)) ? 0 :
           mst_archive_unreadable(run->archive, error);
}

/* A run is a point of the curve where the tool reports its rate and its concurrency, and the run
 * is complete. */
static bool is_point(const struct mst_summary *s)
{
    return s->complete && s->client.known && s->client.concurrency != MST_UNKNOWN &&
           s->client.concurrency > 0 && s->client.requests_per_1000s != MST_UNKNOWN &&
           s->client.requests_per_1000s > 0;
}

void mst_report_knee(struct mst_usl *usl, const struct mst_report *report, char *text, size_t size)
{
    struct mst_usl_point *points = calloc(report->count, sizeof *points);
    size_t i, count = 0;

    for (i = 0; i < report->count && points != NULL; i++) {
        const struct mst_summary_client *c = &report->runs[i].summary.client;

        if (is_point(&report->runs[i].summary))
            points[count++] = (struct mst_usl_point){
                (double)c->concurrency, (double)c->requests_per_1000s / 1000 };
    }
    mst_usl_fit(usl, points, count);
    mst_usl_say(usl, count, text, size);
    free(points);
}

/* ---- text ------------------------------------------------------------------------ */

#define INDENT 6u
#define WIDTH  (INDENT + 92u)

static void put_advice(struct mst_sink *sink, const struct mst_advice *advice)
{
    mst_line(sink, "  %s: %s", advice->directive, advice->answer);
    mst_wrapped(sink, "", INDENT, WIDTH, advice->arithmetic);
    mst_wrapped(sink, "", INDENT, WIDTH, advice->uncertainty);
}

int mst_report_texts(struct mst_sink *sink, const struct mst_report *report,
                     char error[MST_ERROR_MAX])
{
    struct mst_sizing sizing;
    struct mst_usl usl;
    const struct mst_doc doc = mst_doc_text(sink, WIDTH);
    char knee[768];
    size_t i, a;

    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        mst_sink_puts(sink, i > 0 ? "\n" : "");
        mst_report_text(sink, &report->runs[i].summary, report->runs[i].path,
                        report->percentiles);
        mst_sink_puts(sink, "\n");
        if (!mst_slowest_put(&doc, &report->runs[i], MST_SLOWEST_FEW))
            return mst_archive_unreadable(report->runs[i].archive, error);
        mst_needs_put(&doc, &report->runs[i].summary, "");
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            put_advice(sink, &sizing.advice[a]);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        mst_sink_puts(sink, "\n  The knee\n");
        mst_wrapped(sink, "", INDENT, WIDTH, knee);
    }
    return 0;
}

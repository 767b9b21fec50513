/* advice.c - the sizing advice of a run, and the knee of several: see advice.h. */
#include "report/advice.h"

#include "doc/table.h"

/* What is known stands out. */
static void put_row(struct mst_doc_table *t, const struct mst_advice *advice)
{
    mst_doc_row(t, advice->known ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", advice->directive);
    mst_doc_words(t, "%s", advice->answer);
    mst_doc_note(t, "%s%s%s", advice->arithmetic, advice->uncertainty[0] != '\0' ? " " : "",
                 advice->uncertainty);
}

void mst_advice_put(const struct mst_doc *doc, const struct mst_sizing *sizing)
{
    static const struct mst_doc_column columns[] = {
        { "directive", .kind = MST_DOC_LABEL }, { "advice", .kind = MST_DOC_WORDS },
    };
    struct mst_doc_table t;
    size_t a;

    if (sizing == NULL)
        return;
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (a = 0; a < MST_ADVICE_COUNT; a++)
        put_row(&t, &sizing->advice[a]);
    mst_doc_table_end(&t, doc, "Sizing", "advice");
    mst_doc_space(doc);
}

/* ---- the knee -------------------------------------------------------------------- */

/* A run is a point of the curve where the tool reports its rate and its concurrency, and the run
 * is complete. */
static bool is_point(const struct mst_summary *s)
{
    return s->complete && s->client.known && s->client.concurrency != MST_UNKNOWN &&
           s->client.concurrency > 0 && s->client.requests_per_1000s != MST_UNKNOWN &&
           s->client.requests_per_1000s > 0;
}

struct mst_usl_point *mst_knee_fit(struct mst_usl *usl, size_t *levels,
                                   const struct mst_report *report)
{
    struct mst_usl_point *points = apr_pcalloc(report->pool, report->count * sizeof *points);
    size_t i, count = 0;

    for (i = 0; i < report->count; i++) {
        const struct mst_summary_client *c = &report->runs[i].summary.client;

        if (is_point(&report->runs[i].summary))
            points[count++] = (struct mst_usl_point){
                (double)c->concurrency, (double)c->requests_per_1000s / 1000 };
    }
    *levels = mst_usl_fit(usl, points, count);
    return points;
}

void mst_knee_put(const struct mst_doc *doc, const struct mst_report *report)
{
    struct mst_usl usl;
    size_t levels;
    const struct mst_usl_point *points, *knee, *best;
    const char *said;

    if (report->count < 2)
        return;
    points = mst_knee_fit(&usl, &levels, report);
    knee = &points[usl.knee];
    best = &points[usl.best];
    if (levels < 2)
        said = "Not known: it takes runs of different concurrency.";
    else if (usl.knee + 1 == levels)
        said = mst_pool_printf(report->pool, "Not known: with %.0f concurrent requests, the most "
                               "here, the throughput still grows. It is %s requests/s.",
                               knee->concurrency, mst_format_real(knee->throughput).text);
    else
        said = mst_pool_printf(report->pool, "From %.0f concurrent requests on, more hardly add "
                               "throughput. It is %s requests/s there, and at most %s, with %.0f.",
                               knee->concurrency, mst_format_real(knee->throughput).text,
                               mst_format_real(best->throughput).text, best->concurrency);
    mst_doc_item(doc, MST_STYLE_PLAIN, "The knee", said);
}

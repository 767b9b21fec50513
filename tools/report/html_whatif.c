/* html_whatif.c - the page of a prediction: see whatif.h. */
#include <math.h>

#include "doc/markup.h"
#include "memory/pool.h"
#include "report/curve.h"
#include "report/page.h"
#include "report/whatif.h"

/* One measure against what is swept, with its intervals. */
static void put_curve(struct mst_sink *sink, const struct mst_whatif *w, enum mst_measure measure,
                      const char *title, struct mst_formatted (*format)(double y))
{
    struct mst_curve_point *points = apr_palloc(w->recorded->pool, w->count * sizeof *points);
    const struct mst_curve_line line = { "predicted", false, points, w->count };
    const struct mst_curve curve = { title, w->swept, format, &line, 1, NAN, NULL };
    size_t i;

    for (i = 0; i < w->count; i++) {
        struct mst_model_estimate e = mst_model_estimate_of(w->prediction, &w->then[i], measure);

        points[i] = (struct mst_curve_point){ w->at[i], e.value, e.low, e.high };
    }
    mst_curve_html(sink, &curve);
}

void mst_whatif_html(struct mst_sink *sink, const struct mst_whatif *w)
{
    const char *title = mst_pool_printf(w->recorded->pool, "What if %s", w->swept != NULL ?
                                        w->swept : w->changes);
    const struct mst_html_page page = {
        .kind = MST_PAGE_PLAIN, .title = title, .brand = "mpmstat whatif", .sub = w->archive,
        .skip_to = "prediction", .skip_text = "To the prediction",
    };
    const struct mst_doc doc = mst_doc_html(sink);

    mst_page_begin(sink, &page);
    mst_html(sink, "</header>\n<main id=\"prediction\">\n<section>\n");
    if (w->swept != NULL && w->count > 1) {
        put_curve(sink, w, MST_MEASURE_RATE, "Requests per second", mst_format_real);
        put_curve(sink, w, MST_MEASURE_P95, "p95", mst_format_seconds);
    }
    mst_whatif_put(&doc, w);
    mst_html(sink, "</section>\n</main>\n");
    mst_page_end(sink, &page, NULL, NULL, NULL);
}

/* html_capacity.c - the page of what a server takes: see capacity.h. */
#include <math.h>

#include "analysis/finding.h"
#include "base/clock.h"
#include "doc/markup.h"
#include "report/capacity.h"
#include "report/curve.h"
#include "report/page.h"

static double in_seconds(uint64_t ns)
{
    return ns != MST_UNKNOWN ? (double)ns / (double)MST_NS_PER_S : NAN;
}

/* "knee: php-workers"; NULL: there is none. */
static const char *name_of_knee(const struct mst_capacity *c)
{
    const struct mst_capacity_run *limit = mst_capacity_limit(c);

    if (!mst_capacity_is_known(c))
        return NULL;
    return limit != NULL ? mst_pool_printf(c->pool, "knee: %s", mst_code_names[limit->code])
                         : "knee";
}

/* What was measured at each level, and what the model comes to. */
static void put_curve(struct mst_sink *sink, const struct mst_capacity *c, bool of_rate)
{
    struct mst_curve_point *measured = apr_palloc(c->pool, (c->count + 1) * sizeof *measured);
    struct mst_curve_point *model = apr_palloc(c->pool, (c->count + 1) * sizeof *model);
    const struct mst_curve_line lines[] = {
        { "measured", false, measured, c->count }, { "the model's", true, model, c->count },
    };
    const struct mst_curve curve = {
        .title = of_rate ? "Requests per second" : "p95",
        .x_title = c->by_rate ? "requests per second that are asked for" : "clients",
        .format = of_rate ? mst_format_real : mst_format_seconds, .lines = lines,
        .line_count = c->foreseen != NULL ? 2 : 1, .mark_name = name_of_knee(c),
        .mark = mst_capacity_is_known(c) ? (double)c->levels[c->search.knee].at : NAN,
    };
    size_t i;

    for (i = 0; i < c->count; i++) {
        double at = (double)c->levels[i].at, y = of_rate ? c->levels[i].rate :
                    in_seconds(c->runs[i].times_ns[MST_P95]);

        measured[i] = (struct mst_curve_point){ at, y, NAN, NAN };
        if (c->foreseen != NULL) {
            const struct mst_model_estimate *e = of_rate ? &c->foreseen[i].rate :
                                                           &c->foreseen[i].p95;

            model[i] = (struct mst_curve_point){ at, e->value, e->low, e->high };
        }
    }
    mst_curve_html(sink, &curve);
}

void mst_capacity_html(struct mst_sink *sink, const struct mst_capacity *c)
{
    const struct mst_html_page page = {
        .kind = MST_PAGE_PLAIN, .title = "What the server takes", .brand = "mpmstat capacity",
        .sub = c->command, .skip_to = "capacity", .skip_text = "To the answer",
    };
    const struct mst_doc doc = mst_doc_html(sink);

    mst_page_begin(sink, &page);
    mst_html(sink, "</header>\n<main id=\"capacity\">\n<section>\n");
    mst_capacity_say(&doc, c);
    if (c->count > 1) {
        put_curve(sink, c, true);
        put_curve(sink, c, false);
    }
    mst_capacity_put_levels(&doc, c);
    mst_html(sink, "</section>\n</main>\n");
    mst_page_end(sink, &page, NULL, NULL, NULL);
}

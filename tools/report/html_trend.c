/* html_trend.c - the page of a trend: a chart for each figure, as SVG, and a table. See trend.h. */
#include "report/trend.h"

#include <math.h>
#include <stdio.h>

#include "doc/markup.h"
#include "report/page.h"

#define WIDTH   720
#define HEIGHT  190
#define LEFT    90
#define RIGHT   20
#define TOP     14
#define BOTTOM  26
#define NUMBER  24u

/* Where a point is, in the chart's units; points are evenly spaced, as recordings are compared in
 * their order. */
struct place { char x[NUMBER], y[NUMBER]; };

struct chart {
    const struct mst_trend_line *line;
    enum mst_trend_figure figure;
    double top;                          /* the value at its upper edge */
};

static double x_of(const struct chart *c, size_t i)
{
    size_t steps = c->line->count > 1 ? c->line->count - 1 : 1;

    return LEFT + (double)i * (WIDTH - LEFT - RIGHT) / (double)steps;
}

static struct place place_of(const struct chart *c, size_t i, double value)
{
    struct place p;

    snprintf(p.x, sizeof p.x, "%.1f", x_of(c, i));
    snprintf(p.y, sizeof p.y, "%.1f", HEIGHT - BOTTOM - fmin(fmax(value, 0), c->top) / c->top *
                                      (HEIGHT - TOP - BOTTOM));
    return p;
}

static double top_of(const struct mst_trend_line *line, enum mst_trend_figure figure)
{
    double top = 0;
    size_t i;

    for (i = 0; i < line->count; i++)
        top = fmax(top, line->figures[figure][i].value);
    return top > 0 ? top * 1.15 : figure == MST_TREND_ERRORS ? 0.01 : 1;
}

/* What the figure was expected to be within, by those before it. */
static void put_band(struct mst_sink *sink, const struct chart *c)
{
    const struct mst_trend_point *p;
    struct place low, high;
    size_t i;

    for (i = 0; i < c->line->count; i++) {
        p = &c->line->figures[c->figure][i];
        if (p->low > p->high)
            continue;
        low = place_of(c, i, p->low);
        high = place_of(c, i, p->high);
        mst_html(sink, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" stroke=\"currentColor\" "
                 "stroke-opacity=\"0.18\" stroke-width=\"8\"/>\n", low.x, low.y, high.x, high.y);
    }
}

static void put_marks(struct mst_sink *sink, const struct chart *c)
{
    char text[256];
    size_t i;

    mst_html(sink, "<polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" "
             "points=\"");
    for (i = 0; i < c->line->count; i++)
        if (c->line->figures[c->figure][i].value >= 0) {
            struct place at = place_of(c, i, c->line->figures[c->figure][i].value);

            mst_html(sink, "%s,%s ", at.x, at.y);
        }
    mst_html(sink, "\"/>\n");
    for (i = 0; i < c->line->count; i++) {
        const struct mst_trend_point *p = &c->line->figures[c->figure][i];
        struct place at = place_of(c, i, p->value);
        bool changed = mst_trend_sentence(text, sizeof text, c->line, c->figure, i);

        if (p->value < 0)
            continue;
        if (changed)
            mst_html(sink, "<circle cx=\"%s\" cy=\"%s\" r=\"9\" fill=\"none\" stroke=\"#c9302c\" "
                     "stroke-width=\"2\"/>\n", at.x, at.y);
        mst_html(sink, "<circle cx=\"%s\" cy=\"%s\" r=\"4\" fill=\"currentColor\"><title>%s%s, %s: "
                 "%s. %s</title></circle>\n", at.x, at.y, mst_trend_time(&c->line->runs[i]).text,
                 mst_trend_mark(&c->line->runs[i]), mst_trend_archive(&c->line->runs[i]),
                 mst_trend_format(c->figure, p->value).text, changed ? text : "");
    }
}

static void put_chart(struct mst_sink *sink, const struct mst_trend_line *line,
                      enum mst_trend_figure figure)
{
    const struct chart c = { line, figure, top_of(line, figure) };
    struct place bottom = place_of(&c, 0, 0), top = place_of(&c, 0, c.top);
    struct place end = place_of(&c, line->count - 1, 0);

    mst_html(sink, "<figure><figcaption>%s</figcaption>\n<svg viewBox=\"0 0 720 190\" role=\"img\" "
             "aria-label=\"%s over time\" font-size=\"12\">\n", mst_trend_names[figure],
             mst_trend_names[figure]);
    mst_html(sink, "<text x=\"84\" y=\"%s\" text-anchor=\"end\" fill=\"currentColor\">0</text>"
             "<text x=\"84\" y=\"%s\" text-anchor=\"end\" dominant-baseline=\"hanging\" "
             "fill=\"currentColor\">%s</text>\n", bottom.y, top.y,
             mst_trend_format(figure, c.top).text);
    mst_html(sink, "<line x1=\"90\" y1=\"%s\" x2=\"%s\" y2=\"%s\" stroke=\"currentColor\" "
             "stroke-opacity=\"0.4\"/>\n", bottom.y, end.x, bottom.y);
    mst_html(sink, "<text x=\"90\" y=\"184\" fill=\"currentColor\">%s</text>"
             "<text x=\"700\" y=\"184\" text-anchor=\"end\" fill=\"currentColor\">%s</text>\n",
             mst_trend_time(&line->runs[0]).text, line->count > 1 ?
             mst_trend_time(&line->runs[line->count - 1]).text : "");
    put_band(sink, &c);
    put_marks(sink, &c);
    mst_html(sink, "</svg></figure>\n");
}

static void put_charts(struct mst_sink *sink, const struct mst_trend_line *line)
{
    int f;

    for (f = 0; f < MST_TREND_FIGURES; f++)
        put_chart(sink, line, (enum mst_trend_figure)f);
}

void mst_trend_html(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    const struct mst_html_page page = {
        .kind = MST_PAGE_PLAIN, .title = "Trend", .brand = "mpmstat report --trend",
        .sub = "Bars: what the recordings before let expect. Circles: changes beyond the noise.",
        .skip_to = "trend", .skip_text = "To the charts",
    };
    const struct mst_doc doc = mst_doc_html(sink);
    size_t k;

    mst_page_begin(sink, &page);
    mst_html(sink, "</header>\n<main id=\"trend\">\n");
    for (k = 0; k < lines->count; k++) {
        const struct mst_trend_line *line = &lines->items[k];

        mst_html(sink, "<section>\n<h2>%s</h2>\n", line->name != NULL ? line->name : "All runs");
        mst_trend_put(&doc, line, put_charts);
        mst_html(sink, "</section>\n");
    }
    mst_html(sink, "</main>\n");
    mst_page_end(sink, &page, NULL, NULL, NULL);
}

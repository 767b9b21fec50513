/* curve.c - see curve.h. */
#include "report/curve.h"

#include <math.h>
#include <stdio.h>

#include "doc/markup.h"

#define WIDTH    720
#define HEIGHT   240
#define LEFT     90
#define RIGHT    20
#define TOP      26     /* room for the mark's name */
#define BOTTOM   42     /* and for the marks of x, and its title */
#define HEADROOM 1.1    /* of the highest value */
#define MARKS_MOST 12u  /* of x: more do not fit beside each other */

/* A number in the chart's units. */
struct place { char text[24]; };

/* What the chart shows of both axes. */
struct axes { double from, to, top; };

static struct place place(double at)
{
    struct place p;

    snprintf(p.text, sizeof p.text, "%.1f", at);
    return p;
}

static struct place x_of(const struct axes *a, double x)
{
    double part = a->to > a->from ? log(x / a->from) / log(a->to / a->from) : 0.5;

    return place(LEFT + part * (WIDTH - LEFT - RIGHT));
}

static struct place y_of(const struct axes *a, double y)
{
    return place(HEIGHT - BOTTOM - fmin(fmax(y, 0), a->top) / a->top * (HEIGHT - TOP - BOTTOM));
}

/* "64", "0.5". */
static struct mst_formatted x_text(double x)
{
    return x == floor(x) && x < 1e15 ? mst_format_count((uint64_t)x) : mst_format_real(x);
}

static bool has_interval(const struct mst_curve_point *p)
{
    return !isnan(p->y) && !isnan(p->low) && !isnan(p->high);
}

static struct axes axes_of(const struct mst_curve *c)
{
    struct axes a = { INFINITY, 0, 0 };
    size_t i, k;

    for (i = 0; i < c->line_count; i++)
        for (k = 0; k < c->lines[i].count; k++) {
            const struct mst_curve_point *p = &c->lines[i].points[k];

            if (isnan(p->y))
                continue;
            a.from = fmin(a.from, p->x);
            a.to = fmax(a.to, p->x);
            a.top = fmax(a.top, has_interval(p) ? fmax(p->y, p->high) : p->y);
        }
    a.top *= HEADROOM;
    return a;
}

/* ---- parts ------------------------------------------------------------------------- */

static void put_y(struct mst_sink *sink, const struct mst_curve *c, const struct axes *a)
{
    static const double parts[] = { 0, 0.5, 1 };
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        double y = parts[i] * a->top / HEADROOM;
        struct place at = y_of(a, y);

        mst_html(sink, "<text x=\"84\" y=\"%s\" text-anchor=\"end\" dominant-baseline=\"middle\" "
                 "fill=\"currentColor\">%s</text>", at.text, y > 0 ? c->format(y).text : "0");
        mst_html(sink, "<line x1=\"90\" y1=\"%s\" x2=\"700\" y2=\"%s\" stroke=\"currentColor\" "
                 "stroke-opacity=\"%s\"/>\n", at.text, at.text, i == 0 ? "0.4" : "0.12");
    }
}

/* A mark below each point of the first line, or below every second one, ... */
static void put_x(struct mst_sink *sink, const struct mst_curve *c, const struct axes *a)
{
    const struct mst_curve_line *line = &c->lines[0];
    size_t step = line->count / MARKS_MOST + 1, i;

    for (i = 0; i < line->count; i += step)
        if (!isnan(line->points[i].y))
            mst_html(sink, "<text x=\"%s\" y=\"214\" text-anchor=\"middle\" fill=\"currentColor\">"
                     "%s</text>", x_of(a, line->points[i].x).text,
                     x_text(line->points[i].x).text);
    mst_html(sink, "<text x=\"395\" y=\"234\" text-anchor=\"middle\" fill=\"currentColor\">%s"
             "</text>\n", c->x_title);
}

static void put_intervals(struct mst_sink *sink, const struct mst_curve_line *line,
                          const struct axes *a)
{
    size_t i;

    for (i = 0; i < line->count; i++) {
        const struct mst_curve_point *p = &line->points[i];
        struct place x;

        if (!has_interval(p))
            continue;
        x = x_of(a, p->x);
        mst_html(sink, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" stroke=\"currentColor\" "
                 "stroke-opacity=\"0.2\" stroke-width=\"8\"/>\n", x.text, y_of(a, p->low).text,
                 x.text, y_of(a, p->high).text);
    }
}

static void put_points(struct mst_sink *sink, const struct mst_curve *c,
                       const struct mst_curve_line *line, const struct axes *a)
{
    size_t i;

    for (i = 0; i < line->count; i++) {
        const struct mst_curve_point *p = &line->points[i];

        if (isnan(p->y))
            continue;
        mst_html(sink, "<circle cx=\"%s\" cy=\"%s\" r=\"4\" fill=\"%s\" stroke=\"currentColor\">"
                 "<title>%s, %s %s: %s", x_of(a, p->x).text, y_of(a, p->y).text,
                 line->dashed ? "none" : "currentColor", line->name, x_text(p->x).text,
                 c->x_title, c->format(p->y).text);
        if (has_interval(p))
            mst_html(sink, " (%s to %s)", c->format(p->low).text, c->format(p->high).text);
        mst_html(sink, "</title></circle>\n");
    }
}

static void put_line(struct mst_sink *sink, const struct mst_curve *c,
                     const struct mst_curve_line *line, const struct axes *a)
{
    size_t i;

    put_intervals(sink, line, a);
    mst_html(sink, "<polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" "
             "stroke-dasharray=\"%s\" points=\"", line->dashed ? "6 4" : "none");
    for (i = 0; i < line->count; i++)
        if (!isnan(line->points[i].y))
            mst_html(sink, "%s,%s ", x_of(a, line->points[i].x).text,
                     y_of(a, line->points[i].y).text);
    mst_html(sink, "\"/>\n");
    put_points(sink, c, line, a);
}

/* A line from top to bottom, with its name on the side that has more room. */
static void put_mark(struct mst_sink *sink, const struct mst_curve *c, const struct axes *a)
{
    struct place x;

    if (isnan(c->mark) || c->mark < a->from || c->mark > a->to)
        return;
    x = x_of(a, c->mark);
    mst_html(sink, "<line x1=\"%s\" y1=\"18\" x2=\"%s\" y2=\"198\" stroke=\"currentColor\" "
             "stroke-dasharray=\"2 3\"/>", x.text, x.text);
    mst_html(sink, "<text x=\"%s\" y=\"12\" text-anchor=\"%s\" fill=\"currentColor\">%s</text>\n",
             x.text, c->mark * c->mark > a->from * a->to ? "end" : "start", c->mark_name);
}

void mst_curve_html(struct mst_sink *sink, const struct mst_curve *c)
{
    const struct axes a = axes_of(c);
    size_t i;

    if (!(a.top > 0))
        return;
    mst_html(sink, "<figure><figcaption>%s", c->title);
    for (i = 0; c->line_count > 1 && i < c->line_count; i++)
        mst_html(sink, "%s%s: %s", i == 0 ? " (" : ", ", c->lines[i].dashed ? "dashed" : "solid",
                 c->lines[i].name);
    mst_html(sink, "%s</figcaption>\n<svg viewBox=\"0 0 720 240\" role=\"img\" aria-label=\"%s by "
             "%s\" font-size=\"12\">\n", c->line_count > 1 ? ")" : "", c->title, c->x_title);
    put_y(sink, c, &a);
    put_x(sink, c, &a);
    put_mark(sink, c, &a);
    for (i = 0; i < c->line_count; i++)
        put_line(sink, c, &c->lines[i], &a);
    mst_html(sink, "</svg></figure>\n");
}

/* curve.h - a figure against a load or a limit, as SVG: lines through points, and the intervals of
 * those that are predicted. It needs no script.
 */
#ifndef MPMSTAT_REPORT_CURVE_H
#define MPMSTAT_REPORT_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "console/format.h"
#include "render/sink.h"

struct mst_curve_point {
    double x;              /* above 0 */
    double y, low, high;   /* NAN: it is not known; low, high: there is no interval */
};

struct mst_curve_line {
    const char *name;                        /* "measured" */
    bool        dashed;
    const struct mst_curve_point *points;    /* in ascending order */
    size_t      count;
};

struct mst_curve {
    const char *title, *x_title;             /* "requests per second", "clients" */
    struct mst_formatted (*format)(double y);
    const struct mst_curve_line *lines;      /* the first one's points have the marks of x */
    size_t      line_count;
    double      mark;                        /* a value of x that is named; NAN: none is */
    const char *mark_name;                   /* "the knee: php-workers" */
};

/* A <figure>. x is drawn logarithmically, y from 0 on. Nothing where no point is known. */
void mst_curve_html(struct mst_sink *sink, const struct mst_curve *c);

#endif

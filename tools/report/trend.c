/* trend.c - recordings put in lines by name and time, as text, Markdown and JSON: see trend.h. */
#include "report/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "console/format.h"
#include "doc/lines.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "render/json_writer.h"

#define TEXT_WIDTH 100u

/* Scatter that is always there: of rates and times a fraction, of errors a difference. */
#define FLOOR_RATIO  0.01
#define FLOOR_ERRORS 0.001
/* What a drift has to come to, so that it matters. */
#define DRIFT_RATIO  0.05
#define DRIFT_ERRORS 0.005

const char *const mst_trend_names[MST_TREND_FIGURES] = {
    [MST_TREND_RATE] = "requests/s", [MST_TREND_P50] = "p50", [MST_TREND_P95] = "p95",
    [MST_TREND_P99] = "p99", [MST_TREND_ERRORS] = "errors",
};

static const char *const keys[MST_TREND_FIGURES] = {
    [MST_TREND_RATE] = "requests_per_second", [MST_TREND_P50] = "p50_seconds",
    [MST_TREND_P95] = "p95_seconds", [MST_TREND_P99] = "p99_seconds",
    [MST_TREND_ERRORS] = "error_share",
};

/* ---- figures of a run ------------------------------------------------------------ */

/* The client's times, or where it tells none the server's. */
static double time_of(const struct mst_summary *s, enum mst_percentile p)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    uint64_t ns = s->client.known ? mst_summary_percentile(&s->client.times, p) : MST_UNKNOWN;

    if (ns == MST_UNKNOWN && front != NULL)
        ns = mst_summary_percentile(&front->phases[MST_PHASE_TOTAL], p);
    return ns == MST_UNKNOWN ? -1 : (double)ns / (double)MST_NS_PER_S;
}

static double rate_of(const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    uint64_t milli = s->client.known ? s->client.requests_per_1000s : MST_UNKNOWN;

    if (milli == MST_UNKNOWN && front != NULL)
        milli = mst_summary_rate_milli(s, front);
    return milli == MST_UNKNOWN ? -1 : (double)milli / 1000;
}

static double errors_of(const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);

    if (s->client.known && s->client.requests != MST_UNKNOWN && s->client.requests > 0)
        return fmin(1, (double)mst_summary_failures(&s->client) / (double)s->client.requests);
    return front != NULL && front->requests > 0
               ? (double)front->errors_5xx / (double)front->requests : -1;
}

static double figure_of(const struct mst_summary *s, enum mst_trend_figure figure)
{
    switch (figure) {
    case MST_TREND_RATE: return rate_of(s);
    case MST_TREND_P50:  return time_of(s, MST_P50);
    case MST_TREND_P95:  return time_of(s, MST_P95);
    case MST_TREND_P99:  return time_of(s, MST_P99);
    default:             return errors_of(s);
    }
}

/* ---- lines ----------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_of(const struct mst_trend_runs *point, const struct mst_report_run *run)
{
    return point->first->archive == run->archive &&
           same_name(point->first->summary.name, run->summary.name);
}

static struct mst_trend_line *line_for(struct mst_trend_lines *lines, const char *name)
{
    struct mst_trend_line *line;
    size_t i;

    for (i = 0; i < lines->count; i++)
        if (same_name(lines->items[i].name, name))
            return &lines->items[i];
    line = mst_pool_append(lines->pool, &lines->items, &lines->count, sizeof *line);
    line->name = name;
    return line;
}

static void add_run(struct mst_trend_lines *lines, const struct mst_report_run *run)
{
    struct mst_trend_line *line = line_for(lines, run->summary.name);
    struct mst_trend_runs *point = NULL;
    size_t i;

    for (i = 0; i < line->count && point == NULL; i++)
        if (is_of(&line->runs[i], run))
            point = &line->runs[i];
    if (point == NULL) {
        point = mst_pool_append(lines->pool, &line->runs, &line->count, sizeof *point);
        point->first = run;
    }
    point->count += run->summary.complete;
    point->incomplete += !run->summary.complete;
    point->thinned += run->summary.complete && run->summary.thinned_of > 0;
}

static int by_time(const void *a, const void *b)
{
    const struct mst_report_run *x = ((const struct mst_trend_runs *)a)->first;
    const struct mst_report_run *y = ((const struct mst_trend_runs *)b)->first;

    return (x->summary.started_ns > y->summary.started_ns) -
           (x->summary.started_ns < y->summary.started_ns);
}

/* The mean over a point's complete runs; below 0: none tells. */
static double mean_of(const struct mst_report *report, const struct mst_trend_runs *point,
                      enum mst_trend_figure figure)
{
    double sum = 0, value;
    size_t i, count = 0;

    for (i = 0; i < report->count; i++) {
        if (!is_of(point, &report->runs[i]) || !report->runs[i].summary.complete)
            continue;
        value = figure_of(&report->runs[i].summary, figure);
        if (value < 0)
            continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / (double)count : -1;
}

static enum mst_code finding_of(const struct mst_report *report,
                                const struct mst_trend_runs *point)
{
    size_t seen[MST_CODE_COUNT] = { 0 }, i, best = MST_CODE_COUNT;

    for (i = 0; i < report->count; i++) {
        const struct mst_summary *s = &report->runs[i].summary;

        if (!is_of(point, &report->runs[i]) || !s->complete || s->finding_count == 0)
            continue;
        seen[s->findings[0].code]++;
        if (best == MST_CODE_COUNT || seen[s->findings[0].code] > seen[best])
            best = s->findings[0].code;
    }
    return (enum mst_code)best;
}

static void fill_line(struct mst_trend_line *line, const struct mst_report *report)
{
    size_t i;
    int f;

    qsort(line->runs, line->count, sizeof *line->runs, by_time);
    for (i = 0; i < line->count; i++)
        line->runs[i].finding = finding_of(report, &line->runs[i]);
    for (f = 0; f < MST_TREND_FIGURES; f++) {
        bool is_ratio = f != MST_TREND_ERRORS;

        line->figures[f] = apr_pcalloc(report->pool, line->count * sizeof *line->figures[f]);
        for (i = 0; i < line->count; i++)
            line->figures[f][i].value = mean_of(report, &line->runs[i], (enum mst_trend_figure)f);
        mst_trend_find(line->figures[f], line->count, is_ratio,
                       is_ratio ? FLOOR_RATIO : FLOOR_ERRORS);
        line->drifts[f] = mst_trend_find_drift(line->figures[f], line->count, is_ratio,
                                               is_ratio ? DRIFT_RATIO : DRIFT_ERRORS);
    }
}

void mst_trend_make(struct mst_trend_lines *lines, const struct mst_report *report)
{
    size_t i;

    *lines = (struct mst_trend_lines){ .pool = report->pool };
    for (i = 0; i < report->count; i++)
        add_run(lines, &report->runs[i]);
    for (i = 0; i < lines->count; i++)
        fill_line(&lines->items[i], report);
}

/* ---- words ----------------------------------------------------------------------- */

struct mst_formatted mst_trend_format(enum mst_trend_figure figure, double value)
{
    if (value < 0)
        return figure == MST_TREND_ERRORS ? mst_format_percent(MST_UNKNOWN)
                                          : mst_format_time(MST_UNKNOWN);
    if (figure == MST_TREND_RATE)
        return mst_format_milli((uint64_t)llround(value * 1000));
    if (figure == MST_TREND_ERRORS)
        return mst_format_percent((uint64_t)llround(value * 1000));
    return mst_format_time((uint64_t)llround(value * (double)MST_NS_PER_S));
}

bool mst_trend_sentence(char *text, size_t size, const struct mst_trend_line *line,
                        enum mst_trend_figure figure, size_t point)
{
    const struct mst_trend_point *p = &line->figures[figure][point];
    char by[48] = "";

    if (p->trend != MST_TREND_CHANGED && p->trend != MST_TREND_SUSPECTED)
        return false;
    if (p->before > 0 && figure != MST_TREND_ERRORS)
        snprintf(by, sizeof by, ", by %.0f %%", fabs(p->value / p->before - 1) * 100);
    snprintf(text, size, "%s %s from %s to %s%s%s", mst_trend_names[figure],
             p->value > p->before ? "rose" : "fell", mst_trend_format(figure, p->before).text,
             mst_trend_format(figure, p->value).text, by,
             p->trend == MST_TREND_SUSPECTED ? " (to be confirmed by the next recording)" : "");
    return true;
}

bool mst_trend_drift_sentence(char *text, size_t size, const struct mst_trend_line *line,
                              enum mst_trend_figure figure)
{
    const struct mst_trend_drift *d = &line->drifts[figure];
    char by[48] = "";

    if (!d->found)
        return false;
    if (figure != MST_TREND_ERRORS)
        snprintf(by, sizeof by, ", by %.0f %%", fabs(d->last / d->first - 1) * 100);
    snprintf(text, size, "%s drifted from %s to %s%s, little by little in %zu recordings",
             mst_trend_names[figure], mst_trend_format(figure, d->first).text,
             mst_trend_format(figure, d->last).text, by, d->values);
    return true;
}

struct mst_formatted mst_trend_time(const struct mst_trend_runs *runs)
{
    time_t at = (time_t)(runs->first->summary.started_ns / MST_NS_PER_S);
    struct mst_formatted text = { "-" };
    struct tm tm;

    if (gmtime_r(&at, &tm) != NULL)
        strftime(text.text, sizeof text.text, "%Y-%m-%d %H:%M", &tm);
    return text;
}

const char *mst_trend_archive(const struct mst_trend_runs *runs)
{
    const char *slash = strrchr(runs->first->path, '/');

    return slash != NULL ? slash + 1 : runs->first->path;
}

const char *mst_trend_mark(const struct mst_trend_runs *runs)
{
    return runs->thinned > 0 ? "~" : "";
}

/* Whether any figure can be compared with earlier ones. */
static bool is_compared(const struct mst_trend_line *line)
{
    size_t i;
    int f;

    for (f = 0; f < MST_TREND_FIGURES; f++)
        for (i = 0; i < line->count; i++)
            if (line->figures[f][i].trend != MST_TREND_UNKNOWN)
                return true;
    return false;
}

/* Each drift, and each change, the oldest first; where there is none, a sentence about that. */
static void put_changes(const struct mst_doc *doc, const struct mst_trend_line *line)
{
    char text[256];
    bool any = false;
    size_t i;
    int f;

    for (f = 0; f < MST_TREND_FIGURES; f++)
        if (mst_trend_drift_sentence(text, sizeof text, line, (enum mst_trend_figure)f)) {
            mst_doc_item(doc, MST_STYLE_WARNING, "all of them", text);
            any = true;
        }
    for (i = 0; i < line->count; i++)
        for (f = 0; f < MST_TREND_FIGURES; f++)
            if (mst_trend_sentence(text, sizeof text, line, (enum mst_trend_figure)f, i)) {
                mst_doc_item(doc, MST_STYLE_WARNING, mst_trend_time(&line->runs[i]).text, text);
                any = true;
            }
    if (!any && is_compared(line))
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "No change is more than the noise of the "
                          "recordings.");
    else if (!any)
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "There are too few recordings to tell a change "
                          "from noise: it takes three before it.");
}

/* ---- the table ------------------------------------------------------------------- */

/* A figure, marked where it changed: '*', or '?' where that is to be confirmed. */
static void put_figure(struct mst_doc_table *t, const struct mst_trend_line *line,
                       enum mst_trend_figure figure, size_t point)
{
    const struct mst_trend_point *p = &line->figures[figure][point];

    mst_doc_words(t, "%s%s", mst_trend_format(figure, p->value).text,
                  p->trend == MST_TREND_CHANGED ? "*" : p->trend == MST_TREND_SUSPECTED ? "?"
                                                                                        : "");
}

static bool is_thinned(const struct mst_trend_line *line)
{
    size_t i = 0;

    while (i < line->count && line->runs[i].thinned == 0)
        i++;
    return i < line->count;
}

static void put_table(const struct mst_doc *doc, const struct mst_trend_line *line)
{
    static const struct mst_doc_column columns[] = {
        { "started (UTC)", .kind = MST_DOC_LABEL },
        { "runs", .quantity = MST_QUANTITY_COUNT },
        { "requests/s", .quantity = MST_QUANTITY_RATE },
        { "p50", .quantity = MST_QUANTITY_TIME }, { "p95", .quantity = MST_QUANTITY_TIME },
        { "p99", .quantity = MST_QUANTITY_TIME },
        { "errors", .quantity = MST_QUANTITY_SHARE },
        { "first finding", .kind = MST_DOC_WORDS },
        { "archive", .kind = MST_DOC_NAME },
    };
    struct mst_doc_table t;
    size_t i;
    int f;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < line->count; i++) {
        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s%s", mst_trend_time(&line->runs[i]).text,
                      mst_trend_mark(&line->runs[i]));
        mst_doc_number(&t, line->runs[i].count);
        for (f = 0; f < MST_TREND_FIGURES; f++)
            put_figure(&t, line, (enum mst_trend_figure)f, i);
        mst_doc_words(&t, "%s", line->runs[i].finding == MST_CODE_COUNT ? "-" :
                      mst_code_names[line->runs[i].finding]);
        mst_doc_words(&t, "%s", mst_trend_archive(&line->runs[i]));
    }
    mst_doc_table_end(&t, doc, "Recordings", "numbers");
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "(* changed by more than the noise; ? perhaps)");
    if (is_thinned(line))
        mst_doc_paragraph(doc, MST_STYLE_PLAIN, "(~ of a thinned archive: p50, p95 and p99 are "
                          "estimates)");
}

void mst_trend_put(const struct mst_doc *doc, const struct mst_trend_line *line,
                   mst_trend_figures *put_figures)
{
    put_changes(doc, line);
    mst_doc_space(doc);
    if (put_figures != NULL)
        put_figures(doc->sink, line);
    put_table(doc, line);
}

void mst_trend_text(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    const struct mst_doc doc = mst_doc_text(sink, TEXT_WIDTH);
    size_t i;

    for (i = 0; i < lines->count; i++) {
        if (i > 0)
            mst_sink_char(sink, '\n');
        if (lines->items[i].name != NULL)
            mst_line_styled(sink, MST_STYLE_STRONG, "%s", lines->items[i].name);
        mst_trend_put(&doc, &lines->items[i], NULL);
    }
}

void mst_trend_markdown(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    size_t i;

    mst_markdown(sink, "## Trend, by mpmstat " MPMSTAT_VERSION "\n");
    for (i = 0; i < lines->count; i++) {
        if (lines->items[i].name != NULL)
            mst_markdown(sink, "\n### %s\n", lines->items[i].name);
        mst_trend_put(&doc, &lines->items[i], NULL);
    }
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_number(struct mst_json *j, const char *key, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.9g", value);
    mst_json_value(j, key);
    mst_sink_puts(j->out, value < 0 ? "null" : text);
}

static void put_point(struct mst_json *j, const struct mst_trend_line *line, size_t at)
{
    static const char *const trends[] = {
        [MST_TREND_UNKNOWN] = NULL, [MST_TREND_NOISE] = "noise", [MST_TREND_CHANGED] = "changed",
        [MST_TREND_SUSPECTED] = "suspected",
    };
    const struct mst_trend_runs *runs = &line->runs[at];
    int f;

    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "archive", runs->first->path);
    mst_json_instant(j, "started", runs->first->summary.started_ns);
    mst_json_count(j, "runs", runs->count);
    mst_json_count(j, "incomplete", runs->incomplete);
    mst_json_count(j, "thinned", runs->thinned);
    mst_json_string(j, "finding", runs->finding == MST_CODE_COUNT ? NULL
                                                                  : mst_code_names[runs->finding]);
    for (f = 0; f < MST_TREND_FIGURES; f++)
        put_number(j, keys[f], line->figures[f][at].value);
    mst_json_begin(j, "trend", '{');
    for (f = 0; f < MST_TREND_FIGURES; f++) {
        const struct mst_trend_point *p = &line->figures[f][at];

        mst_json_begin(j, keys[f], '{');
        mst_json_string(j, "is", trends[p->trend]);
        put_number(j, "before", p->before);
        put_number(j, "low", p->low > p->high ? -1 : fmax(0, p->low));
        put_number(j, "high", p->low > p->high ? -1 : p->high);
        mst_json_end(j, '}');
    }
    mst_json_end(j, '}');
    mst_json_end(j, '}');
}

/* The ends of the line through all points; null: it is no drift. */
static void put_drifts(struct mst_json *j, const struct mst_trend_line *line)
{
    int f;

    mst_json_begin(j, "drift", '{');
    for (f = 0; f < MST_TREND_FIGURES; f++) {
        const struct mst_trend_drift *d = &line->drifts[f];

        if (!d->found) {
            mst_json_value(j, keys[f]);
            mst_sink_puts(j->out, "null");
            continue;
        }
        mst_json_begin(j, keys[f], '{');
        put_number(j, "first", d->first);
        put_number(j, "last", d->last);
        mst_json_end(j, '}');
    }
    mst_json_end(j, '}');
}

void mst_trend_json(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    struct mst_json json = { .out = sink }, *j = &json;
    size_t k, i;

    mst_json_begin(j, NULL, '[');
    for (k = 0; k < lines->count; k++) {
        mst_json_line(j, 0);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "name", lines->items[k].name);
        put_drifts(j, &lines->items[k]);
        mst_json_begin(j, "points", '[');
        for (i = 0; i < lines->items[k].count; i++)
            put_point(j, &lines->items[k], i);
        mst_json_end(j, ']');
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    mst_sink_char(sink, '\n');
}

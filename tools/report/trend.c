/* trend.c - recordings put in lines by name and time, as text, Markdown and JSON: see trend.h. */
#include "report/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "console/format.h"
#include "render/json_writer.h"
#include "doc/lines.h"
#include "doc/markup.h"

/* Scatter that is always there: of rates and times a fraction, of errors a difference. */
#define FLOOR_RATIO  0.01
#define FLOOR_ERRORS 0.001

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
    line = mst_append(&lines->items, &lines->count, sizeof *line);
    if (line != NULL)
        line->name = name;
    return line;
}

static bool add_run(struct mst_trend_lines *lines, const struct mst_report_run *run)
{
    struct mst_trend_line *line = line_for(lines, run->summary.name);
    struct mst_trend_runs *point = NULL;
    size_t i;

    for (i = 0; line != NULL && i < line->count && point == NULL; i++)
        if (is_of(&line->runs[i], run))
            point = &line->runs[i];
    if (line != NULL && point == NULL) {
        point = mst_append(&line->runs, &line->count, sizeof *point);
        if (point != NULL)
            point->first = run;
    }
    if (point == NULL)
        return false;
    point->count += run->summary.complete;
    point->incomplete += !run->summary.complete;
    point->thinned += run->summary.complete && run->summary.thinned_of > 0;
    return true;
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

static bool fill_line(struct mst_trend_line *line, const struct mst_report *report)
{
    size_t i;
    int f;

    qsort(line->runs, line->count, sizeof *line->runs, by_time);
    for (i = 0; i < line->count; i++)
        line->runs[i].finding = finding_of(report, &line->runs[i]);
    for (f = 0; f < MST_TREND_FIGURES; f++) {
        bool is_ratio = f != MST_TREND_ERRORS;

        line->figures[f] = calloc(line->count, sizeof *line->figures[f]);
        if (line->figures[f] == NULL)
            return false;
        for (i = 0; i < line->count; i++)
            line->figures[f][i].value = mean_of(report, &line->runs[i], (enum mst_trend_figure)f);
        mst_trend_find(line->figures[f], line->count, is_ratio,
                       is_ratio ? FLOOR_RATIO : FLOOR_ERRORS);
    }
    return true;
}

int mst_trend_make(struct mst_trend_lines *lines, const struct mst_report *report)
{
    bool fine = true;
    size_t i;

    *lines = (struct mst_trend_lines){ 0 };
    for (i = 0; i < report->count && fine; i++)
        fine = add_run(lines, &report->runs[i]);
    for (i = 0; i < lines->count && fine; i++)
        fine = fill_line(&lines->items[i], report);
    return fine ? 0 : -1;
}

void mst_trend_free(struct mst_trend_lines *lines)
{
    size_t i;
    int f;

    for (i = 0; i < lines->count; i++) {
        for (f = 0; f < MST_TREND_FIGURES; f++)
            free(lines->items[i].figures[f]);
        free(lines->items[i].runs);
    }
    free(lines->items);
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

const char *mst_trend_finding(const struct mst_trend_runs *runs)
{
    return runs->finding == MST_CODE_COUNT ? "-" : mst_code_names[runs->finding];
}

const char mst_trend_thinned[] = "~ of a thinned archive: p50, p95 and p99 are estimates";

bool mst_trend_is_thinned(const struct mst_trend_line *line)
{
    size_t i = 0;

    while (i < line->count && line->runs[i].thinned == 0)
        i++;
    return i < line->count;
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

/* Calls `say` for each change, the oldest first; where there is none, for a sentence about that. */
typedef void say_change(struct mst_sink *sink, const char *when, const char *what);
static void each_change(struct mst_sink *sink, const struct mst_trend_line *line, say_change *say)
{
    char text[256];
    bool any = false;
    size_t i;
    int f;

    for (i = 0; i < line->count; i++)
        for (f = 0; f < MST_TREND_FIGURES; f++)
            if (mst_trend_sentence(text, sizeof text, line, (enum mst_trend_figure)f, i)) {
                say(sink, mst_trend_time(&line->runs[i]).text, text);
                any = true;
            }
    if (!any && is_compared(line))
        say(sink, NULL, "No change is more than the noise of the recordings.");
    else if (!any)
        say(sink, NULL, "There are too few recordings to tell a change from noise: it takes three "
            "before it.");
}

/* ---- text ------------------------------------------------------------------------ */

static void say_in_text(struct mst_sink *sink, const char *when, const char *what)
{
    char text[320];

    snprintf(text, sizeof text, "%s%s%s", when != NULL ? when : "", when != NULL ? ": " : "", what);
    mst_wrapped_styled(sink, when != NULL ? MST_STYLE_WARNING : MST_STYLE_PLAIN, "", 2, 100, text);
}

/* A figure, marked where it changed: '*', or '?' where that is to be confirmed. */
static struct mst_formatted marked(const struct mst_trend_line *line, enum mst_trend_figure figure,
                                   size_t point)
{
    const struct mst_trend_point *p = &line->figures[figure][point];
    struct mst_formatted value = mst_trend_format(figure, p->value), text;

    snprintf(text.text, sizeof text.text, "%.28s%s", value.text,
             p->trend == MST_TREND_CHANGED ? "*" : p->trend == MST_TREND_SUSPECTED ? "?" : " ");
    return text;
}

void mst_trend_text(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    size_t k, i;

    for (k = 0; k < lines->count; k++) {
        const struct mst_trend_line *line = &lines->items[k];

        if (line->name != NULL)
            mst_line_styled(sink, MST_STYLE_STRONG, "%s", line->name);
        each_change(sink, line, say_in_text);
        mst_sink_char(sink, '\n');
        mst_line(sink, "  %-16s%5s%12s%10s%10s%10s%9s  %s", "started (UTC)", "runs", "requests/s",
                 "p50", "p95", "p99", "errors", "first finding, archive");
        for (i = 0; i < line->count; i++)
            mst_line(sink, "  %-16s%-1s%4zu%12s%10s%10s%10s%9s  %s, %s",
                     mst_trend_time(&line->runs[i]).text, mst_trend_mark(&line->runs[i]),
                     line->runs[i].count,
                     marked(line, MST_TREND_RATE, i).text, marked(line, MST_TREND_P50, i).text,
                     marked(line, MST_TREND_P95, i).text, marked(line, MST_TREND_P99, i).text,
                     marked(line, MST_TREND_ERRORS, i).text, mst_trend_finding(&line->runs[i]),
                     mst_trend_archive(&line->runs[i]));
        mst_line(sink, "  (* changed by more than the noise; ? perhaps)");
        if (mst_trend_is_thinned(line))
            mst_line(sink, "  (%s)", mst_trend_thinned);
        if (k + 1 < lines->count)
            mst_sink_char(sink, '\n');
    }
}

/* ---- Markdown -------------------------------------------------------------------- */

static void say_in_markdown(struct mst_sink *sink, const char *when, const char *what)
{
    if (when != NULL)
        mst_markdown(sink, "- **%s**: %s\n", when, what);
    else
        mst_markdown(sink, "%s\n", what);
}

void mst_trend_markdown(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    size_t k, i;
    int f;

    mst_markdown(sink, "## Trend, by mpmstat " MPMSTAT_VERSION "\n");
    for (k = 0; k < lines->count; k++) {
        const struct mst_trend_line *line = &lines->items[k];

        mst_markdown(sink, "\n");
        if (line->name != NULL)
            mst_markdown(sink, "### %s\n\n", line->name);
        each_change(sink, line, say_in_markdown);
        mst_markdown(sink, "\n| started (UTC) | archive | runs |");
        for (f = 0; f < MST_TREND_FIGURES; f++)
            mst_markdown(sink, " %s |", mst_trend_names[f]);
        mst_markdown(sink, " first finding |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n");
        for (i = 0; i < line->count; i++) {
            mst_markdown(sink, "| %s%s | %s | %zu |", mst_trend_time(&line->runs[i]).text,
                         mst_trend_mark(&line->runs[i]),
                         mst_trend_archive(&line->runs[i]), line->runs[i].count);
            for (f = 0; f < MST_TREND_FIGURES; f++)
                mst_markdown(sink, " %s |", marked(line, (enum mst_trend_figure)f, i).text);
            mst_markdown(sink, " %s |\n", mst_trend_finding(&line->runs[i]));
        }
        if (mst_trend_is_thinned(line))
            mst_markdown(sink, "\n%s\n", mst_trend_thinned);
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

void mst_trend_json(struct mst_sink *sink, const struct mst_trend_lines *lines)
{
    struct mst_json json = { .out = sink }, *j = &json;
    size_t k, i;

    mst_json_begin(j, NULL, '[');
    for (k = 0; k < lines->count; k++) {
        mst_json_line(j, 0);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "name", lines->items[k].name);
        mst_json_begin(j, "points", '[');
        for (i = 0; i < lines->items[k].count; i++)
            put_point(j, &lines->items[k], i);
        mst_json_end(j, ']');
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    mst_sink_char(sink, '\n');
}

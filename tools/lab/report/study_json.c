/* study_json.c - the JSON that the charts of a study's page are drawn from: see
 * study_report.h. Read by assets/study.js.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/study_report.h"
#include "lab/report/study_parts.h"
#include "lab/report/study_spawn.h"
#include "report/series.h"
#include "report/table.h"

#define RAMP_BINS 60u

static const char *const unit_names[] = {
    [MST_METRIC_COUNT] = "count", [MST_METRIC_MEAN] = "count", [MST_METRIC_RATE] = "rate",
    [MST_METRIC_TIME] = "time", [MST_METRIC_BYTES] = "bytes", [MST_METRIC_BYTE_RATE] = "byte_rate",
    [MST_METRIC_SHARE] = "share",
};

static void member(struct mst_sink *sink, const char *name)
{
    mst_sink_puts(sink, ", ");
    mst_sink_json_string(sink, name);
    mst_sink_puts(sink, ": ");
}

static void comma(struct mst_sink *sink, bool *begun)
{
    mst_sink_puts(sink, *begun ? ",\n" : "");
    *begun = true;
}

/* ---- values ----------------------------------------------------------------------- */

/* {"requests_per_second": [mean, low, high], ...} */
static void put_values(struct mst_sink *sink, const struct mst_study_case *c)
{
    bool begun = false;
    int i;

    mst_sink_puts(sink, "{");
    for (i = 0; i < MST_M_COUNT; i++) {
        struct mst_estimate e = mst_estimate_of(c, (enum mst_metric_id)i);

        if (e.count == 0)
            continue;
        comma(sink, &begun);
        mst_sink_json_string(sink, mst_metrics[i].study);
        mst_sink_puts(sink, ": [");
        mst_cell_put(sink, e.mean, "null");
        mst_sink_char(sink, ',');
        mst_cell_put(sink, isfinite(e.low) ? e.low : e.least, "null");
        mst_sink_char(sink, ',');
        mst_cell_put(sink, isfinite(e.high) ? e.high : e.most, "null");
        mst_sink_char(sink, ']');
    }
    mst_sink_puts(sink, "}");
}

static void put_case(struct mst_sink *sink, const struct mst_study_section *section,
                     const struct mst_study_case *c)
{
    char *label = mst_study_label(section, c);

    mst_sink_puts(sink, "{\"label\": ");
    mst_sink_json_string(sink, label);
    member(sink, "x");
    mst_cell_put(sink, c->x, "null");
    member(sink, "runs");
    mst_sink_u64(sink, c->run_count);
    member(sink, "values");
    put_values(sink, c);
    mst_sink_puts(sink, "}");
    free(label);
}

/* ---- over time -------------------------------------------------------------------- */

/* A run's curve of processes. */
static bool put_spawn(struct mst_sink *sink, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_table curve;
    bool fine = mst_spawn_curve(&curve, s, db);

    mst_table_json(sink, &curve);
    mst_table_free(&curve);
    return fine;
}

/* Whether a column counts requests: all others are times, of which there is no sum. */
static bool is_count(const char *column)
{
    static const char *const counts[] = { "completed", "started", "1xx", "2xx", "3xx", "4xx", "5xx",
                                          "aborted", "none" };
    size_t i;

    for (i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i], column) == 0)
            return true;
    return false;
}

/* Adds another server's rows, which are of the same bins: a server without requests has none. */
static void add_rows(struct mst_table *all, const struct mst_table *more)
{
    size_t row, column;

    for (row = 0; row < all->rows && row < more->rows; row++)
        for (column = 1; column < all->width; column++)
            all->cells[row * all->width + column] = is_count(all->columns[column]) ?
                all->cells[row * all->width + column] + more->cells[row * all->width + column] :
                NAN;
}

/* What the servers did together for which the load was: behind a balancer there are several. */
static bool put_fronts(struct mst_sink *sink, const struct mst_summary *s,
                       const struct mst_bins *bins, sqlite3 *db)
{
    struct mst_series_requests all = { 0 }, one;
    struct mst_table workers;
    bool fine = true;
    size_t i;

    for (i = 0; i < s->server_count && fine; i++) {
        if (!mst_study_is_front(s, &s->servers[i]))
            continue;
        one = (struct mst_series_requests){ 0 };
        workers = (struct mst_table){ 0 };
        fine = mst_series_server(&one, db, s, &s->servers[i], bins, &workers);
        mst_table_free(&workers);
        add_rows(&all.over_time, &one.over_time);
        if (all.over_time.rows == 0) {
            mst_series_requests_free(&all);
            all = one;
        } else {
            mst_series_requests_free(&one);
        }
    }
    mst_sink_puts(sink, ",\n\"server\": {");
    mst_table_json(sink, &all.over_time);
    mst_sink_puts(sink, "}");
    mst_series_requests_free(&all);
    return fine;
}

/* What was asked, completed and refused in each bin, and how long it took: as the client
 * saw it where it tells, and the server. */
static bool put_ramp(struct mst_sink *sink, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_series_requests requests = { 0 };
    struct mst_bins bins;
    bool fine = mst_bins_make(&bins, db, s, RAMP_BINS, 0);

    mst_sink_puts(sink, "\"bin_seconds\": ");
    mst_cell_put(sink, fine ? mst_cell_seconds(bins.width_ns) : NAN, "null");
    if (fine && s->server_count > 0)
        fine = put_fronts(sink, s, &bins, db);
    if (fine) {
        fine = mst_series_client(&requests, db, s->id, &bins, 0);
        if (requests.count > 0) {
            mst_sink_puts(sink, ",\n\"client\": {");
            mst_table_json(sink, &requests.over_time);
            mst_sink_puts(sink, "}");
        }
        mst_series_requests_free(&requests);
    }
    return fine;
}

/* One repetition of a line over time. */
static int put_run(struct mst_sink *sink, const struct mst_study_data *data,
                   const struct mst_study_section *section, const struct mst_study_case *c,
                   size_t run, char error[MST_ERROR_MAX])
{
    sqlite3 *db = mst_archive_db(data->archive);
    struct mst_summary s = { 0 };
    int failed = mst_summary_make(&s, data->archive, c->runs[run].run_id, error);
    bool fine = true;

    mst_sink_puts(sink, "{\"line\": ");
    mst_sink_u64(sink, c->line);
    member(sink, "repetition");
    mst_sink_u64(sink, c->runs[run].repetition);
    mst_sink_puts(sink, ",\n");
    if (!failed)
        fine = section->runs->kind == MST_RUNS_SPAWN ? put_spawn(sink, &s, db) :
                                                       put_ramp(sink, &s, db);
    mst_sink_puts(sink, "}");
    mst_summary_free(&s);
    return fine ? failed : mst_archive_unreadable(data->archive, error);
}

/* Of spawning all repetitions, of a ramp the first. */
static int put_over_time(struct mst_sink *sink, const struct mst_study_data *data,
                         const struct mst_study_section *section, char error[MST_ERROR_MAX])
{
    bool begun = false;
    int failed = 0;
    size_t i, k;

    member(sink, "over_time");
    mst_sink_puts(sink, "[");
    for (i = 0; i < section->case_count && section->runs->kind != MST_RUNS_LOAD; i++)
        for (k = 0; k < section->cases[i].run_count && !failed; k++) {
            if (k > 0 && section->runs->kind == MST_RUNS_RAMP)
                break;
            comma(sink, &begun);
            failed = put_run(sink, data, section, &section->cases[i], k, error);
        }
    mst_sink_puts(sink, "]");
    return failed;
}

/* ---- a section -------------------------------------------------------------------- */

/* Which of the study's systems a line is of: it has a colour in all charts. */
static size_t system_of(const struct mst_study_section *section, const struct mst_study_line *line)
{
    const char *stack = section->cases[line->first].stack;
    size_t i;

    for (i = 0; section->runs->stacks[i] != NULL; i++)
        if (strcmp(section->runs->stacks[i], stack) == 0)
            break;
    return i;
}

static void put_lines(struct mst_sink *sink, const struct mst_study_section *section)
{
    size_t i, k;

    member(sink, "lines");
    mst_sink_puts(sink, "[");
    for (i = 0; i < section->line_count; i++) {
        const struct mst_study_line *line = &section->lines[i];
        bool begun = false;

        mst_sink_puts(sink, i > 0 ? ",\n{\"label\": " : "{\"label\": ");
        mst_sink_json_string(sink, line->label);
        member(sink, "system");
        mst_sink_u64(sink, system_of(section, line));
        member(sink, "cases");
        mst_sink_puts(sink, "[");
        for (k = line->first; k < line->first + line->count; k++) {
            if (section->cases[k].run_count == 0)
                continue;
            comma(sink, &begun);
            put_case(sink, section, &section->cases[k]);
        }
        mst_sink_puts(sink, "]}");
    }
    mst_sink_puts(sink, "]");
}

static void put_figures(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures), i;

    member(sink, "figures");
    mst_sink_puts(sink, "[");
    for (i = 0; i < count; i++) {
        mst_sink_puts(sink, i > 0 ? ", " : "");
        mst_sink_json_string(sink, mst_metrics[figures[i]].study);
    }
    mst_sink_puts(sink, "]");
}

/* The line that a published row is about; NaN: none that was run. */
static double line_of_row(const struct mst_study_section *section, size_t row)
{
    size_t i;

    for (i = 0; i < section->case_count; i++)
        if (section->cases[i].run_count > 0 && mst_published_is(section, row, &section->cases[i]))
            return (double)section->cases[i].line;
    return NAN;
}

/* The published rows, by what the original calls the systems. */
static void put_published(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures), row, i;
    int system, stack;

    member(sink, "published");
    mst_sink_puts(sink, "[");
    for (row = 1; section->published != NULL && row < section->published->rows.count; row++) {
        const struct mst_row *cells = &section->published->rows.items[row];

        system = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
        stack = mst_published_column(section->published, MST_PUBLISHED_STACK);
        mst_sink_puts(sink, row > 1 ? ",\n{\"system\": " : "{\"system\": ");
        mst_sink_json_string(sink, system >= 0 ? cells->words[system] :
                             stack >= 0 ? cells->words[stack] : cells->words[0]);
        member(sink, "line");
        mst_cell_put(sink, line_of_row(section, row), "null");
        for (i = 0; i < count; i++) {
            member(sink, mst_metrics[figures[i]].study);
            mst_cell_put(sink, mst_published_value(section, row, figures[i]), "null");
        }
        mst_sink_puts(sink, "}");
    }
    mst_sink_puts(sink, "]");
}

static int put_section(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_study_section *section, char error[MST_ERROR_MAX])
{
    char word[MST_SPOKEN_MAX];

    mst_sink_puts(sink, "{\"name\": ");
    mst_sink_json_string(sink, section->runs->name);
    member(sink, "title");
    mst_sink_json_string(sink, section->runs->title);
    member(sink, "kind");
    mst_sink_json_string(sink, mst_runs_kind_names[section->runs->kind]);
    member(sink, "x");
    if (section->x_name != NULL)
        mst_spoken(word, section->x_name);
    mst_sink_json_string(sink, section->x_name != NULL ? word : NULL);
    put_figures(sink, section);
    put_published(sink, section);
    put_lines(sink, section);
    if (put_over_time(sink, data, section, error) != 0)
        return -1;
    mst_sink_puts(sink, "}");
    return 0;
}

/* What the names of figures mean. */
static void put_metrics(struct mst_sink *sink)
{
    bool begun = false;
    int i;

    mst_sink_puts(sink, "\"metrics\": {");
    for (i = 0; i < MST_M_COUNT; i++) {
        if (mst_metrics[i].study == NULL)
            continue;
        comma(sink, &begun);
        mst_sink_json_string(sink, mst_metrics[i].study);
        mst_sink_puts(sink, ": {\"label\": ");
        mst_sink_json_string(sink, mst_metrics[i].study_label);
        member(sink, "unit");
        mst_sink_json_string(sink, unit_names[mst_metrics[i].unit]);
        mst_sink_puts(sink, "}");
    }
    mst_sink_puts(sink, "}");
}

int mst_study_json(struct mst_sink *sink, const struct mst_study_data *data,
                   char error[MST_ERROR_MAX])
{
    size_t i;

    mst_sink_puts(sink, "{\"study\": ");
    mst_sink_json_string(sink, data->study.name);
    member(sink, "year");
    mst_sink_json_string(sink, data->study.year);
    mst_sink_puts(sink, ",\n");
    put_metrics(sink);
    mst_sink_puts(sink, ",\n\"sections\": [");
    for (i = 0; i < data->section_count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n" : "");
        if (put_section(sink, data, &data->sections[i], error) != 0)
            return -1;
    }
    mst_sink_puts(sink, "]}");
    return 0;
}

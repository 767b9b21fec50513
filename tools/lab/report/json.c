/* json.c - the JSON that the charts of a study's page are drawn from: see
 * report.h. Read by assets/study.js.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/series.h"
#include "lab/report/estimates.h"
#include "lab/report/parts.h"
#include "lab/report/published.h"
#include "lab/report/report.h"
#include "lab/report/spawn_curve.h"
#include "render/json_writer.h"
#include "report/cells.h"

#define RAMP_BINS 60u

static const char *const unit_names[] = {
    [MST_QUANTITY_COUNT] = "count", [MST_QUANTITY_MEAN] = "count", [MST_QUANTITY_RATE] = "rate",
    [MST_QUANTITY_TIME] = "time", [MST_QUANTITY_BYTES] = "bytes",
    [MST_QUANTITY_BYTE_RATE] = "byte_rate", [MST_QUANTITY_SHARE] = "share",
};

/* ---- values ----------------------------------------------------------------------- */

/* {"requests_per_second": [mean, low, high], ...} */
static void put_values(struct mst_json *j, const struct mst_study_case *c)
{
    int i;

    mst_json_begin(j, "values", '{');
    for (i = 0; i < MST_M_COUNT; i++) {
        struct mst_estimate e = mst_estimate_of(c, (enum mst_metric_id)i);

        if (e.count == 0)
            continue;
        mst_json_line(j, 1);
        mst_json_begin(j, mst_metrics[i].study, '[');
        mst_cell_json(j, NULL, e.mean);
        mst_cell_json(j, NULL, isfinite(e.low) ? e.low : e.least);
        mst_cell_json(j, NULL, isfinite(e.high) ? e.high : e.most);
        mst_json_end(j, ']');
    }
    mst_json_end(j, '}');
}

static void put_case(struct mst_json *j, const struct mst_study_section *section,
                     const struct mst_study_case *c)
{
    mst_json_line(j, 0);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "label", mst_study_label(section, c));
    mst_cell_json(j, "x", c->x);
    mst_json_count(j, "runs", c->run_count);
    put_values(j, c);
    mst_json_end(j, '}');
}

/* ---- over time -------------------------------------------------------------------- */

static bool put_spawn(struct mst_json *j, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_table curve;
    bool fine = mst_spawn_curve(&curve, s, db);

    mst_table_json(j, &curve);
    mst_table_free(&curve);
    return fine;
}

/* Whether a column counts requests. The others are times, which cannot be added up. */
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

/* Adds another server's rows, which have the same bins. A server without requests has no rows. */
static void add_rows(struct mst_table *all, const struct mst_table *more)
{
    size_t row, column;

    for (row = 0; row < all->rows && row < more->rows; row++)
        for (column = 1; column < all->width; column++)
            all->cells[row * all->width + column] = is_count(all->columns[column]) ?
                all->cells[row * all->width + column] + more->cells[row * all->width + column] :
                NAN;
}

/* What all front servers did together: behind a balancer there are several. */
static void put_fronts(struct mst_json *j, const struct mst_summary *s,
                       const struct mst_bins *bins)
{
    struct mst_series_requests all = { 0 }, one;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        if (!mst_study_is_front(s, &s->servers[i]))
            continue;
        mst_series_server(&one, &s->servers[i], bins);
        add_rows(&all.over_time, &one.over_time);
        if (all.over_time.rows == 0) {
            mst_series_requests_free(&all);
            all = one;
        } else {
            mst_series_requests_free(&one);
        }
    }
    mst_json_begin(j, "server", '{');
    mst_table_json(j, &all.over_time);
    mst_json_end(j, '}');
    mst_series_requests_free(&all);
}

/* How many requests began, ended and failed in each bin, and how long they took: for the servers,
 * and for the client where its rows are known. */
static bool put_ramp(struct mst_json *j, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_series_requests requests = { 0 };
    struct mst_bins bins;
    bool fine = mst_bins_make(&bins, db, s, RAMP_BINS, 0);

    mst_cell_json(j, "bin_seconds", fine ? mst_cell_seconds(bins.width_ns) : NAN);
    if (fine && s->server_count > 0)
        put_fronts(j, s, &bins);
    if (fine) {
        fine = mst_series_client(&requests, db, s->id, &bins, 0);
        if (requests.count > 0) {
            mst_json_begin(j, "client", '{');
            mst_table_json(j, &requests.over_time);
            mst_json_end(j, '}');
        }
        mst_series_requests_free(&requests);
    }
    return fine;
}

/* One repetition of a line over time. */
static int put_run(struct mst_json *j, const struct mst_study_data *data,
                   const struct mst_study_section *section, const struct mst_study_case *c,
                   size_t run, char error[MST_ERROR_MAX])
{
    sqlite3 *db = mst_archive_db(data->archive);
    struct mst_summary s = { 0 };
    int failed = mst_summary_make(&s, data->archive, c->runs[run].run_id, error);
    bool fine = true;

    mst_json_line(j, 0);
    mst_json_begin(j, NULL, '{');
    mst_json_count(j, "line", c->line);
    mst_json_count(j, "repetition", c->runs[run].repetition);
    if (!failed)
        fine = section->runs->kind == MST_RUNS_SPAWN ? put_spawn(j, &s, db) : put_ramp(j, &s, db);
    mst_json_end(j, '}');
    mst_summary_free(&s);
    return fine ? failed : mst_archive_unreadable(data->archive, error);
}

/* All repetitions of a spawn study, the first one of a ramp. */
static int put_over_time(struct mst_json *j, const struct mst_study_data *data,
                         const struct mst_study_section *section, char error[MST_ERROR_MAX])
{
    int failed = 0;
    size_t i, k;

    mst_json_begin(j, "over_time", '[');
    for (i = 0; i < section->case_count && section->runs->kind != MST_RUNS_LOAD; i++)
        for (k = 0; k < section->cases[i].run_count && !failed; k++) {
            if (k > 0 && section->runs->kind == MST_RUNS_RAMP)
                break;
            failed = put_run(j, data, section, &section->cases[i], k, error);
        }
    mst_json_end(j, ']');
    return failed;
}

/* ---- a section -------------------------------------------------------------------- */

/* Which of the study's systems the line belongs to: a system has one colour in all charts. */
static size_t system_of(const struct mst_study_section *section, const struct mst_study_line *line)
{
    const char *stack = section->cases[line->first].stack;
    size_t i;

    for (i = 0; section->runs->stacks[i] != NULL; i++)
        if (strcmp(section->runs->stacks[i], stack) == 0)
            break;
    return i;
}

static void put_line(struct mst_json *j, const struct mst_study_section *section,
                     const struct mst_study_line *line)
{
    size_t i;

    mst_json_line(j, 0);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "label", line->label);
    mst_json_count(j, "system", system_of(section, line));
    mst_json_begin(j, "cases", '[');
    for (i = line->first; i < line->first + line->count; i++)
        if (section->cases[i].run_count > 0)
            put_case(j, section, &section->cases[i]);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
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
static void put_published(struct mst_json *j, const struct mst_study_section *section,
                          const enum mst_metric_id *figures, size_t count)
{
    int system, stack;
    size_t row, i;

    mst_json_begin(j, "published", '[');
    for (row = 1; section->published != NULL && row < section->published->rows.count; row++) {
        const struct mst_row *cells = &section->published->rows.items[row];

        system = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
        stack = mst_published_column(section->published, MST_PUBLISHED_STACK);
        mst_json_line(j, 0);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "system", system >= 0 ? cells->words[system] :
                        stack >= 0 ? cells->words[stack] : cells->words[0]);
        mst_cell_json(j, "line", line_of_row(section, row));
        for (i = 0; i < count; i++)
            mst_cell_json(j, mst_metrics[figures[i]].study,
                          mst_published_value(section, row, figures[i]));
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

static int put_section(struct mst_json *j, const struct mst_study_data *data,
                       const struct mst_study_section *section, char error[MST_ERROR_MAX])
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures), i;
    char word[MST_SPOKEN_MAX];

    mst_json_line(j, 0);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", section->runs->name);
    mst_json_string(j, "title", section->runs->title);
    mst_json_string(j, "kind", mst_runs_kind_names[section->runs->kind]);
    if (section->x_name != NULL)
        mst_spoken(word, section->x_name);
    mst_json_string(j, "x", section->x_name != NULL ? word : NULL);
    mst_json_begin(j, "figures", '[');
    for (i = 0; i < count; i++)
        mst_json_string(j, NULL, mst_metrics[figures[i]].study);
    mst_json_end(j, ']');
    put_published(j, section, figures, count);
    mst_json_begin(j, "lines", '[');
    for (i = 0; i < section->line_count; i++)
        put_line(j, section, &section->lines[i]);
    mst_json_end(j, ']');
    if (put_over_time(j, data, section, error) != 0)
        return -1;
    mst_json_end(j, '}');
    return 0;
}

/* What the names of figures mean. */
static void put_metrics(struct mst_json *j)
{
    int i;

    mst_json_begin(j, "metrics", '{');
    for (i = 0; i < MST_M_COUNT; i++) {
        if (mst_metrics[i].study == NULL)
            continue;
        mst_json_line(j, 1);
        mst_json_begin(j, mst_metrics[i].study, '{');
        mst_json_string(j, "label", mst_metrics[i].study_label);
        mst_json_string(j, "unit", unit_names[mst_metrics[i].unit]);
        mst_json_end(j, '}');
    }
    mst_json_end(j, '}');
}

static void put_parts(struct mst_json *j)
{
    size_t i;

    mst_json_line(j, 0);
    mst_json_begin(j, "parts", '[');
    for (i = 0; i < mst_study_part_count; i++)
        mst_json_string(j, NULL, mst_metrics[mst_study_parts[i]].study);
    mst_json_end(j, ']');
}

int mst_study_json(struct mst_sink *sink, const struct mst_study_data *data,
                   char error[MST_ERROR_MAX])
{
    struct mst_json json = { .out = sink }, *j = &json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "study", data->study.name);
    mst_json_string(j, "year", data->study.year);
    put_metrics(j);
    put_parts(j);
    mst_json_line(j, 0);
    mst_json_begin(j, "sections", '[');
    for (i = 0; i < data->section_count; i++)
        if (put_section(j, data, &data->sections[i], error) != 0)
            return -1;
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    return 0;
}

/* parts.c - what all formats of a study's report show: see parts.h. */
#include "lab/report/parts.h"

#include <stdio.h>
#include <string.h>

#include "lab/report/figures.h"

const char mst_study_caution[] =
    "The machine, the versions and the network are others than the original's: its absolute "
    "numbers and ours are not comparable. What can be compared is which system is ahead, and by "
    "what factor; so each system is also set in relation to one of them, there and here.";

#define CLIENT  "What the client saw"
#define TIME    "Where a request's time went (mean)"
#define WORKERS "Workers"
#define MEMORY  "Processes, memory, CPU"
#define FAILED  "Failures"
const struct mst_study_row mst_study_rows[] = {
    { CLIENT, MST_M_RATE }, { CLIENT, MST_M_TAKEN }, { CLIENT, MST_M_MEAN }, { CLIENT, MST_M_P50 },
    { CLIENT, MST_M_P90 }, { CLIENT, MST_M_P99 }, { CLIENT, MST_M_MAX }, { CLIENT, MST_M_CONNECT },
    { CLIENT, MST_M_PROCESSING }, { CLIENT, MST_M_TRANSFER }, { CLIENT, MST_M_CONCURRENCY },
    { TIME, MST_M_SERVER_MEAN }, { TIME, MST_M_QUEUE }, { TIME, MST_M_READ },
    { TIME, MST_M_PHP_WAIT }, { TIME, MST_M_PHP_RUN }, { TIME, MST_M_HANDLE },
    { TIME, MST_M_SEND_PHP }, { TIME, MST_M_SEND },
    { WORKERS, MST_M_LIMIT }, { WORKERS, MST_M_BUSY }, { WORKERS, MST_M_OCCUPANCY },
    { WORKERS, MST_M_NO_IDLE }, { WORKERS, MST_M_PHP_LIMIT }, { WORKERS, MST_M_PHP_BUSY },
    { WORKERS, MST_M_PHP_OCCUPANCY }, { WORKERS, MST_M_PHP_NO_IDLE },
    { MEMORY, MST_M_FORKS }, { MEMORY, MST_M_FORKS_EACH }, { MEMORY, MST_M_EXITS },
    { MEMORY, MST_M_KILLED },
    { MEMORY, MST_M_SPAWNED }, { MEMORY, MST_M_SPAWN_FIRST }, { MEMORY, MST_M_SPAWN_HALF },
    { MEMORY, MST_M_SPAWN_ALL }, { MEMORY, MST_M_SPAWN_RATE },
    { MEMORY, MST_M_PSS }, { MEMORY, MST_M_RSS }, { MEMORY, MST_M_PROCESSES },
    { MEMORY, MST_M_PSS_EACH }, { MEMORY, MST_M_RSS_EACH }, { MEMORY, MST_M_PHP_PSS },
    { MEMORY, MST_M_CPU_EACH }, { MEMORY, MST_M_MACHINE },
    { FAILED, MST_M_REQUESTS }, { FAILED, MST_M_SERVER_REQUESTS }, { FAILED, MST_M_FAILED },
    { FAILED, MST_M_FAILED_LENGTH }, { FAILED, MST_M_FAILED_CONNECT },
    { FAILED, MST_M_FAILED_RECEIVE }, { FAILED, MST_M_FAILED_TIMEOUT }, { FAILED, MST_M_NON_2XX },
    { FAILED, MST_M_ERRORS }, { FAILED, MST_M_5XX },
    { FAILED, MST_M_OVERFLOWS }, { FAILED, MST_M_SHED }, { FAILED, MST_M_PAGE_MIN },
    { FAILED, MST_M_PAGE_MAX },
};
const size_t mst_study_row_count = sizeof mst_study_rows / sizeof *mst_study_rows;

const enum mst_metric_id mst_study_parts[] = {
    MST_M_QUEUE, MST_M_READ, MST_M_PHP_WAIT, MST_M_PHP_RUN, MST_M_HANDLE, MST_M_SEND_PHP,
    MST_M_SEND,
};
const size_t mst_study_part_count = sizeof mst_study_parts / sizeof *mst_study_parts;

/* ---- which figures --------------------------------------------------------------- */

/* Metrics, each once. */
struct figures { enum mst_metric_id *items; size_t count; };

static void add_figure(struct figures *figures, enum mst_metric_id metric)
{
    size_t i;

    for (i = 0; i < figures->count; i++)
        if (figures->items[i] == metric)
            return;
    if (metric != MST_M_COUNT && figures->count < MST_STUDY_FIGURES_MAX)
        figures->items[figures->count++] = metric;
}

static void add_published(struct figures *figures, const struct mst_published *published)
{
    double scale;
    size_t i;

    for (i = 0; i < published->rows.items[0].count; i++)
        add_figure(figures, mst_study_metric_find(published->rows.items[0].words[i], &scale));
}

/* The figures of the claims, then the usual ones. */
static void add_usual(struct figures *figures, const struct mst_study_section *section)
{
    static const enum mst_metric_id usual[] = {
        MST_M_MEAN, MST_M_RATE, MST_M_TAKEN, MST_M_ERROR_SHARE,
    }, of_spawning[] = { MST_M_SPAWN_FIRST, MST_M_SPAWN_ALL, MST_M_SPAWN_RATE };
    bool spawn = section->runs->kind == MST_RUNS_SPAWN;
    double scale;
    size_t i;

    for (i = 0; i < section->study->claim_count; i++)
        if (strcmp(section->study->claims[i].runs, section->runs->name) == 0)
            add_figure(figures, mst_study_metric_find(section->study->claims[i].figure, &scale));
    for (i = 0; i < (spawn ? sizeof of_spawning : sizeof usual) / sizeof *usual; i++)
        add_figure(figures, spawn ? of_spawning[i] : usual[i]);
}

size_t mst_study_figures(const struct mst_study_section *section,
                         enum mst_metric_id items[MST_STUDY_FIGURES_MAX])
{
    struct figures figures = { .items = items };

    if (section->published != NULL)
        add_published(&figures, section->published);
    if (figures.count == 0)
        add_usual(&figures, section);
    return figures.count;
}

/* ---- how it was run --------------------------------------------------------------- */

/* Steps that failed, were skipped, or were not reached. */
struct missing { size_t failed, skipped, waiting; };

static struct missing count_missing(const struct mst_study_data *data)
{
    struct missing m = { 0 };
    size_t i, k;

    for (i = 0; i < data->section_count; i++)
        for (k = 0; k < data->sections[i].case_count; k++) {
            m.failed += data->sections[i].cases[k].failed;
            m.skipped += data->sections[i].cases[k].skipped;
            m.waiting += data->sections[i].cases[k].waiting;
        }
    return m;
}

/* "; 3 failed, 1 was skipped" */
static void say_missing(char *text, size_t size, const struct missing *m)
{
    const struct { size_t count; const char *one, *several; } parts[] = {
        { m->failed, "failed", "failed" }, { m->skipped, "was skipped", "were skipped" },
        { m->waiting, "was not reached", "were not reached" },
    };
    size_t used = 0, i;

    text[0] = '\0';
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%zu %s", used > 0 ? ", " : "; ",
                                     parts[i].count, parts[i].count == 1 ? parts[i].one :
                                                                           parts[i].several);
}

const char *mst_study_about(const struct mst_study_data *data)
{
    struct missing missing = count_missing(data);
    bool quick = strcmp(data->size, mst_study_size_names[MST_STUDY_QUICK]) == 0;
    char text[128];

    say_missing(text, sizeof text, &missing);
    return mst_pool_printf(data->pool, "Run at the %s size%s: %zu of %zu runs were made%s.%s",
                           quick ? "quick" : "study's own", quick ?
                           " (minutes instead of hours; the same shape)" : "", data->done,
                           data->steps, text, data->interrupted == 0 ? "" :
                           data->ended_ns == MST_UNKNOWN ? " It was interrupted." :
                           " It was interrupted, and went on later.");
}

/* The value of a variable where it is the same in all cases that have it, else NULL. */
static const char *same_value(const struct mst_study_section *section, const char *name)
{
    const char *same = NULL, *value;
    size_t i;

    for (i = 0; i < section->case_count; i++) {
        value = mst_study_value(&section->cases[i], name);
        if (value != NULL && same != NULL && strcmp(value, same) != 0)
            return NULL;
        same = value != NULL ? value : same;
    }
    return same;
}

/* The text with the values of the variables that are the same in all cases. */
static const char *fill_in(const struct mst_study_section *section, const char *text)
{
    const char *at, *end, *value;
    struct mst_stream filled;

    mst_stream_begin(&filled);
    for (at = text; *at != '\0'; at++) {
        end = strncmp(at, "${", 2) == 0 ? strchr(at, '}') : NULL;
        value = end != NULL ? same_value(section, apr_pstrmemdup(section->pool, at + 2,
                                                                 (size_t)(end - at - 2))) : NULL;
        if (value != NULL)
            fputs(value, filled.out);
        else
            fputc(*at, filled.out);
        at = value != NULL ? end : at;
    }
    return mst_stream_end(&filled, section->pool);
}

/* Variables that differ between cases stay ${NAME} in the load's command. */
const char *mst_study_about_section(const struct mst_study_section *section)
{
    const struct mst_runs *runs = section->runs;
    const char *plural = runs->repetitions == 1 ? "" : "s";

    if (runs->kind == MST_RUNS_RAMP)
        return fill_in(section, mst_pool_printf(section->pool, "Arrivals at a rate from %s to %s a "
                       "second over %s s; %u repetition%s.", runs->from, runs->to, runs->over,
                       runs->repetitions, plural));
    return fill_in(section, mst_pool_printf(section->pool, "%s; %u repetition%s%s.",
                   runs->load != NULL ? runs->load : "", runs->repetitions, plural,
                   runs->kind == MST_RUNS_SPAWN ? ", each on servers that were just started" : ""));
}

/* study_html.c - the study's page: see study_report.h.
 *
 * What can be read is here: sentences, tables, provenance. assets/study.js draws the charts from
 * the JSON at the end (study_json.c).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "lab/report/study_report.h"
#include "lab/report/study_parts.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/table.h"
#include "segment/format.h"

#define SUB_MAX 1024u

/* ---- numbers ---------------------------------------------------------------------- */

#define DASH "<span class=\"unknown\">–</span>"

static void put_value(struct mst_sink *sink, enum mst_metric_unit unit, double value)
{
    if (!isfinite(value)) {
        mst_html(sink, DASH);
        return;
    }
    mst_html(sink, "<data value=\"");
    mst_cell_put(sink, value, "");
    mst_html(sink, "\">%s</data>", mst_study_human(unit, value).text);
}

/* The interval below it; without one how far the repetitions reach. */
static void put_range(struct mst_sink *sink, enum mst_metric_unit unit, double low, double high)
{
    mst_html(sink, "<small>%s – %s</small>", mst_study_human(unit, low).text,
             mst_study_human(unit, high).text);
}

static void put_estimate(struct mst_sink *sink, enum mst_metric_id metric,
                         const struct mst_study_case *c)
{
    enum mst_metric_unit unit = mst_metrics[metric].unit;
    struct mst_estimate e = mst_estimate_of(c, metric);

    put_value(sink, unit, e.mean);
    if (e.count > 0 && isfinite(e.low) && e.low < e.high)
        put_range(sink, unit, e.low, e.high);
    else if (e.count > 0 && e.least < e.most)
        put_range(sink, unit, e.least, e.most);
}

static void put_estimate_cell(struct mst_sink *sink, enum mst_metric_id metric,
                              const struct mst_study_case *c)
{
    mst_html(sink, "<td>");
    put_estimate(sink, metric, c);
    mst_html(sink, "</td>");
}

/* ---- the head --------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    mst_html(sink, "<nav aria-label=\"Contents\"><ul>\n"
             "<li><a href=\"#verdict\">What came out</a></li>\n");
    for (i = 0; i < data->section_count; i++)
        mst_html(sink, "<li><a href=\"#runs-%zu\">%s</a></li>\n", i + 1,
                 data->sections[i].runs->title);
    if (data->unrun_count > 0)
        mst_html(sink, "<li><a href=\"#unrun\">What was not run</a></li>\n");
    mst_html(sink, "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- sentences -------------------------------------------------------------------- */

static const struct { const char *class, *mark; } marks[MST_SAYING_KINDS] = {
    [MST_SAYING_HOLDS] = { "yes", "✓" }, [MST_SAYING_FAILS] = { "no", "✕" },
    [MST_SAYING_UNSURE] = { "maybe", "?" }, [MST_SAYING_UNSEEN] = { "seen", "!" },
};

static void put_saying(struct mst_sink *sink, const struct mst_saying *saying)
{
    mst_html(sink, "<li class=\"%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span> ",
             marks[saying->kind].class, marks[saying->kind].mark);
    if (saying->claim != NULL)
        mst_html(sink, "<q>%s</q> ", saying->claim);
    mst_html(sink, "<span>%s</span></li>\n", saying->text);
}

static size_t count_kind(const struct mst_sayings *sayings, enum mst_saying_kind kind)
{
    size_t count = 0, i;

    for (i = 0; i < sayings->count; i++)
        count += sayings->items[i].kind == kind;
    return count;
}

/* Where the study has several sections, each sentence of what could not be seen stands
 * under its section's title. */
static void put_kind(struct mst_sink *sink, const struct mst_study_data *data,
                     const struct mst_sayings *sayings, enum mst_saying_kind kind)
{
    const struct mst_study_section *section = NULL;
    size_t i;

    if (count_kind(sayings, kind) == 0)
        return;
    mst_html(sink, "<article class=\"card sayings\">\n<h3>%s</h3>\n<ul class=\"checks\">\n",
             mst_saying_titles[kind]);
    for (i = 0; i < sayings->count; i++) {
        const struct mst_saying *saying = &sayings->items[i];

        if (saying->kind != kind)
            continue;
        if (kind == MST_SAYING_UNSEEN && data->section_count > 1 && saying->section != section) {
            section = saying->section;
            mst_html(sink, "</ul>\n<h4>%s</h4>\n<ul class=\"checks\">\n", section->runs->title);
        }
        put_saying(sink, saying);
    }
    mst_html(sink, "</ul>\n</article>\n");
}

/* "Of 8 claims 3 hold, 2 do not, 3 cannot be told." */
static void put_count(struct mst_sink *sink, const struct mst_sayings *sayings)
{
    size_t holds = count_kind(sayings, MST_SAYING_HOLDS);
    size_t fails = count_kind(sayings, MST_SAYING_FAILS);
    size_t unsure = count_kind(sayings, MST_SAYING_UNSURE), all = holds + fails + unsure;

    if (all > 0)
        mst_html(sink, "<p class=\"verdict\">Of %zu thing%s that the original says, %zu %s here, "
                 "%zu %s not, and %zu cannot be told.</p>\n", all, all == 1 ? "" : "s", holds,
                 holds == 1 ? "holds" : "hold", fails, fails == 1 ? "does" : "do", unsure);
}

static void put_verdict(struct mst_sink *sink, const struct mst_study_data *data,
                        const struct mst_sayings *sayings)
{
    char *about = mst_study_about(data);
    int kind;

    mst_html(sink, "<section id=\"verdict\">\n<h2>What came out</h2>\n");
    if (data->study.question[0] != '\0')
        mst_html(sink, "<p class=\"question\">%s</p>", data->study.question);
    if (data->ended_ns == MST_UNKNOWN)
        mst_html(sink, "<p class=\"warning\"><strong>This study has not come to its end.</strong> "
                 "What was run until then is shown.</p>\n");
    put_count(sink, sayings);
    mst_html(sink, "<p class=\"note\">%s</p><p class=\"note\">%s</p>\n", about, mst_study_caution);
    for (kind = 0; kind < MST_SAYING_KINDS; kind++)
        put_kind(sink, data, sayings, (enum mst_saying_kind)kind);
    mst_html(sink, "</section>\n");
    free(about);
}

/* ---- published beside ours -------------------------------------------------------- */

static void begin_beside(struct mst_sink *sink, const char *name,
                         const enum mst_metric_id *figures, size_t count)
{
    size_t i;

    mst_page_table(sink, name, "beside");
    mst_html(sink, "<thead><tr><th scope=\"col\">system</th>");
    for (i = 0; i < count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", mst_metrics[figures[i]].study_label);
    mst_html(sink, "</tr></thead><tbody>\n");
}

/* What the original calls it; what stands for it here. */
static void put_system(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                       const struct mst_study_case *c)
{
    int column = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
    const char *theirs = column >= 0 ? section->published->rows.items[row].words[column] : NULL;
    char *ours = c != NULL ? mst_study_label(section, c) : NULL;

    mst_html(sink, "<th scope=\"row\">%s", theirs != NULL ? theirs : ours);
    if (theirs != NULL && (ours == NULL || strcmp(theirs, ours) != 0))
        mst_html(sink, "<small>%s</small>", ours != NULL ? ours : "not run here");
    mst_html(sink, "</th>");
    free(ours);
}

static void put_beside_cell(struct mst_sink *sink, const struct mst_study_section *section,
                            size_t row, enum mst_metric_id metric,
                            const struct mst_study_case *c)
{
    double theirs = mst_published_value(section, row, metric);

    mst_html(sink, "<td data-metric=\"%s\">", mst_metrics[metric].study);
    if (c != NULL)
        put_estimate(sink, metric, c);
    else
        mst_html(sink, DASH);
    if (isfinite(theirs))
        mst_html(sink, "<small class=\"theirs\">%s</small>",
                 mst_study_human(mst_metrics[metric].unit, theirs).text);
    mst_html(sink, "</td>");
}

/* The row of the published table that the reference is; 0: none. */
static size_t reference_row(const struct mst_study_section *section)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t row;

    for (row = 1; reference != NULL && row < section->published->rows.count; row++)
        if (mst_published_is(section, row, reference))
            return row;
    return 0;
}

static void put_ratio_cell(struct mst_sink *sink, const struct mst_study_section *section,
                           size_t row, enum mst_metric_id metric,
                           const struct mst_study_case *c)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t to = reference_row(section);
    double theirs = mst_published_value(section, row, metric) /
                    (to > 0 ? mst_published_value(section, to, metric) : NAN);
    struct mst_ratio r = { .ratio = NAN };

    mst_html(sink, "<td>");
    if (c != NULL && c != reference && reference != NULL)
        r = mst_ratio_of(c, reference, metric);
    if (c != NULL && c == reference)
        mst_html(sink, "1");
    else if (r.known)
        mst_html(sink, "× %s", mst_study_ratio(r.ratio).text);
    else
        mst_html(sink, DASH);
    if (r.bounded)
        mst_html(sink, "<small>%s – %s</small>", mst_study_ratio(r.low).text,
                 mst_study_ratio(r.high).text);
    if (isfinite(theirs))
        mst_html(sink, "<small class=\"theirs\">%s%s</small>", theirs == 1 ? "" : "× ",
                 theirs == 1 ? "1" : mst_study_ratio(theirs).text);
    mst_html(sink, "</td>");
}

typedef void put_cell(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                      enum mst_metric_id metric, const struct mst_study_case *c);

static void put_row(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                    const struct mst_study_case *c, const enum mst_metric_id *figures,
                    size_t count, put_cell *put)
{
    size_t i;

    mst_html(sink, "<tr>");
    put_system(sink, section, row, c);
    for (i = 0; i < count; i++)
        put(sink, section, row, figures[i], c);
    mst_html(sink, "</tr>\n");
}

/* Each published row with each case that stands for it. */
static void put_rows(struct mst_sink *sink, const struct mst_study_section *section,
                     const enum mst_metric_id *figures, size_t count, put_cell *put)
{
    size_t row, i, found;

    for (row = 1; row < section->published->rows.count; row++) {
        for (i = 0, found = 0; i < section->case_count; i++) {
            if (section->cases[i].run_count == 0 ||
                !mst_published_is(section, row, &section->cases[i]))
                continue;
            put_row(sink, section, row, &section->cases[i], figures, count, put);
            found++;
        }
        if (found == 0)
            put_row(sink, section, row, NULL, figures, count, put);
    }
}

static void put_published(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures);
    const struct mst_study_case *reference = mst_reference_of(section);
    char *label;

    if (section->published == NULL)
        return;
    mst_html(sink, "<h3>The original's table, and ours</h3>\n<p class=\"note\">Ours first: the "
             "mean of the repetitions and its 95 %% interval (with fewer than three: how far they "
             "reach). <span class=\"theirs\">As published</span> below it.</p>\n");
    begin_beside(sink, "Published beside ours", figures, count);
    put_rows(sink, section, figures, count, put_beside_cell);
    mst_html(sink, MST_PAGE_TABLE_END);
    label = reference != NULL ? mst_study_label(section, reference) : NULL;
    if (label == NULL)
        return;
    mst_html(sink, "<h3>In relation to %s</h3>\n<p class=\"note\">What can be compared across "
             "machines: how many times as much as the reference, with the 95 %% interval; "
             "<span class=\"theirs\">as published</span> below it.</p>\n", label);
    begin_beside(sink, "Ratios, published beside ours", figures, count);
    put_rows(sink, section, figures, count, put_ratio_cell);
    mst_html(sink, MST_PAGE_TABLE_END);
    free(label);
}

/* ---- what it lacked --------------------------------------------------------------- */

static void put_line_heads(struct mst_sink *sink, const struct mst_study_section *section)
{
    size_t i;

    mst_html(sink, "<thead><tr><td></td>");
    for (i = 0; i < section->line_count; i++) {
        const struct mst_study_case *c = mst_study_heaviest(section, i);
        char *label = c != NULL ? mst_study_label(section, c) : NULL;

        if (label != NULL)
            mst_html(sink, "<th scope=\"col\">%s</th>", label);
        free(label);
    }
    mst_html(sink, "</tr></thead><tbody>\n");
}

static size_t count_lines(const struct mst_study_section *section)
{
    size_t count = 0, i;

    for (i = 0; i < section->line_count; i++)
        count += mst_study_heaviest(section, i) != NULL;
    return count;
}

static void put_lacked(struct mst_sink *sink, const struct mst_study_section *section)
{
    const char *group = "";
    size_t row, i;

    mst_html(sink, "<h3>All figures</h3>\n<p class=\"note\">The mean of the repetitions and its "
             "95 %% interval%s.</p>\n", section->x_name != NULL ?
             ", of the heaviest load that each came to" : "");
    mst_page_table(sink, "All figures", "numbers");
    put_line_heads(sink, section);
    for (row = 0; row < mst_study_row_count; row++) {
        enum mst_metric_id metric = mst_study_rows[row].metric;

        if (!mst_study_is_known(section, metric))
            continue;
        if (strcmp(group, mst_study_rows[row].group) != 0)
            mst_page_group(sink, mst_study_rows[row].group, count_lines(section));
        group = mst_study_rows[row].group;
        mst_html(sink, "<tr data-metric=\"%s\"><th scope=\"row\">%s</th>",
                 mst_metrics[metric].study, mst_metrics[metric].study_label);
        for (i = 0; i < section->line_count; i++) {
            const struct mst_study_case *c = mst_study_heaviest(section, i);

            if (c != NULL)
                put_estimate_cell(sink, metric, c);
        }
        mst_html(sink, "</tr>\n");
    }
    mst_html(sink, MST_PAGE_TABLE_END);
}

/* ---- every case ------------------------------------------------------------------- */

static void put_case(struct mst_sink *sink, const struct mst_study_section *section,
                     const struct mst_study_case *c, const enum mst_metric_id *columns,
                     size_t count)
{
    char *label = mst_study_label(section, c);
    size_t i;

    mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%zu of %zu</td>", label, c->run_count,
             c->planned);
    for (i = 0; i < count; i++)
        put_estimate_cell(sink, columns[i], c);
    mst_html(sink, "</tr>\n");
    free(label);
}

static void put_cases(struct mst_sink *sink, const struct mst_study_section *section)
{
    static const enum mst_metric_id candidates[] = {
        MST_M_RATE, MST_M_TAKEN, MST_M_MEAN, MST_M_P50, MST_M_P99, MST_M_ERRORS, MST_M_QUEUE,
        MST_M_PHP_WAIT, MST_M_OCCUPANCY, MST_M_PHP_OCCUPANCY, MST_M_SPAWN_FIRST, MST_M_SPAWN_ALL,
        MST_M_PSS,
    };
    enum mst_metric_id columns[sizeof candidates / sizeof *candidates];
    size_t count = 0, i;

    if (section->x_name == NULL)
        return;
    for (i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (mst_study_is_known(section, candidates[i]))
            columns[count++] = candidates[i];
    mst_html(sink, "<details><summary>All %zu cases</summary>\n", section->case_count);
    mst_page_table(sink, "All cases", "cases");
    mst_html(sink, "<thead><tr><th scope=\"col\">case</th><th scope=\"col\">runs</th>");
    for (i = 0; i < count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", mst_metrics[columns[i]].study_label);
    mst_html(sink, "</tr></thead><tbody>\n");
    for (i = 0; i < section->case_count; i++)
        put_case(sink, section, &section->cases[i], columns, count);
    mst_html(sink, MST_PAGE_TABLE_END "</details>\n");
}

/* ---- a section -------------------------------------------------------------------- */

static void put_section(struct mst_sink *sink, const struct mst_study_data *data, size_t i)
{
    const struct mst_study_section *section = &data->sections[i];
    char *about = mst_study_about_section(section), *ranking = mst_sayings_ranking(section);

    mst_html(sink, "<section id=\"runs-%zu\">\n<h2>%s</h2><p class=\"sub\">%s</p>", i + 1,
             section->runs->title, about);
    if (ranking != NULL)
        mst_html(sink, "<p>%s</p>", ranking);
    if (count_lines(section) == 0) {
        mst_html(sink, "<p>Nothing of this was run.</p>\n");
    } else {
        put_published(sink, section);
        mst_html(sink, "<div class=\"charts\" data-section=\"%zu\">" MST_PAGE_NO_SCRIPT "</div>\n",
                 i);
        put_lacked(sink, section);
        put_cases(sink, section);
    }
    mst_html(sink, "</section>\n");
    free(about);
    free(ranking);
}

/* ---- what was not run ------------------------------------------------------------- */

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    if (data->unrun_count == 0)
        return;
    mst_html(sink, "<section id=\"unrun\">\n<h2>What was not run</h2>\n<p>Each with its reason; "
             "the study went on without it.</p>\n");
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];
        char *failure = strdup(u->failure != NULL ? u->failure : "");
        char *rest = failure != NULL ? strchr(failure, '\n') : NULL;

        if (rest != NULL)
            *rest++ = '\0';
        mst_html(sink, "<article class=\"card\">\n<h3>%s %s: %s</h3>\n<p class=\"sub\">%s, "
                 "repetition %u</p>\n<p class=\"warning\">%s</p>\n", u->stack, u->state,
                 u->section, u->what, u->repetition, failure);
        if (rest != NULL && rest[0] != '\0')
            mst_html(sink, "<pre tabindex=\"0\">%s</pre>", rest);
        mst_html(sink, "</article>\n");
        free(failure);
    }
    mst_html(sink, "</section>\n");
}

/* ---- provenance ------------------------------------------------------------------- */

/* What is the same in all runs once; what is not with all that it was. */
static bool put_environment(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT name, group_concat(DISTINCT value) AS content FROM environment WHERE run_id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) GROUP BY name ORDER BY name", data->id);

    while (mst_query_next(&q))
        mst_page_pair(sink, mst_row_text(&q, "name"), mst_row_text(&q, "content"));
    return mst_query_done(&q);
}

static bool put_servers(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT DISTINCT steps.stack, coalesce(servers.server, servers.producer) AS server, "
        "servers.mpm, servers.sapi FROM steps JOIN servers ON servers.run_id = steps.run_id "
        "WHERE steps.study_id = :id ORDER BY steps.stack, servers.producer", data->id);

    while (mst_query_next(&q)) {
        const char *mpm = mst_row_text(&q, "mpm"), *sapi = mst_row_text(&q, "sapi");

        mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%s%s%s%s%s</td></tr>\n",
                 mst_row_text(&q, "stack"), mst_row_text(&q, "server"), mpm != NULL ? ", " : "",
                 mpm, sapi != NULL ? ", " : "", sapi);
    }
    return mst_query_done(&q);
}

static bool put_commands(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT DISTINCT coalesce(command_line, '') AS command FROM runs WHERE id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) ORDER BY id", data->id);

    mst_html(sink, "<details><summary>The load tools' commands, as executed</summary><pre "
             "tabindex=\"0\">\n");
    while (mst_query_next(&q))
        mst_html(sink, "%s\n", mst_row_text(&q, "command"));
    mst_html(sink, "</pre></details>\n");
    return mst_query_done(&q);
}

static bool put_files(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT kind, name, text FROM study_files WHERE study_id = :id ORDER BY kind, name",
        data->id);

    mst_html(sink, "<details><summary>The study's file, as it was run</summary><pre "
             "tabindex=\"0\">\n%s</pre></details>\n", data->study.text.contents);
    while (mst_query_next(&q))
        mst_html(sink, "<details><summary>%s %s</summary><pre tabindex=\"0\">\n%s</pre></details>"
                 "\n", mst_row_text(&q, "kind"), mst_row_text(&q, "name"),
                 mst_row_text(&q, "text"));
    return mst_query_done(&q);
}

static void put_instant(struct mst_sink *sink, const char *name, uint64_t instant_ns)
{
    if (instant_ns == MST_UNKNOWN)
        return;
    mst_html(sink, "<tr><th scope=\"row\">%s</th><td>", name);
    mst_sink_instant(sink, instant_ns);
    mst_html(sink, "</td></tr>\n");
}

static bool put_provenance(struct mst_sink *sink, const struct mst_study_data *data)
{
    char number[32];
    bool fine;

    mst_html(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n<article class=\"card\">\n");
    mst_page_table(sink, "Provenance", "pairs");
    mst_html(sink, "<tbody>\n");
    mst_page_pair(sink, "archive", data->path);
    mst_page_pair(sink, "study", data->study.name);
    mst_page_pair(sink, "size", data->size);
    mst_page_pair(sink, "only these stacks", data->only);
    put_instant(sink, "begun", data->started_ns);
    put_instant(sink, "ended", data->ended_ns);
    snprintf(number, sizeof number, "%" PRIu64, data->seed);
    mst_page_pair(sink, "seed of the order", number);
    mst_page_pair(sink, "intervals", MST_BOOTSTRAP_METHOD);
    fine = put_environment(sink, data) && put_servers(sink, data);
    mst_html(sink, MST_PAGE_TABLE_END);
    if (data->study.notes[0] != '\0')
        mst_html(sink, "<h4>How this differs from the original</h4>\n<p class=\"notes\">%s</p>",
                 data->study.notes);
    fine = fine && put_commands(sink, data) && put_files(sink, data);
    mst_html(sink, "</article>\n</section>\n");
    return fine;
}

/* ---- all of it -------------------------------------------------------------------- */

static mst_page_data put_data;
static int put_data(struct mst_sink *sink, const void *of, char *error)
{
    return mst_study_json(sink, of, error);
}

/* "Original, 2013, es". */
static void say_origin(char sub[SUB_MAX], const struct mst_study *study)
{
    snprintf(sub, SUB_MAX, "%s%s%s%s%s%s", study->original[0] != '\0' ? study->original :
             study->name, study->year[0] != '\0' ? ", " : "", study->year,
             study->language[0] != '\0' ? " (" : "", study->language,
             study->language[0] != '\0' ? ")" : "");
}

int mst_study_html(struct mst_sink *sink, const struct mst_study_data *data,
                   const struct mst_sayings *sayings, char error[MST_ERROR_MAX])
{
    char sub[SUB_MAX];
    const struct mst_page page = {
        .kind = MST_PAGE_STUDY, .title = data->study.title, .brand = "mpmstat lab", .sub = sub,
        .skip_to = "verdict", .skip_text = "To what came out",
    };
    size_t i;

    say_origin(sub, &data->study);
    mst_page_begin(sink, &page);
    put_contents(sink, data);
    mst_html(sink, "</header>\n<main>\n");
    put_verdict(sink, data, sayings);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, data, i);
    put_unrun(sink, data);
    if (!put_provenance(sink, data))
        return mst_archive_unreadable(data->archive, error);
    mst_html(sink, "</main>\n");
    return mst_page_end(sink, &page, put_data, data, error);
}

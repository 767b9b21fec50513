/* study_html.c - the study's page: see study_report.h.
 *
 * What can be read is here: sentences, tables, provenance. The charts are
 * assets/study.js's, from the JSON at the end (study_json.c).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "lab/report/study_report.h"
#include "lab/report/study_parts.h"
#include "report/page.h"
#include "report/table.h"
#include "segment/format.h"

#define SUB_MAX 1024u

/* ---- numbers ---------------------------------------------------------------------- */

static void put_value(struct mst_sink *sink, enum mst_study_unit unit, double value)
{
    if (!isfinite(value)) {
        raw(sink, "<span class=\"unknown\">–</span>");
        return;
    }
    raw(sink, "<data value=\"");
    mst_cell_put(sink, value, "");
    raw(sink, "\">");
    mst_page_human(sink, mst_study_human(unit, value).text);
    raw(sink, "</data>");
}

/* The interval below it; without one how far the repetitions reach. */
static void put_range(struct mst_sink *sink, enum mst_study_unit unit, double low, double high)
{
    raw(sink, "<small>");
    mst_page_human(sink, mst_study_human(unit, low).text);
    raw(sink, " – ");
    mst_page_human(sink, mst_study_human(unit, high).text);
    raw(sink, "</small>");
}

static void put_estimate(struct mst_sink *sink, enum mst_study_metric_id metric,
                         const struct mst_study_case *c)
{
    enum mst_study_unit unit = mst_study_metrics[metric].unit;
    struct mst_estimate e = mst_estimate_of(c, metric);

    put_value(sink, unit, e.mean);
    if (e.count > 0 && isfinite(e.low) && e.low < e.high)
        put_range(sink, unit, e.low, e.high);
    else if (e.count > 0 && e.least < e.most)
        put_range(sink, unit, e.least, e.most);
}

/* ---- the head --------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    raw(sink, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#verdict\">What came out</a></li>"
              "\n");
    for (i = 0; i < data->section_count; i++) {
        raw(sink, "<li><a href=\"#runs-");
        mst_sink_u64(sink, i + 1);
        raw(sink, "\">");
        text(sink, data->sections[i].runs->title);
        raw(sink, "</a></li>\n");
    }
    if (data->unrun_count > 0)
        raw(sink, "<li><a href=\"#unrun\">What was not run</a></li>\n");
    raw(sink, "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- sentences -------------------------------------------------------------------- */

static const struct { const char *class, *mark; } marks[MST_SAYING_KINDS] = {
    [MST_SAYING_HOLDS] = { "yes", "✓" }, [MST_SAYING_FAILS] = { "no", "✕" },
    [MST_SAYING_UNSURE] = { "maybe", "?" }, [MST_SAYING_UNSEEN] = { "seen", "!" },
};

static void put_saying(struct mst_sink *sink, const struct mst_saying *saying)
{
    raw(sink, "<li class=\"");
    raw(sink, marks[saying->kind].class);
    raw(sink, "\"><span class=\"mark\" aria-hidden=\"true\">");
    raw(sink, marks[saying->kind].mark);
    raw(sink, "</span> ");
    if (saying->claim != NULL) {
        raw(sink, "<q>");
        text(sink, saying->claim);
        raw(sink, "</q> ");
    }
    raw(sink, "<span>");
    text(sink, saying->text);
    raw(sink, "</span></li>\n");
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
    raw(sink, "<article class=\"card sayings\">\n");
    mst_page_element(sink, "h3", mst_saying_titles[kind]);
    raw(sink, "\n<ul class=\"checks\">\n");
    for (i = 0; i < sayings->count; i++) {
        const struct mst_saying *saying = &sayings->items[i];

        if (saying->kind != kind)
            continue;
        if (kind == MST_SAYING_UNSEEN && data->section_count > 1 && saying->section != section) {
            section = saying->section;
            raw(sink, "</ul>\n");
            mst_page_element(sink, "h4", section->runs->title);
            raw(sink, "\n<ul class=\"checks\">\n");
        }
        put_saying(sink, saying);
    }
    raw(sink, "</ul>\n</article>\n");
}

/* "Of 8 claims 3 hold, 2 do not, 3 cannot be told." */
static void put_count(struct mst_sink *sink, const struct mst_sayings *sayings)
{
    size_t holds = count_kind(sayings, MST_SAYING_HOLDS);
    size_t fails = count_kind(sayings, MST_SAYING_FAILS);
    size_t unsure = count_kind(sayings, MST_SAYING_UNSURE);

    if (holds + fails + unsure == 0)
        return;
    raw(sink, "<p class=\"verdict\">");
    mst_page_textf(sink, "Of %zu thing%s that the original says, %zu %s here, %zu %s not, and %zu "
                   "cannot be told.", holds + fails + unsure,
                   holds + fails + unsure == 1 ? "" : "s", holds, holds == 1 ? "holds" : "hold",
                   fails, fails == 1 ? "does" : "do", unsure);
    raw(sink, "</p>\n");
}

static void put_verdict(struct mst_sink *sink, const struct mst_study_data *data,
                        const struct mst_sayings *sayings)
{
    char *about = mst_study_about(data);
    int kind;

    raw(sink, "<section id=\"verdict\">\n<h2>What came out</h2>\n");
    if (data->study.question[0] != '\0')
        mst_page_element(sink, "p class=\"question\"", data->study.question);
    if (data->ended_ns == MST_UNKNOWN)
        raw(sink, "<p class=\"warning\"><strong>This study has not come to its end.</strong> What "
                  "was run until then is shown.</p>\n");
    put_count(sink, sayings);
    mst_page_element(sink, "p class=\"note\"", about);
    mst_page_element(sink, "p class=\"note\"", mst_study_caution);
    raw(sink, "\n");
    for (kind = 0; kind < MST_SAYING_KINDS; kind++)
        put_kind(sink, data, sayings, (enum mst_saying_kind)kind);
    raw(sink, "</section>\n");
    free(about);
}

/* ---- published beside ours -------------------------------------------------------- */

static void begin_beside(struct mst_sink *sink, const char *name,
                         const enum mst_study_metric_id *figures, size_t count)
{
    size_t i;

    mst_page_table(sink, name, "beside");
    raw(sink, "<thead><tr><th scope=\"col\">system</th>");
    for (i = 0; i < count; i++)
        mst_page_element(sink, "th scope=\"col\"", mst_study_metrics[figures[i]].label);
    raw(sink, "</tr></thead><tbody>\n");
}

/* What the original calls it; what stands for it here. */
static void put_system(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                       const struct mst_study_case *c)
{
    int column = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
    const char *theirs = column >= 0 ? section->published->rows.items[row].words[column] : NULL;
    char *ours = c != NULL ? mst_study_label(section, c) : NULL;

    raw(sink, "<th scope=\"row\">");
    text(sink, theirs != NULL ? theirs : ours);
    if (theirs != NULL && (ours == NULL || strcmp(theirs, ours) != 0)) {
        raw(sink, "<small>");
        text(sink, ours != NULL ? ours : "not run here");
        raw(sink, "</small>");
    }
    raw(sink, "</th>");
    free(ours);
}

static void put_beside_cell(struct mst_sink *sink, const struct mst_study_section *section,
                            size_t row, enum mst_study_metric_id metric,
                            const struct mst_study_case *c)
{
    double theirs = mst_published_value(section, row, metric);

    raw(sink, "<td data-metric=\"");
    raw(sink, mst_study_metrics[metric].name);
    raw(sink, "\">");
    if (c != NULL)
        put_estimate(sink, metric, c);
    else
        raw(sink, "<span class=\"unknown\">–</span>");
    if (isfinite(theirs)) {
        raw(sink, "<small class=\"theirs\">");
        mst_page_human(sink, mst_study_human(mst_study_metrics[metric].unit, theirs).text);
        raw(sink, "</small>");
    }
    raw(sink, "</td>");
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
                           size_t row, enum mst_study_metric_id metric,
                           const struct mst_study_case *c)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t to = reference_row(section);
    double theirs = mst_published_value(section, row, metric) /
                    (to > 0 ? mst_published_value(section, to, metric) : NAN);
    struct mst_ratio r = { .ratio = NAN };

    raw(sink, "<td>");
    if (c != NULL && c != reference && reference != NULL)
        r = mst_ratio_of(c, reference, metric);
    if (c != NULL && c == reference)
        raw(sink, "1");
    else if (r.known)
        mst_page_textf(sink, "× %s", mst_study_ratio(r.ratio).text);
    else
        raw(sink, "<span class=\"unknown\">–</span>");
    if (r.bounded) {
        raw(sink, "<small>");
        mst_page_textf(sink, "%s – %s", mst_study_ratio(r.low).text,
                       mst_study_ratio(r.high).text);
        raw(sink, "</small>");
    }
    if (isfinite(theirs)) {
        raw(sink, "<small class=\"theirs\">");
        mst_page_textf(sink, theirs == 1 ? "1" : "× %s", mst_study_ratio(theirs).text);
        raw(sink, "</small>");
    }
    raw(sink, "</td>");
}

typedef void put_cell(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                      enum mst_study_metric_id metric, const struct mst_study_case *c);

static void put_row(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                    const struct mst_study_case *c, const enum mst_study_metric_id *figures,
                    size_t count, put_cell *put)
{
    size_t i;

    raw(sink, "<tr>");
    put_system(sink, section, row, c);
    for (i = 0; i < count; i++)
        put(sink, section, row, figures[i], c);
    raw(sink, "</tr>\n");
}

/* Each published row with each case that stands for it. */
static void put_rows(struct mst_sink *sink, const struct mst_study_section *section,
                     const enum mst_study_metric_id *figures, size_t count, put_cell *put)
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
    enum mst_study_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures);
    const struct mst_study_case *reference = mst_reference_of(section);
    char *label;

    if (section->published == NULL)
        return;
    raw(sink, "<h3>The original's table, and ours</h3>\n<p class=\"note\">Ours first: the mean of "
              "the repetitions and its 95 % interval (with fewer than three: how far they reach). "
              "<span class=\"theirs\">As published</span>"
              " below it.</p>\n");
    begin_beside(sink, "Published beside ours", figures, count);
    put_rows(sink, section, figures, count, put_beside_cell);
    raw(sink, MST_PAGE_TABLE_END);
    label = reference != NULL ? mst_study_label(section, reference) : NULL;
    if (label == NULL)
        return;
    raw(sink, "<h3>In relation to ");
    text(sink, label);
    raw(sink, "</h3>\n<p class=\"note\">What can be compared across machines: how many times as "
              "much as the reference, with the 95 % interval; <span class=\"theirs\">as published"
              "</span> below it.</p>\n");
    begin_beside(sink, "Ratios, published beside ours", figures, count);
    put_rows(sink, section, figures, count, put_ratio_cell);
    raw(sink, MST_PAGE_TABLE_END);
    free(label);
}

/* ---- what it lacked --------------------------------------------------------------- */

static void put_line_heads(struct mst_sink *sink, const struct mst_study_section *section)
{
    size_t i;

    raw(sink, "<thead><tr><td></td>");
    for (i = 0; i < section->line_count; i++) {
        const struct mst_study_case *c = mst_study_heaviest(section, i);
        char *label = c != NULL ? mst_study_label(section, c) : NULL;

        mst_page_element(sink, "th scope=\"col\"", label);
        free(label);
    }
    raw(sink, "</tr></thead><tbody>\n");
}

static size_t count_lines(const struct mst_study_section *section)
{
    size_t count = 0, i;

    for (i = 0; i < section->line_count; i++)
        count += mst_study_heaviest(section, i) != NULL;
    return count;
}

static void put_group(struct mst_sink *sink, const char *group, size_t columns)
{
    raw(sink, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"");
    mst_sink_u64(sink, columns + 1);
    raw(sink, "\">");
    text(sink, group);
    raw(sink, "</th></tr>\n");
}

static void put_lacked(struct mst_sink *sink, const struct mst_study_section *section)
{
    const char *group = "";
    size_t row, i;

    raw(sink, "<h3>All figures</h3>\n<p class=\"note\">The mean of the repetitions and its "
              "95 % interval");
    raw(sink, section->x_name != NULL ? ", of the heaviest load that each came to.</p>\n" :
                                        ".</p>\n");
    mst_page_table(sink, "All figures", "numbers");
    put_line_heads(sink, section);
    for (row = 0; row < mst_study_row_count; row++) {
        enum mst_study_metric_id metric = mst_study_rows[row].metric;

        if (!mst_study_is_known(section, metric))
            continue;
        if (strcmp(group, mst_study_rows[row].group) != 0)
            put_group(sink, mst_study_rows[row].group, count_lines(section));
        group = mst_study_rows[row].group;
        raw(sink, "<tr data-metric=\"");
        raw(sink, mst_study_metrics[metric].name);
        raw(sink, "\">");
        mst_page_element(sink, "th scope=\"row\"", mst_study_metrics[metric].label);
        for (i = 0; i < section->line_count; i++) {
            const struct mst_study_case *c = mst_study_heaviest(section, i);

            if (c == NULL)
                continue;
            raw(sink, "<td>");
            put_estimate(sink, metric, c);
            raw(sink, "</td>");
        }
        raw(sink, "</tr>\n");
    }
    raw(sink, MST_PAGE_TABLE_END);
}

/* ---- every case ------------------------------------------------------------------- */

static void put_case(struct mst_sink *sink, const struct mst_study_section *section,
                     const struct mst_study_case *c, const enum mst_study_metric_id *columns,
                     size_t count)
{
    char *label = mst_study_label(section, c);
    size_t i;

    raw(sink, "<tr>");
    mst_page_element(sink, "th scope=\"row\"", label);
    raw(sink, "<td>");
    mst_page_textf(sink, "%zu of %zu", c->run_count, c->planned);
    raw(sink, "</td>");
    for (i = 0; i < count; i++) {
        raw(sink, "<td>");
        put_estimate(sink, columns[i], c);
        raw(sink, "</td>");
    }
    raw(sink, "</tr>\n");
    free(label);
}

static void put_cases(struct mst_sink *sink, const struct mst_study_section *section)
{
    static const enum mst_study_metric_id candidates[] = {
        MST_M_RATE, MST_M_TAKEN, MST_M_MEAN, MST_M_P50, MST_M_P99, MST_M_ERRORS, MST_M_QUEUE,
        MST_M_PHP_WAIT, MST_M_OCCUPANCY, MST_M_PHP_OCCUPANCY, MST_M_SPAWN_FIRST, MST_M_SPAWN_ALL,
        MST_M_PSS,
    };
    enum mst_study_metric_id columns[sizeof candidates / sizeof *candidates];
    size_t count = 0, i;

    if (section->x_name == NULL)
        return;
    for (i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (mst_study_is_known(section, candidates[i]))
            columns[count++] = candidates[i];
    raw(sink, "<details><summary>");
    mst_page_textf(sink, "All %zu cases", section->case_count);
    raw(sink, "</summary>\n");
    mst_page_table(sink, "All cases", "cases");
    raw(sink, "<thead><tr><th scope=\"col\">case</th><th scope=\"col\">runs</th>");
    for (i = 0; i < count; i++)
        mst_page_element(sink, "th scope=\"col\"", mst_study_metrics[columns[i]].label);
    raw(sink, "</tr></thead><tbody>\n");
    for (i = 0; i < section->case_count; i++)
        put_case(sink, section, &section->cases[i], columns, count);
    raw(sink, MST_PAGE_TABLE_END "</details>\n");
}

/* ---- a section -------------------------------------------------------------------- */

static void put_section(struct mst_sink *sink, const struct mst_study_data *data, size_t i)
{
    const struct mst_study_section *section = &data->sections[i];
    char *about = mst_study_about_section(section), *ranking = mst_sayings_ranking(section);

    raw(sink, "<section id=\"runs-");
    mst_sink_u64(sink, i + 1);
    raw(sink, "\">\n");
    mst_page_element(sink, "h2", section->runs->title);
    mst_page_element(sink, "p class=\"sub\"", about);
    mst_page_element(sink, "p", ranking);
    if (count_lines(section) == 0) {
        raw(sink, "<p>Nothing of this was run.</p>\n</section>\n");
    } else {
        put_published(sink, section);
        raw(sink, "<div class=\"charts\" data-section=\"");
        mst_sink_u64(sink, i);
        raw(sink, "\"><noscript><p>The charts need JavaScript; their numbers are in the JSON at "
                  "the end of this page.</p></noscript></div>\n");
        put_lacked(sink, section);
        put_cases(sink, section);
        raw(sink, "</section>\n");
    }
    free(about);
    free(ranking);
}

/* ---- what was not run ------------------------------------------------------------- */

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    if (data->unrun_count == 0)
        return;
    raw(sink, "<section id=\"unrun\">\n<h2>What was not run</h2>\n<p>Each with its reason; the "
              "study went on without it.</p>\n");
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];
        size_t first = u->failure != NULL ? strcspn(u->failure, "\n") : 0;

        raw(sink, "<article class=\"card\">\n<h3>");
        mst_page_textf(sink, "%s %s: %s", u->stack, u->state, u->section);
        raw(sink, "</h3>\n<p class=\"sub\">");
        mst_page_textf(sink, "%s, repetition %u", u->what, u->repetition);
        raw(sink, "</p>\n<p class=\"warning\">");
        mst_page_textf(sink, "%.*s", (int)first, u->failure != NULL ? u->failure : "");
        raw(sink, "</p>\n");
        if (u->failure != NULL && u->failure[first] == '\n' && u->failure[first + 1] != '\0')
            mst_page_element(sink, "pre tabindex=\"0\"", u->failure + first + 1);
        raw(sink, "</article>\n");
    }
    raw(sink, "</section>\n");
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

        raw(sink, "<tr>");
        mst_page_element(sink, "th scope=\"row\"", mst_row_text(&q, "stack"));
        raw(sink, "<td>");
        text(sink, mst_row_text(&q, "server"));
        mst_page_textf(sink, "%s%s%s%s", mpm != NULL ? ", " : "", mpm != NULL ? mpm : "",
                       sapi != NULL ? ", " : "", sapi != NULL ? sapi : "");
        raw(sink, "</td></tr>\n");
    }
    return mst_query_done(&q);
}

static bool put_commands(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT DISTINCT coalesce(command_line, '') AS command FROM runs WHERE id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) ORDER BY id", data->id);

    raw(sink, "<details><summary>The load tools' commands, as executed</summary><pre "
              "tabindex=\"0\">\n");
    while (mst_query_next(&q)) {
        text(sink, mst_row_text(&q, "command"));
        raw(sink, "\n");
    }
    raw(sink, "</pre></details>\n");
    return mst_query_done(&q);
}

static bool put_files(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = mst_query_ask(mst_archive_db(data->archive),
        "SELECT kind, name, text FROM study_files WHERE study_id = :id ORDER BY kind, name",
        data->id);

    raw(sink, "<details><summary>The study's file, as it was run</summary><pre tabindex=\"0\">\n");
    text(sink, data->study.text.contents);
    raw(sink, "</pre></details>\n");
    while (mst_query_next(&q)) {
        raw(sink, "<details><summary>");
        mst_page_textf(sink, "%s %s", mst_row_text(&q, "kind"), mst_row_text(&q, "name"));
        raw(sink, "</summary><pre tabindex=\"0\">\n");
        text(sink, mst_row_text(&q, "text"));
        raw(sink, "</pre></details>\n");
    }
    return mst_query_done(&q);
}

static void put_instant(struct mst_sink *sink, const char *name, uint64_t instant_ns)
{
    if (instant_ns == MST_UNKNOWN)
        return;
    raw(sink, "<tr>");
    mst_page_element(sink, "th scope=\"row\"", name);
    raw(sink, "<td>");
    mst_sink_instant(sink, instant_ns);
    raw(sink, "</td></tr>\n");
}

static bool put_provenance(struct mst_sink *sink, const struct mst_study_data *data)
{
    char number[32];
    bool fine;

    raw(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n<article class=\"card\">\n");
    mst_page_table(sink, "Provenance", "pairs");
    raw(sink, "<tbody>\n");
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
    raw(sink, MST_PAGE_TABLE_END);
    if (data->study.notes[0] != '\0') {
        raw(sink, "<h4>How this differs from the original</h4>\n");
        mst_page_element(sink, "p class=\"notes\"", data->study.notes);
    }
    fine = fine && put_commands(sink, data) && put_files(sink, data);
    raw(sink, "</article>\n</section>\n");
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
    raw(sink, "</header>\n<main>\n");
    put_verdict(sink, data, sayings);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, data, i);
    put_unrun(sink, data);
    if (!put_provenance(sink, data))
        return mst_archive_unreadable(data->archive, error);
    raw(sink, "</main>\n");
    return mst_page_end(sink, &page, put_data, data, error);
}

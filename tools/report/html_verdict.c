/* html_verdict.c - what was found, as HTML: see html_verdict.h. */
#include "report/html_verdict.h"

#include <inttypes.h>
#include <string.h>

#include "doc/markup.h"
#include "doc/table.h"
#include "report/metrics.h"
#include "report/page.h"
#include "segment/format.h"

#define TILES_OF_A_FINDING 6u

/* ---- figures of findings -------------------------------------------------------------- */

/* How the figures are shown whose names alone do not tell. A figure in thousandths that is not
 * here is a mean. */
static const struct figure { const char *name, *label; enum mst_quantity unit; } figures[] = {
    { "mean_busy_milli", "workers busy, mean", MST_QUANTITY_MEAN },
    { "max_busy", "workers busy, most", MST_QUANTITY_COUNT },
    { "workers_limit", "workers, limit", MST_QUANTITY_COUNT },
    { "mean_ns", "mean of a request", MST_QUANTITY_TIME },
    { "queue_mean_ns", "in the queue, mean", MST_QUANTITY_TIME },
    { "wait_mean_ns", "waited for PHP, mean", MST_QUANTITY_TIME },
    { "median_ns", "median", MST_QUANTITY_TIME },
    { "border_ns", "slow from", MST_QUANTITY_TIME },
    { "max_ns", "slowest", MST_QUANTITY_TIME },
    { "busy_milli", "CPUs busy", MST_QUANTITY_SHARE },
    { "stolen_milli", "stolen", MST_QUANTITY_SHARE },
    { "of_cpu_milli", "of PHP's CPU time", MST_QUANTITY_SHARE },
    { "full_milli", "time at the limit", MST_QUANTITY_SHARE },
    { "of_busy_time_milli", "of the workers' time", MST_QUANTITY_SHARE },
    { "of_requests_milli", "of the requests", MST_QUANTITY_SHARE },
    { "of_php_run_milli", "of PHP's time", MST_QUANTITY_SHARE },
    { "server_idle_milli", "server without a request", MST_QUANTITY_SHARE },
    { "predicted_cpu_milli", "of the CPU time, predicted", MST_QUANTITY_SHARE },
    { "predicted_rate_milli", "predicted", MST_QUANTITY_RATE },
    { "at_once_milli", "calls at once, mean", MST_QUANTITY_MEAN },
    { "one_at_a_time", NULL, MST_QUANTITY_COUNT },      /* answers, no figures */
    { "calls_itself", NULL, MST_QUANTITY_COUNT }, { "reads_files_again", NULL, MST_QUANTITY_COUNT },
    { "start_servers_too", NULL, MST_QUANTITY_COUNT },
};

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), other = strlen(end);

    return length > other && strcmp(name + length - other, end) == 0;
}

static struct figure figure_of(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof figures / sizeof *figures; i++)
        if (strcmp(figures[i].name, name) == 0)
            return figures[i];
    return (struct figure){ name, name, ends_with(name, "_ns") ? MST_QUANTITY_TIME :
                            ends_with(name, "_bytes") ? MST_QUANTITY_BYTES :
                            ends_with(name, "_milli") ? MST_QUANTITY_MEAN : MST_QUANTITY_COUNT };
}

/* "syn_retransmits" as "syn retransmits", "throttled_ns" as "throttled". */
static void put_label(struct mst_sink *sink, const char *label)
{
    static const char *const units[] = { "_ns", "_milli", "_bytes" };
    char text[64];
    size_t length = strlen(label), i;

    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_with(label, units[i]))
            length -= strlen(units[i]);
    if (length >= sizeof text)
        length = sizeof text - 1;
    for (i = 0; i < length; i++)
        text[i] = label[i];
    text[length] = '\0';
    for (i = 0; i < length; i++)
        if (text[i] == '_')
            text[i] = ' ';
    mst_html(sink, "%s", text);
}

static void put_tile(struct mst_sink *sink, const char *label, enum mst_quantity unit,
                     uint64_t value)
{
    mst_html(sink, "<div><dt>");
    put_label(sink, label);
    mst_html(sink, "</dt><dd>");
    mst_quantity_html(sink, unit, value);
    mst_html(sink, "</dd></div>");
}

/* Begins the list with its first figure. */
static void put_figure(struct mst_sink *sink, const char *class, size_t *shown, const char *label,
                       enum mst_quantity unit, uint64_t value)
{
    if (value == MST_UNKNOWN)
        return;
    if ((*shown)++ == 0)
        mst_html(sink, "<dl class=\"%s\">", class);
    put_tile(sink, label, unit, value);
}

/* The figures that a finding rests on, at most `most` of them. */
static void put_evidence(struct mst_sink *sink, const struct mst_finding *f, const char *class,
                         size_t most)
{
    static const char *const shares[MST_SHARE_OF_COUNT] = {
        [MST_SHARE_OF_TIME] = "of the requests' time", [MST_SHARE_OF_REQUESTS] = "of the requests",
        [MST_SHARE_OF_CLIENT] = "of the client's time",
        [MST_SHARE_OF_DELIVERY] = "of the time until the delivery",
        [MST_SHARE_OF_HELD] = "of the workers' busy time", [MST_SHARE_OF_SPAN] = "of the run",
        [MST_SHARE_OF_WORKERS] = "of the workers",
        [MST_SHARE_OF_AT_ONCE] = "of the requests at once",
    };
    size_t i, shown = 0;

    put_figure(sink, class, &shown, shares[f->share_of], MST_QUANTITY_SHARE, f->share_milli);
    put_figure(sink, class, &shown, "requests", MST_QUANTITY_COUNT, f->requests);
    for (i = 0; i < f->number_count && shown < most; i++) {
        struct figure figure = figure_of(f->numbers[i].name);

        if (figure.label != NULL)
            put_figure(sink, class, &shown, figure.label, figure.unit, f->numbers[i].value);
    }
    mst_html(sink, shown > 0 ? "</dl>\n" : "");
}

/* ---- a finding ------------------------------------------------------------------------ */

static void put_name(struct mst_sink *sink, const struct mst_finding *f)
{
    char cause[MST_CAUSE_WORDS_MAX];

    mst_cause_words(cause, &f->caused_by);
    mst_html(sink, "<code>%s</code> <span class=\"quiet\">%s, %s%s%s%s%s</span>",
             mst_code_names[f->code], mst_code_groups[f->code], mst_certainty_names[f->certainty],
             f->subject[0] != '\0' ? ": " : "", f->subject, cause[0] != '\0' ? "; " : "", cause);
}

static void put_sentence(struct mst_sink *sink, const char *lead, const char *text)
{
    if (text[0] != '\0')
        mst_html(sink, "<p><b>%s</b> %s</p>\n", lead, text);
}

/* Without its sentence, which stands above. */
static void put_rest(struct mst_sink *sink, const struct mst_finding *f)
{
    put_sentence(sink, "Do:", f->action);
    put_sentence(sink, "Predicted:", f->predicted);
    put_evidence(sink, f, "evidence", SIZE_MAX);
}

void mst_html_finding(struct mst_sink *sink, const struct mst_finding *f)
{
    put_name(sink, f);
    mst_html(sink, "<p>%s</p>\n", f->text);
    put_rest(sink, f);
}

/* The verdict has the sentences of the first; the tail's stands with the slowest requests. */
static void put_findings(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    if (s->finding_count == 0)
        return;
    mst_html(sink, "<ol class=\"findings\">\n");
    for (i = 0; i < s->finding_count; i++) {
        if (s->findings[i].code == MST_CODE_TAIL && i > 0)
            continue;
        mst_html(sink, "<li>");
        if (i < s->headline_count) {
            put_name(sink, &s->findings[i]);
            put_rest(sink, &s->findings[i]);
        } else {
            mst_html_finding(sink, &s->findings[i]);
        }
        mst_html(sink, "</li>\n");
    }
    mst_html(sink, "</ol>\n");
}

/* ---- tiles ---------------------------------------------------------------------------- */

/* The client's number where it is known, else the server's. */
static uint64_t client_or_server(const struct mst_summary *s, enum mst_metric_id client,
                                 enum mst_metric_id server)
{
    uint64_t value = mst_metric_get(&mst_metrics[client], s);

    return value != MST_UNKNOWN ? value : mst_metric_get(&mst_metrics[server], s);
}

/* What the load tool knows of its answers, else the server of its own. */
static uint64_t failed_of(const struct mst_summary *s)
{
    return s->client.failed != MST_UNKNOWN ? mst_summary_failures(&s->client) :
                                             mst_metric_get(&mst_metrics[MST_M_5XX], s);
}

/* What the load got, then what the first finding rests on: of Apache, PHP, a group, a backend. */
static void put_tiles(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_html(sink, "<dl class=\"tiles\">");
    put_tile(sink, "requests/s", MST_QUANTITY_RATE, mst_groups_rate(s));
    put_tile(sink, "p50", MST_QUANTITY_TIME, client_or_server(s, MST_M_P50, MST_M_SERVER_P50));
    put_tile(sink, "p99", MST_QUANTITY_TIME, client_or_server(s, MST_M_P99, MST_M_SERVER_P99));
    put_tile(sink, s->client.failed != MST_UNKNOWN ? "failed, not 2xx" : "5xx", MST_QUANTITY_COUNT,
             failed_of(s));
    mst_html(sink, "</dl>\n");
    if (s->finding_count == 0)
        return;
    mst_html(sink, "<p class=\"tiles-of\">");
    put_name(sink, &s->findings[0]);
    mst_html(sink, "</p>\n");
    put_evidence(sink, &s->findings[0], "tiles", TILES_OF_A_FINDING);
}

/* ---- checks --------------------------------------------------------------------------- */

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const struct { const char *class, *mark, *word; } answers[] = {
        [MST_ANSWER_NO] = { "no", "✕", "no" }, [MST_ANSWER_YES] = { "yes", "✓", "yes" },
        [MST_ANSWER_UNKNOWN] = { "maybe", "?", "not known" },
    };
    size_t i;

    mst_html(sink, "<ul class=\"checks\">\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        const struct mst_check *check = &s->checks[i];

        mst_html(sink, "<li class=\"%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span> "
                 "<strong>%s</strong><span class=\"quiet\">: %s</span> <span>%s</span></li>\n",
                 answers[check->ok].class, answers[check->ok].mark, check->name,
                 answers[check->ok].word, check->text);
    }
    mst_html(sink, "</ul>\n");
}

/* The checks are folded where all of them hold. */
static void put_trust(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i, good = 0;

    for (i = 0; i < MST_CHECK_COUNT; i++)
        good += s->checks[i].ok == MST_ANSWER_YES;
    mst_html(sink, good == MST_CHECK_COUNT ? "<details><summary>All checks hold</summary>\n" :
                                             "<h4>Can it be believed?</h4>\n");
    put_checks(sink, s);
    mst_html(sink, good == MST_CHECK_COUNT ? "</details>\n" : "");
}

/* ---- repetitions ---------------------------------------------------------------------- */

static void put_repetitions(struct mst_sink *sink, const struct mst_report *report,
                            const struct mst_report_group *group)
{
    static const struct mst_doc_column columns[] = {
        { "repetition", .kind = MST_DOC_LABEL },
        { "requests/s", .quantity = MST_QUANTITY_RATE },
        { "p50", .quantity = MST_QUANTITY_TIME }, { "p99", .quantity = MST_QUANTITY_TIME },
        { "failed, not 2xx", .quantity = MST_QUANTITY_COUNT },
        { "first finding", .kind = MST_DOC_WORDS },
    };
    const struct mst_doc doc = mst_doc_html(sink);
    struct mst_doc_table t;
    size_t i;

    if (group->count < 2)
        return;
    mst_html(sink, "<h4>%zu repetitions</h4>\n", group->count);
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < group->count; i++) {
        const struct mst_summary *s = &report->runs[group->runs[i]].summary;

        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_words(&t, "run %" PRId64 "%s", s->id,
                      group->runs[i] == group->shown ? " (shown)" : "");
        mst_doc_link(&t, "run-%zu", group->runs[i] + 1);
        mst_doc_number(&t, mst_groups_rate(s));
        mst_doc_number(&t, client_or_server(s, MST_M_P50, MST_M_SERVER_P50));
        mst_doc_number(&t, client_or_server(s, MST_M_P99, MST_M_SERVER_P99));
        mst_doc_number(&t, failed_of(s));
        mst_doc_words(&t, "%s", !s->complete ? mst_outcome_names[s->outcome] :
                      s->finding_count > 0 ? mst_code_names[s->findings[0].code] : "");
    }
    mst_doc_table_end(&t, &doc, "Repetitions", "repetitions");
}

/* ---- the card ------------------------------------------------------------------------- */

void mst_html_verdict(struct mst_sink *sink, const struct mst_report *report,
                      const struct mst_report_groups *groups, const struct mst_report_group *group)
{
    const struct mst_report_run *run = &report->runs[group->shown];
    const struct mst_summary *s = &run->summary;
    size_t i;

    mst_html(sink, "<article class=\"card\">\n");
    if (groups->count > 1)
        mst_html(sink, "<h3><a href=\"#run-%zu\">%s</a></h3>\n", group->shown + 1, run->title);
    if (groups->count > 1 && s->command_line != NULL)
        mst_html(sink, "<p class=\"sub\">%s</p>", s->command_line);
    if (!s->complete)
        mst_html(sink, "<p class=\"warning\"><strong>This run is not complete</strong>: %s. What "
                 "was recorded until then is shown.</p>\n", mst_outcome_names[s->outcome]);
    if (s->thinned[0] != '\0')
        mst_html(sink, "<p class=\"note\">%s</p>", s->thinned);
    mst_html(sink, "<p class=\"verdict\">%s</p>", s->verdict);
    put_tiles(sink, s);
    put_repetitions(sink, report, group);
    put_findings(sink, s);
    put_trust(sink, s);
    for (i = 0; i < s->note_count; i++)
        mst_html(sink, "<p class=\"note\">%s</p>", s->notes[i]);
    mst_html(sink, "</article>\n");
}

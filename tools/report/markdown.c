/* markdown.c - runs for a pull request: see report.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/sizing.h"
#include "archive/archive.h"
#include "report/metrics.h"
#include "report/report.h"
#include "segment/format.h"

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "**no**", [MST_ANSWER_YES] = "yes", [MST_ANSWER_UNKNOWN] = "not known",
    };
    size_t i;

    mst_sink_puts(sink, "\n| check | | |\n|---|---|---|\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_sink_puts(sink, "| ");
        mst_sink_markdown_string(sink, s->checks[i].name);
        mst_sink_puts(sink, " | ");
        mst_sink_puts(sink, answers[s->checks[i].ok]);
        mst_sink_puts(sink, " | ");
        mst_sink_markdown_string(sink, s->checks[i].text);
        mst_sink_puts(sink, " |\n");
    }
}

static void put_run(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_summary *s = &run->summary;

    mst_sink_puts(sink, "### ");
    mst_sink_markdown_string(sink, run->title);
    mst_sink_puts(sink, "\n\n");
    if (s->command_line != NULL) {
        mst_sink_puts(sink, "Command: ");
        mst_sink_markdown_string(sink, s->command_line);
        mst_sink_puts(sink, "\n\n");
    }
    if (!s->complete) {
        mst_sink_puts(sink, "**Not complete** (");
        mst_sink_markdown_string(sink, mst_outcome_names[s->outcome]);
        mst_sink_puts(sink, "): what was recorded until then is shown.\n\n");
    }
    mst_sink_puts(sink, "**");
    mst_sink_markdown_string(sink, s->verdict);
    mst_sink_puts(sink, "**\n");
    put_checks(sink, s);
    mst_sink_char(sink, '\n');
}

static void put_runs(struct mst_sink *sink, const struct mst_report *report)
{
    size_t m, i;

    mst_sink_puts(sink, "### Numbers\n\n| |");
    for (i = 0; i < report->count; i++) {
        mst_sink_char(sink, ' ');
        mst_sink_markdown_string(sink, report->runs[i].title);
        mst_sink_puts(sink, " |");
    }
    mst_sink_puts(sink, "\n|---|");
    for (i = 0; i < report->count; i++)
        mst_sink_puts(sink, "--:|");
    mst_sink_char(sink, '\n');
    for (m = 0; m < mst_metric_count; m++) {
        const struct mst_metric *metric = &mst_metrics[m];

        if (!metric->brief)
            continue;
        mst_sink_puts(sink, "| ");
        mst_sink_markdown_string(sink, metric->group);
        mst_sink_puts(sink, ": ");
        mst_sink_markdown_string(sink, metric->label);
        mst_sink_puts(sink, " |");
        for (i = 0; i < report->count; i++) {
            uint64_t value = metric->get(&report->runs[i].summary);

            mst_sink_char(sink, ' ');
            mst_sink_puts(sink, mst_metric_human(metric, value).text);
            mst_sink_puts(sink, " |");
        }
        mst_sink_char(sink, '\n');
    }
}

static void put_advice(struct mst_sink *sink, const struct mst_report_run *run,
                       const struct mst_sizing *sizing)
{
    size_t i;

    for (i = 0; i < MST_ADVICE_COUNT; i++) {
        const struct mst_advice *advice = &sizing->advice[i];

        mst_sink_puts(sink, "| ");
        mst_sink_markdown_string(sink, run->title);
        mst_sink_puts(sink, " | ");
        mst_sink_markdown_string(sink, advice->directive);
        mst_sink_puts(sink, " | ");
        mst_sink_markdown_string(sink, advice->answer);
        mst_sink_puts(sink, " | ");
        mst_sink_markdown_string(sink, advice->arithmetic);
        mst_sink_char(sink, ' ');
        mst_sink_markdown_string(sink, advice->uncertainty);
        mst_sink_puts(sink, " |\n");
    }
}

int mst_report_markdown(struct mst_sink *sink, const struct mst_report *report,
                        char error[MST_ERROR_MAX])
{
    struct mst_sizing sizing;
    struct mst_usl usl;
    char knee[768];
    size_t i;

    mst_sink_puts(sink, "## Load runs, recorded by mpmstat " MPMSTAT_VERSION "\n\n");
    for (i = 0; i < report->count; i++)
        put_run(sink, &report->runs[i]);
    put_runs(sink, report);
    mst_sink_puts(sink, "\n### Sizing\n\n| run | directive | advice | why |\n|---|---|---|---|\n");
    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        put_advice(sink, &report->runs[i], &sizing);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        mst_sink_puts(sink, "\nThe knee: ");
        mst_sink_markdown_string(sink, knee);
        mst_sink_char(sink, '\n');
    }
    return 0;
}

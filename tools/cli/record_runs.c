/* record_runs.c - the runs of mpmstat record and mpmstat lab try: see record_runs.h. */
#include "cli/record_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ledger_rows.h"
#include "archive/archive.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "cli/record_pairs.h"
#include "cli/record_warm_up.h"
#include "cli/text_options.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/format.h"
#include "console/output.h"
#include "memory/pool.h"
#include "exec/shell_quote.h"
#include "record/generators.h"
#include "render/sink.h"
#include "findings/findings.h"
#include "report/report.h"

#define TIMEOUT_SECONDS_MAX 604800u   /* a week */
#define REPEAT_MAX          1000u

/* ---- options --------------------------------------------------------------------- */

/* A whole number from 1 to `most`. */
static bool read_number(const char *text, unsigned long most, unsigned long *number)
{
    char *end;

    errno = 0;
    *number = strtoul(text, &end, 10);
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number > 0 &&
           *number <= most;
}

int mst_record_option(struct mst_record_request *r, const char *verb, int option,
                      const char *argument)
{
    static const char *const formats[] = { "text", "json", NULL };
    unsigned long number;
    size_t nth = 0;
    int status;

    switch (option) {
    case MST_OPTION_OUTPUT:
        if (argument[0] == '\0')
            return mst_usage_error(verb, "-o takes the name of a file, not an empty one");
        r->recording.archive = argument;
        break;
    case MST_OPTION_FORMAT:
        status = mst_output_format_read(&nth, verb, formats, argument);
        r->json = nth == 1;
        return status;
    case MST_OPTION_TIMEOUT:
        if (!read_number(argument, TIMEOUT_SECONDS_MAX, &number))
            return mst_usage_error(verb, "--timeout takes whole seconds from 1 to %u, not \"%s\"",
                                   TIMEOUT_SECONDS_MAX, argument);
        r->recording.timeout_ns = number * MST_NS_PER_S;
        break;
    case MST_OPTION_REPEAT:
        if (!read_number(argument, REPEAT_MAX, &number))
            return mst_usage_error(verb, "--repeat takes a whole number from 1 to %u, not \"%s\"",
                                   REPEAT_MAX, argument);
        r->repeat = (unsigned)number;
        break;
    case MST_OPTION_NO_FLAGS: r->recording.add_flags = false; break;
    case MST_OPTION_NO_MEMORY: r->recording.memory = false; break;
    case MST_OPTION_VERBOSE: r->recording.verbose = true; break;
    case MST_OPTION_QUIET: r->quiet = true; break;
    case MST_OPTION_FAIL_ON: return mst_fail_on_read(&r->fail_on, verb, argument);
    case MST_OPTION_PERCENTILES: return mst_percentiles_read(&r->percentiles, verb, argument);
    }
    return MST_EXIT_OK;
}

/* A name that is free, so that two recordings in one second do not meet. */
void mst_record_choose_archive(struct mst_record_request *r)
{
    struct mst_formatted stamp;
    unsigned i;

    if (r->recording.archive != NULL)
        return;
    stamp = mst_format_stamp();
    snprintf(r->default_archive, sizeof r->default_archive, "mpmstat-%s.db", stamp.text);
    for (i = 2; i < 100 && access(r->default_archive, F_OK) == 0; i++)
        snprintf(r->default_archive, sizeof r->default_archive, "mpmstat-%s-%u.db",
                 stamp.text, i);
    r->recording.archive = r->default_archive;
}

/* The shell takes an & of a URL without quotes for its own: it cuts the URL, and starts what is
 * before in the background. */
void mst_record_warn_of_cut_url(char *const *words)
{
    const char *last = words[0];
    pid_t front = tcgetpgrp(STDERR_FILENO);

    for (; *words != NULL; words++)
        last = *words;
    if (front > 0 && front != getpgrp() && strstr(last, "://") != NULL && strchr(last, '?') != NULL)
        mst_warn("this runs in the background, with the URL %s: if the shell has cut it at an &, "
                 "put the URL in quotes", last);
}

/* ---- what is shown --------------------------------------------------------------- */

/* Several runs are a line each: what there is to see is their comparison. repeat 0: it is not known
 * how many there will be. */
static void put_line(const struct mst_summary *s, unsigned repetition, unsigned repeat)
{
    char line[MST_ERROR_MAX], of[24] = "";

    if (repeat > 0)
        snprintf(of, sizeof of, " of %u", repeat);
    snprintf(line, sizeof line, "run %lld%s%s, %u%s: %s requests/s, mean %s, p99 %s%s%s",
             (long long)s->id, s->name != NULL ? " " : "", s->name != NULL ? s->name : "",
             repetition, of, mst_format_milli(s->client.requests_per_1000s).text,
             mst_format_time(s->client.times.mean_ns).text,
             mst_format_time(s->client.times.p99_ns).text,
             s->complete ? "" : ", not complete: ",
             s->complete ? "" : mst_outcome_names[s->outcome]);
    mst_tame(line, strlen(line));
    puts(line);
    mst_flush_output();
}

static void put_summary(const struct mst_record_request *r, const struct mst_summary *summary)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, stdout);
    if (r->json) {
        mst_report_json(&sink, summary);
        mst_sink_char(&sink, '\n');
    } else if (r->quiet) {
        mst_report_verdict_text(&sink, summary);
    } else if (r->recording.verbose) {
        mst_report_text(&sink, summary, r->recording.archive, r->percentiles);
    } else {
        mst_report_brief(&sink, summary, r->recording.archive, r->percentiles);
    }
    mst_sink_flush(&sink);   /* main checks that stdout took all of it */
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* Puts what was found into the archive, for those who read it with SQL. The run is complete
 * without: a report finds anew. */
static void keep_findings(const char *path, const struct mst_summary *s)
{
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_create(path, NULL, error);
    bool kept = archive != NULL && mst_archive_clear_findings(archive, s->id) == 0 &&
                mst_ledger_forget_advice(archive, s->id) == 0;
    size_t i;

    for (i = 0; i < s->finding_count && kept; i++) {
        const struct mst_finding *f = &s->findings[i];
        const struct mst_archive_finding row = {
            i + 1, mst_code_names[f->code], mst_certainty_names[f->certainty],
            or_null(f->subject), f->share_milli, f->requests, f->text, or_null(f->action),
            or_null(f->predicted),
            f->caused_by.known ? mst_code_names[f->caused_by.code] : NULL,
            or_null(f->caused_by.subject),
        };

        kept = mst_archive_add_finding(archive, s->id, &row) == 0 &&
               (f->predicted[0] == '\0' || f->ledger.setting_count == 0 ||
                mst_ledger_write(archive, s->id, &f->ledger) == 0);
    }
    if (archive == NULL) {
        mst_warn("the archive does not get the findings: %s", error);
        return;
    }
    if (!kept || mst_archive_commit(archive) != 0)
        mst_warn("the archive does not get the findings: %s", mst_archive_error(archive));
    mst_archive_close(archive, ignored);
}

int mst_record_summarise(struct mst_summary *summary, const char *path, int64_t run_id)
{
    struct mst_archive *archive;
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    int result;

    *summary = (struct mst_summary){ .id = run_id };
    archive = mst_archive_read(path, error);
    if (archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    result = mst_findings_summary(summary, archive, run_id, error);
    mst_archive_close(archive, ignored);
    if (result != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    keep_findings(path, summary);
    return MST_EXIT_OK;
}

/* pairs: which the run is added to, as one of that variant; NULL: none. */
static int show(const struct mst_record_request *r, int64_t run_id, struct mst_pairs *pairs,
                size_t variant)
{
    struct mst_summary summary;
    int status = mst_record_summarise(&summary, r->recording.archive, run_id), added = MST_EXIT_OK;

    if (status == MST_EXIT_OK) {
        if (r->recording.repetition > 0 && !r->json && !r->quiet)
            put_line(&summary, r->recording.repetition, r->repeat);
        else
            put_summary(r, &summary);
        status = mst_fail_on_found(&r->fail_on, &summary) ? MST_EXIT_BAD : MST_EXIT_OK;
        if (pairs != NULL && summary.complete)
            added = mst_pairs_add(pairs, variant, &summary);
    }
    mst_summary_free(&summary);
    return status != MST_EXIT_OK ? status : added;
}

int mst_record_show(const struct mst_record_request *r, int64_t run_id)
{
    return show(r, run_id, NULL, 0);
}

/* ---- the runs -------------------------------------------------------------------- */

/* The runs of a request, one after the other. */
struct series {
    struct mst_record_request *request;
    struct mst_pairs pairs;      /* of until_decided */
    unsigned made;
    const char *before;          /* of the next run's output */
};

/* progress: what its line on a terminal begins with. pairs: as for show(). */
static int record_once(struct mst_record_request *r, size_t variant, unsigned repetition,
                       const char *before, const char *progress, struct mst_pairs *pairs)
{
    int64_t run_id;
    int status, shown, added = MST_EXIT_OK;

    r->recording.progress = r->quiet || r->recording.verbose ? NULL : progress;
    r->recording.name = r->variants[variant].name;
    r->recording.command = r->variants[variant].command;
    r->recording.repetition = repetition;
    status = mst_record(&r->recording, &run_id);
    if (run_id == 0 || status == MST_EXIT_OUTPUT || status == MST_EXIT_TARGET)
        return status;   /* there is nothing to show */
    if (r->client_rows_count > 0)
        added = mst_generators_import(&(struct mst_generator_import){
            r->recording.archive, run_id, r->client_rows, r->client_rows_count });
    fputs(before, stdout);
    shown = show(r, run_id, pairs, variant);
    status = status != MST_EXIT_OK ? status : added;
    return status != MST_EXIT_OK ? status : shown;
}

/* What to do with the runs that were made. */
static void put_next(const struct mst_record_request *r)
{
    const char *words[] = { "mpmstat", "compare", NULL, NULL, NULL };
    apr_pool_t *pool;
    char *line;
    size_t i;

    if (!r->interleave) {
        printf("They are in %s: mpmstat compare it with another's, or mpmstat report it\n",
               r->recording.archive);
        return;
    }
    pool = mst_pool_new(NULL);
    for (i = 0; i < 2; i++)
        words[2 + i] = apr_pstrcat(pool, r->recording.archive, "#", r->variants[i].name, NULL);
    line = mst_have(mst_shell_quote((char *const *)words));
    printf("Compare them: %s\n", line);
    free(line);
    apr_pool_destroy(pool);
}

/* The n-th run of each command. Every other time the other way round, so that what changes steadily
 * on the machine is the same for all. The first that fails ends it. */
static int record_round(struct series *s, unsigned n)
{
    struct mst_record_request *r = s->request;
    size_t last = r->variant_count - 1, i;
    int status = MST_EXIT_OK;
    char progress[64];

    for (i = 0; i <= last && status == MST_EXIT_OK && n == 1 && r->steady; i++)
        status = mst_record_warm_up(&r->recording, &r->variants[i], !r->quiet);
    for (i = 0; i <= last && status == MST_EXIT_OK; i++) {
        s->made++;
        if (r->until_decided)
            snprintf(progress, sizeof progress, "run %u, pair %u", s->made, n);
        else
            snprintf(progress, sizeof progress, "run %u of %zu", s->made,
                     r->repeat * r->variant_count);
        status = record_once(r, n % 2 == 1 ? i : last - i, n, s->before, progress,
                             r->until_decided ? &s->pairs : NULL);
        s->before = r->json ? "," : "";
    }
    return status;
}

/* Whether another round follows the n-th, which began at that time. */
static bool goes_on(struct series *s, unsigned n, uint64_t began_ns)
{
    bool more;

    if (!s->request->until_decided)
        return n < s->request->repeat;
    more = mst_pairs_go_on(&s->pairs, mst_now_ns() - began_ns);
    if (!s->request->json && !s->request->quiet)
        mst_pairs_put_look(&s->pairs);
    return more;
}

static int record_all(struct mst_record_request *r)
{
    struct series s = { .request = r, .before = "",
                        .pairs = { .limit = r->limit, .within_ns = r->within_ns } };
    const char *names[2] = { r->variants[0].name, r->variants[1].name };
    int status = MST_EXIT_OK;
    uint64_t began_ns;
    unsigned n = 0;

    if (r->repeat == 0 && !r->until_decided)
        r->repeat = 1;
    if (r->json)
        fputs("[", stdout);
    do {
        began_ns = mst_now_ns();
        status = record_round(&s, ++n);
    } while (status == MST_EXIT_OK && goes_on(&s, n, began_ns));
    if (r->json)
        fputs("]\n", stdout);
    else if (status == MST_EXIT_OK && r->until_decided)
        mst_pairs_put_decision(&s.pairs, r->recording.archive, names);
    if (!r->json && status == MST_EXIT_OK && !r->quiet)
        put_next(r);
    return status;
}

/* Archive after archive, which are reported when somebody asks. */
static int record_on(struct mst_record_request *r)
{
    int64_t run_id;

    r->recording.progress = r->quiet || r->recording.verbose ? NULL : "";
    r->recording.name = r->variants[0].name;
    return mst_record(&r->recording, &run_id);
}

int mst_record_runs(struct mst_record_request *r)
{
    int status = MST_EXIT_OK;

    if (r->recording.rotation != NULL)
        return record_on(r);
    mst_record_choose_archive(r);
    if (r->repeat > 0 || r->interleave)
        return record_all(r);
    if (r->steady)
        status = mst_record_warm_up(&r->recording, &r->variants[0], !r->quiet);
    return status != MST_EXIT_OK ? status : record_once(r, 0, 0, "", "", NULL);
}

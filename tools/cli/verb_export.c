/* verb_export.c - mpmstat export: slow, failed and sampled requests as spans of OpenTelemetry. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/compare_runs.h"
#include "base/clock.h"
#include "cli/export_options.h"
#include "cli/quantities.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/output.h"
#include "console/stop.h"
#include "explain/explain.h"
#include "export/export.h"
#include "export/post.h"

#define LAST_MAX_NS (UINT64_C(7 * 86400) * MST_NS_PER_S)   /* no journal reaches back further */

static const char help[] =
#include "tools/cli/help/export.inc"
    ;
#include "tools/cli/help/export.opt"

struct options {
    struct mst_export_options to;  /* a collector, or `output` */
    const char  *output;
    bool         help;
    const char  *run;              /* NULL: all */
    uint64_t     last_ns;          /* 0: as explain has it */
    char       **targets;
    size_t       target_count;
};

/* Where the requests come from. */
struct origin {
    struct mst_archive    *archive;      /* NULL: `live` has it */
    struct mst_explanation live;
};

/* ---- the command line ---------------------------------------------------------------------- */

static int read_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoumax(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || *number > INT64_MAX)
        return mst_usage_error("export", "expected --slowest to be a number, found \"%s\"", text);
    return MST_EXIT_OK;
}

static int read_option(struct options *o, int option, char **argv)
{
    int status;

    if (mst_export_option(&o->to, "export", option, optarg, &status))
        return status;
    switch (option) {
    case MST_OPTION_OUTPUT: o->output = optarg; break;
    case MST_OPTION_RUN: o->run = optarg; break;
    case MST_OPTION_HELP: o->help = true; break;
    case MST_OPTION_SLOWEST:
        o->to.has_choice = true;
        return read_number(optarg, &o->to.choice.slowest);
    case MST_OPTION_LAST:
        return mst_time_read("export", "last", optarg, MST_NS_PER_S, LAST_MAX_NS, &o->last_ns);
    default:  return mst_option_error("export", option, argv, options);
    }
    return MST_EXIT_OK;
}

/* The output takes the place of what is there. */
static int check_output(const struct options *o)
{
    struct stat output, target;
    size_t i;

    if (o->output[0] == '\0')
        return mst_usage_error("export", "-o takes the name of a file, not an empty one");
    if (strcmp(o->output, "-") == 0 || stat(o->output, &output) != 0)
        return MST_EXIT_OK;
    for (i = 0; i < o->target_count; i++)
        if (stat(o->targets[i], &target) == 0 && target.st_dev == output.st_dev &&
            target.st_ino == output.st_ino)
            return mst_usage_error("export", "-o %s would replace %s by its spans", o->output,
                                   o->targets[i]);
    return MST_EXIT_OK;
}

static int check_options(struct options *o)
{
    if ((o->to.post.url == NULL) == (o->output == NULL))
        return mst_usage_error("export", "it takes either a collector, --otlp URL, or a file, "
                               "-o FILE");
    if (!o->to.has_choice)
        o->to.choice = (struct mst_export_choice){
            .slowest = MST_EXPORT_SLOWEST, .slower_than_ns = MST_UNKNOWN, .failed = true,
            .sampled = true,
        };
    return o->output != NULL ? check_output(o) : MST_EXIT_OK;
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option, status = MST_EXIT_OK;

    opterr = 0;
    optind = 0;
    while (status == MST_EXIT_OK &&
           (option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1)
        status = read_option(o, option, argv);
    o->targets = argv + optind;
    o->target_count = (size_t)(argc - optind);
    return status != MST_EXIT_OK || o->help ? status : check_options(o);
}

/* ---- the runs ------------------------------------------------------------------------------ */

static bool is_archive(const char *path)
{
    char begin[16] = "";
    FILE *file = fopen(path, "rbe");
    size_t n = file != NULL ? fread(begin, 1, sizeof begin - 1, file) : 0;

    if (file != NULL)
        fclose(file);
    return n == sizeof begin - 1 && strcmp(begin, "SQLite format 3") == 0;
}

/* The archive that is named alone, or a run of what the servers' journals have. */
static int open_origin(struct origin *from, const struct options *o)
{
    char error[MST_ERROR_MAX];

    if (o->target_count == 1 && is_archive(o->targets[0])) {
        if (o->last_ns != 0)
            return mst_usage_error("export", "--last goes with servers, not with an archive");
        from->archive = mst_archive_read(o->targets[0], error);
        return from->archive != NULL ? MST_EXIT_OK : mst_failed(MST_EXIT_TARGET, "%s", error);
    }
    if (o->run != NULL)
        return mst_usage_error("export", "--run goes with an archive, not with servers");
    return mst_explain_requests(&from->live, &(struct mst_target_names){
                                    .args = o->targets, .count = o->target_count,
                                    .ca_file = o->to.post.ca_file },
                                o->last_ns != 0 ? o->last_ns : MST_EXPLAIN_LAST_NS);
}

static bool is_wanted(const struct options *o, const struct mst_summary *s)
{
    char number[32];

    snprintf(number, sizeof number, "%lld", (long long)s->id);
    return o->run == NULL || strcmp(o->run, number) == 0 ||
           (s->name != NULL && strcmp(o->run, s->name) == 0);
}

/* Why a run was not exported. */
enum cause { NO_CAUSE, UNREADABLE, UNSENT };

static enum cause export_archive(struct mst_export *e, const struct options *o,
                                 struct mst_archive *archive, char error[MST_ERROR_MAX])
{
    struct mst_summary s = { 0 };
    enum cause cause = NO_CAUSE;
    size_t count = 0, i, found = 0;
    int64_t *ids = NULL;

    if (mst_summary_runs(archive, &ids, &count, error) != 0)
        return UNREADABLE;
    for (i = 0; i < count && cause == NO_CAUSE; i++) {
        if (mst_summary_make(&s, archive, ids[i], error) != 0) {
            cause = UNREADABLE;
        } else if (is_wanted(o, &s)) {
            found++;
            cause = mst_export_run(e, archive, &s, error) != 0 ? UNSENT : NO_CAUSE;
        }
        mst_summary_free(&s);
    }
    free(ids);
    if (cause != NO_CAUSE || found > 0)
        return cause;
    if (o->run == NULL)
        mst_fail(error, "there is no run in %s", mst_archive_path(archive));
    else
        mst_fail(error, "there is no run \"%s\" in %s: runs are selected by number or name",
                 o->run, mst_archive_path(archive));
    return UNREADABLE;
}

static int export_origin(struct mst_export *e, const struct options *o, struct origin *from)
{
    char error[MST_ERROR_MAX];
    enum cause cause;

    if (from->archive != NULL)
        cause = export_archive(e, o, from->archive, error);
    else
        cause = mst_export_run(e, from->live.archive, &from->live.summary, error) != 0
            ? UNSENT : NO_CAUSE;
    if (cause == NO_CAUSE && e->servers == 0)
        mst_warn("expected requests of an Apache, found only PHP's: nothing is exported. Record "
                 "the Apache in front of it, too");
    if (cause == NO_CAUSE)
        return MST_EXIT_OK;
    if (mst_stop_asked())
        return mst_failed(MST_EXIT_INTERRUPTED, "%s", error);
    return mst_failed(cause == UNSENT ? MST_EXIT_OUTPUT : MST_EXIT_TARGET, "%s", error);
}

/* ---- to a file ----------------------------------------------------------------------------- */

struct job {
    const struct options *o;
    struct mst_export    *e;
    struct origin        *from;
};

/* A request a line, as the collector's otlpjsonfile receiver reads it. */
static int write_line(void *context, const struct mst_export_batch *batch,
                      char error[MST_ERROR_MAX])
{
    struct mst_sink *sink = context;

    mst_sink_bytes(sink, batch->json, batch->length);
    mst_sink_char(sink, '\n');
    return sink->error == 0 ? 0 : mst_fail(error, "the output cannot be written: %s",
                                           strerror(sink->error));
}

static mst_output_put put;
static int put(struct mst_sink *sink, const void *context)
{
    const struct job *job = context;

    job->e->send = write_line;
    job->e->context = sink;
    return export_origin(job->e, job->o, job->from);
}

static int export_to_file(const struct job *job)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;
    int status;

    if (strcmp(job->o->output, "-") != 0) {
        status = mst_output_file(job->o->output, put, job, error);
        return status >= 0 ? status : mst_failed(MST_EXIT_OUTPUT, "%s", error);
    }
    mst_sink_init(&sink, mst_write_file, stdout);
    status = put(&sink, job);
    mst_sink_flush(&sink);   /* main checks that stdout took all of it */
    return status;
}

/* ---- to a collector ------------------------------------------------------------------------ */

static int tell_sent(const struct mst_export *e, const struct mst_post *post)
{
    const char *why;
    uint64_t refused = mst_post_refused(post, &why);

    printf("%" PRIu64 " requests (%" PRIu64 " of a client's trace) as %" PRIu64 " spans to %s\n",
           e->requests, e->traced, e->spans, mst_post_url(post, MST_POST_TRACES));
    if (refused == 0)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_BAD, "the collector refused %" PRIu64 " of the spans%s%s. Its log "
                      "says which", refused, why[0] != '\0' ? ": " : "", why);
}

static int export_to_collector(const struct job *job, struct mst_post *post)
{
    struct mst_stop stop;
    int status;

    job->e->send = mst_post_send;
    job->e->context = post;
    mst_stop_begin(&stop);
    status = export_origin(job->e, job->o, job->from);
    mst_stop_end(&stop);
    return status == MST_EXIT_OK ? tell_sent(job->e, post) : status;
}

static int export_requests(const struct options *o)
{
    struct mst_export e = { .choice = o->to.choice, .service = o->to.service,
                            .host = o->to.host };
    struct origin from = { 0 };
    struct mst_post *post = NULL;
    const struct job job = { o, &e, &from };
    char error[MST_ERROR_MAX];
    int status;

    if (o->to.post.url != NULL && (post = mst_post_open(&o->to.post, error)) == NULL)
        return mst_usage_error("export", "%s", error);
    status = open_origin(&from, o);
    if (status == MST_EXIT_OK)
        status = post != NULL ? export_to_collector(&job, post) : export_to_file(&job);
    mst_post_close(post);
    if (from.archive != NULL)
        mst_archive_close(from.archive, error);
    else
        mst_explanation_free(&from.live);
    return status;
}

int mst_verb_export(int argc, char **argv)
{
    struct options o = { 0 };
    int status;

    mst_export_options_begin(&o.to);
    status = read_options(&o, argc, argv);
    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = export_requests(&o);
    mst_export_options_free(&o.to);
    return status;
}

/* verb_capacity.c - mpmstat capacity: how much does this server take? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/capacity_levels.h"
#include "cli/quantities.h"
#include "cli/record_runs.h"
#include "cli/target_options.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/format.h"
#include "console/number.h"
#include "console/options.h"
#include "console/output.h"
#include "console/stop.h"
#include "base/strings.h"
#include "doc/lines.h"
#include "loadtools/loadtool.h"

/* How long a level takes: until its rate is steady for this time, and at most so long. */
#define STEADY_NS    (3 * MST_NS_PER_S)
#define LONGEST_S    20u
#define STARTING_NS  (2 * MST_NS_PER_S)   /* a load tool may take so long for its own start */
#define WITHIN_NS    (600 * MST_NS_PER_S)
#define WITHIN_MAX_NS (86400 * MST_NS_PER_S)
#define CLIENTS_MOST 1000u
#define RATE_MOST    100000u
#define RATE_FIRST   10u
#define SLO_MAX_NS   (3600 * MST_NS_PER_S)

static const char help[] =
#include "tools/cli/help/capacity.inc"
    ;
#include "tools/cli/help/capacity.opt"

struct options {
    apr_pool_t *pool;
    struct mst_record_request request;
    struct mst_slo slo;
    uint64_t within_ns, most;          /* most 0: not said */
    double   at_least;                 /* 0: not said */
    char *const *words;
    enum mst_colour colour;
    bool     html, help;
};

/* ---- the command line ------------------------------------------------------------ */

/* "p95=300ms,p99=1s". */
static int read_slo(struct options *o, const char *text)
{
    char *rest = apr_pstrdup(o->pool, text), *one, *equals;
    enum mst_percentile p;
    int status = MST_EXIT_OK;

    o->slo = (struct mst_slo){ .text = text };
    while ((one = strsep(&rest, ",")) != NULL && status == MST_EXIT_OK) {
        equals = strchr(one, '=');
        if (equals != NULL)
            *equals = '\0';
        for (p = 0; p < MST_PERCENTILE_COUNT && strcmp(one, mst_percentile_names[p]) != 0; p++)
            ;
        if (equals == NULL || p == MST_PERCENTILE_COUNT)
            return mst_usage_error("capacity", "expected --slo to be a percentile and a time, as "
                                   "in \"p95=300ms\" (p50, p90, p95, p99, p99.9), found \"%s\"",
                                   text);
        status = mst_time_read("capacity", "slo", equals + 1, MST_NS_PER_MS, SLO_MAX_NS,
                               &o->slo.most_ns[p]);
    }
    return status;
}

static int read_at_least(struct options *o, const char *text)
{
    char error[MST_ERROR_MAX];

    if (mst_rate_read(&o->at_least, "at-least", text, MST_CAPACITY_MOST, error) == 0)
        return MST_EXIT_OK;
    return mst_usage_error("capacity", "%s", error);
}

static int read_most(struct options *o, const char *text)
{
    char *end;

    o->most = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && o->most > 0 &&
        o->most <= MST_CAPACITY_MOST)
        return MST_EXIT_OK;
    return mst_usage_error("capacity", "expected --most to be a whole number from 1 to %u, found "
                           "\"%s\"", MST_CAPACITY_MOST, text);
}

/* A page is this verb's own; the other formats are all recorders'. */
static int read_format(struct options *o, const char *name)
{
    static const char *const names[] = { "text", "json", "html", NULL };
    size_t nth = 0;
    int status = mst_output_format_read(&nth, "capacity", names, name);

    o->request.json = nth == 1;
    o->html = nth == 2;
    return status;
}

static int read_option(struct options *o, int option, char **targets)
{
    struct mst_target_names *named = &o->request.recording.targets;

    if (mst_target_option(named, option, optarg))
        return MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_TARGET: targets[named->count++] = optarg; return MST_EXIT_OK;
    case MST_OPTION_SLO: return read_slo(o, optarg);
    case MST_OPTION_AT_LEAST: return read_at_least(o, optarg);
    case MST_OPTION_WITHIN:
        return mst_time_read("capacity", "within", optarg, MST_NS_PER_S, WITHIN_MAX_NS,
                             &o->within_ns);
    case MST_OPTION_MOST: return read_most(o, optarg);
    case MST_OPTION_FORMAT: return read_format(o, optarg);
    case MST_OPTION_JSON: return read_format(o, "json");
    case MST_OPTION_COLOR: return mst_colour_read(&o->colour, "capacity", optarg);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default: return mst_record_option(&o->request, "capacity", option, optarg);
    }
}

/* Options end where the command begins: its own are not ours. targets has room for argc. */
static int read_options(struct options *o, int argc, char **argv, char **targets)
{
    int option, status;

    o->request.recording.targets.args = targets;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, "+" MST_LETTERS, options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return mst_option_error("capacity", option, argv, options);
        status = read_option(o, option, targets);
        if (status != MST_EXIT_OK || o->help)
            return status;
    }
    if (optind == argc)
        return mst_usage_error("capacity", "it takes the command of a load tool, as in "
                               "\"mpmstat capacity -- wrk http://127.0.0.1/\"");
    if (o->request.quiet && o->request.recording.verbose)
        return mst_usage_error("capacity", "--quiet and --verbose exclude each other");
    o->words = argv + optind;
    return MST_EXIT_OK;
}

/* ---- the levels ------------------------------------------------------------------ */

struct ramp {
    struct options *options;
    struct mst_level_command command;
    struct mst_capacity_levels levels;
    struct mst_search_bounds bounds;
    struct mst_search search;
    struct mst_stop stop;
    uint64_t until_ns;
    bool     time_is_up, interrupted;
};

/* What the level came to, for a person that waits. */
static void tell_level(const struct ramp *r, uint64_t at, bool again)
{
    const struct mst_capacity_levels *l = &r->levels;
    const struct mst_level *level = &l->again.level;
    const struct mst_capacity_run *run = &l->again.run;
    size_t i;

    for (i = 0; i < l->count && !again; i++)
        if (l->levels[i].at == at) {
            level = &l->levels[i];
            run = &l->runs[i];
        }
    mst_progress("%s: %s requests/s, p95 %s%s%s",
                 mst_capacity_name(l->pool, r->command.by_rate, at, again) + strlen("capacity "),
                 mst_format_real(level->rate).text, mst_format_time(run->times_ns[MST_P95]).text,
                 level->is != MST_LEVEL_GOOD ? ", " : "",
                 level->is != MST_LEVEL_GOOD ? mst_level_is_names[level->is] : "");
}

/* Records a level. A load tool that fails is a result, too, but not at the first level: then the
 * command is wrong, or no server is there. */
static int measure(struct ramp *r, uint64_t at, bool again)
{
    struct mst_recording_options *recording = &r->options->request.recording;
    char **words = mst_have(mst_level_words(&r->command, at, LONGEST_S));
    uint64_t left_ns = r->until_ns - mst_now_ns();
    int64_t run_id;
    int status;

    recording->name = mst_capacity_name(r->levels.pool, r->command.by_rate, at, again);
    recording->command = words;
    recording->progress = r->options->request.quiet || recording->verbose ? NULL :
                          recording->name + strlen("capacity ");
    recording->steady_ns = STEADY_NS;
    recording->longest_ns = LONGEST_S * MST_NS_PER_S + STARTING_NS;
    if (recording->longest_ns > left_ns)
        recording->longest_ns = left_ns;
    /* What there is to say of the machine and the command is said once. */
    mst_diag_quiet(r->options->request.quiet || (r->levels.count > 0 && !recording->verbose));
    status = mst_record(recording, &run_id);
    mst_diag_quiet(r->options->request.quiet);
    mst_strings_free_items(words);
    if (run_id == 0 || (status != MST_EXIT_OK && (status != MST_EXIT_BAD || r->levels.count == 0)))
        return status;
    status = mst_capacity_add(&r->levels, at, again, run_id, status == MST_EXIT_BAD);
    if (status == MST_EXIT_OK)
        tell_level(r, at, again);
    return status;
}

/* Whether the level that was measured once more is the knee's. */
static bool is_knee_again(const struct ramp *r)
{
    const struct mst_capacity_levels *l = &r->levels;

    return l->again.known && r->search.has_best &&
           l->again.level.at == l->levels[r->search.knee].at;
}

/* The load to measure next: where all are known, that of the knee once more. 0: none. */
static uint64_t next_load(const struct ramp *r, bool *again)
{
    const struct mst_search *s = &r->search;

    *again = s->next == 0 && s->has_best && s->end != MST_SEARCH_MOST && r->levels.count > 1 &&
             !is_knee_again(r);
    return *again ? r->levels.levels[s->knee].at : s->next;
}

static int raise_load(struct ramp *r)
{
    uint64_t now_ns, next;
    bool again;
    int status = MST_EXIT_OK;

    r->until_ns = mst_now_ns() + r->options->within_ns;
    for (;;) {
        mst_search(&r->search, &r->bounds, r->levels.levels, r->levels.count);
        now_ns = mst_now_ns();
        r->interrupted = status == MST_EXIT_INTERRUPTED || r->stop.count > 0;
        r->time_is_up = now_ns + STEADY_NS > r->until_ns && r->levels.count > 0;
        next = next_load(r, &again);
        if (next == 0 || r->interrupted || r->time_is_up)
            return r->interrupted ? MST_EXIT_INTERRUPTED : MST_EXIT_OK;
        status = measure(r, next, again);
        if (status != MST_EXIT_OK && status != MST_EXIT_INTERRUPTED)
            return status;
    }
}

/* ---- what is said ---------------------------------------------------------------- */

static int show(const struct ramp *r, int status)
{
    const struct options *o = r->options;
    char *command = mst_have(mst_strings_join(r->command.words));
    struct mst_capacity c = {
        .pool = o->pool, .archive = r->levels.archive, .by_rate = r->command.by_rate,
        .command = command, .slo = o->slo, .levels = r->levels.levels,
        .runs = r->levels.runs, .count = r->levels.count, .search = r->search,
        .again = r->levels.again,
        .time_is_up = r->time_is_up, .interrupted = r->interrupted,
    };
    int foreseen = mst_capacity_foresee(&c, &r->levels, o->html);
    struct mst_sink sink;
    struct mst_doc doc;

    c.again.known = is_knee_again(r);
    if (status == MST_EXIT_OK)
        status = foreseen;
    mst_style_use(o->colour, STDOUT_FILENO);
    mst_sink_init(&sink, mst_write_file, stdout);
    doc = mst_doc_text(&sink, MST_TEXT_WIDTH);
    if (o->request.json)
        mst_capacity_json(&sink, &c);
    else if (o->html)
        mst_capacity_html(&sink, &c);
    else if (o->request.quiet)
        mst_capacity_verdict(&doc, &c);
    else {
        mst_capacity_say(&doc, &c);
        mst_capacity_put_levels(&doc, &c);
    }
    free(command);
    if (mst_sink_flush(&sink) != 0)
        return MST_EXIT_OUTPUT;
    if (status != MST_EXIT_OK)
        return status;
    if (!c.search.has_best)
        return MST_EXIT_BAD;
    if (o->at_least == 0 || mst_capacity_rate_held(&c) >= o->at_least)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_BAD, "--at-least %s is not %s: %s requests per second%s",
                      mst_format_real(o->at_least).text,
                      mst_capacity_is_least(&c) ? "shown" : "met",
                      mst_format_real(mst_capacity_rate_held(&c)).text,
                      mst_capacity_is_least(&c) ? " were reached, and the server may take more" :
                      "");
}

static int find_capacity(struct ramp *r)
{
    struct options *o = r->options;
    uint64_t most = r->command.by_rate ? RATE_MOST : CLIENTS_MOST;
    int status;

    mst_record_warn_of_cut_url(o->words);
    mst_record_choose_archive(&o->request);
    most = o->most > 0 ? o->most : most;
    r->bounds = (struct mst_search_bounds){
        .first = r->command.by_rate ? RATE_FIRST : 1, .by_rate = r->command.by_rate,
        .most = most < r->command.most ? most : r->command.most,
    };
    if (r->bounds.first > r->bounds.most)
        r->bounds.first = r->bounds.most;
    r->levels = (struct mst_capacity_levels){
        .pool = o->pool, .command = &r->command, .slo = &o->slo, .seconds = LONGEST_S,
        .archive = o->request.recording.archive,
    };
    status = mst_capacity_go_on(&r->levels);
    if (status != MST_EXIT_OK)
        return status;
    if (r->levels.count > 0)
        mst_progress("%s has %zu levels of this command: going on from there", r->levels.archive,
                     r->levels.count);
    if (r->command.set != NULL)
        mst_progress("setting %s of %s at each level", r->command.set, o->words[0]);
    mst_stop_begin(&r->stop);
    status = raise_load(r);
    mst_stop_end(&r->stop);
    if (status != MST_EXIT_OK && status != MST_EXIT_INTERRUPTED && r->levels.count == 0)
        return status;
    return show(r, status);
}

int mst_verb_capacity(int argc, char **argv)
{
    struct options o = { .pool = mst_pool_new(NULL), .request = MST_RECORD_REQUEST,
                         .within_ns = WITHIN_NS };
    struct ramp r = { .options = &o };
    char error[MST_ERROR_MAX];
    int status = read_options(&o, argc, argv,
                              apr_pcalloc(o.pool, ((size_t)argc + 1) * sizeof(char *)));

    mst_diag_quiet(o.request.quiet);
    if (status == MST_EXIT_OK && o.help) {
        printf(help, mst_loadtool_names());
    } else if (status == MST_EXIT_OK) {
        if (mst_level_command_make(&r.command, o.words, error) != 0)
            status = mst_usage_error("capacity", "%s", error);
        else
            status = find_capacity(&r);
        mst_level_command_free(&r.command);
    }
    apr_pool_destroy(o.pool);
    return status;
}

/* verb_record.c - mpmstat record: runs a load tool, records both sides, shows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/quantities.h"
#include "cli/record_pairs.h"
#include "cli/record_runs.h"
#include "cli/target_options.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/nearest.h"
#include "console/options.h"
#include "memory/pool.h"
#include "loadtools/loadtool.h"

#define VERSUS       "--versus"       /* between the commands of --interleave */
#define PERIOD_MIN_NS MST_NS_PER_S
#define KEEP_MAX_NS   (UINT64_C(3660) * 86400 * MST_NS_PER_S)   /* ten years */
#define SIZE_MIN      (UINT64_C(1) << 20)
#define LIMIT_PERCENT_MIN 0.1
#define SIZES_KEPT    8u              /* archives that --keep-size alone makes */

static const char help[] =
#include "tools/cli/help/record.inc"
    ;
#include "tools/cli/help/record.opt"

struct options {
    struct mst_record_request request;
    char **names;                /* --name, as often as it was given */
    size_t name_count;
    char   letters[MST_VARIANTS_MAX][2];
    enum mst_colour colour;
    bool   help;
    struct mst_rotation rotation;   /* all 0: none */
};

/* ---- the command line ------------------------------------------------------------ */

static int read_rotation(struct options *o, int option)
{
    struct mst_rotation *r = &o->rotation;

    switch (option) {
    case MST_OPTION_ROTATE:
        return mst_time_read("record", "rotate", optarg, PERIOD_MIN_NS, KEEP_MAX_NS, &r->period_ns);
    case MST_OPTION_ROTATE_SIZE:
        return mst_bytes_read("record", "rotate-size", optarg, SIZE_MIN, &r->size_bytes);
    case MST_OPTION_KEEP:
        return mst_time_read("record", "keep", optarg, PERIOD_MIN_NS, KEEP_MAX_NS, &r->keep_ns);
    case MST_OPTION_THIN_AFTER:
        return mst_time_read("record", "thin-after", optarg, PERIOD_MIN_NS, KEEP_MAX_NS,
                             &r->thin_ns);
    default:
        return mst_bytes_read("record", "keep-size", optarg, mst_rotation_kept(r) * SIZE_MIN,
                              &r->keep_bytes);
    }
}

static int read_option(struct options *o, int option, char **targets)
{
    struct mst_target_names *named = &o->request.recording.targets;

    if (mst_target_option(named, option, optarg))
        return MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_TARGET: targets[named->count++] = optarg; return MST_EXIT_OK;
    case MST_OPTION_CLIENT_ROWS:
        o->request.client_rows[o->request.client_rows_count++] = optarg;
        return MST_EXIT_OK;
    case MST_OPTION_REPEAT:
        o->request.until_decided = strcmp(optarg, MST_UNTIL_DECIDED) == 0;
        return o->request.until_decided ? MST_EXIT_OK
                                        : mst_record_option(&o->request, "record", option, optarg);
    case MST_OPTION_LIMIT:
        return mst_percent_read("record", "limit", optarg, LIMIT_PERCENT_MIN, &o->request.limit);
    case MST_OPTION_WITHIN:
        return mst_time_read("record", "within", optarg, MST_NS_PER_S, KEEP_MAX_NS,
                             &o->request.within_ns);
    case MST_OPTION_NAME: o->names[o->name_count++] = optarg; return MST_EXIT_OK;
    case MST_OPTION_STEADY: o->request.steady = true; return MST_EXIT_OK;
    case MST_OPTION_INTERLEAVE: o->request.interleave = true; return MST_EXIT_OK;
    case MST_OPTION_ROTATE:
    case MST_OPTION_ROTATE_SIZE:
    case MST_OPTION_KEEP:
    case MST_OPTION_THIN_AFTER:
    case MST_OPTION_KEEP_SIZE: return read_rotation(o, option);
    case MST_OPTION_COLOR: return mst_colour_read(&o->colour, "record", optarg);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default: return mst_record_option(&o->request, "record", option, optarg);
    }
}

/* Ends each command where the next one begins; a -- before it is taken as before the first. */
static int split_commands(struct options *o, char **words)
{
    bool begins = true;

    for (; *words != NULL; words++) {
        if (strcmp(*words, VERSUS) == 0 && !begins) {
            *words = NULL;
            begins = true;
        } else if (begins && strcmp(*words, "--") != 0) {
            if (strcmp(*words, VERSUS) == 0)
                return mst_usage_error("record", "there is no command before " VERSUS ": it "
                                       "stands between two, A " VERSUS " B");
            if (o->request.variant_count == MST_VARIANTS_MAX)
                return mst_usage_error("record", "--interleave takes at most %u commands",
                                       MST_VARIANTS_MAX);
            o->request.variants[o->request.variant_count++].command = words;
            begins = false;
        }
    }
    if (o->request.variant_count > 0 && begins)
        return mst_usage_error("record", "there is no command behind " VERSUS);
    if (o->request.variant_count < 2)
        return mst_usage_error("record", "--interleave takes several commands with " VERSUS
                               " between them");
    return MST_EXIT_OK;
}

static int refuse_versus(char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(*words, VERSUS) == 0)
            return mst_usage_error("record", VERSUS " goes with --interleave, which stands before "
                                   "the first command: mpmstat record --interleave -- A " VERSUS
                                   " B");
    return MST_EXIT_OK;
}

static int read_variants(struct options *o, char **words)
{
    size_t i;
    int status;

    if (words != NULL && !o->request.interleave && o->name_count > 1)
        return mst_usage_error("record", "there is one command, and --name was given %zu times",
                               o->name_count);
    for (i = 1; i < o->name_count; i++)
        if (strcmp(o->names[i], o->names[i - 1]) == 0)
            return mst_usage_error("record", "the name \"%s\" is given twice: mpmstat compare "
                                   "could not tell the two apart", o->names[i]);
    if (words == NULL && (o->request.repeat > 0 || o->request.until_decided ||
                          o->request.interleave || o->request.steady))
        return mst_usage_error("record", "--repeat, --interleave and --steady take a command to "
                               "run");
    if (o->request.interleave) {
        status = split_commands(o, words);
        if (status != MST_EXIT_OK)
            return status;
    } else {
        status = words != NULL ? refuse_versus(words) : MST_EXIT_OK;
        if (status != MST_EXIT_OK)
            return status;
        o->request.variants[o->request.variant_count++].command = words;
    }
    if (words != NULL)
        mst_record_warn_of_cut_url(words);
    if (o->request.interleave && o->name_count > 0 && o->name_count != o->request.variant_count)
        return mst_usage_error("record", "there are %zu commands, and --name was given %zu times: "
                               "give it once for each, or not at all", o->request.variant_count,
                               o->name_count);
    for (i = 0; i < o->request.variant_count; i++) {
        snprintf(o->letters[i], sizeof o->letters[i], "%c", (char)('A' + i));
        o->request.variants[i].name = o->request.interleave && o->name_count == 0 ? o->letters[i] :
                              o->request.interleave ? o->names[i] :
                              o->name_count > 0 ? o->names[o->name_count - 1] : NULL;
    }
    return MST_EXIT_OK;
}

/* --limit and --within go with it; what it does not go with. */
static int check_until_decided(struct options *o)
{
    struct mst_record_request *q = &o->request;

    if (!q->until_decided && (q->limit > 0 || q->within_ns > 0))
        return mst_usage_error("record", "--limit and --within go with --repeat "
                               MST_UNTIL_DECIDED);
    if (!q->until_decided)
        return MST_EXIT_OK;
    if (!q->interleave || q->variant_count != 2)
        return mst_usage_error("record", "--repeat " MST_UNTIL_DECIDED " compares two commands: "
                               "--interleave -- A " VERSUS " B");
    q->recording.until_decided = true;
    if (!(q->limit > 0))
        q->limit = MST_PAIRS_LIMIT;
    if (q->within_ns == 0)
        q->within_ns = MST_PAIRS_WITHIN_NS;
    return MST_EXIT_OK;
}

/* Completes the rotation, and says what does not go with it. */
static int check_rotation(struct options *o, bool has_command)
{
    struct mst_rotation *r = &o->rotation;
    const struct mst_record_request *q = &o->request;

    if (r->period_ns == 0 && r->size_bytes == 0 && r->keep_ns == 0 && r->keep_bytes == 0 &&
        r->thin_ns == 0)
        return MST_EXIT_OK;
    if (r->period_ns == 0 && r->size_bytes == 0)
        return mst_usage_error("record", "--keep and --keep-size go with --rotate TIME, as "
                               "--thin-after does");
    if (has_command)
        return mst_usage_error("record", "--rotate records what comes, until it is stopped: it "
                               "runs no command");
    if (q->recording.archive == NULL)
        return mst_usage_error("record", "--rotate takes a directory for the archives: "
                               "-o DIRECTORY");
    if (q->client_rows_count > 0 || q->json || q->fail_on.any)
        return mst_usage_error("record", "--rotate shows no results: --client-rows, --format json "
                               "and --fail-on do not go with it (mpmstat report has them)");
    if (r->keep_bytes > 0 && r->size_bytes == 0)
        r->size_bytes = r->keep_bytes / SIZES_KEPT;
    if (r->keep_bytes > 0 && r->keep_bytes < mst_rotation_kept(r) * r->size_bytes)
        return mst_usage_error("record", "--keep-size has to be at least %u times --rotate-size%s",
                               mst_rotation_kept(r), r->thin_ns > 0 ? " with --thin-after" : "");
    r->directory = q->recording.archive;
    o->request.recording.rotation = r;
    return MST_EXIT_OK;
}

/* Options end where the command begins: its own are not ours. targets has room
 * for argc of them. */
static int read_options(struct options *o, int argc, char **argv, char **targets)
{
    int option, status;

    o->request.recording.targets.args = targets;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, "+" MST_LETTERS, options, NULL)) != -1) {
        if (option == '?' && strcmp(argv[optind - 1], VERSUS) == 0)
            return mst_usage_error("record", VERSUS " stands between two commands: "
                                   "--interleave -- A " VERSUS " B");
        if (option == '?' && optopt == 0 && mst_nearest_option(options, argv[optind - 1]) == NULL)
            return mst_usage_error("record", "%s is not an option: the load tool's own go after "
                                   "its name", argv[optind - 1]);
        if (option == '?' || option == ':')
            return mst_option_error("record", option, argv, options);
        status = read_option(o, option, targets);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind == argc && strcmp(argv[argc - 1], "--") == 0)
        return mst_usage_error("record", "the load tool's command is missing after --");
    if (o->request.quiet && o->request.recording.verbose)
        return mst_usage_error("record", "--quiet and --verbose exclude each other");
    if (o->request.json && o->request.percentiles != 0)
        return mst_usage_error("record", "--percentiles goes with --format text: JSON has all");
    status = o->help ? MST_EXIT_OK : check_rotation(o, optind < argc);
    if (status != MST_EXIT_OK || o->help)
        return status;
    status = read_variants(o, optind < argc ? argv + optind : NULL);
    return status != MST_EXIT_OK ? status : check_until_decided(o);
}

/* ---- the verb -------------------------------------------------------------------- */

int mst_verb_record(int argc, char **argv)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    const size_t room = ((size_t)argc + 1) * sizeof(char *);
    struct options o = { .request = MST_RECORD_REQUEST, .names = apr_pcalloc(pool, room) };
    int status;

    o.request.client_rows = apr_pcalloc(pool, room);
    status = read_options(&o, argc, argv, apr_pcalloc(pool, room));
    mst_style_use(o.colour, STDOUT_FILENO);
    mst_diag_quiet(o.request.quiet);
    if (status == MST_EXIT_OK && o.help)
        printf(help, mst_loadtool_names());
    else if (status == MST_EXIT_OK)
        status = mst_record_runs(&o.request);
    apr_pool_destroy(pool);
    return status;
}

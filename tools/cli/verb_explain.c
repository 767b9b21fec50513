/* verb_explain.c - mpmstat explain: why servers are slow or stuck now, without a recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/exit_by_finding.h"
#include "cli/target_options.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/output.h"
#include "explain/explain.h"

static const char help[] =
#include "tools/cli/help/explain.inc"
    ;
#include "tools/cli/help/explain.opt"

static const char *const formats[] = { "text", "json", NULL };
static void (*const writers[])(struct mst_sink *sink, const struct mst_explanation *e) = {
    mst_explain_text, mst_explain_json,
};

struct options {
    uint64_t           last_ns;
    size_t             format;     /* of formats[] */
    bool               help;
    enum mst_colour    colour;
    struct mst_fail_on fail_on;
    struct mst_target_names targets;
};

static int read_last(const char *text, uint64_t *last_ns)
{
    if (mst_explain_last_parse(text, last_ns))
        return MST_EXIT_OK;
    return mst_usage_error("explain", "expected --last to be a time of one second to seven days "
                           "(90s, 5m, 2h), found \"%s\"", text);
}

static int read_option(struct options *o, int option, char **argv)
{
    if (mst_target_option(&o->targets, option, optarg))
        return MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_LAST: return read_last(optarg, &o->last_ns);
    case MST_OPTION_FORMAT:
        return mst_output_format_read(&o->format, "explain", formats, optarg);
    case MST_OPTION_FAIL_ON: return mst_fail_on_read(&o->fail_on, "explain", optarg);
    case MST_OPTION_COLOR: return mst_colour_read(&o->colour, "explain", optarg);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("explain", option, argv, options);
    }
}

static int show(const struct options *o)
{
    struct mst_explanation e;
    struct mst_sink sink;
    int status;

    mst_style_use(o->colour, STDOUT_FILENO);
    status = mst_explain(&e, &o->targets, o->last_ns);
    if (status == MST_EXIT_OK) {
        mst_sink_init(&sink, mst_write_file, stdout);
        writers[o->format](&sink, &e);
        if (mst_sink_flush(&sink) != 0)
            status = MST_EXIT_OUTPUT;
        else if (mst_fail_on_found(&o->fail_on, &e.summary))
            status = MST_EXIT_BAD;
    }
    mst_explanation_free(&e);
    return status;
}

int mst_verb_explain(int argc, char **argv)
{
    struct options o = { .last_ns = MST_EXPLAIN_LAST_NS };
    int option, status = MST_EXIT_OK;

    opterr = 0;
    optind = 0;
    while (status == MST_EXIT_OK &&
           (option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1)
        status = read_option(&o, option, argv);
    if (status != MST_EXIT_OK)
        return status;
    if (o.help) {
        fputs(help, stdout);
        return MST_EXIT_OK;
    }
    o.targets.args = argv + optind;
    o.targets.count = (size_t)(argc - optind);
    return show(&o);
}

/* verb_compare.c - mpmstat compare: which of two is faster, by how much, and whether
 * that can be told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "cli/quantities.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "findings/findings.h"
#include "report/comparison.h"

static const char help[] =
#include "tools/cli/help/compare.inc"
    ;
#include "tools/cli/help/compare.opt"

static const char *const formats[] = { "text", "md", "json", "csv", NULL };
static void (*const writers[])(struct mst_sink *sink, const struct mst_comparison_table *t) = {
    mst_comparison_text, mst_comparison_markdown, mst_comparison_json, mst_comparison_csv,
};

struct options {
    apr_pool_t *pool;
    double limit;              /* a fraction; below 0: none */
    bool   fail_if_unsure, is_long, help;
    size_t format;             /* of formats[] */
    enum mst_colour colour;
    struct mst_list metrics;
    const char *a, *b;
};

/* ---- the command line ------------------------------------------------------------ */

static int add_metric(struct options *o, const char *name)
{
    char names[1024];

    if (mst_comparison_has(name)) {
        mst_list_add(o->pool, &o->metrics, name);
        return MST_EXIT_OK;
    }
    mst_comparison_names(names, sizeof names);
    return mst_usage_error("compare", "there is no metric \"%s\": expected one of %s", name,
                           names);
}

static int read_option(struct options *o, int option, char **argv)
{
    switch (option) {
    case MST_OPTION_FORMAT:
        return mst_output_format_read(&o->format, "compare", formats, optarg);
    case MST_OPTION_FAIL_IF_SLOWER:
        return mst_percent_read("compare", "fail-if-slower", optarg, 0, &o->limit);
    case MST_OPTION_FAIL_IF_UNSURE: o->fail_if_unsure = true; return MST_EXIT_OK;
    case MST_OPTION_METRIC: return add_metric(o, optarg);
    case MST_OPTION_COLOR: return mst_colour_read(&o->colour, "compare", optarg);
    case MST_OPTION_VERBOSE: o->is_long = true; return MST_EXIT_OK;
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("compare", option, argv, options);
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option, status;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        status = read_option(o, option, argv);
        if (status != MST_EXIT_OK || o->help)
            return status;
    }
    if (argc - optind != 2)
        return mst_usage_error("compare", "it takes two things to compare, A and B, and got %d",
                               argc - optind);
    if (o->limit < 0 && (o->fail_if_unsure || o->metrics.count > 0))
        return mst_usage_error("compare", "--fail-if-unsure and --metric go with "
                               "--fail-if-slower PERCENT");
    o->a = argv[optind];
    o->b = argv[optind + 1];
    return MST_EXIT_OK;
}

/* ---- comparing ------------------------------------------------------------------- */

static void put(const struct options *o, const struct mst_comparison_table *t)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, stdout);
    writers[o->format](&sink, t);
    mst_sink_flush(&sink);   /* main checks that stdout took all of it */
}

static int exit_status(const struct options *o, const struct mst_comparison_table *t)
{
    if (o->limit < 0 || t->verdict == MST_LIMIT_WITHIN)
        return MST_EXIT_OK;
    if (t->verdict == MST_LIMIT_BEYOND)
        return MST_EXIT_BAD;
    mst_warn("cannot tell whether B is slower than A by more than %g %%: %s%s", o->limit * 100,
             t->obstacles.count > 0 ? "A and B do not compare" : "record more runs, or longer ones",
             o->fail_if_unsure ? "" : " (--fail-if-unsure makes this exit status 1)");
    return o->fail_if_unsure ? MST_EXIT_BAD : MST_EXIT_OK;
}

static int find_causes(struct mst_compare_side *side, char error[MST_ERROR_MAX])
{
    size_t i;

    for (i = 0; i < side->count; i++)
        if (mst_findings_causes(&side->runs[i].summary, side->archive, error) != 0)
            return -1;
    return 0;
}

static int compare(const struct options *o)
{
    struct mst_comparison_table table = { .pool = o->pool, .limit = o->limit,
                                          .is_long = o->is_long };
    char error[MST_ERROR_MAX];
    int status = MST_EXIT_TARGET;

    if (mst_compare_side_read(o->pool, &table.a, o->a, error) != 0 ||
        mst_compare_side_read(o->pool, &table.b, o->b, error) != 0 ||
        find_causes(&table.a, error) != 0 || find_causes(&table.b, error) != 0) {
        mst_error("%s", error);
    } else {
        mst_comparison_make(&table, o->metrics.items, o->metrics.count);
        put(o, &table);
        status = exit_status(o, &table);
    }
    mst_comparison_end(&table);
    return status;
}

int mst_verb_compare(int argc, char **argv)
{
    struct options o = { .pool = mst_pool_new(NULL), .limit = -1 };
    int status = read_options(&o, argc, argv);

    mst_style_use(o.colour, STDOUT_FILENO);
    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = compare(&o);
    apr_pool_destroy(o.pool);
    return status;
}

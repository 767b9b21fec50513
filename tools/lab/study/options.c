/* options.c - the command line of mpmstat lab run: see lab.h. */
#include "lab/study/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "console/diag.h"
#include "console/options.h"

const char mst_lab_run_help[] =
#include "tools/lab/study/help.inc"
    ;
#include "tools/lab/study/help.opt"

/* Adds the names of a list with commas, which is cut up. */
static int add_only(apr_pool_t *pool, struct mst_lab_options *o, char *names)
{
    char *save = NULL, *name;
    size_t before = o->only.count;

    for (name = strtok_r(names, ", ", &save); name != NULL; name = strtok_r(NULL, ", ", &save))
        mst_list_add(pool, &o->only, name);
    if (o->only.count == before)
        return mst_usage_error("lab run", "--only takes names of stacks, with commas between them");
    return MST_EXIT_OK;
}

static int take_size(struct mst_lab_options *o, enum mst_study_size size)
{
    if (o->size_given && o->size != size)
        return mst_usage_error("lab run", "either --quick or --full");
    o->size = size;
    o->size_given = true;
    return MST_EXIT_OK;
}

static int take_seed(struct mst_lab_options *o, const char *text)
{
    char *end;

    errno = 0;
    o->seed = strtoull(text, &end, 10);
    o->seed_given = true;
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || o->seed > UINT32_MAX)
        return mst_usage_error("lab run", "--seed takes a whole number up to %u, not \"%s\"",
                               UINT32_MAX, text);
    return MST_EXIT_OK;
}

static int read_option(apr_pool_t *pool, struct mst_lab_options *o, int option, char **argv)
{
    switch (option) {
    case MST_OPTION_OUTPUT: o->output = optarg; return MST_EXIT_OK;
    case MST_OPTION_QUICK: return take_size(o, MST_STUDY_QUICK);
    case MST_OPTION_FULL: return take_size(o, MST_STUDY_FULL);
    case MST_OPTION_ONLY: return add_only(pool, o, optarg);
    case MST_OPTION_SEED: return take_seed(o, optarg);
    case MST_OPTION_DRY_RUN: o->dry_run = true; return MST_EXIT_OK;
    case MST_OPTION_RESUME: o->resume = optarg; return MST_EXIT_OK;
    case MST_OPTION_VERBOSE: o->verbose = true; return MST_EXIT_OK;
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("lab run", option, argv, options);
    }
}

/* That what was said goes together. */
static int check_options(const struct mst_lab_options *o, int argc, char **argv)
{
    if (optind < argc - 1)
        return mst_usage_error("lab run", "one study at a time, not \"%s\" too",
                               argv[optind + 1]);
    if (o->resume != NULL && (o->study != NULL || o->size_given || o->seed_given ||
                              o->only.count > 0 || o->output != NULL || o->dry_run))
        return mst_usage_error("lab run", "--resume goes on with what is in its directory: it "
                               "takes nothing else but -v");
    if (o->resume == NULL && (o->study == NULL || o->study[0] == '\0'))
        return mst_usage_error("lab run", "which study? mpmstat lab list shows them");
    if (o->output != NULL && o->output[0] == '\0')
        return mst_usage_error("lab run", "-o takes the name of a directory, not an empty one");
    return MST_EXIT_OK;
}

int mst_lab_read_options(apr_pool_t *pool, struct mst_lab_options *o, int argc, char **argv)
{
    int option, status;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        status = read_option(pool, o, option, argv);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind < argc)
        o->study = argv[optind];
    return o->help ? MST_EXIT_OK : check_options(o, argc, argv);
}

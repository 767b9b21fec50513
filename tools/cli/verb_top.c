/* verb_top.c - mpmstat top: what servers do now, in a terminal. */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/target_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "top/top.h"

#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 3600.0

static const char help[] =
#include "tools/cli/help/top.inc"
    ;
#include "tools/cli/help/top.opt"

struct options {
    struct mst_top_options top;
    bool                   help;
};

static int read_delay(const char *text, uint64_t *delay_ns)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds >= DELAY_MIN_S && seconds <= DELAY_MAX_S))
        return mst_usage_error("top", "expected --delay to be seconds from %g to %g, found \"%s\"",
                               DELAY_MIN_S, DELAY_MAX_S, text);
    *delay_ns = (uint64_t)(seconds * 1e9);
    return MST_EXIT_OK;
}

static int read_count(const char *text, uint64_t *count)
{
    char *end;

    *count = strtoumax(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || *count == 0)
        return mst_usage_error("top", "expected --count to be 1 or more, found \"%s\"", text);
    return MST_EXIT_OK;
}

static int read_option(struct options *o, int option, char *const *argv)
{
    if (mst_target_option(&o->top.targets, option, optarg))
        return MST_EXIT_OK;
    switch (option) {
    case MST_OPTION_DELAY: return read_delay(optarg, &o->top.delay_ns);
    case MST_OPTION_COUNT: return read_count(optarg, &o->top.frames);
    case MST_OPTION_BATCH: o->top.is_batch = true; return MST_EXIT_OK;
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("top", option, argv, options);
    }
}

int mst_verb_top(int argc, char **argv)
{
    struct options o = { .top = { .delay_ns = MST_NS_PER_S } };
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
    if (!o.top.is_batch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        return mst_usage_error("top", "expected a terminal, found none: take --batch, or mpmstat "
                               "status");
    o.top.targets.args = argv + optind;
    o.top.targets.count = (size_t)(argc - optind);
    setlocale(LC_CTYPE, "");   /* which characters the terminal can show */
    return mst_top_run(&o.top);
}

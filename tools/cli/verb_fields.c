/* verb_fields.c - mpmstat fields: every metric, or those that a word names, from the one table. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "console/output.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/nearest.h"
#include "console/options.h"
#include "render/fields_table.h"
#include "render/negotiate.h"
#include "segment/fields.h"

static const char help[] =
#include "tools/cli/help/fields.inc"
    ;
#include "tools/cli/help/fields.opt"

#define NEAREST 3u

/* The fewest changes from the word to a name of the metric. */
static unsigned distance_to(const struct mst_field *f, const char *word)
{
    const char *const names[] = { f->id, f->json, f->text, f->openmetrics };
    unsigned least = UINT_MAX, distance;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        distance = names[i] != NULL ? mst_edit_distance(word, names[i]) : UINT_MAX;
        if (distance < least)
            least = distance;
    }
    return least;
}

static bool is_among(const struct mst_field *const *fields, size_t count, const char *id)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(fields[i]->id, id) == 0)
            return true;
    return false;
}

/* Names the metrics that are nearest. */
static int unknown_field(const char *word)
{
    const struct mst_field *near[NEAREST] = { mst_fields, mst_fields, mst_fields };
    size_t i, k;

    for (k = 0; k < NEAREST; k++) {
        unsigned least = UINT_MAX, distance;

        for (i = 0; i < mst_field_count; i++) {
            distance = distance_to(&mst_fields[i], word);
            if (distance < least && !is_among(near, k, mst_fields[i].id)) {
                least = distance;
                near[k] = &mst_fields[i];
            }
        }
    }
    return mst_usage_error("fields", "no metric has \"%s\" in its name; the nearest are %s, %s "
                           "and %s", word, near[0]->id, near[1]->id, near[2]->id);
}

int mst_verb_fields(int argc, char **argv)
{
    enum mst_fields_format format = MST_FIELDS_TEXT;
    enum mst_fields_match match = MST_FIELDS_ALL;
    char error[MST_ERROR_MAX];
    struct mst_sink sink;
    int option;

    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        switch (option) {
        case MST_OPTION_FORMAT:
            if (mst_fields_format_parse(&format, optarg, error) != 0)
                return mst_usage_error("fields", "%s", error);
            break;
        case MST_OPTION_HELP:
            fputs(help, stdout);
            return MST_EXIT_OK;
        default:
            return mst_option_error("fields", option, argv, options);
        }
    }
    if (optind + 1 < argc)
        return mst_usage_error("fields", "it takes one name at most; found \"%s\", too",
                               argv[optind + 1]);
    if (optind < argc) {
        match = mst_fields_match(argv[optind]);
        if (match == MST_FIELDS_NONE || argv[optind][0] == '\0')
            return unknown_field(argv[optind]);
    }
    mst_sink_init(&sink, mst_write_file, stdout);
    return mst_render_fields(&sink, format, match, argv[optind]) == 0 ? MST_EXIT_OK
                                                                      : MST_EXIT_OUTPUT;
}

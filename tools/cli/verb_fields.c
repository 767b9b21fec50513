/* verb_fields.c - mpmstat fields: every metric, from the one table. */
#include <getopt.h>
#include <stdio.h>

#include "console/output.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "render/fields_table.h"
#include "render/negotiate.h"

static const char help[] =
#include "tools/cli/help/fields.inc"
    ;

int mst_verb_fields(int argc, char **argv)
{
    static const struct option options[] = {
        { "format", required_argument, NULL, 'f' },
        { "help",   no_argument,       NULL, 'h' },
        { NULL, 0, NULL, 0 }
    };
    enum mst_fields_format format = MST_FIELDS_TEXT;
    char error[MST_ERROR_MAX];
    struct mst_sink sink;
    int option;

    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":f:h", options, NULL)) != -1) {
        switch (option) {
        case 'f':
            if (mst_fields_format_parse(&format, optarg, error) != 0)
                return mst_usage_error("fields", "%s", error);
            break;
        case 'h':
            fputs(help, stdout);
            return MST_EXIT_OK;
        default:
            return mst_option_error("fields", option, argv);
        }
    }
    if (optind < argc)
        return mst_usage_error("fields", "unexpected argument \"%s\"", argv[optind]);
    mst_sink_init(&sink, mst_write_file, stdout);
    return mst_render_fields(&sink, format) == 0 ? MST_EXIT_OK : MST_EXIT_OUTPUT;
}

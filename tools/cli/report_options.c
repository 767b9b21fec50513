/* report_options.c - the command line of mpmstat report: see report_options.h. */
#include "cli/report_options.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/quantities.h"
#include "cli/text_options.h"
#include "console/diag.h"
#include "console/options.h"

#include "tools/cli/help/report.opt"

static int read_format(struct mst_report_options *o, const char *name)
{
    static const char *const names[MST_REPORT_FORMATS + 1] = {
        "html", "md", "csv", "json", "text", "folded", "speedscope", "pprof",
    };
    size_t nth = o->format;
    int status = mst_output_format_read(&nth, "report", names, name);

    o->format = (enum mst_report_format)nth;
    return status;
}

/* The output takes the place of what is there. */
static int check_output(const struct mst_report_options *o)
{
    struct stat output, file;
    int i;

    if (o->output == NULL)
        return MST_EXIT_OK;
    if (o->output[0] == '\0')
        return mst_usage_error("report", "-o takes the name of a file, not an empty one");
    if (strcmp(o->output, "-") == 0 || stat(o->output, &output) != 0)
        return MST_EXIT_OK;
    for (i = 0; i < o->file_count; i++)
        if (stat(o->files[i], &file) == 0 && file.st_dev == output.st_dev &&
            file.st_ino == output.st_ino)
            return mst_usage_error("report", "-o %s would replace the archive %s by its report",
                                   o->output, o->files[i]);
    return MST_EXIT_OK;
}

static int check_options(const struct mst_report_options *o)
{
    if (o->file_count == 0)
        return mst_usage_error("report", "it takes the archives to report: files that mpmstat "
                               "record has made");
    if (o->to_ns != 0 && o->to_ns <= o->from_ns)
        return mst_usage_error("report", "--to has to be later than --from");
    if (o->series && o->format != MST_REPORT_CSV)
        return mst_usage_error("report", "--series goes with --format csv");
    if (o->trend && (o->format == MST_REPORT_CSV || o->format >= MST_REPORT_FOLDED))
        return mst_usage_error("report", "--trend goes with html, md, json or text");
    if (o->percentiles != 0 && o->format != MST_REPORT_TEXT)
        return mst_usage_error("report", "--percentiles goes with --format text");
    if (o->format == MST_REPORT_HTML && o->output == NULL && isatty(STDOUT_FILENO))
        return mst_usage_error("report", "a page on a terminal would be no use: name a file with "
                               "-o FILE, or another --format");
    return check_output(o);
}

int mst_report_options_read(struct mst_report_options *o, int argc, char **argv)
{
    int option, status;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1) {
        switch (option) {
        case MST_OPTION_FORMAT:
            status = read_format(o, optarg);
            if (status != MST_EXIT_OK)
                return status;
            break;
        case MST_OPTION_OUTPUT: o->output = optarg; break;
        case MST_OPTION_RUN: o->selected[o->selected_count++].run = optarg; break;
        case MST_OPTION_SERIES: o->series = true; break;
        case MST_OPTION_TREND: o->trend = true; break;
        case MST_OPTION_FAIL_ON:
            status = mst_fail_on_read(&o->fail_on, "report", optarg);
            if (status != MST_EXIT_OK)
                return status;
            break;
        case MST_OPTION_PERCENTILES:
            status = mst_percentiles_read(&o->percentiles, "report", optarg);
            if (status != MST_EXIT_OK)
                return status;
            break;
        case MST_OPTION_FROM:
        case MST_OPTION_TO:
            status = mst_instant_read("report", option == MST_OPTION_FROM ? "from" : "to", optarg,
                                      option == MST_OPTION_FROM ? &o->from_ns : &o->to_ns);
            if (status != MST_EXIT_OK)
                return status;
            break;
        case MST_OPTION_COLOR:
            status = mst_colour_read(&o->colour, "report", optarg);
            if (status != MST_EXIT_OK)
                return status;
            break;
        case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
        default:  return mst_option_error("report", option, argv, options);
        }
    }
    o->files = argv + optind;
    o->file_count = argc - optind;
    return check_options(o);
}

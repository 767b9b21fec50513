/* verb_import.c - mpmstat import: adds what load generators wrote elsewhere to a recorded run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "cli/record_runs.h"
#include "cli/text_options.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "record/generators.h"

static const char help[] =
#include "tools/cli/help/import.inc"
    ;
#include "tools/cli/help/import.opt"

struct options {
    struct mst_record_request request;
    const char *run;             /* NULL: the last one */
    enum mst_colour colour;
    bool        help;
};

static int read_options(struct options *o, int argc, char **argv)
{
    int option, status = MST_EXIT_OK;

    opterr = 0;
    optind = 0;
    while (status == MST_EXIT_OK && !o->help &&
           (option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1)
        switch (option) {
        case MST_OPTION_RUN: o->run = optarg; break;
        case MST_OPTION_COLOR: status = mst_colour_read(&o->colour, "import", optarg); break;
        case MST_OPTION_HELP: o->help = true; break;
        case '?': case ':': return mst_option_error("import", option, argv, options);
        default: status = mst_record_option(&o->request, "import", option, optarg);
        }
    if (status != MST_EXIT_OK || o->help)
        return status;
    if (argc - optind < 2)
        return mst_usage_error("import", "it takes an archive that mpmstat record has made, and "
                               "the files of the load's processes");
    o->request.recording.archive = argv[optind];
    o->request.client_rows = argv + optind + 1;
    o->request.client_rows_count = (size_t)(argc - optind - 1);
    return MST_EXIT_OK;
}

/* The last of the runs with that name or number. */
static int find_run(const struct options *o, int64_t *run_id)
{
    const char *path = o->request.recording.archive;
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_read(path, error);
    struct mst_query q;
    bool found, thinned = false, fine;

    if (archive == NULL)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    q = mst_query_ask(mst_archive_db(archive),
                      "SELECT id, thinned_ns IS NOT NULL AS thinned FROM runs WHERE :id "
                      "AND (:run IS NULL OR name = :run OR CAST(id AS TEXT) = :run) "
                      "ORDER BY id DESC LIMIT 1", 1);
    if (o->run != NULL)
        mst_query_set_text(&q, ":run", o->run);
    found = mst_query_next(&q);
    if (found) {
        *run_id = mst_row_id(&q, "id");
        thinned = mst_row_number(&q, "thinned") == 1;
    }
    fine = mst_query_done(&q);
    if (!fine)
        mst_archive_unreadable(archive, error);
    mst_archive_close(archive, ignored);
    if (!fine)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    if (!found)
        return mst_failed(MST_EXIT_TARGET, "there is no run%s%s%s in %s", o->run != NULL ? " \"" :
                          "", o->run != NULL ? o->run : "", o->run != NULL ? "\"" : "", path);
    if (thinned)
        return mst_failed(MST_EXIT_TARGET, "%s is thinned: it no longer has all requests of the "
                          "server, so those in the files cannot be joined to them. Import files "
                          "before mpmstat thins the archive (mpmstat record --thin-after)", path);
    return MST_EXIT_OK;
}

int mst_verb_import(int argc, char **argv)
{
    struct options o = { .request = MST_RECORD_REQUEST };
    int64_t run_id = 0;
    int status = read_options(&o, argc, argv), shown;

    mst_style_use(o.colour, STDOUT_FILENO);
    mst_diag_quiet(o.request.quiet);
    if (status == MST_EXIT_OK && o.help) {
        fputs(help, stdout);
        return MST_EXIT_OK;
    }
    if (status == MST_EXIT_OK)
        status = find_run(&o, &run_id);
    if (status != MST_EXIT_OK)
        return status;
    status = mst_generators_import(&(struct mst_generator_import){
        o.request.recording.archive, run_id, o.request.client_rows, o.request.client_rows_count });
    if (status != MST_EXIT_OK && status != MST_EXIT_BAD)
        return status;
    shown = mst_record_show(&o.request, run_id);
    return status != MST_EXIT_OK ? status : shown;
}

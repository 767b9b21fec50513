/* verb_record.c - mpmstat record: runs a load tool, records both sides, shows them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record_runs.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "loadtools/loadtool.h"

#define VERSUS       "--versus"       /* between the commands of --interleave */

static const char help[] =
    "usage: mpmstat record [-o FILE] [-t TARGET]... [OPTION]... [--] COMMAND...\n"
    "       mpmstat record [-o FILE] [-t TARGET]... [OPTION]...\n"
    "\n"
    "Runs COMMAND, a load tool, and records the tool's results and what the servers did\n"
    "into an archive. Then shows both next to each other. Without COMMAND, records until\n"
    "^C.\n"
    "\n"
    "  -o, --output FILE     the archive, an SQLite file; if the file exists, the run is\n"
    "                        added to it (mpmstat-YYYYMMDD-HHMMSS.sqlite in this directory)\n"
    "  -t, --target TARGET   a server: its board file, a directory of boards, or its\n"
    "                        status URL; several targets make one run. The default is all\n"
    "                        running servers of root and your own on this machine (see\n"
    "                        mpmstat status --help)\n"
    "      --name NAME       a name for the run; with --interleave, one name for each\n"
    "                        command, in the same order (A, B, ...)\n"
    "      --repeat N        run COMMAND N times, for mpmstat compare; each time is a run of\n"
    "                        its own, and begins when no request is in flight\n"
    "      --interleave      COMMAND consists of several commands, separated by --versus;\n"
    "                        with --repeat they run in turns: A B, B A, A B, ...\n"
    "      --format FORMAT   the format of the output: text (the default) or json\n"
    "      --timeout SECONDS stop the command after this time (3600, or a time that\n"
    "                        depends on its own limits); without COMMAND, end the recording\n"
    "      --no-flags        add no flags to COMMAND; then the times of single requests, and\n"
    "                        all results of some tools, are known only if COMMAND itself\n"
    "                        says to write them\n"
    "      --no-memory       do not read the memory of the servers' processes\n"
    "  -v, --verbose         show the command's own output, on stderr\n"
    "      --help            show this help\n"
    "\n"
    "It can read %s.\n"
    "With any other command it records the server's side only. The flags that it adds never\n"
    "change the load. The archive has the command's output; if the command fails, the output\n"
    "is shown, too.\n"
    "\n"
    "Examples:\n"
    "  mpmstat record -- ab -n 2000 -c 20 http://127.0.0.1/loop.php\n"
    "  mpmstat record -o runs.sqlite --name prefork -t /run/apache2 -- ab -n 200 -c 50 URL\n"
    "  mpmstat record --timeout 60                        a minute of real traffic\n"
    "  mpmstat record --repeat 5 --interleave -o ab.sqlite -- ab -n 2000 -c 20 URL1 \\\n"
    "      --versus ab -n 2000 -c 20 URL2\n"
    "  mpmstat record --format json -- ab -n 100 URL | jq .verdict\n"
    "  sqlite3 runs.sqlite 'SELECT max(handle_ns) FROM server_requests'\n"
    "\n"
    "Exit status: 0 recorded (also where a check says NO), 1 the command failed, does not\n"
    "exist or was stopped after the timeout, 2 wrong usage, 3 a target cannot be read,\n"
    "4 the archive or the output cannot be written, 130 interrupted. The archive has an\n"
    "interrupted run, too, and says that it was interrupted.\n";

struct options {
    struct mst_record_request request;
    char **names;                /* --name, as often as it was given */
    size_t name_count;
    char   letters[MST_VARIANTS_MAX][2];
    bool   help;
};

/* ---- the command line ------------------------------------------------------------ */

static int read_option(struct options *o, int option, char **targets)
{
    switch (option) {
    case 't': targets[o->request.recording.target_count++] = optarg; return MST_EXIT_OK;
    case 'N': o->names[o->name_count++] = optarg; return MST_EXIT_OK;
    case 'I': o->request.interleave = true; return MST_EXIT_OK;
    case 'h': o->help = true; return MST_EXIT_OK;
    case ':': return mst_usage_error("record", "an argument is missing at the end");
    case '?':
        if (optopt != 0)
            return mst_usage_error("record", "there is no option -%c", optopt);
        return mst_usage_error("record", "there is no such option: the load tool's own go after "
                               "its name");
    default: return mst_record_option(&o->request, "record", option, optarg);
    }
}

/* Ends each command where the next one begins. */
static int split_commands(struct options *o, char **words)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, VERSUS) == 0)
            *words = NULL;
        else if (o->request.variant_count == 0 || words[-1] == NULL) {
            if (o->request.variant_count == MST_VARIANTS_MAX)
                return mst_usage_error("record", "--interleave takes at most %u commands",
                                       MST_VARIANTS_MAX);
            o->request.variants[o->request.variant_count++].command = words;
        }
    }
    if (o->request.variant_count < 2)
        return mst_usage_error("record", "--interleave takes several commands with " VERSUS
                               " between them");
    return MST_EXIT_OK;
}

static int read_variants(struct options *o, char **words)
{
    size_t i;
    int status;

    if (words == NULL && (o->request.repeat > 0 || o->request.interleave))
        return mst_usage_error("record", "--repeat and --interleave take a command to run");
    if (o->request.interleave) {
        status = split_commands(o, words);
        if (status != MST_EXIT_OK)
            return status;
    } else {
        o->request.variants[o->request.variant_count++].command = words;
    }
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

/* Options end where the command begins: its own are not ours. targets has room
 * for argc of them. */
static int read_options(struct options *o, int argc, char **argv, char **targets)
{
    static const struct option names[] = {
        { "output", required_argument, NULL, 'o' }, { "target", required_argument, NULL, 't' },
        { "name", required_argument, NULL, 'N' }, { "format", required_argument, NULL, 'F' },
        { "timeout", required_argument, NULL, 'T' }, { "no-flags", no_argument, NULL, 'f' },
        { "no-memory", no_argument, NULL, 'm' }, { "verbose", no_argument, NULL, 'v' },
        { "repeat", required_argument, NULL, 'R' }, { "interleave", no_argument, NULL, 'I' },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    int option, status;

    o->request.recording.targets = targets;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, "+:o:t:vh", names, NULL)) != -1) {
        status = read_option(o, option, targets);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind == argc && strcmp(argv[argc - 1], "--") == 0)
        return mst_usage_error("record", "the load tool's command is missing after --");
    return o->help ? MST_EXIT_OK : read_variants(o, optind < argc ? argv + optind : NULL);
}

/* ---- the verb -------------------------------------------------------------------- */

int mst_verb_record(int argc, char **argv)
{
    struct options o = { .request = MST_RECORD_REQUEST };
    char **targets = calloc((size_t)argc + 1, sizeof *targets);
    int status;

    o.names = calloc((size_t)argc + 1, sizeof *o.names);
    if (targets == NULL || o.names == NULL) {
        mst_error("out of memory for the command line");
        free(targets);
        free(o.names);
        return MST_EXIT_USAGE;
    }
    status = read_options(&o, argc, argv, targets);
    if (status == MST_EXIT_OK && o.help)
        printf(help, mst_loadtool_names());
    else if (status == MST_EXIT_OK)
        status = mst_record_runs(&o.request);
    free(targets);
    free(o.names);
    return status;
}

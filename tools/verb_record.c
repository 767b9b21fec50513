/* verb_record.c - mpmstat record: runs a load tool, records both sides, shows them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "archive/archive.h"
#include "clock.h"
#include "diag.h"
#include "loadtools/loadtool.h"
#include "output.h"
#include "recording.h"
#include "report/report.h"
#include "verbs.h"

#define TIMEOUT_SECONDS_MAX 604800u   /* a week */

static const char help[] =
    "usage: mpmstat record [-o FILE] [-t TARGET]... [OPTION]... [--] COMMAND...\n"
    "       mpmstat record [-o FILE] [-t TARGET]... [OPTION]...\n"
    "\n"
    "Runs COMMAND, a load tool, and records what it saw and what the servers did, into\n"
    "an archive; then shows the two side by side. Without COMMAND: records until ^C.\n"
    "\n"
    "  -o, --output FILE     the archive, an SQLite file; a run is added to one that is\n"
    "                        there (mpmstat-YYYYMMDD-HHMMSS.sqlite in this directory)\n"
    "  -t, --target TARGET   a server: its board file, a directory of boards, or its\n"
    "                        status URL; several make one run. Without: the running\n"
    "                        servers of this machine (see mpmstat status --help)\n"
    "      --name NAME       a name for the run\n"
    "      --format FORMAT   of what is shown: text (the default) or json\n"
    "      --timeout SECONDS the command is stopped then (3600, or what its own limits\n"
    "                        make of it); without COMMAND, the end of the recording\n"
    "      --no-flags        add no flags to COMMAND: then times of single requests are\n"
    "                        known only if it is told to write them\n"
    "      --no-memory       do not read the memory of the servers' processes\n"
    "  -v, --verbose         show the command's own output, on stderr\n"
    "      --help            this\n"
    "\n"
    "Load tools that it can read: %s. Of any other command the server's side is\n"
    "recorded. The command's output is in the archive, and shown where it failed.\n"
    "\n"
    "Examples:\n"
    "  mpmstat record -- ab -n 2000 -c 20 http://127.0.0.1/loop.php\n"
    "  mpmstat record -o runs.sqlite --name prefork -t /run/apache2 -- ab -n 200 -c 50 URL\n"
    "  mpmstat record --timeout 60                        a minute of real traffic\n"
    "  mpmstat record --format json -- ab -n 100 URL | jq .verdict\n"
    "  sqlite3 runs.sqlite 'SELECT max(handle_ns) FROM server_requests'\n"
    "\n"
    "Exit status: 0 recorded (also where a check says NO), 1 the command failed, is not\n"
    "there or was stopped after the timeout, 2 wrong usage, 3 a target cannot be read,\n"
    "4 the archive or the output cannot be written, 130 interrupted. An interrupted run\n"
    "is in the archive all the same, and says so.\n";

struct options {
    struct mst_recording_options recording;
    char   default_archive[64];
    bool   json, help;
};

/* ---- the command line ------------------------------------------------------------ */

static bool read_timeout(const char *text, uint64_t *ns)
{
    char *end;
    unsigned long seconds;

    errno = 0;
    seconds = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || seconds == 0 ||
        seconds > TIMEOUT_SECONDS_MAX)
        return false;
    *ns = seconds * MST_NS_PER_S;
    return true;
}

static int read_format(struct options *o, const char *name)
{
    o->json = strcmp(name, "json") == 0;
    if (o->json || strcmp(name, "text") == 0)
        return MST_EXIT_OK;
    return mst_usage_error("record", "there is no format \"%s\": it may be text or json", name);
}

static int read_option(struct options *o, int option, char **targets)
{
    switch (option) {
    case 'o': o->recording.archive = optarg; break;
    case 't': targets[o->recording.target_count++] = optarg; break;
    case 'N': o->recording.name = optarg; break;
    case 'F': return read_format(o, optarg);
    case 'T':
        if (!read_timeout(optarg, &o->recording.timeout_ns))
            return mst_usage_error("record", "--timeout takes whole seconds from 1 to %u, not "
                                   "\"%s\"", TIMEOUT_SECONDS_MAX, optarg);
        break;
    case 'f': o->recording.add_flags = false; break;
    case 'm': o->recording.memory = false; break;
    case 'v': o->recording.verbose = true; break;
    case 'h': o->help = true; break;
    case ':': return mst_usage_error("record", "an argument is missing at the end");
    default:
        if (optopt != 0)
            return mst_usage_error("record", "there is no option -%c", optopt);
        return mst_usage_error("record", "there is no such option: the load tool's own go behind "
                               "its name");
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
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    int option, status;

    o->recording.targets = targets;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, "+:o:t:vh", names, NULL)) != -1) {
        status = read_option(o, option, targets);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind < argc)
        o->recording.command = argv + optind;
    else if (strcmp(argv[argc - 1], "--") == 0)
        return mst_usage_error("record", "the load tool's command is missing behind --");
    if (o->recording.archive != NULL && o->recording.archive[0] == '\0')
        return mst_usage_error("record", "-o takes the name of a file, not an empty one");
    return MST_EXIT_OK;
}

/* A name that is free, so that two recordings in one second do not meet. */
static void choose_archive(struct options *o)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    unsigned i;

    if (o->recording.archive != NULL)
        return;
    localtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    snprintf(o->default_archive, sizeof o->default_archive, "mpmstat-%s.sqlite", stamp);
    for (i = 2; i < 100 && access(o->default_archive, F_OK) == 0; i++)
        snprintf(o->default_archive, sizeof o->default_archive, "mpmstat-%s-%u.sqlite", stamp, i);
    o->recording.archive = o->default_archive;
}

/* ---- what is shown --------------------------------------------------------------- */

static int show(const struct options *o, int64_t run_id)
{
    struct mst_summary summary;
    struct mst_archive *archive;
    struct mst_sink sink;
    char error[MST_ERROR_MAX], ignored[MST_ERROR_MAX];

    archive = mst_archive_read(o->recording.archive, error);
    if (archive == NULL) {
        mst_error("%s", error);
        return MST_EXIT_OUTPUT;
    }
    if (mst_summary_make(&summary, archive, run_id, error) != 0) {
        mst_error("%s", error);
        mst_summary_free(&summary);
        mst_archive_close(archive, ignored);
        return MST_EXIT_OUTPUT;
    }
    mst_sink_init(&sink, mst_write_file, stdout);
    if (o->json) {
        mst_report_json(&sink, &summary);
        mst_sink_char(&sink, '\n');
    } else {
        mst_report_text(&sink, &summary, o->recording.archive);
    }
    mst_sink_flush(&sink);   /* whether it arrived, main asks */
    mst_summary_free(&summary);
    mst_archive_close(archive, ignored);
    return MST_EXIT_OK;
}

static int record(struct options *o)
{
    int64_t run_id;
    int status, shown;

    choose_archive(o);
    status = mst_record(&o->recording, &run_id);
    if (run_id == 0 || status == MST_EXIT_OUTPUT || status == MST_EXIT_TARGET)
        return status;
    shown = show(o, run_id);
    return status != MST_EXIT_OK ? status : shown;
}

int mst_verb_record(int argc, char **argv)
{
    struct options o = { .recording = { .add_flags = true, .memory = true } };
    char **targets = calloc((size_t)argc + 1, sizeof *targets);
    int status;

    if (targets == NULL) {
        mst_error("out of memory for the command line");
        return MST_EXIT_USAGE;
    }
    status = read_options(&o, argc, argv, targets);
    if (status == MST_EXIT_OK && o.help)
        printf(help, mst_loadtool_names());
    else if (status == MST_EXIT_OK)
        status = record(&o);
    free(targets);
    return status;
}

/* verb_record.c - mpmstat record: runs a load tool, records both sides, shows them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "console/output.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/format.h"
#include "exec/shell_quote.h"
#include "loadtools/loadtool.h"
#include "record/recording.h"
#include "render/sink.h"
#include "report/report.h"

#define TIMEOUT_SECONDS_MAX 604800u   /* a week */
#define REPEAT_MAX   1000u
#define VARIANTS_MAX 26u              /* their names without --name: A to Z */
#define VERSUS       "--versus"       /* between the commands of --interleave */

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
    "                        servers of root and your own on this machine (see mpmstat\n"
    "                        status --help)\n"
    "      --name NAME       a name for the run; with --interleave one for each command, in\n"
    "                        their order (A, B, ...)\n"
    "      --repeat N        run COMMAND N times, each a run of its own in the archive; for\n"
    "                        mpmstat compare. Each begins when no request is in flight\n"
    "      --interleave      COMMAND is several, with --versus between them, which take\n"
    "                        turns: A B, B A, A B, ...; with --repeat\n"
    "      --format FORMAT   of what is shown: text (the default) or json\n"
    "      --timeout SECONDS the command is stopped then (3600, or what its own limits\n"
    "                        make of it); without COMMAND, the end of the recording\n"
    "      --no-flags        add no flags to COMMAND: then times of single requests, and\n"
    "                        of some tools any results, are known only if it is told to\n"
    "                        write them\n"
    "      --no-memory       do not read the memory of the servers' processes\n"
    "  -v, --verbose         show the command's own output, on stderr\n"
    "      --help            this\n"
    "\n"
    "It can read %s.\n"
    "Of any other command the server's side is recorded. Its flags never change the load.\n"
    "The command's output is in the archive, and shown where it failed.\n"
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
    "Exit status: 0 recorded (also where a check says NO), 1 the command failed, is not\n"
    "there or was stopped after the timeout, 2 wrong usage, 3 a target cannot be read,\n"
    "4 the archive or the output cannot be written, 130 interrupted. An interrupted run\n"
    "is in the archive all the same, and says so.\n";

/* One of the commands that take turns. */
struct variant {
    const char  *name;           /* NULL: none */
    char *const *command;        /* NULL: none */
};

struct options {
    struct mst_recording_options recording;
    unsigned repeat;             /* 0: not said */
    bool     interleave;
    char   **names;              /* --name, as often as it was given */
    size_t   name_count;
    char     letters[VARIANTS_MAX][2];
    struct variant variants[VARIANTS_MAX];
    size_t   variant_count;
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

static bool read_repeat(const char *text, unsigned *repeat)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || n == 0 || n > REPEAT_MAX)
        return false;
    *repeat = (unsigned)n;
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
    case 'N': o->names[o->name_count++] = optarg; break;
    case 'R':
        if (!read_repeat(optarg, &o->repeat))
            return mst_usage_error("record", "--repeat takes a whole number from 1 to %u, not "
                                   "\"%s\"", REPEAT_MAX, optarg);
        break;
    case 'I': o->interleave = true; break;
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

/* Ends each command where the next one begins. */
static int split_commands(struct options *o, char **words)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, VERSUS) == 0)
            *words = NULL;
        else if (o->variant_count == 0 || words[-1] == NULL) {
            if (o->variant_count == VARIANTS_MAX)
                return mst_usage_error("record", "--interleave takes at most %u commands",
                                       VARIANTS_MAX);
            o->variants[o->variant_count++].command = words;
        }
    }
    if (o->variant_count < 2)
        return mst_usage_error("record", "--interleave takes several commands with " VERSUS
                               " between them");
    return MST_EXIT_OK;
}

static int read_variants(struct options *o, char **words)
{
    size_t i;
    int status;

    if (words == NULL && (o->repeat > 0 || o->interleave))
        return mst_usage_error("record", "--repeat and --interleave take a command to run");
    if (o->interleave) {
        status = split_commands(o, words);
        if (status != MST_EXIT_OK)
            return status;
    } else {
        o->variants[o->variant_count++].command = words;
    }
    if (o->interleave && o->name_count > 0 && o->name_count != o->variant_count)
        return mst_usage_error("record", "there are %zu commands, and --name was given %zu times: "
                               "give it once for each, or not at all", o->variant_count,
                               o->name_count);
    for (i = 0; i < o->variant_count; i++) {
        snprintf(o->letters[i], sizeof o->letters[i], "%c", (char)('A' + i));
        o->variants[i].name = o->interleave && o->name_count == 0 ? o->letters[i] :
                              o->interleave ? o->names[i] :
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

    o->recording.targets = targets;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, "+:o:t:vh", names, NULL)) != -1) {
        status = read_option(o, option, targets);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind == argc && strcmp(argv[argc - 1], "--") == 0)
        return mst_usage_error("record", "the load tool's command is missing behind --");
    if (o->recording.archive != NULL && o->recording.archive[0] == '\0')
        return mst_usage_error("record", "-o takes the name of a file, not an empty one");
    return o->help ? MST_EXIT_OK : read_variants(o, optind < argc ? argv + optind : NULL);
}

/* A name that is free, so that two recordings in one second do not meet. */
static void choose_archive(struct options *o)
{
    struct mst_human stamp;
    unsigned i;

    if (o->recording.archive != NULL)
        return;
    stamp = mst_human_stamp();
    snprintf(o->default_archive, sizeof o->default_archive, "mpmstat-%s.sqlite", stamp.text);
    for (i = 2; i < 100 && access(o->default_archive, F_OK) == 0; i++)
        snprintf(o->default_archive, sizeof o->default_archive, "mpmstat-%s-%u.sqlite",
                 stamp.text, i);
    o->recording.archive = o->default_archive;
}

/* ---- what is shown --------------------------------------------------------------- */

/* Several runs are a line each: what there is to see is their comparison. */
static void put_line(const struct mst_summary *s, unsigned repetition, unsigned repeat)
{
    char line[MST_ERROR_MAX];

    snprintf(line, sizeof line, "run %lld%s%s, %u of %u: %s requests/s, mean %s, p99 %s%s%s",
             (long long)s->id, s->name != NULL ? " " : "", s->name != NULL ? s->name : "",
             repetition, repeat, mst_human_milli(s->client.requests_per_1000s).text,
             mst_human_time(s->client.times.mean_ns).text,
             mst_human_time(s->client.times.p99_ns).text,
             s->complete ? "" : ", not complete: ",
             s->complete ? "" : mst_outcome_names[s->outcome]);
    mst_tame(line, strlen(line));
    puts(line);
    fflush(stdout);   /* for a person who waits; main asks whether it arrived */
}

static void put(const struct options *o, const struct mst_summary *summary)
{
    struct mst_sink sink;

    mst_sink_init(&sink, mst_write_file, stdout);
    if (o->json) {
        mst_report_json(&sink, summary);
        mst_sink_char(&sink, '\n');
    } else {
        mst_report_text(&sink, summary, o->recording.archive);
    }
    mst_sink_flush(&sink);   /* whether it arrived, main asks */
}

static int show(const struct options *o, int64_t run_id)
{
    struct mst_summary summary;
    struct mst_archive *archive;
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
    if (o->recording.repetition > 0 && !o->json)
        put_line(&summary, o->recording.repetition, o->repeat);
    else
        put(o, &summary);
    mst_summary_free(&summary);
    mst_archive_close(archive, ignored);
    return MST_EXIT_OK;
}

/* ---- the runs -------------------------------------------------------------------- */

static bool is_shown(int64_t run_id, int status)
{
    return run_id != 0 && status != MST_EXIT_OUTPUT && status != MST_EXIT_TARGET;
}

static int record_once(struct options *o, const struct variant *variant, unsigned repetition,
                       const char *before)
{
    int64_t run_id;
    int status, shown;

    o->recording.name = variant->name;
    o->recording.command = variant->command;
    o->recording.repetition = repetition;
    status = mst_record(&o->recording, &run_id);
    if (!is_shown(run_id, status))
        return status;
    fputs(before, stdout);
    shown = show(o, run_id);
    return status != MST_EXIT_OK ? status : shown;
}

/* What to do with the runs that were made. */
static void put_next(const struct options *o)
{
    char *words[] = { (char[]){ "mpmstat" }, (char[]){ "compare" }, NULL, NULL, NULL };
    char *line = NULL;
    size_t i;

    if (!o->interleave) {
        printf("They are in %s: mpmstat compare it with another's, or mpmstat report it\n",
               o->recording.archive);
        return;
    }
    for (i = 0; i < 2; i++)
        if (asprintf(&words[2 + i], "%s#%s", o->recording.archive, o->variants[i].name) < 0)
            words[2 + i] = NULL;
    if (words[2] != NULL && words[3] != NULL)
        line = mst_shell_quote(words);
    if (line != NULL)
        printf("Compare them: %s\n", line);
    free(words[2]);
    free(words[3]);
    free(line);
}

/* Every other time the other way round, so that what changes steadily on the machine
 * is the same for all. The first that fails ends it. */
static int record_all(struct options *o)
{
    size_t last = o->variant_count - 1, i;
    int status = MST_EXIT_OK;
    const char *before = "";
    unsigned n;

    if (o->repeat == 0)
        o->repeat = 1;
    if (o->json)
        fputs("[", stdout);
    for (n = 1; n <= o->repeat && status == MST_EXIT_OK; n++)
        for (i = 0; i <= last && status == MST_EXIT_OK; i++) {
            status = record_once(o, &o->variants[n % 2 == 1 ? i : last - i], n, before);
            before = o->json ? "," : "";
        }
    if (o->json)
        fputs("]\n", stdout);
    else if (status == MST_EXIT_OK)
        put_next(o);
    return status;
}

static int record(struct options *o)
{
    choose_archive(o);
    if (o->repeat > 0 || o->interleave)
        return record_all(o);
    return record_once(o, &o->variants[0], 0, "");
}

int mst_verb_record(int argc, char **argv)
{
    struct options o = { .recording = { .add_flags = true, .memory = true } };
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
        status = record(&o);
    free(targets);
    free(o.names);
    return status;
}

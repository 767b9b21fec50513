/* main.c - mpmstat VERB: finds the verb, runs it, makes sure that its output
 * arrived. A new verb is a line in the table and a file of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "console/output.h"
#include "cli/verbs.h"
#include "cli/words.h"
#include "console/diag.h"
#include "console/nearest.h"
#include "console/style.h"
#include "render/fields_table.h"

static int verb_help(int argc, char **argv);

static const struct verb {
    const char *name;
    int       (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    { "status", mst_verb_status, "show what servers do now and have done since their start" },
    { "top",    mst_verb_top,    "show in the terminal what servers do, again and again" },
    { "serve",  mst_verb_serve,  "answer over HTTP from the boards: Prometheus, page, JSON" },
    { "explain", mst_verb_explain, "say why servers are slow or stuck, without a recording" },
    { "record", mst_verb_record, "run a load tool and record it from both sides" },
    { "import", mst_verb_import, "add the rows of a load from many machines to a run" },
    { "capacity", mst_verb_capacity, "raise a load until the server takes no more" },
    { "report", mst_verb_report, "make a page, tables or text of recorded runs" },
    { "export", mst_verb_export, "send requests to an OpenTelemetry collector, as spans" },
    { "compare", mst_verb_compare, "tell which of two sets of runs is faster" },
    { "whatif", mst_verb_whatif, "say what a recorded server would do with other limits or load" },
    { "lab",    mst_verb_lab,    "set up private servers, load them, run whole studies" },
    { "fields", mst_verb_fields, "list every metric: name, unit, meaning" },
    { "help",   verb_help,       "explain a verb, or a word: php_wait, php-workers, counts" },
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static void print_help(FILE *out)
{
    size_t i;

    fputs("usage: mpmstat VERB [ARGUMENT]...\n"
          "       mpmstat VERB --help\n"
          "       mpmstat help WORD    (mpmstat help words lists them)\n"
          "       mpmstat --version\n"
          "\n"
          "Where did the time, the workers and the memory of an Apache and PHP server go?\n"
          "\n",
          out);
    for (i = 0; i < VERB_COUNT; i++)
        fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\n"
          "Try it:\n"
          "  mpmstat status                            this machine's servers\n"
          "  mpmstat status http://127.0.0.1/mpm-status\n"
          "  mpmstat top                               what they do now, every second\n"
          "  mpmstat explain                           why is it slow, or stuck?\n"
          "  mpmstat serve                             http://127.0.0.1:19117/ for Prometheus\n"
          "  mpmstat record -o run.db -- ab -n 2000 -c 20 http://127.0.0.1/loop.php\n"
          "  mpmstat report -o run.html run.db\n"
          "  mpmstat lab up event-fpm sleep            private servers, until ^C\n",
          out);
}

static const struct verb *find_verb(const char *name)
{
    size_t i;

    for (i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    unsigned distance, best = MST_SLIP_MAX + 1;
    const char *nearest = NULL;
    size_t i;

    for (i = 0; i < VERB_COUNT; i++) {
        distance = mst_edit_distance(name, verbs[i].name);
        if (distance < best) {
            best = distance;
            nearest = verbs[i].name;
        }
    }
    if (nearest != NULL)
        mst_error("there is no verb \"%s\"; the nearest is \"%s\". See mpmstat --help", name,
                  nearest);
    else
        mst_error("there is no verb \"%s\". See mpmstat --help", name);
    return MST_EXIT_USAGE;
}

static int unknown_word(const char *word)
{
    char meant[MST_MEANT_MAX] = "";
    size_t i;

    for (i = 0; i < VERB_COUNT; i++)
        mst_words_add_meant(meant, word, verbs[i].name);
    mst_words_meant(meant, word);
    if (meant[0] != '\0')
        mst_error("\"%s\" is not a verb, phase, interval, check, finding or metric; did you mean "
                  "%s?", word, meant);
    else if (word[0] != '\0' && mst_fields_match(word) == MST_FIELDS_CONTAINING)
        mst_error("\"%s\" is a part of metrics' names only: see mpmstat fields %s", word, word);
    else
        mst_error("\"%s\" is not a verb, phase, interval, check, finding or metric: mpmstat help "
                  "words lists them", word);
    return MST_EXIT_USAGE;
}

static int verb_help(int argc, char **argv)
{
    const struct verb *verb;
    struct mst_sink sink;
    char option[] = "--help";
    char *verb_argv[3] = { NULL, option, NULL };

    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
        print_help(stdout);
        return MST_EXIT_OK;
    }
    verb = find_verb(argv[1]);
    if (verb != NULL) {
        verb_argv[0] = argv[1];
        return verb->run(2, verb_argv);
    }
    mst_sink_init(&sink, mst_write_file, stdout);
    if (strcmp(argv[1], "words") == 0)
        mst_words_list(&sink);
    else if (!mst_words_explain(&sink, argv[1]))
        return unknown_word(argv[1]);
    return mst_sink_flush(&sink) == 0 ? MST_EXIT_OK : MST_EXIT_OUTPUT;
}

/* A verb opens files; where 0, 1 or 2 is closed one of them would become
 * stdout, and the output would go into it. O_RDONLY: writing still fails. */
static void keep_standard_descriptors(void)
{
    int fd;

    for (fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDONLY) < 0)
            _exit(MST_EXIT_OUTPUT);
}

static int run(int argc, char **argv)
{
    const struct verb *verb;

    if (argc < 2) {
        print_help(stderr);
        return MST_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return verb_help(1, argv);
    if (strcmp(argv[1], "--version") == 0) {
        puts("mpmstat " MPMSTAT_VERSION);
        return MST_EXIT_OK;
    }
    verb = find_verb(argv[1]);
    if (verb == NULL)
        return unknown_verb(argv[1]);
    return verb->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int status;

    keep_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);   /* a write fails instead, which is noticed */
    mst_style_use(MST_COLOUR_AUTO, STDOUT_FILENO);
    status = mst_finish_output(run(argc, argv));
    mst_diag_end();
    return status;
}

/* verb_lab.c - mpmstat lab: servers of the usual kinds, set up, loaded, recorded, removed. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "cli/lab_list.h"
#include "cli/record_runs.h"
#include "cli/study_reports.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/output.h"
#include "console/stop.h"
#include "exec/shell_quote.h"
#include "exec/spawn.h"
#include "lab/files/stack.h"
#include "lab/report/report.h"
#include "lab/servers/servers.h"
#include "lab/study/run.h"
#include "memory/pool.h"
#include "render/sink.h"

static const char help[] =
#include "tools/cli/help/lab.inc"
    ;
#include "tools/cli/help/lab.opt"

/* ---- options ---------------------------------------------------------------------- */

struct lab_options {
    bool                      help, dry;
    struct mst_record_request record;     /* for try; list uses only its format */
    char                    **command;    /* behind try's --; NULL: there is none */
};

/* Whether this part of the verb takes the option, which the help lists. */
static bool takes_option(const char *part, int option)
{
    switch (option) {
    case MST_OPTION_HELP: return true;
    case MST_OPTION_DRY_RUN: return strcmp(part, "list") != 0;
    case MST_OPTION_FORMAT: return strcmp(part, "up") != 0;
    default: return strcmp(part, "try") == 0;
    }
}

static const char *name_of(int option)
{
    size_t i = 0;

    while (options[i].val != option)
        i++;
    return options[i].name;
}

static int read_option(struct lab_options *o, int option, char **argv)
{
    switch (option) {
    case '?':
    case ':': return mst_option_error("lab", option, argv, options);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    case MST_OPTION_DRY_RUN: o->dry = true; return MST_EXIT_OK;
    case MST_OPTION_NAME: o->record.variants[0].name = optarg; return MST_EXIT_OK;
    default: return mst_record_option(&o->record, "lab", option, optarg);
    }
}

/* The options before, between and behind the words, of which argv[optind] is then the first.
 * argv[0] is the part of the verb; argv ends where a load command begins. */
static int read_options(struct lab_options *o, int argc, char **argv)
{
    int option, status = MST_EXIT_OK;

    opterr = 0;
    optind = 0;
    while (status == MST_EXIT_OK &&
           (option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1)
        status = option == '?' || option == ':' || takes_option(argv[0], option) ?
                 read_option(o, option, argv) :
                 mst_usage_error("lab", "%s does not take --%s", argv[0], name_of(option));
    return status;
}

/* ---- list ------------------------------------------------------------------------- */

static int lab_list(struct lab_options *o, char **words)
{
    if (words[0] != NULL)
        return mst_usage_error("lab", "list takes no \"%s\"", words[0]);
    return mst_lab_list(o->record.json);
}

/* ---- up and try: what they have in common ----------------------------------------- */

struct lab {
    apr_pool_t            *pool;
    struct mst_stack      *stack;
    struct mst_workload   *workload;
    struct mst_parameters  parameters;
    struct mst_servers    *servers;
    struct mst_stop        stop;
};

static struct lab new_lab(void)
{
    apr_pool_t *pool = mst_pool_new(NULL);

    return (struct lab){ .pool = pool, .parameters.pool = pool };
}

/* STACK WORKLOAD [PARAMETER=VALUE]...: words, ended by NULL. */
static int read_lab(struct lab *lab, const char *verb, char **words)
{
    char error[MST_ERROR_MAX];

    if (words[0] == NULL || words[1] == NULL || strchr(words[0], '=') != NULL ||
        strchr(words[1], '=') != NULL)
        return mst_usage_error("lab", "%s takes a stack and a workload (mpmstat lab list)", verb);
    lab->stack = mst_stack_read(lab->pool, words[0], NULL, error);
    if (lab->stack != NULL)
        lab->workload = mst_workload_read(lab->pool, words[1], NULL, error);
    if (lab->workload == NULL)
        return mst_failed(MST_EXIT_USAGE, "%s", error);
    for (words += 2; *words != NULL; words++)
        if (mst_parameters_assign(&lab->parameters, *words, error) != 0)
            return mst_usage_error("lab", "%s", error);
    return MST_EXIT_OK;
}

static int dry_run(const struct lab *lab)
{
    const struct mst_servers_options how = { &lab->parameters, NULL };
    char error[MST_ERROR_MAX];

    if (mst_servers_dry_run(lab->pool, lab->stack, lab->workload, &how, stdout, error) == 0)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_BAD, "%s", error);
}

static int start_lab(struct lab *lab)
{
    const struct mst_servers_options how = { &lab->parameters, &lab->stop.raised };
    struct mst_servers_failure failure;

    mst_stop_begin(&lab->stop);
    mst_progress("starting %s with %s", lab->stack->name, lab->workload->name);
    lab->servers = mst_servers_start(lab->pool, lab->stack, lab->workload, &how, &failure);
    if (lab->servers != NULL)
        return MST_EXIT_OK;
    if (!lab->stop.raised) {
        mst_error("%s", failure.sentence);
        if (failure.log != NULL)
            mst_diag_lines(failure.log);
    }
    mst_stop_end(&lab->stop);
    return lab->stop.raised ? MST_EXIT_INTERRUPTED : MST_EXIT_BAD;
}

/* What went wrong with the servers, with their last words. */
static int show_failure(struct lab *lab, const char *sentence)
{
    char *log = mst_servers_log(lab->pool, lab->servers, 8);

    mst_error("%s", sentence);
    if (log != NULL)
        mst_diag_lines(log);
    return MST_EXIT_BAD;
}

static int end_lab(struct lab *lab, int status)
{
    char error[MST_ERROR_MAX];

    mst_progress("stopping %s", lab->stack->name);
    if (mst_servers_stop(lab->servers, error) != 0) {
        mst_error("%s", error);
        status = status == MST_EXIT_OK ? MST_EXIT_BAD : status;
    }
    mst_stop_end(&lab->stop);
    return status;
}

/* ---- up --------------------------------------------------------------------------- */

static void put_servers(const struct lab *lab)
{
    const char *status = mst_servers_status_url(lab->servers);
    size_t i;

    printf("%s serves %s; ^C stops it and removes everything\n", lab->stack->name,
           lab->workload->name);
    printf("  page    %s\n", mst_servers_url(lab->servers));
    if (status[0] != '\0')
        printf("  status  %s\n", status);
    printf("  boards  mpmstat status %s\n", mst_servers_board_directory(lab->servers));
    for (i = 0; i < mst_servers_count(lab->servers); i++)
        printf("  %s  %s (%s, pid %ld)\n", i == 0 ? "logs  " : "      ",
               mst_servers_item(lab->servers, i)->directory,
               mst_servers_item(lab->servers, i)->name,
               (long)mst_servers_item(lab->servers, i)->pid);
    mst_flush_output();
}

static int wait_for_end(struct lab *lab)
{
    struct pollfd fd = { mst_servers_fd(lab->servers), POLLIN, 0 };
    char error[MST_ERROR_MAX];

    while (!lab->stop.raised) {
        if (mst_servers_alive(lab->servers, error) != 0)
            return show_failure(lab, error);
        poll(&fd, 1, 1000);
    }
    return MST_EXIT_OK;
}

static int lab_up(struct lab_options *o, char **words)
{
    struct lab lab = new_lab();
    int status = read_lab(&lab, "up", words);

    if (status == MST_EXIT_OK && o->dry) {
        status = dry_run(&lab);
    } else if (status == MST_EXIT_OK) {
        status = start_lab(&lab);
        if (status == MST_EXIT_OK) {
            put_servers(&lab);
            status = end_lab(&lab, wait_for_end(&lab));
        }
    }
    apr_pool_destroy(lab.pool);
    return status;
}

/* ---- try -------------------------------------------------------------------------- */

/* Records LOADCMD against the servers' boards, with the page's address in it and as URL in its
 * environment. */
static int record(const struct lab *lab, struct mst_record_request *request, char *const *command)
{
    const char *url = mst_servers_url(lab->servers);
    char *targets[] = { (char *)mst_servers_board_directory(lab->servers), NULL };
    const char *variables[] = { apr_pstrcat(lab->pool, "URL=", url, NULL), NULL };
    struct mst_list argv = { 0 };
    char **environment = mst_have(mst_environment_with((char *const *)variables));
    int status;

    for (; *command != NULL; command++)
        mst_list_add(lab->pool, &argv, mst_pool_replace(lab->pool, *command, MST_URL_MARK, url));
    if (request->variants[0].name == NULL)
        request->variants[0].name = apr_pstrcat(lab->pool, lab->stack->name, " ",
                                                lab->workload->name, NULL);
    request->variants[0].command = argv.items;
    request->variant_count = 1;
    request->recording.targets = (struct mst_target_names){ .args = targets, .count = 1 };
    request->recording.environment = environment;
    status = mst_record_runs(request);
    mst_strings_free_items(environment);
    return status;
}

/* The page is right before and after, and the servers are those of the beginning. */
static int try_once(struct lab *lab, struct mst_record_request *request, char *const *command)
{
    char error[MST_ERROR_MAX];
    int status = record(lab, request, command);

    if (mst_servers_alive(lab->servers, error) != 0)
        return show_failure(lab, error);
    if (status == MST_EXIT_INTERRUPTED || lab->stop.raised)
        return MST_EXIT_INTERRUPTED;
    if (mst_servers_check_page(lab->servers, NULL, error) != 0)
        return show_failure(lab, error);
    return status;
}

static bool names_url(char *const *command)
{
    for (; *command != NULL; command++)
        if (strstr(*command, "URL") != NULL)
            return true;
    return false;
}

static int lab_try(struct lab_options *o, char **words)
{
    struct lab lab = new_lab();
    int status = read_lab(&lab, "try", words);

    if (status == MST_EXIT_OK && o->dry)
        status = dry_run(&lab);
    else if (status == MST_EXIT_OK && o->command == NULL)
        status = mst_usage_error("lab", "try takes a load tool's command after --");
    else if (status == MST_EXIT_OK && !names_url(o->command))
        status = mst_usage_error("lab", "the load command has no ${URL} in it, the page's address "
                                 "(in single quotes, or the shell replaces it)");
    else if (status == MST_EXIT_OK && (status = start_lab(&lab)) == MST_EXIT_OK)
        status = end_lab(&lab, try_once(&lab, &o->record, o->command));
    apr_pool_destroy(lab.pool);
    return status;
}

/* ---- the verb --------------------------------------------------------------------- */

/* words: those that are not options, ended by NULL. */
static const struct {
    const char *name;
    int       (*run)(struct lab_options *o, char **words);
} parts[] = {
    { "list", lab_list }, { "up", lab_up }, { "try", lab_try },
};

/* The words behind --; NULL: there are none. *argc becomes the number of those before. */
static char **cut_command(int *argc, char **argv)
{
    int i;

    for (i = 0; i < *argc; i++)
        if (strcmp(argv[i], "--") == 0 && argv[i + 1] != NULL) {
            argv[i] = NULL;
            *argc = i;
            return argv + i + 1;
        }
    return NULL;
}

static int run_part(size_t part, int argc, char **argv)
{
    struct lab_options o = { .record = MST_RECORD_REQUEST };
    int status;

    if (parts[part].run == lab_try)
        o.command = cut_command(&argc, argv);
    status = read_options(&o, argc, argv);
    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = parts[part].run(&o, argv + optind);
    return status;
}

int mst_verb_lab(int argc, char **argv)
{
    size_t i;

    if (argc < 2)
        return mst_usage_error("lab", "list, up, try or run is missing");
    if (strcmp(argv[1], "run") == 0)
        return mst_lab_run(argc - 1, argv + 1);
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return run_part(i, argc - 1, argv + 1);
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return mst_usage_error("lab", "there is no \"%s\": expected list, up, try or run", argv[1]);
    fputs(help, stdout);
    return MST_EXIT_OK;
}

/* ---- reports of studies -------------------------------------------------------------- */

bool mst_is_study(struct mst_archive *archive)
{
    return mst_study_in(archive);
}

int mst_put_study(struct mst_sink *sink, bool html, struct mst_archive *archive, const char *path,
                  char error[MST_ERROR_MAX])
{
    return mst_study_report(sink, html ? MST_STUDY_HTML : MST_STUDY_MARKDOWN, archive, path, error);
}

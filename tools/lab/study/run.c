/* run.c - see run.h. */
#include "lab/study/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"
#include "console/stop.h"
#include "exec/runner.h"
#include "lab/files/study.h"
#include "lab/report/report.h"
#include "lab/files/paths.h"
#include "lab/servers/servers.h"
#include "lab/study/plan.h"
#include "lab/study/ramp.h"
#include "lab/study/step.h"
#include "loadtools/loadtool.h"

#define START_LIMIT_NS (60 * MST_NS_PER_S)    /* what a start and a stop take at most */
#define OPEN_FILES     20000u                 /* what a study's programs may need */
#define SHOWN_NS       (MST_NS_PER_S / 2)     /* between two drawings of the progress */

static const char help[] =
    "usage: mpmstat lab run STUDY [--quick|--full] [-o DIR] [OPTION]...\n"
    "       mpmstat lab run --resume DIR\n"
    "\n"
    "Runs a study: sets up each of its systems in a private directory, loads it, records\n"
    "both sides, takes it down again, and writes one report with the published figures\n"
    "beside the new ones. STUDY is a name or number (see mpmstat lab list), or a file.\n"
    "\n"
    "  -o, --output DIR  where everything goes: study.db (an archive of mpmstat record with\n"
    "                    a run for each step), report.html, report.md; a new directory\n"
    "                    (mpmstat-lab-STUDY-YYYYMMDD-HHMMSS)\n"
    "      --quick       minutes, with the shape of the original (the default)\n"
    "      --full        the sizes of the original\n"
    "      --only STACK  only this system; several times, or with commas between\n"
    "      --seed N      the order of the steps, which is random otherwise, as it was with N\n"
    "      --dry-run     start nothing: print the plan and every file of every server\n"
    "      --resume DIR  go on with a study that was interrupted\n"
    "  -v, --verbose     show what the load tools print, and every warning\n"
    "      --help        this\n"
    "\n"
    "A step that fails is kept as failed, with the servers' last log lines, and the study\n"
    "goes on. At ^C the step that runs is given up, everything is taken down, and --resume\n"
    "goes on later; so it does where mpmstat itself was killed.\n"
    "\n"
    "Examples:\n"
    "  mpmstat lab run mpm-event                       half an hour at most\n"
    "  mpmstat lab run 3 --full -o prefork-fpm\n"
    "  mpmstat lab run mpm-sapi --only prefork-modphp,event-fpm\n"
    "  mpmstat lab run ./mine.study --dry-run | less\n"
    "\n"
    "Exit status: 0 every step was done, 1 some failed or were left out (the report says\n"
    "which), 2 wrong usage or a study that cannot be read, 3 something is missing that the\n"
    "study needs, 4 the output cannot be written, 130 interrupted.\n";

struct options {
    const char *study, *output, *resume;
    enum mst_study_size size;
    bool     size_given, seed_given, dry_run, verbose, help;
    uint64_t seed;
    char   **only;               /* NULL at the end; NULL: all */
    size_t   only_count;
};

struct lab {
    const struct options *options;
    char    *directory;          /* the output */
    int      lock;               /* held on it while it is written; -1 */
    char    *beside;             /* directory of the study's file; NULL: none */
    struct mst_stop     stop;
    struct mst_study    study;
    struct mst_schedule schedule;
    struct mst_archive *archive;
    int64_t  study_id;
    struct mst_stage stage;
    bool    *finished;           /* of each step: nothing is left to do */
    size_t   done, failed, skipped;

    uint64_t began_ns, limit_ns;           /* CLOCK_MONOTONIC; of the whole study */
    const struct mst_step *running;
    uint64_t step_began_ns, shown_ns;
    uint64_t taken_ns, expected_ns;        /* of the steps made now: to learn from */
};

/* ---- the command line --------------------------------------------------------------- */

/* Adds the names of a list with commas, which is cut up. */
static int add_only(struct options *o, char *names)
{
    char *save = NULL, *name, **only;
    size_t before = o->only_count;

    for (name = strtok_r(names, ", ", &save); name != NULL; name = strtok_r(NULL, ", ", &save)) {
        only = reallocarray(o->only, o->only_count + 2, sizeof *only);
        if (only == NULL) {
            mst_error("out of memory for the command line");
            return MST_EXIT_USAGE;
        }
        o->only = only;
        only[o->only_count++] = name;
        only[o->only_count] = NULL;
    }
    if (o->only_count == before)
        return mst_usage_error("lab run", "--only takes names of stacks, with commas between them");
    return MST_EXIT_OK;
}

static int take_size(struct options *o, enum mst_study_size size)
{
    if (o->size_given && o->size != size)
        return mst_usage_error("lab run", "either --quick or --full");
    o->size = size;
    o->size_given = true;
    return MST_EXIT_OK;
}

static int take_seed(struct options *o, const char *text)
{
    char *end;

    errno = 0;
    o->seed = strtoull(text, &end, 10);
    o->seed_given = true;
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || o->seed > UINT32_MAX)
        return mst_usage_error("lab run", "--seed takes a whole number up to %u, not \"%s\"",
                               UINT32_MAX, text);
    return MST_EXIT_OK;
}

static int read_option(struct options *o, int option, char **argv)
{
    switch (option) {
    case 'o': o->output = optarg; return MST_EXIT_OK;
    case 'q': return take_size(o, MST_STUDY_QUICK);
    case 'f': return take_size(o, MST_STUDY_FULL);
    case 'O': return add_only(o, optarg);
    case 's': return take_seed(o, optarg);
    case 'd': o->dry_run = true; return MST_EXIT_OK;
    case 'r': o->resume = optarg; return MST_EXIT_OK;
    case 'v': o->verbose = true; return MST_EXIT_OK;
    case 'h': o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("lab run", option, argv);
    }
}

/* That what was said goes together. */
static int check_options(const struct options *o, int argc, char **argv)
{
    if (optind < argc - 1)
        return mst_usage_error("lab run", "one study at a time, not \"%s\" too",
                               argv[optind + 1]);
    if (o->resume != NULL && (o->study != NULL || o->size_given || o->seed_given ||
                              o->only != NULL || o->output != NULL || o->dry_run))
        return mst_usage_error("lab run", "--resume goes on with what is in its directory: it "
                               "takes nothing else but -v");
    if (o->resume == NULL && (o->study == NULL || o->study[0] == '\0'))
        return mst_usage_error("lab run", "which study? mpmstat lab list shows them");
    if (o->output != NULL && o->output[0] == '\0')
        return mst_usage_error("lab run", "-o takes the name of a directory, not an empty one");
    return MST_EXIT_OK;
}

static int read_options(struct options *o, int argc, char **argv)
{
    static const struct option names[] = {
        { "output", required_argument, NULL, 'o' }, { "quick", no_argument, NULL, 'q' },
        { "full", no_argument, NULL, 'f' }, { "only", required_argument, NULL, 'O' },
        { "seed", required_argument, NULL, 's' }, { "dry-run", no_argument, NULL, 'd' },
        { "resume", required_argument, NULL, 'r' }, { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    int option, status;

    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":o:vh", names, NULL)) != -1) {
        status = read_option(o, option, argv);
        if (status != MST_EXIT_OK)
            return status;
    }
    if (optind < argc)
        o->study = argv[optind];
    return o->help ? MST_EXIT_OK : check_options(o, argc, argv);
}

/* ---- which study ------------------------------------------------------------------- */

struct wanted { unsigned number; char *path; };

static int take_if_number(void *context, const char *path)
{
    struct wanted *wanted = context;
    char error[MST_ERROR_MAX];
    struct mst_study study;

    if (mst_study_read(&study, path, MST_STUDY_QUICK, error) != 0)
        return 0;
    if (study.number == wanted->number)
        wanted->path = strdup(path);
    mst_study_free(&study);
    return wanted->path != NULL;
}

/* The path of the study that is meant by a number, a name or a path. 0, or -1 said why. */
static int find_study(const char *given, char path[PATH_MAX])
{
    char error[MST_ERROR_MAX];
    struct wanted wanted = { 0 };

    if (given[0] != '\0' && strspn(given, "0123456789") == strlen(given)) {
        wanted.number = (unsigned)strtoul(given, NULL, 10);
        mst_lab_each("study", take_if_number, &wanted);
        if (wanted.path != NULL) {
            snprintf(path, PATH_MAX, "%s", wanted.path);
            free(wanted.path);
            return 0;
        }
    }
    if (mst_lab_file(given, "study", NULL, path, error) == 0)
        return 0;
    mst_error("%s", error);
    return -1;
}

/* The directory of a file, on the heap. NULL: out of memory. */
static char *directory_of(const char *path)
{
    char real[PATH_MAX], *slash;

    if (realpath(path, real) == NULL)
        snprintf(real, sizeof real, "%s", path);
    slash = strrchr(real, '/');
    if (slash == NULL)
        return strdup(".");
    *slash = '\0';
    return strdup(real[0] != '\0' ? real : "/");
}

static int read_study(struct lab *lab)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];

    if (find_study(lab->options->study, path) != 0)
        return MST_EXIT_USAGE;
    if (mst_study_read(&lab->study, path, lab->options->size, error) != 0) {
        mst_error("%s", error);
        return MST_EXIT_USAGE;
    }
    lab->beside = directory_of(path);
    return MST_EXIT_OK;
}

static int make_schedule(struct lab *lab, uint64_t seed, char *const *only)
{
    const struct mst_schedule_options options = { .seed = seed, .beside = lab->beside,
                                                  .only = only };
    char error[MST_ERROR_MAX];

    if (mst_schedule_make(&lab->schedule, &lab->study, &options, error) != 0) {
        mst_error("%s", error);
        return MST_EXIT_USAGE;
    }
    lab->finished = calloc(lab->schedule.step_count + 1, sizeof *lab->finished);
    if (lab->finished == NULL) {
        mst_error("out of memory for the study");
        return MST_EXIT_USAGE;
    }
    return MST_EXIT_OK;
}

static uint64_t choose_seed(const struct options *o)
{
    uint32_t seed = 0;

    if (o->seed_given)
        return o->seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint32_t)time(NULL);
    return seed;
}

/* ---- what is missing ---------------------------------------------------------------- */

/* The Debian package of a program that a load needs and that is not here; NULL: it is, or
 * no package is known (then the step will say so). */
static const char *missing_program(const struct mst_runs *runs)
{
    char program[64];
    size_t length;

    if (runs->kind == MST_RUNS_RAMP)
        return mst_ramp_program(strcmp(runs->from, runs->to) != 0) == NULL ? "tsung" : NULL;
    length = strcspn(runs->load, " \t");
    if (length == 0 || length >= sizeof program)
        return NULL;
    memcpy(program, runs->load, length);
    program[length] = '\0';
    return mst_runner_finds(program) ? NULL : mst_loadtool_for(program)->package;
}

/* All that the stacks, the workloads and the loads need, in one sentence. */
static int check_missing(const struct lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    struct mst_stack loads = { 0 };
    const struct mst_stack **stacks = calloc(s->stack_count + 2, sizeof *stacks);
    char **needs = calloc(lab->study.runs_count + 1, sizeof *needs), error[MST_ERROR_MAX];
    size_t i, count = 0;
    const char *package;
    int missing = -1;

    if (stacks != NULL && needs != NULL) {
        for (i = 0; i < lab->study.runs_count; i++)
            if ((package = missing_program(&lab->study.runs[i])) != NULL)
                needs[count++] = (char *)package;
        loads.needs = needs;
        memcpy(stacks, s->stacks, s->stack_count * sizeof *stacks);
        stacks[s->stack_count] = &loads;
        missing = mst_servers_missing(stacks, (const struct mst_workload *const *)s->workloads,
                                      error);
    } else {
        snprintf(error, sizeof error, "out of memory for the study");
    }
    free(stacks);
    free(needs);
    if (missing == 0)
        return MST_EXIT_OK;
    mst_error("%s", error);
    return MST_EXIT_TARGET;
}

/* More connections than usual: for us, the servers and the load tools, which inherit it. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= OPEN_FILES)
        return;
    limit.rlim_cur = OPEN_FILES;
    if (limit.rlim_max < OPEN_FILES)
        limit.rlim_max = OPEN_FILES;         /* root may */
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- the plan to read ---------------------------------------------------------------- */

static size_t start_count(const struct mst_schedule *s)
{
    return s->step_count > 0 ? s->steps[s->step_count - 1].start : 0;
}

/* How long all of it may take. */
static uint64_t limit_of(const struct lab *lab)
{
    uint64_t all = lab->schedule.limit_ns + start_count(&lab->schedule) * START_LIMIT_NS;

    return lab->study.limit_ns > 0 && lab->study.limit_ns < all ? lab->study.limit_ns : all;
}

/* "4 min", "35 s", "2 h 10 min". */
static struct mst_human duration(uint64_t ns)
{
    uint64_t s = (ns + MST_NS_PER_S - 1) / MST_NS_PER_S;
    struct mst_human h;

    if (s < 90)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " s", s);
    else if (s < 5400)
        snprintf(h.text, sizeof h.text, "%" PRIu64 " min", (s + 30) / 60);
    else
        snprintf(h.text, sizeof h.text, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
    return h;
}

static void put_step(const struct mst_step *step)
{
    const struct mst_planned *of = step->of;

    printf("%5u  block %u  start %u  %s  %s  %s  %s\n", step->ordinal, step->block, step->start,
           of->runs->name, of->stack->name, of->workload->name, of->parameters);
    if (of->runs->kind == MST_RUNS_RAMP)
        printf("       %s to %s arrivals a second over %s s, by %s\n", of->from, of->to, of->over,
               mst_ramp_program(strcmp(of->from, of->to) != 0));
    else
        printf("       %s\n", of->load);
}

/* Each set of servers once. */
static int put_configurations(const struct mst_schedule *s)
{
    char error[MST_ERROR_MAX];
    unsigned last = 0;
    size_t i;

    for (i = 0; i < s->step_count && s->steps[i].block == 1; i++) {
        const struct mst_planned *of = s->steps[i].of;
        const struct mst_servers_options options = { .parameters = &of->given };

        if (s->steps[i].start == last)
            continue;
        last = s->steps[i].start;
        printf("\n==== start %u: %s with %s %s\n", last, of->stack->name, of->workload->name,
               of->parameters);
        if (mst_servers_dry_run(of->stack, of->workload, &options, stdout, error) != 0) {
            mst_error("%s", error);
            return MST_EXIT_BAD;
        }
    }
    return MST_EXIT_OK;
}

static int dry_run(const struct lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    size_t i;

    printf("%s (%s): %zu steps with %zu starts of servers, about %s, %s at most; seed %" PRIu64
           "\n\n", lab->study.title, mst_study_size_names[lab->study.size], s->step_count,
           start_count(s), duration(s->about_ns).text, duration(limit_of(lab)).text, s->seed);
    for (i = 0; i < s->step_count; i++)
        put_step(&s->steps[i]);
    return put_configurations(s);
}

/* ---- the output ---------------------------------------------------------------------- */

static int archive_failed(const struct lab *lab)
{
    mst_error("%s", mst_archive_error(lab->archive));
    return MST_EXIT_OUTPUT;
}

/* The load tools are told of files in it: by a path that is right everywhere. */
static int make_absolute(struct lab *lab)
{
    char *real = realpath(lab->directory, NULL);

    if (real == NULL) {
        mst_error("cannot open the directory %s: %s", lab->directory, strerror(errno));
        return MST_EXIT_OUTPUT;
    }
    free(lab->directory);
    lab->directory = real;
    return MST_EXIT_OK;
}

static int lock_output(struct lab *lab)
{
    if (make_absolute(lab) != MST_EXIT_OK)
        return MST_EXIT_OUTPUT;
    lab->lock = open(lab->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lab->lock >= 0 && flock(lab->lock, LOCK_EX | LOCK_NB) == 0)
        return MST_EXIT_OK;
    if (lab->lock >= 0 && errno == EWOULDBLOCK)
        mst_error("another mpmstat lab run is writing to %s", lab->directory);
    else
        mst_error("cannot open the directory %s: %s", lab->directory, strerror(errno));
    return MST_EXIT_OUTPUT;
}

/* Whether nothing is in the directory yet. What cannot be read is not empty. */
static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool empty = directory != NULL;

    while (empty && (entry = readdir(directory)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory != NULL)
        closedir(directory);
    return empty;
}

static char *default_output(const struct mst_study *study)
{
    char *name;

    if (asprintf(&name, "mpmstat-lab-%s-%s", study->name, mst_human_stamp().text) < 0)
        return NULL;
    return name;
}

static int open_archive(struct lab *lab, bool is_there)
{
    char *path = NULL, error[MST_ERROR_MAX];
    int status = MST_EXIT_OUTPUT;

    if (asprintf(&path, "%s/" MST_STUDY_ARCHIVE, lab->directory) < 0)
        return MST_EXIT_OUTPUT;
    if (!is_there && access(path, F_OK) == 0)
        mst_error("there is a study in %s already: mpmstat lab run --resume %s goes on with it, or "
                  "take another directory", lab->directory, lab->directory);
    else if (!is_there && !is_empty(lab->directory))
        mst_error("%s is not empty: a study has a directory of its own, in which files are "
                  "replaced and removed; take another", lab->directory);
    else if (is_there && access(path, F_OK) != 0)
        mst_error("there is no study in %s: expected %s, as an interrupted mpmstat lab run leaves "
                  "it", lab->directory, path);
    else if ((lab->archive = mst_archive_create(path, error)) == NULL)
        mst_error("%s", error);
    else
        status = MST_EXIT_OK;
    free(path);
    return status;
}

static int make_output(struct lab *lab)
{
    int status;

    lab->directory = lab->options->output != NULL ? strdup(lab->options->output)
                                                  : default_output(&lab->study);
    if (lab->directory == NULL)
        return MST_EXIT_OUTPUT;
    if (mkdir(lab->directory, 0777) != 0 && errno != EEXIST) {
        mst_error("cannot make the directory %s: %s", lab->directory, strerror(errno));
        return MST_EXIT_OUTPUT;
    }
    status = lock_output(lab);
    return status == MST_EXIT_OK ? open_archive(lab, false) : status;
}

/* ---- the study in the archive --------------------------------------------------------- */

static char *join(char *const *words)
{
    char *text = NULL;
    size_t size, i;
    FILE *out = words != NULL ? open_memstream(&text, &size) : NULL;

    if (out == NULL)
        return NULL;
    for (i = 0; words[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
    fclose(out);
    return text;
}

/* Takes a file that the study is made from. Returns an exit status, told where it is not OK. */
typedef int study_file(struct lab *lab, const char *kind, const char *name, const char *text);

struct included {
    struct lab *lab;
    study_file *take;
};

static int take_include(void *context, const char *path)
{
    const struct included *included = context;
    const char *name = strrchr(path, '/') + 1;
    char error[MST_ERROR_MAX], *text;
    size_t length;
    int status;

    text = mst_text_load(path, &length, error);
    if (text == NULL) {
        mst_error("%s", error);
        return MST_EXIT_BAD;
    }
    status = included->take(included->lab, "include", name, text);
    free(text);
    return status;
}

/* All that the study is made from, but its own file: the stacks, what they may include, and
 * the workloads. */
static int each_file(struct lab *lab, study_file *take)
{
    const struct mst_schedule *s = &lab->schedule;
    struct included included = { lab, take };
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < s->stack_count && status == MST_EXIT_OK; i++)
        status = take(lab, "stack", s->stacks[i]->name, s->stacks[i]->text.contents);
    for (i = 0; i < s->workload_count && status == MST_EXIT_OK; i++)
        status = take(lab, "workload", s->workloads[i]->name, s->workloads[i]->text.contents);
    return status != MST_EXIT_OK ? status : mst_lab_each_include(take_include, &included);
}

static int keep_file(struct lab *lab, const char *kind, const char *name, const char *text)
{
    return mst_archive_add_study_file(lab->archive, lab->study_id, kind, name, text) == 0
           ? MST_EXIT_OK : archive_failed(lab);
}

static int keep_steps(struct lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    size_t i;

    for (i = 0; i < s->step_count; i++) {
        const struct mst_step *step = &s->steps[i];
        const struct mst_archive_step row = {
            .ordinal = step->ordinal, .block = step->block, .repetition = step->repetition,
            .start = step->start, .runs = step->of->runs->name, .stack = step->of->stack->name,
            .workload = step->of->workload->name, .load = step->of->load,
            .parameters = step->of->parameters,
        };

        if (mst_archive_add_step(lab->archive, lab->study_id, &row) != 0)
            return -1;
    }
    return 0;
}

static int keep_study(struct lab *lab)
{
    char *only = join(lab->options->only);
    const struct mst_archive_study study = {
        .name = lab->study.name, .title = lab->study.title,
        .size = mst_study_size_names[lab->study.size], .only = only, .directory = lab->beside,
        .text = lab->study.text.contents, .seed = lab->schedule.seed,
        .started_ns = mst_realtime_ns(),
    };
    int status = MST_EXIT_OK;

    if (mst_archive_begin_study(lab->archive, &study, &lab->study_id) != 0)
        status = archive_failed(lab);
    if (status == MST_EXIT_OK)
        status = each_file(lab, keep_file);
    if (status == MST_EXIT_OK &&
        (keep_steps(lab) != 0 || mst_archive_commit(lab->archive) != 0))
        status = archive_failed(lab);
    free(only);
    return status;
}

/* ---- going on with one ----------------------------------------------------------------- */

/* Reads the study from the archive as it was then; the stacks wanted go to *only. */
static int reread_study(struct lab *lab, uint64_t *seed, char **only)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT id, name, size, seed, only, directory, text FROM studies WHERE id >= :id "
        "ORDER BY id DESC LIMIT 1", 0);
    int status = MST_EXIT_USAGE;
    char error[MST_ERROR_MAX];
    const char *size, *text;

    if (!mst_query_next(&q)) {
        mst_error("there is no study in %s/" MST_STUDY_ARCHIVE, lab->directory);
        goto done;
    }
    lab->study_id = mst_row_id(&q, "id");
    size = mst_row_text(&q, "size");
    *seed = mst_row_number(&q, "seed");
    text = mst_row_text(&q, "only");
    *only = text != NULL ? strdup(text) : NULL;
    text = mst_row_text(&q, "directory");
    lab->beside = text != NULL ? strdup(text) : NULL;
    if (mst_study_parse(&lab->study, mst_row_text(&q, "name"), mst_row_text(&q, "text"),
                        size != NULL && strcmp(size, "full") == 0 ? MST_STUDY_FULL
                                                                  : MST_STUDY_QUICK, error) == 0)
        status = MST_EXIT_OK;
    else
        mst_error("%s", error);
done:
    mst_query_done(&q);
    return status;
}

/* That the file still is what it was. */
static int check_file(struct lab *lab, const char *kind, const char *name, const char *text)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT text FROM study_files WHERE study_id = :id AND kind = :kind AND name = :name",
        lab->study_id);
    const char *then = NULL;
    bool same;

    mst_query_set_text(&q, ":kind", kind);
    mst_query_set_text(&q, ":name", name);
    if (mst_query_next(&q))
        then = mst_row_text(&q, "text");
    same = then != NULL && strcmp(then, text) == 0;
    mst_query_done(&q);
    if (!same)
        mst_error("the %s %s is not what it was when the study began: what follows could not be "
                  "compared with what is there. Begin a new study", kind, name);
    return same ? MST_EXIT_OK : MST_EXIT_USAGE;
}

/* Notes what is done; the plan must be the one that was begun with. */
static int take_steps(struct lab *lab)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT ordinal, stack, parameters, state FROM steps WHERE study_id = :id "
        "ORDER BY ordinal", lab->study_id);
    const struct mst_schedule *s = &lab->schedule;
    size_t i = 0;
    bool same = true;

    while (same && mst_query_next(&q)) {
        const char *stack = mst_row_text(&q, "stack"), *state = mst_row_text(&q, "state");
        const char *parameters = mst_row_text(&q, "parameters");

        same = i < s->step_count && mst_row_number(&q, "ordinal") == s->steps[i].ordinal &&
               stack != NULL && strcmp(stack, s->steps[i].of->stack->name) == 0 &&
               parameters != NULL && strcmp(parameters, s->steps[i].of->parameters) == 0 &&
               state != NULL;
        if (!same)
            break;
        lab->finished[i] = strcmp(state, "planned") != 0;
        lab->done += strcmp(state, "done") == 0;
        lab->failed += strcmp(state, "failed") == 0;
        lab->skipped += strcmp(state, "skipped") == 0;
        i++;
    }
    same = mst_query_done(&q) && same && i == s->step_count;
    if (!same)
        mst_error("the steps in %s are not those of this mpmstat: the study was begun by another "
                  "version. Begin a new one", lab->directory);
    return same ? 0 : -1;
}

static int resume(struct lab *lab)
{
    char *only = NULL, **names = NULL;
    uint64_t seed = 0;
    bool any;
    int status;

    lab->directory = strdup(lab->options->resume);
    if (lab->directory == NULL)
        return MST_EXIT_OUTPUT;
    status = lock_output(lab);
    if (status == MST_EXIT_OK)
        status = open_archive(lab, true);
    if (status == MST_EXIT_OK)
        status = reread_study(lab, &seed, &only);
    if (status == MST_EXIT_OK && only != NULL && (names = mst_words_split(only)) == NULL)
        status = MST_EXIT_OUTPUT;
    if (status == MST_EXIT_OK)
        status = make_schedule(lab, seed, names);
    free(names);
    free(only);
    if (status != MST_EXIT_OK)
        return status;
    if (mst_archive_replan_steps(lab->archive, lab->study_id, &any) != 0 ||
        (any && mst_archive_interrupt_study(lab->archive, lab->study_id) != 0))
        return archive_failed(lab);
    status = each_file(lab, check_file);
    if (status == MST_EXIT_OK && take_steps(lab) != 0)
        status = MST_EXIT_USAGE;
    return status;
}

/* ---- progress -------------------------------------------------------------------------- */

static uint64_t expected_of(const struct mst_step *step)
{
    return step->of->runs->about_ns + step->of->runs->warmup_ns / 4;
}

/* What the steps that are left will take, as those before took against what was expected. */
static uint64_t time_left(const struct lab *lab)
{
    uint64_t left = 0, now = mst_now_ns(), gone;
    size_t i;

    for (i = 0; i < lab->schedule.step_count; i++)
        if (!lab->finished[i])
            left += expected_of(&lab->schedule.steps[i]);
    if (lab->expected_ns > 0)
        left = (uint64_t)((double)left * (double)lab->taken_ns / (double)lab->expected_ns);
    gone = lab->running != NULL ? now - lab->step_began_ns : 0;
    return left > gone ? left - gone : 0;
}

/* "max-requests event-static REQUESTS=10000": what the step is, for people. */
static void put_what(char *text, size_t size, const struct mst_step *step)
{
    const struct mst_planned *of = step->of;
    int n = snprintf(text, size, "%s %s", of->runs->name, of->stack->name);
    size_t i;

    if (of->runs->workloads[1] != NULL && n >= 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, " %s", of->workload->name);
    for (i = 0; i < of->runs->variable_count && n >= 0 && (size_t)n < size; i++) {
        const struct mst_variable *v = &of->runs->variables[i];
        const char *value = mst_parameters_get(&of->variables, v->name);

        if (v->count > 1 && value != NULL &&
            (v->stack == NULL || strcmp(v->stack, of->stack->name) == 0))
            n += snprintf(text + n, size - (size_t)n, " %s=%s", v->name, value);
    }
}

static void show_progress(void *context)
{
    struct lab *lab = context;
    uint64_t now = mst_now_ns();
    char what[200], line[400];

    if (lab->running == NULL || now - lab->shown_ns < SHOWN_NS)
        return;
    lab->shown_ns = now;
    put_what(what, sizeof what, lab->running);
    snprintf(line, sizeof line, "step %u of %zu: %s, %s; %s left", lab->running->ordinal,
             lab->schedule.step_count, what, duration(now - lab->step_began_ns).text,
             duration(time_left(lab)).text);
    mst_status_line(line);
}

/* "98.2 requests/s, mean 1.02 s", of the run. */
static void put_result(char *text, size_t size, struct lab *lab, int64_t run_id)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT requests_per_1000s, mean_ns, failed, non_2xx FROM client_results "
        "WHERE run_id = :id", run_id);
    uint64_t failed;

    text[0] = '\0';
    if (mst_query_next(&q)) {
        failed = mst_row_number(&q, "failed");
        snprintf(text, size, "%s requests/s, mean %s%s%s",
                 mst_human_milli(mst_row_number(&q, "requests_per_1000s")).text,
                 mst_human_time(mst_row_number(&q, "mean_ns")).text,
                 failed != 0 && failed != MST_UNKNOWN ? ", failed " : "",
                 failed != 0 && failed != MST_UNKNOWN ? mst_human_count(failed).text : "");
    }
    mst_query_done(&q);
}

/* A line a step, above the one that is redrawn. */
static void say_done(struct lab *lab, const struct mst_step *step,
                     const struct mst_step_result *result)
{
    char what[200], came[160];

    put_what(what, sizeof what, step);
    put_result(came, sizeof came, lab, result->run_id);
    mst_progress_enable(true);
    mst_progress("%u/%zu %s: %s", step->ordinal, lab->schedule.step_count, what, came);
    mst_progress_enable(false);
}

static void say_failed(const struct lab *lab, const struct mst_step *step,
                       const struct mst_step_result *result)
{
    char what[200];

    put_what(what, sizeof what, step);
    mst_error("%u/%zu %s failed: %s", step->ordinal, lab->schedule.step_count, what,
              result->failure != NULL ? result->failure : "out of memory");
}

/* ---- the steps ------------------------------------------------------------------------- */

/* Why the step cannot be run here at all; NULL: it can. */
static const char *why_not(const struct lab *lab, const struct mst_step *step)
{
    if ((step->of->stack->root || step->of->stack->tenants) && geteuid() != 0)
        return "this stack needs root: its servers change to users of their own";
    if (mst_now_ns() - lab->began_ns >= lab->limit_ns)
        return "the time for the whole study was up";
    return NULL;
}

static int end_step(struct lab *lab, const struct mst_step *step, const char *state,
                    const struct mst_step_result *result)
{
    const bool again = strcmp(state, "planned") == 0;
    const struct mst_archive_step_end end = {
        .state = state, .failure = result->failure, .page_bytes = result->page_bytes,
        .run_id = result->run_id > 0 && !again ? (uint64_t)result->run_id : MST_UNKNOWN,
        .ended_ns = again ? MST_UNKNOWN : mst_realtime_ns(), .warmup_ns = result->warmup_ns,
        .load = again ? NULL : result->load,
    };

    if (mst_archive_end_step(lab->archive, lab->study_id, step->ordinal, &end) != 0)
        return archive_failed(lab);
    lab->finished[step->ordinal - 1] = !again;
    return MST_EXIT_OK;
}

static int skip_step(struct lab *lab, const struct mst_step *step, const char *why)
{
    const struct mst_step_result result = { .failure = (char *)why, .page_bytes = MST_UNKNOWN,
                                            .warmup_ns = MST_UNKNOWN };

    lab->skipped++;
    return end_step(lab, step, "skipped", &result);
}

static int finish_step(struct lab *lab, const struct mst_step *step,
                       enum mst_step_outcome outcome, const struct mst_step_result *result)
{
    switch (outcome) {
    case MST_STEP_DONE:
        lab->done++;
        lab->taken_ns += mst_now_ns() - lab->step_began_ns;
        lab->expected_ns += expected_of(step);
        say_done(lab, step, result);
        return end_step(lab, step, "done", result);
    case MST_STEP_FAILED:
        lab->failed++;
        say_failed(lab, step, result);
        return end_step(lab, step, "failed", result);
    case MST_STEP_INTERRUPTED:
        return end_step(lab, step, "planned", result) == MST_EXIT_OK ? MST_EXIT_INTERRUPTED
                                                                     : MST_EXIT_OUTPUT;
    default:
        return MST_EXIT_OUTPUT;
    }
}

static int run_step(struct lab *lab, const struct mst_step *step)
{
    const char *why = why_not(lab, step);
    struct mst_step_result result;
    enum mst_step_outcome outcome;
    int status;

    if (why != NULL)
        return skip_step(lab, step, why);
    lab->running = step;
    lab->step_began_ns = mst_now_ns();
    lab->shown_ns = 0;
    if (mst_archive_begin_step(lab->archive, lab->study_id, step->ordinal,
                               mst_realtime_ns()) != 0)
        return archive_failed(lab);
    show_progress(lab);
    outcome = mst_step_run(&lab->stage, step, &result);
    status = finish_step(lab, step, outcome, &result);
    lab->running = NULL;
    mst_step_result_free(&result);
    return status;
}

static int run_steps(struct lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    int status = MST_EXIT_OK;
    char error[MST_ERROR_MAX];
    size_t i;

    for (i = 0; i < s->step_count && status == MST_EXIT_OK; i++) {
        if (lab->stop.raised)
            status = MST_EXIT_INTERRUPTED;
        else if (!lab->finished[i])
            status = run_step(lab, &s->steps[i]);
    }
    mst_status_line(NULL);
    if (mst_stage_clear(&lab->stage, error) != 0)
        mst_warn("%s", error);
    return status;
}

/* ---- the end --------------------------------------------------------------------------- */

static int write_report(struct lab *lab)
{
    static const struct { const char *name; enum mst_study_format format; } files[] = {
        { "report.html", MST_STUDY_HTML }, { "report.md", MST_STUDY_MARKDOWN },
    };
    char *path = NULL, error[MST_ERROR_MAX];
    int failed = 0;
    size_t i;

    for (i = 0; i < sizeof files / sizeof *files && !failed; i++) {
        if (asprintf(&path, "%s/%s", lab->directory, files[i].name) < 0)
            return MST_EXIT_OUTPUT;
        failed = mst_study_report_file(path, files[i].format, lab->archive,
                                       mst_archive_path(lab->archive), error);
        if (failed)
            mst_error("%s", error);
        free(path);
    }
    return failed ? MST_EXIT_OUTPUT : MST_EXIT_OK;
}

static int say_end(struct lab *lab, int status)
{
    if (status == MST_EXIT_INTERRUPTED) {
        if (mst_archive_interrupt_study(lab->archive, lab->study_id) != 0)
            return archive_failed(lab);
        mst_error("interrupted: everything is stopped. Go on with: mpmstat lab run --resume %s",
                  lab->directory);
        return status;
    }
    if (mst_archive_end_study(lab->archive, lab->study_id, mst_realtime_ns()) != 0)
        return archive_failed(lab);
    status = write_report(lab);
    printf("%s: %zu steps done", lab->study.title, lab->done);
    if (lab->failed > 0)
        printf(", %zu failed", lab->failed);
    if (lab->skipped > 0)
        printf(", %zu left out", lab->skipped);
    printf(" in %s\n", duration(mst_now_ns() - lab->began_ns).text);
    if (status == MST_EXIT_OK)
        printf("%s/report.html\n", lab->directory);
    return status != MST_EXIT_OK ? status
                                 : lab->failed + lab->skipped > 0 ? MST_EXIT_BAD : MST_EXIT_OK;
}

static int run(struct lab *lab)
{
    int status;
    char *home;

    lab->stage = (struct mst_stage){
        .archive = lab->archive, .directory = lab->directory, .verbose = lab->options->verbose,
        .stop = &lab->stop.raised, .tick = show_progress, .context = lab,
    };
    lab->limit_ns = limit_of(lab);
    lab->began_ns = mst_now_ns();
    raise_open_files();
    mst_progress_enable(true);
    mst_progress("%s (%s): %zu steps, about %s, %s at most; into %s", lab->study.title,
                 mst_study_size_names[lab->study.size],
                 lab->schedule.step_count - lab->done - lab->failed - lab->skipped,
                 duration(time_left(lab)).text, duration(lab->limit_ns).text, lab->directory);
    mst_progress_enable(false);
    home = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    status = run_steps(lab);
    if (home != NULL)
        setenv("HOME", home, 1);
    free(home);
    free(lab->stage.failed_why);
    return status == MST_EXIT_OK || status == MST_EXIT_INTERRUPTED ? say_end(lab, status)
                                                                   : status;
}

/* ---- all of it ------------------------------------------------------------------------- */

static int begin(struct lab *lab)
{
    int status = read_study(lab);

    if (status == MST_EXIT_OK)
        status = make_schedule(lab, choose_seed(lab->options), lab->options->only);
    if (status != MST_EXIT_OK || lab->options->dry_run)
        return status;
    status = check_missing(lab);
    if (status == MST_EXIT_OK)
        status = make_output(lab);
    return status == MST_EXIT_OK ? keep_study(lab) : status;
}

static void close_lab(struct lab *lab, int *status)
{
    char error[MST_ERROR_MAX];

    if (mst_archive_close(lab->archive, error) != 0 && *status != MST_EXIT_OUTPUT) {
        mst_error("%s", error);
        *status = MST_EXIT_OUTPUT;
    }
    if (lab->lock >= 0)
        close(lab->lock);
    mst_schedule_free(&lab->schedule);
    mst_study_free(&lab->study);
    free(lab->finished);
    free(lab->beside);
    free(lab->directory);
}

static int run_lab(const struct options *o)
{
    struct lab lab = { .options = o, .lock = -1 };
    int status;

    mst_stop_begin(&lab.stop);
    status = o->resume != NULL ? resume(&lab) : begin(&lab);
    if (status == MST_EXIT_OK && o->resume != NULL)
        status = check_missing(&lab);
    if (status == MST_EXIT_OK)
        status = o->dry_run ? dry_run(&lab) : run(&lab);
    close_lab(&lab, &status);
    mst_stop_end(&lab.stop);
    return status;
}

int mst_lab_run(int argc, char **argv)
{
    struct options o = { .size = MST_STUDY_QUICK };
    int status = read_options(&o, argc, argv);

    if (status == MST_EXIT_OK && o.help)
        fputs(help, stdout);
    else if (status == MST_EXIT_OK)
        status = run_lab(&o);
    free(o.only);
    return status;
}

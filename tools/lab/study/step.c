/* step.c - see step.h. */
#include "lab/study/step.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/query.h"
#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"
#include "exec/shell_quote.h"
#include "lab/servers/others.h"
#include "lab/servers/rootdir.h"
#include "lab/servers/spawn.h"
#include "lab/servers/warmup.h"
#include "lab/study/ramp.h"
#include "loadtools/loadtool.h"
#include "record/recording.h"

#define LOG_LINES     12u     /* of each server, in a failure */
#define RECOVER_NS    (90 * MST_NS_PER_S)   /* from a load that was too much */
#define RECOVER_STEP_MS 500
#define FEW           10u     /* connections to warm up with, where the load's are not known */
#define SCRATCH       "step"  /* in the output, while a step runs */
#define OUTPUT_LINES  3u      /* first and last ones of what a load tool said */

struct stepping {
    struct mst_stage         *stage;
    const struct mst_step    *step;
    const struct mst_planned *of;
    struct mst_step_result   *result;
    char                    **argv;      /* the load tool's command */
    char                     *scratch;   /* a directory for it; NULL: none yet */
    struct mst_ramp           ramp;
    char                      note[MST_ERROR_MAX];   /* for the run; "" none */
};

/* ---- failures --------------------------------------------------------------------- */

/* Keeps why the step failed: a sentence, and lines below it (NULL: none). */
static enum mst_step_outcome fail(struct stepping *s, const char *sentence, const char *lines)
{
    free(s->result->failure);
    if (asprintf(&s->result->failure, "%s%s%s", sentence, lines != NULL ? "\n" : "",
                 lines != NULL ? lines : "") < 0)
        s->result->failure = NULL;
    return MST_STEP_FAILED;
}

/* The same with the servers' logs, which may say why. */
static enum mst_step_outcome fail_of_servers(struct stepping *s, const char *sentence)
{
    char *log = mst_servers_log(s->stage->servers, LOG_LINES);
    enum mst_step_outcome outcome = fail(s, sentence, log);

    free(log);
    return outcome;
}

static bool is_stopped(const struct stepping *s)
{
    return *s->stage->stop != 0;
}

/* ---- servers ---------------------------------------------------------------------- */

int mst_stage_clear(struct mst_stage *stage, char error[MST_ERROR_MAX])
{
    int status = mst_servers_stop(stage->servers, error);

    stage->servers = NULL;
    return status;
}

/* Starts them. Where that fails it fails for all steps that would share them. */
static enum mst_step_outcome start(struct stepping *s)
{
    struct mst_stage *stage = s->stage;
    const struct mst_servers_options options = { .parameters = &s->of->given,
                                                 .stop = stage->stop };
    struct mst_servers_failure failure = { 0 };
    enum mst_step_outcome outcome;

    stage->servers = mst_servers_start(s->of->stack, s->of->workload, &options, &failure);
    stage->start = s->step->start;
    if (stage->servers != NULL)
        return MST_STEP_DONE;
    outcome = is_stopped(s) ? MST_STEP_INTERRUPTED : fail(s, failure.sentence, failure.log);
    if (outcome == MST_STEP_FAILED && s->result->failure != NULL) {
        stage->failed_start = s->step->start;
        free(stage->failed_why);
        stage->failed_why = strdup(s->result->failure);
    }
    mst_servers_failure_free(&failure);
    return outcome;
}

/* Those of the step before, or others in their place. */
static enum mst_step_outcome have_servers(struct stepping *s)
{
    struct mst_stage *stage = s->stage;
    char error[MST_ERROR_MAX];

    if (stage->failed_start == s->step->start && stage->failed_why != NULL)
        return fail(s, stage->failed_why, NULL);
    if (stage->servers != NULL && stage->start == s->step->start)
        return MST_STEP_DONE;
    if (mst_stage_clear(stage, error) != 0)
        mst_warn("%s", error);
    return start(s);
}

static enum mst_step_outcome check_before(struct stepping *s)
{
    char error[MST_ERROR_MAX];

    if (mst_servers_alive(s->stage->servers, error) == 0 &&
        mst_servers_check_page(s->stage->servers, &s->result->page_bytes, error) == 0)
        return MST_STEP_DONE;
    return is_stopped(s) ? MST_STEP_INTERRUPTED : fail_of_servers(s, error);
}

/* ---- a directory for the load tool ------------------------------------------------- */

/* Some tools write into the user's home at once: theirs is in the output, for the step. */
static enum mst_step_outcome make_scratch(struct stepping *s)
{
    char error[MST_ERROR_MAX];

    if (asprintf(&s->scratch, "%s/" SCRATCH, s->stage->directory) < 0) {
        s->scratch = NULL;
        return fail(s, "out of memory for a step", NULL);
    }
    if (mst_rootdir_remove(s->scratch, error) != 0)   /* a killed mpmstat's */
        return fail(s, error, NULL);
    if (mkdir(s->scratch, 0700) == 0 && setenv("HOME", s->scratch, 1) == 0)
        return MST_STEP_DONE;
    mst_fail(error, "cannot make the directory %s: %s", s->scratch, strerror(errno));
    return fail(s, error, NULL);
}

/* ---- the load --------------------------------------------------------------------- */

static void free_words(char **words)
{
    size_t i;

    for (i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

static char **command_of(const char *load, const char *url)
{
    char **words = mst_words_split(load), **argv = NULL;
    size_t count = 0, i;

    while (words != NULL && words[count] != NULL)
        count++;
    if (count > 0)
        argv = calloc(count + 1, sizeof *argv);
    for (i = 0; argv != NULL && i < count; i++)
        if ((argv[i] = mst_word_replace(words[i], MST_WORD_URL, url)) == NULL) {
            free_words(argv);
            argv = NULL;
        }
    free(words);
    return argv;
}

static enum mst_step_outcome make_command(struct stepping *s)
{
    const char *url = mst_servers_url(s->stage->servers);
    char error[MST_ERROR_MAX] = "there is no command for the load";

    if (s->of->runs->kind == MST_RUNS_RAMP) {
        const struct mst_ramp_options options = {
            .from = s->of->from, .to = s->of->to, .over = s->of->over, .url = url,
            .directory = s->scratch,
        };

        if (mst_ramp_make(&s->ramp, &options, error) != 0)
            return fail(s, error, NULL);
        s->result->load = mst_words_shell(s->ramp.argv);
        return MST_STEP_DONE;
    }
    s->argv = command_of(s->of->load, url);
    if (s->argv == NULL)
        return fail(s, error, NULL);
    s->result->load = mst_words_shell(s->argv);
    return MST_STEP_DONE;
}

static char **command(const struct stepping *s)
{
    return s->ramp.argv != NULL ? s->ramp.argv : s->argv;
}

/* How many connections it will have open. */
static unsigned connections(const struct stepping *s)
{
    struct mst_plan plan = { 0 };
    char error[MST_ERROR_MAX];
    uint64_t count = FEW;
    char **argv = command(s);

    if (mst_loadtool_for(argv[0])->prepare(&plan, argv, -1, error) != 0)
        return FEW;
    if (plan.connections != MST_UNKNOWN && plan.connections > 0)
        count = plan.connections < MST_WARMUP_CONNECTIONS ? plan.connections
                                                          : MST_WARMUP_CONNECTIONS;
    mst_plan_free(&plan);
    return (unsigned)count;
}

static enum mst_step_outcome warm_up(struct stepping *s)
{
    const struct mst_warmup_options options = {
        .connections = connections(s), .limit_ns = s->of->runs->warmup_ns,
        .stop = s->stage->stop, .tick = s->stage->tick, .context = s->stage->context,
    };
    struct mst_warmup warmup;
    char error[MST_ERROR_MAX];

    if (s->of->runs->warmup_ns == 0)
        return MST_STEP_DONE;
    if (mst_warm_up(mst_servers_url(s->stage->servers), &options, &warmup, error) != 0)
        return fail(s, error, NULL);
    s->result->warmup_ns = warmup.took_ns;
    if (is_stopped(s))
        return MST_STEP_INTERRUPTED;
    if (!warmup.steady)
        snprintf(s->note, sizeof s->note, "the rate was not steady yet when warming up ended, "
                 "after %" PRIu64 " requests in %.1f s", warmup.requests,
                 (double)warmup.took_ns / MST_NS_PER_S);
    return MST_STEP_DONE;
}

/* Before a burst the servers come to rest instead. */
static enum mst_step_outcome prepare(struct stepping *s)
{
    if (s->of->runs->kind != MST_RUNS_SPAWN)
        return warm_up(s);
    if (mst_spawn_rest(s->stage->servers, s->stage->stop) == 0 && !is_stopped(s))
        snprintf(s->note, sizeof s->note, "the servers' processes had not come to rest before the "
                 "burst");
    return is_stopped(s) ? MST_STEP_INTERRUPTED : MST_STEP_DONE;
}

/* ---- the recording ---------------------------------------------------------------- */

/* "SECTION STACK WORKLOAD VARIABLE=VALUE...": what is repeated has the same. NULL: out of
 * memory. */
static char *name_of(const struct mst_planned *of)
{
    char *name = NULL;
    size_t size, i;
    FILE *out = open_memstream(&name, &size);

    if (out == NULL)
        return NULL;
    fprintf(out, "%s %s %s", of->runs->name, of->stack->name, of->workload->name);
    for (i = 0; i < of->runs->variable_count; i++) {
        const struct mst_variable *v = &of->runs->variables[i];
        const char *value = mst_parameters_get(&of->variables, v->name);

        if (v->count > 1 && value != NULL &&
            (v->stack == NULL || strcmp(v->stack, of->stack->name) == 0))
            fprintf(out, " %s=%s", v->name, value);
    }
    fclose(out);
    return name;
}

/* Goes on for as long as all servers run: without them there is nothing to be measured. */
static bool go_on(void *context)
{
    struct stepping *s = context;
    struct pollfd fd = { mst_servers_fd(s->stage->servers), POLLIN, 0 };
    char error[MST_ERROR_MAX];

    s->stage->tick(s->stage->context);
    return poll(&fd, 1, 0) <= 0 || mst_servers_alive(s->stage->servers, error) == 0;
}

static int archive_failed(const struct stepping *s)
{
    mst_error("%s", mst_archive_error(s->stage->archive));
    return MST_EXIT_OUTPUT;
}

static int record(struct stepping *s, const char *name)
{
    char *targets[] = { (char *)mst_servers_board_directory(s->stage->servers), NULL };
    const struct mst_recording_options options = {
        .archive = mst_archive_path(s->stage->archive), .name = name,
        .repetition = s->step->repetition, .targets = targets, .target_count = 1,
        .command = command(s), .timeout_ns = s->of->runs->limit_ns, .add_flags = true,
        .memory = true, .verbose = s->stage->verbose, .tick = go_on, .context = s,
    };
    struct mst_others others;
    int status;

    mst_others_begin(&others, s->stage->servers);
    mst_diag_quiet(!s->stage->verbose);
    status = mst_record(&options, &s->result->run_id);
    mst_diag_quiet(false);
    if (mst_others_keep(&others, s->stage->archive, s->result->run_id) != 0)
        status = archive_failed(s);
    mst_others_free(&others);
    return status;
}

/* mst_human_ends() of a text, on the heap. NULL: out of memory. */
static char *ends_of(const char *text)
{
    char *ends = NULL;
    size_t size;
    FILE *out = open_memstream(&ends, &size);

    if (out == NULL)
        return NULL;
    mst_human_ends(out, text, OUTPUT_LINES);
    fclose(out);
    return ends;
}

/* What the load tool said of it, on the heap; NULL: nothing. */
static char *words_of_tool(struct stepping *s)
{
    struct mst_query q = mst_query_ask(mst_archive_db(s->stage->archive),
        "SELECT CAST(content AS TEXT) AS text FROM output WHERE run_id = :id AND bytes > 0 "
        "ORDER BY stream LIMIT 1", s->result->run_id);
    const char *text = mst_query_next(&q) ? mst_row_text(&q, "text") : NULL;
    char *words = text != NULL ? ends_of(text) : NULL;

    mst_query_done(&q);
    return words;
}

static enum mst_step_outcome fail_of_load(struct stepping *s, const char *sentence)
{
    char *log = mst_servers_log(s->stage->servers, LOG_LINES), *words = words_of_tool(s), *lines;
    enum mst_step_outcome outcome;

    if (asprintf(&lines, "%s%s", words != NULL ? words : "", log != NULL ? log : "") < 0)
        lines = NULL;
    outcome = fail(s, sentence, lines);
    free(lines);
    free(words);
    free(log);
    return outcome;
}

/* The load may have left more behind than is served at once: the page is to be right when
 * that has been worked off. */
static enum mst_step_outcome check_after(struct stepping *s)
{
    char error[MST_ERROR_MAX];
    uint64_t until = mst_now_ns() + RECOVER_NS;

    while (mst_servers_check_page(s->stage->servers, NULL, error) != 0) {
        if (is_stopped(s))
            return MST_STEP_INTERRUPTED;
        if (mst_now_ns() >= until || mst_servers_alive(s->stage->servers, error) != 0)
            return fail_of_servers(s, error);
        poll(NULL, 0, RECOVER_STEP_MS);
        s->stage->tick(s->stage->context);
    }
    return MST_STEP_DONE;
}

/* A load tool may end well without one answer. Where only the server's side is known, that is
 * not asked. */
static bool was_answered(const struct stepping *s)
{
    struct mst_query q = mst_query_ask(mst_archive_db(s->stage->archive),
        "SELECT requests FROM client_results WHERE run_id = :id", s->result->run_id);
    bool answered = !mst_query_next(&q) || mst_row_number(&q, "requests") != 0;

    return mst_query_done(&q) && answered;
}

static int add_note(const struct stepping *s, const char *text)
{
    if (text[0] == '\0' || s->result->run_id == 0)
        return 0;
    if (mst_archive_add_note(s->stage->archive, s->result->run_id, mst_realtime_ns(), text) != 0)
        return -1;
    return mst_archive_commit(s->stage->archive);
}

/* Says where a ramp sent too few requests, or too many: by a tenth, and by more than chance
 * (three standard deviations of a Poisson process) would have it. */
static int check_rate(const struct stepping *s)
{
    struct mst_query q = mst_query_ask(mst_archive_db(s->stage->archive),
        "SELECT count(*) AS sent FROM client_requests WHERE run_id = :id", s->result->run_id);
    uint64_t sent = mst_query_next(&q) ? mst_row_number(&q, "sent") : 0, wanted, off;
    char text[MST_ERROR_MAX];

    if (!mst_query_done(&q) || s->of->runs->kind != MST_RUNS_RAMP || sent == 0)
        return 0;
    wanted = (strtoull(s->of->from, NULL, 10) + strtoull(s->of->to, NULL, 10)) *
             strtoull(s->of->over, NULL, 10) / 2;
    off = sent > wanted ? sent - wanted : wanted - sent;
    if (off * 10 <= wanted || off * off <= 9 * wanted)
        return 0;
    snprintf(text, sizeof text, "the load tool did not hold the rate: %" PRIu64 " requests instead "
             "of some %" PRIu64 ". The machine may have been busy with something else", sent,
             wanted);
    return add_note(s, text);
}

static int keep_notes(const struct stepping *s)
{
    return add_note(s, s->note) != 0 || check_rate(s) != 0 ? -1 : 0;
}

static enum mst_step_outcome measure(struct stepping *s)
{
    char *name = name_of(s->of), why[MST_ERROR_MAX] = "", error[MST_ERROR_MAX];
    int status;

    if (name == NULL)
        return fail(s, "out of memory for a step's name", NULL);
    mst_error_keep(why, sizeof why);
    status = record(s, name);
    mst_error_keep(NULL, 0);
    free(name);
    if (status == MST_EXIT_INTERRUPTED || is_stopped(s))
        return MST_STEP_INTERRUPTED;
    if (status == MST_EXIT_OUTPUT)
        return MST_STEP_NO_ARCHIVE;
    if (keep_notes(s) != 0) {
        archive_failed(s);
        return MST_STEP_NO_ARCHIVE;
    }
    if (mst_servers_alive(s->stage->servers, error) != 0)
        return fail_of_servers(s, error);
    if (status != MST_EXIT_OK)
        return fail_of_load(s, why[0] != '\0' ? why : "the load could not be recorded");
    if (!was_answered(s))
        return fail_of_load(s, "not one of the load's requests was answered");
    return check_after(s);
}

/* ---- all of it -------------------------------------------------------------------- */

enum mst_step_outcome mst_step_run(struct mst_stage *stage, const struct mst_step *step,
                                   struct mst_step_result *result)
{
    static enum mst_step_outcome (*const parts[])(struct stepping *) = {
        have_servers, check_before, make_scratch, make_command, prepare, measure,
    };
    struct stepping s = { .stage = stage, .step = step, .of = step->of, .result = result };
    enum mst_step_outcome outcome = MST_STEP_DONE;
    char error[MST_ERROR_MAX];
    size_t i;

    *result = (struct mst_step_result){ .page_bytes = MST_UNKNOWN, .warmup_ns = MST_UNKNOWN };
    for (i = 0; i < sizeof parts / sizeof *parts && outcome == MST_STEP_DONE; i++)
        outcome = is_stopped(&s) ? MST_STEP_INTERRUPTED : parts[i](&s);
    free_words(s.argv);
    mst_ramp_free(&s.ramp);
    if (s.scratch != NULL && mst_rootdir_remove(s.scratch, error) != 0)
        mst_warn("%s", error);
    free(s.scratch);
    /* What has gone wrong may have left them in any state: the next step has others. */
    if (outcome != MST_STEP_DONE && mst_stage_clear(stage, error) != 0)
        mst_warn("%s", error);
    return outcome;
}

void mst_step_result_free(struct mst_step_result *result)
{
    free(result->failure);
    free(result->load);
    *result = (struct mst_step_result){ 0 };
}

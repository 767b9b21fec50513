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
#include "base/strings.h"
#include "console/diag.h"
#include "exec/shell_quote.h"
#include "exec/spawn.h"
#include "lab/servers/idle_processes.h"
#include "lab/servers/others.h"
#include "lab/servers/sandbox.h"
#include "lab/servers/warmup.h"
#include "lab/study/ramp.h"
#include "lab/study/repetition.h"
#include "loadtools/loadtool.h"
#include "record/recording.h"

#define FEW           10u     /* connections to warm up with, where the load's are not known */
#define SCRATCH       "step"  /* in the output, while a step runs */

struct stepping {
    apr_pool_t               *pool;
    struct mst_stage         *stage;
    const struct mst_step    *step;
    const struct mst_planned *of;
    struct mst_step_result   *result;
    struct mst_ramp           load;      /* the load tool's command and environment */
    const char               *scratch;   /* a directory for it; NULL: none yet */
    char                      note[MST_ERROR_MAX];   /* for the run; "" none */
};

static enum mst_step_outcome fail(struct stepping *s, const char *sentence)
{
    s->result->failure = apr_pstrdup(s->pool, sentence);
    return MST_STEP_FAILED;
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

    stage->servers = mst_servers_start(s->pool, s->of->stack, s->of->workload, &options, &failure);
    stage->start = s->step->start;
    if (stage->servers != NULL)
        return MST_STEP_DONE;
    if (is_stopped(s))
        return MST_STEP_INTERRUPTED;
    mst_repetition_fail(s->pool, &s->result->failure, failure.sentence, failure.log);
    stage->failed_start = s->step->start;
    stage->failed_why = apr_pstrdup(stage->pool, s->result->failure);
    return MST_STEP_FAILED;
}

/* Those of the step before, or others in their place. */
static enum mst_step_outcome have_servers(struct stepping *s)
{
    struct mst_stage *stage = s->stage;
    char error[MST_ERROR_MAX];

    if (stage->failed_start == s->step->start && stage->failed_why != NULL)
        return fail(s, stage->failed_why);
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
    return is_stopped(s) ? MST_STEP_INTERRUPTED :
           mst_repetition_fail_of_servers(s->pool, s->stage, &s->result->failure, error);
}

/* ---- a directory for the load tool ------------------------------------------------- */

/* Some load tools write to $HOME as soon as they start, so each step gets a temporary HOME in the
 * output directory. */
static enum mst_step_outcome make_scratch(struct stepping *s)
{
    char error[MST_ERROR_MAX];

    s->scratch = apr_pstrcat(s->pool, s->stage->directory, "/" SCRATCH, NULL);
    if (mst_sandbox_remove(s->scratch, error) != 0)   /* a killed mpmstat's */
        return fail(s, error);
    if (mkdir(s->scratch, 0700) == 0)
        return MST_STEP_DONE;
    mst_fail(error, "cannot make the directory %s: %s", s->scratch, strerror(errno));
    return fail(s, error);
}

/* ---- the load --------------------------------------------------------------------- */

/* The words of a load, with the page's address in them. */
static int split_load(apr_pool_t *pool, struct mst_list *argv, const char *load, const char *url,
                      char error[MST_ERROR_MAX])
{
    size_t count;
    char **words = mst_words_split(pool, load, &count), **word;

    for (word = words; word != NULL && *word != NULL; word++)
        mst_list_add(pool, argv, mst_pool_replace(pool, *word, MST_URL_MARK, url));
    return argv->count > 0 ? 0 : mst_fail(error, "there is no command for the load");
}

static enum mst_step_outcome make_command(struct stepping *s)
{
    const char *url = mst_servers_url(s->stage->servers);
    const struct mst_ramp_options options = {
        .from = s->of->from, .to = s->of->to, .over = s->of->over, .url = url,
        .directory = s->scratch,
    };
    char error[MST_ERROR_MAX], *quoted;

    if ((s->of->runs->kind == MST_RUNS_RAMP
             ? mst_ramp_make(s->pool, &s->load, &options, error)
             : split_load(s->pool, &s->load.argv, s->of->load, url, error)) != 0)
        return fail(s, error);
    mst_list_add(s->pool, &s->load.variables, apr_pstrcat(s->pool, "HOME=", s->scratch, NULL));
    quoted = mst_have(mst_shell_quote(s->load.argv.items));
    s->result->load = apr_pstrdup(s->pool, quoted);
    free(quoted);
    return MST_STEP_DONE;
}

/* How many connections it will have open. */
static unsigned connections(const struct stepping *s)
{
    struct mst_plan plan = { 0 };
    char error[MST_ERROR_MAX];
    uint64_t count = FEW;
    char **argv = s->load.argv.items;

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

    if (s->of->runs->warmup_ns == 0)
        return MST_STEP_DONE;
    mst_warm_up(s->pool, mst_servers_url(s->stage->servers), &options, &warmup);
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
static enum mst_step_outcome ready_servers(struct stepping *s)
{
    if (s->of->runs->kind != MST_RUNS_SPAWN)
        return warm_up(s);
    if (mst_idle_processes_wait(s->stage->servers, s->stage->stop) == 0 && !is_stopped(s))
        snprintf(s->note, sizeof s->note, "the servers' processes had not come to rest before the "
                 "burst");
    return is_stopped(s) ? MST_STEP_INTERRUPTED : MST_STEP_DONE;
}

/* ---- the recording ---------------------------------------------------------------- */

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
    return mst_failed(MST_EXIT_OUTPUT, "%s", mst_archive_error(s->stage->archive));
}

static int record(struct stepping *s, const char *name)
{
    char *targets[] = { (char *)mst_servers_board_directory(s->stage->servers), NULL };
    char **environment = mst_have(mst_environment_with(s->load.variables.items));
    const struct mst_recording_options options = {
        .archive = mst_archive_path(s->stage->archive), .name = name,
        .repetition = s->step->repetition, .targets = { .args = targets, .count = 1 },
        .command = s->load.argv.items, .environment = environment,
        .timeout_ns = s->of->runs->limit_ns, .add_flags = true, .memory = true,
        .verbose = s->stage->verbose, .tick = go_on, .context = s,
    };
    struct mst_others others;
    int status;

    mst_others_begin(s->pool, &others, s->stage->servers);
    mst_diag_quiet(!s->stage->verbose);
    status = mst_record(&options, &s->result->run_id);
    mst_diag_quiet(false);
    if (mst_others_keep(&others, s->stage->archive, s->result->run_id) != 0)
        status = archive_failed(s);
    mst_others_end(&others);
    mst_strings_free_items(environment);
    return status;
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

    if (!mst_query_done(&q))
        return add_note(s, "whether the load tool held the rate is not known: the archive cannot "
                        "be read");
    if (sent == 0)
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

static enum mst_step_outcome measure(struct stepping *s)
{
    char why[MST_ERROR_MAX] = "";
    struct mst_recorded recorded = { .archived = true, .said = why };

    mst_error_keep(why, sizeof why);
    recorded.status = record(s, mst_planned_name(s->pool, s->of, true));
    mst_error_keep(NULL, 0);
    recorded.run_id = s->result->run_id;
    if (recorded.status != MST_EXIT_INTERRUPTED && recorded.status != MST_EXIT_OUTPUT &&
        !is_stopped(s) && (add_note(s, s->note) != 0 ||
                           (s->of->runs->kind == MST_RUNS_RAMP && check_rate(s) != 0))) {
        archive_failed(s);
        recorded.archived = false;
    }
    return mst_repetition_judge(s->pool, s->stage, &recorded, &s->result->failure);
}

/* ---- all of it -------------------------------------------------------------------- */

enum mst_step_outcome mst_step_run(apr_pool_t *pool, struct mst_stage *stage,
                                   const struct mst_step *step, struct mst_step_result *result)
{
    static enum mst_step_outcome (*const parts[])(struct stepping *) = {
        have_servers, check_before, make_scratch, make_command, ready_servers, measure,
    };
    struct stepping s = { .pool = pool, .stage = stage, .step = step, .of = step->of,
                          .result = result };
    enum mst_step_outcome outcome = MST_STEP_DONE;
    char error[MST_ERROR_MAX];
    size_t i;

    *result = (struct mst_step_result){ .page_bytes = MST_UNKNOWN, .warmup_ns = MST_UNKNOWN };
    for (i = 0; i < sizeof parts / sizeof *parts && outcome == MST_STEP_DONE; i++)
        outcome = is_stopped(&s) ? MST_STEP_INTERRUPTED : parts[i](&s);
    if (s.scratch != NULL && mst_sandbox_remove(s.scratch, error) != 0)
        mst_warn("%s", error);
    /* What has gone wrong may have left them in any state: the next step has others. */
    if (outcome != MST_STEP_DONE && mst_stage_clear(stage, error) != 0)
        mst_warn("%s", error);
    return outcome;
}

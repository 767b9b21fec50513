/* repetition.c - what becomes of a repetition: see repetition.h. */
#include "lab/study/repetition.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "archive/query.h"
#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"

#define LOG_LINES       12u     /* of each server, in a failure */
#define OUTPUT_LINES    3u      /* first and last ones of what a load tool said */
#define RECOVER_NS      (90 * MST_NS_PER_S)   /* from a load that was too much */
#define RECOVER_STEP_MS 500

/* ---- failures ----------------------------------------------------------------------- */

enum mst_step_outcome mst_repetition_fail(apr_pool_t *pool, const char **failure,
                                          const char *sentence, const char *lines)
{
    *failure = lines != NULL ? apr_pstrcat(pool, sentence, "\n", lines, NULL)
                             : apr_pstrdup(pool, sentence);
    return MST_STEP_FAILED;
}

enum mst_step_outcome mst_repetition_fail_of_servers(apr_pool_t *pool, struct mst_stage *stage,
                                                     const char **failure, const char *sentence)
{
    return mst_repetition_fail(pool, failure, sentence,
                               mst_servers_log(pool, stage->servers, LOG_LINES));
}

/* The first and last lines of what the load tool said; "" where it said nothing. */
static const char *words_of_tool(apr_pool_t *pool, const struct mst_stage *stage, int64_t run_id)
{
    struct mst_query q = mst_query_ask(mst_archive_db(stage->archive),
        "SELECT CAST(content AS TEXT) AS text FROM output WHERE run_id = :id AND bytes > 0 "
        "ORDER BY stream LIMIT 1", run_id);
    const char *text = mst_query_next(&q) ? mst_row_text(&q, "text") : NULL;
    struct mst_stream words;

    mst_stream_begin(&words);
    if (text != NULL)
        mst_format_ends(words.out, text, OUTPUT_LINES);
    mst_query_done(&q);
    return mst_stream_end(&words, pool);
}

static enum mst_step_outcome fail_of_load(apr_pool_t *pool, const struct mst_stage *stage,
                                          int64_t run_id, const char **failure,
                                          const char *sentence)
{
    const char *log = mst_servers_log(pool, stage->servers, LOG_LINES);

    return mst_repetition_fail(pool, failure, sentence,
                               apr_pstrcat(pool, words_of_tool(pool, stage, run_id), log, NULL));
}

/* The load may have left more behind than is served at once: the page is to be right when
 * that has been worked off. */
static enum mst_step_outcome check_after(apr_pool_t *pool, struct mst_stage *stage,
                                         const char **failure)
{
    char error[MST_ERROR_MAX];
    uint64_t until = mst_now_ns() + RECOVER_NS;

    while (mst_servers_check_page(stage->servers, NULL, error) != 0) {
        if (*stage->stop != 0)
            return MST_STEP_INTERRUPTED;
        if (mst_now_ns() >= until || mst_servers_alive(stage->servers, error) != 0)
            return mst_repetition_fail_of_servers(pool, stage, failure, error);
        poll(NULL, 0, RECOVER_STEP_MS);
        stage->tick(stage->context);
    }
    return MST_STEP_DONE;
}

/* A load tool may end well without one answer. Where only the server's side is known, that is
 * not asked. */
static bool was_answered(const struct mst_stage *stage, int64_t run_id)
{
    struct mst_query q = mst_query_ask(mst_archive_db(stage->archive),
        "SELECT requests FROM client_results WHERE run_id = :id", run_id);
    bool answered = !mst_query_next(&q) || mst_row_number(&q, "requests") != 0;

    return mst_query_done(&q) && answered;
}

/* ---- the rule ----------------------------------------------------------------------- */

const char *mst_repetition_why_skipped(const struct mst_step *step, bool time_is_up)
{
    const struct mst_stack *stack = step->of->stack;

    if ((stack->root || stack->test_users) && geteuid() != 0)
        return "this stack needs root: its servers change to users of their own";
    return time_is_up ? "the time for the whole study was up" : NULL;
}

enum mst_step_outcome mst_repetition_judge(apr_pool_t *pool, struct mst_stage *stage,
                                           const struct mst_recorded *recorded,
                                           const char **failure)
{
    char error[MST_ERROR_MAX];

    if (recorded->status == MST_EXIT_INTERRUPTED || *stage->stop != 0)
        return MST_STEP_INTERRUPTED;
    if (recorded->status == MST_EXIT_OUTPUT || !recorded->archived)
        return MST_STEP_NO_ARCHIVE;
    if (mst_servers_alive(stage->servers, error) != 0)
        return mst_repetition_fail_of_servers(pool, stage, failure, error);
    if (recorded->status != MST_EXIT_OK)
        return fail_of_load(pool, stage, recorded->run_id, failure,
                            recorded->said[0] != '\0' ? recorded->said
                                                      : "the load could not be recorded");
    if (!was_answered(stage, recorded->run_id))
        return fail_of_load(pool, stage, recorded->run_id, failure,
                            "not one of the load's requests was answered");
    return check_after(pool, stage, failure);
}

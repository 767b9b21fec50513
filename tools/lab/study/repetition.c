/* repetition.c - what becomes of a repetition: see repetition.h. */
#include "lab/study/repetition.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
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

enum mst_step_outcome mst_repetition_fail(char **failure, const char *sentence, const char *lines)
{
    free(*failure);
    if (asprintf(failure, "%s%s%s", sentence, lines != NULL ? "\n" : "",
                 lines != NULL ? lines : "") < 0)
        *failure = NULL;
    return MST_STEP_FAILED;
}

enum mst_step_outcome mst_repetition_fail_of_servers(struct mst_stage *stage, char **failure,
                                                     const char *sentence)
{
    char *log = mst_servers_log(stage->servers, LOG_LINES);
    enum mst_step_outcome outcome = mst_repetition_fail(failure, sentence, log);

    free(log);
    return outcome;
}

/* mst_format_ends() of a text, on the heap. NULL: out of memory. */
static char *ends_of(const char *text)
{
    char *ends = NULL;
    size_t size;
    FILE *out = open_memstream(&ends, &size);

    if (out == NULL)
        return NULL;
    mst_format_ends(out, text, OUTPUT_LINES);
    fclose(out);
    return ends;
}

/* What the load tool said of it, on the heap; NULL: nothing. */
static char *words_of_tool(const struct mst_stage *stage, int64_t run_id)
{
    struct mst_query q = mst_query_ask(mst_archive_db(stage->archive),
        "SELECT CAST(content AS TEXT) AS text FROM output WHERE run_id = :id AND bytes > 0 "
        "ORDER BY stream LIMIT 1", run_id);
    const char *text = mst_query_next(&q) ? mst_row_text(&q, "text") : NULL;
    char *words = text != NULL ? ends_of(text) : NULL;

    mst_query_done(&q);
    return words;
}

static enum mst_step_outcome fail_of_load(const struct mst_stage *stage, int64_t run_id,
                                          char **failure, const char *sentence)
{
    char *log = mst_servers_log(stage->servers, LOG_LINES), *lines;
    char *words = words_of_tool(stage, run_id);
    enum mst_step_outcome outcome;

    if (asprintf(&lines, "%s%s", words != NULL ? words : "", log != NULL ? log : "") < 0)
        lines = NULL;
    outcome = mst_repetition_fail(failure, sentence, lines);
    free(lines);
    free(words);
    free(log);
    return outcome;
}

/* The load may have left more behind than is served at once: the page is to be right when
 * that has been worked off. */
static enum mst_step_outcome check_after(struct mst_stage *stage, char **failure)
{
    char error[MST_ERROR_MAX];
    uint64_t until = mst_now_ns() + RECOVER_NS;

    while (mst_servers_check_page(stage->servers, NULL, error) != 0) {
        if (*stage->stop != 0)
            return MST_STEP_INTERRUPTED;
        if (mst_now_ns() >= until || mst_servers_alive(stage->servers, error) != 0)
            return mst_repetition_fail_of_servers(stage, failure, error);
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

enum mst_step_outcome mst_repetition_judge(struct mst_stage *stage,
                                           const struct mst_recorded *recorded, char **failure)
{
    char error[MST_ERROR_MAX];

    if (recorded->status == MST_EXIT_INTERRUPTED || *stage->stop != 0)
        return MST_STEP_INTERRUPTED;
    if (recorded->status == MST_EXIT_OUTPUT || !recorded->archived)
        return MST_STEP_NO_ARCHIVE;
    if (mst_servers_alive(stage->servers, error) != 0)
        return mst_repetition_fail_of_servers(stage, failure, error);
    if (recorded->status != MST_EXIT_OK)
        return fail_of_load(stage, recorded->run_id, failure,
                            recorded->said[0] != '\0' ? recorded->said
                                                      : "the load could not be recorded");
    if (!was_answered(stage, recorded->run_id))
        return fail_of_load(stage, recorded->run_id, failure,
                            "not one of the load's requests was answered");
    return check_after(stage, failure);
}

/* plan.c - what all adapters use: how a load tool is started, and an empty result. */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

/* ---- plans ----------------------------------------------------------------------- */

static int no_memory(struct mst_plan *plan, char error[MST_ERROR_MAX])
{
    mst_plan_free(plan);
    return mst_fail(error, "out of memory for the command");
}

int mst_plan_init(struct mst_plan *plan, char *const *argv, size_t at, const char *const *insert,
                  char error[MST_ERROR_MAX])
{
    struct mst_strings words = { 0 };
    size_t i;

    *plan = (struct mst_plan){
        .stop_signal = SIGTERM, .requested = MST_UNKNOWN, .concurrency = MST_UNKNOWN,
        .connections = MST_UNKNOWN, .threads = MST_UNKNOWN,
        .added_for = "its times of each request",
    };
    for (i = 0; argv[i] != NULL; i++) {
        mst_strings_add(&words, argv[i]);
        if (i == at)
            mst_strings_add_all(&words, (char *const *)insert);
    }
    plan->argv = mst_strings_steal(&words);
    if (insert != NULL && insert[0] != NULL)
        plan->added = mst_strings_join((char *const *)insert);
    return plan->argv != NULL && (plan->added != NULL || insert == NULL || insert[0] == NULL)
               ? 0 : no_memory(plan, error);
}

int mst_plan_call_added(struct mst_plan *plan, const char *words, char error[MST_ERROR_MAX])
{
    free(plan->added);
    plan->added = strdup(words);
    return plan->added != NULL ? 0 : no_memory(plan, error);
}

int mst_plan_rows_at(struct mst_plan *plan, const char *path, char error[MST_ERROR_MAX])
{
    plan->rows_path = strdup(path);
    if (plan->rows_path == NULL)
        return no_memory(plan, error);
    plan->rows = MST_ROWS_AT_PATH;
    return 0;
}

int mst_plan_convert(struct mst_plan *plan, const char *const *command,
                     char error[MST_ERROR_MAX])
{
    struct mst_strings words = { 0 };

    mst_strings_add_all(&words, (char *const *)command);
    plan->convert = mst_strings_steal(&words);
    return plan->convert != NULL ? 0 : no_memory(plan, error);
}

void mst_plan_free(struct mst_plan *plan)
{
    mst_strings_free_items(plan->argv);
    mst_strings_free_items(plan->convert);
    free(plan->added);
    free(plan->rows_path);
    *plan = (struct mst_plan){ 0 };
}

/* ---- results --------------------------------------------------------------------- */

void mst_client_result_init(struct mst_client_result *result)
{
    /* Every member is a uint64_t, and MST_UNKNOWN is all bits set. */
    memset(result, 0xff, sizeof *result);
}

enum mst_failure mst_failure_of(const char *text, size_t n)
{
    static const struct { const char *words; enum mst_failure kind; } known[] = {
        { "imeout", MST_FAILURE_TIMEOUT },           /* "Client.Timeout", "i/o timeout" */
        { "deadline exceeded", MST_FAILURE_TIMEOUT },
        { "refused", MST_FAILURE_CONNECT },
        { "dial", MST_FAILURE_CONNECT },             /* Go's word for connecting */
        { "reset by peer", MST_FAILURE_RECEIVE },
        { "broken pipe", MST_FAILURE_RECEIVE },
        { "EOF", MST_FAILURE_RECEIVE },
        { "closed before", MST_FAILURE_RECEIVE },    /* hyper's sentences, of oha */
        { "connection error", MST_FAILURE_RECEIVE },
    };
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (memmem(text, n, known[i].words, strlen(known[i].words)) != NULL)
            return known[i].kind;
    return MST_FAILURE_OTHER;
}

void mst_client_result_add_failures(struct mst_client_result *r, enum mst_failure kind,
                                    uint64_t count)
{
    uint64_t *const members[MST_FAILURE_COUNT] = {
        [MST_FAILURE_CONNECT] = &r->failed_connect, [MST_FAILURE_RECEIVE] = &r->failed_receive,
        [MST_FAILURE_TIMEOUT] = &r->failed_timeout, [MST_FAILURE_OTHER] = &r->failed_other,
    };
    int i;

    if (r->failed == MST_UNKNOWN)
        r->failed = r->failed_length = 0;
    for (i = 0; i < MST_FAILURE_COUNT; i++)
        if (*members[i] == MST_UNKNOWN)
            *members[i] = 0;
    r->failed += count;
    *members[kind] += count;
}

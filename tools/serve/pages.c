/* pages.c - what mpmstat serve answers at each path: see pages.h.
 *
 * Any number of threads call it. Answers of a kind that takes much memory are made one at a time.
 */
#include "serve/pages.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "console/diag.h"
#include "explain/explain.h"
#include "report/profile.h"
#include "serve/look.h"
#include "serve/telemetry.h"

/* ---- refusals ------------------------------------------------------------------------------ */

static bool put(struct mst_page *page, const char *text)
{
    return mst_answer_write(&page->text, text, strlen(text)) == 0;
}

bool mst_page_refuse(struct mst_page *page, unsigned status, const char *sentence)
{
    page->status = status;
    page->type = mst_format_content_type(MST_FORMAT_TEXT);
    page->policy = NULL;
    page->text.used = 0;
    return put(page, sentence) && put(page, "\n");
}

static bool put_off(struct mst_page *page, const char *sentence)
{
    page->retry_s = 1;
    return mst_page_refuse(page, 503, sentence);
}

/* ---- snapshots ----------------------------------------------------------------------------- */

/* False: not one board can be shown, and the page says why. */
static bool look_at_boards(struct mst_look *look, const struct mst_page_request *request,
                           enum mst_format format, struct mst_page *page)
{
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_look_at(look, request->targets, request->target_count,
                    mst_format_has_exemplars(format), error) != 0) {
        mst_page_refuse(page, 503, error);
        return false;
    }
    if (look->answer.count > 0)
        return true;
    page->status = 503;
    for (i = 0; i < look->reasons.count; i++) {
        put(page, look->reasons.items[i]);
        put(page, "\n");
    }
    return false;
}

static bool make_snapshots(struct mst_page *page, const struct mst_page_request *request,
                           const struct mst_status_query *query)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct mst_own_metric own[MST_TELEMETRY_METRICS];
    struct mst_look look = { 0 };
    char error[MST_ERROR_MAX];
    bool fine = true;

    pthread_mutex_lock(&lock);
    if (look_at_boards(&look, request, query->format, page)) {
        page->type = mst_format_content_type(query->format);
        page->policy = query->format == MST_FORMAT_HTML ? mst_html_policy : NULL;
        look.answer.own = own;
        look.answer.own_count = mst_telemetry_metrics(request->telemetry, own);
        if (mst_answer_render(&look.answer, query, &page->text, error) != 0)
            fine = mst_page_refuse(page, 500, error);
    }
    mst_look_free(&look);
    mst_answer_return_memory(&page->text);
    pthread_mutex_unlock(&lock);
    return fine;
}

/* ---- the journal --------------------------------------------------------------------------- */

/* Whether the query takes this board rather than the one that it has: the board that it names, or
 * without a name Apache's first one, or else the first. */
static bool is_wanted(const struct mst_status_query *query, const struct mst_reader *board,
                      const struct mst_reader *has)
{
    if (query->board[0] != '\0')
        return has == NULL;
    return has == NULL || (has->header.producer != MST_PRODUCER_APACHE
                           && board->header.producer == MST_PRODUCER_APACHE);
}

/* Opens the board that the query wants. Returns 0, or the status to refuse with and a sentence. */
static unsigned open_board(struct mst_reader *found, struct mst_targets *targets,
                           const struct mst_status_query *query, char error[MST_ERROR_MAX])
{
    bool is_named = query->board[0] != '\0', is_found = false;
    struct mst_reader reader;
    size_t i;

    mst_query_no_board(query, error);
    for (i = 0; i < targets->count; i++) {
        const struct mst_target *t = &targets->items[i];

        if (is_named && !mst_query_names(query, t->name))
            continue;
        if (t->problem != NULL)
            mst_fail(error, "%s", t->problem);
        if (t->problem != NULL || mst_target_reader(t, &reader, error) != 0)
            continue;
        if (is_wanted(query, &reader, is_found ? found : NULL)) {
            if (is_found)
                mst_reader_close(found);
            *found = reader;
            is_found = true;
        } else {
            mst_reader_close(&reader);
        }
    }
    return is_found ? 0 : is_named ? 404 : 503;
}

static bool render_journal(struct mst_page *page, const struct mst_reader *reader,
                           const struct mst_status_query *query)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    page->type = mst_format_content_type(MST_FORMAT_JOURNAL);
    mst_sink_init(&sink, mst_answer_write, &page->text);
    switch (mst_render_journal(&sink, reader, query->since, query->limit, query->lifecycle_only,
                               error)) {
    case MST_JOURNAL_OK:
        return sink.error == 0;
    case MST_JOURNAL_BAD_CURSOR:
        return mst_page_refuse(page, 400, error);
    case MST_JOURNAL_CUT:
    case MST_JOURNAL_UNREADABLE:
        break;
    }
    return mst_page_refuse(page, 500, error);
}

static bool make_journal(struct mst_page *page, const struct mst_page_request *request,
                         const struct mst_status_query *query)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct mst_targets targets;
    struct mst_reader reader;
    char error[MST_ERROR_MAX];
    unsigned refused = 503;
    bool fine;

    pthread_mutex_lock(&lock);
    if (mst_targets_resolve(&targets, request->targets, request->target_count, error) == 0)
        refused = open_board(&reader, &targets, query, error);
    if (refused == 0) {
        fine = render_journal(page, &reader, query);
        mst_reader_close(&reader);
    } else {
        fine = mst_page_refuse(page, refused, error);
    }
    mst_targets_free(&targets);
    pthread_mutex_unlock(&lock);
    return fine;
}

/* ---- why ----------------------------------------------------------------------------------- */

#define EXPLAIN_QUERY_MAX 128u                      /* bytes, with the NUL */
#define EXPLAIN_WAIT_NS   (10 * MST_NS_PER_S)       /* for an explanation that is being made */

static int parse_explain_parameter(struct mst_explain_query *q, const char *text,
                                   char error[MST_ERROR_MAX])
{
    if (strncmp(text, "last=", 5) == 0 && mst_explain_last_parse(text + 5, &q->last_ns))
        return 0;
    q->is_json = strcmp(text, "format=json") == 0;
    if (q->is_json || strcmp(text, "format=text") == 0)
        return 0;
    return mst_fail(error, "valid here are format=text, format=json and last=TIME, a time of "
                    "one second to seven days (90s, 5m, 2h)");
}

int mst_explain_query_parse(struct mst_explain_query *q, const char *query, const char *accept,
                            char error[MST_ERROR_MAX])
{
    char copy[EXPLAIN_QUERY_MAX], *rest = copy, *parameter;

    *q = (struct mst_explain_query){
        .is_json = mst_format_accepted(accept) == MST_FORMAT_JSON, .last_ns = MST_EXPLAIN_LAST_NS,
    };
    if (query != NULL && strlen(query) >= sizeof copy)
        return mst_fail(error, "the query is too long; valid are format and last");
    strcpy(copy, query != NULL ? query : "");
    while ((parameter = strsep(&rest, "&")) != NULL)
        if (*parameter != '\0' && parse_explain_parameter(q, parameter, error) != 0)
            return -1;
    return 0;
}

/* mst_explain() reports an error by mst_error(), which keeps the sentence for the answer.
 * Precondition: no other thread is in this function. */
static bool explain(struct mst_page *page, const struct mst_page_request *request,
                    const struct mst_explain_query *query)
{
    const struct mst_target_names names = {
        .args = request->targets, .count = request->target_count,
    };
    struct mst_explanation explanation;
    char error[MST_ERROR_MAX] = "";
    struct mst_sink sink;
    bool fine;

    mst_error_keep(error, sizeof error);
    if (mst_explain(&explanation, &names, query->last_ns) == MST_EXIT_OK) {
        mst_sink_init(&sink, mst_answer_write, &page->text);
        (query->is_json ? mst_explain_json : mst_explain_text)(&sink, &explanation);
        fine = mst_sink_flush(&sink) == 0;
    } else {
        fine = mst_page_refuse(page, 503, error);
    }
    mst_error_keep(NULL, 0);
    mst_explanation_free(&explanation);
    malloc_trim(0);
    return fine;
}

/* One at a time asks the journals. Nonzero: another one took too long. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static int begin_asking(void)
{
    uint64_t until_ns = mst_realtime_ns() + EXPLAIN_WAIT_NS;
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / MST_NS_PER_S), .tv_nsec = (long)(until_ns % MST_NS_PER_S),
    };

    return pthread_mutex_timedlock(&asking, &until);
}

#define ASK_AGAIN "answers for others are being made: ask again in a second"

static bool make_explanation(struct mst_page *page, const struct mst_page_request *request)
{
    struct mst_explain_query query;
    char error[MST_ERROR_MAX];
    bool fine;

    if (mst_explain_query_parse(&query, request->query, request->accept, error) != 0)
        return mst_page_refuse(page, 400, error);
    if (begin_asking() != 0)
        return put_off(page, ASK_AGAIN);
    page->type = mst_format_content_type(query.is_json ? MST_FORMAT_JSON : MST_FORMAT_TEXT);
    fine = explain(page, request, &query);
    pthread_mutex_unlock(&asking);
    return fine;
}

/* ---- PHP's code ---------------------------------------------------------------------------- */

#define PROFILE_LAST_NS (60 * MST_NS_PER_S)   /* without seconds= */

static const struct { const char *name, *type; } profiles[MST_PROFILE_FORMATS] = {
    [MST_PROFILE_FOLDED] = { "format=folded", "text/plain; charset=utf-8" },
    [MST_PROFILE_SPEEDSCOPE] = { "format=speedscope", "application/json" },
    [MST_PROFILE_PPROF] = { "format=pprof", "application/octet-stream" },
};

static int parse_profile_parameter(enum mst_profile_format *format, uint64_t *last_ns,
                                   const char *text, char error[MST_ERROR_MAX])
{
    unsigned i;

    if (strncmp(text, "seconds=", 8) == 0 && mst_explain_last_parse(text + 8, last_ns))
        return 0;
    for (i = 0; i < MST_PROFILE_FORMATS; i++)
        if (strcmp(text, profiles[i].name) == 0) {
            *format = (enum mst_profile_format)i;
            return 0;
        }
    return mst_fail(error, "valid here are seconds=TIME, how long ago the first sample was taken, "
                    "and format=pprof, folded or speedscope");
}

static int parse_profile_query(enum mst_profile_format *format, uint64_t *last_ns,
                               const char *query, char error[MST_ERROR_MAX])
{
    char copy[EXPLAIN_QUERY_MAX], *rest = copy, *parameter;

    *format = MST_PROFILE_PPROF;
    *last_ns = PROFILE_LAST_NS;
    if (query != NULL && strlen(query) >= sizeof copy)
        return mst_fail(error, "the query is too long; valid are seconds and format");
    strcpy(copy, query != NULL ? query : "");
    while ((parameter = strsep(&rest, "&")) != NULL)
        if (*parameter != '\0' && parse_profile_parameter(format, last_ns, parameter, error) != 0)
            return -1;
    return 0;
}

static int put_profile(struct mst_sink *sink, const struct mst_explanation *e,
                       const struct mst_explained_server *s, enum mst_profile_format format,
                       bool *is_first, char error[MST_ERROR_MAX])
{
    const struct mst_profile_of of = { mst_source_called(s->source), e->from_ns,
                                       e->until_ns - e->from_ns };

    switch (mst_profile_put(sink, mst_archive_db(e->archive), s->id, format, &of, *is_first)) {
    case MST_PROFILE_UNREADABLE:
        return mst_fail(error, "there is no memory for the profile");
    case MST_PROFILE_SEVERAL:
        return mst_fail(error, MST_PROFILE_OF_ONE "start mpmstat serve with one of them, or take "
                        "format=folded");
    case MST_PROFILE_PUT:
        *is_first = false;
        break;
    case MST_PROFILE_NONE:
        break;
    }
    return 0;
}

static bool put_profiles(struct mst_page *page, const struct mst_explanation *e,
                         enum mst_profile_format format)
{
    struct mst_sink sink;
    char error[MST_ERROR_MAX];
    bool is_first = true;
    int status = 0;
    size_t i;

    mst_sink_init(&sink, mst_answer_write, &page->text);
    for (i = 0; i < e->server_count && status == 0; i++)
        status = put_profile(&sink, e, &e->servers[i], format, &is_first, error);
    if (mst_sink_flush(&sink) != 0)
        return false;
    page->text.used = status < 0 ? 0 : page->text.used;
    if (status < 0)
        return mst_page_refuse(page, 503, error);
    page->type = profiles[format].type;
    return true;
}

/* Where Go's programs have theirs, so that Pyroscope and Parca find it. */
static bool make_profile(struct mst_page *page, const struct mst_page_request *request)
{
    const struct mst_target_names names = {
        .args = request->targets, .count = request->target_count,
    };
    struct mst_explanation explanation;
    enum mst_profile_format format;
    char error[MST_ERROR_MAX] = "";
    uint64_t last_ns;
    bool fine;

    if (parse_profile_query(&format, &last_ns, request->query, error) != 0)
        return mst_page_refuse(page, 400, error);
    if (begin_asking() != 0)
        return put_off(page, ASK_AGAIN);
    mst_error_keep(error, sizeof error);
    if (mst_explain_requests(&explanation, &names, last_ns) == MST_EXIT_OK)
        fine = put_profiles(page, &explanation, format);
    else
        fine = mst_page_refuse(page, 503, error);
    mst_error_keep(NULL, 0);
    mst_explanation_free(&explanation);
    malloc_trim(0);
    pthread_mutex_unlock(&asking);
    return fine;
}

/* ---- paths --------------------------------------------------------------------------------- */

static bool make_status(struct mst_page *page, const struct mst_page_request *request)
{
    struct mst_status_query query;
    char error[MST_ERROR_MAX];

    if (mst_status_query_parse(&query, request->query, request->accept, error) != 0)
        return mst_page_refuse(page, 400, error);
    return query.format == MST_FORMAT_JOURNAL ? make_journal(page, request, &query)
                                              : make_snapshots(page, request, &query);
}

/* A scraper gets a format of metrics whatever else it accepts. */
static bool make_metrics(struct mst_page *page, const struct mst_page_request *request)
{
    const char *accept = mst_format_is_metrics(mst_format_accepted(request->accept))
                       ? request->accept : mst_format_content_type(MST_FORMAT_PROMETHEUS);
    struct mst_status_query query;
    char error[MST_ERROR_MAX];

    if (mst_status_query_parse(&query, request->query, accept, error) != 0)
        return mst_page_refuse(page, 400, error);
    if (!mst_format_is_metrics(query.format))
        return mst_page_refuse(page, 400, "valid here are format=openmetrics, prometheus and "
                               "protobuf; the other formats are at /");
    return make_snapshots(page, request, &query);
}

static bool make_health(struct mst_page *page, const struct mst_page_request *request)
{
    (void)request;
    return put(page, "ok\n");
}

/* /mpm-status is where Apache has the same. */
static const struct {
    const char *path;
    bool      (*make)(struct mst_page *page, const struct mst_page_request *request);
} paths[] = {
    { "/", make_status }, { "/mpm-status", make_status }, { "/metrics", make_metrics },
    { "/explain", make_explanation }, { "/debug/pprof/profile", make_profile },
    { MST_PAGE_HEALTH, make_health },
};

bool mst_page_make(struct mst_page *page, const struct mst_page_request *request)
{
    size_t i;

    *page = (struct mst_page){ .status = 200, .type = mst_format_content_type(MST_FORMAT_TEXT) };
    for (i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(request->path, paths[i].path) == 0)
            return paths[i].make(page, request);
    return mst_page_refuse(page, 404, "there is nothing here: /metrics is for Prometheus, / has "
                           "the live page, text and JSON, /explain says why servers are slow, "
                           "/debug/pprof/profile where in PHP's code, "
                           "/healthz that this program answers");
}

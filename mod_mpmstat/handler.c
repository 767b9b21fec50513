/* handler.c - /mpm-status: a snapshot of this server's board and of those of PHP on this machine,
 * in the format that the client asks for; or records of a board's journal.
 *
 * It copies its own board as any other reader would, through the descriptor that this child
 * inherited: the server's user may not open the file. It opens those of PHP's boards by name that
 * this user may read.
 */
#include "request.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <pthread.h>
#include <stdlib.h>

#include "access.h"
#include "answer_limit.h"
#include "listeners.h"
#include "read/accept_queue.h"
#include "read/copy.h"
#include "read/directory.h"
#include "read/snapshot.h"
#include "render/answer.h"
#include "scoreboard.h"
#include "segment/liveness.h"

APLOG_USE_MODULE(mpmstat);

/* Answers with a sentence instead of httpd's page, because programs read it, too. Returns OK. */
static int refuse(request_rec *r, int status, const char *sentence)
{
    r->status = status;
    ap_set_content_type(r, "text/plain; charset=utf-8");
    ap_rputs(sentence, r);
    ap_rputc('\n', r);
    return OK;
}

#define PIECE (16 << 10)   /* httpd copies what it gets, and waits where much of that is unsent */

static int write_to_client(void *request, const void *bytes, size_t n)
{
    const char *at = bytes, *end = at + n;
    int piece;

    for (; at < end; at += piece) {
        piece = end - at < PIECE ? (int)(end - at) : PIECE;
        if (ap_rwrite(at, piece, request) < 0)
            return EPIPE;
    }
    return 0;
}

#define PHP_BOARDS_MAX MST_PAGE_BOARDS   /* shown at most; as many are named as unreadable */

/* PHP's boards; none when out of memory. */
static void find_php(struct mst_found_boards *found)
{
    const struct mst_boards_wanted wanted = {
        .producer = MST_PRODUCER_PHP, .limit = PHP_BOARDS_MAX,
        .allowance = { .all = MST_PAGE_COST, .others = MST_PAGE_COST_OTHER },
    };

    memset(found, 0, sizeof *found);
    if (mst_config.php_boards)
        mst_found_boards_open(found, mst_config.php_boards, &wanted);
}

/* What one answer shows: this server's board, then PHP's. */
struct shown {
    struct mst_status_answer answer;
    struct mst_listen        fpm_listen[PHP_BOARDS_MAX + 1];   /* of boards; empty: not FPM's */
};

/* Adds a snapshot of a board. Returns 0, or -1 with a sentence. */
static int add_board(struct shown *shown, const struct mst_reader *reader, struct mst_world *world,
                     char error[MST_ERROR_MAX])
{
    struct mst_listen *listen = &shown->fpm_listen[shown->answer.count];
    struct mst_snapshot snapshot;
    struct mst_copy copy;
    int made;

    if (mst_copy_take(&copy, reader, error) != 0)
        return -1;
    if (copy.header.producer == MST_PRODUCER_PHP && world->running == 1) {
        mst_listen_read_pools(listen, &copy, NULL);
        mst_listen_tell(listen, world);
    }
    made = mst_snapshot_make(&snapshot, &copy, world);
    mst_copy_free(&copy);
    if (made != 0) {
        mst_listen_free(listen);
        return mst_fail(error, "out of memory for the board %s", reader->path);
    }
    mst_answer_add(&shown->answer, &snapshot);
    return 0;
}

/* False: the board cannot be shown, and board->reason says why. This server's own board may lie in
 * the same directory, where this user may not open it by its name: it is shown already. */
static bool add_one(struct shown *shown, struct mst_found_board *board, bool exemplars)
{
    struct mst_world world = { .running = -1, .exemplars = exemplars };

    if (!board->open)
        return strcmp(board->path, mst_recording.board->path) == 0;
    world.running = mst_reader_running(&board->reader);
    return add_board(shown, &board->reader, &world, board->reason) == 0;
}

static void add_php(request_rec *r, struct shown *shown, struct mst_found_boards *found,
                    bool exemplars)
{
    size_t i;

    for (i = 0; i < found->count; i++) {
        struct mst_found_board *board = &found->items[i];

        if (!add_one(shown, board, exemplars))
            mst_answer_add_unreadable(&shown->answer, board->path, board->reason);
    }
    if (found->omitted > 0)
        mst_answer_add_unreadable(&shown->answer, mst_config.php_boards, apr_psprintf(r->pool,
                                  "%" APR_SIZE_T_FMT " more boards are here: at most %u are shown",
                                  found->omitted, PHP_BOARDS_MAX));
}

/* Returns 0, or -1 with a sentence. */
static int make_text(request_rec *r, const struct mst_reader *reader, struct mst_found_boards *php,
                     const struct mst_status_query *query, struct mst_answer_text *text,
                     char error[MST_ERROR_MAX])
{
    struct mst_world world = { .running = 1, .exemplars = mst_format_has_exemplars(query->format) };
    struct shown *shown = apr_pcalloc(r->pool, sizeof *shown);
    size_t i;
    int status;

    mst_listeners_read(r->pool, &world);
    world.apache_scoreboard = mst_scoreboard_letters(r->pool);
    status = add_board(shown, reader, &world, error);
    if (status == 0) {
        add_php(r, shown, php, world.exemplars);
        status = mst_answer_render(&shown->answer, query, text, error);
    }
    mst_answer_free(&shown->answer);
    for (i = 0; i <= PHP_BOARDS_MAX; i++)
        mst_listen_free(&shown->fpm_listen[i]);
    return status;
}

static int answer_snapshot(request_rec *r, const struct mst_reader *reader,
                           struct mst_found_boards *php, const struct mst_status_query *query)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   /* one at a time in a process */
    struct mst_answer_text text = { 0 };
    char error[MST_ERROR_MAX];
    int status;

    pthread_mutex_lock(&lock);
    status = make_text(r, reader, php, query, &text, error);
    mst_answer_return_memory(&text);
    pthread_mutex_unlock(&lock);
    if (status == 0) {
        ap_set_content_type(r, mst_format_content_type(query->format));
        if (query->format == MST_FORMAT_HTML)
            apr_table_setn(r->headers_out, "Content-Security-Policy", mst_html_policy);
        if (write_to_client(r, text.bytes, text.used) != 0)
            ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, MPMSTAT_LOGNO(06)
                          "the client left before the status was sent");
    }
    free(text.bytes);
    return status == 0 ? OK : refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
}

/* Ends an answer so that the client's HTTP sees that it is incomplete. */
static int cut_short(request_rec *r, const char *error)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);

    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, MPMSTAT_LOGNO(41)
                  "an answer of the journal ends early: %s", error);
    APR_BRIGADE_INSERT_TAIL(bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool, alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    r->connection->keepalive = AP_CONN_CLOSE;
    ap_pass_brigade(r->output_filters, bb);
    return OK;
}

static int send_journal(request_rec *r, const struct mst_reader *reader,
                        const struct mst_status_query *query)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    ap_set_content_type(r, mst_format_content_type(MST_FORMAT_JOURNAL));
    mst_sink_init(&sink, write_to_client, r);
    switch (mst_render_journal(&sink, reader, query->since, query->limit, query->lifecycle_only,
                               error)) {
    case MST_JOURNAL_OK:
        return OK;
    case MST_JOURNAL_BAD_CURSOR:
        return refuse(r, HTTP_BAD_REQUEST, error);
    case MST_JOURNAL_CUT:
        return cut_short(r, error);
    case MST_JOURNAL_UNREADABLE:
        break;
    }
    return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
}

static int answer_journal(request_rec *r, const struct mst_reader *reader,
                          const struct mst_status_query *query)
{
    int status;

    if (mst_query_is_from_now(query))
        return send_journal(r, reader, query);
    if (!mst_answer_begin()) {
        apr_table_setn(r->headers_out, "Retry-After", "1");
        return refuse(r, HTTP_SERVICE_UNAVAILABLE, apr_psprintf(r->pool,
                          "this server gives %u answers of the journal at once, so that slow "
                          "readers do not keep its workers, and gives them now: ask again in a "
                          "second, and read answers as they come; a smaller limit= makes them "
                          "short, and mpmstat record on the server itself needs none",
                          mst_answer_limit()));
    }
    status = send_journal(r, reader, query);
    mst_answer_end();
    return status;
}

/* The board that a query names: this server's, or one of PHP's. NULL: there is none. */
static const struct mst_reader *board_named(const struct mst_status_query *query,
                                            const struct mst_reader *own,
                                            const struct mst_found_boards *php)
{
    size_t i;

    if (query->board[0] == '\0' || mst_query_names(query, own->path))
        return own;
    for (i = 0; i < php->count; i++)
        if (php->items[i].open && mst_query_names(query, php->items[i].path))
            return &php->items[i].reader;
    return NULL;
}

static int answer(request_rec *r, const struct mst_status_query *query)
{
    struct mst_reader own;
    const struct mst_reader *asked;
    struct mst_found_boards php = { 0 };
    char error[MST_ERROR_MAX];
    int status;

    if (mst_reader_attach(&own, mst_recording.board->fd, mst_recording.board->path, error) != 0)
        return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
    if (query->format != MST_FORMAT_JOURNAL || query->board[0] != '\0')
        find_php(&php);
    if (query->format != MST_FORMAT_JOURNAL) {
        status = answer_snapshot(r, &own, &php, query);
    } else if ((asked = board_named(query, &own, &php)) != NULL) {
        status = answer_journal(r, asked, query);
    } else {
        mst_query_no_board(query, error);
        status = refuse(r, HTTP_NOT_FOUND, error);
    }
    mst_found_boards_free(&php);
    mst_reader_close(&own);
    return status;
}

static int answer_other_method(request_rec *r)
{
    apr_table_setn(r->headers_out, "Allow", "GET,HEAD,OPTIONS");
    if (r->method_number == M_OPTIONS)
        return OK;
    return refuse(r, HTTP_METHOD_NOT_ALLOWED, mst_answer_only_read);
}

int mst_handle_status(request_rec *r)
{
    struct mst_status_query query;
    const char *sentence = NULL;
    char error[MST_ERROR_MAX];
    int status = mst_check_access(r, &sentence);
    const char *const *header;

    if (status != OK)
        return sentence ? refuse(r, status, sentence) : status;
    mst_timing_set_label(r, MST_LABEL_STATUS);
    if (r->method_number != M_GET)   /* httpd's number of HEAD, too */
        return answer_other_method(r);
    for (header = mst_answer_headers; *header; header += 2)
        apr_table_setn(r->headers_out, header[0], header[1]);
    if (mst_status_query_parse(&query, r->args, apr_table_get(r->headers_in, "Accept"), error) != 0)
        return refuse(r, HTTP_BAD_REQUEST, error);
    if (!mst_recording.board)
        return refuse(r, HTTP_SERVICE_UNAVAILABLE, "nothing is recorded: the server could not "
                          "make its board when it started; the error log says why");
    return answer(r, &query);
}

/* handler.c - /mpm-status: a snapshot of this server's board and of those of PHP on this machine,
 * in the format that the client asks for; or records of a board's journal.
 *
 * It copies its own board as any other reader would, through the descriptor that this child
 * inherited: the server's user may not open the file. It opens those of PHP's boards by name that
 * this user may read.
 */
#include "request.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "access.h"
#include "answer_limit.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "listeners.h"
#include "read/accept_queue.h"
#include "read/copy.h"
#include "read/directory.h"
#include "read/snapshot.h"
#include "render/journal.h"
#include "render/negotiate.h"
#include "render/render.h"
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
        .budget = { .all = MST_PAGE_COST, .others = MST_PAGE_COST_OTHER },
    };

    memset(found, 0, sizeof *found);
    if (mst_config.php_boards)
        mst_found_boards_open(found, mst_config.php_boards, &wanted);
}

/* What one answer shows: this server's board, then PHP's. */
struct answer {
    struct mst_snapshot        snapshots[1 + PHP_BOARDS_MAX];
    const struct mst_snapshot *boards[1 + PHP_BOARDS_MAX];
    struct mst_listen          fpm_listen[PHP_BOARDS_MAX + 1];   /* of boards; empty: not FPM's */
    struct mst_unreadable      unreadable[2 * PHP_BOARDS_MAX + 3];
    struct mst_shown           shown;
};

/* Adds a snapshot of a board. Returns 0, or -1 with a sentence. */
static int add_board(struct answer *a, const struct mst_reader *reader, struct mst_world *world,
                     char error[MST_ERROR_MAX])
{
    struct mst_copy copy;
    int made;

    if (mst_copy_take(&copy, reader, error) != 0)
        return -1;
    if (copy.header.producer == MST_PRODUCER_PHP && world->running == 1) {
        mst_listen_read_pools(&a->fpm_listen[a->shown.count], &copy);
        mst_listen_tell(&a->fpm_listen[a->shown.count], world);
    }
    made = mst_snapshot_make(&a->snapshots[a->shown.count], &copy, world);
    mst_copy_free(&copy);
    if (made != 0) {
        mst_listen_free(&a->fpm_listen[a->shown.count]);
        return mst_fail(error, "out of memory for the board %s", reader->path);
    }
    a->boards[a->shown.count] = &a->snapshots[a->shown.count];
    a->shown.count++;
    return 0;
}

static void add_unreadable(struct answer *a, const char *board, const char *reason)
{
    a->unreadable[a->shown.unreadable_count++] =
        (struct mst_unreadable){ .board = board, .reason = reason };
}

/* False: the board cannot be shown, and board->reason says why. This server's own board may lie in
 * the same directory, where this user may not open it by its name: it is shown already. */
static bool add_one(struct answer *a, struct mst_found_board *board, bool exemplars)
{
    struct mst_world world = { .running = -1, .exemplars = exemplars };

    if (!board->open)
        return strcmp(board->path, mst_recording.board->path) == 0;
    world.running = mst_reader_running(&board->reader);
    return add_board(a, &board->reader, &world, board->reason) == 0;
}

static void add_php(request_rec *r, struct answer *a, struct mst_found_boards *found,
                    bool exemplars)
{
    size_t i;

    for (i = 0; i < found->count; i++) {
        struct mst_found_board *board = &found->items[i];

        if (!add_one(a, board, exemplars))
            add_unreadable(a, board->path, board->reason);
    }
    if (found->omitted > 0)
        add_unreadable(a, mst_config.php_boards,
                       apr_psprintf(r->pool, "%" APR_SIZE_T_FMT " more boards are here: at most %u "
                                    "are shown", found->omitted, PHP_BOARDS_MAX));
}

/* An answer as it is sent. What it is made from is ten times as large or more, and is freed before
 * a slow reader takes its time. */
struct text {
    char  *bytes;
    size_t used, room;
};

static int keep_text(void *text, const void *bytes, size_t n)
{
    struct text *t = text;

    if (n > t->room - t->used) {
        size_t room = 2 * (t->used + n);
        char *more = realloc(t->bytes, room);

        if (!more)
            return ENOMEM;
        t->bytes = more;
        t->room = room;
    }
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
    return 0;
}

/* Returns 0, or -1 with a sentence. */
static int make_text(request_rec *r, const struct mst_reader *reader, struct mst_found_boards *php,
                     const struct mst_status_query *query, struct text *text,
                     char error[MST_ERROR_MAX])
{
    struct mst_world world = { .running = 1, .exemplars = mst_format_has_exemplars(query->format) };
    struct answer *a = apr_pcalloc(r->pool, sizeof *a);
    struct mst_sink sink;
    int status;

    a->shown.boards = a->boards;
    a->shown.unreadable = a->unreadable;
    a->shown.histograms = query->histograms;
    mst_listeners_read(r->pool, &world);
    world.apache_scoreboard = mst_scoreboard_letters(r->pool);
    status = add_board(a, reader, &world, error);
    if (status == 0) {
        add_php(r, a, php, world.exemplars);
        mst_sink_init(&sink, keep_text, text);
        if (mst_render(&sink, query->format, &a->shown) != 0)
            status = mst_fail(error, "out of memory for the status");
    }
    while (a->shown.count > 0) {
        mst_snapshot_free(&a->snapshots[--a->shown.count]);
        mst_listen_free(&a->fpm_listen[a->shown.count]);
    }
    return status;
}

#define TEXT_KEPT (512u << 10)   /* bytes of answers; they were made from ten times as much */

/* Gives freed memory back to the system, which malloc would keep for each of its arenas. Other
 * free memory is given back with it, which the server's requests soon need again: so not after
 * each of many answers. Precondition: the lock is held. */
static void return_memory(const struct text *answer)
{
#ifdef __GLIBC__
    static uint64_t returned_ns, answered;
    uint64_t now = mst_now_ns();

    answered += answer->used;
    if (answered < TEXT_KEPT && mst_elapsed(returned_ns, now) < MST_NS_PER_S)
        return;
    answered = 0;
    returned_ns = now;
    malloc_trim(0);
#endif
}

static int answer_snapshot(request_rec *r, const struct mst_reader *reader,
                           struct mst_found_boards *php, const struct mst_status_query *query)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   /* one at a time in a process */
    struct text text = { 0 };
    char error[MST_ERROR_MAX];
    int status;

    pthread_mutex_lock(&lock);
    status = make_text(r, reader, php, query, &text, error);
    return_memory(&text);
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

/* Whether the query asks for no records, only for the cursor. */
static bool is_from_now(const struct mst_status_query *query)
{
    return query->since[0] == '\0' || strcmp(query->since, "now") == 0;
}

static int answer_journal(request_rec *r, const struct mst_reader *reader,
                          const struct mst_status_query *query)
{
    int status;

    if (is_from_now(query))
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
static const struct mst_reader *board_named(const char *name, const struct mst_reader *own,
                                            const struct mst_found_boards *php)
{
    size_t i;

    if (*name == '\0' || strcmp(name, apr_filepath_name_get(own->path)) == 0)
        return own;
    for (i = 0; i < php->count; i++)
        if (php->items[i].open && strcmp(name, apr_filepath_name_get(php->items[i].path)) == 0)
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
    if (query->format != MST_FORMAT_JOURNAL)
        status = answer_snapshot(r, &own, &php, query);
    else if ((asked = board_named(query->board, &own, &php)) != NULL)
        status = answer_journal(r, asked, query);
    else
        status = refuse(r, HTTP_NOT_FOUND, apr_psprintf(r->pool, "there is no board %s among "
                            "those that are shown here; format=json names them", query->board));
    mst_found_boards_free(&php);
    mst_reader_close(&own);
    return status;
}

static int answer_other_method(request_rec *r)
{
    apr_table_setn(r->headers_out, "Allow", "GET,HEAD,OPTIONS");
    if (r->method_number == M_OPTIONS)
        return OK;
    return refuse(r, HTTP_METHOD_NOT_ALLOWED, "the status page is only read: expected is GET "
                      "or HEAD");
}

int mst_handle_status(request_rec *r)
{
    struct mst_status_query query;
    const char *sentence = NULL;
    char error[MST_ERROR_MAX];
    int status = mst_check_access(r, &sentence);

    if (status != OK)
        return sentence ? refuse(r, status, sentence) : status;
    mst_timing_set_label(r, MST_LABEL_STATUS);
    if (r->method_number != M_GET)   /* httpd's number of HEAD, too */
        return answer_other_method(r);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Vary", "Accept");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    if (mst_status_query_parse(&query, r->args, apr_table_get(r->headers_in, "Accept"), error) != 0)
        return refuse(r, HTTP_BAD_REQUEST, error);
    if (!mst_recording.board)
        return refuse(r, HTTP_SERVICE_UNAVAILABLE, "nothing is recorded: the server could not "
                          "make its board when it started; the error log says why");
    return answer(r, &query);
}

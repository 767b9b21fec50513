/* handler.c - /mpm-status: a snapshot of the board, rendered as asked; and of the
 * boards of PHP's on this machine.
 *
 * It copies its own board out as any other reader would, through the descriptor that
 * this child inherited: the file itself is not readable for the server's user. PHP's
 * are opened by their names, those that this user may read.
 */
#include "mod_mpmstat.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "board/copy.h"
#include "board/directory.h"
#include "board/snapshot.h"
#include "listeners.h"
#include "render/render.h"
#include "scoreboard.h"

APLOG_USE_MODULE(mpmstat);

/* Answers with a sentence instead of httpd's page: it is read by programs too. */
static int refuse(request_rec *r, int status, const char *sentence)
{
    r->status = status;
    ap_set_content_type(r, "text/plain; charset=utf-8");
    ap_rputs(sentence, r);
    ap_rputc('\n', r);
    return OK;
}

static int write_to_client(void *request, const void *bytes, size_t n)
{
    return ap_rwrite(bytes, (int)n, request) < 0 ? EPIPE : 0;
}

#define PHP_BOARDS_MAX 16u                   /* shown at most, and named unreadable */
#define PHP_COPY_MAX   (UINT64_C(64) << 20)  /* bytes of one that are read */

/* PHP's boards. Out of memory there are none. */
static void find_php(struct mst_found_boards *found)
{
    const struct mst_boards_wanted wanted = {
        .producer = MST_PRODUCER_PHP, .limit = PHP_BOARDS_MAX, .copy_bytes = PHP_COPY_MAX,
    };

    memset(found, 0, sizeof *found);
    if (mst_config.php_boards)
        mst_found_boards_open(found, mst_config.php_boards, &wanted);
}

/* What one answer shows: this server's board, then PHP's. */
struct answer {
    struct mst_snapshot        snapshots[1 + PHP_BOARDS_MAX];
    const struct mst_snapshot *boards[1 + PHP_BOARDS_MAX];
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
    made = mst_snapshot_make(&a->snapshots[a->shown.count], &copy, world);
    mst_copy_free(&copy);
    if (made != 0)
        return mst_fail(error, "out of memory for the board %s", reader->path);
    a->boards[a->shown.count] = &a->snapshots[a->shown.count];
    a->shown.count++;
    return 0;
}

static void add_unreadable(struct answer *a, const char *board, const char *reason)
{
    a->unreadable[a->shown.unreadable_count++] =
        (struct mst_unreadable){ .board = board, .reason = reason };
}

/* This server's own board may lie in the same directory, where this user may not read
 * it by its name: it is shown all the same. */
static bool add_one(struct answer *a, struct mst_found_board *board)
{
    struct mst_world world = { .running = -1 };

    if (!board->open)
        return strcmp(board->path, mst_recording.board->path) == 0;
    world.running = mst_snapshot_running(&board->reader.header);
    return add_board(a, &board->reader, &world, board->reason) == 0;
}

static void add_php(request_rec *r, struct answer *a, struct mst_found_boards *found)
{
    size_t i;

    for (i = 0; i < found->count; i++) {
        struct mst_found_board *board = &found->items[i];

        if (add_one(a, board))
            continue;
        add_unreadable(a, board->path, board->reason);
    }
    if (found->omitted > 0)
        add_unreadable(a, mst_config.php_boards,
                       apr_psprintf(r->pool, "%" APR_SIZE_T_FMT " more boards are here: at most %u "
                                    "are shown", found->omitted, PHP_BOARDS_MAX));
}

static int answer_snapshot(request_rec *r, const struct mst_reader *reader,
                           struct mst_found_boards *php, enum mst_format format)
{
    struct mst_world world = { .running = 1 };
    struct answer *a = apr_pcalloc(r->pool, sizeof *a);
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    a->shown.boards = a->boards;
    a->shown.unreadable = a->unreadable;
    mst_listeners_look(r->pool, &world);
    world.apache_scoreboard = mst_scoreboard_letters(r->pool);
    if (add_board(a, reader, &world, error) != 0)
        return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
    add_php(r, a, php);
    ap_set_content_type(r, mst_format_content_type(format));
    if (format == MST_FORMAT_HTML)
        apr_table_setn(r->headers_out, "Content-Security-Policy", mst_html_policy);
    mst_sink_init(&sink, write_to_client, r);
    if (mst_render(&sink, format, &a->shown) != 0)
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, MPMSTAT_LOGNO(06)
                      "the client left before the status was sent");
    while (a->shown.count > 0)
        mst_snapshot_free(&a->snapshots[--a->shown.count]);
    return OK;
}

static int answer_journal(request_rec *r, const struct mst_reader *reader,
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
    case MST_JOURNAL_UNREADABLE:
        break;
    }
    return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
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
        status = answer_snapshot(r, &own, &php, query->format);
    else if ((asked = board_named(query->board, &own, &php)) != NULL)
        status = answer_journal(r, asked, query);
    else
        status = refuse(r, HTTP_NOT_FOUND, apr_psprintf(r->pool, "there is no board %s among those "
                        "that are shown here; format=json names them", query->board));
    mst_found_boards_free(&php);
    mst_reader_close(&own);
    return status;
}

int mst_handle_status(request_rec *r)
{
    struct mst_status_query query;
    char error[MST_ERROR_MAX];

    r->allowed |= AP_METHOD_BIT << M_GET;
    if (r->method_number != M_GET)   /* HEAD is one, too */
        return HTTP_METHOD_NOT_ALLOWED;
    mst_timing_set_label(r, MST_LABEL_STATUS);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Vary", "Accept");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    if (mst_status_query_parse(&query, r->args, apr_table_get(r->headers_in, "Accept"), error) != 0)
        return refuse(r, HTTP_BAD_REQUEST, error);
    if (!mst_recording.board)
        return refuse(r, HTTP_SERVICE_UNAVAILABLE, "nothing is recorded: the server could not make "
                      "its board when it started; the error log says why");
    return answer(r, &query);
}

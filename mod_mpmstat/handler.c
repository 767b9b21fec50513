/* handler.c - /mpm-status: a snapshot of the board, rendered as asked.
 *
 * It copies the board out as any other reader would, through the descriptor that
 * this child inherited: the file itself is not readable for the server's user.
 */
#include "mod_mpmstat.h"

#include <http_protocol.h>

#include "board/copy.h"
#include "board/snapshot.h"
#include "listeners.h"
#include "render/render.h"

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

static int answer_snapshot(request_rec *r, const struct mst_reader *reader, enum mst_format format)
{
    struct mst_world world = { .listeners_known = true, .running = 1 };
    char error[MST_ERROR_MAX];
    struct mst_copy copy;
    struct mst_snapshot snapshot;
    const struct mst_snapshot *boards[1] = { &snapshot };
    struct mst_sink sink;
    int made;

    if (mst_copy_take(&copy, reader, error) != 0)
        return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
    world.listeners = mst_listeners(r->pool, &world.listener_count);
    made = mst_snapshot_make(&snapshot, &copy, &world);
    mst_copy_free(&copy);
    if (made != 0)
        return refuse(r, HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    ap_set_content_type(r, mst_format_content_type(format));
    mst_sink_init(&sink, write_to_client, r);
    if (mst_render(&sink, format, boards, 1) != 0)
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, MPMSTAT_LOGNO(06)
                      "the client left before the status was sent");
    mst_snapshot_free(&snapshot);
    return OK;
}

static int answer_journal(request_rec *r, const struct mst_reader *reader,
                          const struct mst_query *query)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    ap_set_content_type(r, mst_format_content_type(MST_FORMAT_JOURNAL));
    mst_sink_init(&sink, write_to_client, r);
    switch (mst_render_journal(&sink, reader, query->since, query->limit, error)) {
    case MST_JOURNAL_OK:
        return OK;
    case MST_JOURNAL_BAD_CURSOR:
        return refuse(r, HTTP_BAD_REQUEST, error);
    case MST_JOURNAL_UNREADABLE:
        break;
    }
    return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
}

static int answer(request_rec *r, const struct mst_query *query)
{
    struct mst_reader reader;
    char error[MST_ERROR_MAX];
    int status;

    if (mst_reader_attach(&reader, mst_recording.board->fd, mst_recording.board->path, error) != 0)
        return refuse(r, HTTP_INTERNAL_SERVER_ERROR, error);
    status = query->format == MST_FORMAT_JOURNAL ? answer_journal(r, &reader, query)
                                                 : answer_snapshot(r, &reader, query->format);
    mst_reader_close(&reader);
    return status;
}

static int handle_status(request_rec *r)
{
    struct mst_query query;
    char error[MST_ERROR_MAX];

    /* Every request comes by here: the first letter spares most the call. */
    if (!r->handler || r->handler[0] != 'm' || strcmp(r->handler, "mpm-status") != 0)
        return DECLINED;
    r->allowed |= AP_METHOD_BIT << M_GET;
    if (r->method_number != M_GET)   /* HEAD is one, too */
        return HTTP_METHOD_NOT_ALLOWED;
    mst_timing_set_label(r, MST_LABEL_STATUS);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Vary", "Accept");
    if (mst_query_parse(&query, r->args, apr_table_get(r->headers_in, "Accept"), error) != 0)
        return refuse(r, HTTP_BAD_REQUEST, error);
    if (!mst_recording.board)
        return refuse(r, HTTP_SERVICE_UNAVAILABLE, "nothing is recorded: the server could not make "
                      "its board when it started; the error log says why");
    return answer(r, &query);
}

void mst_handler_register(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(handle_status, NULL, NULL, APR_HOOK_MIDDLE);
}

/* end_stream.c - whether a call on a stream can wait, and for what. */
#include <string.h>

#include "end_call.h"
#include "end_functions.h"
#include "end_known.h"

static struct mst_own_end file_end = { MST_WAIT_FILE, 0, "file" };
static struct mst_own_end pipe_end = { MST_WAIT_PROCESS, 0, "process" };
static int stream_type, persistent_stream_type;   /* of resources */

void mst_end_stream_join(void)
{
    stream_type = php_file_le_stream();
    persistent_stream_type = php_file_le_pstream();
    file_end.index = pipe_end.index = 0;
}

static php_stream *stream_of(zend_execute_data *call)
{
    zval *first = mst_call_argument(call, 0);

    if (first && Z_TYPE_P(first) == IS_RESOURCE
        && (Z_RES_P(first)->type == stream_type || Z_RES_P(first)->type == persistent_stream_type))
        return Z_RES_P(first)->ptr;
    return NULL;
}

static bool is_socket(const php_stream *stream)
{
    return strstr(stream->ops->label, "socket") != NULL;
}

/* Files, pipes and sockets; neither memory nor wrappers in PHP. */
static bool is_outside(const php_stream *stream)
{
    return stream && (stream->ops == &php_stream_stdio_ops || is_socket(stream));
}

MST_CAN_WAIT(reaches_out)
{
    return is_outside(stream_of(call));
}

static size_t buffered(const php_stream *stream)
{
    return stream->writepos > stream->readpos ? (size_t)(stream->writepos - stream->readpos) : 0;
}

MST_CAN_WAIT(reads_some)
{
    php_stream *stream = stream_of(call);

    return is_outside(stream) && buffered(stream) == 0;
}

MST_CAN_WAIT(reads_bytes)
{
    php_stream *stream = stream_of(call);
    zval *length = mst_call_argument(call, 1);

    return is_outside(stream) && !(length && Z_TYPE_P(length) == IS_LONG
                                   && (zend_ulong)Z_LVAL_P(length) <= buffered(stream));
}

MST_CAN_WAIT(reads_line)
{
    php_stream *stream = stream_of(call);

    return is_outside(stream)
        && !(buffered(stream) > 0
             && memchr(stream->readbuf + stream->readpos, '\n', buffered(stream)));
}

/* fopen() of http remembers what the stream is connected to; else its type tells. */
MST_END(stream)
{
    php_stream *stream = stream_of(call);
    uint64_t known;

    (void)result;
    if (stream && MPMSTAT_G(waits).has_known) {
        known = mst_known_find(stream->res);
        if (known != MST_KNOWN_NONE)
            return known;
    }
    if (!stream || stream->ops != &php_stream_stdio_ops)
        return mst_wait_of_own(&line->own);
    if (stream->flags & PHP_STREAM_FLAG_NO_SEEK)
        return mst_wait_of_own(&pipe_end);
    return mst_wait_of_own(&file_end);
}

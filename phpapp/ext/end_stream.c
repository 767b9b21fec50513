/* end_stream.c - whether a call on a stream can wait, and for what. */
#include <string.h>

#include "end_call.h"
#include "end_functions.h"

static struct mst_own_end file_end = { MST_WAIT_FILE, 0, "file" };
static struct mst_own_end pipe_end = { MST_WAIT_PROCESS, 0, "process" };
static int stream_type, persistent_stream_type;   /* of resources */

void mst_end_stream_join(void)
{
    stream_type = php_file_le_stream();
    persistent_stream_type = php_file_le_pstream();
    file_end.index = pipe_end.index = 0;
}

static inline php_stream *stream_in(const zval *value)
{
    if (value && Z_TYPE_P(value) == IS_RESOURCE
        && (Z_RES_P(value)->type == stream_type || Z_RES_P(value)->type == persistent_stream_type))
        return Z_RES_P(value)->ptr;
    return NULL;
}

static inline php_stream *stream_of(zend_execute_data *call)
{
    return stream_in(mst_call_argument(call, 0));
}

/* Streams of a kind share their functions. PHP does not export those of sockets; their label has
 * the word. The latest that had it is kept, which saves the search. */
static const php_stream_ops *latest_socket;

/* Called last, so that its caller needs no stack: 7 of a call's 300 instructions. */
static __attribute__((cold)) struct mst_own_end *end_of_new(const php_stream *stream,
                                                           struct mst_own_end *own)
{
    if (strstr(stream->ops->label, "socket") == NULL)
        return NULL;
    __atomic_store_n(&latest_socket, stream->ops, __ATOMIC_RELAXED);
    return own;
}

/* A file, a pipe or a socket, whose own end is the line's. NULL: memory, or a wrapper in PHP. */
static inline struct mst_own_end *end_of(const php_stream *stream, struct mst_own_end *own)
{
    if (!stream)
        return NULL;
    if (stream->ops == &php_stream_stdio_ops)
        return stream->flags & PHP_STREAM_FLAG_NO_SEEK ? &pipe_end : &file_end;
    if (stream->ops == __atomic_load_n(&latest_socket, __ATOMIC_RELAXED))
        return own;
    return end_of_new(stream, own);
}

MST_CAN_WAIT(reaches_out)
{
    return end_of(stream_of(call), own);
}

static size_t buffered(const php_stream *stream)
{
    return stream->writepos > stream->readpos ? (size_t)(stream->writepos - stream->readpos) : 0;
}

MST_CAN_WAIT(reads_some)
{
    php_stream *stream = stream_of(call);

    return stream && buffered(stream) == 0 ? end_of(stream, own) : NULL;
}

MST_CAN_WAIT(reads_bytes)
{
    php_stream *stream = stream_of(call);
    zval *length = mst_call_argument(call, 1);

    if (stream && length && Z_TYPE_P(length) == IS_LONG
        && (zend_ulong)Z_LVAL_P(length) <= buffered(stream))
        return NULL;
    return end_of(stream, own);
}

MST_CAN_WAIT(reads_line)
{
    php_stream *stream = stream_of(call);

    if (stream && buffered(stream) > 0
        && memchr(stream->readbuf + stream->readpos, '\n', buffered(stream)))
        return NULL;
    return end_of(stream, own);
}

/* Of the streams to read from, the first one tells: programs are read by their pipes. */
MST_CAN_WAIT(selects)
{
    zval *streams = mst_call_argument(call, 0), *first;

    if (!streams || Z_TYPE_P(streams) != IS_ARRAY)
        return own;
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(streams), first) {
        ZVAL_DEREF(first);
        return stream_in(first) && end_of(stream_in(first), own) == &pipe_end ? &pipe_end : own;
    } ZEND_HASH_FOREACH_END();
    return own;
}

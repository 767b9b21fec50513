/* trace_parts.c - the parts of a request's time, as reports call them: see trace_parts.h. */
#include "report/trace_parts.h"

const struct mst_trace_shown mst_trace_parts[MST_TRACE_COUNT] = {
    [MST_TRACE_QUEUE] = { "queue", "queue" },
    [MST_TRACE_H2_WAIT] = { "h2_wait", "for an HTTP/2 worker" },
    [MST_TRACE_TLS] = { "tls", "TLS" },
    [MST_TRACE_READ] = { "read", "read" },
    [MST_TRACE_CHECKS] = { "checks", "checks" },
    [MST_TRACE_UPLOAD] = { "upload", "upload" },
    [MST_TRACE_PHP_WAIT] = { "php_wait", "for PHP" },
    [MST_TRACE_CPU] = { "cpu", "PHP on a CPU" },
    [MST_TRACE_CPU_WAIT] = { "cpu_wait", "PHP for a CPU" },
    [MST_TRACE_WAITS + MST_WAIT_DATABASE] = { "database", "database" },
    [MST_TRACE_WAITS + MST_WAIT_CACHE] = { "cache", "cache" },
    [MST_TRACE_WAITS + MST_WAIT_HTTP] = { "http", "HTTP" },
    [MST_TRACE_WAITS + MST_WAIT_LOCK] = { "lock", "lock" },
    [MST_TRACE_WAITS + MST_WAIT_FILE] = { "wait", "files" },
    [MST_TRACE_WAITS + MST_WAIT_PROCESS] = { "wait", "processes" },
    [MST_TRACE_WAITS + MST_WAIT_DNS] = { "wait", "names" },
    [MST_TRACE_WAITS + MST_WAIT_MAIL] = { "wait", "mail" },
    [MST_TRACE_WAITS + MST_WAIT_SLEEP] = { "wait", "sleep" },
    [MST_TRACE_WAITS + MST_WAIT_STREAM] = { "wait", "streams" },
    [MST_TRACE_REST] = { "php_run", "running PHP" },
    [MST_TRACE_BACKEND] = { "backend", "backend" },
    [MST_TRACE_HANDLE] = { "handle", "handle" },
    [MST_TRACE_SEND_CLIENT] = { "send_client", "send: the client" },
    [MST_TRACE_SEND_NETWORK] = { "send_network", "send: the network" },
    [MST_TRACE_SEND_SERVER] = { "send_server", "send: the server" },
    [MST_TRACE_SEND] = { "send", "send" },
};

size_t mst_trace_longest(const uint64_t parts_ns[MST_TRACE_COUNT])
{
    size_t longest = 0, i;

    for (i = 1; i < MST_TRACE_COUNT; i++)
        if (parts_ns[i] > parts_ns[longest])
            longest = i;
    return longest;
}

/* trace.c - the parts of one request's time: see trace.h. */
#include "analysis/trace.h"

#include <string.h>

#include "segment/fields.h"

/* Takes a part from what is left of the whole. */
static uint64_t take(uint64_t *left, uint64_t ns)
{
    uint64_t part = ns == MST_UNKNOWN ? 0 : ns > *left ? *left : ns;

    *left -= part;
    return part;
}

void mst_trace_read_intervals(struct mst_trace_times *times, struct mst_query *q)
{
#define X_COLUMN(suffix, name) name "_ns",
    static const char *const columns[] = { MST_INTERVALS(X_COLUMN) };
    size_t i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        times->intervals_ns[i] = mst_row_number(q, columns[i]);
}

unsigned mst_trace_wait_of(const char *kind)
{
    unsigned i = 0;

    while (i < MST_WAIT_COUNT && (kind == NULL || strcmp(kind, mst_wait_names[i]) != 0))
        i++;
    return i;
}

/* PHP's run in handle and in send is one part of the trace: both phases are shorter by it. PHP goes
 * on after the response: that is on a CPU, or for one, so the waits are cut last. */
void mst_trace(uint64_t parts_ns[MST_TRACE_COUNT], const struct mst_trace_times *t)
{
    const uint64_t *interval = t->intervals_ns;
    uint64_t queue = t->queue_ns, read = t->read_ns, handle = t->handle_ns, send = t->send_ns, run;
    bool php;
    unsigned i;

    parts_ns[MST_TRACE_H2_WAIT] = take(&queue, interval[MST_INTERVAL_H2_WAIT]);
    parts_ns[MST_TRACE_QUEUE] = queue;
    parts_ns[MST_TRACE_TLS] = take(&read, interval[MST_INTERVAL_TLS]);
    parts_ns[MST_TRACE_READ] = read;
    parts_ns[MST_TRACE_PHP_WAIT] = take(&handle, t->php_wait_ns);
    run = take(&handle, t->php_run_ns) + take(&send, t->php_send_ns);
    php = parts_ns[MST_TRACE_PHP_WAIT] > 0 || run > 0;
    for (i = 0; i < MST_WAIT_COUNT; i++)
        parts_ns[MST_TRACE_WAITS + i] = take(&run, t->waits_ns[i]);
    parts_ns[MST_TRACE_CPU] = take(&run, t->cpu_ns);
    parts_ns[MST_TRACE_CPU_WAIT] = take(&run, t->cpu_wait_ns);
    parts_ns[MST_TRACE_REST] = run;
    parts_ns[MST_TRACE_CHECKS] = take(&handle, interval[MST_INTERVAL_CHECKS]);
    parts_ns[MST_TRACE_UPLOAD] = take(&handle, interval[MST_INTERVAL_UPLOAD]);
    /* A backend that is PHP is waited for while PHP's own parts last. */
    parts_ns[MST_TRACE_BACKEND] = php ? 0 : take(&handle, interval[MST_INTERVAL_BACKEND]);
    parts_ns[MST_TRACE_HANDLE] = handle;
    php = t->php_send_ns != MST_UNKNOWN && t->php_send_ns > 0;
    parts_ns[MST_TRACE_SEND_CLIENT] = php ? 0 : take(&send, interval[MST_INTERVAL_SEND_CLIENT]);
    parts_ns[MST_TRACE_SEND_NETWORK] = php ? 0 : take(&send, interval[MST_INTERVAL_SEND_NETWORK]);
    parts_ns[MST_TRACE_SEND_SERVER] = php ? 0 : take(&send, interval[MST_INTERVAL_SEND_SERVER]);
    parts_ns[MST_TRACE_SEND] = send;
}

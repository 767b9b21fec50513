/* glance.c - a snapshot as ten lines for a person: see glance.h. */
#include "report/glance.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "console/format.h"

#define WIDTH       80u
#define INDENT      16u    /* columns before a value */
#define NAME_WIDTH  48u    /* columns of a name, which comes from a board */
#define LISTED      4u     /* listeners, pools */

/* ---- lines of words --------------------------------------------------------------- */

/* What is said of one subject: items with commas between them. What does not fit is dropped. */
struct row { char text[2048]; size_t used; };

__attribute__((format(printf, 3, 0)))
static void add_text(struct row *row, const char *before, const char *format, va_list args)
{
    size_t room = sizeof row->text - row->used, length = strlen(before);
    int n;

    if (length >= room)
        return;
    memcpy(row->text + row->used, before, length + 1);
    n = vsnprintf(row->text + row->used + length, room - length, format, args);
    if (n >= 0 && length + (size_t)n < room)
        row->used += length + (size_t)n;
    row->text[row->used] = '\0';
}

__attribute__((format(printf, 2, 3)))
static void add_item(struct row *row, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_text(row, row->used > 0 ? ", " : "", format, args);
    va_end(args);
}

/* Continues the last item. */
__attribute__((format(printf, 2, 3)))
static void add_words(struct row *row, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_text(row, "", format, args);
    va_end(args);
}

/* A name in printable characters, as text has it. */
struct name { char text[4 * NAME_WIDTH + 4]; size_t used; bool cut; };

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t columns(const char *text, size_t length)
{
    size_t i, n = 0;

    for (i = 0; i < length; i++)
        n += begins_character(text[i]);
    return n;
}

/* Keeps the first characters; a sink's writer. */
static int keep_name(void *context, const void *bytes, size_t n)
{
    struct name *name = context;
    const char *more = bytes;
    size_t i;

    for (i = 0; i < n && !name->cut; i++) {
        name->cut = begins_character(more[i]) && columns(name->text, name->used) == NAME_WIDTH;
        if (!name->cut && name->used + 4 < sizeof name->text)
            name->text[name->used++] = more[i];
    }
    return 0;
}

static struct name printable(const char *string)
{
    struct name name = { .used = 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep_name, &name);
    mst_sink_text_string(&sink, string, false);
    mst_sink_flush(&sink);
    if (name.cut)
        memcpy(name.text + name.used, "...", 4);
    return name;
}

/* The bytes of a text that go on the first line of `room` columns: up to the last blank in them. */
static size_t first_line(const char *text, size_t room)
{
    size_t n, column = 0, blank = 0;

    for (n = 0; text[n] != '\0'; n++) {
        column += begins_character(text[n]);
        if (column > room && text[n] != ' ')
            return blank > 0 ? blank : n;
        if (text[n] == ' ')
            blank = n;
    }
    return n;
}

/* Names in it are printable already: it is not escaped again. */
static void put_row(struct mst_sink *sink, const char *subject, const struct row *row)
{
    const char *text = row->text;
    char label[INDENT + 1];
    size_t n;

    while (*text != '\0') {
        snprintf(label, sizeof label, "  %-*s", (int)INDENT - 2, subject);
        n = first_line(text, WIDTH - INDENT);
        mst_sink_puts(sink, label);
        mst_sink_bytes(sink, text, n);
        mst_sink_char(sink, '\n');
        text += n + (text[n] == ' ');
        subject = "";
    }
}

/* ---- numbers ------------------------------------------------------------------------ */

static bool is_known(uint64_t n)
{
    return n != MST_UNKNOWN;
}

/* What is known of several. */
static void add_known(uint64_t *sum, uint64_t n)
{
    if (is_known(n))
        *sum = mst_add_saturated(*sum, n);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static struct mst_formatted share(uint64_t part, uint64_t whole)
{
    return mst_format_percent(mst_milli(part, whole));
}

/* ---- the server --------------------------------------------------------------------- */

static void put_server(struct mst_sink *sink, const struct mst_snapshot *b)
{
    const char *producer = b->producer != NULL ? b->producer : "unknown";
    const char *kind = b->mpm != NULL ? b->mpm : b->sapi;
    struct row row = { .used = 0 };

    add_item(&row, "%s", printable(b->server != NULL ? b->server : producer).text);
    if (kind != NULL)
        add_item(&row, "%s", printable(kind).text);
    if (b->path != NULL)
        add_item(&row, "%s", printable(b->path).text);
    put_row(sink, "Server", &row);
}

static struct mst_formatted instant(uint64_t ns)
{
    struct mst_formatted f;
    time_t seconds = (time_t)(ns / MST_NS_PER_S);
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL || strftime(f.text, sizeof f.text, "%F %T UTC", &tm) == 0)
        return (struct mst_formatted){ "-" };
    return f;
}

static void put_running(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct row row = { .used = 0 };

    add_item(&row, "%s", b->running != NULL ? printable(b->running).text : "unknown");
    if (is_known(b->started_ns))
        add_item(&row, "since %s", instant(b->started_ns).text);
    if (is_known(b->uptime_ns))
        add_words(&row, " (%s)", mst_format_duration(b->uptime_ns).text);
    if (is_known(b->stopped_ns))
        add_item(&row, "stopped %s", instant(b->stopped_ns).text);
    if (is_known(b->pid))
        add_item(&row, "pid %" PRIu64, b->pid);
    if (is_known(b->owner))
        add_item(&row, "the board is user %" PRIu64 "'s", b->owner);
    put_row(sink, "Running", &row);
}

/* The status page's own requests are no load. */
static bool is_load(const struct mst_snapshot_label *label)
{
    return label->label == NULL || strcmp(label->label, MST_LABEL_STATUS_NAME) != 0;
}

static void put_requests(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t requests = 0, in_flight = 0;
    struct row row = { .used = 0 };
    size_t i;

    for (i = 0; i < b->label_count; i++)
        if (is_load(&b->labels[i])) {
            add_known(&requests, b->labels[i].requests);
            add_known(&in_flight, b->labels[i].in_flight);
        }
    add_item(&row, "%" PRIu64 " since the start", requests);
    if (is_known(b->uptime_ns) && b->uptime_ns > 0)
        add_item(&row, "%s/s on average",
                 mst_format_milli(mst_rate_milli(requests, b->uptime_ns)).text);
    /* Where the journal has gone round, its window is shorter than the server's life. */
    if (is_known(b->requests_written) && is_known(b->requests_capacity) &&
        b->requests_written > b->requests_capacity && is_known(b->window_ns) && b->window_ns > 0)
        add_item(&row, "%s/s in the last %s",
                 mst_format_milli(mst_rate_milli(b->requests_capacity, b->window_ns)).text,
                 mst_format_duration(b->window_ns).text);
    add_item(&row, "%" PRIu64 " in flight", in_flight);
    put_row(sink, "Requests", &row);
}

/* ---- workers and queues --------------------------------------------------------------- */

static uint64_t busy_now(const struct mst_snapshot *b)
{
    uint64_t busy = 0;
    size_t i;

    if (is_known(b->workers_busy))
        return b->workers_busy;
    for (i = MST_STATE_IDLE + 1; i < MST_STATE_COUNT; i++)
        add_known(&busy, b->workers[i]);
    return busy;
}

static void put_workers(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t busy = busy_now(b);
    struct row row = { .used = 0 };
    size_t i;

    add_item(&row, "%" PRIu64, busy);
    if (is_known(b->workers_limit) && b->workers_limit > 0)
        add_words(&row, " of %" PRIu64 " busy (%s)", b->workers_limit,
                  share(busy, b->workers_limit).text);
    else
        add_words(&row, " busy");
    if (is_known(b->workers_busy_max))
        add_item(&row, "at most %" PRIu64 " so far", b->workers_busy_max);
    for (i = MST_STATE_IDLE + 1; i < MST_STATE_COUNT; i++)
        if (is_known(b->workers[i]) && b->workers[i] > 0)
            add_item(&row, "%" PRIu64 " %s", b->workers[i], mst_state_names[i]);
    put_row(sink, "Workers", &row);
}

static void put_pools(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct row row = { .used = 0 };
    size_t i, shown = 0, more = 0;

    for (i = 0; i < b->label_count; i++) {
        const struct mst_snapshot_label *pool = &b->labels[i];

        if (!is_known(pool->workers_limit) || !is_known(pool->in_flight))
            continue;
        if (shown == LISTED) {
            more++;
            continue;
        }
        shown++;
        add_item(&row, "%s %" PRIu64 " of %" PRIu64 " busy", printable(pool->label).text,
                 pool->in_flight, pool->workers_limit);
    }
    if (more > 0)
        add_item(&row, "%zu more", more);
    put_row(sink, "Pools", &row);
}

static void put_queues(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct row row = { .used = 0 };
    size_t i, shown = 0, more = 0;

    for (i = 0; b->listeners_known && i < b->listener_count; i++) {
        const struct mst_snapshot_listener *l = &b->listeners[i];

        if (!is_known(l->queue))
            continue;
        if (shown == LISTED) {
            more++;
            continue;
        }
        shown++;
        add_item(&row, "%" PRIu64, l->queue);
        if (is_known(l->queue_limit))
            add_words(&row, " of %" PRIu64, l->queue_limit);
        add_words(&row, " at %s", l->address != NULL ? printable(l->address).text
                                                          : "a socket without a name");
    }
    if (more > 0)
        add_item(&row, "%zu more sockets", more);
    put_row(sink, "Accept queue", &row);
}

/* ---- where the time went ---------------------------------------------------------------- */

struct part { const char *name; uint64_t ns; };

static uint64_t phase_ns(const struct mst_snapshot *b, enum mst_phase phase)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < b->label_count; i++)
        if (is_load(&b->labels[i]))
            add_known(&sum, b->labels[i].phases[phase].sum_ns);
    return sum;
}

static void put_parts(struct mst_sink *sink, const struct part *parts, size_t count)
{
    struct row row = { .used = 0 };
    uint64_t whole = 0;
    size_t i;

    for (i = 0; i < count; i++)
        add_known(&whole, parts[i].ns);
    for (i = 0; i < count && whole > 0; i++)
        if (is_known(parts[i].ns) && parts[i].ns > 0)
            add_item(&row, "%s %s", parts[i].name, share(parts[i].ns, whole).text);
    put_row(sink, "Time went to", &row);
}

static void put_apache_time(struct mst_sink *sink, const struct mst_snapshot *b)
{
    const struct part parts[] = {
        { "queue", phase_ns(b, MST_PHASE_QUEUE) }, { "read", phase_ns(b, MST_PHASE_READ) },
        { "handle", phase_ns(b, MST_PHASE_HANDLE) }, { "send", phase_ns(b, MST_PHASE_SEND) },
    };

    put_parts(sink, parts, sizeof parts / sizeof parts[0]);
}

/* PHP's run is CPU, the waits that it measures, and the rest of it. */
static void put_php_time(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct part parts[3 + MST_WAIT_COUNT];
    uint64_t cpu = 0, explained;
    size_t i, w;

    for (w = 0; w < MST_WAIT_COUNT; w++)
        parts[2 + w] = (struct part){ mst_wait_names[w], 0 };
    for (i = 0; i < b->label_count; i++) {
        add_known(&cpu, b->labels[i].php_user_ns);
        add_known(&cpu, b->labels[i].php_system_ns);
        for (w = 0; w < MST_WAIT_COUNT; w++)
            add_known(&parts[2 + w].ns, b->labels[i].php_waits_ns[w]);
    }
    explained = cpu;
    for (w = 0; w < MST_WAIT_COUNT; w++)
        explained = mst_add_saturated(explained, parts[2 + w].ns);
    parts[0] = (struct part){ "waiting for a worker", phase_ns(b, MST_PHASE_PHP_WAIT) };
    parts[1] = (struct part){ "CPU", cpu };
    parts[2 + MST_WAIT_COUNT] = (struct part){
        "other", mst_subtract_saturated(phase_ns(b, MST_PHASE_PHP_RUN), explained) };
    put_parts(sink, parts, sizeof parts / sizeof parts[0]);
}

/* ---- what went wrong --------------------------------------------------------------------- */

static void put_ran_out(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct row row = { .used = 0 };
    size_t i;

    if (is_known(b->no_idle_ns) && b->no_idle_ns > 0)
        add_item(&row, "no worker was idle for %s", mst_format_time(b->no_idle_ns).text);
    for (i = 0; i < b->label_count; i++)
        if (is_known(b->labels[i].limit_reached) && b->labels[i].limit_reached > 0)
            add_item(&row, "pool %s reached its limit %" PRIu64 " time%s",
                     printable(b->labels[i].label).text, b->labels[i].limit_reached,
                     plural(b->labels[i].limit_reached));
    /* The kernel counts for all programs. */
    if (is_known(b->listen_overflows) && b->listen_overflows > 0)
        add_item(&row, "the machine's accept queues overflowed %" PRIu64 " time%s since its boot",
                 b->listen_overflows, plural(b->listen_overflows));
    if (is_known(b->forks_failed) && b->forks_failed > 0)
        add_item(&row, "%" PRIu64 " fork%s failed", b->forks_failed, plural(b->forks_failed));
    if (row.used == 0)
        add_item(&row, "nothing so far");
    put_row(sink, "Ran out", &row);
}

static void put_errors(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t server = 0, client = 0, aborted = 0, fatal = 0, timeouts = 0, unfinished = 0, died = 0;
    struct row row = { .used = 0 };
    size_t i;

    for (i = 0; i < b->label_count; i++) {
        const struct mst_snapshot_label *label = &b->labels[i];

        add_known(&server, label->status[MST_CLASS_5XX]);
        add_known(&client, label->status[MST_CLASS_4XX]);
        add_known(&aborted, label->status[MST_CLASS_ABORTED]);
        add_known(&fatal, label->php_fatal);
        add_known(&timeouts, label->php_timeouts);
    }
    add_known(&unfinished, b->unfinished);
    add_known(&died, b->exits[MST_REASON_SIGNAL]);
    add_known(&died, b->exits[MST_REASON_KILLED]);
    if (server > 0)
        add_item(&row, "%" PRIu64 " of status 5xx", server);
    if (client > 0)
        add_item(&row, "%" PRIu64 " of status 4xx", client);
    if (aborted > 0)
        add_item(&row, "%" PRIu64 " aborted by the client", aborted);
    if (fatal > 0)
        add_item(&row, "%" PRIu64 " fatal error%s of PHP", fatal, plural(fatal));
    if (timeouts > 0)
        add_item(&row, "%" PRIu64 " timeout%s of PHP", timeouts, plural(timeouts));
    if (unfinished > 0)
        add_item(&row, "%" PRIu64 " request%s without an end", unfinished, plural(unfinished));
    if (died > 0)
        add_item(&row, "%" PRIu64 " process%s killed", died, died == 1 ? "" : "es");
    if (row.used == 0)
        add_item(&row, "none so far");
    put_row(sink, "Errors", &row);
}

/* ---- the longest in flight ----------------------------------------------------------------- */

static void put_longest(struct mst_sink *sink, const struct mst_snapshot *b)
{
    const struct mst_snapshot_slot *longest = NULL;
    struct row row = { .used = 0 };
    size_t i;

    for (i = 0; i < b->slot_count; i++)
        if (is_known(b->slots[i].request_for_ns) &&
            (longest == NULL || b->slots[i].request_for_ns > longest->request_for_ns))
            longest = &b->slots[i];
    if (longest == NULL)
        return;
    add_item(&row, "%s", mst_format_time(longest->request_for_ns).text);
    if (longest->state != NULL)
        add_words(&row, " (%s)", printable(longest->state).text);
    if (longest->label != NULL)
        add_item(&row, "%s", printable(longest->label).text);
    if (longest->path != NULL)
        add_words(&row, " %s", printable(longest->path).text);
    if (is_known(longest->pid))
        add_item(&row, "pid %" PRIu64, longest->pid);
    if (longest->wait != NULL) {
        add_item(&row, "waits");
        if (is_known(longest->wait_for_ns))
            add_words(&row, " %s", mst_format_time(longest->wait_for_ns).text);
        add_words(&row, " for %s", printable(longest->wait).text);
        if (longest->wait_end != NULL)
            add_words(&row, " (%s)", printable(longest->wait_end).text);
    }
    put_row(sink, "Longest now", &row);
}

static void put_processes(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct row row = { .used = 0 };

    if (is_known(b->forks[MST_KIND_CHILD]))
        add_item(&row, "%" PRIu64 " started", b->forks[MST_KIND_CHILD]);
    if (is_known(b->ended[MST_KIND_CHILD]))
        add_item(&row, "%" PRIu64 " ended", b->ended[MST_KIND_CHILD]);
    if (is_known(b->generation) && b->generation > 0)
        add_item(&row, "%" PRIu64 " restart%s", b->generation, plural(b->generation));
    put_row(sink, "Processes", &row);
}

void mst_glance(struct mst_sink *sink, const struct mst_snapshot *board)
{
    put_server(sink, board);
    put_running(sink, board);
    put_requests(sink, board);
    put_workers(sink, board);
    put_pools(sink, board);
    put_queues(sink, board);
    if (board->producer != NULL && strcmp(board->producer, "php") == 0)
        put_php_time(sink, board);
    else
        put_apache_time(sink, board);
    put_ran_out(sink, board);
    put_errors(sink, board);
    put_longest(sink, board);
    put_processes(sink, board);
}

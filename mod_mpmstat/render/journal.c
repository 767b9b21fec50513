/* journal.c - the journal as lines of JSON: the remote form of tailing a board.
 *
 * The asker's cursor is all the state there is, so an answer gives records up to
 * the first one that may still be coming, and nothing behind it: the cursor says
 * "all before this", and must be right.
 */
#include "render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "saturate.h"

struct record {
    uint64_t ticket;
    union {
        struct mst_request     request;
        struct mst_lifecycle   lifecycle;
        struct mst_php_request php_request;
        struct mst_mark        mark;
    } payload;
};

/* What an answer has of one ring. */
struct page {
    const struct mst_reader *reader;
    enum mst_section_id      section;
    uint64_t       from;       /* the first ticket wanted */
    uint64_t       head;       /* the next ticket that a writer will take */
    uint64_t       next;       /* for the cursor: all before this are given or lost */
    uint64_t       lost;
    size_t         count, room;
    struct record *records;    /* by ticket */
    size_t         hole_count;
    uint64_t       holes[MST_TAIL_HOLES];   /* tickets of records not complete, ascending */
    uint64_t       passed;     /* the first ticket not looked at */
};

/* Labels' names as they were after the records were read: one that a record
 * refers to is then among them. */
struct labels {
    size_t                 count;
    struct mst_label_name *names;
};

/* ---- reading a ring -------------------------------------------------------------- */

static uint64_t capacity(const struct page *p)
{
    return p->reader->header.section[p->section].count;
}

static int take_record(void *context, uint64_t ticket, const void *payload)
{
    struct page *p = context;
    struct record *r = &p->records[p->count++];

    r->ticket = ticket;
    switch (p->section) {
    case MST_SECTION_REQUESTS:
        memcpy(&r->payload.request, payload, sizeof(r->payload.request));
        break;
    case MST_SECTION_PHP_REQUESTS:
        memcpy(&r->payload.php_request, payload, sizeof(r->payload.php_request));
        r->payload.php_request.script[MST_PATH_MAX - 1] = '\0';
        break;
    case MST_SECTION_MARKS:
        memcpy(&r->payload.mark, payload, sizeof(r->payload.mark));
        r->payload.mark.name[MST_MARK_MAX - 1] = '\0';
        break;
    default:
        memcpy(&r->payload.lifecycle, payload, sizeof(r->payload.lifecycle));
    }
    return 0;
}

static int by_ticket(const void *left, const void *right)
{
    const struct record *a = left, *b = right;

    return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

static int poll_once(struct page *p, struct mst_tail *tail, char error[MST_ERROR_MAX])
{
    size_t i;

    if (mst_tail_poll(tail, p->room, take_record, p, error) < 0)
        return -1;
    qsort(p->records, p->count, sizeof(p->records[0]), by_ticket);
    p->passed = tail->next;
    p->hole_count = tail->hole_count;
    for (i = 0; i < tail->hole_count; i++)
        p->holes[i] = tail->holes[i].ticket;
    return 0;
}

/* Reads at most `limit` records from p->from on. */
static int read_ring(struct page *p, size_t limit, char error[MST_ERROR_MAX])
{
    struct mst_tail tail;
    int rc;

    p->room = limit < capacity(p) ? limit : (size_t)capacity(p);
    p->records = calloc(p->room, sizeof(p->records[0]));
    if (p->records == NULL)
        return mst_fail(error, "out of memory while reading the journal of %s", p->reader->path);
    if (mst_tail_open(&tail, p->reader, p->section, p->from, error) != 0)
        return -1;
    rc = poll_once(p, &tail, error);
    mst_tail_close(&tail);
    return rc;
}

/* ---- what is missing: lost, or still coming? ---------------------------------------- */

static uint64_t total_ns(const struct mst_request *q)
{
    return mst_add_saturated(mst_add_saturated(q->queue_ns, q->read_ns),
                             mst_add_saturated(q->handle_ns, q->send_ns));
}

/* When a record's writer took its ticket, to within the moment between the two. */
static uint64_t written_ns(const struct page *p, const struct record *r)
{
    switch (p->section) {
    case MST_SECTION_REQUESTS:
        return mst_add_saturated(r->payload.request.start_ns, total_ns(&r->payload.request));
    case MST_SECTION_PHP_REQUESTS:
        return mst_add_saturated(r->payload.php_request.start_ns, r->payload.php_request.run_ns);
    case MST_SECTION_MARKS:
        return r->payload.mark.time_ns;
    default:
        return r->payload.lifecycle.time_ns;
    }
}

static bool server_is_gone(const struct mst_header *header)
{
    int running = mst_snapshot_running(header);

    return running == 0 || (running < 0 && header->stopped_ns != 0);
}

/* Whether nobody will complete the record in this hole: a record of a later
 * ticket (`after`, NULL: none was read) was written so long ago that this writer
 * must have been killed; or the ring comes round to it; or its server is gone. */
static bool hopeless(const struct page *p, uint64_t hole, const struct record *after,
                     uint64_t now_ns)
{
    if (after != NULL && mst_elapsed(written_ns(p, after), now_ns) > MST_TAIL_PATIENCE_NS)
        return true;
    /* The tail may have met a hole behind the head that this page began with. */
    return (hole < p->head && p->head - hole > capacity(p) / 2)
           || p->hole_count == MST_TAIL_HOLES || server_is_gone(&p->reader->header);
}

/* Moves p->next over the missing records before `to`. Those that are no holes
 * have been overwritten. Returns false where it met one that may still come. */
static bool pass_missing(struct page *p, uint64_t to, const struct record *after, uint64_t now_ns)
{
    size_t i = 0;
    bool waits;

    while (i < p->hole_count && p->holes[i] < p->next)
        i++;
    waits = i < p->hole_count && p->holes[i] < to && !hopeless(p, p->holes[i], after, now_ns);
    if (waits)
        to = p->holes[i];
    p->lost = mst_add_saturated(p->lost, to - p->next);
    p->next = to;
    return !waits;
}

/* Decides how many of the records read are given, and where the cursor goes. */
static void settle(struct page *p, uint64_t now_ns)
{
    size_t i;

    p->next = p->from;
    for (i = 0; i < p->count; i++) {
        if (!pass_missing(p, p->records[i].ticket, &p->records[i], now_ns)) {
            p->count = i;
            return;
        }
        p->next = p->records[i].ticket + 1;
    }
    pass_missing(p, p->passed, NULL, now_ns);
}

static int read_labels(struct labels *labels, const struct mst_reader *reader,
                       char error[MST_ERROR_MAX])
{
    const struct mst_section *s = &reader->header.section[MST_SECTION_LABELS];
    size_t i;

    labels->names = calloc(s->count, sizeof(labels->names[0]));
    if (labels->names == NULL)
        return mst_fail(error, "out of memory while reading the labels of %s", reader->path);
    for (i = 0; i < s->count; i++) {
        if (mst_reader_read(reader, s->offset + i * s->stride, &labels->names[i],
                            sizeof(labels->names[i]), error) != 0)
            return -1;
        labels->names[i].name[MST_NAME_MAX - 1] = '\0';
    }
    labels->count = s->count;
    return 0;
}

/* ---- lines -------------------------------------------------------------------------- */

static void put_key(struct mst_sink *out, const char *key)
{
    mst_sink_puts(out, ",\"");
    mst_sink_puts(out, key);
    mst_sink_puts(out, "\":");
}

/* Parsers want integers of 63 bits at most; no honest number is larger. */
static void put_number(struct mst_sink *out, const char *key, uint64_t n)
{
    put_key(out, key);
    if (n > INT64_MAX)   /* MST_UNKNOWN is one */
        mst_sink_puts(out, "null");
    else
        mst_sink_u64(out, n);
}

static void put_seconds(struct mst_sink *out, const char *key, uint64_t ns)
{
    put_key(out, key);
    if (ns == MST_UNKNOWN)
        mst_sink_puts(out, "null");
    else
        mst_sink_seconds(out, ns);
}

static void put_string(struct mst_sink *out, const char *key, const char *string)
{
    put_key(out, key);
    mst_sink_json_string(out, string);
}

static void put_bool(struct mst_sink *out, const char *key, bool value)
{
    put_key(out, key);
    mst_sink_puts(out, value ? "true" : "false");
}

static void begin_line(struct mst_sink *out, uint64_t ticket)
{
    mst_sink_puts(out, "{\"ticket\":");
    mst_sink_u64(out, ticket);
}

static uint64_t wall_ns(const struct mst_reader *reader, uint64_t monotonic_ns)
{
    int64_t offset_ns = reader->header.realtime_offset_ns;

    if (offset_ns < 0)
        return mst_elapsed(-(uint64_t)offset_ns, monotonic_ns);
    return mst_add_saturated(monotonic_ns, (uint64_t)offset_ns);
}

static void put_phases(struct mst_sink *out, const struct mst_request *q)
{
    put_seconds(out, "queue", q->queue_ns);
    put_seconds(out, "read", q->read_ns);
    put_seconds(out, "handle", q->handle_ns);
    put_seconds(out, "send", q->send_ns);
    put_seconds(out, "held", q->held_ns);
    put_seconds(out, "total", total_ns(q));
    put_seconds(out, "front", q->front_ns);
}

static const char *label_name(const struct labels *labels, uint64_t index)
{
    return index < labels->count && labels->names[index].used == 1 ? labels->names[index].name
                                                                   : NULL;
}

static void put_request(struct mst_sink *out, const struct page *p, const struct record *r,
                        const struct labels *labels)
{
    const struct mst_request *q = &r->payload.request;
    uint64_t flags = q->label_status >> 16 & 0xffff, worker = q->pid_worker & UINT32_MAX;

    begin_line(out, r->ticket);
    put_number(out, "id", q->id);
    put_seconds(out, "start", wall_ns(p->reader, q->start_ns));
    put_phases(out, q);
    put_number(out, "bytes", q->bytes);
    put_string(out, "label", label_name(labels, q->label_status >> 32));
    put_number(out, "status", q->label_status & 0xffff);
    put_bool(out, "aborted", flags & MST_REQUEST_ABORTED);
    put_bool(out, "no_worker", flags & MST_REQUEST_NO_WORKER);
    put_number(out, "pid", q->pid_worker >> 32);
    put_number(out, "worker", worker == UINT32_MAX ? MST_UNKNOWN : worker);
    put_number(out, "connection", q->connection >> 16);
    put_number(out, "port", q->connection & 0xffff);
    put_number(out, "nth", q->nth);
    put_number(out, "client_id", q->client_id > 0 ? q->client_id - 1 : MST_UNKNOWN);
    mst_sink_puts(out, "}\n");
}

static const char *name_of(const char *const *names, uint64_t count, uint64_t index)
{
    return index < count ? names[index] : NULL;   /* NULL: a newer writer's */
}

static void put_lifecycle(struct mst_sink *out, const struct page *p, const struct record *r)
{
    const struct mst_lifecycle *l = &r->payload.lifecycle;
    uint64_t event = l->event_kind >> 32, kind = l->event_kind & UINT32_MAX;

    begin_line(out, r->ticket);
    put_string(out, "event", name_of(mst_event_names, MST_EVENT_COUNT, event));
    put_string(out, "kind", name_of(mst_kind_names, MST_KIND_COUNT, kind));
    put_seconds(out, "time", wall_ns(p->reader, l->time_ns));
    put_number(out, "pid", l->pid_parent >> 32);
    put_number(out, "parent", l->pid_parent & UINT32_MAX);
    put_number(out, "slot", l->mpm_slot < 0 ? MST_UNKNOWN : (uint64_t)l->mpm_slot);
    put_number(out, "generation", l->generation);
    put_seconds(out, "duration", l->duration_ns);
    put_number(out, "requests", l->requests);
    put_number(out, "unfinished", l->unfinished);
    put_string(out, "reason", event == MST_EVENT_EXIT
                              ? name_of(mst_reason_names, MST_REASON_COUNT, l->reason) : NULL);
    mst_sink_puts(out, "}\n");
}

/* Whether OPcache had the script: two flags, and neither where nobody knows. */
static void put_cached(struct mst_sink *out, uint64_t flags)
{
    put_key(out, "cached");
    mst_sink_puts(out, flags & MST_PHP_CACHED ? "true" : flags & MST_PHP_UNCACHED ? "false"
                                                                                  : "null");
}

static void put_php_request(struct mst_sink *out, const struct page *p, const struct record *r,
                            const struct labels *labels)
{
    const struct mst_php_request *q = &r->payload.php_request;
    uint64_t flags = q->label_status >> 16 & 0xffff, worker = q->pid_worker & UINT32_MAX;
    uint64_t status = q->label_status & 0xffff;

    begin_line(out, r->ticket);
    put_number(out, "php_request", q->id);
    put_seconds(out, "start", wall_ns(p->reader, q->start_ns));
    put_seconds(out, "php_wait", q->wait_ns);
    put_seconds(out, "php_run", q->run_ns);
    put_seconds(out, "user", q->user_ns);
    put_seconds(out, "system", q->system_ns);
    put_number(out, "memory", q->memory_bytes);
    put_string(out, "label", label_name(labels, q->label_status >> 32));
    put_number(out, "status", status != 0 ? status : MST_UNKNOWN);
    put_string(out, "script", q->script);
    put_bool(out, "aborted", flags & MST_PHP_ABORTED);
    put_bool(out, "fatal", flags & MST_PHP_FATAL);
    put_bool(out, "timeout", flags & MST_PHP_TIMEOUT);
    put_cached(out, flags);
    put_number(out, "pid", q->pid_worker >> 32);
    put_number(out, "worker", worker == UINT32_MAX ? MST_UNKNOWN : worker);
    mst_sink_puts(out, "}\n");
}

static void put_mark(struct mst_sink *out, const struct page *p, const struct record *r)
{
    const struct mst_mark *m = &r->payload.mark;

    begin_line(out, r->ticket);
    put_string(out, "mark", m->name);
    put_seconds(out, "time", wall_ns(p->reader, m->time_ns));
    put_number(out, "pid", m->pid);
    put_seconds(out, "request_start", wall_ns(p->reader, m->request_start_ns));
    mst_sink_puts(out, "}\n");
}

static void put_record(struct mst_sink *out, const struct page *p, const struct record *r,
                       const struct labels *labels)
{
    switch (p->section) {
    case MST_SECTION_REQUESTS:     put_request(out, p, r, labels); break;
    case MST_SECTION_PHP_REQUESTS: put_php_request(out, p, r, labels); break;
    case MST_SECTION_MARKS:        put_mark(out, p, r); break;
    default:                       put_lifecycle(out, p, r);
    }
}

static void put_trailer(struct mst_sink *out, const struct mst_cursor *next, uint64_t lost,
                        bool more)
{
    mst_sink_puts(out, "{\"next\":\"");
    mst_cursor_print(out, next);
    mst_sink_char(out, '"');
    put_number(out, "lost", lost);
    put_bool(out, "more", more);
    mst_sink_puts(out, "}\n");
}

/* ---- an answer ------------------------------------------------------------------------ */

/* The rings of an answer, in the order of their lines. */
enum ring { LIFECYCLE, REQUESTS, MARKS, RINGS };

/* An answer in the making: the board's rings, and the labels that requests name. */
struct answer {
    const struct mst_reader *reader;
    struct page   pages[RINGS];
    size_t        count;     /* of the pages: an Apache has no marks */
    struct labels labels;
    bool          forgets;   /* the cursor is of an earlier start: what is lost is unknown */
    bool          lifecycle_only;
};

static void begin_answer(struct answer *a, const struct mst_reader *reader)
{
    bool is_php = reader->header.producer == MST_PRODUCER_PHP;
    size_t i;

    memset(a, 0, sizeof(*a));
    a->reader = reader;
    a->count = is_php ? RINGS : MARKS;
    for (i = 0; i < a->count; i++)
        a->pages[i].reader = reader;
    a->pages[LIFECYCLE].section = MST_SECTION_LIFECYCLE;
    a->pages[REQUESTS].section = is_php ? MST_SECTION_PHP_REQUESTS : MST_SECTION_REQUESTS;
    a->pages[MARKS].section = MST_SECTION_MARKS;
}

static void free_answer(struct answer *a)
{
    size_t i;

    for (i = 0; i < a->count; i++)
        free(a->pages[i].records);
    free(a->labels.names);
}

/* The tickets of a cursor by ring; those of the rings that there are. */
static void unpack(const struct mst_cursor *c, uint64_t tickets[RINGS])
{
    tickets[LIFECYCLE] = c->lifecycle;
    tickets[REQUESTS] = c->request;
    tickets[MARKS] = c->mark;
}

static uint64_t oldest(const struct page *p)
{
    uint64_t last = p->head - 1;

    return last > capacity(p) ? last - capacity(p) + 1 : 1;
}

static enum mst_journal_result bad_cursor(const struct answer *a, char error[MST_ERROR_MAX])
{
    mst_fail(error, "the cursor is not one of the journal of %s, which goes on with request %"
             PRIu64 " and event %" PRIu64 "; expected is one that this server gave as \"next\"",
             a->reader->path, a->pages[REQUESTS].head, a->pages[LIFECYCLE].head);
    return MST_JOURNAL_BAD_CURSOR;
}

/* Where the answer begins. */
static enum mst_journal_result find_start(struct answer *a, const char *since,
                                          char error[MST_ERROR_MAX])
{
    bool from_oldest = since != NULL && strcmp(since, "start") == 0;
    bool from_now = since == NULL || since[0] == '\0' || strcmp(since, "now") == 0;
    struct mst_cursor c = { .started_ns = a->reader->header.started_ns };
    uint64_t tickets[RINGS];
    size_t i;

    if (!from_oldest && !from_now && mst_cursor_parse(&c, since) != 0) {
        mst_fail(error, "there is no such place in the journal; expected is \"now\", \"start\", "
                 "or the cursor that an earlier answer gave as \"next\"");
        return MST_JOURNAL_BAD_CURSOR;
    }
    a->forgets = c.started_ns != a->reader->header.started_ns;
    from_oldest = from_oldest || a->forgets;
    unpack(&c, tickets);
    if (!from_oldest && !from_now && (c.mark > 0) != (a->count > MARKS))
        return bad_cursor(a, error);   /* another kind of server's */
    for (i = 0; i < a->count; i++) {
        struct page *p = &a->pages[i];

        p->from = from_oldest ? oldest(p) : from_now ? p->head : tickets[i];
        if (p->from > p->head)
            return bad_cursor(a, error);
        if (a->lifecycle_only && i != LIFECYCLE)
            p->from = p->head;
        p->passed = p->from;
    }
    return MST_JOURNAL_OK;
}

/* Reads and decides all that the answer will say. */
static enum mst_journal_result prepare(struct answer *a, const char *since, size_t limit,
                                       char error[MST_ERROR_MAX])
{
    enum mst_journal_result result;
    uint64_t now_ns = mst_now_ns();
    size_t i;

    for (i = 0; i < a->count; i++)
        if (mst_journal_head(a->reader, a->pages[i].section, &a->pages[i].head, error) != 0)
            return MST_JOURNAL_UNREADABLE;
    result = find_start(a, since, error);
    if (result != MST_JOURNAL_OK)
        return result;
    for (i = 0; i < a->count; i++)
        if (a->pages[i].from < a->pages[i].head && read_ring(&a->pages[i], limit, error) != 0)
            return MST_JOURNAL_UNREADABLE;
    if (a->pages[REQUESTS].count > 0 && read_labels(&a->labels, a->reader, error) != 0)
        return MST_JOURNAL_UNREADABLE;
    for (i = 0; i < a->count; i++)
        settle(&a->pages[i], now_ns);
    return MST_JOURNAL_OK;
}

static void put_answer(struct mst_sink *out, const struct answer *a)
{
    struct mst_cursor next = { a->reader->header.started_ns, a->pages[REQUESTS].next,
                               a->pages[LIFECYCLE].next, a->pages[MARKS].next };
    uint64_t lost = 0;
    bool more = false;
    size_t i, k;

    for (i = 0; i < a->count; i++) {
        const struct page *p = &a->pages[i];

        for (k = 0; k < p->count; k++)
            put_record(out, p, &p->records[k], &a->labels);
        lost = mst_add_saturated(lost, p->lost);
        more = more || p->next < p->head;
    }
    put_trailer(out, &next, a->forgets ? MST_UNKNOWN : lost, more);
}

enum mst_journal_result mst_render_journal(struct mst_sink *sink, const struct mst_reader *reader,
                                           const char *since, size_t limit, bool lifecycle_only,
                                           char error[MST_ERROR_MAX])
{
    struct answer a;
    enum mst_journal_result result;

    begin_answer(&a, reader);
    a.lifecycle_only = lifecycle_only;
    result = prepare(&a, since, limit, error);
    if (result == MST_JOURNAL_OK) {
        put_answer(sink, &a);
        mst_sink_flush(sink);
    }
    free_answer(&a);
    return result;
}

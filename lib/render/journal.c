/* journal.c - the journal as lines of JSON: what tail.c is for a file, over HTTP.
 *
 * The client's cursor is the only state, and means "all before this". So an answer gives records
 * up to the first one that can still be completed, and none behind it.
 *
 * A ring is read and written batch by batch: however slowly the sink takes the answer, it needs
 * about 70 KB. What the ring overwrites meanwhile is lost, and counted.
 */
#include "render/journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "render/cursor.h"
#include "render/journal_line.h"
#include "segment/liveness.h"

#define BATCH_RECORDS 64u
#define BATCH_BYTES   (16u << 10)   /* bytes of the file at once; no record is larger */

/* The part in memory of the ring that is being written. */
struct batch {
    struct mst_tail           tail;                      /* its gaps are ordered by ticket */
    size_t                    count;
    struct mst_journal_record records[BATCH_RECORDS];    /* ordered by ticket */
    uint64_t                  file[BATCH_BYTES / sizeof(uint64_t)];   /* the tail's buffer */
    struct mst_journal_names  names;
};

/* One ring of an answer. */
struct page {
    const struct mst_reader *reader;
    enum mst_section_id      section;
    uint64_t head;      /* the next ticket that a writer takes, at the beginning of the answer */
    uint64_t next;      /* for the cursor: all tickets before it are given or lost */
    uint64_t lost;
};

/* ---- reading a ring -------------------------------------------------------------- */

static const struct mst_section *ring(const struct page *p)
{
    return mst_section_in(&p->reader->header, p->section);
}

static int take_record(void *context, uint64_t ticket, const void *payload)
{
    struct batch *b = context;
    struct mst_journal_record *r = &b->records[b->count++];

    r->ticket = ticket;
    memcpy(&r->payload, payload, sizeof r->payload);
    return 0;
}

static int by_ticket(const void *left, const void *right)
{
    const struct mst_journal_record *a = left, *b = right;

    return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

/* Returns 0 where the ring can be read batch by batch, or -1 with a sentence. */
static int check_ring(const struct page *p, char error[MST_ERROR_MAX])
{
    if (p->next >= p->head)
        return 0;
    if (ring(p)->count == 0)
        return mst_fail(error, "the board %s has no such journal: its server is of another kind",
                        p->reader->path);
    if (ring(p)->stride > BATCH_BYTES)
        return mst_fail(error, "expected records of at most %u bytes in the journal of %s, found "
                        "%" PRIu32, BATCH_BYTES, p->reader->path, ring(p)->stride);
    return 0;
}

/* Does what mst_tail_open() does, with the batch's buffer. */
static void begin_ring(struct batch *b, const struct page *p)
{
    memset(&b->tail, 0, sizeof b->tail);
    b->tail.reader = p->reader;
    b->tail.section = p->section;
    b->tail.next = p->next;
    b->tail.buffer = b->file;
    b->tail.buffer_records = BATCH_BYTES / ring(p)->stride;
}

/* Reads the next records, at most `limit`. Returns 1; 0 where the ring has no more; or -1 with a
 * sentence. */
static int read_batch(struct batch *b, size_t limit, char error[MST_ERROR_MAX])
{
    uint64_t from = b->tail.next;

    b->count = 0;
    if (mst_tail_poll(&b->tail, limit < BATCH_RECORDS ? limit : BATCH_RECORDS, take_record, b,
                      error) < 0)
        return -1;
    qsort(b->records, b->count, sizeof(b->records[0]), by_ticket);
    return b->count > 0 || b->tail.next > from;
}

/* ---- missing records: lost, or not complete yet ---------------------------------------- */

/* When the record's writer took its ticket, almost exactly. */
static uint64_t written_ns(const struct page *p, const struct mst_journal_record *r)
{
    switch (p->section) {
    case MST_SECTION_REQUESTS:
        return mst_add_saturated(r->payload.request.start_ns,
                                 mst_request_total_ns(&r->payload.request));
    case MST_SECTION_PHP_REQUESTS:
        return mst_add_saturated(r->payload.php_request.start_ns, r->payload.php_request.run_ns);
    case MST_SECTION_MARKS:
        return r->payload.mark.time_ns;
    case MST_SECTION_DELIVERIES:
        return r->payload.delivery.time_ns;
    default:
        return r->payload.lifecycle.time_ns;
    }
}

static bool server_is_gone(const struct mst_header *header)
{
    int running = mst_header_running(header);

    return running == 0 || (running < 0 && header->stopped_ns != 0);
}

/* With so many gaps the tail reads no further. */
static bool is_full_of_gaps(const struct batch *b)
{
    return b->tail.gap_count == MST_TAIL_GAPS;
}

/* Whether the record in this gap will not be completed: a record of a later ticket (`after`;
 * NULL: none was read) is so old that this one's writer must have been killed; or the ring will
 * overwrite it soon; or its server is gone. */
static bool is_abandoned(const struct page *p, const struct batch *b, uint64_t gap,
                     const struct mst_journal_record *after)
{
    if (after != NULL && mst_elapsed(written_ns(p, after), mst_now_ns()) > MST_TAIL_PATIENCE_NS)
        return true;
    /* The gap can be behind p->head: the tail reads up to the present head. */
    return (gap < p->head && p->head - gap > ring(p)->count / 2)
           || is_full_of_gaps(b) || server_is_gone(&p->reader->header);
}

/* Moves p->next over the missing records before `to`. Those that are not gaps were overwritten.
 * Returns false where it met one that can still be completed. */
static bool pass_missing(struct page *p, const struct batch *b, uint64_t to,
                         const struct mst_journal_record *after)
{
    size_t i = 0;
    bool waits;

    while (i < b->tail.gap_count && b->tail.gaps[i].ticket < p->next)
        i++;
    waits = i < b->tail.gap_count && b->tail.gaps[i].ticket < to
            && !is_abandoned(p, b, b->tail.gaps[i].ticket, after);
    if (waits)
        to = b->tail.gaps[i].ticket;
    p->lost = mst_add_saturated(p->lost, to - p->next);
    p->next = to;
    return !waits;
}

/* Moves the cursor over the batch, and cuts the batch at the first gap that can still be
 * completed. Returns false where the answer ends there. */
static bool advance_cursor(struct page *p, struct batch *b)
{
    size_t i;

    for (i = 0; i < b->count; i++) {
        if (!pass_missing(p, b, b->records[i].ticket, &b->records[i])) {
            b->count = i;
            return false;
        }
        p->next = b->records[i].ticket + 1;
    }
    return true;
}

/* The tail need not read again the gaps before the cursor. */
static void forget_passed_gaps(const struct page *p, struct mst_tail *t)
{
    size_t i, kept = 0;

    for (i = 0; i < t->gap_count; i++)
        if (t->gaps[i].ticket >= p->next)
            t->gaps[kept++] = t->gaps[i];
    t->gap_count = kept;
}

static void put_trailer(struct mst_json *j, const struct mst_cursor *next, uint64_t lost,
                        bool more)
{
    mst_json_begin(j, NULL, '{');
    mst_json_value(j, "next");
    mst_sink_char(j->out, '"');
    mst_cursor_print(j->out, next);
    mst_sink_char(j->out, '"');
    mst_json_count(j, "lost", lost);
    mst_json_bool(j, "more", more);
    mst_json_end_line(j);
}

/* ---- an answer ------------------------------------------------------------------------ */

/* The rings of an answer, in the order of their lines. */
enum ring { LIFECYCLE, REQUESTS, LATER, RINGS };

/* An answer: the board's rings, and the part in memory of one of them. */
struct answer {
    const struct mst_reader *reader;
    struct page   pages[RINGS];
    size_t        count;     /* pages in use: older Apaches' boards have no deliveries */
    struct batch *batch;
    bool          forgets;   /* the cursor is of an earlier start: `lost` is unknown */
    bool          begun;     /* a line has been written */
    bool          lifecycle_only;
    size_t        limit;     /* of records of each kind */
};

static int begin_answer(struct answer *a, const struct mst_reader *reader,
                        char error[MST_ERROR_MAX])
{
    bool is_php = reader->header.producer == MST_PRODUCER_PHP;
    size_t i;

    memset(a, 0, sizeof(*a));
    a->reader = reader;
    for (i = 0; i < RINGS; i++)
        a->pages[i].reader = reader;
    a->pages[LIFECYCLE].section = MST_SECTION_LIFECYCLE;
    a->pages[REQUESTS].section = is_php ? MST_SECTION_PHP_REQUESTS : MST_SECTION_REQUESTS;
    a->pages[LATER].section = is_php ? MST_SECTION_MARKS : MST_SECTION_DELIVERIES;
    a->count = ring(&a->pages[LATER])->count > 0 ? RINGS : LATER;
    a->batch = calloc(1, sizeof(*a->batch));
    if (a->batch == NULL)
        return mst_fail(error, "out of memory while reading the journal of %s", reader->path);
    return 0;
}

static uint64_t oldest(const struct page *p)
{
    uint64_t last = p->head - 1, capacity = ring(p)->count;

    return last > capacity ? last - capacity + 1 : 1;
}

static uint64_t last(const struct page *p, size_t limit)
{
    uint64_t first = oldest(p);

    return p->head - first > limit ? p->head - limit : first;
}

static enum mst_journal_result bad_cursor(const struct answer *a, char error[MST_ERROR_MAX])
{
    mst_fail(error, "the cursor is not one of the journal of %s, which goes on with request %"
             PRIu64 " and event %" PRIu64 "; expected is one that this server gave as \"next\"",
             a->reader->path, a->pages[REQUESTS].head, a->pages[LIFECYCLE].head);
    return MST_JOURNAL_BAD_CURSOR;
}

/* Whether the cursor is of a board with these rings. A cursor that an Apache gave when its board
 * had no ring of deliveries fits, too: then all records of that ring are new. */
static bool has_rings_of(const struct answer *a, const struct mst_cursor *c)
{
    if (c->later > 0)
        return a->count > LATER;
    return a->count == LATER || a->pages[LATER].section == MST_SECTION_DELIVERIES;
}

/* Sets where the answer begins. */
static enum mst_journal_result find_start(struct answer *a, const char *since,
                                          char error[MST_ERROR_MAX])
{
    bool from_oldest = since != NULL && strcmp(since, "start") == 0;
    bool from_last = since != NULL && strcmp(since, "last") == 0;
    bool from_now = since == NULL || since[0] == '\0' || strcmp(since, "now") == 0;
    struct mst_cursor c = { .started_ns = a->reader->header.started_ns };
    size_t i;

    if (!from_oldest && !from_last && !from_now && mst_cursor_parse(&c, since) != 0) {
        mst_fail(error, "there is no such place in the journal; expected is \"now\", \"start\", "
                 "\"last\", or the cursor that an earlier answer gave as \"next\"");
        return MST_JOURNAL_BAD_CURSOR;
    }
    a->forgets = c.started_ns != a->reader->header.started_ns;
    from_oldest = from_oldest || a->forgets;
    if (!from_oldest && !from_last && !from_now && !has_rings_of(a, &c))
        return bad_cursor(a, error);
    for (i = 0; i < a->count; i++) {
        uint64_t ticket = i == LIFECYCLE ? c.lifecycle : i == REQUESTS ? c.request : c.later;
        struct page *p = &a->pages[i];

        p->next = from_now ? p->head : from_last ? last(p, a->limit)
                : from_oldest || ticket == 0 ? oldest(p) : ticket;
        if (p->next > p->head)
            return bad_cursor(a, error);
        if (a->lifecycle_only && i != LIFECYCLE)
            p->next = p->head;
    }
    return MST_JOURNAL_OK;
}

/* Sets where each ring begins, and how far it goes. */
static enum mst_journal_result begin_rings(struct answer *a, const char *since,
                                           char error[MST_ERROR_MAX])
{
    enum mst_journal_result result;
    size_t i;

    for (i = 0; i < a->count; i++)
        if (mst_journal_head(a->reader, a->pages[i].section, &a->pages[i].head, error) != 0)
            return MST_JOURNAL_UNREADABLE;
    result = find_start(a, since, error);
    for (i = 0; i < a->count && result == MST_JOURNAL_OK; i++)
        if (check_ring(&a->pages[i], error) != 0)
            result = MST_JOURNAL_UNREADABLE;
    return result;
}

static int put_batch(struct mst_json *j, struct answer *a, const struct page *p,
                     char error[MST_ERROR_MAX])
{
    size_t i;

    for (i = 0; i < a->batch->count; i++) {
        if (mst_journal_line(j, p->reader, p->section, &a->batch->records[i], &a->batch->names,
                             error) != 0)
            return -1;
        a->begun = true;
    }
    return 0;
}

/* Writes at most `limit` records of a ring. Ends early where the sink has failed. */
static int put_ring(struct mst_json *j, struct answer *a, struct page *p, size_t limit,
                    char error[MST_ERROR_MAX])
{
    struct batch *b = a->batch;
    bool goes_on = true;
    int read = 1;

    if (p->next >= p->head)
        return 0;
    begin_ring(b, p);
    while (goes_on && read > 0 && limit > 0 && b->tail.next < p->head && j->out->error == 0
           && !is_full_of_gaps(b)) {
        read = read_batch(b, limit, error);
        if (read < 0)
            return -1;
        goes_on = advance_cursor(p, b);
        if (put_batch(j, a, p, error) != 0)
            return -1;
        limit -= b->count;
        if (goes_on && !is_full_of_gaps(b))
            forget_passed_gaps(p, &b->tail);
    }
    if (goes_on)
        pass_missing(p, b, b->tail.next, NULL);
    return 0;
}

static void end_answer(struct mst_json *j, const struct answer *a)
{
    struct mst_cursor next = { a->reader->header.started_ns, a->pages[REQUESTS].next,
                               a->pages[LIFECYCLE].next, a->pages[LATER].next };
    uint64_t lost = 0;
    bool more = false;
    size_t i;

    for (i = 0; i < a->count; i++) {
        lost = mst_add_saturated(lost, a->pages[i].lost);
        more = more || a->pages[i].next < a->pages[i].head;
    }
    put_trailer(j, &next, a->forgets ? MST_UNKNOWN : lost, more);
    mst_sink_flush(j->out);
}

static enum mst_journal_result put_answer(struct mst_json *j, struct answer *a,
                                          char error[MST_ERROR_MAX])
{
    size_t i;

    for (i = 0; i < a->count; i++)
        if (put_ring(j, a, &a->pages[i], a->limit, error) != 0)
            return a->begun ? MST_JOURNAL_CUT : MST_JOURNAL_UNREADABLE;
    end_answer(j, a);
    return MST_JOURNAL_OK;
}

enum mst_journal_result mst_render_journal(struct mst_sink *sink, const struct mst_reader *reader,
                                           const char *since, size_t limit, bool lifecycle_only,
                                           char error[MST_ERROR_MAX])
{
    enum mst_journal_result result = MST_JOURNAL_UNREADABLE;
    struct mst_json j = { .out = sink };
    struct answer a;

    if (begin_answer(&a, reader, error) == 0) {
        a.lifecycle_only = lifecycle_only;
        a.limit = limit;
        result = begin_rings(&a, since, error);
    }
    if (result == MST_JOURNAL_OK)
        result = put_answer(&j, &a, error);
    free(a.batch);
    return result;
}

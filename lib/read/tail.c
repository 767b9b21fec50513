/* tail.c - follows one of the board's rings, for readers.
 *
 * Every ticket that writers took ends here in exactly one of two ways: its record is given to
 * the caller once, or it is counted as lost.
 *
 * Record T is in entry T mod capacity, which tells its state. Ticket T and a matching check:
 * complete. A later ticket: overwritten by the ring's next round. Anything else: its writer has
 * not completed it yet (a gap), or was killed.
 */
#include "read/tail.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/saturate.h"
#include "segment/record.h"

#define RECORDS_AT_ONCE 4096u
#define BYTES_AT_ONCE   (1u << 20)
#define FRAME_WORDS     2u          /* ticket and check, around the payload */

enum finding { COMPLETE, UNFINISHED, OVERWRITTEN };

/* One poll of the ring. */
struct poll {
    struct mst_tail *tail;
    mst_take        *take;
    void            *context;
    size_t           given, limit;
    bool             stopped;      /* `take` has ended the poll */
    uint64_t         head;         /* the last ticket given out, as of this poll */
    uint64_t         now_ns;
};

static const struct mst_section *ring(const struct mst_tail *t)
{
    return mst_section_in(&t->reader->header, t->section);
}

/* Sets *head to the last ticket that a writer took; 0: none yet. It is below UINT64_MAX, so that
 * the next ticket is a number, too. */
static int read_head(const struct mst_reader *r, enum mst_section_id section, uint64_t *head,
                     char error[MST_ERROR_MAX])
{
    static const size_t heads[MST_SECTION_COUNT] = {
        [MST_SECTION_REQUESTS]     = offsetof(struct mst_header, requests_written),
        [MST_SECTION_LIFECYCLE]    = offsetof(struct mst_header, lifecycle_written),
        [MST_SECTION_PHP_REQUESTS] = offsetof(struct mst_header, php_requests_written),
        [MST_SECTION_MARKS]        = offsetof(struct mst_header, marks_written),
        [MST_SECTION_DELIVERIES]   = offsetof(struct mst_header, deliveries_written),
        [MST_SECTION_CODE_SAMPLES] = offsetof(struct mst_header, code_samples_written),
    };

    if (mst_reader_read(r, heads[section], head, sizeof *head, error) != 0)
        return -1;
    *head -= *head == UINT64_MAX;
    return 0;
}

int mst_journal_head(const struct mst_reader *r, enum mst_section_id section, uint64_t *next,
                     char error[MST_ERROR_MAX])
{
    uint64_t head;

    if (read_head(r, section, &head, error) != 0)
        return -1;
    *next = head + 1;
    return 0;
}

int mst_tail_open(struct mst_tail *t, const struct mst_reader *r, enum mst_section_id section,
                  uint64_t next, char error[MST_ERROR_MAX])
{
    uint64_t upcoming;

    memset(t, 0, sizeof *t);
    t->reader = r;
    t->section = section;
    if (ring(t)->count == 0)
        return mst_fail(error, "the board %s has no such journal: its server is of another kind",
                        r->path);
    t->next = next > 0 ? next : 1;
    if (mst_journal_head(r, section, &upcoming, error) != 0)
        return -1;
    if (t->next > upcoming)
        return mst_fail(error, "record %" PRIu64 " was asked for, but the journal of %s will write "
                        "%" PRIu64 " next; start from there", t->next, r->path, upcoming);
    t->buffer_records = BYTES_AT_ONCE / ring(t)->stride;
    if (t->buffer_records > RECORDS_AT_ONCE)
        t->buffer_records = RECORDS_AT_ONCE;
    if (t->buffer_records > ring(t)->count)
        t->buffer_records = ring(t)->count;
    t->buffer = mst_zalloc(t->buffer_records, ring(t)->stride);
    if (t->buffer == NULL)
        return mst_fail(error, "out of memory while opening the journal of %s", r->path);
    return 0;
}

void mst_tail_close(struct mst_tail *t)
{
    mst_zfree(t->buffer);
    t->buffer = NULL;
}

/* ---- one record --------------------------------------------------------------- */

static enum finding examine(const struct mst_tail *t, const uint64_t *record, uint64_t ticket)
{
    size_t words = ring(t)->stride / sizeof(uint64_t) - FRAME_WORDS;

    if (record[0] > ticket)
        return OVERWRITTEN;
    if (record[0] == ticket && record[1 + words] == mst_journal_check(ticket, record + 1, words))
        return COMPLETE;
    return UNFINISHED;
}

uint64_t mst_request_total_ns(const struct mst_request *q)
{
    return mst_add_saturated(mst_add_saturated(q->queue_ns, q->read_ns),
                             mst_add_saturated(q->handle_ns, q->send_ns));
}

void mst_request_ends(const struct mst_request *request, uint64_t ends[MST_RECORD_ENDS])
{
    uint64_t handler = request->ends >> 32, backend = request->ends & UINT32_MAX;
    bool known = request->ends != MST_UNKNOWN && request->ends != 0;   /* 0: not filled in */

    ends[0] = known && handler != MST_END_OTHER ? handler : MST_UNKNOWN;
    ends[1] = known && backend != MST_NO_END ? backend : MST_UNKNOWN;
}

void mst_php_request_ends(const struct mst_php_request *request, uint64_t ends[MST_RECORD_ENDS])
{
    size_t i;

    for (i = 0; i < MST_RECORD_ENDS; i++)
        ends[i] = request->longest[i].calls_failed > 0 ? request->longest[i].kind_end & UINT32_MAX
                                                       : MST_UNKNOWN;
}

/* Sets each word to what it means where an older writer's record lacks it: the other ends, the
 * intervals and the waits are MST_UNKNOWN, all other words 0. */
static void begin_payload(enum mst_section_id section, union mst_payload *payload)
{
    memset(payload, 0, sizeof *payload);
    if (section == MST_SECTION_REQUESTS)
        memset(&payload->request.ends, 0xff,
               offsetof(struct mst_request, trace_high) - offsetof(struct mst_request, ends));
    if (section == MST_SECTION_PHP_REQUESTS) {
        payload->php_request.cpu_wait_ns = payload->php_request.compile_ns =
            payload->php_request.gc_ns = MST_UNKNOWN;
        memset(payload->php_request.waits_ns, 0xff, sizeof payload->php_request.waits_ns);
    }
}

static void give(struct poll *p, const uint64_t *record)
{
    size_t bytes = ring(p->tail)->stride - FRAME_WORDS * sizeof(uint64_t);
    union mst_payload payload;

    begin_payload(p->tail->section, &payload);
    memcpy(&payload, record + 1, bytes < sizeof payload ? bytes : sizeof payload);
    if (p->tail->section == MST_SECTION_PHP_REQUESTS)
        payload.php_request.script[MST_PATH_MAX - 1] = '\0';
    if (p->tail->section == MST_SECTION_MARKS)
        payload.mark.name[MST_MARK_MAX - 1] = '\0';
    p->given++;
    if (p->take(p->context, record[0], &payload) != 0)
        p->stopped = true;
}

static bool satisfied(const struct poll *p)
{
    return p->stopped || p->given >= p->limit;
}

static void lose(struct mst_tail *t, uint64_t records)
{
    t->lost = mst_add_saturated(t->lost, records);
}

/* ---- gaps: records that were not complete when they were read ------------------ */

/* Reads the record of a gap again. Sets *closed where it is given or lost now. */
static int revisit(struct poll *p, const struct mst_gap *gap, bool *closed,
                   char error[MST_ERROR_MAX])
{
    struct mst_tail *t = p->tail;
    const struct mst_section *s = ring(t);
    uint64_t offset = s->offset + (gap->ticket & (s->count - 1)) * s->stride;
    enum finding found;

    if (mst_reader_read(t->reader, offset, t->buffer, s->stride, error) != 0)
        return -1;
    found = examine(t, t->buffer, gap->ticket);
    *closed = true;
    if (found == COMPLETE)
        give(p, t->buffer);
    else if (found == OVERWRITTEN
             || mst_elapsed(gap->since_ns, p->now_ns) > MST_TAIL_PATIENCE_NS)
        lose(t, 1);
    else
        *closed = false;
    return 0;
}

static int revisit_gaps(struct poll *p, char error[MST_ERROR_MAX])
{
    struct mst_tail *t = p->tail;
    size_t i, kept = 0;
    int rc = 0;

    for (i = 0; i < t->gap_count; i++) {
        bool closed = false;

        if (rc == 0 && !satisfied(p))
            rc = revisit(p, &t->gaps[i], &closed, error);
        if (!closed)
            t->gaps[kept++] = t->gaps[i];
    }
    t->gap_count = kept;
    return rc;
}

/* ---- the records not read yet ------------------------------------------------ */

/* Counts as lost the records that the ring has overwritten before they were read. */
static void skip_lapped(struct poll *p)
{
    uint64_t capacity = ring(p->tail)->count;
    uint64_t oldest = p->head > capacity ? p->head - capacity + 1 : 1;

    if (p->tail->next < oldest) {
        lose(p->tail, oldest - p->tail->next);
        p->tail->next = oldest;
    }
}

/* Takes the n records in the buffer, the first of which should be tail->next. */
static void take_records(struct poll *p, size_t n)
{
    struct mst_tail *t = p->tail;
    size_t i;

    for (i = 0; i < n && !satisfied(p) && t->gap_count < MST_TAIL_GAPS; i++, t->next++) {
        const uint64_t *record = t->buffer + i * (ring(t)->stride / sizeof *t->buffer);

        switch (examine(t, record, t->next)) {
        case COMPLETE:
            give(p, record);
            break;
        case OVERWRITTEN:
            lose(t, 1);
            break;
        case UNFINISHED:
            t->gaps[t->gap_count].ticket = t->next;
            t->gaps[t->gap_count++].since_ns = p->now_ns;
            break;
        }
    }
}

/* How many records the next pread takes: up to the head and the ring's end, and not more than
 * the buffer holds and the caller still wants. */
static size_t records_at_once(const struct poll *p)
{
    const struct mst_tail *t = p->tail;
    uint64_t capacity = ring(t)->count, n = p->head - t->next + 1;
    uint64_t to_end = capacity - (t->next & (capacity - 1));

    if (n > to_end)
        n = to_end;
    if (n > t->buffer_records)
        n = t->buffer_records;
    if (n > p->limit - p->given)
        n = p->limit - p->given;
    return (size_t)n;
}

/* With MST_TAIL_GAPS gaps, nothing more is read until one is closed, at the latest after
 * MST_TAIL_PATIENCE_NS. The ring keeps the records that come meanwhile. */
static int take_new(struct poll *p, char error[MST_ERROR_MAX])
{
    struct mst_tail *t = p->tail;
    const struct mst_section *s = ring(t);

    skip_lapped(p);
    while (t->next <= p->head && !satisfied(p) && t->gap_count < MST_TAIL_GAPS) {
        size_t n = records_at_once(p);
        uint64_t offset = s->offset + (t->next & (s->count - 1)) * s->stride;

        if (mst_reader_read(t->reader, offset, t->buffer, n * s->stride, error) != 0)
            return -1;
        take_records(p, n);
    }
    return 0;
}

long mst_tail_poll(struct mst_tail *t, size_t limit, mst_take *take, void *context,
                   char error[MST_ERROR_MAX])
{
    struct poll p = { .tail = t, .take = take, .context = context, .limit = limit,
                      .now_ns = mst_now_ns() };

    if (read_head(t->reader, t->section, &p.head, error) != 0
        || revisit_gaps(&p, error) != 0
        || take_new(&p, error) != 0)
        return -1;
    return (long)p.given;
}

void mst_tail_finish(struct mst_tail *t)
{
    lose(t, t->gap_count);
    t->gap_count = 0;
}

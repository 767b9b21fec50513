/* window.c - the journal's window: see window.h.
 *
 * Each event "limit" tells for how long no worker was idle since the event before (write/busy.c).
 * So the reported time within the window is their sum, exact except for the first of them, part
 * of which can lie before the window.
 */
#include "read/window.h"

#include "base/saturate.h"
#include "read/tail.h"
#include "segment/record.h"

#define TRIES 16u      /* oldest records: a writer can overwrite each of them meanwhile */

/* Reads the start of request record `ticket`. Returns false where the ring does not have the
 * record any more. Both kinds of request records have it in the same place. */
static bool read_start(const struct mst_reader *r, const struct mst_section *ring,
                       uint64_t ticket, uint64_t *start_ns)
{
    uint64_t record[512];   /* the largest stride that reader.c accepts, in words */
    uint64_t words = ring->stride / sizeof(uint64_t) - 2;
    char ignored[MST_ERROR_MAX];

    _Static_assert(offsetof(struct mst_request, start_ns)
                   == offsetof(struct mst_php_request, start_ns), "the same place");
    if (ring->stride > sizeof record
        || mst_reader_read(r, ring->offset + (ticket & (ring->count - 1)) * ring->stride, record,
                           ring->stride, ignored) != 0
        || record[0] != ticket
        || record[1 + words] != mst_journal_check(ticket, record + 1, (size_t)words))
        return false;
    *start_ns = record[1 + offsetof(struct mst_request, start_ns) / sizeof(uint64_t)];
    return true;
}

static uint64_t find_start(const struct mst_reader *r, const struct mst_header *h)
{
    bool is_php = h->producer == MST_PRODUCER_PHP;
    const struct mst_section *ring =
        &r->header.section[is_php ? MST_SECTION_PHP_REQUESTS : MST_SECTION_REQUESTS];
    uint64_t written = is_php ? h->php_requests_written : h->requests_written, start_ns, i;

    if (written <= ring->count)
        return h->started_ns;
    for (i = 1; i <= TRIES && i <= ring->count; i++)
        if (read_start(r, ring, written - ring->count + i, &start_ns))
            return start_ns > h->started_ns ? start_ns : h->started_ns;
    return MST_UNKNOWN;
}

static int add_told(void *window, uint64_t ticket, const void *event)
{
    struct mst_window *w = window;
    const struct mst_lifecycle *e = event;
    uint64_t within;

    (void)ticket;
    if (e->event_kind >> 32 != MST_EVENT_LIMIT || e->duration_ns == MST_UNKNOWN
        || e->time_ns <= w->since_ns)
        return 0;
    within = e->time_ns - w->since_ns;
    w->told_ns = mst_add_saturated(w->told_ns, e->duration_ns < within ? e->duration_ns : within);
    return 0;
}

/* Sums the reported time. Reads no event where none can be in the window. */
static int read_told(struct mst_window *w, const struct mst_reader *r, const struct mst_header *h)
{
    uint64_t count = r->header.section[MST_SECTION_LIFECYCLE].count;
    uint64_t next = h->lifecycle_written > count ? h->lifecycle_written - count + 1 : 1;
    char ignored[MST_ERROR_MAX];
    struct mst_tail tail;
    long taken;

    if (h->limit_told_ns < w->since_ns)
        return 0;
    if (mst_tail_open(&tail, r, MST_SECTION_LIFECYCLE, next, ignored) != 0)
        return -1;
    taken = mst_tail_poll(&tail, SIZE_MAX, add_told, w, ignored);
    mst_tail_close(&tail);
    return taken < 0 ? -1 : 0;
}

void mst_window_read(struct mst_window *w, const struct mst_reader *r,
                     const struct mst_header *h)
{
    w->since_ns = find_start(r, h);
    w->told_ns = 0;
    if (w->since_ns == MST_UNKNOWN || read_told(w, r, h) != 0)
        w->told_ns = MST_UNKNOWN;
}

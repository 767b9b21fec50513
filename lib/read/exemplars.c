/* exemplars.c - reads the latest requests of a board's journal: see exemplars.h. */
#include "read/exemplars.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "read/tail.h"
#include "segment/reader.h"

struct reading {
    struct mst_exemplars  *to;
    const struct mst_copy *copy;
    const char *const     *names;
};

/* Returns NULL where the label is not known, or there is no room. */
static struct mst_exemplar *add_exemplar(struct reading *r, uint64_t id, uint64_t label)
{
    struct mst_exemplar *e = &r->to->items[r->to->count];

    if (id == MST_UNKNOWN || label >= r->copy->label_count || r->names[label] == NULL
        || r->to->count == MST_EXEMPLARS_MAX)
        return NULL;
    r->to->count++;
    e->id = id;
    e->label = r->names[label];
    memset(e->phase_ns, 0xff, sizeof e->phase_ns);   /* MST_UNKNOWN */
    return e;
}

static int take_request(void *reading, uint64_t ticket, const void *payload)
{
    struct reading *r = reading;
    const struct mst_request *q = payload;
    struct mst_exemplar *e = add_exemplar(r, q->id, q->label_status >> 32);

    (void)ticket;
    if (e == NULL)
        return 0;
    e->phase_ns[MST_PHASE_QUEUE] = q->queue_ns;
    e->phase_ns[MST_PHASE_READ] = q->read_ns;
    e->phase_ns[MST_PHASE_HANDLE] = q->handle_ns;
    e->phase_ns[MST_PHASE_SEND] = q->send_ns;
    e->phase_ns[MST_PHASE_TOTAL] = mst_request_total_ns(q);
    e->phase_ns[MST_PHASE_HELD] = q->held_ns;
    e->phase_ns[MST_PHASE_FRONT] = q->front_ns;
    e->end_ns = mst_add_saturated(mst_wall_ns(&r->copy->header, q->start_ns),
                                  mst_request_total_ns(q));
    return 0;
}

static int take_php_request(void *reading, uint64_t ticket, const void *payload)
{
    struct reading *r = reading;
    const struct mst_php_request *q = payload;
    struct mst_exemplar *e = add_exemplar(r, q->id, q->label_status >> 32);

    (void)ticket;
    if (e == NULL)
        return 0;
    e->phase_ns[MST_PHASE_PHP_WAIT] = q->wait_ns;
    e->phase_ns[MST_PHASE_PHP_RUN] = q->run_ns;
    e->end_ns = mst_add_saturated(mst_wall_ns(&r->copy->header, q->start_ns), q->run_ns);
    return 0;
}

void mst_exemplars_read(struct mst_exemplars *e, const struct mst_copy *copy,
                        const char *const *names)
{
    bool is_php = copy->header.producer == MST_PRODUCER_PHP;
    enum mst_section_id section = is_php ? MST_SECTION_PHP_REQUESTS : MST_SECTION_REQUESTS;
    struct reading r = { e, copy, names };
    char ignored[MST_ERROR_MAX];
    struct mst_tail tail;
    uint64_t next;

    e->count = 0;
    e->items = calloc(MST_EXEMPLARS_MAX, sizeof *e->items);
    if (e->items == NULL || mst_journal_head(copy->reader, section, &next, ignored) != 0)
        return;
    next = next > MST_EXEMPLARS_MAX ? next - MST_EXEMPLARS_MAX : 1;
    if (mst_tail_open(&tail, copy->reader, section, next, ignored) != 0)
        return;
    mst_tail_poll(&tail, MST_EXEMPLARS_MAX, is_php ? take_php_request : take_request, &r, ignored);
    mst_tail_close(&tail);
}

void mst_exemplars_free(struct mst_exemplars *e)
{
    free(e->items);
    memset(e, 0, sizeof *e);
}

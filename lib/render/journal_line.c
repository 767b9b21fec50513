/* journal_line.c - a record of the journal as a line of JSON: see journal_line.h. */
#include "render/journal_line.h"

#include "segment/fields.h"
#include "segment/traceparent.h"

/* Tables of names: struct mst_name, struct mst_path. */
_Static_assert(offsetof(struct mst_name, name) == offsetof(struct mst_kept_name, name) &&
               offsetof(struct mst_path, path) == offsetof(struct mst_kept_name, name),
               "entries begin alike");

/* Sets *name to that of the label, other end or path that a record refers to: it was on the board
 * before the record. NULL: no such name. Returns 0, or -1 with a sentence. */
static int find_name(struct mst_name_cache *cache, const struct mst_reader *reader,
                     enum mst_section_id section, uint64_t index, const char **name,
                     char error[MST_ERROR_MAX])
{
    const struct mst_section *s = mst_section_in(&reader->header, section);
    struct mst_kept_name *kept = &cache->names[index % MST_NAMES_KEPT];
    size_t size = section == MST_SECTION_PATHS ? MST_PATH_NAME_MAX : MST_NAME_MAX;

    *name = NULL;
    if (index >= s->count)
        return 0;
    if (kept->used != 1 || cache->index[index % MST_NAMES_KEPT] != index) {
        if (mst_reader_read(reader, s->offset + index * s->stride, kept,
                            offsetof(struct mst_kept_name, name) + size, error) != 0)
            return -1;
        kept->name[size - 1] = '\0';
        cache->index[index % MST_NAMES_KEPT] = index;
    }
    if (kept->used == 1)
        *name = kept->name;
    return 0;
}

/* The indices of the names that a record refers to; MST_UNKNOWN: none. */
struct indices { uint64_t label, path, ends[MST_RECORD_ENDS]; };

static struct indices indices_of(enum mst_section_id section, const union mst_payload *payload)
{
    struct indices i = { MST_UNKNOWN, MST_UNKNOWN, { MST_UNKNOWN, MST_UNKNOWN } };

    if (section == MST_SECTION_REQUESTS) {
        i.label = payload->request.label_status >> 32;
        mst_request_ends(&payload->request, i.ends);
        i.path = mst_request_path(&payload->request);
    } else if (section == MST_SECTION_PHP_REQUESTS) {
        i.label = payload->php_request.label_status >> 32;
        mst_php_request_ends(&payload->php_request, i.ends);
    }
    return i;
}

/* The names of a record. NULL: none, or not known. */
struct names { const char *label, *path, *ends[MST_RECORD_ENDS]; };

static int find_names(struct mst_journal_names *caches, const struct mst_reader *reader,
                      const struct indices *of, struct names *names, char error[MST_ERROR_MAX])
{
    size_t i;

    if (find_name(&caches->labels, reader, MST_SECTION_LABELS, of->label, &names->label,
                  error) != 0 ||
        find_name(&caches->paths, reader, MST_SECTION_PATHS, of->path, &names->path, error) != 0)
        return -1;
    for (i = 0; i < MST_RECORD_ENDS; i++)
        if (find_name(&caches->ends, reader, MST_SECTION_ENDS, of->ends[i], &names->ends[i],
                      error) != 0)
            return -1;
    return 0;
}

/* How records.def's kinds of word are written. */
#define PUT_COUNT         mst_json_count
#define PUT_SECONDS       mst_json_seconds
#define PUT_ADDED_SECONDS mst_json_seconds

/* null: the request is in no trace. */
static void put_trace(struct mst_json *j, const struct mst_request *q)
{
    const struct mst_traceparent trace = {
        q->trace_high, q->trace_low, q->trace_parent,
        (uint32_t)(q->label_status >> MST_TRACE_FLAGS_SHIFT & 0xff),
    };
    char text[MST_TRACEPARENT_SIZE];

    if (trace.parent != 0)
        mst_traceparent_format(&trace, text);
    mst_json_string(j, "traceparent", trace.parent != 0 ? text : NULL);
}

static void put_request(struct mst_json *j, const struct mst_header *h,
                        const struct mst_request *q, const struct names *names)
{
    uint64_t flags = q->label_status >> 16 & 0xffff, worker = q->pid_worker & UINT32_MAX;

    mst_json_count(j, "id", q->id);
    mst_json_seconds(j, "start", mst_wall_ns(h, q->start_ns));
    mst_json_seconds(j, "total", mst_request_total_ns(q));
#define MST_REQUEST_WORD(member, kind, json) PUT_##kind(j, json, q->member);
#include "segment/records.def"
#undef MST_REQUEST_WORD
    mst_json_string(j, "label", names->label);
    mst_json_count(j, "status", q->label_status & 0xffff);
    mst_json_bool(j, "aborted", flags & MST_REQUEST_ABORTED);
    mst_json_bool(j, "no_worker", flags & MST_REQUEST_NO_WORKER);
    mst_json_count(j, "pid", q->pid_worker >> 32);
    mst_json_count(j, "worker", worker == UINT32_MAX ? MST_UNKNOWN : worker);
    mst_json_count(j, "connection", q->connection >> 16);
    mst_json_count(j, "port", q->connection & 0xffff);
    mst_json_count(j, "client_id", q->client_id > 0 ? q->client_id - 1 : MST_UNKNOWN);
    mst_json_string(j, "handler", names->ends[0]);
    mst_json_string(j, "backend", names->ends[1]);
    put_trace(j, q);
    mst_json_string(j, "path", names->path);
}

static void put_delivery(struct mst_json *j, const struct mst_delivery *d)
{
    mst_json_count(j, "delivery", d->id);
    mst_json_seconds(j, "undelivered", d->undelivered_ns);
    mst_json_count(j, "undelivered_bytes", d->undelivered_bytes);
}

static const char *name_of(const char *const *names, uint64_t count, uint64_t index)
{
    return index < count ? names[index] : NULL;   /* NULL: only a newer writer knows it */
}

static void put_lifecycle(struct mst_json *j, const struct mst_header *h,
                          const struct mst_lifecycle *l)
{
    uint64_t event = l->event_kind >> 32, kind = l->event_kind & UINT32_MAX;

    mst_json_string(j, "event", name_of(mst_event_names, MST_EVENT_COUNT, event));
    mst_json_string(j, "kind", name_of(mst_kind_names, MST_KIND_COUNT, kind));
    mst_json_seconds(j, "time", mst_wall_ns(h, l->time_ns));
    mst_json_count(j, "pid", l->pid_parent >> 32);
    mst_json_count(j, "parent", l->pid_parent & UINT32_MAX);
    mst_json_count(j, "slot", l->mpm_slot < 0 ? MST_UNKNOWN : (uint64_t)l->mpm_slot);
    mst_json_count(j, "generation", l->generation);
    mst_json_seconds(j, "duration", l->duration_ns);
    mst_json_count(j, "requests", l->requests);
    mst_json_count(j, "unfinished", l->unfinished);
    mst_json_string(j, "reason", event == MST_EVENT_EXIT
                              ? name_of(mst_reason_names, MST_REASON_COUNT, l->reason) : NULL);
}

/* Whether OPcache had the script: one of two flags says yes or no; neither is set where that is
 * unknown. */
static void put_cached(struct mst_json *j, uint64_t flags)
{
    mst_json_value(j, "cached");
    mst_sink_puts(j->out, flags & MST_PHP_CACHED ? "true" :
                          flags & MST_PHP_UNCACHED ? "false" : "null");
}

/* An object with the kinds that the request waited for; null where waits are not measured. */
static void put_waits(struct mst_json *j, const struct mst_php_request *q)
{
    size_t i;

    if (!mst_php_waits_known(q)) {
        mst_json_string(j, "waits", NULL);
        return;
    }
    mst_json_begin(j, "waits", '{');
    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (q->waits_ns[i] > 0)
            mst_json_seconds(j, mst_wait_names[i], q->waits_ns[i]);
    mst_json_end(j, '}');
}

static void put_longest(struct mst_json *j, const struct mst_php_request *q,
                        const struct names *names)
{
    size_t i;

    mst_json_begin(j, "longest", '[');
    for (i = 0; i < MST_RECORD_ENDS; i++) {
        const struct mst_php_wait *w = &q->longest[i];

        if (w->calls_failed == 0)
            continue;
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "kind", name_of(mst_wait_names, MST_WAIT_COUNT, w->kind_end >> 32));
        mst_json_string(j, "end", names->ends[i]);
        mst_json_count(j, "calls", w->calls_failed >> 32);
        mst_json_count(j, "failed", w->calls_failed & UINT32_MAX);
        mst_json_seconds(j, "seconds", w->wait_ns);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

static void put_php_request(struct mst_json *j, const struct mst_header *h,
                            const struct mst_php_request *q, const struct names *names)
{
    uint64_t flags = q->label_status >> 16 & 0xffff, worker = q->pid_worker & UINT32_MAX;
    uint64_t status = q->label_status & 0xffff;

    mst_json_count(j, "php_request", q->id);
    mst_json_seconds(j, "start", mst_wall_ns(h, q->start_ns));
#define MST_PHP_REQUEST_WORD(member, kind, json) PUT_##kind(j, json, q->member);
#include "segment/records.def"
#undef MST_PHP_REQUEST_WORD
    mst_json_string(j, "label", names->label);
    mst_json_count(j, "status", status != 0 ? status : MST_UNKNOWN);
    mst_json_string(j, "script", q->script);
    mst_json_bool(j, "aborted", flags & MST_PHP_ABORTED);
    mst_json_bool(j, "fatal", flags & MST_PHP_FATAL);
    mst_json_bool(j, "timeout", flags & MST_PHP_TIMEOUT);
    put_cached(j, flags);
    mst_json_count(j, "pid", q->pid_worker >> 32);
    mst_json_count(j, "worker", worker == UINT32_MAX ? MST_UNKNOWN : worker);
    put_waits(j, q);
    put_longest(j, q, names);
}

static void put_mark(struct mst_json *j, const struct mst_header *h,
                     const struct mst_mark *m)
{
    mst_json_string(j, "mark", m->name);
    mst_json_seconds(j, "time", mst_wall_ns(h, m->time_ns));
    mst_json_count(j, "pid", m->pid);
    mst_json_seconds(j, "request_start", mst_wall_ns(h, m->request_start_ns));
}

int mst_journal_line(struct mst_json *j, const struct mst_reader *reader,
                     enum mst_section_id section, const struct mst_journal_record *r,
                     struct mst_journal_names *caches, char error[MST_ERROR_MAX])
{
    const struct mst_header *h = &reader->header;
    struct indices indices = indices_of(section, &r->payload);
    struct names names;

    if (find_names(caches, reader, &indices, &names, error) != 0)
        return -1;
    mst_json_begin(j, NULL, '{');
    mst_json_count(j, "ticket", r->ticket);
    if (section == MST_SECTION_REQUESTS)
        put_request(j, h, &r->payload.request, &names);
    else if (section == MST_SECTION_PHP_REQUESTS)
        put_php_request(j, h, &r->payload.php_request, &names);
    else if (section == MST_SECTION_MARKS)
        put_mark(j, h, &r->payload.mark);
    else if (section == MST_SECTION_DELIVERIES)
        put_delivery(j, &r->payload.delivery);
    else
        put_lifecycle(j, h, &r->payload.lifecycle);
    mst_json_end_line(j);
    return 0;
}

/* ndjson.c - reads the journal's lines of JSON: see ndjson.h. */
#include "source/ndjson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "segment/fields.h"
#include "segment/traceparent.h"
#include "source/ndjson_members.h"

/* ---- the kinds of line ------------------------------------------------------ */

/* How records.def's kinds of word are read. */
#define READ_COUNT         mst_line_count
#define READ_SECONDS       mst_line_seconds
#define READ_ADDED_SECONDS mst_line_seconds_if_sent

static void read_label(struct mst_line *l, struct mst_ndjson_line *out)
{
    if (json_is_null(json_object_get(l->object, "label")))
        strcpy(out->label, MST_LABEL_OTHER_NAME);
    else
        mst_line_cut_string(l, "label", out->label, sizeof out->label);
}

/* Empty where the member is null, or missing as in an older server's line. */
static void read_name(struct mst_line *l, const char *key, char *name, size_t size)
{
    if (json_is_string(json_object_get(l->object, key)))
        mst_line_cut_string(l, key, name, size);
}

static uint64_t pid_and_worker(struct mst_line *l)
{
    return mst_line_integer(l, "pid", UINT32_MAX) << 32 |
           mst_line_integer_or_null(l, "worker", UINT32_MAX, UINT32_MAX);
}

/* As the board has it: plus 1, and 0 where there is none, or an older server's line. */
static uint64_t client_id(struct mst_line *l)
{
    const json_t *value = json_object_get(l->object, "client_id");

    return value == NULL || json_is_null(value)
        ? 0 : mst_line_integer(l, "client_id", INT64_MAX) + 1;
}

/* Null or missing, as in an older server's line, is none. */
static void read_trace(struct mst_line *l, struct mst_request *r)
{
    const json_t *value = json_object_get(l->object, "traceparent");
    struct mst_traceparent trace;

    if (value == NULL || json_is_null(value))
        return;
    if (!json_is_string(value) || !mst_traceparent_parse(json_string_value(value), &trace)) {
        mst_line_complain(l, "expected \"traceparent\" to be a trace of W3C Trace Context, or "
                          "null");
        return;
    }
    r->trace_high = trace.trace_high;
    r->trace_low = trace.trace_low;
    r->trace_parent = trace.parent;
    r->label_status |= (uint64_t)trace.flags << MST_TRACE_FLAGS_SHIFT;
}

static void read_request(struct mst_line *l, struct mst_ndjson_line *out)
{
    struct mst_request *r = &out->record.request;
    uint64_t flags;

    out->ticket = mst_line_integer(l, "ticket", INT64_MAX);
    out->wall_ns = mst_line_seconds(l, "start");
    read_label(l, out);
    r->id = mst_line_count(l, "id");
#define MST_REQUEST_WORD(member, kind, json) r->member = READ_##kind(l, json);
#include "segment/records.def"
#undef MST_REQUEST_WORD
    flags = (mst_line_boolean(l, "aborted") ? MST_REQUEST_ABORTED : 0u) |
            (mst_line_boolean(l, "no_worker") ? MST_REQUEST_NO_WORKER : 0u);
    r->label_status = flags << 16 | mst_line_integer(l, "status", UINT16_MAX);
    r->pid_worker = pid_and_worker(l);
    r->connection = mst_line_integer(l, "connection", UINT64_MAX >> 16) << 16 |
                    mst_line_integer(l, "port", UINT16_MAX);
    r->client_id = client_id(l);
    read_name(l, "handler", out->ends[0], sizeof out->ends[0]);
    read_name(l, "backend", out->ends[1], sizeof out->ends[1]);
    read_name(l, "path", out->path, sizeof out->path);
    read_trace(l, r);
}

static void read_delivery(struct mst_line *l, struct mst_ndjson_line *out)
{
    struct mst_delivery *d = &out->record.delivery;

    out->ticket = mst_line_integer(l, "ticket", INT64_MAX);
    d->id = mst_line_count(l, "delivery");
    d->undelivered_ns = mst_line_seconds(l, "undelivered");
    d->undelivered_bytes = mst_line_count(l, "undelivered_bytes");
}

/* Events and kinds of a newer server are left out, as another record would be. */
static void read_lifecycle(struct mst_line *l, struct mst_ndjson_line *out)
{
    struct mst_lifecycle *e = &out->record.lifecycle;
    size_t event = mst_line_name_index(l, "event", mst_event_names, MST_EVENT_COUNT);
    size_t kind = mst_line_name_index(l, "kind", mst_kind_names, MST_KIND_COUNT);
    size_t reason = mst_line_name_index(l, "reason", mst_reason_names, MST_REASON_COUNT);

    if (event == MST_EVENT_COUNT || kind == MST_KIND_COUNT) {
        out->kind = MST_NDJSON_OTHER;
        return;
    }
    out->ticket = mst_line_integer(l, "ticket", INT64_MAX);
    out->wall_ns = mst_line_seconds(l, "time");
    e->event_kind = (uint64_t)event << 32 | kind;
    e->pid_parent = mst_line_integer(l, "pid", UINT32_MAX) << 32
                  | mst_line_integer(l, "parent", UINT32_MAX);
    e->mpm_slot = (int64_t)mst_line_integer_or_null(l, "slot", INT64_MAX, UINT64_MAX);
    e->generation = mst_line_count(l, "generation");
    e->duration_ns = mst_line_seconds(l, "duration");
    e->requests = mst_line_count(l, "requests");
    e->unfinished = mst_line_count(l, "unfinished");
    if (event == MST_EVENT_EXIT)
        e->reason = reason < MST_REASON_COUNT ? reason : MST_REASON_UNKNOWN;
}

/* Two flags, and neither where it is not known. */
static uint64_t cached(struct mst_line *l)
{
    if (json_is_null(json_object_get(l->object, "cached")))
        return 0;
    return mst_line_boolean(l, "cached") ? MST_PHP_CACHED : MST_PHP_UNCACHED;
}

/* Seconds within an object of the line, where keys repeat: number_text() would find the first. A
 * double has enough digits for times of up to 104 days. */
#define NESTED_SECONDS_MAX ((double)(UINT64_C(1) << 53) / MST_NS_PER_S)

static uint64_t nested_seconds(struct mst_line *l, const json_t *value, const char *key)
{
    double s = json_number_value(value);

    if (!json_is_number(value) || !(s >= 0) || s > NESTED_SECONDS_MAX) {
        mst_line_complain(l, "expected the times in \"%s\" to be seconds, at most %.0f", key,
                 NESTED_SECONDS_MAX);
        return 0;
    }
    return (uint64_t)(s * MST_NS_PER_S + 0.5);
}

/* The kind of wait called so; MST_WAIT_COUNT: only a newer server knows it. */
static size_t wait_kind(const char *name)
{
    size_t i = 0;

    while (i < MST_WAIT_COUNT && (name == NULL || strcmp(mst_wait_names[i], name) != 0))
        i++;
    return i;
}

/* What an older server does not send, and a PHP without waits, is unknown. */
static void read_waits(struct mst_line *l, struct mst_php_request *r)
{
    json_t *waits = json_object_get(l->object, "waits"), *value;
    const char *name;

    memset(r->waits_ns, json_is_object(waits) ? 0 : 0xff, sizeof r->waits_ns);
    if (waits != NULL && !json_is_object(waits) && !json_is_null(waits))
        mst_line_complain(l, "expected \"waits\" to be an object or null");
    json_object_foreach(waits, name, value)
        if (wait_kind(name) < MST_WAIT_COUNT)
            r->waits_ns[wait_kind(name)] = nested_seconds(l, value, "waits");
}

static uint32_t nested_count(struct mst_line *l, const json_t *value)
{
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 0 || n > UINT32_MAX) {
        mst_line_complain(l, "expected the counts in \"longest\" to be integers from 0 to %u",
                          UINT32_MAX);
        return 0;
    }
    return (uint32_t)n;
}

static void read_longest(struct mst_line *l, struct mst_ndjson_line *out)
{
    json_t *longest = json_object_get(l->object, "longest"), *wait;
    struct mst_php_wait *w = out->record.php_request.longest;
    size_t i, kind, n = 0;

    if (longest != NULL && (!json_is_array(longest) || json_array_size(longest) > MST_RECORD_ENDS))
        mst_line_complain(l, "expected \"longest\" to be an array of at most %u", MST_RECORD_ENDS);
    for (i = 0; l->problem[0] == '\0' && i < json_array_size(longest); i++) {
        wait = json_array_get(longest, i);
        kind = wait_kind(json_string_value(json_object_get(wait, "kind")));
        if (kind == MST_WAIT_COUNT)
            continue;
        w[n].kind_end = (uint64_t)kind << 32;
        w[n].calls_failed = (uint64_t)nested_count(l, json_object_get(wait, "calls")) << 32 |
                            nested_count(l, json_object_get(wait, "failed"));
        w[n].wait_ns = nested_seconds(l, json_object_get(wait, "seconds"), "longest");
        if (json_is_string(json_object_get(wait, "end"))) {
            struct mst_line nested = { l->text, l->length, wait, "" };

            mst_line_cut_string(&nested, "end", out->ends[n], MST_NAME_MAX);
            if (nested.problem[0] != '\0')
                mst_line_complain(l, "%s", nested.problem);
        }
        n++;
    }
}

static void read_php_request(struct mst_line *l, struct mst_ndjson_line *out)
{
    struct mst_php_request *r = &out->record.php_request;
    uint64_t flags;

    out->ticket = mst_line_integer(l, "ticket", INT64_MAX);
    out->wall_ns = mst_line_seconds(l, "start");
    read_label(l, out);
    r->id = mst_line_count(l, "php_request");
#define MST_PHP_REQUEST_WORD(member, kind, json) r->member = READ_##kind(l, json);
#include "segment/records.def"
#undef MST_PHP_REQUEST_WORD
    flags = (mst_line_boolean(l, "aborted") ? MST_PHP_ABORTED : 0u) |
            (mst_line_boolean(l, "fatal") ? MST_PHP_FATAL : 0u) |
            (mst_line_boolean(l, "timeout") ? MST_PHP_TIMEOUT : 0u) | cached(l);
    r->label_status = flags << 16 | mst_line_integer_or_null(l, "status", UINT16_MAX, 0);
    r->pid_worker = pid_and_worker(l);
    mst_line_cut_string(l, "script", r->script, sizeof r->script);
    read_waits(l, r);
    read_longest(l, out);
}

static void read_mark(struct mst_line *l, struct mst_ndjson_line *out)
{
    struct mst_mark *m = &out->record.mark;

    out->ticket = mst_line_integer(l, "ticket", INT64_MAX);
    out->wall_ns = mst_line_seconds(l, "time");
    out->request_wall_ns = mst_line_seconds(l, "request_start");
    m->pid = mst_line_integer(l, "pid", UINT32_MAX);
    mst_line_cut_string(l, "mark", m->name, sizeof m->name);
}

static void read_trailer(struct mst_line *l, struct mst_ndjson *trailer)
{
    mst_line_string(l, "next", trailer->next, sizeof trailer->next);
    /* It goes back as part of a URL. */
    if (trailer->next[0] == '\0' ||
        trailer->next[strspn(trailer->next, "0123456789abcdef-")] != '\0')
        mst_line_complain(l, "expected \"next\" to be a cursor of hexadecimal digits and '-'");
    trailer->lost = mst_line_count(l, "lost");
    trailer->more = mst_line_boolean(l, "more");
}

/* Reads one line, without its newline. For a trailer fills *trailer's next, lost and more.
 * Returns 0, or -1 with a sentence. */
static int read_line(const char *text, size_t length, struct mst_ndjson_line *out,
                     struct mst_ndjson *trailer, char error[MST_ERROR_MAX])
{
    struct mst_line l = { text, length, NULL, "" };
    json_error_t reason;

    memset(out, 0, sizeof *out);
    l.object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    if (!json_is_object(l.object)) {
        mst_line_complain(&l, "expected a JSON object, found %s",
                 l.object == NULL ? "none" : "another value");
    } else if (json_object_get(l.object, "next") != NULL) {
        out->kind = MST_NDJSON_TRAILER;
        read_trailer(&l, trailer);
    } else if (json_object_get(l.object, "event") != NULL) {
        out->kind = MST_NDJSON_LIFECYCLE;
        read_lifecycle(&l, out);
    } else if (json_object_get(l.object, "php_request") != NULL) {
        out->kind = MST_NDJSON_PHP_REQUEST;
        read_php_request(&l, out);
    } else if (json_object_get(l.object, "mark") != NULL) {
        out->kind = MST_NDJSON_MARK;
        read_mark(&l, out);
    } else if (json_object_get(l.object, "delivery") != NULL) {
        out->kind = MST_NDJSON_DELIVERY;
        read_delivery(&l, out);
    } else if (json_object_get(l.object, "handle") != NULL) {
        out->kind = MST_NDJSON_REQUEST;
        read_request(&l, out);
    }
    json_decref(l.object);
    if (l.problem[0] == '\0')
        return 0;
    return mst_fail(error, "%s", l.problem);
}

/* ---- a whole answer ---------------------------------------------------------- */

static struct mst_ndjson_line *next_line(struct mst_ndjson *out)
{
    if (!mst_grow(&out->lines, &out->room, out->count, sizeof *out->lines))
        return NULL;
    return &out->lines[out->count];
}

/* The end of the line at `at`. NULL with a sentence. */
static const char *end_of_line(const char *at, const char *end, char problem[MST_ERROR_MAX])
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    if (newline == NULL)
        snprintf(problem, MST_ERROR_MAX, "it ends before its last line {\"next\":...}");
    else if ((size_t)(newline - at) > MST_NDJSON_LINE_MAX)
        snprintf(problem, MST_ERROR_MAX, "expected at most %u bytes, found %zu",
                 MST_NDJSON_LINE_MAX, (size_t)(newline - at));
    else
        return newline;
    return NULL;
}

/* Reads the lines up to the trailer. Returns the bytes used, 0 with a sentence
 * in `problem`. */
static size_t read_lines(const char *bytes, size_t length, size_t limit, struct mst_ndjson *out,
                         unsigned long *number, char problem[MST_ERROR_MAX])
{
    const char *at = bytes, *end = bytes + length, *newline;
    size_t counts[MST_NDJSON_KINDS] = { 0 };
    struct mst_ndjson_line *line;

    for (*number = 1; ; ++*number, at = newline + 1) {
        newline = end_of_line(at, end, problem);
        if (newline == NULL)
            return 0;
        line = next_line(out);
        if (line == NULL) {
            snprintf(problem, MST_ERROR_MAX, "out of memory");
            return 0;
        }
        if (read_line(at, (size_t)(newline - at), line, out, problem) != 0)
            return 0;
        if (line->kind == MST_NDJSON_TRAILER)
            return (size_t)(newline + 1 - bytes);
        if (++counts[line->kind] > limit) {
            snprintf(problem, MST_ERROR_MAX, "expected at most %zu records of a kind, as limit= "
                     "asked, found more: is this mpmstat's status, and does the query reach it?",
                     limit);
            return 0;
        }
        if (line->kind != MST_NDJSON_OTHER)
            out->count++;
    }
}

int mst_ndjson_read(const char *bytes, size_t length, size_t limit, struct mst_ndjson *out,
                    char error[MST_ERROR_MAX])
{
    char problem[MST_ERROR_MAX];
    unsigned long number;
    size_t used;

    out->count = 0;
    used = read_lines(bytes, length, limit, out, &number, problem);
    if (used > 0 && used == length)
        return 0;
    if (used > 0)
        snprintf(problem, sizeof problem, "there is something after the last line");
    snprintf(error, MST_ERROR_MAX, "line %lu of the journal is wrong: %.400s", number, problem);
    out->count = 0;
    return -1;
}

void mst_ndjson_free(struct mst_ndjson *out)
{
    free(out->lines);
    memset(out, 0, sizeof *out);
}

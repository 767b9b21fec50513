/* spans.c - one request as spans: see spans.h. */
#include "export/spans.h"

#include <stdio.h>
#include <string.h>

#include "export/otlp.h"
#include "segment/fields.h"
#include "segment/traceparent.h"

struct spans {
    struct mst_json *j;
    const struct mst_export_request *r;
    struct mst_span_of identity;
    char     trace_id[33], server_id[17];
    unsigned count;
};

static void find_ids(struct spans *s)
{
    mst_hex(s->server_id, mst_span_id(&s->identity, MST_SPAN_SERVER), 16);
    if (s->r->trace_id[0] != '\0') {
        memcpy(s->trace_id, s->r->trace_id, sizeof s->trace_id);
        return;
    }
    mst_hex(s->trace_id, mst_span_id(&s->identity, MST_SPAN_TRACE_HIGH), 16);
    mst_hex(s->trace_id + 16, mst_span_id(&s->identity, MST_SPAN_TRACE_LOW), 16);
}

/* ---- one span ---------------------------------------------------------------------------- */

/* Up to its attributes. */
static void begin_span(struct spans *s, const char *id, const char *parent, bool is_remote,
                       const char *name, enum mst_otlp_kind kind, uint64_t start_ns, uint64_t ns)
{
    struct mst_json *j = s->j;

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "traceId", s->trace_id);
    mst_json_string(j, "spanId", id);
    if (parent[0] != '\0')
        mst_json_string(j, "parentSpanId", parent);
    mst_json_count(j, "flags", MST_OTLP_HAS_REMOTE | (is_remote ? MST_OTLP_IS_REMOTE : 0) |
                               (s->r->sampled ? MST_TRACE_SAMPLED : 0));
    mst_json_string(j, "name", name);
    mst_json_count(j, "kind", kind);
    mst_otlp_integer(j, "startTimeUnixNano", start_ns);
    mst_otlp_integer(j, "endTimeUnixNano", start_ns + ns);
    mst_json_begin(j, "attributes", '[');
    s->count++;
}

static void end_span(struct spans *s, bool failed)
{
    mst_json_end(s->j, ']');
    mst_json_begin(s->j, "status", '{');
    if (failed)
        mst_json_count(s->j, "code", MST_OTLP_ERROR);
    mst_json_end(s->j, '}');
    mst_json_end(s->j, '}');
}

/* A child that begins at *at_ns, which it moves to its end. */
static void begin_child(struct spans *s, char id[17], const char *parent, const char *name,
                        enum mst_otlp_kind kind, uint64_t *at_ns, uint64_t ns)
{
    mst_hex(id, mst_span_id(&s->identity, MST_SPAN_CHILDREN + s->count), 16);
    begin_span(s, id, parent, false, name, kind, *at_ns, ns);
    *at_ns += ns;
}

/* A part of which only the time is known; none where it is 0. */
static void add_part(struct spans *s, const char *parent, const char *name, uint64_t *at_ns,
                     uint64_t ns)
{
    char id[17];

    if (ns == 0)
        return;
    begin_child(s, id, parent, name, MST_OTLP_INTERNAL, at_ns, ns);
    end_span(s, false);
}

/* ---- php_run ------------------------------------------------------------------------------ */

static const enum mst_otlp_kind span_kinds[MST_WAIT_COUNT] = {
#define MST_WAIT_PART(id, name, colour, span, what, meaning, action) \
    [MST_WAIT_##id] = MST_OTLP_##span,
#include "segment/parts.def"
};

/* "mysql" of "mysql 127.0.0.1:3306". */
static void add_system(struct mst_json *j, const char *end)
{
    char system[MST_NAME_MAX];

    snprintf(system, sizeof system, "%.*s", (int)strcspn(end, " "), end);
    mst_otlp_text(j, "db.system.name", strcmp(system, "pgsql") == 0 ? "postgresql" : system);
}

/* "database mysql 127.0.0.1:3306", but "lock session": some ends begin with their kind. */
static void name_wait(char *name, size_t size, const struct mst_export_wait *w)
{
    const char *kind = mst_wait_names[w->kind];
    size_t length = strlen(kind);

    if (strncmp(w->end, kind, length) == 0 && (w->end[length] == ' ' || w->end[length] == '\0'))
        snprintf(name, size, "%s", w->end);
    else
        snprintf(name, size, "%s%s%s", kind, w->end[0] != '\0' ? " " : "", w->end);
}

/* PHP's code that a wait was called from. Texts that are not known are left out. */
static void add_code(struct mst_json *j, const struct mst_code_at *from)
{
    mst_otlp_text(j, "code.function.name", from->function);
    mst_otlp_text(j, "code.file.path", from->file);
    if (from->line > 0)
        mst_otlp_number(j, "code.line.number", from->line);
}

static void add_wait(struct spans *s, const char *parent, const struct mst_export_wait *w,
                     uint64_t *at_ns, uint64_t ns)
{
    const char *kind = mst_wait_names[w->kind];
    char id[17], name[MST_NAME_MAX + 16];

    name_wait(name, sizeof name, w);
    begin_child(s, id, parent, name, span_kinds[w->kind], at_ns, ns);
    mst_otlp_text(s->j, "mpmstat.wait", kind);
    if (w->end[0] != '\0') {
        if (w->kind == MST_WAIT_DATABASE || w->kind == MST_WAIT_CACHE)
            add_system(s->j, w->end);
        mst_otlp_text(s->j, "mpmstat.other_end", w->end);
        mst_otlp_address(s->j, w->end);
        mst_otlp_number(s->j, "mpmstat.calls", w->calls);
        mst_otlp_number(s->j, "mpmstat.calls.failed", w->failed);
        add_code(s->j, &w->from);
    }
    end_span(s, false);
}

/* The waits of a kind, each cut to what the trace has of the kind. */
static void add_waits(struct spans *s, const char *parent, unsigned kind, uint64_t *at_ns)
{
    const struct mst_export_wait rest = { .kind = kind };
    uint64_t left = s->r->parts_ns[MST_PART_WAITS + kind], ns;
    size_t i;

    for (i = 0; i < s->r->wait_count && left > 0; i++) {
        const struct mst_export_wait *w = &s->r->waits[i];

        ns = w->wait_ns < left ? w->wait_ns : left;
        if (w->kind != kind || ns == 0)
            continue;
        add_wait(s, parent, w, at_ns, ns);
        left -= ns;
    }
    if (left > 0)
        add_wait(s, parent, &rest, at_ns, left);
}

static void add_php_run(struct spans *s, uint64_t *at_ns)
{
    const uint64_t *part = s->r->parts_ns;
    uint64_t inner_ns = *at_ns, run = mst_parts_within(part, MST_WITHIN_PHP_RUN);
    enum mst_part i;
    char id[17];

    if (run == 0)
        return;
    begin_child(s, id, s->server_id, "php_run", MST_OTLP_INTERNAL, at_ns, run);
    mst_otlp_text(s->j, "code.file.path", s->r->script);
    mst_otlp_number(s->j, "mpmstat.pid", s->r->php_pid);
    mst_otlp_number(s->j, "mpmstat.memory_bytes", s->r->php_memory_bytes);
    end_span(s, false);
    for (i = 0; i < MST_PART_COUNT; i++)
        if (i >= MST_PART_WAITS && i < MST_PART_WAITS + MST_WAIT_COUNT)
            add_waits(s, id, i - MST_PART_WAITS, &inner_ns);
        else if (mst_parts[i].within == MST_WITHIN_PHP_RUN)
            add_part(s, id, mst_parts[i].name, &inner_ns, part[i]);
}

/* ---- the request -------------------------------------------------------------------------- */

static void add_backend(struct spans *s, uint64_t *at_ns)
{
    char id[17];

    if (s->r->parts_ns[MST_PART_BACKEND] == 0)
        return;
    begin_child(s, id, s->server_id, "backend", MST_OTLP_CLIENT, at_ns,
                s->r->parts_ns[MST_PART_BACKEND]);
    mst_otlp_text(s->j, "mpmstat.other_end", s->r->backend);
    mst_otlp_address(s->j, s->r->backend);
    end_span(s, false);
}

/* The method is not recorded; the semantic conventions have _OTHER and HTTP for one that is not
 * known. */
static void add_server(struct spans *s)
{
    const struct mst_export_request *r = s->r;
    bool failed = r->status >= 500 && r->status < 1000;
    const char *route = r->path[0] == '/' ? r->path : r->label;   /* a path is folded: no URL */
    char name[MST_PATH_NAME_MAX + 8], status[8];

    snprintf(name, sizeof name, "HTTP %s", route);
    begin_span(s, s->server_id, r->parent, r->parent[0] != '\0', name, MST_OTLP_SERVER,
               r->start_ns, r->total_ns);
    mst_otlp_text(s->j, "http.request.method", "_OTHER");
    mst_otlp_text(s->j, "http.route", route);
    mst_otlp_number(s->j, "http.response.status_code", r->status);
    mst_otlp_number(s->j, "http.response.body.size", r->bytes);
    if (failed) {
        snprintf(status, sizeof status, "%u", (unsigned)r->status);
        mst_otlp_text(s->j, "error.type", status);
    }
    mst_otlp_number(s->j, "mpmstat.request.id", r->id);
    mst_otlp_number(s->j, "mpmstat.pid", r->pid);
    mst_otlp_text(s->j, "mpmstat.handler", r->handler);
    if (route != r->label)
        mst_otlp_text(s->j, "mpmstat.label", r->label);
    mst_otlp_flag(s->j, "mpmstat.aborted", r->aborted);
    end_span(s, failed);
}

unsigned mst_export_spans(struct mst_json *j, const struct mst_export_origin *origin,
                          const struct mst_export_request *r)
{
    struct spans s = { .j = j, .r = r,
                       .identity = { origin->started_ns, origin->pid, r->id } };
    uint64_t at_ns = r->start_ns;
    enum mst_part part;

    find_ids(&s);
    add_server(&s);
    for (part = 0; part < MST_PART_COUNT; part++)
        if (part == MST_PART_CPU)
            add_php_run(&s, &at_ns);
        else if (part == MST_PART_BACKEND)
            add_backend(&s, &at_ns);
        else if (mst_parts[part].within != MST_WITHIN_PHP_RUN)
            add_part(&s, s.server_id, mst_parts[part].name, &at_ns, r->parts_ns[part]);
    return s.count;
}

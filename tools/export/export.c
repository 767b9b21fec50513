/* export.c - the requests of a run in batches of OTLP: see export.h. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/query.h"
#include "export/otlp.h"
#include "export/spans.h"

#define BATCH_BYTES (1u << 20)   /* a batch that is larger is complete; collectors take 20 MiB */

struct batch {
    struct mst_export       *e;
    struct mst_sink          sink;
    struct mst_json          json;
    struct mst_export_origin origin;
    const char              *host;
    const struct mst_summary_server *server;
    char                    *bytes;      /* what the sink has written */
    size_t                   length, room;
    uint64_t                 requests, spans, traced;
    char                    *error;
    bool                     failed;     /* `error` says why */
};

static int append(void *context, const void *bytes, size_t n)
{
    struct batch *b = context;
    size_t room = b->room > 0 ? b->room : 2 * BATCH_BYTES;
    char *grown;

    while (b->length + n > room)
        room *= 2;
    if (room != b->room) {
        grown = realloc(b->bytes, room);
        if (grown == NULL)
            return -1;
        b->bytes = grown;
        b->room = room;
    }
    memcpy(b->bytes + b->length, bytes, n);
    b->length += n;
    return 0;
}

static void put_resource(struct batch *b)
{
    struct mst_json *j = &b->json;

    mst_json_begin(j, "resource", '{');
    mst_json_begin(j, "attributes", '[');
    mst_otlp_text(j, "service.name", b->e->service);
    mst_otlp_text(j, "host.name", b->host);
    mst_otlp_number(j, "process.pid", b->origin.pid);
    mst_otlp_text(j, "webengine.name", "Apache");
    mst_otlp_text(j, "webengine.description", b->server->server);
    mst_otlp_text(j, "mpmstat.mpm", b->server->mpm);
    mst_otlp_text(j, "mpmstat.target", b->server->target);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
}

static void begin_batch(struct batch *b)
{
    b->length = 0;
    b->requests = b->spans = b->traced = 0;
    mst_sink_init(&b->sink, append, b);
    b->json = (struct mst_json){ .out = &b->sink };
    mst_json_begin(&b->json, NULL, '{');
    mst_json_begin(&b->json, "resourceSpans", '[');
    mst_json_begin(&b->json, NULL, '{');
    put_resource(b);
    mst_json_begin(&b->json, "scopeSpans", '[');
    mst_json_begin(&b->json, NULL, '{');
    mst_json_begin(&b->json, "scope", '{');
    mst_json_string(&b->json, "name", "mpmstat");
    mst_json_string(&b->json, "version", MPMSTAT_VERSION);
    mst_json_end(&b->json, '}');
    mst_json_begin(&b->json, "spans", '[');
}

/* Sends what the batch has. */
static bool end_batch(struct batch *b)
{
    static const char ends[] = "]}]}]}";   /* spans, scope, scopes, resource, resources, request */
    struct mst_export *e = b->e;
    size_t i;

    if (b->requests == 0)
        return true;
    for (i = 0; ends[i] != '\0'; i++)
        mst_json_end(&b->json, ends[i]);
    if (mst_sink_flush(&b->sink) != 0) {
        mst_fail(b->error, "out of memory for the spans");
        b->failed = true;
    } else if (e->send(e->context, b->bytes, b->length, b->error) != 0) {
        b->failed = true;
    }
    if (b->failed)
        return false;
    e->requests += b->requests;
    e->spans += b->spans;
    e->traced += b->traced;
    return true;
}

static bool add_request(void *context, const struct mst_export_request *r)
{
    struct batch *b = context;

    b->spans += mst_export_spans(&b->json, &b->origin, r);
    b->requests++;
    b->traced += r->trace_id[0] != '\0';
    if (b->length < BATCH_BYTES)
        return true;
    if (!end_batch(b))
        return false;
    begin_batch(b);
    return true;
}

/* The host of a status URL; else that of --host or this machine's, whose board it was. */
static void find_host(const struct mst_export *e, const char *target, char *host, size_t size)
{
    const char *at = strstr(target, "://");
    size_t length;

    host[0] = '\0';
    if (at == NULL) {
        if (e->host != NULL)
            strncat(host, e->host, size - 1);
        else if (gethostname(host, size) != 0)
            host[0] = '\0';
        host[size - 1] = '\0';
        return;
    }
    at += 3;
    length = at[0] == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":/?");
    strncat(host, at, length < size ? length : size - 1);
}

static bool read_origin(struct mst_export_origin *origin, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT started_ns, pid FROM servers WHERE id = :id",
                                       server_id);

    *origin = (struct mst_export_origin){ 0 };
    if (mst_query_next(&q)) {
        origin->started_ns = mst_row_number(&q, "started_ns");
        origin->pid = mst_row_number(&q, "pid");
    }
    return mst_query_done(&q);
}

static bool export_server(struct batch *b, const struct mst_summary *s,
                          const struct mst_summary_server *server, sqlite3 *db)
{
    char host[256];

    b->server = server;
    b->host = host;
    find_host(b->e, server->target, host, sizeof host);
    if (!read_origin(&b->origin, db, server->id))
        return false;
    begin_batch(b);
    return mst_export_walk(&b->e->choice, s, server, db, add_request, b) && end_batch(b);
}

int mst_export_run(struct mst_export *e, struct mst_archive *archive, const struct mst_summary *s,
                   char error[MST_ERROR_MAX])
{
    struct batch *b = calloc(1, sizeof *b);
    bool fine = true, failed;
    size_t i;

    if (b == NULL)
        return mst_fail(error, "out of memory for the spans");
    b->e = e;
    b->error = error;
    for (i = 0; i < s->server_count && fine; i++)
        if (!mst_summary_is_php(&s->servers[i])) {
            fine = export_server(b, s, &s->servers[i], mst_archive_db(archive));
            e->servers++;
        }
    failed = b->failed;
    free(b->bytes);
    free(b);
    if (fine || failed)
        return fine ? 0 : -1;
    return mst_archive_unreadable(archive, error);
}

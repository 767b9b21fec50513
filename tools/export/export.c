/* export.c - the requests of a run in batches of OTLP: see export.h. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

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
    mst_otlp_resource(&b->json, &(struct mst_otlp_resource){
        .service = b->e->service, .host = b->host, .target = b->server->target,
        .pid = b->origin.pid, .is_apache = true, .server = b->server->server,
        .mpm = b->server->mpm,
    });
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
    mst_otlp_scope(&b->json);
    mst_json_begin(&b->json, "spans", '[');
}

/* Sends what the batch has. */
static bool end_batch(struct batch *b)
{
    static const char ends[] = "]}]}]}";   /* spans, scope, scopes, resource, resources, request */
    struct mst_export *e = b->e;
    struct mst_export_batch whole;
    size_t i;

    if (b->requests == 0)
        return true;
    for (i = 0; ends[i] != '\0'; i++)
        mst_json_end(&b->json, ends[i]);
    b->failed = true;
    if (mst_sink_flush(&b->sink) != 0) {
        mst_fail(b->error, "out of memory for the spans");
        return false;
    }
    whole = (struct mst_export_batch){ b->bytes, b->length, b->requests, b->spans };
    if (e->send(e->context, &whole, b->error) != 0)
        return false;
    b->failed = false;
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
    mst_otlp_host(host, sizeof host, server->target, b->e->host);
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

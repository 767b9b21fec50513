/* request.c - reads the requests to export from an archive: see request.h. */
#include "export/request.h"

#include <string.h>

#include "analysis/requests.h"
#include "analysis/run_requests.h"
#include "archive/query.h"
#include "read/tail.h"
#include "segment/traceparent.h"

#define TOTAL "queue_ns + read_ns + handle_ns + send_ns"
static const char chosen_sql[] =
    "SELECT rowid AS id, request_id, bytes, pid, label, handler, backend, path, "
    "trace_id, parent_span, sampled "
    MST_FROM_APACHES_ROWS
    "AND (" TOTAL " >= :slower_than OR (:failed AND status >= 500) OR (:sampled AND sampled = 1) "
    "OR rowid IN (SELECT rowid " MST_FROM_APACHES_ROWS
    "ORDER BY " TOTAL " DESC, start_ns, rowid LIMIT :slowest)) "
    "AND rowid <= :last_row ORDER BY request_id, rowid";
static const char php_sql[] =
    "SELECT key, pid, memory_bytes, script "
    "FROM main.php_requests WHERE rowid = :id";
static const char waits_sql[] =
    "SELECT kind, end, calls, failed, wait_ns, function, file, line FROM php_waits w LEFT JOIN "
    "frames f ON f.server_id = w.server_id AND f.frame = w.frame "
    "WHERE w.server_id = :id AND key = :key GROUP BY w.rowid ORDER BY end IS NULL, w.rowid";

bool mst_export_is_chosen(const struct mst_export_choice *choice, const struct mst_request *r,
                          const char *label)
{
    bool is_sampled = r->trace_parent != 0 &&
                      (r->label_status >> MST_TRACE_FLAGS_SHIFT & MST_TRACE_SAMPLED) != 0;

    return strcmp(label, MST_LABEL_STATUS_NAME) != 0 &&
           (mst_request_total_ns(r) >= choice->slower_than_ns ||
            (choice->failed && (r->label_status & 0xffff) >= 500) ||
            (choice->sampled && is_sampled));
}

struct walk {
    struct mst_query q;          /* the chosen ones */
    bool             has_row;    /* it is at one that has not been given yet */
    sqlite3         *db;
    mst_export_each *each;
    void            *context;
};

static void read_wait(struct mst_export_request *r, struct mst_query *q)
{
    struct mst_export_wait *w = &r->waits[r->wait_count];
    unsigned kind = mst_wait_named(mst_row_text(q, "kind"));
    uint64_t ns = mst_row_number(q, "wait_ns");

    if (kind == MST_WAIT_COUNT || ns > INT64_MAX || r->wait_count == MST_EXPORT_WAITS)
        return;
    *w = (struct mst_export_wait){
        .kind = kind, .wait_ns = ns, .calls = mst_row_number(q, "calls"),
        .failed = mst_row_number(q, "failed"),
    };
    mst_row_copy(q, "end", w->end, sizeof w->end);
    mst_row_copy(q, "function", w->from.function, sizeof w->from.function);
    mst_row_copy(q, "file", w->from.file, sizeof w->from.file);
    w->from.line = mst_row_is_null(q, "line") ? 0 : mst_row_number(q, "line");
    r->wait_count++;
}

/* What PHP did for it, by the row of its request. */
static bool read_php(struct mst_export_request *r, sqlite3 *db, const struct mst_walked *walked)
{
    struct mst_query q = mst_query_ask(db, php_sql, (int64_t)walked->php_row);
    int64_t key = 0;

    r->php_row = walked->php_row;
    if (mst_query_next(&q)) {
        key = mst_row_id(&q, "key");
        r->php_pid = mst_row_number(&q, "pid");
        r->php_memory_bytes = mst_row_number(&q, "memory_bytes");
        mst_row_copy(&q, "script", r->script, sizeof r->script);
    }
    if (!mst_query_done(&q))
        return false;
    q = mst_query_ask(db, waits_sql, (int64_t)walked->php_id);
    mst_query_set(&q, ":key", key);
    while (mst_query_next(&q))
        read_wait(r, &q);
    return mst_query_done(&q);
}

/* None where it is not what a recording writes. */
static void read_trace(struct mst_export_request *r, struct mst_query *q)
{
    static const char digits[] = "0123456789abcdef";

    mst_row_copy(q, "trace_id", r->trace_id, sizeof r->trace_id);
    mst_row_copy(q, "parent_span", r->parent, sizeof r->parent);
    if (strspn(r->trace_id, digits) != 32 || strspn(r->parent, digits) != 16)
        r->trace_id[0] = r->parent[0] = '\0';
}

static bool read_request(struct mst_export_request *r, struct mst_query *q, sqlite3 *db,
                         const struct mst_walked *walked)
{
    *r = (struct mst_export_request){
        .id = mst_row_number(q, "request_id"), .start_ns = walked->start_ns,
        .total_ns = walked->total_ns, .status = walked->status, .aborted = walked->aborted,
        .bytes = mst_row_number(q, "bytes"), .pid = mst_row_number(q, "pid"),
        .sampled = mst_row_number(q, "sampled") == 1,
    };
    memcpy(r->parts_ns, walked->split.parts_ns, sizeof r->parts_ns);
    mst_row_copy(q, "label", r->label, sizeof r->label);
    mst_row_copy(q, "handler", r->handler, sizeof r->handler);
    mst_row_copy(q, "backend", r->backend, sizeof r->backend);
    mst_row_copy(q, "path", r->path, sizeof r->path);
    read_trace(r, q);
    return walked->php_row == 0 || read_php(r, db, walked);
}

/* The chosen requests and all of the join are in the same order. */
static bool take(void *context, const struct mst_walked *walked)
{
    struct walk *w = context;
    struct mst_export_request request;
    bool fine = true;

    if (!w->has_row || mst_row_number(&w->q, "id") != walked->id)
        return true;
    fine = read_request(&request, &w->q, w->db, walked) && w->each(w->context, &request);
    w->has_row = fine && mst_query_next(&w->q);
    return fine;
}

bool mst_export_walk(const struct mst_export_choice *choice, const struct mst_summary *s,
                     const struct mst_summary_server *server, sqlite3 *db, mst_export_each *each,
                     void *context)
{
    struct walk w = { mst_query_ask(db, chosen_sql, server->id), false, db, each, context };
    bool fine;

    mst_query_set(&w.q, ":slower_than", (int64_t)(choice->slower_than_ns < INT64_MAX ?
                                                  choice->slower_than_ns : INT64_MAX));
    mst_query_set(&w.q, ":failed", choice->failed);
    mst_query_set(&w.q, ":sampled", choice->sampled);
    mst_query_set(&w.q, ":slowest", (int64_t)choice->slowest);
    mst_query_set(&w.q, ":last_row", choice->last_row > 0 ? (int64_t)choice->last_row
                                                          : INT64_MAX);
    w.has_row = mst_query_next(&w.q);
    fine = mst_requests_read(s, db, server, take, &w, NULL);
    return mst_query_done(&w.q) && fine;
}

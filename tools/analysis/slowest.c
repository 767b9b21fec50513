/* slowest.c - the slowest requests of a server: see slowest.h. */
#include "analysis/slowest.h"

#include <stdlib.h>

#include "analysis/join_php.h"
#include "analysis/run_requests.h"
#include "archive/query.h"
#include "base/saturate.h"

/* ---- which they are -------------------------------------------------------------------- */

#define X_COLUMN(suffix, name) name "_ns, "
static const char apache_sql[] =
    "SELECT rowid AS id, start_ns, queue_ns, read_ns, handle_ns, send_ns, "
    MST_INTERVALS(X_COLUMN) "status, aborted, label, path, " MST_HANDED_TO " AS handler "
    MST_FROM_APACHES_ROWS
    "ORDER BY queue_ns + read_ns + handle_ns + send_ns DESC, start_ns, rowid LIMIT :most";
static const char php_sql[] =
    "SELECT rowid AS id, start_ns - coalesce(wait_ns, 0) AS start_ns, "
    "coalesce(wait_ns, 0) AS wait_ns, run_ns, status, aborted, label " MST_FROM_PHPS_ROWS
    "ORDER BY coalesce(wait_ns, 0) + run_ns DESC, start_ns, rowid LIMIT :most";
static const char php_row_sql[] =
    "SELECT start_ns, pid, key, user_ns + system_ns AS cpu_ns, cpu_wait_ns, script "
    "FROM main.php_requests WHERE rowid = :id";
static const char waits_sql[] =
    "SELECT kind, wait_ns FROM php_waits WHERE server_id = :id AND key = :key";

/* What PHP's request was about. */
static bool read_php(struct mst_slow *slow, struct mst_trace_times *t, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, php_row_sql, (int64_t)slow->php_row);
    int64_t key = 0;
    uint64_t ns;
    unsigned wait;

    if (mst_query_next(&q)) {
        slow->php_start_ns = mst_row_number(&q, "start_ns");
        slow->php_pid = mst_row_number(&q, "pid");
        key = mst_row_id(&q, "key");
        t->cpu_ns = mst_row_number(&q, "cpu_ns");
        t->cpu_wait_ns = mst_row_number(&q, "cpu_wait_ns");
        mst_row_copy(&q, "script", slow->script, sizeof slow->script);
    }
    if (!mst_query_done(&q))
        return false;
    q = mst_query_ask(db, waits_sql, (int64_t)slow->php_id);
    mst_query_set(&q, ":key", key);
    while (mst_query_next(&q)) {
        wait = mst_trace_wait_of(mst_row_text(&q, "kind"));
        ns = mst_row_number(&q, "wait_ns");
        if (wait < MST_WAIT_COUNT && ns != MST_UNKNOWN)
            t->waits_ns[wait] = mst_add_saturated(t->waits_ns[wait], ns);
    }
    return mst_query_done(&q);
}

static bool read_apache(struct mst_slow *slow, struct mst_query *q, const struct mst_summary *s,
                        const struct mst_summary_server *server)
{
    struct mst_trace_times t = {
        .queue_ns = mst_row_number(q, "queue_ns"), .read_ns = mst_row_number(q, "read_ns"),
        .handle_ns = mst_row_number(q, "handle_ns"), .send_ns = mst_row_number(q, "send_ns"),
    };
    struct mst_joined php = { 0 };
    bool fine = true;

    mst_trace_read_intervals(&t, q);
    mst_row_copy(q, "handler", slow->handler, sizeof slow->handler);
    mst_row_copy(q, "path", slow->path, sizeof slow->path);
    if (server->php.joined > 0)
        fine = mst_join_php_one(&php, s, q->db, server->id, mst_row_number(q, "id"));
    if (fine && php.php_row > 0) {
        t.php_wait_ns = php.handle_wait;
        t.php_run_ns = php.handle_run;
        t.php_send_ns = php.send_run;
        slow->php_id = php.php_id;
        slow->php_row = php.php_row;
        slow->php_after_ns = mst_subtract_saturated(php.php_start_ns, slow->start_ns);
        fine = read_php(slow, &t, q->db);
    }
    slow->total_ns = t.queue_ns + t.read_ns + t.handle_ns + t.send_ns;
    mst_trace(slow->parts_ns, &t);
    return fine;
}

static bool read_phps(struct mst_slow *slow, struct mst_query *q,
                      const struct mst_summary_server *server)
{
    struct mst_trace_times t = { .php_wait_ns = mst_row_number(q, "wait_ns"),
                                 .php_run_ns = mst_row_number(q, "run_ns") };
    bool fine;

    slow->php_id = (uint64_t)server->id;
    slow->php_row = mst_row_number(q, "id");
    slow->php_after_ns = t.php_wait_ns;
    slow->total_ns = t.handle_ns = t.php_wait_ns + t.php_run_ns;
    fine = read_php(slow, &t, q->db);
    mst_trace(slow->parts_ns, &t);
    return fine;
}

/* ---- marks ----------------------------------------------------------------------------- */

/* Of the requests of one PHP. Marks have no index but the server's: they are read once. */
static bool read_marks(struct mst_slowest *slowest, sqlite3 *db, uint64_t php_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT pid, request_start_ns, time_ns, name FROM marks "
                                           "WHERE server_id = :id", (int64_t)php_id);
    uint64_t pid, start_ns, time_ns;
    size_t i;

    while (mst_query_next(&q)) {
        pid = mst_row_number(&q, "pid");
        start_ns = mst_row_number(&q, "request_start_ns");
        for (i = 0; i < slowest->count; i++) {
            struct mst_slow *slow = &slowest->rows[i];

            if (slow->php_id != php_id || slow->php_row == 0 || slow->php_pid != pid ||
                slow->php_start_ns != start_ns || slow->mark_count == MST_SLOWEST_MARKS)
                continue;
            time_ns = mst_row_number(&q, "time_ns");
            mst_row_copy(&q, "name", slow->marks[slow->mark_count].name,
                         sizeof slow->marks[0].name);
            slow->marks[slow->mark_count++].after_ns =
                slow->php_after_ns + mst_subtract_saturated(time_ns, start_ns);
        }
    }
    return mst_query_done(&q);
}

/* ---- both ------------------------------------------------------------------------------ */

bool mst_slowest_read(struct mst_slowest *slowest, const struct mst_summary *s, sqlite3 *db,
                      const struct mst_summary_server *server, size_t most)
{
    bool php = mst_summary_is_php(server), fine;
    struct mst_query q = mst_query_ask(db, php ? php_sql : apache_sql, server->id);
    size_t i;

    *slowest = (struct mst_slowest){ .rows = calloc(MST_SLOWEST_MOST, sizeof *slowest->rows) };
    fine = slowest->rows != NULL;
    mst_query_set(&q, ":most", (int64_t)(most < MST_SLOWEST_MOST ? most : MST_SLOWEST_MOST));
    while (fine && mst_query_next(&q)) {
        struct mst_slow *slow = &slowest->rows[slowest->count++];

        slow->start_ns = mst_row_number(&q, "start_ns");
        slow->status = mst_row_number(&q, "status");
        slow->aborted = mst_row_number(&q, "aborted") == 1;
        mst_row_copy(&q, "label", slow->label, sizeof slow->label);
        fine = php ? read_phps(slow, &q, server) : read_apache(slow, &q, s, server);
    }
    fine = mst_query_done(&q) && fine;
    for (i = 0; fine && i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) && s->servers[i].marks > 0)
            fine = read_marks(slowest, db, (uint64_t)s->servers[i].id);
    return fine;
}

void mst_slowest_free(struct mst_slowest *slowest)
{
    free(slowest->rows);
    *slowest = (struct mst_slowest){ 0 };
}

/* slowest.c - the slowest requests of a server: see slowest.h. */
#include "analysis/slowest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/php_code.h"
#include "analysis/requests.h"
#include "analysis/run_requests.h"
#include "archive/query.h"
#include "memory/pool.h"
#include "base/saturate.h"

/* ---- which they are -------------------------------------------------------------------- */

static const char apache_sql[] =
    "SELECT rowid AS id " MST_FROM_APACHES_ROWS
    "ORDER BY queue_ns + read_ns + handle_ns + send_ns DESC, start_ns, rowid LIMIT :most";
static const char php_sql[] =
    "SELECT rowid AS id " MST_FROM_PHPS_ROWS
    "ORDER BY coalesce(wait_ns, 0) + run_ns DESC, start_ns, rowid LIMIT :most";
static const char php_row_sql[] =
    "SELECT start_ns, pid, script FROM main.php_requests WHERE rowid = :id";

/* What PHP's request was about. */
static bool read_php(struct mst_slow *slow, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, php_row_sql, (int64_t)slow->php_row);

    if (mst_query_next(&q)) {
        slow->php_start_ns = mst_row_number(&q, "start_ns");
        slow->php_pid = mst_row_number(&q, "pid");
        mst_row_copy(&q, "script", slow->script, sizeof slow->script);
    }
    return mst_query_done(&q);
}

static bool take(void *context, const struct mst_walked *r)
{
    struct mst_slow *slow = context;

    *slow = (struct mst_slow){
        .start_ns = r->start_ns, .total_ns = r->total_ns, .status = r->status,
        .aborted = r->aborted, .php_id = r->php_id, .php_row = r->php_row,
        .php_after_ns = mst_subtract_saturated(r->php_start_ns, r->start_ns),
    };
    memcpy(slow->parts_ns, r->split.parts_ns, sizeof slow->parts_ns);
    snprintf(slow->label, sizeof slow->label, "%s", r->label);
    snprintf(slow->path, sizeof slow->path, "%s", r->path);
    snprintf(slow->handler, sizeof slow->handler, "%s", r->handler);
    return true;
}

static bool read_slow(struct mst_slow *slow, const struct mst_summary *s, sqlite3 *db,
                      const struct mst_summary_server *server, uint64_t row)
{
    return mst_requests_read_one(s, db, server, row, take, slow) &&
           (slow->php_row == 0 || read_php(slow, db));
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

/* ---- places in PHP's code -------------------------------------------------------------- */

#define PLACES_MAX 32u   /* that compete: of the first samples of a request */

struct place { const struct mst_php_frame *frame; uint64_t ns; };

static void add_place(struct place places[PLACES_MAX], size_t *count,
                      const struct mst_php_frame *frame, uint64_t ns)
{
    size_t i;

    for (i = 0; i < *count; i++)
        if (strcmp(places[i].frame->function, frame->function) == 0 &&
            strcmp(places[i].frame->file, frame->file) == 0)
            break;
    if (i == PLACES_MAX)
        return;
    if (i == *count)
        places[(*count)++] = (struct place){ frame, 0 };
    places[i].ns += ns;
}

/* Says it where at least half of what was sampled of the request was there. */
static bool read_place(struct mst_slow *slow, sqlite3 *db, const struct mst_php_code *code)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stack, sum(weight_ns) AS ns FROM php_samples WHERE server_id = :id AND "
        "request_start_ns = :start AND pid = :pid GROUP BY stack ORDER BY ns DESC",
        (int64_t)slow->php_id);
    const struct mst_php_frame *frame;
    struct place places[PLACES_MAX];
    uint64_t all_ns = 0;
    size_t count = 0, i;

    mst_query_set(&q, ":start", (int64_t)slow->php_start_ns);
    mst_query_set(&q, ":pid", (int64_t)slow->php_pid);
    while (mst_query_next(&q)) {
        frame = mst_php_code_named_of(code, mst_row_number(&q, "stack"));
        all_ns += mst_row_number(&q, "ns");
        if (frame != NULL)
            add_place(places, &count, frame, mst_row_number(&q, "ns"));
    }
    for (i = 0; i < count; i++)
        if (places[i].ns >= all_ns / 2 && slow->place[0] == '\0')
            mst_code_words(slow->place, places[i].frame->function, places[i].frame->file,
                           places[i].frame->line);
    return mst_query_done(&q);
}

static bool read_places(struct mst_slowest *slowest, sqlite3 *db, uint64_t php_id)
{
    struct mst_php_code code;
    bool fine = mst_php_code_read(&code, db, (int64_t)php_id);
    size_t i;

    for (i = 0; i < slowest->count && fine && code.stack_count > 0; i++)
        if (slowest->rows[i].php_id == php_id && slowest->rows[i].php_row != 0)
            fine = read_place(&slowest->rows[i], db, &code);
    mst_php_code_free(&code);
    return fine;
}

/* ---- both ------------------------------------------------------------------------------ */

bool mst_slowest_read(struct mst_slowest *slowest, const struct mst_summary *s, sqlite3 *db,
                      const struct mst_summary_server *server, size_t most)
{
    bool php = mst_summary_is_php(server), fine = true;
    struct mst_query q = mst_query_ask(db, php ? php_sql : apache_sql, server->id);
    size_t i;

    *slowest = (struct mst_slowest){
        .rows = mst_have(calloc(MST_SLOWEST_MOST, sizeof *slowest->rows)),
    };
    mst_query_set(&q, ":most", (int64_t)(most < MST_SLOWEST_MOST ? most : MST_SLOWEST_MOST));
    while (fine && mst_query_next(&q))
        fine = read_slow(&slowest->rows[slowest->count++], s, db, server, mst_row_number(&q, "id"));
    fine = mst_query_done(&q) && fine;
    for (i = 0; fine && i < s->server_count; i++) {
        if (!mst_summary_is_php(&s->servers[i]))
            continue;
        fine = (s->servers[i].marks == 0 ||
                read_marks(slowest, db, (uint64_t)s->servers[i].id)) &&
               read_places(slowest, db, (uint64_t)s->servers[i].id);
    }
    return fine;
}

void mst_slowest_free(struct mst_slowest *slowest)
{
    free(slowest->rows);
    *slowest = (struct mst_slowest){ 0 };
}

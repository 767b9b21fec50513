/* join_client.c - the same request on both sides: what the client waited beyond the server's time.
 *
 * By the id that the client sent with it, where the server recorded that: exact. Else by
 * time, where the load tool's rows tell when requests began: the server's request lies
 * within the client's, and of several that do the one is taken that fills it best. With
 * many connections at once such a pair can be of two requests; the mean over all hardly
 * changes by that, and how many had more than one to choose from is told.
 */
#include "analysis/run_requests.h"
#include "analysis/steps.h"

#include <stdlib.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"

struct span { uint64_t from, to; };

/* All requests of a side. */
struct spans { struct span *items; size_t count, room; };

static bool add_span(struct spans *s, uint64_t start_ns, uint64_t duration_ns)
{
    if (start_ns == MST_UNKNOWN || duration_ns > UINT64_MAX - start_ns)
        return true;
    if (!mst_grow(&s->items, &s->room, s->count, sizeof *s->items))
        return false;
    s->items[s->count++] = (struct span){ start_ns, start_ns + duration_ns };
    return true;
}

static int by_end(const void *a, const void *b)
{
    uint64_t x = ((const struct span *)a)->to, y = ((const struct span *)b)->to;

    return (x > y) - (x < y);
}

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const struct span *)a)->from, y = ((const struct span *)b)->from;

    return (x > y) - (x < y);
}

static bool read_spans(struct spans *to, sqlite3 *db, const char *sql, int64_t id,
                       int (*order)(const void *, const void *))
{
    struct mst_query q = mst_query_ask(db, sql, id);
    bool fine = true;

    while (fine && mst_query_next(&q))
        fine = add_span(to, mst_row_number(&q, "begin"), mst_row_number(&q, "took_ns"));
    fine = mst_query_done(&q) && fine;
    if (to->count > 1)
        qsort(to->items, to->count, sizeof *to->items, order);
    return fine;
}

static uint64_t length(struct span s)
{
    return s.to - s.from;
}

/* The server's request that was this one of the client's; NULL: none. servers[..end] end
 * before it does. One that is taken has no length any more. */
static struct span *find(struct span client, struct span *servers, size_t end, uint64_t tolerance,
                         bool *chosen)
{
    struct span *best = NULL, *at;
    size_t compared = 0, fit = 0;

    for (at = servers + end; at > servers && compared < MST_JOIN_CHOICES_MAX; compared++) {
        at--;
        if (at->to + tolerance < client.from)
            break;
        if (at->from == at->to || at->from + tolerance < client.from)
            continue;
        fit++;
        if (best == NULL || length(*at) > length(*best))
            best = at;
    }
    *chosen = fit > 1;
    return best;
}

static bool join_spans(struct mst_summary_join *join, struct spans *clients, struct spans *servers,
                       uint64_t tolerance, struct mst_values *apart)
{
    struct span *server;
    size_t i, end = 0;
    bool chosen;

    for (i = 0; i < clients->count; i++) {
        struct span client = clients->items[i];

        while (end < servers->count && servers->items[end].to <= client.to + tolerance)
            end++;
        server = find(client, servers->items, end, tolerance, &chosen);
        if (server == NULL)
            continue;
        if (mst_values_add(apart, length(client) > length(*server) ?
                                  length(client) - length(*server) : 0) != 0)
            return false;
        join->ambiguous += chosen;
        server->from = server->to;
    }
    return true;
}

/* 1 the servers' requests have such ids, 0 not, -1 failed. */
static int servers_have_ids(sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT EXISTS (SELECT 1 FROM server_requests WHERE client_id IS NOT NULL AND "
        "server_id IN (SELECT id FROM servers WHERE run_id = :id)) AS has_ids", run_id);
    bool has = mst_query_next(&q) && mst_row_number(&q, "has_ids") == 1;

    return mst_query_done(&q) ? has : -1;
}

/* Spans here begin at the id and are as long as the request took. A redirect is a second
 * request with the same id, which the client waited for, too. An id that two of the client's
 * requests have tells nothing. */
static bool join_ids(const struct spans *clients, const struct spans *servers,
                     struct mst_values *apart)
{
    const struct span *c = clients->items, *s = servers->items;
    size_t i, same, k = 0, first;
    uint64_t took;

    for (i = 0; i < clients->count; i += same) {
        for (same = 1; i + same < clients->count && c[i + same].from == c[i].from; same++)
            ;
        while (k < servers->count && s[k].from < c[i].from)
            k++;
        for (first = k, took = 0; k < servers->count && s[k].from == c[i].from; k++)
            took += length(s[k]);
        if (same == 1 && k > first &&
            mst_values_add(apart, length(c[i]) > took ? length(c[i]) - took : 0) != 0)
            return false;
    }
    return true;
}

static bool join_by_id(struct mst_summary_join *join, sqlite3 *db, int64_t run_id,
                       struct mst_values *apart)
{
    struct spans clients = { 0 }, servers = { 0 };
    bool fine;

    join->by = MST_JOIN_ID;
    fine = read_spans(&clients, db, "SELECT client_id AS begin, duration_ns AS took_ns FROM "
                      "client_requests WHERE run_id = :id AND status IS NOT 0 "
                      "AND client_id IS NOT NULL", run_id, by_start) &&
           read_spans(&servers, db, "SELECT client_id AS begin, queue_ns + read_ns + handle_ns + "
                      "send_ns AS took_ns FROM server_requests WHERE "
                      "server_id IN (SELECT id FROM servers WHERE run_id = :id) AND ghost = 0 "
                      "AND client_id IS NOT NULL", run_id, by_start) &&
           join_ids(&clients, &servers, apart);
    free(clients.items);
    free(servers.items);
    return fine;
}

static bool join_by_time(struct mst_summary_join *join, sqlite3 *db, const struct mst_summary *s,
                         const struct mst_summary_server *server, struct mst_values *apart)
{
    struct spans clients = { 0 }, servers = { 0 };
    bool fine;

    join->by = MST_JOIN_TIME;
    fine = read_spans(&clients, db, "SELECT start_ns AS begin, duration_ns AS took_ns FROM "
                      "client_requests WHERE run_id = :id AND status IS NOT 0", s->id, by_end) &&
           read_spans(&servers, db, "SELECT start_ns AS begin, queue_ns + read_ns + handle_ns + "
                      "send_ns AS took_ns " MST_FROM_APACHES_REQUESTS,
                      server->id, by_end) &&
           join_spans(join, &clients, &servers,
                      s->client.rows_start_step_ns + MST_SAME_CLOCK_TOLERANCE_NS, apart);
    free(clients.items);
    free(servers.items);
    return fine;
}

/* Whether the rows and one server's requests go by the same clock. */
static bool times_tell(const struct mst_summary *s, const struct mst_summary_server *server)
{
    size_t i, apaches = 0;

    for (i = 0; i < s->server_count; i++)
        apaches += !mst_summary_is_php(&s->servers[i]);
    return server != NULL && server->local && apaches == 1 && !mst_summary_is_php(server) &&
           s->client.rows_start_step_ns <= MST_JOIN_START_STEP_MAX_NS;
}

bool mst_summary_join_client(struct mst_summary *s, sqlite3 *db)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    struct mst_summary_join *join = &s->client.join;
    struct mst_values apart = { 0 };
    int ids = s->client.has_ids ? servers_have_ids(db, s->id) : 0;
    bool fine = ids >= 0;

    if (ids > 0)
        fine = join_by_id(join, db, s->id, &apart);
    else if (fine && times_tell(s, server))
        fine = join_by_time(join, db, s, server, &apart);
    mst_summary_times_of(&join->apart, &apart);
    mst_values_free(&apart);
    return fine;
}

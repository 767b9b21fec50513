/* requests.c - walks the requests of a server: see requests.h.
 *
 * Records of Apache and PHP join on Apache's request id and on the time, since ids are unique in
 * one board only. Servers behind a balancer have requests of the same id at the same time, so it is
 * found first which PHP works for one Apache alone.
 *
 * php_wait and php_run are not parts of Apache's sum: of each, the part within `handle` or `send`
 * counts. PHP flushes, so php_run may reach into `send`.
 */
#include "analysis/requests.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/run_requests.h"
#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/saturate.h"

/* ---- the rows ------------------------------------------------------------------------------- */

#define X_COLUMN(suffix, name) "a." name "_ns AS " name "_ns, "
#define OF_PHP "p.rowid AS php_row, p.server_id AS php_id, p.start_ns AS php_start_ns, " \
    "p.wait_ns AS wait_ns, p.run_ns AS run_ns, p.user_ns + p.system_ns AS cpu_ns, " \
    "p.cpu_wait_ns AS cpu_wait_ns, p.compile_ns AS compile_ns, p.gc_ns AS gc_ns, w.kind AS kind, " \
    "w.wait_ns AS kind_ns "
#define WITH_WAITS "LEFT JOIN main.php_waits w ON w.server_id = p.server_id AND w.key = p.key " \
    "AND p.waits_ns > 0 "
#define NO_PHP "NULL AS php_row "
#define OF_APACHE "SELECT a.rowid AS id, a.start_ns AS start_ns, a.queue_ns AS queue_ns, " \
    "a.read_ns AS read_ns, a.handle_ns AS handle_ns, a.send_ns AS send_ns, " \
    MST_INTERVALS(X_COLUMN) "a.label AS label, a.path AS path, a.status AS status, " \
    "a.aborted AS aborted, a.worker AS worker, a.held_ns AS held_ns, a.front_ns AS front_ns, " \
    "a.bytes AS bytes, a.no_worker AS no_worker, a.ghost AS ghost, " MST_HANDED_TO " AS handler, "
#define FROM_APACHE(schema) "FROM " schema "server_requests a "
#define JOIN_PHP(schema) \
    "LEFT JOIN " schema "php_requests p ON p.request_id = a.request_id AND p.ghost = 0 " WITH_WAITS
#define OF_THE_SERVER "WHERE a.server_id = :id "
#define ALL "ORDER BY a.request_id, a.rowid"
#define ONE "AND a.rowid = :row"

static const char apaches_sql[] = OF_APACHE NO_PHP FROM_APACHE("") OF_THE_SERVER ALL;
static const char joined_sql[] = OF_APACHE OF_PHP FROM_APACHE("") JOIN_PHP("") OF_THE_SERVER ALL;
static const char one_joined_sql[] =
    OF_APACHE OF_PHP FROM_APACHE("main.") JOIN_PHP("main.") OF_THE_SERVER ONE;

/* A PHP's request begins with its wait: its total is what PHP knows. */
#define PHPS(schema) "SELECT p.rowid AS id, p.label AS label, p.script AS script, " \
    "p.status AS status, p.aborted AS aborted, p.worker AS worker, p.run_ns AS held_ns, " \
    "p.ghost AS ghost, p.fatal AS fatal, p.timeout AS timeout, p.cached AS cached, " \
    "p.memory_bytes AS memory_bytes, p.waits_ns AS waits_ns, " OF_PHP \
    "FROM " schema "php_requests p " WITH_WAITS "WHERE p.server_id = :id "
static const char phps_sql[] = PHPS("") "ORDER BY p.rowid";
static const char one_php_sql[] = PHPS("main.") "AND p.rowid = :row";

static void read_intervals(uint64_t intervals_ns[MST_INTERVAL_COUNT], struct mst_query *q)
{
#define X_NAME(suffix, name) name "_ns",
    static const char *const columns[] = { MST_INTERVALS(X_NAME) };
    size_t i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        intervals_ns[i] = mst_row_number(q, columns[i]);
}

/* ---- one request ---------------------------------------------------------------------------- */

struct interval { uint64_t from, to; };

struct walk {
    const struct mst_summary        *s;
    const struct mst_summary_server *server;
    struct mst_query q;
    struct mst_walked r;                 /* the request whose rows are read; its id: 0: none yet */
    struct mst_split_times t;
    uint64_t php_row;                    /* the latest row of PHP's, and whether it is r's */
    bool     php_fits;
    char     label[MST_NAME_MAX], handler[2 * MST_NAME_MAX], path[MST_PATH_NAME_MAX];
    char     script[MST_PATH_MAX];       /* r's, as are the others */
    mst_walk_each *each;
    void     *context;
    uint64_t *joined;
};

static uint64_t common(struct interval a, struct interval b)
{
    uint64_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;

    return to > from ? to - from : 0;
}

/* Intervals of several PHP requests may overlap: no part is longer than the whole. */
static void add_bounded(uint64_t *part, uint64_t ns, uint64_t whole)
{
    *part = ns > whole || *part > whole - ns ? whole : *part + ns;
}

static void add_cpu(struct walk *w)
{
    mst_add_known(&w->t.cpu_ns, mst_row_number(&w->q, "cpu_ns"));
    mst_add_known(&w->t.cpu_wait_ns, mst_row_number(&w->q, "cpu_wait_ns"));
    mst_add_known(&w->t.compile_ns, mst_row_number(&w->q, "compile_ns"));
    mst_add_known(&w->t.gc_ns, mst_row_number(&w->q, "gc_ns"));
}

static void add_wait(struct walk *w)
{
    unsigned kind = mst_wait_named(mst_row_text(&w->q, "kind"));

    if (kind < MST_WAIT_COUNT)
        mst_add_known(&w->t.waits_ns[kind], mst_row_number(&w->q, "kind_ns"));
}

static bool is_set(struct mst_query *q, const char *name)
{
    return mst_row_number(q, name) == 1;
}

static void read_names(struct walk *w)
{
    struct mst_query *q = &w->q;

    w->r.label = w->label;
    w->r.handler = w->handler;
    w->r.path = w->path;
    w->r.script = w->script;
    mst_row_copy(q, "label", w->label, sizeof w->label);
    if (!mst_summary_is_php(w->server))
        mst_row_copy(q, "path", w->path, sizeof w->path);
    w->r.status = mst_row_number(q, "status");
    w->r.aborted = is_set(q, "aborted");
    w->r.worker = mst_row_number(q, "worker");
    w->r.held_ns = mst_row_number(q, "held_ns");
}

bool mst_walked_counts(const struct mst_walked *r)
{
    return !r->is_ghost && !r->is_page;
}

static bool end_request(struct walk *w)
{
    if (w->r.id == 0)
        return true;
    w->r.times = &w->t;
    mst_split(&w->r.split, &w->t);
    return w->each(w->context, &w->r);
}

/* ---- which PHP it was ----------------------------------------------------------------------- */

/* s->server_count: none of them. */
static size_t server_of(const struct mst_summary *s, uint64_t id)
{
    size_t i;

    for (i = 0; i < s->server_count && (uint64_t)s->servers[i].id != id; i++)
        ;
    return i;
}

static bool have_same_clock(const struct mst_summary_server *apache,
                            const struct mst_summary_server *php)
{
    return apache->clock_known && php->clock_known;
}

/* The instant of PHP's by Apache's clock, where both clocks are known. MST_UNKNOWN: there is no
 * such instant. */
static uint64_t by_apaches_clock(uint64_t instant_ns, const struct mst_summary_server *apache,
                                 const struct mst_summary_server *php)
{
    if (instant_ns != MST_UNKNOWN && have_same_clock(apache, php))
        instant_ns += (uint64_t)apache->clock_offset_ns - (uint64_t)php->clock_offset_ns;
    return instant_ns <= INT64_MAX ? instant_ns : MST_UNKNOWN;
}

/* Whether PHP's request can be this one of Apache's: ids repeat, in another board. */
static bool fits(const struct walk *w, uint64_t php_start, bool same_clock)
{
    uint64_t tolerance = same_clock ? MST_SAME_CLOCK_TOLERANCE_NS
                                    : MST_WALL_CLOCK_TOLERANCE_NS;

    return php_start != MST_UNKNOWN && php_start + tolerance >= w->r.start_ns &&
           php_start <= w->r.start_ns + w->r.total_ns + tolerance;
}

/* ---- an Apache's ---------------------------------------------------------------------------- */

/* Columns are taken in their order: that is quicker (archive/query.c). */
static void begin_apaches(struct walk *w, uint64_t id)
{
    struct mst_query *q = &w->q;
    struct mst_split_times *t = &w->t;

    *t = (struct mst_split_times){ 0 };
    w->r = (struct mst_walked){ .id = id, .start_ns = mst_row_number(q, "start_ns") };
    t->queue_ns = w->r.queue_ns = mst_row_number(q, "queue_ns");
    t->read_ns = w->r.read_ns = mst_row_number(q, "read_ns");
    t->handle_ns = w->r.handle_ns = mst_row_number(q, "handle_ns");
    t->send_ns = w->r.send_ns = mst_row_number(q, "send_ns");
    w->r.total_ns = t->queue_ns + t->read_ns + t->handle_ns + t->send_ns;
    w->php_row = 0;
    read_intervals(t->intervals_ns, q);
    read_names(w);
    w->r.front_ns = mst_row_number(q, "front_ns");
    w->r.bytes = mst_row_number(q, "bytes");
    w->r.has_worker = mst_row_number(q, "no_worker") == 0;
    w->r.is_ghost = is_set(q, "ghost");
    w->r.is_page = strcmp(w->label, MST_LABEL_STATUS_NAME) == 0;
    mst_row_copy(q, "handler", w->handler, sizeof w->handler);
    w->script[0] = '\0';
}

/* The present row's request of PHP's, which began at start_ns by Apache's clock. */
static void lay(struct walk *w, uint64_t php_id, uint64_t start_ns)
{
    uint64_t wait_ns = mst_row_number(&w->q, "wait_ns"), run_ns = mst_row_number(&w->q, "run_ns");
    uint64_t handled_ns = w->r.start_ns + w->t.queue_ns + w->t.read_ns;
    uint64_t sent_ns = handled_ns + w->t.handle_ns;
    struct interval handle = { handled_ns, sent_ns }, send = { sent_ns, sent_ns + w->t.send_ns };
    struct interval run = { start_ns, start_ns + run_ns }, wait = { start_ns, start_ns };

    if (wait_ns == MST_UNKNOWN)
        w->r.wait_unknown = true;
    else
        wait.from = mst_subtract_saturated(start_ns, wait_ns);
    w->r.has_php = true;
    if (w->r.php_row == 0 || run_ns > w->r.php_longest_ns) {
        w->r.php_id = php_id;
        w->r.php_row = w->php_row;
        w->r.php_start_ns = start_ns;
        w->r.php_longest_ns = run_ns;
    }
    add_bounded(&w->t.php_wait_ns, common(wait, handle), w->t.handle_ns);
    add_bounded(&w->t.php_run_ns, common(run, handle), w->t.handle_ns);
    add_bounded(&w->t.php_send_ns, common(run, send), w->t.send_ns);
    mst_add_known(&w->t.php_all_ns, run_ns);
    add_cpu(w);
}

/* Lays the present row's request of PHP's over Apache's, where it is of this run and can be. */
static void begin_behind(struct walk *w, uint64_t php_row)
{
    uint64_t id = mst_row_number(&w->q, "php_id");
    uint64_t start_ns = mst_row_number(&w->q, "php_start_ns");
    size_t i = id != MST_UNKNOWN ? server_of(w->s, id) : w->s->server_count;
    const struct mst_summary_server *php = &w->s->servers[i];

    w->php_row = php_row;
    w->php_fits = false;
    if (i == w->s->server_count || !mst_summary_is_php(php) ||
        (php->only_apache != 0 && php->only_apache != w->server->id))
        return;
    start_ns = by_apaches_clock(start_ns, w->server, php);
    if (!fits(w, start_ns, have_same_clock(w->server, php)))
        return;
    w->php_fits = true;
    lay(w, id, start_ns);
    if (w->joined != NULL)
        w->joined[i]++;
}

/* A request that Apache handed to PHP several times has several rows, and each of these has one for
 * each of its waits. */
static bool take_apaches(struct walk *w, bool is_joined)
{
    uint64_t id = mst_row_number(&w->q, "id"), php_row;

    if (id != w->r.id) {
        if (!end_request(w))
            return false;
        begin_apaches(w, id);
    }
    php_row = is_joined && mst_walked_counts(&w->r) ? mst_row_number(&w->q, "php_row")
                                                    : MST_UNKNOWN;
    if (php_row == MST_UNKNOWN)
        return true;
    if (php_row != w->php_row)
        begin_behind(w, php_row);
    if (w->php_fits)
        add_wait(w);
    return true;
}

/* ---- a PHP's -------------------------------------------------------------------------------- */

static void begin_phps(struct walk *w, uint64_t id)
{
    uint64_t wait_ns = mst_row_number(&w->q, "wait_ns"), run_ns = mst_row_number(&w->q, "run_ns");

    w->t = (struct mst_split_times){
        .php_wait_ns = mst_known(wait_ns), .php_run_ns = run_ns, .php_all_ns = run_ns,
        .handle_ns = mst_known(wait_ns) + run_ns,
    };
    w->r = (struct mst_walked){
        .id = id, .total_ns = w->t.handle_ns, .handle_ns = w->t.handle_ns,
        .front_ns = MST_UNKNOWN, .bytes = MST_UNKNOWN, .has_worker = true,
        .start_ns = mst_subtract_saturated(mst_row_number(&w->q, "php_start_ns"),
                                           mst_known(wait_ns)),
        .has_php = true, .wait_unknown = wait_ns == MST_UNKNOWN,
        .php_id = (uint64_t)w->server->id, .php_row = id, .php_longest_ns = run_ns,
        .php_start_ns = mst_row_number(&w->q, "php_start_ns"),
    };
    read_names(w);
    w->r.is_ghost = is_set(&w->q, "ghost");
    w->r.fatal = is_set(&w->q, "fatal");
    w->r.timeout = is_set(&w->q, "timeout");
    w->r.uncached = mst_row_number(&w->q, "cached") == 0;
    w->r.memory_bytes = mst_row_number(&w->q, "memory_bytes");
    w->r.is_measured = mst_row_number(&w->q, "waits_ns") != MST_UNKNOWN;
    mst_row_copy(&w->q, "script", w->script, sizeof w->script);
    add_cpu(w);
}

static bool take_phps(struct walk *w)
{
    uint64_t id = mst_row_number(&w->q, "id");

    if (id != w->r.id) {
        if (!end_request(w))
            return false;
        begin_phps(w, id);
    }
    add_wait(w);
    return true;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool has_php(const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]))
            return true;
    return false;
}

static bool walk(struct walk *w, bool is_joined)
{
    bool is_php = mst_summary_is_php(w->server), fine = true;

    while (fine && mst_query_next(&w->q))
        fine = is_php ? take_phps(w) : take_apaches(w, is_joined);
    fine = fine && end_request(w);
    return mst_query_done(&w->q) && fine;
}

bool mst_requests_read(const struct mst_summary *s, sqlite3 *db,
                       const struct mst_summary_server *server, mst_walk_each *each, void *context,
                       uint64_t *joined)
{
    bool is_joined = has_php(s);
    const char *sql = mst_summary_is_php(server) ? phps_sql : is_joined ? joined_sql : apaches_sql;
    struct walk w = {
        .s = s, .server = server, .q = mst_query_ask(db, sql, server->id), .each = each,
        .context = context, .joined = joined,
    };

    return walk(&w, is_joined);
}

bool mst_requests_read_one(const struct mst_summary *s, sqlite3 *db,
                           const struct mst_summary_server *server, uint64_t row,
                           mst_walk_each *each, void *context)
{
    const char *sql = mst_summary_is_php(server) ? one_php_sql : one_joined_sql;
    struct walk w = { .s = s, .server = server, .q = mst_query_ask(db, sql, server->id),
                      .each = each, .context = context };

    mst_query_set(&w.q, ":row", (int64_t)row);
    return walk(&w, true);
}

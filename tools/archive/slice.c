/* slice.c - what archives have of a time: see slice.h. */
#include "archive/slice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/internal.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/clock.h"

/* A request that began so much before the slice was in flight then: limits.h of the recording. */
#define TOLERANCE "10000000"
#define GHOST(began) \
    "CASE WHEN :is_first AND ghost THEN 1 ELSE " began " + " TOLERANCE " < :begin END"

/* A run of an archive, as far as it is in the slice. */
struct part {
    struct mst_archive *archive;
    sqlite3   *db;
    int64_t    id;
    uint64_t   started_ns, ended_ns, number;
    uint64_t   thinned_ns;         /* MST_UNKNOWN: it is whole */
    char      *recording;          /* NULL: of one archive */
    bool       is_whole, is_first; /* first: it does not go on with the part before */
};

struct slicing {
    sqlite3     *to;
    uint64_t     from_ns, to_ns;
    struct part *parts;
    size_t       count, room;
    int64_t      run_id;           /* that is made */
    uint64_t     begin_ns;         /* it begins */
    char         error[MST_ERROR_MAX];
};

/* Which rows of a table are in the slice, by their time. Where an archive continues another one,
 * its first sample ("before") is that one's last sample again; has_moment: it is left out. */
struct table { const char *name, *time; bool has_moment; };
#define APACHES_END "start_ns + queue_ns + read_ns + handle_ns + send_ns"
#define PHPS_END    "start_ns + run_ns"
static const struct table of_server[] = {
    { "server_requests", APACHES_END, false }, { "php_requests", PHPS_END, false },
    { "marks", "time_ns", false }, { "php_samples", "time_ns", false },
    { "lifecycle", "time_ns", false }, { "opcache", "time_ns", false },
    { "samples", "time_ns", true }, { "pool_samples", "time_ns", true },
    { "process_samples", "time_ns", false }, { "memory_samples", "time_ns", false },
};
static const struct table of_run[] = {
    { "port_samples", "time_ns", false }, { "machine_samples", "time_ns", true },
    { "notes", "time_ns", false },
};
/* What is of a whole run, and cannot be added up. */
static const char *const of_whole_run[] = { "client_results", "client_requests", "generators",
                                            "output", "predictions", "predicted_settings" };
/* Rows of the run that is made, which is the latest, and of its servers. */
#define OF_RUN    "run_id = (SELECT max(id) FROM runs)"
#define OF_SERVER "server_id IN (SELECT id FROM servers WHERE " OF_RUN ")"
/* Totals of whole recordings. */
static const struct { const char *table, *which, *columns, *sums, *names; } totals[] = {
    { "ends", OF_SERVER, "server_id, kind, end, calls, failed, end_ns",
      "server_id, kind, end, sum(calls), sum(failed), sum(end_ns)", "server_id, kind, end" },
    { "programs", OF_RUN, "run_id, program, owner, cpu_ns, disk_bytes",
      "run_id, program, owner, sum(cpu_ns), CASE WHEN count(*) = count(disk_bytes) THEN "
      "sum(disk_bytes) END", "run_id, program, owner" },
};

static bool failed(struct slicing *z, sqlite3 *db)
{
    if (z->error[0] == '\0')
        snprintf(z->error, sizeof z->error, "cannot take the part of the archives: %s",
                 sqlite3_errmsg(db));
    return false;
}

static bool execute(struct slicing *z, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool execute(struct slicing *z, const char *format, ...)
{
    va_list arguments;
    char sql[1024];

    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    return sqlite3_exec(z->to, sql, NULL, NULL, NULL) == SQLITE_OK || failed(z, z->to);
}

/* ---- rows ------------------------------------------------------------------------------ */

/* Copies the rows of a table whose column `id` is old_id, as those of new_id. */
static bool copy_rows(struct slicing *z, const struct part *p, const char *table, const char *id,
                      int64_t old_id, int64_t new_id, const char *condition)
{
    struct mst_copied_rows what = {
        .table = table, .new_id = id,
        .ghost = strcmp(table, "php_requests") == 0 ? GHOST("start_ns - coalesce(wait_ns, 0)")
                                                    : GHOST("start_ns"),
    };
    struct mst_copier copier = { 0 };
    char *rows = NULL;
    struct mst_query q;
    bool fine = asprintf(&rows, "%s = :id AND :from + :to + :begin + :is_first + :new_id IS NOT "
                         "NULL AND (%s)", id, condition) >= 0;

    what.rows = rows;
    fine = fine && mst_copier_begin(&copier, z->to, &what);
    if (fine) {
        q = mst_query_ask(p->db, copier.select, old_id);
        mst_query_set(&q, ":new_id", new_id);
        mst_query_set(&q, ":from", (int64_t)z->from_ns);
        mst_query_set(&q, ":to", (int64_t)z->to_ns);
        mst_query_set(&q, ":begin", (int64_t)z->begin_ns);
        mst_query_set(&q, ":is_first", p->is_first);
        while (fine && mst_query_next(&q))
            fine = mst_copier_row(&copier, q.statement, 0) || failed(z, z->to);
        if (!mst_query_done(&q) && z->error[0] == '\0') {
            mst_archive_unreadable(p->archive, z->error);
            fine = false;
        }
    }
    mst_copier_end(&copier);
    free(rows);
    return fine || failed(z, z->to);
}

static bool copy_by_time(struct slicing *z, const struct part *p, const struct table *table,
                         const char *id, int64_t old_id, int64_t new_id)
{
    char condition[224];

    snprintf(condition, sizeof condition, "%s >= :from AND %s < :to%s", table->time, table->time,
             table->has_moment ? " AND (:is_first OR moment <> 'before')" : "");
    return copy_rows(z, p, table->name, id, old_id, new_id, condition);
}

/* ---- servers --------------------------------------------------------------------------- */

/* The slice's server that goes on with this one; 0: none. False: an archive cannot be read. */
static bool same_server(struct slicing *z, const struct part *p, int64_t id, int64_t *found)
{
    struct mst_query q = mst_query_ask(p->db, "SELECT target, producer FROM servers "
                                       "WHERE id = :id", id), mine;
    bool fine = true;

    *found = 0;
    if (mst_query_next(&q)) {
        mine = mst_query_ask(z->to, "SELECT id FROM servers WHERE run_id = :id AND "
                             "target = :target AND producer = :producer", z->run_id);
        mst_query_set_text(&mine, ":target", mst_row_text(&q, "target"));
        mst_query_set_text(&mine, ":producer", mst_row_text(&q, "producer"));
        if (mst_query_next(&mine))
            *found = mst_row_id(&mine, "id");
        fine = mst_query_done(&mine) || failed(z, z->to);
    }
    return mst_query_done(&q) && fine;
}

/* What is not known stays so in the sum. */
static bool add_to_server(struct slicing *z, int64_t into, int64_t part)
{
    static const char *const sums[] = { "lost", "restarts", "cpu_ns", "oom_kills",
                                        "memory_stall_ns", "throttled_ns" };
    size_t i;

    for (i = 0; i < sizeof sums / sizeof *sums; i++)
        if (!execute(z, "UPDATE servers SET %s = %s + (SELECT %s FROM servers WHERE id = %" PRId64
                     ") WHERE id = %" PRId64, sums[i], sums[i], sums[i], part, into))
            return false;
    return execute(z, "DELETE FROM servers WHERE id = %" PRId64, part);
}

static bool copy_server(struct slicing *z, const struct part *p, int64_t id)
{
    int64_t into = 0, added;
    size_t i;

    if ((!p->is_first && !same_server(z, p, id, &into)) ||
        !copy_rows(z, p, "servers", "id", id, 0, "1"))
        return false;
    added = sqlite3_last_insert_rowid(z->to);
    if (!execute(z, "UPDATE servers SET run_id = %" PRId64 " WHERE id = %" PRId64, z->run_id,
                 added))
        return false;
    if (!p->is_whole &&
        !execute(z, "UPDATE servers SET cpu_ns = NULL, oom_kills = NULL, memory_stall_ns = NULL, "
                 "throttled_ns = NULL, unknown = 'CPU is known of a whole recording only' "
                 "WHERE id = %" PRId64, added))
        return false;
    if (into != 0 && !add_to_server(z, into, added))
        return false;
    if (into == 0 && !copy_rows(z, p, "settings", "server_id", id, added, "1"))
        return false;
    into = into != 0 ? into : added;
    for (i = 0; i < sizeof of_server / sizeof *of_server; i++)
        if (!copy_by_time(z, p, &of_server[i], "server_id", id, into))
            return false;
    if (!copy_rows(z, p, "frames", "server_id", id, into, "1") ||
        !copy_rows(z, p, "stacks", "server_id", id, into, "1"))
        return false;
    return copy_rows(z, p, "php_waits", "server_id", id, into, "key IN (SELECT key FROM "
                     "main.php_requests WHERE server_id = :id AND " PHPS_END " >= :from AND "
                     PHPS_END " < :to)") &&
           (!p->is_whole || copy_rows(z, p, "ends", "server_id", id, into, "1"));
}

static bool copy_servers(struct slicing *z, const struct part *p)
{
    struct mst_query q = mst_query_ask(p->db, "SELECT id FROM servers WHERE run_id = :id "
                                       "ORDER BY id", p->id);
    bool fine = true;

    while (fine && mst_query_next(&q))
        fine = copy_server(z, p, mst_row_id(&q, "id"));
    return (mst_query_done(&q) && fine) || failed(z, p->db);
}

/* ---- runs ------------------------------------------------------------------------------ */

/* How many parts from this one on are one run. */
static size_t parts_of_run(const struct slicing *z, size_t first)
{
    const struct part *p = z->parts;
    size_t n = first + 1;

    while (n < z->count && p[n].recording != NULL && p[first].recording != NULL &&
           strcmp(p[n].recording, p[first].recording) == 0 &&
           p[n].number == p[n - 1].number + 1)
        n++;
    return n - first;
}

static bool copy_part(struct slicing *z, const struct part *p, bool is_alone)
{
    size_t i;

    if (p->is_first && !copy_rows(z, p, "environment", "run_id", p->id, z->run_id, "1"))
        return false;
    for (i = 0; i < sizeof of_run / sizeof *of_run; i++)
        if (!copy_by_time(z, p, &of_run[i], "run_id", p->id, z->run_id))
            return false;
    for (i = 0; i < sizeof of_whole_run / sizeof *of_whole_run && is_alone && p->is_whole; i++)
        if (!copy_rows(z, p, of_whole_run[i], "run_id", p->id, z->run_id, "1"))
            return false;
    if (p->is_whole && !copy_rows(z, p, "programs", "run_id", p->id, z->run_id, "1"))
        return false;
    return copy_servers(z, p);
}

/* The totals of several parts are added up; where a part is cut they are not known. */
static bool add_totals(struct slicing *z, bool is_whole)
{
    size_t i;

    for (i = 0; i < sizeof totals / sizeof *totals; i++)
        if (!execute(z, "CREATE TEMP TABLE total AS SELECT %s FROM %s WHERE %s GROUP BY %s; "
                     "DELETE FROM %s WHERE %s; INSERT INTO %s (%s) SELECT * FROM total WHERE %d; "
                     "DROP TABLE total", totals[i].sums, totals[i].table, totals[i].which,
                     totals[i].names, totals[i].table, totals[i].which, totals[i].table,
                     totals[i].columns, is_whole))
            return false;
    return is_whole || execute(z, "INSERT INTO notes VALUES (%" PRId64 ", %" PRIu64 ", 'this is a "
                               "part of what was recorded: the CPU time of servers and programs, "
                               "the totals of other ends and what the load tool said are known of "
                               "the whole only')", z->run_id, z->begin_ns);
}

/* The first sample and the last one of each server, and of the machine, are those that counters are
 * compared between. */
static bool name_moments(struct slicing *z)
{
    static const struct { const char *table, *id, *which; } tables[] = {
        { "samples", "server_id", OF_SERVER }, { "pool_samples", "server_id", OF_SERVER },
        { "machine_samples", "run_id", OF_RUN },
    };
    size_t i;

    for (i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *t = tables[i].table, *id = tables[i].id, *which = tables[i].which;

        if (!execute(z, "UPDATE %s SET moment = 'during' WHERE %s AND moment <> 'after'", t,
                     which) ||
            !execute(z, "UPDATE %s SET moment = 'before' WHERE (%s, time_ns) IN (SELECT %s, "
                     "min(time_ns) FROM %s WHERE %s GROUP BY %s)", t, id, id, t, which, id) ||
            !execute(z, "UPDATE %s SET moment = 'end' WHERE moment = 'during' AND (%s, time_ns) "
                     "IN (SELECT %s, max(time_ns) FROM %s WHERE %s AND moment = 'during' GROUP BY "
                     "%s)", t, id, id, t, which, id))
            return false;
    }
    return true;
}

/* Makes one run of the parts. */
static bool make_run(struct slicing *z, struct part *parts, size_t count)
{
    const struct part *last = &parts[count - 1];
    uint64_t end_ns = last->ended_ns < z->to_ns ? last->ended_ns : z->to_ns;
    bool is_whole = true;
    size_t i;

    parts[0].is_first = true;
    z->begin_ns = parts[0].started_ns > z->from_ns ? parts[0].started_ns : z->from_ns;
    if (!copy_rows(z, &parts[0], "runs", "id", parts[0].id, 0, "1"))
        return false;
    z->run_id = sqlite3_last_insert_rowid(z->to);
    for (i = 0; i < count; i++) {
        is_whole = is_whole && parts[i].is_whole;
        if (!copy_part(z, &parts[i], count == 1) ||
            (parts[i].thinned_ns != MST_UNKNOWN &&
             !execute(z, "UPDATE runs SET thinned_ns = %" PRIu64 " WHERE id = %" PRId64,
                      parts[i].thinned_ns, z->run_id)))
            return false;
    }
    if (count == 1 && is_whole)
        return true;
    return execute(z, "UPDATE runs SET started_ns = %" PRIu64 ", ended_ns = %" PRIu64 ", "
                   "duration_ns = %" PRIu64 ", recorder_cpu_ns = NULL, memory_cost_ns = NULL, "
                   "tool_cpu_ns = NULL, complete = 1, outcome = 'complete' WHERE id = %" PRId64,
                   z->begin_ns, end_ns, end_ns - z->begin_ns, z->run_id) &&
           name_moments(z) && add_totals(z, is_whole);
}

/* ---- which runs ------------------------------------------------------------------------ */

/* A recording that goes on, or was killed, ends with its last sample. */
static bool find_parts(struct slicing *z, struct mst_archive *archive)
{
    struct mst_query q = mst_query_ask(mst_archive_db(archive),
        "SELECT id, started_ns, coalesce(ended_ns, (SELECT max(time_ns) FROM machine_samples "
        "WHERE run_id = runs.id), started_ns) AS ended_ns, recording, part, thinned_ns FROM runs "
        "WHERE :id", 1);
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        struct part p = {
            .archive = archive, .db = mst_archive_db(archive), .id = mst_row_id(&q, "id"),
            .started_ns = mst_row_number(&q, "started_ns"),
            .ended_ns = mst_row_number(&q, "ended_ns"), .number = mst_row_number(&q, "part"),
            .thinned_ns = mst_row_number(&q, "thinned_ns"),
        };

        if (p.started_ns >= z->to_ns || p.ended_ns <= z->from_ns || p.ended_ns <= p.started_ns)
            continue;
        p.is_whole = p.started_ns >= z->from_ns && p.ended_ns <= z->to_ns;
        p.recording = mst_row_string(&q, "recording");
        fine = mst_grow(&z->parts, &z->room, z->count, sizeof *z->parts);
        if (fine)
            z->parts[z->count++] = p;
        else
            free(p.recording);
    }
    if (mst_query_done(&q) && fine)
        return true;
    if (mst_archive_unreadable(archive, z->error) == 0)
        mst_fail(z->error, "out of memory for the part of the archives");
    return false;
}

static int by_start(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return (x->started_ns > y->started_ns) - (x->started_ns < y->started_ns);
}

static void forget_parts(struct slicing *z)
{
    while (z->count > 0)
        free(z->parts[--z->count].recording);
}

/* A thinned archive knows of each request in which minute it ended, and no more: where the slice
 * would cut one within a minute, it begins or ends with that minute. Whether it does now. */
static bool take_whole_minutes(struct slicing *z)
{
    const uint64_t from_ns = z->from_ns, to_ns = z->to_ns;
    size_t i;

    for (i = 0; i < z->count; i++) {
        const struct part *p = &z->parts[i];

        if (p->thinned_ns == MST_UNKNOWN)
            continue;
        if (p->started_ns < from_ns)
            z->from_ns = from_ns - from_ns % MST_MINUTE_NS;
        if (p->ended_ns > to_ns)
            z->to_ns = to_ns + (MST_MINUTE_NS - to_ns % MST_MINUTE_NS) % MST_MINUTE_NS;
    }
    return z->from_ns != from_ns || z->to_ns != to_ns;
}

static bool find_all(struct slicing *z, struct mst_archive *const *archives, size_t count)
{
    size_t i;

    forget_parts(z);
    for (i = 0; i < count; i++)
        if (!find_parts(z, archives[i]))
            return false;
    return true;
}

static bool make_all(struct slicing *z, struct mst_archive *const *archives, size_t count)
{
    size_t i, n;

    if (!find_all(z, archives, count) ||
        (take_whole_minutes(z) && !find_all(z, archives, count)))
        return false;
    if (z->count == 0) {
        mst_fail(z->error, "nothing was recorded at that time (--from, --to): mpmstat report "
                 "without them shows when runs began");
        return false;
    }
    qsort(z->parts, z->count, sizeof *z->parts, by_start);
    for (i = 0; i < z->count; i += n) {
        n = parts_of_run(z, i);
        if (!execute(z, "BEGIN") || !make_run(z, &z->parts[i], n) || !execute(z, "COMMIT"))
            return false;
    }
    return true;
}

struct mst_archive *mst_archive_slice(struct mst_archive *const *archives, size_t count,
                                      uint64_t from_ns, uint64_t to_ns,
                                      char error[MST_ERROR_MAX])
{
    struct mst_archive *slice = mst_archive_in_memory(error);
    struct slicing z = { .from_ns = from_ns, .to_ns = to_ns };
    char ignored[MST_ERROR_MAX];
    uint64_t times;

    if (slice == NULL)
        return NULL;
    z.to = mst_archive_db(slice);
    if (!make_all(&z, archives, count) || mst_archive_repeat_rows(slice, &times) != 0) {
        snprintf(error, MST_ERROR_MAX, "%s", z.error[0] != '\0' ? z.error : slice->error);
        mst_archive_close(slice, ignored);
        slice = NULL;
    }
    forget_parts(&z);
    free(z.parts);
    return slice;
}

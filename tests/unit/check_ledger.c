/* check_ledger.c - predictions that archives keep, and what comparisons say of them when a run with
 * the predicted change has been recorded.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ledger_rows.h"
#include "archive/slice.h"
#include "archive/thin.h"
#include "harness.h"
#include "made_run.h"
#include "model/change.h"
#include "model/note.h"
#include "report/comparison_ledger.h"

/* Ten workers, each of which has a request for 80 ms, and 20 clients of ab: 125 a second, or 120
 * with the time that the last ones take. */
static struct run ten_workers(void)
{
    struct run r = quiet_run();

    r.busy = r.limit;
    r.requests = r.counted = 500;
    r.queue_ns = r.handle_ns = 80 * MS;
    r.machine_busy_ns = r.duration_ns / 4;
    return r;
}
#define OF_160_MS "UPDATE client_results SET mean_ns = 160000000, p50_ns = 160000000, " \
                  "p99_ns = 160000000;"

/* The advice followed: a worker for each client, and 1000 requests in four seconds. */
static struct run twenty_workers(void)
{
    struct run r = ten_workers();

    r.limit = r.busy = 20;
    r.requests = r.counted = 1000;
    r.queue_ns = 0;
    return r;
}
#define OF_80_MS "UPDATE client_results SET mean_ns = 80000000, p50_ns = 80000000, " \
                 "p99_ns = 80000000;"

/* ---- archives --------------------------------------------------------------------- */

static void keep_advice(struct made *m)
{
    size_t i;

    for (i = 0; i < m->s.finding_count; i++)
        if (m->s.findings[i].ledger.setting_count > 0)
            ck_assert_int_eq(mst_ledger_write(m->archive, m->run_id, &m->s.findings[i].ledger), 0);
    ck_assert_int_eq(mst_archive_commit(m->archive), 0);
}

/* The path of an archive of that run. */
static const char *recorded(const struct run *r, const char *sql)
{
    const char *path;
    struct made m;

    make(&m, r, sql);
    keep_advice(&m);
    path = apr_pstrdup(memory_of_test(), mst_archive_path(m.archive));
    unmake(&m);
    return path;
}

static const char *before(const char *sql)
{
    const struct run r = ten_workers();
    char all[4096];

    snprintf(all, sizeof all, OF_160_MS "%s", sql);
    return recorded(&r, all);
}

static const char *after(const char *sql)
{
    const struct run r = twenty_workers();
    char all[4096];

    snprintf(all, sizeof all, OF_80_MS "%s", sql);
    return recorded(&r, all);
}

static void change(const char *path, const char *sql)
{
    char *message = NULL;
    sqlite3 *db;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static struct mst_archive *reading(const char *path)
{
    char error[MST_ERROR_MAX];
    struct mst_archive *a = mst_archive_read(path, error);

    ck_assert_msg(a != NULL, "%s", error);
    return a;
}

static struct mst_archive *writing(const char *path)
{
    char error[MST_ERROR_MAX];
    struct mst_archive *a = mst_archive_create(path, NULL, error);

    ck_assert_msg(a != NULL, "%s", error);
    return a;
}

static void done(struct mst_archive *a)
{
    char error[MST_ERROR_MAX];

    ck_assert_msg(mst_archive_close(a, error) == 0, "%s", error);
}

/* The entries of run 1. */
static struct mst_ledger_entry *read_ledger(const char *path, size_t *count)
{
    struct mst_archive *a = reading(path);
    struct mst_ledger_entry *entries;

    ck_assert(mst_ledger_read(memory_of_test(), mst_archive_db(a), 1, &entries, count));
    done(a);
    return entries;
}

/* ---- rows ------------------------------------------------------------------------- */

static struct mst_ledger_entry entry_of(const char *code, const char *workers, uint64_t clients)
{
    struct mst_ledger_entry e = {
        .clients = clients, .load_milli = MST_UNKNOWN, .by_client = true, .values = {
            { 240000, 230000, 250000 }, { 80 * MS, 75 * MS, 85 * MS },
            { MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN } },
    };

    snprintf(e.code, sizeof e.code, "%s", code);
    ck_assert(mst_ledger_add_setting(&e, NULL, "MaxRequestWorkers", workers));
    return e;
}

static void expect_same(const struct mst_ledger_entry *a, const struct mst_ledger_entry *b)
{
    size_t i;

    ck_assert(mst_ledger_are_same(a, b) && mst_ledger_are_same(b, a));
    ck_assert_str_eq(a->code, b->code);
    ck_assert(a->clients == b->clients && a->load_milli == b->load_milli &&
              a->by_client == b->by_client);
    for (i = 0; i < MST_LEDGER_MEASURES; i++) {
        ck_assert_uint_eq(a->values[i].predicted, b->values[i].predicted);
        if (a->values[i].predicted != MST_UNKNOWN)
            ck_assert(a->values[i].low == b->values[i].low &&
                      a->values[i].high == b->values[i].high);
    }
}

START_TEST(test_what_is_written_is_read)
{
    const struct run r = quiet_run();
    const char *path = recorded(&r, NULL);
    struct mst_ledger_entry advice = entry_of("apache-workers", "20", 20);
    struct mst_ledger_entry user = entry_of(MST_LEDGER_BY_USER, "40", 20), *found;
    struct mst_archive *a = writing(path);
    size_t count;

    user.clients = MST_UNKNOWN;
    user.load_milli = 99500;
    user.by_client = false;
    user.values[MST_LEDGER_RATE].predicted = MST_UNKNOWN;
    ck_assert(mst_ledger_add_setting(&user, "shop", "pm.max_children", "7"));
    ck_assert_int_eq(mst_ledger_write(a, 1, &advice), 0);
    ck_assert_int_eq(mst_ledger_write(a, 1, &user), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    done(a);
    found = read_ledger(path, &count);
    ck_assert_uint_eq(count, 2);
    expect_same(&found[0], &advice);
    expect_same(&found[1], &user);
    ck_assert_str_eq(found[1].settings[1].section, "shop");
}
END_TEST

/* A later prediction of the same change takes the place of the earlier one, and what findings say
 * is made anew. */
START_TEST(test_a_change_is_kept_once)
{
    const struct run r = quiet_run();
    const char *path = recorded(&r, NULL);
    struct mst_ledger_entry advice = entry_of("apache-workers", "20", 20), *found;
    struct mst_ledger_entry user = entry_of(MST_LEDGER_BY_USER, "20", 20), more = user;
    struct mst_archive *a = writing(path);
    size_t count;

    more.clients = 40;
    ck_assert_int_eq(mst_ledger_write(a, 1, &advice), 0);
    ck_assert_int_eq(mst_ledger_write(a, 1, &user), 0);
    ck_assert_int_eq(mst_ledger_write(a, 1, &more), 0);
    user.values[MST_LEDGER_RATE].predicted = 245000;
    ck_assert_int_eq(mst_ledger_write(a, 1, &user), 0);
    ck_assert_int_eq(mst_ledger_forget_advice(a, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    done(a);
    found = read_ledger(path, &count);
    ck_assert_uint_eq(count, 2);
    expect_same(&found[0], &more);
    expect_same(&found[1], &user);
}
END_TEST

#define PREDICTION "INSERT INTO predictions VALUES "
#define SOUND "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 90)"

/* Rows that no prediction makes are none; what stands beside them is. */
static const struct { const char *sql; size_t entries; } rows[] = {
    { PREDICTION SOUND, 1 },
    { PREDICTION "(1, -1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 'x', 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'nobody', 20, NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, hex(zeroblob(40000)), 20, NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', NULL, NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, 30, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 'many', NULL, 1, 'p50_ns', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, x'00ff', 80, 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 'x', 70, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 81, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 79)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 0, 90)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, -1)", 0 },
    { PREDICTION "(1, 1, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 9223372036854775807)", 0 },
    { PREDICTION SOUND ", (1, 1, 'nobody', 1, 1, 9, 'p95_ns', 'x', 'y', 'z')", 1 },
    { PREDICTION SOUND ", (7, 2, 'whatif', 20, NULL, 1, 'p50_ns', 80, 70, 90)", 1 },
    { "INSERT INTO predicted_settings VALUES (1, 1, NULL, 'MaxRequestWorkers', '9')", 0 },
    { PREDICTION SOUND "; INSERT INTO predicted_settings VALUES (1, 'x', 'y', 'z', x'ff'), "
      "(1, 9, NULL, 'a', 'b')", 1 },
    { PREDICTION SOUND "; INSERT INTO predicted_settings VALUES (1, 1, NULL, "
      "hex(zeroblob(1000000)), '9')", 0 },
    { PREDICTION SOUND "; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) "
      "INSERT INTO predicted_settings SELECT 1, 1, NULL, 'a' || i, 'b' FROM n", 0 },
    { "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000) INSERT INTO "
      "predictions SELECT 1, i, 'whatif', i, NULL, 1, 'p50_ns', 80, 70, 90 FROM n", 100 },
};

START_TEST(test_rows_that_are_no_predictions)
{
    const struct run r = quiet_run();
    const char *path = recorded(&r, NULL);
    struct mst_ledger_entry *found;
    size_t count;

    change(path, rows[_i].sql);
    found = read_ledger(path, &count);
    ck_assert_msg(count == rows[_i].entries, "%s: %zu", rows[_i].sql, count);
    ck_assert(count != 100 || found[99].number == 30000);
}
END_TEST

/* ---- the advice ------------------------------------------------------------------- */

static const struct mst_finding *finding(const struct made *m, enum mst_code code)
{
    size_t i;

    for (i = 0; i < m->s.finding_count; i++)
        if (m->s.findings[i].code == code)
            return &m->s.findings[i];
    ck_abort_msg("no %s", mst_code_names[code]);
}

/* What the sentence says is what an archive keeps. */
START_TEST(test_advice)
{
    const struct run r = ten_workers();
    const struct mst_ledger_entry *e;
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, OF_160_MS);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    e = &f->ledger;
    ck_assert_str_eq(e->code, "apache-workers");
    ck_assert_uint_eq(e->setting_count, 1);
    ck_assert_str_eq(e->settings[0].name, "MaxRequestWorkers");
    ck_assert_str_eq(e->settings[0].value, "20");
    ck_assert_str_eq(e->settings[0].section, "");
    ck_assert_uint_eq(e->clients, 20);
    ck_assert_uint_eq(e->load_milli, MST_UNKNOWN);
    ck_assert(e->by_client);
    ck_assert_uint_eq(e->values[MST_LEDGER_RATE].predicted / 1000,
                      mst_finding_number(f, "predicted_rate_milli") / 1000);
    ck_assert_uint_eq(e->values[MST_LEDGER_P50].predicted / 1000,
                      mst_finding_number(f, "predicted_p50_ns") / 1000);
    ck_assert_uint_eq(e->values[MST_LEDGER_P95].predicted, MST_UNKNOWN);   /* ab tells no p95 */
    unmake(&m);
}
END_TEST

/* The advice is all settings that the file takes together. */
START_TEST(test_advice_of_several_settings)
{
    const struct run r = ten_workers();
    const struct mst_ledger_entry *e;
    struct made m;

    make(&m, &r, OF_160_MS "UPDATE servers SET config_file = '/etc/apache2/apache2.conf'; "
         "INSERT INTO settings VALUES (1, NULL, 'MaxClients', '10', '/etc/a.conf', 3), "
         "(1, NULL, 'ThreadsPerChild', '5', '/etc/a.conf', 4), (1, NULL, 'ServerLimit', '2', "
         "'/etc/a.conf', 5), (1, NULL, 'StartServers', '2', '/etc/a.conf', 6)");
    e = &finding(&m, MST_CODE_APACHE_WORKERS)->ledger;
    ck_assert_uint_eq(e->setting_count, 2);
    ck_assert_str_eq(e->settings[0].name, "MaxRequestWorkers");
    ck_assert_str_eq(e->settings[1].name, "ServerLimit");
    ck_assert_str_eq(e->settings[1].value, "4");
    unmake(&m);
}
END_TEST

/* ---- what a user asks ------------------------------------------------------------- */

/* A made run, simulated. */
struct asked {
    struct made m;
    struct mst_model_run run;
    struct mst_prediction now;
};

static void begin_asking(struct asked *q, const char *sql)
{
    const struct run r = quiet_run();

    make(&q->m, &r, sql);
    ck_assert(mst_model_run_make(&q->run, &q->m.s, mst_archive_db(q->m.archive),
                                 memory_of_test()));
    ck_assert_msg(q->run.why_not == NULL, "%s", q->run.why_not);
    mst_model_calibrate(&q->now, &q->run);
    ck_assert_msg(q->now.why_not == NULL, "%s", q->now.why_not);
}

static void expect_no_model(const char *sql, const char *why)
{
    const struct run r = quiet_run();
    struct mst_model_run run;
    struct made m;

    make(&m, &r, sql);
    ck_assert(mst_model_run_make(&run, &m.s, mst_archive_db(m.archive), memory_of_test()));
    ck_assert_str_eq(run.why_not, why);
    unmake(&m);
}

/* A backend that has no processes but Apache's: 9 of a request's 10 ms, and 6 ms of CPU time. */
#define APACHES_BACKEND "UPDATE servers SET cpu_ns = 6000000 * (SELECT count(*) " \
    "FROM server_requests);" \
    "UPDATE server_requests SET queue_ns = 0, read_ns = 0, handle_ns = 10000000, send_ns = 0, " \
    "backend_ns = 9000000, handler = 'wsgi-script';"

/* What does not fit into the 1 ms that Apache does itself is computed by the backend: 5 of its 9
 * ms. */
START_TEST(test_backend_of_apaches_own)
{
    const struct mst_model_end *end;
    struct run r = quiet_run();
    struct mst_model_run run;
    struct made m;

    make(&m, &r, APACHES_BACKEND);
    ck_assert(mst_model_run_make(&run, &m.s, mst_archive_db(m.archive), memory_of_test()));
    ck_assert_msg(run.why_not == NULL, "%s", run.why_not);
    for (end = run.system.ends; strcmp(end->kind, "backend") != 0; end++)
        ck_assert(end + 1 < run.system.ends + run.system.end_count);
    ck_assert_double_eq_tol(end->compute_factor, 5.0 / 9, 0.01);
    end = &run.system.ends[run.servers[0].ends + MST_END_SERVER];
    ck_assert_double_eq_tol(end->compute_factor, 0.001, 0.0001);
    unmake(&m);

    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, APACHES_BACKEND);
    ck_assert(mst_model_run_make(&run, &m.s, mst_archive_db(m.archive), memory_of_test()));
    ck_assert(run.why_not != NULL);
    ck_assert_msg(strstr(run.why_not, "wait for a CPU is not known") != NULL, "%s", run.why_not);
    unmake(&m);
}
END_TEST

/* Half of the requests do not wait although all workers are busy: so it is where event keeps
 * connections, and the simulation's queue cannot be so. */
START_TEST(test_event_keeps_connections)
{
    static const struct { const char *sql, *why; } cases[] = {
        { "", "the simulation does not come to what was measured" },
        { "UPDATE server_requests SET nth = key % 10;", "the simulation does not come to what was "
          "measured, as event serves the connections that it keeps before those that wait to be "
          "accepted, and the simulation has one queue (a load that keeps no connections tells "
          "more)" },
    };
    const struct run r = ten_workers();
    struct mst_model_run run;
    struct mst_prediction p;
    char sql[1024];
    struct made m;

    snprintf(sql, sizeof sql, OF_160_MS "UPDATE client_results SET p50_ns = 20000000;"
             "UPDATE servers SET mpm = 'event';%s", cases[_i].sql);
    make(&m, &r, sql);
    ck_assert(mst_model_run_make(&run, &m.s, mst_archive_db(m.archive), memory_of_test()));
    ck_assert_msg(run.why_not == NULL, "%s", run.why_not);
    mst_model_calibrate(&p, &run);
    ck_assert(p.why_not != NULL);
    ck_assert_str_eq(p.why_not, cases[_i].why);
    unmake(&m);
}
END_TEST

/* The reason is one fact. */
START_TEST(test_what_cannot_be_simulated)
{
    expect_no_model("UPDATE runs SET duration_ns = NULL, complete = 0, outcome = 'unfinished'",
                    "its recording did not come to its end");
    expect_no_model("UPDATE runs SET duration_ns = 1900000000", "it was shorter than two seconds");
}
END_TEST

/* What is noted of a change. */
static struct mst_ledger_entry ask(struct asked *q, struct mst_system *changed, bool *all)
{
    struct mst_ledger_entry e;
    struct mst_forecast then;

    mst_model_forecast(&then, &q->now, changed, &q->run);
    mst_model_note(&e, &q->now, changed, &then);
    *all = mst_model_note_settings(&e, &q->run, changed);
    return e;
}

/* Requests that come by themselves: their rate is the load's, and no measure. */
START_TEST(test_requests_that_come)
{
    struct mst_ledger_entry e;
    struct mst_system system;
    struct asked q;
    bool all;

    begin_asking(&q, "UPDATE client_results SET concurrency = NULL");
    system = mst_system_copy(&q.run);
    ck_assert_ptr_null(mst_change_setting(&system, &q.run, "MaxRequestWorkers=7"));
    e = ask(&q, &system, &all);
    ck_assert(all);
    ck_assert_uint_eq(e.setting_count, 1);
    ck_assert_str_eq(e.settings[0].name, "MaxRequestWorkers");
    ck_assert_str_eq(e.settings[0].value, "7");
    ck_assert_uint_eq(e.clients, MST_UNKNOWN);
    ck_assert_uint_eq(e.load_milli / 1000, 100);
    ck_assert_uint_eq(e.values[MST_LEDGER_RATE].predicted, MST_UNKNOWN);
    ck_assert(e.values[MST_LEDGER_P50].predicted > 7 * MS &&
              e.values[MST_LEDGER_P50].predicted < 9 * MS);
    ck_assert(!e.by_client);   /* ab told no median */
    unmake(&q.m);
}
END_TEST

#define THREE_THREADS "UPDATE samples SET idle = 2, reading = 0, handling = 1, sending = 0, " \
    "keepalive = 0, closing = 0; "

static void expect_growth(const char *sql, struct mst_growth expected)
{
    struct mst_growth growth;
    struct asked q;

    begin_asking(&q, sql);
    growth = q.run.system.gates[0].growth;
    ck_assert_uint_eq(growth.start, expected.start);
    ck_assert_uint_eq(growth.unit, expected.unit);
    ck_assert_uint_eq(growth.min_spare, expected.min_spare);
    ck_assert_uint_eq(growth.max_spare, expected.max_spare);
    unmake(&q.m);
}

/* What the server's files say of the processes that it starts, or httpd's own numbers. */
START_TEST(test_processes_that_are_started)
{
    expect_growth("UPDATE servers SET mpm = 'event'; " THREE_THREADS,
                  (struct mst_growth){ .start = 3, .unit = 25, .min_spare = 75, .max_spare = 250 });
    expect_growth("UPDATE servers SET mpm = 'prefork'; " THREE_THREADS,
                  (struct mst_growth){ .start = 3, .unit = 1, .min_spare = 5, .max_spare = 10 });
    expect_growth("UPDATE servers SET mpm = 'event'; " THREE_THREADS "INSERT INTO settings VALUES "
                  "(1, NULL, 'ThreadsPerChild', '4', 'a.conf', 1), (1, NULL, 'MinSpareThreads', "
                  "'8', 'a.conf', 2), (1, NULL, 'MaxSpareThreads', NULL, 'a.conf', 3), "
                  "(1, 'www', 'MaxSpareThreads', '9', 'a.conf', 4), "
                  "(2, NULL, 'MaxSpareThreads', '9', 'a.conf', 5)",
                  (struct mst_growth){ .start = 3, .unit = 4, .min_spare = 8, .max_spare = 250 });
}
END_TEST

/* Other changes than of limits and of the load are none that a later run tells of. */
START_TEST(test_what_is_not_noted)
{
    struct mst_system system;
    struct asked q;
    bool all;

    begin_asking(&q, "UPDATE client_results SET concurrency = NULL");
    system = mst_system_copy(&q.run);
    ck_assert_ptr_null(mst_change_rate(&system, &q.run, "50/s"));
    ck_assert_uint_eq(ask(&q, &system, &all).load_milli, 50000);
    ck_assert(all);
    ck_assert_ptr_null(mst_change_cpus(&system, &q.run, "4"));
    ask(&q, &system, &all);
    ck_assert(!all);
    system = mst_system_copy(&q.run);
    system.ends[MST_END_SERVER].wait_factor = 2;   /* as --end does */
    ask(&q, &system, &all);
    ck_assert(!all);
    unmake(&q.m);
}
END_TEST

/* ---- comparisons ------------------------------------------------------------------ */

static struct mst_comparison_table compared(const char *a, const char *b)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = -1 };
    char error[MST_ERROR_MAX];

    ck_assert_msg(mst_compare_side_read(t.pool, &t.a, a, error) == 0, "%s", error);
    ck_assert_msg(mst_compare_side_read(t.pool, &t.b, b, error) == 0, "%s", error);
    mst_comparison_make(&t, NULL, 0);
    return t;
}

static int keep(void *context, const void *bytes, size_t n)
{
    char *text = context;
    size_t used = strlen(text);

    ck_assert_uint_lt(used + n, 32768);
    memcpy(text + used, bytes, n);
    text[used + n] = '\0';
    return 0;
}

/* A format's output, with one blank in place of several. */
static const char *told(const struct mst_comparison_table *t,
                        void (*put)(struct mst_sink *, const struct mst_comparison_table *))
{
    static char text[32768];
    struct mst_sink sink;
    char *from, *to;

    text[0] = '\0';
    mst_sink_init(&sink, keep, text);
    put(&sink, t);
    mst_sink_flush(&sink);
    for (from = to = text; *from != '\0'; from++) {
        *to = *from == '\n' ? ' ' : *from;
        to += *to != ' ' || to == text || to[-1] != ' ';
    }
    *to = '\0';
    return text;
}

static void expect_told(const struct mst_comparison_table *t, const char *words)
{
    const char *text = told(t, mst_comparison_text);

    ck_assert_msg(strstr(text, words) != NULL, "no \"%s\" in %s", words, text);
}

static void expect_why_not(const char *a, const char *b, const char *why)
{
    struct mst_comparison_table t = compared(a, b);

    ck_assert_msg(t.prediction_count == 1, "%s: %zu", why, t.prediction_count);
    ck_assert_msg(t.predictions[0].why_not != NULL &&
                  strstr(t.predictions[0].why_not, why) != NULL, "%s: %s", why,
                  t.predictions[0].why_not != NULL ? t.predictions[0].why_not : "is judged");
    ck_assert(isnan(t.predictions[0].measured[MST_LEDGER_RATE]));
    expect_told(&t, "B is not the change that was predicted ");
    expect_told(&t, t.predictions[0].why_not);
    mst_comparison_end(&t);
}

/* The measured values are those of B, in the units of what was predicted. */
START_TEST(test_what_came)
{
    struct mst_comparison_table t = compared(before(""), after(""));
    const struct mst_comparison_prediction *p = t.predictions;
    json_t *root, *all, *one;
    const char *text;

    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_str_eq(p->change, "MaxRequestWorkers = 20");
    ck_assert_msg(p->why_not == NULL, "%s", p->why_not);
    ck_assert_double_eq_tol(p->measured[MST_LEDGER_P50], 80.0 * MS, 1);
    ck_assert_double_eq_tol(p->measured[MST_LEDGER_RATE],
                            (double)mst_summary_rate_milli(&t.b.runs[0].summary,
                                                           t.b.runs[0].summary.servers), 1);
    expect_told(&t, "Predicted from run 1 for MaxRequestWorkers = 20: ");
    expect_told(&t, ", measured 245: within the interval; p50 ");
    expect_told(&t, "), measured 80.0 ms: within the interval. ");
    text = told(&t, mst_comparison_markdown);
    ck_assert_msg(strstr(text, "Predicted from run 1 for MaxRequestWorkers = 20: ") != NULL, "%s",
                  text);
    ck_assert_ptr_null(strstr(told(&t, mst_comparison_csv), "redicted"));
    root = json_loads(told(&t, mst_comparison_json), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(root);
    all = json_object_get(root, "predictions");
    ck_assert_uint_eq(json_array_size(all), 2);
    one = json_array_get(all, 1);
    ck_assert_str_eq(json_string_value(json_object_get(one, "metric")), "p50_seconds");
    ck_assert_str_eq(json_string_value(json_object_get(one, "by")), "apache-workers");
    ck_assert_str_eq(json_string_value(json_object_get(one, "change")), "MaxRequestWorkers = 20");
    ck_assert_double_eq_tol(json_number_value(json_object_get(one, "measured")), 0.08, 1e-9);
    ck_assert(json_number_value(json_object_get(one, "low")) < 0.08);
    ck_assert(json_number_value(json_object_get(one, "high")) > 0.08);
    ck_assert(json_is_true(json_object_get(one, "within")));
    ck_assert(json_is_null(json_object_get(one, "why_not")));
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(one, "runs"), 0)), 1);
    json_decref(root);
    mst_comparison_end(&t);
}
END_TEST

/* Outside of the interval on either side; and what B does not tell is not judged. */
START_TEST(test_what_came_is_another)
{
    struct mst_comparison_table t = compared(before(""), after("UPDATE client_results SET p50_ns = "
                                                               "50000000"));

    expect_told(&t, "measured 50.0 ms: below the interval.");
    mst_comparison_end(&t);
    t = compared(before(""), after("UPDATE client_results SET p50_ns = 150000000"));
    expect_told(&t, "measured 150 ms: above the interval.");
    ck_assert_ptr_nonnull(strstr(told(&t, mst_comparison_json), "\"within\": false"));
    mst_comparison_end(&t);
    t = compared(before(""), after("UPDATE client_results SET corrected = 1"));
    expect_told(&t, "), measured not known.");   /* made-up times are none of what was predicted */
    mst_comparison_end(&t);
    t = compared(before(""), after("UPDATE client_results SET p50_ns = NULL"));
    expect_told(&t, "), measured not known.");
    ck_assert_ptr_nonnull(strstr(told(&t, mst_comparison_json),
                                 "\"measured\": null, \"within\": null"));
    mst_comparison_end(&t);
}
END_TEST

/* Nothing is said where nobody tried. */
START_TEST(test_no_change)
{
    const char *a = before("");
    struct mst_comparison_table t = compared(a, a);

    ck_assert_uint_eq(t.a.runs[0].prediction_count, 1);
    ck_assert_uint_eq(t.prediction_count, 0);
    ck_assert_ptr_nonnull(strstr(told(&t, mst_comparison_json), "\"predictions\": []"));
    mst_comparison_end(&t);
}
END_TEST

#define FILES(start) \
    "INSERT INTO settings VALUES (1, NULL, 'StartServers', '" start "', '/etc/a.conf', 3), " \
    "(1, NULL, 'MaxRequestWorkers', 'any', '/etc/a.conf', 4), " \
    "(1, NULL, 'ServerLimit', '" start "', '/etc/a.conf', 5);"
#define TELLS(name, value) "INSERT INTO environment VALUES (1, '" name "', '" value "');"
#define COMMAND(command) "UPDATE runs SET command = '" command "';"

/* What B has besides, or instead; in A and in B. */
static const struct { const char *a, *b, *why; } others[] = {
    { "", "UPDATE samples SET workers_limit = 15", "MaxRequestWorkers is 15 in B" },
    { "", "UPDATE client_results SET concurrency = 40", "B has 40 clients" },
    { "", "UPDATE client_results SET concurrency = NULL", "B has no fixed number of clients" },
    { COMMAND("[\"ab\",\"-k\",\"http://x/\"]"), COMMAND("[\"ab\",\"http://x/\"]"),
      "the command of the load differs" },
    { COMMAND("[\"ab\",\"http://x:1/a?b\"]"), COMMAND("[\"ab\",\"http://x:2/c\"]"),
      "the URL's path is /c in B and /a?b in A" },
    { FILES("2"), FILES("4"), "StartServers is 4 in B and 2 in A" },
    { FILES("2"), FILES("2") "DELETE FROM settings WHERE name = 'StartServers'",
      "StartServers is set in A alone" },
    { FILES("2"), FILES("2") "INSERT INTO settings VALUES (1, NULL, 'ListenBacklog', '9', 'a', 1)",
      "ListenBacklog is set in B alone" },
    { TELLS("apache_settings", "MaxRequestWorkers 10; KeepAlive On; Timeout 60"),
      TELLS("apache_settings", "MaxRequestWorkers 20; KeepAlive Off; Timeout 60"),
      "KeepAlive is Off in B and On in A" },
    { TELLS("php_settings", "memory_limit = 128M; opcache.enable = 1"),
      TELLS("php_settings", "memory_limit = 128M; opcache.enable = 0"),
      "opcache.enable is 0 in B and 1 in A" },
    { TELLS("somaxconn", "4096"), TELLS("somaxconn", "128"), "somaxconn is 128 in B and 4096" },
    { "", "UPDATE environment SET value = '4' WHERE name = 'cpus'",
      "there are 4 CPUs in B and 2 in A" },
    { "", "UPDATE samples SET group_cpu_limit_milli = 500",
      "the CPUs of its control group: 0.50 in B and none in A" },
    { "", "UPDATE servers SET server = 'Apache/2.5'", "the server is Apache/2.5 in B and Apache" },
    { "", "UPDATE servers SET mpm = 'worker'", "the MPM is worker in B and event in A" },
    { "", PHP, "PHP was recorded in B alone" },
    { "", "INSERT INTO servers (id, run_id, target, producer, server, mpm, local, lost, restarts) "
      "SELECT 2, run_id, 'y.board', producer, server, mpm, local, lost, restarts FROM servers; "
      "INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, "
      "send_ns, held_ns, label, aborted, no_worker, ghost) SELECT 2, key, start_ns, 0, 0, 1, 0, 1, "
      "'x', 0, 0, 0 FROM server_requests WHERE key = 1", "2 servers had requests in B and 1 in A" },
    { "", "UPDATE client_results SET failed = 500, failed_receive = 500",
      "requests failed or had another status than 2xx" },
    { FILES("2"), FILES("4") "UPDATE samples SET workers_limit = 15; UPDATE client_results SET "
      "concurrency = 40; UPDATE servers SET mpm = 'worker'", "and 1 more" },
};

START_TEST(test_another_change)
{
    expect_why_not(before(others[_i].a), after(others[_i].b), others[_i].why);
}
END_TEST

/* What does not change what a server does, or is not known of A, is nothing that B changed. */
START_TEST(test_what_is_no_other_change)
{
    static const struct { const char *a, *b; } alike[] = {
        { FILES("2"), FILES("2") "UPDATE settings SET value = '400' WHERE name = 'ServerLimit'" },
        { FILES("2"), "" },
        { "", FILES("2") },
        { FILES("2"), FILES("4") "UPDATE settings SET value = NULL WHERE name = 'StartServers'" },
        { TELLS("open_files_limit", "1024"), TELLS("open_files_limit", "2048") },
        { TELLS("kernel", "6.1"), TELLS("kernel", "6.2") },
        { COMMAND("[\"ab\",\"-n\",\"500\",\"http://x:1/a\"]"),
          COMMAND("[\"ab\",\"-n\",\"1000\",\"http://y:2/a\"]") },
    };
    size_t i;

    for (i = 0; i < sizeof alike / sizeof *alike; i++) {
        struct mst_comparison_table t = compared(before(alike[i].a), after(alike[i].b));

        ck_assert_msg(t.prediction_count == 1 && t.predictions[0].why_not == NULL, "%zu: %s", i,
                      t.prediction_count == 1 ? t.predictions[0].why_not : "no prediction");
        mst_comparison_end(&t);
    }
}
END_TEST

/* A prediction for another load is for it alone. */
START_TEST(test_another_load)
{
    struct mst_ledger_entry e = entry_of(MST_LEDGER_BY_USER, "20", 40);
    const char *a = before(COMMAND("[\"ab\",\"-k\",\"-c20\",\"http://x/\"]"));
    const char *b = after("UPDATE client_results SET concurrency = 40;"
                          COMMAND("[\"ab\",\"-k\",\"-c40\",\"http://x/\"]"));
    struct mst_archive *archive = writing(a);
    struct mst_comparison_table t;

    ck_assert_int_eq(mst_ledger_write(archive, 1, &e), 0);
    ck_assert_int_eq(mst_archive_commit(archive), 0);
    done(archive);
    t = compared(a, b);   /* the advice is the same for another load */
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(t.predictions[0].why_not == NULL, "%s", t.predictions[0].why_not);
    ck_assert_str_eq(t.predictions[0].change, "MaxRequestWorkers = 20, 40 clients");
    expect_told(&t, "Predicted by mpmstat whatif from run 1 for MaxRequestWorkers = 20, 40 "
                "clients: 240 requests/s (230 to 250), measured 245: within the interval; p50 "
                "80.0 ms (75.0 ms to 85.0 ms), measured 80.0 ms: within the interval.");
    mst_comparison_end(&t);
    change(a, "DELETE FROM predictions WHERE code <> 'whatif'");
    change(b, COMMAND("[\"ab\",\"-c40\",\"http://x/\"]"));
    expect_why_not(a, b, "the command of the load differs");
    change(b, COMMAND("[\"ab\",\"-k\",\"-cx40\",\"http://x/\"]"));
    expect_why_not(a, b, "the command of the load differs");
    change(b, COMMAND("[\"ab\",\"-k\",\"-c30\",\"http://x/\"]") "UPDATE client_results SET "
           "concurrency = 30");
    expect_why_not(a, b, "B has 30 clients");
}
END_TEST

/* Requests that come by themselves: as many as in A, within a twentieth. */
START_TEST(test_a_load_of_a_rate)
{
    static const char open[] = "UPDATE client_results SET concurrency = NULL;";
    struct mst_ledger_entry e = entry_of(MST_LEDGER_BY_USER, "20", MST_UNKNOWN);
    const char *a = before(open), *b = after(open);
    struct mst_archive *archive = writing(a);
    struct mst_comparison_table t;

    e.values[MST_LEDGER_RATE].predicted = MST_UNKNOWN;
    e.load_milli = 250000;   /* A has 120, and B 245 */
    ck_assert_int_eq(mst_ledger_forget_advice(archive, 1), 0);
    ck_assert_int_eq(mst_ledger_write(archive, 1, &e), 0);
    ck_assert_int_eq(mst_archive_commit(archive), 0);
    done(archive);
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(t.predictions[0].why_not == NULL, "%s", t.predictions[0].why_not);
    ck_assert_str_eq(t.predictions[0].change, "MaxRequestWorkers = 20, 250 requests per second");
    mst_comparison_end(&t);
    change(a, "UPDATE predictions SET load_per_1000s = 270000");
    expect_why_not(a, b, "B has 245 requests per second");
}
END_TEST

/* Of several runs on a side the geometric means; and each run of B has to be the change. */
START_TEST(test_several_runs)
{
    static const char twice[] =
        "CREATE TEMP TABLE r AS SELECT * FROM runs; UPDATE r SET id = 2, "
        "started_ns = started_ns + 1000; INSERT INTO runs SELECT * FROM r;"
        "CREATE TEMP TABLE c AS SELECT * FROM client_results; UPDATE c SET run_id = 2, "
        "p50_ns = p50_ns * 4; INSERT INTO client_results SELECT * FROM c;"
        "CREATE TEMP TABLE s AS SELECT * FROM servers; UPDATE s SET run_id = 2, id = 2;"
        "INSERT INTO servers SELECT * FROM s;"
        "CREATE TEMP TABLE p AS SELECT * FROM samples; UPDATE p SET server_id = 2;"
        "INSERT INTO samples SELECT * FROM p;"
        "CREATE TEMP TABLE q AS SELECT * FROM server_requests; UPDATE q SET server_id = 2;"
        "INSERT INTO server_requests SELECT * FROM q;"
        "INSERT INTO environment SELECT 2, name, value FROM environment;";
    const char *a = before(""), *b = after("");
    struct mst_ledger_entry *of_one;
    struct mst_comparison_table t;
    size_t count;

    of_one = read_ledger(a, &count);
    change(a, twice);
    change(a, "INSERT INTO predictions SELECT 2, number, code, clients, load_per_1000s, by_client, "
           "measure, predicted * 4, low * 4, high * 4 FROM predictions; INSERT INTO "
           "predicted_settings SELECT 2, number, section, name, value FROM predicted_settings");
    change(b, twice);
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(t.predictions[0].why_not == NULL, "%s", t.predictions[0].why_not);
    ck_assert_uint_eq(t.predictions[0].run_count, 2);
    ck_assert_double_eq_tol((double)t.predictions[0].entry.values[MST_LEDGER_P50].low,
                            2 * (double)of_one[0].values[MST_LEDGER_P50].low, 10);
    ck_assert_double_eq_tol(t.predictions[0].measured[MST_LEDGER_P50], 160.0 * MS, 1);
    expect_told(&t, "Predicted from 2 runs of A for MaxRequestWorkers = 20: ");
    mst_comparison_end(&t);
    change(b, "UPDATE samples SET workers_limit = 19 WHERE server_id = 2");
    expect_why_not(a, b, "MaxRequestWorkers is 19 in run 2 of B");
}
END_TEST

/* What matches none is not told beside one that does; nor is a change told twice. */
START_TEST(test_the_one_that_fits)
{
    const char *a = before(""), *b = after("");
    struct mst_ledger_entry other = entry_of(MST_LEDGER_BY_USER, "30", 20);
    struct mst_ledger_entry again = entry_of(MST_LEDGER_BY_USER, "20", 20);
    struct mst_archive *archive = writing(a);
    struct mst_comparison_table t;

    ck_assert_int_eq(mst_ledger_write(archive, 1, &other), 0);
    ck_assert_int_eq(mst_ledger_write(archive, 1, &again), 0);
    ck_assert_int_eq(mst_archive_commit(archive), 0);
    done(archive);
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_str_eq(t.predictions[0].entry.code, "apache-workers");
    ck_assert_uint_eq(t.predictions[0].run_count, 1);
    mst_comparison_end(&t);
    change(b, "UPDATE samples SET workers_limit = 25");
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 2);
    ck_assert_str_eq(t.predictions[1].why_not, "MaxRequestWorkers is 25 in B");
    mst_comparison_end(&t);
}
END_TEST

/* ---- pools ------------------------------------------------------------------------ */

/* A pool of several has a limit of its own, and dynamic ones start as many as are advised. */
START_TEST(test_a_pool)
{
    static const char sql[] =
        POOLS "INSERT INTO settings VALUES (2, 'shop', 'pm', 'dynamic', 'a', 1), "
        "(2, 'shop', 'pm.start_servers', '2', 'a', 2), (2, 'www', 'pm', 'static', 'a', 3);";
    const struct run r = quiet_run();
    struct mst_ledger_entry e = entry_of("php-workers", "10", 20);
    const char *a = recorded(&r, sql), *b = recorded(&r, sql);
    struct mst_archive *archive = writing(a);
    struct mst_comparison_table t;

    e.setting_count = 0;
    mst_ledger_add_setting(&e, "shop", "pm.max_children", "6");
    mst_ledger_add_setting(&e, "shop", "pm.start_servers", "6");
    ck_assert_int_eq(mst_ledger_forget_advice(archive, 1), 0);
    ck_assert_int_eq(mst_ledger_write(archive, 1, &e), 0);
    ck_assert_int_eq(mst_archive_commit(archive), 0);
    done(archive);
    change(b, "UPDATE pool_samples SET workers_limit = 6 WHERE label = 'shop'");
    expect_why_not(a, b, "pm.start_servers of shop is 2 in B");
    change(b, "UPDATE settings SET value = '6' WHERE name = 'pm.start_servers'");
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(t.predictions[0].why_not == NULL, "%s", t.predictions[0].why_not);
    ck_assert_str_eq(t.predictions[0].change,
                     "pm.max_children of shop = 6, pm.start_servers of shop = 6");
    mst_comparison_end(&t);
    change(b, "INSERT INTO settings VALUES (2, 'www', 'pm.start_servers', '3', 'a', 4)");
    change(a, "INSERT INTO settings VALUES (2, 'www', 'pm.start_servers', '4', 'a', 4)");
    t = compared(a, b);
    ck_assert_ptr_null(t.predictions[0].why_not);   /* a static pool starts all of them */
    mst_comparison_end(&t);
    change(b, "UPDATE pool_samples SET workers_limit = 11 WHERE label = 'www'");
    expect_why_not(a, b, "pm.max_children of www is 11 in B and 10 in A");
    change(b, "UPDATE pool_samples SET workers_limit = 10 WHERE label = 'www';"
           "DELETE FROM settings");
    expect_why_not(a, b, "pm.start_servers of shop is not known in B");
}
END_TEST

/* ---- other archives --------------------------------------------------------------- */

START_TEST(test_a_thinned_archive_keeps_them)
{
    const volatile sig_atomic_t never = 0;
    const char *whole = before("UPDATE runs SET recording = 'abc', part = 1;"), *b = after("");
    struct mst_comparison_table t;
    char error[MST_ERROR_MAX], to[PATH_MAX];

    snprintf(to, sizeof to, "%s", test_path());
    ck_assert_msg(mst_archive_thin(whole, to, &never, error) == 1, "%s", error);
    t = compared(to, b);
    ck_assert(t.a.runs[0].summary.is_thinned);
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(t.predictions[0].why_not == NULL, "%s", t.predictions[0].why_not);
    mst_comparison_end(&t);
}
END_TEST

/* A part of a run is not the run that something was predicted from. */
START_TEST(test_a_time_of_an_archive)
{
    struct mst_archive *whole = reading(before("")), *slice;
    struct mst_ledger_entry *entries;
    char error[MST_ERROR_MAX];
    uint64_t seconds;
    size_t count;

    for (seconds = 2; seconds <= 10; seconds += 8) {
        slice = mst_archive_slice(&whole, 1, START - SECOND, START + seconds * SECOND, error);
        ck_assert_msg(slice != NULL, "%s", error);
        ck_assert(mst_ledger_read(memory_of_test(), mst_archive_db(slice), 1, &entries, &count));
        ck_assert_uint_eq(count, seconds == 10);
        ck_assert(count == 0 || entries[0].setting_count == 1);
        done(slice);
    }
    done(whole);
}
END_TEST

/* An older archive has no such tables: it predicts nothing, and takes predictions. */
START_TEST(test_an_older_archive)
{
    const char *a = before(""), *b = after("");
    struct mst_ledger_entry e = entry_of(MST_LEDGER_BY_USER, "20", 20);
    struct mst_comparison_table t;
    struct mst_archive *archive;
    size_t count;

    change(a, "DROP TABLE predictions; DROP TABLE predicted_settings; PRAGMA user_version = 10");
    t = compared(a, b);
    ck_assert_uint_eq(t.prediction_count, 0);
    mst_comparison_end(&t);
    archive = writing(a);
    ck_assert_int_eq(mst_ledger_write(archive, 1, &e), 0);
    ck_assert_int_eq(mst_archive_commit(archive), 0);
    done(archive);
    read_ledger(a, &count);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* Names and values of strangers are shown as text. */
START_TEST(test_names_of_strangers)
{
    const char *a = before("");
    struct mst_comparison_table t;
    const char *text;

    change(a, "UPDATE predicted_settings SET section = 'a' || char(27) || '[31m' || char(10); "
           "INSERT INTO predicted_settings VALUES (1, 1, '<b>', char(27) || '<i>', '|x')");
    t = compared(a, after(""));
    ck_assert_uint_eq(t.prediction_count, 1);
    ck_assert_msg(strstr(t.predictions[0].why_not, "is not known in B") != NULL, "%s",
                  t.predictions[0].why_not);
    ck_assert_ptr_null(strchr(told(&t, mst_comparison_text), '\033'));
    text = told(&t, mst_comparison_markdown);
    ck_assert_msg(strchr(text, '\033') == NULL && strstr(text, "<i>") == NULL, "%s", text);
    ck_assert_ptr_null(strchr(told(&t, mst_comparison_json), '\033'));
    mst_comparison_end(&t);
}
END_TEST

/* ---- all of it -------------------------------------------------------------------- */

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *kept = tcase_create("rows"), *advice = tcase_create("advice");
    TCase *comparisons = tcase_create("comparisons");

    tcase_add_test(kept, test_what_is_written_is_read);
    tcase_add_test(kept, test_a_change_is_kept_once);
    tcase_add_loop_test(kept, test_rows_that_are_no_predictions, 0, sizeof rows / sizeof *rows);
    tcase_add_test(advice, test_advice);
    tcase_add_test(advice, test_requests_that_come);
    tcase_add_test(advice, test_backend_of_apaches_own);
    tcase_add_loop_test(advice, test_event_keeps_connections, 0, 2);
    tcase_add_test(advice, test_what_cannot_be_simulated);
    tcase_add_test(advice, test_processes_that_are_started);
    tcase_add_test(advice, test_what_is_not_noted);
    tcase_add_test(advice, test_advice_of_several_settings);
    tcase_add_test(comparisons, test_what_came);
    tcase_add_test(comparisons, test_what_came_is_another);
    tcase_add_test(comparisons, test_no_change);
    tcase_add_loop_test(comparisons, test_another_change, 0, sizeof others / sizeof *others);
    tcase_add_test(comparisons, test_what_is_no_other_change);
    tcase_add_test(comparisons, test_another_load);
    tcase_add_test(comparisons, test_a_load_of_a_rate);
    tcase_add_test(comparisons, test_several_runs);
    tcase_add_test(comparisons, test_the_one_that_fits);
    tcase_add_test(comparisons, test_a_pool);
    tcase_add_test(comparisons, test_a_thinned_archive_keeps_them);
    tcase_add_test(comparisons, test_a_time_of_an_archive);
    tcase_add_test(comparisons, test_an_older_archive);
    tcase_add_test(comparisons, test_names_of_strangers);
    suite_add_tcase(suite, kept);
    suite_add_tcase(suite, advice);
    suite_add_tcase(suite, comparisons);
    return test_run(suite);
}

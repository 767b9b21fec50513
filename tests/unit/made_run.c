/* made_run.c - a run in an archive of its own: see made_run.h. */
#include "made_run.h"

#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/thin.h"
#include "findings/findings.h"
#include "harness.h"
#include "report/report.h"

struct run quiet_run(void)
{
    return (struct run){
        .requests = 400, .counted = 400, .handle_ns = 8 * MS, .limit = 10, .busy = 1,
        .duration_ns = 4 * SECOND, .tool_cpu_ns = SECOND / 10, .machine_busy_ns = SECOND,
        .outcome = MST_OUTCOME_COMPLETE, .server_end = {
            .cpu_ns = SECOND / 2,
            .cgroup = { "", MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN },
        },
    };
}

static struct mst_sample sample_at(const struct run *r, uint64_t time_ns, unsigned requests)
{
    struct mst_sample sample = {
        .wall_ns = time_ns, .workers_limit = r->limit, .workers_busy = r->busy,
        .requests = 1000 + requests, .listen_queue = 3, .listen_queue_limit = 511,
        .http2_workers_limit = MST_UNKNOWN, .http2_workers_busy = MST_UNKNOWN,
    };

    sample.state_ns[MST_STATE_HANDLING] = requests * r->handle_ns;
    return sample;
}

static void add_samples(struct made *m, const struct run *r)
{
    struct mst_sample sample = sample_at(r, START - MS, 0);
    struct mst_cgroup_use use;
    unsigned i;

    memset(&use, 0xff, sizeof use);
    ck_assert_int_eq(mst_archive_add_sample(m->archive, m->server_id, MST_MOMENT_BEFORE,
                                            &sample, &use), 0);
    for (i = 1; i < 40; i++) {
        sample = sample_at(r, START + i * (r->duration_ns / 40), r->requests * i / 40);
        ck_assert_int_eq(mst_archive_add_sample(m->archive, m->server_id, MST_MOMENT_DURING,
                                            &sample, &use), 0);
    }
    sample = sample_at(r, START + r->duration_ns, r->requests);
    ck_assert_int_eq(mst_archive_add_sample(m->archive, m->server_id, MST_MOMENT_END, &sample,
                                            &use), 0);
    sample.wall_ns += 100 * MS;
    ck_assert_int_eq(mst_archive_add_sample(m->archive, m->server_id, MST_MOMENT_AFTER,
                                            &sample, &use), 0);
}

void add_request(struct made *m, uint64_t key, uint64_t start_ns, uint64_t queue_ns,
                 uint64_t handle_ns, const char *label, bool ghost)
{
    struct mst_request request = { .id = key, .queue_ns = queue_ns, .handle_ns = handle_ns,
                                   .held_ns = handle_ns, .label_status = 200 };
    const struct mst_record_names names = { .label = label };

    ck_assert_int_eq(mst_archive_add_request(m->archive, m->server_id, &request, &names, start_ns,
                                             key, ghost), 0);
}

static void add_requests(struct made *m, const struct run *r)
{
    unsigned i;

    for (i = 0; i < r->requests; i++)
        add_request(m, i + 1, START + i * (r->duration_ns / (r->requests + 1)), r->queue_ns,
                    r->handle_ns, "site", false);
}

static void add_client(struct made *m, const struct run *r)
{
    struct mst_plan plan = { .requested = r->counted };
    struct mst_client_result result;

    mst_client_result_init(&result);
    result.requests = r->counted;
    result.failed = result.failed_length = result.unfinished = 0;
    result.concurrency = 20;
    result.mean_ns = 9 * MS;
    result.p99_ns = 20 * MS;
    ck_assert_int_eq(mst_archive_add_client_result(m->archive, m->run_id, &result, &plan),
                     0);
}

void make(struct made *m, const struct run *r, const char *sql)
{
    static char ab[] = "ab", url[] = "http://127.0.0.1/";
    static char *const command[] = { ab, url, NULL };
    const struct mst_archive_run run = { .argv = command, .tool = "ab", .started_ns = START,
                                         .tool_threads = 1 };
    const struct mst_source_identity identity = { .producer = MST_PRODUCER_APACHE, .pid = 7,
                                                  .server = "Apache/2.4", .mpm = "event" };
    struct mst_archive_run_end end = {
        .outcome = r->outcome, .complete = r->outcome == MST_OUTCOME_COMPLETE,
        .started_ns = START, .ended_ns = START + r->duration_ns, .duration_ns = r->duration_ns,
        .exit_signal = MST_UNKNOWN, .tool_cpu_ns = r->tool_cpu_ns,
    };
    const struct mst_machine none = { .listen_overflows = 7, .listen_drops = 7,
                                      .memory_stall_ns = 5, .oom_kills = 3 };
    struct mst_machine machine = none;
    char error[MST_ERROR_MAX] = "";

    m->archive = mst_archive_create(test_path(), NULL, error);
    ck_assert_msg(m->archive != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_begin_run(m->archive, &run, &m->run_id), 0);
    ck_assert_int_eq(mst_archive_add_server(m->archive, m->run_id, "x.board", true, &identity,
                                            &m->server_id), 0);
    add_samples(m, r);
    add_requests(m, r);
    add_client(m, r);
    ck_assert_int_eq(mst_archive_add_machine(m->archive, m->run_id, START, MST_MOMENT_BEFORE,
                                             &none), 0);
    machine.busy_ns = r->machine_busy_ns;
    machine.total_ns = 2 * r->duration_ns;
    ck_assert_int_eq(mst_archive_add_machine(m->archive, m->run_id, START, MST_MOMENT_END,
                                             &machine), 0);
    mst_archive_add_environment(m->archive, m->run_id, "cpus", "2");
    mst_archive_end_server(m->archive, m->server_id, &r->server_end);
    ck_assert_int_eq(mst_archive_end_run(m->archive, m->run_id, &end), 0);
    if (sql != NULL)
        ck_assert_msg(sqlite3_exec(mst_archive_db(m->archive), sql, NULL, NULL, NULL) == SQLITE_OK,
                      "%s: %s", sql, sqlite3_errmsg(mst_archive_db(m->archive)));
    ck_assert_msg(mst_findings_sizing(&m->s, m->archive, m->run_id, error) == 0, "%s", error);
}

void make_thinned(struct made *m, const struct run *r, const char *sql)
{
    static const char part[] = "UPDATE runs SET recording = 'abc', part = 1;";
    const volatile sig_atomic_t never = 0;
    char error[MST_ERROR_MAX] = "", from[PATH_MAX], to[PATH_MAX], *all;

    ck_assert_int_ge(asprintf(&all, "%s%s", part, sql != NULL ? sql : ""), 0);
    make(m, r, all);
    free(all);
    snprintf(from, sizeof from, "%s", mst_archive_path(m->archive));
    snprintf(to, sizeof to, "%s", test_path());
    unmake(m);
    ck_assert_msg(mst_archive_thin(from, to, &never, error) == 1, "%s", error);
    m->archive = mst_archive_read(to, error);
    ck_assert_msg(m->archive != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&m->s, m->archive, m->run_id, error) == 0, "%s", error);
}

void unmake(struct made *m)
{
    char error[MST_ERROR_MAX];

    mst_summary_free(&m->s);
    mst_archive_close(m->archive, error);
}

void expect_check(const struct made *m, enum mst_check_id id, enum mst_answer ok,
                         const char *text)
{
    const struct mst_check *check = &m->s.checks[id];

    ck_assert_msg(check->ok == ok && strstr(check->text, text) != NULL, "%s: %d, \"%s\"",
                  check->name, (int)check->ok, check->text);
}

void expect_verdict(const struct made *m, const char *begins)
{
    ck_assert_msg(strncmp(m->s.verdict, begins, strlen(begins)) == 0, "\"%s\"", m->s.verdict);
}

void expect_codes(const struct made *m, const char *codes)
{
    char found[512] = "";
    size_t i, used = 0;

    for (i = 0; i < m->s.finding_count; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s ",
                                 mst_code_names[m->s.findings[i].code]);
    ck_assert_msg(strncmp(found, codes, strlen(codes)) == 0 && found[strlen(codes)] == ' ',
                  "%s, not %s: %s", found, codes, m->s.verdict);
}

/* ---- its text and JSON ------------------------------------------------------------ */

static int append(void *text, const void *bytes, size_t n)
{
    size_t used = strlen(text);

    ck_assert_uint_lt(used + n, 1 << 16);
    memcpy((char *)text + used, bytes, n);
    ((char *)text)[used + n] = '\0';
    return 0;
}

json_t *summary_as_json(const struct mst_summary *s)
{
    static char text[1 << 16];
    struct mst_sink sink;
    json_error_t error;
    json_t *root;

    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    mst_report_json(&sink, s);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %s", error.text, text);
    return root;
}

static void check_lines(const struct mst_summary *s, bool brief)
{
    static char text[1 << 16];
    struct mst_sink sink;
    char *line, *save = NULL;

    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    (brief ? mst_report_brief : mst_report_text)(&sink, s, "runs.sqlite", 0);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
        ck_assert_msg(strlen(line) <= (brief ? 80 : 100) && line[strcspn(line, "\t\r\033")] == '\0',
                      "%s", line);
}

void check_output(const struct mst_summary *s)
{
    json_decref(summary_as_json(s));
    check_lines(s, false);
    check_lines(s, true);
}

void expect_text(const struct made *m, const char *wanted)
{
    static char text[1 << 16];
    struct mst_sink sink;

    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    mst_report_text(&sink, &m->s, "runs.sqlite", 0);
    mst_sink_flush(&sink);
    if (strstr(text, wanted) == NULL) {
        fprintf(stderr, "%s\n", text);   /* longer than a message can be */
        ck_abort_msg("no \"%s\"", wanted);
    }
}

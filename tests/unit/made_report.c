/* made_report.c - see made_report.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_report.h"
#include "doc/markup.h"
#include "report/report.h"

void sql(struct made *m, const char *format, ...)
{
    char statement[2048];
    va_list args;
    int status;

    va_start(args, format);
    vsnprintf(statement, sizeof statement, format, args);
    va_end(args);
    status = sqlite3_exec(mst_archive_db(m->archive), statement, NULL, NULL, NULL);
    ck_assert_msg(status == SQLITE_OK, "%s: %s", statement,
                  sqlite3_errmsg(mst_archive_db(m->archive)));
}

void begin(struct made *m, const char *name, const char *url)
{
    char ab[] = "ab", *copy = strdup(url), *const command[] = { ab, copy, NULL };
    const struct mst_archive_run run = { .name = name, .argv = command, .tool = "ab",
                                         .started_ns = START, .tool_threads = 1 };
    char error[MST_ERROR_MAX] = "";

    memset(m, 0, sizeof *m);
    m->archive = mst_archive_create(test_path(), NULL, error);
    ck_assert_msg(m->archive != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_begin_run(m->archive, &run, &m->run_id), 0);
    sql(m, "UPDATE runs SET ended_ns = started_ns + 10000000000, duration_ns = 10000000000, "
        "complete = 1, outcome = 'complete', exit_status = 0");
    sql(m, "INSERT INTO servers (id, run_id, target, producer, mpm, local, lost, restarts) "
        "VALUES (1, 1, 'x.board', 'apache', 'prefork', 1, 0, 0)");
    free(copy);
}

void add_request(struct made *m, unsigned key, uint64_t start_ns, uint64_t queue_ns,
                 uint64_t handle_ns, unsigned status)
{
    sql(m, "INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, "
        "send_ns, held_ns, label, status, aborted, no_worker, worker, ghost) VALUES (1, %u, "
        "%" PRIu64 ", %" PRIu64 ", 0, %" PRIu64 ", 0, %" PRIu64 ", 'site', %u, 0, 0, %u, 0)", key,
        start_ns, queue_ns, handle_ns, handle_ns, status, key % 3);
}

void add_samples(struct made *m, unsigned busy, unsigned limit)
{
    unsigned i;

    for (i = 0; i <= 10; i++)
        sql(m, "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, "
            "idle_ns, reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, "
            "listen_queue, listen_queue_limit) VALUES (1, %" PRIu64 ", '%s', %u, %u, %" PRIu64
            ", 0, %" PRIu64 ", 0, 0, 0, %u, 511)", START + i * MST_NS_PER_S,
            i == 0 ? "before" : i == 10 ? "end" : "during", limit, busy,
            (limit - busy) * i * MST_NS_PER_S, busy * i * MST_NS_PER_S, i);
}

void summarize(struct made *m)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_int_eq(mst_archive_commit(m->archive), 0);
    ck_assert_msg(mst_findings_sizing(&m->s, m->archive, m->run_id, error) == 0, "%s", error);
}

void end(struct made *m)
{
    char error[MST_ERROR_MAX];

    mst_summary_free(&m->s);
    mst_archive_close(m->archive, error);
}

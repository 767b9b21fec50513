/* made_run.h - a run in an archive of its own, as a recording would write it, for tests of
 * summaries and findings: SQL changes in it what a test is about.
 */
#ifndef MPMSTAT_TESTS_MADE_RUN_H
#define MPMSTAT_TESTS_MADE_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "archive/writer.h"
#include "base/clock.h"

#define START  (UINT64_C(1700000000) * MST_NS_PER_S)
#define SECOND MST_NS_PER_S
#define MS     MST_NS_PER_MS

/* A load of `requests` requests, one every 10 ms, on ten workers of which one is
 * busy: what a quiet run looks like. */
struct run {
    unsigned requests;          /* on the server */
    unsigned counted;           /* by ab */
    uint64_t queue_ns, handle_ns;
    uint64_t limit, busy;
    uint64_t duration_ns;
    uint64_t tool_cpu_ns, machine_busy_ns;
    enum mst_outcome outcome;
    struct mst_archive_server_end server_end;
};

struct run quiet_run(void);

struct made {
    struct mst_archive *archive;
    struct mst_summary  s;
    int64_t run_id, server_id;
};

/* The run in an archive of its own, with summary and findings. `sql` (NULL: none) changes it
 * before. */
void make(struct made *m, const struct run *r, const char *sql);
/* The same as a part of a longer recording, which has been thinned. */
void make_thinned(struct made *m, const struct run *r, const char *sql);
void unmake(struct made *m);

void add_request(struct made *m, uint64_t key, uint64_t start_ns, uint64_t queue_ns,
                 uint64_t handle_ns, const char *label, bool ghost);

void expect_check(const struct made *m, enum mst_check_id id, enum mst_answer ok,
                  const char *text);
void expect_verdict(const struct made *m, const char *begins);
/* The codes of the first findings, as many as are named: "php-workers apache-workers". */
void expect_codes(const struct made *m, const char *codes);

/* Its report as JSON, which the caller frees. */
json_t *summary_as_json(const struct mst_summary *s);
/* What is not known is absent as null, and whatever stands in the archive is JSON and lines of at
 * most a hundred columns, in brief of eighty. */
void check_output(const struct mst_summary *s);
void expect_text(const struct made *m, const char *wanted);

/* The columns of what tests know of a wait. */
#define INTO_PHP_WAITS "INSERT INTO php_waits (server_id, key, kind, end, calls, failed, wait_ns) "

#define PHP_SERVER \
    "UPDATE servers SET clock_offset_ns = 1000000;" \
    "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts, " \
    "clock_offset_ns) VALUES (2, 1, 'fpm.board', 'php', 'fpm-fcgi', 1, 0, 0, 1000000);"
#define PHP_SAMPLES \
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, idle_ns, " \
    "reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, in_flight, requests, forks, " \
    "exits, forks_failed, no_idle_ns) SELECT 2, time_ns, moment, 5, 5, 0, 0, handling_ns / 8, 0, " \
    "0, 0, 0, requests, forks, exits, forks_failed, no_idle_ns FROM samples WHERE server_id = 1;"
#define PHP_REQUESTS(start) \
    "INSERT INTO php_requests SELECT 2, key, start_ns + queue_ns + read_ns + " start ", " \
    "request_id, 6000000, 1000000, 900000, 100000, 2097152, 'www', 200, '/i.php', 0, 0, 0, 1, 7, " \
    "1, 0, NULL, NULL, 1, 0, 0 FROM server_requests WHERE server_id = 1;"
#define PHP PHP_SERVER PHP_SAMPLES PHP_REQUESTS("6500000")

/* Two pools of one master: `shop`, all of whose workers are busy in half the samples, has a quarter
 * of the requests; `www` has room. */
#define POOLS PHP \
    "UPDATE php_requests SET label = 'shop', memory_bytes = 9000000, wait_ns = 40000000 " \
    "WHERE key % 4 = 0;" \
    "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'www', 10, 1, 4, 1 FROM samples " \
    "WHERE server_id = 1;" \
    "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'shop', 2, " \
    "CASE moment WHEN 'before' THEN 2 ELSE 1 + rowid % 2 END, rowid, 1 FROM samples " \
    "WHERE server_id = 1;"

#endif

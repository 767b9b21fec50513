/* thin_subjects.c - see thin_subjects.h. */
#include "archive/thin_subjects.h"

#include "segment/fields.h"

#define TOTAL "a.queue_ns + a.read_ns + a.handle_ns + a.send_ns"
#define X_INTERVAL(suffix, name) ", a." name "_ns"
#define APACHE \
    "a.rowid, a.server_id, a.start_ns + " TOTAL ", a.label, a.status, " TOTAL ", " \
    "a.ghost OR a.aborted OR coalesce(a.status >= 500, 0), " \
    "a.queue_ns, a.read_ns, a.handle_ns, a.send_ns, a.held_ns, a.front_ns" \
    MST_INTERVALS(X_INTERVAL)
#define APACHES_LARGEST (6 + MST_INTERVAL_COUNT)
#define PHP \
    "p.rowid, p.server_id, p.start_ns + p.run_ns, p.label, p.status, " \
    "coalesce(p.wait_ns, 0) + p.run_ns, " \
    "p.ghost OR p.aborted OR p.fatal OR p.timeout OR coalesce(p.status >= 500, 0), " \
    "p.wait_ns, p.run_ns, p.user_ns + p.system_ns, p.cpu_wait_ns, p.waits_ns, p.memory_bytes"
#define PHPS_LARGEST 6
_Static_assert(APACHES_LARGEST <= MST_THIN_MAXIMA, "room for each");

/* With 500 requests or more of a label in a minute, the rank of a quantile is wrong by at most 2 %
 * of them. With fewer, it is wrong by at most ten requests, and by at most a tenth of them. */
#define REQUESTS { .slowest = 20, .slow_one_of = 100, .runs = 10, .runs_enough = 50, \
                   .run_few = 10, .run_many = 100 }
#define SAMPLES  { .runs = 6 }
#define MAXIMA_ONLY { .runs = 0 }

/* Parts of a sample's query: what it is of, a label, the order, and whether it is kept. */
#define SAMPLE(owner, label, order, keep) \
    "SELECT rowid, " owner ", time_ns, " label ", NULL, " order ", " keep ", "
#define FIXED "moment <> 'during'"

/* Of a server's samples: a finding can rest on the one with the fewest idle workers for each busy
 * one, and on the one with the most connections for what event takes with an
 * AsyncRequestWorkerFactor: httpd's own is 2. */
#define FEWEST_IDLE "coalesce(1000000 * workers_busy / idle, 1000000000 * (workers_busy + 1))"
#define FULLEST(factor) "1000000 * connections / (workers_busy + (1 + " factor ") * idle), "

/* Requests that belong together are those of the same id at the same time: ids of several Apaches
 * can be the same. Those of which more than one fits stand for themselves. */
const struct mst_thin_subject mst_thin_subjects[] = {
    { { "server_requests", "php_requests" },
      "SELECT " APACHE ", " PHP " FROM main.server_requests a LEFT JOIN main.php_requests p "
      "ON p.request_id = a.request_id AND a.ghost = 0 AND p.ghost = 0 "
      "AND p.start_ns - coalesce(p.wait_ns, 0) BETWEEN a.start_ns - 50000000 "
      "AND a.start_ns + " TOTAL " + 50000000 WHERE :id ORDER BY a.rowid",
      { APACHES_LARGEST, PHPS_LARGEST }, false, false, REQUESTS },
    { { NULL, "php_requests" },
      "SELECT " PHP " FROM main.php_requests p WHERE :id ORDER BY p.rowid",
      { 0, PHPS_LARGEST }, false, false, REQUESTS },
    { { "samples", NULL },
      SAMPLE("server_id", "NULL", "workers_busy", FIXED)
      FEWEST_IDLE ", " FULLEST("1") FULLEST("2") FULLEST("3") FULLEST("4")
      "workers_busy, 1000000 * listen_queue / listen_queue_limit, in_flight, connections, "
      "1000000 * group_memory_bytes / group_memory_limit_bytes, group_memory_bytes, "
      "http2_workers_busy, keepalive, closing, coalesce(in_flight, workers_busy) + listen_queue "
      "FROM main.samples WHERE :id ORDER BY rowid",
      { 15, 0 }, false, true, SAMPLES },
    { { "pool_samples", NULL },
      SAMPLE("server_id", "label", "workers_busy", FIXED)
      "workers_busy FROM main.pool_samples WHERE :id ORDER BY rowid",
      { 1, 0 }, true, true, SAMPLES },
    { { "memory_samples", NULL },
      SAMPLE("server_id", "NULL", "pss_bytes", "0")
      "pss_bytes, rss_bytes, processes FROM main.memory_samples WHERE :id ORDER BY rowid",
      { 3, 0 }, false, false, SAMPLES },
    { { "machine_samples", NULL },
      SAMPLE("run_id", "NULL", "0", FIXED)
      "runnable, blocked, 4611686018427387904 - memory_available FROM main.machine_samples "
      "WHERE :id ORDER BY rowid",   /* 2^62: the least that was available is the largest of these */
      { 3, 0 }, false, true, MAXIMA_ONLY },
    { { "process_samples", NULL },
      SAMPLE("server_id", "NULL", "0", "0")
      "1000000 * files / files_limit, files, pss_bytes, coalesce(state IN ('T', 't', 'D'), 0) "
      "FROM main.process_samples WHERE :id ORDER BY rowid",
      { 4, 0 }, false, false, MAXIMA_ONLY },
    { { "port_samples", NULL },
      SAMPLE("run_id", "remote", "0", "0")
      "ports FROM main.port_samples WHERE :id ORDER BY rowid",
      { 1, 0 }, true, false, MAXIMA_ONLY },
};

const size_t mst_thin_subject_count = sizeof mst_thin_subjects / sizeof *mst_thin_subjects;

/* make_board.c - a server without an Apache, for tests of the tool.
 *
 * make_board PATH [PHP]: makes a board with one process, one busy worker and a label
 * "www", says "ready", then reads lines from stdin: a number records as many
 * requests (and says "done"). Ends with stdin; the board stays.
 *
 * With the path of a PHP's board that is made, too, and each request comes to PHP 0.1 ms
 * after its headers: it waits there for 2 ms, runs for 0.5 ms, and makes a mark. It has all
 * intervals and some waits; of each request, the kernel has some bytes left for a while.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "write/board.h"
#include "write/journal.h"
#include "write/worker.h"

#define QUEUE_NS    1000u
#define READ_NS     20000u
#define HANDLE_NS   3000000u
#define SEND_NS     400000u
#define HAND_NS     100000u    /* from the headers to the hand-over */
#define PHP_WAIT_NS 2000000u
#define PHP_RUN_NS  500000u

#define CHECKS_NS   60000u     /* the intervals */
#define UPLOAD_NS   40000u
#define BACKEND_NS  2700000u
#define TLS_NS      8000u
#define H2_WAIT_NS  600u
#define CLIENT_NS   300000u
#define NETWORK_NS  70000u
#define SERVER_NS   30000u
#define LOG_NS      50000u
#define LEFT_NS     5000000u   /* undelivered */
#define LEFT_BYTES  3000u

#define USER_NS     400000u    /* parts of php_run */
#define SYSTEM_NS   50000u
#define CPU_WAIT_NS 5000u
#define DATABASE_NS 25000u     /* 20 us of it at one end */
#define CACHE_NS    10000u

static void count_interval(struct mst_counters *t, enum mst_interval interval, uint64_t ns)
{
    mst_count(&t->interval_ns[interval], ns);
    mst_count(&t->intervals[interval], 1);
}

static void count_intervals(struct mst_counters *t, const struct mst_request *r)
{
    count_interval(t, MST_INTERVAL_TLS, r->tls_ns);
    count_interval(t, MST_INTERVAL_H2_WAIT, r->h2_wait_ns);
    count_interval(t, MST_INTERVAL_CHECKS, r->checks_ns);
    count_interval(t, MST_INTERVAL_UPLOAD, r->upload_ns);
    count_interval(t, MST_INTERVAL_BACKEND, r->backend_ns);
    count_interval(t, MST_INTERVAL_SEND_CLIENT, r->send_client_ns);
    count_interval(t, MST_INTERVAL_SEND_NETWORK, r->send_network_ns);
    count_interval(t, MST_INTERVAL_SEND_SERVER, r->send_server_ns);
    count_interval(t, MST_INTERVAL_UNDELIVERED, LEFT_NS);
    count_interval(t, MST_INTERVAL_LOG, r->log_ns);
}

static void serve(struct mst_board *b, uint32_t label, uint64_t id, uint64_t start_ns)
{
    uint32_t handler = mst_other_end_intern(b, MST_END_HANDLER, "proxy:unix:/run/php.sock");
    uint32_t backend = mst_other_end_intern(b, MST_END_BACKEND, "fcgi://localhost");
    const struct mst_delivery left = {
        .id = id, .undelivered_ns = LEFT_NS, .undelivered_bytes = LEFT_BYTES,
        .time_ns = start_ns,
    };
    const struct mst_request r = {
        .id = id, .start_ns = start_ns, .queue_ns = QUEUE_NS, .read_ns = READ_NS,
        .handle_ns = HANDLE_NS, .send_ns = SEND_NS, .held_ns = READ_NS + HANDLE_NS,
        .bytes = 70000, .label_status = (uint64_t)label << 32 | 200,
        .pid_worker = (uint64_t)getpid() << 32, .connection = id << 16 | 40000,
        .front_ns = MST_UNKNOWN, .ends = (uint64_t)handler << 32 | backend,
        .checks_ns = CHECKS_NS, .upload_ns = UPLOAD_NS, .backend_ns = BACKEND_NS,
        .tls_ns = TLS_NS, .h2_wait_ns = H2_WAIT_NS, .send_client_ns = CLIENT_NS,
        .send_network_ns = NETWORK_NS, .send_server_ns = SERVER_NS, .log_ns = LOG_NS,
    };
    struct mst_counters *t = mst_counters_of(b, label, 0);

    mst_count(&t->bytes, r.bytes);
    mst_count(&t->status[MST_CLASS_2XX], 1);
    mst_histogram_record(&t->times[MST_PHASE_QUEUE], r.queue_ns);
    mst_histogram_record(&t->times[MST_PHASE_READ], r.read_ns);
    mst_histogram_record(&t->times[MST_PHASE_HANDLE], r.handle_ns);
    mst_histogram_record(&t->times[MST_PHASE_SEND], r.send_ns);
    mst_histogram_record(&t->times[MST_PHASE_HELD], r.held_ns);
    mst_histogram_record(&t->times[MST_PHASE_TOTAL],
                         r.queue_ns + r.read_ns + r.handle_ns + r.send_ns);
    count_intervals(t, &r);
    mst_other_end_count(b, handler, 0, HANDLE_NS - CHECKS_NS, false);
    mst_other_end_count(b, backend, 0, BACKEND_NS, false);
    mst_journal_request(b, &r);
    mst_journal_delivery(b, &left);
}

static void record_phase(struct mst_counters *t, enum mst_phase phase, uint64_t ns)
{
    mst_histogram_record(&t->times[mst_phase_index(MST_PRODUCER_PHP, phase)], ns);
}

static void serve_php(struct mst_board *b, uint32_t label, uint64_t id, uint64_t apache_start_ns)
{
    uint64_t start_ns = apache_start_ns + QUEUE_NS + READ_NS + HAND_NS + PHP_WAIT_NS;
    uint32_t database = mst_other_end_intern(b, MST_END_DATABASE, "mysql 127.0.0.1:3306");
    uint32_t other = mst_other_end_intern(b, MST_END_DATABASE, "sqlite /srv/app.db");
    uint32_t cache = mst_other_end_intern(b, MST_END_CACHE, "redis 127.0.0.1:6379");
    const struct mst_php_request r = {
        .id = id, .start_ns = start_ns, .wait_ns = PHP_WAIT_NS, .run_ns = PHP_RUN_NS,
        .user_ns = USER_NS, .system_ns = SYSTEM_NS, .memory_bytes = 2097152,
        .label_status = (uint64_t)label << 32 | MST_PHP_CACHED << 16 | 200,
        .pid_worker = (uint64_t)getpid() << 32, .script = "/srv/www/index.php",
        .cpu_wait_ns = CPU_WAIT_NS,
        .longest = {
            { (uint64_t)MST_WAIT_DATABASE << 32 | database, UINT64_C(2) << 32, 20000 },
            { (uint64_t)MST_WAIT_CACHE << 32 | cache, UINT64_C(1) << 32 | 1, CACHE_NS },
        },
        .waits_ns = { [MST_WAIT_DATABASE] = DATABASE_NS, [MST_WAIT_CACHE] = CACHE_NS },
    };
    const struct mst_mark mark = {
        .request_start_ns = start_ns, .time_ns = start_ns + PHP_RUN_NS / 2,
        .pid = (uint64_t)getpid(), .name = "half-way",
    };
    struct mst_counters *t = mst_counters_of(b, label, 0);

    mst_count(&t->status[MST_CLASS_2XX], 1);
    mst_count(&t->php_user_ns, r.user_ns);
    mst_count(&t->php_system_ns, r.system_ns);
    t->php_memory_bytes = r.memory_bytes;
    mst_count(&t->php_cpu_wait_ns, CPU_WAIT_NS);
    mst_count(&t->php_waits_ns[MST_WAIT_DATABASE], DATABASE_NS);
    mst_count(&t->php_waits[MST_WAIT_DATABASE], 3);
    mst_count(&t->php_waits_ns[MST_WAIT_CACHE], CACHE_NS);
    mst_count(&t->php_waits[MST_WAIT_CACHE], 1);
    mst_count(&t->php_waits_failed[MST_WAIT_CACHE], 1);
    mst_other_end_count(b, database, 0, 10000, false);
    mst_other_end_count(b, database, 0, 10000, false);
    mst_other_end_count(b, other, 0, DATABASE_NS - 20000, false);
    mst_other_end_count(b, cache, 0, CACHE_NS, true);
    record_phase(t, MST_PHASE_PHP_WAIT, r.wait_ns);
    record_phase(t, MST_PHASE_PHP_RUN, r.run_ns);
    record_phase(t, MST_PHASE_TOTAL, r.wait_ns + r.run_ns);
    mst_journal_mark(b, &mark);
    mst_journal_php_request(b, &r);
}

/* One process with one busy worker, and a label. */
struct server {
    struct mst_board board;
    uint32_t         www;
};

static void begin_work(struct server *s, enum mst_kind kind)
{
    struct mst_board *b = &s->board;
    const struct mst_lifecycle fork_event = {
        .time_ns = mst_now_ns(), .event_kind = (uint64_t)MST_EVENT_FORK << 32 | kind,
        .pid_parent = (uint64_t)getpid() << 32 | (uint64_t)getppid(),
    };
    int process = mst_process_claim(b, (uint64_t)getpid(), 0, mst_now_ns());
    struct mst_worker *w = &b->workers[(unsigned)process * b->threads];

    s->www = mst_label_intern(b, "www");
    mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), mst_now_ns());
    mst_journal_lifecycle(b, &fork_event);
}

static void make(struct server *s, const char *path, enum mst_producer producer)
{
    const struct mst_layout layout = {
        .producer = producer, .processes = 4, .threads_per_process = 2, .labels = 8,
        .stripes = 2, .requests = 4096, .lifecycle = 64,
    };
    static const struct mst_identity apache = {
        .server = "Apache/2.4.0 (Test)", .mpm = "event", .version = "0.0.1", .workers_limit = 8,
    };
    static const struct mst_identity php = {
        .server = "PHP/8.2.0", .sapi = "fpm-fcgi", .version = "0.0.1", .workers_limit = 5,
    };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX];
    bool is_php = producer == MST_PRODUCER_PHP;

    if (mst_board_create(&s->board, path, &layout, is_php ? &php : &apache, (gid_t)-1, warning,
                         error) != 0) {
        fprintf(stderr, "make_board: %s\n", error);
        exit(1);
    }
    begin_work(s, is_php ? MST_KIND_PHP : MST_KIND_CHILD);
}

int main(int argc, char **argv)
{
    struct server apache, php;
    uint64_t id = 0, start_ns;
    char line[32];
    long n;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "make_board: usage: make_board PATH [PHP]\n");
        return 1;
    }
    make(&apache, argv[1], MST_PRODUCER_APACHE);
    if (argc == 3)
        make(&php, argv[2], MST_PRODUCER_PHP);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        for (n = strtol(line, NULL, 10); n > 0; n--) {
            start_ns = mst_now_ns();
            serve(&apache.board, apache.www, ++id, start_ns);
            if (argc == 3)
                serve_php(&php.board, php.www, id, start_ns);
        }
        puts("done");
        fflush(stdout);
    }
    mst_board_close(&apache.board);
    if (argc == 3)
        mst_board_close(&php.board);
    return 0;
}

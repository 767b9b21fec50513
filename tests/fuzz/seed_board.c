/* seed_board.c - makes the first files of tests/fuzz/corpus/board: boards as
 * small as they get, in the states that a server's can be in. The same bytes in
 * every run. To make them again: seed_board DIRECTORY
 *
 * older-busy and older-php-busy there are boards of an earlier writer, which this does not make:
 * unit tests read them as such.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "write/board.h"
#include "write/call_stack.h"
#include "write/journal.h"
#include "write/worker.h"

#define START_NS (100 * MST_NS_PER_S)

static struct mst_board board;

static void check(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/* What depends on this machine and moment is replaced. */
static void make_constant(struct mst_header *h)
{
    h->pid = 1000;
    h->pid_start_ticks = 10000;
    h->started_ns = START_NS;
    h->realtime_offset_ns = 1600000000 * (int64_t)MST_NS_PER_S;
    h->pid_namespace = h->time_namespace = 4026531836;
    h->kernel_hz = 250;
    snprintf(h->boot_id, sizeof h->boot_id, "00000000-0000-0000-0000-000000000000");
}

static void make_board(const char *path, enum mst_producer producer)
{
    const struct mst_layout layout = {
        .producer = producer, .processes = 2, .threads_per_process = 1, .labels = 2,
        .stripes = 1, .requests = 4, .lifecycle = 4,
        .code_samples = producer == MST_PRODUCER_PHP ? 16 : 0,
    };
    const struct mst_identity identity = {
        .server = "Apache/2.4.0 (Seed)", .mpm = producer == MST_PRODUCER_APACHE ? "event" : NULL,
        .sapi = producer == MST_PRODUCER_PHP ? "fpm-fcgi" : NULL, .version = "0.0.1",
        .workers_limit = 2,
    };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX] = "";

    check(mst_board_create(&board, path, &layout, &identity, (gid_t)-1, warning, error) == 0,
          error);
    make_constant(board.header);
}

/* Two processes, one serving; requests in the counters and around the ring, one
 * of them torn; events. */
static void make_busy(void)
{
    struct mst_lifecycle fork_event = { .time_ns = START_NS };
    struct mst_counters *counters = mst_counters_of(&board, MST_LABEL_OTHER, 0);
    struct mst_worker *w = &board.workers[1];
    uint64_t i;

    for (i = 0; i < 2; i++) {
        check(mst_process_claim(&board, 1001 + i, 1, START_NS) >= 0, "claim");
        board.processes[i].start_ticks = 10001 + i;
        mst_journal_lifecycle(&board, &fork_event);
    }
    for (i = 0; i < 6; i++) {
        struct mst_request request = { .id = i, .start_ns = START_NS + i, .send_ns = 1000 << i };

        mst_count(&counters->status[MST_CLASS_2XX], 1);
        mst_histogram_record(&counters->times[MST_PHASE_SEND], request.send_ns);
        mst_journal_request(&board, &request);
    }
    board.requests[5 & board.requests_mask].payload.bytes = 1;
    mst_worker_enter(w, MST_STATE_HANDLING, START_NS, START_NS + 1000);
    w->request_label = MST_LABEL_OTHER;
    w->request_start_ns = START_NS + 1000;
    snprintf(w->path, sizeof w->path, "/seed");
    board.in_flight[board.in_flight_stride] = 1;
    board.processes[1].connections = 1;
    board.processes[1].accepted = 6;
}

static void add_sample(uint64_t i)
{
    uint32_t main = mst_frame_intern(&board, "{main}", 6, "/srv/\xff.php", 10, 1);
    uint32_t find = mst_frame_intern(&board, "Repository->find", 16, "/srv/src/R.php", 14, 5);
    uint32_t outer = mst_call_stack_intern(&board, MST_STACK_NONE, main);
    uint32_t inner = mst_call_stack_intern(&board, outer, find);
    const struct mst_code_sample sample = {
        .time_ns = START_NS + i, .request_start_ns = START_NS, .pid_worker = UINT64_C(1001) << 32,
        .stack_what = (uint64_t)(i % 2 ? inner : outer) << 32 | i % 3,
        .weight_ns = 10 * MST_NS_PER_MS,
    };

    mst_journal_code_sample(&board, &sample);
    board.workers[0].runs_in = (uint64_t)inner + 1;
    board.workers[0].runs_ns = START_NS + 2000;
}

/* PHP's processes: one runs a request; requests, marks and samples around the rings, one of the
 * first two torn; texts that are none. */
static void make_busy_php(void)
{
    struct mst_lifecycle fork_event = {
        .time_ns = START_NS, .event_kind = (uint64_t)MST_EVENT_FORK << 32 | MST_KIND_PHP,
    };
    struct mst_counters *counters = mst_counters_of(&board, MST_LABEL_OTHER, 0);
    struct mst_worker *w = &board.workers[0];
    uint64_t i;

    check(mst_process_claim(&board, 1001, 1, START_NS) >= 0, "claim");
    board.processes[0].start_ticks = 10001;
    mst_journal_lifecycle(&board, &fork_event);
    for (i = 0; i < 6; i++) {
        struct mst_php_request request = {
            .id = i % 2 ? MST_UNKNOWN : i, .start_ns = START_NS + i,
            .wait_ns = i % 3 ? UINT64_C(1000) << i : MST_UNKNOWN,
            .run_ns = 2000u << i, .user_ns = i, .system_ns = MST_UNKNOWN,
            .memory_bytes = 2097152, .script = "/srv/\xff\"\\.php",
            .label_status = (i % 3 * MST_PHP_FATAL) << 16 | 200,
        };
        struct mst_mark mark = { .request_start_ns = START_NS + i, .time_ns = START_NS + 2 * i,
                                 .pid = 1001, .name = "step\n" };

        mst_count(&counters->status[MST_CLASS_2XX], 1);
        mst_histogram_record(&counters->times[0], 1000 << i);
        mst_histogram_record(&counters->times[1], request.run_ns);
        mst_journal_php_request(&board, &request);
        mst_journal_mark(&board, &mark);
    }
    for (i = 0; i < 6; i++)
        add_sample(i);
    board.php_requests[5 & board.php_requests_mask].payload.run_ns = 1;
    board.marks[2].payload.pid = 1;
    mst_worker_enter(w, MST_STATE_HANDLING, START_NS, START_NS + 1000);
    w->request_start_ns = START_NS + 1000;
}

/* A saved board has at most so many marks and so many deliveries: their whole rings would make its
 * file large. */
#define KEPT 8u

/* The board's bytes without the room between its sections. */
static void save(const char *directory, const char *name)
{
    struct mst_header header = *board.header;
    uint64_t end = sizeof header;
    char path[4096];
    unsigned id;
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    check(fd >= 0, path);
    for (id = 0; id < MST_SECTION_COUNT; id++) {
        struct mst_section *s = mst_section_of(&header, id);
        size_t bytes;

        if ((id == MST_SECTION_MARKS || id == MST_SECTION_DELIVERIES) && s->count > KEPT)
            s->count = KEPT;
        bytes = (size_t)s->count * s->stride;

        check(pwrite(fd, (char *)board.header + s->offset, bytes, (off_t)end) == (ssize_t)bytes,
              path);
        s->offset = end;
        end += bytes;
    }
    header.file_bytes = end;
    check(pwrite(fd, &header, sizeof header, 0) == (ssize_t)sizeof header, path);
    close(fd);
}

int main(int argc, char **argv)
{
    char scratch[4096];

    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    snprintf(scratch, sizeof scratch, "%s/.scratch", argv[1]);
    make_board(scratch, MST_PRODUCER_APACHE);
    save(argv[1], "new");
    make_busy();
    save(argv[1], "busy");
    board.header->stopped_ns = START_NS + MST_NS_PER_S;
    save(argv[1], "stopped");
    mst_board_close(&board);
    unlink(scratch);
    make_board(scratch, MST_PRODUCER_PHP);
    save(argv[1], "php");
    make_busy_php();
    save(argv[1], "php-busy");
    mst_board_close(&board);
    unlink(scratch);
    return EXIT_SUCCESS;
}

/* make_board.c - a server without an Apache, for tests of the tool.
 *
 * make_board PATH: makes a board with one process, one busy worker and a label
 * "www", says "ready", then reads lines from stdin: a number records as many
 * requests (and says "done"). Ends with stdin; the board stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "board.h"
#include "clock.h"
#include "journal.h"
#include "worker.h"

static void serve(struct mst_board *b, uint32_t label, uint64_t id)
{
    const struct mst_request r = {
        .id = id, .start_ns = mst_now_ns(), .queue_ns = 1000, .read_ns = 20000,
        .handle_ns = 3000000, .send_ns = 400000, .held_ns = 3020000, .bytes = 70000,
        .label_status = (uint64_t)label << 32 | 200, .pid_worker = (uint64_t)getpid() << 32,
        .connection = id << 16 | 40000,
    };
    struct mst_tally *t = mst_tally_of(b, label, 0);

    mst_count(&t->bytes, r.bytes);
    mst_count(&t->status[MST_CLASS_2XX], 1);
    mst_histogram_record(&t->times[MST_PHASE_QUEUE], r.queue_ns);
    mst_histogram_record(&t->times[MST_PHASE_READ], r.read_ns);
    mst_histogram_record(&t->times[MST_PHASE_HANDLE], r.handle_ns);
    mst_histogram_record(&t->times[MST_PHASE_SEND], r.send_ns);
    mst_histogram_record(&t->times[MST_PHASE_HELD], r.held_ns);
    mst_histogram_record(&t->times[MST_PHASE_TOTAL],
                         r.queue_ns + r.read_ns + r.handle_ns + r.send_ns);
    mst_journal_request(b, &r);
}

static void begin_work(struct mst_board *b)
{
    const struct mst_lifecycle fork_event = {
        .time_ns = mst_now_ns(), .pid_parent = (uint64_t)getpid() << 32 | (uint64_t)getppid(),
    };
    int process = mst_process_claim(b, (uint64_t)getpid(), 0, mst_now_ns());
    struct mst_worker *w = &b->workers[(unsigned)process * b->threads];

    mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), mst_now_ns());
    mst_journal_lifecycle(b, &fork_event);
}

int main(int argc, char **argv)
{
    const struct mst_layout layout = {
        .producer = MST_PRODUCER_APACHE, .processes = 4, .threads_per_process = 2, .labels = 8,
        .stripes = 2, .requests = 4096, .lifecycle = 64,
    };
    const struct mst_identity identity = {
        .server = "Apache/2.4.0 (Test)", .mpm = "event", .version = "0.0.1", .workers_limit = 8,
    };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX], line[32];
    struct mst_board board;
    uint64_t id = 0;
    uint32_t www;
    long n;

    if (argc != 2 ||
        mst_board_create(&board, argv[1], &layout, &identity, (gid_t)-1, warning, error) != 0) {
        fprintf(stderr, "make_board: %s\n", argc != 2 ? "usage: make_board PATH" : error);
        return 1;
    }
    www = mst_label_intern(&board, "www");
    begin_work(&board);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        for (n = strtol(line, NULL, 10); n > 0; n--)
            serve(&board, www, ++id);
        puts("done");
        fflush(stdout);
    }
    mst_board_close(&board);
    return 0;
}

/* write_requests.c - requests on a board at a rate, for the bench of the recording.
 *
 * write_requests BOARD WRITERS RATE SECONDS: makes a board whose journal has the
 * default size and says "ready". With a line on stdin as many processes write RATE
 * requests a second, all together, for SECONDS; then it says how many there are and
 * how long they took, in nanoseconds. Ends with stdin; the board stays.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "write/board.h"
#include "write/journal.h"
#include "write/worker.h"

#define PROCESSES 16u
#define STEP_NS   MST_NS_PER_MS    /* what is due is written so often */

static struct mst_board board;
static uint32_t label;

static void make(const char *path)
{
    const struct mst_layout layout = {
        .producer = MST_PRODUCER_APACHE, .processes = PROCESSES, .threads_per_process = 1,
        .labels = 8, .stripes = mst_layout_stripes(), .requests = mst_layout_requests(0),
        .lifecycle = MST_LIFECYCLE_RECORDS,
    };
    static const struct mst_identity identity = {
        .server = "write_requests", .mpm = "prefork", .version = "0", .workers_limit = PROCESSES,
    };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX];

    if (mst_board_create(&board, path, &layout, &identity, (gid_t)-1, warning, error) != 0) {
        fprintf(stderr, "write_requests: %s\n", error);
        exit(1);
    }
    label = mst_label_intern(&board, "www");
}

static void write_one(uint32_t stripe, uint64_t id, uint64_t now_ns)
{
    const struct mst_request request = {
        .id = id, .start_ns = now_ns, .read_ns = 20000, .handle_ns = 300000, .send_ns = 40000,
        .held_ns = 360000, .bytes = 70000, .label_status = (uint64_t)label << 32 | 200,
        .pid_worker = (uint64_t)getpid() << 32 | stripe, .connection = id << 16 | 40000,
        .front_ns = MST_UNKNOWN,
    };
    struct mst_counters *counters = mst_counters_of(&board, label, stripe);

    mst_count(&counters->status[MST_CLASS_2XX], 1);
    mst_count(&counters->bytes, request.bytes);
    mst_histogram_record(&counters->times[MST_PHASE_HANDLE], request.handle_ns);
    mst_journal_request(&board, &request);
}

/* Writes `count` in that time; a writer that was held up makes good for it at once. */
static void write_all(uint32_t writer, uint64_t count, uint64_t duration_ns)
{
    const struct timespec step = { .tv_nsec = STEP_NS };
    uint64_t began_ns = mst_now_ns(), now_ns, written = 0, due;
    int process = mst_process_claim(&board, (uint64_t)getpid(), (int)writer, began_ns);
    struct mst_worker *w = &board.workers[process];

    mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), began_ns);
    while (written < count) {
        now_ns = mst_now_ns();
        due = (uint64_t)((unsigned __int128)count * (now_ns - began_ns) / duration_ns);
        for (; written < due && written < count; written++)
            write_one(writer, (uint64_t)writer << 40 | written, now_ns);
        nanosleep(&step, NULL);
    }
    mst_worker_enter(w, MST_STATE_IDLE, mst_worker_since(w), mst_now_ns());
}

/* Returns the time that it took. */
static uint64_t run_writers(uint32_t writers, uint64_t count, uint64_t duration_ns)
{
    uint64_t began_ns = mst_now_ns();
    uint32_t i;

    for (i = 0; i < writers; i++)
        if (fork() == 0) {
            write_all(i, count, duration_ns);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return mst_now_ns() - began_ns;
}

int main(int argc, char **argv)
{
    unsigned long writers, rate, seconds;
    uint64_t each, took_ns;

    if (argc != 5 || (writers = strtoul(argv[2], NULL, 10)) == 0 || writers > PROCESSES) {
        fprintf(stderr, "usage: write_requests BOARD WRITERS RATE SECONDS (at most %u writers)\n",
                PROCESSES);
        return 2;
    }
    rate = strtoul(argv[3], NULL, 10);
    seconds = strtoul(argv[4], NULL, 10);
    make(argv[1]);
    puts("ready");
    fflush(stdout);
    if (getchar() != EOF) {
        each = (uint64_t)rate * seconds / writers;
        took_ns = run_writers((uint32_t)writers, each, seconds * MST_NS_PER_S);
        printf("%" PRIu64 " %" PRIu64 "\n", each * writers, took_ns);
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    mst_board_close(&board);
    return 0;
}

/* contention.c - what writers of one board cost each other, for the bench of that name.
 *
 * contention time DIRECTORY THREADS REQUESTS event|kept one|own: so many threads write REQUESTS
 * requests each, as fast as they can. As under event, each is counted as a busy worker; "kept": as
 * on a kept-alive connection of prefork and worker, the busy count stays. All write to one board,
 * or each to a board of its own: what differs is what they share. Says how long it took, in
 * nanoseconds.
 *
 * contention lines DIRECTORY: which cache lines a request writes under event, and which of them
 * another worker's request writes, too: "NAME WRITTEN SHARED" for workers of different stripes and
 * of one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "write/board.h"
#include "write/busy.h"
#include "write/journal.h"
#include "write/worker.h"

#define THREADS_MAX 64u
#define RECORDS     4096u    /* of a ring: 64 boards of the default size are too large */
#define LINE        64u

struct writer {
    pthread_t           thread;
    struct mst_board   *board;
    struct mst_process *process;
    struct mst_worker  *worker;
    uint32_t            stripe;
    uint64_t            count;
    bool                is_kept;
};

static struct mst_board boards[THREADS_MAX];
static struct writer writers[THREADS_MAX];
static pthread_barrier_t all_there;
static uint32_t label;

static void make(struct mst_board *board, const char *directory, unsigned number)
{
    const struct mst_layout layout = {
        .producer = MST_PRODUCER_APACHE, .processes = THREADS_MAX, .threads_per_process = 1,
        .labels = 8, .stripes = mst_layout_stripes(), .requests = RECORDS,
        .lifecycle = MST_LIFECYCLE_RECORDS,
    };
    static const struct mst_identity identity = {
        .server = "contention", .mpm = "event", .version = "0", .workers_limit = 2 * THREADS_MAX,
    };
    char path[4096], warning[MST_ERROR_MAX], error[MST_ERROR_MAX];

    snprintf(path, sizeof path, "%s/%u.board", directory, number);
    if (mst_board_create(board, path, &layout, &identity, (gid_t)-1, warning, error) != 0) {
        fprintf(stderr, "contention: %s\n", error);
        exit(1);
    }
    label = mst_label_intern(board, "www");
}

static void claim(struct writer *w, struct mst_board *board, uint32_t slot, uint32_t stripe)
{
    int index = mst_process_claim(board, 1000 + slot, (int)slot, mst_now_ns());

    w->board = board;
    w->process = &board->processes[index];
    w->worker = &board->workers[index];
    w->stripe = stripe;
}

/* Busy, its record, its counters, idle. */
static void write_request(struct writer *w, uint64_t id)
{
    const struct mst_request request = {
        .id = id, .start_ns = id, .read_ns = 20000, .handle_ns = 300000, .send_ns = 40000,
        .held_ns = 360000, .bytes = 70000, .label_status = (uint64_t)label << 32 | 200,
        .pid_worker = w->stripe, .front_ns = MST_UNKNOWN,
    };
    struct mst_counters *counters = mst_counters_of(w->board, label, w->stripe);
    enum mst_phase phase;

    if (!w->is_kept)
        mst_busy_begin(w->board, w->process, id);
    mst_worker_enter(w->worker, MST_STATE_HANDLING, mst_worker_since(w->worker), id);
    mst_journal_request(w->board, &request);
    mst_count(&counters->status[MST_CLASS_2XX], 1);
    mst_count(&counters->bytes, request.bytes);
    for (phase = MST_PHASE_QUEUE; phase <= MST_PHASE_TOTAL; phase++)
        mst_histogram_record(&counters->times[phase], request.handle_ns);
    mst_worker_enter(w->worker, MST_STATE_IDLE, mst_worker_since(w->worker), id);
    if (!w->is_kept)
        mst_busy_end(w->board, w->process, id);
}

static void *run(void *context)
{
    struct writer *w = context;
    uint64_t i;

    pthread_barrier_wait(&all_there);
    for (i = 0; i < w->count; i++)
        write_request(w, i + 1);
    return NULL;
}

static uint64_t time_all(unsigned threads, uint64_t count)
{
    uint64_t began_ns;
    unsigned i;

    pthread_barrier_init(&all_there, NULL, threads + 1);
    for (i = 0; i < threads; i++) {
        writers[i].count = count;
        if (pthread_create(&writers[i].thread, NULL, run, &writers[i]) != 0)
            exit(1);
    }
    pthread_barrier_wait(&all_there);
    began_ns = mst_now_ns();
    for (i = 0; i < threads; i++)
        pthread_join(writers[i].thread, NULL);
    return mst_now_ns() - began_ns;
}

static uint64_t time_requests(const char *directory, unsigned threads, uint64_t count,
                              bool is_kept, bool own)
{
    unsigned i;

    for (i = 0; i < threads; i++) {
        if (own || i == 0)
            make(&boards[i], directory, i);
        claim(&writers[i], &boards[own ? i : 0], i, i);
        writers[i].is_kept = is_kept;
    }
    return time_all(threads, count);
}

/* ---- which lines ------------------------------------------------------------------------ */

/* Marks the lines that a request of w writes. Words are counted up, so that all change. */
static void mark_lines(struct writer *w, uint64_t id, unsigned char *marks)
{
    size_t bytes = w->board->bytes, line;
    const char *now = (const char *)w->board->header;
    char *before = malloc(bytes);

    if (before == NULL)
        exit(1);
    memcpy(before, now, bytes);
    write_request(w, id);
    for (line = 0; line < bytes / LINE; line++)
        marks[line] = memcmp(before + line * LINE, now + line * LINE, LINE) != 0;
    free(before);
}

static void print_lines(const char *name, struct writer *one, struct writer *other)
{
    size_t lines = one->board->bytes / LINE, i, written = 0, shared = 0;
    unsigned char *mine = calloc(lines, 1), *theirs = calloc(lines, 1);

    if (mine == NULL || theirs == NULL)
        exit(1);
    mark_lines(one, 5, mine);
    mark_lines(other, 7, theirs);
    for (i = 0; i < lines; i++) {
        written += mine[i];
        shared += mine[i] && theirs[i];
    }
    printf("%s %zu %zu\n", name, written, shared);
    free(mine);
    free(theirs);
}

static void list_lines(const char *directory)
{
    make(&boards[0], directory, 0);
    claim(&writers[0], &boards[0], 0, 0);
    claim(&writers[1], &boards[0], 1, 1);
    claim(&writers[2], &boards[0], 2, 0);
    write_request(&writers[0], 1);
    print_lines("other-stripe", &writers[0], &writers[1]);
    print_lines("same-stripe", &writers[0], &writers[2]);
}

int main(int argc, char **argv)
{
    unsigned long threads = argc == 7 ? strtoul(argv[3], NULL, 10) : 0;

    if (argc == 7 && strcmp(argv[1], "time") == 0 && threads > 0 && threads <= THREADS_MAX)
        printf("%" PRIu64 "\n",
               time_requests(argv[2], (unsigned)threads, strtoull(argv[4], NULL, 10),
                             strcmp(argv[5], "kept") == 0, strcmp(argv[6], "own") == 0));
    else if (argc == 3 && strcmp(argv[1], "lines") == 0)
        list_lines(argv[2]);
    else {
        fprintf(stderr, "usage: contention time DIRECTORY THREADS REQUESTS event|kept one|own\n"
                "       contention lines DIRECTORY\n(at most %u threads)\n", THREADS_MAX);
        return 2;
    }
    return 0;
}

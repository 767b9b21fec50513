/* stress_board.c - threads that write to a board in every way, and threads that
 * read it, at the same time. `make check` runs it as it is and under
 * ThreadSanitizer; it is not a libcheck program, since those fork.
 *
 * What must hold: no data race; every count arrives; every journal record is
 * given once or counted as lost; the worker's times are the time that passed.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "read/snapshot.h"
#include "read/tail.h"
#include "write/board.h"
#include "write/journal.h"
#include "write/worker.h"

#define WRITERS  4u
#define REQUESTS 100000u    /* by each writer */
#define SITES    50u        /* labels, of which a new one comes now and then */

static struct mst_board board;
static char directory[64], path[96];
static char error[MST_ERROR_MAX];
static int writing = (int)WRITERS;
static pthread_barrier_t all_there;

#define REQUIRE(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

/* ---- writers: each is the one worker of a process entry -------------------------- */

static void serve_one(struct mst_worker *w, uint32_t stripe, uint32_t n)
{
    uint64_t id = (uint64_t)stripe << 32 | n;
    struct mst_request request = { .id = id, .start_ns = id * 3, .nth = id * 5 };
    struct mst_counters *counters;
    char name[16];
    uint32_t label;

    snprintf(name, sizeof name, "site%u", n / (REQUESTS / SITES));
    label = mst_label_intern(&board, name);
    counters = mst_counters_of(&board, label, stripe);
    mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), mst_now_ns());
    mst_count(&counters->status[MST_CLASS_2XX], 1);
    mst_count(&counters->bytes, 100);
    mst_histogram_record(&counters->times[MST_PHASE_TOTAL], id % 4096);
    mst_journal_request(&board, &request);
    mst_worker_enter(w, MST_STATE_IDLE, mst_worker_since(w), mst_now_ns());
}

static void *write_requests(void *number)
{
    uint32_t writer = (uint32_t)(uintptr_t)number, n;
    int process = mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());

    REQUIRE(process >= 0, "expected a free process entry");
    pthread_barrier_wait(&all_there);
    for (n = 0; n < REQUESTS; n++) {
        serve_one(&board.workers[process], writer, n);
        if (n % 1000 == 0) {
            struct mst_lifecycle event = { .event_kind = (uint64_t)MST_EVENT_FORK << 32 };

            mst_journal_lifecycle(&board, &event);
        }
    }
    __atomic_sub_fetch(&writing, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- readers ------------------------------------------------------------------------ */

static int check_record(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_request *request = payload;
    uint64_t *sum = context;

    REQUIRE(request->start_ns == request->id * 3 && request->nth == request->id * 5,
            "expected record %" PRIu64 " whole, found a mixture", ticket);
    *sum += ticket;
    return 0;
}

static void *follow_journal(void *unused)
{
    struct mst_reader reader;
    struct mst_tail tail;
    uint64_t sum = 0, given = 0;
    bool last;

    REQUIRE(mst_reader_open(&reader, board.path, error) == 0
            && mst_tail_open(&tail, &reader, MST_SECTION_REQUESTS, 1, error) == 0, "%s", error);
    do {
        long n;

        last = __atomic_load_n(&writing, __ATOMIC_ACQUIRE) == 0;
        n = mst_tail_poll(&tail, SIZE_MAX, check_record, &sum, error);
        REQUIRE(n >= 0, "%s", error);
        given += (uint64_t)n;
    } while (!last);
    mst_tail_finish(&tail);
    REQUIRE(given + tail.lost == (uint64_t)WRITERS * REQUESTS,
            "expected %u records, given %" PRIu64 " and lost %" PRIu64, WRITERS * REQUESTS, given,
            tail.lost);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    return unused;
}

struct seen { uint64_t requests, state_ns, forks, taken_ns, claimed; };

static struct seen look(const struct mst_reader *reader)
{
    struct seen seen = { 0 };
    struct mst_world world = { .running = 1 };
    struct mst_snapshot s;
    struct mst_copy copy;
    size_t i;

    REQUIRE(mst_copy_take(&copy, reader, error) == 0, "%s", error);
    REQUIRE(mst_snapshot_make(&s, &copy, &world) == 0, "expected memory for a snapshot");
    for (i = 0; i < s.label_count; i++)
        seen.requests += s.labels[i].requests;
    for (i = 0; i < MST_STATE_COUNT; i++)
        seen.state_ns += s.state_ns[i];
    for (i = 0; i < copy.process_count; i++)
        if (copy.processes[i].pid != 0)
            seen.claimed += copy.processes[i].claimed_ns;
    seen.forks = s.forks[MST_KIND_CHILD];
    seen.taken_ns = s.taken_ns;
    mst_snapshot_free(&s);
    mst_copy_free(&copy);
    return seen;
}

static void *copy_again_and_again(void *unused)
{
    struct seen before = { 0 }, now;
    struct mst_reader reader;

    REQUIRE(mst_reader_open(&reader, board.path, error) == 0, "%s", error);
    while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE) > 0) {
        now = look(&reader);
        REQUIRE(now.requests >= before.requests && now.forks >= before.forks
                && now.state_ns >= before.state_ns, "expected no counter to go back");
        before = now;
    }
    now = look(&reader);
    REQUIRE(now.requests == (uint64_t)WRITERS * REQUESTS, "expected %u requests, found %" PRIu64,
            WRITERS * REQUESTS, now.requests);
    REQUIRE(now.forks == WRITERS * (REQUESTS / 1000), "expected %u forks, found %" PRIu64,
            WRITERS * (REQUESTS / 1000), now.forks);
    REQUIRE(now.state_ns == WRITERS * now.taken_ns - now.claimed,
            "expected the states to fill the time, found %" PRIu64 " ns in them", now.state_ns);
    mst_reader_close(&reader);
    return unused;
}

static pthread_t start(void *(*run)(void *), uintptr_t argument)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, run, (void *)argument) == 0, "expected a thread");
    return thread;
}

static void remove_directory(void)
{
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct mst_layout layout = {
        .producer = MST_PRODUCER_APACHE, .processes = WRITERS, .threads_per_process = 1,
        .labels = 4 + SITES, .stripes = 2, .requests = 4096, .lifecycle = 64,
    };
    const struct mst_identity identity = { .workers_limit = WRITERS };
    char warning[MST_ERROR_MAX];
    pthread_t threads[WRITERS + 2];
    uint32_t i;

    snprintf(directory, sizeof directory, "%s/mpmstat-test.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    REQUIRE(mkdtemp(directory) != NULL, "expected to make %s", directory);
    atexit(remove_directory);
    snprintf(path, sizeof path, "%s/mpmstat.board", directory);
    REQUIRE(mst_board_create(&board, path, &layout, &identity, (gid_t)-1, warning, error) == 0,
            "%s", error);
    pthread_barrier_init(&all_there, NULL, WRITERS);
    threads[WRITERS] = start(follow_journal, 0);
    threads[WRITERS + 1] = start(copy_again_and_again, 0);
    for (i = 0; i < WRITERS; i++)
        threads[i] = start(write_requests, i);
    for (i = 0; i < WRITERS + 2; i++)
        pthread_join(threads[i], NULL);
    mst_board_close(&board);
    return EXIT_SUCCESS;
}

/* check_tail.c - following the journal: every record is given exactly once or
 * counted as lost, whatever its writer was doing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "read/tail.h"
#include "stats/random.h"
#include "write/journal.h"

#define CAPACITY 16u      /* of test_layout's rings */

static struct mst_board board;
static struct mst_reader reader;
static struct mst_tail tail;
static char error[MST_ERROR_MAX];

/* What the tail gave: the tickets in order, and the ids of the requests. */
static uint64_t given[4096], ids[4096];
static size_t given_count, stop_after;

static int remember(void *context, uint64_t ticket, const void *payload)
{
    (void)context;
    ck_assert_uint_lt(given_count, sizeof given / sizeof given[0]);
    given[given_count] = ticket;
    ids[given_count++] = ((const struct mst_request *)payload)->id;
    return given_count == stop_after;
}

static void attach(const char *path, enum mst_section_id section, uint64_t next)
{
    given_count = stop_after = 0;
    ck_assert_msg(mst_reader_open(&reader, path, error) == 0, "%s", error);
    ck_assert_msg(mst_tail_open(&tail, &reader, section, next, error) == 0, "%s", error);
}

static void make(uint32_t requests)
{
    struct mst_layout layout = test_layout();

    layout.requests = requests;
    test_board(&board, &layout);
    attach(board.path, MST_SECTION_REQUESTS, 1);
}

static void tear_down(void)
{
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    mst_board_close(&board);
}

/* Writes n requests, whose ids are their tickets plus 1000. */
static void serve(unsigned n)
{
    while (n-- > 0) {
        struct mst_request request = { .id = board.header->requests_written + 1001 };

        mst_journal_request(&board, &request);
    }
}

/* Takes a ticket and stores only the first words of its record. Returns where
 * the rest would go. */
static uint64_t *begin_record(unsigned words)
{
    uint64_t ticket = __atomic_add_fetch(&board.header->requests_written, 1, __ATOMIC_RELAXED);
    uint64_t *record = (uint64_t *)&board.requests[ticket & board.requests_mask];

    if (words > 0)
        record[0] = ticket;
    if (words > 1)
        memset(record + 1, 0, (words - 1) * sizeof *record);
    return record;
}

static void finish_record(uint64_t *record, uint64_t ticket)
{
    struct mst_request request = { .id = ticket + 1000 };

    mst_journal_store(record, ticket, &request, MST_REQUEST_WORDS);
}

static long poll_tail(size_t limit)
{
    long n = mst_tail_poll(&tail, limit, remember, NULL, error);

    ck_assert_msg(n >= 0, "%s", error);
    return n;
}

static void assert_given(size_t count, uint64_t first)
{
    size_t i;

    ck_assert_uint_eq(given_count, count);
    for (i = 0; i < count; i++) {
        ck_assert_uint_eq(given[i], first + i);
        ck_assert_uint_eq(ids[i], first + i + 1000);
    }
}

/* ---- one writer ------------------------------------------------------------------- */

START_TEST(records_are_given_once_and_in_order)
{
    make(CAPACITY);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    serve(5);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 5);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    serve(14);   /* around the ring's end */
    ck_assert_int_eq(poll_tail(SIZE_MAX), 14);
    assert_given(19, 1);
    ck_assert_uint_eq(tail.lost, 0);
    tear_down();
}
END_TEST

START_TEST(a_limit_is_kept_and_nothing_skipped)
{
    make(CAPACITY);
    serve(10);
    ck_assert_int_eq(poll_tail(0), 0);
    ck_assert_int_eq(poll_tail(3), 3);
    ck_assert_int_eq(poll_tail(3), 3);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 4);
    assert_given(10, 1);
    tear_down();
}
END_TEST

START_TEST(a_taker_that_has_enough_stops_the_poll)
{
    make(CAPACITY);
    serve(10);
    stop_after = 4;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 4);
    stop_after = 0;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 6);
    assert_given(10, 1);
    tear_down();
}
END_TEST

START_TEST(from_the_head_only_what_comes_is_seen)
{
    uint64_t next;

    make(CAPACITY);
    serve(7);
    ck_assert_int_eq(mst_journal_head(&reader, MST_SECTION_REQUESTS, &next, error), 0);
    ck_assert_uint_eq(next, 8);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(board.path, MST_SECTION_REQUESTS, next);
    serve(2);
    poll_tail(SIZE_MAX);
    assert_given(2, 8);
    tear_down();
}
END_TEST

START_TEST(a_cursor_from_the_future_is_a_sentence)
{
    struct mst_tail other;

    make(CAPACITY);
    serve(7);
    ck_assert_int_eq(mst_tail_open(&other, &reader, MST_SECTION_REQUESTS, 9, error), -1);
    ck_assert_msg(strstr(error, "record 9 was asked for") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "will write 8 next") != NULL, "%s", error);
    mst_tail_close(&other);
    tear_down();
}
END_TEST

START_TEST(a_reader_that_fell_behind_is_told_how_many_it_lost)
{
    make(CAPACITY);
    serve(3);
    poll_tail(SIZE_MAX);
    serve(100);
    given_count = 0;
    ck_assert_int_eq(poll_tail(SIZE_MAX), CAPACITY);
    assert_given(CAPACITY, 103 - CAPACITY + 1);
    ck_assert_uint_eq(tail.lost, 100 - CAPACITY);
    tear_down();
}
END_TEST

START_TEST(a_ring_of_one_record_works)
{
    make(1);
    serve(1);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    serve(3);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    ck_assert_uint_eq(given[1], 4);
    ck_assert_uint_eq(tail.lost, 2);
    tear_down();
}
END_TEST

START_TEST(lifecycle_events_are_followed_too)
{
    struct mst_lifecycle event = { .time_ns = 42 };   /* lies where a request's id does */

    make(CAPACITY);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(board.path, MST_SECTION_LIFECYCLE, 1);
    mst_journal_lifecycle(&board, &event);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    ck_assert_uint_eq(ids[0], 42);
    tear_down();
}
END_TEST

/* Of a PHP's board: its own rings, a newer writer's too; and none of Apache's. */
static uint64_t last_time_ns;
static char last_text[MST_PATH_MAX];

static int remember_php_request(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_php_request *r = payload;

    memcpy(last_text, r->script, sizeof last_text);
    last_time_ns = r->start_ns;
    return remember(context, ticket, payload);
}

static int remember_mark(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_mark *m = payload;

    memcpy(last_text, m->name, sizeof m->name);
    last_time_ns = m->time_ns;
    return remember(context, ticket, payload);
}

START_TEST(phps_rings_are_followed_too)
{
    const struct mst_php_request request = { .id = 1007, .start_ns = 42, .script = "/i.php" };
    const struct mst_mark mark = { .request_start_ns = 42, .time_ns = 43, .name = "step" };
    struct mst_layout layout = test_php_layout();
    struct mst_tail none;
    unsigned i;

    test_board(&board, &layout);
    for (i = 0; i < CAPACITY + 3; i++)
        mst_journal_php_request(&board, &request);
    for (i = 0; i < MST_MARK_RECORDS / 4; i++)
        mst_journal_mark(&board, &mark);
    attach(_i ? test_grown_board(&board, 24) : board.path, MST_SECTION_PHP_REQUESTS, 1);
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, remember_php_request, NULL, error), CAPACITY);
    ck_assert_uint_eq(tail.lost, 3);
    ck_assert_uint_eq(ids[0], 1007);
    ck_assert_uint_eq(given[0], 4);
    ck_assert_uint_eq(last_time_ns, 42);
    ck_assert_str_eq(last_text, "/i.php");
    ck_assert_int_eq(mst_tail_open(&none, &reader, MST_SECTION_REQUESTS, 1, error), -1);
    ck_assert_msg(strstr(error, "has no such journal") != NULL, "%s", error);
    mst_tail_close(&none);
    mst_tail_close(&tail);
    ck_assert_int_eq(mst_tail_open(&tail, &reader, MST_SECTION_MARKS, 1, error), 0);
    given_count = 0;
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, remember_mark, NULL, error),
                     MST_MARK_RECORDS / 4);
    ck_assert_uint_eq(tail.lost, 0);
    ck_assert_uint_eq(last_time_ns, 43);
    ck_assert_str_eq(last_text, "step");
    tear_down();
}
END_TEST

START_TEST(a_newer_writers_longer_records_are_read)
{
    make(CAPACITY);
    serve(CAPACITY + 3);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(test_grown_board(&board, 24), MST_SECTION_REQUESTS, 4);
    ck_assert_int_eq(poll_tail(SIZE_MAX), CAPACITY);
    assert_given(CAPACITY, 4);
    tear_down();
}
END_TEST

static int see_no_intervals(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_request *r = payload;
    uint64_t ends[MST_RECORD_ENDS];

    (void)context, (void)ticket;
    mst_request_ends(r, ends);
    ck_assert(ends[0] == MST_UNKNOWN && ends[1] == MST_UNKNOWN);
    ck_assert(r->checks_ns == MST_UNKNOWN && r->upload_ns == MST_UNKNOWN
              && r->log_ns == MST_UNKNOWN);
    ck_assert(r->trace_high == 0 && r->trace_low == 0 && r->trace_parent == 0);
    return 0;
}

/* A board of before there were intervals. */
START_TEST(an_older_writers_intervals_are_unknown)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/board/busy", getenv("MPMSTAT_SRCDIR"));
    attach(path, MST_SECTION_REQUESTS, 1);
    ck_assert_int_gt(mst_tail_poll(&tail, SIZE_MAX, see_no_intervals, NULL, error), 0);
    ck_assert_uint_eq(mst_section_in(&reader.header, MST_SECTION_DELIVERIES)->count, 0);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
}
END_TEST

/* ---- records that are not there yet, or never will be -------------------------------- */

/* _i: how many words the writer had stored when it was looked at. */
START_TEST(a_record_being_written_is_waited_for)
{
    uint64_t *record;

    make(CAPACITY);
    serve(CAPACITY + 1);
    poll_tail(SIZE_MAX);
    given_count = 0;
    record = begin_record((unsigned)_i);
    serve(2);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 2);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    finish_record(record, CAPACITY + 2);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    ck_assert_uint_eq(given[2], CAPACITY + 2);
    ck_assert_uint_eq(ids[2], CAPACITY + 1002);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    ck_assert_uint_eq(tail.lost, 1);   /* the first, lapped before the first poll */
    tear_down();
}
END_TEST

START_TEST(a_killed_writers_record_is_lost_when_patience_ends)
{
    make(CAPACITY);
    begin_record(3);
    serve(2);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 2);
    ck_assert_uint_eq(tail.lost, 0);
    tail.gaps[0].since_ns -= MST_TAIL_PATIENCE_NS + MST_NS_PER_MS;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    ck_assert_uint_eq(tail.lost, 1);
    ck_assert_uint_eq(tail.gap_count, 0);
    tear_down();
}
END_TEST

START_TEST(a_killed_writers_record_is_lost_when_the_ring_has_lapped_it)
{
    make(CAPACITY);
    begin_record(3);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    serve(CAPACITY);
    ck_assert_int_eq(poll_tail(SIZE_MAX), CAPACITY);
    assert_given(CAPACITY, 2);
    ck_assert_uint_eq(tail.lost, 1);
    ck_assert_uint_eq(tail.gap_count, 0);
    tear_down();
}
END_TEST

START_TEST(what_is_missing_at_the_end_is_lost)
{
    make(CAPACITY);
    serve(1);
    begin_record(1);
    begin_record(0);
    serve(1);
    poll_tail(SIZE_MAX);
    mst_tail_finish(&tail);
    ck_assert_uint_eq(tail.lost, 2);
    ck_assert_uint_eq(given_count, 2);
    tear_down();
}
END_TEST

/* A writer that slept while the ring went around comes back and overwrites the
 * later record: neither may be given as the other, nor a mixture as either. */
START_TEST(an_overtaken_writer_spoils_a_record_and_nobody_takes_it)
{
    uint64_t *record;

    make(CAPACITY);
    record = begin_record(0);
    serve(CAPACITY);
    finish_record(record, 1);
    poll_tail(SIZE_MAX);
    assert_given(CAPACITY - 1, 2);
    mst_tail_finish(&tail);
    ck_assert_uint_eq(tail.lost, 2);
    tear_down();
}
END_TEST

START_TEST(a_flipped_bit_anywhere_in_a_record_is_seen)
{
    size_t words = sizeof(struct mst_request_record) / 8, bit;
    uint64_t *record;

    make(CAPACITY);
    serve(1);
    record = (uint64_t *)&board.requests[1];
    for (bit = 0; bit < words * 64; bit++) {
        record[bit / 64] ^= UINT64_C(1) << bit % 64;
        tail.next = 1;
        tail.gap_count = 0;
        ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
        record[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    tail.next = 1;
    tail.gap_count = 0;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    tear_down();
}
END_TEST

START_TEST(more_holes_than_can_be_kept_wait_their_turn)
{
    unsigned i;

    make(1024);
    for (i = 0; i < MST_TAIL_GAPS + 10; i++)
        begin_record(1);
    serve(5);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    ck_assert_uint_eq(tail.gap_count, MST_TAIL_GAPS);
    for (i = 0; i < MST_TAIL_GAPS; i++)
        tail.gaps[i].since_ns -= MST_TAIL_PATIENCE_NS + MST_NS_PER_MS;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 5);
    ck_assert_uint_eq(tail.gap_count, 10);
    mst_tail_finish(&tail);
    ck_assert_uint_eq(tail.lost, MST_TAIL_GAPS + 10);
    tear_down();
}
END_TEST

/* ---- a head that lies ------------------------------------------------------------------ */

START_TEST(a_head_far_ahead_loses_what_it_claims)
{
    make(CAPACITY);
    serve(4);
    board.header->requests_written = UINT64_MAX - 1;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    mst_tail_finish(&tail);
    ck_assert_uint_eq(tail.lost, UINT64_MAX - 1);
    tear_down();
}
END_TEST

START_TEST(the_last_ticket_there_can_be_ends_the_journal)
{
    make(CAPACITY);
    board.header->requests_written = UINT64_MAX;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    mst_tail_finish(&tail);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    ck_assert_uint_eq(tail.lost, UINT64_MAX - 1);
    tear_down();
}
END_TEST

START_TEST(a_head_that_goes_back_gives_nothing_twice)
{
    make(CAPACITY);
    serve(4);
    poll_tail(SIZE_MAX);
    board.header->requests_written = 1;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    assert_given(4, 1);
    tear_down();
}
END_TEST

START_TEST(a_board_cut_under_the_tail_is_a_sentence)
{
    make(CAPACITY);
    serve(4);
    ck_assert_int_eq(truncate(board.path, MST_PAGE), 0);
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, remember, NULL, error), -1);
    ck_assert_msg(strstr(error, "was cut while it was being read") != NULL, "%s", error);
    tear_down();
}
END_TEST

/* A writer that was overtaken stores its own words behind the other's ticket and
 * first word: no such mixture may pass, though ids count up as tickets do. */
START_TEST(a_ticket_and_a_first_word_do_not_make_up_for_each_other)
{
    uint64_t mine[MST_REQUEST_WORDS] = { 5000, 1, 2, 3 }, mixture[MST_REQUEST_WORDS];
    uint64_t bit;

    for (bit = 1; bit <= UINT64_C(1) << 20; bit <<= 1) {
        memcpy(mixture, mine, sizeof mixture);
        mixture[0] ^= bit;
        ck_assert_uint_ne(mst_journal_check(700, mine, MST_REQUEST_WORDS),
                          mst_journal_check(700 ^ bit, mixture, MST_REQUEST_WORDS));
    }
}
END_TEST

/* A request such as there are thousands of in a ring, `laps` rounds after the first. */
static struct mst_request ordinary(uint64_t laps, uint64_t *random)
{
    struct mst_request r = {
        .id = (UINT64_C(3) << 32) + 17 + laps * 1024,
        .start_ns = UINT64_C(86500123456789) + laps * 7000000 + mst_random_word(random) % 5000,
        .read_ns = 20000 + mst_random_word(random) % 64,
        .handle_ns = 90000 + mst_random_word(random) % 64,
        .send_ns = 30000 + mst_random_word(random) % 64, .bytes = 6,
        .label_status = UINT64_C(2) << 32 | 200, .pid_worker = UINT64_C(4711) << 32 | laps % 2,
        .connection = laps << 16 | (40000 + laps % 8), .nth = laps % 8, .front_ns = MST_UNKNOWN,
        .ends = UINT64_C(1) << 32 | MST_NO_END, .checks_ns = 4000 + mst_random_word(random) % 64,
        .log_ns = 3000 + mst_random_word(random) % 64, .send_client_ns = MST_UNKNOWN,
    };

    r.held_ns = r.read_ns + r.handle_ns + r.send_ns;
    return r;
}

/* Each word in which they differ is of either of two records that are as alike as records are. */
START_TEST(no_mixture_of_two_records_passes_for_one)
{
    uint64_t random = (uint64_t)_i + 1, lap = mst_random_word(&random) % 1000;
    struct mst_request both[2] = { ordinary(lap, &random), ordinary(lap + 1, &random) };
    const uint64_t *words[2] = { (uint64_t *)&both[0], (uint64_t *)&both[1] };
    uint64_t tickets[2] = { 5 + lap * 1024, 5 + (lap + 1) * 1024 }, mixture[MST_REQUEST_WORDS];
    uint64_t checks[2] = { mst_journal_check(tickets[0], words[0], MST_REQUEST_WORDS),
                           mst_journal_check(tickets[1], words[1], MST_REQUEST_WORDS) };
    unsigned which, i, different[MST_REQUEST_WORDS], count = 0;

    memcpy(mixture, words[0], sizeof mixture);
    for (i = 0; i < MST_REQUEST_WORDS; i++)
        if (words[0][i] != words[1][i])
            different[count++] = i;
    ck_assert_uint_ge(count, 8);
    for (which = 0; which < 2u << count; which++) {
        uint64_t ticket = tickets[which >> count], check;
        bool is[2] = { ticket == tickets[0], ticket == tickets[1] };

        for (i = 0; i < count; i++) {
            mixture[different[i]] = words[which >> i & 1][different[i]];
            is[which >> i & 1 ? 0 : 1] = false;
        }
        check = mst_journal_check(ticket, mixture, MST_REQUEST_WORDS);
        ck_assert(is[0] || check != checks[0]);
        ck_assert(is[1] || check != checks[1]);
    }
}
END_TEST

/* ---- many writers, some of them killed, and a reader at the same time ------------------- */

#define WRITERS     5u
#define THREADS     2u
#define RECORDS_MAX (1u << 24)

/* A payload that tells whether it is whole: each word follows from the id. */
static void sign(struct mst_request *request, uint64_t id)
{
    uint64_t *words = (uint64_t *)request;
    size_t i;

    for (i = 0; i < MST_REQUEST_WORDS; i++)
        words[i] = id * (2 * i + 1);
}

static void *write_for_ever(void *unused)
{
    struct mst_request request;
    uint64_t id = (uint64_t)getpid() << 40;
    unsigned n;

    for (n = 1; ; n++) {
        sign(&request, id + n);
        mst_journal_request(&board, &request);
        if (n % 64 != 0)
            continue;
        usleep(50);
        /* On a busy machine the reader can be away for long: there are no more than it can mark. */
        while (board.header->requests_written >= RECORDS_MAX / 2)
            pause();
    }
    return unused;
}

static pid_t start_writer(void)
{
    pid_t pid;

    if (test_fork(&pid)) {
        pthread_t thread;
        unsigned t;

        alarm(60);
        for (t = 1; t < THREADS; t++)
            if (pthread_create(&thread, NULL, write_for_ever, NULL) != 0)
                _exit(1);
        write_for_ever(NULL);
    }
    return pid;
}

/* Marks each ticket given, and fails on the second time or a torn payload. */
static int mark(void *context, uint64_t ticket, const void *payload)
{
    unsigned char *seen = context;
    struct mst_request expected;

    ck_assert_uint_lt(ticket, RECORDS_MAX);
    ck_assert_msg(seen[ticket] == 0, "record %llu was given twice", (unsigned long long)ticket);
    seen[ticket] = 1;
    sign(&expected, ((const struct mst_request *)payload)->id);
    ck_assert_int_eq(memcmp(payload, &expected, sizeof expected), 0);
    return 0;
}

/* _i: the ring's capacity as a power of two; a small one laps the reader. */
START_TEST(given_and_lost_are_all_that_was_written)
{
    unsigned char *seen = calloc(1, RECORDS_MAX);
    pid_t writers[WRITERS];
    uint64_t random = (uint64_t)_i, end, total = 0;
    unsigned i;

    ck_assert_ptr_nonnull(seen);
    make(1u << _i);
    for (i = 0; i < WRITERS; i++)
        writers[i] = start_writer();
    end = mst_now_ns() + 700 * MST_NS_PER_MS;
    while (mst_now_ns() < end && board.header->requests_written < RECORDS_MAX / 2) {
        long n = mst_tail_poll(&tail, SIZE_MAX, mark, seen, error);

        ck_assert_msg(n >= 0, "%s", error);
        total += (uint64_t)n;
        i = (unsigned)(mst_random_word(&random) % WRITERS);
        kill(writers[i], SIGKILL);
        test_wait(writers[i]);
        writers[i] = start_writer();
        usleep((useconds_t)(mst_random_word(&random) % 4000));
    }
    for (i = 0; i < WRITERS; i++) {
        kill(writers[i], SIGKILL);
        test_wait(writers[i]);
    }
    total += (uint64_t)mst_tail_poll(&tail, SIZE_MAX, mark, seen, error);
    mst_tail_finish(&tail);
    ck_assert_uint_gt(total, 0);
    ck_assert_uint_eq(total + tail.lost, board.header->requests_written);
    if (_i < 6)
        ck_assert_uint_gt(tail.lost, 0);
    free(seen);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tail");
    TCase *one = tcase_create("one writer"), *holes = tcase_create("holes"),
          *lies = tcase_create("lies"), *many = tcase_create("many writers");

    tcase_add_test(one, records_are_given_once_and_in_order);
    tcase_add_test(one, a_limit_is_kept_and_nothing_skipped);
    tcase_add_test(one, a_taker_that_has_enough_stops_the_poll);
    tcase_add_test(one, from_the_head_only_what_comes_is_seen);
    tcase_add_test(one, a_cursor_from_the_future_is_a_sentence);
    tcase_add_test(one, a_reader_that_fell_behind_is_told_how_many_it_lost);
    tcase_add_test(one, a_ring_of_one_record_works);
    tcase_add_test(one, lifecycle_events_are_followed_too);
    tcase_add_loop_test(one, phps_rings_are_followed_too, 0, 2);
    tcase_add_test(one, a_newer_writers_longer_records_are_read);
    tcase_add_test(one, an_older_writers_intervals_are_unknown);
    tcase_add_loop_test(holes, a_record_being_written_is_waited_for, 0, MST_REQUEST_WORDS + 2);
    tcase_add_test(holes, a_killed_writers_record_is_lost_when_patience_ends);
    tcase_add_test(holes, a_killed_writers_record_is_lost_when_the_ring_has_lapped_it);
    tcase_add_test(holes, what_is_missing_at_the_end_is_lost);
    tcase_add_test(holes, an_overtaken_writer_spoils_a_record_and_nobody_takes_it);
    tcase_add_test(holes, a_flipped_bit_anywhere_in_a_record_is_seen);
    tcase_add_test(holes, more_holes_than_can_be_kept_wait_their_turn);
    tcase_add_test(lies, a_head_far_ahead_loses_what_it_claims);
    tcase_add_test(lies, the_last_ticket_there_can_be_ends_the_journal);
    tcase_add_test(lies, a_head_that_goes_back_gives_nothing_twice);
    tcase_add_test(lies, a_ticket_and_a_first_word_do_not_make_up_for_each_other);
    tcase_add_loop_test(lies, no_mixture_of_two_records_passes_for_one, 0, 20);
    tcase_add_test(lies, a_board_cut_under_the_tail_is_a_sentence);
    tcase_add_loop_test(many, given_and_lost_are_all_that_was_written, 4, 13);
    tcase_set_timeout(many, 60);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, holes);
    suite_add_tcase(suite, lies);
    suite_add_tcase(suite, many);
    return test_run(suite);
}

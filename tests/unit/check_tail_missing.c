/* check_tail_missing.c - following a journal: records that are not there yet, a head that lies,
 * many writers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "followed.h"
#include "harness.h"
#include "read/tail.h"
#include "stats/random.h"
#include "write/journal.h"

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

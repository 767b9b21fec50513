/* check_journal_unfinished.c - answers of the journal while it is written: records that are not
 * there yet, answers of many batches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "boards.h"
#include "harness.h"
#include "journal_client.h"
#include "read/tail.h"
#include "render/cursor.h"
#include "render/journal.h"
#include "segment/liveness.h"
#include "write/journal.h"
#include "write/worker.h"

#define LONG_AGO_NS (MST_TAIL_PATIENCE_NS + MST_NS_PER_S)

/* What a writer does until it is killed or put to sleep before it stores. */
static uint64_t take_ticket(struct mst_board *b)
{
    return __atomic_add_fetch(&b->header->requests_written, 1, __ATOMIC_RELAXED);
}

static void store(struct mst_board *b, uint64_t ticket, uint64_t complete_ns)
{
    struct mst_request q = request_at(complete_ns);

    mst_journal_store(&b->requests[ticket & b->requests_mask], ticket, &q, MST_REQUEST_WORDS);
}

/* The board on which, once, one request is completed and another one's record begun after
 * the reader first asked how far its ring has come; NULL: none. */
static struct mst_board *meanwhile;
static unsigned heads_read, reads;

int __real_mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t n,
                           char error[MST_ERROR_MAX]);
int __wrap_mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t n,
                           char error[MST_ERROR_MAX]);

int __wrap_mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t n,
                           char error[MST_ERROR_MAX])
{
    reads++;
    if (meanwhile != NULL && offset == offsetof(struct mst_header, requests_written)
        && n == sizeof(uint64_t) && ++heads_read == 2) {
        write_requests(meanwhile, 1, mst_now_ns());
        take_ticket(meanwhile);
    }
    return __real_mst_reader_read(r, offset, to, n, error);
}

/* Bytes that were asked for since `counting` was set. */
static bool   counting;
static size_t asked_bytes;

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *old, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *old, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);

static size_t counted(size_t n)
{
    if (counting)
        asked_bytes += n;
    return n;
}

void *__wrap_malloc(size_t n)
{
    return __real_malloc(counted(n));
}

void *__wrap_calloc(size_t count, size_t n)
{
    return __real_calloc(count, counted(count * n) / (count > 0 ? count : 1));
}

void *__wrap_realloc(void *old, size_t n)
{
    return __real_realloc(old, counted(n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return __real_aligned_alloc(alignment, counted(n));
}

/* ---- records that are still being written -------------------------------------------------- */

START_TEST(a_record_being_written_is_waited_for)
{
    struct client c = newcomer;
    struct mst_board b;
    uint64_t hole;

    begin(&b, 64);
    write_requests(&b, 5, mst_now_ns());
    hole = take_ticket(&b);
    write_requests(&b, 5, mst_now_ns());
    ask(&c, &b, (size_t)_i);
    while (c.lines > 0)
        ask(&c, &b, (size_t)_i);
    ck_assert_uint_eq(c.given, 5);
    ck_assert(c.more);
    store(&b, hole, mst_now_ns());
    while (c.more)
        ask(&c, &b, (size_t)_i);
    ck_assert_uint_eq(c.given, 11);
    ck_assert_uint_eq(c.lost, 0);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_record_that_is_begun_during_the_answer_is_waited_for)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 64);
    write_requests(&b, 3, mst_now_ns());
    meanwhile = &b;
    heads_read = 0;
    ask(&c, &b, 100);
    meanwhile = NULL;
    ck_assert_uint_eq(b.header->requests_written, 5);
    ck_assert_uint_eq(c.lost, 0);
    store(&b, 5, mst_now_ns());
    ask(&c, &b, 100);
    ck_assert_uint_eq(c.given, 5);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_writer_that_was_killed_is_given_up)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 64);
    write_requests(&b, 5, mst_now_ns() - LONG_AGO_NS);
    take_ticket(&b);
    take_ticket(&b);
    write_requests(&b, 5, mst_now_ns() - LONG_AGO_NS);
    take_ticket(&b);
    write_requests(&b, 1, mst_now_ns());
    do
        ask(&c, &b, (size_t)_i);
    while (c.lines > 0);
    ck_assert(c.more);                     /* the last one may still come */
    ck_assert_uint_eq(c.given, 10);
    ck_assert_uint_eq(c.lost, 2);
    mst_board_close(&b);
}
END_TEST

/* Nothing later tells how old the hole is; only that nobody is left to fill it. */
START_TEST(the_last_record_is_waited_for_while_the_server_lives)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 64);
    write_requests(&b, 5, mst_now_ns() - LONG_AGO_NS);
    take_ticket(&b);
    ask(&c, &b, 100);
    ask(&c, &b, 100);
    ck_assert(c.more);
    ck_assert_uint_eq(c.given, 5);
    ck_assert_uint_eq(c.lost, 0);
    b.header->pid = (uint32_t)test_dead_pid();
    ask(&c, &b, 100);
    ck_assert(!c.more);
    ck_assert_uint_eq(c.lost, 1);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_hole_is_given_up_before_the_ring_comes_round_to_it)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 64);
    take_ticket(&b);
    write_requests(&b, 31, mst_now_ns());
    ask(&c, &b, 100);
    ck_assert_uint_eq(c.lines, 0);
    write_requests(&b, 1, mst_now_ns());
    ask(&c, &b, 100);
    ck_assert_uint_eq(c.given, 32);
    ck_assert_uint_eq(c.lost, 1);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

/* More holes than a tail keeps: a damaged journal. It ends, and loses them. */
START_TEST(a_journal_full_of_holes_comes_to_an_end)
{
    struct client c = newcomer;
    struct mst_board b;
    unsigned i;

    begin(&b, 4096);
    for (i = 0; i < 1000; i++)
        take_ticket(&b);
    write_requests(&b, 1, mst_now_ns());
    for (i = 0; i < 1000 && c.given == 0; i++)
        ask(&c, &b, 100);
    ck_assert_uint_lt(c.lost, 1000);       /* as many as a tail keeps are waited for */
    ck_assert_uint_gt(c.lost, 700);
    mst_board_close(&b);
}
END_TEST

/* ---- answers of many batches ---------------------------------------------------------------- */

/* Wherever in a batch, or between two. */
static const unsigned places[] = { 1, 2, 63, 64, 65, 127, 128, 129, 199, 200 };
#define PLACES ((int)(sizeof places / sizeof *places))

static uint64_t write_around_a_hole(struct mst_board *b, unsigned place, uint64_t complete_ns)
{
    uint64_t hole;

    write_requests(b, place - 1, complete_ns);
    hole = take_ticket(b);
    write_requests(b, 200 - place, complete_ns);
    return hole;
}

START_TEST(a_record_being_written_ends_the_answer_wherever_it_is)
{
    struct client c = newcomer;
    struct mst_board b;
    uint64_t hole;

    begin(&b, 1024);
    hole = write_around_a_hole(&b, places[_i], mst_now_ns());
    ask(&c, &b, 1000);
    ck_assert_uint_eq(c.given, places[_i] - 1);
    ck_assert(c.more && c.lost == 0);
    store(&b, hole, mst_now_ns());
    ask(&c, &b, 1000);
    ck_assert_uint_eq(c.given, 200);
    ck_assert(!c.more && c.lost == 0);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_record_never_written_is_passed_wherever_it_is)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 1024);
    write_around_a_hole(&b, places[_i], mst_now_ns() - LONG_AGO_NS);
    write_requests(&b, 100, mst_now_ns() - LONG_AGO_NS);
    ask(&c, &b, 1000);
    ck_assert_uint_eq(c.given, 299);
    ck_assert_uint_eq(c.lost, 1);
    ck_assert(!c.more);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

static int measure(void *length, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)length += n;
    return 0;
}

START_TEST(an_answer_holds_little_however_long_it_is)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    struct mst_board b;
    struct mst_sink sink;
    size_t length = 0;

    begin(&b, 1 << 15);
    write_requests(&b, MST_JOURNAL_PAGE_MAX, mst_now_ns());
    ck_assert_msg(mst_reader_open(&reader, b.path, error) == 0, "%s", error);
    mst_sink_init(&sink, measure, &length);
    counting = true;
    ck_assert_int_eq(mst_render_journal(&sink, &reader, "start", MST_JOURNAL_PAGE_MAX, false,
                                        error), MST_JOURNAL_OK);
    counting = false;
    ck_assert_uint_gt(length, 4u << 20);
    ck_assert_uint_gt(asked_bytes, 0);
    ck_assert_uint_lt(asked_bytes, 64u << 10);
    mst_reader_close(&reader);
    mst_board_close(&b);
}
END_TEST

/* A client that takes its answer slowly: the server goes on meanwhile. */
struct slow {
    struct test_kept  kept;
    struct mst_board *board;
};

static int take_slowly(void *context, const void *bytes, size_t n)
{
    struct slow *slow = context;

    write_requests(slow->board, 100, mst_now_ns());
    mst_sink_bytes(&slow->kept.sink, bytes, n);
    return 0;
}

START_TEST(what_is_overwritten_during_an_answer_is_lost)
{
    struct slow slow;
    struct mst_sink sink;
    struct client c = newcomer;
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    struct mst_board b;

    begin(&b, 256);
    slow.board = &b;
    write_requests(&b, 256, mst_now_ns());
    ck_assert_msg(mst_reader_open(&reader, b.path, error) == 0, "%s", error);
    test_kept_begin(&slow.kept);
    mst_sink_init(&sink, take_slowly, &slow);
    ck_assert_int_eq(mst_render_journal(&sink, &reader, "start", 1000, false, error),
                     MST_JOURNAL_OK);
    ck_assert_int_eq(test_kept_end(&slow.kept), 0);
    take_answer(&c, slow.kept.text);
    ck_assert_uint_gt(c.lost, 0);
    ck_assert_uint_lt(c.given, 256 + 64);     /* it does not run after the server */
    ask(&c, &b, 1000);
    ck_assert(!c.more);
    expect_all(&c, &b);
    free(slow.kept.text);
    mst_reader_close(&reader);
    mst_board_close(&b);
}
END_TEST

static int cut_off(void *board, const void *bytes, size_t n)
{
    const struct mst_board *b = board;

    (void)bytes, (void)n;
    ck_assert_int_eq(truncate(b->path, (off_t)b->header->section[MST_SECTION_REQUESTS].offset), 0);
    return 0;
}

/* There is no last line, by which clients know that it is not whole. */
START_TEST(a_board_cut_short_during_an_answer_is_told_apart)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    struct mst_board b;
    struct mst_sink sink;

    begin(&b, 1024);
    write_requests(&b, 1000, mst_now_ns());
    ck_assert_msg(mst_reader_open(&reader, b.path, error) == 0, "%s", error);
    mst_sink_init(&sink, cut_off, &b);
    ck_assert_int_eq(mst_render_journal(&sink, &reader, "start", 1000, false, error),
                     MST_JOURNAL_CUT);
    ck_assert_msg(strstr(error, b.path) != NULL, "%s", error);
    mst_reader_close(&reader);
}
END_TEST

/* The client is gone: nobody reads the rest. */
static int refuse(void *calls, const void *bytes, size_t n)
{
    (void)bytes, (void)n;
    ++*(unsigned *)calls;
    return EPIPE;
}

START_TEST(nothing_is_read_for_a_client_that_is_gone)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    unsigned calls = 0;
    struct mst_board b;
    struct mst_sink sink;

    begin(&b, 1 << 15);
    write_requests(&b, MST_JOURNAL_PAGE_MAX, mst_now_ns());
    ck_assert_msg(mst_reader_open(&reader, b.path, error) == 0, "%s", error);
    mst_sink_init(&sink, refuse, &calls);
    reads = 0;
    ck_assert_int_eq(mst_render_journal(&sink, &reader, "start", MST_JOURNAL_PAGE_MAX, false,
                                        error), MST_JOURNAL_OK);
    ck_assert_uint_eq(calls, 1);
    ck_assert_uint_lt(reads, 20);
    mst_reader_close(&reader);
    mst_board_close(&b);
}
END_TEST

/* ---- while it is being written ------------------------------------------------------------- */

#define WRITERS 3u
#define WRITES  1200u

static void write_and_exit(struct mst_board *b)
{
    unsigned i;

    for (i = 0; i < WRITES; i++) {
        write_requests(b, 1, mst_now_ns());
        if (i % 16 == 0)
            usleep(500);
    }
    _exit(0);
}

START_TEST(records_written_meanwhile_are_given_once_or_lost)
{
    static struct client c;
    struct mst_board b;
    pid_t writers[WRITERS];
    unsigned i;

    begin(&b, 128);
    c = newcomer;
    ask(&c, &b, 100);
    for (i = 0; i < WRITERS; i++)
        if (test_fork(&writers[i]))
            write_and_exit(&b);
    while (c.given + c.lost < WRITERS * WRITES)
        ask(&c, &b, 100);
    for (i = 0; i < WRITERS; i++)
        ck_assert_int_eq(test_wait(writers[i]), 0);
    ask(&c, &b, 100);
    ck_assert(!c.more && c.lines == 0);
    expect_all(&c, &b);
    ck_assert_uint_gt(c.given, 0);
    mst_board_close(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal");
    TCase *tests = tcase_create("journal");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_record_being_written_is_waited_for, 1, 13);
    tcase_add_test(tests, a_record_that_is_begun_during_the_answer_is_waited_for);
    tcase_add_loop_test(tests, a_writer_that_was_killed_is_given_up, 1, 13);
    tcase_add_test(tests, the_last_record_is_waited_for_while_the_server_lives);
    tcase_add_test(tests, a_hole_is_given_up_before_the_ring_comes_round_to_it);
    tcase_add_test(tests, a_journal_full_of_holes_comes_to_an_end);
    tcase_add_loop_test(tests, a_record_being_written_ends_the_answer_wherever_it_is, 0, PLACES);
    tcase_add_loop_test(tests, a_record_never_written_is_passed_wherever_it_is, 0, PLACES);
    tcase_add_test(tests, an_answer_holds_little_however_long_it_is);
    tcase_add_test(tests, what_is_overwritten_during_an_answer_is_lost);
    tcase_add_test(tests, a_board_cut_short_during_an_answer_is_told_apart);
    tcase_add_test(tests, nothing_is_read_for_a_client_that_is_gone);
    tcase_add_test(tests, records_written_meanwhile_are_given_once_or_lost);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

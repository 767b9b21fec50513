/* check_hostile.c - files that are not boards, boards of other versions, damaged
 * and cut ones: each is a sentence, none is a crash.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "read/tail.h"
#include "segment/liveness.h"
#include "stats/random.h"
#include "write/journal.h"
#include "write/worker.h"

static char error[MST_ERROR_MAX];

static void assert_says(const char *expected)
{
    ck_assert_msg(strstr(error, expected) != NULL, "expected \"%s\" in: %s", expected, error);
}

static void assert_refused(const char *path, const char *expected)
{
    struct mst_reader reader;

    ck_assert_msg(mst_reader_open(&reader, path, error) == -1, "expected %s to be refused: %s",
                  path, expected);
    assert_says(path);
    assert_says(expected);
}

static const char *make_file(const void *bytes, size_t size)
{
    const char *path = test_path();
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    return path;
}

/* ---- what is not a board at all ---------------------------------------------------- */

START_TEST(what_is_not_there)
{
    assert_refused(test_path(), "is the server running");
}
END_TEST

START_TEST(what_is_no_regular_file)
{
    char path[128], link[128];

    assert_refused("/dev/zero", "expected a regular file, found a device");
    assert_refused("/dev", "expected a regular file, found a directory");
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    assert_refused(path, "found a device, pipe or socket");
    snprintf(link, sizeof link, "%s", test_path());
    ck_assert_int_eq(symlink(path, link), 0);
    assert_refused(link, "is a symbolic link");
}
END_TEST

/* As an ordinary user, in a process of its own: it cannot become root again. */
START_TEST(what_may_not_be_read)
{
    struct mst_reader reader;
    const char *path = make_file("", 0);
    pid_t pid;

    ck_assert_int_eq(chmod(path, 0), 0);
    if (test_fork(&pid)) {
        if (geteuid() == 0 && seteuid(65534) != 0)
            _exit(2);
        _exit(mst_reader_open(&reader, path, error) == 0
              || strstr(error, "may not be read by this user") == NULL);
    }
    ck_assert_int_eq(test_wait(pid), 0);
}
END_TEST

START_TEST(what_is_too_short)
{
    char bytes[500] = MST_MAGIC;

    assert_refused(make_file(bytes, 0), "is not an mpmstat board: expected at least");
    assert_refused(make_file(bytes, 8), "bytes, found 8;");
    assert_refused(make_file(bytes, sizeof bytes), "bytes, found 500;");
}
END_TEST

START_TEST(what_is_random)
{
    uint64_t random = 5, words[1024];
    size_t i;

    for (i = 0; i < 1024; i++)
        words[i] = mst_random_word(&random);
    assert_refused(make_file(words, sizeof words), "expected it to begin with \"MPMSTAT\"");
}
END_TEST

START_TEST(a_name_that_is_too_long)
{
    char path[600];
    struct mst_reader reader;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    memset(path, 'x', sizeof path);
    path[599] = '\0';
    ck_assert_int_eq(mst_reader_attach(&reader, fd, path, error), -1);
    assert_says("expected a path of at most 511 bytes");
    close(fd);
}
END_TEST

/* ---- files that are smaller than they claim --------------------------------------- */

/* Copies a board to `to`, with a hole in the place of its last pages. */
static void copy_with_hole(const struct mst_board *b, const char *to)
{
    int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    off_t size = (off_t)b->bytes;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, b->header, b->bytes), (ssize_t)b->bytes);
    ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               size / 8192 * 4096, 4096), 0);
    close(fd);
}

START_TEST(a_hole_on_a_tmpfs)
{
    struct mst_layout layout = test_layout();
    struct mst_board board;
    const char *path;

    test_board(&board, &layout);
    path = test_path();
    copy_with_hole(&board, path);
    assert_refused(path, "has holes: expected");
    assert_says("restart its server");
    mst_board_close(&board);
}
END_TEST

/* Where a file system may make a hole of zeroes, root's boards and one's own are as they
 * are; another user's are not. */
START_TEST(a_hole_on_a_disk)
{
    struct mst_layout layout = test_layout();
    char path[] = "check_hostile-XXXXXX";
    struct mst_reader reader;
    struct mst_board board;
    struct statfs fs;

    if (statfs(".", &fs) != 0 || fs.f_type == TMPFS_MAGIC)
        return;
    test_board(&board, &layout);
    close(mkstemp(path));
    unlink(path);
    copy_with_hole(&board, path);
    ck_assert_msg(mst_reader_open(&reader, path, error) == 0, "%s", error);
    mst_reader_close(&reader);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 65534, 65534), 0);
        assert_refused(path, "has holes: expected");
    }
    ck_assert_int_eq(unlink(path), 0);
    mst_board_close(&board);
}
END_TEST

/* ---- boards with a wrong number in the header -------------------------------------- */

#define HEADER(member)        offsetof(struct mst_header, member), \
                              sizeof(((struct mst_header *)0)->member)
#define SECTION(id, member)   offsetof(struct mst_header, section) \
                              + MST_SECTION_##id * sizeof(struct mst_section) \
                              + offsetof(struct mst_section, member), \
                              sizeof(((struct mst_section *)0)->member)

static const struct wrong {
    size_t      offset, size;
    uint64_t    value;
    const char *sentence;
} wrongs[] = {
    { HEADER(magic), 0, "is not an mpmstat board" },
    { HEADER(version), 3, "made by a newer mpmstat: expected format 2, found 3; upgrade the tool" },
    { HEADER(version), 1, "made by an older mpmstat: expected format 2, found 1" },
    { HEADER(version), 0, "made by an older mpmstat: expected format 2, found 0" },
    { HEADER(byte_order), 0x04030201, "of the other byte order" },
    { HEADER(byte_order), 7, "expected byte order" },
    { HEADER(producer), 0, "a kind of server that this version does not know (0)" },
    { HEADER(producer), 99, "a kind of server that this version does not know (99)" },
    { HEADER(ready), 0, "still being built" },
    { HEADER(header_bytes), 100, "expected a header of at least" },
    { HEADER(header_bytes), UINT32_MAX, "expected a header of at least" },
    { HEADER(file_bytes), UINT64_MAX, "expected a file of at most" },
    { HEADER(file_bytes), UINT64_C(1) << 31, "is truncated: expected 2147483648 bytes" },
    { HEADER(file_bytes), 4096, "the end of its section `fields` is wrong" },
    { HEADER(file_bytes), 1000, "the offset of its section `fields` is wrong" },
    { HEADER(threads_per_process), 0, "expected workers (processes times threads) 0, found 8" },
    /* Times 4 processes this is 8 again in 32 bits. */
    { HEADER(threads_per_process), 0x40000002, "expected workers (processes times threads)" },
    { HEADER(stripes), 0, "expected stripes, a power of two" },
    { HEADER(stripes), 3, "expected stripes, a power of two" },
    { HEADER(stripes), 32, "expected stripes, a power of two, at most 16, found 32" },
    { HEADER(stripes), 4, "expected counters (labels times stripes) 32, found 16" },
    { SECTION(FIELDS, count), 0, "the count of its section `fields`" },
    { SECTION(FIELDS, count), UINT32_MAX, "the count of its section `fields`" },
    { SECTION(FIELDS, stride), 56, "the stride of its section `fields`" },
    { SECTION(FIELDS, offset), 0, "the offset of its section `fields`" },
    { SECTION(TOTALS, count), 2, "the count of its section `totals`" },
    { SECTION(TOTALS, stride), 8, "expected the field `" },
    { SECTION(TOTALS, offset), UINT64_MAX - 7, "the offset of its section `totals`" },
    { SECTION(PROCESSES, count), 3, "expected workers (processes times threads) 6, found 8" },
    { SECTION(PROCESSES, count), 1u << 20, "the end of its section `processes`" },
    { SECTION(PROCESSES, stride), 72, "the stride of its section `processes`" },
    { SECTION(PROCESSES, stride), 1u << 30, "the stride of its section `processes`" },
    { SECTION(WORKERS, count), UINT32_MAX, "the end of its section `workers`" },
    { SECTION(WORKERS, count), 4, "expected workers (processes times threads) 8, found 4" },
    { SECTION(WORKERS, stride), 0, "the stride of its section `workers`" },
    { SECTION(WORKERS, stride), 196, "the stride of its section `workers`" },
    { SECTION(IN_FLIGHT, count), 3, "expected rows of in_flight (processes) 4, found 3" },
    { SECTION(IN_FLIGHT, stride), 16, "expected rows of in_flight of at least 32, found 16" },
    { SECTION(LABELS, count), MST_LABELS_MAX + 1, "the count of its section `labels`" },
    { SECTION(LABELS, count), 4, "expected counters (labels times stripes) 8, found 16" },
    { SECTION(LABELS, stride), 64, "the stride of its section `labels`" },
    { SECTION(COUNTERS, count), UINT32_MAX, "the count of its section `counters`" },
    { SECTION(COUNTERS, stride), 64, "the stride of its section `counters`" },
    { SECTION(COUNTERS, stride), 1u << 20, "the stride of its section `counters`" },
    { SECTION(COUNTERS, offset), 4100, "the offset of its section `counters`" },
    { SECTION(REQUESTS, count), 15, "expected records in `requests`, a power of two" },
    { SECTION(REQUESTS, count), 0, "the count of its section `requests`" },
    { SECTION(REQUESTS, stride), 112, "the stride of its section `requests`" },
    { SECTION(REQUESTS, offset), INT64_MAX - 7, "the offset of its section `requests`" },
    { SECTION(LIFECYCLE, count), 12, "expected records in `lifecycle`, a power of two" },
    { SECTION(LIFECYCLE, stride), 80, "the stride of its section `lifecycle`" },
};

START_TEST(a_wrong_number_in_the_header)
{
    const struct wrong *w = &wrongs[_i];
    struct mst_layout layout = test_layout();
    struct mst_board b;

    test_board(&b, &layout);
    memcpy((char *)b.header + w->offset, &w->value, w->size);
    assert_refused(b.path, w->sentence);
    mst_board_close(&b);
}
END_TEST

/* A PHP's board has other journals. */
static const struct wrong php_wrongs[] = {
    { SECTION(PHP_REQUESTS, count), 0, "the count of its section `php_requests`" },
    { SECTION(PHP_REQUESTS, count), 15, "expected records in `php_requests`, a power of two" },
    { SECTION(PHP_REQUESTS, stride), 144, "the stride of its section `php_requests`" },
    { SECTION(PHP_REQUESTS, stride), 8192, "the stride of its section `php_requests`" },
    { SECTION(PHP_REQUESTS, offset), INT64_MAX - 7, "the offset of its section `php_requests`" },
    { SECTION(MARKS, count), 0, "the count of its section `marks`" },
    { SECTION(MARKS, count), MST_MARK_RECORDS - 1, "expected records in `marks`, a power of two" },
    { SECTION(MARKS, count), MST_JOURNAL_MAX, "the end of its section `marks`" },
    { SECTION(MARKS, stride), 72, "the stride of its section `marks`" },
    { SECTION(MARKS, offset), 4100, "the offset of its section `marks`" },
    { SECTION(REQUESTS, count), 3, "expected records in `requests`, a power of two" },
    { HEADER(producer), MST_PRODUCER_APACHE, "the count of its section `requests`" },
};

START_TEST(a_wrong_number_in_the_header_of_a_php_board)
{
    const struct wrong *w = &php_wrongs[_i];
    struct mst_layout layout = test_php_layout();
    struct mst_board b;

    test_board(&b, &layout);
    memcpy((char *)b.header + w->offset, &w->value, w->size);
    assert_refused(b.path, w->sentence);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_size_that_fits_in_32_bits_only)
{
    struct mst_layout layout = test_layout();
    struct mst_section *workers;
    struct mst_board b;

    test_board(&b, &layout);
    workers = &b.header->section[MST_SECTION_WORKERS];
    workers->count = 1u << 24;
    workers->stride = 1u << 8;
    assert_refused(b.path, "the end of its section `workers`");
    mst_board_close(&b);
}
END_TEST

START_TEST(a_field_outside_its_entry)
{
    struct mst_layout layout = test_layout();
    struct mst_field_name *names;
    struct mst_board b;

    test_board(&b, &layout);
    names = (void *)((char *)b.header + b.header->section[MST_SECTION_FIELDS].offset);
    names[0].offset = 3;
    assert_refused(b.path, "expected the field `shed` within");
    names[0].offset = UINT32_MAX - 7;
    assert_refused(b.path, "expected the field `shed` within");
    names[0].offset = 0;
    names[0].words = UINT32_MAX;
    memset(names[0].name, 'x', sizeof names[0].name);
    assert_refused(b.path, "expected the field `xxxx");
    mst_board_close(&b);
}
END_TEST

/* ---- boards that change under the reader --------------------------------------------- */

static struct mst_board board;
static struct mst_reader reader;
static struct mst_copy copy;

static void make_and_open(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
    ck_assert_msg(mst_reader_open(&reader, board.path, error) == 0, "%s", error);
}

static void tear_down(void)
{
    mst_reader_close(&reader);
    mst_board_close(&board);
}

START_TEST(a_board_cut_anywhere)
{
    off_t cut, counters, step;

    make_and_open();
    counters = (off_t)board.header->section[MST_SECTION_COUNTERS].offset;
    for (cut = (off_t)board.bytes - 8; cut >= 0; cut -= step) {
        struct mst_reader late;

        ck_assert_int_eq(truncate(board.path, cut), 0);
        ck_assert_int_eq(mst_reader_open(&late, board.path, error), -1);
        assert_says(cut < (off_t)offsetof(struct mst_header, marks_written) + 8
                    ? "is not an mpmstat board" : "is truncated");
        /* What lies behind is not a part of a copy: unused labels, the journal. */
        if (cut <= counters) {
            ck_assert_int_eq(mst_copy_take(&copy, &reader, error), -1);
            assert_says("was cut while it was being read");
        }
        step = cut > 2 * (off_t)MST_PAGE ? 1000 : 8;
    }
    tear_down();
}
END_TEST

START_TEST(a_board_cut_to_nothing)
{
    make_and_open();
    ck_assert_int_eq(truncate(board.path, 0), 0);
    ck_assert_int_eq(mst_copy_take(&copy, &reader, error), -1);
    assert_says("was cut while it was being read: expected");
    tear_down();
}
END_TEST

START_TEST(a_board_overwritten_by_another_layout)
{
    make_and_open();
    board.header->section[MST_SECTION_WORKERS].count = UINT32_MAX;
    ck_assert_int_eq(mst_copy_take(&copy, &reader, error), -1);
    assert_says("was overwritten while it was being read");
    tear_down();
}
END_TEST

/* ---- boards with anything in them ------------------------------------------------------ */

static int ignore(void *context, uint64_t ticket, const void *payload)
{
    (void)context;
    (void)ticket;
    (void)payload;
    return 0;
}

static void tail_all(enum mst_section_id section)
{
    struct mst_tail tail;
    bool open = mst_tail_open(&tail, &reader, section, 1, error) == 0;

    if (open)
        mst_tail_poll(&tail, SIZE_MAX, ignore, NULL, error);
    mst_tail_close(&tail);
}

/* Everything that a reader does; what matters is that it ends. */
static void read_all(void)
{
    struct mst_world world = { .running = 1 };
    struct mst_snapshot s;

    if (mst_reader_open(&reader, board.path, error) != 0)
        return;
    if (mst_copy_take(&copy, &reader, error) == 0) {
        world.running = mst_header_running(&copy.header);
        if (mst_snapshot_make(&s, &copy, &world) == 0)
            mst_snapshot_free(&s);
        mst_copy_free(&copy);
    }
    tail_all(MST_SECTION_REQUESTS);
    tail_all(MST_SECTION_LIFECYCLE);
    tail_all(MST_SECTION_PHP_REQUESTS);
    tail_all(MST_SECTION_MARKS);
    mst_reader_close(&reader);
}

static void fill_board(void)
{
    struct mst_request request = { .id = 1 };
    struct mst_php_request php_request = { .id = 1, .script = "/srv/index.php" };
    struct mst_mark mark = { .time_ns = 1, .name = "step" };
    struct mst_lifecycle event = { 0 };

    mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());
    mst_label_intern(&board, "site");
    if (board.header->producer == MST_PRODUCER_PHP) {
        mst_journal_php_request(&board, &php_request);
        mst_journal_mark(&board, &mark);
    } else {
        mst_journal_request(&board, &request);
    }
    mst_journal_lifecycle(&board, &event);
}

/* A few words of the board, in the header more often than not, become anything:
 * small, huge, or off by a bit. */
static void damage(uint64_t *random)
{
    uint64_t *words = (uint64_t *)board.header;
    unsigned n = 1 + (unsigned)(mst_random_word(random) % 4);

    while (n-- > 0) {
        size_t area = mst_random_word(random) % 2 ? sizeof *board.header : board.bytes;
        size_t at = (size_t)(mst_random_word(random) % (area / 8));

        switch (mst_random_word(random) % 4) {
        case 0: words[at] = mst_random_word(random); break;
        case 1: words[at] = mst_random_word(random) % 64; break;
        case 2: words[at] ^= UINT64_C(1) << mst_random_word(random) % 64; break;
        case 3: words[at] = UINT64_MAX - mst_random_word(random) % 2; break;
        }
    }
}

START_TEST(random_damage_is_survived)
{
    struct mst_layout layout = _i % 2 ? test_php_layout() : test_layout();
    uint64_t random = (uint64_t)_i;
    char *whole;
    unsigned round;

    test_board(&board, &layout);
    fill_board();
    whole = malloc(board.bytes);
    ck_assert_ptr_nonnull(whole);
    memcpy(whole, board.header, board.bytes);
    for (round = 0; round < 1000; round++) {
        damage(&random);
        read_all();
        memcpy(board.header, whole, board.bytes);
    }
    free(whole);
    mst_board_close(&board);
}
END_TEST

/* ---- what the fuzzer begins with ------------------------------------------------------ */

/* Of another format it would be refused by its first bytes, and fuzz nothing else. */
START_TEST(the_fuzzers_boards_are_of_this_format)
{
    static const char *const names[] = { "busy", "new", "php", "php-busy", "stopped" };
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/board/%s", getenv("MPMSTAT_SRCDIR"),
             names[_i]);
    ck_assert_msg(mst_reader_open(&reader, path, error) == 0, "%s", error);
    ck_assert_msg(mst_copy_take(&copy, &reader, error) == 0, "%s", error);
    mst_copy_free(&copy);
    mst_reader_close(&reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *none = tcase_create("no board"), *wrong = tcase_create("wrong"),
          *changing = tcase_create("changing"), *anything = tcase_create("anything");

    tcase_add_test(none, what_is_not_there);
    tcase_add_test(none, what_is_no_regular_file);
    tcase_add_test(none, what_may_not_be_read);
    tcase_add_test(none, what_is_too_short);
    tcase_add_test(none, what_is_random);
    tcase_add_test(none, a_name_that_is_too_long);
    tcase_add_test(none, a_hole_on_a_tmpfs);
    tcase_add_test(none, a_hole_on_a_disk);
    tcase_add_loop_test(wrong, a_wrong_number_in_the_header, 0,
                        (int)(sizeof wrongs / sizeof wrongs[0]));
    tcase_add_loop_test(wrong, a_wrong_number_in_the_header_of_a_php_board, 0,
                        (int)(sizeof php_wrongs / sizeof php_wrongs[0]));
    tcase_add_test(wrong, a_size_that_fits_in_32_bits_only);
    tcase_add_test(wrong, a_field_outside_its_entry);
    tcase_add_test(changing, a_board_cut_anywhere);
    tcase_add_test(changing, a_board_cut_to_nothing);
    tcase_add_test(changing, a_board_overwritten_by_another_layout);
    tcase_add_loop_test(anything, random_damage_is_survived, 0, 4);
    tcase_add_loop_test(anything, the_fuzzers_boards_are_of_this_format, 0, 5);
    tcase_set_timeout(anything, 60);
    suite_add_tcase(suite, none);
    suite_add_tcase(suite, wrong);
    suite_add_tcase(suite, changing);
    suite_add_tcase(suite, anything);
    return test_run(suite);
}

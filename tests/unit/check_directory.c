/* check_directory.c - the boards of a directory in which anybody may make files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "read/directory.h"

#define COST (UINT64_C(256) << 20)

static char place[128];

/* Root's files are told from others' by their owner. */
#define NOBODY 65534u

static void make_place(void)
{
    snprintf(place, sizeof place, "%s.d", test_path());
    ck_assert_int_eq(mkdir(place, 0755), 0);
}

static void remove_place(void)
{
    char command[256];

    snprintf(command, sizeof command, "rm -r %s", place);
    ck_assert_int_eq(system(command), 0);
}

static const char *at(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

/* A board of that name, closed. */
static void make_board(const char *name, const struct mst_layout *layout)
{
    struct mst_board b;

    test_board(&b, layout);
    ck_assert_int_eq(rename(b.path, at(name)), 0);
    mst_board_close(&b);
}

static void make_file(const char *name)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "x", 1), 1);
    close(fd);
}

static struct mst_found_boards found;

static void look_for(size_t limit, uint64_t cost, uint64_t cost_of_others)
{
    const struct mst_boards_wanted wanted = { MST_PRODUCER_PHP, limit, { cost, cost_of_others } };

    ck_assert_int_eq(mst_found_boards_open(&found, place, &wanted), 0);
}

static void look(size_t limit)
{
    look_for(limit, COST, COST);
}

static void expect(size_t i, const char *name, const char *reason)
{
    ck_assert_uint_lt(i, found.count);
    ck_assert_str_eq(found.items[i].path, at(name));
    ck_assert_int_eq(found.items[i].open, reason == NULL);
    if (reason != NULL)
        ck_assert_msg(strstr(found.items[i].reason, reason) != NULL, "expected \"%s\" in: %s",
                      reason, found.items[i].reason);
    else
        ck_assert_str_eq(found.items[i].reader.path, at(name));
}

START_TEST(php_boards_are_opened_in_both_directories)
{
    struct mst_layout php = test_php_layout(), apache = test_layout();

    make_place();
    make_board("b.board", &php);
    make_board("a.board", &php);
    make_board("apache.board", &apache);
    make_file(".hidden.board");
    make_file("a.board.tmp");
    make_file(".board");
    ck_assert_int_eq(mkdir(at("php"), 0755), 0);
    make_board("php/0.board", &php);
    look(16);
    ck_assert_uint_eq(found.count, 3);
    expect(0, "a.board", NULL);
    expect(1, "b.board", NULL);
    expect(2, "php/0.board", NULL);
    ck_assert_uint_eq(found.omitted, 0);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

START_TEST(what_is_no_board_is_named_with_its_reason)
{
    struct mst_layout php = test_php_layout();

    make_place();
    make_board("a.board", &php);
    ck_assert_int_eq(symlink("a.board", at("b.board")), 0);
    ck_assert_int_eq(mkfifo(at("c.board"), 0600), 0);
    ck_assert_int_eq(mkdir(at("d.board"), 0700), 0);
    make_file("e.board");
    look(16);
    ck_assert_uint_eq(found.count, 5);
    expect(0, "a.board", NULL);
    expect(1, "b.board", "is a symbolic link");
    expect(2, "c.board", "expected a regular file");
    expect(3, "d.board", "found a directory");
    expect(4, "e.board", "is not an mpmstat board");
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

START_TEST(no_directory_has_no_boards)
{
    snprintf(place, sizeof place, "%s.none", test_path());
    look(16);
    ck_assert_uint_eq(found.count, 0);
    mst_found_boards_free(&found);
    make_place();
    make_file("php");
    look(16);
    ck_assert_uint_eq(found.count, 0);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

/* The test's own directory is its owner's alone. */
START_TEST(a_directory_that_may_not_be_read_is_named)
{
    pid_t pid;

    if (geteuid() != 0)
        return;
    make_place();
    if (test_fork(&pid)) {
        if (seteuid(NOBODY) != 0)
            _exit(2);
        look(16);
        _exit(found.count != 2 || found.items[0].open || strcmp(found.items[0].path, place) != 0
              || strstr(found.items[0].reason, "Permission denied") == NULL);
    }
    ck_assert_int_eq(test_wait(pid), 0);
    remove_place();
}
END_TEST

/* However many files others make: root's are shown, and the rest is counted. */
START_TEST(nobody_crowds_out_roots_boards)
{
    struct mst_layout php = test_php_layout();
    char name[32];
    unsigned i;

    if (geteuid() != 0)
        return;
    make_place();
    make_board("z.board", &php);
    for (i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "a%u.board", i);
        make_file(name);
        ck_assert_int_eq(chown(at(name), NOBODY, NOBODY), 0);
        snprintf(name, sizeof name, "b%u.board", i);
        make_board(name, &php);
        ck_assert_int_eq(chown(at(name), NOBODY, NOBODY), 0);
    }
    look(3);
    expect(0, "z.board", NULL);
    expect(1, "a0.board", "is not an mpmstat board");
    expect(3, "a2.board", "is not an mpmstat board");
    ck_assert_uint_eq(found.count, 4);
    ck_assert_uint_eq(found.omitted, 7);
    mst_found_boards_free(&found);
    look(4);
    ck_assert_uint_eq(found.count + found.omitted, 11);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

/* However many one user makes: the others' first ones are shown. */
START_TEST(no_user_crowds_out_another)
{
    struct mst_layout php = test_php_layout();
    char name[32];
    unsigned i;

    if (geteuid() != 0)
        return;
    make_place();
    for (i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "a%u.board", i);
        make_file(name);
        ck_assert_int_eq(chown(at(name), 1001, 1001), 0);
    }
    make_board("y.board", &php);
    ck_assert_int_eq(chown(at("y.board"), 1003, 1003), 0);
    make_board("z.board", &php);
    ck_assert_int_eq(chown(at("z.board"), 1002, 1002), 0);
    look(3);
    ck_assert_uint_eq(found.count, 5);
    expect(0, "a0.board", "is not an mpmstat board");
    expect(1, "z.board", NULL);
    expect(2, "y.board", NULL);
    expect(3, "a1.board", "is not an mpmstat board");
    ck_assert_uint_eq(found.omitted, 2);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

/* Of boards that are none of those wanted, too, one look opens some only. */
START_TEST(not_all_of_another_kind_are_opened)
{
    struct mst_layout php = test_php_layout(), apache = test_layout();
    char name[32];
    unsigned i;

    if (geteuid() != 0)
        return;
    make_place();
    for (i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "a%u.board", i);
        make_board(name, &apache);
        ck_assert_int_eq(chown(at(name), NOBODY, NOBODY), 0);
    }
    make_board("b.board", &php);
    ck_assert_int_eq(chown(at("b.board"), NOBODY, NOBODY), 0);
    make_board("z.board", &php);
    look(2);
    expect(0, "z.board", NULL);
    ck_assert_uint_eq(found.count, 2);
    mst_found_boards_free(&found);
    look(1);
    expect(0, "z.board", NULL);
    ck_assert_uint_eq(found.count, 1);
    ck_assert_uint_eq(found.omitted, 6);
    mst_found_boards_free(&found);
    ck_assert_int_eq(unlink(at("z.board")), 0);
    look(1);
    ck_assert_uint_eq(found.count, 0);
    ck_assert_uint_eq(found.omitted, 2);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

static uint64_t cost_of(const char *name)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    uint64_t cost;

    ck_assert_msg(mst_reader_open(&reader, at(name), error) == 0, "%s", error);
    cost = mst_reader_cost(&reader);
    mst_reader_close(&reader);
    return cost;
}

START_TEST(boards_cost_no_more_together_than_they_may)
{
    struct mst_layout php = test_php_layout(), large = php;

    make_place();
    make_board("a.board", &php);
    large.labels = 64;
    make_board("b.board", &large);
    make_board("c.board", &php);
    make_board("d.board", &php);
    ck_assert_uint_lt(2 * cost_of("a.board"), cost_of("b.board"));
    look_for(16, 2 * cost_of("a.board"), COST);
    ck_assert_uint_eq(found.count, 4);
    expect(0, "a.board", NULL);
    expect(1, "b.board", "costs too much to look at");
    expect(2, "c.board", NULL);
    expect(3, "d.board", "costs too much to look at");
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

/* Other users' boards have a part of it, and leave the rest to root's. */
START_TEST(other_users_boards_cost_less)
{
    struct mst_layout php = test_php_layout();
    uint64_t cost;

    if (geteuid() != 0)
        return;
    make_place();
    make_board("a.board", &php);
    make_board("b.board", &php);
    make_board("c.board", &php);
    make_board("z.board", &php);
    ck_assert_int_eq(chown(at("a.board"), NOBODY, NOBODY), 0);
    ck_assert_int_eq(chown(at("b.board"), NOBODY, NOBODY), 0);
    cost = cost_of("a.board");
    look_for(16, 3 * cost, cost);
    ck_assert_uint_eq(found.count, 4);
    expect(0, "c.board", NULL);
    expect(1, "z.board", NULL);
    expect(2, "a.board", NULL);
    expect(3, "b.board", "left for boards of other users");
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

/* Processes and workers cost more than their bytes: each is looked up and shown. */
START_TEST(what_is_made_of_a_board_counts)
{
    struct mst_layout php = test_php_layout(), more = php;

    make_place();
    make_board("a.board", &php);
    more.processes *= 2;
    make_board("b.board", &more);
    ck_assert_uint_gt(cost_of("b.board") - cost_of("a.board"), php.processes * 16384);
    remove_place();
}
END_TEST

/* Of as many boards as a page shows none is left out because of the others. */
START_TEST(a_page_has_room_for_the_usual_boards)
{
    const struct mst_layout fpm = {
        .producer = MST_PRODUCER_PHP, .processes = 1024, .threads_per_process = 1,
        .labels = MST_LABELS_DEFAULT, .stripes = MST_STRIPES_MAX, .requests = MST_JOURNAL_MOST,
        .lifecycle = MST_LIFECYCLE_RECORDS,
    };
    struct mst_layout cgi = fpm;

    cgi.processes = 256;
    cgi.labels = 8;
    cgi.requests = 8192;
    make_place();
    make_board("fpm.board", &fpm);
    make_board("cgi.board", &cgi);
    ck_assert_uint_le(MST_PAGE_BOARDS * cost_of("fpm.board"), MST_PAGE_COST);
    ck_assert_uint_le(MST_PAGE_BOARDS * cost_of("cgi.board"), MST_PAGE_COST_OTHER);
    remove_place();
}
END_TEST

START_TEST(a_directory_with_too_many_entries_is_named)
{
    struct mst_layout php = test_php_layout();
    char name[32];
    unsigned i;

    make_place();
    ck_assert_int_eq(mkdir(at("php"), 0755), 0);
    for (i = 0; i <= MST_DIRECTORY_ENTRIES; i++) {
        snprintf(name, sizeof name, "php/%u", i);
        ck_assert_int_eq(mknod(at(name), S_IFREG | 0600, 0), 0);
    }
    make_board("a.board", &php);
    look(16);
    ck_assert_uint_eq(found.count, 2);
    expect(0, "php", "has too many entries");
    expect(1, "a.board", NULL);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("directory");
    TCase *tests = tcase_create("directory");

    tcase_add_test(tests, php_boards_are_opened_in_both_directories);
    tcase_add_test(tests, what_is_no_board_is_named_with_its_reason);
    tcase_add_test(tests, no_directory_has_no_boards);
    tcase_add_test(tests, a_directory_that_may_not_be_read_is_named);
    tcase_add_test(tests, nobody_crowds_out_roots_boards);
    tcase_add_test(tests, no_user_crowds_out_another);
    tcase_add_test(tests, not_all_of_another_kind_are_opened);
    tcase_add_test(tests, boards_cost_no_more_together_than_they_may);
    tcase_add_test(tests, other_users_boards_cost_less);
    tcase_add_test(tests, what_is_made_of_a_board_counts);
    tcase_add_test(tests, a_page_has_room_for_the_usual_boards);
    tcase_add_test(tests, a_directory_with_too_many_entries_is_named);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

/* check_directory.c - the boards of a directory in which anybody may make files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "harness.h"

#define COPY_BYTES (UINT64_C(64) << 20)

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

static void look(size_t limit, uint64_t copy_bytes)
{
    const struct mst_boards_wanted wanted = { MST_PRODUCER_PHP, limit, copy_bytes };

    ck_assert_int_eq(mst_found_boards_open(&found, place, &wanted), 0);
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
    look(16, COPY_BYTES);
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
    look(16, COPY_BYTES);
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
    look(16, COPY_BYTES);
    ck_assert_uint_eq(found.count, 0);
    mst_found_boards_free(&found);
    make_place();
    make_file("php");
    look(16, COPY_BYTES);
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
        look(16, COPY_BYTES);
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
    look(3, COPY_BYTES);
    expect(0, "z.board", NULL);
    expect(1, "a0.board", "is not an mpmstat board");
    expect(3, "a2.board", "is not an mpmstat board");
    ck_assert_uint_eq(found.count, 4);
    ck_assert_uint_eq(found.omitted, 7);
    mst_found_boards_free(&found);
    look(4, COPY_BYTES);
    ck_assert_uint_eq(found.count + found.omitted, 11);
    mst_found_boards_free(&found);
    remove_place();
}
END_TEST

START_TEST(a_board_may_be_too_large_to_copy)
{
    struct mst_layout php = test_php_layout(), large = php;
    struct mst_reader reader;
    char error[MST_ERROR_MAX];

    make_place();
    make_board("a.board", &php);
    large.labels = 64;
    make_board("b.board", &large);
    ck_assert_int_eq(mst_reader_open(&reader, at("a.board"), error), 0);
    look(16, mst_copy_bytes(&reader));
    ck_assert_uint_lt(mst_copy_bytes(&reader), reader.header.file_bytes);
    mst_reader_close(&reader);
    ck_assert_uint_eq(found.count, 2);
    expect(0, "a.board", NULL);
    expect(1, "b.board", "is too large to be shown here");
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
    tcase_add_test(tests, a_board_may_be_too_large_to_copy);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

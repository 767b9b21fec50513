/* check_rotation.c - archives that begin in the same second: their order, and which goes first. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "harness.h"
#include "record/rotation.h"

enum { ARCHIVES = 3, BYTES = 1000, ID_OFFSET = 68 };   /* the last: of SQLite's files */

static const uint64_t begin_ns = UINT64_C(1000000000) * MST_NS_PER_S;

/* A file that says of itself that it is an archive. */
static void write_archive(const char *path)
{
    const unsigned char id[4] = { MST_ARCHIVE_ID >> 24 & 0xff, MST_ARCHIVE_ID >> 16 & 0xff,
                                  MST_ARCHIVE_ID >> 8 & 0xff, MST_ARCHIVE_ID & 0xff };
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, BYTES), 0);
    ck_assert_int_eq(pwrite(fd, id, sizeof id, ID_OFFSET), sizeof id);
    close(fd);
}

/* A new directory with three that began in the same second, in their order. */
static void write_archives(struct mst_rotation *r, char *paths[ARCHIVES])
{
    char error[MST_ERROR_MAX] = "";
    int i;

    r->directory = test_path();
    ck_assert_int_eq(mkdir(r->directory, 0700), 0);
    for (i = 0; i < ARCHIVES; i++) {
        paths[i] = mst_rotation_path(r, begin_ns, error);
        ck_assert_msg(paths[i] != NULL, "%s", error);
        write_archive(paths[i]);
    }
}

static void remove_all(const struct mst_rotation *r, char *paths[ARCHIVES])
{
    int i;

    for (i = 0; i < ARCHIVES; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    ck_assert_int_eq(rmdir(r->directory), 0);
}

START_TEST(test_names_sort_by_time)
{
    struct mst_rotation r = { 0 };
    char *paths[ARCHIVES];

    write_archives(&r, paths);
    ck_assert_int_lt(strcmp(paths[0], paths[1]), 0);
    ck_assert_int_lt(strcmp(paths[1], paths[2]), 0);
    remove_all(&r, paths);
}
END_TEST

START_TEST(test_the_oldest_goes_first)
{
    struct mst_rotation r = { .size_bytes = BYTES };
    char error[MST_ERROR_MAX] = "";
    char *paths[ARCHIVES];

    r.keep_bytes = (mst_rotation_kept(&r) + 1) * BYTES;   /* room for two beside the new one */
    write_archives(&r, paths);
    ck_assert_msg(mst_rotation_remove_old(&r, begin_ns, error) == 0, "%s", error);
    ck_assert_int_ne(access(paths[0], F_OK), 0);
    ck_assert_int_eq(access(paths[1], F_OK), 0);
    ck_assert_int_eq(access(paths[2], F_OK), 0);
    remove_all(&r, paths);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rotation");
    TCase *tests = tcase_create("same second");

    tcase_add_test(tests, test_names_sort_by_time);
    tcase_add_test(tests, test_the_oldest_goes_first);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

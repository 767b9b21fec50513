/* check_paths.c - the pages that requests are for: how their paths are folded, and how many of them
 * a board's table takes from whom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "stats/random.h"
#include "write/path.h"

#define RESERVED 3u

static struct mst_board board;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

/* ---- folding ---------------------------------------------------------------------------- */

static const struct { const char *target, *page, *file; } folded[] = {
    { "/", "/", "/" },
    { "/checkout", "/checkout", "/*" },
    { "/checkout/", "/checkout/", "/checkout/" },
    { "/checkout?card=4111111111111111", "/checkout", "/*" },
    { "/a#b", "/a", "/*" },
    { "http://shop.example:8080/a/b?c", "/a/b", "/a/*" },
    { "http://shop.example", "/", "/" },
    /* Numbers and long ids. */
    { "/item/17", "/item/{n}", "/item/*" },
    { "/item/17/edit", "/item/{n}/edit", "/item/{n}/*" },
    { "/2024/05/a-title-of-2024/", "/{n}/{n}/a-title-of-2024/", "/{n}/{n}/a-title-of-2024/" },
    { "/item17", "/item17", "/*" },
    { "/u/550e8400-e29b-41d4-a716-446655440000", "/u/{n}", "/u/*" },
    { "/u/DEADBEEFDEADBEEF1", "/u/{n}", "/u/*" },
    { "/u/deadbeef1", "/u/deadbeef1", "/u/*" },
    { "/facade/defacedfacadedeed", "/facade/defacedfacadedeed", "/facade/*" },
    { "/%31%32", "/{n}", "/*" },
    { "/{n}", "/%7Bn%7D", "/*" },
    /* One spelling. */
    { "//a///b", "/a/b", "/a/*" },
    { "/a/./b/../c", "/a/c", "/a/*" },
    { "/a/..", "/", "/" },
    { "/../../a", "/a", "/*" },
    { "/a/.", "/a/", "/a/" },
    { "/%63heckout%2epHp", "/checkout.pHp", "/*.pHp" },
    { "/a%2fb%3fc%e2%82%ac", "/a%2Fb%3Fc%E2%82%AC", "/*" },
    { "/\xe2\x82\xac", "/%E2%82%AC", "/*" },
    { "/a b\x01\x7f\"<>\\^`|%", "/a%20b%01%7F%22%3C%3E%5C%5E%60%7C%25", "/*" },
    { "/%zz%0", "/%25zz%250", "/*" },
    { "/~me/(a)!$&'*+,=:@", "/~me/(a)!$&'*+,=:@", "/~me/*" },
    /* Parameters of a path: a session. */
    { "/shop;jsessionid=A1B2/cart;v=1", "/shop/cart", "/shop/*" },
    { "/a%3Bb", "/a%3Bb", "/*" },
    { "/;/.;x/b", "/b", "/*" },
    /* Files. */
    { "/wp-content/uploads/2024/05/me.jpg", "/wp-content/uploads/{n}/{n}/me.jpg",
      "/wp-content/uploads/{n}/{n}/*.jpg" },
    { "/.profile", "/.profile", "/*" },
    { "/a.tar.gz", "/a.tar.gz", "/*.gz" },
    { "/a.neverending", "/a.neverending", "/*" },
};

START_TEST(paths_are_folded)
{
    char name[MST_PATH_NAME_MAX];

    ck_assert(mst_path_fold(folded[_i].target, false, name));
    ck_assert_str_eq(name, folded[_i].page);
    ck_assert(mst_path_fold(folded[_i].target, true, name));
    ck_assert_str_eq(name, folded[_i].file);
}
END_TEST

START_TEST(some_targets_have_no_path)
{
    static const char *const targets[] = { NULL, "", "*", "?a", "shop.example:443" };
    char name[MST_PATH_NAME_MAX];
    size_t i;

    for (i = 0; i < sizeof targets / sizeof *targets; i++)
        ck_assert_msg(!mst_path_fold(targets[i], false, name), "%s is %s", targets[i], name);
}
END_TEST

/* Printable, from a slash to a NUL with zeroes behind it. */
static bool is_name(const char name[MST_PATH_NAME_MAX])
{
    size_t i, length = strnlen(name, MST_PATH_NAME_MAX);

    for (i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~' || strchr("?#;\"<>\\", name[i]) != NULL)
            return false;
    for (; i < MST_PATH_NAME_MAX; i++)
        if (name[i] != '\0')
            return false;
    return name[0] == '/' && length < MST_PATH_NAME_MAX;
}

/* Whatever the bytes. */
static void check_form(const char *target)
{
    char name[MST_PATH_NAME_MAX];
    int is_file;

    for (is_file = 0; is_file < 2; is_file++) {
        memset(name, 'x', sizeof name);
        ck_assert_msg(mst_path_fold(target, is_file, name) && is_name(name), "%s is %.*s", target,
                      (int)sizeof name, name);
    }
}

START_TEST(long_paths_are_cut)
{
    char target[1024] = "/", name[MST_PATH_NAME_MAX];
    size_t length;

    for (length = 1; length < sizeof target - 4; length++) {
        target[length] = "a/%"[length % 7 == 0 ? 1 : length % 11 == 0 ? 2 : 0];
        target[length + 1] = '\0';
        check_form(target);
    }
    memset(target + 1, 'a', 300);
    target[301] = '\0';
    ck_assert(mst_path_fold(target, false, name));
    ck_assert_uint_eq(strlen(name), MST_PATH_NAME_MAX - 1);
    ck_assert_str_eq(name + MST_PATH_NAME_MAX - 7, "aaa...");
    target[MST_PATH_NAME_MAX - 1] = '\0';
    ck_assert(mst_path_fold(target, false, name));
    ck_assert_str_eq(name, target);
}
END_TEST

START_TEST(any_bytes_give_a_name)
{
    static const char likely[] = "//..%;?#{}09afAF-_*~ \x80\xff";
    uint64_t state = 1;
    char target[400];
    size_t i, k, length;

    for (i = 0; i < 5000; i++) {
        length = mst_random_word(&state) % (sizeof target - 2);
        target[0] = '/';
        for (k = 1; k <= length; k++)
            target[k] = mst_random_word(&state) % 4 == 0
                      ? (char)(mst_random_word(&state) % 255 + 1)
                      : likely[mst_random_word(&state) % (sizeof likely - 1)];
        target[k] = '\0';
        check_form(target);
    }
}
END_TEST

/* ---- the table -------------------------------------------------------------------------- */

static uint32_t find(const char *target, enum mst_path_answer answer)
{
    char name[MST_PATH_NAME_MAX];
    uint32_t index;

    ck_assert(mst_path_fold(target, false, name));
    index = mst_path_find(&board, name, answer);
    ck_assert_uint_lt(index, board.path_count);
    return index;
}

static uint32_t find_nth(const char *word, unsigned n, enum mst_path_answer answer)
{
    char target[64];

    snprintf(target, sizeof target, "/%s-%u", word, n);
    return find(target, answer);
}

static unsigned used(void)
{
    unsigned count = 0;
    uint32_t i;

    for (i = RESERVED; i < board.path_count; i++)
        count += board.paths[i].used == 1;
    return count;
}

START_TEST(a_page_keeps_its_entry)
{
    uint32_t index;

    make();
    index = find("/item/1", MST_PATH_GOOD);
    ck_assert_uint_ge(index, RESERVED);
    ck_assert_str_eq(board.paths[index].path, "/item/{n}");
    ck_assert_uint_eq(find("/item/2?a", MST_PATH_GOOD), index);
    ck_assert_uint_eq(find("/item/3", MST_PATH_DOUBTFUL), index);
    ck_assert_uint_eq(find("/item/4", MST_PATH_REFUSED), index);
    ck_assert_uint_ne(find("/other", MST_PATH_GOOD), index);
    ck_assert_str_eq(board.paths[MST_PATH_OTHER].path, MST_PATH_OTHER_NAME);
    ck_assert_str_eq(board.paths[MST_PATH_UNNAMED].path, MST_PATH_UNNAMED_NAME);
    mst_board_close(&board);
}
END_TEST

START_TEST(what_is_not_there_gets_no_entry)
{
    unsigned i;

    make();
    for (i = 0; i < 100000; i++)
        ck_assert_uint_eq(find_nth("wp-admin.bak", i, MST_PATH_REFUSED), MST_PATH_UNNAMED);
    ck_assert_uint_eq(used(), 0);
    ck_assert_uint_ge(find("/checkout", MST_PATH_GOOD), RESERVED);
    mst_board_close(&board);
}
END_TEST

START_TEST(failures_take_a_quarter_at_most)
{
    unsigned i, other = 0;

    make();
    for (i = 0; i < 100000; i++)
        find_nth("scan", i, MST_PATH_DOUBTFUL);
    ck_assert_uint_le(used(), board.path_count / 4);
    ck_assert_uint_ge(used(), board.path_count / 8);
    for (i = 0; i < board.path_count / 2; i++)   /* the pages that work have room then */
        other += find_nth("page", i, MST_PATH_GOOD) == MST_PATH_OTHER;
    ck_assert_uint_le(other, board.path_count / 100);
    mst_board_close(&board);
}
END_TEST

/* A page that failed first is the same page when it works, though it may have more entries then. */
START_TEST(a_failed_page_keeps_its_entry)
{
    uint32_t index[64];
    unsigned i;

    make();
    for (i = 0; i < 64; i++)
        index[i] = find_nth("page", i, i % 2 == 0 ? MST_PATH_DOUBTFUL : MST_PATH_GOOD);
    for (i = 0; i < 64; i++)
        ck_assert_uint_eq(find_nth("page", i, i % 2 == 0 ? MST_PATH_GOOD : MST_PATH_DOUBTFUL),
                          index[i]);
    mst_board_close(&board);
}
END_TEST

START_TEST(too_many_pages_are_other)
{
    unsigned i, other = 0;

    make();
    for (i = 0; i < 100000; i++)
        other += find_nth("page", i, MST_PATH_GOOD) == MST_PATH_OTHER;
    ck_assert_uint_eq(used(), board.path_count - RESERVED);
    ck_assert_uint_eq(other, 100000 - used());
    ck_assert_uint_ge(find_nth("page", 0, MST_PATH_GOOD), RESERVED);
    mst_board_close(&board);
}
END_TEST

/* Processes that come with the same pages at once: each page is there once. */
START_TEST(no_page_is_there_twice)
{
    uint32_t i, k;
    pid_t pids[4];

    make();
    for (i = 0; i < 4; i++)
        if (test_fork(&pids[i])) {
            for (k = 0; k < 200; k++)
                find_nth("page", k, MST_PATH_GOOD);
            _exit(0);
        }
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(test_wait(pids[i]), 0);
    ck_assert_uint_eq(used(), 200);
    for (i = RESERVED; i < board.path_count; i++)
        for (k = i + 1; k < board.path_count && board.paths[i].used == 1; k++)
            ck_assert_str_ne(board.paths[i].path, board.paths[k].path);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_page_whose_namer_was_killed_is_counted)
{
    uint32_t index;

    make();
    index = find("/checkout", MST_PATH_GOOD);
    board.paths[index].used = 0;
    memset(board.paths[index].path, 0, MST_PATH_NAME_MAX);
    ck_assert_uint_eq(find("/checkout", MST_PATH_GOOD), index);
    mst_board_close(&board);
}
END_TEST

START_TEST(damage_misleads_no_further)
{
    uint64_t state = 2, *words;
    unsigned i, k;

    make();
    words = (uint64_t *)board.paths;
    for (i = 0; i < 1000; i++) {
        for (k = 0; k < 100; k++) {
            uint64_t word = mst_random_word(&state);

            words[mst_random_below(&state, board.path_count * sizeof *board.paths / 8)] =
                word % 3 == 0 ? word >> 62 : word;
        }
        find_nth("page", i % 40, (enum mst_path_answer)(i % 3));
    }
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("paths");
    TCase *folding = tcase_create("folding"), *table = tcase_create("table");

    tcase_add_loop_test(folding, paths_are_folded, 0, (int)(sizeof folded / sizeof *folded));
    tcase_add_test(folding, some_targets_have_no_path);
    tcase_add_test(folding, long_paths_are_cut);
    tcase_add_test(folding, any_bytes_give_a_name);
    tcase_add_test(table, a_page_keeps_its_entry);
    tcase_add_test(table, what_is_not_there_gets_no_entry);
    tcase_add_test(table, failures_take_a_quarter_at_most);
    tcase_add_test(table, a_failed_page_keeps_its_entry);
    tcase_add_test(table, too_many_pages_are_other);
    tcase_add_test(table, no_page_is_there_twice);
    tcase_add_test(table, a_page_whose_namer_was_killed_is_counted);
    tcase_add_test(table, damage_misleads_no_further);
    suite_add_tcase(suite, folding);
    suite_add_tcase(suite, table);
    return test_run(suite);
}

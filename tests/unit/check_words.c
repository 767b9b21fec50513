/* check_words.c - a command's words as text, what a program said, for people, and the numbers that
 * they write.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "console/format.h"
#include "console/number.h"
#include "exec/shell_quote.h"
#include "harness.h"

START_TEST(test_shell_and_json)
{
    char tool[] = "ab", option[] = "-H", quotes[] = "it's \"so\"", empty[] = "";
    char url[] = "http://[::1]:80/", *const words[] = { tool, option, quotes, empty, url, NULL };
    char *shell = mst_shell_quote(words), *json = mst_argv_json(words);

    ck_assert_str_eq(shell, "ab -H 'it'\\''s \"so\"' '' 'http://[::1]:80/'");
    ck_assert_str_eq(json, "[\"ab\", \"-H\", \"it's \\\"so\\\"\", \"\", \"http://[::1]:80/\"]");
    free(shell);
    free(json);
}
END_TEST

/* An array that execvp() can take, at any length. */
START_TEST(test_strings)
{
    char *const more[] = { (char[]){ "c" }, (char[]){ "" }, NULL };
    struct mst_strings strings = { 0 };
    char **items, *joined;

    mst_strings_add(&strings, "a");
    mst_strings_addf(&strings, "%s=%d", "b", 2);
    mst_strings_add_all(&strings, more);
    mst_strings_add_all(&strings, NULL);
    ck_assert_uint_eq(strings.count, 4);
    ck_assert_ptr_null(strings.items[4]);
    joined = mst_strings_join(strings.items);
    ck_assert_str_eq(joined, "a b=2 c ");
    free(joined);
    items = mst_strings_steal(&strings);
    ck_assert_str_eq(items[1], "b=2");
    ck_assert_ptr_null(strings.items);
    mst_strings_free_items(items);

    items = mst_strings_steal(&strings);   /* an empty one */
    ck_assert_ptr_nonnull(items);
    ck_assert_ptr_null(items[0]);
    mst_strings_free_items(items);
}
END_TEST

static void assert_ends(const char *text, size_t count, const char *expected)
{
    char *found = NULL;
    size_t size;
    FILE *out = open_memstream(&found, &size);

    mst_format_ends(out, text, count);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(found, expected);
    free(found);
}

START_TEST(test_ends)
{
    assert_ends("", 2, "");
    assert_ends("one", 2, "  one\n");
    assert_ends("1\n2\n3\n4\n", 2, "  1\n  2\n  3\n  4\n");
    assert_ends("1\n2\n3\n4\n5\n", 2, "  1\n  2\n  ...\n  4\n  5\n");
    assert_ends("1\n\n3\n", 1, "  1\n  ...\n  3\n");
}
END_TEST

START_TEST(test_stamp)
{
    struct mst_formatted stamp = mst_format_stamp();

    ck_assert_uint_eq(strlen(stamp.text), strlen("20261121-154500"));
    ck_assert_uint_eq(strspn(stamp.text, "0123456789"), 8);
    ck_assert_int_eq(stamp.text[8], '-');
    ck_assert_uint_eq(strspn(stamp.text + 9, "0123456789"), 6);
}
END_TEST

START_TEST(test_numbers)
{
    static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "1x", "nan", "inf", "." };
    size_t i;

    ck_assert_double_eq(mst_number_read("0"), 0);
    ck_assert_double_eq(mst_number_read("2.5"), 2.5);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(isnan(mst_number_read(wrong[i])), "\"%s\"", wrong[i]);
}
END_TEST

START_TEST(test_rates)
{
    static const char *const wrong[] = {
        "", "/s", "much", "-4/s", "+4/s", " 4/s", "4 /s", "4/", "4/m", "4/ss", "4/s ", "4s", "nan",
        "inf/s", "0", "0.0009/s", "1000.1/s", "1e999/s",
    };
    char error[MST_ERROR_MAX];
    double rate = -1;
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(mst_rate_read(&rate, "rate", wrong[i], 1000, error) != 0, "\"%s\"",
                      wrong[i]);
    ck_assert_double_eq(rate, -1);
    ck_assert_str_eq(error, "expected --rate to be a rate from 0.001 to 1000 per second, as in "
                     "\"200/s\", found \"1e999/s\"");
    ck_assert_int_eq(mst_rate_read(&rate, "rate", "400/s", 1000, error), 0);
    ck_assert_double_eq(rate, 400);
    ck_assert_int_eq(mst_rate_read(&rate, "rate", "0.5", 1000, error), 0);
    ck_assert_double_eq(rate, 0.5);
    ck_assert_int_eq(mst_rate_read(&rate, "rate", "1000", 1000, error), 0);
    ck_assert_double_eq(rate, 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("words");
    TCase *tests = tcase_create("words");

    tcase_add_test(tests, test_shell_and_json);
    tcase_add_test(tests, test_strings);
    tcase_add_test(tests, test_ends);
    tcase_add_test(tests, test_stamp);
    tcase_add_test(tests, test_numbers);
    tcase_add_test(tests, test_rates);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

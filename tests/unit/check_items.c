/* check_items.c - what is said of a subject, in lines of 80 columns. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "report/items.h"

static char   text[4096];
static size_t length;

static int keep(void *context, const void *bytes, size_t n)
{
    (void)context;
    ck_assert_uint_lt(length + n, sizeof text);
    memcpy(text + length, bytes, n);
    length += n;
    text[length] = '\0';
    return 0;
}

static const char *written(const struct mst_items *items)
{
    struct mst_sink sink;

    length = 0;
    text[0] = '\0';
    mst_sink_init(&sink, keep, NULL);
    mst_items_put(&sink, "Workers", items);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    return text;
}

/* A line ends after an item: "0.3 %" is not cut from what it is the share of. */
START_TEST(test_items_stay_whole)
{
    struct mst_items items = { .used = 0 };

    ck_assert_str_eq(written(&items), "");
    mst_items_add(&items, "12 of 150 busy");
    mst_items_more(&items, " (%s)", "8.0 %");
    mst_items_add(&items, "at most 30 so far");
    mst_items_add(&items, "waiting for a worker %s", "0.3 %");
    ck_assert_str_eq(written(&items),
                     "  Workers       12 of 150 busy (8.0 %), at most 30 so far,\n"
                     "                waiting for a worker 0.3 %\n");
}
END_TEST

/* An item that is longer than a line ends after a word, and a word that is so, anywhere. */
START_TEST(test_long_items)
{
    struct mst_items items = { .used = 0 };
    char path[100];
    int i;

    for (i = 0; i < 20; i++)
        mst_items_more(&items, i == 0 ? "%d" : " word%d", i);
    ck_assert_ptr_nonnull(strstr(written(&items), " word10\n                word11 "));
    memset(path, 'x', 90);
    path[90] = '\0';
    items.used = 0;
    mst_items_add(&items, "%s", path);
    ck_assert_uint_eq(strcspn(written(&items), "\n"), 80);
    ck_assert_uint_eq(strspn(text + 16, "x"), 64);
}
END_TEST

/* What does not fit is dropped whole, and a name shows its beginning, without control
 * characters. */
START_TEST(test_bounds)
{
    struct mst_items items = { .used = 0 };
    char long_name[1000];
    int i;

    for (i = 0; i < 3000; i++)
        mst_items_add(&items, "item %d", i);
    ck_assert_uint_lt(items.used, sizeof items.text);
    ck_assert_uint_eq(strlen(items.text), items.used);
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    ck_assert_uint_eq(strlen(mst_items_name(long_name).text), MST_NAME_COLUMNS + 3);
    ck_assert_ptr_null(strchr(mst_items_name("a\033[2Jb").text, '\033'));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("items");
    TCase *tests = tcase_create("items");

    tcase_add_test(tests, test_items_stay_whole);
    tcase_add_test(tests, test_long_items);
    tcase_add_test(tests, test_bounds);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

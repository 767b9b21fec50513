/* check_json_writer.c - commas, line breaks and unknown values of the JSON writer. */
#include <string.h>

#include "harness.h"
#include "render/json_writer.h"

static char   text[1024];
static size_t text_length;

static int keep(void *context, const void *bytes, size_t n)
{
    (void)context;
    ck_assert_uint_lt(text_length + n, sizeof text);
    memcpy(text + text_length, bytes, n);
    text_length += n;
    text[text_length] = '\0';
    return 0;
}

static void put_everything(struct mst_json *j)
{
    mst_json_begin(j, NULL, '{');
    mst_json_begin(j, "empty", '{');
    mst_json_end(j, '}');
    mst_json_begin(j, "list", '[');
    mst_json_count(j, NULL, INT64_MAX);
    mst_json_count(j, NULL, (uint64_t)INT64_MAX + 1);
    mst_json_line(j, 2);
    mst_json_seconds(j, NULL, UINT64_C(18446744073709551614));
    mst_json_seconds(j, NULL, MST_UNKNOWN);
    mst_json_end(j, ']');
    mst_json_line(j, 1);
    mst_json_instant(j, "at", 1);
    mst_json_instant(j, "never", MST_UNKNOWN);
    mst_json_string(j, "name", "a\"b");
    mst_json_string(j, "none", NULL);
    mst_json_value(j, "own");
    mst_sink_puts(j->out, "-1.5");
    mst_json_bool(j, "yes", true);
    mst_json_bool(j, "no", false);
    mst_json_end(j, '}');
}

static void assert_written(bool spaced, const char *expected)
{
    struct mst_sink sink;
    struct mst_json json = { .out = &sink, .spaced = spaced };

    text_length = 0;
    mst_sink_init(&sink, keep, NULL);
    put_everything(&json);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    ck_assert_str_eq(text, expected);
}

START_TEST(test_dense)
{
    assert_written(false,
        "{\"empty\":{},\"list\":[9223372036854775807,null,\n  18446744073.709551614,null],\n"
        " \"at\":\"1970-01-01T00:00:00.000000001Z\",\"never\":null,\"name\":\"a\\\"b\","
        "\"none\":null,\"own\":-1.5,\"yes\":true,\"no\":false}");
}
END_TEST

START_TEST(test_spaced)
{
    assert_written(true,
        "{\"empty\": {}, \"list\": [9223372036854775807, null,\n  18446744073.709551614, null],\n"
        " \"at\": \"1970-01-01T00:00:00.000000001Z\", \"never\": null, \"name\": \"a\\\"b\", "
        "\"none\": null, \"own\": -1.5, \"yes\": true, \"no\": false}");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json writer");
    TCase *tests = tcase_create("json writer");

    tcase_add_test(tests, test_dense);
    tcase_add_test(tests, test_spaced);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

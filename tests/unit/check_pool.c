/* check_pool.c - memory of a command: arrays and strings in a pool, and its end without any. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/diag.h"
#include "exec/shell_quote.h"
#include "harness.h"

/* Elements are zero, stay where their values are when the array moves, and a zero follows them. */
START_TEST(test_append)
{
    size_t count = 0, i, k;
    uint64_t *items = NULL, *item;

    for (i = 0; i < 1000; i++) {
        item = mst_pool_append(memory_of_test(), &items, &count, sizeof *item);
        ck_assert_uint_eq(*item, 0);
        ck_assert_uint_eq(item[1], 0);
        ck_assert_ptr_eq(item, &items[i]);
        *item = i + 1;
        ck_assert_uint_eq(count, i + 1);
    }
    for (k = 0; k < count; k++)
        ck_assert_uint_eq(items[k], k + 1);
    count--;   /* an element that was taken away leaves nothing behind */
    item = mst_pool_append(memory_of_test(), &items, &count, sizeof *item);
    ck_assert_uint_eq(*item, 0);
}
END_TEST

START_TEST(test_list)
{
    struct mst_list list = { 0 };

    mst_list_add(memory_of_test(), &list, "a");
    mst_list_add_all(memory_of_test(), &list, (const char *const[]){ "b c", "", NULL });
    ck_assert_uint_eq(list.count, 3);
    ck_assert_ptr_null(list.items[3]);
    ck_assert_str_eq(mst_list_join(memory_of_test(), &list), "a b c ");
}
END_TEST

START_TEST(test_texts)
{
    char long_text[10000];
    struct mst_stream stream;

    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    ck_assert_str_eq(mst_pool_printf(memory_of_test(), "%zu %s", (size_t)7, "b"), "7 b");
    ck_assert_str_eq(mst_pool_printf(memory_of_test(), "%s", long_text), long_text);
    fputs(long_text, mst_stream_begin(&stream));
    ck_assert_str_eq(mst_stream_end(&stream, memory_of_test()), long_text);
    mst_stream_begin(&stream);
    ck_assert_str_eq(mst_stream_end(&stream, memory_of_test()), "");
}
END_TEST

/* Each mark, from left to right; what is put in is not looked at again. */
START_TEST(test_replace)
{
    static const char url[] = "http://127.0.0.1:80/${URL}";
    static const struct { const char *word, *expected; } cases[] = {
        { "", "" }, { "$URL ${URL", "$URL ${URL" }, { "${URL}", "http://127.0.0.1:80/${URL}" },
        { "<${URL}|${URL}>", "<http://127.0.0.1:80/${URL}|http://127.0.0.1:80/${URL}>" },
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(mst_pool_replace(memory_of_test(), cases[i].word, MST_URL_MARK, url),
                         cases[i].expected);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__   /* it takes terabytes of addresses */
/* Takes memory until there is none, with stderr in the file. */
static void use_up(const char *path)
{
    const struct rlimit limit = { 256u << 20, 256u << 20 };

    if (freopen(path, "w", stderr) == NULL || setrlimit(RLIMIT_AS, &limit) != 0)
        _exit(EXIT_FAILURE);
    for (;;)
        mst_pool_printf(memory_of_test(), "%1000000d", 1);
}

/* The command ends by itself, with one sentence. */
START_TEST(test_no_memory)
{
    const char *path = test_path();
    char said[400] = "";
    int status;
    pid_t pid;
    FILE *in;

    if (test_fork(&pid))
        use_up(path);
    status = test_wait(pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), MST_EXIT_OUTPUT);
    in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    said[fread(said, 1, sizeof said - 1, in)] = '\0';
    fclose(in);
    ck_assert_str_eq(said, "mpmstat: out of memory: the command ends here, and its output is not "
                     "complete\n");
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *c = tcase_create("pool");

    tcase_add_test(c, test_append);
    tcase_add_test(c, test_list);
    tcase_add_test(c, test_texts);
    tcase_add_test(c, test_replace);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(c, test_no_memory);
#endif
    suite_add_tcase(suite, c);
    return test_run(suite);
}

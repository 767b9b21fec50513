/* check_call_stacks.c - the functions of PHP's code and its call stacks: what a board's tables
 * take, and what they do where they are full or damaged. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "write/call_stack.h"

static struct mst_board board;

static void make(uint32_t samples)
{
    struct mst_layout layout = test_php_layout();

    layout.code_samples = samples;
    test_board(&board, &layout);
}

static uint32_t intern(const char *function, const char *file, uint32_t line)
{
    return mst_frame_intern(&board, function, strlen(function), file, strlen(file), line);
}

START_TEST(a_function_has_one_entry)
{
    uint32_t index;

    make(1024);
    index = intern("Repository->find", "/srv/src/Repository.php", 88);
    ck_assert_uint_ne(index, MST_FRAME_OTHER);
    ck_assert_uint_eq(intern("Repository->find", "/srv/src/Repository.php", 88), index);
    ck_assert_uint_ne(intern("Repository->find", "/srv/src/Repository.php", 89), index);
    ck_assert_uint_ne(intern("Repository->find", "/srv/lib/Repository.php", 88), index);
    ck_assert_uint_ne(intern("find", "/srv/src/Repository.php", 88), index);
    ck_assert_str_eq(board.frames[index].function, "Repository->find");
    ck_assert_str_eq(board.frames[index].file, "/srv/src/Repository.php");
    ck_assert_uint_eq(board.frames[index].line, 88);
    ck_assert_uint_eq(board.frames[index].used, 1);
}
END_TEST

START_TEST(a_long_name_keeps_its_end)
{
    char file[400];
    uint32_t index;

    make(1024);
    memset(file, 'x', sizeof file);
    memcpy(file + sizeof file - 10, "/last.php", 10);
    index = intern("f\x01\xff", file, 1);
    ck_assert_str_eq(board.frames[index].function, "f??");
    ck_assert_uint_eq(strlen(board.frames[index].file), MST_FRAME_FILE_MAX - 1);
    ck_assert_str_eq(board.frames[index].file + MST_FRAME_FILE_MAX - 10, "/last.php");
}
END_TEST

START_TEST(functions_without_room_are_other)
{
    uint32_t i, others = 0;
    char name[32];

    make(1024);
    for (i = 0; i < 2 * board.frame_count; i++) {
        snprintf(name, sizeof name, "f%u", i);
        others += intern(name, "", 0) == MST_FRAME_OTHER;
    }
    ck_assert_uint_ge(others, board.frame_count);
    ck_assert_uint_lt(others, board.frame_count + board.frame_count / 4);
    ck_assert_str_eq(board.frames[MST_FRAME_OTHER].function, MST_FRAME_OTHER_NAME);
}
END_TEST

START_TEST(stacks_are_a_tree)
{
    uint32_t outer, inner;

    make(1024);
    outer = mst_call_stack_intern(&board, MST_STACK_NONE, 7);
    inner = mst_call_stack_intern(&board, outer, 9);
    ck_assert_uint_gt(outer, MST_STACK_OTHER);
    ck_assert_uint_ne(inner, outer);
    ck_assert_uint_eq(mst_call_stack_intern(&board, MST_STACK_NONE, 7), outer);
    ck_assert_uint_eq(mst_call_stack_intern(&board, outer, 9), inner);
    ck_assert_uint_ne(mst_call_stack_intern(&board, inner, 9), inner);
    ck_assert_uint_eq(board.stacks[inner].caller_frame, (uint64_t)outer << 32 | 10);
}
END_TEST

START_TEST(stacks_without_room_are_other)
{
    uint32_t stack = MST_STACK_NONE, i, others = 0;

    make(1024);
    for (i = 0; i < 2 * board.stack_count; i++) {
        stack = mst_call_stack_intern(&board, stack, i % board.frame_count);
        others += stack == MST_STACK_OTHER;
        ck_assert_uint_lt(stack, board.stack_count);
    }
    ck_assert_uint_gt(others, 0);
}
END_TEST

START_TEST(a_board_without_samples_has_no_functions)
{
    make(0);
    ck_assert_uint_eq(intern("f", "/f.php", 1), MST_FRAME_OTHER);
    ck_assert_uint_eq(mst_call_stack_intern(&board, MST_STACK_NONE, 1), MST_STACK_OTHER);
}
END_TEST

/* Another worker has written nonsense into the entry, or was killed as it claimed it. */
START_TEST(damage_misleads_no_further)
{
    uint32_t index, other;

    make(1024);
    index = intern("f", "/f.php", 1);
    memset(board.frames[index].function, 0xff, sizeof board.frames[index].function);
    other = intern("f", "/f.php", 1);
    ck_assert_uint_ne(other, index);
    board.frames[other].used = 0;
    ck_assert_uint_eq(intern("f", "/f.php", 1), other);
    ck_assert_uint_eq(board.frames[other].used, 1);
}
END_TEST

/* Processes that come with the same functions at once find the same entries. */
START_TEST(no_function_is_there_twice)
{
    uint32_t i, k, same = 0;
    char name[32];
    int status;

    make(1024);
    for (k = 0; k < 4; k++)
        if (fork() == 0) {
            for (i = 0; i < 1000; i++) {
                snprintf(name, sizeof name, "f%u", i);
                intern(name, "/f.php", i);
            }
            _exit(0);
        }
    while (wait(&status) > 0)
        ck_assert_int_eq(status, 0);
    for (i = 0; i < board.frame_count; i++)
        same += strcmp(board.frames[i].function, "f77") == 0;
    ck_assert_uint_eq(same, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call_stacks");
    TCase *table = tcase_create("tables");

    tcase_add_test(table, a_function_has_one_entry);
    tcase_add_test(table, a_long_name_keeps_its_end);
    tcase_add_test(table, functions_without_room_are_other);
    tcase_add_test(table, stacks_are_a_tree);
    tcase_add_test(table, stacks_without_room_are_other);
    tcase_add_test(table, a_board_without_samples_has_no_functions);
    tcase_add_test(table, damage_misleads_no_further);
    tcase_add_test(table, no_function_is_there_twice);
    suite_add_tcase(suite, table);
    return test_run(suite);
}

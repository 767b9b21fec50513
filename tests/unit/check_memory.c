/* check_memory.c - arrays for readers: zeroed, aligned, and large ones given back. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "harness.h"

#define BIG (4u << 20)   /* bytes: far above where an array gets pages of its own */

static bool is_zero(const unsigned char *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

/* Also where the memory was used before. */
START_TEST(test_arrays_are_aligned_and_zero)
{
    static const size_t sizes[] = { 0, 1, 64, 4096, (128 << 10) - 64, 128 << 10, BIG };
    size_t i, round;

    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (round = 0; round < 2; round++) {
            unsigned char *array = mst_zalloc(1, sizes[i]);

            ck_assert_ptr_nonnull(array);
            ck_assert_uint_eq((uintptr_t)array % MST_CACHE_LINE, 0);
            ck_assert(is_zero(array, sizes[i]));
            memset(array, 0xff, sizes[i]);
            mst_zfree(array);
        }
    mst_zfree(NULL);
}
END_TEST

START_TEST(test_impossible_sizes)
{
    ck_assert_ptr_null(mst_zalloc(SIZE_MAX, 2));
    ck_assert_ptr_null(mst_zalloc(SIZE_MAX, 1));
    ck_assert_ptr_null(mst_zalloc(SIZE_MAX - 64, 1));
    ck_assert_ptr_null(mst_zalloc(1, (size_t)1 << 62));
}
END_TEST

/* malloc() unmaps the first such array, too, but keeps the following ones. */
START_TEST(test_large_arrays_go_back_to_the_kernel)
{
    int round;

    for (round = 0; round < 3; round++) {
        char *array = mst_zalloc(1, BIG), *page;

        ck_assert_ptr_nonnull(array);
        page = array + MST_PAGE - (uintptr_t)array % MST_PAGE;
        ck_assert_int_eq(msync(page, MST_PAGE, MS_ASYNC), 0);
        mst_zfree(array);
        ck_assert_int_eq(msync(page, MST_PAGE, MS_ASYNC), -1);
        ck_assert_int_eq(errno, ENOMEM);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");

    tcase_add_test(tests, test_arrays_are_aligned_and_zero);
    tcase_add_test(tests, test_impossible_sizes);
    tcase_add_test(tests, test_large_arrays_go_back_to_the_kernel);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

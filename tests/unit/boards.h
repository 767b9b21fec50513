/* boards.h - snapshots made by hand, for tests of what is made of them; and a
 * sink that keeps what is written.
 */
#ifndef MPMSTAT_TEST_BOARDS_H
#define MPMSTAT_TEST_BOARDS_H

#include <stddef.h>

#include "read/snapshot.h"
#include "render/sink.h"

/* An Apache's board and a PHP's: unknowns, hostile strings, more busy workers
 * than text shows. The same in every run. Static; nothing to free. */
#define TEST_BOARDS 2u
const struct mst_snapshot *const *test_boards(void);

/* A board with one element of each scope, in which every word and string of the
 * field table is another one. A histogram's word is its sum. */
const struct mst_snapshot *test_numbered_board(void);

/* A sink into memory. text ends with a NUL after test_kept_end, which returns
 * the sink's error; free it. */
struct test_kept {
    struct mst_sink sink;
    char           *text;
    size_t          length;
};
void test_kept_begin(struct test_kept *kept);
int  test_kept_end(struct test_kept *kept);

#endif

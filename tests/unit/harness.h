/* harness.h - what the board's unit tests share: a private directory, boards in
 * it, and a main. Tests with libcheck; each runs in a process of its own.
 */
#ifndef MPMSTAT_TEST_HARNESS_H
#define MPMSTAT_TEST_HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/pool.h"
#include "read/copy.h"
#include "read/snapshot.h"
#include "write/board.h"

/* Runs the suite with a directory of its own in memory, which is removed
 * afterwards whatever happened. Returns main's value. */
int test_run(Suite *suite);

/* A name in that directory that no other caller got. */
const char *test_path(void);

/* The pool of this test. */
apr_pool_t *memory_of_test(void);

/* A small layout of an Apache's board to start from: 4 processes of 2 threads, 8 labels, 2 stripes,
 * 16 request records, 16 lifecycle records. */
struct mst_layout test_layout(void);

/* The same of a PHP's board, with one thread a process: 4 workers. */
struct mst_layout test_php_layout(void);

/* Makes a board in the test's directory; its file is b->path. */
void test_board(struct mst_board *b, const struct mst_layout *layout);

/* Writes b's board to a new file as a newer writer would lay it out: `extra`
 * bytes (a multiple of 8) of unknown words at the end of every entry. Returns
 * its path, good until the next call. */
const char *test_grown_board(const struct mst_board *b, uint32_t extra);

/* Opens, copies and makes a snapshot of the board at path; all of it is freed by
 * test_view_free. `running` as in struct mst_world. */
struct test_view {
    struct mst_reader   reader;
    struct mst_copy     copy;
    struct mst_snapshot s;
};
void test_view(struct test_view *v, const char *path, int running);
void test_view_free(struct test_view *v);

/* A counter of the snapshot's label by name; fails where there is none. */
const struct mst_snapshot_label *test_label(const struct mst_snapshot *s, const char *name);

/* Forks; the child gets true. test_wait returns the child's wait status. */
bool test_fork(pid_t *pid);
int test_wait(pid_t pid);

/* A process that has ended: its pid belongs to nobody. */
pid_t test_dead_pid(void);

#endif

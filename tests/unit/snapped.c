/* snapped.c - see snapped.h. */
#include <unistd.h>

#include "harness.h"
#include "snapped.h"
#include "write/journal.h"
#include "write/pools.h"
#include "write/worker.h"

struct mst_board board;
struct test_view view;

void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

void look(int running)
{
    test_view(&view, board.path, running);
}

void tear_down(void)
{
    test_view_free(&view);
    mst_board_close(&board);
}

int claim(uint64_t since_ns)
{
    int process = mst_process_claim(&board, (uint64_t)getpid(), 0, since_ns);

    ck_assert_int_ge(process, 0);
    return process;
}

struct mst_worker *worker(int process, uint32_t thread)
{
    return &board.workers[(uint32_t)process * board.threads + thread];
}

void enter(struct mst_worker *w, enum mst_state state, uint64_t now_ns)
{
    mst_worker_enter(w, state, mst_worker_since(w), now_ns);
}

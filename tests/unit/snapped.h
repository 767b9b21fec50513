/* snapped.h - boards and what is read of them, for tests of snapshots. */
#ifndef MPMSTAT_TESTS_SNAPPED_H
#define MPMSTAT_TESTS_SNAPPED_H

#include "harness.h"
#include "write/journal.h"
#include "write/pools.h"
#include "write/worker.h"

extern struct mst_board board;
extern struct test_view view;

void make(void);

void look(int running);

void tear_down(void);

/* A process entry of this very process since since_ns. */
int claim(uint64_t since_ns);

struct mst_worker *worker(int process, uint32_t thread);

void enter(struct mst_worker *w, enum mst_state state, uint64_t now_ns);

#endif

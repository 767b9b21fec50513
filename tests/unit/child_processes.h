/* child_processes.h - processes that a test starts and ends. */
#ifndef MPMSTAT_TESTS_CHILD_PROCESSES_H
#define MPMSTAT_TESTS_CHILD_PROCESSES_H

#include "base/clock.h"
#include "system/processes.h"

#define MEGABYTE (UINT64_C(1) << 20)
#define BURN_NS  (300 * MST_NS_PER_MS)

void burn(void);

/* A server: a process that does what it reads from the pipe, a letter a task, and
 * answers with a byte. */
struct server { pid_t pid; int tasks, answers; };

struct server start(void);

void order(const struct server *s, char task);

void stop(const struct server *s);

int count_reading(void *context, uint64_t wall_ns, const struct mst_proc *process,
                  uint64_t cost_ns);

#endif

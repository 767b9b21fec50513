/* processes.h - a server's processes in /proc: their CPU time and their memory.
 *
 * The server is its parent process and everything below it (MPM children,
 * helpers, CGI), found by pid and start time; or, where its processes have no
 * common parent (php-cgi's), those that its board names. Memory is PSS: what several
 * processes share is divided among them, so that the sum is what the server
 * takes. Reading it walks the process's pages under its memory lock, so it is
 * done in rounds: each process once a round, at most a round every two seconds,
 * and never for more than a small share of the time.
 *
 * A board names its process, and every writer of the board could name another one. So a process is
 * taken for the server's only where it is the board's owner's and has the file mapped.
 */
#ifndef MPMSTAT_PROCESSES_H
#define MPMSTAT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "system/proc.h"

#define MST_MEMORY_ROUND_NS  UINT64_C(2000000000)   /* from one round's start to the next */
#define MST_MEMORY_PER_CENT  3u                     /* of one CPU, at most, while it rounds */
#define MST_ALL_AGE_NS       UINT64_C(500000000)    /* of a shared list that a round begins with */

/* The file of a server's board. */
struct mst_board_file_id {
    uid_t       owner;
    dev_t       device;
    ino_t       inode;
    const char *path;     /* borrowed */
};

/* Whether a process that the board names is its owner's and uses the file, as far as this
 * reader may see; process 1 only where it may. False with a sentence. */
bool mst_process_has_board(uint64_t pid, const struct mst_board_file_id *board,
                           char error[MST_ERROR_MAX]);

/* Whether a process has certainly left the board: a server that has unloaded PHP runs on, and the
 * board of its PHP stays. Precondition: every process that uses this board has it mapped. */
bool mst_process_left_board(uint64_t pid, const struct mst_board_file_id *board);

/* A process that the board names. */
struct mst_named_process {
    uint64_t pid, start_ticks, cpu_ns;
    bool     ended;
    bool     foreign;     /* it does not have the board: nothing of it counts */
};

/* All processes of this machine. Each server's are found among them, and reading /proc takes some
 * 10 us for each process: servers whose rounds begin soon after each other share one list. */
struct mst_all_processes {
    struct mst_proc_list list;
    uint64_t             read_ns;  /* CLOCK_MONOTONIC; 0: not yet */
};

struct mst_processes {
    uint64_t pid, start_ticks;     /* the parent; start_ticks 0: it ended before it was read */
    const struct mst_board_file_id *board;   /* borrowed; NULL: none */
    struct mst_all_processes *shared;        /* borrowed; NULL: no other server has a part in it */
    bool     by_name;              /* no parent: those named */
    size_t   named_count, named_room;
    struct mst_named_process *named;
    uint64_t ended_cpu_ns;         /* of those named that have ended and are forgotten */
    struct mst_proc_list list;     /* the server's, as of the last scan */
    char     problem[MST_ERROR_MAX];   /* why memory cannot be read; "" it can */

    bool     in_round;
    size_t   next;                 /* the process to read next */
    uint64_t last_tick_ns;
    uint64_t began_ns, began_wall_ns;
    uint64_t round_cost_ns, cost_ns;   /* of this round; of all */
};

/* Begins with the server whose parent is pid. Below it only the processes of the board's
 * owner count, where that is not root; board NULL: all count. */
void mst_processes_init(struct mst_processes *p, uint64_t pid,
                        const struct mst_board_file_id *board);
void mst_processes_free(struct mst_processes *p);
void mst_all_processes_free(struct mst_all_processes *all);

/* Begins with no process; each that the board names is told by mst_processes_name(),
 * as often as the board is sampled: CPU time is known up to the last time. One that
 * does not have the board is left out. False: out of memory. */
void mst_processes_init_named(struct mst_processes *p, const struct mst_board_file_id *board);
bool mst_processes_name(struct mst_processes *p, uint64_t pid);

/* Whether the parent still runs; true where there is none. */
bool mst_processes_alive(const struct mst_processes *p);

/* The server's CPU time since its start in ns, that of processes that ended
 * included. MST_UNKNOWN where it is gone or cannot be seen. Scans /proc, also where a list is
 * shared. */
uint64_t mst_processes_cpu(struct mst_processes *p);

/* A process's memory and open files, and what reading them cost; wall_ns since 1970. Nonzero
 * stops the round. */
typedef int mst_take_process(void *context, uint64_t wall_ns, const struct mst_proc *process,
                             uint64_t cost_ns);

struct mst_memory_round {
    uint64_t wall_ns, began_wall_ns, processes, pss_bytes, rss_bytes, cost_ns;
};

/* Reads on for as long as the share since the last call allows, or where `all`
 * is true to the round's end (nothing is being measured any more). Begins a
 * round where one is due, or where `all` is true. Returns 1: a round has ended,
 * *round is filled; 0: not yet; -1: `take` stopped it. Where memory cannot be
 * read it returns 0 and p->problem says why. */
int mst_processes_tick(struct mst_processes *p, bool all, mst_take_process *take, void *context,
                       struct mst_memory_round *round);

#endif

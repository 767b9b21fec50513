/* fork_table.c - processes that were forked and are not known to have ended: fork_table.h. */
#include "write/fork_table.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* Takes the first free entry, so that the used ones stay at the table's beginning. */
struct mst_fork *mst_fork_add(struct mst_board *b, const struct mst_fork *fork)
{
    uint64_t end = __atomic_load_n(&b->header->forks_end, __ATOMIC_RELAXED);
    uint32_t i;

    for (i = 0; i < b->fork_count; i++) {
        struct mst_fork *f = &b->forks[i];
        uint64_t empty = 0;

        if (!__atomic_compare_exchange_n(&f->pid, &empty, fork->pid | MST_PROCESS_CLAIMING, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        while (end <= i && !__atomic_compare_exchange_n(&b->header->forks_end, &end, i + 1, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        f->parent = fork->parent;
        f->time_ns = fork->time_ns;
        f->duration_ns = fork->duration_ns;
        f->kind = fork->kind;
        f->mpm_slot = fork->mpm_slot;
        f->serves = fork->serves;
        f->generation = fork->generation;
        __atomic_store_n(&f->pid, fork->pid, __ATOMIC_RELEASE);
        return f;
    }
    return NULL;
}

uint32_t mst_fork_end(const struct mst_board *b)
{
    uint64_t end = __atomic_load_n(&b->header->forks_end, __ATOMIC_RELAXED);

    return end < b->fork_count ? (uint32_t)end : b->fork_count;
}

uint64_t mst_fork_pid(const struct mst_fork *fork)
{
    uint64_t pid = __atomic_load_n(&fork->pid, __ATOMIC_ACQUIRE);

    return pid & MST_PROCESS_CLAIMING ? 0 : pid;
}

bool mst_fork_take(struct mst_fork *fork, uint64_t pid)
{
    return pid != 0
        && __atomic_compare_exchange_n(&fork->pid, &pid, (uint64_t)getpid() | MST_PROCESS_CLAIMING,
                                       false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void mst_fork_free(struct mst_fork *fork)
{
    __atomic_store_n(&fork->pid, 0, __ATOMIC_RELEASE);
}

void mst_fork_forget(struct mst_board *b, uint64_t pid)
{
    uint32_t i, end = mst_fork_end(b);

    for (i = 0; i < end; i++)
        if (mst_fork_take(&b->forks[i], pid))
            mst_fork_free(&b->forks[i]);
}

void mst_fork_reclaim(struct mst_board *b)
{
    uint32_t i, end = mst_fork_end(b);

    for (i = 0; i < end; i++) {
        uint64_t pid = __atomic_load_n(&b->forks[i].pid, __ATOMIC_RELAXED);

        if (pid & MST_PROCESS_CLAIMING && kill((pid_t)(pid & ~MST_PROCESS_CLAIMING), 0) != 0
            && errno == ESRCH)
            __atomic_compare_exchange_n(&b->forks[i].pid, &pid, 0, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED);
    }
}

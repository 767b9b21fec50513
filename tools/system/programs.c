/* programs.c - which programs took the CPU and the disks: see programs.h.
 *
 * What a process took goes to its parent when the parent waits for it. So what it
 * took before the first sample is subtracted from its parent's, which waited for it.
 */
#include "system/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "segment/terms.h"

#define KTHREADD 2u   /* the parent of the kernel's threads */

static struct mst_program *find_program(struct mst_programs *p, const char *name,
                                        enum mst_proc_owner owner)
{
    size_t i;

    for (i = 0; i < p->count; i++)
        if (p->items[i].owner == owner && strcmp(p->items[i].name, name) == 0)
            return &p->items[i];
    if (!mst_grow(&p->items, &p->room, p->count, sizeof *p->items))
        return NULL;
    memset(&p->items[p->count], 0, sizeof *p->items);
    p->items[p->count].owner = owner;
    memcpy(p->items[p->count].name, name, strlen(name));   /* at most 15 bytes */
    return &p->items[p->count++];
}

static bool is_kernel(const struct mst_proc *proc)
{
    return proc->pid == KTHREADD || proc->parent == KTHREADD;
}

/* What the kernel's threads write is what others have written before. */
static bool sample_processes(struct mst_proc_list *list)
{
    struct mst_proc *proc;
    size_t i;

    if (!mst_proc_scan(list))
        return false;
    for (i = 0; i < list->count; i++) {
        proc = &list->items[i];
        proc->cpu_ns = mst_proc_cpu(proc->pid);
        proc->disk_bytes = is_kernel(proc) ? 0 : mst_proc_disk_bytes(proc->pid);
    }
    return true;
}

/* The same process in another list. NULL: it is not there (any more). */
static struct mst_proc *same(const struct mst_proc_list *list, const struct mst_proc *proc)
{
    struct mst_proc *other = mst_proc_find(list, proc->pid);

    return other != NULL && other->start_ticks == proc->start_ticks ? other : NULL;
}

/* The process that has what this one took now: itself, or its nearest ancestor that still
 * runs. NULL: there is none. */
static const struct mst_proc *heir(const struct mst_programs *p, const struct mst_proc *proc)
{
    size_t steps = p->before.count;

    while (proc != NULL && same(&p->after, proc) == NULL && steps-- > 0)
        proc = mst_proc_find(&p->before, proc->parent);
    return proc != NULL ? same(&p->after, proc) : NULL;
}

/* The kernel's threads are many, and one to the reader. */
static const char *program_of(const struct mst_proc *proc)
{
    return is_kernel(proc) ? "kernel" : proc->name;
}

static bool add_taken(struct mst_programs *p, const struct mst_proc *to,
                      const struct mst_proc *taken, int64_t sign)
{
    struct mst_program *program = find_program(p, program_of(to),
                                               (enum mst_proc_owner)to->owner);

    if (program == NULL)
        return false;
    program->cpu_ns += sign * (int64_t)(taken->cpu_ns + taken->waited_ns);
    if (taken->disk_bytes != MST_UNKNOWN)
        program->disk_bytes += sign * (int64_t)taken->disk_bytes;
    else
        program->disk_unknown = true;
    return true;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct mst_program *)a)->cpu_ns;
    int64_t y = ((const struct mst_program *)b)->cpu_ns;

    return (x < y) - (x > y);
}

bool mst_programs_before(struct mst_programs *p)
{
    return sample_processes(&p->before);
}

bool mst_programs_after(struct mst_programs *p)
{
    return sample_processes(&p->after);
}

bool mst_programs_sum(struct mst_programs *p)
{
    const struct mst_proc *to;
    size_t i;

    for (i = 0; i < p->after.count; i++)
        if (!add_taken(p, &p->after.items[i], &p->after.items[i], 1))
            return false;
    for (i = 0; i < p->before.count; i++) {
        to = heir(p, &p->before.items[i]);
        if (to != NULL && !add_taken(p, to, &p->before.items[i], -1))
            return false;
    }
    if (p->count > 1)
        qsort(p->items, p->count, sizeof *p->items, by_time);
    return true;
}

void mst_programs_free(struct mst_programs *p)
{
    mst_proc_free(&p->before);
    mst_proc_free(&p->after);
    free(p->items);
    *p = (struct mst_programs){ 0 };
}

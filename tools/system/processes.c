/* processes.c - a server's processes in /proc: see processes.h. */
#include "system/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/host.h"
#include "segment/format.h"
#include "system/owner.h"

/* ---- whether one has the board ------------------------------------------------------- */

enum has { HAS, HAS_NOT, CANNOT_TELL };

/* A line of /proc/PID/maps: "FROM-TO PERMISSIONS OFFSET MAJOR:MINOR INODE PATH". Where file
 * systems are stacked, the device in it is not the one that stat() tells, but the path is. */
static bool is_mapping_of(const char *line, const struct mst_board_file_id *board)
{
    unsigned major_number, minor_number;
    const char *path = strchr(line, '/');
    unsigned long long inode;

    if (sscanf(line, "%*s %*s %*s %x:%x %llu", &major_number, &minor_number, &inode) != 3 ||
        inode != (unsigned long long)board->inode)
        return false;
    return makedev(major_number, minor_number) == board->device ||
           (path != NULL && strncmp(path, board->path, strlen(board->path)) == 0);
}

static enum has has_mapped(uint64_t pid, const struct mst_board_file_id *board)
{
    enum has found = HAS_NOT;
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", pid);
    maps = fopen(path, "re");
    if (maps == NULL)
        return CANNOT_TELL;
    errno = 0;
    while (found == HAS_NOT && getline(&line, &room, maps) > 0)
        if (is_mapping_of(line, board))
            found = HAS;
    if (found == HAS_NOT && ferror(maps))
        found = CANNOT_TELL;
    free(line);
    fclose(maps);
    return found;
}

static bool has_open(uint64_t pid, const struct mst_board_file_id *board)
{
    struct dirent *entry;
    bool found = false;
    struct stat st;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd", pid);
    dir = opendir(path);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && st.st_dev == board->device &&
                st.st_ino == board->inode;
    if (dir != NULL)
        closedir(dir);
    return found;
}

bool mst_process_has_board(uint64_t pid, const struct mst_board_file_id *board,
                           char error[MST_ERROR_MAX])
{
    enum has mapped;
    uid_t owner;

    if (mst_host_process_owner(pid, &owner) && owner != board->owner) {
        snprintf(error, MST_ERROR_MAX, "the board %.400s names process %" PRIu64 ": expected one "
                 "of its owner, %s, found one of %s; its CPU and memory are not read", board->path,
                 pid, mst_owner_name(board->owner).text, mst_owner_name(owner).text);
        return false;
    }
    mapped = has_mapped(pid, board);
    if (mapped == HAS || (mapped == CANNOT_TELL && pid != 1) ||
        (mapped == HAS_NOT && has_open(pid, board)))
        return true;
    snprintf(error, MST_ERROR_MAX, "the board %.400s names process %" PRIu64 ": expected one that "
             "has this file mapped, %s; its CPU and memory are not read", board->path, pid,
             mapped == HAS_NOT ? "and it has not" : "and its mappings cannot be read (root may)");
    return false;
}

bool mst_process_left_board(uint64_t pid, const struct mst_board_file_id *board)
{
    return has_mapped(pid, board) == HAS_NOT && !has_open(pid, board);
}

/* ---- which of them are the server's ---------------------------------------------- */

void mst_processes_init(struct mst_processes *p, uint64_t pid,
                        const struct mst_board_file_id *board)
{
    struct mst_proc parent;

    *p = (struct mst_processes){ .pid = pid, .board = board };
    if (mst_proc_stat(pid, &parent))
        p->start_ticks = parent.start_ticks;
}

void mst_processes_init_named(struct mst_processes *p, const struct mst_board_file_id *board)
{
    *p = (struct mst_processes){ .by_name = true, .board = board };
}

/* Reads the process's CPU time; one that has ended keeps what was read last. */
static void sample_named(struct mst_named_process *named)
{
    struct mst_proc proc;
    uint64_t cpu_ns;

    if (named->ended)
        return;
    cpu_ns = named->foreign ? 0 : mst_proc_cpu(named->pid);
    named->ended = !mst_proc_stat(named->pid, &proc) || proc.start_ticks != named->start_ticks ||
                   proc.state == 'Z';
    if (!named->ended && cpu_ns > named->cpu_ns)
        named->cpu_ns = cpu_ns;
}

/* Forgets those that have ended; their time is kept. */
static void forget_ended(struct mst_processes *p)
{
    size_t i, kept = 0;

    for (i = 0; i < p->named_count; i++) {
        sample_named(&p->named[i]);
        if (p->named[i].ended)
            p->ended_cpu_ns += p->named[i].cpu_ns;
        else
            p->named[kept++] = p->named[i];
    }
    p->named_count = kept;
}

/* Room for one more: plain CGI has a process for each request, most of them gone. */
static bool make_room(struct mst_processes *p)
{
    forget_ended(p);
    return 2 * p->named_count < p->named_room ||
           mst_grow(&p->named, &p->named_room, p->named_room, sizeof *p->named);
}

bool mst_processes_name(struct mst_processes *p, uint64_t pid)
{
    struct mst_named_process *named;
    char ignored[MST_ERROR_MAX];
    struct mst_proc proc;
    size_t i;

    for (i = 0; i < p->named_count; i++)
        if (p->named[i].pid == pid && !p->named[i].ended) {
            sample_named(&p->named[i]);
            if (!p->named[i].ended)
                return true;
        }
    if (!mst_proc_stat(pid, &proc))
        return true;   /* ended meanwhile */
    if (p->named_count == p->named_room && !make_room(p))
        return false;
    named = &p->named[p->named_count++];
    *named = (struct mst_named_process){
        .pid = pid, .start_ticks = proc.start_ticks,
        .foreign = p->board != NULL && !mst_process_has_board(pid, p->board, ignored),
    };
    sample_named(named);
    return true;
}

void mst_processes_free(struct mst_processes *p)
{
    free(p->named);
    mst_proc_free(&p->list);
    *p = (struct mst_processes){ 0 };
}

void mst_all_processes_free(struct mst_all_processes *all)
{
    mst_proc_free(&all->list);
    *all = (struct mst_all_processes){ 0 };
}

/* Marks what is below a marked one, until there is nothing more to mark. */
static void mark_descendants(struct mst_proc_list *list)
{
    struct mst_proc *parent;
    bool more = true;
    size_t i;

    while (more) {
        more = false;
        for (i = 0; i < list->count; i++) {
            if (list->items[i].ours)
                continue;
            parent = mst_proc_find(list, list->items[i].parent);
            if (parent != NULL && parent->ours)
                list->items[i].ours = more = true;
        }
    }
}

/* Root's server may have processes of any user; another's only that user's. */
static bool is_owners(const struct mst_processes *p, uint64_t pid)
{
    uid_t owner;

    return p->board == NULL || p->board->owner == 0 ||
           (mst_host_process_owner(pid, &owner) && owner == p->board->owner);
}

static void keep_ours(struct mst_processes *p)
{
    struct mst_proc_list *list = &p->list;
    size_t i, n = 0;

    for (i = 0; i < list->count; i++)
        if (list->items[i].ours && is_owners(p, list->items[i].pid))
            list->items[n++] = list->items[i];
    list->count = n;
}

static bool is_alive(const struct mst_processes *p, const struct mst_proc *parent)
{
    return parent->start_ticks == p->start_ticks && parent->state != 'Z';
}

bool mst_processes_alive(const struct mst_processes *p)
{
    struct mst_proc parent;

    return p->by_name ||
           (p->start_ticks != 0 && mst_proc_stat(p->pid, &parent) && is_alive(p, &parent));
}

/* Those named that are there still. */
static bool scan_named(struct mst_processes *p)
{
    struct mst_proc proc;
    bool fine = true;
    size_t i;

    p->list.count = 0;
    for (i = 0; i < p->named_count && fine; i++) {
        sample_named(&p->named[i]);
        if (!p->named[i].ended && !p->named[i].foreign && mst_proc_stat(p->named[i].pid, &proc))
            fine = mst_proc_add(&p->list, &proc);
    }
    return fine;
}

/* Puts all processes of this machine into p->list, as they were at most so long ago. */
static bool list_all(struct mst_processes *p, uint64_t age_ns)
{
    struct mst_all_processes *all = p->shared;
    uint64_t now = mst_now_ns();

    if (all == NULL)
        return mst_proc_scan(&p->list);
    if (now - all->read_ns >= age_ns)
        all->read_ns = mst_proc_scan(&all->list) ? now : 0;
    return all->read_ns != 0 && mst_proc_copy(&p->list, &all->list);
}

static struct mst_proc *find_parent(struct mst_processes *p, uint64_t age_ns)
{
    struct mst_proc *parent = list_all(p, age_ns) ? mst_proc_find(&p->list, p->pid) : NULL;

    return parent != NULL && is_alive(p, parent) ? parent : NULL;
}

/* The server's processes as they were at most so long ago. A parent that an older list does not
 * have can have begun since. false: it is gone. */
static bool scan(struct mst_processes *p, uint64_t age_ns)
{
    struct mst_proc *parent = NULL;

    if (p->by_name)
        return scan_named(p);
    if (p->start_ticks != 0)
        parent = find_parent(p, age_ns);
    if (p->start_ticks != 0 && parent == NULL && age_ns > 0)
        parent = find_parent(p, 0);
    if (parent == NULL) {
        p->list.count = 0;
        return false;
    }
    parent->ours = true;
    mark_descendants(&p->list);
    keep_ours(p);
    return true;
}

uint64_t mst_processes_cpu(struct mst_processes *p)
{
    uint64_t sum = 0;
    size_t i;

    if (!scan(p, 0))
        return MST_UNKNOWN;
    p->in_round = false;    /* the list is another now */
    for (i = 0; i < p->named_count; i++)
        sum += p->named[i].cpu_ns;
    if (p->by_name)
        return sum + p->ended_cpu_ns;
    for (i = 0; i < p->list.count; i++)
        sum += p->list.items[i].waited_ns + mst_proc_cpu(p->list.items[i].pid);
    return sum;
}

/* ---- memory ---------------------------------------------------------------------- */

/* 1 read, 0 the process has ended, -1 cannot (p->problem). */
static int read_pss(struct mst_processes *p, struct mst_proc *proc)
{
    char path[64], text[2048], *pss, *rss;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/smaps_rollup", proc->pid);
    if (mst_proc_read(path, text, sizeof text) < 0) {
        if (errno == ENOENT && access("/proc/self/smaps_rollup", F_OK) == 0)
            return 0;
        if (errno == ESRCH)
            return 0;
        snprintf(p->problem, sizeof p->problem, "cannot read %s: %s%s", path, strerror(errno),
                 errno == EACCES || errno == EPERM ? " (root may)" : "");
        return -1;
    }
    pss = strstr(text, "\nPss:");
    rss = strstr(text, "\nRss:");
    if (pss == NULL || rss == NULL)
        return 0;    /* it has no memory any more: a zombie */
    proc->pss_bytes = strtoull(pss + strlen("\nPss:"), NULL, 10) * 1024;
    proc->rss_bytes = strtoull(rss + strlen("\nRss:"), NULL, 10) * 1024;
    return 1;
}

static bool begin_round(struct mst_processes *p, uint64_t now)
{
    if (!scan(p, MST_ALL_AGE_NS)) {
        snprintf(p->problem, sizeof p->problem, "the server's parent process, %" PRIu64
                 ", is gone", p->pid);
        return false;
    }
    p->in_round = true;
    p->next = 0;
    p->began_ns = now;
    p->began_wall_ns = mst_realtime_ns();
    p->round_cost_ns = mst_now_ns() - now;
    p->cost_ns += p->round_cost_ns;
    return true;
}

static int end_round(struct mst_processes *p, struct mst_memory_round *round)
{
    size_t i;

    p->in_round = false;
    *round = (struct mst_memory_round){
        .wall_ns = mst_realtime_ns(), .began_wall_ns = p->began_wall_ns,
        .cost_ns = p->round_cost_ns,
    };
    for (i = 0; i < p->list.count; i++)
        if (p->list.items[i].seen) {
            round->processes++;
            round->pss_bytes += p->list.items[i].pss_bytes;
            round->rss_bytes += p->list.items[i].rss_bytes;
        }
    return 1;
}

int mst_processes_tick(struct mst_processes *p, bool all, mst_take_process *take, void *context,
                       struct mst_memory_round *round)
{
    uint64_t now = mst_now_ns(), began = now, cost;
    uint64_t share = (now - p->last_tick_ns) * MST_MEMORY_PER_CENT / 100;
    struct mst_proc *proc;
    int result;

    p->last_tick_ns = now;
    if (p->problem[0] != '\0')
        return 0;
    if (!p->in_round && !all && p->began_ns > 0 && now - p->began_ns < MST_MEMORY_ROUND_NS)
        return 0;
    if (!p->in_round && !begin_round(p, now))
        return 0;
    for (now = mst_now_ns(); p->next < p->list.count; now += cost) {
        if (!all && now - began >= share)
            return 0;
        proc = &p->list.items[p->next++];
        result = read_pss(p, proc);
        proc->files = mst_proc_files(proc->pid);
        proc->files_limit = mst_proc_files_limit(proc->pid);
        cost = mst_now_ns() - now;
        p->round_cost_ns += cost;
        p->cost_ns += cost;
        if (result < 0)
            return 0;
        proc->seen = result > 0;
        if (proc->seen && take(context, mst_realtime_ns(), proc, cost) != 0)
            return -1;
    }
    return end_round(p, round);
}

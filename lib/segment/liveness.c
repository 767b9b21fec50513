/* liveness.c - which of a board's processes are alive: see liveness.h. */
#include "segment/liveness.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/host.h"

#define ENTRIES_AT_ONCE 64u

/* Whether the pid is alive in this namespace and has these start ticks. A zombie serves no
 * requests. Unknown where /proc does not show the process (hidepid), and where the process
 * could not tell its start ticks (a chroot without /proc). */
static int process_runs(uint64_t pid, uint64_t start_ticks)
{
    struct mst_host_process process;

    if (pid == 0 || pid > INT32_MAX)
        return 0;
    if (mst_host_process(pid, &process) && (start_ticks != 0 || process.state == 'Z'))
        return process.start_ticks == start_ticks && process.state != 'Z';
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? 0 : -1;
}

static bool differ(uint64_t theirs, uint64_t ours)
{
    return theirs == 0 || ours == 0 || theirs != ours;
}

bool mst_header_has_no_parent(const struct mst_header *header)
{
    return header->pid == 0 && header->producer == MST_PRODUCER_PHP;
}

int mst_header_running(const struct mst_header *header)
{
    char boot_id[sizeof header->boot_id];

    mst_host_boot_id(boot_id, sizeof boot_id);
    if (boot_id[0] == '\0' || header->boot_id[0] == '\0')
        return -1;
    if (strcmp(boot_id, header->boot_id) != 0)
        return 0;
    /* In another pid namespace the pid is another process's; in another time namespace start
     * times are shifted. */
    if (differ(header->pid_namespace, mst_host_namespace("pid"))
        || (header->time_namespace != 0
            && differ(header->time_namespace, mst_host_namespace("time"))))
        return -1;
    return mst_header_has_no_parent(header) ? 1
           : process_runs(header->pid, header->pid_start_ticks);
}

static bool is_another_users(const struct mst_reader *r, uint64_t pid)
{
    uid_t owner;

    return mst_host_process_owner(pid, &owner) && owner != r->owner;
}

int mst_reader_running(const struct mst_reader *r)
{
    int running = mst_header_running(&r->header);

    if (running != 1 || mst_header_has_no_parent(&r->header))
        return running;
    return is_another_users(r, r->header.pid) ? -1 : running;
}

bool mst_entry_is_claimed(const struct mst_process *p)
{
    return p->pid != 0 && !(p->pid & MST_PROCESS_CLAIMING);
}

/* Processes without a common parent are the file's owner's: another user's process did not make
 * the entry. */
int mst_entry_running(const struct mst_reader *r, const struct mst_process *p)
{
    if (mst_header_has_no_parent(&r->header) && is_another_users(r, p->pid))
        return 0;
    return process_runs(p->pid, p->start_ticks);
}

uint32_t mst_reader_processes_alive(const struct mst_reader *r)
{
    uint32_t count = r->header.section[MST_SECTION_PROCESSES].count, alive = 0, first, i;
    struct mst_process entries[ENTRIES_AT_ONCE];
    char ignored[MST_ERROR_MAX];

    memset(entries, 0, sizeof entries);
    for (first = 0; first < count; first += ENTRIES_AT_ONCE) {
        uint32_t n = count - first < ENTRIES_AT_ONCE ? count - first : ENTRIES_AT_ONCE;

        if (mst_reader_entries(r, MST_SECTION_PROCESSES, first, n, entries, sizeof entries[0],
                               ignored) != 0)
            return alive;
        for (i = 0; i < n; i++)
            alive += mst_entry_is_claimed(&entries[i]) &&
                     mst_entry_running(r, &entries[i]) != 0;
    }
    return alive;
}

int mst_reader_alive(const struct mst_reader *r)
{
    int running = mst_header_running(&r->header);

    return mst_header_has_no_parent(&r->header) && running == 1
         ? mst_reader_processes_alive(r) > 0 : running;
}

/* idle_processes.c - see idle_processes.h. */
#include "lab/servers/idle_processes.h"

#include <poll.h>

#include "base/clock.h"
#include "system/processes.h"

#define SAMPLE_MS   250
#define REST_NS   (3 * MST_NS_PER_S)     /* Apache and FPM check their children once a second */
#define LIMIT_NS  (60 * MST_NS_PER_S)

static bool is_server(const struct mst_servers *servers, uint64_t pid)
{
    size_t i;

    for (i = 0; i < mst_servers_count(servers); i++)
        if ((uint64_t)mst_servers_item(servers, i)->pid == pid)
            return true;
    return false;
}

/* Whether the process, or one above it, is one of the servers. */
static bool is_below(const struct mst_servers *servers, const struct mst_proc_list *list,
                     const struct mst_proc *proc)
{
    size_t steps = list->count;

    while (proc != NULL && steps-- > 0) {
        if (is_server(servers, proc->pid))
            return true;
        proc = mst_proc_find(list, proc->parent);
    }
    return false;
}

static size_t count_processes(const struct mst_servers *servers, struct mst_proc_list *list)
{
    size_t count = 0, i;

    if (!mst_proc_scan(list))
        return 0;
    for (i = 0; i < list->count; i++)
        count += is_below(servers, list, &list->items[i]);
    return count;
}

size_t mst_idle_processes_wait(const struct mst_servers *servers,
                               const volatile sig_atomic_t *stop)
{
    uint64_t began = mst_now_ns(), since = began, now = began;
    struct mst_proc_list list = { 0 };
    size_t before = 0, count = 0;

    while (now - since < REST_NS && now - began < LIMIT_NS && *stop == 0) {
        count = count_processes(servers, &list);
        if (count != before)
            since = now;
        before = count;
        poll(NULL, 0, SAMPLE_MS);
        now = mst_now_ns();
    }
    mst_proc_free(&list);
    return now - since >= REST_NS ? count : 0;
}

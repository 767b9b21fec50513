/* machine.c - the recording machine as a whole: see machine.h. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "listen.h"
#include "processes.h"

static void read_cpu(struct mst_machine *m)
{
    uint64_t user, nice, system, idle, wait = 0, irq = 0, softirq = 0, steal = 0;
    char text[8192];

    if (mst_proc_read("/proc/stat", text, sizeof text) <= 0 ||
        sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64, &user, &nice, &system, &idle, &wait, &irq, &softirq,
               &steal) < 4)
        return;
    /* Stolen time is another machine's work: for us these CPUs were not idle. */
    m->busy_ns = mst_ticks_to_ns(user + nice + system + irq + softirq + steal);
    m->total_ns = m->busy_ns + mst_ticks_to_ns(idle + wait);
}

/* Both count what happens within a cgroup's limit, too. */
static void read_memory(struct mst_machine *m)
{
    const char *kills;
    uint64_t stall_us;
    char text[16384];

    if (mst_proc_read("/proc/pressure/memory", text, sizeof text) > 0 &&
        sscanf(text, "some %*s %*s %*s total=%" SCNu64, &stall_us) == 1)
        m->memory_stall_ns = stall_us * 1000;
    if (mst_proc_read("/proc/vmstat", text, sizeof text) > 0 &&
        (kills = strstr(text, "\noom_kill ")) != NULL)
        m->oom_kills = strtoull(kills + strlen("\noom_kill "), NULL, 10);
}

void mst_machine_read(struct mst_machine *m)
{
    *m = (struct mst_machine){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                               MST_UNKNOWN };
    read_cpu(m);
    mst_listen_counters(&m->listen_overflows, &m->listen_drops);
    read_memory(m);
}

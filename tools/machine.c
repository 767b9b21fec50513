/* machine.c - the recording machine as a whole: see machine.h. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
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

/* /proc/net/netstat has lines in pairs: names, then numbers in the same order. */
static uint64_t tcp_counter(const char *text, const char *name)
{
    const char *names = strstr(text, "TcpExt: "), *numbers;
    size_t length = strlen(name);

    numbers = names != NULL ? strstr(names + 1, "TcpExt: ") : NULL;
    while (names != NULL && numbers != NULL && *names != '\n' && *numbers != '\0') {
        if (strncmp(names, name, length) == 0 && strchr(" \n", names[length]) != NULL)
            return strtoull(numbers, NULL, 10);
        names += strcspn(names, " \n");
        names += *names == ' ';
        numbers += strcspn(numbers, " \n");
        numbers += *numbers == ' ';
    }
    return MST_UNKNOWN;
}

static void read_listening(struct mst_machine *m)
{
    char text[16384];

    if (mst_proc_read("/proc/net/netstat", text, sizeof text) <= 0)
        return;
    m->listen_overflows = tcp_counter(text, "ListenOverflows");
    m->listen_drops = tcp_counter(text, "ListenDrops");
}

void mst_machine_read(struct mst_machine *m)
{
    *m = (struct mst_machine){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN };
    read_cpu(m);
    read_listening(m);
}

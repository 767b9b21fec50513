/* machine.c - the recording machine as a whole: see machine.h. */
#include "system/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/accept_queue.h"
#include "segment/format.h"
#include "system/processes.h"

/* The number behind `name` at the beginning of a line. */
static uint64_t number(const char *text, const char *name)
{
    const char *at = text;
    size_t n = strlen(name);

    while (strncmp(at, name, n) != 0 || at[n] != ' ') {
        at = strchr(at, '\n');
        if (at == NULL)
            return MST_UNKNOWN;
        at++;
    }
    return strtoull(at + n, NULL, 10);
}

/* The times of a line of /proc/stat, behind the CPU's name. Stolen time is another machine's work:
 * for us these CPUs were not idle. */
struct times { uint64_t busy, stolen, process, total; };

static bool read_times(struct times *t, const char *text)
{
    uint64_t user, nice, system, idle, wait = 0, irq = 0, softirq = 0, steal = 0;

    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64, &user, &nice, &system, &idle, &wait, &irq, &softirq,
               &steal) < 4)
        return false;
    t->busy = user + nice + system + irq + softirq + steal;
    t->stolen = steal;
    t->process = user + nice + system;
    t->total = t->busy + idle + wait;
    return true;
}

/* The sum of some CPUs' lines: "cpu3 1 2 3". */
static bool read_some(struct times *sum, const char *text, const cpu_set_t *cpus)
{
    struct times one;
    unsigned cpu;
    int length;

    *sum = (struct times){ 0 };
    for (; (text = strstr(text, "\ncpu")) != NULL; text += length)
        if (sscanf(text, "\ncpu%u%n", &cpu, &length) != 1) {
            return false;
        } else if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, cpus)) {
            if (!read_times(&one, text + length))
                return false;
            sum->busy += one.busy;
            sum->stolen += one.stolen;
            sum->total += one.total;
        }
    return sum->total > 0;
}

static void read_cpu(struct mst_machine *m, const cpu_set_t *cpus)
{
    char text[1 << 16];
    struct times all, some;

    if (mst_proc_read("/proc/stat", text, sizeof text) <= 0 || strncmp(text, "cpu ", 4) != 0 ||
        !read_times(&all, text + 4))
        return;
    if (cpus == NULL || !read_some(&some, text, cpus))
        some = all;
    m->busy_ns = mst_ticks_to_ns(some.busy);
    m->total_ns = mst_ticks_to_ns(some.total);
    m->stolen_ns = mst_ticks_to_ns(some.stolen);
    m->process_ns = mst_ticks_to_ns(all.process);
    m->runnable = number(text, "procs_running");
    m->blocked = number(text, "procs_blocked");
    m->context_switches = number(text, "ctxt");
    m->forks = number(text, "processes");
}

/* Pressure stall information: "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static uint64_t stall_ns(const char *path)
{
    char text[512];
    uint64_t us;

    if (mst_proc_read(path, text, sizeof text) <= 0 ||
        sscanf(text, "some %*s %*s %*s total=%" SCNu64, &us) != 1)
        return MST_UNKNOWN;
    return us * 1000;
}

bool mst_machine_cpu_pressure(uint64_t milli[MST_PRESSURE_SPANS])
{
    double percent[MST_PRESSURE_SPANS];
    char text[512];
    unsigned i;

    if (mst_proc_read("/proc/pressure/cpu", text, sizeof text) <= 0 ||
        sscanf(text, "some avg10=%lf avg60=%lf avg300=%lf", &percent[0], &percent[1],
               &percent[2]) != 3)
        return false;
    for (i = 0; i < MST_PRESSURE_SPANS; i++)
        milli[i] = percent[i] >= 0 && percent[i] <= 100 ? (uint64_t)(percent[i] * 10) : 1000;
    return true;
}

/* Stalls and kills within a cgroup's limit count, too. */
static void read_memory(struct mst_machine *m)
{
    char text[16384];

    m->memory_stall_ns = stall_ns("/proc/pressure/memory");
    m->io_stall_ns = stall_ns("/proc/pressure/io");
    m->cpu_stall_ns = stall_ns("/proc/pressure/cpu");
    if (mst_proc_read("/proc/vmstat", text, sizeof text) > 0)
        m->oom_kills = number(text, "oom_kill");
    if (mst_proc_read("/proc/meminfo", text, sizeof text) > 0 &&
        number(text, "MemAvailable:") != MST_UNKNOWN)
        m->memory_available = number(text, "MemAvailable:") * 1024;
}

/* /proc/net/snmp and netstat have two lines for each protocol, names and then numbers: the
 * number in the place that the name has. */
static uint64_t counter(const char *path, const char *protocol, const char *name)
{
    char text[16384] = "\n", *names, *numbers, *word, *value, *rest_names, *rest_numbers;
    size_t n = strlen(protocol);

    if (mst_proc_read(path, text + 1, sizeof text - 1) <= 0 ||
        (names = strstr(text, protocol)) == NULL ||
        (numbers = strstr(names + n, protocol)) == NULL)
        return MST_UNKNOWN;
    *numbers = '\0';                                  /* ends the names */
    numbers[n + strcspn(numbers + n, "\n")] = '\0';
    word = strtok_r(names + n, " \n", &rest_names);
    value = strtok_r(numbers + n, " ", &rest_numbers);
    while (word != NULL && value != NULL && strcmp(word, name) != 0) {
        word = strtok_r(NULL, " \n", &rest_names);
        value = strtok_r(NULL, " ", &rest_numbers);
    }
    return word != NULL && value != NULL ? strtoull(value, NULL, 10) : MST_UNKNOWN;
}

static void read_network(struct mst_machine *m)
{
    mst_listen_counters(&m->listen_overflows, &m->listen_drops);
    m->tcp_segments = counter("/proc/self/net/snmp", "\nTcp: ", "OutSegs");
    m->tcp_retransmits = counter("/proc/self/net/snmp", "\nTcp: ", "RetransSegs");
    m->syn_retransmits = counter("/proc/self/net/netstat", "\nTcpExt: ", "TCPSynRetrans");
}

void mst_machine_read(struct mst_machine *m, const cpu_set_t *cpus)
{
    memset(m, 0xff, sizeof *m);   /* all unknown */
    read_cpu(m, cpus);
    read_memory(m);
    read_network(m);
}

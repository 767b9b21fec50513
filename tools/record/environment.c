/* environment.c - where a recording ran: see environment.h. */
#include "record/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system/processes.h"

struct recorder {
    struct mst_archive *archive;
    int64_t             run_id;
    int                 status;
};

static void put(struct recorder *r, const char *name, const char *value)
{
    if (r->status == 0 && value[0] != '\0')
        r->status = mst_archive_add_environment(r->archive, r->run_id, name, value);
}

static void put_number(struct recorder *r, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put(r, name, text);
}

/* The first line of a file, or in it the value behind `key` and a colon. */
static void put_from(struct recorder *r, const char *name, const char *path, const char *key)
{
    char line[512], *value;
    FILE *file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        value = line;
        if (key != NULL) {
            if (strncmp(line, key, strlen(key)) != 0 || (value = strchr(line, ':')) == NULL)
                continue;
            value += 1 + strspn(value + 1, " \t");
        }
        put(r, name, value);
        break;
    }
    if (file != NULL)
        fclose(file);
}

/* The soft limit in a line of /proc/PID/limits. */
static void put_limit(struct recorder *r, const char *prefix, const char *name, const char *limits,
                      const char *key)
{
    const char *line = strstr(limits, key);
    char full[64], value[32];

    snprintf(full, sizeof full, "%s_%s", prefix, name);
    if (line != NULL && sscanf(line + strlen(key), " %31s", value) == 1)
        put(r, full, value);
}

static void put_command(struct recorder *r, const char *prefix, uint64_t pid)
{
    char path[64], full[64], words[4096];
    ssize_t n, i;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cmdline", pid);
    snprintf(full, sizeof full, "%s_command", prefix);
    n = mst_proc_read(path, words, sizeof words);
    for (i = 0; i + 1 < n; i++)
        if (words[i] == '\0')
            words[i] = ' ';
    if (n > 0)
        put(r, full, words);
}

int mst_environment_record_server(struct mst_archive *archive, int64_t run_id, const char *prefix,
                                  uint64_t pid)
{
    struct recorder r = { archive, run_id, 0 };
    char path[64], text[4096], name[64];

    if (pid == 0 || pid == MST_UNKNOWN)
        return r.status;
    put_command(&r, prefix, pid);
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/limits", pid);
    if (mst_proc_read(path, text, sizeof text) > 0) {
        put_limit(&r, prefix, "open_files_limit", text, "Max open files");
        put_limit(&r, prefix, "processes_limit", text, "Max processes");
        put_limit(&r, prefix, "address_space_limit", text, "Max address space");
    }
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/status", pid);
    snprintf(name, sizeof name, "%s_cpus_allowed", prefix);
    put_from(&r, name, path, "Cpus_allowed_list");
    return r.status;
}

int mst_environment_record_servers_cpus(struct mst_archive *archive, int64_t run_id, uint64_t cpus)
{
    struct recorder r = { archive, run_id, 0 };

    put_number(&r, "servers_cpus", cpus);
    return r.status;
}

int mst_environment_record(struct mst_archive *archive, int64_t run_id)
{
    struct recorder r = { archive, run_id, 0 };
    struct utsname system;
    struct rlimit files;

    if (uname(&system) == 0) {
        put(&r, "system", system.sysname);
        put(&r, "kernel", system.release);
        put(&r, "machine", system.machine);
    }
    put_from(&r, "distribution", "/etc/debian_version", NULL);
    put_number(&r, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    put_from(&r, "cpu_model", "/proc/cpuinfo", "model name");
    put_number(&r, "memory_bytes",
               (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    put_from(&r, "load_average", "/proc/loadavg", NULL);
    put_from(&r, "somaxconn", "/proc/sys/net/core/somaxconn", NULL);
    put_from(&r, "tcp_max_syn_backlog", "/proc/sys/net/ipv4/tcp_max_syn_backlog", NULL);
    put_from(&r, "tcp_tw_reuse", "/proc/sys/net/ipv4/tcp_tw_reuse", NULL);
    put_from(&r, "tcp_syncookies", "/proc/sys/net/ipv4/tcp_syncookies", NULL);
    put_from(&r, "tcp_abort_on_overflow", "/proc/sys/net/ipv4/tcp_abort_on_overflow", NULL);
    put_from(&r, "tcp_fin_timeout", "/proc/sys/net/ipv4/tcp_fin_timeout", NULL);
    put_from(&r, "netdev_max_backlog", "/proc/sys/net/core/netdev_max_backlog", NULL);
    put_from(&r, "overcommit_memory", "/proc/sys/vm/overcommit_memory", NULL);
    put_from(&r, "swappiness", "/proc/sys/vm/swappiness", NULL);
    put_from(&r, "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled", NULL);
    put_from(&r, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
             NULL);
    put_from(&r, "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL);
    put_from(&r, "local_ports", "/proc/sys/net/ipv4/ip_local_port_range", NULL);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        put_number(&r, "open_files_limit", (uint64_t)files.rlim_cur);
    put(&r, "mpmstat", MPMSTAT_VERSION);
    return r.status;
}

/* environment.c - where a recording ran: see environment.h. */
#include "environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

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
    put_from(&r, "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL);
    put_from(&r, "local_ports", "/proc/sys/net/ipv4/ip_local_port_range", NULL);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        put_number(&r, "open_files_limit", (uint64_t)files.rlim_cur);
    put(&r, "mpmstat", MPMSTAT_VERSION);
    return r.status;
}

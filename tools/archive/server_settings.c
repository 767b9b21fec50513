/* server_settings.c - a server's settings of processes and the files they stand in: see
 * server_settings.h. */
#include "archive/server_settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "archive/states.h"
#include "system/config_files.h"

#define KEPT_MAX 256u

/* Those that advice changes, or that decide what the server accepts. */
static const char *const wanted[] = {
    "pm", "pm.max_children", "pm.start_servers", "pm.min_spare_servers", "pm.max_spare_servers",
    "pm.max_requests", "listen.backlog",
    "MaxRequestWorkers", "ServerLimit", "ThreadLimit", "ThreadsPerChild", "StartServers",
    "MinSpareServers", "MaxSpareServers", "MinSpareThreads", "MaxSpareThreads",
    "AsyncRequestWorkerFactor", "H2MaxWorkers", "KeepAliveTimeout", "MaxConnectionsPerChild",
    "ListenBacklog",
};

struct kept { char name[160], value[256]; };

struct keeper {
    const char *prefix;
    bool        is_fpm;
    size_t      count;
    struct kept kept[KEPT_MAX];
};

static const char *known_as(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcasecmp(wanted[i], name) == 0)
            return wanted[i];
    return NULL;
}

/* A mst_config_see: the last one of a name is in force. */
static void keep(void *context, const char *section, const char *name, const char *value,
                 const char *file)
{
    struct keeper *k = context;
    const char *known = known_as(name);
    char full[160];
    size_t i;

    if (known == NULL || (k->is_fpm && section[0] == '\0'))
        return;
    if (k->is_fpm)
        snprintf(full, sizeof full, "%s_pool %s %s", k->prefix, section, known);
    else
        snprintf(full, sizeof full, "%s_file %s", k->prefix, known);
    for (i = 0; i < k->count && strcmp(k->kept[i].name, full) != 0; i++)
        ;
    if (i == KEPT_MAX)
        return;
    memcpy(k->kept[i].name, full, sizeof full);
    snprintf(k->kept[i].value, sizeof k->kept[i].value, "%.*s %s", (int)strcspn(value, " "), value,
             file);
    k->count += i == k->count;
}

static int add_program(struct mst_archive *a, int64_t run_id, const char *prefix, uint64_t pid)
{
    char name[64], path[64], program[256], *base;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/exe", pid);
    n = readlink(path, program, sizeof program - 1);
    if (n <= 0)
        return 0;
    program[n] = '\0';
    program[strcspn(program, " ")] = '\0';   /* " (deleted)", after an upgrade */
    base = strrchr(program, '/');
    snprintf(name, sizeof name, "%s_program", prefix);
    return mst_archive_add_environment(a, run_id, name, base != NULL ? base + 1 : program);
}

static int add_files(struct mst_archive *a, int64_t run_id, const char *prefix,
                     const struct mst_source_identity *server)
{
    struct keeper k = { .prefix = prefix, .count = 0 };
    size_t i;

    k.is_fpm = mst_sapi_of(server->sapi) == MST_SAPI_FPM;
    if (k.is_fpm)
        mst_fpm_config_read(server->pid, keep, &k);
    else if (server->producer == MST_PRODUCER_APACHE)
        mst_httpd_config_read(server->pid, server->mpm, keep, &k);
    for (i = 0; i < k.count; i++)
        if (mst_archive_add_environment(a, run_id, k.kept[i].name, k.kept[i].value) != 0)
            return -1;
    return k.count > 0 ? add_program(a, run_id, prefix, server->pid) : 0;
}

int mst_archive_add_server_settings(struct mst_archive *a, int64_t run_id, const char *prefix,
                                    const struct mst_source_identity *server, bool here)
{
    char name[MST_PREFIX_MAX + 16];

    snprintf(name, sizeof name, "%s_settings", prefix);
    if (server->settings[0] != '\0' &&
        mst_archive_add_environment(a, run_id, name, server->settings) != 0)
        return -1;
    return here ? add_files(a, run_id, prefix, server) : 0;
}

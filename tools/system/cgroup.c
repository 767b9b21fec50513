/* cgroup.c - a server's control group: see cgroup.h.
 *
 * /proc/PID/cgroup says which group a process is in, by hierarchy, /proc/self/mountinfo
 * where the hierarchies are. Version 2 has one with everything; where version 1 is
 * mounted as well, each controller has one of its own.
 */
#include "system/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segment/format.h"
#include "system/processes.h"

#define NO_LIMIT (UINT64_C(1) << 60)   /* version 1 says "none" by a number near 2^63 */

/* Where a controller's group is. */
struct place {
    char   path[PATH_MAX];
    size_t mount;              /* its length; the group's own name follows */
};

/* ---- where ----------------------------------------------------------------------- */

/* Whether a list with commas has that word. */
static bool has_word(const char *list, size_t n, const char *word)
{
    size_t length = strlen(word), part;

    for (; n > 0; list += part, n -= part) {
        part = strcspn(list, ",");
        if (part > n)
            part = n;
        if (part == length && memcmp(list, word, part) == 0)
            return true;
        part += part < n;
    }
    return false;
}

/* The group in "ID:CONTROLLERS:GROUP"; controller "": version 2's. false: none. */
static bool find_group(const char *groups, const char *controller, const char **group, size_t *n)
{
    const char *line, *list, *name;

    for (line = groups; *line != '\0'; line = strchrnul(line, '\n'), line += *line != '\0') {
        list = strchr(line, ':');
        name = list != NULL ? strchr(list + 1, ':') : NULL;
        if (name == NULL)
            return false;
        list++;
        if (controller[0] == '\0' ? list == name : has_word(list, (size_t)(name - list),
                                                            controller)) {
            *group = name + 1;
            *n = strcspn(*group, "\n");
            return true;
        }
    }
    return false;
}

/* Whether a line of mountinfo is that hierarchy's; root and point: its fourth and fifth
 * word. Behind " - " are the file system's type, its source, its options. */
static bool is_mount(const char *line, const char *controller, char root[PATH_MAX],
                     char point[PATH_MAX])
{
    const char *behind = strstr(line, " - ");
    char type[32], options[512];

    _Static_assert(PATH_MAX == 4096, "the widths below");
    if (behind == NULL || behind > strchrnul(line, '\n') ||
        sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
        sscanf(behind, " - %31s %*s %511s", type, options) != 2)
        return false;
    return controller[0] == '\0' ? strcmp(type, "cgroup2") == 0 :
           strcmp(type, "cgroup") == 0 && has_word(options, strlen(options), controller);
}

/* The group's directory. A container sees a part of the hierarchy, which begins at
 * `root`. false: it is not mounted here, or the group is outside of what is. */
static bool find_place(struct place *place, const char *groups, const char *mounts,
                       const char *controller)
{
    char root[PATH_MAX], point[PATH_MAX];
    const char *line, *group;
    size_t n, above;

    if (!find_group(groups, controller, &group, &n))
        return false;
    for (line = mounts; *line != '\0'; line = strchrnul(line, '\n'), line += *line != '\0') {
        if (!is_mount(line, controller, root, point))
            continue;
        above = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (above > n || memcmp(group, root, above) != 0 ||
            (above > 0 && above < n && group[above] != '/'))
            continue;
        place->mount = strlen(point);
        return snprintf(place->path, sizeof place->path, "%s%.*s", point, (int)(n - above),
                        group + above) < (int)sizeof place->path;
    }
    return false;
}

/* ---- what ------------------------------------------------------------------------ */

static bool read_file(const struct place *place, const char *name, char *text, size_t room)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", place->path, name);
    return mst_proc_read(path, text, room) > 0;
}

/* The number behind `key` and a blank (key "": the file's only one). */
static uint64_t number(const struct place *place, const char *name, const char *key)
{
    char text[4096], *end;
    const char *at = text;
    uint64_t value;
    size_t n = strlen(key);

    if (!read_file(place, name, text, sizeof text))
        return MST_UNKNOWN;
    while (n > 0 && (strncmp(at, key, n) != 0 || at[n] != ' ')) {
        at = strchr(at, '\n');
        if (at == NULL)
            return MST_UNKNOWN;
        at++;
    }
    value = strtoull(at + n, &end, 10);
    return end > at + n ? value : MST_UNKNOWN;   /* "max" is no number */
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static uint64_t stall(const struct place *place)
{
    char text[512];
    uint64_t us;

    if (!read_file(place, "memory.pressure", text, sizeof text) ||
        sscanf(text, "some %*s %*s %*s total=%" SCNu64, &us) != 1)
        return MST_UNKNOWN;
    return us * 1000;
}

/* The lowest from the group up to the root: each holds for what is below it. */
static uint64_t lowest_limit(struct place place, const char *file)
{
    uint64_t lowest = MST_UNKNOWN, limit;
    char *slash;

    for (;;) {
        limit = number(&place, file, "");
        if (limit < NO_LIMIT && limit < lowest)
            lowest = limit;
        slash = strrchr(place.path, '/');
        if (slash == NULL || slash < place.path + place.mount)
            return lowest;
        *slash = '\0';
    }
}

static void read_memory(struct mst_cgroup *group, const struct place *place, bool v2)
{
    snprintf(group->name, sizeof group->name, "%.*s", MST_CGROUP_NAME_MAX - 1,
             place->path[place->mount] != '\0' ? place->path + place->mount : "/");
    group->oom_kills = number(place, v2 ? "memory.events" : "memory.oom_control", "oom_kill");
    group->memory_limit = lowest_limit(*place, v2 ? "memory.max" : "memory.limit_in_bytes");
}

static uint64_t times(uint64_t value, uint64_t factor)
{
    return value <= UINT64_MAX / factor ? value * factor : MST_UNKNOWN;
}

void mst_cgroup_read(struct mst_cgroup *group, uint64_t pid)
{
    static char mounts[1 << 16];   /* of machines with many mounts what is first */
    char path[64], groups[4096];
    struct place place;

    *group = (struct mst_cgroup){ "", MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN };
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cgroup", pid);
    if (mst_proc_read(path, groups, sizeof groups) <= 0 ||
        mst_proc_read("/proc/self/mountinfo", mounts, sizeof mounts) <= 0)
        return;
    if (find_place(&place, groups, mounts, "memory"))
        read_memory(group, &place, false);
    if (find_place(&place, groups, mounts, "cpu"))
        group->throttled_ns = number(&place, "cpu.stat", "throttled_time");
    if (!find_place(&place, groups, mounts, ""))
        return;
    group->memory_stall_ns = stall(&place);
    if (group->name[0] == '\0')
        read_memory(group, &place, true);
    if (group->throttled_ns == MST_UNKNOWN)
        group->throttled_ns = times(number(&place, "cpu.stat", "throttled_usec"), 1000);
}

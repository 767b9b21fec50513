/* cgroup.c - a server's control group: see cgroup.h.
 *
 * /proc/PID/cgroup says which group a process is in, by hierarchy, /proc/self/mountinfo
 * where the hierarchies are. Version 2 has one with everything; where version 1 is
 * mounted as well, each controller has one of its own.
 *
 * A limit holds for all groups below. So what the processes can have is the lowest limit from
 * their own group up to the root, and the group with that limit has the use to compare it with.
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

/* Whether it is the name of a group outside of this process's cgroup namespace: "/../NAME". */
static bool is_outside(const char *group, size_t n)
{
    return n >= 3 && memcmp(group, "/..", 3) == 0 && (n == 3 || group[3] == '/');
}

/* The group's directory. A container sees a part of the hierarchy, which begins at
 * `root`. false: it is not mounted here, or the group is outside of what is. */
static bool find_place(struct mst_cgroup_place *place, const char *groups, const char *mounts,
                       const char *controller)
{
    char root[PATH_MAX], point[PATH_MAX];
    const char *line, *group;
    size_t n, above;

    place->path[0] = '\0';
    place->v2 = controller[0] == '\0';
    if (!find_group(groups, controller, &group, &n))
        return false;
    for (line = mounts; *line != '\0'; line = strchrnul(line, '\n'), line += *line != '\0') {
        if (!is_mount(line, controller, root, point))
            continue;
        above = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (above > n || memcmp(group, root, above) != 0 ||
            (above > 0 && above < n && group[above] != '/') || is_outside(group + above, n - above))
            continue;
        place->mount = strlen(point);
        return snprintf(place->path, sizeof place->path, "%s%.*s", point, (int)(n - above),
                        group + above) < (int)sizeof place->path;
    }
    return false;
}

/* ---- what ------------------------------------------------------------------------ */

static bool read_file(const struct mst_cgroup_place *place, const char *name, char *text,
                      size_t room)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", place->path, name);
    return place->path[0] != '\0' && mst_proc_read(path, text, room) > 0;
}

/* The number behind `key` and a blank (key "": the file's only one). */
static uint64_t number(const struct mst_cgroup_place *place, const char *name, const char *key)
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
    return end > at + n ? value : MST_UNKNOWN;   /* "max" is not a number */
}

static uint64_t times(uint64_t value, uint64_t factor)
{
    return value <= UINT64_MAX / factor ? value * factor : MST_UNKNOWN;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static uint64_t stall(const struct mst_cgroup_place *place, const char *file)
{
    char text[512];
    uint64_t us;

    if (!read_file(place, file, text, sizeof text) ||
        sscanf(text, "some %*s %*s %*s total=%" SCNu64, &us) != 1)
        return MST_UNKNOWN;
    return times(us, 1000);
}

/* ---- which group limits ---------------------------------------------------------------- */

/* Changes the place to that of the next group above. False: it is the root. */
static bool go_up(struct mst_cgroup_place *place)
{
    char *slash = strrchr(place->path, '/');

    if (slash == NULL || slash < place->path + place->mount)
        return false;
    *slash = '\0';
    return true;
}

/* A group's own limit; MST_UNKNOWN: it has none. */
typedef uint64_t own_limit(const struct mst_cgroup_place *place);

static uint64_t own_memory_limit(const struct mst_cgroup_place *place)
{
    uint64_t limit = number(place, place->v2 ? "memory.max" : "memory.limit_in_bytes", "");

    return limit < NO_LIMIT ? limit : MST_UNKNOWN;
}

/* Thousandths of a CPU. Version 2's file has "QUOTA PERIOD" or "max PERIOD"; version 1 says "no
 * limit" by -1. */
static uint64_t own_cpu_limit(const struct mst_cgroup_place *place)
{
    int64_t quota = -1, period = 0;
    char text[128];

    if (place->v2) {
        if (!read_file(place, "cpu.max", text, sizeof text) ||
            sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
            return MST_UNKNOWN;
    } else {
        if (!read_file(place, "cpu.cfs_quota_us", text, sizeof text) ||
            sscanf(text, "%" SCNd64, &quota) != 1 ||
            !read_file(place, "cpu.cfs_period_us", text, sizeof text) ||
            sscanf(text, "%" SCNd64, &period) != 1)
            return MST_UNKNOWN;
    }
    return quota > 0 && quota < INT64_MAX / 1000 && period > 0
         ? (uint64_t)quota * 1000 / (uint64_t)period : MST_UNKNOWN;
}

/* Changes the place to that of the group with the lowest limit, from the process's own group up to
 * the root; leaves it where there is none. Returns that limit. */
static uint64_t find_limit(struct mst_cgroup_place *place, own_limit *limit_of)
{
    struct mst_cgroup_place at = *place, found = *place;
    uint64_t lowest = MST_UNKNOWN, limit;

    do {
        limit = limit_of(&at);
        if (limit < lowest) {
            lowest = limit;
            found = at;
        }
    } while (go_up(&at));
    *place = found;
    return lowest;
}

/* ---- together -------------------------------------------------------------------------- */

/* Version 1's group of that controller; else version 2's, where it is the nearest one in which the
 * controller is enabled and so has that file. */
static void find_controller(struct mst_cgroup_place *place, const char *groups,
                            const char *mounts, const char *controller, const char *file_of_v2)
{
    struct mst_cgroup_place at;
    char text[64];

    if (find_place(place, groups, mounts, controller) || !find_place(place, groups, mounts, ""))
        return;
    at = *place;
    do
        if (read_file(&at, file_of_v2, text, sizeof text)) {
            *place = at;
            return;
        }
    while (go_up(&at));
}

/* The own group of version 2. The root's pressure is the whole machine's, its neighbours' included;
 * a container's root is a group, and only that has a type. */
static void find_pressure(struct mst_cgroup_place *place, const char *groups, const char *mounts)
{
    char text[64];

    if (find_place(place, groups, mounts, "") && strlen(place->path) <= place->mount + 1 &&
        !read_file(place, "cgroup.type", text, sizeof text))
        place->path[0] = '\0';
}

void mst_cgroup_find(struct mst_cgroup_watch *w, const char *groups, const char *mounts)
{
    struct mst_cgroup_place leaf;

    memset(w, 0, sizeof *w);
    find_controller(&w->memory, groups, mounts, "memory", "memory.events");
    leaf = w->memory;
    if (leaf.path[0] != '\0')
        snprintf(w->name, sizeof w->name, "%.*s", MST_CGROUP_NAME_MAX - 1,
                 leaf.path[leaf.mount] != '\0' ? leaf.path + leaf.mount : "/");
    w->events = leaf;
    w->memory_limit = find_limit(&w->memory, own_memory_limit);
    find_controller(&w->cpu, groups, mounts, "cpu", "cpu.stat");
    w->cpu_limit_milli = find_limit(&w->cpu, own_cpu_limit);
    if (!find_place(&w->cpu_use, groups, mounts, "cpuacct"))
        w->cpu_use = w->cpu.v2 ? w->cpu : w->cpu_use;
    find_pressure(&w->pressure, groups, mounts);
}

void mst_cgroup_watch(struct mst_cgroup_watch *w, uint64_t pid)
{
    static char mounts[1 << 16];   /* of machines with many mounts what is first */
    char path[64], groups[4096];

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cgroup", pid);
    if (mst_proc_read(path, groups, sizeof groups) <= 0 ||
        mst_proc_read("/proc/self/mountinfo", mounts, sizeof mounts) <= 0)
        groups[0] = mounts[0] = '\0';
    mst_cgroup_find(w, groups, mounts);
}

static uint64_t throttled(const struct mst_cgroup_watch *w)
{
    return w->cpu.v2 ? times(number(&w->cpu, "cpu.stat", "throttled_usec"), 1000)
                     : number(&w->cpu, "cpu.stat", "throttled_time");
}

void mst_cgroup_use_read(struct mst_cgroup_use *use, const struct mst_cgroup_watch *w)
{
    use->memory_limit = w->memory_limit;
    use->memory_bytes = number(&w->memory, w->memory.v2 ? "memory.current"
                                                        : "memory.usage_in_bytes", "");
    use->cpu_limit_milli = w->cpu_limit_milli;
    use->cpu_ns = w->cpu_use.v2 ? times(number(&w->cpu_use, "cpu.stat", "usage_usec"), 1000)
                                : number(&w->cpu_use, "cpuacct.usage", "");
    use->throttled_ns = throttled(w);
    use->io_stall_ns = stall(&w->pressure, "io.pressure");
}

void mst_cgroup_read(struct mst_cgroup *group, const struct mst_cgroup_watch *w)
{
    snprintf(group->name, sizeof group->name, "%s", w->name);
    group->oom_kills = number(&w->events, w->events.v2 ? "memory.events" : "memory.oom_control",
                              "oom_kill");
    group->memory_limit = w->memory_limit;
    group->memory_stall_ns = stall(&w->pressure, "memory.pressure");
    group->throttled_ns = throttled(w);
}

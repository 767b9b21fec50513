/* check_cgroup.c - which control group limits a process: version 1, version 2 and both together,
 * one in another. The hierarchies are directories of the test; mountinfo says that they are
 * mounted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "system/cgroup.h"

static char root[PATH_MAX];

static void begin(void)
{
    snprintf(root, sizeof root, "%s.d", test_path());
    ck_assert_int_eq(mkdir(root, 0700), 0);
}

/* A file below the root, with the directories above it. */
static void put(const char *name, const char *text)
{
    char path[PATH_MAX + 256], *slash;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A line of mountinfo for a hierarchy at root/NAME. */
static void mount_line(char *to, const char *name, const char *from, const char *type,
                       const char *options)
{
    sprintf(to + strlen(to), "31 23 0:28 %s %s/%s rw,relatime shared:9 - %s %s rw,%s\n", from, root,
            name, type, type, options);
}

static void ck_use(const struct mst_cgroup_watch *w, const struct mst_cgroup_use *expected)
{
    struct mst_cgroup_use use;

    mst_cgroup_use_read(&use, w);
    ck_assert_uint_eq(use.memory_bytes, expected->memory_bytes);
    ck_assert_uint_eq(use.memory_limit, expected->memory_limit);
    ck_assert_uint_eq(use.cpu_ns, expected->cpu_ns);
    ck_assert_uint_eq(use.cpu_limit_milli, expected->cpu_limit_milli);
    ck_assert_uint_eq(use.throttled_ns, expected->throttled_ns);
    ck_assert_uint_eq(use.io_stall_ns, expected->io_stall_ns);
}

#define CPU_STAT "usage_usec %s\nnr_periods 7\nthrottled_usec %s\n"

static void put_v2(const char *group, const char *memory_max, const char *memory,
                   const char *cpu_max, const char *usage, const char *throttled)
{
    char name[256], text[256];

    snprintf(name, sizeof name, "%s/memory.max", group);
    put(name, memory_max);
    snprintf(name, sizeof name, "%s/memory.current", group);
    put(name, memory);
    snprintf(name, sizeof name, "%s/memory.events", group);
    put(name, "low 0\noom 4\noom_kill 3\n");
    snprintf(name, sizeof name, "%s/cpu.max", group);
    put(name, cpu_max);
    snprintf(name, sizeof name, "%s/cpu.stat", group);
    snprintf(text, sizeof text, CPU_STAT, usage, throttled);
    put(name, text);
    snprintf(name, sizeof name, "%s/io.pressure", group);
    put(name, "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\nfull avg10=0.00 total=5\n");
}

/* A service in a slice: the slice has the lower memory limit, and the CPU quota. */
START_TEST(the_lowest_limit_above_counts)
{
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put_v2("u/web.slice", "500000\n", "400000\n", "150000 100000\n", "90", "44");
    put_v2("u/web.slice/apache.service", "max\n", "300000\n", "max 100000\n", "80", "0");
    put("u/web.slice/apache.service/memory.max", "900000\n");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "0::/web.slice/apache.service\n", mounts);
    ck_use(&w, &(struct mst_cgroup_use){ 400000, 500000, 90000, 1500, 44000, 77000 });
    mst_cgroup_read(&group, &w);
    ck_assert_str_eq(group.name, "/web.slice/apache.service");
    ck_assert_uint_eq(group.oom_kills, 3);
    ck_assert_uint_eq(group.memory_limit, 500000);
    ck_assert_uint_eq(group.throttled_ns, 44000);
}
END_TEST

/* Each figure is that of the group that it is about: the kills and the stalls of the service's own,
 * the CPU time of the group with the quota, the memory of the group with the limit. Counters and
 * use change while the limits stay. */
START_TEST(each_figure_is_of_its_own_group)
{
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put_v2("u/a.slice", "900000\n", "800000\n", "50000 100000\n", "1000", "70");
    put_v2("u/a.slice/b.slice", "600000\n", "400000\n", "max 100000\n", "100", "0");
    put_v2("u/a.slice/b.slice/c.service", "max\n", "30000\n", "200000 100000\n", "10", "0");
    put("u/a.slice/memory.events", "oom_kill 50\n");
    put("u/a.slice/b.slice/c.service/memory.events",
        "low 0\noom 9\noom_kill 0\noom_group_kill 8\n");
    put("u/a.slice/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=99\n");
    put("u/a.slice/b.slice/c.service/memory.pressure",
        "some avg10=1.00 avg60=0.00 avg300=0.00 total=6\nfull avg10=0.00 avg60=0.00 total=3\n");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "0::/a.slice/b.slice/c.service\n", mounts);
    ck_use(&w, &(struct mst_cgroup_use){ 400000, 600000, 1000000, 500, 70000, 77000 });
    mst_cgroup_read(&group, &w);
    ck_assert_str_eq(group.name, "/a.slice/b.slice/c.service");
    ck_assert_uint_eq(group.oom_kills, 0);
    ck_assert_uint_eq(group.memory_stall_ns, 6000);
    ck_assert_uint_eq(group.throttled_ns, 70000);

    put("u/a.slice/b.slice/memory.current", "599999\n");
    put("u/a.slice/cpu.stat", "usage_usec 1005\nthrottled_usec 75\n");
    put("u/a.slice/b.slice/c.service/memory.events", "oom 10\noom_kill 2\n");
    ck_use(&w, &(struct mst_cgroup_use){ 599999, 600000, 1005000, 500, 75000, 77000 });
    mst_cgroup_read(&group, &w);
    ck_assert_uint_eq(group.oom_kills, 2);
}
END_TEST

/* No group has a limit: the use is that of the process's own. The machine's root has no
 * memory.max. */
START_TEST(without_limits_the_use_is_of_its_own_group)
{
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put("u/cpu.stat", "usage_usec 5000\n");
    put_v2("u/a.slice", "max\n", "800000\n", "max 100000\n", "1000", "70");
    put_v2("u/a.slice/c.service", "max\n", "30000\n", "max 100000\n", "10", "2");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "0::/a.slice/c.service\n", mounts);
    ck_use(&w, &(struct mst_cgroup_use){ 30000, MST_UNKNOWN, 10000, MST_UNKNOWN, 2000, 77000 });
    mst_cgroup_read(&group, &w);
    ck_assert_uint_eq(group.memory_limit, MST_UNKNOWN);
    ck_assert_uint_eq(group.memory_stall_ns, MST_UNKNOWN);   /* a kernel without pressures */
}
END_TEST

/* From a cgroup namespace, groups outside of it are "/../NAME". The group that is mounted is the
 * reader's own, and no group of the server's. */
START_TEST(a_group_outside_of_the_namespace_is_unknown)
{
    static const char *const groups[] = {
        "0::/../apache.service\n", "0::/../../a/b\n", "0::/..\n"
    };
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put_v2("u", "500000\n", "400000\n", "150000 100000\n", "90", "44");
    put("u/cgroup.type", "domain\n");
    put_v2("apache.service", "500000\n", "400000\n", "150000 100000\n", "90", "44");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, groups[_i], mounts);
    ck_use(&w, &(struct mst_cgroup_use){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                         MST_UNKNOWN, MST_UNKNOWN });
    mst_cgroup_read(&group, &w);
    ck_assert_str_eq(group.name, "");
    ck_assert_uint_eq(group.oom_kills, MST_UNKNOWN);
    /* A name that only begins with two dots is none of these. */
    put_v2("u/..a", "300000\n", "7\n", "max 100000\n", "9", "0");
    mst_cgroup_find(&w, "0::/..a\n", mounts);
    ck_use(&w, &(struct mst_cgroup_use){ 7, 300000, 90000, 1500, 44000, 77000 });
}
END_TEST

/* The service's own group has no controllers: they end above it. */
START_TEST(controllers_can_end_above_the_process)
{
    struct mst_cgroup_watch w;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put_v2("u/user.slice", "max\n", "7000\n", "max 100000\n", "60", "0");
    put("u/user.slice/session/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "0::/user.slice/session\n", mounts);
    ck_assert_str_eq(w.name, "/user.slice");
    ck_use(&w, &(struct mst_cgroup_use){ 7000, MST_UNKNOWN, 60000, MST_UNKNOWN, 0, 1000 });
}
END_TEST

/* A container sees its part of each hierarchy of version 1; version 2 has the pressure. */
START_TEST(both_versions_together)
{
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 6] = "";

    begin();
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/memory.usage_in_bytes", "5000\n");
    put("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    put("memory/in/memory.limit_in_bytes", "6000\n");
    put("memory/in/memory.usage_in_bytes", "4000\n");
    put("memory/in/memory.oom_control", "oom_kill 1\n");
    put("cpu/cpu.cfs_quota_us", "50000\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    put("cpu/cpu.stat", "nr_periods 3\nnr_throttled 1\nthrottled_time 123\n");
    put("cpu/in/cpu.cfs_quota_us", "-1\n");
    put("cpu/in/cpu.cfs_period_us", "100000\n");
    put("cpu/in/cpu.stat", "throttled_time 9\n");
    put("cpuacct/in/cpuacct.usage", "456\n");
    put("unified/in/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=8\n");
    put("unified/in/memory.events", "oom_kill 99\n");
    mount_line(mounts, "memory", "/pod", "cgroup", "memory");
    mount_line(mounts, "cpu", "/pod", "cgroup", "cpu");
    mount_line(mounts, "cpuacct", "/pod", "cgroup", "cpuacct");
    mount_line(mounts, "unified", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "4:memory:/pod/in\n3:cpuacct:/pod/in\n2:cpu:/pod/in\n0::/in\n", mounts);
    ck_use(&w, &(struct mst_cgroup_use){ 4000, 6000, 456, 500, 123, 8000 });
    mst_cgroup_read(&group, &w);
    ck_assert_str_eq(group.name, "/in");
    ck_assert_uint_eq(group.oom_kills, 1);
}
END_TEST

/* The root of all groups has the pressure of the whole machine, a container's its own. */
START_TEST(the_pressure_of_the_machine_is_no_groups)
{
    struct mst_cgroup_use use;
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    put("u/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=8\n");
    put("u/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
    mount_line(mounts, "u", "/", "cgroup2", "nsdelegate");
    mst_cgroup_find(&w, "0::/\n", mounts);
    mst_cgroup_use_read(&use, &w);
    mst_cgroup_read(&group, &w);
    ck_assert_uint_eq(use.io_stall_ns, MST_UNKNOWN);
    ck_assert_uint_eq(group.memory_stall_ns, MST_UNKNOWN);
    put("u/cgroup.type", "domain\n");
    mst_cgroup_find(&w, "0::/\n", mounts);
    mst_cgroup_use_read(&use, &w);
    mst_cgroup_read(&group, &w);
    ck_assert_uint_eq(use.io_stall_ns, 8000);
    ck_assert_uint_eq(group.memory_stall_ns, 9000);
}
END_TEST

START_TEST(what_cannot_be_seen_is_unknown)
{
    static const char *const odd[] = { "", "\n", "0::", "x", "0::/gone\n", "1:memory\n" };
    struct mst_cgroup_watch w;
    struct mst_cgroup group;
    char mounts[PATH_MAX * 2] = "";

    begin();
    mount_line(mounts, "u", "/elsewhere", "cgroup2", "x");
    mst_cgroup_find(&w, odd[_i], _i % 2 ? mounts : "not a mount\n");
    ck_use(&w, &(struct mst_cgroup_use){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                         MST_UNKNOWN, MST_UNKNOWN });
    mst_cgroup_read(&group, &w);
    ck_assert_str_eq(group.name, "");
    ck_assert_uint_eq(group.oom_kills, MST_UNKNOWN);
    mst_cgroup_watch(&w, (uint64_t)test_dead_pid());
    ck_assert_str_eq(w.name, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cgroup");
    TCase *tests = tcase_create("cgroup");

    tcase_add_test(tests, the_lowest_limit_above_counts);
    tcase_add_test(tests, each_figure_is_of_its_own_group);
    tcase_add_test(tests, without_limits_the_use_is_of_its_own_group);
    tcase_add_loop_test(tests, a_group_outside_of_the_namespace_is_unknown, 0, 3);
    tcase_add_test(tests, controllers_can_end_above_the_process);
    tcase_add_test(tests, both_versions_together);
    tcase_add_test(tests, the_pressure_of_the_machine_is_no_groups);
    tcase_add_loop_test(tests, what_cannot_be_seen_is_unknown, 0, 6);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

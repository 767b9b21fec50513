/* check_processes.c - a server's processes: CPU time, whose they are. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_processes.h"
#include "harness.h"
#include "system/machine.h"
#include "system/processes.h"
#include "system/programs.h"

/* ---- CPU ------------------------------------------------------------------------- */

START_TEST(test_cpu_of_ended_children)
{
    struct server s = start();
    struct mst_processes p;
    uint64_t before, after;

    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    before = mst_processes_cpu(&p);
    order(&s, 'b');                  /* its child burns, ends, and is waited for */
    after = mst_processes_cpu(&p);
    ck_assert_uint_ne(before, MST_UNKNOWN);
    ck_assert_uint_ge(after, before + BURN_NS * 9 / 10);
    ck_assert_uint_le(after, before + 2 * BURN_NS);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* Processes that nobody but the board knows (php-cgi's): of one that has ended, what
 * it had when it was named last. */
START_TEST(test_processes_by_name)
{
    struct server a = start(), b = start();
    struct mst_memory_round round;
    struct mst_processes p;
    unsigned readings = 0;
    uint64_t before, after;

    mst_processes_init_named(&p, NULL);
    ck_assert(mst_processes_alive(&p));
    ck_assert_uint_eq(mst_processes_cpu(&p), 0);
    ck_assert(mst_processes_name(&p, (uint64_t)a.pid));
    ck_assert(mst_processes_name(&p, (uint64_t)test_dead_pid()));
    before = mst_processes_cpu(&p);
    order(&a, 's');
    ck_assert(mst_processes_name(&p, (uint64_t)b.pid));
    ck_assert(mst_processes_name(&p, (uint64_t)b.pid));
    order(&b, 'B');
    after = mst_processes_cpu(&p);
    ck_assert_uint_ge(after, before + BURN_NS * 9 / 10);
    stop(&b);
    ck_assert_uint_ge(mst_processes_cpu(&p), after);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(round.processes, 1);   /* a alone, not its child */
    ck_assert_uint_eq(readings, 1);
    mst_processes_free(&p);
    stop(&a);
}
END_TEST

/* As plain CGI names them: a process for each request. */
START_TEST(test_many_processes_by_name)
{
    struct server s = start();
    struct mst_processes p;
    uint64_t cpu = 0;
    unsigned i;
    pid_t pid;

    mst_processes_init_named(&p, NULL);
    ck_assert(mst_processes_name(&p, (uint64_t)s.pid));
    for (i = 0; i < 300; i++) {
        if (test_fork(&pid)) {
            pause();
            _exit(0);
        }
        ck_assert(mst_processes_name(&p, (uint64_t)pid));
        ck_assert_uint_ge(mst_processes_cpu(&p), cpu);
        cpu = mst_processes_cpu(&p);
        kill(pid, SIGKILL);
        test_wait(pid);
    }
    ck_assert_uint_ge(mst_processes_cpu(&p), cpu);
    ck_assert_uint_lt(p.named_room, 300);
    ck_assert_uint_eq(p.list.count, 1);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* ---- whose they are -------------------------------------------------------------- */

#define NOBODY 65534u

/* A file as a board, mapped by this process and by those that it forks. */
struct mapped { struct mst_board_file_id id; void *memory; };

static struct mapped map_board(void)
{
    struct mapped m = { .id.path = test_path() };
    int fd = open(m.id.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat st;

    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    m.memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(m.memory, MAP_FAILED);
    close(fd);
    m.id.owner = st.st_uid;
    m.id.device = st.st_dev;
    m.id.inode = st.st_ino;
    return m;
}

static bool has_board(const struct server *s, const struct mst_board_file_id *id,
                      const char *expected)
{
    char error[MST_ERROR_MAX] = "";
    bool has = mst_process_has_board((uint64_t)s->pid, id, error);

    ck_assert_msg(has || strstr(error, expected) != NULL, "expected \"%s\" in: %s", expected,
                  error);
    return has;
}

START_TEST(test_a_process_without_the_board_is_not_charged)
{
    struct mapped m = map_board();
    struct server with = start(), without;
    struct mst_memory_round round;
    struct mst_processes p;
    unsigned readings = 0;
    int fd;

    munmap(m.memory, 4096);
    without = start();
    ck_assert(has_board(&with, &m.id, ""));
    ck_assert(!has_board(&without, &m.id, "expected one that has this file mapped"));
    mst_processes_init_named(&p, &m.id);
    order(&without, 'B');
    ck_assert(mst_processes_name(&p, (uint64_t)without.pid));
    ck_assert(mst_processes_name(&p, 1));
    order(&without, 'B');
    ck_assert(mst_processes_name(&p, (uint64_t)without.pid));
    ck_assert_uint_eq(mst_processes_cpu(&p), 0);
    ck_assert(mst_processes_name(&p, (uint64_t)with.pid));
    order(&with, 'B');
    ck_assert_uint_ge(mst_processes_cpu(&p), BURN_NS * 9 / 10);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(readings, 1);
    mst_processes_free(&p);
    stop(&without);
    stop(&with);

    fd = open(m.id.path, O_RDONLY);   /* open is as good as mapped */
    with = start();
    ck_assert(has_board(&with, &m.id, ""));
    stop(&with);
    close(fd);
}
END_TEST

START_TEST(test_another_users_process_is_not_charged)
{
    struct mapped m = map_board();
    struct server s = start();
    struct mst_processes p;

    m.id.owner++;
    ck_assert(!has_board(&s, &m.id, "expected one of its owner"));
    mst_processes_init_named(&p, &m.id);
    order(&s, 'B');
    ck_assert(mst_processes_name(&p, (uint64_t)s.pid));
    ck_assert_uint_eq(mst_processes_cpu(&p), 0);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* Below root's parent any process counts; below another user's only that user's. */
START_TEST(test_another_users_child_is_not_charged)
{
    struct mapped m = map_board();
    struct mst_memory_round round;
    struct mst_processes p;
    unsigned readings = 0;
    struct server s;
    size_t i;

    if (geteuid() != 0)
        return;
    ck_assert_int_eq(setresuid(NOBODY, NOBODY, 0), 0);
    s = start();
    order(&s, 'c');
    order(&s, 'r');                  /* a child that is root's again */
    ck_assert_int_eq(setresuid(0, 0, 0), 0);
    m.id.owner = NOBODY;
    mst_processes_init(&p, (uint64_t)s.pid, &m.id);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(round.processes, 2);
    mst_processes_free(&p);
    m.id.owner = 0;
    mst_processes_init(&p, (uint64_t)s.pid, &m.id);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(round.processes, 3);
    for (i = 0; i < p.list.count; i++)   /* it may not kill root's */
        if (p.list.items[i].pid != (uint64_t)s.pid)
            kill((pid_t)p.list.items[i].pid, SIGKILL);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* Whose mappings may not be read is believed to have it, unless it is process 1, which
 * any board could name to be charged with all that there is. */
START_TEST(test_process_1_is_not_believed)
{
    struct mapped m = map_board();
    char error[MST_ERROR_MAX] = "";
    struct server s;
    bool one;

    if (geteuid() != 0)
        return;
    ck_assert(!mst_process_has_board(1, &m.id, error));
    munmap(m.memory, 4096);
    s = start();
    ck_assert_int_eq(setresuid(NOBODY, NOBODY, 0), 0);
    ck_assert(has_board(&s, &m.id, ""));
    one = mst_process_has_board(1, &m.id, error);
    ck_assert_int_eq(setresuid(0, 0, 0), 0);
    ck_assert(!one);
    ck_assert_ptr_nonnull(strstr(error, "mappings cannot be read (root may)"));
    stop(&s);
}
END_TEST

START_TEST(test_gone)
{
    struct server s = start();
    unsigned readings = 0;
    struct mst_memory_round round;
    struct mst_processes p;

    mst_processes_init(&p, (uint64_t)test_dead_pid(), NULL);
    ck_assert_uint_eq(mst_processes_cpu(&p), MST_UNKNOWN);
    mst_processes_free(&p);

    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    ck_assert_uint_ne(mst_processes_cpu(&p), MST_UNKNOWN);
    kill(s.pid, SIGKILL);
    while (mst_processes_cpu(&p) != MST_UNKNOWN)   /* a zombie is gone too */
        poll(NULL, 0, 1);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 0);
    ck_assert_ptr_nonnull(strstr(p.problem, "is gone"));
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

START_TEST(test_machine)
{
    struct mst_machine before, after;

    mst_machine_read(&before, NULL);
    burn();
    mst_machine_read(&after, NULL);
    ck_assert_uint_ne(before.busy_ns, MST_UNKNOWN);
    ck_assert_uint_ge(after.busy_ns - before.busy_ns, BURN_NS / 2);
    ck_assert_uint_ge(after.total_ns - before.total_ns, after.busy_ns - before.busy_ns);
    ck_assert_uint_ne(after.listen_overflows, MST_UNKNOWN);
    ck_assert_uint_ge(after.listen_overflows, before.listen_overflows);
    ck_assert_uint_ge(after.listen_drops, after.listen_overflows);
    ck_assert_uint_ge(after.oom_kills, before.oom_kills);
    ck_assert_uint_ge(after.memory_stall_ns, before.memory_stall_ns);
}
END_TEST

/* The times are those of the one CPU that is asked for, which this process keeps busy. */
START_TEST(test_machine_of_some_cpus)
{
    struct mst_machine before, after, all;
    cpu_set_t ours, one;
    size_t cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof ours, &ours), 0);
    while (!CPU_ISSET(cpu, &ours))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    mst_machine_read(&before, &one);
    burn();
    mst_machine_read(&after, &one);
    mst_machine_read(&all, NULL);
    ck_assert_int_eq(sched_setaffinity(0, sizeof ours, &ours), 0);
    ck_assert_uint_ge(after.busy_ns - before.busy_ns, BURN_NS / 2);
    ck_assert_uint_le(after.total_ns, all.total_ns);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        ck_assert_uint_lt(after.total_ns, all.total_ns / 4 * 3);
}
END_TEST

START_TEST(test_programs)
{
    struct mst_programs p = { 0 };
    size_t i;
    pid_t pid;

    ck_assert(mst_programs_before(&p));
    if (test_fork(&pid)) {
        prctl(PR_SET_NAME, "burns-cpu");
        burn();
        pause();
    }
    while (mst_proc_cpu((uint64_t)pid) < BURN_NS)
        poll(NULL, 0, 5);
    ck_assert(mst_programs_after(&p) && mst_programs_sum(&p));
    for (i = 0; i < p.count && strcmp(p.items[i].name, "burns-cpu") != 0; i++)
        ;
    ck_assert_msg(i < p.count, "the program is not among the %zu", p.count);
    ck_assert_int_ge(p.items[i].cpu_ns, BURN_NS * 9 / 10);
    for (i = 1; i < p.count; i++)
        ck_assert_int_le(p.items[i].cpu_ns, p.items[i - 1].cpu_ns);
    mst_programs_free(&p);
    kill(pid, SIGKILL);
    test_wait(pid);
}
END_TEST

/* What it took before the first look is not counted, though its parent has it
 * after it ended. */
START_TEST(test_programs_ended)
{
    struct mst_programs p = { 0 };
    int64_t total = 0;
    size_t i;
    pid_t pid;

    if (test_fork(&pid)) {
        burn();
        pause();
    }
    while (mst_proc_cpu((uint64_t)pid) < BURN_NS)
        poll(NULL, 0, 5);
    prctl(PR_SET_NAME, "its-parent");
    ck_assert(mst_programs_before(&p));
    kill(pid, SIGKILL);
    test_wait(pid);
    ck_assert(mst_programs_after(&p) && mst_programs_sum(&p));
    for (i = 0; i < p.count; i++)
        if (strcmp(p.items[i].name, "its-parent") == 0)
            total = p.items[i].cpu_ns;
    /* /proc has the waited-for time in hundredths of a second, twice. */
    ck_assert_int_lt(total, (int64_t)(BURN_NS / 2));
    ck_assert_int_gt(total, -(int64_t)(BURN_NS / 4));
    mst_programs_free(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("processes");
    TCase *cpu = tcase_create("CPU"), *memory = tcase_create("memory");

    tcase_add_test(cpu, test_cpu_of_ended_children);
    tcase_add_test(cpu, test_processes_by_name);
    tcase_add_test(cpu, test_many_processes_by_name);
    tcase_add_test(cpu, test_a_process_without_the_board_is_not_charged);
    tcase_add_test(cpu, test_another_users_process_is_not_charged);
    tcase_add_test(cpu, test_another_users_child_is_not_charged);
    tcase_add_test(cpu, test_process_1_is_not_believed);
    tcase_add_test(cpu, test_gone);
    tcase_add_test(cpu, test_machine);
    tcase_add_test(cpu, test_machine_of_some_cpus);
    tcase_add_test(cpu, test_programs);
    tcase_add_test(cpu, test_programs_ended);
    tcase_set_timeout(cpu, 30);
    tcase_set_timeout(memory, 30);
    suite_add_tcase(suite, cpu);
    suite_add_tcase(suite, memory);
    return test_run(suite);
}

/* check_processes_memory.c - a server's processes: owners, memory, ports, files. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "child_processes.h"
#include "harness.h"
#include "system/ports.h"
#include "system/processes.h"
#include "system/programs.h"

/* ---- owners ------------------------------------------------------------------------- */

static void add_proc(struct mst_proc_list *list, uint64_t pid, uint64_t parent, uint64_t start)
{
    const struct mst_proc proc = { .pid = pid, .parent = parent, .start_ticks = start };

    ck_assert(mst_proc_add(list, &proc));
}

static enum mst_proc_owner owner_of(const struct mst_proc_list *list, uint64_t pid)
{
    const struct mst_proc *proc = mst_proc_find(list, pid);

    ck_assert_ptr_nonnull(proc);
    return (enum mst_proc_owner)proc->owner;
}

/* Made-up processes beyond every pid. The recorder has started the server, as the lab does, and
 * the load tool; both have processes below them. */
#define PIDS UINT64_C(9000000)

START_TEST(test_owners_by_descent)
{
    const struct mst_proc_root roots[] = {
        { PIDS + 10, 70, MST_PROC_SERVER }, { PIDS + 20, 0, MST_PROC_TOOL },
        { PIDS + 30, 71, MST_PROC_SERVER },   /* the pid is another process's now */
    };
    struct mst_proc_list list = { 0 };
    uint64_t self = (uint64_t)getpid();

    add_proc(&list, self, 1, 60);
    add_proc(&list, PIDS + 10, self, 70);
    add_proc(&list, PIDS + 11, PIDS + 10, 72);
    add_proc(&list, PIDS + 12, PIDS + 11, 73);
    add_proc(&list, PIDS + 20, self, 74);
    add_proc(&list, PIDS + 21, PIDS + 20, 75);
    add_proc(&list, PIDS + 30, self, 76);
    add_proc(&list, PIDS + 31, PIDS + 30, 77);
    add_proc(&list, PIDS + 40, PIDS + 41, 78);   /* in a circle */
    add_proc(&list, PIDS + 41, PIDS + 40, 79);
    mst_ownership_find(&list, roots, sizeof roots / sizeof *roots);
    ck_assert_int_eq(owner_of(&list, self), MST_PROC_RECORDER);
    ck_assert_int_eq(owner_of(&list, PIDS + 10), MST_PROC_SERVER);
    ck_assert_int_eq(owner_of(&list, PIDS + 12), MST_PROC_SERVER);
    ck_assert_int_eq(owner_of(&list, PIDS + 20), MST_PROC_TOOL);
    ck_assert_int_eq(owner_of(&list, PIDS + 21), MST_PROC_TOOL);
    ck_assert_int_eq(owner_of(&list, PIDS + 30), MST_PROC_OTHER);
    ck_assert_int_eq(owner_of(&list, PIDS + 31), MST_PROC_OTHER);
    ck_assert_int_eq(owner_of(&list, PIDS + 40), MST_PROC_OTHER);
    mst_proc_free(&list);
}
END_TEST

static const char tcp[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    "   0: 0100007F:2328 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0  0 11 1 0\n"
    "   1: 0A00000A:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0  0 12 1 0\n"
    "   2: 0100007F:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33  0 13 1 0\n"
    "   3: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0  0 14 1 0\n";
static const char tcp6[] =
    "  sl  local_address                         remote_address\n"
    "   0: 00000000000000000000000001000000:2328 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 21 1 0000000000000000 100 0 0 10 0\n";
static const char unix_sockets[] =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 31 /run/php/a.sock\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 32 /run/php/a.sock2\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 33 /run/php/a.sock\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 34\n";

START_TEST(test_listening_sockets)
{
    ck_assert_uint_eq(mst_listening_tcp(tcp, 9000), 13);
    ck_assert_uint_eq(mst_listening_tcp(tcp, 80), 14);
    ck_assert_uint_eq(mst_listening_tcp(tcp, 9001), 0);
    ck_assert_uint_eq(mst_listening_tcp(tcp6, 9000), 21);
    ck_assert_uint_eq(mst_listening_tcp("", 80), 0);
    ck_assert_uint_eq(mst_listening_unix(unix_sockets, "/run/php/a.sock", false), 33);
    ck_assert_uint_eq(mst_listening_unix(unix_sockets, "/run/php/a.sock2", false), 32);
    ck_assert_uint_eq(mst_listening_unix(unix_sockets, "/run/php/b.sock", false), 0);
    ck_assert_uint_eq(mst_listening_unix("", "/run/php/a.sock", false), 0);
    ck_assert_uint_eq(mst_listening_unix(unix_sockets, "/run/ph", false), 0);
    ck_assert_uint_eq(mst_listening_unix(unix_sockets, "/run/ph", true), 32);
}
END_TEST

/* A process of no known owner listens where the backend is, and has a child. */
START_TEST(test_owners_by_backend)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    struct mst_proc_list list = { 0 };
    uint64_t sockets[2] = { 1, 0 };
    int fd = socket(AF_INET, SOCK_STREAM, 0), pipe_fds[2];
    char backend[64];
    pid_t pid, child = 0;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 5), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    ck_assert_int_eq(pipe(pipe_fds), 0);
    if (test_fork(&pid)) {
        child = fork();
        if (child == 0)
            close(fd);
        else
            (void)!write(pipe_fds[1], &child, sizeof child);
        pause();
    }
    ck_assert_int_eq(read(pipe_fds[0], &child, sizeof child), sizeof child);
    close(fd);
    ck_assert(mst_proc_scan(&list));
    mst_ownership_find(&list, NULL, 0);
    ck_assert_int_eq(owner_of(&list, (uint64_t)pid), MST_PROC_OTHER);
    snprintf(backend, sizeof backend, "fcgi://example.com:%u", ntohs(address.sin_port));
    ck_assert_uint_eq(mst_backend_socket((uint64_t)getpid(), backend), 0);
    snprintf(backend, sizeof backend, "fcgi://127.0.0.1:%u", ntohs(address.sin_port));
    sockets[1] = mst_backend_socket((uint64_t)getpid(), backend);
    ck_assert_uint_ne(sockets[1], 0);
    mst_ownership_find_backends(&list, sockets, 2);
    ck_assert_int_eq(owner_of(&list, (uint64_t)pid), MST_PROC_SERVER);
    ck_assert_int_eq(owner_of(&list, (uint64_t)child), MST_PROC_SERVER);
    ck_assert_int_eq(owner_of(&list, (uint64_t)getpid()), MST_PROC_RECORDER);
    mst_proc_free(&list);
    kill(child, SIGKILL);
    kill(pid, SIGKILL);
    test_wait(pid);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}
END_TEST

/* ---- memory ---------------------------------------------------------------------- */

START_TEST(test_memory_round)
{
    struct mst_memory_round before, after;
    struct server s = start();
    struct mst_processes p;
    unsigned readings = 0;

    order(&s, 'c');
    order(&s, 'c');
    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &before), 1);
    ck_assert_msg(p.problem[0] == '\0', "%s", p.problem);
    ck_assert_uint_eq(before.processes, 3);
    ck_assert_uint_eq(readings, 3);
    ck_assert_uint_ge(before.wall_ns, before.began_wall_ns);

    order(&s, 'm');
    order(&s, 'c');                     /* shares it: no more for that */
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &after), 1);
    ck_assert_uint_eq(after.processes, 4);
    ck_assert_uint_ge(after.pss_bytes, before.pss_bytes + 31 * MEGABYTE);
    ck_assert_uint_le(after.pss_bytes, before.pss_bytes + 40 * MEGABYTE);
    ck_assert_uint_ge(before.rss_bytes, before.pss_bytes);   /* what is shared counts again */
    ck_assert_uint_ge(after.rss_bytes, before.rss_bytes + 31 * MEGABYTE);
    ck_assert_uint_ge(p.cost_ns, after.cost_ns + before.cost_ns);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* Another round begins two seconds after the last one began, not earlier. */
START_TEST(test_memory_is_not_read_often)
{
    struct mst_memory_round round;
    struct server s = start();
    struct mst_processes p;
    unsigned readings = 0, i;

    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    for (i = 0; i < 20; i++)
        ck_assert_int_eq(mst_processes_tick(&p, false, count_reading, &readings, &round), 0);
    ck_assert_uint_eq(readings, 1);
    p.began_ns -= MST_MEMORY_ROUND_NS;
    p.last_tick_ns -= 1000 * MST_NS_PER_S;   /* so long ago: there are 30 s to spend */
    ck_assert_int_eq(mst_processes_tick(&p, false, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(readings, 2);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

/* Servers share a list of all processes: a round takes one that is not old. CPU time is of now, a
 * server that is newer than the list is found, and a list that is old is read again. */
START_TEST(test_servers_share_a_list)
{
    struct server a = start(), b;
    struct mst_all_processes all = { 0 };
    struct mst_processes of_a, of_b;
    struct mst_memory_round round;
    unsigned readings = 0;
    uint64_t read_ns, cpu;

    mst_processes_init(&of_a, (uint64_t)a.pid, NULL);
    of_a.shared = &all;
    cpu = mst_processes_cpu(&of_a);
    read_ns = all.read_ns;
    ck_assert_uint_ne(read_ns, 0);
    ck_assert_int_eq(mst_processes_tick(&of_a, true, count_reading, &readings, &round), 1);
    ck_assert(all.read_ns == read_ns || mst_now_ns() - read_ns >= MST_ALL_AGE_NS);
    b = start();
    mst_processes_init(&of_b, (uint64_t)b.pid, NULL);
    of_b.shared = &all;
    ck_assert_int_eq(mst_processes_tick(&of_b, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(round.processes, 1);
    order(&a, 'b');
    ck_assert_uint_ge(mst_processes_cpu(&of_a), cpu + BURN_NS * 9 / 10);
    order(&a, 'c');
    all.read_ns -= MST_ALL_AGE_NS;
    ck_assert_int_eq(mst_processes_tick(&of_a, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(round.processes, 2);
    ck_assert_uint_eq(readings, 4);
    mst_processes_free(&of_a);
    mst_processes_free(&of_b);
    mst_all_processes_free(&all);
    stop(&b);
    stop(&a);
}
END_TEST

/* Without time to spend it reads nothing, and goes on where it was. */
START_TEST(test_memory_budget)
{
    struct mst_memory_round round;
    struct server s = start();
    struct mst_processes p;
    unsigned readings = 0;
    int i, result = 0;

    for (i = 0; i < 4; i++)
        order(&s, 'c');
    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    p.last_tick_ns = mst_now_ns();
    ck_assert_int_eq(mst_processes_tick(&p, false, count_reading, &readings, &round), 0);
    ck_assert_uint_lt(readings, 5);
    for (i = 0; i < 1000 && result == 0; i++) {
        poll(NULL, 0, 10);
        result = mst_processes_tick(&p, false, count_reading, &readings, &round);
    }
    ck_assert_int_eq(result, 1);
    ck_assert_uint_eq(readings, 5);
    ck_assert_uint_eq(round.processes, 5);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

START_TEST(test_memory_not_permitted)
{
    struct mst_memory_round round;
    struct server s;
    struct mst_processes p;
    unsigned readings = 0;

    if (geteuid() != 0)
        return;   /* whose memory could it not read? */
    s = start();
    if (setresuid(65534, 65534, 0) != 0)
        ck_abort_msg("cannot become nobody");
    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 0);
    ck_assert_msg(strstr(p.problem, "smaps_rollup: Permission denied (root may)") != NULL, "%s",
                  p.problem);
    ck_assert_uint_eq(readings, 0);
    ck_assert_uint_ne(mst_processes_cpu(&p), MST_UNKNOWN);   /* that everyone may */
    mst_processes_free(&p);
    ck_assert_int_eq(setresuid(0, 0, 0), 0);
    stop(&s);
}
END_TEST

#define CONNECTIONS 600u

/* The ports that ports.h tells towards that port of 127.0.0.1. MST_UNKNOWN: it cannot, as in a
 * sandbox without sock_diag, or would not: other programs have more towards others. */
static uint64_t ports_towards(unsigned port)
{
    struct mst_ports ports;
    char address[64];
    size_t i;

    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    if (!mst_ports_read(&ports))
        return MST_UNKNOWN;
    for (i = 0; i < ports.count; i++) {
        ck_assert_uint_le(ports.remotes[i].ports, i > 0 ? ports.remotes[i - 1].ports : UINT64_MAX);
        if (strcmp(ports.remotes[i].address, address) == 0)
            return ports.remotes[i].ports;
    }
    return ports.count == MST_PORTS_REMOTES && ports.remotes[i - 1].ports >= CONNECTIONS ?
           MST_UNKNOWN : 0;
}

/* Connections to one address; what listens there has as many, to an address each. */
START_TEST(test_local_ports)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    struct sockaddr *address = (struct sockaddr *)&at;
    socklen_t size = sizeof at;
    unsigned i;
    uint64_t found;
    int fd;

    /* Another program's connections to a port that is free again can still keep their own. */
    do {
        int listener = socket(AF_INET, SOCK_STREAM, 0);

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = 0;
        ck_assert_int_eq(bind(listener, address, size), 0);
        ck_assert_int_eq(listen(listener, 1000), 0);
        ck_assert_int_eq(getsockname(listener, address, &size), 0);
        found = ports_towards(ntohs(at.sin_port));
    } while (found != 0 && found != MST_UNKNOWN);
    for (i = 0; i < CONNECTIONS; i++) {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(fd, address, size), 0);
        if (i % 2)
            close(fd);         /* it keeps its port */
    }
    found = ports_towards(ntohs(at.sin_port));
    if (found != MST_UNKNOWN)
        ck_assert_uint_eq(found, CONNECTIONS);
}
END_TEST

START_TEST(test_open_files)
{
    struct mst_processes p;
    struct mst_memory_round round;
    struct server s;
    unsigned readings = 0;
    uint64_t before;
    int fd;

    fd = open("/dev/null", O_RDONLY);
    before = mst_proc_files((uint64_t)getpid());
    ck_assert_int_ge(dup(fd), 0);
    ck_assert_uint_eq(mst_proc_files((uint64_t)getpid()), before + 1);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 77, 99 }), 0);
    s = start();
    mst_processes_init(&p, (uint64_t)s.pid, NULL);
    ck_assert_int_eq(mst_processes_tick(&p, true, count_reading, &readings, &round), 1);
    ck_assert_uint_eq(p.list.items[0].files_limit, 77);
    ck_assert_uint_eq(mst_proc_files((uint64_t)test_dead_pid()), MST_UNKNOWN);
    ck_assert_uint_eq(mst_proc_files_limit((uint64_t)test_dead_pid()), MST_UNKNOWN);
    mst_processes_free(&p);
    stop(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("processes");
    TCase *cpu = tcase_create("CPU"), *memory = tcase_create("memory");

    tcase_add_test(cpu, test_open_files);
    tcase_add_test(cpu, test_local_ports);
    tcase_add_test(cpu, test_owners_by_descent);
    tcase_add_test(cpu, test_listening_sockets);
    tcase_add_test(cpu, test_owners_by_backend);
    tcase_add_test(memory, test_memory_round);
    tcase_add_test(memory, test_memory_is_not_read_often);
    tcase_add_test(memory, test_servers_share_a_list);
    tcase_add_test(memory, test_memory_budget);
    tcase_add_test(memory, test_memory_not_permitted);
    tcase_set_timeout(cpu, 30);
    tcase_set_timeout(memory, 30);
    suite_add_tcase(suite, cpu);
    suite_add_tcase(suite, memory);
    return test_run(suite);
}

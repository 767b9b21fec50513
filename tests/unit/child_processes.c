/* child_processes.c - see child_processes.h. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "child_processes.h"
#include "harness.h"
#include "system/processes.h"

void burn(void)
{
    struct timespec t;

    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while ((uint64_t)t.tv_sec * MST_NS_PER_S + (uint64_t)t.tv_nsec < BURN_NS);
}

static void take_memory(void)
{
    char *memory = mmap(NULL, 32 * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    memset(memory, 1, 32 * MEGABYTE);
}

static void serve(int tasks, int answers)
{
    char task;
    pid_t pid;

    while (read(tasks, &task, 1) == 1) {
        if (task == 'r' && seteuid(0) != 0)
            _exit(1);
        pid = task == 'm' || task == 'B' ? 0 : fork();
        if (task == 'r' && pid != 0 && seteuid(getuid()) != 0)
            _exit(1);
        if (task == 'm') {
            take_memory();
        } else if (task == 'B') {
            burn();
        } else if (pid == 0) {
            if (task == 'b')
                burn();
            else
                pause();
            _exit(0);
        } else if (task == 'b') {
            waitpid(pid, NULL, 0);
        }
        if (write(answers, "", 1) != 1)
            break;
    }
    kill(0, SIGKILL);   /* its process group: the children too */
}

struct server start(void)
{
    int tasks[2], answers[2];
    struct server s;

    ck_assert_int_eq(pipe(tasks) + pipe(answers), 0);
    if (test_fork(&s.pid)) {
        setpgid(0, 0);
        close(tasks[1]);
        serve(tasks[0], answers[1]);
    }
    close(tasks[0]);
    close(answers[1]);
    s.tasks = tasks[1];
    s.answers = answers[0];
    return s;
}

void order(const struct server *s, char task)
{
    char answer;

    ck_assert_int_eq(write(s->tasks, &task, 1), 1);
    ck_assert_int_eq(read(s->answers, &answer, 1), 1);
}

void stop(const struct server *s)
{
    close(s->tasks);
    test_wait(s->pid);
    close(s->answers);
}

int count_reading(void *context, uint64_t wall_ns, const struct mst_proc *process,
                  uint64_t cost_ns)
{
    ck_assert(wall_ns > 0 && process->pid > 0 && process->pss_bytes > 0 && cost_ns > 0);
    ck_assert(process->files > 0 && process->files <= process->files_limit);
    ++*(unsigned *)context;
    return 0;
}

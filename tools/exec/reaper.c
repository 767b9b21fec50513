/* reaper.c - for processes that keep others: see reaper.h. */
#include "exec/reaper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void mst_reset_signals(void)
{
    sigset_t none;
    int number;

    for (number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void mst_kill_children(void)
{
    char path[64], line[4096], *at, *next;
    ssize_t n;
    long pid;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    for (;;) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            return;
        line[n] = '\0';
        for (at = line; (pid = strtol(at, &next, 10)) > 0 && next != at; at = next)
            kill((pid_t)pid, SIGKILL);
        if (waitpid(-1, NULL, 0) < 0)
            return;
    }
}

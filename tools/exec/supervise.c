/* supervise.c - a supervisor's signals, name and descendants: see supervise.h. */
#include "exec/supervise.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int mst_supervise(const char *name)
{
    static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2 };
    sigset_t none;
    size_t i;

    setsid();
    prctl(PR_SET_NAME, name);
    for (i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);    /* where it is ignored, children cannot be waited for */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void mst_raise_open_files(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count)
        return;
    limit.rlim_cur = count;
    if (limit.rlim_max < count)
        limit.rlim_max = count;         /* root may */
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
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
        while (n > 0 && line[n - 1] != ' ')
            n--;                    /* a pid that did not fit is another one's beginning */
        line[n] = '\0';
        for (at = line; (pid = strtol(at, &next, 10)) > 0 && next != at; at = next)
            kill((pid_t)pid, SIGKILL);
        if (waitpid(-1, NULL, 0) < 0)
            return;
    }
}

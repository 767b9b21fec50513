/* spawn.c - fork and exec: see spawn.h. */
#include "exec/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strings.h"

/* ---- in the child, before it is the program --------------------------------------- */

static void reset_signals(void)
{
    sigset_t none;
    int number;

    for (number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes fd the stream `to`. */
static bool connect_stream(int fd, int to)
{
    if (fd == MST_DEV_NULL)
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return fd >= 0 && dup2(fd, to) >= 0;
}

/* Returns where it cannot become the program: errno says why. */
static void become(const struct mst_spawn *s)
{
    if (s->group)
        setpgid(0, 0);
    if (s->orphan_signal != 0)
        prctl(PR_SET_PDEATHSIG, s->orphan_signal);
    reset_signals();
    if (!connect_stream(s->in, STDIN_FILENO) || !connect_stream(s->out, STDOUT_FILENO) ||
        !connect_stream(s->err, STDERR_FILENO) ||
        (s->inherited >= 0 && fcntl(s->inherited, F_SETFD, 0) != 0) ||
        (s->directory != NULL && chdir(s->directory) != 0))
        return;
    if (s->environment != NULL)
        environ = (char **)s->environment;   /* execvp() searches the PATH that is in it */
    execvp(s->argv[0], s->argv);
}

/* ---- in mpmstat ------------------------------------------------------------------- */

/* What the child says of its exec: an errno, or the end of the pipe, which exec closes. */
static int read_errno(int fd)
{
    int failed = 0;
    ssize_t n;

    do
        n = read(fd, &failed, sizeof failed);
    while (n < 0 && errno == EINTR);
    return failed;
}

pid_t mst_spawn(const struct mst_spawn *spawn)
{
    int fds[2], failed;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        become(spawn);
        failed = errno;
        while (write(fds[1], &failed, sizeof failed) < 0 && errno == EINTR)
            ;
        _exit(127);
    }
    failed = pid < 0 ? errno : 0;
    close(fds[1]);
    if (pid > 0)
        failed = read_errno(fds[0]);
    close(fds[0]);
    if (failed == 0)
        return pid;
    if (pid > 0)
        waitpid(pid, NULL, 0);
    errno = failed;
    return -1;
}

bool mst_spawn_wait(pid_t pid, int timeout_ms)
{
    struct pollfd fd = { pidfd_open(pid, 0), POLLIN, 0 };
    bool ended = poll(&fd, 1, timeout_ms) > 0;

    if (fd.fd >= 0)
        close(fd.fd);
    return ended;
}

static bool has_same_name(const char *variable, char *const *variables)
{
    size_t length = strcspn(variable, "=") + 1;

    for (; *variables != NULL; variables++)
        if (strncmp(*variables, variable, length) == 0)
            return true;
    return false;
}

char **mst_environment_with(char *const *variables)
{
    struct mst_strings all = { 0 };
    char **own;

    for (own = environ; own != NULL && *own != NULL; own++)
        if (!has_same_name(*own, variables))
            mst_strings_add(&all, *own);
    mst_strings_add_all(&all, variables);
    return mst_strings_steal(&all);
}

/* An executable file, and no directory. */
static bool is_executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool mst_spawn_finds(const char *command)
{
    const char *from = getenv("PATH"), *to;
    char path[4096];

    if (strchr(command, '/') != NULL)
        return is_executable(command);
    for (to = from; from != NULL && to != NULL && command[0] != '\0'; from = to + 1) {
        to = strchrnul(from, ':');
        if ((size_t)snprintf(path, sizeof path, "%.*s%s%s", (int)(to - from), from,
                             to > from ? "/" : "", command) < sizeof path && is_executable(path))
            return true;
        if (*to == '\0')
            break;
    }
    return false;
}

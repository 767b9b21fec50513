/* runner.c - the keeper and the command under it: see runner.h.
 *
 *   mpmstat --orders--> keeper --signals--> command and its children
 *           <--report--
 *
 * The keeper is the reaper of everything below it (PR_SET_CHILD_SUBREAPER), so
 * that nothing escapes by becoming init's child. An order is one byte, the
 * signal's number; the end of the orders means that mpmstat is gone.
 */
#include "exec/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec/reaper.h"
#include "segment/format.h"

/* What the keeper says, once at the start and once at the end. */
struct report {
    int                failed;    /* errno: the command was not executed */
    uint64_t           started_wall_ns;
    struct mst_run_end end;
};

struct mst_runner {
    pid_t         keeper;
    int           orders, reports;
    bool          ended;
    struct report last;
};

/* ---- in the command's process, before it is the command -------------------------- */

/* Writes errno to fd_errno where it cannot become the command. */
static void become_command(char *const *argv, int stdout_fd, int stderr_fd, int inherited_fd,
                           int fd_errno)
{
    int failed;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);   /* where the keeper itself is killed */
    mst_reset_signals();
    if (dup2(stdout_fd, STDOUT_FILENO) >= 0 && dup2(stderr_fd, STDERR_FILENO) >= 0 &&
        (inherited_fd < 0 || fcntl(inherited_fd, F_SETFD, 0) == 0))
        execvp(argv[0], argv);
    failed = errno;
    while (write(fd_errno, &failed, sizeof failed) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* ---- the keeper ------------------------------------------------------------------ */

static int child_pipe[2];   /* a byte for each SIGCHLD, so that poll() sees it */

static void on_child(int number)
{
    int saved = errno;

    (void)number;
    if (write(child_pipe[1], "", 1) < 0)
        saved = errno == EAGAIN ? saved : errno;   /* full: there is a byte already */
    errno = saved;
}

/* Waits for the command, which has ended or been killed, and for the rest. */
static void reap(pid_t command, struct mst_run_end *end)
{
    struct rusage usage;
    siginfo_t info;
    int status;

    /* While it is a zombie its process group's number belongs to nobody else. */
    while (waitid(P_PID, (id_t)command, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    kill(-command, SIGKILL);
    while (wait4(command, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    end->exit_status = WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : MST_UNKNOWN;
    end->exit_signal = WIFSIGNALED(status) ? (uint64_t)WTERMSIG(status) : MST_UNKNOWN;
    end->cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * MST_NS_PER_S +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * MST_NS_PER_US;
    mst_kill_children();   /* what became ours when its parent died */
}

static bool has_ended(pid_t command)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == command;
}

/* Follows orders until the command has ended. Returns when that was. */
static uint64_t keep(pid_t command, int orders)
{
    struct pollfd fds[2] = { { orders, POLLIN, 0 }, { child_pipe[0], POLLIN, 0 } };
    uint64_t asked_ns = 0, now = mst_now_ns();
    char byte, drain[64];
    bool killed = false;

    for (; !has_ended(command); now = mst_now_ns()) {
        if (asked_ns > 0 && !killed && now - asked_ns >= MST_RUNNER_GRACE_NS) {
            kill(-command, SIGKILL);
            killed = true;
        }
        if (poll(fds, 2, 200) <= 0)
            continue;
        if (fds[1].revents & POLLIN && read(child_pipe[0], drain, sizeof drain) < 0)
            continue;
        if (fds[0].revents == 0)
            continue;
        if (read(orders, &byte, 1) == 1 && asked_ns == 0) {
            asked_ns = now;
            kill(-command, byte);
            kill(-command, SIGCONT);   /* a stopped one would never hear of it */
        } else {
            kill(-command, SIGKILL);   /* asked again, or mpmstat is gone */
            killed = true;
            fds[0].fd = -1;
        }
    }
    return now;
}

static int send_report(int fd, const struct report *report)
{
    ssize_t n;

    do
        n = write(fd, report, sizeof *report);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *report ? 0 : -1;
}

/* Starts the command. Its pid, or -1 and *failed. */
static pid_t start_command(char *const *argv, int stdout_fd, int stderr_fd, int inherited_fd,
                           int *failed)
{
    int fds[2];
    pid_t command;
    ssize_t n;

    if (pipe2(fds, O_CLOEXEC) != 0) {
        *failed = errno;
        return -1;
    }
    command = fork();
    if (command == 0)
        become_command(argv, stdout_fd, stderr_fd, inherited_fd, fds[1]);
    *failed = command < 0 ? errno : 0;
    close(fds[1]);
    if (command > 0)
        do
            n = read(fds[0], failed, sizeof *failed);   /* nothing: it is the command now */
        while (n < 0 && errno == EINTR);
    close(fds[0]);
    if (*failed == 0)
        return command;
    if (command > 0)
        waitpid(command, NULL, 0);
    return -1;
}

static bool prepare_keeper(void)
{
    struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_RESTART };
    sigset_t none;

    setsid();
    prctl(PR_SET_NAME, MST_RUNNER_KEEPER);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGINT, SIG_IGN);    /* orders come through the pipe alone */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK) == 0 &&
           sigaction(SIGCHLD, &action, NULL) == 0;
}

static void be_keeper(char *const *argv, int stdout_fd, int stderr_fd, int inherited_fd,
                      int orders, int reports)
{
    struct report report = { 0 };
    uint64_t started_ns;
    pid_t command = -1;

    if (!prepare_keeper())
        report.failed = errno;
    started_ns = mst_now_ns();
    report.started_wall_ns = mst_realtime_ns();
    if (report.failed == 0)
        command = start_command(argv, stdout_fd, stderr_fd, inherited_fd, &report.failed);
    if (send_report(reports, &report) != 0 || command < 0)
        _exit(0);
    report.end.duration_ns = keep(command, orders) - started_ns;
    report.end.started_wall_ns = report.started_wall_ns;
    report.end.ended_wall_ns = report.started_wall_ns + report.end.duration_ns;
    reap(command, &report.end);
    send_report(reports, &report);   /* where nobody listens any more, nobody cares */
    _exit(0);
}

/* ---- in mpmstat ------------------------------------------------------------------ */

/* The next report. false: the keeper is gone. */
static bool read_report(struct mst_runner *r)
{
    ssize_t n;

    do
        n = read(r->reports, &r->last, sizeof r->last);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof r->last;
}

static void close_pair(int fds[2])
{
    int i;

    for (i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* An executable file, and no directory. */
static bool is_executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool mst_runner_finds(const char *command)
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

struct mst_runner *mst_runner_start(char *const *argv, int stdout_fd, int stderr_fd,
                                    int inherited_fd, char error[MST_ERROR_MAX])
{
    struct mst_runner *r = calloc(1, sizeof *r);
    int orders[2] = { -1, -1 }, reports[2] = { -1, -1 };

    if (r == NULL || pipe2(orders, O_CLOEXEC) != 0 || pipe2(reports, O_CLOEXEC) != 0)
        goto failed;
    r->keeper = fork();
    if (r->keeper < 0)
        goto failed;
    if (r->keeper == 0) {
        close(orders[1]);
        close(reports[0]);
        be_keeper(argv, stdout_fd, stderr_fd, inherited_fd, orders[0], reports[1]);
    }
    close(orders[0]);
    close(reports[1]);
    r->orders = orders[1];
    r->reports = reports[0];
    if (!read_report(r))
        snprintf(error, MST_ERROR_MAX, "cannot run %s: its keeper process was killed", argv[0]);
    else if (r->last.failed == 0)
        return r;
    else
        snprintf(error, MST_ERROR_MAX, "cannot run %s: %s", argv[0],
                 r->last.failed == ENOENT ? "there is no such command" :
                 strerror(r->last.failed));
    mst_runner_close(r);
    return NULL;

failed:
    snprintf(error, MST_ERROR_MAX, "cannot run %s: %s", argv[0], strerror(errno));
    close_pair(orders);
    close_pair(reports);
    free(r);
    return NULL;
}

uint64_t mst_runner_started(const struct mst_runner *r)
{
    return r->last.started_wall_ns;
}

int mst_runner_fd(const struct mst_runner *r)
{
    return r->reports;
}

int mst_runner_ended(struct mst_runner *r, struct mst_run_end *end, char error[MST_ERROR_MAX])
{
    struct pollfd fd = { r->reports, POLLIN, 0 };

    if (!r->ended) {
        if (poll(&fd, 1, 0) <= 0)
            return 0;
        if (!read_report(r)) {
            snprintf(error, MST_ERROR_MAX, "the process that keeps the load tool was killed, and "
                     "the load tool with it");
            return -1;
        }
        r->ended = true;
    }
    *end = r->last.end;
    return 1;
}

void mst_runner_stop(struct mst_runner *r, int signal)
{
    char order = (char)signal;

    /* It fails where the keeper is gone, and then there is nothing to stop. */
    while (write(r->orders, &order, 1) < 0 && errno == EINTR)
        ;
}

void mst_runner_close(struct mst_runner *r)
{
    if (r == NULL)
        return;
    close(r->orders);    /* for the keeper: mpmstat is gone, end it */
    close(r->reports);
    while (waitpid(r->keeper, NULL, 0) < 0 && errno == EINTR)
        ;
    free(r);
}

/* runner.c - the supervisor and the command under it: see runner.h.
 *
 *   mpmstat --orders--> supervisor --signals--> command and its children
 *           <--report--
 *
 * An order is one byte, the signal's number; the end of the orders means that mpmstat
 * is gone.
 */
#include "exec/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec/spawn.h"
#include "exec/supervise.h"
#include "segment/format.h"

/* What the supervisor says, once at the start and once at the end. */
struct report {
    int                failed;    /* errno: the command was not executed */
    uint64_t           started_wall_ns;
    struct mst_run_end end;
};

struct mst_runner {
    pid_t         supervisor;
    int           orders, reports;
    bool          ended;
    struct report last;
};

/* ---- the supervisor --------------------------------------------------------------- */

/* Waits for the command, which has ended or been killed, and for the rest. */
static void reap(pid_t command, struct mst_run_end *end)
{
    struct rusage usage;
    siginfo_t info;
    int status;

    /* While it is a zombie, no other process group can have its number. */
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

/* Follows orders until the command has ended. Returns when that was. */
static uint64_t follow_orders(pid_t command, int orders)
{
    struct pollfd fds[2] = { { orders, POLLIN, 0 }, { pidfd_open(command, 0), POLLIN, 0 } };
    uint64_t asked_ns = 0;
    bool killed = false;
    siginfo_t info;
    char byte;

    for (;;) {
        info.si_pid = 0;
        waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT);
        if (info.si_pid == command)
            return mst_now_ns();
        if (asked_ns > 0 && !killed && mst_now_ns() - asked_ns >= MST_RUNNER_GRACE_NS) {
            kill(-command, SIGKILL);
            killed = true;
        }
        if (poll(fds, 2, 200) <= 0 || fds[0].revents == 0)
            continue;
        if (read(orders, &byte, 1) == 1 && asked_ns == 0) {
            asked_ns = mst_now_ns();
            kill(-command, byte);
            kill(-command, SIGCONT);   /* a stopped process would not see the signal */
        } else {
            kill(-command, SIGKILL);   /* asked again, or mpmstat is gone */
            killed = true;
            fds[0].fd = -1;
        }
    }
}

static int send_report(int fd, const struct report *report)
{
    ssize_t n;

    do
        n = write(fd, report, sizeof *report);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *report ? 0 : -1;
}

/* It leads a process group, which is killed with it, and dies where the supervisor is killed. */
static pid_t start_command(const struct mst_spawn *given)
{
    struct mst_spawn spawn = *given;

    spawn.group = true;
    spawn.orphan_signal = SIGKILL;
    return mst_spawn(&spawn);
}

static void be_supervisor(const struct mst_spawn *spawn, int orders, int reports)
{
    struct report report = { 0 };
    uint64_t started_ns;
    pid_t command = -1;

    if (mst_supervise(MST_RUNNER_SUPERVISOR) != 0)
        report.failed = errno;
    started_ns = mst_now_ns();
    report.started_wall_ns = mst_realtime_ns();
    if (report.failed == 0 && (command = start_command(spawn)) < 0)
        report.failed = errno;
    if (send_report(reports, &report) != 0 || command < 0)
        _exit(0);
    report.end.duration_ns = follow_orders(command, orders) - started_ns;
    report.end.started_wall_ns = report.started_wall_ns;
    report.end.ended_wall_ns = report.started_wall_ns + report.end.duration_ns;
    reap(command, &report.end);
    send_report(reports, &report);   /* it fails where mpmstat is gone: nothing is lost then */
    _exit(0);
}

/* ---- in mpmstat ------------------------------------------------------------------ */

/* The next report. false: the supervisor is gone. */
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

struct mst_runner *mst_runner_start(const struct mst_spawn *spawn, char error[MST_ERROR_MAX])
{
    struct mst_runner *r = calloc(1, sizeof *r);
    int orders[2] = { -1, -1 }, reports[2] = { -1, -1 };

    if (r == NULL || pipe2(orders, O_CLOEXEC) != 0 || pipe2(reports, O_CLOEXEC) != 0)
        goto failed;
    r->supervisor = fork();
    if (r->supervisor < 0)
        goto failed;
    if (r->supervisor == 0) {
        close(orders[1]);
        close(reports[0]);
        be_supervisor(spawn, orders[0], reports[1]);
    }
    close(orders[0]);
    close(reports[1]);
    r->orders = orders[1];
    r->reports = reports[0];
    if (!read_report(r))
        mst_fail(error, "cannot run %s: its supervisor process was killed", spawn->argv[0]);
    else if (r->last.failed == 0)
        return r;
    else
        mst_fail(error, "cannot run %s: %s", spawn->argv[0],
                 r->last.failed == ENOENT ? "there is no such command" :
                 strerror(r->last.failed));
    mst_runner_close(r);
    return NULL;

failed:
    mst_fail(error, "cannot run %s: %s", spawn->argv[0], strerror(errno));
    close_pair(orders);
    close_pair(reports);
    free(r);
    return NULL;
}

uint64_t mst_runner_started(const struct mst_runner *r)
{
    return r->last.started_wall_ns;
}

uint64_t mst_runner_pid(const struct mst_runner *r)
{
    return (uint64_t)r->supervisor;
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
        if (!read_report(r))
            return mst_fail(error, "the process that keeps the load tool was killed, and the load "
                            "tool with it");
        r->ended = true;
    }
    *end = r->last.end;
    return 1;
}

void mst_runner_stop(struct mst_runner *r, int signal)
{
    char order = (char)signal;

    /* It fails where the supervisor is gone, and then there is nothing to stop. */
    while (write(r->orders, &order, 1) < 0 && errno == EINTR)
        ;
}

void mst_runner_close(struct mst_runner *r)
{
    if (r == NULL)
        return;
    close(r->orders);    /* for the supervisor: mpmstat is gone, end it */
    close(r->reports);
    while (waitpid(r->supervisor, NULL, 0) < 0 && errno == EINTR)
        ;
    free(r);
}

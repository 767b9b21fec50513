/* supervisor.c - starts a stack's servers, keeps them, ends them: see supervisor.h. */
#include "lab/servers/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/spawn.h"
#include "exec/supervise.h"
#include "lab/servers/scripts.h"
#include "read/accept_queue.h"
#include "system/processes.h"

#define LISTEN_NS  (60 * MST_NS_PER_S)     /* for a server to listen */
#define TERM_NS    (20 * MST_NS_PER_S)     /* from a server's asking to its killing */
#define STEP_MS    20
#define OPEN_FILES 65536u                  /* for servers, where the hard limit allows it */

/* ---- the supervisor's side ------------------------------------------------------------ */

struct server {
    const struct mst_site_server *site;
    pid_t pid;             /* 0: not started, or its end was waited for */
    int   pidfd;           /* becomes readable when it ends; -1 where pid is 0 */
};

struct state {
    const struct mst_supervisor_plan *plan;
    int            link;       /* to mpmstat */
    bool           told;       /* to stop, or mpmstat is gone */
    struct server *servers;    /* as many as the site has */
    struct pollfd *fds;        /* one for each of them, and the link's */
    char         **environment;
};

static void tell(const struct state *s, enum mst_supervisor_news news, size_t server, pid_t pid,
                 const char *text)
{
    struct mst_supervisor_message message = { .news = news, .server = server, .pid = pid };

    snprintf(message.text, sizeof message.text, "%s", text);
    /* It fails where mpmstat is gone; is_told() notices that. */
    while (send(s->link, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

/* Waits so long for an order or for the end of a server; true: there is an order, or mpmstat
 * is gone. */
static bool is_told(struct state *s, int timeout_ms)
{
    size_t count = s->plan->site->server_count, i;
    char order;

    if (s->told)
        return true;
    for (i = 0; i < count; i++)
        s->fds[i] = (struct pollfd){ s->servers[i].pidfd, POLLIN, 0 };
    s->fds[count] = (struct pollfd){ s->link, POLLIN, 0 };
    /* The order is read, or the link's end: unread bytes would cost mpmstat the supervisor's
     * last message (ECONNRESET). */
    if (poll(s->fds, count + 1, timeout_ms) > 0 && s->fds[count].revents != 0)
        s->told = recv(s->link, &order, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
    return s->told;
}

static bool stop_script(void *context)
{
    return is_told(context, 0);
}

/* ---- one server ------------------------------------------------------------------- */

/* Starts it. Where the supervisor is killed the kernel ends it. 0, or -1 with a sentence. */
static int start_server(struct state *s, struct server *server, char error[MST_ERROR_MAX])
{
    const struct mst_site_server *site = server->site;
    struct mst_spawn spawn = {
        .argv = site->argv, .environment = s->environment, .directory = site->directory,
        .in = MST_DEV_NULL, .inherited = -1, .group = true, .orphan_signal = SIGTERM,
    };
    char console[PATH_MAX];
    pid_t pid = -1;

    snprintf(console, sizeof console, "%s/console.log", site->directory);
    spawn.out = spawn.err = open(console, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (spawn.out >= 0) {
        pid = mst_spawn(&spawn);
        close(spawn.out);
    }
    if (pid < 0)
        return mst_fail(error, "cannot start %s, which is %s: %s", site->name, site->argv[0],
                        errno == ENOENT ? "there is no such program" : strerror(errno));
    server->pid = pid;
    server->pidfd = pidfd_open(pid, 0);
    return mst_sandbox_note(s->plan->root, "server", pid) == 0 ? 0 :
           mst_fail(error, "cannot write to %s/lab.lock: %s", s->plan->root->path,
                    strerror(errno));
}

static void describe_end(const struct server *server, int status, char error[MST_ERROR_MAX])
{
    if (WIFSIGNALED(status))
        mst_fail(error, "the server %s (%s) was ended by signal %d (%s)", server->site->name,
                 server->site->argv[0], WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        mst_fail(error, "the server %s (%s) has ended, with exit status %d", server->site->name,
                 server->site->argv[0], WEXITSTATUS(status));
}

/* Whether it has ended; then its sentence. Its process group dies with it. */
static bool has_ended(struct server *server, char error[MST_ERROR_MAX])
{
    siginfo_t info = { 0 };
    int status;

    if (server->pid == 0 ||
        waitid(P_PID, (id_t)server->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != server->pid)
        return false;
    /* While it is a zombie, no other process group can have its number. */
    kill(-server->pid, SIGKILL);
    waitpid(server->pid, &status, 0);
    server->pid = 0;
    close(server->pidfd);
    server->pidfd = -1;
    describe_end(server, status, error);
    return true;
}

/* Whether the inode is that of a Unix socket that listens. */
static bool listens_on_unix(const struct mst_sockets *sockets)
{
    FILE *in = fopen("/proc/net/unix", "re");
    unsigned long flags, inode;
    char line[512];
    bool found = false;
    size_t i;

    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "%*s %*s %*s %lx %*s %*s %lu", &flags, &inode) == 2 &&
            (flags & 0x10000) != 0)   /* __SO_ACCEPTCON */
            for (i = 0; i < sockets->count && !found; i++)
                found = sockets->inodes[i] == inode;
    if (in != NULL)
        fclose(in);
    return found;
}

/* Whether the server's first process listens, on TCP or a Unix socket. */
static bool is_listening(const struct server *server)
{
    struct mst_sockets sockets;
    struct mst_listen listen;
    bool listens = false;

    if (mst_sockets_read(&sockets, (uint64_t)server->pid)) {
        mst_listen_read(&listen, &sockets, false);
        listens = listen.count > 0 || listens_on_unix(&sockets);
        mst_listen_free(&listen);
    }
    mst_sockets_free(&sockets);
    return listens;
}

static bool has_children(uint64_t pid)
{
    struct mst_proc_list list = { 0 };
    bool found = false;
    size_t i;

    if (mst_proc_scan(&list))
        for (i = 0; i < list.count && !found; i++)
            found = list.items[i].parent == pid;
    mst_proc_free(&list);
    return found;
}

/* An Apache listens before its modules begin, and so before PHP's board in it is made: its
 * children come after that. */
static bool is_ready(const struct server *server)
{
    return is_listening(server) && (strcmp(server->site->kind, "apache") != 0 ||
                                    has_children((uint64_t)server->pid));
}

/* Until it listens. 0; -1 with a sentence, or told to stop. */
static int await_server(struct state *s, struct server *server, char error[MST_ERROR_MAX])
{
    uint64_t began = mst_now_ns();

    while (!is_ready(server)) {
        if (has_ended(server, error))
            return -1;
        if (mst_now_ns() - began > LISTEN_NS)
            return mst_fail(error, "the server %s (%s) did not listen on any port or socket within "
                            "%u seconds", server->site->name, server->site->argv[0],
                            (unsigned)(LISTEN_NS / MST_NS_PER_S));
        if (is_told(s, STEP_MS))
            return mst_fail(error, "interrupted");
    }
    return 0;
}

/* ---- all of them ------------------------------------------------------------------ */

/* Stops it: asks, waits, kills. What was needed beyond asking is added to the complaint. */
static void stop_server(struct server *server, char complaint[MST_ERROR_MAX])
{
    struct pollfd fd = { server->pidfd, POLLIN, 0 };
    uint64_t began = mst_now_ns();
    char ignored[MST_ERROR_MAX];

    if (server->pid == 0)
        return;
    kill(server->pid, SIGTERM);
    kill(server->pid, SIGCONT);   /* a stopped process would not see the signal */
    while (!has_ended(server, ignored)) {
        poll(&fd, 1, STEP_MS);
        if (mst_now_ns() - began < TERM_NS)
            continue;
        mst_fail(complaint, "the server %s did not end within %u seconds of SIGTERM and was killed",
                 server->site->name, (unsigned)(TERM_NS / MST_NS_PER_S));
        kill(-server->pid, SIGKILL);
        began = mst_now_ns();
    }
}

/* Reaps the descendants that were orphaned, so that no zombies gather. */
static void reap_orphans(const struct state *s)
{
    siginfo_t info = { 0 };
    size_t i;

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        for (i = 0; i < s->plan->site->server_count; i++)
            if (s->servers[i].pid == info.si_pid)
                return;   /* has_ended() reaps it */
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

static int start_all(struct state *s, char error[MST_ERROR_MAX])
{
    struct server *server;
    size_t i;

    if (s->plan->test_users != NULL &&
        mst_test_users_enter(s->plan->test_users, s->plan->root->path, error) != 0)
        return -1;
    if (mst_scripts_run(s->plan->root->path, mst_scripts_setup_names, stop_script, s, error) != 0)
        return -1;
    for (i = 0; i < s->plan->site->server_count; i++) {
        server = &s->servers[i];
        if (start_server(s, server, error) != 0)
            return -1;
        tell(s, MST_SUPERVISOR_STARTED, i, server->pid, "");
        if (await_server(s, server, error) != 0)
            return -1;
    }
    return 0;
}

/* Until told to stop. A server that ends is news, unless the start has failed already (mpmstat
 * reads the logs then); the others go on. */
static void await_order(struct state *s, bool news)
{
    char error[MST_ERROR_MAX];
    size_t i;

    while (!is_told(s, 500)) {
        for (i = 0; i < s->plan->site->server_count; i++)
            if (has_ended(&s->servers[i], error) && news)
                tell(s, MST_SUPERVISOR_FAILED, i, 0, error);
        reap_orphans(s);
    }
}

static void end_all(struct state *s, char complaint[MST_ERROR_MAX])
{
    size_t i;

    for (i = s->plan->site->server_count; i > 0; i--)
        stop_server(&s->servers[i - 1], complaint);
    mst_scripts_teardown(s->plan->root->path, complaint);
    mst_kill_children();
    mst_sandbox_remove(s->plan->root->path, complaint);
}

/* Only the link, the lock and the ports stay open: of everything else that mpmstat has open
 * the other end would never see an end. */
static void close_others(const struct state *s)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct mst_supervisor_plan *plan = s->plan;
    struct dirent *entry;
    bool kept;
    int fd, i;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        fd = atoi(entry->d_name);
        kept = fd <= STDERR_FILENO || fd == dirfd(dir) || fd == s->link ||
               fd == plan->root->lock || fd == plan->root->fd;
        for (i = 0; i < MST_PORTS; i++)
            kept |= fd == plan->held[i];
        if (!kept)
            close(fd);
    }
    if (dir != NULL)
        closedir(dir);
}

/* The standard streams become /dev/null: else a program that reads mpmstat's output would see its
 * end only when the supervisor ends. */
static bool prepare_supervisor(const struct state *s)
{
    int null;

    if (mst_supervise(MST_LAB_SUPERVISOR) != 0)
        return false;
    mst_raise_open_files(OPEN_FILES);
    close_others(s);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
           dup2(null, STDERR_FILENO) >= 0 && chdir("/") == 0 &&
           mst_sandbox_note(s->plan->root, "keeper", getpid()) == 0;
}

static void be_supervisor(struct state *s)
{
    char error[MST_ERROR_MAX] = "", complaint[MST_ERROR_MAX] = "";
    size_t i;

    s->servers = calloc(s->plan->site->server_count, sizeof *s->servers);
    s->fds = calloc(s->plan->site->server_count + 1, sizeof *s->fds);
    s->environment = mst_environment_make(s->plan->root->path, true);
    if (s->servers == NULL || s->fds == NULL || s->environment == NULL || !prepare_supervisor(s)) {
        tell(s, MST_SUPERVISOR_FAILED, 0, 0, "the process that keeps the servers cannot work");
        _exit(1);
    }
    for (i = 0; i < s->plan->site->server_count; i++)
        s->servers[i] = (struct server){ .site = &s->plan->site->servers[i], .pidfd = -1 };
    if (start_all(s, error) == 0) {
        tell(s, MST_SUPERVISOR_READY, 0, 0, "");
        await_order(s, true);
    } else {
        tell(s, MST_SUPERVISOR_FAILED, 0, 0, error);
        await_order(s, false);
    }
    end_all(s, complaint);
    tell(s, MST_SUPERVISOR_STOPPED, 0, 0, complaint);
    _exit(0);
}

/* ---- mpmstat's side --------------------------------------------------------------- */

struct mst_supervisor {
    pid_t pid;
    int   link;
    bool  gone;
};

struct mst_supervisor *mst_supervisor_start(const struct mst_supervisor_plan *plan,
                                    char error[MST_ERROR_MAX])
{
    struct mst_supervisor *supervisor = calloc(1, sizeof *supervisor);
    int links[2] = { -1, -1 };
    struct state s = { .plan = plan };

    if (supervisor == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, links) != 0)
        goto failed;
    supervisor->pid = fork();
    if (supervisor->pid < 0)
        goto failed;
    if (supervisor->pid == 0) {
        s.link = links[1];
        be_supervisor(&s);
    }
    close(links[1]);
    supervisor->link = links[0];
    return supervisor;

failed:
    mst_fail(error, "cannot start the process that keeps the servers: %s", strerror(errno));
    if (links[0] >= 0) {
        close(links[0]);
        close(links[1]);
    }
    free(supervisor);
    return NULL;
}

int mst_supervisor_fd(const struct mst_supervisor *supervisor)
{
    return supervisor->link;
}

void mst_supervisor_next(struct mst_supervisor *supervisor, struct mst_supervisor_message *message)
{
    ssize_t n = 0;

    if (!supervisor->gone)
        do
            n = recv(supervisor->link, message, sizeof *message, MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *message)
        return;
    supervisor->gone = supervisor->gone || n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    *message = (struct mst_supervisor_message){
        .news = supervisor->gone ? MST_SUPERVISOR_GONE : MST_SUPERVISOR_NOTHING,
    };
}

void mst_supervisor_stop(struct mst_supervisor *supervisor)
{
    /* It fails where the supervisor is gone, and then there is nothing to stop. */
    while (send(supervisor->link, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void mst_supervisor_close(struct mst_supervisor *supervisor)
{
    close(supervisor->link);    /* for the supervisor: mpmstat is gone, stop */
    while (waitpid(supervisor->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(supervisor);
}

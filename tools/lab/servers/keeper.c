/* keeper.c - starts a stack's servers, keeps them, ends them: see keeper.h. */
#include "lab/servers/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec/reaper.h"
#include "lab/servers/scripts.h"
#include "read/accept_queue.h"
#include "system/processes.h"

#define LISTEN_NS  (60 * MST_NS_PER_S)     /* for a server to listen */
#define TERM_NS    (20 * MST_NS_PER_S)     /* from a server's asking to its killing */
#define STEP_MS    20
#define OPEN_FILES 65536u                  /* for servers, where the hard limit allows it */

/* ---- the keeper's side ------------------------------------------------------------ */

struct server {
    const struct mst_site_server *site;
    pid_t pid;             /* 0: not started, or its end was waited for */
};

struct state {
    const struct mst_keeper_plan *plan;
    int            link;       /* to mpmstat */
    bool           told;       /* to stop, or mpmstat is gone */
    struct server *servers;    /* as many as the site has */
    char         **environment;
};

static void tell(const struct state *s, enum mst_keeper_news news, size_t server, pid_t pid,
                 const char *text)
{
    struct mst_keeper_message message = { .news = news, .server = server, .pid = pid };

    snprintf(message.text, sizeof message.text, "%s", text);
    /* Where nobody listens any more, nobody cares: the end of the link says so itself. */
    while (send(s->link, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

static void on_child(int number)
{
    (void)number;   /* it only ends a wait */
}

/* Waits so long for an order, or until a child ends; true: there is one, or mpmstat is
 * gone. */
static bool is_told(struct state *s, int timeout_ms)
{
    struct pollfd fd = { s->link, POLLIN, 0 };
    char order;

    /* Whatever there is: an order, or the link's end. It is read, for what nobody has read
     * when the keeper ends would cost mpmstat the keeper's last words (ECONNRESET). */
    if (!s->told && poll(&fd, 1, timeout_ms) > 0)
        s->told = recv(s->link, &order, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
    return s->told;
}

static bool stop_script(void *context)
{
    return is_told(context, 0);
}

/* ---- one server ------------------------------------------------------------------- */

static void become_server(const struct state *s, const struct mst_site_server *server,
                          int errors)
{
    struct rlimit files;
    char console[PATH_MAX];
    int fd, in;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);   /* where the keeper itself is killed */
    mst_reset_signals();
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < OPEN_FILES) {
        files.rlim_cur = files.rlim_max < OPEN_FILES ? files.rlim_max : OPEN_FILES;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    snprintf(console, sizeof console, "%s/console.log", server->directory);
    fd = open(console, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 &&
        dup2(fd, STDERR_FILENO) >= 0 && chdir(server->directory) == 0)
        execvpe(server->argv[0], server->argv, s->environment);
    fd = errno;
    while (write(errors, &fd, sizeof fd) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* Starts it. 0, or -1 with a sentence. */
static int start_server(struct state *s, struct server *server, char error[MST_ERROR_MAX])
{
    int fds[2], failed = 0;
    ssize_t n;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return mst_fail(error, "cannot start %s: %s", server->site->name, strerror(errno));
    server->pid = fork();
    if (server->pid == 0)
        become_server(s, server->site, fds[1]);
    close(fds[1]);
    if (server->pid > 0)
        do
            n = read(fds[0], &failed, sizeof failed);   /* nothing: it is the server now */
        while (n < 0 && errno == EINTR);
    else
        failed = errno;
    close(fds[0]);
    if (failed == 0)
        return mst_rootdir_note(s->plan->root, "server", server->pid) == 0 ? 0 :
               mst_fail(error, "cannot write to %s/lab.lock: %s", s->plan->root->path,
                        strerror(errno));
    if (server->pid > 0)
        waitpid(server->pid, NULL, 0);
    server->pid = 0;
    return mst_fail(error, "cannot start %s, which is %s: %s", server->site->name,
                    server->site->argv[0], failed == ENOENT ? "there is no such program" :
                    strerror(failed));
}

/* What its end looks like to a person. */
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
    /* While it is a zombie its process group's number belongs to nobody else. */
    kill(-server->pid, SIGKILL);
    waitpid(server->pid, &status, 0);
    server->pid = 0;
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
        mst_listen_read(&listen, &sockets);
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
    static const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    uint64_t began = mst_now_ns();
    char ignored[MST_ERROR_MAX];

    if (server->pid == 0)
        return;
    kill(server->pid, SIGTERM);
    kill(server->pid, SIGCONT);   /* a stopped one would never hear of it */
    while (!has_ended(server, ignored)) {
        nanosleep(&step, NULL);
        if (mst_now_ns() - began < TERM_NS)
            continue;
        mst_fail(complaint, "the server %s did not end within %u seconds of SIGTERM and was killed",
                 server->site->name, (unsigned)(TERM_NS / MST_NS_PER_S));
        kill(-server->pid, SIGKILL);
        began = mst_now_ns();
    }
}

/* Takes what ended of those that became ours, so that no zombies gather. */
static void reap_others(const struct state *s)
{
    siginfo_t info = { 0 };
    size_t i;

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        for (i = 0; i < s->plan->site->server_count; i++)
            if (s->servers[i].pid == info.si_pid)
                return;   /* has_ended() is to see it */
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

static int start_all(struct state *s, char error[MST_ERROR_MAX])
{
    struct server *server;
    size_t i;

    if (s->plan->tenants != NULL &&
        mst_tenants_enter(s->plan->tenants, s->plan->root->path, error) != 0)
        return -1;
    if (mst_scripts_run(s->plan->root->path, mst_scripts_setup_names, stop_script, s, error) != 0)
        return -1;
    for (i = 0; i < s->plan->site->server_count; i++) {
        server = &s->servers[i];
        if (start_server(s, server, error) != 0)
            return -1;
        tell(s, MST_KEEPER_STARTED, i, server->pid, "");
        if (await_server(s, server, error) != 0)
            return -1;
    }
    return 0;
}

/* Until told to stop. A server that ends is news; the others go on. */
static void keep(struct state *s)
{
    char error[MST_ERROR_MAX];
    size_t i;

    while (!is_told(s, 500)) {
        for (i = 0; i < s->plan->site->server_count; i++)
            if (has_ended(&s->servers[i], error))
                tell(s, MST_KEEPER_FAILED, i, 0, error);
        reap_others(s);
    }
}

/* A start's failure is not the end: mpmstat reads the logs first. */
static void await_order(struct state *s)
{
    while (!is_told(s, 1000))
        reap_others(s);
}

static void end_all(struct state *s, char complaint[MST_ERROR_MAX])
{
    size_t i;

    for (i = s->plan->site->server_count; i > 0; i--)
        stop_server(&s->servers[i - 1], complaint);
    mst_scripts_teardown(s->plan->root->path, complaint);
    mst_kill_children();
    mst_rootdir_remove(s->plan->root->path, complaint);
}

/* Only the link, the lock and the ports stay open: of everything else that mpmstat has open
 * the other end would never see an end. */
static void close_others(const struct state *s)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct mst_keeper_plan *plan = s->plan;
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

/* Standard input and output are not the keeper's: whoever waits for their end would wait
 * for it. */
static bool prepare(const struct state *s)
{
    static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2 };
    const struct sigaction child = { .sa_handler = on_child };
    sigset_t none;
    int null;
    size_t i;

    setsid();
    prctl(PR_SET_NAME, MST_LAB_KEEPER);
    for (i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);    /* orders come through the link alone */
    sigaction(SIGCHLD, &child, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_others(s);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
           dup2(null, STDERR_FILENO) >= 0 && chdir("/") == 0 &&
           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 &&
           mst_rootdir_note(s->plan->root, "keeper", getpid()) == 0;
}

static void be_keeper(struct state *s)
{
    char error[MST_ERROR_MAX] = "", complaint[MST_ERROR_MAX] = "";
    size_t i;

    s->servers = calloc(s->plan->site->server_count, sizeof *s->servers);
    s->environment = mst_environment_make(s->plan->root->path, true);
    if (s->servers == NULL || s->environment == NULL || !prepare(s)) {
        tell(s, MST_KEEPER_FAILED, 0, 0, "the process that keeps the servers cannot work");
        _exit(1);
    }
    setenv("PATH", s->environment[0] + strlen("PATH="), 1);   /* where execvpe() looks */
    for (i = 0; i < s->plan->site->server_count; i++)
        s->servers[i].site = &s->plan->site->servers[i];
    if (start_all(s, error) == 0) {
        tell(s, MST_KEEPER_READY, 0, 0, "");
        keep(s);
    } else {
        tell(s, MST_KEEPER_FAILED, 0, 0, error);
        await_order(s);
    }
    end_all(s, complaint);
    tell(s, MST_KEEPER_STOPPED, 0, 0, complaint);
    _exit(0);
}

/* ---- mpmstat's side --------------------------------------------------------------- */

struct mst_keeper {
    pid_t pid;
    int   link;
    bool  gone;
};

struct mst_keeper *mst_keeper_start(const struct mst_keeper_plan *plan,
                                    char error[MST_ERROR_MAX])
{
    struct mst_keeper *keeper = calloc(1, sizeof *keeper);
    int links[2] = { -1, -1 };
    struct state s = { .plan = plan };

    if (keeper == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, links) != 0)
        goto failed;
    keeper->pid = fork();
    if (keeper->pid < 0)
        goto failed;
    if (keeper->pid == 0) {
        s.link = links[1];
        be_keeper(&s);
    }
    close(links[1]);
    keeper->link = links[0];
    return keeper;

failed:
    mst_fail(error, "cannot start the process that keeps the servers: %s", strerror(errno));
    if (links[0] >= 0) {
        close(links[0]);
        close(links[1]);
    }
    free(keeper);
    return NULL;
}

int mst_keeper_fd(const struct mst_keeper *keeper)
{
    return keeper->link;
}

void mst_keeper_next(struct mst_keeper *keeper, struct mst_keeper_message *message)
{
    ssize_t n = 0;

    if (!keeper->gone)
        do
            n = recv(keeper->link, message, sizeof *message, MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *message)
        return;
    keeper->gone = keeper->gone || n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    *message = (struct mst_keeper_message){
        .news = keeper->gone ? MST_KEEPER_GONE : MST_KEEPER_NOTHING,
    };
}

void mst_keeper_stop(struct mst_keeper *keeper)
{
    /* It fails where the keeper is gone, and then there is nothing to stop. */
    while (send(keeper->link, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void mst_keeper_close(struct mst_keeper *keeper)
{
    close(keeper->link);    /* for the keeper: mpmstat is gone, stop */
    while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(keeper);
}

/* servers.c - a stack's servers, from the directory to their end: see servers.h. */
#include "lab/servers/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"
#include "lab/servers/supervisor.h"
#include "lab/servers/packages.h"
#include "lab/servers/page.h"
#include "lab/files/paths.h"
#include "lab/servers/sandbox.h"
#include "lab/servers/scripts.h"
#include "lab/servers/site.h"
#include "lab/servers/test_users.h"

#define PAGE_NS   (15 * MST_NS_PER_S)   /* for the page to be right, once all listen */
#define STOP_NS   (900 * MST_NS_PER_S)  /* longer than the supervisor's own bounds in sum */
#define STEP_MS   50
#define LOG_LINES 8u

struct mst_servers {
    struct mst_sandbox     root;
    struct mst_site        site;
    struct mst_test_users  test_users;
    bool                   has_test_users;
    struct mst_supervisor *supervisor;
    struct mst_server     *items;
    bool                   has_status;
    bool                   ready, gone, stopped;
    char                   problem[MST_ERROR_MAX];   /* what the supervisor said last; "" nothing */
    const volatile sig_atomic_t *stop;
};

void mst_servers_failure_free(struct mst_servers_failure *failure)
{
    free(failure->log);
    failure->log = NULL;
}

void mst_servers_clean(void)
{
    mst_sandbox_clean_leftovers();
}

/* ---- what must be there ----------------------------------------------------------- */

int mst_servers_missing(const struct mst_stack *const *stacks,
                        const struct mst_workload *const *workloads, char error[MST_ERROR_MAX])
{
    struct mst_packages *packages = mst_packages_read(error);
    char missing[MST_ERROR_MAX] = "";

    if (packages == NULL)
        return -1;
    for (; *stacks != NULL; stacks++)
        mst_packages_missing(packages, (*stacks)->needs, missing);
    for (; *workloads != NULL; workloads++)
        mst_packages_missing(packages, (*workloads)->needs, missing);
    mst_packages_free(packages);
    return missing[0] != '\0' ? mst_packages_tell(missing, error) : 0;
}

static int check_possible(const struct mst_stack *stack, const struct mst_workload *workload,
                          char error[MST_ERROR_MAX])
{
    const struct mst_stack *stacks[] = { stack, NULL };
    const struct mst_workload *workloads[] = { workload, NULL };
    int missing;

    if (mst_stack_serves(stack, workload, error) != 0)
        return -1;
    if (stack->root && geteuid() != 0)
        return mst_fail(error, "the stack %s can be run by root alone: it needs %s", stack->name,
                        stack->test_users ? "users of its own" : "rights that only root has");
    missing = mst_servers_missing(stacks, workloads, error);
    if (missing < 0)
        mst_warn("%s", error);   /* what there is no program of is told when it is started */
    return missing > 0 ? -1 : mst_module_check(error);
}

/* ---- ports ------------------------------------------------------------------------ */

/* A socket that keeps a loopback port ours: bound, never listening, so that a server with
 * SO_REUSEADDR can listen there and nobody else gets it. wanted 0: any. */
static int hold_port(unsigned wanted, unsigned *port, char error[MST_ERROR_MAX])
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)wanted),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    if (errno == EADDRINUSE)
        mst_fail(error, "port %u of 127.0.0.1 is taken by another program (ss -ltnp tells which): "
                 "choose another, or none", wanted);
    else
        mst_fail(error, "cannot have port %u of 127.0.0.1: %s", wanted, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static void release_ports(const int held[MST_PORTS])
{
    int i;

    for (i = 0; i < MST_PORTS; i++)
        if (held[i] >= 0)
            close(held[i]);
}

static int hold_ports(const struct mst_parameters *given, int held[MST_PORTS],
                      unsigned ports[MST_PORTS], char error[MST_ERROR_MAX])
{
    const char *value;
    unsigned long wanted;
    char *end;
    int i;

    for (i = 0; i < MST_PORTS; i++)
        held[i] = -1;
    for (i = 0; i < MST_PORTS; i++) {
        value = given != NULL ? mst_parameters_get(given, mst_site_port_names[i]) : NULL;
        wanted = value != NULL ? strtoul(value, &end, 10) : 0;
        if (value != NULL && (*value < '0' || *value > '9' || *end != '\0' || wanted == 0 ||
                              wanted > 65535))
            mst_fail(error, "expected %s=NUMBER with a number from 1 to 65535, found \"%.60s\"",
                     mst_site_port_names[i], value);
        else
            held[i] = hold_port((unsigned)wanted, &ports[i], error);
        if (held[i] < 0) {
            release_ports(held);
            return -1;
        }
    }
    return 0;
}

/* ---- the directory's contents ----------------------------------------------------- */

/* Makes the directories above a file below ROOT; owner as in mst_site_file. */
static int make_directories(const struct mst_servers *s, const char *path, int owner)
{
    char directory[PATH_MAX], *slash;

    snprintf(directory, sizeof directory, "%s", path);
    for (slash = strchr(directory, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(s->root.fd, directory, 0755) == 0) {
            if (owner >= 0 && fchownat(s->root.fd, directory, s->test_users.ids[owner],
                                       s->test_users.ids[owner], AT_SYMLINK_NOFOLLOW) != 0)
                return -1;
        } else if (errno != EEXIST) {
            return -1;
        }
        *slash = '/';
    }
    return 0;
}

static int write_file(const struct mst_servers *s, const struct mst_site_file *file)
{
    size_t length = strlen(file->text), done = 0;
    ssize_t n = 0;
    int fd;

    if (make_directories(s, file->path, file->owner) != 0)
        return -1;
    fd = openat(s->root.fd, file->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    while (done < length && (n = write(fd, file->text + done, length - done)) > 0)
        done += (size_t)n;
    if (n >= 0 && file->owner >= 0)
        n = fchown(fd, s->test_users.ids[file->owner], s->test_users.ids[file->owner]);
    if (n >= 0)
        n = fchmod(fd, file->mode);
    return close(fd) != 0 || n < 0 ? -1 : 0;
}

/* Modes regardless of the umask. */
static int make_directory(const struct mst_servers *s, const char *name, mode_t mode)
{
    if (mkdirat(s->root.fd, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return fchmodat(s->root.fd, name, mode, 0);
}

/* nftw() has no room for a context. */
static const struct mst_servers *copying;
static size_t copying_from;

static int copy_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    struct mst_site_file file = { .mode = 0644, .owner = -1 };
    char below[PATH_MAX], error[MST_ERROR_MAX];
    size_t length;
    int failed;

    (void)st, (void)at;
    if (path[copying_from] == '\0')
        return 0;
    if (snprintf(below, sizeof below, "workloads/%s", path + copying_from + 1) >= PATH_MAX)
        return -1;
    if (type == FTW_D)
        return make_directory(copying, below, 0755);
    if (type != FTW_F)
        return 0;
    file.path = below;
    file.text = mst_text_load(path, &length, error);
    if (file.text == NULL)
        return -1;
    failed = write_file(copying, &file);
    free(file.text);
    return failed;
}

/* A copy, since the servers' user may have no way to where they are. */
static int copy_workloads(const struct mst_servers *s)
{
    char source[PATH_MAX], data[PATH_MAX], *real;
    int failed;

    mst_data_directory(data);
    if (snprintf(source, sizeof source, "%s/workloads", data) >= PATH_MAX)
        return -1;
    real = realpath(source, NULL);
    if (real == NULL)
        return 0;    /* PHP was left out of the build: workloads of one's own have their own */
    copying = s;
    copying_from = strlen(real);
    failed = nftw(real, copy_one, 16, FTW_PHYS);
    free(real);
    return failed;
}

/* Boards are of many users (CGI under suexec), as what PHP writes to its temporary
 * directory. */
static int write_all(const struct mst_servers *s, char error[MST_ERROR_MAX])
{
    const mode_t open_to_all = 01777;
    size_t i;
    int failed = make_directory(s, "boards", open_to_all) != 0 ||
                 make_directory(s, "tmp", open_to_all) != 0 ||
                 make_directory(s, "php.d", 0755) != 0 ||
                 make_directory(s, MST_SCRIPTS_DIRECTORY, 0700) != 0 ||
                 make_directory(s, "workloads", 0755) != 0 || copy_workloads(s) != 0;

    for (i = 0; i < s->site.server_count && !failed; i++)
        failed = make_directory(s, s->site.servers[i].name, 0755) != 0;
    for (i = 0; i < s->site.file_count && !failed; i++)
        failed = write_file(s, &s->site.files[i]) != 0;
    if (failed)
        return mst_fail(error, "cannot write below %s: %s", s->root.path, strerror(errno));
    return 0;
}

/* ---- what the supervisor says --------------------------------------------------------- */

static void take_news(struct mst_servers *s)
{
    struct mst_supervisor_message message;

    do {
        mst_supervisor_next(s->supervisor, &message);
        switch (message.news) {
        case MST_SUPERVISOR_STARTED:
            s->items[message.server].pid = message.pid;
            break;
        case MST_SUPERVISOR_READY:
            s->ready = true;
            break;
        case MST_SUPERVISOR_STOPPED:
            s->stopped = true;
            snprintf(s->problem, sizeof s->problem, "%s", message.text);
            return;
        case MST_SUPERVISOR_FAILED:
            if (s->problem[0] == '\0')   /* the first one is the reason */
                snprintf(s->problem, sizeof s->problem, "%s", message.text);
            break;
        case MST_SUPERVISOR_GONE:
            s->gone = true;
            if (s->problem[0] == '\0')
                snprintf(s->problem, sizeof s->problem, "the process that keeps the servers was "
                         "killed, and they with it");
            return;
        case MST_SUPERVISOR_NOTHING:
            break;
        }
    } while (message.news != MST_SUPERVISOR_NOTHING);
}

int mst_servers_fd(const struct mst_servers *s)
{
    return mst_supervisor_fd(s->supervisor);
}

int mst_servers_alive(struct mst_servers *s, char error[MST_ERROR_MAX])
{
    take_news(s);
    return s->problem[0] == '\0' ? 0 : mst_fail(error, "%s", s->problem);
}

static bool is_interrupted(const struct mst_servers *s)
{
    return s->stop != NULL && *s->stop;
}

/* ---- ready ------------------------------------------------------------------------ */

static int await_ready(struct mst_servers *s, char error[MST_ERROR_MAX])
{
    struct pollfd fd = { mst_servers_fd(s), POLLIN, 0 };

    while (mst_servers_alive(s, error) == 0) {
        if (s->ready)
            return 0;
        if (is_interrupted(s))
            return mst_fail(error, "interrupted");
        poll(&fd, 1, STEP_MS);
    }
    return -1;
}

int mst_servers_check_page(const struct mst_servers *s, uint64_t *bytes,
                           char error[MST_ERROR_MAX])
{
    mst_page_check(s->site.url, s->site.expects, s->stop, bytes, error);
    return error[0] == '\0' ? 0 : -1;
}

/* Until the page is right. What is another page at once is not waited for: only servers
 * that do not answer yet, or say that what is behind them does not. */
static int await_page(struct mst_servers *s, char error[MST_ERROR_MAX])
{
    uint64_t began = mst_now_ns();
    struct pollfd fd = { mst_servers_fd(s), POLLIN, 0 };
    char problem[MST_ERROR_MAX];
    long status;

    for (;;) {
        status = mst_page_check(s->site.url, s->site.expects, s->stop, NULL, error);
        if (error[0] == '\0')
            return 0;
        if (mst_servers_alive(s, problem) != 0)
            return mst_fail(error, "%s", problem);
        if (is_interrupted(s))
            return mst_fail(error, "interrupted");
        if ((status != 0 && status < 500) || mst_now_ns() - began > PAGE_NS)
            return -1;
        poll(&fd, 1, STEP_MS);
    }
}

/* ---- logs ------------------------------------------------------------------------- */

/* Puts the last lines of a file, each behind its server's name. */
static void put_tail(FILE *out, const char *label, const char *path, unsigned lines)
{
    char bytes[16384], *line, *end;
    FILE *in = fopen(path, "re");
    unsigned count = 0;
    size_t n;

    if (in == NULL)
        return;
    if (fseek(in, -(long)(sizeof bytes - 1), SEEK_END) != 0)
        rewind(in);
    n = fread(bytes, 1, sizeof bytes - 1, in);
    fclose(in);
    while (n > 0 && bytes[n - 1] == '\n')
        n--;
    bytes[n] = '\0';
    for (line = bytes + n; line > bytes && count < lines; line--)
        count += line[-1] == '\n';
    line += count == lines && line > bytes ? 1 : 0;
    for (; n > 0 && line < bytes + n; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = '\0';
        fprintf(out, "%s: %s\n", label, line);
    }
}

static void put_logs(FILE *out, const char *label, const char *directory, unsigned lines)
{
    char pattern[PATH_MAX];
    glob_t found;
    size_t i;

    if (snprintf(pattern, sizeof pattern, "%s/*.log", directory) >= PATH_MAX ||
        glob(pattern, 0, NULL, &found) != 0)
        return;
    for (i = 0; i < found.gl_pathc; i++)
        put_tail(out, label, found.gl_pathv[i], lines);
    globfree(&found);
}

char *mst_servers_log(const struct mst_servers *s, unsigned lines)
{
    char *text = NULL, scripts[PATH_MAX];
    size_t size = 0, i;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    if (snprintf(scripts, sizeof scripts, "%s/" MST_SCRIPTS_DIRECTORY, s->root.path) < PATH_MAX)
        put_logs(out, "setup", scripts, lines);
    for (i = 0; i < s->site.server_count; i++)
        put_logs(out, s->site.servers[i].name, s->site.servers[i].directory, lines);
    if (fclose(out) == 0 && size > 0)
        return text;
    free(text);
    return NULL;
}

/* ---- start and stop --------------------------------------------------------------- */

static int make_items(struct mst_servers *s)
{
    size_t i;

    s->items = calloc(s->site.server_count, sizeof *s->items);
    for (i = 0; s->items != NULL && i < s->site.server_count; i++)
        s->items[i] = (struct mst_server){
            s->site.servers[i].name, s->site.servers[i].kind, s->site.servers[i].directory, 0,
        };
    return s->items != NULL ? 0 : -1;
}

/* Everything up to the supervisor. */
static int prepare(struct mst_servers *s, const struct mst_stack *stack,
                   const struct mst_workload *workload, const struct mst_servers_options *options,
                   char error[MST_ERROR_MAX])
{
    unsigned ports[MST_PORTS];
    int held[MST_PORTS], failed;
    const struct mst_supervisor_plan plan = {
        &s->root, &s->site, s->has_test_users ? &s->test_users : NULL, held,
    };

    if (hold_ports(options->parameters, held, ports, error) != 0)
        return -1;
    failed = mst_sandbox_make(&s->root, error) != 0 ||
             mst_site_make(&s->site, stack, workload, options->parameters, s->root.path, ports,
                           error) != 0 ||
             write_all(s, error) != 0;
    if (!failed && make_items(s) != 0)
        failed = mst_fail(error, "out of memory for the servers");
    if (!failed) {
        s->supervisor = mst_supervisor_start(&plan, error);
        failed = s->supervisor == NULL;
    }
    release_ports(held);
    return failed ? -1 : 0;
}

/* Whether the status page is where it should be. */
static void find_status(struct mst_servers *s)
{
    char ignored[MST_ERROR_MAX];

    s->has_status = mst_page_check(s->site.status_url, NULL, s->stop, NULL, ignored) == 200;
}

struct mst_servers *mst_servers_start(const struct mst_stack *stack,
                                      const struct mst_workload *workload,
                                      const struct mst_servers_options *options,
                                      struct mst_servers_failure *failure)
{
    struct mst_servers *s = calloc(1, sizeof *s);
    char ignored[MST_ERROR_MAX];

    *failure = (struct mst_servers_failure){ .log = NULL };
    if (s == NULL) {
        mst_fail(failure->sentence, "out of memory for the servers");
        return NULL;
    }
    s->root.fd = s->root.lock = -1;
    s->stop = options->stop;
    mst_servers_clean();
    if (check_possible(stack, workload, failure->sentence) != 0)
        goto failed;
    s->has_test_users = stack->test_users;
    if (s->has_test_users && mst_test_users_choose(&s->test_users, failure->sentence) != 0)
        goto failed;
    if (prepare(s, stack, workload, options, failure->sentence) != 0)
        goto failed;
    if (await_ready(s, failure->sentence) == 0 && await_page(s, failure->sentence) == 0) {
        find_status(s);
        return s;
    }
    failure->log = mst_servers_log(s, LOG_LINES);

failed:
    mst_servers_stop(s, ignored);
    return NULL;
}

/* Waits until the supervisor says that all is stopped. */
static void await_stopped(struct mst_servers *s)
{
    struct pollfd fd = { mst_servers_fd(s), POLLIN, 0 };
    uint64_t began = mst_now_ns();

    s->problem[0] = '\0';
    mst_supervisor_stop(s->supervisor);
    for (take_news(s); !s->stopped && !s->gone && mst_now_ns() - began < STOP_NS; take_news(s))
        poll(&fd, 1, 1000);
    mst_supervisor_close(s->supervisor);
}

int mst_servers_stop(struct mst_servers *s, char error[MST_ERROR_MAX])
{
    int failed = 0;

    if (s == NULL)
        return 0;
    if (s->supervisor != NULL)
        await_stopped(s);
    if (s->stopped && s->problem[0] != '\0')
        failed = mst_fail(error, "%s", s->problem);
    else if (s->supervisor == NULL && s->root.fd >= 0)
        failed = mst_sandbox_remove(s->root.path, error);   /* nothing was started */
    else if (!s->stopped && s->root.fd >= 0)
        failed = mst_sandbox_clean(s->root.path, error);
    mst_sandbox_close(&s->root);
    mst_site_free(&s->site);
    free(s->items);
    free(s);
    return failed;
}

/* ---- a dry run -------------------------------------------------------------------- */

static void put_command(FILE *out, const struct mst_site_server *server)
{
    size_t i;

    fprintf(out, "# %s: ", server->name);
    for (i = 0; server->argv[i] != NULL; i++)
        fprintf(out, strchr(server->argv[i], ' ') != NULL ? "%s'%s'" : "%s%s", i > 0 ? " " : "",
                server->argv[i]);
    fputs("\n", out);
}

int mst_servers_dry_run(const struct mst_stack *stack, const struct mst_workload *workload,
                        const struct mst_servers_options *options, FILE *out,
                        char error[MST_ERROR_MAX])
{
    char root[PATH_MAX];
    struct mst_site site;
    unsigned ports[MST_PORTS];
    int held[MST_PORTS];
    size_t i;

    if (mst_stack_serves(stack, workload, error) != 0 || mst_sandbox_template(root, error) != 0 ||
        hold_ports(options->parameters, held, ports, error) != 0)
        return -1;
    release_ports(held);
    if (mst_site_make(&site, stack, workload, options->parameters, root, ports, error) != 0)
        return -1;
    fprintf(out, "# %s with %s: %s\n", stack->name, workload->name, site.url);
    for (i = 0; i < site.server_count; i++)
        put_command(out, &site.servers[i]);
    for (i = 0; i < site.variables.count; i++)
        fprintf(out, "# %s = %s\n", site.variables.items[i].name, site.variables.items[i].value);
    for (i = 0; i < site.file_count; i++)
        fprintf(out, "\n#### %s/%s (mode %04o%s%s)\n%s", root, site.files[i].path,
                site.files[i].mode, site.files[i].owner >= 0 ? ", of " : "",
                site.files[i].owner >= 0 ? mst_test_user_names[site.files[i].owner] : "",
                site.files[i].text);
    mst_site_free(&site);
    return 0;
}

/* ---- what they are ---------------------------------------------------------------- */

const char *mst_servers_root(const struct mst_servers *s)
{
    return s->root.path;
}

const char *mst_servers_url(const struct mst_servers *s)
{
    return s->site.url;
}

const char *mst_servers_status_url(const struct mst_servers *s)
{
    return s->has_status ? s->site.status_url : "";
}

const char *mst_servers_board_directory(const struct mst_servers *s)
{
    return mst_parameters_get(&s->site.variables, "BOARDS");
}

const struct mst_parameters *mst_servers_variables(const struct mst_servers *s)
{
    return &s->site.variables;
}

size_t mst_servers_count(const struct mst_servers *s)
{
    return s->site.server_count;
}

const struct mst_server *mst_servers_item(const struct mst_servers *s, size_t i)
{
    return &s->items[i];
}

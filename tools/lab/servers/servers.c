/* servers.c - a stack's servers, from the directory to their end: see servers.h. */
#include "lab/servers/servers.h"

#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"
#include "lab/servers/supervisor.h"
#include "lab/servers/contents.h"
#include "lab/servers/packages.h"
#include "lab/servers/page.h"
#include "lab/servers/ports.h"
#include "lab/files/paths.h"
#include "lab/servers/log_end.h"
#include "lab/servers/sandbox.h"
#include "lab/servers/scripts.h"
#include "lab/servers/site.h"
#include "lab/servers/test_users.h"

#define PAGE_NS   (15 * MST_NS_PER_S)   /* for the page to be right, once all listen */
#define STOP_NS   (900 * MST_NS_PER_S)  /* longer than the supervisor's own bounds in sum */
#define STEP_MS   50
#define LOG_LINES 8u

struct mst_servers {
    apr_pool_t            *pool;      /* it is there itself */
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

/* ---- what must be there ----------------------------------------------------------- */

int mst_servers_missing(apr_pool_t *pool, const struct mst_stack *const *stacks,
                        const struct mst_workload *const *workloads, char error[MST_ERROR_MAX])
{
    struct mst_packages *packages = mst_packages_read(pool, error);
    char missing[MST_ERROR_MAX] = "";

    if (packages == NULL)
        return -1;
    for (; *stacks != NULL; stacks++)
        mst_packages_missing(packages, (*stacks)->needs, missing);
    for (; *workloads != NULL; workloads++)
        mst_packages_missing(packages, (*workloads)->needs, missing);
    return missing[0] != '\0' ? mst_packages_tell(missing, error) : 0;
}

static int check_possible(apr_pool_t *pool, const struct mst_stack *stack,
                          const struct mst_workload *workload, char error[MST_ERROR_MAX])
{
    const struct mst_stack *stacks[] = { stack, NULL };
    const struct mst_workload *workloads[] = { workload, NULL };
    int missing;

    if (mst_stack_serves(stack, workload, error) != 0)
        return -1;
    if (stack->root && geteuid() != 0)
        return mst_fail(error, "the stack %s can be run by root alone: it needs %s", stack->name,
                        stack->test_users ? "users of its own" : "rights that only root has");
    missing = mst_servers_missing(pool, stacks, workloads, error);
    if (missing < 0)
        mst_warn("%s", error);   /* what there is no program of is told when it is started */
    return missing > 0 ? -1 : mst_module_check(error);
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

/* Waits until the page is right. It waits only while no server answers, or while the answer is a
 * 5xx: then what is behind the server does not answer yet. Any other page is a failure at once. */
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
    size_t n = mst_log_end(path, bytes, sizeof bytes);
    unsigned count = 0;

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

char *mst_servers_log(apr_pool_t *pool, const struct mst_servers *s, unsigned lines)
{
    char scripts[PATH_MAX], *text;
    struct mst_stream logs;
    size_t i;

    mst_stream_begin(&logs);
    if (snprintf(scripts, sizeof scripts, "%s/" MST_SCRIPTS_DIRECTORY, s->root.path) < PATH_MAX)
        put_logs(logs.out, "setup", scripts, lines);
    for (i = 0; i < s->site.server_count; i++)
        put_logs(logs.out, s->site.servers[i].name, s->site.servers[i].directory, lines);
    text = mst_stream_end(&logs, pool);
    return text[0] != '\0' ? text : NULL;
}

/* ---- start and stop --------------------------------------------------------------- */

static void make_items(struct mst_servers *s)
{
    size_t i;

    s->items = apr_pcalloc(s->pool, s->site.server_count * sizeof *s->items);
    for (i = 0; i < s->site.server_count; i++)
        s->items[i] = (struct mst_server){
            s->site.servers[i].name, s->site.servers[i].kind, s->site.servers[i].directory, 0,
        };
}

/* Everything up to the supervisor. */
static int prepare_servers(struct mst_servers *s, const struct mst_stack *stack,
                   const struct mst_workload *workload, const struct mst_servers_options *options,
                   char error[MST_ERROR_MAX])
{
    unsigned ports[MST_PORTS];
    int held[MST_PORTS], failed;
    const struct mst_supervisor_plan plan = {
        &s->root, &s->site, s->has_test_users ? &s->test_users : NULL, held,
    };

    if (mst_ports_hold(options->parameters, held, ports, error) != 0)
        return -1;
    failed = mst_sandbox_make(&s->root, error) != 0 ||
             mst_site_make(s->pool, &s->site, stack, workload, options->parameters, s->root.path,
                           ports, error) != 0 ||
             mst_contents_write(&s->root, &s->site, &s->test_users, error) != 0;
    if (!failed) {
        make_items(s);
        s->supervisor = mst_supervisor_start(&plan, error);
        failed = s->supervisor == NULL;
    }
    mst_ports_release(held);
    return failed ? -1 : 0;
}

struct mst_servers *mst_servers_start(apr_pool_t *pool, const struct mst_stack *stack,
                                      const struct mst_workload *workload,
                                      const struct mst_servers_options *options,
                                      struct mst_servers_failure *failure)
{
    apr_pool_t *own = mst_pool_new(NULL);
    struct mst_servers *s = apr_pcalloc(own, sizeof *s);
    char ignored[MST_ERROR_MAX];

    *failure = (struct mst_servers_failure){ .log = NULL };
    s->pool = own;
    s->root.fd = s->root.lock = -1;
    s->stop = options->stop;
    mst_sandbox_clean_leftovers();
    if (check_possible(pool, stack, workload, failure->sentence) != 0)
        goto failed;
    s->has_test_users = stack->test_users;
    if (s->has_test_users && mst_test_users_choose(&s->test_users, failure->sentence) != 0)
        goto failed;
    if (prepare_servers(s, stack, workload, options, failure->sentence) != 0)
        goto failed;
    if (await_ready(s, failure->sentence) == 0 && await_page(s, failure->sentence) == 0) {
        s->has_status = mst_page_check(s->site.status_url, NULL, s->stop, NULL, ignored) == 200;
        return s;
    }
    failure->log = mst_servers_log(pool, s, LOG_LINES);

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
    apr_pool_destroy(s->pool);
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

int mst_servers_dry_run(apr_pool_t *pool, const struct mst_stack *stack,
                        const struct mst_workload *workload,
                        const struct mst_servers_options *options, FILE *out,
                        char error[MST_ERROR_MAX])
{
    char root[PATH_MAX];
    struct mst_site site;
    unsigned ports[MST_PORTS];
    int held[MST_PORTS];
    size_t i;

    if (mst_stack_serves(stack, workload, error) != 0 || mst_sandbox_template(root, error) != 0 ||
        mst_ports_hold(options->parameters, held, ports, error) != 0)
        return -1;
    mst_ports_release(held);
    if (mst_site_make(pool, &site, stack, workload, options->parameters, root, ports, error) != 0)
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
    return 0;
}

/* ---- what they are ---------------------------------------------------------------- */

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

size_t mst_servers_count(const struct mst_servers *s)
{
    return s->site.server_count;
}

const struct mst_server *mst_servers_item(const struct mst_servers *s, size_t i)
{
    return &s->items[i];
}

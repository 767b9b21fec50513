/* scripts.c - setup and teardown: see scripts.h. */
#include "lab/servers/scripts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/spawn.h"
#include "lab/servers/log_end.h"
#include "lab/servers/sandbox.h"

#define SCRIPT_NS (600 * MST_NS_PER_S)     /* real applications are installed by them */
#define GRACE_NS  (5 * MST_NS_PER_S)

const char *const mst_scripts_setup_names[3] = { "setup.stack", "setup.workload", NULL };
static const char *const teardown_names[3] = { "teardown.workload", "teardown.stack", NULL };

/* ---- the environment -------------------------------------------------------------- */

/* Handed on where it is set: a module built with sanitizers needs them. */
static const char *const handed_on[] = {
    "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
};
#define HANDED_ON (sizeof handed_on / sizeof *handed_on)

/* No directory of the PATH but the system's: Python from elsewhere breaks mod_wsgi. */
char **mst_environment_make(const char *root, bool of_server)
{
    struct mst_strings environment = { 0 };
    size_t i;

    mst_strings_add(&environment, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
    mst_strings_add(&environment, "LANG=C.UTF-8");
    mst_strings_addf(&environment, "HOME=%s", root);
    mst_strings_addf(&environment, "TMPDIR=%s/tmp", root);
    mst_strings_addf(&environment, MST_SANDBOX_VARIABLE "=%s", root);
    if (of_server) {
        mst_strings_addf(&environment, "PHPRC=%s", root);
        mst_strings_addf(&environment, "PHP_INI_SCAN_DIR=%s/php.d", root);
    }
    for (i = 0; i < HANDED_ON; i++)
        if (getenv(handed_on[i]) != NULL)
            mst_strings_addf(&environment, "%s=%s", handed_on[i], getenv(handed_on[i]));
    return mst_strings_steal(&environment);
}

/* ---- one script ------------------------------------------------------------------- */

/* Starts it. Its pid, or -1 with errno. */
static pid_t start_script(const char *root, char *path, int log)
{
    char *const argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-eu" }, path, NULL };
    char **environment = mst_environment_make(root, false);
    const struct mst_spawn spawn = {
        .argv = argv, .environment = environment, .directory = root, .in = STDIN_FILENO,
        .out = log, .err = log, .inherited = -1, .group = true, .orphan_signal = SIGKILL,
    };
    pid_t pid = environment != NULL ? mst_spawn(&spawn) : -1;

    mst_strings_free_items(environment);
    return pid;
}

/* Waits for it, bounded. What it started in the background goes on. Its wait status; -1: it
 * was ended. */
static int wait_for(pid_t pid, mst_scripts_stop *stop, void *context)
{
    uint64_t began = mst_now_ns(), asked = 0, now;
    int status;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
        now = mst_now_ns();
        if (asked == 0 && ((stop != NULL && stop(context)) || now - began > SCRIPT_NS)) {
            asked = now;
            kill(-pid, SIGTERM);
        }
        if (asked > 0 && now - asked > GRACE_NS)
            kill(-pid, SIGKILL);
        mst_spawn_wait(pid, 100);
    }
    return ended < 0 || asked > 0 ? -1 : status;
}

/* The last line of what the scripts said: as a rule it says why. */
static void last_line(const char *log, char line[256])
{
    char text[4096];
    const char *at;

    mst_log_end(log, text, sizeof text);
    at = strrchr(text, '\n');
    snprintf(line, 256, "%.255s", at != NULL ? at + 1 : text);
}

static int run_script(const char *root, const char *name, mst_scripts_stop *stop, void *context,
                      char error[MST_ERROR_MAX])
{
    char path[PATH_MAX], log_path[PATH_MAX], said[256];
    int log, status;
    pid_t pid;

    if (snprintf(path, sizeof path, "%s/" MST_SCRIPTS_DIRECTORY "/%s", root, name) >= PATH_MAX ||
        snprintf(log_path, sizeof log_path, "%s/" MST_SCRIPTS_LOG, root) >= PATH_MAX)
        return mst_fail(error, "the path %s is too long", root);
    if (access(path, F_OK) != 0)
        return 0;
    log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid = log >= 0 ? start_script(root, path, log) : -1;
    status = pid > 0 ? wait_for(pid, stop, context) : -1;
    if (log >= 0)
        close(log);
    if (status == 0)
        return 0;
    if (pid < 0)
        return mst_fail(error, "cannot run %s: %s", path, strerror(errno));
    last_line(log_path, said);
    if (status < 0)
        return mst_fail(error, "%%%% %s did not end and was ended: %s", name, said);
    return mst_fail(error, "%%%% %s failed (exit status %d): %s", name,
                    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said);
}

int mst_scripts_run(const char *root, const char *const *names, mst_scripts_stop *stop,
                    void *context, char error[MST_ERROR_MAX])
{
    for (; *names != NULL; names++)
        if (run_script(root, *names, stop, context, error) != 0)
            return -1;
    return 0;
}

/* The second is run also where the first fails. */
int mst_scripts_teardown(const char *root, char error[MST_ERROR_MAX])
{
    const char *const *names;
    int failed = 0;

    for (names = teardown_names; *names != NULL; names++)
        failed |= run_script(root, *names, NULL, NULL, error);
    return failed;
}

/* test_users.c - users for a stack's processes alone: see test_users.h. */
#include "lab/servers/test_users.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAST_ID  59999u    /* of those that are for people, in Debian */
#define FIRST_ID 50000u

#define SUEXEC_FILE "/etc/apache2/suexec/www-data"
#define LOGS        "/var/log"
#define SUEXEC_LOGS "/var/log/apache2"

const char *const mst_test_user_names[MST_TEST_USERS] = { "mpmstat-a", "mpmstat-b" };
const char *const mst_test_user_variables[MST_TEST_USERS] = { "TENANT_A", "TENANT_B" };

int mst_test_users_choose(struct mst_test_users *test_users, char error[MST_ERROR_MAX])
{
    unsigned found = 0, id;

    for (id = LAST_ID; id > FIRST_ID && found < MST_TEST_USERS; id--)
        if (getpwuid(id) == NULL && getgrgid(id) == NULL)
            test_users->ids[found++] = id;
    if (found == MST_TEST_USERS)
        return 0;
    return mst_fail(error, "expected %d free numbers of users and groups between %u and "
                    "%u, found %u", MST_TEST_USERS, FIRST_ID, LAST_ID, found);
}

/* Copies the file and lets `add` write more lines. 0, or -1 with errno. */
static int copy_file(const char *from, const char *to, const struct mst_test_users *test_users,
                     void (*add)(FILE *out, const struct mst_test_users *test_users))
{
    FILE *in = fopen(from, "re"), *out = fopen(to, "wxe");
    char bytes[4096];
    size_t n;
    char last = '\n';
    int failed = in == NULL || out == NULL;

    while (!failed && (n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        failed = fwrite(bytes, 1, n, out) != n;
        last = bytes[n - 1];
    }
    if (!failed) {
        if (last != '\n')
            fputc('\n', out);
        add(out, test_users);
        failed = ferror(in) || ferror(out) || fchmod(fileno(out), 0644) != 0;
    }
    if (in != NULL)
        fclose(in);
    if (out != NULL && fclose(out) != 0)
        failed = -1;
    return failed ? -1 : 0;
}

static void add_users(FILE *out, const struct mst_test_users *test_users)
{
    int i;

    for (i = 0; i < MST_TEST_USERS; i++)
        fprintf(out, "%s:x:%u:%u:mpmstat lab:/nonexistent:/usr/sbin/nologin\n",
                mst_test_user_names[i], test_users->ids[i], test_users->ids[i]);
}

static void add_groups(FILE *out, const struct mst_test_users *test_users)
{
    int i;

    for (i = 0; i < MST_TEST_USERS; i++)
        fprintf(out, "%s:x:%u:\n", mst_test_user_names[i], test_users->ids[i]);
}

/* suexec runs what is below the first line's directory. */
static int write_suexec(const char *path, const char *root)
{
    FILE *out = fopen(path, "wxe");

    if (out == NULL)
        return -1;
    fprintf(out, "%s\npublic_html/cgi-bin\n", root);
    return fclose(out) != 0 || chmod(path, 0644) != 0 ? -1 : 0;
}

/* Shows `from` in place of `to`, where that exists. */
static int show(const char *from, const char *to)
{
    if (access(to, F_OK) != 0)
        return 0;
    return mount(from, to, NULL, MS_BIND, NULL);
}

/* Where suexec's program writes its log, whatever the server is told. Only Debian's package
 * apache2 makes that directory: without it, one is made in a file system of the stack's own. */
static int show_logs(const char *from)
{
    if (access(SUEXEC_LOGS, F_OK) != 0
        && (mount("tmpfs", LOGS, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0
            || mkdir(SUEXEC_LOGS, 0755) != 0))
        return -1;
    return mount(from, SUEXEC_LOGS, NULL, MS_BIND, NULL);
}

int mst_test_users_enter(const struct mst_test_users *test_users, const char *root,
                      char error[MST_ERROR_MAX])
{
    char passwd[PATH_MAX], group[PATH_MAX], suexec[PATH_MAX], logs[PATH_MAX], etc[PATH_MAX];

    snprintf(etc, sizeof etc, "%s/etc", root);
    if (snprintf(passwd, sizeof passwd, "%s/etc/passwd", root) >= PATH_MAX ||
        snprintf(group, sizeof group, "%s/etc/group", root) >= PATH_MAX ||
        snprintf(suexec, sizeof suexec, "%s/etc/suexec", root) >= PATH_MAX ||
        snprintf(logs, sizeof logs, "%s/etc/log", root) >= PATH_MAX)
        return mst_fail(error, "the path %s is too long", root);
    if (mkdir(etc, 0755) == 0 && mkdir(logs, 0755) == 0 &&
        copy_file("/etc/passwd", passwd, test_users, add_users) == 0 &&
        copy_file("/etc/group", group, test_users, add_groups) == 0 &&
        write_suexec(suexec, root) == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        show(passwd, "/etc/passwd") == 0 && show(group, "/etc/group") == 0 &&
        show(suexec, SUEXEC_FILE) == 0 && show_logs(logs) == 0)
        return 0;
    return mst_fail(error, "cannot give the stack's processes users of their own (a private mount "
                    "namespace, which root may make where the kernel and a container allow it): "
                    "%s", strerror(errno));
}

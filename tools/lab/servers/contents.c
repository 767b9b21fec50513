/* contents.c - fills a sandbox with a stack's directories and files: see contents.h. */
#include "lab/servers/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/files/paths.h"
#include "lab/files/textfile.h"
#include "lab/servers/scripts.h"

struct contents {
    apr_pool_t                  *pool;      /* while the workloads are copied */
    const struct mst_sandbox    *root;
    const struct mst_site       *site;
    const struct mst_test_users *test_users;
};

/* Makes the directories above a file below ROOT; owner as in mst_site_file. */
static int make_directories(const struct contents *c, const char *path, int owner)
{
    char directory[PATH_MAX], *slash;

    snprintf(directory, sizeof directory, "%s", path);
    for (slash = strchr(directory, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(c->root->fd, directory, 0755) == 0) {
            if (owner >= 0 && fchownat(c->root->fd, directory, c->test_users->ids[owner],
                                       c->test_users->ids[owner], AT_SYMLINK_NOFOLLOW) != 0)
                return -1;
        } else if (errno != EEXIST) {
            return -1;
        }
        *slash = '/';
    }
    return 0;
}

static int write_file(const struct contents *c, const struct mst_site_file *file)
{
    size_t length = strlen(file->text), done = 0;
    ssize_t n = 0;
    int fd;

    if (make_directories(c, file->path, file->owner) != 0)
        return -1;
    fd = openat(c->root->fd, file->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (fd < 0)
        return -1;
    while (done < length && (n = write(fd, file->text + done, length - done)) > 0)
        done += (size_t)n;
    if (n >= 0 && file->owner >= 0)
        n = fchown(fd, c->test_users->ids[file->owner], c->test_users->ids[file->owner]);
    if (n >= 0)
        n = fchmod(fd, file->mode);
    return close(fd) != 0 || n < 0 ? -1 : 0;
}

/* Modes regardless of the umask. */
static int make_directory(const struct contents *c, const char *name, mode_t mode)
{
    if (mkdirat(c->root->fd, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return fchmodat(c->root->fd, name, mode, 0);
}

/* nftw() has no room for a context. */
static const struct contents *copying;
static size_t copying_from;

static int copy_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    struct mst_site_file file = { .mode = 0644, .owner = -1 };
    char below[PATH_MAX], error[MST_ERROR_MAX];
    size_t length;

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
    file.text = mst_text_load(copying->pool, path, &length, error);
    return file.text != NULL ? write_file(copying, &file) : -1;
}

/* A copy, since the servers' user may have no way to where they are. */
static int copy_workloads(const struct contents *c)
{
    char source[PATH_MAX], data[PATH_MAX], real[PATH_MAX];

    mst_data_directory(data);
    if (snprintf(source, sizeof source, "%s/workloads", data) >= PATH_MAX)
        return -1;
    if (realpath(source, real) == NULL)
        return 0;    /* PHP was left out of the build: workloads of one's own have their own */
    copying = c;
    copying_from = strlen(real);
    return nftw(real, copy_one, 16, FTW_PHYS);
}

/* Boards are of many users (CGI under suexec), as what PHP writes to its temporary
 * directory. */
int mst_contents_write(const struct mst_sandbox *root, const struct mst_site *site,
                       const struct mst_test_users *test_users, char error[MST_ERROR_MAX])
{
    const struct contents contents = { mst_pool_new(site->pool), root, site, test_users };
    const struct contents *c = &contents;
    const mode_t open_to_all = 01777;
    size_t i;
    int failed = make_directory(c, "boards", open_to_all) != 0 ||
                 make_directory(c, "tmp", open_to_all) != 0 ||
                 make_directory(c, "php.d", 0755) != 0 ||
                 make_directory(c, MST_SCRIPTS_DIRECTORY, 0700) != 0 ||
                 make_directory(c, "workloads", 0755) != 0 || copy_workloads(c) != 0;

    for (i = 0; i < c->site->server_count && !failed; i++)
        failed = make_directory(c, c->site->servers[i].name, 0755) != 0;
    for (i = 0; i < c->site->file_count && !failed; i++)
        failed = write_file(c, &c->site->files[i]) != 0;
    apr_pool_destroy(c->pool);
    if (failed)
        return mst_fail(error, "cannot write below %s: %s", c->root->path, strerror(errno));
    return 0;
}

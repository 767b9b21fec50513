/* packages.c - asks dpkg what is installed: see packages.h. */
#include "lab/servers/packages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/capture.h"
#include "exec/spawn.h"

/* Installed ones and what they provide, a name a line. */
struct mst_packages {
    char *names;
};

/* One line of dpkg-query: status, name, provided names with versions and commas. */
static void take_line(char *line, FILE *out)
{
    char *word, *rest = line;

    word = strtok_r(rest, " \n", &rest);
    if (word == NULL || strcmp(word, "installed") != 0)
        return;
    while ((word = strtok_r(NULL, " ,\n", &rest)) != NULL)
        if (word[0] != '(' && word[0] != '=' && strchr(word, ')') == NULL)
            fprintf(out, "\n%s\n", word);
}

/* Runs dpkg-query, which writes to out_fd. 0: it ended well. */
static int ask_dpkg(int out_fd)
{
    char *const argv[] = {
        (char[]){ "dpkg-query" }, (char[]){ "-W" }, (char[]){ "-f" },
        (char[]){ "${db:Status-Status} ${Package} ${Provides}\\n" }, NULL,
    };
    const struct mst_spawn spawn = {
        .argv = argv, .in = MST_DEV_NULL, .out = out_fd, .err = MST_DEV_NULL, .inherited = -1,
    };
    pid_t pid = mst_spawn(&spawn);
    int status = -1;

    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    return status;
}

struct mst_packages *mst_packages_read(apr_pool_t *pool, char error[MST_ERROR_MAX])
{
    struct mst_packages *p = apr_pcalloc(pool, sizeof *p);
    int fd = mst_capture_open(error), status = fd >= 0 ? ask_dpkg(fd) : -1;
    FILE *in = status == 0 && lseek(fd, 0, SEEK_SET) == 0 ? mst_have(fdopen(fd, "r")) : NULL;
    struct mst_stream names;
    char *line = NULL;
    size_t room = 0;

    if (in == NULL) {
        if (fd >= 0)
            close(fd);
        mst_fail(error, "cannot tell which packages are installed: dpkg-query, which every Debian "
                 "has, is not there or failed");
        return NULL;
    }
    mst_stream_begin(&names);
    while (getline(&line, &room, in) > 0)
        take_line(line, names.out);
    free(line);
    fclose(in);
    p->names = mst_stream_end(&names, pool);
    return p;
}

/* Whether a line of the names is `name`. */
static bool has_name(const struct mst_packages *p, const char *name)
{
    char line[256];

    return (size_t)snprintf(line, sizeof line, "\n%s\n", name) < sizeof line &&
           strstr(p->names, line) != NULL;
}

/* Debian's php-NAME only says which phpVERSION-NAME is the usual one. */
static bool has_versioned(const struct mst_packages *p, const char *name)
{
    const char *at, *end;

    if (strncmp(name, "php-", 4) != 0)
        return false;
    for (at = p->names; (at = strstr(at, "\nphp")) != NULL; at++) {
        end = at + 4 + strspn(at + 4, "0123456789.");
        if (end > at + 4 && strncmp(end, name + 3, strlen(name + 3)) == 0 &&
            end[strlen(name + 3)] == '\n')
            return true;
    }
    return false;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at;

    for (at = list; (at = strstr(at, name)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

void mst_packages_missing(const struct mst_packages *p, char *const *names,
                          char missing[MST_ERROR_MAX])
{
    size_t used;

    for (; *names != NULL; names++) {
        if (has_name(p, *names) || has_versioned(p, *names) || is_listed(missing, *names))
            continue;
        used = strlen(missing);
        snprintf(missing + used, MST_ERROR_MAX - used, "%s%s", used > 0 ? " " : "", *names);
    }
}

int mst_packages_tell(const char *missing, char error[MST_ERROR_MAX])
{
    mst_fail(error, "these Debian packages are missing; as root: apt-get install "
             "--no-install-recommends %s", missing);
    return 1;
}

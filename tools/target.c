/* target.c - finds and opens what the user points at: see target.h. */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"

static int out_of_memory(char error[MST_ERROR_MAX])
{
    snprintf(error, MST_ERROR_MAX, "out of memory");
    return -1;
}

/* ---- the list ------------------------------------------------------------- */

/* problem: NULL or a sentence, copied. */
static int add(struct mst_targets *targets, enum mst_target_kind kind, const char *name,
               const char *problem)
{
    struct mst_target *items, *target;

    items = realloc(targets->items, (targets->count + 1) * sizeof *items);
    if (items == NULL)
        return -1;
    targets->items = items;
    target = &items[targets->count];
    memset(target, 0, sizeof *target);
    target->kind = kind;
    target->name = strdup(name);
    if (problem != NULL)
        target->problem = strdup(problem);
    if (target->name == NULL || (problem != NULL && target->problem == NULL)) {
        free(target->name);
        return -1;
    }
    targets->count++;
    return 0;
}

static bool is_listed(const struct mst_targets *targets, const char *path, const struct stat *st)
{
    struct stat other;
    size_t i;

    for (i = 0; i < targets->count; i++) {
        const struct mst_target *t = &targets->items[i];

        if (strcmp(t->name, path) == 0)
            return true;
        if (t->kind == MST_TARGET_FILE && t->problem == NULL && lstat(t->name, &other) == 0 &&
            other.st_dev == st->st_dev && other.st_ino == st->st_ino)
            return true;
    }
    return false;
}

bool mst_targets_have(const struct mst_targets *targets, const char *name)
{
    size_t i = 0;

    while (i < targets->count && strcmp(targets->items[i].name, name) != 0)
        i++;
    return i < targets->count;
}

int mst_targets_add_url(struct mst_targets *targets, const char *url)
{
    return add(targets, MST_TARGET_URL, url, NULL);
}

void mst_targets_free(struct mst_targets *targets)
{
    size_t i;

    for (i = 0; i < targets->count; i++) {
        struct mst_target *t = &targets->items[i];

        if (t->is_open)
            mst_reader_close(&t->reader);
        mst_listen_free(&t->listen);
        free(t->name);
        free(t->problem);
    }
    free(targets->items);
    memset(targets, 0, sizeof *targets);
}

/* ---- directories ---------------------------------------------------------- */

/* Adds every board in `directory`. Returns how many there are (also those that
 * are in the list already), -1 with errno set where it cannot be read. */
static int add_directory(struct mst_targets *targets, const char *directory)
{
    struct mst_board_list list;
    struct stat st;
    size_t i;
    int result;

    if (mst_board_list_read(&list, directory) != 0)
        return -1;
    result = (int)list.count;
    for (i = 0; i < list.count && result >= 0; i++)
        if (lstat(list.paths[i], &st) == 0 && !is_listed(targets, list.paths[i], &st) &&
            add(targets, MST_TARGET_FILE, list.paths[i], NULL) != 0)
            result = -1;
    mst_board_list_free(&list);
    if (result < 0)
        errno = ENOMEM;
    return result;
}

/* The same for `directory` and the directory `php` in it. */
static int add_runtime_directory(struct mst_targets *targets, const char *directory)
{
    char php[4096];
    int own, nested;

    own = add_directory(targets, directory);
    if (own < 0)
        return -1;
    if ((size_t)snprintf(php, sizeof php, "%s/php", directory) >= sizeof php)
        return own;
    nested = add_directory(targets, php);
    if (nested >= 0)
        return own + nested;
    return errno == ENOENT || errno == ENOTDIR || own > 0 ? own : -1;
}

/* ---- what was named ------------------------------------------------------- */

static bool is_url(const char *arg)
{
    return strncasecmp(arg, "http://", 7) == 0 || strncasecmp(arg, "https://", 8) == 0;
}

static void describe_missing(const char *arg, int reason, char problem[MST_ERROR_MAX])
{
    if (strstr(arg, "://") != NULL)
        snprintf(problem, MST_ERROR_MAX, "%s: of URLs only http:// and https:// can be asked", arg);
    else if (reason == ENOENT && strchr(arg, ':') != NULL && arg[0] != '/' && arg[0] != '.')
        snprintf(problem, MST_ERROR_MAX,
                 "%s: there is no such file; if it is a URL, begin it with http://", arg);
    else if (reason == ENOENT)
        snprintf(problem, MST_ERROR_MAX,
                 "%s: there is no such file or directory; expected a board file, a directory "
                 "with board files, or a status URL", arg);
    else if (reason == EACCES)
        snprintf(problem, MST_ERROR_MAX,
                 "%s: %s; boards are for root and their reader group (see ls -l)", arg,
                 strerror(reason));
    else
        snprintf(problem, MST_ERROR_MAX, "%s: %s", arg, strerror(reason));
}

static int add_named_directory(struct mst_targets *targets, const char *arg,
                               char problem[MST_ERROR_MAX])
{
    int n = add_runtime_directory(targets, arg);

    if (n > 0)
        return 0;
    if (n < 0 && errno == ENOMEM)
        return -1;
    if (n < 0)
        describe_missing(arg, errno, problem);
    else
        snprintf(problem, MST_ERROR_MAX,
                 "%s: no board in this directory: a server with mpmstat makes a *%s file when "
                 "it starts", arg, MST_BOARD_SUFFIX);
    return add(targets, MST_TARGET_FILE, arg, problem);
}

static int add_named(struct mst_targets *targets, const char *arg)
{
    char problem[MST_ERROR_MAX];
    struct stat st;

    memset(&st, 0, sizeof st);
    if (is_url(arg))
        return is_listed(targets, arg, &st) ? 0 : add(targets, MST_TARGET_URL, arg, NULL);
    if (stat(arg, &st) != 0) {
        describe_missing(arg, errno, problem);
        return add(targets, MST_TARGET_FILE, arg, problem);
    }
    if (S_ISDIR(st.st_mode))
        return add_named_directory(targets, arg, problem);
    return is_listed(targets, arg, &st) ? 0 : add(targets, MST_TARGET_FILE, arg, NULL);
}

/* ---- what was not named --------------------------------------------------- */

/* "A, B and C (permission denied)": appends one to the list for the message. */
static void append_place(char *places, size_t room, const char *directory, int reason)
{
    size_t used = strlen(places);

    snprintf(places + used, room - used, "%s%s%s%s%s", used > 0 ? ", " : "", directory,
             reason != 0 ? " (" : "",
             reason == ENOENT ? "does not exist" : reason != 0 ? strerror(reason) : "",
             reason != 0 ? ")" : "");
}

static int add_default(struct mst_targets *targets, char error[MST_ERROR_MAX])
{
    const char *variable = getenv(MST_RUNDIR_VARIABLE);
    const char *from = variable != NULL && *variable != '\0' ? variable : MST_RUNDIR_DEFAULT;
    char *directories = strdup(from), *rest = directories, *directory;
    char places[MST_ERROR_MAX / 2] = "";
    int n;

    if (directories == NULL)
        return out_of_memory(error);
    while ((directory = strsep(&rest, ":")) != NULL) {
        if (*directory == '\0')
            continue;
        n = add_runtime_directory(targets, directory);
        if (n < 0 && errno == ENOMEM) {
            free(directories);
            return out_of_memory(error);
        }
        append_place(places, sizeof places, directory, n < 0 ? errno : 0);
    }
    free(directories);
    if (targets->count > 0)
        return 0;
    snprintf(error, MST_ERROR_MAX,
             "no board found in %s%s. Is a server with mpmstat running? Name its board file "
             "(MPMStatBoard says where), its directory (or set %s) or its status URL",
             from == variable ? MST_RUNDIR_VARIABLE " = " : "", places, MST_RUNDIR_VARIABLE);
    return -1;
}

int mst_targets_resolve(struct mst_targets *out, char *const *args, size_t n,
                        char error[MST_ERROR_MAX])
{
    size_t i;

    memset(out, 0, sizeof *out);
    if (n == 0)
        return add_default(out, error);
    for (i = 0; i < n; i++)
        if (add_named(out, args[i]) != 0)
            return out_of_memory(error);
    return 0;
}

/* ---- opening -------------------------------------------------------------- */

static bool is_same_file(const struct mst_target *t)
{
    struct stat st;

    /* A board that was removed is still the last word on its server. */
    return t->is_open && (stat(t->name, &st) != 0 ||
                          (st.st_dev == t->device && st.st_ino == t->inode));
}

int mst_target_open(struct mst_target *t, char error[MST_ERROR_MAX])
{
    struct mst_reader reader;
    struct stat st;

    if (t->problem != NULL) {
        snprintf(error, MST_ERROR_MAX, "%s", t->problem);
        return -1;
    }
    if (is_same_file(t))
        return 0;
    if (mst_reader_open(&reader, t->name, error) != 0)
        return -1;
    if (fstat(reader.fd, &st) != 0) {
        snprintf(error, MST_ERROR_MAX, "%s: %s", t->name, strerror(errno));
        mst_reader_close(&reader);
        return -1;
    }
    if (t->is_open)
        mst_reader_close(&t->reader);
    t->reader = reader;
    t->device = st.st_dev;
    t->inode = st.st_ino;
    t->is_open = true;
    return 1;
}

/* What is to be known of the board's server from outside. */
static struct mst_world look_around(struct mst_target *t, const struct mst_header *header)
{
    struct mst_world world;

    memset(&world, 0, sizeof world);
    mst_listen_free(&t->listen);
    world.running = mst_snapshot_running(header);
    if (world.running == 1) {
        mst_listen_read_process(&t->listen, header->pid);
        mst_listen_tell(&t->listen, &world);
    }
    return world;
}

int mst_target_snapshot(struct mst_target *t, struct mst_snapshot *snapshot,
                        struct mst_copy *copy, char error[MST_ERROR_MAX])
{
    struct mst_world world;
    int changed;

    changed = mst_target_open(t, error);
    if (changed < 0 || mst_copy_take(copy, &t->reader, error) != 0)
        return -1;
    world = look_around(t, &copy->header);
    if (mst_snapshot_make(snapshot, copy, &world) != 0) {
        mst_copy_free(copy);
        return out_of_memory(error);
    }
    return changed;
}

/* config.c - reads a server's files of configuration: see config.h. */
#include "system/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/host.h"

#define FILES_MAX  2000u
#define FILE_BYTES (1024u * 1024u)
#define DEPTH_MAX  8u         /* an included file can include others */
#define LINE_BYTES 8192u

bool mst_config_begin(struct mst_config *config, uint64_t pid)
{
    char path[64];
    struct stat st;

    *config = (struct mst_config){ .pid = pid };
    snprintf(path, sizeof path, "/proc/%" PRIu64, pid);
    return stat(path, &st) == 0 && mst_owner_is_ours(st.st_uid);
}

/* Where this process finds a file of the server's. Without the right to look into another process
 * its files are those of this machine. */
static bool path_here(const struct mst_config *config, const char *file, char *path, size_t room)
{
    char root[64];
    int n;

    snprintf(root, sizeof root, "/proc/%" PRIu64 "/root", config->pid);
    if (access(root, X_OK) != 0)
        root[0] = '\0';
    n = snprintf(path, room, "%s%s", root, file);
    return config->pid > 0 && file[0] == '/' && n > 0 && (size_t)n < room;
}

/* The name without symbolic links, where this process sees the same file by it. */
static void resolve(const struct mst_config *config, int fd, const char *file,
                    char name[MST_CONFIG_PATH_MAX])
{
    char link[64], target[MST_CONFIG_PATH_MAX], path[PATH_MAX];
    struct stat opened, named;
    ssize_t n;

    snprintf(name, MST_CONFIG_PATH_MAX, "%s", file);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = '\0';
    if (path_here(config, target, path, sizeof path) && fstat(fd, &opened) == 0 &&
        stat(path, &named) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
        memcpy(name, target, (size_t)n + 1);
}

/* A regular file of root's or the reader's, whatever its name says: a pipe would wait for a
 * writer. */
static FILE *open_file(struct mst_config *config, const char *file,
                       char name[MST_CONFIG_PATH_MAX])
{
    char path[PATH_MAX];
    struct stat st;
    FILE *stream = NULL;
    int fd = path_here(config, file, path, sizeof path) && config->files < FILES_MAX ?
             open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

    config->files++;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= (off_t)FILE_BYTES &&
        mst_owner_is_ours(st.st_uid)) {
        resolve(config, fd, file, name);
        stream = fdopen(fd, "r");
    }
    if (stream == NULL)
        close(fd);
    return stream;
}

static char *trimmed(char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    for (n = strlen(text); n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL; n--)
        text[n - 1] = '\0';
    return text;
}

/* The next line without its end. False: there is none, or it is too long. */
static bool next_line(struct mst_config *config, FILE *stream, char *text, size_t room)
{
    size_t n;

    if (fgets(text, (int)room, stream) == NULL)
        return false;
    n = strlen(text);
    if (n + 1 == room && text[n - 1] != '\n') {
        config->failed = true;
        return false;
    }
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = '\0';
    return true;
}

/* Adds the next lines of the file to one that ends with a backslash. */
static void join_lines(struct mst_config *config, FILE *stream, char text[LINE_BYTES],
                       uint64_t *line)
{
    size_t n;

    for (n = strlen(text); n > 0 && text[n - 1] == '\\'; n += strlen(text + n), (*line)++) {
        text[--n] = '\0';
        if (!next_line(config, stream, text + n, LINE_BYTES - n))
            return;
    }
}

void mst_config_read_lines(struct mst_config *config, FILE *stream, const char *name,
                           bool continues, mst_config_take_line *take, void *context)
{
    char text[LINE_BYTES], *line;
    uint64_t number = 0, first;

    while (!config->failed && next_line(config, stream, text, sizeof text)) {
        first = ++number;
        if (continues)
            join_lines(config, stream, text, &number);
        line = trimmed(text);
        if (!config->failed && line[0] != '\0' && line[0] != '#' && line[0] != ';')
            take(context, line, name, first);
    }
    config->failed |= ferror(stream) != 0;
}

void mst_config_each_line(struct mst_config *config, const char *file, bool continues,
                          mst_config_take_line *take, void *context)
{
    char name[MST_CONFIG_PATH_MAX];
    FILE *stream = config->depth < DEPTH_MAX ? open_file(config, file, name) : NULL;

    if (stream == NULL) {
        config->failed = true;
        return;
    }
    config->depth++;
    mst_config_read_lines(config, stream, name, continues, take, context);
    config->depth--;
    fclose(stream);
}

void mst_config_each_file(struct mst_config *config, const char *pattern, bool continues,
                          mst_config_take_line *take, void *context)
{
    char here[PATH_MAX], below[PATH_MAX];
    size_t i, root;
    struct stat st;
    glob_t found;
    int status;

    if (config->files++ >= FILES_MAX || !path_here(config, pattern, here, sizeof here)) {
        config->failed = true;
        return;
    }
    root = strlen(here) - strlen(pattern);
    status = glob(here, 0, NULL, &found);
    config->failed |= status != 0 && status != GLOB_NOMATCH;
    for (i = 0; status == 0 && i < found.gl_pathc && !config->failed; i++) {
        const char *path = found.gl_pathv[i];

        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            snprintf(below, sizeof below, "%s/*", path + root);
            mst_config_each_file(config, below, continues, take, context);
        } else {
            mst_config_each_line(config, path + root, continues, take, context);
        }
    }
    if (status == 0)
        globfree(&found);
}

void mst_config_keep(struct mst_config *config, const struct mst_config_setting *setting,
                     const char *key)
{
    struct mst_config_setting *to = NULL;
    bool is_doubtful = setting->is_doubtful;
    size_t i;

    for (i = 0; i < config->count && to == NULL; i++)
        if (strcasecmp(config->items[i].section, setting->section) == 0 &&
            (strcasecmp(config->items[i].name, setting->name) == 0 ||
             (key != NULL && strcasecmp(config->items[i].name, key) == 0)))
            to = &config->items[i];
    if (to != NULL)
        is_doubtful |= to->is_doubtful;
    else
        to = mst_append(&config->items, &config->count, sizeof *to);
    if (to == NULL) {
        config->failed = true;
        return;
    }
    *to = *setting;
    to->is_doubtful = is_doubtful;
}

void mst_config_program(uint64_t pid, char *path, size_t room)
{
    static const char deleted[] = " (deleted)";
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/%" PRIu64 "/exe", pid);
    n = readlink(link, path, room - 1);
    path[n > 0 ? n : 0] = '\0';
    if (n > (ssize_t)strlen(deleted) && strcmp(path + n - strlen(deleted), deleted) == 0)
        path[n - (ssize_t)strlen(deleted)] = '\0';
}

void mst_config_check_add(struct mst_config *config, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    size_t used = strlen(config->check);
    bool is_plain = word[0] != '\0' && word[strspn(word, plain)] == '\0';

    config->no_check |= !is_plain || used + strlen(word) + 2 > sizeof config->check;
    if (config->no_check)
        config->check[0] = '\0';
    else
        snprintf(config->check + used, sizeof config->check - used, "%s%s", used > 0 ? " " : "",
                 word);
}

const char *mst_config_short(const char *path)
{
    static const char *const folders[] = {
        "/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/", "/usr/local/sbin/", "/usr/local/bin/",
    };
    size_t i, n;

    for (i = 0; i < sizeof folders / sizeof *folders; i++) {
        n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) == 0 && strchr(path + n, '/') == NULL)
            return path + n;
    }
    return path;
}

void mst_config_free(struct mst_config *config)
{
    free(config->items);
    config->items = NULL;
    config->count = 0;
}

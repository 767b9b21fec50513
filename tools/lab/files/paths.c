/* paths.c - finds the lab's files, the module and the extension: see paths.h. */
#include "lab/files/paths.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- this program's build tree, or what is installed ------------------------------ */

/* DIR(this program)/below. false: it cannot be told. */
static bool beside_program(const char *below, char path[PATH_MAX])
{
    char program[PATH_MAX], *slash;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    if (n <= 0)
        return false;
    program[n] = '\0';
    slash = strrchr(program, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", program, below) < PATH_MAX;
}

/* The file in the build tree, or else where it was configured to be installed. */
static void find_built(const char *built, const char *installed, char path[PATH_MAX])
{
    if (!beside_program(built, path) || access(path, F_OK) != 0)
        snprintf(path, PATH_MAX, "%s", installed);
}

void mst_data_directory(char path[PATH_MAX])
{
    const char *set = getenv("MPMSTAT_DATADIR");

    if (set != NULL && set[0] != '\0')
        snprintf(path, PATH_MAX, "%s", set);
    else
        find_built("share/mpmstat", MST_DATADIR, path);
}

void mst_module_path(char path[PATH_MAX])
{
    find_built(".libs/mod_mpmstat.so", MST_MODULEDIR "/mod_mpmstat.so", path);
}

int mst_module_check(char error[MST_ERROR_MAX])
{
    char path[PATH_MAX];

    mst_module_path(path);
    if (access(path, R_OK) == 0)
        return 0;
    return mst_fail(error, "expected mod_mpmstat.so in %s, found none: build it (make), or install "
                    "libapache2-mod-mpmstat", MST_MODULEDIR);
}

void mst_extension_path(char path[PATH_MAX])
{
    find_built("phpapp/ext/.libs/mpmstat.so", MST_PHPEXTDIR "/mpmstat.so", path);
    if (access(path, R_OK) != 0)
        path[0] = '\0';
}

/* ---- stacks, workloads, studies --------------------------------------------------- */

/* Where it begins; *length: without its suffix. */
static const char *name_in(const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    *length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    return name;
}

char *mst_lab_name(apr_pool_t *pool, const char *path)
{
    size_t length;
    const char *name = name_in(path, &length);

    return apr_pstrmemdup(pool, name, length);
}

/* lab/stacks, lab/workloads, lab/studies. */
static void directory_of(const char *kind, char path[PATH_MAX])
{
    char data[PATH_MAX];

    mst_data_directory(data);
    if (snprintf(path, PATH_MAX, "%s/lab/%s", data, strcmp(kind, "stack") == 0 ? "stacks" :
                 strcmp(kind, "study") == 0 ? "studies" : "workloads") >= PATH_MAX)
        path[0] = '\0';
}

int mst_lab_data_check(char error[MST_ERROR_MAX])
{
    char data[PATH_MAX], directory[PATH_MAX];

    mst_data_directory(data);
    directory_of("stack", directory);
    if (access(directory, R_OK | X_OK) == 0)
        return 0;
    return mst_fail(error, "expected the lab's stacks, workloads and studies in %s/lab, found "
                    "none: install them (Debian: apt-get install mpmstat-lab), or name the "
                    "directory in MPMSTAT_DATADIR", data);
}

/* Calls `take` with each path that matches DIRECTORY/PATTERN, in their order. */
static int each_match(const char *directory, const char *pattern,
                      int (*take)(void *context, const char *path), void *context)
{
    char whole[PATH_MAX];
    glob_t found;
    int result = 0;
    size_t i;

    if (snprintf(whole, sizeof whole, "%s/%s", directory, pattern) < PATH_MAX &&
        glob(whole, 0, NULL, &found) == 0) {
        for (i = 0; i < found.gl_pathc && result == 0; i++)
            result = take(context, found.gl_pathv[i]);
        globfree(&found);
    }
    return result;
}

int mst_lab_each(const char *kind, int (*take)(void *context, const char *path), void *context)
{
    char directory[PATH_MAX], pattern[32];

    directory_of(kind, directory);
    snprintf(pattern, sizeof pattern, "*.%s", kind);
    return each_match(directory, pattern, take, context);
}

int mst_lab_each_include(int (*take)(void *context, const char *path), void *context)
{
    char directory[PATH_MAX];

    directory_of("stack", directory);
    return each_match(directory, "include/*", take, context);
}

/* Adds a file's name to the sentence. */
static int list_name(void *context, const char *path)
{
    char *names = context;
    size_t used = strlen(names), length;
    const char *name = name_in(path, &length);

    snprintf(names + used, MST_ERROR_MAX - used, "%s%.*s", used > 0 ? " " : "", (int)length, name);
    return 0;
}

static bool has_suffix(const char *name, const char *kind)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && strcmp(dot + 1, kind) == 0;
}

/* Whether there is DIRECTORY/NAME.KIND; then path is it. */
static bool is_in(const char *directory, const char *name, const char *kind, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s.%s", directory, name, kind) < PATH_MAX &&
           access(path, F_OK) == 0;
}

int mst_lab_file(const char *name, const char *kind, const char *beside, char path[PATH_MAX],
                 char error[MST_ERROR_MAX])
{
    char directory[PATH_MAX], names[MST_ERROR_MAX] = "";

    if (strchr(name, '/') != NULL || has_suffix(name, kind)) {
        if (beside != NULL && name[0] != '/' &&
            snprintf(path, PATH_MAX, "%s/%s", beside, name) < PATH_MAX && access(path, F_OK) == 0)
            return 0;
        if (snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, R_OK) == 0)
            return 0;
        return mst_fail(error, "expected a %s's file, found none that can be read at %s: %s", kind,
                        name, strerror(errno));
    }
    directory_of(kind, directory);
    if ((beside != NULL && is_in(beside, name, kind, path)) ||
        is_in(directory, name, kind, path))
        return 0;
    mst_lab_each(kind, list_name, names);
    if (mst_lab_data_check(error) != 0)
        return -1;
    if (names[0] == '\0')
        return mst_fail(error, "there is no %s \"%s\": expected files NAME.%s in %s, found none "
                        "(MPMSTAT_DATADIR says where else)", kind, name, kind, directory);
    return mst_fail(error, "there is no %s \"%s\"; there are: %s. Your own: a file's path, as "
                    "./%s.%s", kind, name, names, name, kind);
}

/* site_variables.c - the variables that every stack has: see site.h. */
#include "lab/servers/site.h"

#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/files/paths.h"
#include "lab/servers/test_users.h"

#define MODULES "/usr/lib/apache2/modules"

const char *const mst_site_port_names[MST_PORTS] = { "PORT", "PORT_2", "PORT_3", "PORT_4" };

static void set(struct mst_site *site, const char *name, const char *value)
{
    mst_parameters_set(&site->variables, name, value);
}

int mst_site_set_below(struct mst_site *site, const char *name, const char *below,
                       char error[MST_ERROR_MAX])
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", site->root, below) >= PATH_MAX)
        return mst_fail(error, "the path %s is too long", site->root);
    set(site, name, path);
    return 0;
}

/* The version in the last, by version, of the files of that pattern; before and after it in
 * the name is what the pattern has. */
static bool newest_version(const char *pattern, char version[16])
{
    const char *star = strchr(pattern, '*');
    size_t before = (size_t)(star - pattern), after = strlen(star + 1), i, length;
    char found_version[16] = "";
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (i = 0; i < found.gl_pathc; i++) {
        length = strlen(found.gl_pathv[i]) - before - after;
        if (length == 0 || length >= sizeof found_version)
            continue;
        snprintf(found_version, sizeof found_version, "%.*s", (int)length,
                 found.gl_pathv[i] + before);
        if (found_version[strspn(found_version, "0123456789.")] == '\0' &&
            strverscmp(found_version, version) > 0)
            snprintf(version, 16, "%s", found_version);
    }
    globfree(&found);
    return version[0] != '\0';
}

/* Of the PHP that there is: Debian's programs have it in their names. "" there is none. */
static void find_php_version(char version[16])
{
    static const char *const patterns[] = {
        "/usr/sbin/php-fpm*", "/usr/bin/php-cgi*", MODULES "/libphp*.so", "/usr/bin/php*",
    };
    size_t i;

    version[0] = '\0';
    for (i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (newest_version(patterns[i], version))
            return;
}

/* Servers started as root serve as www-data. */
static int set_user(struct mst_site *site, char error[MST_ERROR_MAX])
{
    const struct passwd *user = getpwuid(geteuid());
    const char *name = geteuid() == 0 ? "www-data" : user != NULL ? user->pw_name : NULL;

    if (name == NULL)
        return mst_fail(error, "expected a user with the number %u in /etc/passwd, found none",
                        geteuid());
    set(site, "USER", name);
    set(site, "GROUP", name);
    return 0;
}

int mst_site_set_variables(struct mst_site *site, const struct mst_stack *stack,
                           const unsigned ports[MST_PORTS], char error[MST_ERROR_MAX])
{
    char version[16], data[PATH_MAX], module[PATH_MAX], extension[PATH_MAX];
    const struct { const char *name, *value; } installed[] = {
        { "DATA", data }, { "MPMSTAT_MODULE", module }, { "MPMSTAT_EXTENSION", extension },
    };
    static const struct { const char *name, *below; } paths[] = {
        { "PHP_INI", "php.ini" }, { "BOARDS", "boards" }, { "WORKLOADS", "workloads" },
    };
    size_t i;

    find_php_version(version);
    mst_data_directory(data);
    mst_module_path(module);
    mst_extension_path(extension);
    set(site, "ROOT", site->root);
    set(site, "MODULES", MODULES);
    set(site, "PHP_VERSION", version);
    for (i = 0; i < sizeof paths / sizeof *paths; i++)
        if (mst_site_set_below(site, paths[i].name, paths[i].below, error) != 0)
            return -1;
    if (set_user(site, error) != 0)
        return -1;
    for (i = 0; i < MST_PORTS; i++)
        set(site, mst_site_port_names[i], mst_pool_printf(site->pool, "%u", ports[i]));
    for (i = 0; i < sizeof installed / sizeof *installed; i++)
        set(site, installed[i].name, installed[i].value);
    for (i = 0; i < MST_TEST_USERS && stack->test_users; i++)
        set(site, mst_test_user_variables[i], mst_test_user_names[i]);
    return 0;
}

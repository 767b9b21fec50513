/* settings.c - php.ini's settings that matter to a load test, for the board's header.
 *
 * They are read when the board is made. The settings of a pool or a virtual host
 * (php_admin_value) come later, and are not among them.
 */
#include "settings.h"

#include <php.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zend_extensions.h>

#include "compat.h"

static const char *const names[] = {
    "memory_limit", "max_execution_time", "output_buffering", "realpath_cache_size",
    "opcache.enable", "opcache.validate_timestamps", "opcache.jit",
};

/* The setting's value, or NULL. mod_php's board is made before OPcache registers its settings: the
 * value is that of php.ini then. */
static const char *value_of(const char *name)
{
    const char *value = mst_ini_text(name);
    char *configured;

    if (value)
        return value;
    return cfg_get_string((char *)name, &configured) == SUCCESS ? configured : NULL;
}

/* OPcache is loaded where php.ini names it, and then enabled by default (its source:
 * opcache.enable is 1). */
static const char *setting(const char *name)
{
    bool has_opcache = zend_get_extension("Zend OPcache") != NULL;
    const char *value;

    if (strncmp(name, "opcache.", 8) == 0 && !has_opcache)
        return strcmp(name, "opcache.enable") == 0 ? "0" : NULL;
    value = value_of(name);
    if (!value && strcmp(name, "opcache.enable") == 0)
        return "1";
    return value;
}

/* All of them are numbers or switches. php.ini's Off and no become "", which is written as 0. */
void mst_settings_write(char *to, size_t size)
{
    size_t used = 0, i;

    to[0] = '\0';
    for (i = 0; i < sizeof names / sizeof *names && used < size; i++) {
        const char *value = setting(names[i]);

        if (value)
            used += (size_t)snprintf(to + used, size - used, "%s%s = %s", used ? "; " : "",
                                     names[i], *value ? value : "0");
    }
}

/* config_fpm.c - what a running PHP-FPM's files say of its pools: see config.h.
 *
 * The master's title names the file: "php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)". A
 * file has sections, each a pool, and "include", after which the section is that in which the
 * included file ended, as FPM reads it.
 */
#include "system/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "system/proc.h"

static const char *const wanted[] = {
    "pm", "pm.max_children", "pm.start_servers", "pm.min_spare_servers", "pm.max_spare_servers",
    "pm.max_requests", "pm.process_idle_timeout", "process.max", "process_max", "listen.backlog",
    "rlimit_files",
};

struct reading {
    struct mst_config *config;
    char section[sizeof ((struct mst_config_setting *)NULL)->section];
};

/* The value without its quotes, or without what follows it. */
static char *value_of(char *text)
{
    char *end;

    text += strspn(text, " \t");
    if (*text == '"' || *text == '\'') {
        end = strchr(text + 1, *text);
        text++;
    } else {
        end = strchr(text, ';');
    }
    if (end != NULL)
        *end = '\0';
    for (end = text + strlen(text); end > text && strchr(" \t", end[-1]) != NULL; end--)
        end[-1] = '\0';
    return text;
}

static void take_section(struct reading *r, char *text)
{
    char *end = strchr(text, ']');

    if (end == NULL || (size_t)(end - text) > sizeof r->section) {
        r->config->failed = true;
        return;
    }
    *end = '\0';
    snprintf(r->section, sizeof r->section, "%s", text + 1);
}

/* Files of one pattern come in the order in which the folder has them, which is not known here. */
static bool stands_in_another_file(const struct reading *r, const char *name, const char *file)
{
    size_t i;

    for (i = 0; i < r->config->count; i++)
        if (strcasecmp(r->config->items[i].section, r->section) == 0 &&
            strcmp(r->config->items[i].name, name) == 0)
            return strcmp(r->config->items[i].file, file) != 0;
    return false;
}

static void take_setting(struct reading *r, const char *name, const char *value, const char *file,
                         uint64_t line)
{
    struct mst_config_setting setting = { .line = line };
    size_t i;

    for (i = 0; i < sizeof wanted / sizeof *wanted && strcasecmp(name, wanted[i]) != 0; i++)
        ;
    if (i == sizeof wanted / sizeof *wanted)
        return;
    snprintf(setting.section, sizeof setting.section, "%s", r->section);
    snprintf(setting.name, sizeof setting.name, "%s", wanted[i]);
    snprintf(setting.value, sizeof setting.value, "%s", value);
    snprintf(setting.file, sizeof setting.file, "%s", file);
    setting.is_doubtful = strlen(value) >= sizeof setting.value || strchr(value, '$') != NULL ||
                          stands_in_another_file(r, wanted[i], file);
    mst_config_keep(r->config, &setting, NULL);
}

static void take_line(void *context, char *text, const char *file, uint64_t line);

/* A pattern that does not begin with "/" is below the prefix with which PHP was built. */
static void take_include(struct reading *r, const char *pattern)
{
    static const char usual[] = "/etc/php-fpm.conf";
    size_t length = strlen(r->config->file), end = strlen(usual);
    char whole[2 * MST_CONFIG_PATH_MAX] = "";

    if (pattern[0] == '/')
        snprintf(whole, sizeof whole, "%s", pattern);
    else if (length > end && strcmp(r->config->file + length - end, usual) == 0)
        snprintf(whole, sizeof whole, "%.*s/%s", (int)(length - end), r->config->file, pattern);
    mst_config_each_file(r->config, whole, false, take_line, r);
}

static void take_line(void *context, char *text, const char *file, uint64_t line)
{
    struct reading *r = context;
    char *equals = strchr(text, '=');
    size_t n;

    if (text[0] == '[') {
        take_section(r, text);
        return;
    }
    if (equals == NULL)
        return;
    for (n = (size_t)(equals - text); n > 0 && strchr(" \t", text[n - 1]) != NULL; n--)
        ;
    text[n] = '\0';
    if (strcasecmp(text, "include") == 0)
        take_include(r, value_of(equals + 1));
    else
        take_setting(r, text, value_of(equals + 1), file, line);
}

/* The file in the master's title. */
static bool find_file(struct mst_config *config)
{
    static const char title[] = "master process (";
    char path[64], words[4096], *at, *end;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cmdline", config->pid);
    at = mst_proc_read(path, words, sizeof words) > 0 ? strstr(words, title) : NULL;
    if (at == NULL)
        return false;
    at += strlen(title);
    end = strchr(at, ')');
    if (end == NULL || (size_t)(end - at) >= sizeof config->file)
        return false;
    memcpy(config->file, at, (size_t)(end - at));
    config->file[end - at] = '\0';
    return config->file[0] == '/';
}

/* "php-fpm8.2 -t" where the file is the program's own. Which program it is only root and the
 * server's user can see; Debian names both by the version. */
static void find_check(struct mst_config *config)
{
    char program[MST_CONFIG_PATH_MAX], own[MST_CONFIG_PATH_MAX], debians[16];
    const char *name, *version;

    mst_config_program(config->pid, program, sizeof program);
    if (program[0] == '\0' && sscanf(config->file, "/etc/php/%15[0-9.]/", debians) == 1)
        snprintf(program, sizeof program, "php-fpm%s", debians);
    if (program[0] == '\0')
        return;
    name = mst_config_short(program);
    version = strncmp(name, "php-fpm", 7) == 0 ? name + 7 : "";
    snprintf(own, sizeof own, "/etc/php/%.32s/fpm/php-fpm.conf", version);
    mst_config_check_add(config, name);
    mst_config_check_add(config, "-t");
    if (strcmp(config->file, own) != 0) {
        mst_config_check_add(config, "-y");
        mst_config_check_add(config, config->file);
    }
}

bool mst_config_parse_fpm(struct mst_config *config, FILE *text)
{
    struct reading r = { .config = config, .section = "global" };

    mst_config_read_lines(config, text, "", false, take_line, &r);
    return !config->failed && config->count > 0;
}

bool mst_config_read_fpm(struct mst_config *config, uint64_t pid)
{
    struct reading r = { .config = config, .section = "global" };

    if (!mst_config_begin(config, pid) || !find_file(config))
        return false;
    mst_config_each_line(config, config->file, false, take_line, &r);
    find_check(config);
    return !config->failed && config->count > 0;
}

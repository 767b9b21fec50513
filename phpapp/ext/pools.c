/* pools.c - FPM's pools and their limits.
 *
 * FPM tells no extension what pm.max_children is. So its master reads the configuration file,
 * as FPM has done before: line by line with PHP's own scanner, which knows quotes, comments,
 * constants and environment variables, with each `include` at its place. A file that FPM
 * refuses is not read here; anything unexpected makes all limits unknown.
 */
#include "pools.h"

#include <glob.h>
#include <limits.h>
#include <main/build-defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zend_ini_scanner.h>

#include "board_place.h"
#include "segment/listen_hash.h"
#include "write/pools.h"

#define POOLS_MAX   4096u
#define LINE_MAX_BYTES (1u << 16)
#define DEPTH_MAX   5         /* FPM's limit of nested includes */
#define ARGUMENTS_MAX 65536u  /* of the command line, bytes */

struct pool {
    char     name[MST_NAME_MAX];
    char     label[MST_NAME_MAX];   /* that the pool's configuration sets; "": none */
    bool     is_admins;             /* the label is that of php_admin_value */
    bool     is_off;                /* mpmstat.enable is off */
    uint64_t children;              /* pm.max_children */
    uint64_t listen;                /* mst_listen_hash() of its address; 0: not known */
};

/* Only FPM's master uses it, and only while it opens the board. */
static struct {
    struct pool *pools;
    size_t   count;
    size_t   current;      /* the section's pool; SIZE_MAX: [global] */
    uint64_t process_max;  /* of all pools together; 0: no limit */
    char    *include;      /* the pattern that this line names */
    int      depth;
    bool     failed;
} reading;

static char prefix[PATH_MAX] = PHP_PREFIX;

/* ---- the command line -------------------------------------------------------------------- */

/* The value of an option -p or --prefix, in this argument or the next; NULL: the argument is
 * another option. */
static const char *prefix_in(const char *argument, const char *next)
{
    if (strcmp(argument, "-p") == 0 || strcmp(argument, "--prefix") == 0)
        return next;
    if (strncmp(argument, "--prefix=", strlen("--prefix=")) == 0)
        return argument + strlen("--prefix=");
    return strncmp(argument, "-p", 2) == 0 ? argument + 2 : NULL;
}

void mst_pools_start(void)
{
    static char line[ARGUMENTS_MAX];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    const char *at = line, *next, *found;

    if (file)
        fclose(file);
    line[length] = '\0';
    for (; at < line + length; at = next) {
        next = at + strlen(at) + 1;
        found = prefix_in(at, next < line + length ? next : NULL);
        if (found)
            snprintf(prefix, sizeof prefix, "%s", found);
    }
}

/* ---- entries -------------------------------------------------------------------------------- */

/* FPM takes numbers of digits alone, and calls atoi(). */
static uint64_t number(const char *text)
{
    long value = strtol(text, NULL, 10);

    return value > 0 && value <= INT_MAX ? (uint64_t)value : 0;
}

/* Sections of the same name, whatever its case, are one pool. */
static void enter_section(const char *name)
{
    struct pool *more;
    size_t i;

    reading.current = SIZE_MAX;
    if (strcasecmp(name, "global") == 0)
        return;
    for (i = 0; i < reading.count && strcasecmp(reading.pools[i].name, name) != 0; i++)
        ;
    if (i == reading.count) {
        more = i < POOLS_MAX ? realloc(reading.pools, (i + 1) * sizeof *more) : NULL;
        if (!more || strlen(name) >= sizeof more->name) {
            reading.failed = true;
            reading.pools = more ? more : reading.pools;
            return;
        }
        reading.pools = more;
        more[i] = (struct pool){ .children = 0 };
        strcpy(more[i].name, name);
        reading.count++;
    }
    reading.current = i;
}

/* Replaces each "$pool" by the pool's name, as FPM does. False: the result is too long. */
static bool expand(char *to, size_t size, const char *value, const char *pool)
{
    static const char token[] = "$pool";
    const char *found;
    size_t used = 0;

    while ((found = strstr(value, token)) != NULL && used < size) {
        used += (size_t)snprintf(to + used, size - used, "%.*s%s", (int)(found - value), value,
                                 pool);
        value = found + sizeof token - 1;
    }
    if (used < size)
        used += (size_t)snprintf(to + used, size - used, "%s", value);
    return used < size;
}

/* An address, a port, or a Unix socket, whose path can be relative to FPM's prefix. (Where the pool
 * has a prefix of its own, the path is another, and the hash is that of no socket.) */
static void take_listen(struct pool *pool, const char *value)
{
    char text[PATH_MAX], path[2 * PATH_MAX];

    pool->listen = 0;
    if (!expand(text, sizeof text, value, pool->name))
        return;
    snprintf(path, sizeof path, "%s/%s", prefix, text);
    pool->listen = mst_listen_hash(*text == '/' || strchr(text, ':') != NULL
                                   || text[strspn(text, "0123456789")] == '\0' ? text : path);
}

static void take_entry(const char *name, const char *value)
{
    struct pool *pool = reading.current < reading.count ? &reading.pools[reading.current] : NULL;

    if (strcmp(name, "include") == 0) {
        free(reading.include);
        reading.include = strdup(value);
        reading.failed |= reading.include == NULL;
    }
    else if (pool == NULL && strcasecmp(name, "process.max") == 0)
        reading.process_max = number(value);
    else if (pool && strcasecmp(name, "pm.max_children") == 0)
        pool->children = number(value);
    else if (pool && strcasecmp(name, "listen") == 0)
        take_listen(pool, value);
}

/* FPM applies a pool's php_value and then its php_admin_value, each list from its end: the first
 * php_admin_value wins. */
static void take_label(struct pool *pool, const char *value, bool is_admins)
{
    char label[MST_NAME_MAX];

    if (pool->is_admins || (*pool->label && !is_admins) ||
        !expand(label, sizeof label, value, pool->name) || !mst_label_is_valid(label))
        return;
    strcpy(pool->label, label);
    pool->is_admins = is_admins;
}

/* name[key] = value. Switches are "1" or "". */
static void take_setting(const char *name, const char *key, const char *value)
{
    struct pool *pool = reading.current < reading.count ? &reading.pools[reading.current] : NULL;
    bool is_admins = strncmp(name, "php_admin_", strlen("php_admin_")) == 0;

    if (pool == NULL || strncmp(name, "php_", strlen("php_")) != 0)
        return;
    if (strcmp(key, "mpmstat.label") == 0)
        take_label(pool, value, is_admins);
    else if (strcmp(key, "mpmstat.enable") == 0)
        pool->is_off = !*value || strcmp(value, "0") == 0;
}

static const char *text_of(const zval *value)
{
    return value && Z_TYPE_P(value) == IS_STRING ? Z_STRVAL_P(value) : "";
}

/* PHP's scanner calls it for each section and entry. */
static void take(zval *name, zval *value, zval *key, int type, void *unused)
{
    (void)unused;
    if (type == ZEND_INI_PARSER_SECTION)
        enter_section(text_of(name));
    else if (type == ZEND_INI_PARSER_ENTRY)
        take_entry(text_of(name), text_of(value));
    else if (type == ZEND_INI_PARSER_POP_ENTRY)
        take_setting(text_of(name), text_of(key), text_of(value));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void read_file(const char *path);

static void read_included(const char *pattern)
{
    char path[PATH_MAX];
    glob_t found;
    size_t i;
    int status;

    if (snprintf(path, sizeof path, "%s%s%s", *pattern == '/' ? "" : prefix,
                 *pattern == '/' ? "" : "/", pattern) >= (int)sizeof path) {
        reading.failed = true;
        return;
    }
    status = glob(path, GLOB_ERR | GLOB_MARK, NULL, &found);
    if (status == GLOB_NOMATCH)
        return;
    reading.failed |= status != 0;
    for (i = 0; !reading.failed && i < found.gl_pathc; i++)
        if (found.gl_pathv[i][strlen(found.gl_pathv[i]) - 1] != '/')
            read_file(found.gl_pathv[i]);
    if (status == 0)
        globfree(&found);
}

/* PHP's scanner reads zeroes behind the text. */
static void read_line(char *line)
{
    char *pattern;

    if (zend_parse_ini_string(line, 1, ZEND_INI_SCANNER_NORMAL, take, NULL) == FAILURE)
        reading.failed = true;
    pattern = reading.include;
    reading.include = NULL;
    if (pattern && !reading.failed)
        read_included(pattern);
    free(pattern);
}

static void read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = calloc(1, LINE_MAX_BYTES + ZEND_MMAP_AHEAD + 2);

    if (!file || !line || ++reading.depth > DEPTH_MAX)
        reading.failed = true;
    while (!reading.failed && fgets(line, LINE_MAX_BYTES, file)) {
        size_t length = strlen(line);

        if (length == LINE_MAX_BYTES - 1)
            reading.failed = true;
        else if (length && line[length - 1] != '\n')
            line[length] = '\n';
        read_line(line);
        memset(line, 0, length + 1);
    }
    reading.depth--;
    free(line);
    if (file)
        fclose(file);
}

/* ---- limits --------------------------------------------------------------------------------- */

static uint64_t limit_of(const struct pool *pool)
{
    if (reading.process_max && reading.process_max < pool->children)
        return reading.process_max;
    return pool->children;
}

static void forget(void)
{
    free(reading.pools);
    memset(&reading, 0, sizeof reading);
    reading.current = SIZE_MAX;
}

uint64_t mst_pools_read(const char *path)
{
    uint64_t sum = 0;
    size_t i;

    forget();
    read_file(path);
    for (i = 0; i < reading.count && !reading.failed; i++) {
        reading.failed = reading.pools[i].children == 0;
        if (!reading.pools[i].is_off)
            sum += reading.pools[i].children;
    }
    if (reading.failed)
        forget();
    if (reading.process_max && sum > reading.process_max)
        sum = reading.process_max;
    return sum ? sum : MST_UNKNOWN;
}

void mst_pools_show(void)
{
    const char *everywhere = MPMSTAT_G(own_label);   /* php.ini's */
    size_t i;

    mst_pool_limits_clear(&mst_php.board);
    for (i = 0; i < reading.count; i++) {
        const struct pool *pool = &reading.pools[i];
        const char *label = *pool->label ? pool->label : *everywhere ? everywhere : pool->name;

        if (!pool->is_off)
            mst_pool_limit_add(&mst_php.board, label, limit_of(pool), pool->listen);
    }
    forget();
}

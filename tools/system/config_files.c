/* config_files.c - reads the configuration of FPM and of Apache: see config_files.h.
 *
 * It reads no more of their syntax than the settings of processes need: sections, "name = value"
 * and "Directive value", and includes. Paths are of the server's root, which can be a container's.
 */
#include "system/config_files.h"

#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/proc.h"

#define PATH_SIZE  512
#define LINE_SIZE  2048
#define DEEPEST    8u      /* includes within includes */

struct reading {
    mst_config_see *see;
    void           *context;
    char            root[48];           /* of the server's files, as we see them; "" */
    char            directory[PATH_SIZE];   /* what Apache's relative paths begin with */
    const char     *mpm;                /* NULL: it is FPM's */
    char            section[128];       /* FPM's, across includes */
    unsigned        deep;
};

static void read_file(struct reading *r, const char *path);

/* Whether the root of that process can be looked into; else its files are taken to be ours. */
static void find_root(struct reading *r, uint64_t pid)
{
    snprintf(r->root, sizeof r->root, "/proc/%" PRIu64 "/root", pid);
    if (access(r->root, R_OK | X_OK) != 0)
        r->root[0] = '\0';
}

static bool exists(const struct reading *r, const char *path)
{
    char here[2 * PATH_SIZE + sizeof r->root];
    struct stat st;

    snprintf(here, sizeof here, "%s%s", r->root, path);
    return stat(here, &st) == 0 && S_ISREG(st.st_mode);
}

static void read_included(struct reading *r, const char *pattern)
{
    char here[2 * PATH_SIZE + sizeof r->root + 1];
    glob_t found;
    size_t i;

    if (pattern[0] == '/')
        snprintf(here, sizeof here, "%s%s", r->root, pattern);
    else
        snprintf(here, sizeof here, "%s%s/%s", r->root, r->directory, pattern);
    if (glob(here, 0, NULL, &found) != 0)
        return;
    for (i = 0; i < found.gl_pathc; i++)
        read_file(r, found.gl_pathv[i] + strlen(r->root));
    globfree(&found);
}

/* A text without the white space and the quotes around it. */
static char *bare(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    for (n = strlen(text); n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL; n--)
        text[n - 1] = '\0';
    if (n > 1 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0]) {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

/* ---- FPM ----------------------------------------------------------------------------------- */

static void read_fpm_line(struct reading *r, char *line, const char *path)
{
    char *value = strchr(line, '='), *end;

    line = bare(line);
    if (line[0] == '[' && (end = strchr(line, ']')) != NULL) {
        *end = '\0';
        snprintf(r->section, sizeof r->section, "%s",
                 strcasecmp(line + 1, "global") == 0 ? "" : line + 1);
        return;
    }
    if (line[0] == ';' || line[0] == '#' || value == NULL)
        return;
    *value++ = '\0';
    value[strcspn(value, ";")] = '\0';
    line = bare(line);
    value = bare(value);
    if (strcasecmp(line, "include") == 0)
        read_included(r, value);
    else
        r->see(r->context, r->section, line, value, path);
}

/* ---- Apache -------------------------------------------------------------------------------- */

/* Whether the directives of a section are the main server's: those of <IfModule> where the module
 * is its MPM, and where it is no MPM, as other modules are not known here. */
static bool is_open(const struct reading *r, const char *section)
{
    char name[64];
    bool negated;
    const char *mpm;

    if (sscanf(section, "IfModule %63[^>]", name) != 1)
        return false;
    negated = name[0] == '!';
    mpm = strncmp(name + negated, "mpm_", 4) == 0 ? name + negated + 4 : NULL;
    if (mpm == NULL)
        return !negated;
    return (strncmp(mpm, r->mpm, strlen(r->mpm)) == 0) != negated;
}

/* `closed` is how deep the line is in sections that are not the main server's, `open` in others. */
struct depth { unsigned closed, open; };

static void read_httpd_line(struct reading *r, char *line, const char *path, struct depth *depth)
{
    char *value;

    line = bare(line);
    if (line[0] == '<') {
        if (line[1] != '/' && (depth->closed > 0 || !is_open(r, line + 1)))
            depth->closed++;
        else if (line[1] != '/')
            depth->open++;
        else if (depth->closed > 0)
            depth->closed--;
        else if (depth->open > 0)
            depth->open--;
        return;
    }
    if (line[0] == '#' || line[0] == '\0' || depth->closed > 0)
        return;
    value = line + strcspn(line, " \t");
    if (*value != '\0')
        *value++ = '\0';
    value = bare(value);
    if (strcasecmp(line, "ServerRoot") == 0)
        snprintf(r->directory, sizeof r->directory, "%s", value);
    else if (strcasecmp(line, "Include") == 0 || strcasecmp(line, "IncludeOptional") == 0)
        read_included(r, value);
    else
        r->see(r->context, "", line, value, path);
}

/* ---- files --------------------------------------------------------------------------------- */

static void read_file(struct reading *r, const char *path)
{
    char here[2 * PATH_SIZE + sizeof r->root], line[LINE_SIZE];
    struct depth depth = { 0, 0 };
    struct stat st;
    FILE *file;

    snprintf(here, sizeof here, "%s%s", r->root, path);
    if (r->deep >= DEEPEST || stat(here, &st) != 0 || !S_ISREG(st.st_mode) ||
        (file = fopen(here, "re")) == NULL)
        return;
    r->deep++;
    while (fgets(line, sizeof line, file) != NULL) {
        if (r->mpm != NULL)
            read_httpd_line(r, line, path, &depth);
        else
            read_fpm_line(r, line, path);
    }
    r->deep--;
    fclose(file);
}

void mst_fpm_config_read(uint64_t pid, mst_config_see *see, void *context)
{
    struct reading r = { .see = see, .context = context };
    char name[64], words[4096], path[PATH_SIZE];
    ssize_t n;

    snprintf(name, sizeof name, "/proc/%" PRIu64 "/cmdline", pid);
    n = mst_proc_read(name, words, sizeof words);
    /* FPM makes it its title. */
    if (n <= 0 || sscanf(words, "php-fpm: master process (%511[^)])", path) != 1)
        return;
    find_root(&r, pid);
    read_file(&r, path);
}

/* The value of an option of one letter in a command line of n bytes: "-f FILE", "-fFILE". */
static const char *option_of(const char *words, ssize_t n, char letter)
{
    const char *word, *end = words + n, *found = NULL;

    for (word = words; word < end; word += strlen(word) + 1)
        if (word[0] == '-' && word[1] == letter)
            found = word[2] != '\0' ? word + 2
                  : word + strlen(word) + 1 < end ? word + strlen(word) + 1 : NULL;
    return found;
}

void mst_httpd_config_read(uint64_t pid, const char *mpm, mst_config_see *see, void *context)
{
    /* What Debian, Red Hat and httpd itself compile in: HTTPD_ROOT, SERVER_CONFIG_FILE. */
    static const struct { const char *directory, *file; } places[] = {
        { "/etc/apache2", "apache2.conf" }, { "/etc/httpd", "conf/httpd.conf" },
        { "/usr/local/apache2", "conf/httpd.conf" },
    };
    struct reading r = { .see = see, .context = context, .mpm = mpm };
    char name[64], words[4096], path[2 * PATH_SIZE];
    const char *directory, *file;
    ssize_t n;
    size_t i;

    snprintf(name, sizeof name, "/proc/%" PRIu64 "/cmdline", pid);
    n = mst_proc_read(name, words, sizeof words - 1);
    if (n <= 0)
        return;
    words[n] = '\0';
    find_root(&r, pid);
    directory = option_of(words, n, 'd');
    file = option_of(words, n, 'f');
    for (i = 0; i < sizeof places / sizeof *places; i++) {
        const char *in = directory != NULL ? directory : places[i].directory;

        snprintf(path, sizeof path, "%s/%s", in, file != NULL ? file : places[i].file);
        if (file != NULL && file[0] == '/')
            snprintf(path, sizeof path, "%s", file);
        if (!exists(&r, path))
            continue;
        snprintf(r.directory, sizeof r.directory, "%s", in);
        read_file(&r, path);
        return;
    }
}

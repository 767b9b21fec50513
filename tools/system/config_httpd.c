/* config_httpd.c - what a running httpd's files say of its workers: see config.h.
 *
 * Conditions are evaluated as far as that is certain: <IfModule> of an MPM by the MPM that runs, of
 * another module by LoadModule, <IfDefine> by -D and Define. A setting in a section that cannot be
 * evaluated is doubtful, and so is one of a virtual host.
 */
#include "system/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "system/proc.h"

/* A directive, and its other name. */
static const struct { const char *name, *other; } wanted[] = {
    { "StartServers", NULL }, { "MinSpareServers", NULL }, { "MaxSpareServers", NULL },
    { "MinSpareThreads", NULL }, { "MaxSpareThreads", NULL }, { "ThreadLimit", NULL },
    { "ThreadsPerChild", NULL }, { "ServerLimit", NULL }, { "MaxRequestWorkers", "MaxClients" },
    { "MaxClients", "MaxRequestWorkers" }, { "MaxConnectionsPerChild", "MaxRequestsPerChild" },
    { "MaxRequestsPerChild", "MaxConnectionsPerChild" }, { "AsyncRequestWorkerFactor", NULL },
    { "ListenBacklog", NULL }, { "H2MaxWorkers", NULL }, { "KeepAliveTimeout", NULL },
};

enum truth { NO, MAYBE, YES };

#define SECTIONS_MAX 32u

/* A module, or what is defined, and with which value; holds: whether the server has come to it. */
struct word { char *text, *value; enum truth holds; };

struct reading {
    struct mst_config *config;
    const char  *mpm;
    char         root[MST_CONFIG_PATH_MAX];
    char         environment[16384];
    size_t       defined_count, module_count, depth;
    struct word *defined, *modules;
    enum truth   holds[SECTIONS_MAX];        /* the sections around, the outer ones included */
};

/* ---- words ----------------------------------------------------------------------------------- */

static enum truth holds_here(const struct reading *r)
{
    return r->depth > 0 ? r->holds[r->depth - 1] : YES;
}

static void add_word(struct reading *r, struct word **words, size_t *count, const char *text,
                     const char *value)
{
    struct word *word = mst_append(words, count, sizeof *word);

    if (word != NULL)
        word->holds = holds_here(r);
    if (word == NULL || (word->text = strdup(text)) == NULL ||
        (word->value = strdup(value)) == NULL)
        r->config->failed = true;
}

/* The last one of that name that was certain, else any. */
static const struct word *find_word(const struct word *words, size_t count, const char *text)
{
    const struct word *found = NULL;

    while (count > 0 && (found == NULL || found->holds != YES))
        if (words[--count].text != NULL && strcasecmp(words[count].text, text) == 0)
            found = &words[count];
    return found;
}

static enum truth has_word(const struct word *words, size_t count, const char *text,
                           enum truth otherwise)
{
    const struct word *found = find_word(words, count, text);

    return found != NULL ? found->holds : otherwise;
}

static void free_words(struct word *words, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        free(words[i].text);
        free(words[i].value);
    }
    free(words);
}

/* Cuts the first word off the text, without its quotes. */
static char *next_word(char **text)
{
    char *word = *text + strspn(*text, " \t"), *end;

    if (*word == '"' || *word == '\'') {
        end = strchr(word + 1, *word);
        word++;
    } else {
        end = word + strcspn(word, " \t");
    }
    if (end == NULL)
        end = word + strlen(word);
    *text = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

/* ${NAME}: of Define, else of the server's environment. */
static const char *value_of(const struct reading *r, const char *name, size_t length)
{
    char wanted_name[64];
    const struct word *defined;
    const char *at;

    if (length >= sizeof wanted_name)
        return NULL;
    memcpy(wanted_name, name, length);
    wanted_name[length] = '\0';
    defined = find_word(r->defined, r->defined_count, wanted_name);
    if (defined != NULL)
        return defined->holds == YES ? defined->value : NULL;
    for (at = r->environment; *at != '\0'; at += strlen(at) + 1)
        if (strncmp(at, wanted_name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* Replaces each ${NAME}. False: one of them is not known, or there is no room. */
static bool expand(const struct reading *r, const char *text, char *to, size_t room)
{
    size_t used = 0;
    const char *end, *value;
    int n;

    for (to[0] = '\0'; *text != '\0'; used += (size_t)n) {
        end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;
        if (end != NULL) {
            value = value_of(r, text + 2, (size_t)(end - text) - 2);
            if (value == NULL)
                return false;
            n = snprintf(to + used, room - used, "%s", value);
            text = end + 1;
        } else {
            n = snprintf(to + used, room - used, "%c", *text++);
        }
        if (n < 0 || (size_t)n >= room - used)
            return false;
    }
    return true;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* "event.c", "mpm_event_module": whether it is the MPM that runs; MAYBE: it is not an MPM. */
static enum truth is_mpm(const struct reading *r, const char *module)
{
    static const char *const mpms[] = { "event", "worker", "prefork", "itk" };
    char file[32], name[48];
    size_t i;

    for (i = 0; i < sizeof mpms / sizeof *mpms; i++) {
        snprintf(file, sizeof file, "%s.c", mpms[i]);
        snprintf(name, sizeof name, "mpm_%s_module", mpms[i]);
        if (strcmp(module, file) == 0 || strcmp(module, name) == 0)
            return strcmp(r->mpm, mpms[i]) == 0 ? YES : NO;
    }
    return MAYBE;
}

/* A module of LoadModule; those that are part of the program are not known here. */
static enum truth has_module(const struct reading *r, const char *module)
{
    size_t n = strlen(module);
    char name[64];

    if (is_mpm(r, module) != MAYBE)
        return is_mpm(r, module);
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, module);
    if (n > 6 && n < sizeof name - 8 && strncmp(module, "mod_", 4) == 0 &&
        strcmp(module + n - 2, ".c") == 0)
        snprintf(name, sizeof name, "%.*s_module", (int)n - 6, module + 4);
    return has_word(r->modules, r->module_count, name, MAYBE);
}

static enum truth evaluate(const struct reading *r, const char *section, char *condition)
{
    bool negated;
    enum truth holds;

    condition[strcspn(condition, "> \t")] = '\0';
    negated = condition[0] == '!';
    condition += negated;
    if (strcasecmp(section, "IfModule") == 0)
        holds = has_module(r, condition);
    else if (strcasecmp(section, "IfDefine") == 0)
        holds = has_word(r->defined, r->defined_count, condition, NO);
    else
        return MAYBE;
    return negated ? (enum truth)(YES - holds) : holds;
}

static void begin_section(struct reading *r, char *text)
{
    char *name = next_word(&text);
    enum truth around = holds_here(r), holds;

    name[strcspn(name, ">")] = '\0';
    if (r->depth == SECTIONS_MAX) {
        r->config->failed = true;
        return;
    }
    holds = evaluate(r, name, text + strspn(text, " \t\""));
    r->holds[r->depth++] = holds < around ? holds : around;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void take_line(void *context, char *text, const char *file, uint64_t line);

/* Include fails where there is no such file, and the server with it: so the file is there. */
static void include(struct reading *r, const char *argument)
{
    char path[2 * MST_CONFIG_PATH_MAX], whole[3 * MST_CONFIG_PATH_MAX];

    if (!expand(r, argument, path, sizeof path)) {
        r->config->failed = true;
        return;
    }
    snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' ? "" : r->root,
             path[0] == '/' ? "" : "/", path);
    mst_config_each_file(r->config, whole, true, take_line, r);
}

static void take_setting(struct reading *r, size_t which, const char *argument, const char *file,
                         uint64_t line)
{
    struct mst_config_setting setting = { .line = line };

    snprintf(setting.name, sizeof setting.name, "%s", wanted[which].name);
    snprintf(setting.file, sizeof setting.file, "%s", file);
    setting.is_doubtful = holds_here(r) != YES || strchr(argument, '$') != NULL ||
                          strlen(argument) >= sizeof setting.value;
    snprintf(setting.value, sizeof setting.value, "%.*s", (int)sizeof setting.value - 1, argument);
    mst_config_keep(r->config, &setting, wanted[which].other);
}

static void take_directive(struct reading *r, const char *name, char *arguments, const char *file,
                           uint64_t line)
{
    char *first = next_word(&arguments);
    size_t i;

    if (strcasecmp(name, "Include") == 0 || strcasecmp(name, "IncludeOptional") == 0)
        include(r, first);
    else if (strcasecmp(name, "LoadModule") == 0)
        add_word(r, &r->modules, &r->module_count, first, "");
    else if (strcasecmp(name, "Define") == 0)
        add_word(r, &r->defined, &r->defined_count, first, next_word(&arguments));
    else if (strcasecmp(name, "UnDefine") == 0)
        r->config->failed = true;   /* rare: which uses are before it is not kept */
    else if (strcasecmp(name, "ServerRoot") == 0)
        snprintf(r->root, sizeof r->root, "%s", first);
    for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcasecmp(name, wanted[i].name) == 0)
            take_setting(r, i, first, file, line);
}

static void take_line(void *context, char *text, const char *file, uint64_t line)
{
    struct reading *r = context;
    char *name;

    if (strncmp(text, "</", 2) == 0) {
        r->depth -= r->depth > 0;
    } else if (text[0] == '<') {
        begin_section(r, text + 1);
    } else if (holds_here(r) != NO) {
        name = next_word(&text);
        take_directive(r, name, text, file, line);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The file that the program has of itself, where it was not told another. */
static void usual_file(struct reading *r, const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;

    if (strcmp(name, "apache2") == 0) {
        snprintf(r->root, sizeof r->root, "/etc/apache2");
        snprintf(r->config->file, sizeof r->config->file, "apache2.conf");
    } else {
        snprintf(r->root, sizeof r->root, "/etc/httpd");
        snprintf(r->config->file, sizeof r->config->file, "conf/httpd.conf");
        if (slash != NULL && strncmp(program, "/usr/sbin/", 10) != 0 && slash - program > 4 &&
            strncmp(slash - 4, "/bin", 4) == 0)
            snprintf(r->root, sizeof r->root, "%.*s", (int)(slash - program) - 4, program);
    }
}

/* Takes an argument of the server; with -f, -d, -D its value, which can be the next one. Returns
 * how many words that was. */
static int take_argument(struct reading *r, const char *word, const char *next, bool *is_usual)
{
    const char *value = word[0] == '-' && word[1] != '\0' && word[2] != '\0' ? word + 2 : next;
    char *to = strncmp(word, "-f", 2) == 0 ? r->config->file :
               strncmp(word, "-d", 2) == 0 ? r->root : NULL;

    if (word[0] != '-' || strchr("fdDkeE", word[1]) == NULL) {
        r->config->failed |= word[0] == '-' && strchr("cC", word[1]) != NULL;
        return 1;
    }
    if (to != NULL)
        snprintf(to, MST_CONFIG_PATH_MAX, "%.*s", (int)MST_CONFIG_PATH_MAX - 1, value);
    else if (word[1] == 'D')
        add_word(r, &r->defined, &r->defined_count, value, "");
    if (strchr("fd", word[1]) != NULL ||
        (word[1] == 'D' && strcmp(value, "FOREGROUND") != 0 && strcmp(value, "NO_DETACH") != 0)) {
        char option[3] = { word[0], word[1], '\0' };

        *is_usual = false;
        mst_config_check_add(r->config, option);
        mst_config_check_add(r->config, value);
    }
    return value == next ? 2 : 1;
}

/* Reads how the server was started. "apachectl configtest" asks the program with its own file. */
static bool read_command(struct reading *r)
{
    char path[64], words[8192], program[MST_CONFIG_PATH_MAX];
    const char *end, *at, *next;
    bool is_usual = true;
    ssize_t n;
    int skip;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/cmdline", r->config->pid);
    n = mst_proc_read(path, words, sizeof words - 1);
    if (n <= 0)
        return false;
    words[n] = '\0';
    end = words + n;
    mst_config_program(r->config->pid, program, sizeof program);
    if (program[0] == '\0')
        snprintf(program, sizeof program, "%.*s", (int)sizeof program - 1, words);
    usual_file(r, program);
    mst_config_check_add(r->config, mst_config_short(program));
    mst_config_check_add(r->config, "-t");
    for (at = words + strlen(words) + 1; at < end; at = next) {
        next = at + strlen(at) + 1;
        skip = take_argument(r, at, next < end ? next : "", &is_usual);
        if (skip == 2 && next < end)
            next += strlen(next) + 1;
    }
    if (is_usual && strcmp(mst_config_short(program), program) != 0)
        snprintf(r->config->check, sizeof r->config->check, "apachectl configtest");
    return true;
}

bool mst_config_parse_httpd(struct mst_config *config, FILE *text, const char *mpm)
{
    struct reading r = { .config = config, .mpm = mpm };

    mst_config_read_lines(config, text, "", true, take_line, &r);
    free_words(r.defined, r.defined_count);
    free_words(r.modules, r.module_count);
    return !config->failed;
}

bool mst_config_read_httpd(struct mst_config *config, uint64_t pid, const char *mpm)
{
    struct reading r = { .config = config, .mpm = mpm };
    char path[64], file[2 * MST_CONFIG_PATH_MAX];

    if (!mst_config_begin(config, pid))
        return false;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/environ", pid);
    mst_proc_read(path, r.environment, sizeof r.environment - 1);
    if (!read_command(&r))
        config->failed = true;
    snprintf(file, sizeof file, "%s%s%s", config->file[0] == '/' ? "" : r.root,
             config->file[0] == '/' ? "" : "/", config->file);
    snprintf(config->file, sizeof config->file, "%.*s", (int)sizeof config->file - 1, file);
    if (!config->failed)
        mst_config_each_line(config, config->file, true, take_line, &r);
    free_words(r.defined, r.defined_count);
    free_words(r.modules, r.module_count);
    return !config->failed;
}

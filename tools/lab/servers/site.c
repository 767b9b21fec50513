/* site.c - works out a stack's variables and files: see site.h. */
#include "lab/servers/site.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/files/paths.h"
#include "lab/servers/scripts.h"
#include "lab/servers/test_users.h"

/* What is being worked out, and from what. */
struct work {
    struct mst_site *site;
    const struct mst_stack *stack;
    const struct mst_workload *workload;
    char *error;
};

/* ---- parameters ------------------------------------------------------------------- */

static bool is_port(const char *name)
{
    size_t i;

    for (i = 0; i < MST_PORTS; i++)
        if (strcmp(name, mst_site_port_names[i]) == 0)
            return true;
    return false;
}

/* Every name that was given is a parameter. */
static int check_given(const struct work *w, const struct mst_parameters *given)
{
    const char *name;
    char known[MST_ERROR_MAX] = "";
    size_t i, k;

    for (i = 0; given != NULL && i < given->count; i++) {
        name = given->items[i].name;
        if (is_port(name) || mst_facts_find(&w->stack->parameters, name) != NULL ||
            mst_facts_find(&w->workload->parameters, name) != NULL)
            continue;
        for (k = 0; k < w->stack->parameters.count + w->workload->parameters.count; k++)
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s",
                     k < w->stack->parameters.count ? w->stack->parameters.items[k].key :
                     w->workload->parameters.items[k - w->stack->parameters.count].key);
        return mst_fail(w->error, "expected a parameter of the stack %s or the workload %s, found "
                        "%.60s; there are: PORT%s", w->stack->name, w->workload->name, name,
                        known);
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------ */

/* Adds a file. No text: why was told. */
static int add_file(const struct work *w, const char *path, const char *text, unsigned mode,
                    int owner)
{
    struct mst_site *site = w->site;
    struct mst_site_file *file;

    if (text == NULL)
        return -1;
    file = mst_pool_append(site->pool, &site->files, &site->file_count, sizeof *file);
    *file = (struct mst_site_file){ apr_pstrdup(site->pool, path), text, mode, owner };
    return 0;
}

static bool has_file(const struct mst_site *site, const char *path)
{
    size_t i;

    for (i = 0; i < site->file_count; i++)
        if (strcmp(site->files[i].path, path) == 0)
            return true;
    return false;
}

static char *expand(const struct work *w, const struct mst_text *text,
                    const struct mst_text_section *section)
{
    return mst_expand(&w->site->variables, text->path, section->line + 1, section->body,
                      w->error);
}

/* A file of stacks/include, as this server sees it. */
static int add_include(const struct work *w, const char *server, const char *name)
{
    char source[PATH_MAX], path[PATH_MAX], data[PATH_MAX], *bytes;
    size_t length;

    mst_data_directory(data);
    if (snprintf(path, sizeof path, "%s/include/%s", server, name) >= PATH_MAX ||
        snprintf(source, sizeof source, "%s/lab/stacks/include/%s", data, name) >= PATH_MAX)
        return mst_fail(w->error, "the path %s is too long", data);
    if (has_file(w->site, path))
        return 0;
    bytes = mst_text_load(w->site->pool, source, &length, w->error);
    if (bytes == NULL)
        return -1;
    return add_file(w, path, mst_expand(&w->site->variables, source, 1, bytes, w->error), 0644,
                    -1);
}

/* Adds the files that this one includes. */
static int add_included(const struct work *w, const char *server, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *directory = mst_parameters_get(&w->site->variables, "INCLUDE");
    size_t length = strlen(directory), n;
    char name[NAME_MAX + 1];
    const char *at;

    for (at = text; (at = strstr(at, directory)) != NULL; at++) {
        if (at[length] != '/')
            continue;
        n = strspn(at + length + 1, plain);
        if (n == 0 || n >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)n, at + length + 1);
        if (add_include(w, server, name) != 0)
            return -1;
    }
    return 0;
}

static const char *configuration_name(const char *kind)
{
    return strcmp(kind, "apache") == 0 ? "httpd.conf" : strcmp(kind, "fpm") == 0 ?
           "php-fpm.conf" : "nginx.conf";
}

/* The server's configuration, and what it includes, what that includes, ... */
static int add_configuration(const struct work *w, const struct mst_text_section *section)
{
    size_t i = w->site->file_count;
    char path[PATH_MAX], include[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", section->name, configuration_name(section->kind));
    snprintf(include, sizeof include, "%s/include", section->name);
    if (mst_site_set_below(w->site, "NAME", section->name, w->error) != 0 ||
        mst_site_set_below(w->site, "INCLUDE", include, w->error) != 0 ||
        add_file(w, path, expand(w, &w->stack->text, section), 0644, -1) != 0)
        return -1;
    for (; i < w->site->file_count; i++)
        if (add_included(w, section->name, w->site->files[i].text) != 0)
            return -1;
    mst_parameters_unset(&w->site->variables, "NAME");
    mst_parameters_unset(&w->site->variables, "INCLUDE");
    return 0;
}

/* mode=0755 owner=TENANT_A */
static int read_words(const struct work *w, const struct mst_text *text,
                      const struct mst_text_section *section, unsigned *mode, int *owner)
{
    const char *word = mst_section_word(section, "mode");
    char *end = NULL;
    unsigned long number = 0644;

    if (word != NULL)
        number = strtoul(word, &end, 8);
    if (word != NULL && (*word == '\0' || *end != '\0' || number > 0777))
        return mst_text_fail(text, section->line, w->error, "expected mode=MODE with a number from "
                             "0000 to 0777, found \"%.60s\"", word);
    *mode = (unsigned)number;
    word = mst_section_word(section, "owner");
    for (*owner = word == NULL ? -1 : 0; *owner >= 0 && *owner < MST_TEST_USERS; (*owner)++)
        if (w->stack->test_users && strcmp(word, mst_test_user_variables[*owner]) == 0)
            return 0;
    if (*owner < 0)
        return 0;
    return mst_text_fail(text, section->line, w->error, "expected owner=TENANT_A or "
                         "owner=TENANT_B, in a stack with tenants = yes, found \"%.60s\"", word);
}

static int add_further_file(const struct work *w, const struct mst_text *text,
                            const struct mst_text_section *section)
{
    unsigned mode = 0;
    int owner = -1;

    if (read_words(w, text, section, &mode, &owner) != 0)
        return -1;
    return add_file(w, section->name, expand(w, text, section), mode, owner);
}

/* ---- scripts ---------------------------------------------------------------------- */

static void put_quoted(FILE *out, const char *value)
{
    fputc('\'', out);
    for (; *value != '\0'; value++)
        if (*value == '\'')
            fputs("'\\''", out);
        else
            fputc(*value, out);
    fputs("'\n", out);
}

/* setup or teardown of the stack or the workload (`of`): its variables, and its body. */
static int add_script(const struct work *w, const struct mst_text *text,
                      const struct mst_text_section *section, const char *of)
{
    char path[64], *body = expand(w, text, section);
    struct mst_stream script;
    size_t i;

    if (body == NULL)
        return -1;
    mst_stream_begin(&script);
    for (i = 0; i < w->site->variables.count; i++) {
        fprintf(script.out, "export %s=", w->site->variables.items[i].name);
        put_quoted(script.out, w->site->variables.items[i].value);
    }
    fputs(body, script.out);
    snprintf(path, sizeof path, MST_SCRIPTS_DIRECTORY "/%s.%s", section->kind, of);
    return add_file(w, path, mst_stream_end(&script, w->site->pool), 0600, -1);
}

/* Files and scripts of the stack or the workload. */
static int add_others(const struct work *w, const struct mst_text *text, const char *of)
{
    const struct mst_text_section *section;
    size_t i;

    for (i = 0; i < text->count; i++) {
        section = &text->sections[i];
        if (strcmp(section->kind, "file") == 0) {
            if (add_further_file(w, text, section) != 0)
                return -1;
        } else if (strcmp(section->kind, "setup") == 0 || strcmp(section->kind, "teardown") == 0) {
            if (add_script(w, text, section, of) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- php.ini ---------------------------------------------------------------------- */

/* The same for every SAPI, so that they can be compared: OPcache, what the workload needs,
 * and our extension. Further settings are in php.d, of a stack's own. */
static int add_php_ini(const struct work *w)
{
    const struct mst_parameters *variables = &w->site->variables;
    const char *extension = mst_parameters_get(variables, "MPMSTAT_EXTENSION");
    struct mst_stream ini;
    FILE *out = mst_stream_begin(&ini);
    char **name;

    fprintf(out, "; The PHP of this stack reads this file, php.d next to it, and nothing else.\n"
            "zend_extension = opcache\n"
            "opcache.enable = 1\n"
            "opcache.memory_consumption = 128\n"
            "; The scripts are new: they are copies. OPcache would not keep them for 2 s.\n"
            "opcache.file_update_protection = 0\n"
            "date.timezone = UTC\n"
            "display_errors = 0\n"
            "log_errors = 1\n"
            "max_execution_time = 300\n"
            "sys_temp_dir = \"%s/tmp\"\n"
            "upload_tmp_dir = \"%s/tmp\"\n"
            "session.save_path = \"%s/tmp\"\n", w->site->root, w->site->root, w->site->root);
    for (name = w->workload->php; *name != NULL; name++)
        fprintf(out, "extension = %s\n", *name);
    if (extension[0] != '\0')
        fprintf(out, "\n; The recording.\nextension = \"%s\"\nmpmstat.board = \"%s/\"\n", extension,
                mst_parameters_get(variables, "BOARDS"));
    return add_file(w, "php.ini", mst_stream_end(&ini, w->site->pool), 0644, -1);
}

/* ---- servers ---------------------------------------------------------------------- */

static int add_server(const struct work *w, const struct mst_text_section *section)
{
    const char *php = mst_parameters_get(&w->site->variables, "PHP_VERSION");
    const char *ini = mst_parameters_get(&w->site->variables, "PHP_INI");
    char directory[PATH_MAX], file[PATH_MAX], log[PATH_MAX], fpm[32];
    struct mst_list argv = { 0 };

    if (snprintf(directory, sizeof directory, "%s/%s", w->site->root, section->name) >= PATH_MAX ||
        snprintf(file, sizeof file, "%s/%s/%s", w->site->root, section->name,
                 configuration_name(section->kind)) >= PATH_MAX ||
        snprintf(log, sizeof log, "%s/%s/error.log", w->site->root, section->name) >= PATH_MAX)
        return mst_fail(w->error, "the path %s is too long", w->site->root);
    snprintf(fpm, sizeof fpm, "php-fpm%s", php);
    if (strcmp(section->kind, "apache") == 0)
        mst_list_add_all(w->site->pool, &argv, (const char *const[]){ "apache2", "-d", directory,
            "-f", file, "-DFOREGROUND", geteuid() == 0 ? "-DROOT" : NULL, NULL });
    else if (strcmp(section->kind, "fpm") == 0)
        mst_list_add_all(w->site->pool, &argv, (const char *const[]){ fpm, "--nodaemonize",
            "--fpm-config", file, "-c", ini, NULL });
    else
        mst_list_add_all(w->site->pool, &argv, (const char *const[]){ "nginx", "-p", directory,
            "-c", file, "-e", log, "-g", "daemon off;", NULL });
    w->site->servers[w->site->server_count++] = (struct mst_site_server){
        .kind = section->kind, .name = section->name, .argv = argv.items,
        .directory = apr_pstrdup(w->site->pool, directory),
    };
    return 0;
}

static int add_servers(const struct work *w)
{
    const struct mst_text *text = &w->stack->text;
    size_t i;

    w->site->servers = apr_pcalloc(w->site->pool, (text->count + 1) * sizeof *w->site->servers);
    for (i = 0; i < text->count; i++)
        if (mst_stack_is_server(&text->sections[i]) &&
            (add_server(w, &text->sections[i]) != 0 ||
             add_configuration(w, &text->sections[i]) != 0))
            return -1;
    return 0;
}

/* ---- all of it -------------------------------------------------------------------- */

/* A fact's value, expanded. NULL: why is told. */
static char *expand_fact(const struct work *w, const struct mst_facts *facts, const char *key)
{
    const struct mst_fact *fact = mst_facts_find(facts, key);

    return mst_expand(&w->site->variables, facts->text->path, fact->line, fact->value, w->error);
}

/* http://127.0.0.1:PORT/path */
static char *url_of(const struct work *w, const char *path)
{
    return apr_pstrcat(w->site->pool, "http://127.0.0.1:",
                       mst_parameters_get(&w->site->variables, "PORT"), path, NULL);
}

static int set_workload(const struct work *w)
{
    char *docroot = expand_fact(w, &w->workload->facts, "docroot"), *path;

    if (docroot == NULL)
        return -1;
    mst_parameters_set(&w->site->variables, "DOCROOT", docroot);
    if ((w->site->expects = expand_fact(w, &w->workload->facts, "expects")) == NULL ||
        (path = expand_fact(w, &w->workload->facts, "url")) == NULL)
        return -1;
    w->site->url = url_of(w, path);
    return 0;
}

static int set_status(const struct work *w)
{
    w->site->status_url = w->stack->status[0] != '\0' ? expand_fact(w, &w->stack->facts, "status")
                                                      : url_of(w, "/mpm-status");
    return w->site->status_url != NULL ? 0 : -1;
}

int mst_site_make(apr_pool_t *pool, struct mst_site *site, const struct mst_stack *stack,
                  const struct mst_workload *workload, const struct mst_parameters *given,
                  const char *root, const unsigned ports[MST_PORTS], char error[MST_ERROR_MAX])
{
    const struct work w = { site, stack, workload, error };

    *site = (struct mst_site){ .pool = pool, .root = root, .variables.pool = pool };
    if (check_given(&w, given) == 0 && mst_site_set_variables(site, stack, ports, error) == 0 &&
        mst_expand_parameters(&site->variables, &workload->parameters, given, error) == 0 &&
        mst_expand_parameters(&site->variables, &stack->parameters, given, error) == 0 &&
        set_workload(&w) == 0 && set_status(&w) == 0 && add_php_ini(&w) == 0 &&
        add_others(&w, &stack->text, "stack") == 0 &&
        add_others(&w, &workload->text, "workload") == 0 && add_servers(&w) == 0)
        return 0;
    return -1;
}

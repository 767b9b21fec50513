/* stack.c - reads stacks and workloads: see stack.h. */
#include "lab/files/stack.h"

#include <string.h>

#include "lab/files/paths.h"

static const char *const server_kinds[] = { "apache", "fpm", "nginx", NULL };

static bool is_among(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

bool mst_stack_is_server(const struct mst_text_section *section)
{
    return is_among(section->kind, server_kinds);
}

bool mst_stack_has_board(const char *kind)
{
    static const char *const with_boards[] = { "apache", "fpm", NULL };

    return is_among(kind, with_boards);
}

/* Reads the file of a stack or workload. Returns its name, or NULL with a sentence. */
static char *read_text(apr_pool_t *pool, struct mst_text *text, const char *name,
                       const char *suffix, const char *beside, char error[MST_ERROR_MAX])
{
    char path[PATH_MAX];

    if (mst_lab_file(name, suffix, beside, path, error) != 0 ||
        mst_text_read(pool, text, path, error) != 0)
        return NULL;
    return mst_lab_name(pool, path);
}

/* ---- sections --------------------------------------------------------------------- */

/* A server's name is a directory's; a file's path stays below its root. */
static int check_name(const struct mst_text *text, const struct mst_text_section *section,
                      char error[MST_ERROR_MAX])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *name = section->name;
    const struct mst_text_section *first = mst_text_find(text, section->kind, name);

    if (mst_stack_is_server(section)) {
        if (name[0] == '\0' || name[strspn(name, plain)] != '\0')
            return mst_text_fail(text, section->line, error, "expected %%%% %s NAME with a name of "
                                 "small letters, digits, - and _, found \"%.60s\"",
                                 section->kind, name);
    } else if (strcmp(section->kind, "file") == 0) {
        if (name[0] == '\0' || name[0] == '/' || strstr(name, "..") != NULL)
            return mst_text_fail(text, section->line, error, "expected %%%% file PATH with a path "
                                 "below ${ROOT}, without .., found \"%.60s\"", name);
    } else if (name[0] != '\0') {
        return mst_text_fail(text, section->line, error, "expected nothing after %%%% %s, found "
                             "\"%.60s\"", section->kind, name);
    }
    if (first != section)
        return mst_text_fail(text, section->line, error, "expected one section %s %s, found a "
                             "second: the first is in line %u", section->kind, name, first->line);
    return 0;
}

/* Two servers with the same name would share a directory. */
static int check_server_names(const struct mst_text *text, char error[MST_ERROR_MAX])
{
    size_t i, k;

    for (i = 0; i < text->count; i++)
        for (k = 0; k < i && mst_stack_is_server(&text->sections[i]); k++)
            if (mst_stack_is_server(&text->sections[k]) &&
                strcmp(text->sections[i].name, text->sections[k].name) == 0)
                return mst_text_fail(text, text->sections[i].line, error, "expected a name that no "
                                     "other server has, found \"%.60s\" as in line %u",
                                     text->sections[i].name, text->sections[k].line);
    return 0;
}

static int check_words(const struct mst_text *text, const struct mst_text_section *section,
                       char error[MST_ERROR_MAX])
{
    const char *word;
    size_t i;

    for (i = 2; i < section->word_count; i++) {
        word = section->words[i];
        if (strcmp(section->kind, "file") == 0 &&
            (strncmp(word, "mode=", 5) == 0 || strncmp(word, "owner=", 6) == 0))
            continue;
        return mst_text_fail(text, section->line, error, "expected %s, found \"%.60s\"",
                             strcmp(section->kind, "file") == 0 ?
                             "mode=MODE or owner=USER after a file's path" :
                             "nothing after the name", word);
    }
    return 0;
}

/* `first` is the section that there must be. */
static int check_sections(const struct mst_text *text, const char *first,
                          const char *const *kinds, const char *kinds_text,
                          char error[MST_ERROR_MAX])
{
    const struct mst_text_section *section;
    size_t i;

    if (mst_text_find(text, first, NULL) == NULL)
        return mst_fail(error, "%s: expected a section %%%% %s, found none", text->path, first);
    for (i = 0; i < text->count; i++) {
        section = &text->sections[i];
        if (!is_among(section->kind, kinds))
            return mst_text_fail(text, section->line, error, "expected a section of %s, found "
                                 "\"%.60s\"", kinds_text, section->kind);
        if (check_name(text, section, error) != 0 || check_words(text, section, error) != 0)
            return -1;
    }
    return check_server_names(text, error);
}

/* The facts of a section; none where there is no such section. */
static int read_facts(struct mst_facts *facts, const struct mst_text *text, const char *kind,
                      char error[MST_ERROR_MAX])
{
    const struct mst_text_section *section = mst_text_find(text, kind, NULL);

    if (section != NULL)
        return mst_facts_read(facts, text, section, error);
    *facts = (struct mst_facts){ .text = text };
    return 0;
}

static int read_list(char ***list, const struct mst_facts *facts, const char *key,
                     char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = mst_facts_find(facts, key);
    size_t count;

    *list = mst_words_split(facts->text->pool, fact != NULL ? fact->value : "", &count);
    if (*list != NULL)
        return 0;
    return mst_text_fail(facts->text, fact != NULL ? fact->line : facts->line, error,
                         "expected words after %s =, found a quote that does not end", key);
}

/* ---- a stack ---------------------------------------------------------------------- */

static int take_stack_facts(struct mst_stack *s, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = { "title", "family", "needs", "serves", "root", "tenants",
                                        "status", NULL };

    if (mst_facts_expect(&s->facts, keys, error) != 0 ||
        (s->title = mst_facts_need(&s->facts, "title", error)) == NULL ||
        mst_facts_need(&s->facts, "serves", error) == NULL ||
        read_list(&s->needs, &s->facts, "needs", error) != 0 ||
        read_list(&s->serves, &s->facts, "serves", error) != 0 ||
        mst_facts_flag(&s->facts, "root", &s->root, error) != 0 ||
        mst_facts_flag(&s->facts, "tenants", &s->test_users, error) != 0)
        return -1;
    s->family = mst_facts_value(&s->facts, "family", "");
    s->status = mst_facts_value(&s->facts, "status", "");
    s->root |= s->test_users;
    return 0;
}

static int parse_stack(struct mst_stack *s, char error[MST_ERROR_MAX])
{
    static const char *const kinds[] = { "stack", "parameters", "apache", "fpm", "nginx", "file",
                                         "setup", "teardown", NULL };
    size_t i;

    if (check_sections(&s->text, "stack", kinds, "stack, parameters, apache, fpm, nginx, file, "
                       "setup or teardown", error) != 0 ||
        read_facts(&s->facts, &s->text, "stack", error) != 0 ||
        read_facts(&s->parameters, &s->text, "parameters", error) != 0 ||
        take_stack_facts(s, error) != 0)
        return -1;
    for (i = 0; i < s->text.count; i++)
        if (mst_stack_is_server(&s->text.sections[i]))
            return 0;
    return mst_fail(error, "%s: expected a server (%%%% apache NAME, %%%% fpm NAME or "
                    "%%%% nginx NAME), found none", s->text.path);
}

struct mst_stack *mst_stack_read(apr_pool_t *pool, const char *name, const char *beside,
                                 char error[MST_ERROR_MAX])
{
    struct mst_stack *s = apr_pcalloc(pool, sizeof *s);

    s->name = read_text(pool, &s->text, name, "stack", beside, error);
    return s->name != NULL && parse_stack(s, error) == 0 ? s : NULL;
}

/* ---- a workload ------------------------------------------------------------------- */

static int take_workload_facts(struct mst_workload *w, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = { "title", "kind", "docroot", "url", "expects", "needs",
                                        "php", NULL };

    if (mst_facts_expect(&w->facts, keys, error) != 0 ||
        (w->title = mst_facts_need(&w->facts, "title", error)) == NULL ||
        (w->kind = mst_facts_need(&w->facts, "kind", error)) == NULL ||
        mst_facts_need(&w->facts, "docroot", error) == NULL ||
        (w->url = mst_facts_need(&w->facts, "url", error)) == NULL ||
        (w->expects = mst_facts_need(&w->facts, "expects", error)) == NULL ||
        read_list(&w->needs, &w->facts, "needs", error) != 0 ||
        read_list(&w->php, &w->facts, "php", error) != 0)
        return -1;
    if (w->url[0] == '/')
        return 0;
    return mst_text_fail(&w->text, mst_facts_find(&w->facts, "url")->line, error, "expected a path "
                         "that begins with /, found \"%.60s\"", w->url);
}

static int parse_workload(struct mst_workload *w, char error[MST_ERROR_MAX])
{
    static const char *const kinds[] = { "workload", "parameters", "file", "setup", "teardown",
                                         NULL };

    if (check_sections(&w->text, "workload", kinds, "workload, parameters, file, setup or "
                       "teardown", error) != 0 ||
        read_facts(&w->facts, &w->text, "workload", error) != 0 ||
        read_facts(&w->parameters, &w->text, "parameters", error) != 0)
        return -1;
    return take_workload_facts(w, error);
}

struct mst_workload *mst_workload_read(apr_pool_t *pool, const char *name, const char *beside,
                                       char error[MST_ERROR_MAX])
{
    struct mst_workload *w = apr_pcalloc(pool, sizeof *w);

    w->name = read_text(pool, &w->text, name, "workload", beside, error);
    return w->name != NULL && parse_workload(w, error) == 0 ? w : NULL;
}

int mst_stack_serves(const struct mst_stack *s, const struct mst_workload *w,
                     char error[MST_ERROR_MAX])
{
    if (is_among(w->kind, (const char *const *)s->serves))
        return 0;
    return mst_fail(error, "the stack %s serves %s, and the workload %s is %s: choose another of "
                    "the two (mpmstat lab list)", s->name,
                    mst_facts_value(&s->facts, "serves", ""), w->name, w->kind);
}

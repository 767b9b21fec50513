/* component.c - the part of an application that a file belongs to: see component.h. */
#include "read/component.h"

#include <stdio.h>
#include <string.h>

static const struct rule {
    const char *path, *shown;
    unsigned    depth;
    bool        is_base;
} rules[] = {
#define MST_COMPONENT(path, shown, depth, is_base) { path, shown, depth, is_base },
#define MST_COMPONENT_ELSE(path)
#include "read/component.def"
#undef MST_COMPONENT
#undef MST_COMPONENT_ELSE
};
static const char *const else_rules[] = {
#define MST_COMPONENT(path, shown, depth, is_base)
#define MST_COMPONENT_ELSE(path) path,
#include "read/component.def"
#undef MST_COMPONENT
#undef MST_COMPONENT_ELSE
};

/* Where the path of a rule is in a file's, at a part's beginning; NULL: nowhere. */
static const char *find(const char *file, const char *path)
{
    const char *at = file;

    while ((at = strstr(at, path)) != NULL && at != file && at[-1] != '/')
        at++;
    return at;
}

/* How long the first `depth` parts of a path are. */
static int length_of(const char *path, unsigned depth)
{
    const char *end = path;

    while (depth > 0 && *end != '\0') {
        end += strcspn(end, "/");
        if (--depth > 0 && *end == '/')
            end++;
    }
    return (int)(end - path);
}

static void take_directory(struct mst_component *c, const char *file)
{
    const char *slash = strrchr(file, '/');

    snprintf(c->name, sizeof c->name, "%.*s", slash != NULL ? (int)(slash - file) : 0, file);
    if (slash == file)
        snprintf(c->name, sizeof c->name, "/");
}

/* False: no line is for layouts like that. */
static bool take_layout(struct mst_component *c, const char *file)
{
    const char *at;
    size_t i, path;
    int name;

    for (i = 0; i < sizeof else_rules / sizeof *else_rules; i++) {
        at = find(file, else_rules[i]);
        path = strlen(else_rules[i]);
        name = at != NULL ? length_of(at + path, 1) : 0;
        if (name > 0 && at[path + (size_t)name] == '/') {
            snprintf(c->name, sizeof c->name, "%s%.*s", else_rules[i], name, at + path);
            return true;
        }
    }
    return false;
}

void mst_component_of(struct mst_component *component, const char *file)
{
    const struct rule *found = NULL;
    const char *first = NULL, *at;
    size_t i;

    memset(component, 0, sizeof *component);
    for (i = 0; i < sizeof rules / sizeof *rules; i++) {
        at = find(file, rules[i].path);
        if (at != NULL && (first == NULL || at < first)) {
            found = &rules[i];
            first = at;
        }
    }
    if (found == NULL) {
        if (!take_layout(component, file))
            take_directory(component, file);
        return;
    }
    first += strlen(found->path);
    component->is_base = found->is_base;
    snprintf(component->name, sizeof component->name, "%s%.*s", found->shown,
             length_of(first, found->depth), first);
}

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
#include "read/component.def"
#undef MST_COMPONENT
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
        take_directory(component, file);
        return;
    }
    first += strlen(found->path);
    component->is_base = found->is_base;
    snprintf(component->name, sizeof component->name, "%s%.*s", found->shown,
             length_of(first, found->depth), first);
}

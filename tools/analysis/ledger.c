/* ledger.c - what a prediction is of: see ledger.h. */
#include "analysis/ledger.h"

#include <stdio.h>
#include <string.h>

/* Whether all of the text is there. */
static bool set(char *to, size_t size, const char *text)
{
    return (size_t)snprintf(to, size, "%s", text != NULL ? text : "") < size;
}

bool mst_ledger_add_setting(struct mst_ledger_entry *e, const char *section, const char *name,
                            const char *value)
{
    struct mst_ledger_setting *s = &e->settings[e->setting_count];

    if (e->setting_count == MST_LEDGER_SETTINGS || !set(s->section, sizeof s->section, section) ||
        !set(s->name, sizeof s->name, name) || !set(s->value, sizeof s->value, value))
        return false;
    e->setting_count++;
    return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

bool mst_ledger_is_bound(const char *name)
{
    static const char *const bounds[] = { "ServerLimit", "ThreadLimit", "process.max",
                                          "process_max", NULL };

    return is_one_of(name, bounds);
}

bool mst_ledger_is_limit(const char *name)
{
    static const char *const limits[] = { "MaxRequestWorkers", "MaxClients", "pm.max_children",
                                          NULL };

    return is_one_of(name, limits);
}

bool mst_ledger_are_same(const struct mst_ledger_entry *a, const struct mst_ledger_entry *b)
{
    size_t i;

    if (a->setting_count != b->setting_count)
        return false;
    for (i = 0; i < a->setting_count; i++)
        if (strcmp(a->settings[i].section, b->settings[i].section) != 0 ||
            strcmp(a->settings[i].name, b->settings[i].name) != 0 ||
            strcmp(a->settings[i].value, b->settings[i].value) != 0)
            return false;
    return true;
}

/* changes_json.c - settings to change, for programs: see changes_json.h. */
#include "report/changes_json.h"

static void put_setting(struct mst_json *j, const struct mst_setting *s)
{
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", s->name);
    mst_json_string(j, "section", s->section[0] != '\0' ? s->section : NULL);
    mst_json_string(j, "file", s->file[0] != '\0' ? s->file : NULL);
    mst_json_count(j, "line", s->line);
    mst_json_string(j, "now", s->now);
    mst_json_string(j, "to", s->to);
    mst_json_end(j, '}');
}

void mst_changes_json(struct mst_json *j, const struct mst_changes *change)
{
    size_t i;

    mst_json_begin(j, "settings", '[');
    for (i = 0; i < change->count; i++)
        put_setting(j, &change->settings[i]);
    mst_json_end(j, ']');
    mst_json_string(j, "check", change->count > 0 && change->check[0] != '\0' ? change->check
                                                                             : NULL);
    if (change->count > 0)
        mst_json_bool(j, "restart", change->restart);
    else
        mst_json_string(j, "restart", NULL);
}

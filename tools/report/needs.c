/* needs.c - tables of what several servers need of workers: see needs.h. */
#include "report/needs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/saturate.h"
#include "doc/table.h"
#include "report/changes_json.h"

#define NAME_MAX     256u

/* What people read of a need. */
struct row {
    char name[NAME_MAX];
    char wanted[48], enough[32], advised[32];   /* "20", "more than 9", "as it is" */
    const char *bound;
};

static const char *const bounds[MST_BOUND_COUNT] = {
    [MST_BOUND_NONE] = "nothing", [MST_BOUND_LIMIT] = "this limit",
    [MST_BOUND_CPU] = "the CPUs", [MST_BOUND_ONE_BY_ONE] = "one request at a time",
    [MST_BOUND_MEMORY] = "memory", [MST_BOUND_PHP] = "PHP's workers",
    [MST_BOUND_KEEPALIVE] = "idle connections",
};

/* The limit, or where that is not known what was seen. */
static uint64_t has_now(const struct mst_need *need)
{
    return need->limit != MST_UNKNOWN ? need->limit : need->max_busy;
}

/* Whether more workers are advised than there are. */
static bool changes(const struct mst_need *need)
{
    return need->why_not == NULL &&
           (need->advised == MST_UNKNOWN || need->advised > has_now(need));
}

static void say_advised(char *text, size_t size, const struct mst_need *need)
{
    if (need->why_not != NULL)
        snprintf(text, size, "-");
    else if (!changes(need))
        snprintf(text, size, "as it is");
    else if (need->advised != MST_UNKNOWN)
        snprintf(text, size, "%" PRIu64, need->advised);
    else
        snprintf(text, size, "more");
}

/* Of workers that ran out it is the limit to set. */
static void say_enough(char *text, size_t size, const struct mst_need *need)
{
    uint64_t enough = need->ran_out ? need->advised : need->enough;

    snprintf(text, size, "%s", need->why_not != NULL || enough == MST_UNKNOWN ? "-" :
                               mst_format_count(enough).text);
}

static struct row row_of(const struct mst_need *need)
{
    const char *called = mst_summary_called(need->server);
    struct row row;

    snprintf(row.name, sizeof row.name, "%s%s%s", called, need->pool != NULL ? " " : "",
             need->pool != NULL ? need->pool->label : "");
    snprintf(row.wanted, sizeof row.wanted, "%s%s",
             need->wanted == MST_UNKNOWN && need->why_not == NULL ? "more than " : "",
             mst_format_count(need->wanted != MST_UNKNOWN || need->why_not != NULL ?
                              need->wanted : has_now(need)).text);
    say_enough(row.enough, sizeof row.enough, need);
    say_advised(row.advised, sizeof row.advised, need);
    row.bound = need->why_not != NULL ? "cannot tell" : bounds[need->bound];
    return row;
}

/* All of a directive together; what one of them does not tell is not known. */
static struct mst_need sum_of(const struct mst_summary *s, bool php, size_t *count)
{
    struct mst_need all = { 0 };
    size_t i;

    *count = 0;
    for (i = 0; i < s->need_count; i++) {
        const struct mst_need *one = &s->needs[i];

        if (mst_summary_is_php(one->server) != php)
            continue;
        (*count)++;
        all.directive = one->directive;
        all.limit = mst_add_saturated(all.limit, one->limit);
        all.wanted = mst_add_saturated(all.wanted, one->wanted);
        all.memory_bytes = mst_add_saturated(all.memory_bytes, one->memory_bytes);
    }
    return all;
}

/* "" where all fit, or it is not known. */
static void say_room(char *text, size_t size, const struct mst_summary *s)
{
    text[0] = '\0';
    if (s->room_bytes != MST_UNKNOWN && s->needs_bytes > s->room_bytes)
        snprintf(text, size, "The servers on this machine would take %s together. 80 %% of its "
                 "memory is %s: not all of them can have what their load wanted.",
                 mst_format_bytes(s->needs_bytes).text, mst_format_bytes(s->room_bytes).text);
}

static void put_need(struct mst_doc_table *t, const struct mst_need *need)
{
    const struct row row = row_of(need);

    mst_doc_row(t, need->ran_out ? MST_STYLE_WARNING : MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", row.name);
    mst_doc_number(t, need->limit);
    mst_doc_number(t, need->max_busy);
    mst_doc_words(t, "%s", row.wanted);
    mst_doc_words(t, "%s", row.enough);
    mst_doc_number(t, need->memory_bytes);
    mst_doc_words(t, "%s", row.advised);
    mst_doc_words(t, "%s", row.bound);
    if (need->why_not != NULL)
        mst_doc_note(t, "%s", need->why_not);
}

static void put_group(struct mst_doc_table *t, const struct mst_summary *s, bool php)
{
    size_t count, i;
    const struct mst_need all = sum_of(s, php, &count);

    if (count == 0)
        return;
    mst_doc_group(t, all.directive);
    for (i = 0; i < s->need_count; i++)
        if (mst_summary_is_php(s->needs[i].server) == php)
            put_need(t, &s->needs[i]);
    if (count < 2)
        return;
    mst_doc_row(t, MST_STYLE_STRONG);
    mst_doc_words(t, "all %zu together", count);
    mst_doc_known(t, all.limit);
    mst_doc_blank(t);
    mst_doc_known(t, all.wanted);
    mst_doc_blank(t);
    mst_doc_known(t, all.memory_bytes);
}

void mst_needs_put(const struct mst_doc *doc, const struct mst_summary *s)
{
    static const struct mst_doc_column columns[] = {
        { "server", .kind = MST_DOC_NAME },
        { "limit", "now", "limit", .quantity = MST_QUANTITY_COUNT },
        { "busy", "at most", "busy, most", .quantity = MST_QUANTITY_COUNT },
        { "wanted", .quantity = MST_QUANTITY_COUNT },
        { "enough", .quantity = MST_QUANTITY_COUNT },
        { "memory", "for wanted", "memory", .quantity = MST_QUANTITY_BYTES },
        { "set to", .quantity = MST_QUANTITY_COUNT },
        { "bounded by", .kind = MST_DOC_WORDS },
    };
    struct mst_doc_table t;
    char room[256];

    if (s->need_count == 0)
        return;
    mst_doc_explain(doc, "Of each server: how many workers its requests wanted at once, those that "
                    "waited included (where none did: how many were busy at most), how many are "
                    "enough for this load where the other workers do not run out (simulated), the "
                    "limit to set, and what bounds it.");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    put_group(&t, s, false);
    put_group(&t, s, true);
    mst_doc_table_end(&t, doc, "Sizing of each server", "needs");
    mst_doc_space(doc);
    say_room(room, sizeof room, s);
    mst_doc_paragraph(doc, MST_STYLE_WARNING, "%s", room);
    mst_doc_paragraph(doc, MST_STYLE_PLAIN, "In detail, of %s, which had most requests:",
                      mst_summary_called(mst_summary_front(s)));
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_json_bool(struct mst_json *j, const char *key, const struct mst_need *need)
{
    if (need->why_not != NULL)
        mst_json_string(j, key, NULL);
    else
        mst_json_bool(j, key, need->ran_out);
}

static void put_json_need(struct mst_json *j, const struct mst_need *need)
{
    mst_json_line(j, 2);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "server", mst_summary_called(need->server));
    mst_json_string(j, "pool", need->pool != NULL ? need->pool->label : NULL);
    mst_json_string(j, "directive", need->directive);
    mst_json_count(j, "limit", need->limit);
    mst_json_count(j, "max_busy", need->max_busy);
    put_json_bool(j, "ran_out", need);
    mst_json_count(j, "wanted", need->wanted);
    mst_json_count(j, "enough", need->enough);
    mst_json_count(j, "advised", need->advised);
    mst_json_count(j, "memory_bytes", need->memory_bytes);
    mst_json_string(j, "bound", mst_bound_names[need->bound]);
    mst_json_string(j, "action", need->action[0] != '\0' ? need->action : NULL);
    mst_changes_json(j, &need->changes);
    mst_json_string(j, "predicted", need->predicted[0] != '\0' ? need->predicted : NULL);
    mst_json_string(j, "why_not", need->why_not);
    mst_json_end(j, '}');
}

void mst_needs_json(struct mst_json *j, const struct mst_summary *s)
{
    size_t i;

    if (s->need_count == 0)
        return;
    mst_json_line(j, 1);
    mst_json_begin(j, "sizing", '[');
    for (i = 0; i < s->need_count; i++)
        put_json_need(j, &s->needs[i]);
    mst_json_end(j, ']');
}

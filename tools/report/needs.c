/* needs.c - tables of what several servers need of workers: see needs.h. */
#include "report/needs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/saturate.h"
#include "console/format.h"
#include "report/changes_json.h"
#include "report/lines.h"
#include "report/markup.h"
#include "report/page.h"

#define NAME_MAX     256u
#define NAME_COLUMN  77u
#define NAME_COLUMN_MOST (MST_TEXT_WIDTH - 10)
#define WHY_INDENT   6u

/* What people read of a need. */
struct row {
    char name[NAME_MAX];
    char wanted[48], advised[32];   /* "20", "more than 9", "as it is" */
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

/* ---- text ------------------------------------------------------------------------ */

/* A figure that is too long for its column moves what is right of it. */
static void put_text_line(struct mst_sink *sink, enum mst_style style, const char *const cells[6],
                          const char *name)
{
    char figures[256];
    size_t used;

    snprintf(figures, sizeof figures, "  %6s%12s%14s%9s%9s  %s", cells[0], cells[1], cells[2],
             cells[3], cells[4], cells[5]);
    used = strlen(figures) + 1;
    used = used < NAME_COLUMN ? NAME_COLUMN : used < NAME_COLUMN_MOST ? used : NAME_COLUMN_MOST;
    mst_wrapped_styled(sink, style, figures, (unsigned)used, MST_TEXT_WIDTH, name);
}

static void put_text_need(struct mst_sink *sink, const struct mst_need *need)
{
    const struct row row = row_of(need);
    const struct mst_formatted limit = mst_format_count(need->limit);
    const struct mst_formatted busy = mst_format_count(need->max_busy);
    const struct mst_formatted memory = mst_format_bytes(need->memory_bytes);
    const char *const cells[] = { limit.text, busy.text, row.wanted, memory.text, row.advised,
                                  row.bound };
    char why[256];

    put_text_line(sink, need->ran_out ? MST_STYLE_WARNING : MST_STYLE_PLAIN, cells, row.name);
    if (need->why_not != NULL) {
        snprintf(why, sizeof why, "Cannot tell: %s.", need->why_not);
        mst_wrapped(sink, "", WHY_INDENT, MST_TEXT_WIDTH, why);
    }
}

static void put_text_table(struct mst_sink *sink, const struct mst_summary *s, bool php)
{
    static const char *const heads[] = { "limit", "busy, most", "wanted", "memory", "set to",
                                         "bounded by" };
    size_t count, i;
    const struct mst_need all = sum_of(s, php, &count);
    const struct mst_formatted limit = mst_format_count(all.limit);
    const struct mst_formatted wanted = mst_format_count(all.wanted);
    const struct mst_formatted memory = mst_format_bytes(all.memory_bytes);
    const char *const cells[] = { limit.text, "", wanted.text, memory.text, "", "" };
    char name[64];

    if (count == 0)
        return;
    mst_line(sink, "  %s of each server", all.directive);
    put_text_line(sink, MST_STYLE_PLAIN, heads, "server");
    for (i = 0; i < s->need_count; i++)
        if (mst_summary_is_php(s->needs[i].server) == php)
            put_text_need(sink, &s->needs[i]);
    snprintf(name, sizeof name, "all %zu together", count);
    if (count > 1)
        put_text_line(sink, MST_STYLE_STRONG, cells, name);
    mst_sink_char(sink, '\n');
}

void mst_needs_text(struct mst_sink *sink, const struct mst_summary *s)
{
    char room[256], whose[256];

    if (s->need_count == 0)
        return;
    put_text_table(sink, s, false);
    put_text_table(sink, s, true);
    say_room(room, sizeof room, s);
    mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, room);
    snprintf(whose, sizeof whose, "The arithmetic of %s, which had most requests:",
             mst_summary_called(mst_summary_front(s)));
    mst_wrapped(sink, "", 2, MST_TEXT_WIDTH, whose);
}

/* ---- Markdown -------------------------------------------------------------------- */

static void put_markdown_table(struct mst_sink *sink, const struct mst_summary *s, bool php,
                               const char *title)
{
    size_t count, i;
    const struct mst_need all = sum_of(s, php, &count);

    if (count == 0)
        return;
    mst_markdown(sink, "%s of each server, %s:\n\n"
                 "| server | limit | busy, most | wanted | memory for that | set to "
                 "| bounded by |\n"
                 "|---|--:|--:|--:|--:|--:|---|\n", all.directive, title);
    for (i = 0; i < s->need_count; i++) {
        const struct mst_need *need = &s->needs[i];
        const struct row row = row_of(need);

        if (mst_summary_is_php(need->server) == php)
            mst_markdown(sink, "| %s | %s | %s | %s | %s | %s | %s%s%s |\n", row.name,
                         mst_format_count(need->limit).text, mst_format_count(need->max_busy).text,
                         row.wanted, mst_format_bytes(need->memory_bytes).text, row.advised,
                         row.bound, need->why_not != NULL ? ": " : "", need->why_not);
    }
    if (count > 1)
        mst_markdown(sink, "| **all %zu together** | %s | | %s | %s | | |\n", count,
                     mst_format_count(all.limit).text, mst_format_count(all.wanted).text,
                     mst_format_bytes(all.memory_bytes).text);
    mst_markdown(sink, "\n");
}

void mst_needs_markdown(struct mst_sink *sink, const struct mst_summary *s, const char *title)
{
    char room[256];

    if (s->need_count == 0)
        return;
    put_markdown_table(sink, s, false, title);
    put_markdown_table(sink, s, true, title);
    say_room(room, sizeof room, s);
    if (room[0] != '\0')
        mst_markdown(sink, "%s\n\n", room);
    mst_markdown(sink, "The arithmetic for %s is that of %s, which had most requests.\n\n", title,
                 mst_summary_called(mst_summary_front(s)));
}

/* ---- HTML ------------------------------------------------------------------------ */

/* A dash for what is not known: the report says elsewhere why memory is not. */
static void put_html_cell(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value)
{
    if (value != MST_UNKNOWN)
        mst_page_cell(sink, unit, value);
    else
        mst_html(sink, "<td class=\"unknown\">–</td>");
}

static void put_html_need(struct mst_sink *sink, const struct mst_need *need)
{
    const struct row row = row_of(need);

    mst_html(sink, "<tr><th scope=\"row\">%s</th>", row.name);
    put_html_cell(sink, MST_METRIC_COUNT, need->limit);
    put_html_cell(sink, MST_METRIC_COUNT, need->max_busy);
    if (need->wanted == MST_UNKNOWN && need->why_not == NULL)
        mst_html(sink, "<td><small>more than</small>%s</td>",
                 mst_format_count(has_now(need)).text);
    else
        put_html_cell(sink, MST_METRIC_COUNT, need->wanted);
    put_html_cell(sink, MST_METRIC_BYTES, need->memory_bytes);
    mst_html(sink, changes(need) && need->ran_out ? "<td><strong>%s</strong></td>" :
                                                    "<td>%s</td>", row.advised);
    mst_html(sink, "<td class=\"text\">%s", row.bound);
    if (need->why_not != NULL)
        mst_html(sink, "<small>%s</small>", need->why_not);
    mst_html(sink, "</td></tr>\n");
}

static void put_html_sum(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value)
{
    if (value != MST_UNKNOWN)
        mst_page_cell(sink, unit, value);
    else
        mst_html(sink, "<td></td>");
}

static void put_html_group(struct mst_sink *sink, const struct mst_summary *s, bool php)
{
    size_t count, i;
    const struct mst_need all = sum_of(s, php, &count);

    if (count == 0)
        return;
    mst_page_group(sink, all.directive, 6);
    for (i = 0; i < s->need_count; i++)
        if (mst_summary_is_php(s->needs[i].server) == php)
            put_html_need(sink, &s->needs[i]);
    if (count < 2)
        return;
    mst_html(sink, "<tr><th scope=\"row\"><strong>all %zu together</strong></th>", count);
    put_html_sum(sink, MST_METRIC_COUNT, all.limit);
    mst_html(sink, "<td></td>");
    put_html_sum(sink, MST_METRIC_COUNT, all.wanted);
    put_html_sum(sink, MST_METRIC_BYTES, all.memory_bytes);
    mst_html(sink, "<td></td><td></td></tr>\n");
}

void mst_needs_html(struct mst_sink *sink, const struct mst_summary *s)
{
    char room[256];

    if (s->need_count == 0)
        return;
    mst_html(sink, "<p>Of each server: how many workers its requests wanted at once, those that "
             "waited included (where none did: as many as arrivals at random need), the limit to "
             "set, and what bounds it.</p>\n");
    mst_page_table(sink, "Sizing of each server", "needs");
    mst_html(sink, "<thead><tr><th scope=\"col\">server</th>"
             "<th scope=\"col\">limit<small>now</small></th>"
             "<th scope=\"col\">busy<small>at most</small></th><th scope=\"col\">wanted</th>"
             "<th scope=\"col\">memory<small>for that</small></th><th scope=\"col\">set to</th>"
             "<th scope=\"col\" class=\"text\">bounded by</th></tr></thead><tbody>\n");
    put_html_group(sink, s, false);
    put_html_group(sink, s, true);
    mst_html(sink, MST_PAGE_TABLE_END);
    say_room(room, sizeof room, s);
    if (room[0] != '\0')
        mst_html(sink, "<p class=\"warning\">%s</p>\n", room);
    mst_html(sink, "<p>The arithmetic of %s, which had most requests:</p>\n",
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

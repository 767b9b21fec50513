/* rows.c - the lists of the view: see rows.h. */
#include "top/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "console/format.h"

#define REST MST_TOP_COLUMNS_MAX   /* as many columns as the line has left */
#define USUAL_WIDTH   80u
#define LABEL_NAME    18u
#define LABEL_COLUMNS "%10s %6s %7s %8s %8s %6s %6s"
#define END_NAME      28u
#define END_COLUMNS   " %8s %9s %8s %8s"

static const char *const orders[MST_TOP_LISTS][MST_TOP_ORDERS] = {
    { "longest", "longest wait", "label", "state" },
    { "in flight", "rate", "slowest", "name" },
    { "at once", "rate", "slowest", "name" },
};

/* ---- collecting ---------------------------------------------------------------------------- */

static bool passes(const struct mst_top_view *view, const char *text)
{
    return view->filter[0] == '\0' || strcasestr(text, view->filter) != NULL;
}

static void add_row(struct mst_top_rows *rows, struct mst_top_row row)
{
    if (mst_grow(&rows->items, &rows->room, rows->count, sizeof *rows->items))
        rows->items[rows->count++] = row;
}

/* Of the long requests those in PHP come first, which tell what they wait for; Apache's in front of
 * them are as long. */
static uint64_t rank_of(const struct mst_present_worker *r, bool is_php)
{
    return mst_known(r->busy_ns) < MST_STUCK_NS ? 0 : is_php ? 2 : 1;
}

static void add_request(struct mst_top_rows *rows, const struct mst_top_view *view, size_t server,
                        const struct mst_present_worker *r, bool is_php)
{
    struct mst_top_row row = { server, r, rank_of(r, is_php), mst_known(r->busy_ns), "" };
    char pid[24];

    snprintf(pid, sizeof pid, "%llu", (unsigned long long)r->pid);
    if (!passes(view, r->label) && !passes(view, r->path) && !passes(view, r->state) &&
        !passes(view, r->wait) && !passes(view, r->wait_end) &&
        !passes(view, r->code.function) && !passes(view, r->code.component) && !passes(view, pid))
        return;
    switch (view->order[MST_TOP_IN_FLIGHT]) {
    case 1: row.key = mst_known(r->wait_ns); break;
    case 2: row.key = 0; row.name = r->label; break;
    case 3: row.key = 0; row.name = r->state; break;
    default: break;
    }
    add_row(rows, row);
}

/* The order of the lists of rates: what there is at once, how many, how long. */
static uint64_t key_of(unsigned order, uint64_t at_once, uint64_t rate_milli, uint64_t mean_ns)
{
    return order == 0 ? mst_known(at_once) : order == 1 ? mst_known(rate_milli)
                                       : order == 2 ? mst_known(mean_ns) : 0;
}

static void add_label(struct mst_top_rows *rows, const struct mst_top_view *view, size_t server,
                      const struct mst_top_label *label)
{
    if (passes(view, label->name))
        add_row(rows, (struct mst_top_row){
            server, label, key_of(view->order[MST_TOP_LABELS], label->in_flight,
                                  label->rate_milli, label->mean_ns), 0, label->name });
}

static void add_end(struct mst_top_rows *rows, const struct mst_top_view *view, size_t server,
                    const struct mst_top_end *end)
{
    if (passes(view, end->name) || passes(view, end->kind))
        add_row(rows, (struct mst_top_row){
            server, end, key_of(view->order[MST_TOP_ENDS], end->at_once_milli,
                                end->rate_milli, end->mean_ns), 0, end->name });
}

static int by_order(const void *left, const void *right)
{
    const struct mst_top_row *a = left, *b = right;
    int order;

    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    if (a->then != b->then)
        return a->then < b->then ? 1 : -1;
    return (a->server > b->server) - (a->server < b->server);
}

struct mst_top_rows mst_top_rows(const struct mst_top *top, const struct mst_top_view *view,
                                 enum mst_top_list list)
{
    struct mst_top_rows rows = { .list = list };
    size_t server, i;

    for (server = 0; server < top->server_count; server++) {
        const struct mst_top_server *s = &top->servers[server];

        for (i = 0; list == MST_TOP_IN_FLIGHT && i < s->present.worker_count; i++)
            add_request(&rows, view, server, &s->present.workers[i], s->is_php);
        for (i = 0; list == MST_TOP_LABELS && i < s->label_count; i++)
            add_label(&rows, view, server, &s->labels[i]);
        for (i = 0; list == MST_TOP_ENDS && i < s->end_count; i++)
            add_end(&rows, view, server, &s->ends[i]);
    }
    if (rows.count > 1)
        qsort(rows.items, rows.count, sizeof *rows.items, by_order);
    return rows;
}

/* ---- drawing ------------------------------------------------------------------------------- */

void mst_top_add_server(struct mst_top_line *line, const struct mst_top *top, size_t server)
{
    mst_top_add(line, "%2zu%s ", server + 1,
                top->servers[server].life != MST_TOP_RUNNING ? "!" : " ");
}

/* Names have what a line is wider than usual. */
static unsigned name_columns(const struct mst_top_line *line, unsigned usual)
{
    unsigned more = line->width > USUAL_WIDTH ? line->width - USUAL_WIDTH : 0;

    return usual + more < MST_NAME_MAX ? usual + more : MST_NAME_MAX;
}

/* The widths are those of the rows below. */
void mst_top_rows_heading(struct mst_top_line *line, const struct mst_top_view *view,
                          enum mst_top_list list, size_t hidden)
{
    const char *order = orders[list][view->order[list]];
    char more[24] = "", name[32];

    if (list == view->list && !view->is_batch)
        snprintf(more, sizeof more, ">");
    else if (hidden > 0)
        snprintf(more, sizeof more, hidden < 100 ? "+%zu" : "+..", hidden);
    mst_top_add(line, "%-4s", more);
    switch (list) {
    case MST_TOP_LABELS:
        snprintf(name, sizeof name, "LABEL by %s", order);
        mst_top_add_text(line, name, name_columns(line, LABEL_NAME), true);
        mst_top_add(line, LABEL_COLUMNS, "IN FLIGHT", "WANTED", "REQ/S", "MEAN", "P99",
                    "4XX/S", "5XX/S");
        break;
    case MST_TOP_ENDS:
        snprintf(name, sizeof name, "OTHER END by %s", order);
        mst_top_add(line, "%-8s ", "KIND");
        mst_top_add_text(line, name, name_columns(line, END_NAME), true);
        mst_top_add(line, END_COLUMNS, "CALLS/S", "MEAN", "AT ONCE", "FAILED/S");
        break;
    default:
        mst_top_add(line, "%8s %-10s%8s %-16s WAITS FOR", "PID", "IN FLIGHT", "SINCE", "LABEL");
        snprintf(name, sizeof name, "by %s", order);
        mst_top_add_right(line, name);
        break;
    }
}

static void draw_request(struct mst_top_line *line, const struct mst_present_worker *r)
{
    char wait[MST_WAIT_WORDS_MAX];

    mst_top_add(line, "%8s ", mst_format_count(r->pid).text);
    mst_top_add_text(line, r->state, 10, true);
    mst_top_add(line, "%8s ", mst_format_time(r->busy_ns).text);
    mst_top_add_text(line, r->label, 16, true);
    mst_top_add(line, " ");
    if (r->wait[0] != '\0') {
        mst_wait_words(wait, r->wait, r->wait_end);
        mst_top_add_text(line, wait, REST, false);
        mst_top_add(line, ", %s  ", mst_format_time(r->wait_ns).text);
    }
    if (r->code.function[0] != '\0') {
        mst_top_add(line, "%s ", r->wait[0] != '\0' ? "in" : "last in");
        mst_top_add_text(line, r->code.function, REST, false);
        mst_top_add(line, " (");
        mst_top_add_text(line, r->code.component, REST, false);
        mst_top_add(line, ")  ");
    }
    mst_top_add_text(line, r->path, REST, false);
}

static void draw_label(struct mst_top_line *line, const struct mst_top_label *label)
{
    char in_flight[72];

    snprintf(in_flight, sizeof in_flight, "%s%s%s", mst_format_count(label->in_flight).text,
             label->limit != MST_UNKNOWN ? "/" : "",
             label->limit != MST_UNKNOWN ? mst_format_count(label->limit).text : "");
    mst_top_add_text(line, label->name, name_columns(line, LABEL_NAME), true);
    mst_top_add(line, LABEL_COLUMNS, in_flight, mst_format_count(label->wanted).text,
                mst_format_milli(label->rate_milli).text, mst_format_time(label->mean_ns).text,
                mst_format_time(label->p99_ns).text, mst_format_milli(label->milli_4xx).text,
                mst_format_milli(label->milli_5xx).text);
    if (label->limit != MST_UNKNOWN && label->limit > 0 && label->in_flight != MST_UNKNOWN &&
        label->in_flight >= label->limit)
        line->look = MST_TOP_ALARM;
}

static void draw_end(struct mst_top_line *line, const struct mst_top_end *end)
{
    mst_top_add_text(line, end->kind, 8, true);
    mst_top_add(line, " ");
    mst_top_add_text(line, end->name, name_columns(line, END_NAME), true);
    mst_top_add(line, END_COLUMNS, mst_format_milli(end->rate_milli).text,
                mst_format_time(end->mean_ns).text, mst_format_milli(end->at_once_milli).text,
                mst_format_milli(end->failed_milli).text);
}

void mst_top_row_draw(struct mst_top_line *line, const struct mst_top *top,
                      enum mst_top_list list, const struct mst_top_row *row)
{
    mst_top_add_server(line, top, row->server);
    switch (list) {
    case MST_TOP_LABELS: draw_label(line, row->item); break;
    case MST_TOP_ENDS:   draw_end(line, row->item); break;
    default:             draw_request(line, row->item); break;
    }
    if (top->servers[row->server].life != MST_TOP_RUNNING)
        line->look = MST_TOP_FAINT;
}

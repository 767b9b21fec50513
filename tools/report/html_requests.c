/* html_requests.c - the requests of one run, as HTML: see html_requests.h. */
#include "report/html_requests.h"

#include <inttypes.h>

#include "analysis/by_name.h"
#include "analysis/slowest.h"
#include "archive/archive.h"
#include "doc/markup.h"
#include "report/page.h"
#include "report/pages.h"
#include "segment/fields.h"
#include "segment/parts.h"

#define BAR_WIDTH 1000u     /* of the slowest request's bar */
#define MARK_WIDTH 4u
#define SAID_MOST 3u        /* parts of a request that stand beneath its bar */
#define SAID_MILLI 50u      /* those of at least so much of it */
#define MARKS_SAID 4u       /* there, too; the bar has all */

/* ---- parts ----------------------------------------------------------------------------- */

static void put_time(struct mst_sink *sink, uint64_t ns)
{
    mst_html(sink, "%s", mst_quantity_micro(mst_format_time(ns)).text);
}

/* ---- by name --------------------------------------------------------------------------- */

static const struct by {
    const char *title, *about, *column;
    bool        has_parts;
} by_label = {
    "By label", "Requests of each label (MPMStatLabel, else the virtual host), as Apache timed "
    "them.", "label", true,
}, by_page = {
    "By page", "Requests of each path, without its query; {n} is any number or long id, * the name "
    "of a file (MPMStatPaths).", "page", true,
}, by_handler = {
    "By handler and backend", "What Apache handed the requests to.", "handler, backend", true,
}, by_script = {
    "By script", "What PHP ran: waiting for a PHP worker, and running.", "script", true,
}, by_end = {
    "By other end", "What PHP's requests waited for, each with its time in one request; the "
    "share is of all of PHP's time. Of each request, the two ends that took longest.",
    "other end", false,
};

static void put_head(struct mst_sink *sink, const struct by *by)
{
    static const char *const columns[] = {
        "requests", "share of time", "mean", "p50", "p95", "p99", "4xx", "5xx", "aborted",
    };
    size_t i;

    mst_html(sink, "<thead><tr><th scope=\"col\" aria-sort=\"none\">%s</th>", by->column);
    for (i = 0; i < sizeof columns / sizeof *columns; i++)
        mst_html(sink, "<th scope=\"col\" aria-sort=\"%s\">%s</th>",
                 i == 1 ? "descending" : "none", columns[i]);
    if (by->has_parts)
        mst_html(sink, "<th scope=\"col\" aria-sort=\"none\" class=\"text\">main part</th>");
    mst_html(sink, "</tr></thead>\n");
}

static void put_row(struct mst_sink *sink, const struct by *by, const struct mst_by_name *table,
                    const struct mst_by_name_row *row)
{
    enum mst_part longest = mst_part_longest(row->parts_ns);

    mst_html(sink, "<tr><th scope=\"row\">");
    if (row->name != NULL)
        mst_html(sink, "%s</th>", row->name[0] != '\0' ? row->name : "(none)");
    else
        mst_html(sink, "<span class=\"quiet\">%zu others</span></th>", row->names);
    mst_page_cell(sink, MST_QUANTITY_COUNT, row->requests);
    mst_page_cell(sink, MST_QUANTITY_SHARE, mst_summary_milli(row->sum_ns, table->sum_ns));
    mst_page_cell(sink, MST_QUANTITY_TIME, row->requests > 0 ? row->sum_ns / row->requests :
                                                             MST_UNKNOWN);
    mst_page_cell(sink, MST_QUANTITY_TIME, row->p50_ns);
    mst_page_cell(sink, MST_QUANTITY_TIME, row->p95_ns);
    mst_page_cell(sink, MST_QUANTITY_TIME, row->p99_ns);
    mst_page_cell(sink, MST_QUANTITY_COUNT, row->errors_4xx);
    mst_page_cell(sink, MST_QUANTITY_COUNT, row->errors_5xx);
    mst_page_cell(sink, MST_QUANTITY_COUNT, row->aborted);
    if (by->has_parts && row->parts_ns[longest] > 0)
        mst_page_part(sink, longest, mst_summary_milli(row->parts_ns[longest], row->sum_ns));
    else if (by->has_parts)
        mst_html(sink, "<td></td>");
    mst_html(sink, "</tr>\n");
}

static void put_by(struct mst_sink *sink, const struct by *by, const struct mst_by_name *table)
{
    bool others = table->count > 0 && table->rows[table->count - 1].name == NULL;
    size_t i;

    if (table->count == 0)
        return;
    mst_html(sink, "<h3>%s</h3>\n<p>%s</p>\n", by->title, by->about);
    mst_page_table(sink, by->title, "sortable");
    put_head(sink, by);
    mst_html(sink, "<tbody>\n");
    for (i = 0; i < table->count - others; i++)
        put_row(sink, by, table, &table->rows[i]);
    mst_html(sink, "</tbody>\n");
    if (others) {
        mst_html(sink, "<tfoot>\n");
        put_row(sink, by, table, &table->rows[i]);
        mst_html(sink, "</tfoot>\n");
    }
    mst_html(sink, "</table></div>\n");
}

static void put_pages(struct mst_sink *sink, const struct mst_summary_server *front)
{
    if (front->pages.count > 0)
        put_by(sink, &by_page, &front->pages);
    else
        mst_html(sink, "<h3>%s</h3>\n<p>%s</p>\n", by_page.title, MST_PAGES_UNKNOWN);
}

bool mst_html_by_name(struct mst_sink *sink, const struct mst_report_run *run, size_t most)
{
    const struct mst_summary *s = &run->summary;
    const struct mst_summary_server *front = mst_summary_front(s), *behind = mst_summary_behind(s);
    sqlite3 *db = mst_archive_db(run->archive);
    struct mst_by_name one = { 0 }, other = { 0 };
    bool fine = true;

    if (front != NULL && !mst_summary_is_php(front))
        put_pages(sink, front);
    if (front != NULL && !mst_summary_is_php(front)) {
        fine = mst_by_name_apache(&one, &other, front, most);
        if (fine) {
            put_by(sink, &by_label, &one);
            put_by(sink, &by_handler, &other);
        }
        mst_by_name_free(&one);
        mst_by_name_free(&other);
    }
    if (fine && behind != NULL) {
        fine = mst_by_name_php(&one, &other, db, behind, most);
        if (fine) {
            put_by(sink, &by_script, &one);
            put_by(sink, &by_end, &other);
        }
        mst_by_name_free(&one);
        mst_by_name_free(&other);
    }
    return fine;
}

/* ---- the slowest ----------------------------------------------------------------------- */

static uint64_t scaled(uint64_t ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? (uint64_t)((unsigned __int128)ns * BAR_WIDTH / whole_ns) : 0;
}

static void put_rectangle(struct mst_sink *sink, const struct mst_part_words *part, uint64_t ns,
                          uint64_t x, uint64_t width)
{
    mst_html(sink, "<rect class=\"%s\" data-ns=\"%" PRIu64 "\" x=\"%" PRIu64 "\" width=\"%" PRIu64
             "\" height=\"28\"><title>%s ", part->colour, ns, x, width, part->name);
    put_time(sink, ns);
    mst_html(sink, "</title></rect>");
}

static void put_bar(struct mst_sink *sink, const struct mst_slow *slow, uint64_t slowest_ns)
{
    uint64_t at_ns = 0, x;
    size_t i;

    mst_html(sink, "<svg class=\"bar\" role=\"img\" viewBox=\"0 0 1000 28\" "
             "preserveAspectRatio=\"none\" aria-label=\"");
    for (i = 0; i < MST_PART_COUNT; i++)
        if (slow->parts_ns[i] > 0) {
            mst_html(sink, "%s ", mst_parts[i].name);
            put_time(sink, slow->parts_ns[i]);
            mst_html(sink, "; ");
        }
    mst_html(sink, "\">");
    for (i = 0; i < MST_PART_COUNT; i++) {
        if (slow->parts_ns[i] == 0)
            continue;
        x = scaled(at_ns, slowest_ns);
        at_ns += slow->parts_ns[i];
        put_rectangle(sink, &mst_parts[i], slow->parts_ns[i], x,
                      scaled(at_ns, slowest_ns) - x);
    }
    for (i = 0; i < slow->mark_count; i++) {
        mst_html(sink, "<rect class=\"mark\" x=\"%" PRIu64 "\" width=\"%u\" height=\"28\"><title>"
                 "mark %s after ", scaled(slow->marks[i].after_ns, slowest_ns), MARK_WIDTH,
                 slow->marks[i].name);
        put_time(sink, slow->marks[i].after_ns);
        mst_html(sink, "</title></rect>");
    }
    mst_html(sink, "</svg>");
}

/* The longest parts and the marks, beneath the bar. */
static void put_said(struct mst_sink *sink, const struct mst_slow *slow)
{
    uint64_t left[MST_PART_COUNT];
    size_t i, said, longest;

    for (i = 0; i < MST_PART_COUNT; i++)
        left[i] = slow->parts_ns[i];
    mst_html(sink, "<small>");
    for (said = 0; said < SAID_MOST; said++) {
        longest = mst_part_longest(left);
        if (left[longest] == 0 ||
            mst_summary_milli(left[longest], slow->total_ns) < SAID_MILLI)
            break;
        mst_html(sink, "%s%s ", said > 0 ? ", " : "", mst_parts[longest].name);
        put_time(sink, left[longest]);
        left[longest] = 0;
    }
    for (i = 0; i < slow->mark_count && i < MARKS_SAID; i++) {
        mst_html(sink, "%s%s after ", i == 0 ? "; marks: " : ", ", slow->marks[i].name);
        put_time(sink, slow->marks[i].after_ns);
    }
    if (i < slow->mark_count)
        mst_html(sink, " and %zu more", slow->mark_count - i);
    mst_html(sink, "</small>");
}

static void put_slow(struct mst_sink *sink, const struct mst_slow *slow,
                     const struct mst_summary *s, uint64_t slowest_ns)
{
    uint64_t after_ns = s->started_ns != MST_UNKNOWN && slow->start_ns > s->started_ns ?
                        slow->start_ns - s->started_ns : 0;

    mst_html(sink, "<tr><td><time datetime=\"");
    mst_sink_instant(sink, slow->start_ns);
    mst_html(sink, "\" title=\"");
    mst_sink_instant(sink, slow->start_ns);
    mst_html(sink, "\">");
    put_time(sink, after_ns);
    mst_html(sink, "</time></td><th scope=\"row\">%s%s%s", slow->label,
             slow->path[0] != '\0' ? " " : "", slow->path);
    if (slow->script[0] != '\0' || slow->handler[0] != '\0')
        mst_html(sink, "<small>%s</small>",
                 slow->script[0] != '\0' ? slow->script : slow->handler);
    mst_html(sink, "</th>");
    mst_html(sink, "<td>");
    if (slow->aborted)
        mst_html(sink, "aborted");
    else
        mst_page_number(sink, MST_QUANTITY_COUNT, slow->status);
    mst_html(sink, "</td>");
    mst_page_cell(sink, MST_QUANTITY_TIME, slow->total_ns);
    mst_html(sink, "<td class=\"trace\">");
    put_bar(sink, slow, slowest_ns);
    put_said(sink, slow);
    mst_html(sink, "</td></tr>\n");
}

/* The parts that any of the requests has; kinds of waits that share a colour stand together. */
static void put_key(struct mst_sink *sink, const struct mst_slowest *slowest)
{
    size_t i, k;

    mst_html(sink, "<ul class=\"legend\">");
    for (i = 0; i < MST_PART_COUNT; i++) {
        for (k = 0; k < slowest->count && slowest->rows[k].parts_ns[i] == 0; k++)
            ;
        if (k < slowest->count)
            mst_page_key(sink, i);
    }
    mst_html(sink, "</ul>\n");
}

bool mst_html_slowest(struct mst_sink *sink, const struct mst_report_run *run, size_t most)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    struct mst_slowest slowest;
    bool fine;
    size_t i;

    if (front == NULL || front->requests == 0)
        return true;
    fine = mst_slowest_read(&slowest, &run->summary, mst_archive_db(run->archive), front, most);
    if (fine && slowest.count > 0) {
        mst_html(sink, "<h3>The slowest requests</h3>\n<p>Each with the parts of its time, which "
                 "add up to it; the longest bar is the slowest request&#39;s. When: since the "
                 "load began.</p>\n");
        put_key(sink, &slowest);
        mst_page_table(sink, "The slowest requests", "slowest");
        mst_html(sink, "<thead><tr><th scope=\"col\">when</th><th scope=\"col\" class=\"text\">"
                 "label, page, script</th><th scope=\"col\">status</th><th scope=\"col\">total</th>"
                 "<th scope=\"col\" class=\"text\">where its time went</th></tr></thead><tbody>\n");
        for (i = 0; i < slowest.count; i++)
            put_slow(sink, &slowest.rows[i], &run->summary, slowest.rows[0].total_ns);
        mst_html(sink, MST_PAGE_TABLE_END);
    }
    mst_slowest_free(&slowest);
    return fine;
}

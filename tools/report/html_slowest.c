/* html_slowest.c - the slowest requests of a run, as HTML: see html_slowest.h. */
#include "report/html_slowest.h"

#include <inttypes.h>

#include "analysis/slowest.h"
#include "archive/archive.h"
#include "doc/markup.h"
#include "report/page.h"
#include "segment/fields.h"
#include "segment/parts.h"

#define BAR_WIDTH 1000u     /* of the slowest request's bar */
#define MARK_WIDTH 4u
#define SAID_MOST 3u        /* parts of a request that stand beneath its bar */
#define SAID_MILLI 50u      /* those of at least so much of it */
#define MARKS_SAID 4u       /* there, too; the bar has all */

static void put_time(struct mst_sink *sink, uint64_t ns)
{
    mst_html(sink, "%s", mst_quantity_micro(mst_format_time(ns)).text);
}

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

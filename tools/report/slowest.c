/* slowest.c - the slowest requests of a run: see slowest.h. */
#include "report/slowest.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/slowest.h"
#include "archive/archive.h"
#include "base/saturate.h"
#include "doc/table.h"
#include "report/items.h"
#include "report/parts.h"

#define SAID_MOST 3u        /* parts of a request that stand in words */
#define SAID_MILLI 50u      /* those of at least so much of it */
#define MARKS_SAID 4u       /* there, too; the bar has all */

struct bar_of {
    struct mst_doc_segment segments[MST_PART_COUNT];
    struct mst_doc_mark    marks[MST_SLOWEST_MARKS];
    struct mst_doc_bar     bar;
};

static void fill_bar(struct bar_of *of, const struct mst_slow *slow, uint64_t slowest_ns)
{
    size_t i;

    for (i = 0; i < slow->mark_count; i++)
        of->marks[i] = (struct mst_doc_mark){ slow->marks[i].name, slow->marks[i].after_ns };
    of->bar = (struct mst_doc_bar){
        .segments = of->segments, .count = mst_parts_segments(of->segments, slow->parts_ns),
        .marks = of->marks, .mark_count = slow->mark_count,
        .whole = slowest_ns, .quantity = MST_QUANTITY_TIME,
    };
}

/* The longest parts and the marks: "php_wait 1.2 s, database 90 ms; marks: booted after 10 ms". */
static void put_said(struct mst_doc_table *t, const struct mst_slow *slow)
{
    struct mst_items parts = { "", 0 }, marks = { "", 0 };
    uint64_t left[MST_PART_COUNT];
    size_t i, longest;

    for (i = 0; i < MST_PART_COUNT; i++)
        left[i] = slow->parts_ns[i];
    for (i = 0; i < SAID_MOST; i++) {
        longest = mst_part_longest(left);
        if (left[longest] == 0 || mst_summary_milli(left[longest], slow->total_ns) < SAID_MILLI)
            break;
        mst_items_add(&parts, "%s %s", mst_parts[longest].name,
                      mst_format_time(left[longest]).text);
        left[longest] = 0;
    }
    for (i = 0; i < slow->mark_count && i < MARKS_SAID; i++)
        mst_items_add(&marks, "%s after %s", slow->marks[i].name,
                      mst_format_time(slow->marks[i].after_ns).text);
    if (i < slow->mark_count)
        mst_items_add(&marks, "and %zu more", slow->mark_count - i);
    mst_doc_words(t, "%s%s%s%s%s", parts.text, slow->place[0] != '\0' ? "; most in PHP: " : "",
                  slow->place, slow->mark_count > 0 ? "; marks: " : "", marks.text);
}

static void put_row(struct mst_doc_table *t, const struct mst_slow *slow, uint64_t began_ns,
                    const struct bar_of *of)
{
    const char *ran = slow->script[0] != '\0' ? slow->script : slow->handler;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_number(t, began_ns != MST_UNKNOWN ? mst_subtract_saturated(slow->start_ns, began_ns)
                                              : MST_UNKNOWN);
    mst_doc_words(t, "%s%s%s%s%s", slow->label, slow->path[0] != '\0' ? " " : "", slow->path,
                  ran[0] != '\0' ? ", " : "", ran);
    if (slow->aborted)
        mst_doc_words(t, "aborted");
    else
        mst_doc_number(t, slow->status);
    mst_doc_number(t, slow->total_ns);
    put_said(t, slow);
    mst_doc_bar_above(t, &of->bar);
}

static void put_table(const struct mst_doc *doc, const struct mst_slowest *slowest,
                      const struct mst_summary *s, struct bar_of *bars)
{
    static const struct mst_doc_column columns[] = {
        { "when", .quantity = MST_QUANTITY_TIME },
        { "label, page, script", .word = "slowest requests", .kind = MST_DOC_NAME },
        { "status", .quantity = MST_QUANTITY_COUNT }, { "total", .quantity = MST_QUANTITY_TIME },
        { "where its time went", .word = "", .kind = MST_DOC_WORDS },
    };
    uint64_t any_ns[MST_PART_COUNT] = { 0 };
    struct mst_doc_table t;
    size_t i, part;

    mst_doc_heading(doc, "The slowest requests");
    mst_doc_explain(doc, "Each with the longest parts of its time. When: since the load began.");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < slowest->count; i++) {
        for (part = 0; part < MST_PART_COUNT; part++)
            any_ns[part] |= slowest->rows[i].parts_ns[part];
        fill_bar(&bars[i], &slowest->rows[i], slowest->rows[0].total_ns);
        put_row(&t, &slowest->rows[i], s->started_ns, &bars[i]);
    }
    mst_parts_legend(doc, any_ns);
    mst_doc_table_end(&t, doc, "The slowest requests", "slowest");
    mst_doc_space(doc);
}

bool mst_slowest_put(const struct mst_doc *doc, const struct mst_report_run *run, size_t most)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    struct mst_slowest slowest;
    struct bar_of *bars = NULL;
    bool fine;

    if (front == NULL || front->requests == 0)
        return true;
    fine = mst_slowest_read(&slowest, &run->summary, mst_archive_db(run->archive), front, most);
    if (fine && slowest.count > 0) {
        bars = mst_have(calloc(slowest.count, sizeof *bars));
        put_table(doc, &slowest, &run->summary, bars);
    }
    free(bars);
    mst_slowest_free(&slowest);
    return fine;
}

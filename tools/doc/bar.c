/* bar.c - a bar of a page, and its legend: see bar.h. */
#include "doc/bar.h"

#include <inttypes.h>

#include "doc/markup.h"

#define WIDTH      1000u   /* of a bar, in the drawing's own units */
#define MARK_WIDTH 4u

static uint64_t scaled(const struct mst_doc_bar *bar, uint64_t value)
{
    if (bar->whole == 0 || value > bar->whole)
        return bar->whole == 0 ? 0 : WIDTH;
    return (uint64_t)((unsigned __int128)value * WIDTH / bar->whole);
}

static void put_value(struct mst_sink *sink, const struct mst_doc_bar *bar, uint64_t value)
{
    mst_html(sink, "%s", mst_quantity_micro(mst_quantity_format(bar->quantity, value)).text);
}

/* For those who cannot see it. */
static void put_label(struct mst_sink *sink, const struct mst_doc_bar *bar)
{
    size_t i;

    for (i = 0; i < bar->count; i++)
        if (bar->segments[i].value > 0) {
            mst_html(sink, "%s ", bar->segments[i].name);
            put_value(sink, bar, bar->segments[i].value);
            mst_html(sink, "; ");
        }
}

static void put_segments(struct mst_sink *sink, const struct mst_doc_bar *bar)
{
    uint64_t before = 0, x;
    size_t i;

    for (i = 0; i < bar->count; i++) {
        const struct mst_doc_segment *segment = &bar->segments[i];

        if (segment->value == 0)
            continue;
        x = scaled(bar, before);
        before += segment->value;
        mst_html(sink, "<rect class=\"%s\" data-value=\"%" PRIu64 "\" x=\"%" PRIu64 "\" width=\"%"
                 PRIu64 "\" height=\"28\"><title>%s ", segment->colour, segment->value, x,
                 scaled(bar, before) - x, segment->name);
        put_value(sink, bar, segment->value);
        mst_html(sink, "</title></rect>");
    }
}

static void put_marks(struct mst_sink *sink, const struct mst_doc_bar *bar)
{
    size_t i;

    for (i = 0; i < bar->mark_count; i++) {
        mst_html(sink, "<rect class=\"mark\" x=\"%" PRIu64 "\" width=\"%u\" height=\"28\"><title>"
                 "mark %s after ", scaled(bar, bar->marks[i].at), MARK_WIDTH, bar->marks[i].name);
        put_value(sink, bar, bar->marks[i].at);
        mst_html(sink, "</title></rect>");
    }
}

void mst_doc_bar(const struct mst_doc *doc, const struct mst_doc_bar *bar)
{
    if (doc->format != MST_DOC_HTML)
        return;
    mst_html(doc->sink, "<svg class=\"bar\" role=\"img\" viewBox=\"0 0 1000 28\" "
             "preserveAspectRatio=\"none\" aria-label=\"");
    put_label(doc->sink, bar);
    mst_html(doc->sink, "\">");
    put_segments(doc->sink, bar);
    put_marks(doc->sink, bar);
    mst_html(doc->sink, "</svg>");
}

void mst_doc_legend(const struct mst_doc *doc, const struct mst_doc_key *keys, size_t count)
{
    size_t i;

    if (doc->format != MST_DOC_HTML)
        return;
    mst_html(doc->sink, "<ul class=\"legend\">");
    for (i = 0; i < count; i++)
        mst_html(doc->sink, "<li><span class=\"swatch %s\"></span>%s: %s</li>", keys[i].colour,
                 keys[i].name, keys[i].noun);
    mst_html(doc->sink, "</ul>\n");
}

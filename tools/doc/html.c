/* html.c - elements of pages: see html.h. */
#include "doc/html.h"

#include "doc/markup.h"
#include "segment/terms.h"

void mst_page_number(struct mst_sink *sink, enum mst_quantity unit, uint64_t value)
{
    if (value == MST_UNKNOWN) {
        mst_html(sink, "<span class=\"unknown\">not known</span>");
        return;
    }
    mst_html(sink, "<data value=\"");
    mst_quantity_put(sink, unit, value, "");
    mst_html(sink, "\">%s</data>", mst_quantity_micro(mst_quantity_format(unit, value)).text);
}

void mst_page_cell(struct mst_sink *sink, enum mst_quantity unit, uint64_t value)
{
    mst_html(sink, "<td>");
    mst_page_number(sink, unit, value);
    mst_html(sink, "</td>");
}

void mst_page_table(struct mst_sink *sink, const char *name, const char *class)
{
    mst_html(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
             "<table class=\"%s\">", name, class);
}

void mst_page_group(struct mst_sink *sink, const char *group, size_t columns)
{
    mst_html(sink, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">%s</th></tr>\n",
             columns + 1, group);
}

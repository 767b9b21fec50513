/* table_html.c - a table of a page: see table.h. */
#include "doc/markup.h"
#include "doc/writers.h"
#include "segment/terms.h"

static bool is_words(const struct mst_doc_table *t, size_t column)
{
    return t->columns[column].kind == MST_DOC_WORDS;
}

static bool names_row(const struct mst_doc_table *t, size_t column)
{
    return t->columns[column].kind == MST_DOC_NAME || t->columns[column].kind == MST_DOC_LABEL;
}

static void put_head_cell(struct mst_sink *sink, const struct mst_doc_table *t, size_t i)
{
    const struct mst_doc_column *column = &t->columns[i];

    mst_html(sink, "<th scope=\"col\"");
    if (t->sorted > 0)
        mst_html(sink, " aria-sort=\"%s\"", i + 1 == t->sorted ? "descending" : "none");
    mst_html(sink, column->kind == MST_DOC_WORDS ? " class=\"text\">%s" : ">%s", column->name);
    if (column->sub != NULL)
        mst_html(sink, "<small>%s</small>", column->sub);
    mst_html(sink, "</th>");
}

static void put_head(struct mst_sink *sink, const struct mst_doc_table *t)
{
    bool is_hidden = t->is_captioned && t->width <= 2;
    size_t i;

    mst_html(sink, is_hidden ? "<thead class=\"hidden\"><tr>" : "<thead><tr>");
    for (i = 0; i < t->width; i++)
        if (mst_doc_is_shown(t, i))
            put_head_cell(sink, t, i);
    mst_html(sink, "</tr></thead>");
}

static void put_swatch(struct mst_sink *sink, const struct mst_doc_cell *cell)
{
    if (cell->colour != NULL)
        mst_html(sink, "<span class=\"swatch %s\"></span>", cell->colour);
}

/* Below what the cell has. */
static void put_below(struct mst_sink *sink, const struct mst_doc_table *t,
                      const struct mst_doc_cell *cell)
{
    if (cell->sub > 0)
        mst_html(sink, "<small>%s</small>", t->texts + cell->sub);
    if (cell->published > 0)
        mst_html(sink, "<small class=\"theirs\">%s</small>", t->texts + cell->published);
}

static void put_name(struct mst_sink *sink, const struct mst_doc_table *t, enum mst_style style,
                     const struct mst_doc_cell *cell)
{
    mst_html(sink, "<th scope=\"row\">");
    put_swatch(sink, cell);
    if (cell->link > 0)
        mst_html(sink, "<a href=\"#%s\">", t->texts + cell->link);
    mst_html(sink, style == MST_STYLE_STRONG ? "<strong>%s</strong>" : "%s", t->texts + cell->text);
    if (cell->link > 0)
        mst_html(sink, "</a>");
    put_below(sink, t, cell);
    mst_html(sink, "</th>");
}

static void put_number(struct mst_sink *sink, const struct mst_doc_table *t,
                       const struct mst_doc_cell *cell)
{
    if (cell->is == MST_DOC_REAL) {
        mst_html(sink, "<data value=\"");
        mst_real_put(sink, cell->real, "");
        mst_html(sink, "\">%s</data>", t->texts + cell->text);
    } else if (cell->value == MST_UNKNOWN) {
        mst_html(sink, "<span class=\"unknown\">–</span>");
    } else {
        mst_quantity_html(sink, cell->quantity, cell->value);
    }
}

static const char *class_of(const struct mst_doc_table *t, size_t column,
                            const struct mst_doc_cell *cell)
{
    return cell->bar != NULL ? "trace" : is_words(t, column) ? "text" : NULL;
}

/* The note follows in the row's last cell. */
static void put_cell(const struct mst_doc *doc, const struct mst_doc_table *t, size_t line,
                     size_t column, const char *note)
{
    const struct mst_doc_cell *cell = mst_doc_cell(t, line, column);
    const char *class = class_of(t, column, cell), *key = t->columns[column].key;
    struct mst_sink *sink = doc->sink;

    if (names_row(t, column)) {
        put_name(sink, t, t->lines[line].style, cell);
        return;
    }
    mst_html(sink, "<td");
    if (class != NULL)
        mst_html(sink, " class=\"%s\"", class);
    if (key != NULL)
        mst_html(sink, " data-metric=\"%s\"", key);
    mst_html(sink, ">");
    put_swatch(sink, cell);
    if (cell->bar != NULL)
        mst_doc_bar(doc, cell->bar);
    if (cell->is == MST_DOC_VALUE || cell->is == MST_DOC_REAL)
        put_number(sink, t, cell);
    else
        mst_html(sink, cell->bar != NULL ? "<small>%s</small>" : "%s", t->texts + cell->text);
    put_below(sink, t, cell);
    mst_html(sink, note[0] != '\0' ? "<small>%s</small></td>" : "%s</td>", note);
}

static void put_row(const struct mst_doc *doc, const struct mst_doc_table *t, size_t line)
{
    struct mst_sink *sink = doc->sink;
    const char *note = t->texts + t->lines[line].note;
    size_t i;

    mst_html(sink, t->lines[line].style == MST_STYLE_WARNING ? "<tr class=\"warning\"" : "<tr");
    if (t->lines[line].key != NULL)
        mst_html(sink, " data-metric=\"%s\"", t->lines[line].key);
    mst_html(sink, ">");
    for (i = 0; i < t->width; i++)
        if (mst_doc_is_shown(t, i))
            put_cell(doc, t, line, i, i + 1 == t->width ? note : "");
    mst_html(sink, "</tr>\n");
}

static size_t count_shown(const struct mst_doc_table *t)
{
    size_t count = 0, i;

    for (i = 0; i < t->width; i++)
        count += mst_doc_is_shown(t, i);
    return count;
}

void mst_doc_table_html(const struct mst_doc *doc, const struct mst_doc_table *t, const char *name,
                        const char *class)
{
    struct mst_sink *sink = doc->sink;
    bool has_foot = false;
    size_t i;

    mst_html(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
             "<table class=\"%s\">", name, class);
    if (t->is_captioned)
        mst_html(sink, "<caption>%s</caption>", name);
    if (mst_doc_has_head(t))
        put_head(sink, t);
    mst_html(sink, "<tbody>\n");
    for (i = 0; i < t->line_count; i++) {
        if (t->lines[i].is_foot && !has_foot)
            mst_html(sink, "</tbody><tfoot>\n");
        has_foot |= t->lines[i].is_foot;
        if (t->lines[i].is_group)
            mst_html(sink, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">%s</th></tr>"
                     "\n", count_shown(t), t->texts + t->lines[i].note);
        else
            put_row(doc, t, i);
    }
    mst_html(sink, has_foot ? "</tfoot></table></div>\n" : "</tbody></table></div>\n");
}

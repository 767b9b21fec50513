/* table_markdown.c - a table in GitHub's Markdown: see table.h. */
#include "doc/markup.h"
#include "doc/writers.h"
#include "segment/terms.h"

static void put_head(struct mst_sink *sink, const struct mst_doc_table *t)
{
    size_t i;

    mst_markdown(sink, "\n|");
    for (i = 0; i < t->width; i++)
        if (mst_doc_is_shown(t, i))
            mst_markdown(sink, " %s%s%s |", t->columns[i].name,
                         t->columns[i].sub != NULL ? ", " : "", t->columns[i].sub);
    mst_markdown(sink, "\n|");
    for (i = 0; i < t->width; i++)
        if (mst_doc_is_shown(t, i))
            mst_markdown(sink, t->columns[i].kind == MST_DOC_NUMBER ? "--:|" : "---|");
    mst_markdown(sink, "\n");
}

static void put_cell(struct mst_sink *sink, const struct mst_doc_table *t, size_t line,
                     size_t column)
{
    const struct mst_doc_cell *cell = mst_doc_cell(t, line, column);
    bool is_name = t->columns[column].kind == MST_DOC_NAME ||
                   t->columns[column].kind == MST_DOC_LABEL;

    if (cell->is == MST_DOC_VALUE && cell->value == MST_UNKNOWN)
        mst_markdown(sink, " -");
    else if (cell->is == MST_DOC_VALUE)
        mst_markdown(sink, " %s", mst_quantity_format(cell->quantity, cell->value).text);
    else if (cell->is == MST_DOC_TEXT_CELL || cell->is == MST_DOC_REAL)
        mst_markdown(sink, is_name && t->lines[line].style == MST_STYLE_STRONG ? " **%s**" : " %s",
                     t->texts + cell->text);
    if (cell->sub > 0)
        mst_markdown(sink, " (%s)", t->texts + cell->sub);
    if (cell->published > 0)
        mst_markdown(sink, "; published %s", t->texts + cell->published);
}

static void put_row(struct mst_sink *sink, const struct mst_doc_table *t, size_t line)
{
    const char *note = t->texts + t->lines[line].note;
    size_t i;

    mst_markdown(sink, "|");
    for (i = 0; i < t->width; i++) {
        if (!mst_doc_is_shown(t, i))
            continue;
        put_cell(sink, t, line, i);
        if (i + 1 == t->width && note[0] != '\0')
            mst_markdown(sink, ": %s", note);
        mst_markdown(sink, " |");
    }
    mst_markdown(sink, "\n");
}

static void put_group(struct mst_sink *sink, const struct mst_doc_table *t, size_t line)
{
    bool is_first = true;
    size_t i;

    mst_markdown(sink, "|");
    for (i = 0; i < t->width; i++)
        if (mst_doc_is_shown(t, i)) {
            mst_markdown(sink, is_first ? " **%s** |" : " |%s", is_first ?
                         t->texts + t->lines[line].note : "");
            is_first = false;
        }
    mst_markdown(sink, "\n");
}

void mst_doc_table_markdown(const struct mst_doc *doc, const struct mst_doc_table *t)
{
    size_t i;

    put_head(doc->sink, t);
    for (i = 0; i < t->line_count; i++) {
        if (t->lines[i].is_group)
            put_group(doc->sink, t, i);
        else
            put_row(doc->sink, t, i);
    }
}

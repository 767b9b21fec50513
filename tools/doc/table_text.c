/* table_text.c - a table for a terminal: see table.h.
 *
 * Columns are as wide as what is in them, two blanks apart. The row's name stands last, in what is
 * left of the line. Where the columns leave too little for it, those of words stand beneath their
 * row. No line is longer than the document is wide.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/strings.h"
#include "doc/lines.h"
#include "doc/writers.h"
#include "segment/terms.h"

#define COLUMNS_MOST 32u
#define LINE_BYTES   1024u
#define GAP          2u
#define NAME_LEAST   10u    /* columns of a line that a long table leaves for names */
#define BENEATH_INDENT 6u

static const char *head_of(const struct mst_doc_column *column)
{
    return column->word != NULL ? column->word : column->name;
}

/* Characters, as a terminal shows them. */
static size_t columns_of(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Valid as long as the table, or `room`. */
static const char *text_of(const struct mst_doc_table *t, size_t line, size_t column,
                           struct mst_formatted *room)
{
    const struct mst_doc_cell *cell = mst_doc_cell(t, line, column);

    switch (cell->is) {
    case MST_DOC_VALUE:
        *room = cell->value == MST_UNKNOWN ? (struct mst_formatted){ "-" }
                                           : mst_quantity_format(cell->quantity, cell->value);
        return room->text;
    case MST_DOC_TEXT_CELL: case MST_DOC_REAL:
        return t->texts + cell->text;
    default:
        return "";
    }
}

/* How it is laid out. */
struct layout {
    const struct mst_doc *doc;
    const struct mst_doc_table *t;
    size_t widths[COLUMNS_MOST];
    size_t figures_most;      /* columns of a line before the name */
    bool   words_beneath;
};

static bool is_name(const struct mst_doc_table *t, size_t column)
{
    return t->columns[column].kind == MST_DOC_NAME;
}

static bool is_words(const struct mst_doc_table *t, size_t column)
{
    return t->columns[column].kind == MST_DOC_WORDS;
}

static struct layout lay_out(const struct mst_doc *doc, const struct mst_doc_table *t)
{
    struct layout l = { .doc = doc, .t = t, .figures_most = doc->width - NAME_LEAST };
    size_t column, line, n, all = GAP;
    struct mst_formatted room;

    for (column = 0; column < t->width; column++) {
        l.widths[column] = columns_of(head_of(&t->columns[column]));
        for (line = 0; line < t->line_count; line++) {
            n = columns_of(text_of(t, line, column, &room));
            l.widths[column] = n > l.widths[column] ? n : l.widths[column];
        }
        if (mst_doc_is_shown(t, column) && !is_name(t, column))
            all += GAP + l.widths[column];
    }
    l.words_beneath = all > l.figures_most;
    return l;
}

/* Cells of a line, of which one is the name; what is too long is cut. */
struct line { char text[LINE_BYTES]; size_t used, columns; const char *name; };

__attribute__((format(printf, 2, 3)))
static void append_text(struct line *line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    line->used = mst_string_append(line->text, sizeof line->text, line->used, format, args);
    va_end(args);
}

static void add_cell(struct line *line, const struct layout *l, size_t column, const char *text)
{
    int blanks = (int)(l->widths[column] - columns_of(text));
    bool to_the_left = l->t->columns[column].kind != MST_DOC_NUMBER;

    if (!mst_doc_is_shown(l->t, column) || (is_words(l->t, column) && l->words_beneath))
        return;
    if (is_name(l->t, column)) {
        line->name = text;
        return;
    }
    append_text(line, "%*s%*s%s%*s", (int)GAP, "", to_the_left ? 0 : blanks, "", text,
                to_the_left ? blanks : 0, "");
    line->columns += GAP + l->widths[column];
}

static void put(const struct layout *l, enum mst_style style, struct line *line)
{
    bool is_cut = line->columns + GAP > l->figures_most;
    size_t indent = is_cut ? l->figures_most : line->columns + GAP;

    if (is_cut && line->used > l->figures_most - GAP)
        line->text[l->figures_most - GAP] = '\0';
    if (line->name == NULL || line->name[0] == '\0')
        mst_line_styled(l->doc->sink, style, "%s", line->text);
    else
        mst_wrapped_styled(l->doc->sink, style, line->text, (unsigned)indent, l->doc->width,
                           line->name);
}

static void put_head(const struct layout *l)
{
    struct line line = { .used = 0 };
    size_t column;

    for (column = 0; column < l->t->width; column++)
        add_cell(&line, l, column, head_of(&l->t->columns[column]));
    put(l, MST_STYLE_PLAIN, &line);
}

/* "its clock 3 ms ahead, at its limit" */
static void put_words(const struct layout *l, size_t row)
{
    const struct mst_doc_table *t = l->t;
    struct line line = { .used = 0 };
    struct mst_formatted room;
    size_t column;

    for (column = 0; column < t->width; column++) {
        const char *text = text_of(t, row, column, &room), *head = head_of(&t->columns[column]);

        if (mst_doc_is_shown(t, column) && is_words(t, column) && text[0] != '\0')
            append_text(&line, "%s%s%s%s", line.used > 0 ? ", " : "", head,
                        head[0] != '\0' ? " " : "", text);
    }
    mst_wrapped(l->doc->sink, "", BENEATH_INDENT, l->doc->width, line.text);
}

static void put_row(const struct layout *l, size_t row)
{
    struct line line = { .used = 0 };
    struct mst_formatted room[COLUMNS_MOST];
    size_t column;

    for (column = 0; column < l->t->width; column++)
        add_cell(&line, l, column, text_of(l->t, row, column, &room[column]));
    put(l, l->t->lines[row].style, &line);
    if (l->words_beneath)
        put_words(l, row);
    mst_wrapped(l->doc->sink, "", BENEATH_INDENT, l->doc->width,
                l->t->texts + l->t->lines[row].note);
}

void mst_doc_table_text(const struct mst_doc *doc, const struct mst_doc_table *t)
{
    const struct layout l = lay_out(doc, t);
    size_t line;

    if (mst_doc_has_head(t))
        put_head(&l);
    for (line = 0; line < t->line_count; line++) {
        if (t->lines[line].is_group)
            mst_line(doc->sink, "  %s", t->texts + t->lines[line].note);
        else
            put_row(&l, line);
    }
}

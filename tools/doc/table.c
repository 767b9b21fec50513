/* table.c - gathers the cells of a table: see table.h. */
#include "doc/table.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "doc/writers.h"
#include "segment/terms.h"

void mst_doc_table_begin(struct mst_doc_table *t, const struct mst_doc_column *columns,
                         size_t width)
{
    *t = (struct mst_doc_table){ .columns = columns, .width = width };
    t->texts = calloc(1, 1);
    t->used = t->room = 1;
    t->failed = t->texts == NULL;
}

void mst_doc_captioned(struct mst_doc_table *t)
{
    t->is_captioned = true;
}

void mst_doc_hide(struct mst_doc_table *t, size_t column)
{
    assert(column < 32);
    t->hidden |= 1u << column;
}

void mst_doc_sorted(struct mst_doc_table *t, size_t column)
{
    t->sorted = column + 1;
}

/* Where the text begins in `texts`; 0, an empty one, where memory ran out. */
__attribute__((format(printf, 2, 0)))
static size_t keep(struct mst_doc_table *t, const char *format, va_list args)
{
    size_t at = t->used, length;
    char *text;

    if (t->failed || vasprintf(&text, format, args) < 0) {
        t->failed = true;
        return 0;
    }
    length = strlen(text) + 1;
    while (t->room - t->used < length && !t->failed)
        t->failed = !mst_grow(&t->texts, &t->room, t->room, 1);
    if (!t->failed) {
        memcpy(t->texts + at, text, length);
        t->used += length;
    }
    free(text);
    return t->failed ? 0 : at;
}

/* The next cell of the latest row; NULL: memory ran out. */
static struct mst_doc_cell *next_cell(struct mst_doc_table *t)
{
    struct mst_doc_cell *cell = NULL;

    assert(t->failed || t->cell_count < t->line_count * t->width);
    if (!t->failed)
        cell = mst_append(&t->cells, &t->cell_count, sizeof *cell);
    t->failed |= cell == NULL;
    return cell;
}

static void fill_line(struct mst_doc_table *t)
{
    while (!t->failed && t->cell_count < t->line_count * t->width)
        mst_doc_blank(t);
}

static void begin_line(struct mst_doc_table *t, const struct mst_doc_line *line)
{
    struct mst_doc_line *to;

    fill_line(t);
    to = t->failed ? NULL : mst_append(&t->lines, &t->line_count, sizeof *to);
    t->failed |= to == NULL;
    if (to != NULL)
        *to = *line;
}

void mst_doc_row(struct mst_doc_table *t, enum mst_style style)
{
    begin_line(t, &(struct mst_doc_line){ .style = style });
}

void mst_doc_foot(struct mst_doc_table *t)
{
    begin_line(t, &(struct mst_doc_line){ .style = MST_STYLE_PLAIN, .is_foot = true });
}

void mst_doc_number_of(struct mst_doc_table *t, enum mst_quantity quantity, uint64_t value)
{
    struct mst_doc_cell *cell = next_cell(t);

    if (cell != NULL)
        *cell = (struct mst_doc_cell){ .is = MST_DOC_VALUE, .value = value,
                                       .quantity = quantity };
}

void mst_doc_number(struct mst_doc_table *t, uint64_t value)
{
    mst_doc_number_of(t, t->columns[t->cell_count % t->width].quantity, value);
}

void mst_doc_known(struct mst_doc_table *t, uint64_t value)
{
    if (value != MST_UNKNOWN)
        mst_doc_number(t, value);
    else
        mst_doc_blank(t);
}

__attribute__((format(printf, 2, 0)))
static void put_words(struct mst_doc_table *t, const char *format, va_list args)
{
    struct mst_doc_cell *cell = next_cell(t);

    if (cell != NULL)
        *cell = (struct mst_doc_cell){ .is = MST_DOC_TEXT_CELL, .text = keep(t, format, args) };
}

void mst_doc_words(struct mst_doc_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_words(t, format, args);
    va_end(args);
}

void mst_doc_pairs_begin(struct mst_doc_table *t)
{
    static const struct mst_doc_column columns[] = {
        { "", .kind = MST_DOC_LABEL }, { "", .kind = MST_DOC_WORDS },
    };

    mst_doc_table_begin(t, columns, 2);
}

void mst_doc_pair(struct mst_doc_table *t, const char *name, const char *format, ...)
{
    va_list args;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", name);
    va_start(args, format);
    put_words(t, format, args);
    va_end(args);
}

void mst_doc_real(struct mst_doc_table *t, double value, const char *shown)
{
    if (!isfinite(value)) {
        mst_doc_number(t, MST_UNKNOWN);
        return;
    }
    mst_doc_words(t, "%s", shown);
    if (!t->failed) {
        t->cells[t->cell_count - 1].is = MST_DOC_REAL;
        t->cells[t->cell_count - 1].real = value;
    }
}

void mst_doc_sub(struct mst_doc_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!t->failed)
        t->cells[t->cell_count - 1].sub = keep(t, format, args);
    va_end(args);
}

void mst_doc_published(struct mst_doc_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!t->failed)
        t->cells[t->cell_count - 1].published = keep(t, format, args);
    va_end(args);
}

void mst_doc_link(struct mst_doc_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!t->failed)
        t->cells[t->cell_count - 1].link = keep(t, format, args);
    va_end(args);
}

void mst_doc_blank(struct mst_doc_table *t)
{
    struct mst_doc_cell *cell = next_cell(t);

    if (cell != NULL)
        *cell = (struct mst_doc_cell){ .is = MST_DOC_BLANK };
}

void mst_doc_swatch(struct mst_doc_table *t, const char *colour)
{
    if (!t->failed)
        t->cells[t->cell_count - 1].colour = colour;
}

void mst_doc_bar_above(struct mst_doc_table *t, const struct mst_doc_bar *bar)
{
    if (!t->failed)
        t->cells[t->cell_count - 1].bar = bar;
}

void mst_doc_note(struct mst_doc_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!t->failed)
        t->lines[t->line_count - 1].note = keep(t, format, args);
    va_end(args);
}

void mst_doc_key(struct mst_doc_table *t, const char *key)
{
    if (!t->failed)
        t->lines[t->line_count - 1].key = key;
}

void mst_doc_group(struct mst_doc_table *t, const char *name)
{
    begin_line(t, &(struct mst_doc_line){ .is_group = true });
    mst_doc_note(t, "%s", name);
}

void mst_doc_table_end(struct mst_doc_table *t, const struct mst_doc *doc, const char *name,
                       const char *class)
{
    fill_line(t);
    if (t->failed)
        mst_sink_fail(doc->sink, ENOMEM);
    else if (t->line_count > 0 && doc->format == MST_DOC_TEXT)
        mst_doc_table_text(doc, t);
    else if (t->line_count > 0 && doc->format == MST_DOC_HTML)
        mst_doc_table_html(doc, t, name, class);
    else if (t->line_count > 0)
        mst_doc_table_markdown(doc, t);
    free(t->lines);
    free(t->cells);
    free(t->texts);
}

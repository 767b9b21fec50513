/* table.h - a table, made once and written in each format: see doc.h.
 *
 * Its columns say what is in them, and so how it is written: a number by its quantity, to the
 * right; words and labels to the left. A row gives its cells in the order of the columns, also
 * those of hidden ones. What is not known is a dash.
 *
 *     static const struct mst_doc_column columns[] = {
 *         { "server", .kind = MST_DOC_NAME },
 *         { "mean", .quantity = MST_QUANTITY_TIME },
 *     };
 *     struct mst_doc_table t;
 *
 *     mst_doc_table_begin(&t, columns, 2);
 *     mst_doc_row(&t, MST_STYLE_PLAIN);
 *     mst_doc_words(&t, "%s", server->name);
 *     mst_doc_number(&t, server->mean_ns);
 *     mst_doc_table_end(&t, doc, "Servers", "servers");
 */
#ifndef MPMSTAT_DOC_TABLE_H
#define MPMSTAT_DOC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/bar.h"
#include "doc/doc.h"
#include "doc/quantity.h"

enum mst_doc_kind {
    MST_DOC_NUMBER,
    MST_DOC_WORDS,
    MST_DOC_LABEL,      /* the row's name where it is short: it stands first */
    MST_DOC_NAME        /* the row's name; text has it last, where a long one can wrap */
};

struct mst_doc_column {
    const char       *name;      /* on a page and in Markdown */
    const char       *sub;       /* what of it: "at most"; NULL: nothing */
    const char       *word;      /* in text, where there is little room; NULL: the name */
    enum mst_doc_kind kind;
    enum mst_quantity quantity;  /* of numbers */
    const char       *key;       /* a page's scripts find its cells by this promised name, which is
                                  * their data-metric; NULL: none */
};

/* Belongs to table.c and the writers. */
struct mst_doc_cell {
    enum { MST_DOC_BLANK, MST_DOC_VALUE, MST_DOC_REAL, MST_DOC_TEXT_CELL } is;
    uint64_t value;              /* of VALUE */
    enum mst_quantity quantity;  /* the same */
    double   real;               /* the number of a REAL cell */
    size_t   text;               /* what a REAL or TEXT_CELL shows: where it begins in `texts` */
    size_t   sub, published, link;   /* where these begin in `texts`; 0: the cell has none */
    const char *colour;          /* the same: NULL: none */
    const struct mst_doc_bar *bar;   /* the same */
};
struct mst_doc_line {
    enum mst_style style;
    bool   is_group, is_foot;
    size_t note;                 /* in `texts`; 0: none. Of a group, its name */
    const char *key;             /* NULL: none */
};
struct mst_doc_table {
    const struct mst_doc_column *columns;
    size_t               width;  /* columns */
    unsigned             hidden; /* 1u << column each, of the first 32 */
    bool                 is_captioned;
    size_t               sorted; /* a column, from 1; 0: none */
    size_t               line_count, cell_count, used, room;
    struct mst_doc_line *lines;
    struct mst_doc_cell *cells;  /* line_count times width; a group's are blank */
    char                *texts;  /* NUL behind each; the first is "" */
    bool                 failed; /* memory ran out: the sink will fail */
};

/* `columns` lives as long as the table. Where none of them has a name, a page and text have no
 * head. */
void mst_doc_table_begin(struct mst_doc_table *t, const struct mst_doc_column *columns,
                         size_t width);

/* The same for names and what each is: each row is one of mst_doc_pair(). */
void mst_doc_pairs_begin(struct mst_doc_table *t);
void mst_doc_pair(struct mst_doc_table *t, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* On a page, the table's name stands above it; it stands instead of the head where there is one
 * column beside the names. */
void mst_doc_captioned(struct mst_doc_table *t);

/* No format shows this column, which is one of the first 32. */
void mst_doc_hide(struct mst_doc_table *t, size_t column);

/* The rows stand in the order of this column, the largest first. A page's readers can sort them. */
void mst_doc_sorted(struct mst_doc_table *t, size_t column);

/* Begins a row. STRONG: it stands out, as a sum does; WARNING: it is bad. */
void mst_doc_row(struct mst_doc_table *t, enum mst_style style);

/* The same of the last row, which stays where it is: that of all others, or a sum. */
void mst_doc_foot(struct mst_doc_table *t);

/* The next cell of the row: a number, MST_UNKNOWN: it is not known; words; nothing, since there is
 * no such thing. */
void mst_doc_number(struct mst_doc_table *t, uint64_t value);
/* The same; a value that is not known is left blank, since there cannot be one. */
void mst_doc_known(struct mst_doc_table *t, uint64_t value);
/* A number where rows differ in what they count. */
void mst_doc_number_of(struct mst_doc_table *t, enum mst_quantity quantity, uint64_t value);
void mst_doc_words(struct mst_doc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mst_doc_blank(struct mst_doc_table *t);

/* A number in seconds, bytes or plain, and how people read it; NaN: it is not known. */
void mst_doc_real(struct mst_doc_table *t, double value, const char *shown);

/* The cell before has this below it on a page, in brackets behind it in Markdown; and what a study
 * published for it. Text leaves both out. */
void mst_doc_sub(struct mst_doc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mst_doc_published(struct mst_doc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The cell before, a name, leads to the page's element of this id. */
void mst_doc_link(struct mst_doc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The cell before gets a patch of this colour of charts, which is a constant. */
void mst_doc_swatch(struct mst_doc_table *t, const char *colour);

/* The cell before, of words, has this bar above them, which lives as long as the table. */
void mst_doc_bar_above(struct mst_doc_table *t, const struct mst_doc_bar *bar);

/* A sentence about the row. */
void mst_doc_note(struct mst_doc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A page's scripts find the row by this promised name, a constant: it is the row's data-metric. */
void mst_doc_key(struct mst_doc_table *t, const char *key);

/* A line that says what the rows below it are. */
void mst_doc_group(struct mst_doc_table *t, const char *name);

/* Writes it, where it has a row, and frees it. name: for readers who do not see it; class: its look
 * on a page. */
void mst_doc_table_end(struct mst_doc_table *t, const struct mst_doc *doc, const char *name,
                       const char *class);

#endif

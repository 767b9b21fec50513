/* doc.h - writes a document once for all formats: text for a terminal, HTML, Markdown.
 *
 * A report is a function that calls these one after the other; what a format cannot show, its
 * writer leaves out. All that is filled in is escaped for the format. A table is made by itself:
 * doc/table.h.
 *
 *     mst_doc_heading(doc, "Generators of the load");
 *     mst_doc_paragraph(doc, MST_STYLE_WARNING, "%s took %s.", name, time);
 */
#ifndef MPMSTAT_DOC_H
#define MPMSTAT_DOC_H

#include "console/style.h"
#include "render/sink.h"

enum mst_doc_format { MST_DOC_TEXT, MST_DOC_HTML, MST_DOC_MARKDOWN };

struct mst_doc {
    struct mst_sink    *sink;
    enum mst_doc_format format;
    unsigned            width;     /* columns of a line of text; the other formats have none */
};

static inline struct mst_doc mst_doc_text(struct mst_sink *sink, unsigned width)
{
    return (struct mst_doc){ sink, MST_DOC_TEXT, width };
}

static inline struct mst_doc mst_doc_html(struct mst_sink *sink)
{
    return (struct mst_doc){ sink, MST_DOC_HTML, 0 };
}

static inline struct mst_doc mst_doc_markdown(struct mst_sink *sink)
{
    return (struct mst_doc){ sink, MST_DOC_MARKDOWN, 0 };
}

/* The name of what follows: in HTML <h3>, in Markdown ####. Text has none: it is for those who
 * know what they look for, and a table's head names what it has. */
void mst_doc_heading(const struct mst_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sentences. An empty text is not a paragraph. */
void mst_doc_paragraph(const struct mst_doc *doc, enum mst_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A paragraph only where there is room to explain: not in text. */
void mst_doc_explain(const struct mst_doc *doc, const char *sentences);

/* One of several sentences, each of something that has a name: a date, a side. */
void mst_doc_item(const struct mst_doc *doc, enum mst_style style, const char *name,
                  const char *sentence);

/* What only some readers want is folded on a page and in Markdown. Text does not fold: `summary`
 * stands above it there. */
void mst_doc_details_begin(const struct mst_doc *doc, const char *summary);
void mst_doc_details_end(const struct mst_doc *doc);

/* A blank line of text: what follows is about something else. The other formats have space. */
void mst_doc_space(const struct mst_doc *doc);

#endif

/* doc.c - headings and paragraphs in each format: see doc.h. */
#include "doc/doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "doc/lines.h"
#include "doc/markup.h"

#define INDENT 2u    /* blanks before each line of text */

/* Free it; NULL: the sink fails, since memory ran out. */
__attribute__((format(printf, 2, 0)))
static char *text_of(const struct mst_doc *doc, const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) >= 0)
        return text;
    mst_sink_fail(doc->sink, ENOMEM);
    return NULL;
}

static void put_heading(const struct mst_doc *doc, const char *text)
{
    if (doc->format == MST_DOC_HTML)
        mst_html(doc->sink, "<h3>%s</h3>\n", text);
    else if (doc->format == MST_DOC_MARKDOWN)
        mst_markdown(doc->sink, "\n#### %s\n", text);
}

static void put_paragraph(const struct mst_doc *doc, enum mst_style style, const char *text)
{
    bool is_warning = style == MST_STYLE_WARNING || style == MST_STYLE_ERROR;

    switch (doc->format) {
    case MST_DOC_TEXT:
        mst_wrapped_styled(doc->sink, style, "", INDENT, doc->width, text);
        break;
    case MST_DOC_HTML:
        mst_html(doc->sink, is_warning ? "<p class=\"warning\">%s</p>\n" : "<p>%s</p>\n", text);
        break;
    case MST_DOC_MARKDOWN:
        mst_markdown(doc->sink, style != MST_STYLE_PLAIN ? "\n**%s**\n" : "\n%s\n", text);
        break;
    }
}

void mst_doc_heading(const struct mst_doc *doc, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = text_of(doc, format, args);
    va_end(args);
    if (text != NULL)
        put_heading(doc, text);
    free(text);
}

void mst_doc_paragraph(const struct mst_doc *doc, enum mst_style style, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = text_of(doc, format, args);
    va_end(args);
    if (text != NULL && text[0] != '\0')
        put_paragraph(doc, style, text);
    free(text);
}

void mst_doc_explain(const struct mst_doc *doc, const char *sentences)
{
    if (doc->format != MST_DOC_TEXT)
        put_paragraph(doc, MST_STYLE_PLAIN, sentences);
}

void mst_doc_item(const struct mst_doc *doc, enum mst_style style, const char *name,
                  const char *sentence)
{
    switch (doc->format) {
    case MST_DOC_TEXT:
        mst_doc_paragraph(doc, style, "%s: %s", name, sentence);
        break;
    case MST_DOC_HTML:
        mst_html(doc->sink, "<p><strong>%s</strong>: %s</p>\n", name, sentence);
        break;
    case MST_DOC_MARKDOWN:
        mst_markdown(doc->sink, "\n- **%s**: %s\n", name, sentence);
        break;
    }
}

void mst_doc_details_begin(const struct mst_doc *doc, const char *summary)
{
    if (doc->format == MST_DOC_TEXT)
        mst_line(doc->sink, "  %s", summary);
    else
        mst_html(doc->sink, "\n<details><summary>%s</summary>\n", summary);
}

void mst_doc_details_end(const struct mst_doc *doc)
{
    if (doc->format != MST_DOC_TEXT)
        mst_sink_puts(doc->sink, "\n</details>\n");
}

void mst_doc_space(const struct mst_doc *doc)
{
    if (doc->format == MST_DOC_TEXT)
        mst_sink_char(doc->sink, '\n');
}

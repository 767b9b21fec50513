/* page.h - what every page that mpmstat writes to a file consists of: the head with the
 * style, the title, the footer, the scripts with their JSON, and the small pieces of HTML
 * between them.
 *
 * A page is one file and needs nothing else: a Content-Security-Policy allows exactly
 * its scripts and its style, by their hashes, and no connection at all. Numbers are
 * <data> elements: the text for people, the value for programs.
 */
#ifndef MPMSTAT_PAGE_H
#define MPMSTAT_PAGE_H

#include "console/format.h"
#include "render/sink.h"
#include "report/metrics.h"

enum mst_page_kind { MST_PAGE_RUNS, MST_PAGE_STUDY };   /* assets/report.js, assets/study.js */

struct mst_page {
    enum mst_page_kind kind;
    const char *title, *brand;       /* brand: the small line above the title */
    const char *sub;                 /* the line below it */
    const char *skip_to, *skip_text; /* the first thing to read: an id, "To the verdict" */
};

/* All up to the title and the line below it, within <header>. */
void mst_page_begin(struct mst_sink *sink, const struct mst_page *page);
/* The footer, and the scripts: put_data writes the JSON that they read. Returns what it
 * returned. */
typedef int mst_page_data(struct mst_sink *sink, const void *of, char *error);
int  mst_page_end(struct mst_sink *sink, const struct mst_page *page, mst_page_data *put_data,
                  const void *of, char *error);

/* HTML as it is; a string as text. */
static inline void raw(struct mst_sink *sink, const char *html)
{
    mst_sink_puts(sink, html);
}

static inline void text(struct mst_sink *sink, const char *string)
{
    mst_sink_html_string(sink, string);
}

void mst_page_textf(struct mst_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* <TAG>string</TAG>, where there is a string; a tag may have attributes. */
void mst_page_element(struct mst_sink *sink, const char *tag, const char *string);

/* The value for programs, `shown` for people; "not known". */
void mst_page_number(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                     struct mst_human shown);
void mst_page_cell(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                   struct mst_human shown);
/* "35.9 us" with the letter that a page can have. */
void mst_page_human(struct mst_sink *sink, const char *value);

/* Begins a table that scrolls in itself where it is too wide; its name is for screen
 * readers. Ends with MST_PAGE_TABLE_END. */
void mst_page_table(struct mst_sink *sink, const char *name, const char *class);
#define MST_PAGE_TABLE_END "</tbody></table></div>\n"

/* A row of a name and its value, where there is one. */
void mst_page_pair(struct mst_sink *sink, const char *name, const char *value);

#endif

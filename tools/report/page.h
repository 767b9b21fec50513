/* page.h - the frame of every page that mpmstat writes to a file: the head with the style, the
 * title, the footer, the scripts with their JSON; and what both kinds of page show of parts.
 *
 * A page is one file and needs nothing else: its Content-Security-Policy allows exactly its
 * scripts and its style, by their hashes, and no connection.
 */
#ifndef MPMSTAT_PAGE_H
#define MPMSTAT_PAGE_H

#include "doc/quantity.h"
#include "render/sink.h"
#include "report/metrics.h"

/* Drawn by assets/report.js; by assets/study.js; a page without scripts. */
enum mst_page_kind { MST_PAGE_RUNS, MST_PAGE_STUDY, MST_PAGE_PLAIN };

struct mst_html_page {
    enum mst_page_kind kind;
    const char *title, *brand;       /* brand: the small line above the title */
    const char *sub;                 /* the line below it */
    const char *skip_to, *skip_text; /* the first thing to read: an id, "To the verdict" */
};

/* Everything up to the title and the line below it, within <header>. */
void mst_page_begin(struct mst_sink *sink, const struct mst_html_page *page);
/* The footer and the scripts; put_data writes the JSON that they read. Returns what put_data
 * returned. A page without scripts has none: 0. */
typedef int mst_page_data(struct mst_sink *sink, const void *of, char *error);
int  mst_page_end(struct mst_sink *sink, const struct mst_html_page *page, mst_page_data *put_data,
                  const void *of, char *error);

/* Stands where scripts draw charts. */
#define MST_PAGE_NO_SCRIPT \
    "<noscript><p>The charts need JavaScript; their numbers are in the JSON at the end of this " \
    "page.</p></noscript>"

#endif

/* negotiate.h - which format is wanted, and what else the status page was asked for. */
#ifndef MPMSTAT_NEGOTIATE_H
#define MPMSTAT_NEGOTIATE_H

#include "base/error.h"
#include "render/cursor.h"
#include "render/fields_table.h"
#include "render/journal.h"
#include "render/render.h"

const char *mst_format_name(enum mst_format format);
const char *mst_format_content_type(enum mst_format format);

/* Whether it is one of Prometheus's formats. */
bool mst_format_is_metrics(enum mst_format format);

/* Whether the format shows the exemplars of a snapshot, where they were read. */
bool mst_format_has_exemplars(enum mst_format format);

/* The format called `name`, one of the first `among` (MST_FORMAT_SNAPSHOTS or
 * MST_FORMAT_COUNT). Returns 0, or -1 with a sentence that lists the valid ones. */
int mst_format_parse(enum mst_format *format, const char *name, enum mst_format among,
                     char error[MST_ERROR_MAX]);

/* The same for the table of metrics: "text", "json" or "md". */
int mst_fields_format_parse(enum mst_fields_format *format, const char *name,
                            char error[MST_ERROR_MAX]);

/* The format that an Accept header prefers. Text where it is NULL or empty, or names no format
 * that exists. */
enum mst_format mst_format_accepted(const char *accept);

#define MST_QUERY_BOARD_MAX 200u   /* bytes of a board's name or path, with its NUL */

/* What the status page was asked for. */
struct mst_status_query {
    enum mst_format format;
    char            since[MST_CURSOR_MAX];   /* journal only; empty: not given */
    size_t          limit;                   /* journal only; MST_JOURNAL_PAGE_MAX if not given */
    bool            lifecycle_only;          /* journal only */
    char            board[MST_QUERY_BOARD_MAX];   /* journal only; the base name, or the path, of
                                                  * one of the boards shown; empty: not given */
    struct mst_histograms_wanted histograms;      /* metrics only */
};

/* Reads the query string (without '?'; NULL: none) and the Accept header (NULL: none), which
 * counts where the query names no format. Returns 0, or -1 with a sentence for a response 400
 * that says what is valid. */
int mst_status_query_parse(struct mst_status_query *query, const char *text, const char *accept,
                           char error[MST_ERROR_MAX]);

#endif

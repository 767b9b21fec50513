/* render.h - snapshots as text, JSON, metrics and a page; the journal as lines of JSON;
 * the field table as documentation. For the module's handler and the tool.
 *
 * Collect, snapshot, render: nothing here looks at a board, but the journal,
 * which is records and no snapshot.
 */
#ifndef MPMSTAT_RENDER_H
#define MPMSTAT_RENDER_H

#include "read/copy.h"
#include "read/snapshot.h"
#include "render/sink.h"

/* X(SUFFIX, "name", "content type"). The journal stays last. */
#define MST_FORMATS(X) \
    X(TEXT,        "text",        "text/plain; charset=utf-8")                                  \
    X(JSON,        "json",        "application/json")                                           \
    X(OPENMETRICS, "openmetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8") \
    X(PROMETHEUS,  "prometheus",  "text/plain; version=0.0.4; charset=utf-8")                   \
    X(HTML,        "html",        "text/html; charset=utf-8")                                   \
    X(JOURNAL,     "journal",     "application/x-ndjson")

#define MST_FORMAT_MEMBER(suffix, name, type) MST_FORMAT_##suffix,
enum mst_format { MST_FORMATS(MST_FORMAT_MEMBER) MST_FORMAT_COUNT };
#undef MST_FORMAT_MEMBER

/* The formats before this one are those of `mpmstat status`: snapshots, whole in themselves.
 * (A page goes on asking the server that it came from.) */
#define MST_FORMAT_SNAPSHOTS MST_FORMAT_HTML

/* A board that should be shown and could not be read. */
struct mst_unreadable {
    const char *board;    /* its path */
    const char *reason;   /* a sentence */
};

/* What is rendered together. Borrowed. */
struct mst_shown {
    const struct mst_snapshot *const *boards;
    size_t                            count;
    const struct mst_unreadable      *unreadable;   /* not named in metrics */
    size_t                            unreadable_count;
};

/* Renders boards in a format (not the journal) and flushes the sink. Returns the
 * sink's error: 0 where all of it was written. */
int mst_render(struct mst_sink *sink, enum mst_format format, const struct mst_shown *shown);

/* The same one by one, without the flush. */
void mst_render_text(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_json(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_openmetrics(struct mst_sink *sink, const struct mst_snapshot *const *boards,
                            size_t count);
void mst_render_prometheus(struct mst_sink *sink, const struct mst_snapshot *const *boards,
                           size_t count);

/* A page that shows the boards, and newer snapshots of the URL that it came from. */
void mst_render_html(struct mst_sink *sink, const struct mst_shown *shown);

/* The Content-Security-Policy to send it with: it runs what is in it, asks nobody but its own
 * server, and is in no frame. */
extern const char mst_html_policy[];

/* ---- which format ------------------------------------------------------------ */

const char *mst_format_name(enum mst_format format);
const char *mst_format_content_type(enum mst_format format);

/* The format called `name`, one of the first `among` (MST_FORMAT_SNAPSHOTS or
 * MST_FORMAT_COUNT). Returns 0, or -1 with a sentence that lists the valid ones. */
int mst_format_parse(enum mst_format *format, const char *name, enum mst_format among,
                     char error[MST_ERROR_MAX]);

/* The format that an Accept header prefers. Text where it is NULL, empty or
 * wants nothing that there is. */
enum mst_format mst_format_accepted(const char *accept);

#define MST_CURSOR_MAX        88u      /* bytes of a cursor, with its NUL */
#define MST_QUERY_BOARD_MAX   200u     /* bytes of a board's name, with its NUL */
#define MST_JOURNAL_PAGE_MAX  20000u   /* records of a kind in one answer (some 10 MB of lines) */

/* What the status page was asked for. */
struct mst_status_query {
    enum mst_format format;
    char            since[MST_CURSOR_MAX];   /* journal only; empty: not given */
    size_t          limit;                   /* journal only; MST_JOURNAL_PAGE_MAX if not given */
    bool            lifecycle_only;          /* journal only */
    char            board[MST_QUERY_BOARD_MAX];   /* journal only; whose: the base name of one
                                              * of the boards shown; empty: not given */
};

/* Reads the query string (without '?'; NULL: none) and the Accept header (NULL:
 * none), which counts where the query names no format. Returns 0, or -1 with a
 * sentence for a 400 that says what is valid. */
int mst_status_query_parse(struct mst_status_query *query, const char *text, const char *accept,
                    char error[MST_ERROR_MAX]);

/* ---- the journal ------------------------------------------------------------- */

/* A place in the journal of one start of a server, as text
 * "STARTED-REQUEST-EVENT", of a PHP's "STARTED-REQUEST-EVENT-MARK": started_ns in
 * hexadecimal digits, the next tickets of the rings in decimal. To clients it is
 * opaque. */
struct mst_cursor {
    uint64_t started_ns, request, lifecycle;
    uint64_t mark;   /* 0: an Apache's, which has none */
};

/* Returns 0, or -1: not a cursor. */
int  mst_cursor_parse(struct mst_cursor *cursor, const char *text);
void mst_cursor_print(struct mst_sink *sink, const struct mst_cursor *cursor);

enum mst_journal_result {
    MST_JOURNAL_OK = 0,
    MST_JOURNAL_UNREADABLE = -1,   /* the board cannot be read */
    MST_JOURNAL_BAD_CURSOR = -2,   /* the asker's mistake: a 400 */
    MST_JOURNAL_CUT        = -3    /* the board became unreadable: the last line is missing */
};

/* Writes what has come since a cursor as lines of JSON: lifecycle events, then
 * requests (a PHP's have "php_request"), then a PHP's marks, each kind in the order of
 * its tickets, at most `limit` (not 0) of each; then
 *   {"next":CURSOR,"lost":N,"more":BOOL}
 * and flushes. lifecycle_only: no others than lifecycle events; the cursor goes on behind
 * the others that there are. since: a cursor that an earlier answer named; NULL, "" or "now":
 * no records, only where the journal is now; "start": from the oldest there is.
 *
 * It holds some 40 KB, however large the answer is and however slowly the sink takes it.
 *
 * Whoever goes on asking from `next` gets every record once, or is told in
 * `lost` how many it did not get: overwritten before they were written here, or never
 * completed by a writer that was killed. A record that is still being written is
 * waited for, with all that came after it: the answer ends before it and says
 * "more", as it does where the limit was reached. (Where it has no line but says
 * "more": ask again a little later.) A cursor of an earlier start of the server
 * gives all there is of this one, and "lost":null: nobody knows.
 *
 * On a failure error is a sentence, and nothing has been written but where it is
 * MST_JOURNAL_CUT. Whether the writing itself went well is the sink's to say. */
enum mst_journal_result mst_render_journal(struct mst_sink *sink, const struct mst_reader *reader,
                                           const char *since, size_t limit, bool lifecycle_only,
                                           char error[MST_ERROR_MAX]);

/* ---- the field table ----------------------------------------------------------- */

enum mst_fields_format { MST_FIELDS_TEXT, MST_FIELDS_JSON, MST_FIELDS_MARKDOWN };

/* Returns 0 for "text", "json" or "md"; or -1 with a sentence. */
int mst_fields_format_parse(enum mst_fields_format *format, const char *name,
                            char error[MST_ERROR_MAX]);

/* Every metric: what it is and what each format calls it. Flushes the sink and
 * returns its error. */
int mst_render_fields(struct mst_sink *sink, enum mst_fields_format format);

#endif

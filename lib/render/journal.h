/* journal.h - a board's journal as lines of JSON. */
#ifndef MPMSTAT_RENDER_JOURNAL_H
#define MPMSTAT_RENDER_JOURNAL_H

#include "render/sink.h"
#include "segment/reader.h"

#define MST_JOURNAL_PAGE_MAX 20000u   /* records of a kind in one answer: about 10 MB */

enum mst_journal_result {
    MST_JOURNAL_OK = 0,
    MST_JOURNAL_UNREADABLE = -1,   /* the board cannot be read */
    MST_JOURNAL_BAD_CURSOR = -2,   /* the client's mistake: a response 400 */
    MST_JOURNAL_CUT        = -3    /* the board became unreadable: the last line is missing */
};

/* Writes the records since a cursor as lines of JSON: lifecycle events, then requests (those of
 * PHP's boards have "php_request"), then PHP's marks or Apache's late deliveries. Each kind is in
 * the order of its tickets, and at most `limit` (1 or more) long. The last line is
 *   {"next":CURSOR,"lost":N,"more":BOOL}
 * Then it flushes the sink. lifecycle_only: leaves out the other kinds, and the cursor skips
 * them. since: a cursor that an earlier answer named; NULL, "" or "now": no records, only the
 * cursor of the present; "start": from the oldest record; "last": the latest `limit` of each kind.
 *
 * It allocates about 70 KB, however large the answer is and however slowly the sink takes it.
 *
 * A client that goes on from `next` gets every record once, or learns from `lost` how many it
 * does not get: those overwritten before they were written here, and those never completed
 * because their writer was killed. Where a record is not complete yet, the answer ends before
 * it and says "more", as it does at the limit. (An answer without a record that says "more":
 * ask again a little later.) A cursor of an earlier start of the server gives all records of
 * this one, and "lost":null, which is unknown.
 *
 * On a failure error is a sentence, and nothing was written except for MST_JOURNAL_CUT. The
 * sink tells whether writing succeeded. */
enum mst_journal_result mst_render_journal(struct mst_sink *sink, const struct mst_reader *reader,
                                           const char *since, size_t limit, bool lifecycle_only,
                                           char error[MST_ERROR_MAX]);

#endif

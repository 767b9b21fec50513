/* cursor.h - a place in a board's journal, as text that clients send back. */
#ifndef MPMSTAT_CURSOR_H
#define MPMSTAT_CURSOR_H

#include <stdint.h>

#include "render/sink.h"

#define MST_CURSOR_MAX 88u   /* bytes of a cursor, with its NUL */

/* A place in the journal of one start of a server. As text "STARTED-REQUEST-EVENT-LATER", of a
 * board with two rings "STARTED-REQUEST-EVENT": started_ns in hexadecimal digits, the next tickets
 * of the rings in decimal. Clients need not understand it. */
struct mst_cursor {
    uint64_t started_ns, request, lifecycle;
    uint64_t later;   /* PHP's marks, Apache's deliveries; 0: no such ring, or the cursor of an
                       * Apache of a version that had none */
};

/* Returns 0, or -1 where the text is not a cursor. */
int  mst_cursor_parse(struct mst_cursor *cursor, const char *text);
void mst_cursor_print(struct mst_sink *sink, const struct mst_cursor *cursor);

#endif

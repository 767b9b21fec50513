/* script.h - JSON within HTML's <script>, such that nothing in it can end the script.
 *
 * A sink's writer over another sink: "<" becomes \u003c, so that neither "</script" nor "<!--"
 * appears; U+2028 and U+2029, which end a line in JavaScript, become \u2028 and \u2029. JSON has
 * all three only within strings.
 */
#ifndef MPMSTAT_SCRIPT_H
#define MPMSTAT_SCRIPT_H

#include "render/sink.h"

struct mst_script {
    struct mst_sink *to;
    unsigned char    held[2];    /* a beginning of U+2028 or U+2029, perhaps */
    size_t           held_count;
};

/* The context is a struct mst_script with `to` set and the rest zero. */
mst_sink_write mst_script_write;
/* Writes what is still held. */
void mst_script_end(struct mst_script *script);

#endif

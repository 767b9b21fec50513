/* held.h - the sentences of what holds the workers of servers (read/present.h). */
#ifndef MPMSTAT_HELD_H
#define MPMSTAT_HELD_H

#include "read/present.h"
#include "render/json_writer.h"

#define MST_HELD_MAX 768u   /* bytes of a sentence, with its NUL */

/* Names in it are as the board has them: it is to be escaped as they are. */
void mst_held_say(char sentence[MST_HELD_MAX], const struct mst_held *held);

/* Calls `take` for each group of held workers of boards that are shown together, the most telling
 * group first. `board` is the board of the group. Where memory runs out, `take` is not called. */
typedef void mst_held_take(void *context, const struct mst_snapshot *board,
                           const struct mst_held *held, const char *sentence);
void mst_held_tell(const struct mst_snapshot *const *boards, size_t count, mst_held_take *take,
                   void *context);

/* Adds `"code": {...}`: a place in PHP's code; null where it is not known. NULL: it is not. */
void mst_held_put_code(struct mst_json *j, const struct mst_code_at *code);

#endif

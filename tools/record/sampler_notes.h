/* sampler_notes.h - what a recording says of one of its servers: notes in the archive, each of
 * which is a warning, too. For sampler.c.
 *
 * Calls return 0, or -1 where the archive failed.
 */
#ifndef MPMSTAT_SAMPLER_NOTES_H
#define MPMSTAT_SAMPLER_NOTES_H

#include "record/sampler.h"

int mst_sampler_note(struct mst_sampler *s, const char *text);
/* Notes each sentence once, and at most MST_NOTES_MAX of them in an archive: a server could cause
 * new ones for ever. */
int mst_sampler_note_trouble(struct mst_sampler *s, const char *text);

/* The server has answered a look: it is no longer lost. */
int mst_sampler_see_answer(struct mst_sampler *s);
/* It has not, for this reason. */
int mst_sampler_see_no_answer(struct mst_sampler *s, const char *error);
/* Says from when to when it was lost; `end` says how that ended. Not of each outage: a server that
 * answers every second look would fill the archive. */
int mst_sampler_note_lost(struct mst_sampler *s, const char *end);

/* Says that its clock cannot be compared with others', if so. */
int mst_sampler_note_clock(struct mst_sampler *s);
/* Why CPU or memory is not known; "" if both are. */
void mst_sampler_say_unknown(const struct mst_sampler *s, char text[MST_ERROR_MAX]);

#endif

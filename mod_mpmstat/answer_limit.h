/* answer_limit.h - how many answers of the journal the server gives at once, all processes
 * together. Precondition of all but mst_answers_reset(): there is a board. */
#ifndef MPMSTAT_ANSWER_LIMIT_H
#define MPMSTAT_ANSWER_LIMIT_H

#include "mod_mpmstat.h"

/* A child begins, and gives no answer. */
void mst_answers_reset(void);

/* The limit, 1 or more. */
uint32_t mst_answer_limit(void);

/* Whether one more answer may be given now; if so, mst_answer_end() MUST follow it. */
bool mst_answer_begin(void);
void mst_answer_end(void);

#endif

/* words.h - mpmstat help WORD: what a word of reports means. */
#ifndef MPMSTAT_WORDS_H
#define MPMSTAT_WORDS_H

#include <stdbool.h>

#include "render/sink.h"

/* Writes what the word means: as a phase, an interval, a check, a finding, a metric. false: it is
 * none of these, and nothing is written. */
bool mst_words_explain(struct mst_sink *sink, const char *word);

/* All words and what each is, without the metrics, a line each. */
void mst_words_list(struct mst_sink *sink);

/* Names that the user may have meant by the word: "php_wait, php-workers". Each adds to the text;
 * the first only that name, if it is near. */
#define MST_MEANT_MAX 256u
void mst_words_add_meant(char text[MST_MEANT_MAX], const char *word, const char *name);
void mst_words_meant(char text[MST_MEANT_MAX], const char *word);

#endif

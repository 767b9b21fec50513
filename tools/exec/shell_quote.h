/* words.h - a command's words, and as text. */
#ifndef MPMSTAT_WORDS_H
#define MPMSTAT_WORDS_H

/* As a JSON array of strings, and quoted so that a shell would read the same
 * words. argv ends with NULL, or is NULL: no words. NULL: out of memory. Free
 * with free(). */
char *mst_words_json(char *const *argv);
char *mst_words_shell(char *const *argv);

/* The word with `value` in place of each `mark`. NULL: out of memory. Free with free(). */
char *mst_word_replace(const char *word, const char *mark, const char *value);

/* What a load command has in it, for the page's address. */
#define MST_WORD_URL "${URL}"

#endif

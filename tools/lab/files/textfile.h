/* textfile.h - the lab's plain text files (stacks, workloads, studies): sections, facts, rows.
 *
 * A line "%% KIND [NAME] [WORD...]" begins a section; what follows, to the next such
 * line, is its body, verbatim. Before the first section are only comments (#) and empty
 * lines. What a body means is its kind's affair: text for a server, facts
 * ("key = value"), or rows of words. The library makes no difference between kinds.
 * Every error says file:line, what was expected and what was found.
 */
#ifndef MPMSTAT_LAB_TEXTFILE_H
#define MPMSTAT_LAB_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "memory/pool.h"

#define MST_TEXT_MAX (64u << 10)   /* bytes of a file */

struct mst_text_section {
    const char  *kind;
    const char  *name;         /* "": none */
    char       **words;        /* what else stands in its line, as "mode=0755" */
    size_t       word_count;
    unsigned     line;         /* of the %% line; the body begins in the next */
    const char  *body;         /* ends with a newline, or is "" */
};

struct mst_text {
    apr_pool_t *pool;          /* all of it is there, and what is read from it: facts, rows */
    const char *path;          /* for messages */
    char  *contents;           /* the file, as read */
    char  *about;              /* the comments before the first section, without # */
    size_t count;
    struct mst_text_section *sections;
    char  *storage;            /* what the bodies point at */
};

/* Reads a file, or takes one from memory (path is for messages). 0, or -1 with a sentence. */
int mst_text_read(apr_pool_t *pool, struct mst_text *text, const char *path,
                  char error[MST_ERROR_MAX]);
int mst_text_parse(apr_pool_t *pool, struct mst_text *text, const char *path, const char *bytes,
                   size_t length, char error[MST_ERROR_MAX]);

/* The bytes of such a file alone, with a NUL behind them. NULL with a sentence: it cannot be read,
 * or is larger. */
char *mst_text_load(apr_pool_t *pool, const char *path, size_t *length,
                    char error[MST_ERROR_MAX]);

/* "FILE:LINE: SENTENCE" into error. Returns -1. */
int mst_text_fail(const struct mst_text *text, unsigned line, char error[MST_ERROR_MAX],
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The first section of this kind (and this name; NULL: any). NULL: there is none. */
const struct mst_text_section *mst_text_find(const struct mst_text *text, const char *kind,
                                             const char *name);

/* The value of a word KEY=VALUE of the section's line. NULL: there is none. */
const char *mst_section_word(const struct mst_text_section *section, const char *key);

/* ---- facts: key = value ----------------------------------------------------------- */

/* A # at the line's beginning or after white space begins a comment; a line that begins
 * with white space continues the value of the one before, joined with one space. */
struct mst_fact {
    char    *key, *value;
    char    *comment;          /* "" none */
    unsigned line;
};

struct mst_facts {
    const struct mst_text *text;
    unsigned         line;     /* of the section */
    size_t           count;
    struct mst_fact *items;
};

/* The facts of a section's body; no key twice. 0, or -1 with a sentence. */
int mst_facts_read(struct mst_facts *facts, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX]);

const struct mst_fact *mst_facts_find(const struct mst_facts *facts, const char *key);
/* The value, or `otherwise` where there is no such fact. */
const char *mst_facts_value(const struct mst_facts *facts, const char *key,
                            const char *otherwise);
/* The value of a fact that there must be, and not an empty one. NULL with a sentence. */
const char *mst_facts_need(const struct mst_facts *facts, const char *key,
                           char error[MST_ERROR_MAX]);
/* Whether it is yes; no where there is no such fact. 0, or -1 with a sentence. */
int mst_facts_flag(const struct mst_facts *facts, const char *key, bool *flag,
                   char error[MST_ERROR_MAX]);
/* That no other keys are there than these (NULL at the end). 0, or -1 with a sentence. */
int mst_facts_expect(const struct mst_facts *facts, const char *const *keys,
                     char error[MST_ERROR_MAX]);

/* ---- rows: words ------------------------------------------------------------------ */

/* A line's words; "in quotes" is one word. Comments as in facts. */
struct mst_row {
    unsigned line;
    size_t   count;
    char   **words;
};

struct mst_rows {
    size_t          count;
    struct mst_row *items;
};

/* The rows of a section's body; empty lines are none. 0, or -1 with a sentence. */
int mst_rows_read(struct mst_rows *rows, const struct mst_text *text,
                  const struct mst_text_section *section, char error[MST_ERROR_MAX]);
/* The same of a table: the first row names the columns, and each other has as many words. */
int mst_table_read(struct mst_rows *rows, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX]);

/* The words of a line or a value, NULL at their end, and how many they are. NULL: a quote does not
 * end. */
char **mst_words_split(apr_pool_t *pool, const char *line, size_t *count);

/* ---- between textfile.c and bodies.c ---- */

/* Whether a comment begins at `at` of the line. */
bool mst_is_comment(const char *line, const char *at);

#endif

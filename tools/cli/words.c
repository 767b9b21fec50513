/* words.c - what a word of reports means, from the tables that have it: see words.h. */
#include "cli/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/finding.h"
#include "console/nearest.h"
#include "doc/lines.h"
#include "render/fields_table.h"
#include "segment/parts.h"

#define INDENT 2u

static const struct word {
    const char *name, *kind, *meaning, *todo;
    enum mst_part part;   /* MST_PART_COUNT: none */
} words[] = {
#define X_WORD(name, kind, meaning, todo) { name, kind, meaning, todo, MST_PART_COUNT },
#include "cli/words.def"
#undef X_WORD
#define OF_QUEUE  "an interval of the phase queue"
#define OF_READ   "an interval of the phase read"
#define OF_HANDLE "an interval of the phase handle"
#define OF_SEND   "an interval of the phase send"
#define MST_INTERVAL_PART(id, within, name, colour, noun, meaning, todo) \
    { name, OF_##within, meaning, todo, MST_PART_##id },
#define MST_WAIT_PART(id, name, colour, span, what, meaning, action) \
    { name, "a part of php_run", meaning, action, MST_PART_##id },
#include "segment/parts.def"
};
#define WORD_COUNT (sizeof words / sizeof *words)

static const struct code { const char *name, *group, *meaning, *evidence, *otherwise; } codes[] = {
#define X_CODE(id, name, group, meaning, evidence, otherwise) \
    { name, group, meaning, evidence, otherwise },
#include "analysis/codes.def"
#undef X_CODE
};

/* Formats write php_wait, findings php-workers, people either. */
static bool is_same(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
            (strchr("-_ ", *a) == NULL || strchr("-_ ", *b) == NULL))
            return false;
    return *a == *b;
}

static void put_title(struct mst_sink *sink, const char *name, const char *kind)
{
    char title[160];

    snprintf(title, sizeof title, "%s: %s", name, kind);
    mst_line_styled(sink, MST_STYLE_STRONG, "%s", title);
}

static void put_sentence(struct mst_sink *sink, const char *before, const char *sentence)
{
    char text[512];

    snprintf(text, sizeof text, "%s%s", before, sentence);
    mst_wrapped(sink, "", INDENT, MST_TEXT_WIDTH, text);
}

/* Tables call a part as mst_part_row() does. */
static bool is_called(const struct word *w, const char *name)
{
    return is_same(name, w->name) ||
           (w->part != MST_PART_COUNT && is_same(name, mst_part_row(w->part)));
}

static bool explain_words(struct mst_sink *sink, const char *word)
{
    bool found = false;
    size_t i;

    for (i = 0; i < WORD_COUNT; i++) {
        if (!is_called(&words[i], word))
            continue;
        put_title(sink, words[i].name, words[i].kind);
        put_sentence(sink, "", words[i].meaning);
        if (words[i].todo[0] != '\0')
            put_sentence(sink, "", words[i].todo);
        found = true;
    }
    return found;
}

static bool explain_code(struct mst_sink *sink, const char *word)
{
    char kind[64];
    size_t i;

    for (i = 0; i < MST_CODE_COUNT; i++) {
        if (!is_same(word, codes[i].name))
            continue;
        snprintf(kind, sizeof kind, "a finding (%s)", codes[i].group);
        put_title(sink, codes[i].name, kind);
        put_sentence(sink, "", codes[i].meaning);
        put_sentence(sink, "Evidence: ", codes[i].evidence);
        put_sentence(sink, "What would disprove it, or tell more: ", codes[i].otherwise);
        return true;
    }
    return false;
}

bool mst_words_explain(struct mst_sink *sink, const char *word)
{
    bool found;

    if (word[0] == '\0')
        return false;
    found = explain_words(sink, word);
    found = explain_code(sink, word) || found;
    if (mst_fields_match(word) != MST_FIELDS_NAMED)
        return found;
    if (found)
        put_sentence(sink, "Metrics: mpmstat fields ", word);
    else
        mst_render_fields(sink, MST_FIELDS_TEXT, MST_FIELDS_NAMED, word);
    return true;
}

void mst_words_list(struct mst_sink *sink)
{
    size_t i;

    for (i = 0; i < WORD_COUNT; i++)
        mst_line(sink, "%-18s %s", words[i].name, words[i].kind);
    for (i = 0; i < MST_CODE_COUNT; i++)
        mst_line(sink, "%-18s a finding (%s)", codes[i].name, codes[i].group);
}

/* ---- near misses ---------------------------------------------------------------------------- */

#define PART_MIN 3u   /* letters: fewer are in many words */

static bool may_mean(const char *word, const char *name)
{
    unsigned distance = mst_edit_distance(word, name);

    return (distance <= MST_SLIP_MAX && distance * 2 <= strlen(word)) ||
           (strlen(word) >= PART_MIN && strcasestr(name, word) != NULL);
}

/* Whether it is one of the names in the text. */
static bool is_in(const char *text, const char *name)
{
    size_t n = strlen(name);
    const char *at;

    for (at = text; (at = strstr(at, name)) != NULL; at += n)
        if ((at == text || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

void mst_words_add_meant(char text[MST_MEANT_MAX], const char *word, const char *name)
{
    size_t used = strlen(text);

    if (may_mean(word, name) && !is_in(text, name) && used + strlen(name) + 3 < MST_MEANT_MAX)
        snprintf(text + used, MST_MEANT_MAX - used, "%s%s", used > 0 ? ", " : "", name);
}

void mst_words_meant(char text[MST_MEANT_MAX], const char *word)
{
    size_t i;

    for (i = 0; i < WORD_COUNT; i++)
        mst_words_add_meant(text, word, words[i].name);
    for (i = 0; i < MST_CODE_COUNT; i++)
        mst_words_add_meant(text, word, codes[i].name);
}

/* bodies.c - what is in the sections of the lab's text files: facts and rows. See textfile.h. */
#include "lab/files/textfile.h"

#include <stdio.h>
#include <string.h>

static const char blank[] = " \t";

/* ---- the lines of a body ---------------------------------------------------------- */

struct cursor {
    const char *at;
    unsigned    number;      /* of the line last given */
    char       *line;        /* that line */
};

static struct cursor lines_of(const struct mst_text *text, const struct mst_text_section *section)
{
    return (struct cursor){ section->body, section->line,
                            apr_palloc(text->pool, strlen(section->body) + 1) };
}

static bool next_line(struct cursor *c)
{
    size_t length = strcspn(c->at, "\n");

    if (*c->at == '\0')
        return false;
    memcpy(c->line, c->at, length);
    c->line[length] = '\0';
    c->at += length + (c->at[length] == '\n');
    c->number++;
    return true;
}

static size_t count_lines(const char *body)
{
    size_t count = 1;

    for (; *body != '\0'; body++)
        count += *body == '\n';
    return count;
}

/* ---- facts ------------------------------------------------------------------------ */

/* Cuts white space off both ends. */
static char *trim(char *text)
{
    char *end;

    text += strspn(text, blank);
    for (end = text + strlen(text); end > text && strchr(blank, end[-1]) != NULL; end--)
        ;
    *end = '\0';
    return text;
}

/* Cuts the comment off the line and returns it, "" where there is none. */
static char *cut_comment(char *line)
{
    char *at;

    for (at = line; *at != '\0'; at++)
        if (mst_is_comment(line, at)) {
            *at = '\0';
            return trim(at + 1);
        }
    return at;
}

/* Both, with a space between them where both are something. */
static char *join(apr_pool_t *pool, const char *text, const char *more)
{
    return apr_pstrcat(pool, text, *text != '\0' && *more != '\0' ? " " : "", more, NULL);
}

static int add_fact(struct mst_facts *facts, char *line, char *comment, unsigned number,
                    char error[MST_ERROR_MAX])
{
    apr_pool_t *pool = facts->text->pool;
    char *equals = strchr(line, '=');
    const struct mst_fact *before;
    const char *key;

    if (equals == NULL || equals == line)
        return mst_text_fail(facts->text, number, error, "expected key = value, found \"%.60s\"",
                             trim(line));
    *equals = '\0';
    key = trim(line);
    if (key[strcspn(key, blank)] != '\0')
        return mst_text_fail(facts->text, number, error, "expected one word before the =, found "
                             "\"%.60s\"", key);
    before = mst_facts_find(facts, key);
    if (before != NULL)
        return mst_text_fail(facts->text, number, error, "%.60s is set a second time: it stands in "
                             "line %u already", key, before->line);
    facts->items[facts->count++] = (struct mst_fact){
        apr_pstrdup(pool, key), apr_pstrdup(pool, trim(equals + 1)), apr_pstrdup(pool, comment),
        number,
    };
    return 0;
}

static int take_fact_line(struct mst_facts *facts, char *line, unsigned number,
                          char error[MST_ERROR_MAX])
{
    bool continues = strchr(blank, line[0]) != NULL && line[0] != '\0';
    char *comment = cut_comment(line);
    struct mst_fact *last = facts->count > 0 ? &facts->items[facts->count - 1] : NULL;

    if (*trim(line) == '\0')
        return 0;
    if (!continues)
        return add_fact(facts, line, comment, number, error);
    if (last == NULL)
        return mst_text_fail(facts->text, number, error, "expected key = value; a line that begins "
                             "with white space continues a value, and there is none before it");
    last->value = join(facts->text->pool, last->value, trim(line));
    last->comment = join(facts->text->pool, last->comment, comment);
    return 0;
}

int mst_facts_read(struct mst_facts *facts, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    struct cursor cursor = lines_of(text, section);

    *facts = (struct mst_facts){ .text = text, .line = section->line };
    facts->items = apr_pcalloc(text->pool, count_lines(section->body) * sizeof *facts->items);
    while (next_line(&cursor))
        if (take_fact_line(facts, cursor.line, cursor.number, error) != 0)
            return -1;
    return 0;
}

const struct mst_fact *mst_facts_find(const struct mst_facts *facts, const char *key)
{
    size_t i;

    for (i = 0; i < facts->count; i++)
        if (strcmp(facts->items[i].key, key) == 0)
            return &facts->items[i];
    return NULL;
}

const char *mst_facts_value(const struct mst_facts *facts, const char *key, const char *otherwise)
{
    const struct mst_fact *fact = mst_facts_find(facts, key);

    return fact != NULL ? fact->value : otherwise;
}

const char *mst_facts_need(const struct mst_facts *facts, const char *key,
                           char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = mst_facts_find(facts, key);

    if (fact != NULL && fact->value[0] != '\0')
        return fact->value;
    mst_text_fail(facts->text, fact != NULL ? fact->line : facts->line, error,
                  "expected %s = ... in this section, found %s", key,
                  fact != NULL ? "nothing after the =" : "none");
    return NULL;
}

int mst_facts_flag(const struct mst_facts *facts, const char *key, bool *flag,
                   char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = mst_facts_find(facts, key);

    *flag = fact != NULL && strcmp(fact->value, "yes") == 0;
    if (fact == NULL || *flag || strcmp(fact->value, "no") == 0)
        return 0;
    return mst_text_fail(facts->text, fact->line, error, "expected %s = yes or %s = no, found "
                         "\"%.60s\"", key, key, fact->value);
}

int mst_facts_expect(const struct mst_facts *facts, const char *const *keys,
                     char error[MST_ERROR_MAX])
{
    char known[512] = "";
    size_t i, k;

    for (i = 0; i < facts->count; i++) {
        for (k = 0; keys[k] != NULL && strcmp(keys[k], facts->items[i].key) != 0; k++)
            ;
        if (keys[k] != NULL)
            continue;
        for (k = 0; keys[k] != NULL; k++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     k > 0 ? ", " : "", keys[k]);
        return mst_text_fail(facts->text, facts->items[i].line, error, "expected one of %s, found "
                             "\"%.60s\"", known, facts->items[i].key);
    }
    return 0;
}

/* ---- rows ------------------------------------------------------------------------- */

int mst_rows_read(struct mst_rows *rows, const struct mst_text *text,
                  const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    struct cursor cursor = lines_of(text, section);
    struct mst_row *row;

    *rows = (struct mst_rows){ 0 };
    rows->items = apr_pcalloc(text->pool, count_lines(section->body) * sizeof *rows->items);
    while (next_line(&cursor)) {
        row = &rows->items[rows->count];
        row->line = cursor.number;
        row->words = mst_words_split(text->pool, cursor.line, &row->count);
        if (row->words == NULL)
            return mst_text_fail(text, cursor.number, error, "a quote that begins here does not "
                                 "end in its line");
        rows->count += row->count > 0;
    }
    return 0;
}

int mst_table_read(struct mst_rows *rows, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    size_t i;

    if (mst_rows_read(rows, text, section, error) != 0)
        return -1;
    for (i = 1; i < rows->count; i++)
        if (rows->items[i].count != rows->items[0].count)
            return mst_text_fail(text, rows->items[i].line, error, "expected %zu words as in line "
                                 "%u, which names the columns, found %zu", rows->items[0].count,
                                 rows->items[0].line, rows->items[i].count);
    return 0;
}

/* textfile.c - the lab's text files: see textfile.h. */
#include "lab/files/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "%%"   /* begins a section's line */

static const char blank[] = " \t";

int mst_text_fail(const struct mst_text *text, unsigned line, char error[MST_ERROR_MAX],
                  const char *format, ...)
{
    char sentence[MST_ERROR_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return mst_fail(error, "%s:%u: %s", text->path, line, sentence);
}

/* ---- words ------------------------------------------------------------------------ */

/* Whether at `at` of the line begins a comment. */
static bool is_comment(const char *line, const char *at)
{
    return *at == '#' && (at == line || strchr(blank, at[-1]) != NULL);
}

/* Takes the next word off *at: into *out, with its NUL, and *word is where it begins. The
 * line ends at a comment. 1 there was one, 0 there is none, -1 its quote does not end. */
static int next_word(const char *line, const char **at, char **out, char **word)
{
    const char *c = *at + strspn(*at, blank);
    bool quoted = false;

    *at = c;
    if (*c == '\0' || is_comment(line, c))
        return 0;
    *word = *out;
    for (; *c != '\0' && (quoted || strchr(blank, *c) == NULL); c++) {
        if (*c == '"')
            quoted = !quoted;
        else
            *(*out)++ = *c;
    }
    *(*out)++ = '\0';
    *at = c;
    return quoted ? -1 : 1;
}

/* The words of a line in one allocation: pointers, NULL, and the text behind them. NULL:
 * out of memory, or *unquoted: a quote does not end. */
static char **split(const char *line, size_t *count, bool *unquoted)
{
    size_t length = strlen(line), most = length / 2 + 1;
    char **words = calloc(1, (most + 1) * sizeof *words + 2 * length + 2);
    char *out;
    const char *at = line;
    int found;

    *count = 0;
    *unquoted = false;
    if (words == NULL)
        return NULL;
    out = (char *)(words + most + 1);
    while ((found = next_word(line, &at, &out, &words[*count])) > 0)
        (*count)++;
    words[*count] = NULL;
    if (found == 0)
        return words;
    *unquoted = true;
    free(words);
    return NULL;
}

char **mst_words_split(const char *line)
{
    size_t count;
    bool unquoted;

    return split(line, &count, &unquoted);
}

/* ---- the file --------------------------------------------------------------------- */

void mst_text_free(struct mst_text *text)
{
    size_t i;

    for (i = 0; i < text->count; i++)
        free(text->sections[i].words);
    free(text->sections);
    free(text->storage);
    free(text->contents);
    free(text->about);
    free(text->path);
    *text = (struct mst_text){ 0 };
}

/* That it is text: where a byte is not, its line is told. */
static int check_bytes(const struct mst_text *text, const char *bytes, size_t length,
                       char error[MST_ERROR_MAX])
{
    unsigned line = 1;
    size_t i;

    if (length > MST_TEXT_MAX)
        return mst_fail(error, "%s: expected a text file of at most %u bytes, found %zu",
                        text->path, MST_TEXT_MAX, length);
    for (i = 0; i < length; i++) {
        if (bytes[i] == '\r')
            return mst_text_fail(text, line, error, "expected lines that end with a newline "
                                 "alone, found a carriage return");
        if ((unsigned char)bytes[i] < ' ' && bytes[i] != '\n' && bytes[i] != '\t')
            return mst_text_fail(text, line, error, "expected text, found a byte 0x%02x",
                                 (unsigned char)bytes[i]);
        line += bytes[i] == '\n';
    }
    return 0;
}

/* Begins a section with the words behind the mark. */
static int begin_section(struct mst_text *text, char *line, unsigned number,
                         char error[MST_ERROR_MAX])
{
    struct mst_text_section *section = &text->sections[text->count];
    bool unquoted;
    size_t count;
    char **words;

    line += strlen(MARK);
    if (strchr(blank, *line) == NULL)
        return mst_text_fail(text, number, error, "expected a space and a section's kind behind "
                             "%s, found \"%.60s\"", MARK, line);
    words = split(line, &count, &unquoted);
    if (words == NULL)
        return unquoted ? mst_text_fail(text, number, error, "a quote that begins here does not "
                                        "end in its line")
                        : mst_fail(error, "out of memory for %s", text->path);
    if (count == 0) {
        free(words);
        return mst_text_fail(text, number, error, "expected a section's kind behind %s, found "
                             "nothing", MARK);
    }
    *section = (struct mst_text_section){
        .kind = words[0], .name = count > 1 ? words[1] : "", .words = words,
        .word_count = count, .line = number,
    };
    text->count++;
    return 0;
}

/* Adds a comment before the first section to *about, without its mark. */
static int add_about(const struct mst_text *text, char **about, const char *line, unsigned number,
                     char error[MST_ERROR_MAX])
{
    line += strspn(line, blank);
    if (*line == '\0')
        return 0;
    if (*line != '#')
        return mst_text_fail(text, number, error, "expected a comment (#) or a section (%s KIND), "
                             "found \"%.60s\"", MARK, line);
    line += strspn(line, "# ");
    *about = stpcpy(stpcpy(*about, line), "\n");
    return 0;
}

/* Goes through the lines: storage is a copy of the file that is cut where sections are. */
static int take_lines(struct mst_text *text, char error[MST_ERROR_MAX])
{
    unsigned number = 1;
    char *line = text->storage, *about = text->about, *end;
    int failed = 0;

    for (; *line != '\0' && !failed; line = end + 1, number++) {
        end = strchr(line, '\n');
        if (strncmp(line, MARK, strlen(MARK)) == 0) {
            *end = '\0';
            failed = begin_section(text, line, number, error);
            *line = '\0';   /* the body before it ends */
            if (!failed)
                text->sections[text->count - 1].body = end + 1;
        } else if (text->count == 0) {
            *end = '\0';
            failed = add_about(text, &about, line, number, error);
        }
    }
    return failed;
}

static size_t count_sections(const char *storage)
{
    size_t count = 0;
    const char *at;

    for (at = storage; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1)
        count += strncmp(at, MARK, strlen(MARK)) == 0;
    return count;
}

int mst_text_parse(struct mst_text *text, const char *path, const char *bytes, size_t length,
                   char error[MST_ERROR_MAX])
{
    int failed = -1;

    *text = (struct mst_text){ .path = strdup(path) };
    if (text->path == NULL)
        return mst_fail(error, "out of memory for %s", path);
    if (check_bytes(text, bytes, length, error) != 0)
        goto done;
    text->contents = strndup(bytes, length);
    text->storage = calloc(1, length + 2);
    text->about = calloc(1, length + 2);
    if (text->contents == NULL || text->storage == NULL || text->about == NULL) {
        mst_fail(error, "out of memory for %s", path);
        goto done;
    }
    memcpy(text->storage, bytes, length);
    if (length > 0 && bytes[length - 1] != '\n')
        text->storage[length] = '\n';
    text->sections = calloc(count_sections(text->storage) + 1, sizeof *text->sections);
    failed = text->sections == NULL ? mst_fail(error, "out of memory for %s", path)
                                    : take_lines(text, error);
done:
    if (failed)
        mst_text_free(text);
    return failed;
}

char *mst_text_load(const char *path, size_t *length, char error[MST_ERROR_MAX])
{
    char *bytes = malloc(MST_TEXT_MAX + 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    *length = 0;
    errno = bytes == NULL ? ENOMEM : errno;
    while (bytes != NULL && fd >= 0 && *length <= MST_TEXT_MAX &&
           (n = read(fd, bytes + *length, MST_TEXT_MAX + 1 - *length)) > 0)
        *length += (size_t)n;
    if (n < 0)
        mst_fail(error, "cannot read %s: %s", path, strerror(errno));
    else if (*length > MST_TEXT_MAX)
        mst_fail(error, "%s: expected a text file of at most %u bytes, found more", path,
                 MST_TEXT_MAX);
    if (fd >= 0)
        close(fd);
    if (n >= 0 && *length <= MST_TEXT_MAX) {
        bytes[*length] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

int mst_text_read(struct mst_text *text, const char *path, char error[MST_ERROR_MAX])
{
    size_t length;
    char *bytes = mst_text_load(path, &length, error);
    int failed = bytes == NULL ? -1 : mst_text_parse(text, path, bytes, length, error);

    free(bytes);
    return failed;
}

const struct mst_text_section *mst_text_find(const struct mst_text *text, const char *kind,
                                             const char *name)
{
    size_t i;

    for (i = 0; i < text->count; i++)
        if (strcmp(text->sections[i].kind, kind) == 0 &&
            (name == NULL || strcmp(text->sections[i].name, name) == 0))
            return &text->sections[i];
    return NULL;
}

const char *mst_section_word(const struct mst_text_section *section, const char *key)
{
    size_t i, length = strlen(key);

    for (i = 1; i < section->word_count; i++)
        if (strncmp(section->words[i], key, length) == 0 && section->words[i][length] == '=')
            return section->words[i] + length + 1;
    return NULL;
}

/* ---- the lines of a body ---------------------------------------------------------- */

struct cursor {
    const char *at;
    unsigned    number;      /* of the line last given */
    char       *line;        /* that line */
};

static bool begin_lines(struct cursor *c, const struct mst_text_section *section)
{
    *c = (struct cursor){ section->body, section->line, malloc(strlen(section->body) + 1) };
    return c->line != NULL;
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
        if (is_comment(line, at)) {
            *at = '\0';
            return trim(at + 1);
        }
    return at;
}

/* Joins more to *text, with a space where both are something. false: out of memory. */
static bool join(char **text, const char *more)
{
    char *joined;

    if (asprintf(&joined, "%s%s%s", *text, **text != '\0' && *more != '\0' ? " " : "", more) < 0)
        return false;
    free(*text);
    *text = joined;
    return true;
}

static int add_fact(struct mst_facts *facts, char *line, char *comment, unsigned number,
                    char error[MST_ERROR_MAX])
{
    struct mst_fact *fact = &facts->items[facts->count];
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
    *fact = (struct mst_fact){ strdup(key), strdup(trim(equals + 1)), strdup(comment), number };
    facts->count++;
    if (fact->key == NULL || fact->value == NULL || fact->comment == NULL)
        return mst_fail(error, "out of memory for %s", facts->text->path);
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
    if (!join(&last->value, trim(line)) || !join(&last->comment, comment))
        return mst_fail(error, "out of memory for %s", facts->text->path);
    return 0;
}

int mst_facts_read(struct mst_facts *facts, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    struct cursor cursor;
    int failed = 0;

    *facts = (struct mst_facts){ .text = text, .line = section->line };
    facts->items = calloc(count_lines(section->body), sizeof *facts->items);
    if (!begin_lines(&cursor, section) || facts->items == NULL)
        failed = mst_fail(error, "out of memory for %s", text->path);
    while (!failed && next_line(&cursor))
        failed = take_fact_line(facts, cursor.line, cursor.number, error);
    free(cursor.line);
    if (failed)
        mst_facts_free(facts);
    return failed;
}

void mst_facts_free(struct mst_facts *facts)
{
    size_t i;

    for (i = 0; i < facts->count; i++) {
        free(facts->items[i].key);
        free(facts->items[i].value);
        free(facts->items[i].comment);
    }
    free(facts->items);
    *facts = (struct mst_facts){ 0 };
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
                  fact != NULL ? "nothing behind the =" : "none");
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

static int take_row(struct mst_rows *rows, const struct mst_text *text, const char *line,
                    unsigned number, char error[MST_ERROR_MAX])
{
    struct mst_row *row = &rows->items[rows->count];
    bool unquoted;

    row->words = split(line, &row->count, &unquoted);
    row->line = number;
    if (row->words == NULL && unquoted)
        return mst_text_fail(text, number, error, "a quote that begins here does not end in its "
                             "line");
    if (row->words == NULL)
        return mst_fail(error, "out of memory for %s", text->path);
    if (row->count == 0)
        free(row->words);
    else
        rows->count++;
    return 0;
}

int mst_rows_read(struct mst_rows *rows, const struct mst_text *text,
                  const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    struct cursor cursor;
    int failed = 0;

    *rows = (struct mst_rows){ 0, calloc(count_lines(section->body), sizeof *rows->items) };
    if (!begin_lines(&cursor, section) || rows->items == NULL)
        failed = mst_fail(error, "out of memory for %s", text->path);
    while (!failed && next_line(&cursor))
        failed = take_row(rows, text, cursor.line, cursor.number, error);
    free(cursor.line);
    if (failed)
        mst_rows_free(rows);
    return failed;
}

int mst_table_read(struct mst_rows *rows, const struct mst_text *text,
                   const struct mst_text_section *section, char error[MST_ERROR_MAX])
{
    size_t i;

    if (mst_rows_read(rows, text, section, error) != 0)
        return -1;
    for (i = 1; i < rows->count; i++)
        if (rows->items[i].count != rows->items[0].count) {
            mst_text_fail(text, rows->items[i].line, error, "expected %zu words as in line %u, "
                          "which names the columns, found %zu", rows->items[0].count,
                          rows->items[0].line, rows->items[i].count);
            mst_rows_free(rows);
            return -1;
        }
    return 0;
}

void mst_rows_free(struct mst_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++)
        free(rows->items[i].words);
    free(rows->items);
    *rows = (struct mst_rows){ 0 };
}

/* textfile.c - the lab's text files: see textfile.h. */
#include "lab/files/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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
bool mst_is_comment(const char *line, const char *at)
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
    if (*c == '\0' || mst_is_comment(line, c))
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

/* One allocation: pointers, NULL, and the text behind them. */
char **mst_words_split(apr_pool_t *pool, const char *line, size_t *count)
{
    size_t length = strlen(line), most = length / 2 + 1;
    char **words = apr_pcalloc(pool, (most + 1) * sizeof *words + 2 * length + 2);
    char *out = (char *)(words + most + 1);
    const char *at = line;
    int found;

    *count = 0;
    while ((found = next_word(line, &at, &out, &words[*count])) > 0)
        (*count)++;
    words[*count] = NULL;
    return found == 0 ? words : NULL;
}

/* ---- the file --------------------------------------------------------------------- */

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
    size_t count;
    char **words;

    line += strlen(MARK);
    if (strchr(blank, *line) == NULL)
        return mst_text_fail(text, number, error, "expected a space and a section's kind after "
                             "%s, found \"%.60s\"", MARK, line);
    words = mst_words_split(text->pool, line, &count);
    if (words == NULL)
        return mst_text_fail(text, number, error, "a quote that begins here does not end in its "
                             "line");
    if (count == 0)
        return mst_text_fail(text, number, error, "expected a section's kind after %s, found "
                             "nothing", MARK);
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

int mst_text_parse(apr_pool_t *pool, struct mst_text *text, const char *path, const char *bytes,
                   size_t length, char error[MST_ERROR_MAX])
{
    *text = (struct mst_text){ .pool = pool, .path = apr_pstrdup(pool, path) };
    if (check_bytes(text, bytes, length, error) != 0)
        return -1;
    text->contents = apr_pstrmemdup(pool, bytes, length);
    text->storage = apr_pcalloc(pool, length + 2);
    text->about = apr_pcalloc(pool, length + 2);
    memcpy(text->storage, text->contents, length);
    if (length > 0 && text->storage[length - 1] != '\n')
        text->storage[length] = '\n';
    text->sections = apr_pcalloc(pool, (count_sections(text->storage) + 1) *
                                       sizeof *text->sections);
    return take_lines(text, error);
}

char *mst_text_load(apr_pool_t *pool, const char *path, size_t *length, char error[MST_ERROR_MAX])
{
    char *bytes = apr_palloc(pool, MST_TEXT_MAX + 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    *length = 0;
    while (fd >= 0 && *length <= MST_TEXT_MAX &&
           (n = read(fd, bytes + *length, MST_TEXT_MAX + 1 - *length)) > 0)
        *length += (size_t)n;
    if (n < 0)
        mst_fail(error, "cannot read %s: %s", path, strerror(errno));
    else if (*length > MST_TEXT_MAX)
        mst_fail(error, "%s: expected a text file of at most %u bytes, found more", path,
                 MST_TEXT_MAX);
    if (fd >= 0)
        close(fd);
    if (n < 0 || *length > MST_TEXT_MAX)
        return NULL;
    bytes[*length] = '\0';
    return bytes;
}

int mst_text_read(apr_pool_t *pool, struct mst_text *text, const char *path,
                  char error[MST_ERROR_MAX])
{
    size_t length;
    char *bytes = mst_text_load(pool, path, &length, error);

    return bytes == NULL ? -1 : mst_text_parse(pool, text, path, bytes, length, error);
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

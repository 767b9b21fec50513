/* shell_quote.c - a command as text: see shell_quote.h. */
#include "exec/shell_quote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/sink.h"

static int write_stream(void *stream, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, stream) == n ? 0 : ENOMEM;
}

static void json_words(struct mst_sink *sink, char *const *argv)
{
    size_t i;

    mst_sink_char(sink, '[');
    for (i = 0; argv != NULL && argv[i] != NULL; i++) {
        if (i > 0)
            mst_sink_puts(sink, ", ");
        mst_sink_json_string(sink, argv[i]);
    }
    mst_sink_char(sink, ']');
}

static void shell_word(struct mst_sink *sink, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=@%+,";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        mst_sink_puts(sink, word);
        return;
    }
    mst_sink_char(sink, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            mst_sink_puts(sink, "'\\''");
        else
            mst_sink_char(sink, *word);
    }
    mst_sink_char(sink, '\'');
}

static void shell_words(struct mst_sink *sink, char *const *argv)
{
    size_t i;

    for (i = 0; argv != NULL && argv[i] != NULL; i++) {
        if (i > 0)
            mst_sink_char(sink, ' ');
        shell_word(sink, argv[i]);
    }
}

/* What `words` writes, as a string of the heap. NULL: out of memory. */
static char *as_text(void (*words)(struct mst_sink *, char *const *), char *const *argv)
{
    struct mst_sink sink;
    char *text = NULL;
    size_t n;
    FILE *stream = open_memstream(&text, &n);
    int failed;

    if (stream == NULL)
        return NULL;
    mst_sink_init(&sink, write_stream, stream);
    words(&sink, argv);
    failed = mst_sink_flush(&sink);
    if (fclose(stream) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

char *mst_argv_json(char *const *argv)
{
    return as_text(json_words, argv);
}

char *mst_shell_quote(char *const *argv)
{
    return as_text(shell_words, argv);
}

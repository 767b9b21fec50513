/* target_file.c - targets from a file, and what their URLs are asked with: see target.h. */
#include "source/target_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS    " \t\r\n"
#define NAME_MAX_LENGTH  63u
#define TOKEN_MAX_LENGTH 4096u

static const char line_form[] = "[NAME=]TARGET [token-file=FILE] [ca-file=FILE]";

/* ---- tokens ------------------------------------------------------------------------ */

/* A header's value: what else is in a token would end the header. */
static bool is_token(const char *text)
{
    size_t i;

    for (i = 0; text[i] != '\0'; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return i > 0;
}

char *mst_token_read(const char *path, char error[MST_ERROR_MAX])
{
    char token[TOKEN_MAX_LENGTH + 2] = "";
    FILE *file = fopen(path, "re");
    bool is_read;
    char *copy;

    if (file == NULL) {
        mst_fail(error, "the token file %.300s: %s", path, strerror(errno));
        return NULL;
    }
    is_read = fgets(token, sizeof token, file) != NULL;
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    if (!is_read || strlen(token) > TOKEN_MAX_LENGTH || !is_token(token)) {
        mst_fail(error, "the token file %.300s: expected a token of at most %u printable "
                 "characters without blanks in its first line", path, TOKEN_MAX_LENGTH);
        return NULL;
    }
    copy = strdup(token);
    if (copy == NULL)
        mst_fail(error, "out of memory");
    return copy;
}

/* ---- a line ------------------------------------------------------------------------- */

/* NAME= before a path or URL: what follows is the target. *name is empty where there is none. */
static const char *split_name(const char *word, char name[NAME_MAX_LENGTH + 1])
{
    size_t n = 0;

    name[0] = '\0';
    while (isalnum((unsigned char)word[n]) || (word[n] != '\0' && strchr("-_.", word[n]) != NULL))
        n++;
    if (word[n] != '=' || n == 0 || n > NAME_MAX_LENGTH)
        return word;
    memcpy(name, word, n);
    name[n] = '\0';
    return word + n + 1;
}

/* One word behind the target. */
static bool read_setting(struct mst_target_line *line, const char *word)
{
    static const char token_file[] = "token-file=", ca_file[] = "ca-file=";

    if (strncmp(word, token_file, strlen(token_file)) == 0)
        line->token_file = word + strlen(token_file);
    else if (strncmp(word, ca_file, strlen(ca_file)) == 0)
        line->ca_file = word + strlen(ca_file);
    else
        return false;
    return true;
}

/* 1: the line names a target; 0: it is empty, or a comment; -1 with a sentence. */
static int read_line(struct mst_target_line *line, char *text, char error[MST_ERROR_MAX])
{
    char *rest, *word = strtok_r(text, BLANKS, &rest);

    *line = (struct mst_target_line){ 0 };
    if (word == NULL || word[0] == '#')
        return 0;
    line->target = split_name(word, line->name);
    if (line->target[0] == '\0')
        return mst_fail(error, "expected %s, found the name %s alone", line_form, line->name);
    while ((word = strtok_r(NULL, BLANKS, &rest)) != NULL && word[0] != '#')
        if (!read_setting(line, word))
            return mst_fail(error, "expected %s, found %.100s", line_form, word);
    return 1;
}

/* ---- the file ------------------------------------------------------------------------ */

int mst_target_file_read(const char *path, mst_take_target_line *take, void *context,
                         char error[MST_ERROR_MAX])
{
    FILE *file = fopen(path, "re");
    struct mst_target_line line;
    char problem[MST_ERROR_MAX], *text = NULL;
    unsigned number = 0;
    size_t room = 0;
    int found = 0;

    if (file == NULL)
        return mst_fail(error, "the file of targets %.300s: %s", path, strerror(errno));
    while (found >= 0 && getline(&text, &room, file) >= 0) {
        number++;
        found = read_line(&line, text, problem);
        if (found > 0)
            found = take(context, &line, problem);
    }
    if (found < 0)
        mst_fail(error, "%.300s, line %u: %.600s", path, number, problem);
    else if (ferror(file))
        found = mst_fail(error, "the file of targets %.300s: %s", path, strerror(errno));
    free(text);
    fclose(file);
    return found < 0 ? -1 : 0;
}

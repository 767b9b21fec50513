/* claims.c - what the original of a study says: its sections of claims. See section.h. */
#include "lab/files/section.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"

/* A line's words, one after the other. */
struct claim_line {
    const struct mst_study *study;
    const struct mst_row   *row;
    size_t                  at;
};

static const char *next(struct claim_line *line)
{
    return line->at < line->row->count ? line->row->words[line->at++] : "";
}

static int not_a_claim(const struct claim_line *line, char error[MST_ERROR_MAX])
{
    return mst_text_fail(&line->study->text, line->row->line, error, "expected RUNS: STACK > STACK "
                         "by FIGURE [times N | apart N] \"what the original says\" (or <, or ~ "
                         "for about the same), found \"%.60s\"",
                         line->at > 0 ? line->row->words[line->at - 1] : "");
}

static bool read_real(const char *word, double *number)
{
    char *end;

    *number = strtod(word, &end);
    return (isdigit((unsigned char)word[0]) || word[0] == '.') && *end == '\0';
}

/* "KEY=VALUE,KEY=VALUE]": cuts it up. */
static bool take_keys(struct mst_claim_side *side, char *text)
{
    char *save = NULL, *pair, *equals;
    size_t length = strlen(text), room = length / 2 + 1;

    if (length < 2 || text[length - 1] != ']')
        return false;
    text[length - 1] = '\0';
    side->keys = calloc(room, sizeof *side->keys);
    side->values = calloc(room, sizeof *side->values);
    if (side->keys == NULL || side->values == NULL)
        return false;
    for (pair = strtok_r(text, ",", &save); pair != NULL; pair = strtok_r(NULL, ",", &save)) {
        equals = strchr(pair, '=');
        if (equals == NULL || equals == pair)
            return false;
        *equals = '\0';
        side->keys[side->key_count] = strdup(pair);
        side->values[side->key_count] = strdup(equals + 1);
        side->key_count++;
        if (side->keys[side->key_count - 1] == NULL || side->values[side->key_count - 1] == NULL)
            return false;
    }
    return side->key_count > 0;
}

static bool take_side(struct mst_claim_side *side, const char *word)
{
    char *copy, *bracket, *at;
    bool good = true;

    if (read_real(word, &side->number))
        return true;
    if (word[0] == '\0' || (copy = strdup(word)) == NULL)
        return false;
    bracket = strchr(copy, '[');
    if (bracket != NULL) {
        *bracket = '\0';
        good = take_keys(side, bracket + 1);
    }
    at = strchr(copy, '@');
    if (at != NULL) {
        *at = '\0';
        side->workload = strdup(at + 1);
        good = good && side->workload != NULL && at[1] != '\0';
    }
    side->stack = copy;
    return good && copy[0] != '\0';
}

static bool take_relation(struct mst_claim *claim, const char *word)
{
    static const char relations[] = "><~";
    const char *at = word[0] != '\0' && word[1] == '\0' ? strchr(relations, word[0]) : NULL;

    if (at != NULL)
        claim->relation = (enum mst_claim_relation)(at - relations);
    return at != NULL;
}

/* The words in their order. */
static bool take_words(struct mst_claim *claim, struct claim_line *line)
{
    const char *word = next(line);
    size_t length = strlen(word);

    if (length < 2 || word[length - 1] != ':')
        return false;
    claim->runs = strndup(word, length - 1);
    if (claim->runs == NULL || !take_side(&claim->left, next(line)) ||
        claim->left.stack == NULL || !take_relation(claim, next(line)) ||
        !take_side(&claim->right, next(line)) || strcmp(next(line), "by") != 0)
        return false;
    word = next(line);
    claim->figure = word[0] != '\0' ? strdup(word) : NULL;
    word = next(line);
    if (strcmp(word, "times") == 0 || strcmp(word, "apart") == 0) {
        double *number = word[0] == 't' ? &claim->times : &claim->apart;

        if (!read_real(next(line), number) || *number <= 0)
            return false;
        word = next(line);
    }
    claim->sentence = word[0] != '\0' ? strdup(word) : NULL;
    return claim->figure != NULL && claim->sentence != NULL && line->at == line->row->count;
}

static int add_claim(struct mst_study *study, const struct mst_row *row,
                     char error[MST_ERROR_MAX])
{
    struct mst_claim *claim = mst_append(&study->claims, &study->claim_count, sizeof *claim);
    struct claim_line line = { study, row, 0 };

    if (claim == NULL)
        return mst_study_no_memory(study, error);
    claim->line = row->line;
    return take_words(claim, &line) ? 0 : not_a_claim(&line, error);
}

int mst_study_add_claims(struct mst_study *study, const struct mst_text_section *section,
                      char error[MST_ERROR_MAX])
{
    struct mst_rows rows = { 0 };
    int failed = 0;
    size_t i;

    if (mst_rows_read(&rows, &study->text, section, error) != 0)
        return -1;
    for (i = 0; i < rows.count && !failed; i++)
        failed = add_claim(study, &rows.items[i], error);
    mst_rows_free(&rows);
    return failed;
}

static void free_side(struct mst_claim_side *side)
{
    mst_strings_free_items(side->keys);
    mst_strings_free_items(side->values);
    free(side->stack);
    free(side->workload);
}

void mst_claim_free(struct mst_claim *claim)
{
    free(claim->runs);
    free_side(&claim->left);
    free_side(&claim->right);
    free(claim->figure);
    free(claim->sentence);
}

/* claims.c - what the original of a study says: its sections of claims. See section.h. */
#include "lab/files/section.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
static bool take_keys(apr_pool_t *pool, struct mst_claim_side *side, char *text)
{
    char *save = NULL, *pair, *equals;
    size_t length = strlen(text), room = length / 2 + 1;

    if (length < 2 || text[length - 1] != ']')
        return false;
    text[length - 1] = '\0';
    side->keys = apr_pcalloc(pool, room * sizeof *side->keys);
    side->values = apr_pcalloc(pool, room * sizeof *side->values);
    for (pair = strtok_r(text, ",", &save); pair != NULL; pair = strtok_r(NULL, ",", &save)) {
        equals = strchr(pair, '=');
        if (equals == NULL || equals == pair)
            return false;
        *equals = '\0';
        side->keys[side->key_count] = pair;
        side->values[side->key_count] = equals + 1;
        side->key_count++;
    }
    return side->key_count > 0;
}

static bool take_side(apr_pool_t *pool, struct mst_claim_side *side, const char *word)
{
    char *copy, *bracket, *at;
    bool good = true;

    if (read_real(word, &side->number))
        return true;
    copy = apr_pstrdup(pool, word);
    bracket = strchr(copy, '[');
    if (bracket != NULL) {
        *bracket = '\0';
        good = take_keys(pool, side, bracket + 1);
    }
    at = strchr(copy, '@');
    if (at != NULL) {
        *at = '\0';
        side->workload = at + 1;
        good = good && at[1] != '\0';
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
    apr_pool_t *pool = line->study->text.pool;
    const char *word = next(line);
    size_t length = strlen(word);

    if (length < 2 || word[length - 1] != ':')
        return false;
    claim->runs = apr_pstrmemdup(pool, word, length - 1);
    if (!take_side(pool, &claim->left, next(line)) ||
        claim->left.stack == NULL || !take_relation(claim, next(line)) ||
        !take_side(pool, &claim->right, next(line)) || strcmp(next(line), "by") != 0)
        return false;
    claim->figure = next(line);
    word = next(line);
    if (strcmp(word, "times") == 0 || strcmp(word, "apart") == 0) {
        double *number = word[0] == 't' ? &claim->times : &claim->apart;

        if (!read_real(next(line), number) || *number <= 0)
            return false;
        word = next(line);
    }
    claim->sentence = word;
    return claim->figure[0] != '\0' && claim->sentence[0] != '\0' &&
           line->at == line->row->count;
}

static int add_claim(struct mst_study *study, const struct mst_row *row,
                     char error[MST_ERROR_MAX])
{
    struct mst_claim *claim = mst_pool_append(study->text.pool, &study->claims,
                                              &study->claim_count, sizeof *claim);
    struct claim_line line = { study, row, 0 };

    claim->line = row->line;
    return take_words(claim, &line) ? 0 : not_a_claim(&line, error);
}

int mst_study_add_claims(struct mst_study *study, const struct mst_text_section *section,
                      char error[MST_ERROR_MAX])
{
    struct mst_rows rows;
    size_t i;

    if (mst_rows_read(&rows, &study->text, section, error) != 0)
        return -1;
    for (i = 0; i < rows.count; i++)
        if (add_claim(study, &rows.items[i], error) != 0)
            return -1;
    return 0;
}

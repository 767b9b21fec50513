/* fuzz_words.c - arbitrary bytes as words of the command line, one a line: as targets, as a
 * load tool's command; and as the content type of an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/shell_quote.h"
#include "loadtools/loadtool.h"
#include "source/http.h"
#include "source/target.h"

#define WORDS_MAX 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_targets(char **words, size_t n)
{
    struct mst_targets targets;
    char error[MST_ERROR_MAX] = "";
    size_t i;

    if (mst_targets_resolve(&targets, words, n, error) != 0 && error[0] == '\0')
        abort();
    for (i = 0; i < targets.count; i++) {
        if (!mst_targets_have(&targets, targets.items[i].name))
            abort();
        if (targets.items[i].kind == MST_TARGET_URL)
            mst_http_is_loopback(targets.items[i].name);
        else if (targets.items[i].problem == NULL)
            mst_target_open(&targets.items[i], error);
    }
    mst_targets_free(&targets);
}

static void as_command(char **words)
{
    char *json = mst_argv_json(words), *shell = mst_shell_quote(words);

    if (json == NULL || shell == NULL || mst_loadtool_for(words[0]) == NULL)
        abort();
    free(json);
    free(shell);
}

static void as_content_type(const char *word)
{
    struct mst_http_answer answer = { .body = NULL };
    char error[MST_ERROR_MAX] = "";

    strncpy(answer.content_type, word, sizeof answer.content_type - 1);
    if (mst_http_expect_type(&answer, word, "application/json", error) != 0 && error[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS_MAX + 1] = { NULL }, *text = calloc(size + 1, 1), *save = NULL, *at;
    size_t n = 0;

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    for (at = strtok_r(text, "\n", &save); at != NULL && n < WORDS_MAX;
         at = strtok_r(NULL, "\n", &save))
        words[n++] = at;
    if (n > 0) {
        as_targets(words, n);
        as_command(words);
        as_content_type(words[0]);
    }
    free(text);
    return 0;
}

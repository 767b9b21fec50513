/* fuzz_study.c - arbitrary bytes as a study's file, at both sizes. */
#include <stdlib.h>
#include <string.h>

#include "lab/files/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read holds together. */
static void look(const struct mst_study *study)
{
    size_t i, k;

    for (i = 0; i < study->runs_count; i++) {
        const struct mst_runs *runs = &study->runs[i];

        if (mst_study_runs(study, runs->name) != runs || runs->stacks[0] == NULL ||
            (runs->load == NULL) != (runs->kind == MST_RUNS_RAMP))
            abort();
        for (k = 0; k < runs->variable_count; k++)
            if (runs->variables[k].count == 0 ||
                (runs->variables[k].with_previous &&
                 (k == 0 || runs->variables[k].count != runs->variables[k - 1].count)))
                abort();
    }
    for (i = 0; i < study->claim_count; i++)
        if (mst_study_runs(study, study->claims[i].runs) == NULL ||
            study->claims[i].left.stack == NULL || study->claims[i].sentence == NULL)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), error[MST_ERROR_MAX] = "";
    apr_pool_t *pool;
    struct mst_study study;
    int i;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    pool = mst_pool_new(NULL);
    for (i = 0; i < 2; i++) {
        if (mst_study_parse(pool, &study, "fuzz", text, (enum mst_study_size)i, error) == 0) {
            look(&study);
        } else if (error[0] == '\0') {
            abort();
        }
    }
    apr_pool_destroy(pool);
    free(text);
    return 0;
}

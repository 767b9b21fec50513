/* states.c - see states.h. */
#include "archive/states.h"

#include <stdio.h>
#include <string.h>

#define X_NAME(id, name) name,
const char *const mst_outcome_names[MST_OUTCOME_COUNT] = { MST_OUTCOMES(X_NAME) };
const char *const mst_moment_names[MST_MOMENT_COUNT] = { MST_MOMENTS(X_NAME) };
const char *const mst_step_state_names[MST_STEP_STATE_COUNT] = { MST_STEP_STATES(X_NAME) };

static int find(const char *word, const char *const *names, int count, int otherwise)
{
    int i;

    for (i = 0; i < count && word != NULL; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return otherwise;
}

enum mst_outcome mst_outcome_of(const char *word)
{
    return (enum mst_outcome)find(word, mst_outcome_names, MST_OUTCOME_COUNT,
                                  MST_OUTCOME_INTERRUPTED);
}

enum mst_step_state mst_step_state_of(const char *word)
{
    return (enum mst_step_state)find(word, mst_step_state_names, MST_STEP_STATE_COUNT,
                                     MST_STEP_STATE_PLANNED);
}

static const char *const producer_names[] = {
    [MST_PRODUCER_APACHE] = "apache", [MST_PRODUCER_PHP] = "php",
};

const char *mst_producer_name(enum mst_producer producer)
{
    return producer_names[producer == MST_PRODUCER_PHP ? MST_PRODUCER_PHP : MST_PRODUCER_APACHE];
}

void mst_server_prefix(char prefix[MST_PREFIX_MAX], enum mst_producer producer, size_t nth)
{
    if (nth > 1)
        snprintf(prefix, MST_PREFIX_MAX, "%s%zu", mst_producer_name(producer), nth);
    else
        snprintf(prefix, MST_PREFIX_MAX, "%s", mst_producer_name(producer));
}

enum mst_producer mst_producer_of(const char *word)
{
    return word != NULL && strcmp(word, producer_names[MST_PRODUCER_PHP]) == 0
               ? MST_PRODUCER_PHP : MST_PRODUCER_APACHE;
}

enum mst_proc_owner mst_proc_owner_of(const char *word)
{
    return (enum mst_proc_owner)find(word, mst_proc_owner_names, MST_PROC_OWNER_COUNT,
                                     MST_PROC_OWNER_COUNT);
}

enum mst_sapi mst_sapi_of(const char *word)
{
    static const char *const names[] = {
        [MST_SAPI_OTHER] = "", [MST_SAPI_MOD_PHP] = "apache2handler", [MST_SAPI_FPM] = "fpm-fcgi",
    };

    return (enum mst_sapi)find(word, names, sizeof names / sizeof *names, MST_SAPI_OTHER);
}

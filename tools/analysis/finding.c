/* finding.c - the codes of findings by name: see finding.h. */
#include "analysis/finding.h"

#include <stdio.h>
#include <string.h>

#include "segment/format.h"

const char *const mst_code_names[MST_CODE_COUNT] = {
#define X_CODE(id, name, group, meaning, evidence, otherwise) [MST_CODE_##id] = name,
#include "analysis/codes.def"
#undef X_CODE
};

const char *const mst_code_groups[MST_CODE_COUNT] = {
#define X_CODE(id, name, group, meaning, evidence, otherwise) [MST_CODE_##id] = group,
#include "analysis/codes.def"
#undef X_CODE
};

const char *const mst_share_of_names[MST_SHARE_OF_COUNT] = {
    [MST_SHARE_OF_TIME] = "time", [MST_SHARE_OF_REQUESTS] = "requests",
    [MST_SHARE_OF_CLIENT] = "client", [MST_SHARE_OF_DELIVERY] = "delivery",
    [MST_SHARE_OF_HELD] = "held", [MST_SHARE_OF_SPAN] = "span",
    [MST_SHARE_OF_WORKERS] = "workers", [MST_SHARE_OF_AT_ONCE] = "at-once",
};

const char *const mst_certainty_names[] = {
    [MST_CERTAIN] = "certain", [MST_LIKELY] = "likely", [MST_CANNOT_TELL] = "cannot-tell",
};

static const struct mst_finding_number *find_number(const struct mst_finding *f, const char *name)
{
    size_t i;

    for (i = 0; i < f->number_count; i++)
        if (strcmp(f->numbers[i].name, name) == 0)
            return &f->numbers[i];
    return NULL;
}

uint64_t mst_finding_number(const struct mst_finding *f, const char *name)
{
    const struct mst_finding_number *number = find_number(f, name);

    return number != NULL ? number->value : MST_UNKNOWN;
}

enum mst_answer mst_finding_answer(const struct mst_finding *f, const char *name)
{
    const struct mst_finding_number *number = find_number(f, name);

    if (number == NULL || number->value == 0)
        return MST_ANSWER_NO;
    return number->value == MST_UNKNOWN ? MST_ANSWER_UNKNOWN : MST_ANSWER_YES;
}

enum mst_code mst_code_of(const char *name)
{
    int i;

    for (i = 0; i < MST_CODE_COUNT && strcmp(mst_code_names[i], name) != 0; i++)
        ;
    return (enum mst_code)i;
}

bool mst_code_is_failure(enum mst_code code)
{
    return strcmp(mst_code_groups[code], "failed") == 0;
}

bool mst_code_ran_out(enum mst_code code)
{
    return strcmp(mst_code_groups[code], "ran out") == 0;
}

void mst_cause_words(char words[MST_CAUSE_WORDS_MAX], const struct mst_cause *cause)
{
    bool has_subject = cause->subject[0] != '\0';

    words[0] = '\0';
    if (cause->known)
        snprintf(words, MST_CAUSE_WORDS_MAX, "follows from %s%s%s%s", mst_code_names[cause->code],
                 has_subject ? " (" : "", cause->subject, has_subject ? ")" : "");
}

const char *mst_code_otherwise(enum mst_code code)
{
    static const char *const otherwise[MST_CODE_COUNT] = {
#define X_CODE(id, name, group, meaning, evidence, otherwise) [MST_CODE_##id] = otherwise,
#include "analysis/codes.def"
#undef X_CODE
    };

    return otherwise[code];
}

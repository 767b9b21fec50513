/* study.c - reads a study's file: see study.h. */
#include "lab/files/study.h"

#include <string.h>

#include "lab/files/paths.h"
#include "lab/files/section.h"

#define REPETITIONS_MAX  1000u
#define ABOUT_S          10u        /* how long a run takes, where the file says nothing */
#define LIMIT_S          300u       /* and at most */
#define WARMUP_S         10u

const char *const mst_study_size_names[2] = { "full", "quick" };
const char *const mst_runs_kind_names[3] = { "load", "spawn", "ramp" };

/* ---- %% runs ------------------------------------------------------------------------ */

static int take_kind(const struct mst_sized_section *s, struct mst_runs *runs,
                     char error[MST_ERROR_MAX])
{
    const struct mst_fact *fact = mst_sized_find(s, "kind");
    size_t i;

    if (fact == NULL)
        return 0;
    for (i = 0; i < sizeof mst_runs_kind_names / sizeof *mst_runs_kind_names; i++)
        if (strcmp(fact->value, mst_runs_kind_names[i]) == 0) {
            runs->kind = (enum mst_runs_kind)i;
            return 0;
        }
    return mst_text_fail(&s->study->text, fact->line, error, "expected load, spawn or ramp for "
                         "kind, found \"%.60s\"", fact->value);
}

/* What a load needs, or what it is made of. */
static int take_load(const struct mst_sized_section *s, struct mst_runs *runs,
                     char error[MST_ERROR_MAX])
{
    bool ramp = runs->kind == MST_RUNS_RAMP;
    const struct mst_fact *wrong = mst_sized_find(s, ramp ? "load" : "from");

    if (wrong != NULL)
        return mst_text_fail(&s->study->text, wrong->line, error, "%s", ramp ?
                             "a ramp has no load of its own: from, to and over say what it is" :
                             "only runs of the kind ramp have from, to and over");
    if (mst_sized_text(s, "load", !ramp, &runs->load, error) != 0 ||
        mst_sized_text(s, "from", ramp, &runs->from, error) != 0 ||
        mst_sized_text(s, "to", ramp, &runs->to, error) != 0)
        return -1;
    return mst_sized_text(s, "over", ramp, &runs->over, error);
}

static int take_times(const struct mst_sized_section *s, struct mst_runs *runs,
                      char error[MST_ERROR_MAX])
{
    uint64_t repetitions, warmup = runs->kind == MST_RUNS_SPAWN ? 0 : WARMUP_S;

    if (mst_sized_number(s, "repetitions", REPETITIONS_MAX, 1, &repetitions, error) != 0 ||
        mst_sized_seconds(s, "about", ABOUT_S, &runs->about_ns, error) != 0 ||
        mst_sized_seconds(s, "limit", LIMIT_S, &runs->limit_ns, error) != 0 ||
        mst_sized_seconds(s, "warmup", warmup, &runs->warmup_ns, error) != 0)
        return -1;
    runs->repetitions = (unsigned)repetitions;
    if (runs->limit_ns == 0)
        return mst_text_fail(&s->study->text, runs->line, error, "expected a limit of a second or "
                             "more, found 0");
    return 0;
}

static int take_runs(struct mst_sized_section *s, struct mst_runs *runs, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = {
        "title", "kind", "stacks", "workload", "load", "from", "to", "over", "repetitions",
        "about", "limit", "warmup", NULL,
    };

    if (mst_sized_expect(s, keys, true, error) != 0 || take_kind(s, runs, error) != 0 ||
        mst_sized_text(s, "title", false, &runs->title, error) != 0 ||
        mst_sized_list(s, "stacks", &runs->stacks, error) != 0 ||
        mst_sized_list(s, "workload", &runs->workloads, error) != 0 ||
        take_load(s, runs, error) != 0 || take_times(s, runs, error) != 0)
        return -1;
    if (runs->title == NULL)
        runs->title = runs->name;
    return mst_study_variables(s, runs, error);
}

static int name_section(const struct mst_study *study, const struct mst_text_section *section,
                        char **name, char error[MST_ERROR_MAX])
{
    if (section->name[0] == '\0')
        return mst_text_fail(&study->text, section->line, error, "expected a name after %s, found "
                             "none", section->kind);
    *name = apr_pstrdup(study->text.pool, section->name);
    return 0;
}

static int add_runs(struct mst_study *study, const struct mst_text_section *section,
                    char error[MST_ERROR_MAX])
{
    struct mst_runs *runs = &study->runs[study->runs_count];
    struct mst_sized_section s = { .study = study, .size = study->size, .line = section->line };

    if (section->name[0] != '\0' && mst_study_runs(study, section->name) != NULL)
        return mst_text_fail(&study->text, section->line, error, "there is a section runs %s "
                             "already", section->name);
    *runs = (struct mst_runs){ .line = section->line };
    study->runs_count++;
    if (name_section(study, section, &runs->name, error) != 0 ||
        mst_facts_read(&s.facts, &study->text, section, error) != 0)
        return -1;
    return take_runs(&s, runs, error);
}

/* ---- %% study ----------------------------------------------------------------------- */

static int take_study(const struct mst_sized_section *s, char error[MST_ERROR_MAX])
{
    static const char *const keys[] = {
        "title", "number", "year", "language", "original", "question", "limit", NULL,
    };
    struct mst_study *study = s->study;
    const struct { const char *key; char **to; } texts[] = {
        { "year", &study->year }, { "language", &study->language },
        { "original", &study->original }, { "question", &study->question },
    };
    uint64_t number;
    size_t i;

    if (mst_sized_expect(s, keys, false, error) != 0 ||
        mst_sized_text(s, "title", true, &study->title, error) != 0 ||
        mst_sized_number(s, "number", 1000, 0, &number, error) != 0 ||
        mst_sized_seconds(s, "limit", 0, &study->limit_ns, error) != 0)
        return -1;
    study->number = (unsigned)number;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (mst_sized_text(s, texts[i].key, false, texts[i].to, error) != 0)
            return -1;
        if (*texts[i].to == NULL)
            *texts[i].to = apr_pstrdup(study->text.pool, "");
    }
    return 0;
}

static int read_study_section(struct mst_study *study, char error[MST_ERROR_MAX])
{
    const struct mst_text_section *section = mst_text_find(&study->text, "study", NULL);
    struct mst_sized_section s = { .study = study, .size = study->size };

    if (section == NULL)
        return mst_text_fail(&study->text, 1, error, "expected a section %%%% study, found none");
    s.line = section->line;
    if (mst_facts_read(&s.facts, &study->text, section, error) != 0)
        return -1;
    return take_study(&s, error);
}

/* ---- %% published ------------------------------------------------------------------- */

static int add_published(struct mst_study *study, const struct mst_text_section *section,
                         char error[MST_ERROR_MAX])
{
    struct mst_published *published = &study->published[study->published_count];

    *published = (struct mst_published){ 0 };
    study->published_count++;
    if (name_section(study, section, &published->name, error) != 0 ||
        mst_table_read(&published->rows, &study->text, section, error) != 0)
        return -1;
    if (mst_study_runs(study, published->name) == NULL)
        return mst_text_fail(&study->text, section->line, error, "expected a section %%%% runs %s "
                             "for these figures, found none", published->name);
    if (published->rows.count < 2)
        return mst_text_fail(&study->text, section->line, error, "expected a line with the names "
                             "of the columns, and one or more with figures");
    return 0;
}

/* ---- %% claims ------------------------------------------------------------------------ */

static int add_claims(struct mst_study *study, const struct mst_text_section *section,
                      char error[MST_ERROR_MAX])
{
    size_t i = study->claim_count;

    if (mst_study_add_claims(study, section, error) != 0)
        return -1;
    for (; i < study->claim_count; i++)
        if (mst_study_runs(study, study->claims[i].runs) == NULL)
            return mst_text_fail(&study->text, study->claims[i].line, error, "expected a section "
                                 "%%%% runs %s for this claim, found none", study->claims[i].runs);
    return 0;
}

/* ---- the file ----------------------------------------------------------------------- */

/* Hands each section of a kind to its reader. */
static int each(struct mst_study *study, const char *kind,
                int (*add)(struct mst_study *, const struct mst_text_section *,
                           char error[MST_ERROR_MAX]), char error[MST_ERROR_MAX])
{
    size_t i;

    for (i = 0; i < study->text.count; i++)
        if (strcmp(study->text.sections[i].kind, kind) == 0 &&
            add(study, &study->text.sections[i], error) != 0)
            return -1;
    return 0;
}

static int check_kinds(const struct mst_study *study, char error[MST_ERROR_MAX])
{
    static const char *const kinds[] = { "study", "runs", "published", "claims", "notes" };
    size_t i, k;

    for (i = 0; i < study->text.count; i++) {
        for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(study->text.sections[i].kind, kinds[k]) == 0)
                break;
        if (k == sizeof kinds / sizeof *kinds)
            return mst_text_fail(&study->text, study->text.sections[i].line, error, "expected a "
                                 "section study, runs, published, claims or notes, found \"%.60s\"",
                                 study->text.sections[i].kind);
    }
    return 0;
}

/* What the text says, which has been read. */
static int read_sections(struct mst_study *study, char error[MST_ERROR_MAX])
{
    const struct mst_text_section *notes = mst_text_find(&study->text, "notes", NULL);
    size_t count = study->text.count;

    study->notes = notes != NULL ? notes->body : "";
    study->runs = apr_pcalloc(study->text.pool, (count + 1) * sizeof *study->runs);
    study->published = apr_pcalloc(study->text.pool, (count + 1) * sizeof *study->published);
    if (check_kinds(study, error) != 0 || read_study_section(study, error) != 0 ||
        each(study, "runs", add_runs, error) != 0 ||
        each(study, "published", add_published, error) != 0 ||
        each(study, "claims", add_claims, error) != 0)
        return -1;
    if (study->runs_count == 0)
        return mst_text_fail(&study->text, 1, error, "expected a section %%%% runs NAME, found "
                             "none");
    return 0;
}

int mst_study_read(apr_pool_t *pool, struct mst_study *study, const char *path,
                   enum mst_study_size size, char error[MST_ERROR_MAX])
{
    *study = (struct mst_study){ .size = size, .name = mst_lab_name(pool, path) };
    if (mst_text_read(pool, &study->text, path, error) != 0)
        return -1;
    return read_sections(study, error);
}

int mst_study_parse(apr_pool_t *pool, struct mst_study *study, const char *name, const char *text,
                    enum mst_study_size size, char error[MST_ERROR_MAX])
{
    *study = (struct mst_study){ .size = size, .name = apr_pstrdup(pool, name) };
    if (mst_text_parse(pool, &study->text, name, text, strlen(text), error) != 0)
        return -1;
    return read_sections(study, error);
}

const struct mst_runs *mst_study_runs(const struct mst_study *study, const char *name)
{
    size_t i;

    for (i = 0; i < study->runs_count; i++)
        if (study->runs[i].name != NULL && strcmp(study->runs[i].name, name) == 0)
            return &study->runs[i];
    return NULL;
}

const struct mst_published *mst_study_published(const struct mst_study *study, const char *runs)
{
    size_t i;

    for (i = 0; i < study->published_count; i++)
        if (strcmp(study->published[i].name, runs) == 0)
            return &study->published[i];
    return NULL;
}

int mst_published_column(const struct mst_published *published, const char *name)
{
    size_t i;

    for (i = 0; i < published->rows.items[0].count; i++)
        if (strcmp(published->rows.items[0].words[i], name) == 0)
            return (int)i;
    return -1;
}

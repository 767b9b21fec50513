/* lab_list.c - see lab_list.h. */
#include "cli/lab_list.h"

#include <stdio.h>
#include <string.h>

#include "console/diag.h"
#include "console/output.h"
#include "lab/files/paths.h"
#include "lab/files/stack.h"
#include "render/sink.h"

struct listing {
    apr_pool_t     *pool;
    const char     *kind;
    struct mst_sink *json;       /* NULL: text */
    bool            first;
    bool            failed;
};

/* The title in the file's section of its kind. NULL with a sentence: it has none. */
static const char *title_of(const char *kind, const struct mst_text *text, struct mst_facts *facts,
                            char error[MST_ERROR_MAX])
{
    const struct mst_text_section *section = mst_text_find(text, kind, NULL);

    if (section == NULL)
        mst_fail(error, "%s: expected a section \"%%%% %s\", found none", text->path, kind);
    else if (mst_facts_read(facts, text, section, error) == 0)
        return mst_facts_need(facts, "title", error);
    return NULL;
}

static int list_one(void *context, const char *path)
{
    struct listing *l = context;
    const char *name = mst_lab_name(l->pool, path), *title;
    char error[MST_ERROR_MAX];
    struct mst_facts facts;
    struct mst_text text;

    if (mst_text_read(l->pool, &text, path, error) != 0 ||
        (title = title_of(l->kind, &text, &facts, error)) == NULL) {
        mst_error("%s", error);
        l->failed = true;
    } else if (l->json == NULL) {
        printf("  %-22s %s\n", name, title);
    } else {
        mst_sink_puts(l->json, l->first ? "\n  {\"name\": " : ",\n  {\"name\": ");
        mst_sink_json_string(l->json, name);
        mst_sink_puts(l->json, ", \"title\": ");
        mst_sink_json_string(l->json, title);
        mst_sink_puts(l->json, ", \"path\": ");
        mst_sink_json_string(l->json, path);
        mst_sink_puts(l->json, "}");
        l->first = false;
    }
    return 0;
}

static const struct { const char *kind, *plural; } kinds[] = {
    { "stack", "stacks" }, { "workload", "workloads" }, { "study", "studies" },
};
#define KINDS (sizeof kinds / sizeof *kinds)

static bool list_text(apr_pool_t *pool)
{
    struct listing l = { .pool = pool };
    char directory[PATH_MAX];
    size_t i;

    mst_data_directory(directory);
    for (i = 0; i < KINDS; i++) {
        l.kind = kinds[i].kind;
        printf("%s%s, in %s/lab/%s:\n", i > 0 ? "\n" : "", kinds[i].plural, directory,
               kinds[i].plural);
        mst_lab_each(l.kind, list_one, &l);
    }
    return !l.failed;
}

static bool list_json(apr_pool_t *pool)
{
    struct mst_sink sink;
    struct listing l = { .pool = pool, .json = &sink };
    size_t i;

    mst_sink_init(&sink, mst_write_file, stdout);
    for (i = 0; i < KINDS; i++) {
        l.kind = kinds[i].kind;
        l.first = true;
        mst_sink_puts(&sink, i > 0 ? ",\n\"" : "{\"");
        mst_sink_puts(&sink, kinds[i].plural);
        mst_sink_puts(&sink, "\": [");
        mst_lab_each(l.kind, list_one, &l);
        mst_sink_puts(&sink, "]");
    }
    mst_sink_puts(&sink, "}\n");
    mst_sink_flush(&sink);   /* main checks that stdout took all of it */
    return !l.failed;
}

int mst_lab_list(bool json)
{
    char error[MST_ERROR_MAX];
    apr_pool_t *pool;
    bool listed;

    if (mst_lab_data_check(error) != 0)
        return mst_failed(MST_EXIT_BAD, "%s", error);
    pool = mst_pool_new(NULL);
    listed = json ? list_json(pool) : list_text(pool);
    apr_pool_destroy(pool);
    return listed ? MST_EXIT_OK : MST_EXIT_BAD;
}

/* fuzz_textfile.c - arbitrary bytes as one of the lab's text files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab/files/textfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A section is read in every way that there is, whatever its kind. */
static void read_section(const struct mst_text *text, const struct mst_text_section *section)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_facts facts;
    struct mst_rows rows;
    size_t i;

    if (section->kind[0] == '\0' && section->word_count == 0)
        abort();
    if (mst_facts_read(&facts, text, section, error) == 0) {
        for (i = 0; i < facts.count; i++)
            if (mst_facts_find(&facts, facts.items[i].key) != &facts.items[i])
                abort();
    } else if (strlen(error) == 0) {
        abort();
    }
    if (mst_rows_read(&rows, text, section, error) == 0) {
        for (i = 0; i < rows.count; i++)
            if (rows.items[i].count == 0 || rows.items[i].words[rows.items[i].count] != NULL)
                abort();
    }
    if (mst_table_read(&rows, text, section, error) != 0 && strlen(error) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    char error[MST_ERROR_MAX] = "";
    struct mst_text text;
    size_t i;

    if (mst_text_parse(pool, &text, "fuzz", (const char *)data, size, error) == 0) {
        for (i = 0; i < text.count; i++)
            read_section(&text, &text.sections[i]);
    } else if (strlen(error) == 0) {
        abort();
    }
    apr_pool_destroy(pool);
    return 0;
}

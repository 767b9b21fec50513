/* fuzz_config.c - arbitrary bytes as a file of configuration, of PHP-FPM and of httpd. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A setting stands in a line of the text, and each is there once. */
static void check(const struct mst_config *config, const uint8_t *data, size_t size)
{
    uint64_t lines = 1;
    size_t i, k;

    for (i = 0; i < size; i++)
        lines += data[i] == '\n';
    for (i = 0; i < config->count; i++) {
        const struct mst_config_setting *s = &config->items[i];

        if (s->line == 0 || s->line > lines || s->name[0] == '\0')
            abort();
        for (k = 0; k < i; k++)
            if (strcmp(config->items[k].section, s->section) == 0 &&
                strcmp(config->items[k].name, s->name) == 0)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const mpms[] = { NULL, "event", "prefork" };
    size_t i;

    for (i = 0; i < sizeof mpms / sizeof *mpms; i++) {
        struct mst_config config = { 0 };
        FILE *text = size > 0 ? fmemopen((void *)data, size, "r") : NULL;

        if (text == NULL)
            return 0;
        if (mpms[i] == NULL)
            mst_config_parse_fpm(&config, text);
        else
            mst_config_parse_httpd(&config, text, mpms[i]);
        check(&config, data, size);
        mst_config_free(&config);
        fclose(text);
    }
    return 0;
}

/* rows_config.c - what a recording writes into an archive of what its servers are configured with:
 * see writer.h. */
#include <string.h>

#include "archive/internal.h"
#include "system/config.h"

static int add_files(struct mst_archive *a, int64_t server_id, const struct mst_config *config)
{
    const struct servers_row server = {
        .id = NUMBER(server_id), .config_file = TEXT(config->file),
        .config_check = TEXT(config->check[0] != '\0' ? config->check : NULL),
    };
    int status = mst_archive_put(a, CONFIG_SERVER, &server.id);
    size_t i;

    for (i = 0; i < config->count && status == 0; i++) {
        const struct mst_config_setting *setting = &config->items[i];
        const struct settings_row row = {
            .server_id = NUMBER(server_id), .section = TEXT(setting->section),
            .name = TEXT(setting->name),
            .value = TEXT(setting->is_doubtful ? NULL : setting->value),
            .file = TEXT(setting->file), .line = NUMBER(setting->line),
        };

        status = insert_settings(a, &row);
    }
    return status;
}

int mst_archive_add_config(struct mst_archive *a, int64_t run_id, int64_t server_id,
                           const char *prefix, const struct mst_source_identity *server, bool here)
{
    struct mst_config config = { 0 };
    char name[MST_PREFIX_MAX + 16];
    bool is_known = false;
    int status = 0;

    snprintf(name, sizeof name, "%s_settings", prefix);
    if (server->settings[0] != '\0')
        status = mst_archive_add_environment(a, run_id, name, server->settings);
    if (here && server->producer == MST_PRODUCER_APACHE)
        is_known = mst_config_read_httpd(&config, server->pid, server->mpm);
    else if (here && mst_sapi_of(server->sapi) == MST_SAPI_FPM)
        is_known = mst_config_read_fpm(&config, server->pid);
    if (is_known && status == 0)
        status = add_files(a, server_id, &config);
    mst_config_free(&config);
    return status;
}

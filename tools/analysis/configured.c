/* configured.c - the settings of a recorded server's workers: see configured.h. */
#include "analysis/configured.h"

const char *const mst_pm_names[MST_PM_COUNT] = { "static", "dynamic", "ondemand" };

const char *const mst_fpm_names[MST_FPM_SETTINGS] = {
    [MST_FPM_CHILDREN] = "pm.max_children", [MST_FPM_START] = "pm.start_servers",
    [MST_FPM_MIN_SPARE] = "pm.min_spare_servers", [MST_FPM_MAX_SPARE] = "pm.max_spare_servers",
};

const struct mst_mpm_directive mst_mpm_directives[2][MST_MPM_SETTINGS] = {
    {
        [MST_MPM_WORKERS] = { "MaxRequestWorkers", "MaxClients", 0 },
        [MST_MPM_SERVER_LIMIT] = { "ServerLimit", NULL, 256 },
        [MST_MPM_START] = { "StartServers", NULL, 5 },
        [MST_MPM_MIN_SPARE] = { "MinSpareServers", NULL, 5 },
        [MST_MPM_MAX_SPARE] = { "MaxSpareServers", NULL, 10 },
    }, {
        [MST_MPM_WORKERS] = { "MaxRequestWorkers", "MaxClients", 0 },
        [MST_MPM_SERVER_LIMIT] = { "ServerLimit", NULL, 16 },
        [MST_MPM_START] = { "StartServers", NULL, 3 },
        [MST_MPM_MIN_SPARE] = { "MinSpareThreads", NULL, 75 },
        [MST_MPM_MAX_SPARE] = { "MaxSpareThreads", NULL, 250 },
        [MST_MPM_THREADS] = { "ThreadsPerChild", NULL, 25 },
        [MST_MPM_THREAD_LIMIT] = { "ThreadLimit", NULL, 64 },
    },
};

struct mst_query mst_configured_ask(sqlite3 *db, const struct mst_summary_server *server,
                                    const char *section, const char *name, const char *other)
{
    struct mst_query q = mst_query_ask(db, "SELECT name, value, CAST(value AS INTEGER) AS number, "
        "file, line FROM settings WHERE server_id = :id AND ifnull(section, '') = :section AND "
        "name IN (:name, :other)", server->id);

    mst_query_set_text(&q, ":section", section);
    mst_query_set_text(&q, ":name", name);
    mst_query_set_text(&q, ":other", other);
    return q;
}

/* configured.h - the settings of a recorded server's workers: their names, what its files say, from
 * the archive's table settings, and what the server takes where no file says anything.
 */
#ifndef MPMSTAT_CONFIGURED_H
#define MPMSTAT_CONFIGURED_H

#include "analysis/summary.h"
#include "archive/query.h"

/* ---- a pool of PHP-FPM ----------------------------------------------------------------------- */

enum mst_pm { MST_PM_STATIC, MST_PM_DYNAMIC, MST_PM_ONDEMAND, MST_PM_COUNT };
extern const char *const mst_pm_names[MST_PM_COUNT];

enum mst_fpm_setting {
    MST_FPM_CHILDREN, MST_FPM_START, MST_FPM_MIN_SPARE, MST_FPM_MAX_SPARE, MST_FPM_SETTINGS
};
extern const char *const mst_fpm_names[MST_FPM_SETTINGS];

/* ---- an MPM of httpd ------------------------------------------------------------------------- */

enum mst_mpm_setting {
    MST_MPM_WORKERS, MST_MPM_SERVER_LIMIT, MST_MPM_START, MST_MPM_MIN_SPARE, MST_MPM_MAX_SPARE,
    MST_MPM_THREADS, MST_MPM_THREAD_LIMIT, MST_MPM_SETTINGS
};

/* name NULL: the MPM has none such. older: a name that httpd takes, too; NULL. usual: httpd's
 * number where no file has one; 0: as many as the limits allow. */
struct mst_mpm_directive { const char *name, *older; uint64_t usual; };
/* [1]: of worker and event; [0]: of prefork. */
extern const struct mst_mpm_directive mst_mpm_directives[2][MST_MPM_SETTINGS];

/* ---- what the files say ---------------------------------------------------------------------- */

/* A setting of the section (FPM's pool or "global"; "" for Apache) under either name; other NULL:
 * it has one. The row has "name", "value" (NULL: which of several is in force is not known), it as
 * the number that it begins with ("number"), "file" and "line". No row: it stands in no file. */
struct mst_query mst_configured_ask(sqlite3 *db, const struct mst_summary_server *server,
                                    const char *section, const char *name, const char *other);

#endif

/* mod_mpmstat.c - the module record: what httpd sees of mpmstat. */
#include "mod_mpmstat.h"

AP_DECLARE_MODULE(mpmstat) = {
    STANDARD20_MODULE_STUFF,
    mst_create_dir_config,
    mst_merge_dir_config,
    mst_create_server_config,
    NULL,                       /* merged server configs: nothing is inherited */
    mst_commands,
    mst_hooks_register,
    AP_MODULE_FLAG_NONE
};

extern __attribute__((alias("mpmstat_module"))) module mst_module;

/* Under mod_php the PHP extension has a board in the same processes: one signal handler guards
 * both boards (guard.h). */
extern __attribute__((visibility("default"))) const struct mst_guard_service *const mpmstat_guard;
const struct mst_guard_service *const mpmstat_guard = &mst_guard_own;

/* mod_mpmstat.c - the module record: what httpd sees of mpmstat.
 *
 *   config.c     directives
 *   recording.c  the board's life: made by the parent, claimed by each child
 *   processes.c  forks and exits of the MPM's children, restarts
 *   forks.c      all other forks, and what becomes of them
 *   connections.c  which worker has which connection (hot path, as timing.c)
 *   timing.c     requests: time stamps, phases, records
 *   http2.c      HTTP/2's streams, and their sessions
 *   exports.c    what programs, access logs and browsers are told of a request
 *   handler.c    /mpm-status
 *   access.c     who may see it
 *   turns.c      how many answers of the journal it gives at once
 *   listeners.c  the accept queue
 *   scoreboard.c Apache's own letters
 */
#include "mod_mpmstat.h"

#include "turns.h"

static void register_hooks(apr_pool_t *p)
{
    ap_hook_pre_config(mst_config_reset, NULL, NULL, APR_HOOK_MIDDLE);
    mst_recording_register(p);
    mst_lifecycle_register(p);
    mst_forks_register(p);
    mst_connections_register(p);
    mst_timing_register(p);
    mst_http2_register(p);
    mst_exports_register(p);
    mst_listeners_register(p);
    mst_turns_register(p);
}

AP_DECLARE_MODULE(mpmstat) = {
    STANDARD20_MODULE_STUFF,
    mst_create_dir_config,
    mst_merge_dir_config,
    mst_create_server_config,
    NULL,                       /* merged server configs: nothing is inherited */
    mst_commands,
    register_hooks,
    AP_MODULE_FLAG_NONE
};

/* PHP's extension under mod_php has a board in the same processes: one signal handler guards
 * both (guard.h). */
extern __attribute__((visibility("default"))) const struct mst_guard_service *const mpmstat_guard;
const struct mst_guard_service *const mpmstat_guard = &mst_guard_own;

extern module mst_module __attribute__((alias("mpmstat_module"), visibility("hidden")));

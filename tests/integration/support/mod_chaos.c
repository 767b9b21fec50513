/* mod_chaos.c - an Apache module for the tests: a request to the handler `chaos` does to the
 * server's board what its query string says, "WHAT&SEED" (chaos.c). ChaosBoard names the board.
 */
#include <stdlib.h>
#include <string.h>

#include <httpd.h>
#include <http_config.h>
#include <http_protocol.h>
#include <apr_strings.h>

#include "chaos.h"

static const char *board;

static int handle(request_rec *r)
{
    char *what, *seed = NULL;

    if (strcmp(r->handler, "chaos") != 0)
        return DECLINED;
    what = apr_strtok(apr_pstrdup(r->pool, r->args ? r->args : ""), "&", &seed);
    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "%ld\n", chaos(what ? what : "", board, seed ? atol(seed) : 0));
    return OK;
}

static const char *set_board(cmd_parms *cmd, void *unused, const char *path)
{
    (void)cmd, (void)unused;
    board = path;
    return NULL;
}

static const command_rec commands[] = {
    AP_INIT_TAKE1("ChaosBoard", set_board, NULL, RSRC_CONF, "the board's path"),
    { NULL, { NULL }, NULL, 0, RAW_ARGS, NULL }
};

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(handle, NULL, NULL, APR_HOOK_MIDDLE);
}

extern __attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA chaos_module;
AP_DECLARE_MODULE(chaos) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, commands, register_hooks,
    AP_MODULE_FLAG_NONE
};

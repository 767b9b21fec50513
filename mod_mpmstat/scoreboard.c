/* scoreboard.c - a letter for each slot of Apache's scoreboard.
 *
 * It reads one byte of each slot in the shared memory itself: ap_copy_scoreboard_worker() would
 * copy hundreds.
 */
#include "scoreboard.h"

#include <ap_mpm.h>
#include <scoreboard.h>

/* mod_status's letters. */
static const char letters[SERVER_NUM_STATUS] = {
    [SERVER_DEAD] = '.',       [SERVER_STARTING] = 'S',       [SERVER_READY] = '_',
    [SERVER_BUSY_READ] = 'R',  [SERVER_BUSY_WRITE] = 'W',     [SERVER_BUSY_KEEPALIVE] = 'K',
    [SERVER_BUSY_LOG] = 'L',   [SERVER_BUSY_DNS] = 'D',       [SERVER_CLOSING] = 'C',
    [SERVER_GRACEFUL] = 'G',   [SERVER_IDLE_KILL] = 'I',
};

static int limit_of(int query)
{
    int n = 0;

    return ap_mpm_query(query, &n) == APR_SUCCESS ? n : 0;
}

/* Slots beyond the present limits are shown only where a worker still has them. */
const char *mst_scoreboard_letters(apr_pool_t *p)
{
    const scoreboard *board = ap_scoreboard_image;
    int daemons = limit_of(AP_MPMQ_MAX_DAEMONS), threads = limit_of(AP_MPMQ_MAX_THREADS);
    char *text, *end;
    int i, j;

    if (!board || !board->global)
        return NULL;
    if (threads == 0)
        threads = 1;   /* prefork */
    text = end = apr_palloc(p, (apr_size_t)board->global->server_limit
                               * (apr_size_t)board->global->thread_limit + 1);
    for (i = 0; i < board->global->server_limit; i++) {
        for (j = 0; j < board->global->thread_limit; j++) {
            unsigned char status = board->servers[i][j].status;

            if (status < SERVER_NUM_STATUS
                && (status != SERVER_DEAD || (i < daemons && j < threads)))
                *end++ = letters[status];
        }
    }
    *end = '\0';
    return text;
}

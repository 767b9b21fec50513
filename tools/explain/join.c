/* join.c - what Apache's workers wait for, where the PHP request that they are with tells: PHP that
 * runs in Apache (mod_php) has it on a board of its own, in a worker of the same process. */
#include <string.h>

#include "base/clock.h"
#include "explain/steps.h"

/* The two boards are read one after the other: by so much a request in PHP can seem to have begun
 * before it began in Apache. */
#define APART_NS (100 * MST_NS_PER_MS)

/* Of an Apache's workers in the process the one that took its request last before PHP's began: the
 * other threads of the process have requests of their own. NULL: there is none. */
static struct mst_now_worker *find_front(struct mst_explained_server *apache,
                                         const struct mst_now_worker *php)
{
    struct mst_now_worker *found = NULL;
    size_t i;

    for (i = 0; i < apache->worker_count; i++) {
        struct mst_now_worker *w = &apache->workers[i];

        if (w->pid != php->pid || w->is_in_php || w->busy_ns == MST_UNKNOWN ||
            w->busy_ns + APART_NS < php->busy_ns)
            continue;
        if (found == NULL || w->busy_ns < found->busy_ns)
            found = w;
    }
    return found;
}

static void join(struct mst_explained_server *apache, const struct mst_explained_server *php)
{
    struct mst_now_worker *front;
    size_t i;

    for (i = 0; i < php->worker_count; i++) {
        const struct mst_now_worker *w = &php->workers[i];

        front = w->busy_ns != MST_UNKNOWN ? find_front(apache, w) : NULL;
        if (front == NULL)
            continue;
        front->is_in_php = true;
        memcpy(front->wait, w->wait, sizeof front->wait);
        memcpy(front->wait_end, w->wait_end, sizeof front->wait_end);
        front->wait_ns = w->wait_ns;
    }
}

/* Whether their pids are of one namespace: ours, or that of a status page which shows both. */
static bool share_pids(const struct mst_explained_server *apache,
                       const struct mst_explained_server *php)
{
    const char *name = mst_source_name(apache->source), *other = mst_source_name(php->source);
    size_t length = strlen(name);

    return (mst_source_local(apache->source) && mst_source_local(php->source)) ||
           (strncmp(name, other, length) == 0 && other[length] == '#');
}

void mst_explain_join(struct mst_explanation *e)
{
    size_t i, k;

    for (i = 0; i < e->server_count; i++)
        for (k = 0; k < e->server_count; k++)
            if (!mst_server_is_php(&e->servers[i]) && mst_server_is_php(&e->servers[k]) &&
                share_pids(&e->servers[i], &e->servers[k]))
                join(&e->servers[i], &e->servers[k]);
}

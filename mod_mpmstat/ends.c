/* ends.c - the other ends: what requests are handed to, by name. They are handlers
 * (r->handler) and backends (workers of mod_proxy).
 *
 * Finding a name in the board's table takes long. So each process keeps the indices of the names
 * that it has looked up.
 */
#include "mod_mpmstat.h"

#include <apr_strings.h>
#include <pthread.h>
#include <string.h>

#define KEPT_MAX MST_ENDS

/* The board cuts names to MST_NAME_MAX - 1 bytes: names that agree so far are one. */
struct kept {
    enum mst_other_end_kind kind;
    uint32_t                index;
    char                    name[MST_NAME_MAX];
};
static struct kept kept[KEPT_MAX];
static size_t kept_count;   /* atomic: entries below it are valid, and never change */

/* Protects additions. A forked process never finds it held: itk forks before a request, and a
 * process that becomes a program adds nothing. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct kept *find(enum mst_other_end_kind kind, const char *name)
{
    size_t count = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE), i;

    for (i = 0; i < count; i++)
        if (kept[i].kind == kind && strncmp(kept[i].name, name, MST_NAME_MAX - 1) == 0)
            return &kept[i];
    return NULL;
}

/* Precondition: the lock is held. Without room the index is looked up each time. */
static void keep(enum mst_other_end_kind kind, const char *name, uint32_t index)
{
    struct kept *entry = &kept[kept_count];

    if (kept_count == KEPT_MAX || find(kind, name))
        return;
    apr_cpystrn(entry->name, name, sizeof entry->name);
    entry->kind = kind;
    entry->index = index;
    __atomic_store_n(&kept_count, kept_count + 1, __ATOMIC_RELEASE);
}

/* Whether the handler is one of those that the most servers have. They have room, whatever names
 * .htaccess files make up. */
static bool is_common(const char *name)
{
    static const char *const common[] = {
        "proxy-server", "cgi-script", "application/x-httpd-cgi", "application/x-httpd-php",
        "fcgid-script", "fastcgi-script", "wsgi-script", "server-status", "mpm-status",
    };
    size_t i;

    for (i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(name, common[i]) == 0)
            return true;
    return false;
}

/* A name that is refused to a tenant is not kept: it would take another one's place. */
uint32_t mst_ends_index(enum mst_other_end_kind kind, const char *name, uint64_t tenant)
{
    const struct kept *known = find(kind, name);
    uint32_t index;

    if (known)
        return known->index;
    if (tenant == 0 || is_common(name))
        index = mst_other_end_intern(mst_recording.board, kind, name);
    else
        index = mst_other_end_intern_tenant(mst_recording.board, kind, name, tenant);
    if (tenant != 0 && index == MST_END_OTHER)
        return index;
    pthread_mutex_lock(&lock);
    keep(kind, name, index);
    pthread_mutex_unlock(&lock);
    return index;
}

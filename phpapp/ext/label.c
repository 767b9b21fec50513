/* label.c - the label that the present request is counted under.
 *
 * The server's own label is mpmstat.label of php.ini, of a virtual host or of FPM's pool; else
 * the name of FPM's pool, which only the process's title tells; else "default". It is not the
 * server's name, because clients choose that.
 *
 * A tenant's label is mpmstat.label of .htaccess and .user.ini, and what comes to FPM with a
 * request (PHP_VALUE, PHP_ADMIN_VALUE). Each tenant can make mpmstat.tenant_labels labels;
 * requests with further ones are counted under the server's own label. A tenant is a pool;
 * without pools, a document root.
 */
#include "label.h"

#include <SAPI.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "board_place.h"

/* FPM sets the process's title after it has changed the root directory, where /proc can be
 * missing. So the title's file is opened before, and read at the first request. */
static int title_fd = -1;
static char pool_name[MST_NAME_MAX] = "default";   /* without a pool */
static bool has_pool;

void mst_label_join(void)
{
    title_fd = mst_board_place_title_open();
}

/* FPM's workers have the title "php-fpm: pool NAME". */
static __attribute__((cold)) void learn_pool(void)
{
    static const char marker[] = ": pool ";
    char title[256];
    const char *pool;

    mst_board_place_title_read(title_fd, title, sizeof title);
    title_fd = -1;
    pool = strstr(title, marker);
    if (pool == NULL)
        return;
    pool += sizeof marker - 1;
    snprintf(pool_name, sizeof pool_name, "%.*s", (int)strcspn(pool, " "), pool);
    has_pool = true;
}

void mst_label_learn(void)
{
    if (title_fd >= 0)
        learn_pool();
}

/* ---- the setting ------------------------------------------------------------------------ */

/* True once for all processes of a board, or once for a process without one: a tenant's file causes
 * the refusal at each request. */
static bool must_tell_refusal(void)
{
    static bool told;

    if (mst_board_place_is_one_of_many() || __atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        return false;
    return !mst_php.is_open || mst_board_tell_once(&mst_php.board, MST_TOLD_NO_LABEL);
}

static void tell_refusal(const char *name)
{
    char line[256], shown[MST_NAME_MAX];
    size_t i;

    if (!must_tell_refusal())
        return;
    snprintf(shown, sizeof shown, "%s", name);
    for (i = 0; shown[i]; i++)
        if (!isprint((unsigned char)shown[i]))
            shown[i] = '?';
    snprintf(line, sizeof line, "mpmstat: mpmstat.label must have 1 to %u letters, digits and "
             "- _ . : /, not be \"%s\": it is left as it was", MST_NAME_MAX - 1, shown);
    php_log_err_with_severity(line, LOG_WARNING);
}

/* FPM applies the settings of a request in the same stage as those of the pool, which it applies
 * while the worker starts. php.ini's sections of hosts and paths are for one request
 * (`modified`). */
static bool is_of_tenant(const zend_ini_entry *entry, int stage)
{
    if (stage == ZEND_INI_STAGE_HTACCESS || stage == ZEND_INI_STAGE_RUNTIME)
        return true;
    return mst_php.origin == MST_ORIGIN_FPM && stage == ZEND_INI_STAGE_ACTIVATE && !entry->modified
        && SG(server_context) != NULL;
}

static const char *own_label(void)
{
    return *MPMSTAT_G(own_label) ? MPMSTAT_G(own_label) : pool_name;
}

ZEND_INI_MH(mst_label_update)
{
    const char *name = new_value ? ZSTR_VAL(new_value) : "";
    bool is_restored = stage == ZEND_INI_STAGE_DEACTIVATE || stage == ZEND_INI_STAGE_SHUTDOWN;

    (void)mh_arg1, (void)mh_arg2, (void)mh_arg3;
    if (*name && !mst_label_is_valid(name)) {
        tell_refusal(name);
        return FAILURE;
    }
    if (is_restored)
        MPMSTAT_G(label_is_tenants) = MPMSTAT_G(label_stays_tenants);
    else
        MPMSTAT_G(label_is_tenants) = is_of_tenant(entry, stage);
    if (!entry->modified)
        MPMSTAT_G(label_stays_tenants) = MPMSTAT_G(label_is_tenants);
    if (!MPMSTAT_G(label_is_tenants))
        snprintf(MPMSTAT_G(own_label), MST_NAME_MAX, "%s", name);
    MPMSTAT_G(label) = MPMSTAT_G(label_is_tenants) && *name ? name : own_label();
    return SUCCESS;
}

/* ---- the request ------------------------------------------------------------------------- */

uint64_t mst_label_tenant(void)
{
    const char *root = NULL;

    if (!has_pool && sapi_module.getenv)
        root = sapi_module.getenv((char *)"DOCUMENT_ROOT", strlen("DOCUMENT_ROOT"));
    return mst_label_owner(root ? root : pool_name);
}

/* On a board that the processes of one user share, all labels belong to that user. */
static struct mst_tenant tenant_of_request(void)
{
    uint32_t labels = mst_php.board.label_count;

    return (struct mst_tenant){
        .owner = mst_label_tenant(),
        .quota = (uint32_t)MPMSTAT_G(tenant_labels),
        .share = mst_php.origin == MST_ORIGIN_SHARED ? labels / 2 : labels / MST_TENANTS_PART,
    };
}

/* Whether the label was refused in the latest request, for the same tenant: a process can serve
 * several tenants. */
static bool is_refused(const char *name, uint64_t owner)
{
    return *MPMSTAT_G(label_name) == '\0' && MPMSTAT_G(refused_owner) == owner
        && strncmp(name, MPMSTAT_G(refused_name), MST_NAME_MAX - 1) == 0;
}

static void choose_tenants(const char *name)
{
    struct mst_tenant tenant = tenant_of_request();

    if (is_refused(name, tenant.owner))
        return;
    if (mst_label_intern_tenant(&mst_php.board, name, &tenant, &MPMSTAT_G(label_index))) {
        snprintf(MPMSTAT_G(label_name), MST_NAME_MAX, "%s", name);
        return;
    }
    MPMSTAT_G(label_index) = mst_label_intern(&mst_php.board, own_label());
    MPMSTAT_G(label_name)[0] = '\0';
    MPMSTAT_G(refused_owner) = tenant.owner;
    snprintf(MPMSTAT_G(refused_name), MST_NAME_MAX, "%s", name);
}

static __attribute__((cold)) void choose_another(void)
{
    const char *name = MPMSTAT_G(label);

    if (name != own_label()) {
        choose_tenants(name);
        return;
    }
    MPMSTAT_G(label_index) = mst_label_intern(&mst_php.board, name);
    snprintf(MPMSTAT_G(label_name), MST_NAME_MAX, "%s", name);
}

void mst_label_choose(void)
{
    if (strncmp(MPMSTAT_G(label), MPMSTAT_G(label_name), MST_NAME_MAX - 1) != 0)
        choose_another();
}

void mst_label_forget(void)
{
    MPMSTAT_G(label_name)[0] = MPMSTAT_G(refused_name)[0] = '\0';
}

void mst_label_show(char *to, size_t size)
{
    char name[MST_NAME_MAX];

    mst_label_read(&mst_php.board, MPMSTAT_G(label_index), name);
    if (*MPMSTAT_G(label_name))
        snprintf(to, size, "%s", name);
    else
        snprintf(to, size, "%s (there is no room for %s: see mpmstat.tenant_labels)", name,
                 MPMSTAT_G(refused_name));
}

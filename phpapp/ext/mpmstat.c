/* mpmstat.c - the PHP extension: module entry, settings, phpinfo(), mpmstat_mark().
 *
 * It connects PHP's hooks to lifecycle.c and request.c, which record. Whatever goes wrong in
 * recording, PHP serves the request.
 */
#include <SAPI.h>
#include <ext/standard/info.h>
#include <php_ini.h>
#include <stdio.h>
#include <unistd.h>

#include "board_place.h"
#include "compat.h"
#include "label.h"
#include "lifecycle.h"
#include "mpmstat_arginfo.h"
#include "opcache.h"
#include "pools.h"
#include "profile.h"
#include "request.h"
#include "state.h"
#include "waits.h"
#include "write/pools.h"

/* The handler of a number that must be within bounds; else the setting keeps its value. */
#define MPMSTAT_BOUNDED(name, low, high)                                                    \
    static ZEND_INI_MH(name)                                                                \
    {                                                                                       \
        zend_long value = mst_ini_quantity(new_value);                                      \
                                                                                            \
        if (value < (low) || value > (high))                                                \
            return FAILURE;                                                                 \
        return OnUpdateLong(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);            \
    }
MPMSTAT_BOUNDED(update_workers_limit, 0, 1 << 20)
MPMSTAT_BOUNDED(update_processes, 1, 1 << 20)
MPMSTAT_BOUNDED(update_journal, 0, (zend_long)MST_JOURNAL_MAX)
MPMSTAT_BOUNDED(update_profile, 0, 1000)
MPMSTAT_BOUNDED(update_tenant_labels, 0, (zend_long)MST_LABELS_MAX)

#define OF_DIRECTORY (PHP_INI_PERDIR | PHP_INI_SYSTEM)
#define ENTRY(name, value, where, handler, type, member) \
    STD_PHP_INI_ENTRY("mpmstat." name, value, where, handler, member, zend_mpmstat_globals, \
                      mpmstat_globals)
#define SWITCH(name, value, where, member) \
    STD_PHP_INI_BOOLEAN("mpmstat." name, value, where, OnUpdateBool, member, \
                        zend_mpmstat_globals, mpmstat_globals)

PHP_INI_BEGIN()
    SWITCH("enable", "1", OF_DIRECTORY, enable)
    SWITCH("enable_cli", "0", PHP_INI_SYSTEM, enable_cli)
    SWITCH("trust_request_start", "0", PHP_INI_SYSTEM, trust_request_start)
    SWITCH("waits", "1", PHP_INI_SYSTEM, measure_waits)
    SWITCH("ends", "1", PHP_INI_SYSTEM, name_ends)
    SWITCH("places", "1", PHP_INI_SYSTEM, places)
    ENTRY("board", "", PHP_INI_SYSTEM, OnUpdateString, char *, board)
    ENTRY("group", "adm", PHP_INI_SYSTEM, OnUpdateString, char *, group)
    PHP_INI_ENTRY("mpmstat.label", "", OF_DIRECTORY, mst_label_update)
    ENTRY("tenant_labels", "8", PHP_INI_SYSTEM, update_tenant_labels, zend_long, tenant_labels)
    ENTRY("workers_limit", "0", PHP_INI_SYSTEM, update_workers_limit, zend_long, workers_limit)
    ENTRY("processes", "1024", PHP_INI_SYSTEM, update_processes, zend_long, processes)
    ENTRY("profile", "100", PHP_INI_SYSTEM, update_profile, zend_long, profile)
    ENTRY("journal", "0", PHP_INI_SYSTEM, update_journal, zend_long, journal)
PHP_INI_END()

/* Called for each thread. */
static void init_globals(void *globals)
{
#ifdef ZTS
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(globals, 0, sizeof(zend_mpmstat_globals));
    ((zend_mpmstat_globals *)globals)->delay_fd = -1;
}

static void end_globals(void *globals)
{
    int fd = ((zend_mpmstat_globals *)globals)->delay_fd;

    mst_profile_leave(globals);
    mst_lifecycle_thread_end(globals);
    if (fd >= 0)
        close(fd);
}

static PHP_MINIT_FUNCTION(mpmstat)
{
    REGISTER_INI_ENTRIES();
    mst_php.origin = MPMSTAT_G(enable) ? mst_board_place_origin() : MST_ORIGIN_OFF;
    if (mst_php.origin == MST_ORIGIN_OFF)
        return SUCCESS;
    mst_request_start_watching();
    mst_profile_install();
    if (type == MODULE_PERSISTENT)   /* not with dl() */
        mst_waits_install();
    mst_lifecycle_start();
    if (mst_php.origin == MST_ORIGIN_FPM)
        mst_pools_start();
    if (mst_php.origin == MST_ORIGIN_APACHE)
        mst_lifecycle_open();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(mpmstat)
{
    (void)type;
    mst_request_stop_watching();
    mst_profile_uninstall();
    mst_lifecycle_end();
    mst_waits_uninstall();
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(mpmstat)
{
    (void)type, (void)module_number;
#ifdef ZTS
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    if (mst_php.origin == MST_ORIGIN_OFF)
        return SUCCESS;
    mst_label_learn();
    if (MPMSTAT_G(enable))
        mst_request_begin();
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(mpmstat)
{
    (void)type, (void)module_number;
    if (MPMSTAT_G(active)) {
        mst_request_note();
        mst_pool_limit_look(&mst_php.board, MPMSTAT_G(label_index), MPMSTAT_G(start_ns));
        mst_opcache_look(MPMSTAT_G(start_ns));
    }
    return SUCCESS;
}

static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(mpmstat)
{
    if (MPMSTAT_G(active))
        mst_request_end();
    MPMSTAT_G(upload_ns) = 0;   /* also what a request read that is not recorded */
    return SUCCESS;
}

static void show_recording(void)
{
    const struct mst_board *b = &mst_php.board;
    char text[3 * MST_NAME_MAX];

    if (!mst_php.is_open) {
        php_info_print_table_row(2, "recording", mst_php.given_up ? mst_php.why_not
                                 : mst_php.origin == MST_ORIGIN_OFF ? "off" : "not yet");
        return;
    }
    php_info_print_table_row(2, "recording", "on");
    php_info_print_table_row(2, "board", b->path);
    snprintf(text, sizeof text, "%zu", b->bytes);
    php_info_print_table_row(2, "board bytes", text);
    snprintf(text, sizeof text, "%u processes, %u labels, %u journal records", b->process_count,
             b->label_count, (unsigned)(b->php_requests_mask + 1));
    php_info_print_table_row(2, "room for", text);
    snprintf(text, sizeof text, "none");
    if (MPMSTAT_G(active))
        mst_label_show(text, sizeof text);
    php_info_print_table_row(2, "label of this request", text);
    if (mst_waits_why_not())
        php_info_print_table_row(2, "waits", mst_waits_why_not());
}

static PHP_MINFO_FUNCTION(mpmstat)
{
    (void)zend_module;
    php_info_print_table_start();
    php_info_print_table_row(2, "mpmstat", MPMSTAT_VERSION);
    show_recording();
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

ZEND_FUNCTION(mpmstat_mark)
{
    char *name;
    size_t length;

    (void)return_value;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STRING(name, length)
    ZEND_PARSE_PARAMETERS_END();
    if (MPMSTAT_G(active))
        mst_request_mark(name, length);
}

static zend_module_entry mpmstat_module_entry = {
    STANDARD_MODULE_HEADER,
    "mpmstat",
    mpmstat_functions,
    PHP_MINIT(mpmstat),
    PHP_MSHUTDOWN(mpmstat),
    PHP_RINIT(mpmstat),
    PHP_RSHUTDOWN(mpmstat),
    PHP_MINFO(mpmstat),
    MPMSTAT_VERSION,
    PHP_MODULE_GLOBALS(mpmstat),
    init_globals,
    end_globals,
    ZEND_MODULE_POST_ZEND_DEACTIVATE_N(mpmstat),
    STANDARD_MODULE_PROPERTIES_EX
};

ZEND_GET_MODULE(mpmstat)

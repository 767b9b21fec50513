/* opcache.c - what OPcache says of itself: see opcache.h.
 *
 * It is asked by opcache_get_status(), whose answer has the same keys from PHP 7.4 on; its shared
 * memory has another layout in each version.
 */
#include "opcache.h"

#include <php.h>
#include <string.h>
#include <zend_extensions.h>

#include "base/clock.h"
#include "compat.h"
#include "state.h"

#define LOOK_NS MST_NS_PER_S   /* between two looks of any worker */

/* NULL: there is none. */
static const zval *member(const zval *array, const char *key)
{
    return array != NULL && Z_TYPE_P(array) == IS_ARRAY
           ? zend_hash_str_find(Z_ARRVAL_P(array), key, strlen(key)) : NULL;
}

static uint64_t number(const zval *array, const char *key)
{
    const zval *value = member(array, key);

    return value != NULL && Z_TYPE_P(value) == IS_LONG && Z_LVAL_P(value) > 0
           ? (uint64_t)Z_LVAL_P(value) : 0;
}

static bool is_true(const zval *array, const char *key)
{
    const zval *value = member(array, key);

    return value != NULL && Z_TYPE_P(value) == IS_TRUE;
}

/* A full cache keeps what it has and compiles all else each time, until it restarts. */
static enum mst_opcache_state state_of(const zval *status, const struct mst_opcache *o)
{
    if (!is_true(status, "opcache_enabled"))
        return MST_OPCACHE_OFF;
    if (is_true(status, "restart_pending") || is_true(status, "restart_in_progress"))
        return MST_OPCACHE_RESTARTING;
    if (is_true(status, "cache_full") || (o->keys_limit > 0 && o->keys >= o->keys_limit))
        return MST_OPCACHE_FULL;
    return MST_OPCACHE_ON;
}

/* A cache that is off answers with `false`. */
static void read_status(struct mst_opcache *o, const zval *status)
{
    const zval *memory = member(status, "memory_usage");
    const zval *counts = member(status, "opcache_statistics");

    o->used_bytes = number(memory, "used_memory");
    o->wasted_bytes = number(memory, "wasted_memory");
    o->limit_bytes = o->used_bytes + o->wasted_bytes + number(memory, "free_memory");
    o->scripts = number(counts, "num_cached_scripts");
    o->keys = number(counts, "num_cached_keys");
    o->keys_limit = number(counts, "max_cached_keys");
    o->hits = number(counts, "hits");
    o->misses = number(counts, "misses");
    o->restarts = number(counts, "oom_restarts") + number(counts, "hash_restarts")
                + number(counts, "manual_restarts");
    o->state = state_of(status, o);
}

/* Where opcache.restrict_api keeps scripts from asking, the function would warn: the state stays
 * unknown. */
static bool may_ask(void)
{
    const char *restricted = mst_ini_text("opcache.restrict_api");

    return restricted == NULL || *restricted == '\0';
}

static bool ask(zval *status)
{
    zend_function *f = mst_own_function("opcache_get_status");
    zval without_scripts;

    if (f == NULL || !may_ask() || EG(exception) != NULL)
        return false;
    ZVAL_FALSE(&without_scripts);
    return mst_call_own(f, status, 1, &without_scripts);
}

/* The words are read one by one: a reader can get some of this look and some of the last one. */
static void show(struct mst_opcache *to, const struct mst_opcache *o)
{
    __atomic_store_n(&to->used_bytes, o->used_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&to->wasted_bytes, o->wasted_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&to->limit_bytes, o->limit_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&to->scripts, o->scripts, __ATOMIC_RELAXED);
    __atomic_store_n(&to->keys, o->keys, __ATOMIC_RELAXED);
    __atomic_store_n(&to->keys_limit, o->keys_limit, __ATOMIC_RELAXED);
    __atomic_store_n(&to->hits, o->hits, __ATOMIC_RELAXED);
    __atomic_store_n(&to->misses, o->misses, __ATOMIC_RELAXED);
    __atomic_store_n(&to->restarts, o->restarts, __ATOMIC_RELAXED);
    __atomic_store_n(&to->state, o->state, __ATOMIC_RELAXED);
}

void mst_opcache_look(uint64_t now_ns)
{
    struct mst_opcache *to = &mst_php.board.header->opcache, look = { 0 };
    uint64_t looked = __atomic_load_n(&to->looked_ns, __ATOMIC_RELAXED);
    zval status;

    if (now_ns <= looked || (looked > 0 && now_ns - looked < LOOK_NS)
        || !__atomic_compare_exchange_n(&to->looked_ns, &looked, now_ns, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        return;
    if (zend_get_extension("Zend OPcache") == NULL) {
        look.state = MST_OPCACHE_OFF;
    } else if (ask(&status)) {
        read_status(&look, &status);
        zval_ptr_dtor(&status);
    }
    show(to, &look);
}

/* end_cache.c - the other ends of Redis and Memcached. */
#include "end_call.h"
#include "end_functions.h"

static uint64_t wait_of_cache(const char *service, const zval *host, const zval *port,
                              const char *standard_port)
{
    char digits[16];

    return mst_wait_of_host(MST_WAIT_CACHE, mst_part_of(service), mst_call_text_of(host),
                            mst_call_port_of(port, standard_port, digits));
}

/* A constructor connects only where it is told where to. */
MST_CAN_WAIT(is_given_some)
{
    return ZEND_CALL_NUM_ARGS(call) > 0 ? own : NULL;
}

MST_END(redis)
{
    (void)own;
    return mst_call_connected(call, result,
                              wait_of_cache("redis", mst_call_argument(call, 0),
                                            mst_call_argument(call, 1), "6379"));
}

/* A client of several servers is not named after any of them. */
static uint64_t add_memcached(struct mst_own_end *own, uintptr_t client, const zval *host,
                              const zval *port)
{
    uint64_t wait = wait_of_cache("memcached", host, port, "11211");
    uint64_t known = mst_known_find(client);

    mst_known_set(client, known == MST_KNOWN_NONE || known == wait ? wait
                                                                   : mst_wait_of_own(own));
    return wait;
}

MST_END(memcached)
{
    (void)result;
    return add_memcached(own, mst_call_subject(call), mst_call_argument(call, 0),
                         mst_call_argument(call, 1));
}

/* An array of [host, port, ...]. */
MST_END(memcacheds)
{
    zval *servers = mst_call_argument(call, 0), *server;

    (void)result;
    if (!servers || Z_TYPE_P(servers) != IS_ARRAY)
        return mst_wait_of_own(own);
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(servers), server) {
        if (Z_TYPE_P(server) == IS_ARRAY)
            add_memcached(own, mst_call_subject(call),
                          zend_hash_index_find(Z_ARRVAL_P(server), 0),
                          zend_hash_index_find(Z_ARRVAL_P(server), 1));
    } ZEND_HASH_FOREACH_END();
    return mst_call_known(call, own);
}

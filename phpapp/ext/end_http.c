/* end_http.c - the other ends of cURL and SOAP. */
#include "compat.h"
#include "end_call.h"
#include "end_functions.h"
#include "end_url.h"

/* CURLOPT_URL and CURLINFO_PRETRANSFER_TIME: libcurl's ABI is stable. */
#define CURL_OPTION_URL        10002
#define CURL_INFO_PRETRANSFER  0x300006
/* A call for less is not asked how long it connected. */
#define CURL_ASKED_FROM_NS     (1000 * 1000)

/* libcurl takes a URL without a scheme for one with http. */
static uint64_t wait_of_curl(struct mst_own_end *own, struct mst_part text)
{
    struct mst_end_name with_scheme = { "http://", 7 };
    struct mst_url url;

    if (text.length == 0)
        return mst_wait_of_own(own);
    if (mst_url_read(text, &url))
        return mst_url_wait_of_http(&url);
    mst_end_name_append(&with_scheme, text);
    mst_url_read((struct mst_part){ with_scheme.text, with_scheme.length }, &url);
    return mst_url_wait_of_http(&url);
}

MST_END(curl_url)
{
    uint64_t wait = wait_of_curl(own, mst_call_text(call, 0));

    mst_known_set(mst_known_key(result), wait);
    return wait;
}

MST_END(curl_option)
{
    zval *option = mst_call_argument(call, 1);

    (void)result;
    if (option && Z_TYPE_P(option) == IS_LONG && Z_LVAL_P(option) == CURL_OPTION_URL)
        mst_known_set(mst_call_subject(call), wait_of_curl(own, mst_call_text(call, 2)));
    return MST_KNOWN_NONE;
}

MST_END(curl_options)
{
    zval *options = mst_call_argument(call, 1), *url = NULL;

    (void)result;
    if (options && Z_TYPE_P(options) == IS_ARRAY)
        url = zend_hash_index_find(Z_ARRVAL_P(options), CURL_OPTION_URL);
    if (url)
        mst_known_set(mst_call_subject(call), wait_of_curl(own, mst_call_text_of(url)));
    return MST_KNOWN_NONE;
}

MST_END(curl_reset)
{
    (void)result;
    mst_known_set(mst_call_subject(call), mst_wait_of_own(own));
    return MST_KNOWN_NONE;
}

/* curl_exec() connects and talks in one call. Only cURL knows how long it looked up the name,
 * connected and shook hands, of all redirects together; 0: it never came to talk. Its own function
 * is asked, where it is not disabled. */
uint64_t mst_connecting_of_curl(zend_execute_data *call, uint64_t waited_ns)
{
    uint64_t ns = 0;
    zend_function *ask = mst_own_function("curl_getinfo");
    zval parameters[2], seconds;

    if (!call || !ask || waited_ns < CURL_ASKED_FROM_NS || EG(exception)
        || ZEND_CALL_NUM_ARGS(call) < 1)
        return 0;
    ZVAL_COPY_VALUE(&parameters[0], ZEND_CALL_ARG(call, 1));
    ZVAL_LONG(&parameters[1], CURL_INFO_PRETRANSFER);
    if (mst_call_own(ask, &seconds, 2, parameters) && Z_TYPE(seconds) == IS_DOUBLE)
        ns = Z_DVAL(seconds) > 0 ? (uint64_t)(Z_DVAL(seconds) * 1e9) : waited_ns;
    zval_ptr_dtor(&seconds);
    return ns < waited_ns ? ns : waited_ns;
}

/* __doRequest(request, location, ...) */
MST_END(soap)
{
    (void)result;
    return mst_url_wait_of_path(mst_call_text(call, 1), own);
}

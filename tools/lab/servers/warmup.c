/* warmup.c - see warmup.h. One thread, libcurl's multi interface. */
#include "lab/servers/warmup.h"


#include "base/clock.h"
#include "base/ratio.h"
#include "source/http_curl.h"

#define SAMPLE_NS       MST_NS_PER_S          /* over which the rate is taken, at least */
#define SAMPLE_REQUESTS 20u                   /* and over how many requests */
#define ALIKE_PERCENT   10u                   /* between two samples: the rate is steady */
#define DRAIN_NS        (10 * MST_NS_PER_S)   /* for what is in flight in the end */
#define POLL_MS         50

struct warming {
    const struct mst_warmup_options *options;
    struct mst_warmup *result;
    CURLM             *multi;
    CURL             **handles;       /* one for each connection */
    unsigned           in_flight;
};

/* ---- requests --------------------------------------------------------------------- */

static size_t discard(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes, (void)context;
    return size * count;
}

static CURL *make_handle(const char *url)
{
    CURL *curl = mst_have(curl_easy_init());

    mst_http_set_defaults(curl, url);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_0);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mpmstat (warming up)");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
    return curl;
}

/* All connections begin with a request. */
static void open_connections(struct warming *w, apr_pool_t *pool, const char *url)
{
    unsigned i;

    w->multi = mst_have(curl_multi_init());
    w->handles = apr_pcalloc(pool, (w->options->connections + 1) * sizeof *w->handles);
    curl_multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, (long)w->options->connections);
    for (i = 0; i < w->options->connections; i++) {
        w->handles[i] = make_handle(url);
        w->in_flight += curl_multi_add_handle(w->multi, w->handles[i]) == CURLM_OK;
    }
}

/* Counts a request that has ended; another follows it, or none any more. */
static void end_request(struct warming *w, CURL *curl, CURLcode code, bool again)
{
    long status = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == 200)
        w->result->requests++;
    curl_multi_remove_handle(w->multi, curl);
    if (!again || curl_multi_add_handle(w->multi, curl) != CURLM_OK)
        w->in_flight--;
}

static void go_on(struct warming *w, bool again)
{
    const CURLMsg *message;
    int left;

    curl_multi_wait(w->multi, NULL, 0, POLL_MS, NULL);
    curl_multi_perform(w->multi, &left);
    while ((message = curl_multi_info_read(w->multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE)
            end_request(w, message->easy_handle, message->data.result, again);
    if (w->options->tick != NULL)
        w->options->tick(w->options->context);
}

static bool is_stopped(const struct warming *w)
{
    return w->options->stop != NULL && *w->options->stop != 0;
}

/* ---- all of them ------------------------------------------------------------------ */

static bool are_alike(uint64_t a, uint64_t b)
{
    uint64_t more = a > b ? a : b, less = a > b ? b : a;

    return less > 0 && (more - less) * 100 <= more * ALIKE_PERCENT;
}

/* Loads until two samples of the rate agree, or the time is up. */
static void load(struct warming *w)
{
    uint64_t began = mst_now_ns(), sampled = began, now = began, before = 0, counted = 0, rate;

    while (w->in_flight > 0 && !w->result->steady && !is_stopped(w) &&
           now - began < w->options->limit_ns) {
        go_on(w, true);
        now = mst_now_ns();
        if (now - sampled < SAMPLE_NS || w->result->requests - counted < SAMPLE_REQUESTS)
            continue;
        rate = mst_rate_milli(w->result->requests - counted, now - sampled);
        w->result->steady = are_alike(rate, before);
        before = rate;
        counted = w->result->requests;
        sampled = now;
    }
}

static void drain_connections(struct warming *w)
{
    uint64_t until = mst_now_ns() + DRAIN_NS;

    while (w->in_flight > 0 && mst_now_ns() < until && !is_stopped(w))
        go_on(w, false);
}

static void free_handles(struct warming *w)
{
    unsigned i;

    for (i = 0; w->handles[i] != NULL; i++) {
        curl_multi_remove_handle(w->multi, w->handles[i]);
        curl_easy_cleanup(w->handles[i]);
    }
    curl_multi_cleanup(w->multi);
}

void mst_warm_up(apr_pool_t *pool, const char *url, const struct mst_warmup_options *given,
                 struct mst_warmup *result)
{
    struct mst_warmup_options options = *given;
    struct warming w = { .options = &options, .result = result };
    uint64_t began = mst_now_ns();

    *result = (struct mst_warmup){ 0 };
    if (options.connections > MST_WARMUP_CONNECTIONS)
        options.connections = MST_WARMUP_CONNECTIONS;
    open_connections(&w, pool, url);
    load(&w);
    drain_connections(&w);
    result->took_ns = mst_now_ns() - began;
    free_handles(&w);
}

/* fetch.c - gets a page with libcurl: see fetch.h. */
#include "lab/servers/fetch.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/http.h"   /* mst_printable */

#define PAGE_MAX   (8u << 20)
#define TIMEOUT_MS 60000L     /* a first request may set up what the application needs */

struct page {
    FILE       *out;
    char       *body;
    size_t      size;
    const volatile sig_atomic_t *stop;
};

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct page *page = context;

    if ((size_t)ftell(page->out) + size * count > PAGE_MAX)
        return 0;
    return fwrite(bytes, size, count, page->out) * size;
}

static int check_stop(void *context, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total,
                      curl_off_t ul)
{
    const struct page *page = context;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    return page->stop != NULL && *page->stop;
}

static void set_options(CURL *curl, const char *url, struct page *page)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mpmstat/" MPMSTAT_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, page);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, page);
}

/* error becomes "" or says how the page is not as it should be. */
static void judge(const char *url, long status, const char *expects, const struct page *page,
                  char error[MST_ERROR_MAX])
{
    char begin[200];

    error[0] = '\0';
    mst_printable(begin, sizeof begin, page->body, page->size);
    if (status != 200)
        mst_fail(error, "%s: expected status 200, found %ld; the page begins: %s", url, status,
                 begin);
    else if (expects != NULL && memmem(page->body, page->size, expects, strlen(expects)) == NULL)
        mst_fail(error, "%s: expected a page with the text \"%s\", found %zu bytes without it that "
                 "begin: %s", url, expects, page->size, begin);
}

long mst_fetch(const char *url, const char *expects, const volatile sig_atomic_t *stop,
               uint64_t *bytes, char error[MST_ERROR_MAX])
{
    CURL *curl = curl_easy_init();
    struct page page = { .stop = stop };
    CURLcode code = CURLE_OUT_OF_MEMORY;
    long status = 0;

    page.out = open_memstream(&page.body, &page.size);
    if (curl != NULL && page.out != NULL) {
        set_options(curl, url, &page);
        code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    if (page.out != NULL && fclose(page.out) != 0)
        code = CURLE_OUT_OF_MEMORY;
    if (code == CURLE_OK) {
        judge(url, status, expects, &page, error);
    } else {
        mst_fail(error, "%s: expected a page, found none: %s", url, curl_easy_strerror(code));
        status = 0;
    }
    if (bytes != NULL)
        *bytes = page.size;
    curl_easy_cleanup(curl);
    free(page.body);
    return status;
}

/* page.c - gets a page and checks it: see page.h. */
#include "lab/servers/page.h"

#include <string.h>

#include "memory/pool.h"
#include "source/http.h"

#define TIMEOUT_MS 60000L     /* a first request may set up what the application needs */

static void judge_page(const char *url, long status, const char *expects,
                  const struct mst_http_answer *page, char error[MST_ERROR_MAX])
{
    const char *body = page->body != NULL ? page->body : "";
    char begin[200];

    error[0] = '\0';
    mst_printable(begin, sizeof begin, body, page->length);
    if (status != 200)
        mst_fail(error, "%s: expected status 200, found %ld; the page begins: %s", url, status,
                 begin);
    else if (expects != NULL && memmem(body, page->length, expects, strlen(expects)) == NULL)
        mst_fail(error, "%s: expected a page with the text \"%s\", found %zu bytes without it that "
                 "begin: %s", url, expects, page->length, begin);
}

long mst_page_check(const char *url, const char *expects, const volatile sig_atomic_t *stop,
                    uint64_t *bytes, char error[MST_ERROR_MAX])
{
    struct mst_http *http = mst_have(mst_http_open(TIMEOUT_MS));
    struct mst_http_answer page = { 0 };
    long status = 0;

    mst_http_set_stop(http, stop);
    if (mst_http_get_page(http, url, &page, error) == 0) {
        status = mst_http_status(http);
        judge_page(url, status, expects, &page, error);
    }
    if (bytes != NULL)
        *bytes = page.length;
    mst_http_answer_free(&page);
    mst_http_close(http);
    return status;
}

/* fuzz_serve.c - any bytes as what a client sends to mpmstat serve: a Host, a query of /explain, an
 * Authorization; and as an address to listen at.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/address.h"
#include "serve/pages.h"
#include "serve/secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

static void explain(const char *query)
{
    struct mst_explain_query q;
    char error[MST_ERROR_MAX] = "";

    if (mst_explain_query_parse(&q, query, NULL, error) == 0)
        expect(q.last_ns >= UINT64_C(1000000000) && q.last_ns <= UINT64_C(604800000000000));
    else
        expect(strlen(error) > 0);
}

/* A name that is taken for loopback's is one of few. */
static void host(const char *name)
{
    if (mst_serve_host_is_loopback(name))
        expect(strncasecmp(name, "localhost", 9) == 0 || strncmp(name, "127.", 4) == 0
               || strncmp(name, "[::1]", 5) == 0);
}

static void address(const char *text)
{
    struct mst_serve_addresses all = { 0 };
    char error[MST_ERROR_MAX];

    if (mst_serve_address_add(&all, text, error) == 0)
        expect(all.count > 0 && strlen(all.items[0].text) > 0);
    else
        expect(all.count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mst_secrets secrets = { .has_token = true };   /* digests that nothing has */
    char *text = malloc(size + 1);

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    host(text);
    explain(text);
    address(text);
    expect(!mst_secrets_have_token(&secrets, text));
    free(text);
    return 0;
}

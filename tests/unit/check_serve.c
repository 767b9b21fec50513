/* check_serve.c - mpmstat serve without its transport: addresses, names, tokens, queries, pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "serve/address.h"
#include "serve/pages.h"
#include "serve/secrets.h"

/* ---- addresses and names --------------------------------------------------------------- */

START_TEST(a_port_is_both_of_loopback)
{
    struct mst_serve_addresses all = { 0 };
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(mst_serve_address_add(&all, "19117", error), 0);
    ck_assert_uint_eq(all.count, 2);
    ck_assert_str_eq(all.items[0].text, "127.0.0.1:19117");
    ck_assert_str_eq(all.items[1].text, "[::1]:19117");
    ck_assert(all.items[0].is_loopback && all.items[1].is_loopback);
    ck_assert(!all.items[0].is_optional && all.items[1].is_optional);
}
END_TEST

static const struct { const char *text; bool is_loopback; } addresses[] = {
    { "127.0.0.1:1", true }, { "127.255.0.9:65535", true }, { "[::1]:80", true },
    { "0.0.0.0:80", false }, { "192.0.2.1:80", false }, { "[::]:80", false },
    { "[2001:db8::1]:80", false }, { "[::ffff:127.0.0.1]:80", false },
};

START_TEST(an_address)
{
    struct mst_serve_addresses all = { 0 };
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(mst_serve_address_add(&all, addresses[_i].text, error), 0);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_str_eq(all.items[0].text, addresses[_i].text);
    ck_assert(all.items[0].is_loopback == addresses[_i].is_loopback);
}
END_TEST

static const char *const no_addresses[] = {
    "", ":", ":80", "0", "65536", "99999999999999999999", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
    "127.0.0.1:65536", "127.0.0.1:80x", "::1", "::1:80", "[::1]", "[::1:80", "[]:80", "[x]:80",
    "localhost:80", "1.2.3:80", "[127.0.0.1]:80", "-1", "+80", " 80",
    "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80",
};

START_TEST(no_address)
{
    struct mst_serve_addresses all = { 0 };
    char error[MST_ERROR_MAX];

    ck_assert_msg(mst_serve_address_add(&all, no_addresses[_i], error) == -1, "%s",
                  no_addresses[_i]);
    ck_assert_ptr_nonnull(strstr(error, "expected ADDRESS:PORT"));
    ck_assert_uint_eq(all.count, 0);
}
END_TEST

START_TEST(addresses_are_few)
{
    struct mst_serve_addresses all = { 0 };
    char error[MST_ERROR_MAX];
    unsigned i;

    for (i = 0; i < MST_SERVE_ADDRESSES - 1; i++)
        ck_assert_int_eq(mst_serve_address_add(&all, "127.0.0.1:80", error), 0);
    ck_assert_int_eq(mst_serve_address_add(&all, "80", error), -1);
    ck_assert_ptr_nonnull(strstr(error, "at most"));
}
END_TEST

START_TEST(names_of_loopback)
{
    static const char *const ours[] = {
        "localhost", "LocalHost:80", "127.0.0.1", "127.9.8.7:65535", "[::1]", "[::1]:80",
    };
    static const char *const others[] = {
        "", ":", "localhost.", "localhost.example.net", "127.0.0.1.example.net", "128.0.0.1",
        "::1", "[::1", "[::2]", "localhost:0", "localhost:65536", "localhost:80:80", "0",
        "2130706433", "0x7f.1", "127.1", "[::1]x:80", "\x7f", "localhost\n",
    };
    size_t i;

    for (i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert_msg(mst_serve_host_is_loopback(ours[i]), "%s", ours[i]);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!mst_serve_host_is_loopback(others[i]), "%s", others[i]);
}
END_TEST

/* ---- tokens ------------------------------------------------------------------------------ */

static const char *token_file(const char *content)
{
    static char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s.token", test_path());
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    return path;
}

START_TEST(a_token)
{
    static const char *const right[] = {
        "Bearer 0123456789abcdef", "bEARER 0123456789abcdef",
        "Basic bXBtc3RhdDowMTIzNDU2Nzg5YWJjZGVm",     /* mpmstat:0123456789abcdef */
    };
    static const char *const wrong[] = {
        "", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef ",
        "Bearer  0123456789abcdef", "0123456789abcdef", "Basic 0123456789abcdef",
        "Bearer bXBtc3RhdDowMTIzNDU2Nzg5YWJjZGVm", "Basic cm9vdDowMTIzNDU2Nzg5YWJjZGVm",
    };
    struct mst_secret_files files = { .token = token_file("0123456789abcdef\n") };
    struct mst_secrets secrets;
    char error[MST_ERROR_MAX] = "";
    size_t i;

    ck_assert_msg(mst_secrets_load(&secrets, &files, error) == 0, "%s", error);
    ck_assert(secrets.has_token && secrets.certificate == NULL);
    for (i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_msg(mst_secrets_have_token(&secrets, right[i]), "%s", right[i]);
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!mst_secrets_have_token(&secrets, wrong[i]), "%s", wrong[i]);
    ck_assert(!mst_secrets_have_token(&secrets, NULL));
    mst_secrets_free(&secrets);
}
END_TEST

/* ---- queries ------------------------------------------------------------------------------- */

START_TEST(queries_of_explain)
{
    struct mst_explain_query q;
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(mst_explain_query_parse(&q, NULL, NULL, error), 0);
    ck_assert(!q.is_json && q.last_ns == UINT64_C(300000000000));
    ck_assert_int_eq(mst_explain_query_parse(&q, "&last=2m&&format=json&", "text/html", error), 0);
    ck_assert(q.is_json && q.last_ns == UINT64_C(120000000000));
    ck_assert_int_eq(mst_explain_query_parse(&q, "", "application/json", error), 0);
    ck_assert(q.is_json);
    ck_assert_int_eq(mst_explain_query_parse(&q, "format=text", "application/json", error), 0);
    ck_assert(!q.is_json);
    ck_assert_int_eq(mst_explain_query_parse(&q, "last", NULL, error), -1);
    ck_assert_int_eq(mst_explain_query_parse(&q, "last=1e99", NULL, error), -1);
    ck_assert_int_eq(mst_explain_query_parse(&q, "format=", NULL, error), -1);
}
END_TEST

/* ---- pages ----------------------------------------------------------------------------------- */

static unsigned make(struct mst_page *page, const char *path, const char *query, char *board)
{
    char *const targets[] = { board };
    const struct mst_page_request request = {
        .path = path, .query = query, .targets = targets, .target_count = 1,
    };

    ck_assert(mst_page_make(page, &request));
    return page->status;
}

/* The page's status; its text is checked to begin so. */
static unsigned begins(const char *path, const char *query, char *board, const char *text)
{
    struct mst_page page;
    unsigned status = make(&page, path, query, board);

    ck_assert_msg(page.text.used >= strlen(text)
                  && memcmp(page.text.bytes, text, strlen(text)) == 0, "%s?%s: %.*s", path, query,
                  (int)page.text.used, page.text.bytes);
    free(page.text.bytes);
    return status;
}

START_TEST(pages_of_a_board)
{
    struct mst_layout layout = test_layout();
    struct mst_board b;

    test_board(&b, &layout);
    ck_assert_uint_eq(begins("/", NULL, b.path, "Board: apache\n"), 200);
    ck_assert_uint_eq(begins("/mpm-status", "format=json", b.path, "{\"boards\""), 200);
    ck_assert_uint_eq(begins("/", "format=html", b.path, "<!DOCTYPE html>"), 200);
    ck_assert_uint_eq(begins("/", "format=journal", b.path, "{\"next\""), 200);
    ck_assert_uint_eq(begins("/metrics", NULL, b.path, "# TYPE mpmstat_"), 200);
    ck_assert_uint_eq(begins("/metrics", "format=text", b.path, "valid here are"), 400);
    ck_assert_uint_eq(begins("/healthz", "x", b.path, "ok\n"), 200);
    ck_assert_uint_eq(begins("/explain", "format=json", b.path, "{"), 200);
    ck_assert_uint_eq(begins("/explain", "format=json&x", b.path, "valid here are"), 400);
    ck_assert_uint_eq(begins("", NULL, b.path, "there is nothing here"), 404);
    ck_assert_uint_eq(begins("/METRICS", NULL, b.path, "there is nothing here"), 404);
    mst_board_close(&b);
}
END_TEST

START_TEST(pages_of_no_board)
{
    char none[] = "/nonexistent/none.board";

    ck_assert_uint_eq(begins("/", NULL, none, none), 503);
    ck_assert_uint_eq(begins("/metrics", NULL, none, none), 503);
    ck_assert_uint_eq(begins("/", "format=journal", none, none), 503);
    ck_assert_uint_eq(begins("/", "format=journal&board=none.board", none, none), 404);
    ck_assert_uint_eq(begins("/explain", NULL, none, none), 503);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("serve");
    TCase *tests = tcase_create("serve");

    tcase_add_test(tests, a_port_is_both_of_loopback);
    tcase_add_loop_test(tests, an_address, 0, sizeof addresses / sizeof *addresses);
    tcase_add_loop_test(tests, no_address, 0, sizeof no_addresses / sizeof *no_addresses);
    tcase_add_test(tests, addresses_are_few);
    tcase_add_test(tests, names_of_loopback);
    tcase_add_test(tests, a_token);
    tcase_add_test(tests, queries_of_explain);
    tcase_add_test(tests, pages_of_a_board);
    tcase_add_test(tests, pages_of_no_board);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

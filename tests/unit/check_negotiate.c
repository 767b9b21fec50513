/* check_negotiate.c - which format is wanted: names, Accept, the query, cursors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "harness.h"
#include "render/negotiate.h"

/* ---- the Accept header ---------------------------------------------------------- */

static const struct {
    const char     *accept;
    enum mst_format format;
} headers[] = {
    { NULL, MST_FORMAT_TEXT },
    { "", MST_FORMAT_TEXT },
    { "*/*", MST_FORMAT_TEXT },                                                      /* curl */
    { "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
      MST_FORMAT_HTML },                                                             /* browsers */
    { "text/html, text/plain;q=0.5", MST_FORMAT_HTML },
    { "text/html;q=0.4, text/plain;q=0.5", MST_FORMAT_TEXT },
    { "application/json, text/plain, */*", MST_FORMAT_JSON },                        /* axios */
    { "application/json, */*;q=0.5", MST_FORMAT_JSON },                              /* HTTPie */
    { "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      MST_FORMAT_OPENMETRICS },                                                  /* Prometheus 2 */
    { "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
      "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;"
      "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      MST_FORMAT_OPENMETRICS },                                                  /* Prometheus 3 */
    { "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
      "encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3", MST_FORMAT_PROTOBUF },
    { "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
      "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;"
      "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      MST_FORMAT_PROTOBUF },                          /* Prometheus 2 with native histograms */
    { "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text;q=0.7,"
      "text/plain;version=0.0.4;q=0.3", MST_FORMAT_PROMETHEUS },
    { "application/vnd.google.protobuf;proto=other;encoding=delimited,text/plain;version=0.0.4",
      MST_FORMAT_PROMETHEUS },
    { "application/vnd.google.protobuf", MST_FORMAT_TEXT },
    { "text/plain;version=0.0.4", MST_FORMAT_PROMETHEUS },
    { "text/plain; charset=utf-8", MST_FORMAT_TEXT },
    { "text/*", MST_FORMAT_TEXT },
    { "application/*", MST_FORMAT_JSON },
    { "APPLICATION/JSON", MST_FORMAT_JSON },
    { "*/*, application/json", MST_FORMAT_JSON },        /* of equal quality, the more exact */
    { "application/json;q=0.5, text/plain", MST_FORMAT_TEXT },
    { "application/json;q=0.501, text/plain;q=0.5", MST_FORMAT_JSON },
    { "application/json;q=0, */*;q=0.1", MST_FORMAT_TEXT },
    { "application/json ; Q=1.0 , text/plain ; q=0.9", MST_FORMAT_JSON },
    { "image/png", MST_FORMAT_TEXT },
    { "application/json;q=0", MST_FORMAT_TEXT },
    { ",;=,,;;q=,application/json;q", MST_FORMAT_JSON },
    { "application/jsonx", MST_FORMAT_TEXT },
    { "application/json;q=0.", MST_FORMAT_TEXT },
    { "application/json;q=junk", MST_FORMAT_JSON },
};

START_TEST(accept_chooses_the_format)
{
    ck_assert_msg(mst_format_accepted(headers[_i].accept) == headers[_i].format,
                  "%s: expected %s, found %s", headers[_i].accept,
                  mst_format_name(headers[_i].format),
                  mst_format_name(mst_format_accepted(headers[_i].accept)));
}
END_TEST

/* ---- the query ---------------------------------------------------------------------- */

static const struct {
    const char     *query;
    enum mst_format format;
    const char     *since;
    size_t          limit;
} queries[] = {
    { NULL, MST_FORMAT_JSON, "", MST_JOURNAL_PAGE_MAX },      /* Accept decides */
    { "", MST_FORMAT_JSON, "", MST_JOURNAL_PAGE_MAX },
    { "&&", MST_FORMAT_JSON, "", MST_JOURNAL_PAGE_MAX },
    { "format=text", MST_FORMAT_TEXT, "", MST_JOURNAL_PAGE_MAX },
    { "format=openmetrics", MST_FORMAT_OPENMETRICS, "", MST_JOURNAL_PAGE_MAX },
    { "format=prometheus", MST_FORMAT_PROMETHEUS, "", MST_JOURNAL_PAGE_MAX },
    { "format=html", MST_FORMAT_HTML, "", MST_JOURNAL_PAGE_MAX },
    { "format=journal", MST_FORMAT_JOURNAL, "", MST_JOURNAL_PAGE_MAX },
    { "format=journal&since=start&limit=1", MST_FORMAT_JOURNAL, "start", 1 },
    { "format=journal&since=last&limit=9", MST_FORMAT_JOURNAL, "last", 9 },
    { "limit=20000&since=now&format=journal", MST_FORMAT_JOURNAL, "now", 20000 },
    { "format=journal&since=1f-2-3", MST_FORMAT_JOURNAL, "1f-2-3", MST_JOURNAL_PAGE_MAX },
};

START_TEST(good_queries_are_taken)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_status_query q;

    ck_assert_msg(mst_status_query_parse(&q, queries[_i].query, "application/json", error) == 0,
                  "%s", error);
    ck_assert_int_eq(q.format, queries[_i].format);
    ck_assert_str_eq(q.since, queries[_i].since);
    ck_assert_uint_eq(q.limit, queries[_i].limit);
}
END_TEST

START_TEST(lifecycle_events_alone_are_asked_for)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_status_query q;

    ck_assert_int_eq(mst_status_query_parse(&q, "only=lifecycle&format=journal", NULL, error), 0);
    ck_assert(q.lifecycle_only);
    ck_assert_int_eq(mst_status_query_parse(&q, "format=journal", NULL, error), 0);
    ck_assert(!q.lifecycle_only);
}
END_TEST

START_TEST(a_board_is_asked_for_by_its_name)
{
    char error[MST_ERROR_MAX] = "", text[256] = "format=journal&board=";
    struct mst_status_query q;

    ck_assert_int_eq(mst_status_query_parse(&q, "board=fpm-8.2_x.board&format=journal", NULL,
                                            error), 0);
    ck_assert_str_eq(q.board, "fpm-8.2_x.board");
    ck_assert_int_eq(mst_status_query_parse(&q, "format=journal", NULL, error), 0);
    ck_assert_str_eq(q.board, "");
    memset(text + strlen(text), 'x', MST_QUERY_BOARD_MAX - 1);
    ck_assert_int_eq(mst_status_query_parse(&q, text, NULL, error), 0);
    ck_assert_uint_eq(strlen(q.board), MST_QUERY_BOARD_MAX - 1);
    strcat(text, "x");
    ck_assert_int_eq(mst_status_query_parse(&q, text, NULL, error), -1);
}
END_TEST

START_TEST(histograms_are_asked_for_as_fine_as_wanted)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_status_query q;

    ck_assert_int_eq(mst_status_query_parse(&q, "format=openmetrics", NULL, error), 0);
    ck_assert_uint_eq(q.histograms.bounds, 0);
    ck_assert_uint_eq(q.histograms.phases, 0);
    ck_assert_int_eq(mst_status_query_parse(&q, "bounds=4&phase=total&phase=php_run",
                                            "application/openmetrics-text", error), 0);
    ck_assert_uint_eq(q.histograms.bounds, 4);
    ck_assert_uint_eq(q.histograms.phases, 1u << MST_PHASE_TOTAL | 1u << MST_PHASE_PHP_RUN);
}
END_TEST

/* What is wrong, and what the sentence must say of what is right. */
static const struct {
    const char *query, *says;
} bad_queries[] = {
    { "format=xml", "there is no format \"xml\"; valid are text, json, openmetrics, prometheus, "
                    "html, protobuf, journal" },
    { "format=", "valid are text, json" },
    { "format", "valid are text, json" },
    { "format=JSON", "valid are text, json" },
    { "format=te%78t", "valid are text, json" },
    { "auto", "there is no parameter \"auto\"; valid are format" },
    { "refresh=1", "there is no parameter \"refresh\"; valid are format" },
    { "=", "there is no parameter \"\"" },
    { "since=start", "with format=journal only" },
    { "format=json&limit=5", "with format=journal only" },
    { "format=journal&limit=0", "expected is a number from 1 to 20000" },
    { "format=journal&limit=20001", "expected is a number from 1 to 20000" },
    { "format=journal&limit=99999999999999999999999", "expected is a number from 1 to 20000" },
    { "format=journal&limit=-1", "expected is a number from 1 to 20000" },
    { "format=journal&limit=", "expected is a number from 1 to 20000" },
    { "format=journal&limit=5x", "expected is a number from 1 to 20000" },
    { "format=journal&since=", "expected is \"now\", \"start\", \"last\", or the cursor" },
    { "format=journal&since=1-2", "expected is \"now\", \"start\", \"last\", or the cursor" },
    { "format=json&board=33.board", "with format=journal only" },
    { "format=html&only=lifecycle", "with format=journal only" },
    { "format=journal&only=requests", "only=requests is not valid; expected is only=lifecycle" },
    { "format=journal&only=", "expected is only=lifecycle" },
    { "format=journal&board=", "expected is the base name of a board's file" },
    { "format=journal&board=../x", "board=../x is not valid" },
    { "format=journal&board=x/y.board", "board=x/y.board is not valid" },
    { "format=journal&board=a%2e", "expected is the base name of a board's file" },
    { "format=journal&board=\xc3\xa4", "board=?? is not valid" },
    { "bounds=8", "bounds and phase are valid with metrics only" },
    { "format=journal&phase=total", "bounds and phase are valid with metrics only" },
    { "format=openmetrics&bounds=", "expected is 1, 2, 4 or 8" },
    { "format=openmetrics&bounds=3", "bounds=3 is not valid; expected is 1, 2, 4 or 8" },
    { "format=openmetrics&bounds=88", "expected is 1, 2, 4 or 8" },
    { "format=openmetrics&phase=", "expected is the name of a phase" },
    { "format=openmetrics&phase=total,queue", "expected is the name of a phase" },
    { "format=\x1b[31m\x80<script>", "there is no format \"?[31m?<script>\"; valid" },
};

START_TEST(bad_queries_are_refused_with_what_is_valid)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_status_query q;

    ck_assert_int_eq(mst_status_query_parse(&q, bad_queries[_i].query, NULL, error), -1);
    ck_assert_msg(strstr(error, bad_queries[_i].says) != NULL, "%s: expected \"%s\", found \"%s\"",
                  bad_queries[_i].query, bad_queries[_i].says, error);
}
END_TEST

START_TEST(a_query_of_any_length_is_answered)
{
    static char query[100000];
    char error[MST_ERROR_MAX] = "";
    struct mst_status_query q;
    size_t length;

    for (length = 1; length < sizeof query; length = length * 3 / 2 + 1) {
        memset(query, 'x', length);
        memcpy(query, "format=", length < 7 ? length : 7);
        query[length] = '\0';
        ck_assert_int_eq(mst_status_query_parse(&q, query, query, error), -1);
        ck_assert_uint_lt(strlen(error), 200);
    }
}
END_TEST

START_TEST(formats_are_found_by_name)
{
    char error[MST_ERROR_MAX] = "";
    enum mst_format format, found;

    for (format = 0; format < MST_FORMAT_COUNT; format++) {
        ck_assert_int_eq(mst_format_parse(&found, mst_format_name(format), MST_FORMAT_COUNT, error),
                         0);
        ck_assert_int_eq(found, format);
    }
    ck_assert_int_eq(mst_format_parse(&found, "journal", MST_FORMAT_SNAPSHOTS, error), -1);
    ck_assert_str_eq(error, "there is no format \"journal\"; valid are text, json, openmetrics, "
                     "prometheus");
}
END_TEST

/* ---- cursors ----------------------------------------------------------------------------- */

START_TEST(a_cursor_comes_back_as_it_was)
{
    const struct mst_cursor cursors[] = {
        { 0, 1, 1, 0 }, { 0x12ab, 10, 9, 0 }, { UINT64_MAX, UINT64_MAX, UINT64_MAX, 0 },
        { 0x12ab, 10, 9, 8 }, { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
    };
    size_t i;

    for (i = 0; i < sizeof cursors / sizeof cursors[0]; i++) {
        struct mst_cursor c;
        struct test_kept kept;

        test_kept_begin(&kept);
        mst_cursor_print(&kept.sink, &cursors[i]);
        ck_assert_int_eq(test_kept_end(&kept), 0);
        ck_assert_uint_lt(kept.length, MST_CURSOR_MAX);
        ck_assert_int_eq(mst_cursor_parse(&c, kept.text), 0);
        ck_assert_int_eq(memcmp(&c, &cursors[i], sizeof c), 0);
        free(kept.text);
    }
}
END_TEST

static const char *const bad_cursors[] = {
    "", "-", "--", "1", "1-1", "1-1-", "-1-1", "1--1", "1-1-1-", "1-1-1-0", "1-1-1-1-1", "1-1-1-x",
    "1-1-1--1",
    "1-0-1-1", "1-0-1", "1-1-0",
    "g-1-1", "1-a-1", "1-1-a", "A-1-1", " 1-1-1", "1-1-1 ", "+1-1-1", "1-+1-1", "0x1-1-1",
    "1-1-1\n", "1.0-1-1", "10000000000000000-1-1", "1-18446744073709551616-1",
    "1-1-99999999999999999999",
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000001-1-1",
};

START_TEST(what_is_no_cursor_is_refused)
{
    struct mst_cursor c = { 7, 8, 9, 10 };

    ck_assert_int_eq(mst_cursor_parse(&c, bad_cursors[_i]), -1);
    ck_assert(c.started_ns == 7 && c.request == 8 && c.lifecycle == 9 && c.later == 10);
}
END_TEST

#define COUNT(array) (int)(sizeof (array) / sizeof (array)[0])

int main(void)
{
    Suite *suite = suite_create("negotiate");
    TCase *tests = tcase_create("negotiate");

    tcase_add_loop_test(tests, accept_chooses_the_format, 0, COUNT(headers));
    tcase_add_loop_test(tests, good_queries_are_taken, 0, COUNT(queries));
    tcase_add_loop_test(tests, bad_queries_are_refused_with_what_is_valid, 0, COUNT(bad_queries));
    tcase_add_test(tests, a_board_is_asked_for_by_its_name);
    tcase_add_test(tests, histograms_are_asked_for_as_fine_as_wanted);
    tcase_add_test(tests, lifecycle_events_alone_are_asked_for);
    tcase_add_test(tests, a_query_of_any_length_is_answered);
    tcase_add_test(tests, formats_are_found_by_name);
    tcase_add_test(tests, a_cursor_comes_back_as_it_was);
    tcase_add_loop_test(tests, what_is_no_cursor_is_refused, 0, COUNT(bad_cursors));
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

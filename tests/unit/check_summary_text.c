/* check_summary_text.c - a run's summary as a person reads it: what stands where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/style.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_run.h"
#include "report/report.h"

static char text[1 << 16];

static int append(void *context, const void *bytes, size_t n)
{
    (void)context;
    strncat(text, bytes, n);
    return 0;
}

static const char *text_of(const struct mst_summary *s, unsigned percentiles)
{
    struct mst_sink sink;

    text[0] = '\0';
    mst_sink_init(&sink, append, NULL);
    mst_report_text(&sink, s, "run.db", percentiles);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    return text;
}

static const char *brief_of(const struct mst_summary *s, unsigned percentiles)
{
    struct mst_sink sink;

    text[0] = '\0';
    mst_sink_init(&sink, append, NULL);
    mst_report_brief(&sink, s, "run.db", percentiles);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    return text;
}

/* Each of these once, in this order. */
static void expect_order(const char *const *parts, size_t count)
{
    const char *at = text;
    size_t i;

    for (i = 0; i < count; i++) {
        const char *found = strstr(text, parts[i]);

        ck_assert_msg(found != NULL && strstr(found + 1, parts[i]) == NULL && found >= at,
                      "\"%s\" is not there once, behind the others, in\n%s", parts[i], text);
        at = found;
    }
}

/* ---- the order ------------------------------------------------------------------------ */

START_TEST(test_verdict_first)
{
    struct run r = quiet_run();
    struct made m;
    char verdict[32];
    const char *const parts[] = { "run 1 of run.db", verdict, "client - server", "  phase ",
                                  "  workers ", "  ok  counts" };

    make(&m, &r, NULL);
    snprintf(verdict, sizeof verdict, "%.31s", m.s.verdict);   /* a line has all of this */
    text_of(&m.s, 0);
    expect_order(parts, sizeof parts / sizeof *parts);
    ck_assert_str_ne(text + strlen(text) - 2, "\n\n");
    unmake(&m);
}
END_TEST

/* Also where a recording had opened PHP's board first. */
START_TEST(test_apache_before_php)
{
    static const char *const parts[] = { "x.board: apache event", "client - server",
                                         "fpm.board: php", "  ok  counts" };
    struct run r = quiet_run();
    struct mst_summary_server apache;
    struct made m;

    make(&m, &r, PHP);
    apache = m.s.servers[0];
    m.s.servers[0] = m.s.servers[1];
    m.s.servers[1] = apache;
    text_of(&m.s, 0);
    expect_order(parts, sizeof parts / sizeof *parts);
    unmake(&m);
}
END_TEST

/* The second Apache has three quarters of the first one's requests, each twice as long. */
#define SECOND_APACHE \
    "INSERT INTO servers (id, run_id, target, producer, server, mpm, local, lost, restarts) " \
    "VALUES (2, 1, 'y.board', 'apache', 'Apache/2.4', 'event', 1, 0, 0);" \
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, idle_ns, " \
    "reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, in_flight, requests, forks, " \
    "exits, forks_failed, no_idle_ns) SELECT 2, time_ns, moment, 5, 2, 0, 0, 2 * handling_ns, " \
    "0, 0, 0, 0, requests, forks, exits, forks_failed, no_idle_ns FROM samples " \
    "WHERE server_id = 1;" \
    "CREATE TEMP TABLE more AS SELECT * FROM server_requests WHERE key % 4 > 0;" \
    "UPDATE more SET server_id = 2, key = key + 1000, handle_ns = 2 * handle_ns;" \
    "INSERT INTO server_requests SELECT * FROM more; DROP TABLE more"

/* ---- in brief ------------------------------------------------------------------------- */

/* A finding of the verdict: its share of all requests' time is the weight. */
static void add_finding(struct mst_summary *s, enum mst_code code, uint64_t weight,
                        const char *sentence, const char *action, const char *predicted)
{
    struct mst_finding f = { .code = code, .share_milli = weight, .weight = weight };

    snprintf(f.text, sizeof f.text, "%s", sentence);
    snprintf(f.action, sizeof f.action, "%s", action);
    snprintf(f.predicted, sizeof f.predicted, "%s", predicted);
    ck_assert(mst_findings_add(s, &f));
}

static void add_findings(struct mst_summary *s)
{
    add_finding(s, MST_CODE_PHP_WORKERS, 1000, "The workers ran out.", "Set more.", "It is fast.");
    add_finding(s, MST_CODE_SLEEP, 999, "PHP slept.", "Do not sleep.", "Never shown.");
}

/* Each action stands below its own sentence, in the brief text and in the whole one. */
START_TEST(test_an_action_is_below_its_cause)
{
    static const char *const parts[] = {
        "The workers ran out.\n  do        Set more.\n  predicted It is fast.\nPHP slept.\n"
        "  do        Do not sleep.\n",
    };
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, NULL);
    add_findings(&m.s);
    text_of(&m.s, 0);
    expect_order(parts, 1);
    ck_assert_ptr_nonnull(strstr(text, "\n  nothing     "));
    brief_of(&m.s, 0);
    expect_order(parts, 1);
    ck_assert_ptr_nonnull(strstr(text, "\n  also      nothing\n"));
    ck_assert_ptr_null(strstr(text, "Never shown"));
    unmake(&m);
}
END_TEST

/* What a terminal of 80 x 24 has at once, without the line of the command and the next prompt. */
START_TEST(test_brief_fits_a_terminal)
{
    static const char *const parts[] = {
        "The workers ran out.", "client - server", "\n  requests/s ", "\n  mean ", "\n  p99 ",
        "\n  phase ", "\n  php_wait ", "\n  php_run ", "\n  other ",
        "\nrun 1 of run.db, 4.00 s, 400 requests\n",
        "  more      mpmstat report -o run.html run.db   # or --format text\n",
    };
    struct run r = quiet_run();
    char *line, *save = NULL;
    unsigned lines = 0;
    struct made m;

    make(&m, &r, PHP);
    add_findings(&m.s);
    brief_of(&m.s, 0);
    expect_order(parts, sizeof parts / sizeof *parts);
    ck_assert_ptr_null(strstr(text, "  ok "));
    ck_assert_ptr_null(strstr(text, "workers   "));
    ck_assert_ptr_null(strstr(text, "failed"));
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        ck_assert_msg(strlen(line) < 80, "\"%s\" is too long", line);
        lines++;
    }
    ck_assert_uint_le(lines, 17);
    unmake(&m);
}
END_TEST

/* One blank for several: the width of a column is that of its rows. */
static void squeeze(char *line)
{
    char *to = line;

    for (; *line != '\0'; line++)
        if (*line != ' ' || to[-1] != ' ')
            *to++ = *line;
    *to = '\0';
}

/* All of its rows are rows of the whole text, which has more. */
START_TEST(test_brief_is_a_selection)
{
    static const char *const rows[] = { "\n requests ", "\n mean ", "\n p50 ", "\n NO counts" };
    static char brief[sizeof text];
    struct run r = quiet_run();
    struct made m;
    size_t i;

    r.counted = 500;
    make(&m, &r, NULL);
    memcpy(brief, brief_of(&m.s, 1u << MST_P50), sizeof brief);
    text_of(&m.s, 1u << MST_P50);
    squeeze(brief + 1);
    squeeze(text + 1);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *row = strstr(brief, rows[i]);

        ck_assert_msg(row != NULL, "no \"%s\" in\n%s", rows[i], brief);
        *strchr(row + 1, '\n') = '\0';
        ck_assert_msg(strstr(text, row) != NULL || i == 3, "no \"%s\" in\n%s", row, text);
        brief[strlen(brief)] = '\n';
    }
    unmake(&m);
}
END_TEST

START_TEST(test_brief_says_what_failed)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, NULL);
    m.s.id = 12;
    m.s.client.failed = 3;
    brief_of(&m.s, 0);
    ck_assert_ptr_nonnull(strstr(text, "\n  failed, 5xx        3             0\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  ab's failures: "));
    ck_assert_ptr_nonnull(strstr(text, "report -o run.html --run 12 run.db "));
    unmake(&m);
    r.outcome = MST_OUTCOME_FAILED;
    make(&m, &r, "DELETE FROM server_requests; DELETE FROM client_results");
    brief_of(&m.s, 0);
    ck_assert_ptr_nonnull(strstr(text, "\nrun 1 of run.db, 4.00 s, not complete: failed\n"));
    ck_assert_ptr_null(strstr(text, "run.html"));
    unmake(&m);
}
END_TEST

/* A fleet is one row, and a few servers are a row each. */
START_TEST(test_brief_of_many_servers)
{
    struct run r = quiet_run();
    struct mst_summary_server *few;
    struct made m;

    make(&m, &r, SECOND_APACHE);
    brief_of(&m.s, 0);
    ck_assert_ptr_nonnull(strstr(text, "  y.board\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  x.board: apache event\n"));
    ck_assert_ptr_null(strstr(text, "y.board: apache"));
    few = m.s.servers;
    m.s.servers = (struct mst_summary_server[]){ few[0], few[1], few[1], few[1], few[1], few[1],
                                                 few[1] };
    m.s.server_count = 7;
    brief_of(&m.s, 0);
    ck_assert_ptr_nonnull(strstr(text, "  all 7 together\n"));
    ck_assert_ptr_null(strstr(text, "  y.board\n"));
    m.s.servers = few;
    m.s.server_count = 2;
    unmake(&m);
}
END_TEST

/* A server that no request came to, as a PHP that is used no longer: last, and not in brief. */
START_TEST(test_an_unused_server_is_last)
{
    static const char *const parts[] = {
        "x.board: apache event\n", "\n  fpm.board: php fpm-fcgi\n",
        "y.board: apache event, no request of this load",
    };
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, SECOND_APACHE ";DELETE FROM server_requests WHERE server_id = 2;"
                 "UPDATE samples SET requests = 0 WHERE server_id = 2;"
                 "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts, "
                 "clock_offset_ns) VALUES (3, 1, 'fpm.board', 'php', 'fpm-fcgi', 1, 0, 0, 0);"
                 "INSERT INTO php_requests SELECT 3, key, start_ns, request_id, 0, 1000000, "
                 "900000, 100000, 2097152, 'www', 200, '/i.php', 0, 0, 0, 1, 7, 1, 0, NULL, NULL, "
                 "1, NULL, NULL FROM server_requests WHERE server_id = 1;");
    text_of(&m.s, 0);
    expect_order(parts, sizeof parts / sizeof *parts);
    ck_assert_ptr_null(strstr(brief_of(&m.s, 0), "y.board"));
    unmake(&m);
}
END_TEST

/* ---- several servers ------------------------------------------------------------------- */

START_TEST(test_all_servers_together)
{
    static const char *const parts[] = {
        "requests  per s     mean      p50      p95      p99      max  5xx  busy  of  server\n",
        "  10  x.board\n", "   5  y.board\n", "  all 2 together\n",
        "     mean  most of its time  server\n", "%   x.board\n", "%   y.board\n",
        "x.board: apache", "y.board: apache",
    };
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, SECOND_APACHE);
    text_of(&m.s, 0);
    expect_order(parts, sizeof parts / sizeof *parts);
    ck_assert_ptr_nonnull(strstr(text, "\n       400    100  8.00 ms  8.00 ms  8.00 ms  8.00 ms  "
                                 "8.00 ms    0  0.80  10  x.board\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n       300   75.3  16.0 ms  16.0 ms  16.0 ms  16.0 ms  "
                                 "16.0 ms    0  1.60   5  y.board\n"));
    /* (400 x 8 ms + 300 x 16 ms) / 700 */
    ck_assert_ptr_nonnull(strstr(text, "\n       700    176  11.4 ms                             "
                                 "16.0 ms    0  2.40  15  all 2 together\n"));
    text_of(&m.s, 1u << MST_P95);
    ck_assert_ptr_nonnull(strstr(text, "requests  per s     mean      p95      max  5xx  busy"));
    unmake(&m);
    make(&m, &r, PHP);   /* one of each kind */
    ck_assert_ptr_null(strstr(text_of(&m.s, 0), "together"));
    unmake(&m);
}
END_TEST

/* ---- rates ------------------------------------------------------------------------------- */

static uint64_t rate_after(const char *sql)
{
    struct run r = quiet_run();
    struct made m;
    uint64_t rate;

    make(&m, &r, sql);
    rate = mst_summary_rate_milli(&m.s, &m.s.servers[0]);
    unmake(&m);
    return rate;
}

/* 399 begins, 4 s / 401 apart, and the 8 ms of the last request. */
#define UNDER_LOAD_NS (399 * (4 * SECOND / 401) + 8 * MS)

START_TEST(test_rate_is_of_the_requests)
{
    const uint64_t rate = 400 * 1000 * SECOND / UNDER_LOAD_NS;

    ck_assert_uint_eq(rate_after(NULL), rate);
    /* A tool that takes two seconds to start and one to end. */
    ck_assert_uint_eq(rate_after("UPDATE runs SET started_ns = started_ns - 2000000000, "
                                 "ended_ns = ended_ns + 1000000000, "
                                 "duration_ns = duration_ns + 3000000000"), rate);
    /* A request that it gave up on. */
    ck_assert_uint_eq(rate_after("UPDATE server_requests SET handle_ns = 9000000000 "
                                 "WHERE key = 400"), 399 * 1000 * SECOND / (4 * SECOND));
    ck_assert_uint_eq(rate_after("UPDATE runs SET tool = NULL"), 400 * 1000 / 4);
    ck_assert_uint_eq(rate_after("DELETE FROM server_requests"), 0);
}
END_TEST

/* ---- percentiles -------------------------------------------------------------------------- */

/* The times 1, 2, 3, ... */
static struct mst_summary_times first_times(unsigned count)
{
    struct mst_values values = { 0 };
    struct mst_summary_times t;
    unsigned i;

    for (i = 1; i <= count; i++)
        ck_assert_int_eq(mst_values_add(&values, i), 0);
    mst_summary_times_of(&t, &values);
    mst_values_free(&values);
    return t;
}

START_TEST(test_percentiles_of_enough_times)
{
    const struct mst_summary_times t = first_times(1000);

    ck_assert_uint_eq(mst_summary_percentile(&t, MST_P50), 500);
    ck_assert_uint_eq(mst_summary_percentile(&t, MST_P90), 900);
    ck_assert_uint_eq(mst_summary_percentile(&t, MST_P95), 950);
    ck_assert_uint_eq(mst_summary_percentile(&t, MST_P99), 990);
    ck_assert_uint_eq(mst_summary_percentile(&t, MST_P999), 999);
}
END_TEST

/* One time fewer than it takes, and a percentile is not known. */
START_TEST(test_percentiles_of_too_few_times)
{
    static const unsigned needs[MST_PERCENTILE_COUNT] = {
        [MST_P50] = 2, [MST_P90] = 10, [MST_P95] = 20, [MST_P99] = 100, [MST_P999] = 1000,
    };
    struct mst_summary_times t;
    enum mst_percentile p;

    for (p = 0; p < MST_PERCENTILE_COUNT; p++) {
        ck_assert_uint_eq(mst_percentile_needs(p), needs[p]);
        t = first_times(needs[p] - 1);
        ck_assert_uint_eq(mst_summary_percentile(&t, p), MST_UNKNOWN);
        t = first_times(needs[p]);
        ck_assert_uint_eq(mst_summary_percentile(&t, p), needs[p] - 1);
    }
    t = first_times(19);
    ck_assert(t.p95_ns == MST_UNKNOWN && t.p999_ns == MST_UNKNOWN && t.p99_ns == 19);
}
END_TEST

/* ab's own table has p99, and no p95; of the server's 400 requests there is no p99.9. */
START_TEST(test_percentiles_shown)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, NULL);
    text_of(&m.s, 0);
    ck_assert_ptr_nonnull(strstr(text, "      p50      p90      p95      p99    p99.9      max"));
    ck_assert_ptr_nonnull(strstr(text, "\n  p95                -       8.00 ms\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  p99          20.0 ms       8.00 ms"));
    ck_assert_ptr_nonnull(strstr(text, "\n  p99.9              -             -\n"));
    text_of(&m.s, 1u << MST_P50 | 1u << MST_P95);
    ck_assert_ptr_nonnull(strstr(text, "     mean      p50      p95      max"));
    ck_assert_ptr_null(strstr(text, "p99"));
    ck_assert_ptr_null(strstr(text, "p90"));
    unmake(&m);
}
END_TEST

/* ---- styles ------------------------------------------------------------------------------- */

#define STRONG  "\033[1m"
#define WARNING "\033[33m"
#define PLAIN   "\033[0m"

/* Removes all styles of the text; each ends on its line. */
static void strip_styles(void)
{
    static const char *const sequences[] = { STRONG, WARNING, "\033[31m", PLAIN };
    size_t i;
    char *at;

    for (i = 0; i < sizeof sequences / sizeof *sequences; i++)
        while ((at = strstr(text, sequences[i])) != NULL)
            memmove(at, at + strlen(sequences[i]), strlen(at + strlen(sequences[i])) + 1);
}

START_TEST(test_styles_change_no_column)
{
    static char plain[sizeof text], styled[sizeof text];
    struct run r = quiet_run();
    struct made m;
    char *line, *save = NULL;

    r.counted = 500;   /* the check of the counts says NO */
    make(&m, &r, NULL);
    memcpy(plain, text_of(&m.s, 0), sizeof plain);
    ck_assert_ptr_null(strchr(plain, '\033'));
    mst_style_use(MST_COLOUR_ALWAYS, -1);
    memcpy(styled, text_of(&m.s, 0), sizeof styled);
    ck_assert_ptr_nonnull(strstr(styled, WARNING "  NO  counts"));
    strip_styles();
    ck_assert_str_eq(text, plain);
    for (line = strtok_r(styled, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        ck_assert_int_eq(strchr(line, '\033') != NULL, strstr(line, PLAIN) != NULL);
    mst_style_use(MST_COLOUR_NEVER, -1);
    unmake(&m);
}
END_TEST

START_TEST(test_where_styles_are)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    ck_assert_str_eq(mst_style_begin(MST_STYLED_RESULTS, MST_STYLE_STRONG), "");
    mst_style_use(MST_COLOUR_AUTO, -1);   /* into a file */
    ck_assert_str_eq(mst_style_begin(MST_STYLED_RESULTS, MST_STYLE_STRONG), "");
    mst_style_use(MST_COLOUR_ALWAYS, -1);
    setenv("NO_COLOR", "1", 1);           /* asks AUTO alone */
    ck_assert_str_eq(mst_style_begin(MST_STYLED_RESULTS, MST_STYLE_STRONG), STRONG);
    ck_assert_str_eq(mst_style_end(MST_STYLED_RESULTS, MST_STYLE_STRONG), PLAIN);
    ck_assert_str_eq(mst_style_begin(MST_STYLED_MESSAGES, MST_STYLE_WARNING), WARNING);
    ck_assert_str_eq(mst_style_end(MST_STYLED_RESULTS, MST_STYLE_PLAIN), "");
    mst_style_use(MST_COLOUR_NEVER, 1);
    ck_assert_str_eq(mst_style_end(MST_STYLED_RESULTS, MST_STYLE_STRONG), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("summary text");
    TCase *tests = tcase_create("text");

    tcase_add_test(tests, test_verdict_first);
    tcase_add_test(tests, test_apache_before_php);
    tcase_add_test(tests, test_an_action_is_below_its_cause);
    tcase_add_test(tests, test_brief_fits_a_terminal);
    tcase_add_test(tests, test_brief_is_a_selection);
    tcase_add_test(tests, test_brief_says_what_failed);
    tcase_add_test(tests, test_brief_of_many_servers);
    tcase_add_test(tests, test_an_unused_server_is_last);
    tcase_add_test(tests, test_all_servers_together);
    tcase_add_test(tests, test_rate_is_of_the_requests);
    tcase_add_test(tests, test_percentiles_of_enough_times);
    tcase_add_test(tests, test_percentiles_of_too_few_times);
    tcase_add_test(tests, test_percentiles_shown);
    tcase_add_test(tests, test_styles_change_no_column);
    tcase_add_test(tests, test_where_styles_are);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

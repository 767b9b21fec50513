/* check_summary_text.c - a run's summary as a person reads it: what stands where. */
#include <stdio.h>
#include <string.h>

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

static const char *text_of(const struct mst_summary *s)
{
    struct mst_sink sink;

    text[0] = '\0';
    mst_sink_init(&sink, append, NULL);
    mst_report_text(&sink, s, "run.db");
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
    snprintf(verdict, sizeof verdict, "%s", m.s.verdict);   /* a line has all of this */
    text_of(&m.s);
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
    text_of(&m.s);
    expect_order(parts, sizeof parts / sizeof *parts);
    unmake(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("summary text");
    TCase *tests = tcase_create("text");

    tcase_add_test(tests, test_verdict_first);
    tcase_add_test(tests, test_apache_before_php);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

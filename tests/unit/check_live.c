/* check_live.c - the line on a terminal while a run is recorded: what it says at which width. */
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "record/live.h"

#define S MST_NS_PER_S

static char text[256];

/* An Apache of 150 workers, of which 12 are busy. */
static struct mst_live_look quiet_look(uint64_t at_ns, uint64_t requests)
{
    return (struct mst_live_look){
        .at_ns = at_ns, .all_answer = true, .queue = 0, .queue_limit = 511,
        .apache = { true, requests, 7, 12, 150 },
    };
}

static void begin(struct mst_live *live, const char *lead)
{
    const struct mst_live_look look = quiet_look(100 * S, 1000);

    mst_live_begin(live, lead, &look);
}

/* A look at each tenth of a second of this many, each with ten requests more. */
static void go_on(struct mst_live *live, struct mst_live_look look, unsigned tenths)
{
    unsigned i;

    for (i = 1; i <= tenths; i++) {
        look.at_ns += S / 10;
        look.apache.requests += 10;
        mst_live_see(live, &look);
    }
}

static void expect(const struct mst_live *live, size_t width, const char *wanted)
{
    mst_live_text(live, width, text, sizeof text);
    ck_assert_str_eq(text, wanted);
}

START_TEST(test_numbers)
{
    struct mst_live live;

    begin(&live, "");
    go_on(&live, quiet_look(100 * S, 1000), 125);
    expect(&live, 79, "0:12  1250 requests  100/s  Apache 12/150  0 errors  queue 0/511");
}
END_TEST

START_TEST(test_which_run_and_php)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "run 2 of 10");
    look.php = (struct mst_live_side){ true, 0, 0, 3, 5 };
    go_on(&live, look, 10);
    expect(&live, 79, "run 2 of 10  0:01  100 requests  100/s  Apache 12/150  PHP 3/5  0 errors");
    expect(&live, 100, "run 2 of 10  0:01  100 requests  100/s  Apache 12/150  PHP 3/5  0 errors  "
                       "queue 0/511");
}
END_TEST

/* Whole fields are left out, and never the finding. */
START_TEST(test_width)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;
    size_t width;

    begin(&live, "");
    look.php = (struct mst_live_side){ true, 0, 0, 5, 5 };
    go_on(&live, look, 45);
    for (width = 0; width < 160; width++) {
        mst_live_text(&live, width, text, sizeof text);
        ck_assert_uint_le(strlen(text), width);
        ck_assert(width < 30 || strstr(text, "all 5 PHP workers busy for 4 s") != NULL);
    }
    expect(&live, 79, "0:04  450 requests  100/s  Apache 12/150  all 5 PHP workers busy for 4 s");
    expect(&live, 20, "0:04  450 requests");
    mst_live_text(&live, 200, text, 16);
    ck_assert_uint_lt(strlen(text), 16);
}
END_TEST

/* The rate is of the last one or two seconds. */
START_TEST(test_rate_of_late)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "");
    go_on(&live, look, 100);
    look = live.look;
    look.at_ns += S;
    mst_live_see(&live, &look);
    look.at_ns += S;
    mst_live_see(&live, &look);
    expect(&live, 40, "0:12  1000 requests  0.00/s");
}
END_TEST

/* A worker is idle for a moment between two requests; where one was for a second, the time begins
 * again. */
START_TEST(test_all_busy)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "");
    look.apache.busy = 150;
    go_on(&live, look, 50);
    expect(&live, 100, "0:05  500 requests  100/s  Apache 150/150  0 errors  queue 0/511  "
                       "all 150 workers busy for 4 s");
    look = live.look;
    look.apache.busy = 149;
    go_on(&live, look, 1);
    expect(&live, 100, "0:05  510 requests  100/s  Apache 149/150  0 errors  queue 0/511  "
                       "all 150 workers busy for 5 s");
    look = live.look;
    go_on(&live, look, 9);
    mst_live_text(&live, 100, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "all 150"));
    look = live.look;
    look.apache.busy = 150;
    go_on(&live, look, 9);
    mst_live_text(&live, 100, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "all 150"));
}
END_TEST

START_TEST(test_findings)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "");
    look.apache.busy = 150;
    go_on(&live, look, 20);
    look = live.look;
    look.queue = 511;
    go_on(&live, look, 1);
    mst_live_text(&live, 100, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "  queue 511/511  accept queue full"));
    look = live.look;
    look.apache.errors += 300;
    go_on(&live, look, 1);
    mst_live_text(&live, 100, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "  300 errors  queue 511/511  most answers are errors"));
    look = live.look;
    look.all_answer = false;
    go_on(&live, look, 1);
    mst_live_text(&live, 100, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "  a server does not answer"));
}
END_TEST

/* What is not known is not shown as 0; a server that starts again counts from 0. */
START_TEST(test_unknown_and_restart)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "");
    go_on(&live, look, 10);
    look = quiet_look(live.look.at_ns, 0);
    look.apache = (struct mst_live_side){ true, 0, MST_UNKNOWN, 3, MST_UNKNOWN };
    look.queue = look.queue_limit = MST_UNKNOWN;
    go_on(&live, look, 5);
    expect(&live, 79, "0:01  150 requests  100/s  Apache 3  0 errors");
}
END_TEST

START_TEST(test_hours)
{
    struct mst_live_look look = quiet_look(100 * S, 1000);
    struct mst_live live;

    begin(&live, "");
    look.at_ns += 3600 * S + 62 * S;
    look.apache.requests++;
    mst_live_see(&live, &look);
    expect(&live, 25, "1:01:02  1 request");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("live");
    TCase *tests = tcase_create("line");

    tcase_add_test(tests, test_numbers);
    tcase_add_test(tests, test_which_run_and_php);
    tcase_add_test(tests, test_width);
    tcase_add_test(tests, test_rate_of_late);
    tcase_add_test(tests, test_all_busy);
    tcase_add_test(tests, test_findings);
    tcase_add_test(tests, test_unknown_and_restart);
    tcase_add_test(tests, test_hours);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

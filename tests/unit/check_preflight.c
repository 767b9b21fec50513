/* check_preflight.c - what is said of machines before a load begins, and that nothing is
 * said of one that is as it should be.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "source/source_kind.h"
#include "system/preflight.h"

static char said[4096];

static int take(void *context, const char *sentence)
{
    (void)context;
    strncat(said, sentence, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
    return 0;
}

/* As a machine is that nobody has tuned. */
static struct mst_preflight plain_machine(void)
{
    return (struct mst_preflight){ .open_files = 1024, .ports = 28232, .port_reuse = 2,
                                   .somaxconn = 4096, .busy_milli = 30, .overflows = 0 };
}

static char ab[] = "ab", local[] = "http://127.0.0.1/", far[] = "http://www.example.org/";
static char *local_command[] = { ab, local, NULL };
static char *far_command[] = { ab, far, NULL };

static struct mst_plan plain_plan(void)
{
    return (struct mst_plan){ .argv = local_command, .requested = 100000, .concurrency = 100,
                              .connections = 100, .connects_anew = true };
}

static struct mst_preflight_server plain_server(void)
{
    return (struct mst_preflight_server){ .name = "x.board", .mpm = "prefork", .local = true,
                                          .workers_limit = 10, .queue_limit = 511 };
}

static void judge(const struct mst_preflight *p, const struct mst_plan *plan,
                  const struct mst_preflight_server *server, const char *words)
{
    said[0] = '\0';
    ck_assert_int_eq(mst_preflight_judge(p, plan, take, NULL), 0);
    ck_assert_int_eq(mst_preflight_judge_server(p, plan, server, take, NULL), 0);
    if (words == NULL)
        ck_assert_str_eq(said, "");
    else
        ck_assert_msg(strstr(said, words) != NULL && strchr(said, '\n') == strrchr(said, '\n'),
                      "expected one sentence with \"%s\": %s", words, said);
}

START_TEST(test_nothing_to_say)
{
    struct mst_preflight p = plain_machine();
    struct mst_plan plan = plain_plan();
    struct mst_preflight_server server = plain_server();

    judge(&p, &plan, &server, NULL);
    plan.connections = plan.concurrency = plan.requested = MST_UNKNOWN;
    judge(&p, &plan, &server, NULL);
    p = (struct mst_preflight){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                MST_UNKNOWN, "" };
    plan = plain_plan();
    server.workers_limit = server.queue_limit = MST_UNKNOWN;
    judge(&p, &plan, &server, NULL);
}
END_TEST

START_TEST(test_machine)
{
    struct mst_preflight p = plain_machine();
    const struct mst_plan plan = plain_plan();
    const struct mst_preflight_server server = plain_server();

    p.busy_milli = 870;
    judge(&p, &plan, &server, "CPUs were 87 % busy");
    p = plain_machine();
    p.overflows = 12;
    judge(&p, &plan, &server, "12 connections found an accept queue full");
    p = plain_machine();
    strcpy(p.governor, "powersave");
    judge(&p, &plan, &server, "governor \"powersave\"");
}
END_TEST

START_TEST(test_load)
{
    struct mst_preflight p = plain_machine();
    struct mst_plan plan = plain_plan();
    const struct mst_preflight_server server = plain_server();

    p.open_files = 120;
    judge(&p, &plan, &server, "ulimit -n 1124");
    p.open_files = 132;
    judge(&p, &plan, &server, NULL);
    plan.argv = far_command;
    judge(&p, &plan, &server, "100000 requests with a connection each need more local ports");
    plan.requested = p.ports;
    judge(&p, &plan, &server, NULL);
    plan = plain_plan();
    p.port_reuse = 0;
    judge(&p, &plan, &server, "tcp_tw_reuse");
    plan.connects_anew = false;
    judge(&p, &plan, &server, NULL);
}
END_TEST

START_TEST(test_server)
{
    struct mst_preflight p = plain_machine();
    struct mst_plan plan = plain_plan();
    struct mst_preflight_server server = plain_server();

    p.open_files = 20000;
    plan.connections = 512;
    judge(&p, &plan, &server, NULL);
    plan.connections = 513;
    judge(&p, &plan, &server, "raise ListenBacklog (and");
    p.somaxconn = 511;
    judge(&p, &plan, &server, "which net.core.somaxconn limits to 511");
    plan = plain_plan();
    plan.keeps_alive = true;
    plan.connects_anew = false;
    judge(&p, &plan, &server, "100 kept-alive connections are more than the 10 workers");
    server.mpm = "event";
    judge(&p, &plan, &server, NULL);
}
END_TEST

/* Two Listen lines, and one with a socket for each of two CPUs: each socket has a queue of
 * its own, however much room the others have. */
START_TEST(test_several_listeners)
{
    struct mst_snapshot_listener listeners[] = {
        { .address = "127.0.0.1:80", .sockets = 1, .queue_limit = 511 },
        { .address = "[::]:80", .sockets = 2, .queue_limit = 1022 },
        { .sockets = 1, .queue_limit = 511 },
    };
    struct mst_snapshot board = { .listeners_known = true, .listener_count = 3,
                                  .listeners = listeners };
    struct mst_preflight_server server = plain_server();
    struct mst_preflight p = plain_machine();
    struct mst_plan plan = plain_plan();
    struct mst_sample sample = { 0 };

    mst_sample_from_snapshot(&sample, &board);
    ck_assert_uint_eq(sample.listen_queue_limit, 511);
    p.open_files = 20000;
    plan.connections = 600;
    server.queue_limit = sample.listen_queue_limit;
    judge(&p, &plan, &server, "600 connections at once may overflow the accept queue");
    listeners[0].queue = listeners[0].queue_fullest = 100;
    listeners[1].queue = 260;
    listeners[1].queue_fullest = 250;
    mst_sample_from_snapshot(&sample, &board);
    ck_assert_uint_eq(sample.listen_queue, 250);
    ck_assert_str_eq(sample.listen_address, "[::]:80");
    ck_assert_uint_eq(sample.listen_queue_limit, 511);
    listeners[2].queue = listeners[2].queue_fullest = MST_UNKNOWN;
    mst_sample_from_snapshot(&sample, &board);
    ck_assert_uint_eq(sample.listen_queue, MST_UNKNOWN);
    ck_assert_str_eq(sample.listen_address, "");
    ck_assert_uint_eq(sample.listen_queue_limit, MST_UNKNOWN);
    board.listener_count = 0;
    mst_sample_from_snapshot(&sample, &board);
    ck_assert_uint_eq(sample.listen_queue, MST_UNKNOWN);
}
END_TEST

START_TEST(test_looking)
{
    struct mst_preflight p = plain_machine();
    struct mst_machine before = { .busy_ns = 100, .total_ns = 1000, .listen_overflows = 5 };
    struct mst_machine after = { .busy_ns = 400, .total_ns = 2000, .listen_overflows = 7 };

    mst_preflight_sample(&p, &before, &after);
    ck_assert_uint_eq(p.busy_milli, 300);
    ck_assert_uint_eq(p.overflows, 2);
    p = plain_machine();
    after.busy_ns = after.listen_overflows = MST_UNKNOWN;
    mst_preflight_sample(&p, &before, &after);
    ck_assert_uint_eq(p.busy_milli, 30);
    ck_assert_uint_eq(p.overflows, 0);
    mst_preflight_read(&p);
    ck_assert_uint_eq(p.busy_milli, MST_UNKNOWN);
    ck_assert_uint_ne(p.ports, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("preflight");
    TCase *all = tcase_create("preflight");

    tcase_add_test(all, test_nothing_to_say);
    tcase_add_test(all, test_machine);
    tcase_add_test(all, test_load);
    tcase_add_test(all, test_server);
    tcase_add_test(all, test_several_listeners);
    tcase_add_test(all, test_looking);
    suite_add_tcase(suite, all);
    return test_run(suite);
}

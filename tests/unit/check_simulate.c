/* check_simulate.c - the simulator against queueing theory's own results, which it does not use. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "model/predict.h"
#include "model/recorded.h"
#include "model/simulate.h"
#include "stats/random.h"

#define WORKS 20000u

/* Requests that do the same steps, each time with another length of the one that `varies`. */
static void make_works(struct mst_system *s, const struct mst_model_step *steps, size_t count,
                       size_t varies)
{
    apr_pool_t *pool = memory_of_test();
    size_t i, k;

    s->steps = apr_palloc(pool, WORKS * count * sizeof *s->steps);
    s->works = apr_palloc(pool, WORKS * sizeof *s->works);
    s->fronts = apr_palloc(pool, sizeof *s->fronts);
    s->fronts[0] = (struct mst_front){ 0, WORKS, 0 };
    s->front_count = 1;
    s->work_count = WORKS;
    s->step_count = WORKS * count;
    for (i = 0; i < WORKS; i++) {
        s->works[i] = (struct mst_work){ i * count, count };
        for (k = 0; k < count; k++)
            s->steps[i * count + k] = steps[k];
        /* Exponential, by a stratified sample: the mean is right to a thousandth. */
        if (varies < count)
            s->steps[i * count + varies].seconds *=
                -log((double)(WORKS - i) / WORKS - 0.5 / WORKS);
    }
}

static struct mst_simulated simulate(const struct mst_system *s, double seconds)
{
    struct mst_simulation how = { .seed = 1, .warm_up = seconds / 10, .seconds = seconds,
                                  .most_requests = 10000000 };
    struct mst_simulated r = { 0 };

    mst_simulate(&r, s, &how, memory_of_test());
    mst_simulated_free(&r);
    return r;
}

static void near(double found, double expected, double part)
{
    ck_assert_msg(fabs(found - expected) <= part * expected, "expected %g within %g %%, found %g",
                  expected, 100 * part, found);
}

static const struct mst_model_step one_gate[] = {
    { MST_STEP_ENTER, 0, 0, 0 }, { MST_STEP_WAIT, 0, 0, 0.01 }, { MST_STEP_LEAVE, 0, 0, 0 },
};
static const struct mst_model_step one_cpu[] = { { MST_STEP_COMPUTE, 0, 0, 0.01 } };

/* Two servers with a worker each, 0.02 and 0.04 s on average, and four clients that choose one of
 * them at random: a closed network of queues. The slow one has k of the clients with a probability
 * of 2^k / 31 (Gordon and Newell), so that 48.4 a second are answered. */
START_TEST(test_two_servers_share_their_clients)
{
    struct mst_front fronts[] = { { 0, WORKS / 2, 0 }, { WORKS / 2, WORKS / 2, 1 } };
    struct mst_gate gates[] = { { .limit = 1 }, { .limit = 1, .front = 1 } };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    uint32_t turns[WORKS];
    struct mst_simulation how = { .seed = 1, .warm_up = 100, .seconds = 5000,
                                  .most_requests = 10000000 };
    struct mst_simulated r = { 0 };
    struct mst_system s = { .gates = gates, .gate_count = 2, .ends = &end, .end_count = 1 };
    uint64_t random = 1;
    size_t i;

    make_works(&s, one_gate, 3, 3);
    for (i = 0; i < WORKS; i++) {
        turns[i] = (uint32_t)mst_random_below(&random, 2);
        s.steps[3 * i].at = s.steps[3 * i + 2].at = i < WORKS / 2 ? 0 : 1;
        s.steps[3 * i + 1].seconds = (i < WORKS / 2 ? -0.02 : -0.04) *
                                     log(1 - ((double)(i % (WORKS / 2)) + 0.5) / (WORKS / 2));
    }
    s.fronts = fronts;
    s.front_count = 2;
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_CLOSED, .clients = 4,
                                      .turns = turns, .turn_count = WORKS };
    mst_simulate(&r, &s, &how, memory_of_test());
    ck_assert_uint_eq(r.front_count, 2);
    near(r.all.rate, 48.39, 0.02);
    near(r.fronts[0].rate, 24.19, 0.03);
    near(r.fronts[1].rate, 24.19, 0.03);
    near(r.fronts[0].mean, 26.0 / 31 / 24.19, 0.04);
    near(r.fronts[1].mean, 98.0 / 31 / 24.19, 0.03);
    near(r.gates[1].inside + r.gates[1].waiting, 98.0 / 31, 0.03);
    mst_simulated_free(&r);
}
END_TEST

/* Those that come by themselves come to each server as recorded, whatever the other one does. */
START_TEST(test_arrivals_of_two_servers)
{
    static const double gaps[] = { 0.001, 0.009, 0.03 };
    static const uint32_t turns[] = { 0, 1, 0 };
    struct mst_front fronts[] = { { 0, WORKS / 2, 0 }, { WORKS / 2, WORKS / 2, 1 } };
    struct mst_gate gates[] = { { .limit = 1 }, { .limit = 1, .front = 1 } };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_simulation how = { .seed = 1, .seconds = 100, .most_requests = 10000000 };
    struct mst_simulated r = { 0 };
    struct mst_system s = { .gates = gates, .gate_count = 2, .ends = &end, .end_count = 1 };
    size_t i;

    make_works(&s, one_gate, 3, 3);
    for (i = WORKS / 2; i < WORKS; i++) {
        s.steps[3 * i].at = s.steps[3 * i + 2].at = 1;
        s.steps[3 * i + 1].seconds = 1;     /* this server answers one a second */
    }
    s.fronts = fronts;
    s.front_count = 2;
    s.load = (struct mst_model_load){
        .arrivals = MST_ARRIVALS_RECORDED, .rate = 75, .gaps = gaps, .gap_count = 3,
        .turns = turns, .turn_count = 3,
    };
    mst_simulate(&r, &s, &how, memory_of_test());
    near(r.fronts[0].rate, 50, 0.01);
    near(r.fronts[0].mean, 0.01, 0.001);
    near(r.fronts[1].rate, 1, 0.02);
    ck_assert(r.overloaded);
    mst_simulated_free(&r);
}
END_TEST

/* M/M/1 and M/M/4: Erlang's formula for the part of the requests that wait. */
START_TEST(test_gate_as_erlang_says)
{
    static const struct { uint32_t servers; double rate, waits; } cases[] = {
        { 1, 80, 0.8 }, { 4, 320, 0.5964 },   /* both 80 % busy */
    };
    struct mst_gate gate = { .name = "workers" };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_system s = { .gates = &gate, .gate_count = 1, .ends = &end, .end_count = 1 };
    double c = cases[_i].servers, wait = cases[_i].waits / (c * 100 - cases[_i].rate);
    struct mst_simulated r;

    make_works(&s, one_gate, 3, 1);
    gate.limit = cases[_i].servers;
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_RANDOM, .rate = cases[_i].rate };
    r = simulate(&s, 10000);
    near(r.all.rate, cases[_i].rate, 0.01);
    near(r.all.mean, 0.01 + wait, 0.03);
    near(r.gates[0].inside, 0.8 * c, 0.02);
    near(r.gates[0].waiting, cases[_i].rate * wait, 0.05);
    near(r.gates[0].full, cases[_i].waits, 0.02);
    ck_assert_uint_eq(r.gates[0].most, cases[_i].servers);
    near(r.at_ends[0], 0.8 * c, 0.02);
    ck_assert(!r.overloaded);
}
END_TEST

/* M/G/1 with processor sharing: the mean depends on the mean only, whatever the distribution. */
START_TEST(test_cpu_is_shared)
{
    struct mst_cpus cpus = { "cpu", 1 };
    struct mst_model_end php = { "php", "", "php", 1, 1, 0, false };
    struct mst_system s = { .cpus = &cpus, .cpus_count = 1, .ends = &php, .end_count = 1 };
    struct mst_simulated r;

    make_works(&s, one_cpu, 1, _i == 0 ? 0 : 1);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_RANDOM, .rate = 70 };
    r = simulate(&s, 10000);
    near(r.all.mean, 0.01 / 0.3, 0.03);
    near(r.cpu_used[0], 0.7, 0.02);
    near(r.cpu_stretch[0], 1 / 0.3, 0.03);

    cpus.count = INFINITY;   /* not known: nothing waits */
    r = simulate(&s, 100);
    near(r.all.mean, 0.01, 0.02);
    near(r.cpu_stretch[0], 1, 1e-6);
}
END_TEST

/* 8 clients that think, one CPU: the machine repairman's model, solved by mean value analysis. */
START_TEST(test_closed_load)
{
    struct mst_cpus cpus = { "cpu", 1 };
    struct mst_model_end php = { "php", "", "php", 1, 1, 0, false };
    struct mst_system s = { .cpus = &cpus, .cpus_count = 1, .ends = &php, .end_count = 1 };
    struct mst_simulated r;
    double queue = 0, time = 0, rate = 0;
    int n;

    for (n = 1; n <= 8; n++) {
        time = 0.01 * (1 + queue);
        rate = n / (0.05 + time);
        queue = rate * time;
    }
    make_works(&s, one_cpu, 1, 0);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_CLOSED, .clients = 8,
                                .think = 0.05 };
    r = simulate(&s, 5000);
    near(r.all.rate, rate, 0.02);
    near(r.all.mean, time, 0.03);
}
END_TEST

/* A queue that never ends is said to be one. */
START_TEST(test_more_than_it_can_serve)
{
    static const double gaps[] = { 0.001, 0.003 };
    struct mst_gate gate = { .name = "workers", .limit = 2 };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_system s = { .gates = &gate, .gate_count = 1, .ends = &end, .end_count = 1 };
    struct mst_simulated r;

    make_works(&s, one_gate, 3, 1);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_RECORDED, .rate = 250, .gaps = gaps,
                                .gap_count = 2 };
    r = simulate(&s, 1000);
    ck_assert(r.overloaded);
    near(r.all.rate, 200, 0.02);
    s.load.rate = 150;
    r = simulate(&s, 1000);
    ck_assert(!r.overloaded);
    near(r.all.rate, 150, 0.01);
}
END_TEST

/* Ten connections that keep a worker while their clients think, and two workers: a request of the
 * others waits until a connection ends. */
START_TEST(test_connections_keep_workers)
{
    struct mst_gate gate = { .name = "workers", .limit = 10 };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_system s = { .gates = &gate, .gate_count = 1, .ends = &end, .end_count = 1 };
    struct mst_simulated r;
    double free_rate = 10 / (0.01 + 0.09);

    make_works(&s, one_gate, 3, 1);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_CLOSED, .clients = 10, .think = 0.09,
                                .requests_a_connection = 100, .keepalive_timeout = 5 };
    r = simulate(&s, 1000);
    near(r.all.rate, free_rate, 0.02);
    near(r.gates[0].inside, 10, 0.02);   /* nine of ten are idle */
    gate.limit = 2;
    r = simulate(&s, 1000);
    near(r.all.rate, free_rate / 5, 0.05);
    near(r.gates[0].full, 1, 0.01);
    s.load.keepalive_timeout = 0;        /* event: idle connections keep none */
    r = simulate(&s, 1000);
    near(r.all.rate, 95.6, 0.05);
    s.load.keepalive_timeout = 0.001;    /* the server ends them */
    r = simulate(&s, 1000);
    near(r.all.rate, 95, 0.05);
}
END_TEST

/* Processes are started while few are idle: at first one, then two, four ... a second. */
START_TEST(test_server_grows)
{
    struct mst_gate gate = { .name = "workers", .limit = 100,
                             .growth = { 1, 5, 10, 1, 32, false } };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_system s = { .gates = &gate, .gate_count = 1, .ends = &end, .end_count = 1 };
    struct mst_simulation how = { .seed = 1, .seconds = 3, .most_requests = 1000000 };
    struct mst_simulated r = { 0 };

    make_works(&s, one_gate, 3, 3);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_CLOSED, .clients = 50 };
    mst_simulate(&r, &s, &how, memory_of_test());
    mst_simulated_free(&r);
    /* The first look is within the first second: 1 worker, then 2, 4 and 8. */
    ck_assert_msg(r.gates[0].inside > 2 && r.gates[0].inside < 5, "%g", r.gates[0].inside);
    how.warm_up = 20;
    mst_simulate(&r, &s, &how, memory_of_test());
    mst_simulated_free(&r);
    near(r.gates[0].inside, 50, 0.01);
}
END_TEST

/* A full backlog: clients try again after a second and more. */
START_TEST(test_backlog_is_full)
{
    struct mst_gate gate = { .name = "workers", .limit = 1, .backlog = 2 };
    struct mst_model_end end = { "sleep", "", "sleep", 1, 1, 0, false };
    struct mst_system s = { .gates = &gate, .gate_count = 1, .ends = &end, .end_count = 1 };
    struct mst_simulated r;

    make_works(&s, one_gate, 3, 3);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_CLOSED, .clients = 3 };
    r = simulate(&s, 100);
    ck_assert_uint_eq(r.gates[0].retries, 0);
    near(r.all.mean, 0.03, 0.01);
    s.load.clients = 8;
    r = simulate(&s, 100);
    ck_assert_uint_gt(r.gates[0].retries, 0);
    near(r.all.rate, 100, 0.02);
}
END_TEST

START_TEST(test_the_same_seed)
{
    struct mst_cpus cpus = { "cpu", 2 };
    struct mst_model_end php = { "php", "", "php", 1, 1, 0, false };
    struct mst_system s = { .cpus = &cpus, .cpus_count = 1, .ends = &php, .end_count = 1 };
    struct mst_simulated a, b;

    make_works(&s, one_cpu, 1, 0);
    s.load = (struct mst_model_load){ .arrivals = MST_ARRIVALS_RANDOM, .rate = 100 };
    a = simulate(&s, 100);
    b = simulate(&s, 100);
    ck_assert_uint_eq(a.all.requests, b.all.requests);
    ck_assert_double_eq(a.all.mean, b.all.mean);
}
END_TEST

/* As httpd reads them. */
START_TEST(test_times_of_directives)
{
    ck_assert_double_eq(mst_model_seconds("5"), 5);
    ck_assert_double_eq_tol(mst_model_seconds("500ms"), 0.5, 1e-12);
    ck_assert_double_eq(mst_model_seconds("2s"), 2);
    ck_assert_double_eq(mst_model_seconds("2min"), 120);
    ck_assert_double_eq(mst_model_seconds("1h"), 3600);
    ck_assert(isnan(mst_model_seconds("")) && isnan(mst_model_seconds("soon")) &&
              isnan(mst_model_seconds("5x")) && isnan(mst_model_seconds("-1")));
}
END_TEST

/* An end is busier if it has more than 1.25 times the requests of now, and more than one besides.
 * A sleep, a lock and the server's own ends are never busier. */
START_TEST(test_first_end_that_is_busier)
{
    enum { SLEEP = MST_END_FIXED_COUNT, LOCK, CACHE, DATABASE, API, COUNT };
    struct mst_model_end ends[COUNT] = {
        [SLEEP] = { .kind = "sleep", .is_other = true },
        [LOCK] = { .kind = "lock", .is_other = true },
        [CACHE] = { .kind = "cache", .is_other = true },
        [DATABASE] = { .kind = "database", .is_other = true },
        [API] = { .kind = "http", .is_other = true },
    };
    struct mst_model_run run = { .system = { .ends = ends, .end_count = COUNT } };
    double now[COUNT] = { 1, [CACHE] = 2, [DATABASE] = 10 };
    double then[COUNT] = { 9, [SLEEP] = 9, [LOCK] = 9, [CACHE] = 3, [DATABASE] = 12.5 };
    struct mst_prediction p = { .run = &run, .now = { .at_ends = now } };
    struct mst_forecast forecast = { .at_ends = then };

    ck_assert_ptr_null(mst_model_busier_end(&p, &forecast));
    then[API] = 1.1;
    ck_assert_ptr_eq(mst_model_busier_end(&p, &forecast), &ends[API]);
    then[DATABASE] = 12.6;
    ck_assert_ptr_eq(mst_model_busier_end(&p, &forecast), &ends[DATABASE]);
    then[CACHE] = 3.1;
    ck_assert_ptr_eq(mst_model_busier_end(&p, &forecast), &ends[CACHE]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulate");
    TCase *tests = tcase_create("simulate");

    tcase_add_loop_test(tests, test_gate_as_erlang_says, 0, 2);
    tcase_add_loop_test(tests, test_cpu_is_shared, 0, 2);
    tcase_add_test(tests, test_closed_load);
    tcase_add_test(tests, test_more_than_it_can_serve);
    tcase_add_test(tests, test_connections_keep_workers);
    tcase_add_test(tests, test_server_grows);
    tcase_add_test(tests, test_two_servers_share_their_clients);
    tcase_add_test(tests, test_arrivals_of_two_servers);
    tcase_add_test(tests, test_backlog_is_full);
    tcase_add_test(tests, test_the_same_seed);
    tcase_add_test(tests, test_times_of_directives);
    tcase_add_test(tests, test_first_end_that_is_busier);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

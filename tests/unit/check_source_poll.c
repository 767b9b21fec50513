/* check_source_poll.c - a board as a source: what ends a poll, whose it is, samples. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "harness.h"
#include "source/source.h"
#include "write/journal.h"
#include "write/worker.h"
#include "written_board.h"

/* ---- what ends a poll before it has all --------------------------------------------------- */

static volatile sig_atomic_t stop;

static int see_request_and_stop(void *context, const struct mst_request *request,
                                const struct mst_record_names *names, uint64_t wall_start_ns,
                           uint64_t key)
{
    stop = 1;
    return see_request(context, request, names, wall_start_ns, key);
}

START_TEST(the_stop_flag_ends_a_poll_and_loses_nothing)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct mst_source_events events = { .context = &seen, .on_request = see_request_and_stop };
    char error[MST_ERROR_MAX] = "";
    struct watched w;
    unsigned i;

    watch(&w, &layout);
    mark(&w);
    mst_source_set_stop(w.source, &stop);
    for (i = 1; i <= 5; i++)
        serve(&w.board, i, 0);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), 1);
    ck_assert(mst_source_pending(w.source));
    stop = 0;
    ck_assert_int_eq(look(&w, &seen), 4);
    ck_assert(!mst_source_pending(w.source));
    ck_assert_uint_eq(seen.ids[1], 2);
    ck_assert_uint_eq(seen.ids[4], 5);
    mst_source_finish(w.source);
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    unwatch(&w);
}
END_TEST

START_TEST(a_stop_at_the_last_record_leaves_nothing_behind)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct mst_source_events events = { .context = &seen, .on_request = see_request_and_stop };
    char error[MST_ERROR_MAX] = "";
    struct watched w;

    watch(&w, &layout);
    mark(&w);
    mst_source_set_stop(w.source, &stop);
    serve(&w.board, 1, 0);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), 1);
    ck_assert(!mst_source_pending(w.source));
    mst_source_finish(w.source);
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    unwatch(&w);
}
END_TEST

START_TEST(what_a_deadline_leaves_behind_is_not_known)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;
    unsigned i;

    watch(&w, &layout);
    mark(&w);
    for (i = 1; i <= 5; i++)
        serve(&w.board, i, 0);
    mst_source_set_deadline(w.source, mst_now_ns());
    ck_assert_int_eq(look(&w, &seen), 1);
    mst_source_finish(w.source);
    ck_assert_uint_eq(mst_source_lost(w.source), MST_UNKNOWN);
    unwatch(&w);
}
END_TEST

/* ---- whose it is --------------------------------------------------------------------------- */

START_TEST(a_process_that_does_not_have_the_board_is_not_its_server)
{
    struct mst_layout layout = test_layout();
    char *args[1], error[MST_ERROR_MAX] = "";
    struct watched w;

    test_board(&w.board, &layout);
    args[0] = w.board.path;
    w.board.header->pid = (uint32_t)getppid();   /* its memory is another */
    w.board.header->pid_start_ticks = mst_host_start_ticks(w.board.header->pid);
    ck_assert_int_eq(mst_targets_resolve(&w.targets, args, 1, error), 0);
    w.source = mst_source_open(&w.targets.items[0], error);
    ck_assert_msg(w.source != NULL, "%s", error);
    ck_assert(!mst_source_local(w.source));
    ck_assert_ptr_nonnull(strstr(mst_source_doubt(w.source), "has this file mapped"));
    unwatch(&w);
    watch(&w, &layout);
    ck_assert(mst_source_local(w.source));
    ck_assert_str_eq(mst_source_doubt(w.source), "");
    ck_assert_uint_eq(mst_source_board(w.source)->owner, geteuid());
    unwatch(&w);
}
END_TEST

/* ---- samples ---------------------------------------------------------------------------- */

START_TEST(a_sample_counts_what_is_there)
{
    struct mst_layout layout = test_layout();
    struct mst_sample sample;
    struct mst_worker *worker;
    struct watched w;
    char error[MST_ERROR_MAX] = "";
    uint32_t www;
    int process;

    memset(&sample, 0, sizeof sample);
    watch(&w, &layout);
    www = mst_label_intern(&w.board, "www");
    process = mst_process_claim(&w.board, (uint64_t)getpid(), 0, mst_now_ns());
    ck_assert_int_ge(process, 0);
    worker = &w.board.workers[(unsigned)process * w.board.threads];
    mst_worker_enter(worker, MST_STATE_SENDING, mst_worker_since(worker), mst_now_ns());
    mst_count(&mst_counters_of(&w.board, www, 1)->status[MST_CLASS_2XX], 6);
    mst_histogram_record(&mst_counters_of(&w.board, www, 1)->times[MST_PHASE_TOTAL], 1000);
    mst_count(&mst_counters_of(&w.board, MST_LABEL_STATUS, 0)->status[MST_CLASS_2XX], 100);
    w.board.in_flight[(unsigned)process * w.board.label_count + www] = 3;
    w.board.in_flight[(unsigned)process * w.board.label_count + MST_LABEL_STATUS] = 1;

    ck_assert_msg(mst_source_sample(w.source, &sample, error) == 0, "%s", error);
    ck_assert_uint_lt(mst_realtime_ns() - sample.wall_ns, 60 * MST_NS_PER_S);
    ck_assert_uint_gt(sample.cost_ns, 0);
    ck_assert_uint_eq(sample.workers_limit, 8);
    ck_assert_uint_eq(sample.workers_busy, 1);
    ck_assert_uint_eq(sample.states[MST_STATE_SENDING], 1);
    ck_assert_uint_eq(sample.states[MST_STATE_IDLE], 1);
    ck_assert_uint_gt(sample.state_ns[MST_STATE_SENDING], 0);
    ck_assert_uint_eq(sample.in_flight, 3);
    ck_assert_uint_eq(sample.classes[MST_CLASS_2XX], 6);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.processes[0].pid, (uint64_t)getpid());
    ck_assert_uint_eq(sample.processes[0].start_ticks,
                      mst_host_start_ticks((uint64_t)getpid()));
    mst_sample_free(&sample);
    unwatch(&w);
}
END_TEST

START_TEST(a_sample_follows_a_new_start)
{
    struct mst_layout layout = test_layout();
    struct mst_sample sample;
    struct seen seen = { 0 };
    struct watched w;
    char error[MST_ERROR_MAX] = "";

    memset(&sample, 0, sizeof sample);
    watch(&w, &layout);
    mark(&w);
    serve(&w.board, 1, 0);
    restart(&w, &layout);
    ck_assert_int_eq(mst_source_sample(w.source, &sample, error), 0);
    ck_assert_uint_eq(sample.requests_written, 0);
    serve(&w.board, 2, 0);
    ck_assert_int_eq(mst_source_sample(w.source, &sample, error), 0);
    ck_assert_uint_eq(sample.requests_written, 1);
    ck_assert_int_eq(look(&w, &seen), 2);   /* the old one's last record is not cut off */
    mst_sample_free(&sample);
    unwatch(&w);
}
END_TEST

START_TEST(what_cannot_be_opened_is_a_sentence)
{
    char name[] = "/nonexistent/a.board", *args[1] = { name }, error[MST_ERROR_MAX] = "";
    struct mst_targets targets;

    ck_assert_int_eq(mst_targets_resolve(&targets, args, 1, error), 0);
    ck_assert_ptr_null(mst_source_open(&targets.items[0], error));
    ck_assert_msg(strstr(error, "no such file") != NULL, "%s", error);
    mst_targets_free(&targets);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_file");
    TCase *tests = tcase_create("source_file");

    tcase_add_test(tests, the_stop_flag_ends_a_poll_and_loses_nothing);
    tcase_add_test(tests, a_stop_at_the_last_record_leaves_nothing_behind);
    tcase_add_test(tests, what_a_deadline_leaves_behind_is_not_known);
    tcase_add_test(tests, a_process_that_does_not_have_the_board_is_not_its_server);
    tcase_add_test(tests, a_sample_counts_what_is_there);
    tcase_add_test(tests, a_sample_follows_a_new_start);
    tcase_add_test(tests, what_cannot_be_opened_is_a_sentence);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

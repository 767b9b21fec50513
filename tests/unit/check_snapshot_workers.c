/* check_snapshot_workers.c - what a reader knows of workers: states, servers that are gone,
 * values that no writer stores.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "segment/listen_hash.h"
#include "snapped.h"
#include "stats/random.h"
#include "write/call_stack.h"
#include "write/worker.h"

static uint64_t sum_of_states(void)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        sum += view.s.state_ns[i];
    return sum;
}

/* ---- workers -------------------------------------------------------------------------- */

START_TEST(the_times_in_all_states_are_the_time_elapsed)
{
    uint64_t start, random = 3;
    struct mst_worker *w;
    unsigned i;

    make();
    start = mst_now_ns();
    w = worker(claim(start), 0);
    for (i = 0; i < 1000; i++)
        enter(w, (enum mst_state)(mst_random_word(&random) % MST_STATE_COUNT), mst_now_ns());
    look(1);
    ck_assert_uint_eq(sum_of_states(), 2 * (view.s.taken_ns - start));
    tear_down();
}
END_TEST

START_TEST(the_present_state_counts_up_to_now)
{
    struct mst_worker *w;
    uint64_t start;

    make();
    start = mst_now_ns() - 10 * MST_NS_PER_S;
    w = worker(claim(start), 0);
    enter(w, MST_STATE_READING, start + MST_NS_PER_S);
    enter(w, MST_STATE_SENDING, start + 3 * MST_NS_PER_S);
    look(1);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_READING], 2 * MST_NS_PER_S);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_SENDING],
                      view.s.taken_ns - (start + 3 * MST_NS_PER_S));
    ck_assert_uint_eq(view.s.slots[0].state_for_ns, view.s.state_ns[MST_STATE_SENDING]);
    tear_down();
}
END_TEST

START_TEST(a_state_that_begins_after_the_copy_has_no_time_yet)
{
    make();
    enter(worker(claim(mst_now_ns()), 0), MST_STATE_READING, mst_now_ns() + MST_NS_PER_S);
    look(1);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_READING], 0);
    ck_assert_uint_eq(view.s.slots[0].state_for_ns, 0);
    tear_down();
}
END_TEST

START_TEST(the_longest_on_a_request_come_first)
{
    uint64_t now, start;
    int first, second;

    make();
    now = mst_now_ns();
    start = now - 9 * MST_NS_PER_S;
    first = claim(start);
    second = claim(start);
    enter(worker(first, 1), MST_STATE_HANDLING, start + MST_NS_PER_S);
    worker(first, 1)->request_start_ns = start + 2 * MST_NS_PER_S;
    worker(first, 1)->request_label = mst_label_intern(&board, "a");
    strcpy(worker(first, 1)->path, "/slow");
    enter(worker(second, 0), MST_STATE_SENDING, start + 5 * MST_NS_PER_S);
    worker(second, 0)->request_start_ns = start + MST_NS_PER_S;
    worker(second, 0)->request_label = mst_label_intern(&board, "b");
    enter(worker(second, 1), MST_STATE_KEEPALIVE, start);
    look(1);
    ck_assert_uint_eq(view.s.slot_count, 4);
    ck_assert_str_eq(view.s.slots[0].label, "b");
    ck_assert_str_eq(view.s.slots[1].label, "a");
    ck_assert_ptr_null(view.s.slots[0].path);
    ck_assert_str_eq(view.s.slots[1].path, "/slow");
    ck_assert_uint_eq(view.s.slots[1].request_for_ns,
                      view.s.taken_ns - (start + 2 * MST_NS_PER_S));
    ck_assert_str_eq(view.s.slots[2].state, "keepalive");
    ck_assert_ptr_null(view.s.slots[2].label);
    ck_assert_uint_eq(view.s.slots[2].request_for_ns, MST_UNKNOWN);
    ck_assert_str_eq(view.s.slots[3].state, "idle");
    ck_assert_str_eq(view.s.scoreboard, "_HSK");
    ck_assert_uint_eq(view.s.workers_busy, 3);
    ck_assert_uint_eq(view.s.workers[MST_STATE_IDLE], 1);
    tear_down();
}
END_TEST

START_TEST(idle_workers_stay_in_order)
{
    size_t i;

    make();
    claim(mst_now_ns());
    claim(mst_now_ns());
    look(1);
    ck_assert_uint_eq(view.s.slot_count, 4);
    for (i = 0; i < 4; i++)
        ck_assert_uint_eq(view.s.slots[i].slot, i);
    tear_down();
}
END_TEST

START_TEST(what_nobody_owns_counts_its_past_only)
{
    struct mst_process_end end;
    uint64_t start;
    int process;

    make();
    start = mst_now_ns() - 5 * MST_NS_PER_S;
    process = claim(start);
    board.processes[process].connections = 3;
    board.processes[process].accepted = 9;
    board.in_flight[(uint32_t)process * board.in_flight_stride] = 2;
    enter(worker(process, 0), MST_STATE_HANDLING, start);
    mst_process_release(&board, board.processes[process].pid, start + MST_NS_PER_S, &end);
    board.processes[process].connections = 3;   /* a late count must not matter either */
    look(1);
    ck_assert_uint_eq(view.s.slot_count, 0);
    ck_assert_uint_eq(view.s.workers_busy, 0);
    ck_assert_uint_eq(view.s.connections, 0);
    ck_assert_uint_eq(view.s.accepted, 9);
    ck_assert_uint_eq(view.s.labels[0].in_flight, 0);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_HANDLING], MST_NS_PER_S);
    ck_assert_uint_eq(sum_of_states(), 2 * MST_NS_PER_S);
    tear_down();
}
END_TEST

START_TEST(entries_never_claimed_are_not_copied)
{
    struct mst_process_end end;
    int process;

    make();
    look(1);
    ck_assert_uint_eq(view.copy.process_count, 0);
    ck_assert_uint_eq(view.copy.worker_count, 0);
    test_view_free(&view);
    process = claim(mst_now_ns());
    look(1);
    ck_assert_uint_eq(view.copy.process_count, (uint32_t)process + 1);
    ck_assert_uint_eq(view.copy.worker_count, ((uint32_t)process + 1) * board.threads);
    ck_assert_uint_eq(view.s.slot_count, board.threads);
    test_view_free(&view);
    mst_process_release(&board, board.processes[process].pid, mst_now_ns(), &end);
    look(1);
    ck_assert_uint_eq(view.copy.process_count, (uint32_t)process + 1);
    tear_down();
}
END_TEST

START_TEST(an_entry_being_claimed_is_nobodys)
{
    make();
    enter(worker(claim(mst_now_ns()), 0), MST_STATE_HANDLING, mst_now_ns());
    board.processes[0].pid |= MST_PROCESS_CLAIMING;
    board.processes[0].connections = 1;
    look(1);
    ck_assert_uint_eq(view.s.slot_count, 0);
    ck_assert_uint_eq(view.s.connections, 0);
    tear_down();
}
END_TEST

START_TEST(gauges_are_sums_over_live_processes)
{
    int first, second;

    make();
    first = claim(mst_now_ns());
    second = claim(mst_now_ns());
    board.processes[first].connections = 3;
    board.processes[second].connections = -1;   /* in between a count down and a count up */
    board.in_flight[(uint32_t)first * board.in_flight_stride + 1] = 4;
    board.in_flight[(uint32_t)second * board.in_flight_stride + 1] = (uint32_t)-2;
    look(1);
    ck_assert_uint_eq(view.s.connections, 3);
    ck_assert_uint_eq(view.s.labels[1].in_flight, 4);
    tear_down();
}
END_TEST

START_TEST(in_flight_is_what_workers_show_and_the_others)
{
    int process;

    make();
    process = claim(mst_now_ns());
    board.in_flight[(uint32_t)process * board.in_flight_stride + 1] = 1;
    enter(worker(process, 0), MST_STATE_HANDLING, mst_now_ns());
    mst_worker_show(worker(process, 0), 0, mst_now_ns(), 1);
    enter(worker(process, 1), MST_STATE_SENDING, mst_now_ns());
    mst_worker_show(worker(process, 1), 0, mst_now_ns(), UINT32_MAX);   /* not recorded */
    look(1);
    ck_assert_uint_eq(view.s.labels[0].in_flight, 0);
    ck_assert_uint_eq(view.s.labels[1].in_flight, 2);
    test_view_free(&view);
    mst_worker_show_none(worker(process, 0));
    board.processes[process].pid |= MST_PROCESS_CLAIMING;   /* nobody's */
    look(1);
    ck_assert_uint_eq(view.s.labels[1].in_flight, 0);
    tear_down();
}
END_TEST

/* ---- a server that is gone --------------------------------------------------------------- */

/* A board with one busy worker since 9 s ago. */
static uint64_t make_busy(void)
{
    uint64_t start;
    int process;

    make();
    start = mst_now_ns() - 9 * MST_NS_PER_S;
    board.header->started_ns = start;
    process = claim(start);
    board.processes[process].connections = 1;
    board.in_flight[(uint32_t)process * board.in_flight_stride] = 1;
    enter(worker(process, 0), MST_STATE_HANDLING, start + MST_NS_PER_S);
    mst_worker_show(worker(process, 0), 0, start, 0);
    return start;
}

static void assert_nothing_happens_now(void)
{
    ck_assert_str_eq(view.s.running, "no");
    ck_assert_uint_eq(view.s.workers_busy, 0);
    ck_assert_uint_eq(view.s.connections, 0);
    ck_assert_uint_eq(view.s.labels[0].in_flight, 0);
    ck_assert_str_eq(view.s.scoreboard, "");
}

START_TEST(time_ends_where_the_server_stopped)
{
    uint64_t start = make_busy();

    board.header->stopped_ns = start + 4 * MST_NS_PER_S;
    look(0);
    assert_nothing_happens_now();
    ck_assert_uint_eq(view.s.slot_count, 0);
    ck_assert_uint_eq(view.s.stopped_ns, view.s.started_ns + 4 * MST_NS_PER_S);
    ck_assert_uint_eq(view.s.uptime_ns, 4 * MST_NS_PER_S);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_HANDLING], 3 * MST_NS_PER_S);
    tear_down();
}
END_TEST

/* A child can go on without its parent. */
START_TEST(a_child_that_is_alive_has_not_died_with_its_server)
{
    make_busy();
    look(0);
    assert_nothing_happens_now();
    ck_assert_uint_eq(view.s.slot_count, 0);
    tear_down();
}
END_TEST

/* But which request it had, and since when. */
START_TEST(nobody_knows_when_a_killed_server_died)
{
    make_busy();
    board.processes[0].start_ticks++;   /* that process has ended, and this one has its pid */
    look(0);
    assert_nothing_happens_now();
    ck_assert_uint_eq(view.s.slot_count, 1);
    ck_assert_str_eq(view.s.slots[0].state, "handling");
    ck_assert_uint_eq(view.s.slots[0].request_since_ns, view.s.started_ns);
    ck_assert_uint_eq(view.s.slots[0].request_for_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.slots[0].state_for_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.stopped_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.uptime_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_HANDLING], 0);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_IDLE], MST_NS_PER_S);
    tear_down();
}
END_TEST

START_TEST(a_server_that_cannot_be_seen_is_taken_at_its_word)
{
    make_busy();
    look(-1);
    ck_assert_str_eq(view.s.running, "unknown");
    ck_assert_uint_eq(view.s.workers_busy, 1);
    test_view_free(&view);
    board.header->stopped_ns = mst_now_ns();
    look(-1);
    assert_nothing_happens_now();
    ck_assert_uint_eq(view.s.slot_count, 0);
    tear_down();
}
END_TEST

/* ---- values that no writer stores ------------------------------------------------------------ */

START_TEST(nonsense_in_workers_stays_in_bounds)
{
    struct mst_worker *w;
    unsigned i;

    make();
    claim(mst_now_ns());
    claim(mst_now_ns());
    w = board.workers;
    w[0].base_ns = UINT64_MAX;
    w[0].request_label = 7;
    w[0].request_start_ns = UINT64_MAX;
    memset(w[0].path, 'x', sizeof w[0].path);
    w[1].state = MST_STATE_COUNT;
    for (i = 0; i < MST_STATE_COUNT; i++)
        *mst_worker_state_ns(&w[2], i) = UINT64_MAX;
    w[3].base_ns = 0;
    w[3].state = MST_STATE_CLOSING;
    w[3].request_label = UINT64_MAX - 1;
    look(1);
    ck_assert_uint_eq(view.s.slot_count, 3);
    ck_assert_str_eq(view.s.slots[0].state, "closing");
    ck_assert_ptr_null(view.s.slots[0].label);
    ck_assert_ptr_null(view.s.slots[1].label);
    ck_assert_uint_eq(strlen(view.s.slots[1].path), MST_PATH_MAX - 1);
    ck_assert_uint_eq(view.s.slots[1].request_for_ns, 0);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_READING], MST_UNKNOWN);
    tear_down();
}
END_TEST

/* A worker of a board of PHP at a request since 9 s ago, that waits since 2 s ago. */
static struct mst_worker *make_waiting(uint64_t start_ns, uint64_t wait)
{
    struct mst_layout layout = test_php_layout();
    struct mst_worker *w;

    layout.code_samples = 1024;
    test_board(&board, &layout);
    w = worker(claim(start_ns), 0);
    enter(w, MST_STATE_HANDLING, start_ns);
    mst_worker_show(w, 0, start_ns, 0);
    mst_worker_wait(w, wait, start_ns + 7 * MST_NS_PER_S, 0);
    return w;
}

static void expect_wait(const char *wait, const char *end, uint64_t for_ns)
{
    const struct mst_snapshot_slot *slot;

    test_view_free(&view);
    look(1);
    slot = &view.s.slots[0];
    ck_assert_pstr_eq(slot->wait, wait);
    ck_assert_pstr_eq(slot->wait_end, end);
    ck_assert_uint_eq(slot->wait_for_ns, for_ns == MST_UNKNOWN ? for_ns
                                         : view.s.taken_ns - for_ns);
}

/* The other end has not counted a call yet. */
START_TEST(a_worker_shows_what_it_waits_for)
{
    uint64_t start = mst_now_ns() - 9 * MST_NS_PER_S, since = start + 7 * MST_NS_PER_S;
    struct mst_worker *w = make_waiting(start, (uint64_t)MST_WAIT_SLEEP << 32);
    uint64_t mysql = mst_other_end_intern(&board, MST_END_DATABASE, "mysql 127.0.0.1:3306");

    look(1);
    expect_wait("sleep", NULL, since);
    mst_worker_wait(w, (uint64_t)MST_WAIT_DATABASE << 32 | mysql, since, 0);
    expect_wait("database", "mysql 127.0.0.1:3306", since);
    ck_assert_uint_eq(view.s.end_count, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_DATABASE << 32 | MST_END_OTHER, since, 0);
    expect_wait("database", NULL, since);
    mst_worker_wait_none(w);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    tear_down();
}
END_TEST

START_TEST(nonsense_in_waits_shows_as_none)
{
    uint64_t start = mst_now_ns() - 9 * MST_NS_PER_S, since = start + 7 * MST_NS_PER_S;
    struct mst_worker *w = make_waiting(start, UINT64_C(99) << 32);

    look(1);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, MST_UNKNOWN - 1, since, 0);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32 | 4000000, since, 0);
    expect_wait("http", NULL, since);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32 | 5, since, 0);   /* an entry that is free */
    expect_wait("http", NULL, since);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, since, 0);
    w->waits_since_ns = UINT64_MAX;
    test_view_free(&view);
    look(1);
    ck_assert_str_eq(view.s.slots[0].wait, "http");
    ck_assert_uint_eq(view.s.slots[0].wait_for_ns, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, start - 1, 0);   /* an earlier request's */
    expect_wait(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, since, 0);
    mst_worker_show_none(w);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    tear_down();
}
END_TEST

static void expect_code(const char *function, const char *component, uint64_t line)
{
    const struct mst_snapshot_slot *slot;

    test_view_free(&view);
    look(1);
    slot = &view.s.slots[0];
    ck_assert_pstr_eq(slot->code_function, function);
    ck_assert_pstr_eq(slot->code_component, component);
    ck_assert_uint_eq(slot->code_line, line);
}

static uint32_t frame(const char *function, const char *file, uint32_t line)
{
    return mst_frame_intern(&board, function, strlen(function), file, strlen(file), line);
}

/* The call's place while it waits; without a call that of the latest sample of the request. */
START_TEST(a_worker_shows_where_its_code_is)
{
    uint64_t start = mst_now_ns() - 9 * MST_NS_PER_S, since = start + 7 * MST_NS_PER_S;
    struct mst_worker *w = make_waiting(start, (uint64_t)MST_WAIT_SLEEP << 32);
    uint32_t stack = mst_call_stack_intern(&board, MST_STACK_NONE, frame("find", "/srv/a.php", 3));
    uint32_t inner = mst_call_stack_intern(&board, stack, frame("sleep", "", 0));

    look(1);
    expect_code(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, (uint64_t)MST_WAIT_SLEEP << 32, since, (uint64_t)inner + 1);
    expect_code("find", "/srv", 3);
    mst_worker_wait_none(w);
    expect_code(NULL, NULL, MST_UNKNOWN);
    mst_worker_run(w, stack, since);
    expect_code("find", "/srv", 3);
    mst_worker_run(w, stack, start - 1);   /* an earlier request's */
    expect_code(NULL, NULL, MST_UNKNOWN);
    mst_worker_run(w, board.stack_count, since);
    expect_code(NULL, NULL, MST_UNKNOWN);
    w->runs_in = UINT64_MAX;
    expect_code(NULL, NULL, MST_UNKNOWN);
    board.stacks[stack].caller_frame = (uint64_t)stack << 32 | (board.stacks[stack].caller_frame
                                                                & UINT32_MAX);   /* calls itself */
    mst_worker_run(w, stack, since);
    expect_code("find", "/srv", 3);
    tear_down();
}
END_TEST

START_TEST(a_wait_ends_with_its_process)
{
    struct mst_worker *w = make_waiting(mst_now_ns(), (uint64_t)MST_WAIT_HTTP << 32);
    struct mst_process_end end;

    ck_assert(mst_process_release(&board, (uint64_t)getpid(), mst_now_ns(), &end));
    ck_assert_uint_eq(w->waits_for, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, mst_now_ns(), 0);
    ck_assert_ptr_eq(worker(claim(mst_now_ns()), 0), w);
    ck_assert_uint_eq(w->waits_for, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_worker_of_apache_does_not_wait)
{
    struct mst_worker *w;

    make();
    w = worker(claim(mst_now_ns()), 0);
    enter(w, MST_STATE_HANDLING, mst_now_ns());
    mst_worker_show(w, 0, mst_now_ns(), 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, mst_now_ns(), 0);
    look(1);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    tear_down();
}
END_TEST

START_TEST(nonsense_in_totals_shows_as_unknown)
{
    make();
    memset(board.counters, 0xff, 2 * sizeof *board.counters);
    board.processes[0].accepted = board.processes[1].accepted = UINT64_MAX / 2 + 1;
    board.header->realtime_offset_ns = INT64_MIN;
    memset(board.header->server, 'x', sizeof board.header->server);
    look(1);
    ck_assert_uint_eq(view.s.accepted, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].bytes, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].requests, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].phases[0].count, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.started_ns, 0);
    ck_assert_uint_eq(strlen(view.s.server), sizeof board.header->server - 1);
    tear_down();
}
END_TEST

START_TEST(a_label_keeps_its_bytes)
{
    make();
    mst_label_intern(&board, "\n\"\\<\x01\xff");
    look(1);
    test_label(&view.s, "\n\"\\<\x01\xff");
    tear_down();
}
END_TEST

START_TEST(a_label_without_an_end_is_ended)
{
    make();
    memset(board.labels[1].name, 'x', MST_NAME_MAX);
    look(1);
    ck_assert_uint_eq(strlen(view.s.labels[1].label), MST_NAME_MAX - 1);
    tear_down();
}
END_TEST

START_TEST(a_label_whose_namer_was_killed_is_left_out)
{
    make();
    mst_label_intern(&board, "gone");
    mst_label_intern(&board, "there");
    board.labels[2].used = 2;
    look(1);
    ck_assert_uint_eq(view.s.label_count, 3);
    ck_assert_str_eq(view.s.labels[2].label, "there");
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *server = tcase_create("server"), *stored = tcase_create("stored"),
          *workers = tcase_create("workers"), *gone = tcase_create("gone"),
          *nonsense = tcase_create("nonsense");

    tcase_add_test(workers, the_times_in_all_states_are_the_time_elapsed);
    tcase_add_test(workers, the_present_state_counts_up_to_now);
    tcase_add_test(workers, a_state_that_begins_after_the_copy_has_no_time_yet);
    tcase_add_test(workers, a_worker_shows_what_it_waits_for);
    tcase_add_test(workers, a_wait_ends_with_its_process);
    tcase_add_test(workers, a_worker_of_apache_does_not_wait);
    tcase_add_test(workers, the_longest_on_a_request_come_first);
    tcase_add_test(workers, idle_workers_stay_in_order);
    tcase_add_test(workers, what_nobody_owns_counts_its_past_only);
    tcase_add_test(workers, entries_never_claimed_are_not_copied);
    tcase_add_test(workers, an_entry_being_claimed_is_nobodys);
    tcase_add_test(workers, gauges_are_sums_over_live_processes);
    tcase_add_test(workers, in_flight_is_what_workers_show_and_the_others);
    tcase_add_test(gone, time_ends_where_the_server_stopped);
    tcase_add_test(gone, a_child_that_is_alive_has_not_died_with_its_server);
    tcase_add_test(gone, nobody_knows_when_a_killed_server_died);
    tcase_add_test(gone, a_server_that_cannot_be_seen_is_taken_at_its_word);
    tcase_add_test(nonsense, nonsense_in_workers_stays_in_bounds);
    tcase_add_test(nonsense, nonsense_in_waits_shows_as_none);
    tcase_add_test(nonsense, a_worker_shows_where_its_code_is);
    tcase_add_test(nonsense, nonsense_in_totals_shows_as_unknown);
    tcase_add_test(nonsense, a_label_keeps_its_bytes);
    tcase_add_test(nonsense, a_label_without_an_end_is_ended);
    tcase_add_test(nonsense, a_label_whose_namer_was_killed_is_left_out);
    suite_add_tcase(suite, server);
    suite_add_tcase(suite, stored);
    suite_add_tcase(suite, workers);
    suite_add_tcase(suite, gone);
    suite_add_tcase(suite, nonsense);
    return test_run(suite);
}

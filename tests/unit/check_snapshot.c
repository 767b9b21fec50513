/* check_snapshot.c - from the words of a board to numbers with a meaning. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "stats/random.h"
#include "write/journal.h"
#include "segment/listen_hash.h"
#include "write/pool_limit.h"
#include "write/worker.h"

static struct mst_board board;
static struct test_view view;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

static void look(int running)
{
    test_view(&view, board.path, running);
}

static void tear_down(void)
{
    test_view_free(&view);
    mst_board_close(&board);
}

/* A process entry of this very process since since_ns. */
static int claim(uint64_t since_ns)
{
    int process = mst_process_claim(&board, (uint64_t)getpid(), 0, since_ns);

    ck_assert_int_ge(process, 0);
    return process;
}

static struct mst_worker *worker(int process, uint32_t thread)
{
    return &board.workers[(uint32_t)process * board.threads + thread];
}

static void enter(struct mst_worker *w, enum mst_state state, uint64_t now_ns)
{
    mst_worker_enter(w, state, mst_worker_since(w), now_ns);
}

static uint64_t sum_of_states(void)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < MST_STATE_COUNT; i++)
        sum += view.s.state_ns[i];
    return sum;
}

/* ---- a server ------------------------------------------------------------------ */

START_TEST(a_new_board_says_what_it_is_and_nothing_it_does_not_know)
{
    make();
    look(1);
    ck_assert_str_eq(view.s.producer, "apache");
    ck_assert_str_eq(view.s.server, "Apache/2.4.0 (Test)");
    ck_assert_str_eq(view.s.version, "0.0.1");
    ck_assert_str_eq(view.s.mpm, "event");
    ck_assert_ptr_null(view.s.sapi);
    ck_assert_str_eq(view.s.path, board.path);
    ck_assert_str_eq(view.s.running, "yes");
    ck_assert_uint_eq(view.s.pid, (uint64_t)getpid());
    ck_assert_uint_eq(view.s.stopped_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.board_bytes, board.bytes);
    ck_assert_uint_eq(view.s.workers_limit, 8);
    ck_assert_uint_eq(view.s.requests_capacity, 16);
    ck_assert_uint_eq(view.s.no_idle_ns, 0);
    ck_assert_uint_eq(view.s.shed, 0);
    ck_assert_uint_eq(view.s.slot_count, 0);
    ck_assert_str_eq(view.s.scoreboard, "");
    ck_assert_uint_eq(view.s.label_count, 2);
    ck_assert_str_eq(view.s.labels[0].label, MST_LABEL_OTHER_NAME);
    ck_assert_str_eq(view.s.labels[1].label, MST_LABEL_STATUS_NAME);
    tear_down();
}
END_TEST

START_TEST(start_and_uptime_are_wall_clock_and_elapsed)
{
    uint64_t now = mst_realtime_ns();

    make();
    look(1);
    ck_assert_uint_ge(view.s.started_ns + MST_NS_PER_S, now);
    ck_assert_uint_le(view.s.started_ns, mst_realtime_ns() + MST_NS_PER_S);
    ck_assert_uint_eq(view.s.uptime_ns, view.s.taken_ns - board.header->started_ns);
    tear_down();
}
END_TEST

START_TEST(a_wall_clock_behind_the_monotonic_one_works)
{
    make();
    board.header->started_ns = 5000;
    board.header->realtime_offset_ns = -3000;
    look(1);
    ck_assert_uint_eq(view.s.started_ns, 2000);
    tear_down();
}
END_TEST

START_TEST(listeners_are_the_callers)
{
    struct mst_snapshot_listener listener = { .address = "127.0.0.1:80", .queue = 3 };
    struct mst_world world = { .running = 1, .listeners_known = true, .listener_count = 1,
                               .listeners = &listener };

    make();
    look(1);
    ck_assert(!view.s.listeners_known);
    mst_snapshot_free(&view.s);
    ck_assert_int_eq(mst_snapshot_make(&view.s, &view.copy, &world), 0);
    ck_assert(view.s.listeners_known);
    ck_assert_ptr_eq(view.s.listeners, &listener);
    tear_down();
}
END_TEST

/* ---- stored fields --------------------------------------------------------------- */

START_TEST(every_total_arrives)
{
    uint64_t *words;
    size_t i, w;

    make();
    words = (uint64_t *)board.totals;
    for (w = 0; w < sizeof *board.totals / 8; w++)
        words[w] = 1000 + w;
    look(1);
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        const uint64_t *found = (const uint64_t *)((const char *)&view.s + mst_snapshot_offset(f));

        for (w = 0; f->storage == MST_STORAGE_TOTAL && w < f->stored_words; w++)
            ck_assert_uint_eq(found[w], 1000 + f->stored_offset / 8 + w);
    }
    tear_down();
}
END_TEST

START_TEST(every_counter_arrives_summed_over_its_stripes)
{
    uint32_t label, stripe;
    size_t i, w, words = sizeof(struct mst_counters) / 8;

    make();
    label = mst_label_intern(&board, "site");
    for (stripe = 0; stripe < 2; stripe++)
        for (w = 0; w < words; w++)
            ((uint64_t *)mst_counters_of(&board, label, stripe))[w] = (w + 1) << stripe;
    look(1);
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        const char *at = (const char *)&view.copy.counters[label] + f->stored_offset;

        for (w = 0; f->storage == MST_STORAGE_COUNTERS && w < f->stored_words; w++) {
            size_t n = f->stored_offset / 8 + w + 1;
            bool is_max = f->type == MST_TYPE_HISTOGRAM
                        ? w % (sizeof(struct mst_histogram) / 8) == 1
                        : f->nature == MST_NATURE_MAX;

            ck_assert_uint_eq(((const uint64_t *)at)[w], is_max ? 2 * n : 3 * n);
        }
    }
    ck_assert_int_eq(memcmp(&test_label(&view.s, "site")->phases[MST_PHASE_HELD].times,
                            &view.copy.counters[label].times[MST_PHASE_HELD],
                            sizeof(struct mst_histogram)), 0);
    tear_down();
}
END_TEST

/* What a board of another producer has there is no number of this one's. */
START_TEST(a_producer_has_its_own_phases_and_fields)
{
    struct mst_layout layout = _i ? test_php_layout() : test_layout();
    const struct mst_snapshot_label *label;
    struct mst_counters *counters;
    unsigned i, phases = 0;

    test_board(&board, &layout);
    counters = mst_counters_of(&board, mst_label_intern(&board, "site"), 1);
    for (i = 0; i < MST_COUNTED_PHASES; i++)
        mst_histogram_record(&counters->times[i], i + 1);
    counters->php_user_ns = 5;
    counters->php_memory_bytes = 6;
    board.totals->shed = 7;
    board.processes[0].accepted = 8;
    look(1);
    label = test_label(&view.s, "site");
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        int place = mst_phase_index(board.header->producer, (enum mst_phase)i);

        ck_assert_uint_eq(label->phases[i].count, place >= 0 ? 1 : MST_UNKNOWN);
        ck_assert_uint_eq(label->phases[i].sum_ns, place >= 0 ? (uint64_t)place + 1 : MST_UNKNOWN);
        ck_assert_uint_eq(label->phases[i].p50_ns == MST_UNKNOWN, place < 0);
        phases += place >= 0;
    }
    ck_assert_uint_eq(phases, _i ? 3 : 7);
    ck_assert_uint_eq(label->php_user_ns, _i ? 5 : MST_UNKNOWN);
    ck_assert_uint_eq(label->php_memory_bytes, _i ? 6 : MST_UNKNOWN);
    ck_assert_uint_eq(view.s.shed, _i ? MST_UNKNOWN : 7);
    ck_assert_uint_eq(view.s.accepted, _i ? MST_UNKNOWN : 8);
    ck_assert_uint_eq(view.s.connections, _i ? MST_UNKNOWN : 0);
    tear_down();
}
END_TEST

static void ck_pool(const char *name, uint64_t limit, uint64_t reached)
{
    ck_assert_uint_eq(test_label(&view.s, name)->workers_limit, limit);
    ck_assert_uint_eq(test_label(&view.s, name)->limit_reached, reached);
}

START_TEST(pools_have_limits)
{
    const uint64_t s = MST_NS_PER_S;
    struct mst_layout layout = test_php_layout();
    uint32_t www, i;

    test_board(&board, &layout);
    mst_pool_limit_add(&board, "www", 3, 0);
    mst_pool_limit_add(&board, "both", 1, 0);
    mst_pool_limit_add(&board, "both", 2, 0);
    www = mst_label_intern(&board, "www");
    for (i = 0; i < 2; i++)
        mst_worker_show(&board.workers[i], 1, www);
    mst_pool_limit_look(&board, www, 100 * s);   /* 2 of 3 are busy */
    mst_worker_show(&board.workers[2], 1, www);
    mst_pool_limit_look(&board, www, 101 * s - 1);   /* too soon */
    look(1);
    ck_pool("www", 3, 0);
    test_view_free(&view);
    mst_pool_limit_look(&board, www, 101 * s);
    mst_pool_limit_look(&board, www, 50 * s);   /* a request that began long ago */
    mst_pool_limit_look(&board, mst_label_intern(&board, "none"), 102 * s);
    look(1);
    ck_pool("www", 3, 1);
    ck_pool("both", 3, 0);
    ck_pool("none", MST_UNKNOWN, MST_UNKNOWN);
    test_view_free(&view);
    mst_pool_limits_clear(&board);           /* a reload */
    mst_pool_limit_add(&board, "www", 4, 0);
    mst_pool_limit_look(&board, www, 103 * s);
    look(1);
    ck_pool("www", 4, 1);
    ck_pool("both", MST_UNKNOWN, MST_UNKNOWN);
    tear_down();
}
END_TEST

/* The listener's pool, for each; the list stays as it was. */
START_TEST(pools_have_queues)
{
    static const struct { const char *address, *pool; } expected[] = {
        { "/run/php/www.sock", "www" }, { "127.0.0.1:9000", "shop" }, { "[::]:9001", "port" },
        { "0.0.0.0:9001", "port" }, { "127.0.0.1:9001", NULL },
        { "[::]:9000", NULL }, { "", NULL }, { NULL, NULL },
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    struct mst_snapshot_listener listeners[COUNT] = { 0 };
    struct mst_world world = { .running = 1, .listeners_known = true, .listener_count = COUNT,
                               .listeners = listeners };
    struct mst_layout layout = test_php_layout();
    size_t i;

    test_board(&board, &layout);
    mst_pool_limit_add(&board, "none", 1, 0);
    mst_pool_limit_add(&board, "www", 5, mst_listen_hash("/run/php/www.sock"));
    mst_pool_limit_add(&board, "shop", 5, mst_listen_hash("127.0.0.1:9000"));
    mst_pool_limit_add(&board, "shop", 5, mst_listen_hash("127.0.0.1:9009"));
    mst_pool_limit_add(&board, "port", 5, mst_listen_hash("9001"));
    for (i = 0; i < COUNT; i++)
        listeners[i].address = expected[i].address;
    look(1);
    mst_snapshot_free(&view.s);
    ck_assert_int_eq(mst_snapshot_make(&view.s, &view.copy, &world), 0);
    for (i = 0; i < COUNT; i++) {
        ck_assert_ptr_eq(view.s.listeners[i].address, expected[i].address);
        ck_assert_pstr_eq(view.s.listeners[i].pool, expected[i].pool);
        ck_assert_ptr_null(listeners[i].pool);
    }
    tear_down();
}
END_TEST

START_TEST(a_php_board_says_what_it_is)
{
    struct mst_layout layout = test_php_layout();

    test_board(&board, &layout);
    mst_journal_php_request(&board, &(struct mst_php_request){ .id = 1 });
    mst_journal_mark(&board, &(struct mst_mark){ .pid = 1 });
    look(1);
    ck_assert_str_eq(view.s.producer, "php");
    ck_assert_ptr_null(view.s.mpm);
    ck_assert_str_eq(view.s.sapi, "fpm-fcgi");
    ck_assert_uint_eq(view.s.workers_limit, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.requests_capacity, 16);
    ck_assert_uint_eq(view.s.requests_written, 1);
    ck_assert_uint_eq(view.s.label_count, 1);
    ck_assert_str_eq(view.s.labels[0].label, MST_LABEL_OTHER_NAME);   /* no status page */
    ck_assert_uint_eq(view.s.labels[0].bytes, MST_UNKNOWN);           /* nor its size */
    tear_down();
}
END_TEST

START_TEST(requests_are_the_sum_of_their_classes)
{
    uint32_t label;

    make();
    label = mst_label_intern(&board, "site");
    mst_count(&mst_counters_of(&board, label, 0)->status[MST_CLASS_2XX], 5);
    mst_count(&mst_counters_of(&board, label, 1)->status[MST_CLASS_2XX], 2);
    mst_count(&mst_counters_of(&board, label, 1)->status[MST_CLASS_ABORTED], 1);
    look(1);
    ck_assert_uint_eq(test_label(&view.s, "site")->requests, 8);
    ck_assert_uint_eq(test_label(&view.s, "site")->status[MST_CLASS_2XX], 7);
    ck_assert_uint_eq(test_label(&view.s, "other")->requests, 0);
    tear_down();
}
END_TEST

START_TEST(phases_have_counts_sums_and_quantiles)
{
    const struct mst_snapshot_phase *phase;
    struct mst_counters *counters;
    unsigned i;

    make();
    counters = mst_counters_of(&board, mst_label_intern(&board, "site"), 1);
    for (i = 1; i <= 100; i++)
        mst_histogram_record(&counters->times[MST_PHASE_SEND], i * MST_NS_PER_MS);
    look(1);
    phase = &test_label(&view.s, "site")->phases[MST_PHASE_SEND];
    ck_assert_uint_eq(phase->count, 100);
    ck_assert_uint_eq(phase->sum_ns, 5050 * MST_NS_PER_MS);
    ck_assert_uint_eq(phase->max_ns, 100 * MST_NS_PER_MS);
    ck_assert_uint_ge(phase->p50_ns, 43 * MST_NS_PER_MS);
    ck_assert_uint_le(phase->p50_ns, 57 * MST_NS_PER_MS);
    ck_assert_uint_ge(phase->p99_ns, phase->p90_ns);
    ck_assert_uint_le(phase->p99_ns, phase->max_ns);
    phase = &test_label(&view.s, "site")->phases[MST_PHASE_READ];
    ck_assert_uint_eq(phase->count, 0);
    ck_assert_uint_eq(phase->sum_ns, 0);
    ck_assert_uint_eq(phase->p50_ns, MST_UNKNOWN);
    ck_assert_uint_eq(phase->max_ns, MST_UNKNOWN);
    tear_down();
}
END_TEST

/* ---- writers of other versions ------------------------------------------------------ */

static struct mst_field_name *stored_name(const char *id)
{
    struct mst_field_name *name =
        (void *)((char *)board.header + board.header->section[MST_SECTION_FIELDS].offset);

    while (strcmp(name->name, id) != 0)
        name++;
    return name;
}

START_TEST(what_an_older_writer_lacks_is_unknown)
{
    make();
    strcpy(stored_name("shed")->name, "hood");
    strcpy(stored_name("status")->name, "statue");
    stored_name("generations")->type = MST_TYPE_I64;
    stored_name("forks")->words = MST_KIND_COUNT - 1;
    stored_name("times")->words -= 2 * sizeof(struct mst_histogram) / 8;   /* held, front */
    mst_count(&board.totals->forks[MST_KIND_CHILD], 4);
    look(1);
    ck_assert_uint_eq(view.s.shed, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.generations, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.forks[MST_KIND_CHILD], 4);
    ck_assert_uint_eq(view.s.forks[MST_KIND_COUNT - 1], MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].requests, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].bytes, 0);
    ck_assert_uint_eq(view.s.labels[0].phases[MST_PHASE_TOTAL].count, 0);
    ck_assert_uint_eq(view.s.labels[0].phases[MST_PHASE_HELD].count, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].phases[MST_PHASE_HELD].sum_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.labels[0].phases[MST_PHASE_HELD].p50_ns, MST_UNKNOWN);
    tear_down();
}
END_TEST

/* What a restart may change, too. */
START_TEST(a_reader_kept_open_sees_what_changes)
{
    char error[MST_ERROR_MAX];
    struct mst_reader reader;
    struct mst_copy copy;

    make();
    ck_assert_msg(mst_reader_open(&reader, board.path, error) == 0, "%s", error);
    strcpy(board.header->settings, "KeepAlive Off");
    strcpy(board.header->server, "Apache/9");
    board.header->no_idle = 5;
    board.header->no_idle_told_ns = 4;
    board.header->no_idle_ended_ns = 3;
    board.header->limit_told_ns = 2;
    board.header->generation = 1;
    ck_assert_msg(mst_copy_take(&copy, &reader, error) == 0, "%s", error);
    ck_assert_str_eq(copy.header.settings, "KeepAlive Off");
    ck_assert_str_eq(copy.header.server, "Apache/9");
    ck_assert_uint_eq(copy.header.no_idle, 5);
    ck_assert_uint_eq(copy.header.no_idle_told_ns, 4);
    ck_assert_uint_eq(copy.header.no_idle_ended_ns, 3);
    ck_assert_uint_eq(copy.header.limit_told_ns, 2);
    ck_assert_uint_eq(copy.header.generation, 1);
    mst_copy_free(&copy);
    mst_reader_close(&reader);
    tear_down();
}
END_TEST

START_TEST(a_histogram_of_another_size_is_unknown)
{
    make();
    stored_name("times")->words -= 1;
    look(1);
    ck_assert_uint_eq(view.s.labels[0].phases[MST_PHASE_QUEUE].count, MST_UNKNOWN);
    tear_down();
}
END_TEST

START_TEST(what_a_newer_writer_adds_is_passed_over)
{
    struct mst_worker *w;

    make();
    w = worker(claim(mst_now_ns()), 1);
    w->requests = 77;
    enter(w, MST_STATE_HANDLING, mst_now_ns());
    mst_count(&mst_counters_of(&board, mst_label_intern(&board, "site"), 1)->bytes, 11);
    board.totals->shed = 13;
    test_view(&view, test_grown_board(&board, 64), 1);
    ck_assert_uint_eq(view.s.slots[0].requests, 77);
    ck_assert_str_eq(view.s.slots[0].state, "handling");
    ck_assert_uint_eq(test_label(&view.s, "site")->bytes, 11);
    ck_assert_uint_eq(view.s.shed, 13);
    tear_down();
}
END_TEST

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
    mst_worker_show(worker(process, 0), mst_now_ns(), 1);
    enter(worker(process, 1), MST_STATE_SENDING, mst_now_ns());
    mst_worker_show(worker(process, 1), mst_now_ns(), UINT32_MAX);   /* not recorded */
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
    mst_worker_show(worker(process, 0), start, 0);
    return start;
}

static void assert_nothing_happens_now(void)
{
    ck_assert_str_eq(view.s.running, "no");
    ck_assert_uint_eq(view.s.slot_count, 0);
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
    ck_assert_uint_eq(view.s.stopped_ns, view.s.started_ns + 4 * MST_NS_PER_S);
    ck_assert_uint_eq(view.s.uptime_ns, 4 * MST_NS_PER_S);
    ck_assert_uint_eq(view.s.state_ns[MST_STATE_HANDLING], 3 * MST_NS_PER_S);
    tear_down();
}
END_TEST

START_TEST(nobody_knows_when_a_killed_server_died)
{
    make_busy();
    look(0);
    assert_nothing_happens_now();
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

    test_board(&board, &layout);
    w = worker(claim(start_ns), 0);
    enter(w, MST_STATE_HANDLING, start_ns);
    mst_worker_show(w, start_ns, 0);
    mst_worker_wait(w, wait, start_ns + 7 * MST_NS_PER_S);
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
    mst_worker_wait(w, (uint64_t)MST_WAIT_DATABASE << 32 | mysql, since);
    expect_wait("database", "mysql 127.0.0.1:3306", since);
    ck_assert_uint_eq(view.s.end_count, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_DATABASE << 32 | MST_END_OTHER, since);
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
    mst_worker_wait(w, MST_UNKNOWN - 1, since);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32 | 4000000, since);
    expect_wait("http", NULL, since);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32 | 5, since);   /* an entry that is free */
    expect_wait("http", NULL, since);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, since);
    w->waits_since_ns = UINT64_MAX;
    test_view_free(&view);
    look(1);
    ck_assert_str_eq(view.s.slots[0].wait, "http");
    ck_assert_uint_eq(view.s.slots[0].wait_for_ns, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, start - 1);   /* an earlier request's */
    expect_wait(NULL, NULL, MST_UNKNOWN);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, since);
    mst_worker_show_none(w);
    expect_wait(NULL, NULL, MST_UNKNOWN);
    tear_down();
}
END_TEST

START_TEST(a_wait_ends_with_its_process)
{
    struct mst_worker *w = make_waiting(mst_now_ns(), (uint64_t)MST_WAIT_HTTP << 32);
    struct mst_process_end end;

    ck_assert(mst_process_release(&board, (uint64_t)getpid(), mst_now_ns(), &end));
    ck_assert_uint_eq(w->waits_for, 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, mst_now_ns());
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
    mst_worker_show(w, mst_now_ns(), 0);
    mst_worker_wait(w, (uint64_t)MST_WAIT_HTTP << 32, mst_now_ns());
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

    tcase_add_test(server, a_new_board_says_what_it_is_and_nothing_it_does_not_know);
    tcase_add_test(server, start_and_uptime_are_wall_clock_and_elapsed);
    tcase_add_test(server, a_wall_clock_behind_the_monotonic_one_works);
    tcase_add_test(server, listeners_are_the_callers);
    tcase_add_test(stored, every_total_arrives);
    tcase_add_test(stored, every_counter_arrives_summed_over_its_stripes);
    tcase_add_loop_test(stored, a_producer_has_its_own_phases_and_fields, 0, 2);
    tcase_add_test(stored, pools_have_limits);
    tcase_add_test(stored, pools_have_queues);
    tcase_add_test(stored, a_php_board_says_what_it_is);
    tcase_add_test(stored, requests_are_the_sum_of_their_classes);
    tcase_add_test(stored, phases_have_counts_sums_and_quantiles);
    tcase_add_test(stored, what_an_older_writer_lacks_is_unknown);
    tcase_add_test(stored, a_reader_kept_open_sees_what_changes);
    tcase_add_test(stored, a_histogram_of_another_size_is_unknown);
    tcase_add_test(stored, what_a_newer_writer_adds_is_passed_over);
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
    tcase_add_test(gone, nobody_knows_when_a_killed_server_died);
    tcase_add_test(gone, a_server_that_cannot_be_seen_is_taken_at_its_word);
    tcase_add_test(nonsense, nonsense_in_workers_stays_in_bounds);
    tcase_add_test(nonsense, nonsense_in_waits_shows_as_none);
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

/* check_snapshot.c - what a reader knows of a server from its board: stored fields, writers of
 * other versions.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "segment/listen_hash.h"
#include "snapped.h"
#include "write/journal.h"
#include "write/pools.h"
#include "write/worker.h"

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
        mst_worker_show(&board.workers[i], 0, 1, www);
    mst_pool_limit_look(&board, www, 100 * s);   /* 2 of 3 are busy */
    mst_worker_show(&board.workers[2], 0, 1, www);
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
    suite_add_tcase(suite, server);
    suite_add_tcase(suite, stored);
    suite_add_tcase(suite, workers);
    suite_add_tcase(suite, gone);
    suite_add_tcase(suite, nonsense);
    return test_run(suite);
}

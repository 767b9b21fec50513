/* check_source_file.c - a board as a source: its journal, clocks, a PHP's. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "source/source.h"
#include "write/journal.h"
#include "write/path.h"
#include "write/worker.h"
#include "written_board.h"

static void happen(struct mst_board *b, enum mst_event event)
{
    struct mst_lifecycle e = { .time_ns = mst_now_ns(), .event_kind = (uint64_t)event << 32 };

    mst_journal_lifecycle(b, &e);
}

/* ---- the journal --------------------------------------------------------------------- */

START_TEST(who_it_is)
{
    struct mst_layout layout = test_layout();
    const struct mst_source_identity *id;
    struct watched w;

    watch(&w, &layout);
    id = mst_source_identity(w.source);
    ck_assert_int_eq(id->producer, MST_PRODUCER_APACHE);
    ck_assert_str_eq(id->server, "Apache/2.4.0 (Test)");
    ck_assert_str_eq(id->mpm, "event");
    ck_assert_str_eq(id->sapi, "");
    ck_assert_str_eq(id->board, w.board.path);
    ck_assert_uint_eq(id->pid, (uint64_t)getpid());
    ck_assert_uint_lt(mst_realtime_ns() - id->started_wall_ns, 60 * MST_NS_PER_S);
    ck_assert_str_eq(mst_source_name(w.source), w.board.path);
    ck_assert(mst_source_local(w.source));
    unwatch(&w);
}
END_TEST

START_TEST(what_came_before_the_mark_is_not_given)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;

    watch(&w, &layout);
    serve(&w.board, 1, 0);
    happen(&w.board, MST_EVENT_FORK);
    mark(&w);
    ck_assert_int_eq(look(&w, &seen), 0);
    serve(&w.board, 2, mst_label_intern(&w.board, "shop"));
    happen(&w.board, MST_EVENT_GENERATION);
    ck_assert_int_eq(look(&w, &seen), 2);
    ck_assert_uint_eq(seen.ids[0], 2);
    ck_assert_str_eq(seen.label, "shop");
    ck_assert_uint_eq(seen.event, MST_EVENT_GENERATION);
    ck_assert_uint_lt(mst_realtime_ns() - seen.wall_ns, 60 * MST_NS_PER_S);
    ck_assert_uint_lt(mst_realtime_ns() - seen.event_wall_ns, 60 * MST_NS_PER_S);
    ck_assert_int_eq(look(&w, &seen), 0);
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    ck_assert(!mst_source_pending(w.source));
    unwatch(&w);
}
END_TEST

START_TEST(a_label_that_cannot_be_is_other)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;

    watch(&w, &layout);
    mark(&w);
    serve(&w.board, 1, 7);               /* not in use */
    look(&w, &seen);
    ck_assert_str_eq(seen.label, MST_LABEL_OTHER_NAME);
    serve(&w.board, 2, 0xfffffff0);      /* out of the board */
    look(&w, &seen);
    ck_assert_str_eq(seen.label, MST_LABEL_OTHER_NAME);
    unwatch(&w);
}
END_TEST

START_TEST(requests_name_their_handler_and_backend)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct mst_request r = { .id = 1 };
    struct watched w;
    uint64_t handler, backend;

    watch(&w, &layout);
    mark(&w);
    handler = mst_other_end_intern(&w.board, MST_END_HANDLER, "proxy-server");
    backend = mst_other_end_intern(&w.board, MST_END_BACKEND, "http://10.0.0.1:8080");
    r.ends = handler << 32 | backend;
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.handler, "proxy-server");
    ck_assert_str_eq(seen.backend, "http://10.0.0.1:8080");
    r.ends = handler << 32 | MST_NO_END;
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.handler, "proxy-server");
    ck_assert_str_eq(seen.backend, "");
    r.ends = (uint64_t)MST_END_OTHER << 32 | MST_END_OTHER;
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.handler, "");
    ck_assert_str_eq(seen.backend, "");
    unwatch(&w);
}
END_TEST

/* The three first entries are not a page's, but names as well; 0 is none. */
START_TEST(requests_name_their_page)
{
    struct mst_layout layout = test_layout();
    struct mst_request r = { .id = 1 };
    char page[MST_PATH_NAME_MAX];
    struct seen seen = { 0 };
    struct watched w;

    watch(&w, &layout);
    mark(&w);
    ck_assert(mst_path_fold("/a/path/that/is/longer/than/a/label/can/be/as/permalinks/are/17",
                            false, page));
    r.path = mst_path_find(&w.board, page, MST_PATH_GOOD);
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.path, page);
    r.path = MST_PATH_OTHER;
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.path, MST_PATH_OTHER_NAME);
    r.path = MST_NO_PATH;
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.path, "");
    r.path = MST_PATHS;   /* a wrong board */
    mst_journal_request(&w.board, &r);
    look(&w, &seen);
    ck_assert_str_eq(seen.path, "");
    unwatch(&w);
}
END_TEST

START_TEST(late_deliveries_are_given)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;

    watch(&w, &layout);
    mark(&w);
    mst_journal_delivery(&w.board, &(struct mst_delivery){ 7, 300, 4000, mst_now_ns() });
    mst_journal_delivery(&w.board, &(struct mst_delivery){ 8, MST_UNKNOWN, 1, mst_now_ns() });
    ck_assert_int_eq(look(&w, &seen), 2);
    ck_assert_uint_eq(seen.deliveries, 2);
    ck_assert(seen.delivery.id == 8 && seen.delivery.undelivered_ns == MST_UNKNOWN
              && seen.delivery.undelivered_bytes == 1);
    unwatch(&w);
}
END_TEST

START_TEST(overwritten_records_are_counted)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;
    unsigned i;

    watch(&w, &layout);
    mark(&w);
    for (i = 0; i < 20; i++)             /* of which the ring keeps 16 */
        serve(&w.board, i, 0);
    ck_assert_int_eq(look(&w, &seen), 16);
    ck_assert_uint_eq(mst_source_lost(w.source), 4);
    mark(&w);
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    unwatch(&w);
}
END_TEST

START_TEST(a_record_that_never_comes_is_lost_at_the_end)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;

    watch(&w, &layout);
    mark(&w);
    __atomic_add_fetch(&w.board.header->requests_written, 1, __ATOMIC_RELAXED);
    serve(&w.board, 2, 0);
    ck_assert_int_eq(look(&w, &seen), 1);
    ck_assert(mst_source_pending(w.source));
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    mst_source_finish(w.source);
    ck_assert(!mst_source_pending(w.source));
    ck_assert_uint_eq(mst_source_lost(w.source), 1);
    mst_source_finish(w.source);
    ck_assert_uint_eq(mst_source_lost(w.source), 1);
    unwatch(&w);
}
END_TEST

START_TEST(a_new_start_goes_on_with_the_new_board)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;
    unsigned i, j;

    watch(&w, &layout);
    mark(&w);
    serve(&w.board, 1, mst_label_intern(&w.board, "old"));
    look(&w, &seen);
    ck_assert_str_eq(seen.label, "old");
    serve(&w.board, 2, 0);               /* after the last poll, before the end */
    restart(&w, &layout);
    serve(&w.board, 3, mst_label_intern(&w.board, "new"));
    serve(&w.board, 4, 2);
    ck_assert_int_eq(look(&w, &seen), 3);
    ck_assert_uint_eq(mst_source_restarts(w.source), 1);
    ck_assert_str_eq(seen.label, "new");
    serve(&w.board, 5, 0);
    ck_assert_int_eq(look(&w, &seen), 1);
    ck_assert_uint_eq(seen.requests, 5);
    for (i = 0; i < 5; i++) {
        ck_assert_uint_eq(seen.ids[i], i + 1);
        for (j = 0; j < i; j++)
            ck_assert_uint_ne(seen.keys[i], seen.keys[j]);
    }
    ck_assert_uint_eq(mst_source_lost(w.source), 0);
    unwatch(&w);
}
END_TEST

/* ---- clocks -------------------------------------------------------------------------- */

#define HOUR_NS (3600 * (int64_t)MST_NS_PER_S)

/* As though the wall clock had been set forward by that much since the server started. */
static void set_clock_forward(struct mst_board *b, int64_t ns)
{
    b->header->realtime_offset_ns -= ns;
}

static void assert_about_now(uint64_t wall_ns)
{
    int64_t apart = (int64_t)(mst_realtime_ns() - wall_ns);

    ck_assert_msg(apart > -(int64_t)MST_NS_PER_S && apart < (int64_t)(5 * MST_NS_PER_S),
                  "%lld ns apart", (long long)apart);
}

START_TEST(a_wall_clock_set_since_the_start_moves_nothing)
{
    static const int64_t steps[] = { HOUR_NS, -HOUR_NS, 2 * (int64_t)MST_NS_PER_S };
    struct mst_layout layout = test_layout();
    struct mst_sample sample;
    struct seen seen = { 0 };
    uint64_t offset, now;
    struct watched w;
    char error[MST_ERROR_MAX] = "";

    memset(&sample, 0, sizeof sample);
    test_board(&w.board, &layout);
    set_clock_forward(&w.board, steps[_i]);
    watch_board(&w);
    offset = mst_source_identity(w.source)->clock_offset_ns;
    assert_about_now(mst_now_ns() + offset);
    mark(&w);
    now = mst_now_ns();
    serve(&w.board, 1, 0);
    happen(&w.board, MST_EVENT_FORK);
    ck_assert_int_eq(look(&w, &seen), 2);
    ck_assert_uint_ge(seen.wall_ns, mst_source_wall_ns(w.source, now));
    ck_assert_uint_le(seen.wall_ns, mst_source_wall_ns(w.source, mst_now_ns()));
    assert_about_now(seen.event_wall_ns);
    restart(&w, &layout);                /* its header has the new time */
    serve(&w.board, 2, 0);
    ck_assert_int_eq(look(&w, &seen), 1);
    assert_about_now(seen.wall_ns);
    ck_assert_int_eq(mst_source_sample(w.source, &sample, error), 0);
    ck_assert_uint_ge(sample.wall_ns, seen.wall_ns);
    ck_assert_uint_eq(mst_source_identity(w.source)->clock_offset_ns, offset);
    mst_sample_free(&sample);
    unwatch(&w);
}
END_TEST

/* Whose monotonic clock is not ours: another boot's, another time namespace's. */
START_TEST(of_another_clock_the_board_alone_knows)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct watched w;
    uint64_t offset;

    test_board(&w.board, &layout);
    set_clock_forward(&w.board, HOUR_NS);
    if (_i == 0)
        memset(w.board.header->boot_id, 'x', 8);
    else
        w.board.header->time_namespace = 1;
    offset = (uint64_t)w.board.header->realtime_offset_ns;
    watch_board(&w);
    ck_assert_uint_eq(mst_source_identity(w.source)->clock_offset_ns, offset);
    mst_source_set_clock(w.source);
    ck_assert_uint_eq(mst_source_identity(w.source)->clock_offset_ns, offset);
    mark(&w);
    serve(&w.board, 1, 0);
    look(&w, &seen);
    assert_about_now(seen.wall_ns + (uint64_t)HOUR_NS);
    unwatch(&w);
}
END_TEST

/* ---- a PHP's journal ----------------------------------------------------------------- */

struct seen_php {
    unsigned requests, marks, events;
    uint64_t keys[64], mark_keys[64], wall_ns, mark_wall_ns, mark_request_ns;
    char     label[MST_NAME_MAX], script[MST_PATH_MAX], name[MST_MARK_MAX];
    char     end[2 * MST_NAME_MAX];
};

static int see_php_request(void *context, const struct mst_php_request *request,
                           const struct mst_record_names *names, uint64_t wall_start_ns,
                           uint64_t key)
{
    struct seen_php *s = context;

    s->keys[s->requests++] = key;
    s->wall_ns = wall_start_ns;
    snprintf(s->label, sizeof s->label, "%s", names->label);
    snprintf(s->end, sizeof s->end, "%s|%s", names->ends[0] != NULL ? names->ends[0] : "",
             names->ends[1] != NULL ? names->ends[1] : "");
    snprintf(s->script, sizeof s->script, "%s", request->script);
    return 0;
}

static int see_mark(void *context, const struct mst_mark *mark_, uint64_t wall_ns,
                    uint64_t request_wall_ns, uint64_t key)
{
    struct seen_php *s = context;

    s->mark_keys[s->marks++] = key;
    s->mark_wall_ns = wall_ns;
    s->mark_request_ns = request_wall_ns;
    snprintf(s->name, sizeof s->name, "%s", mark_->name);
    return 0;
}

static int see_php_event(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
                         uint64_t key)
{
    (void)event, (void)wall_ns, (void)key;
    ((struct seen_php *)context)->events++;
    return 0;
}

static void serve_php(struct mst_board *b, uint32_t label, uint64_t start_ns)
{
    struct mst_php_request r = { .start_ns = start_ns, .label_status = (uint64_t)label << 32 };
    struct mst_mark m = { .request_start_ns = start_ns, .time_ns = start_ns + 1 };

    r.longest[0].kind_end = mst_other_end_intern(b, MST_END_DATABASE, "mysql db:3306");
    r.longest[0].calls_failed = UINT64_C(1) << 32;
    memset(r.script, 'x', sizeof r.script);     /* without its NUL */
    memset(m.name, 'y', sizeof m.name);
    mst_journal_php_request(b, &r);
    mst_journal_mark(b, &m);
}

START_TEST(a_php_board_gives_its_requests_and_marks)
{
    struct mst_layout layout = test_php_layout();
    struct seen_php seen = { 0 };
    const struct mst_source_events events = {
        .context = &seen, .on_php_request = see_php_request, .on_mark = see_mark,
        .on_lifecycle = see_php_event,
    };
    char error[MST_ERROR_MAX] = "";
    uint64_t offset;
    struct watched w;
    unsigned i;

    watch(&w, &layout);
    offset = mst_source_identity(w.source)->clock_offset_ns;
    ck_assert_int_eq(mst_source_identity(w.source)->producer, MST_PRODUCER_PHP);
    ck_assert_ptr_null(mst_source_other(w.source, 0));
    serve_php(&w.board, 0, 1);
    mark(&w);
    serve_php(&w.board, mst_label_intern(&w.board, "pool"), 1000);
    happen(&w.board, MST_EVENT_FORK);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), 3);
    ck_assert_str_eq(seen.label, "pool");
    ck_assert_str_eq(seen.end, "mysql db:3306|");
    ck_assert_uint_eq(strlen(seen.script), MST_PATH_MAX - 1);
    ck_assert_uint_eq(strlen(seen.name), MST_MARK_MAX - 1);
    ck_assert_uint_eq(seen.wall_ns, 1000 + offset);
    ck_assert_uint_eq(seen.mark_wall_ns, 1001 + offset);
    ck_assert_uint_eq(seen.mark_request_ns, 1000 + offset);
    restart(&w, &layout);
    for (i = 0; i < 20; i++)
        serve_php(&w.board, 0, 2000);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), 16 + 20);
    ck_assert_uint_eq(mst_source_lost(w.source), 4);   /* the ring has 16 */
    ck_assert_uint_eq(seen.requests, 17);
    ck_assert_uint_eq(seen.marks, 21);
    ck_assert_uint_eq(seen.events, 1);
    for (i = 1; i < seen.requests; i++)
        ck_assert_uint_gt(seen.keys[i], seen.keys[i - 1]);
    for (i = 1; i < seen.marks; i++)
        ck_assert_uint_gt(seen.mark_keys[i], seen.mark_keys[i - 1]);
    unwatch(&w);
}
END_TEST

START_TEST(a_new_board_that_cannot_be_read_is_tried_again)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { 0 };
    struct mst_source_events events = { .context = &seen, .on_request = see_request,
                                        .on_lifecycle = see_event };
    char error[MST_ERROR_MAX] = "", path[512];
    struct watched w;
    FILE *f;

    watch(&w, &layout);
    mark(&w);
    serve(&w.board, 1, 0);
    memcpy(path, w.board.path, sizeof path);
    ck_assert_int_eq(unlink(path), 0);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("no board", f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), -1);
    ck_assert_uint_gt(strlen(error), 20);
    ck_assert_uint_eq(seen.requests, 1);   /* what the old one had was given */
    restart(&w, &layout);
    serve(&w.board, 2, 0);
    ck_assert_int_eq(look(&w, &seen), 1);
    ck_assert_uint_eq(seen.ids[1], 2);
    ck_assert_uint_ne(seen.keys[0], seen.keys[1]);
    unwatch(&w);
}
END_TEST

START_TEST(a_removed_board_is_read_on)
{
    struct mst_layout layout = test_layout();
    struct mst_sample sample;
    struct seen seen = { 0 };
    struct watched w;
    char error[MST_ERROR_MAX] = "";

    memset(&sample, 0, sizeof sample);
    watch(&w, &layout);
    mark(&w);
    ck_assert_int_eq(unlink(w.board.path), 0);
    serve(&w.board, 1, 0);
    ck_assert_int_eq(look(&w, &seen), 1);
    ck_assert_int_eq(mst_source_sample(w.source, &sample, error), 0);
    mst_sample_free(&sample);
    unwatch(&w);
}
END_TEST

START_TEST(the_callee_can_stop_a_poll)
{
    struct mst_layout layout = test_layout();
    struct seen seen = { .stop_after = 2 };
    struct mst_source_events events = { .context = &seen, .on_request = see_request };
    char error[MST_ERROR_MAX] = "as it was";
    struct watched w;
    unsigned i;

    watch(&w, &layout);
    mark(&w);
    happen(&w.board, MST_EVENT_FORK);
    for (i = 1; i <= 5; i++)
        serve(&w.board, i, 0);
    ck_assert_int_eq(mst_source_poll(w.source, &events, error), -1);
    ck_assert_str_eq(error, "");
    ck_assert_uint_eq(seen.requests, 2);
    seen.stop_after = 0;
    ck_assert_int_eq(look(&w, &seen), 3);
    ck_assert_uint_eq(seen.ids[4], 5);
    unwatch(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_file");
    TCase *tests = tcase_create("source_file");

    tcase_add_test(tests, who_it_is);
    tcase_add_test(tests, what_came_before_the_mark_is_not_given);
    tcase_add_test(tests, a_label_that_cannot_be_is_other);
    tcase_add_test(tests, requests_name_their_handler_and_backend);
    tcase_add_test(tests, requests_name_their_page);
    tcase_add_test(tests, late_deliveries_are_given);
    tcase_add_test(tests, overwritten_records_are_counted);
    tcase_add_test(tests, a_record_that_never_comes_is_lost_at_the_end);
    tcase_add_test(tests, a_new_start_goes_on_with_the_new_board);
    tcase_add_loop_test(tests, a_wall_clock_set_since_the_start_moves_nothing, 0, 3);
    tcase_add_loop_test(tests, of_another_clock_the_board_alone_knows, 0, 2);
    tcase_add_test(tests, a_php_board_gives_its_requests_and_marks);
    tcase_add_test(tests, a_new_board_that_cannot_be_read_is_tried_again);
    tcase_add_test(tests, a_removed_board_is_read_on);
    tcase_add_test(tests, the_callee_can_stop_a_poll);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

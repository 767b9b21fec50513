/* check_export.c - requests of running servers as they come: which, each once, whatever a board
 * says; the ids of spans; boards as metrics.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "boards.h"
#include "export/follow.h"
#include "export/metrics.h"
#include "harness.h"
#include "segment/traceparent.h"
#include "write/journal.h"

/* ---- a board that is followed --------------------------------------------------------------- */

struct followed {
    struct mst_board   board;
    char              *paths[1];
    struct mst_follow *follow;
    uint64_t           requests, spans;
    char               instance[MST_ERROR_MAX];   /* of the latest batch */
};

static int keep_batch(void *context, const struct mst_export_batch *batch,
                      char error[MST_ERROR_MAX])
{
    struct followed *f = context;
    json_t *all = json_loadb(batch->json, batch->length, 0, NULL), *attributes, *one;
    const char *key;
    size_t i;

    (void)error;
    ck_assert(all != NULL);
    ck_assert_int_eq(json_unpack(all, "{s:[{s:{s:o}}]}", "resourceSpans", "resource", "attributes",
                                 &attributes), 0);
    json_array_foreach(attributes, i, one)
        if (json_unpack(one, "{s:s}", "key", &key) == 0 && strcmp(key, "process.pid") == 0)
            snprintf(f->instance, sizeof f->instance, "%s", json_string_value(json_object_get(
                         json_object_get(one, "value"), "intValue")));
    f->requests += batch->requests;
    f->spans += batch->spans;
    json_decref(all);
    return 0;
}

static void follow(struct followed *f, const struct mst_export_choice *choice)
{
    struct mst_layout layout = test_layout();

    *f = (struct followed){ 0 };
    test_board(&f->board, &layout);
    f->paths[0] = f->board.path;
    f->follow = mst_follow_open(f->paths, 1, choice);
    ck_assert(f->follow != NULL);
    mst_follow_poll(f->follow);
    ck_assert_uint_eq(mst_follow_counts(f->follow).boards, 1);
}

/* How many requests an export sends. */
static uint64_t export_all(struct followed *f)
{
    struct mst_export e = { .service = "apache", .host = "h", .send = keep_batch, .context = f };
    uint64_t before = f->requests;

    mst_follow_poll(f->follow);
    mst_follow_export(f->follow, &e, true);
    return f->requests - before;
}

static void end(struct followed *f)
{
    mst_follow_close(f->follow);
    mst_board_close(&f->board);
}

static struct mst_request request(uint64_t id, uint64_t handle_ns, uint64_t status)
{
    return (struct mst_request){
        .id = id, .start_ns = mst_now_ns(), .handle_ns = handle_ns, .label_status = status,
        .ends = MST_NO_END,
    };
}

static const struct mst_export_choice usual = {
    .slower_than_ns = 1000, .failed = true, .sampled = true,
};

START_TEST(the_chosen_ones_once)
{
    struct mst_request r[] = {
        request(1, 999, 200), request(2, 1000, 200), request(3, 1, 500), request(4, 1, 200),
        request(5, 1, 200), request(6, 5000, (uint64_t)MST_LABEL_STATUS << 32 | 500),
    };
    struct followed f;
    size_t i;

    r[3].trace_high = r[4].trace_high = r[3].trace_parent = r[4].trace_parent = 7;
    r[3].label_status |= (uint64_t)MST_TRACE_SAMPLED << MST_TRACE_FLAGS_SHIFT;
    follow(&f, &usual);
    for (i = 0; i < sizeof r / sizeof *r; i++)
        mst_journal_request(&f.board, &r[i]);
    ck_assert_uint_eq(export_all(&f), 3);
    ck_assert_uint_eq(export_all(&f), 0);
    mst_journal_request(&f.board, &r[1]);
    ck_assert_uint_eq(export_all(&f), 1);
    ck_assert_uint_eq(mst_follow_counts(f.follow).dropped, 0);
    end(&f);
}
END_TEST

/* They wait for PHP's records: a first export takes none. */
START_TEST(they_settle_first)
{
    const struct mst_request slow = request(1, 5000, 200);
    struct followed f;
    struct mst_export e = { .service = "apache", .host = "h", .send = keep_batch, .context = &f };

    follow(&f, &usual);
    mst_journal_request(&f.board, &slow);
    mst_follow_poll(f.follow);
    mst_follow_export(f.follow, &e, false);
    ck_assert_uint_eq(f.requests, 0);
    ck_assert_uint_eq(export_all(&f), 1);
    end(&f);
}
END_TEST

START_TEST(what_cannot_be)
{
    struct mst_request r[] = {
        request(1, UINT64_MAX - 1, 200), request(2, UINT64_C(1) << 62, 200),
        request(3, 5000, 200), request(4, 5000, 200), request(5, 5000, 200),
    };
    struct followed f;
    size_t i;

    r[2].held_ns = UINT64_MAX;
    r[3].start_ns = UINT64_MAX / 2;
    follow(&f, &usual);
    for (i = 0; i < sizeof r / sizeof *r; i++)
        mst_journal_request(&f.board, &r[i]);
    ck_assert_uint_eq(export_all(&f), 1);
    ck_assert_uint_eq(mst_follow_counts(f.follow).dropped, 4);
    end(&f);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
    struct mst_layout layout = test_layout();
    uint64_t i, rounds = MST_FOLLOW_REQUESTS / layout.requests + 2, all = 0;
    struct followed f;

    follow(&f, &usual);
    for (; rounds > 0; rounds--) {
        for (i = 0; i < layout.requests / 2; i++, all++) {
            const struct mst_request slow = request(all + 1, 5000, 200);

            mst_journal_request(&f.board, &slow);
        }
        mst_follow_poll(f.follow);
    }
    i = export_all(&f);
    ck_assert_uint_le(i, MST_FOLLOW_REQUESTS);
    ck_assert_uint_eq(i + mst_follow_counts(f.follow).dropped, all);
    ck_assert_uint_eq(mst_follow_counts(f.follow).lost, 0);
    end(&f);
}
END_TEST

/* The server of a request is that of its board, also where one poll reads two. */
START_TEST(a_server_that_starts_again)
{
    struct mst_layout layout = test_layout();
    const struct mst_request slow = request(1, 5000, 200);
    char pid[32];
    struct mst_board next;
    struct followed f;

    follow(&f, &usual);
    mst_journal_request(&f.board, &slow);
    test_board(&next, &layout);
    next.header->pid = 4711;
    mst_journal_request(&next, &slow);
    ck_assert_int_eq(rename(next.path, f.board.path), 0);
    snprintf(pid, sizeof pid, "%" PRIu64, (uint64_t)next.header->pid);
    ck_assert_uint_eq(export_all(&f), 2);
    ck_assert_str_eq(f.instance, pid);
    mst_board_close(&next);
    end(&f);
}
END_TEST

/* ---- ids ------------------------------------------------------------------------------------- */

/* A promise: the same request has the same ids in each export, and in the header that programs
 * get. */
START_TEST(ids_stay)
{
    const struct mst_span_of of = { UINT64_C(1700000000123456789), 4711, 42 };

    ck_assert_uint_eq(mst_span_id(&of, MST_SPAN_TRACE_HIGH), UINT64_C(0x876f6b010fd9261d));
    ck_assert_uint_eq(mst_span_id(&of, MST_SPAN_TRACE_LOW), UINT64_C(0xe2f1c3fe3d260741));
    ck_assert_uint_eq(mst_span_id(&of, MST_SPAN_SERVER), UINT64_C(0x3f32a1ea0266d10e));
    ck_assert_uint_ne(mst_span_id(&of, MST_SPAN_CHILDREN), mst_span_id(&of, MST_SPAN_CHILDREN + 1));
}
END_TEST

/* ---- metrics --------------------------------------------------------------------------------- */

START_TEST(boards_as_metrics)
{
    static const struct mst_own_metric own[] = {
        { "mpmstat_x", "What \"it\" is", false, "signal", "a", 1 },
        { "mpmstat_x", "", false, "signal", "b", 2 },
        { "mpmstat_y", "Other", true, "signal", "a", INT64_MAX },
    };
    const struct mst_shown shown = { .boards = test_boards(), .count = TEST_BOARDS, .own = own,
                                     .own_count = 3 };
    const struct mst_export_metrics metrics = {
        .shown = &shown, .service = "s", .host = "h", .now_ns = mst_realtime_ns(),
    };
    json_t *all, *resources, *points;
    struct test_kept kept;
    const char *name;
    int monotonic;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_export_metrics(&kept.sink, &metrics), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    all = json_loads(kept.text, 0, NULL);
    ck_assert(all != NULL);
    resources = json_object_get(all, "resourceMetrics");
    ck_assert_uint_eq(json_array_size(resources), TEST_BOARDS + 1);
    ck_assert_int_eq(json_unpack(json_array_get(resources, TEST_BOARDS),
                                 "{s:[{s:[{s:s,s:{s:b,s:o}}]}]}", "scopeMetrics", "metrics", "name",
                                 &name, "sum", "isMonotonic", &monotonic, "dataPoints", &points),
                     0);
    ck_assert_str_eq(name, "mpmstat_x");
    ck_assert(monotonic);
    ck_assert_uint_eq(json_array_size(points), 2);
    json_decref(all);
    free(kept.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export");
    TCase *following = tcase_create("following"), *ids = tcase_create("ids");
    TCase *metrics = tcase_create("metrics");

    tcase_add_test(following, the_chosen_ones_once);
    tcase_add_test(following, they_settle_first);
    tcase_add_test(following, what_cannot_be);
    tcase_add_test(following, more_than_there_is_room_for);
    tcase_add_test(following, a_server_that_starts_again);
    suite_add_tcase(suite, following);
    tcase_add_test(ids, ids_stay);
    suite_add_tcase(suite, ids);
    tcase_add_test(metrics, boards_as_metrics);
    suite_add_tcase(suite, metrics);
    return test_run(suite);
}

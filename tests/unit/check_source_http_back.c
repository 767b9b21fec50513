/* check_source_http_back.c - a status page as a source: what a board says comes back exactly,
 * and damaged answers do no harm.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "http_answers.h"
#include "read/tail.h"
#include "render/journal.h"
#include "render/render.h"
#include "source/http.h"
#include "source/ndjson.h"
#include "source/source_kind.h"
#include "source/status_json.h"
#include "stats/random.h"
#include "write/journal.h"
#include "write/worker.h"

/* ---- there and back ---------------------------------------------------------------- */

static void add_requests(struct mst_board *b, unsigned count)
{
    uint32_t handler = mst_other_end_intern(b, MST_END_HANDLER, "fcgi");
    uint32_t backend = mst_other_end_intern(b, MST_END_BACKEND, "unix:/run/\"php\".sock");
    uint64_t random = 7;
    unsigned i;

    for (i = 0; i < count; i++) {
        struct mst_request r = {
            .id = i + 1, .start_ns = mst_now_ns(), .queue_ns = mst_random_word(&random) >> 40,
            .read_ns = i, .handle_ns = mst_random_word(&random) >> 30,
            .send_ns = mst_random_word(&random) >> 35, .held_ns = mst_random_word(&random) >> 30,
            .bytes = i * 1000, .label_status = (uint64_t)(i % 3) << 32 | 200 | (i % 4) << 16,
            .pid_worker = (uint64_t)4000 << 32 | (i % 5 == 0 ? UINT32_MAX : i % 5),
            .connection = (uint64_t)i << 16 | (40000 + i), .nth = i % 2,
            .client_id = i % 4,
            .front_ns = i % 3 == 0 ? MST_UNKNOWN : mst_random_word(&random) >> 30,
            .checks_ns = i, .upload_ns = mst_random_word(&random) >> 32, .backend_ns = 2 * i,
            .tls_ns = 3 * i, .h2_wait_ns = 4 * i, .log_ns = 5 * i,
            .send_client_ns = i % 2 == 0 ? MST_UNKNOWN : i, .send_network_ns = 6 * i,
            .send_server_ns = 7 * i, .trace_high = i % 2 ? i << 20 : 0,
            .trace_low = i % 2 ? mst_random_word(&random) : 0, .trace_parent = i % 2 ? i : 0,
            .ends = (uint64_t)handler << 32 | (i % 2 ? MST_NO_END : backend),
        };

        mst_journal_request(b, &r);
    }
}

static void add_event(struct mst_board *b)
{
    const struct mst_lifecycle e = {
        .time_ns = mst_now_ns(),
        .event_kind = (uint64_t)MST_EVENT_EXIT << 32 | MST_KIND_CHILD,
        .pid_parent = UINT64_C(4000) << 32 | 3999, .mpm_slot = -1, .generation = 2,
        .duration_ns = 12345678901, .requests = 9, .unfinished = MST_UNKNOWN,
        .reason = MST_REASON_KILLED,
    };

    mst_journal_lifecycle(b, &e);
}

/* The journal of a board as a URL sends it. */
static struct text journal_text(const struct mst_board *b)
{
    struct mst_reader reader;
    struct mst_sink sink;
    struct text text = { 0 };
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_reader_open(&reader, b->path, error) == 0, "%s", error);
    mst_sink_init(&sink, append, &text);
    ck_assert_int_eq(mst_render_journal(&sink, &reader, "start", PAGE, false, error),
                     MST_JOURNAL_OK);
    mst_reader_close(&reader);
    return text;
}

static int compare_request(void *context, uint64_t ticket, const void *payload)
{
    struct expected *e = context;
    struct mst_request r = *(const struct mst_request *)payload;
    const struct mst_ndjson_line *l = &e->answer->lines[1 + e->seen++];

    ck_assert_int_eq(l->kind, MST_NDJSON_REQUEST);
    ck_assert_uint_eq(l->ticket, ticket);
    ck_assert_uint_eq(l->wall_ns,
                      r.start_ns + (uint64_t)e->board->header->realtime_offset_ns);
    ck_assert_str_eq(l->label, e->board->labels[r.label_status >> 32].name);
    ck_assert_str_eq(l->ends[0], "fcgi");
    ck_assert_str_eq(l->ends[1], (uint32_t)r.ends == MST_NO_END ? "" : "unix:/run/\"php\".sock");
    r.start_ns = r.ends = 0;
    r.label_status &= UINT32_MAX;
    ck_assert_mem_eq(&l->record.request, &r, sizeof r);
    return 0;
}

START_TEST(the_journal_comes_back_exactly)
{
    struct mst_layout layout = test_layout();
    struct mst_ndjson answer = { 0 };
    struct mst_board board;
    struct mst_reader reader;
    struct mst_tail tail;
    struct expected expected = { &board, &answer, 0 };
    struct text text;
    char error[MST_ERROR_MAX] = "";

    test_board(&board, &layout);
    mst_label_intern(&board, "a \"label\" \\ with \xc3\xbc");
    add_requests(&board, 16);
    add_event(&board);
    mst_journal_delivery(&board, &(struct mst_delivery){ 9, 12345678901, 3900000, 1 });
    text = journal_text(&board);
    ck_assert_msg(mst_ndjson_read(text.bytes, text.length, PAGE, &answer, error) == 0, "%s\n%s",
                  error, text.bytes);
    ck_assert_uint_eq(answer.count, 18);
    ck_assert_int_eq(answer.lines[17].kind, MST_NDJSON_DELIVERY);
    ck_assert_uint_eq(answer.lines[17].record.delivery.id, 9);
    ck_assert_uint_eq(answer.lines[17].record.delivery.undelivered_ns, 12345678901);
    ck_assert_uint_eq(answer.lines[17].record.delivery.undelivered_bytes, 3900000);
    ck_assert_uint_eq(answer.lost, 0);
    ck_assert(!answer.more);
    ck_assert_int_eq(answer.lines[0].kind, MST_NDJSON_LIFECYCLE);
    ck_assert_uint_eq(answer.lines[0].record.lifecycle.duration_ns, 12345678901);
    ck_assert_int_eq(answer.lines[0].record.lifecycle.mpm_slot, -1);
    ck_assert_uint_eq(answer.lines[0].record.lifecycle.unfinished, MST_UNKNOWN);

    ck_assert_int_eq(mst_reader_open(&reader, board.path, error), 0);
    ck_assert_int_eq(mst_tail_open(&tail, &reader, MST_SECTION_REQUESTS, 1, error), 0);
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, compare_request, &expected, error), 16);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    mst_ndjson_free(&answer);
    free(text.bytes);
    mst_board_close(&board);
}
END_TEST

/* A PHP's, whose scripts and marks can be any bytes: those that are not UTF-8 come
 * back as U+FFFD, cut where that is longer. */
START_TEST(the_journal_of_a_php_comes_back)
{
    struct mst_layout layout = test_php_layout();
    struct mst_php_request r = {
        .id = 7, .start_ns = mst_now_ns(), .wait_ns = 1, .run_ns = 2000000000, .user_ns = 3,
        .system_ns = 4, .memory_bytes = 5, .pid_worker = UINT64_C(77) << 32 | 2,
        .label_status = (MST_PHP_FATAL | MST_PHP_UNCACHED) << 16 | 500,
        .script = "/srv/\xc3\xbc \"quoted\" \\ \x01.php",
    };
    struct mst_mark m = { .request_start_ns = 5, .time_ns = 6, .pid = 77, .name = "step 1" };
    struct mst_ndjson answer = { 0 };
    struct mst_board board;
    struct text text;
    char error[MST_ERROR_MAX] = "";
    uint64_t offset;

    test_board(&board, &layout);
    offset = (uint64_t)board.header->realtime_offset_ns;
    r.cpu_wait_ns = 123456789;
    r.waits_ns[MST_WAIT_DATABASE] = 1234567890;
    r.waits_ns[MST_WAIT_STREAM] = 1;
    r.longest[0] = (struct mst_php_wait){
        (uint64_t)MST_WAIT_DATABASE << 32
            | mst_other_end_intern(&board, MST_END_DATABASE, "mysql ::1"),
        UINT64_C(3) << 32 | 2, 1234567889,
    };
    mst_journal_php_request(&board, &r);
    mst_journal_mark(&board, &m);
    memset(r.script, 0xff, sizeof r.script);
    memset(m.name, 0xe4, sizeof m.name);
    mst_journal_php_request(&board, &r);
    mst_journal_mark(&board, &m);
    text = journal_text(&board);
    ck_assert_msg(mst_ndjson_read(text.bytes, text.length, PAGE, &answer, error) == 0, "%s\n%s",
                  error, text.bytes);
    ck_assert_uint_eq(answer.count, 4);
    ck_assert_int_eq(answer.lines[0].kind, MST_NDJSON_PHP_REQUEST);
    ck_assert_uint_eq(answer.lines[0].wall_ns, r.start_ns + offset);
    ck_assert_str_eq(answer.lines[0].record.php_request.script,
                     "/srv/\xc3\xbc \"quoted\" \\ \x01.php");
    ck_assert_str_eq(answer.lines[0].label, MST_LABEL_OTHER_NAME);
    ck_assert_str_eq(answer.lines[0].ends[0], "mysql ::1");
    r.start_ns = 0;
    r.longest[0].kind_end = (uint64_t)MST_WAIT_DATABASE << 32;   /* the name is sent instead */
    memcpy(r.script, answer.lines[1].record.php_request.script, sizeof r.script);
    ck_assert_mem_eq(&answer.lines[1].record.php_request, &r, sizeof r);
    ck_assert_uint_eq(strlen(r.script), 63);
    ck_assert_mem_eq(r.script, "\xef\xbf\xbd\xef\xbf\xbd", 6);
    ck_assert_int_eq(answer.lines[2].kind, MST_NDJSON_MARK);
    ck_assert_uint_eq(answer.lines[2].wall_ns, 6 + offset);
    ck_assert_uint_eq(answer.lines[2].request_wall_ns, 5 + offset);
    ck_assert_str_eq(answer.lines[2].record.mark.name, "step 1");
    ck_assert_uint_eq(strlen(answer.lines[3].record.mark.name), 39);
    mst_ndjson_free(&answer);
    free(text.bytes);
    mst_board_close(&board);
}
END_TEST

/* Cut anywhere, an answer is refused: the trailer tells that it is whole. Changed
 * anywhere, it is refused or taken, and nothing worse. */
START_TEST(damaged_answers_do_no_harm)
{
    struct mst_layout layout = test_layout();
    struct mst_ndjson answer = { 0 };
    struct mst_board board;
    struct text text;
    char error[MST_ERROR_MAX], *damaged;
    uint64_t random = 3;
    size_t i;

    test_board(&board, &layout);
    add_requests(&board, 3);
    add_event(&board);
    text = journal_text(&board);
    for (i = 0; i < text.length; i++)
        ck_assert_int_eq(mst_ndjson_read(text.bytes, i, PAGE, &answer, error), -1);
    for (i = 0; i < 3000; i++) {
        damaged = malloc(text.length);   /* of exactly that size, for the sanitizer */
        ck_assert_ptr_nonnull(damaged);
        memcpy(damaged, text.bytes, text.length);
        damaged[mst_random_word(&random) % text.length] = (char)mst_random_word(&random);
        damaged[mst_random_word(&random) % text.length] = (char)mst_random_word(&random);
        if (mst_ndjson_read(damaged, text.length, PAGE, &answer, error) != 0)
            ck_assert_uint_eq(answer.count, 0);
        free(damaged);
    }
    mst_ndjson_free(&answer);
    free(text.bytes);
    mst_board_close(&board);
}
END_TEST

static void make_busy(struct mst_board *b)
{
    uint32_t www = mst_label_intern(b, "www");
    int process = mst_process_claim(b, (uint64_t)getpid(), 0, mst_now_ns());
    struct mst_worker *w = &b->workers[(unsigned)process * b->threads];
    struct mst_counters *t = mst_counters_of(b, www, 0);
    unsigned i;

    ck_assert_int_ge(process, 0);
    mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), mst_now_ns());
    b->processes[process].connections = 3;
    b->processes[process].accepted = 17;
    b->in_flight[(unsigned)process * b->label_count + www] = 2;
    mst_count(&t->bytes, 70000);
    mst_count(&t->status[MST_CLASS_2XX], 5);
    for (i = 0; i < MST_COUNTED_PHASES; i++)
        mst_histogram_record(&t->times[i], 1000 * (i + 1));
    t = mst_counters_of(b, MST_LABEL_STATUS, 0);
    mst_count(&t->status[MST_CLASS_2XX], 3);
    mst_count(&b->totals->shed, 4);
    add_event(b);
}

/* But for their histograms, which JSON lacks. */
static void expect_phases(const struct mst_snapshot_phase *direct,
                          const struct mst_snapshot_phase *parsed)
{
    unsigned i;

    for (i = 0; i < MST_PHASE_COUNT; i++) {
        ck_assert_uint_eq(parsed[i].count, direct[i].count);
        ck_assert_uint_eq(parsed[i].sum_ns, direct[i].sum_ns);
        ck_assert_uint_eq(parsed[i].max_ns, direct[i].max_ns);
    }
    ck_assert_uint_eq(direct[MST_PHASE_READ].count, 1);
    ck_assert_uint_eq(direct[MST_PHASE_READ].sum_ns, 2000);
}

START_TEST(a_sample_is_the_same_from_file_and_json)
{
    struct mst_layout layout = test_layout();
    struct mst_sample direct, parsed;
    const struct mst_snapshot *boards[1];
    struct mst_status status;
    struct mst_board board;
    struct test_view view;
    struct mst_sink sink;
    struct text text = { 0 };
    char error[MST_ERROR_MAX] = "";

    test_board(&board, &layout);
    make_busy(&board);
    test_view(&view, board.path, 1);
    boards[0] = &view.s;
    mst_sink_init(&sink, append, &text);
    ck_assert_int_eq(mst_render(&sink, MST_FORMAT_JSON,
                                &(struct mst_shown){ .boards = boards, .count = 1 }), 0);
    ck_assert_msg(mst_status_parse(&status, text.bytes, text.length, error) == 0, "%s", error);
    ck_assert_uint_eq(status.count, 1);
    memset(&direct, 0, sizeof direct);
    memset(&parsed, 0, sizeof parsed);
    mst_sample_from_snapshot(&direct, &view.s);
    mst_sample_from_snapshot(&parsed, &status.boards[0]);
    ck_assert_mem_eq(&direct, &parsed, sizeof direct);
    ck_assert_uint_eq(direct.workers_busy, 1);
    ck_assert_uint_eq(direct.in_flight, 2);
    ck_assert_uint_eq(direct.connections, 3);
    ck_assert_uint_eq(direct.shed, 4);
    ck_assert_uint_eq(direct.requests_status, status.boards[0].labels[1].requests);
    ck_assert_uint_eq(direct.exits[MST_REASON_KILLED], 1);
    ck_assert_uint_eq(status.boards[0].started_ns, view.s.started_ns);
    ck_assert_str_eq(status.boards[0].mpm, "event");
    ck_assert_str_eq(status.boards[0].path, board.path);
    ck_assert_uint_eq(status.boards[0].slot_count, view.s.slot_count);
    ck_assert_uint_eq(status.boards[0].slots[0].pid, (uint64_t)getpid());
    expect_phases(test_label(&view.s, "www")->phases,
                  test_label(&status.boards[0], "www")->phases);
    mst_status_free(&status);
    test_view_free(&view);
    free(text.bytes);
    mst_board_close(&board);
}
END_TEST

/* One worker busy with our own question; one with another's, which is sending already. */
START_TEST(the_worker_that_answers_is_left_out)
{
    static const char body[] =
        "{\"boards\":[{\"workers\":{\"busy\":3,\"states\":{\"handling\":2,\"sending\":1}},"
        "\"slots\":[{\"state\":\"handling\",\"label\":\"www\"},"
        "{\"state\":\"sending\",\"label\":\"mpm-status\"},"
        "{\"state\":\"handling\",\"label\":\"mpm-status\"},{\"state\":\"idle\",\"label\":null}]},"
        "{\"workers\":{\"busy\":1,\"states\":{\"handling\":1}},"
        "\"slots\":[{\"state\":\"handling\",\"label\":\"www\"}]},"
        "{\"slots\":[{\"state\":\"handling\",\"label\":\"mpm-status\"}]}]}";
    static const struct { uint64_t busy, handling, sending; } expected[] = {
        { 2, 1, 1 }, { 1, 1, MST_UNKNOWN }, { MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN },
    };
    struct mst_sample sample = { 0 };
    struct mst_status status;
    char error[MST_ERROR_MAX];
    size_t i;

    ck_assert_msg(mst_status_parse(&status, body, strlen(body), error) == 0, "%s", error);
    for (i = 0; i < 3; i++) {
        mst_sample_from_snapshot(&sample, &status.boards[i]);
        mst_sample_leave_out_asker(&sample, &status.boards[i]);
        ck_assert_uint_eq(sample.workers_busy, expected[i].busy);
        ck_assert_uint_eq(sample.states[MST_STATE_HANDLING], expected[i].handling);
        ck_assert_uint_eq(sample.states[MST_STATE_SENDING], expected[i].sending);
    }
    mst_status_free(&status);
}
END_TEST

START_TEST(a_wrong_status_is_a_sentence)
{
    static const struct { const char *body, *words; } bodies[] = {
        { "", "expected JSON" }, { "<html>", "expected JSON" },
        { "{\"boards\":[{\"pid\":1}", "expected JSON" },
        { "[]", "boards" }, { "{}", "boards" }, { "{\"boards\":7}", "boards" },
        { "{\"boards\":[7]}", "to be an object" }, { "{\"boards\":[{},null]}", "board 1" },
    };
    struct mst_status status;
    char error[MST_ERROR_MAX];
    size_t i;

    for (i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        ck_assert_int_eq(mst_status_parse(&status, bodies[i].body, strlen(bodies[i].body), error),
                         -1);
        ck_assert_msg(strstr(error, bodies[i].words) != NULL, "%s", error);
    }
}
END_TEST

START_TEST(odd_values_are_unknown)
{
    static const char body[] =
        "{\"boards\":[{\"producer\":7,\"pid\":-1,\"started\":5,\"uptime_seconds\":\"x\","
        "\"workers\":[],\"generation\":1e300,\"labels\":{\"label\":1},"
        "\"listeners\":[{\"queue\":3},{}],\"slots\":[1,{\"pid\":12}]}]}";
    struct mst_status status;
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(mst_status_parse(&status, body, strlen(body), error), 0);
    ck_assert_ptr_null(status.boards[0].producer);
    ck_assert_uint_eq(status.boards[0].pid, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].started_ns, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].uptime_ns, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].workers_limit, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].workers[MST_STATE_IDLE], MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].generation, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].label_count, 0);
    ck_assert(status.boards[0].listeners_known);
    ck_assert_uint_eq(status.boards[0].listener_count, 2);
    ck_assert_uint_eq(status.boards[0].listeners[0].queue, 3);
    ck_assert_uint_eq(status.boards[0].listeners[1].queue, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].slot_count, 2);
    ck_assert_uint_eq(status.boards[0].slots[0].pid, MST_UNKNOWN);
    ck_assert_uint_eq(status.boards[0].slots[1].pid, 12);
    mst_status_free(&status);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_http");
    TCase *journal = tcase_create("journal"), *status = tcase_create("status");

    tcase_add_test(journal, the_journal_comes_back_exactly);
    tcase_add_test(journal, the_journal_of_a_php_comes_back);
    tcase_add_test(journal, damaged_answers_do_no_harm);
    tcase_add_test(status, a_sample_is_the_same_from_file_and_json);
    tcase_add_test(status, the_worker_that_answers_is_left_out);
    tcase_add_test(status, a_wrong_status_is_a_sentence);
    tcase_add_test(status, odd_values_are_unknown);
    suite_add_tcase(suite, journal);
    suite_add_tcase(suite, status);
    return test_run(suite);
}

/* check_journal.c - answers of the journal: what the lines say, each record once or lost,
 * what cannot be answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "boards.h"
#include "harness.h"
#include "journal_client.h"
#include "read/tail.h"
#include "render/cursor.h"
#include "render/journal.h"
#include "segment/liveness.h"
#include "write/journal.h"
#include "write/path.h"
#include "write/worker.h"

/* ---- what the lines say ------------------------------------------------------------------ */

static void expect_answer(const struct mst_board *b, const char *since, size_t limit,
                          const char *expected)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    struct test_kept kept;

    ck_assert_msg(mst_reader_open(&reader, b->path, error) == 0, "%s", error);
    test_kept_begin(&kept);
    ck_assert_msg(mst_render_journal(&kept.sink, &reader, since, limit, false, error)
                  == MST_JOURNAL_OK, "%s", error);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    mst_reader_close(&reader);
    ck_assert_str_eq(kept.text, expected);
    free(kept.text);
}

START_TEST(lines_are_as_promised)
{
    char page[MST_PATH_NAME_MAX];
    struct mst_board b;
    uint32_t label;
    struct mst_request q = {
        .id = 5, .start_ns = 1500000000, .queue_ns = 1, .read_ns = 20, .handle_ns = 300,
        .send_ns = 4000, .held_ns = 3000000321, .bytes = 71680,
        .pid_worker = UINT64_C(4243) << 32 | 7, .connection = 3 << 16 | 50001, .nth = 2,
        .front_ns = 12000000, .client_id = 42, .checks_ns = 2, .upload_ns = 3, .backend_ns = 100,
        .tls_ns = 5, .h2_wait_ns = 1, .send_client_ns = 3000, .send_network_ns = 900,
        .send_server_ns = 100, .log_ns = 6000, .trace_high = UINT64_C(0x0af7651916cd43dd),
        .trace_low = UINT64_C(0x8448eb211c80319c), .trace_parent = 1,
    };
    struct mst_lifecycle l = {
        .time_ns = 1000000000, .event_kind = (uint64_t)MST_EVENT_FORK << 32 | MST_KIND_CHILD,
        .pid_parent = UINT64_C(4243) << 32 | 4242, .mpm_slot = 0, .generation = 1,
        .duration_ns = 250000, .requests = MST_UNKNOWN, .unfinished = MST_UNKNOWN,
    };

    begin(&b, 16);
    b.header->started_ns = 0xabc;
    b.header->realtime_offset_ns = INT64_C(1700000000000000000);
    label = mst_label_intern(&b, "a \"b\"\n");
    q.label_status = (uint64_t)label << 32 | UINT64_C(0x81) << MST_TRACE_FLAGS_SHIFT | 200;
    q.ends = (uint64_t)mst_other_end_intern(&b, MST_END_HANDLER, "proxy-server") << 32
             | mst_other_end_intern(&b, MST_END_BACKEND, "fcgi://[::1]:9000");
    ck_assert(mst_path_fold("/item/17?token=x", false, page));
    q.path = mst_path_find(&b, page, MST_PATH_GOOD);
    mst_journal_request(&b, &q);
    q.path = MST_PATHS;
    q.ends = (uint64_t)MST_END_OTHER << 32 | MST_NO_END;
    q.send_client_ns = q.send_network_ns = q.send_server_ns = MST_UNKNOWN;
    q.trace_high = q.trace_low = q.trace_parent = 0;
    q.label_status = UINT64_C(7) << 32 | (MST_REQUEST_ABORTED | MST_REQUEST_NO_WORKER) << 16 | 404;
    q.pid_worker |= UINT32_MAX;
    q.front_ns = MST_UNKNOWN;
    q.client_id = 0;
    mst_journal_request(&b, &q);
    mst_journal_lifecycle(&b, &l);
    l.event_kind = (uint64_t)MST_EVENT_EXIT << 32 | MST_KIND_CHILD;
    l.mpm_slot = -1;
    l.requests = 10;
    l.unfinished = 1;
    l.duration_ns = MST_UNKNOWN;
    l.reason = MST_REASON_KILLED;
    mst_journal_lifecycle(&b, &l);
    mst_journal_delivery(&b, &(struct mst_delivery){ 5, 1500000000, 3900000, 1 });
    mst_journal_delivery(&b, &(struct mst_delivery){ 6, MST_UNKNOWN, 1, 1 });
    expect_answer(&b, "start", 10,
        "{\"ticket\":1,\"event\":\"fork\",\"kind\":\"child\",\"time\":1700000001.000000000,"
        "\"pid\":4243,\"parent\":4242,\"slot\":0,\"generation\":1,\"duration\":0.000250000,"
        "\"requests\":null,\"unfinished\":null,\"reason\":null}\n"
        "{\"ticket\":2,\"event\":\"exit\",\"kind\":\"child\",\"time\":1700000001.000000000,"
        "\"pid\":4243,\"parent\":4242,\"slot\":null,\"generation\":1,\"duration\":null,"
        "\"requests\":10,\"unfinished\":1,\"reason\":\"killed\"}\n"
        "{\"ticket\":1,\"id\":5,\"start\":1700000001.500000000,\"total\":0.000004321,"
        "\"queue\":0.000000001,\"read\":0.000000020,\"handle\":0.000000300,"
        "\"send\":0.000004000,\"held\":3.000000321,\"front\":0.012000000,"
        "\"tls\":0.000000005,\"h2_wait\":0.000000001,"
        "\"checks\":0.000000002,\"upload\":0.000000003,\"backend_time\":0.000000100,"
        "\"send_client\":0.000003000,\"send_network\":0.000000900,\"send_server\":0.000000100,"
        "\"log\":0.000006000,\"bytes\":71680,\"nth\":2,"
        "\"label\":\"a \\\"b\\\"\\u000a\",\"status\":200,"
        "\"aborted\":false,\"no_worker\":false,\"pid\":4243,\"worker\":7,\"connection\":3,"
        "\"port\":50001,\"client_id\":41,\"handler\":\"proxy-server\","
        "\"backend\":\"fcgi://[::1]:9000\","
        "\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-0000000000000001-81\","
        "\"path\":\"/item/{n}\"}\n"
        "{\"ticket\":2,\"id\":5,\"start\":1700000001.500000000,\"total\":0.000004321,"
        "\"queue\":0.000000001,\"read\":0.000000020,\"handle\":0.000000300,"
        "\"send\":0.000004000,\"held\":3.000000321,\"front\":null,"
        "\"tls\":0.000000005,\"h2_wait\":0.000000001,\"checks\":0.000000002,"
        "\"upload\":0.000000003,\"backend_time\":0.000000100,\"send_client\":null,"
        "\"send_network\":null,\"send_server\":null,\"log\":0.000006000,"
        "\"bytes\":71680,\"nth\":2,\"label\":null,\"status\":404,"
        "\"aborted\":true,\"no_worker\":true,\"pid\":4243,\"worker\":null,\"connection\":3,"
        "\"port\":50001,\"client_id\":null,\"handler\":null,\"backend\":null,"
        "\"traceparent\":null,\"path\":null}\n"
        "{\"ticket\":1,\"delivery\":5,\"undelivered\":1.500000000,"
        "\"undelivered_bytes\":3900000}\n"
        "{\"ticket\":2,\"delivery\":6,\"undelivered\":null,\"undelivered_bytes\":1}\n"
        "{\"next\":\"abc-3-3-3\",\"lost\":0,\"more\":false}\n");
    mst_board_close(&b);
}
END_TEST

/* A PHP's: its requests, then its marks. Scripts and names are anybody's bytes. */
START_TEST(lines_of_a_php_are_as_promised)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board b;
    struct mst_php_request q = {
        .id = 4294967297, .start_ns = 1500000000, .wait_ns = 8100000000, .run_ns = 1000000000,
        .user_ns = 30000000, .system_ns = 4000000, .memory_bytes = 2097152,
        .pid_worker = UINT64_C(77) << 32 | 3, .script = "/srv/a \"b\"\n.php",
    };
    struct mst_mark m = { .request_start_ns = 1500000000, .time_ns = 1750000000, .pid = 77,
                          .name = "db \x80" };

    test_board(&b, &layout);
    b.header->started_ns = 0xabc;
    b.header->realtime_offset_ns = INT64_C(1700000000000000000);
    q.label_status = (uint64_t)mst_label_intern(&b, "www") << 32 | MST_PHP_CACHED << 16 | 200;
    q.cpu_wait_ns = 6000000;
    q.waits_ns[MST_WAIT_DATABASE] = 800000000;
    q.waits_ns[MST_WAIT_LOCK] = 1;
    q.longest[0] = (struct mst_php_wait){
        (uint64_t)MST_WAIT_DATABASE << 32
            | mst_other_end_intern(&b, MST_END_DATABASE, "mysql db:3306"),
        UINT64_C(51) << 32 | 1, 700000000,
    };
    q.longest[1] = (struct mst_php_wait){ UINT64_C(98) << 32, UINT64_C(1) << 32, 2 };   /* newer */
    mst_journal_php_request(&b, &q);
    memset(q.longest, 0, sizeof q.longest);
    memset(q.waits_ns, 0xff, sizeof q.waits_ns);
    q.cpu_wait_ns = MST_UNKNOWN;
    q.label_status = (MST_PHP_ABORTED | MST_PHP_FATAL | MST_PHP_TIMEOUT | MST_PHP_UNCACHED) << 16;
    q.id = q.wait_ns = q.user_ns = q.system_ns = MST_UNKNOWN;
    q.pid_worker |= UINT32_MAX;
    memset(q.script, 'x', sizeof q.script);
    mst_journal_php_request(&b, &q);
    mst_journal_mark(&b, &m);
    expect_answer(&b, "start", 10,
        "{\"ticket\":1,\"php_request\":4294967297,\"start\":1700000001.500000000,"
        "\"php_wait\":8.100000000,\"php_run\":1.000000000,\"user\":0.030000000,"
        "\"system\":0.004000000,\"cpu_wait\":0.006000000,\"compile\":0.000000000,"
        "\"gc\":0.000000000,"
        "\"memory\":2097152,"
        "\"label\":\"www\",\"status\":200,"
        "\"script\":\"/srv/a \\\"b\\\"\\u000a.php\",\"aborted\":false,\"fatal\":false,"
        "\"timeout\":false,\"cached\":true,\"pid\":77,\"worker\":3,"
        "\"waits\":{\"database\":0.800000000,\"lock\":0.000000001},\"longest\":["
        "{\"kind\":\"database\",\"end\":\"mysql db:3306\",\"calls\":51,\"failed\":1,"
        "\"seconds\":0.700000000},{\"kind\":null,\"end\":\"other\",\"calls\":1,\"failed\":0,"
        "\"seconds\":0.000000002}]}\n"
        "{\"ticket\":2,\"php_request\":null,\"start\":1700000001.500000000,"
        "\"php_wait\":null,\"php_run\":1.000000000,\"user\":null,"
        "\"system\":null,\"cpu_wait\":null,\"compile\":0.000000000,\"gc\":0.000000000,"
        "\"memory\":2097152,\"label\":\"other\","
        "\"status\":null,"
        "\"script\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\","
        "\"aborted\":true,\"fatal\":true,\"timeout\":true,\"cached\":false,\"pid\":77,"
        "\"worker\":null,\"waits\":null,\"longest\":[]}\n"
        "{\"ticket\":1,\"mark\":\"db \\ufffd\",\"time\":1700000001.750000000,\"pid\":77,"
        "\"request_start\":1700000001.500000000}\n"
        "{\"next\":\"abc-3-1-2\",\"lost\":0,\"more\":false}\n");
    expect_answer(&b, "abc-2-1-2", 10,
        "{\"ticket\":2,\"php_request\":null,\"start\":1700000001.500000000,"
        "\"php_wait\":null,\"php_run\":1.000000000,\"user\":null,"
        "\"system\":null,\"cpu_wait\":null,\"compile\":0.000000000,\"gc\":0.000000000,"
        "\"memory\":2097152,\"label\":\"other\","
        "\"status\":null,"
        "\"script\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\","
        "\"aborted\":true,\"fatal\":true,\"timeout\":true,\"cached\":false,\"pid\":77,"
        "\"worker\":null,\"waits\":null,\"longest\":[]}\n"
        "{\"next\":\"abc-3-1-2\",\"lost\":0,\"more\":false}\n");
    mst_board_close(&b);
}
END_TEST

/* Each ring is counted for itself, whatever the limit; what was overwritten is lost. */
START_TEST(a_php_journal_is_given_once)
{
    struct mst_layout layout = test_php_layout();
    struct client c = newcomer;
    struct mst_board b;
    uint64_t records = 0;
    unsigned i;

    test_board(&b, &layout);
    for (i = 0; i < 20; i++)
        mst_journal_php_request(&b, &(struct mst_php_request){ .start_ns = mst_now_ns() });
    for (i = 0; i < 30; i++)
        mst_journal_mark(&b, &(struct mst_mark){ .time_ns = mst_now_ns() });
    do {
        ask(&c, &b, (size_t)_i);
        ck_assert_uint_le(c.lines, 2 * (size_t)_i);
        records += c.lines;
    } while (c.more);
    ck_assert_uint_eq(records, 16 + 30);
    ck_assert_uint_eq(c.lost, 0);
    c.lost = 0;
    for (i = 0; i < MST_MARK_RECORDS + 5; i++)
        mst_journal_mark(&b, &(struct mst_mark){ .time_ns = mst_now_ns() });
    ask(&c, &b, (size_t)_i);
    ck_assert_uint_eq(c.lines, (size_t)_i);
    ck_assert_uint_eq(c.lost, 5);
    mst_board_close(&b);
}
END_TEST

START_TEST(now_is_where_the_journal_is)
{
    struct mst_board b;
    char cursor[MST_CURSOR_MAX], expected[128];

    begin(&b, 16);
    write_requests(&b, 100, mst_now_ns());
    snprintf(cursor, sizeof cursor, "%llx-101-1-1", (unsigned long long)b.header->started_ns);
    snprintf(expected, sizeof expected, "{\"next\":\"%s\",\"lost\":0,\"more\":false}\n", cursor);
    expect_answer(&b, NULL, 10, expected);
    expect_answer(&b, "", 10, expected);
    expect_answer(&b, "now", 10, expected);
    expect_answer(&b, cursor, 10, expected);
    mst_board_close(&b);
}
END_TEST

/* Of each kind as many as the limit: none of them is more to ask for, and none is lost. */
START_TEST(last_is_the_end_of_the_journal)
{
    struct client c = { .cursor = "last" };
    struct mst_board b;

    begin(&b, 16);
    write_requests(&b, 100, mst_now_ns());
    ask(&c, &b, 3);
    ck_assert_uint_eq(c.lines, 3);
    ck_assert_uint_eq(c.tickets[0], 98);
    ck_assert_uint_eq(c.tickets[2], 100);
    ck_assert_uint_eq(c.lost, 0);
    ck_assert(!c.more);
    c = (struct client){ .cursor = "last" };
    ask(&c, &b, 1000);
    ck_assert_uint_eq(c.lines, 16);   /* all that it has */
    mst_board_close(&b);
}
END_TEST

/* A newer writer's event is given, its name unknown; its numbers are, too. */
START_TEST(what_is_not_known_is_null)
{
    struct mst_board b;
    struct mst_lifecycle l = {
        .event_kind = UINT64_C(99) << 32 | 98, .time_ns = 0, .reason = 97, .mpm_slot = -1,
        .generation = MST_UNKNOWN, .duration_ns = MST_UNKNOWN, .requests = (uint64_t)INT64_MAX + 1,
        .unfinished = INT64_MAX,
    };

    begin(&b, 16);
    b.header->started_ns = 1;
    b.header->realtime_offset_ns = -5;   /* earlier than 1970 */
    mst_journal_lifecycle(&b, &l);
    expect_answer(&b, "1-1-1", 10,
        "{\"ticket\":1,\"event\":null,\"kind\":null,\"time\":0.000000000,\"pid\":0,\"parent\":0,"
        "\"slot\":null,\"generation\":null,\"duration\":null,\"requests\":null,"
        "\"unfinished\":9223372036854775807,\"reason\":null}\n"
        "{\"next\":\"1-1-2-1\",\"lost\":0,\"more\":false}\n");
    mst_board_close(&b);
}
END_TEST

/* ---- once, or lost -------------------------------------------------------------------------- */

START_TEST(every_record_is_given_once_whatever_the_limit)
{
    struct client c = newcomer;
    struct mst_board b;
    size_t limit = (size_t)_i, asked;

    begin(&b, 64);
    write_requests(&b, 30, mst_now_ns());
    for (asked = 0; asked < 40; asked++) {
        ask(&c, &b, limit);
        ck_assert_uint_le(c.lines, limit);
        ck_assert_int_eq(c.more, c.given < b.header->requests_written);
        if (asked < 10)
            write_requests(&b, 1, mst_now_ns());
    }
    expect_all(&c, &b);
    ck_assert_uint_eq(c.given, 40);
    ck_assert_uint_eq(c.lost, 0);
    mst_board_close(&b);
}
END_TEST

START_TEST(the_limit_is_for_each_kind)
{
    struct client c = newcomer;
    struct mst_board b;
    struct mst_lifecycle l = { .time_ns = mst_now_ns() };
    unsigned i;

    begin(&b, 16);
    write_requests(&b, 3, mst_now_ns());
    for (i = 0; i < 9; i++)
        mst_journal_lifecycle(&b, &l);
    ask(&c, &b, 5);
    ck_assert_uint_eq(c.given, 3);
    ck_assert_uint_eq(c.lines, 8);
    ck_assert(c.more);
    ask(&c, &b, 5);
    ck_assert_uint_eq(c.lines, 4);
    ck_assert(!c.more);
    mst_board_close(&b);
}
END_TEST

/* What was not asked for is not lost: a reader that asks for all later gets it. */
START_TEST(lifecycle_events_alone)
{
    struct client c = newcomer;
    struct mst_board b;
    struct mst_lifecycle l = { .time_ns = mst_now_ns() };
    unsigned i;

    begin(&b, 16);
    write_requests(&b, 50, mst_now_ns());
    for (i = 0; i < 9; i++)
        mst_journal_lifecycle(&b, &l);
    ask_for(&c, &b, 5, true);
    ck_assert_uint_eq(c.lines, 5);
    ck_assert(c.more);
    write_requests(&b, 3, mst_now_ns());
    ask_for(&c, &b, 5, true);
    ck_assert_uint_eq(c.lines, 4);
    ck_assert_uint_eq(c.given + c.lost, 0);
    ck_assert(!c.more);
    write_requests(&b, 2, mst_now_ns());
    ask(&c, &b, 5);
    ck_assert_uint_eq(c.given, 2);
    ck_assert_uint_eq(c.lost, 0);
    mst_board_close(&b);
}
END_TEST

START_TEST(overwritten_records_are_counted)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 16);
    write_requests(&b, 10, mst_now_ns());
    ask(&c, &b, 4);
    write_requests(&b, 40, mst_now_ns());      /* 35 to 50 are there */
    ask(&c, &b, 100);
    ck_assert_uint_eq(c.given, 4 + 16);
    ck_assert_uint_eq(c.lost, 30);
    ck_assert(!c.more);
    expect_all(&c, &b);
    mst_board_close(&b);
}
END_TEST

START_TEST(start_is_the_oldest_there_is)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 16);
    write_requests(&b, 50, mst_now_ns());
    ask(&c, &b, 100);
    ck_assert_uint_eq(c.given, 16);
    ck_assert_uint_eq(c.tickets[0], 35);
    ck_assert_uint_eq(c.lost, 0);
    mst_board_close(&b);
}
END_TEST

START_TEST(another_start_of_the_server_begins_anew)
{
    struct client c = newcomer;
    struct mst_board b;

    begin(&b, 16);
    write_requests(&b, 20, mst_now_ns());
    strcpy(c.cursor, "1-1000-1000");
    ask(&c, &b, 10);
    ck_assert(c.forgot && c.more);
    ck_assert_uint_eq(c.given, 10);
    ask(&c, &b, 10);
    ck_assert(!c.forgot && !c.more);
    ck_assert_uint_eq(c.given, 16);
    ck_assert_uint_eq(c.lost, 0);
    mst_board_close(&b);
}
END_TEST

/* ---- what cannot be answered --------------------------------------------------------------- */

static enum mst_journal_result refusal(const struct mst_board *b, const char *since,
                                       char error[MST_ERROR_MAX])
{
    struct mst_reader reader;
    struct test_kept kept;
    enum mst_journal_result result;

    ck_assert_msg(mst_reader_open(&reader, b->path, error) == 0, "%s", error);
    test_kept_begin(&kept);
    result = mst_render_journal(&kept.sink, &reader, since, 10, false, error);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_str_eq(kept.text, "");
    free(kept.text);
    mst_reader_close(&reader);
    return result;
}

START_TEST(a_bad_cursor_is_refused)
{
    static const char *const ahead[] = { "7-4-1", "7-3-2", "7-18446744073709551615-1" };
    static const char *const malformed[] = { "Now", "START", "1-1", "-", "x-1-1", "7-0-1" };
    char error[MST_ERROR_MAX];
    struct mst_board b;
    size_t i;

    begin(&b, 16);
    b.header->started_ns = 7;
    write_requests(&b, 2, mst_now_ns());
    for (i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
        ck_assert_int_eq(refusal(&b, ahead[i], error), MST_JOURNAL_BAD_CURSOR);
        ck_assert_msg(strstr(error, "goes on with request 3 and event 1") != NULL, "%s", error);
    }
    for (i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        ck_assert_int_eq(refusal(&b, malformed[i], error), MST_JOURNAL_BAD_CURSOR);
        ck_assert_msg(strstr(error, "expected is \"now\"") != NULL, "%s", error);
    }
    ck_assert_int_eq(refusal(&b, "7-1-1-2", error), MST_JOURNAL_BAD_CURSOR);
    ck_assert_msg(strstr(error, "is not one of the journal of") != NULL, "%s", error);
    mst_board_close(&b);
}
END_TEST

/* A cursor that was given before there were deliveries gets all of them. */
START_TEST(a_cursor_without_deliveries_is_taken)
{
    struct mst_board b;

    begin(&b, 16);
    b.header->started_ns = 7;
    write_requests(&b, 2, mst_now_ns());
    mst_journal_delivery(&b, &(struct mst_delivery){ 2, 1000000000, 10, 1 });
    expect_answer(&b, "7-3-1", 10,
        "{\"ticket\":1,\"delivery\":2,\"undelivered\":1.000000000,\"undelivered_bytes\":10}\n"
        "{\"next\":\"7-3-1-2\",\"lost\":0,\"more\":false}\n");
    expect_answer(&b, "7-3-1-2", 10, "{\"next\":\"7-3-1-2\",\"lost\":0,\"more\":false}\n");
    mst_board_close(&b);
}
END_TEST

START_TEST(a_php_cursor_names_all_rings)
{
    struct mst_layout layout = test_php_layout();
    char error[MST_ERROR_MAX];
    struct mst_board b;

    test_board(&b, &layout);
    b.header->started_ns = 7;
    ck_assert_int_eq(refusal(&b, "7-1-1", error), MST_JOURNAL_BAD_CURSOR);
    ck_assert_int_eq(refusal(&b, "7-1-1-2", error), MST_JOURNAL_BAD_CURSOR);
    expect_answer(&b, "7-1-1-1", 10, "{\"next\":\"7-1-1-1\",\"lost\":0,\"more\":false}\n");
    expect_answer(&b, "6-9-9", 10, "{\"next\":\"7-1-1-1\",\"lost\":null,\"more\":false}\n");
    mst_board_close(&b);
}
END_TEST

START_TEST(a_board_cut_short_is_an_error_and_no_half_answer)
{
    char error[MST_ERROR_MAX];
    struct mst_reader reader;
    struct test_kept kept;
    struct mst_board b;
    uint64_t end;

    begin(&b, 16);
    write_requests(&b, 16, mst_now_ns());
    ck_assert_msg(mst_reader_open(&reader, b.path, error) == 0, "%s", error);
    end = reader.header.section[MST_SECTION_REQUESTS].offset;
    ck_assert_int_eq(truncate(b.path, (off_t)end), 0);
    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render_journal(&kept.sink, &reader, "start", 10, false, error),
                     MST_JOURNAL_UNREADABLE);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_str_eq(kept.text, "");
    ck_assert_msg(strstr(error, b.path) != NULL, "%s", error);
    free(kept.text);
    mst_reader_close(&reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal");
    TCase *tests = tcase_create("journal");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, lines_are_as_promised);
    tcase_add_test(tests, lines_of_a_php_are_as_promised);
    tcase_add_loop_test(tests, a_php_journal_is_given_once, 1, 9);
    tcase_add_test(tests, a_cursor_without_deliveries_is_taken);
    tcase_add_test(tests, a_php_cursor_names_all_rings);
    tcase_add_test(tests, now_is_where_the_journal_is);
    tcase_add_test(tests, last_is_the_end_of_the_journal);
    tcase_add_test(tests, what_is_not_known_is_null);
    tcase_add_loop_test(tests, every_record_is_given_once_whatever_the_limit, 2, 5);
    tcase_add_test(tests, the_limit_is_for_each_kind);
    tcase_add_test(tests, lifecycle_events_alone);
    tcase_add_test(tests, overwritten_records_are_counted);
    tcase_add_test(tests, start_is_the_oldest_there_is);
    tcase_add_test(tests, another_start_of_the_server_begins_anew);
    tcase_add_test(tests, a_bad_cursor_is_refused);
    tcase_add_test(tests, a_board_cut_short_is_an_error_and_no_half_answer);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

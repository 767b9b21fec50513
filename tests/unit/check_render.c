/* check_render.c - formats: golden files, the table of fields, metrics as parsers want
 * them, numbers, a sink that fails.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "boards.h"
#include "harness.h"
#include "render/fields_table.h"
#include "render/render.h"
#include "render/scope.h"
#include "rendered.h"
#include "report/glance.h"

/* ---- golden files ------------------------------------------------------------------ */

static void read_golden(const char *path, char **text)
{
    size_t size = 0;
    FILE *file = fopen(path, "rb"), *copy = open_memstream(text, &size);
    int c;

    ck_assert_msg(file != NULL, "expected the golden file %s: %s; write it with "
                  "MPMSTAT_UPDATE_GOLDEN=1", path, strerror(errno));
    while ((c = getc(file)) != EOF)
        putc(c, copy);
    fclose(file);
    fclose(copy);
}

static void write_golden(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    ck_assert_msg(file != NULL, "cannot write %s: %s", path, strerror(errno));
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void expect_golden(const char *name, const char *text)
{
    char path[512], *golden;
    size_t line = 1, i;

    snprintf(path, sizeof path, MST_TESTS_DIR "/golden/%s", name);
    if (getenv("MPMSTAT_UPDATE_GOLDEN") != NULL)
        write_golden(path, text);
    read_golden(path, &golden);
    for (i = 0; golden[i] != '\0' && golden[i] == text[i]; i++)
        line += golden[i] == '\n';
    ck_assert_msg(golden[i] == text[i], "%s: line %zu differs: expected \"%.60s\", found \"%.60s\"",
                  name, line, golden + i, text + i);
    free(golden);
}

static const char *const golden_names[MST_FORMAT_SNAPSHOTS] = {
    [MST_FORMAT_TEXT] = "boards.txt", [MST_FORMAT_JSON] = "boards.json",
    [MST_FORMAT_OPENMETRICS] = "boards.om", [MST_FORMAT_PROMETHEUS] = "boards.prom",
};

START_TEST(formats_are_as_in_the_golden_files)
{
    char *text = rendered((enum mst_format)_i, test_boards(), TEST_BOARDS);

    expect_golden(golden_names[_i], text);
    free(text);
}
END_TEST

/* PHP's alone, as of nginx's machine; Apache's alone has nothing of PHP's. */
START_TEST(a_php_board_alone_is_as_in_its_golden_file)
{
    static const char *const names[MST_FORMAT_SNAPSHOTS] = {
        [MST_FORMAT_TEXT] = "php.txt", [MST_FORMAT_JSON] = "php.json",
        [MST_FORMAT_OPENMETRICS] = "php.om", [MST_FORMAT_PROMETHEUS] = "php.prom",
    };
    char *text = rendered((enum mst_format)_i, test_boards() + 1, 1);

    expect_golden(names[_i], text);
    free(text);
}
END_TEST

/* Bytes, some of which are NUL. tests/integration/prometheus decodes the golden file and compares
 * it with that of the same boards in text. */
START_TEST(messages_are_as_in_the_golden_file)
{
    static const char path[] = MST_TESTS_DIR "/golden/boards.pb";
    const struct mst_shown shown = { .boards = test_boards(), .count = TEST_BOARDS };
    struct test_kept kept;
    FILE *file;
    char *golden;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render(&kept.sink, MST_FORMAT_PROTOBUF, &shown), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    if (getenv("MPMSTAT_UPDATE_GOLDEN") != NULL) {
        file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(kept.text, 1, kept.length, file), kept.length);
        ck_assert_int_eq(fclose(file), 0);
    }
    file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    golden = malloc(kept.length + 1);
    ck_assert_uint_eq(fread(golden, 1, kept.length + 1, file), kept.length);
    ck_assert_int_eq(memcmp(golden, kept.text, kept.length), 0);
    fclose(file);
    free(golden);
    free(kept.text);
}
END_TEST

START_TEST(an_apache_board_alone_has_nothing_of_phps)
{
    char *text = rendered((enum mst_format)_i, test_boards(), 1);

    ck_assert_ptr_null(strstr(text, "php_wait\""));
    ck_assert_ptr_null(strstr(text, "php_run\""));
    ck_assert_ptr_null(strstr(text, "PhpWait"));
    ck_assert_ptr_null(strstr(text, "PhpUser"));
    ck_assert_ptr_nonnull(strstr(text, _i == MST_FORMAT_TEXT ? "FrontP50Seconds: " : "front"));
    free(text);
}
END_TEST

START_TEST(the_field_table_is_as_in_the_golden_files)
{
    static const char *const names[] = { "fields.txt", "fields.json", "fields.md" };
    char *text = rendered_fields((enum mst_fields_format)_i);

    expect_golden(names[_i], text);
    free(text);
}
END_TEST

/* A word finds what has that name in any format; else what has it in a name. */
START_TEST(a_word_finds_its_metrics)
{
    static const struct { const char *word; enum mst_fields_match match; const char *first; }
    cases[] = {
        { "workers_busy", MST_FIELDS_NAMED, "board.workers_busy: " },
        { "WORKERSBUSY", MST_FIELDS_NAMED, "board.workers_busy: " },
        { "workers.busy", MST_FIELDS_NAMED, "board.workers_busy: " },
        { "WorkersIdle", MST_FIELDS_NAMED, "board.workers: " },
        { "Workers<State>", MST_FIELDS_NAMED, "board.workers: " },
        { "workers.states.idle", MST_FIELDS_NAMED, "board.workers: " },
        { "QueueP99Seconds", MST_FIELDS_NAMED, "phase.p99_ns: " },
        { "Label[www]PhpWaitP99Seconds", MST_FIELDS_NAMED, "phase.p99_ns: " },
        { "mpmstat_workers", MST_FIELDS_NAMED, "board.workers: " },
        { "mpmstat_workers{state=\"idle\"}", MST_FIELDS_NAMED, "board.workers: " },
        { "mpmstat_requests_total", MST_FIELDS_NAMED, "label.status: " },
        { "FULLEST", MST_FIELDS_CONTAINING, "listener.queue_fullest: " },
        { "mpmstat_listen", MST_FIELDS_CONTAINING, "board.listen_overflows: " },
        { "WorkersFlying", MST_FIELDS_NONE, NULL },
        { "<", MST_FIELDS_CONTAINING, "board.workers: " },
        { "%s", MST_FIELDS_NONE, NULL },
    };
    enum mst_fields_match match = mst_fields_match(cases[_i].word);
    struct test_kept kept;

    ck_assert_msg(match == cases[_i].match, "%s: found %d", cases[_i].word, (int)match);
    if (match == MST_FIELDS_NONE)
        return;
    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render_fields(&kept.sink, MST_FIELDS_TEXT, match, cases[_i].word), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_msg(strncmp(kept.text, cases[_i].first, strlen(cases[_i].first)) == 0,
                  "%s: found %.60s", cases[_i].word, kept.text);
    free(kept.text);
}
END_TEST

/* ---- a glance ------------------------------------------------------------------------ */

static char *glanced(const struct mst_snapshot *board)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    mst_glance(&kept.sink, board);
    ck_assert_int_eq(mst_sink_flush(&kept.sink), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

/* Lines of at most 80 characters, without controls. */
static void expect_fits_a_terminal(const char *text)
{
    size_t column = 0;

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        ck_assert_msg(c == '\n' || (c >= ' ' && c != 0x7f), "a control: %.60s", text);
        column = c == '\n' ? 0 : column + ((c & 0xc0) != 0x80);
        ck_assert_msg(column <= 80, "more than 80 columns: %.60s", text);
    }
}

START_TEST(a_glance_is_as_in_its_golden_file)
{
    static const char *const names[TEST_BOARDS] = { "glance-apache.txt", "glance-php.txt" };
    char *text = glanced(test_boards()[_i]);

    expect_golden(names[_i], text);
    expect_fits_a_terminal(text);
    free(text);
}
END_TEST

/* The longest request's label and path, the listener's address, the pool: all are a board's. */
START_TEST(a_glance_obeys_no_name)
{
    static const char *const hostile[] = {
        "\x1b[2J\x1b[31mred", "two\nlines", "back\\slash", "\xc2\x9b" "31m", "\xff\xfe\xc3",
        "one-word-that-is-longer-than-the-whole-line-of-a-terminal-"
        "one-word-that-is-longer-than-the-whole-line-of-a-terminal",
        "\xe2\x80\xae" "reversed", "", " ",
    };
    struct mst_snapshot board = *test_boards()[_i % 2];
    struct mst_snapshot_slot slot = board.slots[board.slot_count > 2 ? 0 : 1];
    struct mst_snapshot_label label = board.labels[1];
    struct mst_snapshot_listener listener = { .queue = 1, .queue_limit = MST_UNKNOWN };
    const char *name = hostile[_i / 2];
    char *text;

    slot.label = slot.path = slot.state = slot.wait = slot.wait_end = name;
    label.label = listener.address = name;
    board.server = board.mpm = board.path = board.running = name;
    board.slots = &slot;
    board.labels = &label;
    board.listeners = &listener;
    board.slot_count = board.label_count = board.listener_count = 1;
    board.listeners_known = true;
    text = glanced(&board);
    expect_fits_a_terminal(text);
    ck_assert_ptr_null(strstr(text, "\xff"));
    ck_assert_ptr_nonnull(strstr(text, "\n  Longest now"));
    free(text);
}
END_TEST

START_TEST(a_glance_at_a_board_of_nothing_says_so)
{
    struct mst_snapshot board;
    char *text;

    memset(&board, 0, sizeof board);
    text = glanced(&board);
    ck_assert_ptr_nonnull(strstr(text, "nothing so far"));
    ck_assert_ptr_nonnull(strstr(text, "none so far"));
    free(text);
}
END_TEST

START_TEST(a_glance_survives_any_number)
{
    char *text = glanced(test_numbered_board());

    expect_fits_a_terminal(text);
    free(text);
}
END_TEST

START_TEST(no_boards_are_valid_too)
{
    char *text = rendered(MST_FORMAT_JSON, NULL, 0);

    ck_assert_str_eq(text, "{\"boards\":[],\"unreadable\":[],\"now\":[]}\n");
    free(text);
    text = rendered(MST_FORMAT_TEXT, NULL, 0);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* ---- the table itself ---------------------------------------------------------------------- */

static void expect_distinct(const struct mst_field *a, const struct mst_field *b)
{
    bool info = a->type == MST_TYPE_STRING && b->type == MST_TYPE_STRING;

    ck_assert_msg(a->scope != b->scope || strcmp(a->id, b->id) != 0, "%s twice", a->id);
    ck_assert_msg(a->scope != b->scope || a->json == NULL || b->json == NULL
                  || strcmp(a->json, b->json) != 0, "JSON %s twice", a->json);
    ck_assert_msg(a->scope != b->scope || a->text == NULL || b->text == NULL
                  || strcmp(a->text, b->text) != 0, "text %s twice", a->text);
    ck_assert_msg(a->openmetrics == NULL || b->openmetrics == NULL
                  || strcmp(a->openmetrics, b->openmetrics) != 0 || (info && a->scope == b->scope),
                  "family %s twice", a->openmetrics);
}

START_TEST(the_table_is_what_renderers_expect)
{
    enum mst_scope scope;
    size_t i, k;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        const char *suffix = f->openmetrics == NULL ? NULL : strrchr(f->openmetrics, '_');
        bool array = mst_type_key(f->type) != NULL;

        for (k = 0; k < i; k++)
            expect_distinct(&mst_fields[k], f);
        ck_assert_msg(f->text == NULL || (strchr(f->text, '*') != NULL) == array,
                      "%s: '*' in text is for arrays", f->id);
        ck_assert_msg(f->type != MST_TYPE_HISTOGRAM || (f->json == NULL && f->text == NULL),
                      "%s: histograms are for OpenMetrics only", f->id);
        if (suffix == NULL)
            continue;
        ck_assert_msg((f->type == MST_TYPE_STRING) == (strcmp(suffix, "_info") == 0),
                      "%s: texts are labels of an info metric", f->openmetrics);
        ck_assert_msg((f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
                      == (strcmp(suffix, "_seconds") == 0),
                      "%s: time is in _seconds", f->openmetrics);
        ck_assert_msg((f->unit == MST_UNIT_BYTES) == (strcmp(suffix, "_bytes") == 0),
                      "%s: sizes are in _bytes", f->openmetrics);
    }
    ck_assert_str_eq(mst_scope_key(MST_SCOPE_BOARD)->text, "Board");
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++)
        ck_assert_msg(mst_scopes[scope].names != NULL || mst_scope_key(scope)->text == NULL,
                      "the name of a %s is in its keys", mst_scope_name(scope));
}
END_TEST

/* ---- metrics as parsers want them ------------------------------------------------------------ */

/* The name that a sample line or a # line of metrics begins with. */
static size_t name_length(const char *line)
{
    return strcspn(line, "{ ");
}

/* The samples of a family, from its # TYPE line to the next family's. */
static void expect_one_family(const char *family, size_t length, const char *samples)
{
    const char *line, *other, *end;

    for (line = samples; line != NULL && *line != '#' && *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        ck_assert_msg(name_length(line) >= length && strncmp(line, family, length) == 0,
                      "a sample of another family in %.*s: %.*s", (int)length, family,
                      (int)(end - line), line);
        for (other = samples; other < line; other = strchr(other, '\n') + 1) {
            size_t series = strcspn(line, "}");

            ck_assert_msg(strncmp(other, line, series + 1) != 0, "a series twice: %.*s",
                          (int)series, line);
        }
    }
}

START_TEST(families_stand_together)
{
    char *text = rendered((enum mst_format)_i, test_boards(), TEST_BOARDS), *type, *samples, *again;
    char head[128];

    for (type = strstr(text, "# TYPE "); type != NULL; type = strstr(type + 1, "# TYPE ")) {
        size_t length = name_length(type + 7);

        snprintf(head, sizeof head, "%.*s ", (int)(7 + length), type);
        again = strstr(type + 1, head);
        ck_assert_msg(again == NULL, "a family twice: %s", head);
        samples = strchr(type, '\n') + 1;
        for (; *samples == '#' && samples[2] != 'T'; samples = strchr(samples, '\n') + 1)
            ck_assert_msg(strncmp(samples, "# EOF\n", 6) == 0
                          || strncmp(strchr(samples + 2, ' ') + 1, type + 7, length) == 0,
                          "another family after %s", head);
        expect_one_family(type + 7, length, samples);
    }
    free(text);
}
END_TEST

START_TEST(openmetrics_ends_with_eof)
{
    char *text = rendered(MST_FORMAT_OPENMETRICS, test_boards(), TEST_BOARDS);

    ck_assert_str_eq(strstr(text, "# EOF"), "# EOF\n");
    free(text);
    text = rendered(MST_FORMAT_PROMETHEUS, test_boards(), TEST_BOARDS);
    ck_assert_ptr_eq(strstr(text, "# EOF"), NULL);
    ck_assert_ptr_eq(strstr(text, "# UNIT"), NULL);
    free(text);
}
END_TEST

START_TEST(boards_of_the_same_name_are_told_apart)
{
    struct mst_snapshot a = *test_boards()[1], b = a, c = a;
    const struct mst_snapshot *boards[] = { &a, &b, &c };

    a.path = "/run/one/33.board";
    b.path = "/run/two/33.board";
    c.path = NULL;
    ck_assert_str_eq(mst_board_name(boards, 3, 0), "/run/one/33.board");
    ck_assert_str_eq(mst_board_name(boards, 3, 1), "/run/two/33.board");
    ck_assert_str_eq(mst_board_name(boards, 3, 2), "");
    ck_assert_str_eq(mst_board_name(boards, 1, 0), "33.board");
}
END_TEST

/* ---- numbers ------------------------------------------------------------------------------- */

START_TEST(numbers_are_exact)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    mst_sink_seconds(&kept.sink, 0);
    mst_sink_char(&kept.sink, ' ');
    mst_sink_seconds(&kept.sink, 999999999);
    mst_sink_char(&kept.sink, ' ');
    mst_sink_seconds(&kept.sink, UINT64_MAX);
    mst_sink_char(&kept.sink, ' ');
    mst_sink_instant(&kept.sink, UINT64_C(951827696000000001));
    mst_sink_char(&kept.sink, ' ');
    mst_sink_instant(&kept.sink, UINT64_MAX);
    mst_sink_char(&kept.sink, ' ');
    mst_sink_i64(&kept.sink, INT64_MIN);
    mst_sink_char(&kept.sink, ' ');
    mst_sink_hex(&kept.sink, UINT64_MAX - 1);
    ck_assert_int_eq(mst_sink_flush(&kept.sink), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_str_eq(kept.text, "0.000000000 0.999999999 18446744073.709551615 "
                     "2000-02-29T12:34:56.000000001Z 2554-07-21T23:34:33.709551615Z "
                     "-9223372036854775808 fffffffffffffffe");
    free(kept.text);
}
END_TEST

/* No honest count is that large, and few JSON parsers take it. */
START_TEST(json_has_no_integer_of_more_than_63_bits)
{
    struct mst_snapshot board = *test_boards()[0];
    const struct mst_snapshot *boards[] = { &board };
    char *text;
    json_t *json;

    board.accepted = (uint64_t)INT64_MAX + 1;
    board.uptime_ns = MST_UNKNOWN - 1;
    text = rendered(MST_FORMAT_JSON, boards, 1);
    json = parsed(text);
    ck_assert(json_is_null(at(json, "boards[0].connections.accepted_total")));
    ck_assert(json_is_real(at(json, "boards[0].uptime_seconds")));
    json_decref(json);
    free(text);
}
END_TEST

/* ---- a sink that fails --------------------------------------------------------------------- */

/* Takes `room` bytes; then the disk is full. */
struct full {
    size_t      room, taken;
    unsigned    failures;
    const char *expected;
};

static int write_until_full(void *context, const void *bytes, size_t n)
{
    struct full *full = context;

    ck_assert_uint_eq(full->failures, 0);
    if (n > full->room - full->taken) {
        full->failures++;
        return ENOSPC;
    }
    ck_assert_int_eq(memcmp(full->expected + full->taken, bytes, n), 0);
    full->taken += n;
    return 0;
}

START_TEST(the_first_error_of_a_sink_stays)
{
    enum mst_format format = (enum mst_format)_i;
    char *text = rendered(format, test_boards(), TEST_BOARDS);
    size_t length = strlen(text), room, step = length / 200 + 1;

    for (room = 0; room <= length; room = room + step > length && room < length ? length
                                                                                : room + step) {
        struct full full = { .room = room, .expected = text };
        struct mst_sink sink;
        int error;

        mst_sink_init(&sink, write_until_full, &full);
        error = mst_render(&sink, format, &(struct mst_shown){ .boards = test_boards(),
                                                               .count = TEST_BOARDS });
        ck_assert_int_eq(error, room < length ? ENOSPC : 0);
        ck_assert_int_eq(mst_sink_flush(&sink), error);
        ck_assert_uint_eq(full.failures, room < length);
        ck_assert(error != 0 || full.taken == length);
    }
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("render");
    TCase *tests = tcase_create("render");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, formats_are_as_in_the_golden_files, 0, MST_FORMAT_SNAPSHOTS);
    tcase_add_loop_test(tests, a_php_board_alone_is_as_in_its_golden_file, 0,
                        MST_FORMAT_SNAPSHOTS);
    tcase_add_test(tests, messages_are_as_in_the_golden_file);
    tcase_add_loop_test(tests, an_apache_board_alone_has_nothing_of_phps, 0, MST_FORMAT_SNAPSHOTS);
    tcase_add_loop_test(tests, the_field_table_is_as_in_the_golden_files, 0, 3);
    tcase_add_loop_test(tests, a_word_finds_its_metrics, 0, 16);
    tcase_add_loop_test(tests, a_glance_is_as_in_its_golden_file, 0, TEST_BOARDS);
    tcase_add_loop_test(tests, a_glance_obeys_no_name, 0, 18);
    tcase_add_test(tests, a_glance_at_a_board_of_nothing_says_so);
    tcase_add_test(tests, a_glance_survives_any_number);
    tcase_add_test(tests, no_boards_are_valid_too);
    tcase_add_test(tests, the_table_is_what_renderers_expect);
    tcase_add_loop_test(tests, families_stand_together, MST_FORMAT_OPENMETRICS,
                        MST_FORMAT_PROMETHEUS + 1);
    tcase_add_test(tests, openmetrics_ends_with_eof);
    tcase_add_test(tests, boards_of_the_same_name_are_told_apart);
    tcase_add_test(tests, numbers_are_exact);
    tcase_add_test(tests, json_has_no_integer_of_more_than_63_bits);
    tcase_add_loop_test(tests, the_first_error_of_a_sink_stays, 0, MST_FORMAT_SNAPSHOTS);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

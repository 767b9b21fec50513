/* check_render.c - boards in every format: golden files, promised names, every
 * field of the table in every format that has it, hostile strings.
 *
 * MPMSTAT_UPDATE_GOLDEN=1 in the environment writes the golden files again:
 * read the difference before you commit it.
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
#include "report/glance.h"

static char *rendered(enum mst_format format, const struct mst_snapshot *const *boards,
                      size_t count)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render(&kept.sink, format,
                                &(struct mst_shown){ .boards = boards, .count = count }), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

static char *rendered_fields(enum mst_fields_format format)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render_fields(&kept.sink, format, MST_FIELDS_ALL, NULL), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    ck_assert_msg(json != NULL, "line %d, column %d: %s", error.line, error.column, error.text);
    return json;
}

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

    ck_assert_str_eq(text, "{\"boards\":[],\"unreadable\":[]}\n");
    free(text);
    text = rendered(MST_FORMAT_TEXT, NULL, 0);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* ---- promised names -------------------------------------------------------------------- */

/* Follows "a.b[0].c" from a JSON value; NULL where it leads nowhere. */
static const json_t *at(const json_t *json, const char *path)
{
    char step[64];
    int n;

    while (*path != '\0' && json != NULL) {
        ck_assert_int_eq(sscanf(path, "%63[^.[]%n", step, &n), 1);
        json = json_object_get(json, step);
        path += n;
        if (strncmp(path, "[0]", 3) == 0) {
            json = json_array_get(json, 0);
            path += 3;
        }
        path += *path == '.';
    }
    return json;
}

/* Boards that should be there are named where there is room for a sentence. */
START_TEST(unreadable_boards_are_named)
{
    static const struct mst_unreadable unreadable[] = {
        { "/run/a]: b.board", "it \"may\" not be read\n" }, { "/run/c.board", "x" },
    };
    const struct mst_shown shown = { .boards = test_boards(), .count = TEST_BOARDS,
                                     .unreadable = unreadable, .unreadable_count = 2 };
    struct test_kept kept;
    enum mst_format format;
    json_t *json;

    for (format = 0; format < MST_FORMAT_SNAPSHOTS; format++) {
        test_kept_begin(&kept);
        ck_assert_int_eq(mst_render(&kept.sink, format, &shown), 0);
        ck_assert_int_eq(test_kept_end(&kept), 0);
        if (format == MST_FORMAT_TEXT) {
            ck_assert_ptr_nonnull(strstr(kept.text, "\nUnreadable[/run/a\\x5d:\\x20b.board]: it "
                                         "\"may\" not be read\\x0a\nUnreadable[/run/c.board]: "
                                         "x\n"));
        } else if (format == MST_FORMAT_JSON) {
            json = parsed(kept.text);
            ck_assert_str_eq(json_string_value(at(json, "unreadable[0].board")),
                             "/run/a]: b.board");
            ck_assert_str_eq(json_string_value(at(json, "unreadable[0].reason")),
                             "it \"may\" not be read\n");
            ck_assert_uint_eq(json_array_size(json_object_get(json, "unreadable")), 2);
            json_decref(json);
        } else {
            ck_assert_ptr_null(strstr(kept.text, "c.board"));
        }
        free(kept.text);
    }
}
END_TEST

/* The names of a label's phases, in their order. */
static void expect_phases(const json_t *label, const char *expected)
{
    json_t *phases = json_object_get(label, "phases");
    char names[128] = "";
    const char *name;
    json_t *phase;

    json_object_foreach(phases, name, phase)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 names[0] != '\0' ? " " : "", name);
    ck_assert_str_eq(names, expected);
}

START_TEST(json_keeps_its_promises)
{
    static const char *const paths[] = {
        "producer", "mpm", "sapi", "board", "pid", "generation", "started", "uptime_seconds",
        "workers.limit", "workers.busy", "workers.states.idle", "workers.states.reading",
        "workers.states.handling", "workers.states.sending", "workers.states.keepalive",
        "workers.states.closing", "workers.state_seconds.idle", "workers.state_seconds.closing",
        "connections.open", "connections.accepted_total", "connections.shed_total",
        "listeners[0].address", "listeners[0].queue", "listeners[0].queue_limit",
        "lifecycle.forks.child", "lifecycle.forks.request", "lifecycle.forks.helper",
        "lifecycle.forks.php", "lifecycle.exits.clean", "lifecycle.exits.signal",
        "lifecycle.exits.killed", "lifecycle.exits.unknown", "lifecycle.forks_failed",
        "lifecycle.no_idle_worker_seconds", "lifecycle.generations",
        "labels[0].label", "labels[0].requests", "labels[0].bytes", "labels[0].in_flight",
        "labels[0].status.1xx", "labels[0].status.2xx", "labels[0].status.3xx",
        "labels[0].status.4xx", "labels[0].status.5xx", "labels[0].status.aborted",
        "labels[0].phases.queue.count", "labels[0].phases.read.sum_seconds",
        "labels[0].phases.handle.p50_seconds", "labels[0].phases.send.p90_seconds",
        "labels[0].phases.total.p99_seconds", "labels[0].phases.held.max_seconds",
        "slots[0].slot", "slots[0].pid", "slots[0].state", "slots[0].state_for_seconds",
        "slots[0].requests", "slots[0].label", "slots[0].path",
        "journal.requests.capacity", "journal.requests.written",
        "journal.lifecycle.capacity", "journal.lifecycle.written",
    };
    static const char *const php_paths[] = {
        "producer", "mpm", "sapi", "workers.limit", "connections.open", "listeners",
        "labels[0].php.user_seconds", "labels[0].php.system_seconds",
        "labels[0].php.fatal_errors", "labels[0].php.timeouts", "labels[0].php.uncached",
        "labels[0].php.memory_max_bytes",
    };
    char *text = rendered(MST_FORMAT_JSON, test_boards(), TEST_BOARDS);
    json_t *json = parsed(text);
    const json_t *boards = json_object_get(json, "boards");
    const json_t *board = json_array_get(boards, 0);
    size_t i;

    ck_assert_uint_eq(json_object_size(json), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "unreadable")), 0);
    for (i = 0; i < sizeof paths / sizeof paths[0]; i++)
        ck_assert_msg(at(board, paths[i]) != NULL, "expected \"%s\", found none", paths[i]);
    expect_phases(json_array_get(at(board, "labels"), 0),
                  "queue read handle send total held front");
    board = json_array_get(boards, 1);
    expect_phases(json_array_get(at(board, "labels"), 1), "total php_wait php_run");
    for (i = 0; i < sizeof php_paths / sizeof php_paths[0]; i++)
        ck_assert_msg(at(board, php_paths[i]) != NULL, "expected \"%s\", found none",
                      php_paths[i]);
    json_decref(json);
    free(text);
}
END_TEST

START_TEST(openmetrics_keeps_its_promises)
{
#define OF_APACHE "board=\"mpmstat.board\",producer=\"apache\""
    static const char *const samples[] = {
        "mpmstat_requests_total{" OF_APACHE ",label=\"other\",class=\"2xx\"} ",
        "mpmstat_response_bytes_total{" OF_APACHE ",label=\"other\"} ",
        "mpmstat_phase_seconds_bucket{" OF_APACHE ",label=\"other\",phase=\"queue\","
            "le=\"0.000016384\"} ",
        "mpmstat_phase_seconds_bucket{" OF_APACHE ",label=\"other\",phase=\"held\","
            "le=\"4398.046511104\"} ",
        "mpmstat_phase_seconds_bucket{" OF_APACHE ",label=\"other\",phase=\"held\",le=\"+Inf\"} ",
        "mpmstat_phase_seconds_sum{" OF_APACHE ",label=\"other\",phase=\"total\"} ",
        "mpmstat_phase_seconds_count{" OF_APACHE ",label=\"other\",phase=\"total\"} ",
        "mpmstat_in_flight{" OF_APACHE ",label=\"other\"} ",
        "mpmstat_workers{" OF_APACHE ",state=\"idle\"} ",
        "mpmstat_workers_limit{" OF_APACHE "} ",
        "mpmstat_worker_state_seconds_total{" OF_APACHE ",state=\"handling\"} ",
        "mpmstat_no_idle_worker_seconds_total{" OF_APACHE "} ",
        "mpmstat_connections{" OF_APACHE "} ",
        "mpmstat_connections_shed_total{" OF_APACHE "} ",
        "mpmstat_listen_queue{" OF_APACHE ",address=\"127.0.0.1:80\"} ",
        "mpmstat_listen_queue_limit{" OF_APACHE ",address=\"127.0.0.1:80\"} ",
        "mpmstat_forks_total{" OF_APACHE ",kind=\"child\"} ",
        "mpmstat_exits_total{" OF_APACHE ",reason=\"killed\"} ",
        "mpmstat_start_time_seconds{" OF_APACHE "} 1700000000.123456789\n",
        "mpmstat_info{" OF_APACHE ",version=\"0.1.0\",server=\"Apache/2.4.62 (\\\"Debian\\\")"
            "\\nBoard: forged\",mpm=\"event\"} 1\n",
        "mpmstat_info{board=\"33.board\",producer=\"php\",sapi=\"fpm-fcgi\"} 1\n",
    };
    char *texts[] = { rendered(MST_FORMAT_OPENMETRICS, test_boards(), TEST_BOARDS),
                      rendered(MST_FORMAT_PROMETHEUS, test_boards(), TEST_BOARDS) };
    char line[256];
    size_t i, k;

    for (k = 0; k < 2; k++) {
        for (i = 0; i < sizeof samples / sizeof samples[0]; i++) {
            snprintf(line, sizeof line, "\n%s", samples[i]);
            ck_assert_msg(strstr(texts[k], line) != NULL, "expected %s, found none", samples[i]);
        }
        free(texts[k]);
    }
}
END_TEST

START_TEST(text_keeps_its_promises)
{
    static const char *const lines[] = {
        "\nWorkersIdle: 3\n", "\nWorkersLimit: 400\n", "\nPid: 4242\n",
        "\nLabel[www.example.com:443]Requests: 1000\n",
        "\nLabel[www.example.com:443]Status2xx: 990\n",
        "\nLabel[www.example.com:443]StatusAborted: 3\n",
        "\nLabel[www.example.com:443]QueueSumSeconds: 5000.000000000\n",
        "\nListener[127.0.0.1:80]Queue: 5\n", "\nBoard: php\n", "\nSlotsOmitted: 3\n",
        "\nLabel[a\\x5db:\\x20\"q\"\\x09\\x0a\\x5c ",
    };
    char *text = rendered(MST_FORMAT_TEXT, test_boards(), TEST_BOARDS);
    size_t i;

    ck_assert_int_eq(strncmp(text, "Board: apache\n", 14), 0);
    for (i = 0; i < sizeof lines / sizeof lines[0]; i++)
        ck_assert_msg(strstr(text, lines[i]) != NULL, "expected \"%s\", found none", lines[i]);
    free(text);
}
END_TEST

/* ---- every field in every format ----------------------------------------------------------- */

/* Where a field's word is in the numbered board: the phase and the element that
 * stand for <phase> and, say, <state> in its names. */
struct where {
    const struct mst_field *field;
    struct mst_place        board, label, place;
    const char             *phase, *element;
    size_t                  index;
};

/* Puts `word`, as text's keys have it, in the place of <Word> in a name. */
static const char *camel(const char *word)
{
    static char text[64];
    struct test_kept kept;

    test_kept_begin(&kept);
    mst_sink_camel(&kept.sink, word);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    snprintf(text, sizeof text, "%s", kept.text);
    free(kept.text);
    return text;
}

/* The name that stands for <what>; the first letter tells a capital one. */
static const char *stands_for(const struct where *w, const char *what)
{
    struct mst_elements list;
    struct mst_place place;
    enum mst_scope scope;
    static char number[32];

    if (strcasecmp(what, mst_scopes[MST_SCOPE_PHASE].openmetrics) == 0)
        return what[0] < 'a' ? camel(w->phase) : w->phase;
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++) {
        if (scope == MST_SCOPE_PHASE || strcmp(what, mst_scopes[scope].openmetrics) != 0)
            continue;
        list = mst_scope_elements(&w->board, scope);
        place = mst_place_at(&w->board, scope, &list, 0);
        if (mst_scope_key(scope)->type == MST_TYPE_STRING)
            return mst_field_string(mst_scope_key(scope), &place);
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)mst_field_words(mst_scope_key(scope), &place)[0]);
        return number;
    }
    ck_assert_msg(w->element != NULL, "what is <%s>?", what);
    return what[0] < 'a' ? camel(w->element) : w->element;
}

/* A name of the documentation with everything in its place. */
static void resolve(const struct where *w, const char *name, char to[256])
{
    size_t used = 0;
    char what[32];
    int n;

    while (*name != '\0') {
        if (sscanf(name, "<%31[a-zA-Z]>%n", what, &n) == 1) {
            used += (size_t)snprintf(to + used, 256 - used, "%s", stands_for(w, what));
            name += n;
        } else {
            to[used++] = *name++;
        }
    }
    to[used] = '\0';
}

/* The value as text and metrics show it. */
static void value_text(const struct where *w, bool instant_as_seconds, char to[64])
{
    const struct mst_field *f = w->field;
    uint64_t word;

    if (f->type == MST_TYPE_STRING) {
        snprintf(to, 64, "%s", mst_field_string(f, &w->place));
        return;
    }
    word = mst_field_words(f, &w->place)[w->index];
    if (f->unit == MST_UNIT_INSTANT && !instant_as_seconds)
        snprintf(to, 64, "1970-01-01T00:00:00.%09uZ", (unsigned)word);
    else if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
        snprintf(to, 64, "0.%09u", (unsigned)word);
    else
        snprintf(to, 64, "%u", (unsigned)word);
}

static void expect_in_json(const struct where *w, const char *name, const json_t *output)
{
    char path[256], *list, expected[64];
    const json_t *found;

    resolve(w, name, path);
    list = strstr(path, "[]");
    if (list != NULL) {
        memmove(list + 3, list + 2, strlen(list + 2) + 1);
        memcpy(list, "[0]", 3);
    }
    found = at(output, path);
    ck_assert_msg(found != NULL, "expected \"%s\" in JSON, found none", path);
    value_text(w, false, expected);
    if (json_is_string(found))
        ck_assert_str_eq(json_string_value(found), expected);
    else
        ck_assert_double_eq_tol(json_number_value(found), atof(expected), 1e-12);
}

static void expect_in_text(const struct where *w, const char *name, const char *output)
{
    char key[256], value[64], line[384];

    resolve(w, name, key);
    value_text(w, false, value);
    snprintf(line, sizeof line, "%s: %s\n", key, value);
    ck_assert_msg(strstr(output, line) != NULL, "expected %s in text, found none", line);
}

/* name is `family{label,state}`: the sample's labels are these and the values
 * that stand for them; in an info metric the value is a label's. */
static void expect_in_metrics(const struct where *w, const char *name, const char *output)
{
    bool info = w->field->type == MST_TYPE_STRING;
    char sample[384], value[64], copy[128], *rest = copy, *label;
    int n;

    snprintf(copy, sizeof copy, "%s", name);
    n = snprintf(sample, sizeof sample, "%s%s{board=\"%s\",producer=\"%s\"", strsep(&rest, "{}"),
                 w->field->type == MST_TYPE_HISTOGRAM ? "_sum" : "",
                 mst_board_name(&(const struct mst_snapshot *){ w->board.element }, 1, 0),
                 mst_field_string(mst_scope_key(MST_SCOPE_BOARD), &w->board));
    value_text(w, true, value);
    while (!info && rest != NULL && (label = strsep(&rest, ",}")) != NULL && *label != '\0')
        n += snprintf(sample + n, sizeof sample - (size_t)n, ",%s=\"%s\"", label,
                      stands_for(w, label));
    if (info)
        snprintf(sample, sizeof sample, ",%s=\"%s\"", w->field->id, value);
    else
        snprintf(sample + n, sizeof sample - (size_t)n, "} %s\n", value);
    ck_assert_msg(strstr(output, sample) != NULL, "expected %s in metrics, found none", sample);
}

/* What the four formats made of the numbered board, and the documentation. */
struct outputs {
    char   *text, *openmetrics, *prometheus;
    json_t *json, *fields;
};

static void make_outputs(struct outputs *o, const struct mst_snapshot *board)
{
    char *json = rendered(MST_FORMAT_JSON, &board, 1), *fields = rendered_fields(MST_FIELDS_JSON);

    o->text = rendered(MST_FORMAT_TEXT, &board, 1);
    o->openmetrics = rendered(MST_FORMAT_OPENMETRICS, &board, 1);
    o->prometheus = rendered(MST_FORMAT_PROMETHEUS, &board, 1);
    o->json = parsed(json);
    o->fields = parsed(fields);
    free(json);
    free(fields);
}

static void free_outputs(struct outputs *o)
{
    free(o->text);
    free(o->openmetrics);
    free(o->prometheus);
    json_decref(o->json);
    json_decref(o->fields);
}

static void expect_everywhere(const struct where *w, const struct outputs *o)
{
    const json_t *documented = json_array_get(json_object_get(o->fields, "fields"),
                                              (size_t)(w->field - mst_fields));
    const char *json = json_string_value(json_object_get(documented, "json"));
    const char *text = json_string_value(json_object_get(documented, "text"));
    const char *metric = json_string_value(json_object_get(documented, "openmetrics"));

    ck_assert_str_eq(json_string_value(json_object_get(documented, "id")), w->field->id);
    ck_assert_int_eq(json != NULL, w->field->json != NULL);
    ck_assert_int_eq(text != NULL, w->field->text != NULL);
    ck_assert_int_eq(metric != NULL, w->field->openmetrics != NULL);
    if (json != NULL)
        expect_in_json(w, json, json_array_get(json_object_get(o->json, "boards"), 0));
    if (text != NULL)
        expect_in_text(w, text, o->text);
    if (metric != NULL) {
        expect_in_metrics(w, metric, o->openmetrics);
        expect_in_metrics(w, metric, o->prometheus);
    }
}

/* All elements of the field at a place. */
static void expect_elements(struct where *w, const struct outputs *o)
{
    const char *const *names;
    size_t count = mst_type_elements(w->field->type, &names);

    for (w->index = 0; w->index < (count > 0 ? count : 1); w->index++) {
        w->element = count > 0 ? names[w->index] : NULL;
        expect_everywhere(w, o);
    }
}

/* All places of the field's scope: the board has one of each, and all phases. */
static void expect_field(const struct mst_field *f, const struct mst_snapshot *board,
                         const struct outputs *o)
{
    struct where w = { .field = f, .board = mst_place_board(board) };
    struct mst_elements list;
    size_t i;

    w.place = w.board;
    if (f->scope == MST_SCOPE_PHASE) {
        list = mst_scope_elements(&w.board, MST_SCOPE_LABEL);
        w.label = mst_place_at(&w.board, MST_SCOPE_LABEL, &list, 0);
        list = mst_scope_elements(&w.label, MST_SCOPE_PHASE);
    } else if (f->scope != MST_SCOPE_BOARD) {
        list = mst_scope_elements(&w.board, f->scope);
    } else {
        expect_elements(&w, o);
        return;
    }
    for (i = 0; i < list.count; i++) {
        w.place = mst_place_at(f->scope == MST_SCOPE_PHASE ? &w.label : &w.board, f->scope, &list,
                               i);
        w.phase = f->scope == MST_SCOPE_PHASE ? mst_phase_names[i] : NULL;
        expect_elements(&w, o);
    }
}

START_TEST(every_field_is_in_every_format)
{
    const struct mst_snapshot *board = test_numbered_board();
    struct outputs outputs;
    size_t i;

    make_outputs(&outputs, board);
    for (i = 0; i < mst_field_count; i++)
        expect_field(&mst_fields[i], board, &outputs);
    free_outputs(&outputs);
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

/* ---- hostile strings ----------------------------------------------------------------------- */

START_TEST(text_is_a_line_each_and_does_nothing_to_a_terminal)
{
    char *text = rendered(MST_FORMAT_TEXT, test_boards(), TEST_BOARDS), *line, *end;
    const unsigned char *c;
    unsigned boards = 0;

    for (c = (const unsigned char *)text; *c != '\0'; c++)
        ck_assert_msg((*c >= ' ' && *c != 0x7f) || *c == '\n', "a control character: 0x%02x", *c);
    for (line = text; *line != '\0'; line = end + 1) {
        char *colon = strstr(line, ": ");

        end = strchr(line, '\n');
        ck_assert_msg(colon != NULL && colon < end, "no key: %.*s", (int)(end - line), line);
        boards += strncmp(line, "Board: ", 7) == 0;
    }
    ck_assert_uint_eq(boards, TEST_BOARDS);
    free(text);
}
END_TEST

/* The part of a page between two markers. */
static char *part_of(const char *page, const char *begin, const char *end)
{
    const char *from = strstr(page, begin), *to;

    ck_assert_msg(from != NULL, "no %s", begin);
    from += strlen(begin);
    to = strstr(from, end);
    ck_assert_msg(to != NULL, "no %s after %s", end, begin);
    return strndup(from, (size_t)(to - from));
}

/* Replaces each `what`, which is no shorter than `with`. */
static void replace_all(char *text, const char *what, const char *with)
{
    char *at = text;

    while ((at = strstr(at, what)) != NULL) {
        memmove(at + strlen(with), at + strlen(what), strlen(at + strlen(what)) + 1);
        memcpy(at, with, strlen(with));
        at += strlen(with);
    }
}

/* What anybody may have written on a board is text and JSON in the page, the same as
 * elsewhere, and no markup. */
START_TEST(a_page_holds_the_boards_and_no_markup_of_theirs)
{
    struct mst_snapshot hostile = test_boards()[0][0];
    const struct mst_snapshot *boards[] = { &hostile, test_boards()[1] };
    char *page, *text, *json, *expected;
    json_t *found, *wanted;

    hostile.server = "</pre></script><!-- <script>alert(1)</script> & \"'\xe2\x80\xa8";
    page = rendered(MST_FORMAT_HTML, boards, 2);
    text = part_of(page, "<pre>", "</pre>\n</main>");
    json = part_of(page, "<script type=\"application/json\" id=\"data\">", "</script>\n<script>");

    ck_assert_ptr_null(strpbrk(text, "<>\"'"));
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&#39;", "'");
    replace_all(text, "&amp;", "&");
    expected = rendered(MST_FORMAT_TEXT, boards, 2);
    ck_assert_str_eq(text, expected);
    free(expected);

    ck_assert_ptr_null(strchr(json, '<'));
    ck_assert_ptr_null(strstr(json, "\xe2\x80\xa8"));
    expected = rendered(MST_FORMAT_JSON, boards, 2);
    found = parsed(json);
    wanted = parsed(expected);
    ck_assert(json_equal(found, wanted));
    json_decref(found);
    json_decref(wanted);
    free(expected);
    free(json);
    free(text);
    free(page);
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
    tcase_add_test(tests, unreadable_boards_are_named);
    tcase_add_test(tests, json_keeps_its_promises);
    tcase_add_test(tests, openmetrics_keeps_its_promises);
    tcase_add_test(tests, text_keeps_its_promises);
    tcase_add_test(tests, every_field_is_in_every_format);
    tcase_add_test(tests, the_table_is_what_renderers_expect);
    tcase_add_loop_test(tests, families_stand_together, MST_FORMAT_OPENMETRICS,
                        MST_FORMAT_PROMETHEUS + 1);
    tcase_add_test(tests, openmetrics_ends_with_eof);
    tcase_add_test(tests, boards_of_the_same_name_are_told_apart);
    tcase_add_test(tests, text_is_a_line_each_and_does_nothing_to_a_terminal);
    tcase_add_test(tests, a_page_holds_the_boards_and_no_markup_of_theirs);
    tcase_add_test(tests, numbers_are_exact);
    tcase_add_test(tests, json_has_no_integer_of_more_than_63_bits);
    tcase_add_loop_test(tests, the_first_error_of_a_sink_stays, 0, MST_FORMAT_SNAPSHOTS);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

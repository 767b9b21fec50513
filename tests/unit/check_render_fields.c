/* check_render_fields.c - formats: names that are promises, every field in every format,
 * hostile strings.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "harness.h"
#include "render/fields_table.h"
#include "render/render.h"
#include "render/scope.h"
#include "rendered.h"
#include "report/glance.h"

/* ---- promised names -------------------------------------------------------------------- */

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
        "workers.limit", "workers.busy", "workers.wanted", "workers.states.idle",
        "workers.states.reading", "workers.states.handling", "workers.states.sending",
        "workers.states.keepalive", "workers.states.closing", "workers.state_seconds.idle",
        "workers.state_seconds.closing",
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
        "labels[0].php.memory_max_bytes", "labels[0].workers.wanted",
    };
    char *text = rendered(MST_FORMAT_JSON, test_boards(), TEST_BOARDS);
    json_t *json = parsed(text);
    const json_t *boards = json_object_get(json, "boards");
    const json_t *board = json_array_get(boards, 0);
    size_t i;

    ck_assert_uint_eq(json_object_size(json), 3);
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

int main(void)
{
    Suite *suite = suite_create("render");
    TCase *tests = tcase_create("render");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, unreadable_boards_are_named);
    tcase_add_test(tests, json_keeps_its_promises);
    tcase_add_test(tests, openmetrics_keeps_its_promises);
    tcase_add_test(tests, text_keeps_its_promises);
    tcase_add_test(tests, every_field_is_in_every_format);
    tcase_add_test(tests, text_is_a_line_each_and_does_nothing_to_a_terminal);
    tcase_add_test(tests, a_page_holds_the_boards_and_no_markup_of_theirs);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

/* check_top.c - mpmstat top: its model of servers, and the lines that show it. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "boards.h"
#include "harness.h"
#include "top/rows.h"
#include "top/view.h"

#define WALL_NS UINT64_C(1700000000000000000)
#define AT_NS   UINT64_C(5000000000000)

/* ---- a server -------------------------------------------------------------------------------- */

/* An Apache with a label, two busy workers and one that is idle. */
struct made {
    struct mst_snapshot       board;
    struct mst_snapshot_label labels[2];
    struct mst_snapshot_slot  slots[3];
};

static void make(struct made *m)
{
    memset(m, 0, sizeof *m);
    m->board.producer = "apache";
    m->board.mpm = "event";
    m->board.running = "yes";
    m->board.pid = 100;
    m->board.started_ns = WALL_NS;
    m->board.stopped_ns = MST_UNKNOWN;
    m->board.workers_limit = 3;
    m->board.workers_busy = m->board.workers_wanted = 2;
    m->board.workers[MST_STATE_HANDLING] = 2;
    m->board.workers[MST_STATE_IDLE] = 1;
    m->board.label_count = 2;
    m->board.labels = m->labels;
    m->labels[0].label = MST_LABEL_STATUS_NAME;
    m->labels[1].label = "www";
    m->labels[1].in_flight = 2;
    m->labels[1].workers_limit = m->labels[1].workers_wanted = MST_UNKNOWN;
    m->board.slot_count = 3;
    m->board.slots = m->slots;
    m->slots[0] = (struct mst_snapshot_slot){
        .pid = 11, .state = "handling", .request_for_ns = 9 * MST_NS_PER_S, .label = "www",
        .path = "/slow", .wait_for_ns = MST_UNKNOWN, .request_id = MST_UNKNOWN,
    };
    m->slots[1] = (struct mst_snapshot_slot){
        .pid = 12, .state = "handling", .request_for_ns = 2 * MST_NS_PER_S, .label = "abc",
        .path = "/lock.php", .wait = "lock", .wait_end = "lock session",
        .wait_for_ns = MST_NS_PER_S, .request_id = MST_UNKNOWN,
    };
    m->slots[2] = (struct mst_snapshot_slot){ .pid = 13, .state = "idle" };
}

static void observe(struct mst_snapshot_phase *phase, unsigned requests, uint64_t ns)
{
    phase->times.buckets[mst_histogram_bucket(ns)] += requests;
    phase->times.sum_ns += requests * ns;
    phase->times.max_ns = ns > phase->times.max_ns ? ns : phase->times.max_ns;
    phase->count += requests;
    phase->sum_ns += requests * ns;
}

static void serve(struct made *m, unsigned requests, uint64_t ns)
{
    m->labels[1].requests += requests;
    m->labels[1].status[MST_CLASS_2XX] += requests;
    observe(&m->labels[1].phases[MST_PHASE_HANDLE], requests, ns);
    observe(&m->labels[1].phases[MST_PHASE_TOTAL], requests, ns);
}

static struct mst_top top;
static struct made apache;

static void begin(void)
{
    ck_assert(mst_top_init(&top, 1));
    make(&apache);
    serve(&apache, 1000, 50 * MST_NS_PER_S);   /* long ago */
    mst_top_take(&top, 0, &apache.board, AT_NS, WALL_NS);
}

/* So many seconds after the begin. */
static void look(unsigned seconds)
{
    mst_top_take(&top, 0, &apache.board, AT_NS + seconds * MST_NS_PER_S,
                 WALL_NS + seconds * MST_NS_PER_S);
}

/* Whether the latest event has these words. */
static bool has_event(const char *words)
{
    return top.event_count > 0 && strstr(top.events[0].text, words) != NULL;
}

/* ---- the model ------------------------------------------------------------------------------- */

START_TEST(test_the_first_look_has_no_rates)
{
    const struct mst_top_server *s;

    begin();
    s = &top.servers[0];
    ck_assert_int_eq(s->life, MST_TOP_RUNNING);
    ck_assert(s->rate_milli == MST_UNKNOWN && s->labels[0].rate_milli == MST_UNKNOWN);
    ck_assert(s->labels[0].mean_ns == MST_UNKNOWN);
    ck_assert_uint_eq(s->label_count, 1);   /* the status page's is none */
    ck_assert_uint_eq(s->labels[0].in_flight, 2);
    ck_assert_uint_eq(s->present.worker_count, 2);
    ck_assert_uint_eq(s->waiting[MST_WAIT_LOCK], 1);
    ck_assert_uint_eq(top.event_count, 0);
    mst_top_free(&top);
}
END_TEST

START_TEST(test_rates_and_times_of_the_interval)
{
    const struct mst_top_server *s = NULL;
    unsigned i;

    begin();
    for (i = 1; i <= 2; i++) {   /* again, from the other counts */
        serve(&apache, 20, MST_NS_PER_S);
        apache.labels[1].status[MST_CLASS_5XX] += 4;
        apache.labels[0].requests += 7;
        look(2 * i);
        s = &top.servers[0];
        ck_assert_uint_eq(s->interval_ns, 2 * MST_NS_PER_S);
        ck_assert_uint_eq(s->rate_milli, 10000);
        ck_assert_uint_eq(s->mean_ns[MST_PHASE_HANDLE], MST_NS_PER_S);
        ck_assert_uint_eq(s->mean_ns[MST_PHASE_QUEUE], MST_UNKNOWN);
        ck_assert_uint_eq(s->p99_ns, s->labels[0].p99_ns);
        ck_assert_uint_eq(s->labels[0].rate_milli, 10000);
        ck_assert_uint_eq(s->labels[0].milli_5xx, 2000);
        ck_assert_uint_eq(s->labels[0].mean_ns, MST_NS_PER_S);
        ck_assert_uint_ge(s->labels[0].p99_ns, MST_NS_PER_S * 7 / 8);
        ck_assert_uint_le(s->labels[0].p99_ns, MST_NS_PER_S * 9 / 8);
    }
    look(5);
    ck_assert_uint_eq(s->rate_milli, 0);
    ck_assert_uint_eq(s->labels[0].mean_ns, MST_UNKNOWN);
    mst_top_free(&top);
}
END_TEST

START_TEST(test_other_ends)
{
    struct mst_snapshot_end ends[2] = {
        { .name = "fcgi://localhost", .end_kind = "backend", .calls = 5, .end_ns = 100 },
        { .name = "mysql 127.0.0.1:3306", .end_kind = "database", .calls = 10, .end_ns = 1000 },
    };
    const struct mst_top_end *end;

    begin();
    apache.board.ends = ends + 1;
    apache.board.end_count = 1;
    look(1);
    apache.board.ends = ends;   /* one before it is called now, too */
    apache.board.end_count = 2;
    ends[1].calls += 4;
    ends[1].failed += 2;
    ends[1].end_ns += 6 * MST_NS_PER_S;
    look(3);
    ck_assert_uint_eq(top.servers[0].end_count, 2);
    end = &top.servers[0].ends[1];
    ck_assert_str_eq(end->name, "mysql 127.0.0.1:3306");
    ck_assert_uint_eq(end->rate_milli, 2000);
    ck_assert_uint_eq(end->failed_milli, 1000);
    ck_assert_uint_eq(end->mean_ns, 1500 * MST_NS_PER_MS);
    ck_assert_uint_eq(end->at_once_milli, 3000);
    mst_top_free(&top);
}
END_TEST

START_TEST(test_a_new_board)
{
    begin();
    make(&apache);
    apache.board.pid = 200;
    serve(&apache, 3, 1000);
    look(1);
    ck_assert(has_event("was started: pid 200"));
    ck_assert_uint_eq(top.servers[0].rate_milli, MST_UNKNOWN);
    ck_assert_uint_eq(top.servers[0].mean_ns[MST_PHASE_HANDLE], MST_UNKNOWN);
    serve(&apache, 3, 1000);
    look(2);
    ck_assert_uint_eq(top.servers[0].rate_milli, 3000);
    mst_top_free(&top);
}
END_TEST

/* Killed: its board shows no workers any more, and no time of its end. */
START_TEST(test_a_server_that_is_gone_keeps_its_figures)
{
    const struct mst_top_server *s;

    begin();
    serve(&apache, 5, 1000);
    look(1);
    s = &top.servers[0];
    apache.board.running = "no";
    apache.board.slot_count = 0;
    apache.board.workers_busy = 0;
    look(2);
    look(3);
    ck_assert_int_eq(s->life, MST_TOP_GONE);
    ck_assert_uint_eq(s->since_ns, WALL_NS + 2 * MST_NS_PER_S);
    ck_assert_uint_eq(s->rate_milli, 5000);
    ck_assert_uint_eq(s->busy, 2);
    ck_assert_uint_eq(s->present.worker_count, 2);
    ck_assert_uint_eq(top.event_count, 1);
    ck_assert(has_event("is gone"));
    make(&apache);
    apache.board.started_ns++;
    look(4);
    ck_assert_int_eq(s->life, MST_TOP_RUNNING);
    ck_assert(has_event("was started"));
    mst_top_free(&top);
}
END_TEST

START_TEST(test_a_server_that_has_stopped_before_the_first_look)
{
    ck_assert(mst_top_init(&top, 1));
    make(&apache);
    apache.board.running = "no";
    apache.board.stopped_ns = WALL_NS - 1;
    look(0);
    ck_assert_int_eq(top.servers[0].life, MST_TOP_GONE);
    ck_assert_uint_eq(top.servers[0].since_ns, WALL_NS - 1);
    ck_assert_uint_eq(top.servers[0].limit, 3);
    ck_assert(has_event("has stopped"));
    mst_top_free(&top);
}
END_TEST

START_TEST(test_a_server_that_cannot_be_read)
{
    begin();
    mst_top_miss(&top, 0, "no answer", WALL_NS + 1);
    mst_top_miss(&top, 0, "no answer, again", WALL_NS + 2);
    ck_assert_int_eq(top.servers[0].life, MST_TOP_SILENT);
    ck_assert_uint_eq(top.servers[0].since_ns, WALL_NS + 1);
    ck_assert_str_eq(top.servers[0].problem, "no answer, again");
    ck_assert_uint_eq(top.event_count, 1);
    look(1);
    ck_assert_int_eq(top.servers[0].life, MST_TOP_RUNNING);
    ck_assert(has_event("can be read again"));
    mst_top_free(&top);
}
END_TEST

/* Two workers answer for the status: one of them asked for by top. */
START_TEST(test_the_asker_is_no_load)
{
    ck_assert(mst_top_init(&top, 1));
    top.servers[0].is_url = true;
    make(&apache);
    apache.slots[0].label = apache.slots[1].label = MST_LABEL_STATUS_NAME;
    look(0);
    ck_assert_uint_eq(top.servers[0].busy, 1);
    ck_assert_uint_eq(top.servers[0].wanted, 1);
    ck_assert_uint_eq(top.servers[0].states[MST_STATE_HANDLING], 1);
    ck_assert_uint_eq(top.servers[0].present.worker_count, 0);
    mst_top_free(&top);
}
END_TEST

START_TEST(test_events)
{
    unsigned i;

    begin();
    apache.board.workers_busy = 3;
    look(1);
    ck_assert(has_event("all 3 workers are busy"));
    apache.board.workers_busy = 2;
    look(2);
    ck_assert(has_event("idle again"));
    apache.board.generations++;
    look(3);
    ck_assert(has_event("restarted: generation 1"));
    apache.board.forks[MST_KIND_CHILD] += 2;
    apache.board.exits[MST_REASON_CLEAN]++;
    apache.board.exits[MST_REASON_KILLED] += 2;
    look(4);
    ck_assert_str_eq(top.events[0].text, "2 processes started, 1 ended, 2 killed");
    apache.board.unfinished++;
    look(5);
    ck_assert(has_event("1 request ended with a process"));
    for (i = 0; i < 2 * MST_TOP_EVENTS; i++) {
        apache.board.generations++;
        look(6 + i);
    }
    ck_assert_uint_eq(top.event_count, MST_TOP_EVENTS);
    ck_assert(has_event("generation 201"));
    mst_top_free(&top);
}
END_TEST

/* ---- lines ----------------------------------------------------------------------------------- */

START_TEST(test_text_is_harmless)
{
    static const struct { const char *text, *shown; } cases[] = {
        { "plain", "plain" }, { "a\x1b[31mb\r\n\tc\x7f", "a?[31mb???c?" },
        { "\xff\x80 \xc3", "?? ?" },                  /* no UTF-8 */
        { "\xc2\x9b" "31m", "?31m" },                 /* a control of its second half */
        { "a\xcc\x81", "a?" },                        /* it would join the character before */
        { "\xe2\x80\xae" "txt", "?txt" },             /* it would turn the line around */
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
    };
    struct mst_top_line line;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_top_line_begin(&line, 80, MST_TOP_PLAIN);
        mst_top_add_text(&line, cases[i].text, 80, false);
        ck_assert_str_eq(line.text, cases[i].shown);
        ck_assert_uint_eq(line.bytes, strlen(line.text));
    }
}
END_TEST

START_TEST(test_columns)
{
    struct mst_top_line line;

    mst_top_line_begin(&line, 10, MST_TOP_PLAIN);
    /* Two columns each. */
    mst_top_add_text(&line, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, true);
    ck_assert_str_eq(line.text, "\xe6\x97\xa5\xe6\x9c\xac ");
    ck_assert_uint_eq(line.columns, 5);
    mst_top_add(&line, "%s", "abcdefgh");
    ck_assert_str_eq(line.text, "\xe6\x97\xa5\xe6\x9c\xac abcde");
    mst_top_add_right(&line, "1234567");
    ck_assert_str_eq(line.text, "\xe6\x97\xa5 1234567");   /* half a character is none */
    ck_assert_uint_eq(line.columns, 10);
    mst_top_add_text(&line, "x", 1, false);
    ck_assert_uint_eq(line.columns, 10);
}
END_TEST

/* ---- the screen ------------------------------------------------------------------------------ */

static struct mst_top_screen screen;
static struct mst_top_view view;

static void draw(unsigned width, unsigned height)
{
    view.width = width;
    view.height = height;
    view.wall_ns = WALL_NS;
    view.delay_ns = MST_NS_PER_S;
    mst_top_draw(&screen, &top, &view);
}

/* The number of the first line that has the text, counted from 1; 0: none has. */
static unsigned line_of(const char *text)
{
    unsigned i;

    for (i = 0; i < screen.count; i++)
        if (strstr(screen.lines[i].text, text) != NULL)
            return i + 1;
    return 0;
}

START_TEST(test_a_screen)
{
    memset(&view, 0, sizeof view);
    begin();
    serve(&apache, 20, 3 * MST_NS_PER_MS);
    apache.board.workers_busy = 3;
    look(2);
    draw(80, 24);
    ck_assert_uint_eq(screen.count, 24);
    ck_assert_uint_eq(line_of("mpmstat top"), 1);
    ck_assert_uint_eq(line_of(" 1  apache event  10.0 req/s  3 of 3 busy: ALL"), 2);
    ck_assert_int_eq(screen.lines[1].look, MST_TOP_ALARM);
    ck_assert_uint_gt(line_of(" 1 idle  2 handling  2 wanted  "), 0);
    ck_assert_uint_gt(line_of("3.00 ms"), 0);
    ck_assert_uint_gt(line_of("lock session, 1.00 s  /lock.php"), line_of("/slow"));
    ck_assert_uint_gt(line_of("all 3 workers are busy"), line_of("EVENTS"));
    ck_assert_uint_eq(line_of("q quit"), 24);
    mst_top_free(&top);
}
END_TEST

/* Apache in front of PHP, whose two workers wait for a lock: they have Apache's two longest
 * requests, as the numbers say. */
static void make_stuck(struct made *php)
{
    unsigned i;

    make(&apache);
    make(php);
    apache.board.workers_limit = 150;
    php->board.producer = "php";
    php->board.sapi = "fpm-fcgi";
    php->board.workers_limit = 2;
    for (i = 0; i < 2; i++) {
        apache.slots[i].request_id = php->slots[i].request_id = 7 + i;
        apache.slots[i].request_for_ns = php->slots[i].request_for_ns = (9 - i) * MST_NS_PER_S;
        apache.slots[i].path = i == 0 ? "/apache-0" : "/apache-1";
        apache.slots[i].wait = NULL;
        apache.slots[i].wait_end = NULL;
        php->slots[i].path = i == 0 ? "/php-0" : "/php-1";
        php->slots[i].wait = "lock";
        php->slots[i].wait_end = "/var/lock/a\033[31m";
        php->slots[i].wait_for_ns = 8 * MST_NS_PER_S;
    }
}

START_TEST(test_who_is_stuck)
{
    struct made php;

    memset(&view, 0, sizeof view);
    ck_assert(mst_top_init(&top, 2));
    make_stuck(&php);
    mst_top_take(&top, 0, &apache.board, AT_NS, WALL_NS);
    mst_top_take(&top, 1, &php.board, AT_NS, WALL_NS);
    mst_top_conclude(&top);
    draw(80, 24);
    ck_assert_str_eq(screen.lines[1].text, "PHP is stuck: all of its 2 workers wait for lock "
                     "/var/lock/a?[31m, the longest");
    ck_assert_str_eq(screen.lines[2].text, "for 8.00 s. All are busy, and none has taken a request "
                     "for 8.00 s.");
    ck_assert_int_eq(screen.lines[1].look, MST_TOP_ALARM);
    draw(140, 24);
    ck_assert_uint_gt(line_of("/php-1"), 0);
    ck_assert_uint_lt(line_of("/php-1"), line_of("/apache-0"));
    ck_assert_uint_gt(line_of("lock /var/lock/a?[31m, 8.00 s  /apache-0"), 0);
    php.board.slot_count = 0;   /* all have gone on */
    mst_top_take(&top, 0, &apache.board, AT_NS, WALL_NS);
    mst_top_take(&top, 1, &php.board, AT_NS, WALL_NS);
    mst_top_conclude(&top);
    draw(80, 24);
    ck_assert_uint_eq(line_of("is stuck"), 0);
    ck_assert_uint_eq(line_of("2 of Apache's 150 workers have had one request"), 2);
    ck_assert_uint_eq(line_of("lock /var"), 0);
    mst_top_free(&top);
}
END_TEST

/* Connections wait for the two workers of a pool. How many wait for Apache's is not known. */
START_TEST(test_workers_wanted)
{
    struct made php;

    memset(&view, 0, sizeof view);
    ck_assert(mst_top_init(&top, 2));
    make_stuck(&php);
    apache.board.workers_wanted = MST_UNKNOWN;
    php.labels[1].workers_limit = 2;
    php.labels[1].workers_wanted = 9;
    mst_top_take(&top, 0, &apache.board, AT_NS, WALL_NS);
    mst_top_take(&top, 1, &php.board, AT_NS, WALL_NS);
    draw(80, 24);
    ck_assert_uint_gt(line_of(" 2 handling  - wanted  "), 0);
    ck_assert_uint_gt(line_of(" 2  www                      2/2      9       -"), 0);
    ck_assert_uint_gt(line_of(" 1  www                        2      -       -"), 0);
    mst_top_free(&top);
}
END_TEST

START_TEST(test_filter_and_order)
{
    memset(&view, 0, sizeof view);
    begin();
    snprintf(view.filter, sizeof view.filter, "LOCK");
    draw(80, 24);
    ck_assert(line_of("/lock.php") > 0 && line_of("/slow") == 0);
    ck_assert_uint_eq(line_of("only \"LOCK\""), 1);
    view.filter[0] = '\0';
    view.order[MST_TOP_IN_FLIGHT] = 1;
    draw(80, 24);
    ck_assert_uint_lt(line_of("/lock.php"), line_of("/slow"));
    view.order[MST_TOP_IN_FLIGHT] = 2;   /* "abc" before "www" */
    draw(80, 24);
    ck_assert_uint_lt(line_of("/lock.php"), line_of("/slow"));
    view.scroll = SIZE_MAX / 2;
    draw(80, 24);
    ck_assert_uint_eq(view.scroll, 0);   /* all fit */
    mst_top_free(&top);
}
END_TEST

START_TEST(test_a_gone_server_is_marked)
{
    memset(&view, 0, sizeof view);
    begin();
    apache.board.running = "no";
    look(1);
    draw(80, 24);
    ck_assert_uint_eq(line_of(" 1! apache event  GONE since "), 2);
    ck_assert_uint_gt(line_of(" 1!       11 handling"), 0);
    mst_top_miss(&top, 0, "no \x1b answer", WALL_NS);
    draw(80, 24);
    ck_assert_uint_eq(line_of(": no ? answer"), 2);
    mst_top_free(&top);
}
END_TEST

/* Every choice in every size, with hostile strings: lines have their width, and no controls. */
static void check_size(unsigned width, unsigned height)
{
    unsigned i, k;

    draw(width, height);
    ck_assert_uint_le(screen.count, height < MST_TOP_LINES_MAX ? height : MST_TOP_LINES_MAX);
    for (i = 0; i < screen.count; i++) {
        ck_assert_uint_le(screen.lines[i].columns, width);
        for (k = 0; k < screen.lines[i].bytes; k++)
            ck_assert_uint_ge((unsigned char)screen.lines[i].text[k], ' ');
        ck_assert(strchr(screen.lines[i].text, 127) == NULL);
    }
}

START_TEST(test_hostile_boards_in_every_size)
{
    static const unsigned widths[] = { 1, 2, 40, 80, 500 };
    static const unsigned heights[] = { 1, 2, 5, 24, 300 };
    const struct mst_snapshot *const *boards = test_boards();
    unsigned w, h, list, choice;
    size_t i, look;

    ck_assert(mst_top_init(&top, 3 * TEST_BOARDS));
    for (look = 1; look <= 2; look++)
        for (i = 0; i < top.server_count; i++)
            mst_top_take(&top, i, boards[i % TEST_BOARDS], look * MST_NS_PER_S, WALL_NS + look);
    mst_top_take(&top, 0, test_numbered_board(), 3 * MST_NS_PER_S, WALL_NS);
    mst_top_take(&top, 0, test_numbered_board(), 4 * MST_NS_PER_S, WALL_NS);
    memset(&view, 0, sizeof view);
    for (choice = 0; choice < 8; choice++)
        for (list = 0; list < MST_TOP_LISTS; list++) {
            view.list = (enum mst_top_list)list;
            view.order[list] = choice % MST_TOP_ORDERS;
            view.scroll = choice;
            view.is_help = choice == 5;
            view.is_typing = choice == 6;
            view.is_paused = choice == 7;
            snprintf(view.filter, sizeof view.filter, "%s", choice == 6 ? "a\xff\x1b" : "");
            for (w = 0; w < sizeof widths / sizeof *widths; w++)
                for (h = 0; h < sizeof heights / sizeof *heights; h++)
                    check_size(widths[w], heights[h]);
        }
    mst_top_free(&top);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("top");
    TCase *model = tcase_create("model"), *shown = tcase_create("view");

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 1;
    tcase_add_test(model, test_the_first_look_has_no_rates);
    tcase_add_test(model, test_rates_and_times_of_the_interval);
    tcase_add_test(model, test_other_ends);
    tcase_add_test(model, test_a_new_board);
    tcase_add_test(model, test_a_server_that_is_gone_keeps_its_figures);
    tcase_add_test(model, test_a_server_that_has_stopped_before_the_first_look);
    tcase_add_test(model, test_a_server_that_cannot_be_read);
    tcase_add_test(model, test_the_asker_is_no_load);
    tcase_add_test(model, test_events);
    tcase_add_test(shown, test_text_is_harmless);
    tcase_add_test(shown, test_columns);
    tcase_add_test(shown, test_a_screen);
    tcase_add_test(shown, test_who_is_stuck);
    tcase_add_test(shown, test_workers_wanted);
    tcase_add_test(shown, test_filter_and_order);
    tcase_add_test(shown, test_a_gone_server_is_marked);
    tcase_add_test(shown, test_hostile_boards_in_every_size);
    suite_add_tcase(suite, model);
    suite_add_tcase(suite, shown);
    return test_run(suite);
}

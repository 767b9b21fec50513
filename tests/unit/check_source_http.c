/* check_source_http.c - what a status URL sends, read back: the journal's lines
 * and the status JSON. Good ones give exactly what the renderers were given;
 * each folder of tests/cases/journal is an answer and what becomes of it.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "read/tail.h"
#include "render/journal.h"
#include "render/render.h"
#include "source/http.h"
#include "source/ndjson.h"
#include "source/ndjson_members.h"
#include "source/source_kind.h"
#include "source/status_json.h"
#include "stats/random.h"
#include "write/journal.h"
#include "write/worker.h"

#define PAGE 1000u    /* records of a kind that are asked for */

/* ---- files and memory --------------------------------------------------------- */

struct text { char *bytes; size_t length; };

static int append(void *context, const void *bytes, size_t n)
{
    struct text *t = context;

    t->bytes = realloc(t->bytes, t->length + n + 1);
    ck_assert_ptr_nonnull(t->bytes);
    memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
    t->bytes[t->length] = '\0';
    return 0;
}

static bool read_case(struct text *t, const char *name, const char *file)
{
    const char *source = getenv("MPMSTAT_SRCDIR");
    char path[1024], chunk[4096];
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "%s/tests/cases/journal/%s/%s", source != NULL ? source : ".",
             name, file);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    append(t, "", 0);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        append(t, chunk, n);
    ck_assert_int_eq(fclose(f), 0);
    return true;
}

/* ---- the cases ------------------------------------------------------------------ */

static const char *number(char buffer[24], uint64_t n)
{
    if (n == MST_UNKNOWN)
        return "-";
    snprintf(buffer, 24, "%llu", (unsigned long long)n);
    return buffer;
}

static void print_request(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_request *r = &l->record.request;
    uint64_t worker = r->pid_worker & UINT32_MAX;
    char a[24], b[24], c[24], d[24];

    fprintf(out, "request %llu at %llu.%09llu id %s phases %llu %llu %llu %llu held %s bytes %s "
            "label %s status %llu flags %llu pid %llu worker %s connection %llu port %llu nth "
            "%llu\n", (unsigned long long)l->ticket,
            (unsigned long long)(l->wall_ns / MST_NS_PER_S),
            (unsigned long long)(l->wall_ns % MST_NS_PER_S), number(a, r->id),
            (unsigned long long)r->queue_ns, (unsigned long long)r->read_ns,
            (unsigned long long)r->handle_ns, (unsigned long long)r->send_ns,
            number(b, r->held_ns), number(c, r->bytes), l->label,
            (unsigned long long)(r->label_status & 0xffff),
            (unsigned long long)(r->label_status >> 16 & 0xffff),
            (unsigned long long)(r->pid_worker >> 32),
            number(d, worker == UINT32_MAX ? MST_UNKNOWN : worker),
            (unsigned long long)(r->connection >> 16),
            (unsigned long long)(r->connection & 0xffff), (unsigned long long)r->nth);
    if (r->front_ns != MST_UNKNOWN)
        fprintf(out, "  front %llu\n", (unsigned long long)r->front_ns);
    if (r->client_id > 0)
        fprintf(out, "  client's id %llu\n", (unsigned long long)r->client_id - 1);
    if (l->ends[0][0] != '\0' || l->ends[1][0] != '\0')
        fprintf(out, "  handler %s backend %s\n", l->ends[0], l->ends[1]);
    if (r->checks_ns != MST_UNKNOWN)
        fprintf(out, "  intervals %llu %llu %llu %llu %llu send %s %s %s log %llu\n",
                (unsigned long long)r->tls_ns, (unsigned long long)r->h2_wait_ns,
                (unsigned long long)r->checks_ns, (unsigned long long)r->upload_ns,
                (unsigned long long)r->backend_ns, number(a, r->send_client_ns),
                number(b, r->send_network_ns), number(c, r->send_server_ns),
                (unsigned long long)r->log_ns);
    if (r->trace_parent > 0)
        fprintf(out, "  trace %llx %llx %llx\n", (unsigned long long)r->trace_high,
                (unsigned long long)r->trace_low, (unsigned long long)r->trace_parent);
}

static void print_delivery(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_delivery *d = &l->record.delivery;
    char a[24], b[24];

    fprintf(out, "delivery %llu of %llu: %s bytes for %s\n", (unsigned long long)l->ticket,
            (unsigned long long)d->id, number(a, d->undelivered_bytes),
            number(b, d->undelivered_ns));
}

static void print_waits(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_php_request *r = &l->record.php_request;
    char text[24];
    size_t i;

    fprintf(out, "  cpu_wait %s waits", number(text, r->cpu_wait_ns));
    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (r->waits_ns[i] > 0)
            fprintf(out, " %s %llu", mst_wait_names[i], (unsigned long long)r->waits_ns[i]);
    fputc('\n', out);
    for (i = 0; i < MST_RECORD_ENDS; i++)
        if (r->longest[i].calls_failed > 0)
            fprintf(out, "  longest %s %s calls %llu failed %llu for %llu\n",
                    mst_wait_names[r->longest[i].kind_end >> 32], l->ends[i],
                    (unsigned long long)r->longest[i].calls_failed >> 32,
                    (unsigned long long)r->longest[i].calls_failed & UINT32_MAX,
                    (unsigned long long)r->longest[i].wait_ns);
}

static void print_php_request(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_php_request *r = &l->record.php_request;
    uint64_t worker = r->pid_worker & UINT32_MAX;
    char a[24], b[24], c[24], d[24], e[24], f[24];

    fprintf(out, "php request %llu at %llu.%09llu id %s wait %s run %llu user %s system %s memory "
            "%s label %s status %llu flags %llu pid %llu worker %s script %s\n",
            (unsigned long long)l->ticket, (unsigned long long)(l->wall_ns / MST_NS_PER_S),
            (unsigned long long)(l->wall_ns % MST_NS_PER_S), number(a, r->id),
            number(b, r->wait_ns), (unsigned long long)r->run_ns, number(c, r->user_ns),
            number(d, r->system_ns), number(e, r->memory_bytes), l->label,
            (unsigned long long)(r->label_status & 0xffff),
            (unsigned long long)(r->label_status >> 16 & 0xffff),
            (unsigned long long)(r->pid_worker >> 32),
            number(f, worker == UINT32_MAX ? MST_UNKNOWN : worker), r->script);
    if (mst_php_waits_known(r))
        print_waits(out, l);
}

static void print_mark(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_mark *m = &l->record.mark;

    fprintf(out, "mark %llu at %llu.%09llu of %llu.%09llu pid %llu %s\n",
            (unsigned long long)l->ticket, (unsigned long long)(l->wall_ns / MST_NS_PER_S),
            (unsigned long long)(l->wall_ns % MST_NS_PER_S),
            (unsigned long long)(l->request_wall_ns / MST_NS_PER_S),
            (unsigned long long)(l->request_wall_ns % MST_NS_PER_S), (unsigned long long)m->pid,
            m->name);
}

static void print_event(FILE *out, const struct mst_ndjson_line *l)
{
    const struct mst_lifecycle *e = &l->record.lifecycle;
    char a[24], b[24], c[24];

    fprintf(out, "%s %llu at %llu.%09llu %s pid %llu parent %llu slot %lld generation %llu "
            "duration %s requests %s unfinished %s reason %s\n",
            mst_event_names[e->event_kind >> 32], (unsigned long long)l->ticket,
            (unsigned long long)(l->wall_ns / MST_NS_PER_S),
            (unsigned long long)(l->wall_ns % MST_NS_PER_S),
            mst_kind_names[e->event_kind & UINT32_MAX], (unsigned long long)(e->pid_parent >> 32),
            (unsigned long long)(e->pid_parent & UINT32_MAX), (long long)e->mpm_slot,
            (unsigned long long)e->generation, number(a, e->duration_ns),
            number(b, e->requests), number(c, e->unfinished), mst_reason_names[e->reason]);
}

/* What became of an answer, as the files `expected` have it. */
static char *describe(const struct mst_ndjson *answer)
{
    char *text, lost[24];
    size_t length, i;
    FILE *out = open_memstream(&text, &length);

    ck_assert_ptr_nonnull(out);
    for (i = 0; i < answer->count; i++) {
        const struct mst_ndjson_line *l = &answer->lines[i];

        switch (l->kind) {
        case MST_NDJSON_REQUEST:     print_request(out, l); break;
        case MST_NDJSON_PHP_REQUEST: print_php_request(out, l); break;
        case MST_NDJSON_MARK:        print_mark(out, l); break;
        case MST_NDJSON_DELIVERY:    print_delivery(out, l); break;
        default:                     print_event(out, l);
        }
    }
    fprintf(out, "next %s lost %s more %d\n", answer->next, number(lost, answer->lost),
            answer->more);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

static void check_case(const char *name)
{
    struct text input = { 0 }, expected = { 0 }, wrong = { 0 };
    struct mst_ndjson answer = { 0 };
    char error[MST_ERROR_MAX] = "", *found;
    int result;

    ck_assert_msg(read_case(&input, name, "input"), "%s has no input", name);
    result = mst_ndjson_read(input.bytes, input.length, PAGE, &answer, error);
    if (read_case(&expected, name, "expected")) {
        ck_assert_msg(result == 0, "%s: %s", name, error);
        found = describe(&answer);
        ck_assert_msg(strcmp(found, expected.bytes) == 0, "%s: expected\n%sfound\n%s", name,
                      expected.bytes, found);
        free(found);
    } else {
        ck_assert_msg(read_case(&wrong, name, "error"), "%s has no expected or error", name);
        ck_assert_msg(result == -1, "%s was taken for good", name);
        ck_assert_uint_eq(answer.count, 0);
        strcat(error, "\n");
        ck_assert_msg(strcmp(error, wrong.bytes) == 0, "%s: expected %sfound %s", name,
                      wrong.bytes, error);
    }
    mst_ndjson_free(&answer);
    free(input.bytes);
    free(expected.bytes);
    free(wrong.bytes);
}

START_TEST(cases)
{
    const char *source = getenv("MPMSTAT_SRCDIR");
    struct dirent *entry;
    char path[1024];
    unsigned count = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/tests/cases/journal", source != NULL ? source : ".");
    dir = opendir(path);
    ck_assert_msg(dir != NULL, "%s: %m", path);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        check_case(entry->d_name);
        count++;
    }
    closedir(dir);
    ck_assert_uint_gt(count, 30);
}
END_TEST

START_TEST(decimals_are_exact)
{
    static const struct { const char *text; size_t used; uint64_t ns; } cases_of[] = {
        { "0", 1, 0 }, { "0.000000001", 11, 1 }, { "1.5", 3, 1500000000 },
        { "1763710000.123456789,", 20, UINT64_C(1763710000123456789) },
        { "18446744073.709551615", 21, UINT64_MAX }, { "18446744073.709551616", 0, 0 },
        { "18446744074", 0, 0 }, { "99999999999999999999", 0, 0 }, { "", 0, 0 }, { ".5", 0, 0 },
        { "1.", 0, 0 }, { "-1", 0, 0 }, { "+1", 0, 0 }, { " 1", 0, 0 }, { "1.0000000001", 0, 0 },
        { "1e9", 1, 1000000000 }, { "nan", 0, 0 }, { "0x10", 1, 0 },
    };
    size_t i;

    for (i = 0; i < sizeof cases_of / sizeof *cases_of; i++) {
        uint64_t ns = 0;
        size_t used = mst_decimal_ns(cases_of[i].text, strlen(cases_of[i].text), &ns);

        ck_assert_msg(used == cases_of[i].used, "%s: %zu", cases_of[i].text, used);
        ck_assert_msg(used == 0 || ns == cases_of[i].ns, "%s: %llu", cases_of[i].text,
                      (unsigned long long)ns);
    }
    ck_assert_uint_eq(mst_decimal_ns("123", 2, &(uint64_t){ 0 }), 2);
}
END_TEST

START_TEST(instants_are_exact)
{
    ck_assert_uint_eq(mst_instant_ns("1970-01-01T00:00:00Z"), 0);
    ck_assert_uint_eq(mst_instant_ns("2001-02-03T04:05:06.123456789Z"),
                      UINT64_C(981173106123456789));
    ck_assert_uint_eq(mst_instant_ns("2001-02-03T04:05:06.5Z"), UINT64_C(981173106500000000));
    ck_assert_uint_eq(mst_instant_ns("2001-02-03T04:05:06"), MST_UNKNOWN);
    ck_assert_uint_eq(mst_instant_ns("2001-02-03T04:05:06+01:00"), MST_UNKNOWN);
    ck_assert_uint_eq(mst_instant_ns("1969-12-31T23:59:59Z"), MST_UNKNOWN);
    ck_assert_uint_eq(mst_instant_ns("9999-12-31T23:59:59Z"), MST_UNKNOWN);
    ck_assert_uint_eq(mst_instant_ns("yesterday"), MST_UNKNOWN);
    ck_assert_uint_eq(mst_instant_ns(""), MST_UNKNOWN);
}
END_TEST

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

struct expected { const struct mst_board *board; const struct mst_ndjson *answer; size_t seen; };

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

/* A PHP's, whose scripts and marks can be any bytes: those that are no UTF-8 come
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

/* ---- URLs ------------------------------------------------------------------------------ */

START_TEST(loopback_is_loopback)
{
    ck_assert(mst_http_is_loopback("http://127.0.0.1/mpm-status"));
    ck_assert(mst_http_is_loopback("http://127.8.9.10:8080/"));
    ck_assert(mst_http_is_loopback("https://LOCALHOST:1/x"));
    ck_assert(mst_http_is_loopback("http://[::1]:8080/x"));
    ck_assert(!mst_http_is_loopback("http://127.evil.example/"));
    ck_assert(!mst_http_is_loopback("http://localhost.example/"));
    ck_assert(!mst_http_is_loopback("http://192.0.2.1/?h=localhost"));
    ck_assert(!mst_http_is_loopback("http://localhost@192.0.2.1/"));
    ck_assert(!mst_http_is_loopback("not a URL"));
}
END_TEST

START_TEST(what_others_sent_is_made_printable)
{
    static const char nasty[] = "red \033[31m bell \a \xc3\xbc\nsecond line";
    char out[64], tiny[4];

    mst_printable(out, sizeof out, nasty, sizeof nasty - 1);
    ck_assert_str_eq(out, "red ?[31m bell ? ??");
    mst_printable(tiny, sizeof tiny, nasty, sizeof nasty - 1);
    ck_assert_str_eq(tiny, "red");
    mst_printable(tiny, 0, nasty, sizeof nasty - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_http");
    TCase *journal = tcase_create("journal"), *status = tcase_create("status");

    tcase_add_test(journal, cases);
    tcase_add_test(journal, decimals_are_exact);
    tcase_add_test(journal, the_journal_comes_back_exactly);
    tcase_add_test(journal, the_journal_of_a_php_comes_back);
    tcase_add_test(journal, damaged_answers_do_no_harm);
    tcase_add_test(status, instants_are_exact);
    tcase_add_test(status, a_sample_is_the_same_from_file_and_json);
    tcase_add_test(status, the_worker_that_answers_is_left_out);
    tcase_add_test(status, a_wrong_status_is_a_sentence);
    tcase_add_test(status, odd_values_are_unknown);
    tcase_add_test(status, loopback_is_loopback);
    tcase_add_test(status, what_others_sent_is_made_printable);
    suite_add_tcase(suite, journal);
    suite_add_tcase(suite, status);
    return test_run(suite);
}

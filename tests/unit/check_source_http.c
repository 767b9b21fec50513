/* check_source_http.c - a status page as a source: answers that were kept, URLs. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "http_answers.h"
#include "read/tail.h"
#include "render/journal.h"
#include "source/http.h"
#include "source/ndjson.h"
#include "source/ndjson_members.h"
#include "source/source_kind.h"
#include "source/status_json.h"
#include "write/journal.h"
#include "write/worker.h"

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
    if (l->path[0] != '\0')
        fprintf(out, "  path %s\n", l->path);
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
    tcase_add_test(status, instants_are_exact);
    tcase_add_test(status, loopback_is_loopback);
    tcase_add_test(status, what_others_sent_is_made_printable);
    suite_add_tcase(suite, journal);
    suite_add_tcase(suite, status);
    return test_run(suite);
}

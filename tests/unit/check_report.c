/* check_report.c - reports: texts, series over time, whole reports. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/series.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_report.h"
#include "render/script.h"
#include "report/advice.h"
#include "report/cells.h"
#include "doc/markup.h"
#include "report/metrics.h"
#include "report/report.h"

/* ---- texts ------------------------------------------------------------------------ */

struct text { char *bytes; size_t used; };

static int keep(void *context, const void *bytes, size_t n)
{
    struct text *text = context;

    text->bytes = realloc(text->bytes, text->used + n + 1);
    ck_assert_ptr_nonnull(text->bytes);
    memcpy(text->bytes + text->used, bytes, n);
    text->used += n;
    text->bytes[text->used] = '\0';
    return 0;
}

static void expect_escaped(void (*escape)(struct mst_sink *, const char *), const char *in,
                           const char *out)
{
    struct text text = { 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep, &text);
    escape(&sink, in);
    mst_sink_char(&sink, '\n');
    mst_sink_flush(&sink);
    text.bytes[text.used - 1] = '\0';
    ck_assert_str_eq(text.bytes, out);
    free(text.bytes);
}

START_TEST(test_html)
{
    expect_escaped(mst_sink_html_string, "<a href='x' b=\"y\">&amp;",
                   "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;");
    expect_escaped(mst_sink_html_string, "two\nlines\tand \x01 \xff \xc3\xa9 \xc2\x9b",
                   "two\nlines\tand \xef\xbf\xbd \xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd");
    expect_escaped(mst_sink_html_string, NULL, "");
}
END_TEST

START_TEST(test_markdown)
{
    expect_escaped(mst_sink_markdown_string, "a|b\nc *d* `e` [f](g)", "a\\|b c \\*d\\* \\`e\\` "
                   "\\[f\\](g)");
    expect_escaped(mst_sink_markdown_string, "<script> @me #12 &lt;",
                   "&#60;script&#62; &#64;me &#35;12 &#38;lt;");
}
END_TEST

START_TEST(test_csv)
{
    expect_escaped(mst_sink_csv_string, "plain", "plain");
    expect_escaped(mst_sink_csv_string, "a,b", "\"a,b\"");
    expect_escaped(mst_sink_csv_string, "say \"x\"\nand y", "\"say \"\"x\"\"\nand y\"");
    expect_escaped(mst_sink_csv_string, "=1+1", "\"'=1+1\"");
    expect_escaped(mst_sink_csv_string, "", "");
    expect_escaped(mst_sink_csv_string, "a\tb \x1b[31m \xff \xc3\xa9 \xc2\x9b \x7f",
                   "a\tb \xef\xbf\xbd[31m \xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd");
    expect_escaped(mst_sink_csv_string, "=a\n\t\r\x1b\"\xff",
                   "\"'=a\n\t\xef\xbf\xbd\xef\xbf\xbd\"\"\xef\xbf\xbd\"");
}
END_TEST

/* A template is markup, and what is filled in never is. */
START_TEST(test_templates)
{
    struct text text = { 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep, &text);
    mst_html(&sink, "<a href=\"#%zu\" title=\"%s\">%s</a>, %u, %" PRIu64 ", %" PRId64 ", 5 %%\n",
             (size_t)7, "\"x\" onclick=", "<b>", 3u, UINT64_MAX, INT64_C(-2));
    mst_html(&sink, "%s|", text.bytes);
    mst_markdown(&sink, "| **%s** | %s |", "a|b", "<i>");
    mst_sink_flush(&sink);
    ck_assert_str_eq(text.bytes,
                     "<a href=\"#7\" title=\"&quot;x&quot; onclick=\">&lt;b&gt;</a>, 3, "
                     "18446744073709551615, -2, 5 %\n|| **a\\|b** | &#60;i&#62; |");
    free(text.bytes);
}
END_TEST

/* Whatever the pieces in which it comes. */
START_TEST(test_script)
{
    const char in[] = "[\"</script><!-- \xe2\x80\xa8 \xe2\x80\xa9 \xe2\xe2\x80\xa7 \xe2\x80\"]";
    const char out[] = "[\"\\u003c/script>\\u003c!-- \\u2028 \\u2029 \xe2\xe2\x80\xa7 \xe2\x80\"]";
    size_t piece, at, n;

    for (piece = 1; piece < sizeof in; piece++) {
        struct text text = { 0 };
        struct mst_sink sink;
        struct mst_script script = { .to = &sink };

        mst_sink_init(&sink, keep, &text);
        for (at = 0; at < sizeof in - 1; at += n) {
            n = sizeof in - 1 - at < piece ? sizeof in - 1 - at : piece;
            ck_assert_int_eq(mst_script_write(&script, in + at, n), 0);
        }
        mst_script_end(&script);
        mst_sink_flush(&sink);
        ck_assert_str_eq(text.bytes, out);
        free(text.bytes);
    }
}
END_TEST

START_TEST(test_cells)
{
    static const struct { double cell; const char *text; } cells[] = {
        { 0, "0" }, { -0.0, "0" }, { 3, "3" }, { 0.000025, "2.5e-05" }, { 1.0 / 3, "0.333333" },
        { 25276502016.0, "25276502016" }, { NAN, "-" }, { INFINITY, "-" },
    };
    size_t i;

    for (i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct text text = { 0 };
        struct mst_sink sink;

        mst_sink_init(&sink, keep, &text);
        mst_real_put(&sink, cells[i].cell, "-");
        mst_sink_flush(&sink);
        ck_assert_str_eq(text.bytes, cells[i].text);
        free(text.bytes);
    }
    ck_assert(isnan(mst_cell(MST_UNKNOWN)));
    ck_assert(isnan(mst_cell_seconds(MST_UNKNOWN)));
    ck_assert_double_eq(mst_cell_seconds(1500 * MS), 1.5);
}
END_TEST

static double cell_of(const struct mst_table *table, size_t row, const char *column)
{
    size_t i;

    for (i = 0; i < table->width; i++)
        if (strcmp(table->columns[i], column) == 0 && row < table->rows)
            return table->cells[row * table->width + i];
    ck_abort_msg("no row %zu with a column %s", row, column);
}

/* ---- series ----------------------------------------------------------------------- */

START_TEST(test_bins)
{
    struct mst_bins bins, wide;
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 300, 0));
    ck_assert_uint_eq(bins.width_ns, 100 * MS);
    ck_assert_uint_eq(bins.count, 100);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 60, 0));
    ck_assert_uint_eq(bins.width_ns, 200 * MS);
    ck_assert_uint_eq(bins.count, 50);
    wide = mst_bins_widen(&bins, 1000 * MS);
    ck_assert_uint_eq(wide.width_ns, 1000 * MS);
    ck_assert_uint_eq(wide.count, 10);
    wide = mst_bins_widen(&bins, 0);
    ck_assert_uint_eq(wide.width_ns, 200 * MS);
    end(&m);
}
END_TEST

/* The means of a bin are over all requests that ended in it. */
START_TEST(test_parts_over_time)
{
    struct mst_series_requests series;
    struct mst_bins bins;
    struct made m;
    sqlite3 *db;

    begin(&m, NULL, "http://127.0.0.1/");
    add_request(&m, 1, START + 500 * MS, 0, 100 * MS, 200);
    add_request(&m, 2, START + 600 * MS, 0, 100 * MS, 200);
    add_request(&m, 3, START + 1990 * MS, 0, 100 * MS, 200);   /* ends in the third second */
    sql(&m, "UPDATE server_requests SET tls_ns = 0, checks_ns = key * 1000000, upload_ns = 0, "
        "backend_ns = 0, log_ns = 0");
    sql(&m, "INSERT INTO servers (id, run_id, target, producer, local, lost, restarts) VALUES "
        "(2, 1, 'p.board', 'php', 1, 0, 0)");
    sql(&m, "INSERT INTO php_requests SELECT 2, key, start_ns, NULL, 0, handle_ns, 10000000, 0, 1, "
        "'www', 200, 'i.php', 0, 0, 0, 1, 7, 1, 0, 5000000, CASE key WHEN 2 THEN 60000000 ELSE 0 "
        "END, 1, 0, 0 FROM server_requests");
    sql(&m, "INSERT INTO php_waits (server_id, key, kind, end, calls, failed, wait_ns) "
            "VALUES (2, 2, 'http', 'api', 1, 0, 60000000)");
    summarize(&m);
    db = mst_archive_db(m.archive);
    ck_assert(mst_bins_make(&bins, db, &m.s, 0, MST_NS_PER_S));
    mst_series_server(&series, &m.s.servers[0], &bins);
    ck_assert_uint_eq(series.parts.rows, bins.count);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "checks"), 0.0015, 1e-12);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "handle"), 0.0985, 1e-12);
    ck_assert_double_eq_tol(cell_of(&series.parts, 2, "checks"), 0.003, 1e-12);
    ck_assert_double_nan(cell_of(&series.parts, 1, "checks"));
    ck_assert_double_nan(cell_of(&series.parts, 0, "tls"));          /* no request had it */
    mst_series_requests_free(&series);
    mst_series_server(&series, &m.s.servers[1], &bins);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "cpu"), 0.010, 1e-12);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "cpu_wait"), 0.005, 1e-12);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "http"), 0.030, 1e-12);
    ck_assert_double_eq_tol(cell_of(&series.parts, 0, "rest"), 0.055, 1e-12);
    ck_assert_double_eq(cell_of(&series.parts, 2, "http"), 0);
    ck_assert_double_nan(cell_of(&series.parts, 1, "cpu"));
    mst_series_requests_free(&series);
    end(&m);
}
END_TEST

/* Every request is in the bin that it ended in, and nowhere else; quantiles are those
 * of all of a bin's requests. */
START_TEST(test_requests_over_time)
{
    struct mst_series_requests s;
    struct mst_bins bins;
    struct made m;
    double completed = 0, cells = 0;
    unsigned i;
    size_t row;

    begin(&m, NULL, "http://127.0.0.1/");
    for (i = 0; i < 100; i++)      /* all end in the third second, after 1 to 100 ms */
        add_request(&m, i, START + 2000 * MS + i, 0, (i + 1) * MS, i < 5 ? 503 : 200);
    add_request(&m, 100, START + 500 * MS, 4000 * MS, 1000 * MS, 200);
    add_request(&m, 101, START + 60 * MST_NS_PER_S, 0, MS, 200);
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 0, MST_NS_PER_S));
    ck_assert_uint_eq(bins.count, 10);
    mst_series_server(&s, &m.s.servers[0], &bins);
    ck_assert_uint_eq(s.count, 102);
    ck_assert_uint_eq(s.outside, 1);
    for (row = 0; row < s.over_time.rows; row++)
        completed += cell_of(&s.over_time, row, "completed");
    ck_assert_double_eq(completed, 101);
    ck_assert_double_eq(cell_of(&s.over_time, 2, "completed"), 100);
    ck_assert_double_eq(cell_of(&s.over_time, 2, "5xx"), 5);
    ck_assert_double_eq(cell_of(&s.over_time, 2, "p50"), 0.050);
    ck_assert_double_eq(cell_of(&s.over_time, 2, "p99"), 0.099);
    ck_assert_double_eq(cell_of(&s.over_time, 2, "max"), 0.100);
    ck_assert_double_eq_tol(cell_of(&s.over_time, 2, "mean"), 0.0505, 1e-9);
    ck_assert_double_eq(cell_of(&s.over_time, 0, "started"), 1);
    ck_assert_double_eq(cell_of(&s.over_time, 5, "queue"), 4.0);
    ck_assert_double_eq(cell_of(&s.over_time, 5, "handle"), 1.0);
    ck_assert_msg(isnan(cell_of(&s.over_time, 3, "p50")), "no request: not known, not 0");
    ck_assert_msg(isnan(cell_of(&s.over_time, 2, "php_run")), "no PHP: not known, not 0");
    for (row = 0; row < s.heatmap.rows; row++)
        cells += cell_of(&s.heatmap, row, "requests");
    ck_assert_double_eq(cells, 101);
    ck_assert_uint_eq(s.workers.rows, 3);
    ck_assert_uint_eq(s.statuses.rows, 2);
    ck_assert_double_eq(cell_of(&s.statuses, 0, "status"), 200);
    ck_assert_double_eq(cell_of(&s.statuses, 0, "requests"), 97);
    ck_assert_double_eq(cell_of(&s.statuses, 1, "status"), 503);
    ck_assert_double_eq(cell_of(&s.statuses, 1, "requests"), 5);
    mst_series_requests_free(&s);
    end(&m);
}
END_TEST

START_TEST(test_spectrum)
{
    struct mst_series_requests s;
    struct mst_bins bins;
    struct made m;
    double before = -1;
    unsigned i;
    size_t row;

    begin(&m, NULL, "http://127.0.0.1/");
    for (i = 0; i < 1000; i++)
        add_request(&m, i, START + i * MS, 0, (1000 - i) * MS, 200);
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 300, 0));
    mst_series_server(&s, &m.s.servers[0], &bins);
    for (row = 0; row < s.spectrum.rows; row++) {
        double q = cell_of(&s.spectrum, row, "quantile");

        ck_assert_msg(q > before, "%g follows %g", q, before);
        before = q;
        /* Nearest rank of 1 ms, 2 ms, ... 1000 ms. */
        ck_assert_double_eq_tol(cell_of(&s.spectrum, row, "seconds"),
                                fmax(ceil(q * 1000 - 1e-9), 1) / 1000, 1e-9);
    }
    ck_assert_double_eq(before, 1);
    mst_series_requests_free(&s);
    end(&m);
}
END_TEST

START_TEST(test_occupancy)
{
    struct mst_table table;
    struct mst_bins bins;
    struct made m;
    size_t row;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 10);
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 5, 0));
    ck_assert_uint_eq(bins.count, 5);
    ck_assert(mst_series_occupancy(&table, mst_archive_db(m.archive), 1, &bins));
    for (row = 0; row < table.rows; row++) {
        ck_assert_double_eq_tol(cell_of(&table, row, "handling"), 4, 1e-9);
        ck_assert_double_eq_tol(cell_of(&table, row, "idle"), 6, 1e-9);
        ck_assert_double_eq(cell_of(&table, row, "limit"), 10);
        if (row > 0)
            ck_assert_double_eq(cell_of(&table, row, "t0"), cell_of(&table, row - 1, "t1"));
    }
    ck_assert_double_eq(cell_of(&table, 0, "t0"), 0);
    ck_assert_double_eq(cell_of(&table, table.rows - 1, "t1"), 10);
    ck_assert_double_eq(cell_of(&table, table.rows - 1, "listen_queue_max"), 10);
    mst_table_free(&table);
    end(&m);
}
END_TEST

/* Samples each second; the counters grow by half a second, the memory by 10 bytes. */
START_TEST(test_group_over_time)
{
    struct mst_table table;
    struct mst_bins bins;
    struct made m;
    size_t row;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 10);
    sql(&m, "UPDATE samples SET group_cpu_ns = (time_ns - %" PRIu64 ") / 2, group_throttled_ns = "
        "(time_ns - %" PRIu64 ") / 4, group_cpu_limit_milli = 750, group_memory_bytes = 10 * rowid,"
        " group_memory_limit_bytes = 500", START, START);
    sql(&m, "UPDATE samples SET group_cpu_ns = 0 WHERE moment = 'end'");
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 10, 0));
    ck_assert(mst_series_group(&table, mst_archive_db(m.archive), 1, &bins));
    ck_assert_uint_eq(table.rows, 10);
    for (row = 0; row < table.rows; row++) {
        if (row < 9)
            ck_assert_double_eq_tol(cell_of(&table, row, "cpus"), 0.5, 1e-9);
        else
            ck_assert(isnan(cell_of(&table, row, "cpus")));   /* another group's counter */
        ck_assert_double_eq_tol(cell_of(&table, row, "throttled"), 0.25, 1e-9);
        ck_assert_double_eq(cell_of(&table, row, "cpus_limit"), 0.75);
        ck_assert_double_eq(cell_of(&table, row, "memory_limit_bytes"), 500);
        ck_assert(isnan(cell_of(&table, row, "io_stall")));
    }
    mst_table_free(&table);
    sql(&m, "UPDATE samples SET group_cpu_ns = NULL, group_memory_bytes = NULL");
    ck_assert(mst_series_group(&table, mst_archive_db(m.archive), 1, &bins));
    ck_assert_uint_eq(table.rows, 0);
    mst_table_free(&table);
    end(&m);
}
END_TEST

/* Each bin of 2 s has the most of its samples, and those before the load are in none. */
START_TEST(test_resources_over_time)
{
    struct mst_table table;
    struct mst_bins bins;
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 10);
    sql(&m, "INSERT INTO pool_samples SELECT 1, time_ns - 1000000000, moment, 'www', 8, rowid %% 5,"
        " 0, 1 FROM samples");
    sql(&m, "INSERT INTO process_samples VALUES (1, %" PRIu64 ", 5, 0, 0, 90, 1000, NULL), "
        "(1, %" PRIu64 ", 6, 0, 0, 50, 60, NULL), (1, %" PRIu64 ", 6, 0, 0, 55, 0, NULL)",
        START, START + 1, START + 2);
    sql(&m, "INSERT INTO port_samples VALUES (1, %" PRIu64 ", '[::1]:80', 7, 9), "
        "(1, %" PRIu64 ", '[::1]:80', 8, 9)", START + 4000 * MS, START + 5000 * MS);
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 5, 0));
    ck_assert(mst_series_pool(&table, mst_archive_db(m.archive), 1, &m.s.servers[0].pools[0],
                              &bins));
    ck_assert_uint_eq(table.rows, 5);
    ck_assert_double_eq(cell_of(&table, 0, "busy_max"), 3);   /* of samples 2 and 3 */
    ck_assert_double_eq(cell_of(&table, 1, "busy_max"), 4);
    ck_assert_double_eq(cell_of(&table, 1, "t"), 2);
    ck_assert_double_eq(cell_of(&table, 4, "limit"), 8);
    mst_table_free(&table);
    ck_assert(mst_series_files(&table, mst_archive_db(m.archive), 1, &bins));
    ck_assert_uint_eq(table.rows, 1);
    ck_assert_double_eq(cell_of(&table, 0, "files"), 50);
    ck_assert_double_eq(cell_of(&table, 0, "limit"), 60);
    mst_table_free(&table);
    ck_assert(mst_series_ports(&table, mst_archive_db(m.archive), 1, &m.s.ports[0], &bins));
    ck_assert_uint_eq(table.rows, 1);
    ck_assert_double_eq(cell_of(&table, 0, "t"), 4);
    ck_assert_double_eq(cell_of(&table, 0, "ports"), 8);
    mst_table_free(&table);
    end(&m);
}
END_TEST

/* The server has started again: its counters begin at 0, and the time between is unknown. */
START_TEST(test_occupancy_of_a_new_server)
{
    struct mst_table table;
    struct mst_bins bins;
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 10);
    sql(&m, "UPDATE samples SET handling_ns = 0 WHERE time_ns = %" PRIu64,
        START + 5 * MST_NS_PER_S);
    summarize(&m);
    ck_assert(mst_bins_make(&bins, mst_archive_db(m.archive), &m.s, 10, 0));
    ck_assert(mst_series_occupancy(&table, mst_archive_db(m.archive), 1, &bins));
    ck_assert(isnan(cell_of(&table, 4, "handling")));
    ck_assert_double_eq_tol(cell_of(&table, 4, "idle"), 6, 1e-9);
    mst_table_free(&table);
    end(&m);
}
END_TEST

/* ---- whole reports ----------------------------------------------------------------- */

static struct mst_report report_of(struct made *m, struct mst_report_run *run)
{
    static char title[] = "</title><script>alert(1)</script>";

    *run = (struct mst_report_run){ m->archive, "dir/<x>.sqlite", title, m->s };
    return (struct mst_report){ .pool = memory_of_test(), .runs = run, .count = 1 };
}

static char *page_of(struct made *m)
{
    struct mst_report_run run;
    struct mst_report report = report_of(m, &run);
    struct text text = { 0 };
    struct mst_sink sink;
    char error[MST_ERROR_MAX] = "";

    mst_sink_init(&sink, keep, &text);
    ck_assert_msg(mst_report_html(&sink, &report, error) == 0, "%s", error);
    mst_sink_flush(&sink);
    return text.bytes;
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned n = 0;

    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

/* The JSON for the charts, as it stands in the page. */
static json_t *data_of(const char *page)
{
    const char *mark = "<script type=\"application/json\" id=\"data\">";
    const char *from = strstr(page, mark), *to;
    json_error_t error;
    json_t *root;

    ck_assert_ptr_nonnull(from);
    from += strlen(mark);
    to = strstr(from, "</script>");
    ck_assert_ptr_nonnull(to);
    root = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s at %d", error.text, error.position);
    return root;
}

/* Names, commands, output and notes that would break out of wherever they stand. */
START_TEST(test_hostile_archive)
{
    const char *evil = "</script><script>alert(1)</script><!-- \" ' \xe2\x80\xa8 \xff | `x`";
    struct made m;
    char *page;
    json_t *root;

    begin(&m, evil, evil);
    add_samples(&m, 1, 10);
    add_request(&m, 1, START, 0, MS, 200);
    sql(&m, "UPDATE servers SET target = runs.name, name = runs.name, server = runs.name, "
            "mpm = runs.name FROM runs");
    sql(&m, "INSERT INTO notes SELECT 1, 1, name FROM runs");
    sql(&m, "INSERT INTO environment SELECT 1, name, name FROM runs");
    sql(&m, "INSERT INTO output SELECT 1, 'stdout', length(name), CAST(name AS BLOB) FROM runs");
    sql(&m, "INSERT INTO pool_samples SELECT 1, %" PRIu64 ", 'during', name, 2, 2, 1, 1 FROM "
        "runs",
        START);
    sql(&m, "INSERT INTO port_samples SELECT 1, %" PRIu64 ", name, 9, 9 FROM runs", START);
    summarize(&m);
    page = page_of(&m);
    ck_assert_ptr_nonnull(strstr(page, "<h3>Pools of PHP-FPM</h3>"));
    ck_assert_uint_eq(count_of(page, "<script"), 7);
    ck_assert_uint_eq(count_of(page, "</script>"), 7);
    ck_assert_uint_eq(count_of(page, "mpmstat</title>"), 1);
    ck_assert_ptr_null(strstr(page, "<script>alert"));
    ck_assert_ptr_null(strstr(page, "<!--"));
    root = data_of(page);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "runs")), 1);
    json_decref(root);
    free(page);
    end(&m);
}
END_TEST

static char *markdown_of(struct made *m)
{
    struct mst_report_run run;
    struct mst_report report = report_of(m, &run);
    struct text text = { 0 };
    struct mst_sink sink;
    char error[MST_ERROR_MAX] = "";

    mst_sink_init(&sink, keep, &text);
    ck_assert_msg(mst_report_markdown(&sink, &report, error) == 0, "%s", error);
    mst_sink_flush(&sink);
    return text.bytes;
}

/* Pools are named by their scripts, and remote addresses by the archive. */
START_TEST(test_hostile_names_of_pools)
{
    struct text text = { 0 };
    struct mst_sink sink;
    struct made m;
    char *markdown;

    begin(&m, "pools", "http://127.0.0.1/");
    add_samples(&m, 1, 10);
    add_request(&m, 1, START, 0, MS, 200);
    sql(&m, "INSERT INTO pool_samples SELECT 1, time_ns, moment, 'a|b<script>' || char(10, 27) || "
        "'[31m @me', 2, 2, rowid, 1 FROM samples");
    sql(&m, "INSERT INTO port_samples VALUES (1, %" PRIu64 ", 'x' || char(10, 27) || '<b>', 9, 9)",
        START);
    summarize(&m);
    markdown = markdown_of(&m);
    ck_assert_ptr_nonnull(strstr(markdown, "| a\\|b&#60;script&#62;  \\[31m "
                                 "&#64;me | 2 | "));
    free(markdown);
    mst_sink_init(&sink, keep, &text);
    mst_report_text(&sink, &m.s, "x", 0);
    mst_sink_flush(&sink);
    ck_assert_ptr_nonnull(strstr(text.bytes, "  a|b<script>\\x0a\\x1b[31m"));
    ck_assert_ptr_nonnull(strstr(text.bytes, "9 of 9 local ports were in use towards "
                                 "x\\x0a\\x1b<b>"));
    ck_assert_ptr_null(strchr(text.bytes, '\033'));
    free(text.bytes);
    end(&m);
}
END_TEST

/* A load tool that copies bytes of the server may print a NUL, too. */
START_TEST(test_output_with_a_nul)
{
    struct made m;
    char *page;

    begin(&m, "nul", "http://127.0.0.1/");
    sql(&m, "INSERT INTO output VALUES (1, 'stdout', 17, x'626566203c3e00000a61667465723c3e00')");
    summarize(&m);
    page = page_of(&m);
    ck_assert_ptr_nonnull(strstr(page, "bef &lt;&gt;\xef\xbf\xbd\xef\xbf\xbd\nafter&lt;&gt;"
                                 "\xef\xbf\xbd</pre>"));
    free(page);
    end(&m);
}
END_TEST

/* A recording cuts programs' names to 15 bytes; an archive from elsewhere may not. */
START_TEST(test_text_of_long_program_names)
{
    struct text text = { 0 };
    struct mst_sink sink;
    struct made m;
    unsigned length;

    for (length = 240; length <= 300; length += 4) {
        begin(&m, "long names", "http://127.0.0.1/");
        add_samples(&m, 1, 10);
        add_request(&m, 1, START, 0, MS, 200);
        sql(&m, "INSERT INTO programs VALUES "
            "(1, printf('%%.*c', %u, 'x'), 3000000000, 'other', NULL), "
            "(1, printf('%%.*c', 300, 'y'), 2000000000, NULL, NULL), "
            "(1, 'z', 1000000000, 'server', NULL)", length);
        summarize(&m);
        text.used = 0;
        mst_sink_init(&sink, keep, &text);
        mst_report_text(&sink, &m.s, "an archive", 0);
        mst_sink_flush(&sink);
        ck_assert_ptr_nonnull(strstr(text.bytes, "xxxxxxxxxxxx"));
        end(&m);
    }
    free(text.bytes);
}
END_TEST

/* A recording that was killed at once: nothing is known, and nothing is 0. */
START_TEST(test_interrupted_run)
{
    struct made m;
    char *page;

    begin(&m, NULL, "http://127.0.0.1/");
    sql(&m, "UPDATE runs SET ended_ns = NULL, duration_ns = NULL, complete = 0, "
        "outcome = 'unfinished', exit_status = NULL");
    summarize(&m);
    page = page_of(&m);
    ck_assert_ptr_nonnull(strstr(page, "This run is not complete"));
    ck_assert_ptr_nonnull(strstr(page, "<tr data-metric=\"duration_seconds\"><th scope=\"row\">"
                                 "duration</th><td><span class=\"unknown\">–</span></td>"));
    ck_assert_ptr_nonnull(strstr(page, "the recording did not come to its end"));
    json_decref(data_of(page));
    free(page);
    end(&m);
}
END_TEST

/* Each metric has its own name in the CSV and on the page, and a reason. */
START_TEST(test_metrics)
{
    size_t i, other;

    for (i = 0; i < MST_M_COUNT; i++) {
        if (mst_metrics[i].group == NULL)
            continue;
        ck_assert_ptr_nonnull(mst_metrics[i].why);
        for (other = 0; other < i; other++) {
            if (mst_metrics[other].group == NULL)
                continue;
            ck_assert_str_ne(mst_metrics[i].column, mst_metrics[other].column);
            ck_assert_msg(strcmp(mst_metrics[i].group, mst_metrics[other].group) != 0 ||
                          strcmp(mst_metrics[i].label, mst_metrics[other].label) != 0, "%s twice",
                          mst_metrics[i].label);
        }
    }
}
END_TEST

/* The runs have 4, 8 and 16 concurrent requests, and as many requests a second. */
static const struct { uint64_t rates[3]; const char *text; } knees[] = {
    { { 40, 80, 160 }, "Not known: with 16 concurrent requests, the most here, the throughput "
      "still grows. It is 160 requests/s." },
    { { 40, 78, 80 }, "From 8 concurrent requests on, more hardly add throughput. It is 78.0 "
      "requests/s there, and at most 80.0, with 16." },
    { { 0, 0, 80 }, "Not known: it takes runs of different concurrency." },
};

START_TEST(test_the_knee)
{
    struct mst_report_run runs[3] = { { .path = NULL } };
    struct mst_report report = { .pool = memory_of_test(), .runs = runs, .count = 3 };
    struct text text = { 0 };
    struct mst_sink sink;
    struct mst_doc doc;
    size_t i;

    for (i = 0; i < 3; i++) {
        runs[i].summary.complete = true;
        runs[i].summary.client.known = true;
        runs[i].summary.client.concurrency = 4u << i;
        runs[i].summary.client.requests_per_1000s = 1000 * knees[_i].rates[i];
    }
    mst_sink_init(&sink, keep, &text);
    doc = mst_doc_text(&sink, 400);
    mst_knee_put(&doc, &report);
    mst_sink_flush(&sink);
    ck_assert_msg(strstr(text.bytes, knees[_i].text) != NULL, "%s", text.bytes);
    free(text.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = tcase_create("report");

    tcase_add_test(tests, test_html);
    tcase_add_test(tests, test_markdown);
    tcase_add_test(tests, test_templates);
    tcase_add_test(tests, test_csv);
    tcase_add_test(tests, test_script);
    tcase_add_test(tests, test_cells);
    tcase_add_test(tests, test_bins);
    tcase_add_test(tests, test_parts_over_time);
    tcase_add_test(tests, test_requests_over_time);
    tcase_add_test(tests, test_spectrum);
    tcase_add_test(tests, test_occupancy);
    tcase_add_test(tests, test_occupancy_of_a_new_server);
    tcase_add_test(tests, test_group_over_time);
    tcase_add_test(tests, test_resources_over_time);
    tcase_add_test(tests, test_hostile_archive);
    tcase_add_test(tests, test_hostile_names_of_pools);
    tcase_add_test(tests, test_output_with_a_nul);
    tcase_add_test(tests, test_text_of_long_program_names);
    tcase_add_test(tests, test_interrupted_run);
    tcase_add_test(tests, test_metrics);
    tcase_add_loop_test(tests, test_the_knee, 0, (int)(sizeof knees / sizeof *knees));
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

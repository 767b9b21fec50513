/* check_change.c - settings to change, of what an archive has of a server's files. */
#include <string.h>

#include "archive/archive.h"
#include "archive/internal.h"
#include "findings/change.h"
#include "findings/rules.h"
#include "harness.h"

static struct mst_archive *archive;
static char mpm[16], fpm_sapi[] = "fpm-fcgi", producer_error[MST_ERROR_MAX];
static struct mst_summary_server server;
static struct mst_summary run;

static void set_up(void)
{
    archive = mst_archive_in_memory(producer_error);
    ck_assert_msg(archive != NULL, "%s", producer_error);
    ck_assert_int_eq(mst_archive_execute(archive, "PRAGMA foreign_keys = OFF;"
        "INSERT INTO servers (id, run_id, target, producer, local, config_file, config_check) "
        "VALUES (1, 1, 'a', 'apache', 1, '/etc/main.conf', 'httpd -t')"), 0);
}

static void tear_down(void)
{
    char ignored[MST_ERROR_MAX];

    mst_archive_close(archive, ignored);
}

static const struct mst_changed *of_apache(const char *name, uint64_t limit)
{
    static struct mst_changed of;

    snprintf(mpm, sizeof mpm, "%s", name);
    server = (struct mst_summary_server){ .id = 1, .producer = MST_PRODUCER_APACHE, .mpm = mpm };
    run = (struct mst_summary){ .id = 1, .servers = &server, .server_count = 1 };
    of = (struct mst_changed){ mst_archive_db(archive), &run, &server, NULL, limit };
    return &of;
}

static const struct mst_changed *of_fpm(const char *pool, uint64_t limit)
{
    static struct mst_changed of;

    server = (struct mst_summary_server){ .id = 1, .producer = MST_PRODUCER_PHP, .sapi = fpm_sapi,
                                          .max_busy = 4 };
    run = (struct mst_summary){ .id = 1, .servers = &server, .server_count = 1 };
    of = (struct mst_changed){ mst_archive_db(archive), &run, &server, pool, limit };
    return &of;
}

static void set(const char *section, const char *name, const char *value)
{
    char sql[512];

    snprintf(sql, sizeof sql, "INSERT INTO settings VALUES (1, nullif('%s', ''), '%s', "
             "nullif('%s', '?'), '/etc/own.conf', 3)", section, name, value);
    ck_assert_int_eq(mst_archive_execute(archive, sql), 0);
}

/* "A 1>2 B 3>4!": as they are to be written; "!": a restart. */
static const char *said(const struct mst_changes *c)
{
    static char text[512];
    size_t i, used = 0;

    text[0] = '\0';
    for (i = 0; i < c->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s>%s%s",
                                 i > 0 ? " " : "", c->settings[i].name, c->settings[i].now,
                                 c->settings[i].to, c->settings[i].line == MST_UNKNOWN ? "+" : "");
    snprintf(text + used, sizeof text - used, "%s", c->restart ? "!" : "");
    return text;
}

START_TEST(test_apache_workers)
{
    struct mst_changes c;

    mst_change_limit(&c, of_apache("event", 400), 500);   /* httpd's own numbers */
    ck_assert_str_eq(said(&c), "MaxRequestWorkers 400>500+ ServerLimit 16>20+!");
    ck_assert_str_eq(c.settings[0].file, "/etc/main.conf");
    mst_change_limit(&c, of_apache("prefork", 256), 300);
    ck_assert_str_eq(said(&c), "MaxRequestWorkers 256>300+ ServerLimit 256>300+!");
    set("", "MaxClients", "1000");                        /* as httpd cuts it */
    mst_change_limit(&c, of_apache("worker", 400), 401);
    ck_assert_str_eq(said(&c), "MaxClients 1000>425 ServerLimit 16>17+!");
    ck_assert_str_eq(c.settings[1].file, "/etc/own.conf");
    ck_assert_str_eq(c.check, "httpd -t");
    mst_change_limit(&c, of_apache("worker", 150), 401);   /* it runs with another */
    ck_assert_uint_eq(c.count, 0);
    set("", "ThreadsPerChild", "?");
    mst_change_limit(&c, of_apache("worker", 400), 401);
    ck_assert_uint_eq(c.count, 0);
}
END_TEST

START_TEST(test_apache_spares)
{
    struct mst_changes c;

    set("", "MaxRequestWorkers", "150");
    mst_change_ready(&c, of_apache("event", 150), 60);
    ck_assert_str_eq(said(&c), "");   /* three processes of 25, and 75 spare */
    set("", "StartServers", "2");
    set("", "MinSpareThreads", "25");
    set("", "MaxSpareThreads", "75");
    mst_change_ready(&c, of_apache("event", 150), 60);
    ck_assert_str_eq(said(&c), "StartServers 2>3 MinSpareThreads 25>60 MaxSpareThreads 75>85");
}
END_TEST

START_TEST(test_pools)
{
    struct mst_changes c;

    set("www", "pm", "dynamic");
    set("www", "pm.max_children", "5");
    set("www", "pm.min_spare_servers", "1");
    set("www", "pm.max_spare_servers", "3");
    mst_change_limit(&c, of_fpm(NULL, 5), 25);   /* pm.start_servers is in between */
    ck_assert_str_eq(said(&c), "pm.max_children 5>25 pm.start_servers 2>25+ "
                               "pm.max_spare_servers 3>25");
    ck_assert_str_eq(c.settings[1].file, "/etc/own.conf");
    ck_assert_str_eq(c.settings[1].section, "www");
    mst_change_limit(&c, of_fpm(NULL, 6), 25);
    ck_assert_uint_eq(c.count, 0);
    set("global", "process.max", "8");
    set("shop", "pm", "ondemand");
    set("shop", "pm.max_children", "3");
    mst_change_limit(&c, of_fpm(NULL, 8), 25);   /* which of two? */
    ck_assert_uint_eq(c.count, 0);
    mst_change_limit(&c, of_fpm("shop", 3), 25);
    ck_assert_str_eq(said(&c), "pm.max_children 3>25 process.max 8>30");
    mst_change_limit(&c, of_fpm("label", 3), 25);
    ck_assert_uint_eq(c.count, 0);
    mst_change_ready(&c, of_fpm("shop", 3), 3);
    ck_assert_str_eq(said(&c), "pm ondemand>static");
    mst_change_lifetime(&c, of_fpm("shop", MST_UNKNOWN));
    ck_assert_str_eq(said(&c), "pm.process_idle_timeout 10s>60s+");
    set("shop", "pm.max_requests", "500");
    mst_change_lifetime(&c, of_fpm("shop", MST_UNKNOWN));
    ck_assert_str_eq(said(&c), "pm.max_requests 500>0");
    mst_change_lifetime(&c, of_fpm("www", MST_UNKNOWN));   /* idle ones are ended */
    ck_assert_str_eq(said(&c), "pm.start_servers 2>4+ pm.max_spare_servers 3>4");
}
END_TEST

START_TEST(test_alone)
{
    static const struct {
        enum mst_alone which;
        uint64_t       in_force, to;
        const char    *said;
    } cases[] = {
        { MST_ALONE_LISTEN_BACKLOG, 511, 1022, "ListenBacklog 511>1022+!" },
        { MST_ALONE_HTTP2_WORKERS, 37, 74, "H2MaxWorkers 37>74+" },
        { MST_ALONE_ASYNC_FACTOR, MST_UNKNOWN, 4, "AsyncRequestWorkerFactor 2>4+" },
        { MST_ALONE_KEEPALIVE, MST_UNKNOWN, 1, "KeepAliveTimeout 5>1+" },
    };
    struct mst_changes c;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_change_alone(&c, of_apache("event", 400), cases[i].which, cases[i].in_force,
                         cases[i].to);
        ck_assert_str_eq(said(&c), cases[i].said);
    }
    set("", "AsyncRequestWorkerFactor", "1.5");
    mst_change_alone(&c, of_apache("event", 400), MST_ALONE_ASYNC_FACTOR, 1, 2);
    ck_assert_str_eq(said(&c), "AsyncRequestWorkerFactor 1.5>2");
    set("", "KeepAliveTimeout", "300ms");   /* shorter than what is advised */
    mst_change_alone(&c, of_apache("event", 400), MST_ALONE_KEEPALIVE, MST_UNKNOWN, 1);
    ck_assert_uint_eq(c.count, 0);
    set("", "ListenBacklog", "4096");       /* more, and the kernel cuts it */
    mst_change_alone(&c, of_apache("event", 400), MST_ALONE_LISTEN_BACKLOG, 511, 1022);
    ck_assert_uint_eq(c.count, 0);
    set("www", "pm.max_children", "5");
    mst_change_alone(&c, of_fpm(NULL, 5), MST_ALONE_FPM_FILES, 1024, 2048);
    ck_assert_str_eq(said(&c), "rlimit_files 1024>2048+");
    set("www", "listen.backlog", "100");
    mst_change_alone(&c, of_fpm("www", 5), MST_ALONE_FPM_BACKLOG, 100, 200);
    ck_assert_str_eq(said(&c), "listen.backlog 100>200!");
}
END_TEST

START_TEST(test_sentences)
{
    struct mst_changes c;
    char text[1024] = "Have more: so.";

    mst_change_alone(&c, of_apache("event", 400), MST_ALONE_KEEPALIVE, MST_UNKNOWN, 5);
    mst_say_changes(text, sizeof text, &c, 0);
    ck_assert_str_eq(text, "Have more: so.");   /* as it is */
    set("www", "pm", "dynamic");
    set("www", "pm.max_children", "5");
    set("www", "pm.min_spare_servers", "1");
    set("www", "pm.max_spare_servers", "3");
    mst_change_limit(&c, of_fpm(NULL, 5), 25);
    mst_say_changes(text, sizeof text, &c, 1);
    ck_assert_str_eq(text, "Have more: so. Also set pm.start_servers to 25 (now 2, set in no "
                     "file), pm.max_spare_servers to 25 (now 3). Edit /etc/own.conf, check with "
                     "httpd -t, then reload.");
    c.settings[1].file[5] = 'x';
    c.restart = true;
    c.check[0] = text[0] = '\0';
    mst_say_changes(text, sizeof text, &c, 0);
    ck_assert_str_eq(text, " Set pm.max_children to 25 (now 5), pm.start_servers to 25 (now 2, set "
                     "in no file), pm.max_spare_servers to 25 (now 3). Edit "
                     "/etc/own.conf and /etc/xwn.conf, check with the server's own test (-t), "
                     "then stop and start it: a reload is not enough.");
}
END_TEST

/* What the archive does not have is not known. */
START_TEST(test_no_files)
{
    struct mst_changes c;

    ck_assert_int_eq(mst_archive_execute(archive, "UPDATE servers SET config_file = NULL"), 0);
    mst_change_limit(&c, of_apache("event", 400), 500);
    ck_assert_uint_eq(c.count, 0);
    mst_change_lifetime(&c, of_apache("event", 400));
    ck_assert_uint_eq(c.count, 0);
    mst_change_alone(&c, of_apache("event", 400), MST_ALONE_KEEPALIVE, MST_UNKNOWN, 1);
    ck_assert_uint_eq(c.count, 0);
}
END_TEST

/* An Apache that is asked by URL tells what it runs with, but for StartServers. */
START_TEST(test_told)
{
    const struct mst_changed *of = of_apache("event", 400);
    struct mst_changes c;

    server.workers_limit = 400;
    ck_assert_int_eq(mst_archive_execute(archive, "UPDATE servers SET config_file = NULL; "
        "INSERT INTO environment VALUES (1, 'apache_settings', 'MaxRequestWorkers 400; "
        "ThreadsPerChild 25; ServerLimit 16; MinSpareThreads 75; MaxSpareThreads 250')"), 0);
    mst_change_limit(&c, of, 401);
    ck_assert_str_eq(said(&c), "MaxRequestWorkers 400>425+ ServerLimit 16>17+!");
    ck_assert_str_eq(c.settings[0].file, "");
    mst_change_ready(&c, of, 200);
    ck_assert_uint_eq(c.count, 0);
    ck_assert_uint_eq(mst_setting_in_force(of, "ThreadsPerChild"), 25);
    ck_assert_uint_eq(mst_setting_in_force(of, "StartServers"), MST_UNKNOWN);
    server.workers_limit = 300;   /* another Apache's */
    mst_change_limit(&c, of, 401);
    ck_assert_uint_eq(c.count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = tcase_create("changes");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_apache_workers);
    tcase_add_test(tests, test_apache_spares);
    tcase_add_test(tests, test_pools);
    tcase_add_test(tests, test_alone);
    tcase_add_test(tests, test_sentences);
    tcase_add_test(tests, test_no_files);
    tcase_add_test(tests, test_told);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

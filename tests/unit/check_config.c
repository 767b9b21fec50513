/* check_config.c - files of configuration as a running server reads them: which of several is in
 * force, in which file and line, and what cannot be told.
 *
 * A server is a process with its command line, and nothing else: this program, again.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "system/config.h"

static char root[PATH_MAX];

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX + 256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void set_up(void)
{
    snprintf(root, sizeof root, "%s", test_path());
    ck_assert_int_eq(mkdir(root, 0755), 0);
}

static uid_t server_user;   /* 0: this process's */

/* Waits until the command line is the new program's. */
static pid_t start(char *const *argv)
{
    char path[64], line[64] = "";
    pid_t pid = fork();
    FILE *file;

    if (pid == 0) {
        if (server_user != 0 && setuid(server_user) != 0)
            _exit(126);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    while (strncmp(line, argv[0], sizeof line - 1) != 0) {
        file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        line[fread(line, 1, sizeof line - 1, file)] = '\0';
        fclose(file);
    }
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* "VALUE LINE FILE" of a setting; "?": doubtful; "-": it stands nowhere. */
static const char *found(const struct mst_config *config, const char *section, const char *name)
{
    static char text[512];
    size_t i, count = 0;

    snprintf(text, sizeof text, "-");
    for (i = 0; i < config->count; i++) {
        const struct mst_config_setting *s = &config->items[i];

        if (strcmp(s->section, section) != 0 || strcmp(s->name, name) != 0)
            continue;
        ck_assert_uint_eq(count++, 0);
        if (s->is_doubtful)
            snprintf(text, sizeof text, "?");
        else
            snprintf(text, sizeof text, "%s %d %s", s->value, (int)s->line,
                     strrchr(s->file, '/') + 1);
    }
    return text;
}

/* ---- PHP-FPM --------------------------------------------------------------------------------- */

static bool read_fpm(struct mst_config *config, const char *file)
{
    char title[PATH_MAX + 256], *argv[] = { title, NULL };
    pid_t pid;
    bool known;

    snprintf(title, sizeof title, "php-fpm: master process (%s/%s)", root, file);
    pid = start(argv);
    known = mst_config_read_fpm(config, (uint64_t)pid);
    end(pid);
    return known;
}

START_TEST(test_fpm)
{
    struct mst_config config;
    char text[PATH_MAX + 256];

    mkdir(strcat(strcpy(text, root), "/pool.d"), 0755);
    snprintf(text, sizeof text, "; comment\n[global]\nprocess.max=9\n\ninclude = \"%s/pool.d/*.conf"
             "\" ; all\npm.max_requests = 7\n", root);
    write_file("fpm.conf", text);
    write_file("pool.d/a.conf", "[www]\n;pm.max_children = 3\npm = dynamic\nPM.Max_Children = 4\n"
               "pm.max_children=5;five\nlisten.backlog = '77'\nuser = www\n");
    write_file("pool.d/b.conf", "[shop]\npm = $PM\npm.max_children = 2\n[ shop]\n"
               "pm.start_servers=${START}\n");
    ck_assert(read_fpm(&config, "fpm.conf"));
    ck_assert_str_eq(found(&config, "www", "pm.max_children"), "5 5 a.conf");
    ck_assert_str_eq(found(&config, "www", "pm"), "dynamic 3 a.conf");
    ck_assert_str_eq(found(&config, "www", "listen.backlog"), "77 6 a.conf");
    ck_assert_str_eq(found(&config, "www", "user"), "-");
    ck_assert_str_eq(found(&config, "shop", "pm"), "?");
    ck_assert_str_eq(found(&config, "shop", "pm.max_children"), "2 3 b.conf");
    ck_assert_str_eq(found(&config, " shop", "pm.start_servers"), "?");
    ck_assert_str_eq(found(&config, "global", "process.max"), "9 3 fpm.conf");
    ck_assert_ptr_nonnull(strstr(config.check, " -t -y "));
    mst_config_free(&config);
}
END_TEST

/* Which of two files of a pattern comes last depends on the folder. */
START_TEST(test_fpm_in_two_files)
{
    struct mst_config config;
    char text[PATH_MAX + 256];

    mkdir(strcat(strcpy(text, root), "/etc"), 0755);
    mkdir(strcat(strcpy(text, root), "/etc/pools"), 0755);
    write_file("etc/php-fpm.conf", "include=etc/pools/*\n");   /* below the prefix */
    write_file("etc/pools/a", "[www]\npm = static\npm.max_children = 5\n");
    write_file("etc/pools/b", "[www]\npm.max_children = 6\n");
    ck_assert(read_fpm(&config, "etc/php-fpm.conf"));
    ck_assert_str_eq(found(&config, "www", "pm.max_children"), "?");
    ck_assert_str_eq(found(&config, "www", "pm"), "static 2 a");
    mst_config_free(&config);
    write_file("php.conf", "include=pools/*\n");
    ck_assert(!read_fpm(&config, "php.conf"));
    mst_config_free(&config);
}
END_TEST

/* What is not a regular file is not waited for, and files that include each other end. */
START_TEST(test_hostile_files)
{
    struct mst_config config;
    char text[PATH_MAX + 256];

    ck_assert_int_eq(mkfifo(strcat(strcpy(text, root), "/pipe"), 0644), 0);
    ck_assert(!read_fpm(&config, "pipe"));
    mst_config_free(&config);
    snprintf(text, sizeof text, "[www]\npm.max_children = 1\ninclude=%s/self\n", root);
    write_file("self", text);
    ck_assert(!read_fpm(&config, "self"));
    mst_config_free(&config);
    ck_assert(!read_fpm(&config, "nothing"));
    mst_config_free(&config);
}
END_TEST

/* Another user would choose what root reads: by its own server, or by a file of its own. */
START_TEST(test_of_another_user)
{
    char text[PATH_MAX + 256], path[PATH_MAX + 256];
    struct mst_config config;
    bool known;

    if (geteuid() != 0)
        return;
    snprintf(text, sizeof text, "include=%s/own\n[www]\npm.max_children = 1\n", root);
    write_file("fpm.conf", text);
    write_file("own", "[www]\npm.max_children = 2\n");
    ck_assert(read_fpm(&config, "fpm.conf"));
    mst_config_free(&config);
    server_user = 65534;
    known = read_fpm(&config, "fpm.conf");
    server_user = 0;
    ck_assert(!known);
    mst_config_free(&config);
    snprintf(path, sizeof path, "%s/own", root);
    ck_assert_int_eq(chown(path, 65534, 65534), 0);
    ck_assert(!read_fpm(&config, "fpm.conf"));
    mst_config_free(&config);
}
END_TEST

/* A line that is too long has no number, and a second half that is not a setting. */
START_TEST(test_long_lines)
{
    static char text[20000];
    struct mst_config config = { 0 };
    FILE *file;
    int n = snprintf(text, sizeof text, "[www]\nuser = %09000d\npm.max_children = 5\n", 0);

    file = fmemopen(text, (size_t)n, "r");
    ck_assert(!mst_config_parse_fpm(&config, file));
    fclose(file);
    mst_config_free(&config);
}
END_TEST

/* ---- httpd ----------------------------------------------------------------------------------- */

static bool read_httpd(struct mst_config *config, const char *mpm, const char *more)
{
    char program[] = "/usr/sbin/apache2", d[] = "-d", f[] = "-fmain.conf", word[64];
    char *argv[] = { program, d, root, f, word, NULL };
    pid_t pid;
    bool known;

    snprintf(word, sizeof word, "%s", more);
    pid = start(argv);
    known = mst_config_read_httpd(config, (uint64_t)pid, mpm);
    end(pid);
    return known;
}

START_TEST(test_httpd)
{
    struct mst_config config;
    char text[PATH_MAX + 256];

    mkdir(strcat(strcpy(text, root), "/mods"), 0755);
    write_file("main.conf", "Define WHERE mods\nLoadModule ssl_module m/ssl.so\n"
               "maxclients 100 # not a comment for httpd\nIncludeOptional ${WHERE}/*.conf\n"
               "IncludeOptional none/*.conf\n<IfModule mod_ssl.c>\nListenBacklog 7\n</IfModule>\n"
               "<IfDefine BIG>\nServerLimit 40\n</IfDefine>\n<IfDefine !BIG>\nServerLimit 4\n"
               "</IfDefine>\n<IfModule mod_cgi.c>\nDefine PERHAPS\nStartServers 3\n</IfModule>\n"
               "<IfDefine PERHAPS>\nMaxConnectionsPerChild 9\n</IfDefine>\n"
               "KeepAliveTimeout 5\n<VirtualHost *:80>\nKeepAliveTimeout 1\n</VirtualHost>\n"
               "Timeout 3\n");
    write_file("mods/a.conf", "<IfModule mpm_event_module>\n  ThreadsPerChild \"2\\\n5\"\n"
               "  MaxRequestWorkers 150\n</IfModule>\n<IfModule prefork.c>\n"
               "MaxRequestWorkers 9\n</IfModule>\n");
    ck_assert(read_httpd(&config, "event", "-DBIG"));
    ck_assert_str_eq(found(&config, "", "MaxRequestWorkers"), "150 4 a.conf");
    ck_assert_str_eq(found(&config, "", "MaxClients"), "-");
    ck_assert_str_eq(found(&config, "", "ThreadsPerChild"), "25 2 a.conf");
    ck_assert_str_eq(found(&config, "", "ListenBacklog"), "7 7 main.conf");
    ck_assert_str_eq(found(&config, "", "ServerLimit"), "40 10 main.conf");
    ck_assert_str_eq(found(&config, "", "StartServers"), "?");
    ck_assert_str_eq(found(&config, "", "MaxConnectionsPerChild"), "?");
    ck_assert_str_eq(found(&config, "", "KeepAliveTimeout"), "?");
    ck_assert_ptr_nonnull(strstr(config.check, " -t -d "));
    ck_assert_ptr_nonnull(strstr(config.check, " -D BIG"));
    mst_config_free(&config);
    ck_assert(read_httpd(&config, "worker", "-DFOREGROUND"));
    ck_assert_str_eq(found(&config, "", "MaxClients"), "100 3 main.conf");
    ck_assert_str_eq(found(&config, "", "ServerLimit"), "4 13 main.conf");
    mst_config_free(&config);
}
END_TEST

/* What is not to be seen in files, or not to be found, leaves all of it unknown. */
START_TEST(test_httpd_unknown)
{
    struct mst_config config;

    write_file("main.conf", "MaxRequestWorkers 5\n");
    ck_assert(!read_httpd(&config, "event", "-cMaxRequestWorkers 9"));
    mst_config_free(&config);
    write_file("main.conf", "MaxRequestWorkers 5\nInclude ${NOWHERE}/a.conf\n");
    ck_assert(!read_httpd(&config, "event", "-X"));
    mst_config_free(&config);
    ck_assert(!mst_config_read_httpd(&config, UINT32_MAX, "event"));
    mst_config_free(&config);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite;
    TCase *tests;

    if (argc > 0 && (strcmp(argv[0], "/usr/sbin/apache2") == 0 ||
                     strncmp(argv[0], "php-fpm: ", 9) == 0)) {
        alarm(60);
        pause();
        return 0;
    }
    suite = suite_create("configuration");
    tests = tcase_create("configuration");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, test_fpm);
    tcase_add_test(tests, test_fpm_in_two_files);
    tcase_add_test(tests, test_hostile_files);
    tcase_add_test(tests, test_of_another_user);
    tcase_add_test(tests, test_long_lines);
    tcase_add_test(tests, test_httpd);
    tcase_add_test(tests, test_httpd_unknown);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

/* check_target.c - what TARGETs name, and what is said where they name nothing. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"
#include "source/target.h"

/* ---- places ------------------------------------------------------------------- */

/* A new directory; the tests' own directory is emptied but not recursively, so
 * what is made in it goes with remove_place. */
static char *make_place(void)
{
    char *place = strdup(test_path());

    ck_assert_ptr_nonnull(place);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    return place;
}

static void remove_place(char *place)
{
    static const char *const names[] = { "php/c.board", "php", "a.board", "b.board", "fifo.board",
                                         "link.board", ".hidden.board", "notes.txt", ".board" };
    char path[512];
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", place, names[i]);
        if (unlink(path) != 0)
            rmdir(path);
    }
    ck_assert_msg(rmdir(place) == 0, "%s: %m", place);
    free(place);
}

static void make_board(const char *place, const char *name)
{
    struct mst_layout layout = test_layout();
    struct mst_board board;
    char path[512];

    test_board(&board, &layout);
    snprintf(path, sizeof path, "%s/%s", place, name);
    ck_assert_int_eq(rename(board.path, path), 0);
    mst_board_close(&board);
}

static void make_file(const char *place, const char *name)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", place, name);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("not a board", f);
    ck_assert_int_eq(fclose(f), 0);
}

static struct mst_targets resolve(const char *a, const char *b)
{
    char *args[] = { (char *)(uintptr_t)a, (char *)(uintptr_t)b };
    struct mst_targets targets;
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_targets_resolve(&targets, args, b != NULL ? 2 : 1, error) == 0, "%s", error);
    return targets;
}

static void assert_name(const struct mst_target *t, const char *place, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", place, name);
    ck_assert_str_eq(t->name, path);
    ck_assert_ptr_null(t->problem);
    ck_assert_int_eq(t->kind, MST_TARGET_FILE);
}

static void assert_problem(const char *arg, const char *words)
{
    struct mst_targets targets = resolve(arg, NULL);
    char error[MST_ERROR_MAX];

    ck_assert_uint_eq(targets.count, 1);
    ck_assert_ptr_nonnull(targets.items[0].problem);
    ck_assert_msg(strstr(targets.items[0].problem, words) != NULL, "%s", targets.items[0].problem);
    ck_assert_int_eq(mst_target_open(&targets.items[0], error), -1);
    ck_assert_str_eq(error, targets.items[0].problem);
    mst_targets_free(&targets);
}

/* ---- what is named ---------------------------------------------------------------- */

START_TEST(a_directory_is_its_boards_and_phps)
{
    char *place = make_place(), php[512];
    struct mst_targets targets;

    snprintf(php, sizeof php, "%s/php", place);
    ck_assert_int_eq(mkdir(php, 0700), 0);
    make_board(place, "b.board");
    make_board(place, "a.board");
    make_board(php, "c.board");
    make_file(place, ".hidden.board");
    make_file(place, "notes.txt");
    make_file(place, ".board");
    targets = resolve(place, NULL);
    ck_assert_uint_eq(targets.count, 3);
    assert_name(&targets.items[0], place, "a.board");
    assert_name(&targets.items[1], place, "b.board");
    assert_name(&targets.items[2], php, "c.board");
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(each_board_is_there_once)
{
    char *place = make_place(), file[512], other[512];
    struct mst_targets targets;

    make_board(place, "a.board");
    make_board(place, "b.board");
    snprintf(file, sizeof file, "%s/b.board", place);
    snprintf(other, sizeof other, "%s/../%s/b.board", place, strrchr(place, '/') + 1);
    targets = resolve(file, place);
    ck_assert_uint_eq(targets.count, 2);
    assert_name(&targets.items[0], place, "b.board");
    assert_name(&targets.items[1], place, "a.board");
    mst_targets_free(&targets);
    targets = resolve(file, other);
    ck_assert_uint_eq(targets.count, 1);
    mst_targets_free(&targets);
    targets = resolve("http://127.0.0.1/mpm-status", "http://127.0.0.1/mpm-status");
    ck_assert_uint_eq(targets.count, 1);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(urls_are_http_and_https)
{
    struct mst_targets targets = resolve("http://h/s", "HTTPS://h:8443/s");

    ck_assert_uint_eq(targets.count, 2);
    ck_assert_int_eq(targets.items[0].kind, MST_TARGET_URL);
    ck_assert_int_eq(targets.items[1].kind, MST_TARGET_URL);
    mst_targets_free(&targets);
    assert_problem("ftp://h/s", "only http:// and https://");
    assert_problem("file:///etc/passwd", "only http:// and https://");
    assert_problem("localhost:8080/mpm-status", "begin it with http://");
}
END_TEST

START_TEST(what_is_not_there_is_a_sentence)
{
    char *place = make_place(), under[512];

    assert_problem("/nonexistent/mpmstat.board", "there is no such file");
    assert_problem(place, "no board in this directory");
    make_file(place, "notes.txt");
    snprintf(under, sizeof under, "%s/notes.txt/x", place);
    assert_problem(under, "Not a directory");
    remove_place(place);
}
END_TEST

START_TEST(one_that_is_missing_leaves_the_others)
{
    char *place = make_place();
    struct mst_targets targets;
    char error[MST_ERROR_MAX] = "";

    make_board(place, "a.board");
    targets = resolve("/nonexistent", place);
    ck_assert_uint_eq(targets.count, 2);
    ck_assert_ptr_nonnull(targets.items[0].problem);
    ck_assert_msg(mst_target_open(&targets.items[1], error) == 1, "%s", error);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

/* ---- what is not named --------------------------------------------------------------- */

START_TEST(the_environment_says_where_to_look)
{
    char *place = make_place(), *second = make_place(), list[1024], error[MST_ERROR_MAX] = "";
    struct mst_targets targets;

    make_board(place, "a.board");
    make_board(second, "b.board");
    snprintf(list, sizeof list, "/nonexistent::%s:%s:%s", place, second, place);
    setenv(MST_RUNDIR_VARIABLE, list, 1);
    ck_assert_msg(mst_targets_resolve(&targets, NULL, 0, error) == 0, "%s", error);
    ck_assert_uint_eq(targets.count, 2);
    assert_name(&targets.items[0], place, "a.board");
    assert_name(&targets.items[1], second, "b.board");
    mst_targets_free(&targets);
    remove_place(place);
    remove_place(second);
}
END_TEST

START_TEST(nothing_found_says_where_was_looked)
{
    char *place = make_place(), list[512], error[MST_ERROR_MAX] = "";
    struct mst_targets targets;

    snprintf(list, sizeof list, "%s:/nonexistent", place);
    setenv(MST_RUNDIR_VARIABLE, list, 1);
    ck_assert_int_eq(mst_targets_resolve(&targets, NULL, 0, error), -1);
    ck_assert_msg(strstr(error, place) != NULL, "%s", error);
    ck_assert_msg(strstr(error, "/nonexistent (does not exist)") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "MPMStatBoard") != NULL, "%s", error);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(a_very_long_list_of_places_is_cut)
{
    char list[8192] = "", error[MST_ERROR_MAX] = "";
    struct mst_targets targets;
    unsigned i;

    for (i = 0; i < 200; i++)
        strcat(list, ":/nonexistent/directory/number");
    setenv(MST_RUNDIR_VARIABLE, list, 1);
    ck_assert_int_eq(mst_targets_resolve(&targets, NULL, 0, error), -1);
    ck_assert_msg(strstr(error, "Is a server with mpmstat running?") != NULL, "%s", error);
    mst_targets_free(&targets);
}
END_TEST

/* ---- whose they are ---------------------------------------------------------------------- */

#define NOBODY 65534u

static void give_away(const char *place, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", place, name);
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

static void assert_note(const struct mst_targets *targets, const char *words)
{
    ck_assert_msg(strstr(targets->note, words) != NULL, "expected \"%s\" in: %s", words,
                  targets->note);
}

START_TEST(without_a_name_other_users_boards_are_passed_over)
{
    char *place = make_place(), error[MST_ERROR_MAX] = "";
    struct mst_targets targets;

    if (geteuid() != 0)
        return remove_place(place);
    make_board(place, "a.board");
    make_board(place, "b.board");
    give_away(place, "a.board");
    setenv(MST_RUNDIR_VARIABLE, place, 1);
    ck_assert_msg(mst_targets_resolve(&targets, NULL, 0, error) == 0, "%s", error);
    ck_assert_uint_eq(targets.count, 1);
    assert_name(&targets.items[0], place, "b.board");
    assert_note(&targets, "boards of other users that were passed over: 1, one of them");
    assert_note(&targets, "a.board of nobody (user 65534)");
    assert_note(&targets, "mpmstat record -t FILE");
    mst_targets_free(&targets);
    give_away(place, "b.board");
    ck_assert_int_eq(mst_targets_resolve(&targets, NULL, 0, error), -1);
    ck_assert_msg(strstr(error, "no board of root's or of your own") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "other users that were passed over: 2") != NULL, "%s", error);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(a_directory_that_is_named_has_root_s_boards_first)
{
    char *place = make_place();
    struct mst_targets targets;

    if (geteuid() != 0)
        return remove_place(place);
    make_board(place, "a.board");
    make_board(place, "b.board");
    give_away(place, "a.board");
    targets = resolve(place, NULL);
    ck_assert_uint_eq(targets.count, 2);
    assert_name(&targets.items[0], place, "b.board");
    assert_name(&targets.items[1], place, "a.board");
    ck_assert_str_eq(targets.note, "");
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

/* The place of a board that was removed is free to anybody in a directory like /tmp. */
START_TEST(a_board_is_not_replaced_by_another_user_s)
{
    char *place = make_place(), error[MST_ERROR_MAX] = "";
    struct mst_targets targets;
    struct mst_target *t;

    if (geteuid() != 0)
        return remove_place(place);
    make_board(place, "a.board");
    targets = resolve(place, NULL);
    t = &targets.items[0];
    ck_assert_msg(mst_target_open(t, error) == 1, "%s", error);
    make_board(place, "a.board");
    give_away(place, "a.board");
    ck_assert_int_eq(mst_target_open(t, error), -1);
    ck_assert_msg(strstr(error, "expected a board of root (user 0)") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "found one of nobody (user 65534)") != NULL, "%s", error);
    ck_assert(t->is_open);
    make_board(place, "a.board");
    ck_assert_int_eq(mst_target_open(t, error), 1);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

/* ---- what they cost together --------------------------------------------------------------- */

START_TEST(boards_that_cost_too_much_together_are_a_sentence)
{
    char *place = make_place(), error[MST_ERROR_MAX] = "";
    struct mst_targets targets;
    uint64_t cost;

    make_board(place, "a.board");
    make_board(place, "b.board");
    targets = resolve(place, NULL);
    ck_assert_msg(mst_target_open(&targets.items[0], error) == 1, "%s", error);
    cost = mst_reader_cost(&targets.items[0].reader);
    targets.allowance->all = cost - 1;
    ck_assert_int_eq(mst_target_open(&targets.items[1], error), -1);
    ck_assert_msg(strstr(error, "costs too much to look at") != NULL, "%s", error);
    make_board(place, "a.board");   /* in the place of the one that was paid for */
    ck_assert_msg(mst_target_open(&targets.items[0], error) == 1, "%s", error);
    ck_assert_uint_eq(targets.allowance->all, cost - 1);
    targets.allowance->all = cost;
    ck_assert_msg(mst_target_open(&targets.items[1], error) == 1, "%s", error);
    ck_assert_uint_eq(targets.allowance->all, 0);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

/* ---- opening ---------------------------------------------------------------------------- */

START_TEST(a_new_start_of_the_server_is_noticed)
{
    char *place = make_place(), error[MST_ERROR_MAX] = "", path[512];
    struct mst_targets targets;
    struct mst_target *t;

    make_board(place, "a.board");
    targets = resolve(place, NULL);
    t = &targets.items[0];
    ck_assert_msg(mst_target_open(t, error) == 1, "%s", error);
    ck_assert_int_eq(mst_target_open(t, error), 0);
    make_board(place, "a.board");
    ck_assert_int_eq(mst_target_open(t, error), 1);
    ck_assert_int_eq(mst_target_open(t, error), 0);
    make_file(place, "b.board");
    snprintf(path, sizeof path, "%s/b.board", place);
    ck_assert_int_eq(rename(path, t->name), 0);
    ck_assert_int_eq(mst_target_open(t, error), -1);
    ck_assert(t->is_open);   /* the board from before */
    ck_assert_int_eq(unlink(t->name), 0);
    ck_assert_int_eq(mst_target_open(t, error), 0);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(what_is_no_board_is_refused_at_once)
{
    char *place = make_place(), path[512], link[512], error[MST_ERROR_MAX] = "";
    struct mst_targets targets;
    size_t i;

    make_board(place, "a.board");
    make_file(place, "b.board");
    snprintf(path, sizeof path, "%s/fifo.board", place);
    ck_assert_int_eq(mkfifo(path, 0600), 0);   /* opening one waits for a writer */
    snprintf(path, sizeof path, "%s/a.board", place);
    snprintf(link, sizeof link, "%s/link.board", place);
    ck_assert_int_eq(symlink(path, link), 0);
    targets = resolve(place, NULL);
    ck_assert_uint_eq(targets.count, 4);
    assert_name(&targets.items[0], place, "a.board");
    ck_assert_int_eq(mst_target_open(&targets.items[0], error), 1);
    for (i = 1; i < targets.count; i++) {
        error[0] = '\0';
        ck_assert_msg(mst_target_open(&targets.items[i], error) == -1, "%s",
                      targets.items[i].name);
        ck_assert_msg(strlen(error) > 20, "%s", error);
    }
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

START_TEST(a_snapshot_of_a_target)
{
    char *place = make_place(), error[MST_ERROR_MAX] = "";
    struct mst_targets targets;
    struct mst_snapshot snapshot;
    struct mst_copy copy;

    make_board(place, "a.board");
    targets = resolve(place, NULL);
    ck_assert_msg(mst_target_snapshot(&targets.items[0], &snapshot, &copy, error) == 1, "%s",
                  error);
    ck_assert_str_eq(snapshot.running, "yes");   /* this process made it */
    ck_assert_str_eq(snapshot.mpm, "event");
    ck_assert_str_eq(snapshot.path, targets.items[0].name);
    mst_snapshot_free(&snapshot);
    mst_copy_free(&copy);
    ck_assert_int_eq(truncate(targets.items[0].name, 5000), 0);
    ck_assert_int_eq(mst_target_snapshot(&targets.items[0], &snapshot, &copy, error), -1);
    mst_targets_free(&targets);
    remove_place(place);
}
END_TEST

/* ---- accept queues ----------------------------------------------------------------------- */

static int listen_at(int family, int backlog, char address[64])
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr *sa = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
    int fd = socket(family, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, sa, size) != 0)
        return -1;   /* no IPv6 here */
    ck_assert_int_eq(listen(fd, backlog), 0);
    ck_assert_int_eq(getsockname(fd, sa, &size), 0);
    if (family == AF_INET)
        snprintf(address, 64, "127.0.0.1:%u", ntohs(v4.sin_port));
    else
        snprintf(address, 64, "[::1]:%u", ntohs(v6.sin6_port));
    return fd;
}

static void connect_to(const char *address)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(connect(fd, (struct sockaddr *)&v4, sizeof v4), 0);
}

static const struct mst_snapshot_listener *find_listener(const struct mst_listen *queues,
                                                         const char *address)
{
    size_t i;

    for (i = 0; i < queues->count; i++)
        if (strcmp(queues->listeners[i].address, address) == 0)
            return &queues->listeners[i];
    ck_abort_msg("no listener %s", address);
    return NULL;
}

START_TEST(accept_queues_are_the_kernels)
{
    struct mst_listen queues;
    char v4[64], v6[64];
    bool has_v6;

    listen_at(AF_INET, 7, v4);
    has_v6 = listen_at(AF_INET6, 9, v6) >= 0;
    connect_to(v4);
    connect_to(v4);
    mst_listen_read_process(&queues, (uint64_t)getpid(), false, NULL);
    if (!queues.known)
        return;   /* a sandbox without sock_diag */
    ck_assert_uint_eq(queues.count, has_v6 ? 2 : 1);
    ck_assert_uint_eq(find_listener(&queues, v4)->queue, 2);
    ck_assert_uint_eq(find_listener(&queues, v4)->queue_limit, 7);
    if (has_v6)
        ck_assert_uint_eq(find_listener(&queues, v6)->queue_limit, 9);
    mst_listen_free(&queues);
    ck_assert_uint_eq(queues.count, 0);
}
END_TEST

static int unix_at(const char *name, size_t length, int backlog)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memcpy(address.sun_path, name, length);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(fd, backlog), 0);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, size);
}

/* A path, the longest that there is, and a name without a file. */
START_TEST(accept_queues_of_unix_sockets_are_the_kernels)
{
    char longest[sizeof ((struct sockaddr_un *)0)->sun_path + 1], name[32];
    const struct mst_snapshot_listener *found;
    struct mst_listen queues;
    size_t i;

    snprintf(name, sizeof name, "%cmpmstat-%d", '\0', (int)getpid());
    ck_assert_int_eq(unix_at(name, strlen(name + 1) + 1, 3), 0);
    snprintf(longest, sizeof longest, "/tmp/mpmstat-%d-", (int)getpid());
    for (i = strlen(longest); i < sizeof longest - 1; i++)
        longest[i] = 'x';
    longest[i] = '\0';
    ck_assert_int_eq(unix_at(longest, sizeof longest - 1, 5), 0);
    unlink(longest);
    mst_listen_read_process(&queues, (uint64_t)getpid(), false, NULL);
    ck_assert_uint_eq(queues.count, 0);
    mst_listen_free(&queues);
    mst_listen_read_process(&queues, (uint64_t)getpid(), true, NULL);
    if (!queues.known)
        return;   /* a sandbox without sock_diag, or a kernel without unix_diag */
    ck_assert_uint_eq(queues.count, 2);
    name[0] = '@';
    found = find_listener(&queues, name);
    ck_assert_uint_eq(found->queue, 1);
    ck_assert_uint_eq(found->queue_limit, 3);
    ck_assert_uint_eq(find_listener(&queues, longest)->queue_limit, 5);
    mst_listen_free(&queues);
}
END_TEST

START_TEST(drops_of_one_moment_are_read_once)
{
    struct mst_drops unread = { .are_read = false };
    struct mst_drops shared = { .are_read = true, .overflows = 7, .drops = 11 };
    struct mst_listen queues;

    mst_listen_read_process(&queues, (uint64_t)getpid(), false, &unread);
    ck_assert(unread.are_read);
    ck_assert_uint_eq(queues.overflows, unread.overflows);
    mst_listen_free(&queues);
    mst_listen_read_process(&queues, (uint64_t)getpid(), false, &shared);
    ck_assert_uint_eq(queues.overflows, 7);
    ck_assert_uint_eq(queues.drops, 11);
    mst_listen_free(&queues);
}
END_TEST

START_TEST(accept_queues_of_nobody_are_unknown)
{
    struct mst_listen queues;

    mst_listen_read_process(&queues, (uint64_t)test_dead_pid(), false, NULL);
    ck_assert(!queues.known);
    mst_listen_free(&queues);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target");
    TCase *tests = tcase_create("target");

    tcase_add_test(tests, a_directory_is_its_boards_and_phps);
    tcase_add_test(tests, each_board_is_there_once);
    tcase_add_test(tests, urls_are_http_and_https);
    tcase_add_test(tests, what_is_not_there_is_a_sentence);
    tcase_add_test(tests, one_that_is_missing_leaves_the_others);
    tcase_add_test(tests, the_environment_says_where_to_look);
    tcase_add_test(tests, nothing_found_says_where_was_looked);
    tcase_add_test(tests, a_very_long_list_of_places_is_cut);
    tcase_add_test(tests, without_a_name_other_users_boards_are_passed_over);
    tcase_add_test(tests, a_directory_that_is_named_has_root_s_boards_first);
    tcase_add_test(tests, a_board_is_not_replaced_by_another_user_s);
    tcase_add_test(tests, boards_that_cost_too_much_together_are_a_sentence);
    tcase_add_test(tests, a_new_start_of_the_server_is_noticed);
    tcase_add_test(tests, what_is_no_board_is_refused_at_once);
    tcase_add_test(tests, a_snapshot_of_a_target);
    tcase_add_test(tests, accept_queues_are_the_kernels);
    tcase_add_test(tests, accept_queues_of_unix_sockets_are_the_kernels);
    tcase_add_test(tests, drops_of_one_moment_are_read_once);
    tcase_add_test(tests, accept_queues_of_nobody_are_unknown);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

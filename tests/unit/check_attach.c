/* check_attach.c - boards that are there already: a process's own after an exec, the one
 * that processes without a common parent share; and entries whose owners died.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "harness.h"
#include "segment/liveness.h"
#include "write/journal.h"
#include "write/worker.h"

static char warning[MST_ERROR_MAX], error[MST_ERROR_MAX];

static int share(struct mst_board *b, const char *path)
{
    struct mst_layout layout = test_php_layout();
    struct mst_identity identity = { .workers_limit = MST_UNKNOWN, .no_parent = true };

    error[0] = '\0';
    return mst_board_share(b, path, &layout, &identity, (gid_t)-1, warning, error);
}

static ino_t inode_of(const char *path)
{
    struct stat st;

    ck_assert_int_eq(lstat(path, &st), 0);
    return st.st_ino;
}

/* ---- one's own ------------------------------------------------------------------- */

START_TEST(what_this_process_made_it_takes_up_again)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board made, taken;

    test_board(&made, &layout);
    mst_count(&mst_counters_of(&made, 0, 0)->status[0], 7);
    ck_assert(mst_board_adopt(&taken, made.path, &layout));
    ck_assert_str_eq(taken.path, made.path);
    ck_assert_uint_eq(mst_counters_of(&taken, 0, 0)->status[0], 7);
    ck_assert_uint_eq(taken.bytes, made.bytes);
    ck_assert_uint_eq(taken.php_requests_mask, made.php_requests_mask);
    ck_assert_int_ge(mst_process_claim(&taken, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    ck_assert_uint_eq(made.processes[0].pid, (uint64_t)getpid());
    mst_board_close(&taken);
    mst_board_close(&made);
}
END_TEST

/* What makes a board somebody else's, or of no use. */
static void spoil(struct mst_board *b, struct mst_layout *layout, int how)
{
    switch (how) {
    case 0: b->header->pid++; break;
    case 1: b->header->pid_start_ticks++; break;
    case 2: b->header->boot_id[0] ^= 1; break;
    case 3: b->header->pid_namespace++; break;
    case 4: layout->processes++; break;
    case 5: layout->requests *= 2; break;
    case 6: layout->producer = MST_PRODUCER_APACHE; break;
    case 7: ck_assert_int_eq(chmod(b->path, 0660), 0); break;
    case 8: b->header->section[MST_SECTION_WORKERS].offset += 64; break;
    case 9: ((char *)b->header)[b->header->section[MST_SECTION_FIELDS].offset] ^= 1; break;
    case 10: b->header->version++; break;
    case 11: b->header->header_bytes -= 64; break;
    case 12: ck_assert_int_eq(unlink(b->path), 0); break;
    case 13: ck_assert_int_eq(truncate(b->path, 4096), 0); break;
    }
}

START_TEST(what_is_not_its_own_or_of_another_make_it_leaves)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board made, taken;

    test_board(&made, &layout);
    spoil(&made, &layout, _i);
    ck_assert(!mst_board_adopt(&taken, made.path, &layout));
}
END_TEST

START_TEST(a_daemons_board_is_of_the_next_generation)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board made;
    uint64_t ticks;

    test_board(&made, &layout);
    made.header->generation = 4;
    ticks = made.header->pid_start_ticks;
    ck_assert_uint_eq(mst_board_next_generation(made.path, (uint64_t)getpid(), ticks), 5);
    ck_assert_uint_eq(mst_board_next_generation(made.path, (uint64_t)getpid(), ticks + 1), 0);
    ck_assert_uint_eq(mst_board_next_generation(made.path, (uint64_t)getpid() + 1, ticks), 0);
    ck_assert_uint_eq(mst_board_next_generation(test_path(), (uint64_t)getpid(), ticks), 0);
    mst_board_close(&made);
}
END_TEST

START_TEST(a_link_to_ones_own_is_not_followed)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board made, taken;
    const char *path;

    test_board(&made, &layout);
    path = test_path();
    ck_assert_int_eq(symlink(made.path, path), 0);
    ck_assert(!mst_board_adopt(&taken, path, &layout));
}
END_TEST

/* ---- the shared one ----------------------------------------------------------------- */

START_TEST(the_second_to_come_takes_what_the_first_made)
{
    const char *path = test_path();
    struct mst_board first, second;

    ck_assert_int_eq(share(&first, path), 0);
    ck_assert_uint_eq(first.header->pid, 0);
    mst_count(&mst_counters_of(&first, 1, 0)->status[0], 3);
    ck_assert_int_eq(share(&second, path), 0);
    ck_assert_uint_eq(mst_counters_of(&second, 1, 0)->status[0], 3);
    mst_board_close(&first);
    mst_board_close(&second);
}
END_TEST

#define COMERS 16

START_TEST(of_many_who_come_at_once_one_makes_it)
{
    const char *path = test_path();
    pid_t pids[COMERS];
    struct mst_board b;
    int i;

    for (i = 0; i < COMERS; i++) {
        if (test_fork(&pids[i])) {
            if (share(&b, path) != 0)
                _exit(1);
            mst_count(&mst_counters_of(&b, 1, 0)->status[0], 1);
            _exit(0);
        }
    }
    for (i = 0; i < COMERS; i++)
        ck_assert_int_eq(test_wait(pids[i]), 0);
    ck_assert_int_eq(share(&b, path), 0);
    ck_assert_uint_eq(mst_counters_of(&b, 1, 0)->status[0], COMERS);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_useless_one_is_replaced_once_by_many_who_come_at_once)
{
    const char *path = test_path();
    pid_t pids[COMERS];
    struct mst_board b;
    int i;

    ck_assert_int_eq(share(&b, path), 0);
    b.header->version++;
    mst_board_close(&b);
    for (i = 0; i < COMERS; i++) {
        if (test_fork(&pids[i])) {
            if (share(&b, path) != 0)
                _exit(1);
            mst_count(&mst_counters_of(&b, 1, 0)->status[0], 1);
            _exit(0);
        }
    }
    for (i = 0; i < COMERS; i++)
        ck_assert_int_eq(test_wait(pids[i]), 0);
    ck_assert_int_eq(share(&b, path), 0);
    ck_assert_uint_eq(mst_counters_of(&b, 1, 0)->status[0], COMERS);
    mst_board_close(&b);
}
END_TEST

START_TEST(one_of_another_layout_is_replaced_unless_somebody_lives_in_it)
{
    const char *path = test_path();
    struct mst_board b, other;
    ino_t inode;

    ck_assert_int_eq(share(&b, path), 0);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    ((char *)b.header)[b.header->section[MST_SECTION_FIELDS].offset] ^= 1;
    inode = inode_of(path);
    ck_assert_int_eq(share(&other, path), -1);
    ck_assert_ptr_nonnull(strstr(error, "running processes of another kind"));
    ck_assert_uint_eq(inode_of(path), inode);

    b.processes[0].start_ticks++;   /* it was somebody else with this pid, and is gone */
    ck_assert_int_eq(share(&other, path), 0);
    ck_assert_uint_ne(inode_of(path), inode);
    mst_board_close(&b);
    mst_board_close(&other);
}
END_TEST

START_TEST(a_servers_board_is_not_shared)
{
    struct mst_layout layout = test_php_layout();
    struct mst_board servers, b;

    test_board(&servers, &layout);
    ck_assert_int_eq(share(&b, servers.path), -1);
    ck_assert_ptr_nonnull(strstr(error, "running processes of another kind"));
    servers.header->pid = (uint32_t)test_dead_pid();
    ck_assert_int_eq(share(&b, servers.path), 0);
    mst_board_close(&servers);
    mst_board_close(&b);
}
END_TEST

/* What may lie there: nothing of it is written to or removed. */
static void lay_trap(const char *path, int which)
{
    int fd;

    switch (which) {
    case 0: ck_assert_int_eq(symlink("/dev/null", path), 0); break;
    case 1: ck_assert_int_eq(mkfifo(path, 0600), 0); break;
    case 2: ck_assert_int_eq(mkdir(path, 0700), 0); break;
    case 3:
        fd = open(path, O_CREAT | O_WRONLY, 0600);
        ck_assert_int_eq(write(fd, "letter", 6), 6);
        close(fd);
        break;
    }
}

START_TEST(what_is_no_board_is_left_alone)
{
    static const char *const why[] = { "cannot open", "should be a regular file", "cannot open",
                                       "is a file that is not a board" };
    const char *path = test_path();
    struct mst_board b;
    ino_t inode;

    lay_trap(path, _i);
    inode = inode_of(path);
    ck_assert_int_eq(share(&b, path), -1);
    ck_assert_msg(strstr(error, why[_i]) != NULL, "expected \"%s\" in: %s", why[_i], error);
    ck_assert_uint_eq(inode_of(path), inode);
}
END_TEST

/* ---- dead processes ------------------------------------------------------------------------- */

struct told { int ends; uint64_t pid; struct mst_process_end last; };

static void tell(void *context, uint64_t pid, const struct mst_process_end *end)
{
    struct told *told = context;

    told->ends++;
    told->pid = pid;
    told->last = *end;
}

static void die_in(struct mst_board *b, pid_t *pid)
{
    if (test_fork(pid)) {
        int process = mst_process_claim(b, (uint64_t)getpid(), 3, mst_now_ns());

        b->in_flight[(size_t)process * b->in_flight_stride + MST_LABEL_OTHER] = 1;
        b->workers[process].requests += 5;
        raise(SIGKILL);
    }
    test_wait(*pid);
}

START_TEST(the_dead_are_told_of_once_with_what_they_left)
{
    struct mst_layout layout = test_php_layout();
    struct told told = {0};
    struct mst_board b;
    pid_t pid;

    test_board(&b, &layout);
    ck_assert(!mst_process_any(&b));
    die_in(&b, &pid);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 3, mst_now_ns()), 0);
    mst_process_sweep(&b, _i, mst_now_ns(), tell, &told);
    mst_process_sweep(&b, _i, mst_now_ns(), tell, &told);
    ck_assert_int_eq(told.ends, 1);
    ck_assert_uint_eq(told.pid, (uint64_t)pid);
    ck_assert_uint_eq(told.last.requests, 5);
    ck_assert_uint_eq(told.last.unfinished, 1);
    ck_assert_uint_eq(told.last.generation, 3);
    ck_assert(!told.last.clean);
    ck_assert(mst_process_any(&b));
    mst_board_close(&b);
}
END_TEST

START_TEST(a_pid_used_again_is_found_by_looking_thoroughly)
{
    struct mst_layout layout = test_php_layout();
    struct told told = {0};
    struct mst_board b;

    test_board(&b, &layout);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    b.processes[0].start_ticks++;
    mst_process_sweep(&b, false, mst_now_ns(), tell, &told);
    ck_assert_int_eq(told.ends, 0);
    mst_process_sweep(&b, true, mst_now_ns(), tell, &told);
    ck_assert_int_eq(told.ends, 1);
    ck_assert(!mst_process_any(&b));
    mst_board_close(&b);
}
END_TEST

/* In a chroot without /proc. */
START_TEST(an_owner_that_does_not_know_when_it_started_is_alive)
{
    struct mst_layout layout = test_php_layout();
    struct told told = {0};
    struct test_view v;
    struct mst_board b;

    test_board(&b, &layout);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    b.processes[0].start_ticks = 0;
    mst_process_sweep(&b, true, mst_now_ns(), tell, &told);
    ck_assert_int_eq(told.ends, 0);
    ck_assert(mst_process_any(&b));
    test_view(&v, b.path, 1);
    ck_assert_uint_eq(v.s.slot_count, 1);
    test_view_free(&v);
    mst_board_close(&b);
}
END_TEST

/* A master that forks nobody does not clear up. What the dead were counted for stays. */
START_TEST(the_dead_of_a_running_master_are_not_shown)
{
    struct mst_layout layout = test_php_layout();
    struct test_view v;
    struct mst_board b;
    uint64_t idle_ns;
    pid_t pid;

    test_board(&b, &layout);
    die_in(&b, &pid);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    test_view(&v, b.path, -1);   /* in another pid namespace nobody can tell */
    ck_assert_uint_eq(v.s.slot_count, 2);
    idle_ns = v.s.state_ns[MST_STATE_IDLE];
    test_view_free(&v);
    test_view(&v, b.path, 1);
    ck_assert_uint_eq(v.s.slot_count, 1);
    ck_assert_uint_eq(v.s.slots[0].pid, (uint64_t)getpid());
    ck_assert_uint_eq(test_label(&v.s, MST_LABEL_OTHER_NAME)->in_flight, 0);
    ck_assert_uint_ge(v.s.state_ns[MST_STATE_IDLE], idle_ns);
    test_view_free(&v);
    mst_board_close(&b);
}
END_TEST

/* Entries may be written by less trusted processes: nothing may be done to, or read
 * of, whole process groups. */
START_TEST(owners_that_are_no_pids_are_borne)
{
    static const uint64_t owners[] = { UINT64_MAX, MST_PROCESS_CLAIMING, UINT32_MAX,
                                       UINT64_C(1) << 32, INT32_MAX };
    struct mst_layout layout = test_php_layout();
    struct told told = {0};
    struct mst_board b;
    size_t i;

    test_board(&b, &layout);
    for (i = 0; i < sizeof owners / sizeof *owners; i++) {
        b.processes[0].pid = owners[i];
        mst_process_sweep(&b, true, mst_now_ns(), tell, &told);
        mst_process_any(&b);
    }
    mst_board_close(&b);
}
END_TEST

/* ---- whether such a server runs ---------------------------------------------------------- */

START_TEST(a_server_without_a_parent_runs_while_any_of_its_processes_does)
{
    struct mst_board b;
    struct test_view v;
    pid_t pid;

    ck_assert_int_eq(share(&b, test_path()), 0);
    b.header->stopped_ns = 5;
    test_view(&v, b.path, mst_header_running(b.header));
    ck_assert_str_eq(v.s.running, "no");
    test_view_free(&v);

    die_in(&b, &pid);
    test_view(&v, b.path, mst_header_running(b.header));
    ck_assert_str_eq(v.s.running, "no");
    ck_assert_int_eq(mst_reader_alive(&v.reader), 0);
    test_view_free(&v);

    b.header->stopped_ns = 0;
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    test_view(&v, b.path, mst_header_running(b.header));
    ck_assert_str_eq(v.s.running, "yes");
    ck_assert_uint_eq(v.s.slot_count, 1);   /* the killed one is not shown, nor its request */
    ck_assert_uint_eq(v.s.slots[0].pid, (uint64_t)getpid());
    ck_assert_uint_eq(test_label(&v.s, MST_LABEL_OTHER_NAME)->in_flight, 0);
    ck_assert_int_eq(mst_reader_alive(&v.reader), 1);
    test_view_free(&v);
    mst_board_close(&b);
}
END_TEST

/* Its processes belong to the file's owner: the owner can have entered others. */
START_TEST(another_users_processes_are_none_of_a_server_without_a_parent)
{
    struct mst_board b;
    struct test_view v;

    if (geteuid() != 0)
        return;
    ck_assert_int_eq(share(&b, test_path()), 0);
    ck_assert_int_ge(mst_process_claim(&b, (uint64_t)getpid(), 0, mst_now_ns()), 0);
    ck_assert_int_eq(chown(b.path, 65534, 65534), 0);
    test_view(&v, b.path, mst_header_running(b.header));
    ck_assert_str_eq(v.s.running, "no");
    ck_assert_uint_eq(v.s.slot_count, 0);
    ck_assert_int_eq(mst_reader_alive(&v.reader), 0);
    test_view_free(&v);
    mst_board_close(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach");
    TCase *own = tcase_create("own"), *shared = tcase_create("shared"),
          *dead = tcase_create("dead");

    tcase_add_test(own, what_this_process_made_it_takes_up_again);
    tcase_add_loop_test(own, what_is_not_its_own_or_of_another_make_it_leaves, 0, 14);
    tcase_add_test(own, a_daemons_board_is_of_the_next_generation);
    tcase_add_test(own, a_link_to_ones_own_is_not_followed);
    tcase_add_test(shared, the_second_to_come_takes_what_the_first_made);
    tcase_add_test(shared, of_many_who_come_at_once_one_makes_it);
    tcase_add_test(shared, a_useless_one_is_replaced_once_by_many_who_come_at_once);
    tcase_add_test(shared, one_of_another_layout_is_replaced_unless_somebody_lives_in_it);
    tcase_add_test(shared, a_servers_board_is_not_shared);
    tcase_add_loop_test(shared, what_is_no_board_is_left_alone, 0, 4);
    tcase_add_loop_test(dead, the_dead_are_told_of_once_with_what_they_left, 0, 2);
    tcase_add_test(dead, a_pid_used_again_is_found_by_looking_thoroughly);
    tcase_add_test(dead, an_owner_that_does_not_know_when_it_started_is_alive);
    tcase_add_test(dead, the_dead_of_a_running_master_are_not_shown);
    tcase_add_test(dead, owners_that_are_no_pids_are_borne);
    tcase_add_test(dead, a_server_without_a_parent_runs_while_any_of_its_processes_does);
    tcase_add_test(dead, another_users_processes_are_none_of_a_server_without_a_parent);
    suite_add_tcase(suite, own);
    suite_add_tcase(suite, shared);
    suite_add_tcase(suite, dead);
    tcase_set_timeout(shared, 60);
    return test_run(suite);
}

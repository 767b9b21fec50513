/* check_board.c - making boards, and entries claimed, reclaimed and exhausted
 * while their owners come, go and are killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "harness.h"
#include "write/journal.h"
#include "write/worker.h"

static const struct mst_identity nobody = { .workers_limit = MST_UNKNOWN };
static char warning[MST_ERROR_MAX], error[MST_ERROR_MAX];

static int create(struct mst_board *b, const char *path, const struct mst_layout *layout)
{
    error[0] = '\0';
    return mst_board_create(b, path, layout, &nobody, (gid_t)-1, warning, error);
}

static void assert_refused(const char *path, const struct mst_layout *layout, const char *why)
{
    struct mst_board b;

    ck_assert_int_eq(create(&b, path, layout), -1);
    ck_assert_msg(strstr(error, why) != NULL, "expected \"%s\" in: %s", why, error);
}

/* ---- making --------------------------------------------------------------------- */

START_TEST(a_board_is_as_large_as_the_layout_says)
{
    struct mst_layout layout = test_layout();
    struct mst_board b;
    struct stat st;

    test_board(&b, &layout);
    ck_assert_int_eq(stat(b.path, &st), 0);
    ck_assert_uint_eq((uint64_t)st.st_size, mst_layout_bytes(&layout));
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    ck_assert_uint_ge((uint64_t)st.st_blocks * 512, (uint64_t)st.st_size);
    mst_board_close(&b);
}
END_TEST

START_TEST(layouts_out_of_range_are_refused)
{
    struct mst_layout layout = test_layout();

    switch (_i) {
    case 0: layout.processes = 0; break;
    case 1: layout.threads_per_process = 0; break;
    case 2: layout.labels = 1; break;
    case 3: layout.labels = MST_LABELS_MAX + 1; break;
    case 4: layout.stripes = 3; break;
    case 5: layout.stripes = 2 * MST_STRIPES_MAX; break;
    case 6: layout.requests = 0; break;
    case 7: layout.requests = MST_JOURNAL_MAX + 1; break;
    case 8: layout.processes = layout.threads_per_process = UINT32_MAX; break;
    }
    ck_assert_uint_eq(mst_layout_bytes(&layout), 0);
    assert_refused(test_path(), &layout, "out of range");
}
END_TEST

START_TEST(stripes_are_a_power_of_two)
{
    uint32_t stripes = mst_layout_stripes();

    ck_assert_uint_ge(stripes, 1);
    ck_assert_uint_le(stripes, MST_STRIPES_MAX);
    ck_assert_uint_eq(stripes & (stripes - 1), 0);
}
END_TEST

START_TEST(a_board_that_cannot_be_made_is_a_sentence)
{
    struct mst_layout layout = test_layout();
    char long_path[600], path[128];

    assert_refused("/nonexistent/mpmstat.board", &layout, "the directory must exist");
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    assert_refused(long_path, &layout, "longer than");
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    assert_refused(path, &layout, "not a regular file");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    assert_refused(path, &layout, "not a regular file");
}
END_TEST

START_TEST(the_board_of_a_live_server_is_not_replaced)
{
    struct mst_layout layout = test_layout();
    struct mst_board b, again;
    int status;
    pid_t pid;

    test_board(&b, &layout);
    if (test_fork(&pid))
        _exit(create(&again, b.path, &layout) == 0 ? 1 : strstr(error, "another running") == NULL);
    status = test_wait(pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    mst_board_close(&b);
}
END_TEST

/* Its format does not matter: every version names the server at the same place. */
START_TEST(nor_is_one_of_a_format_that_nobody_knows_here)
{
    struct mst_layout layout = test_layout();
    struct mst_board b, again;
    int status;
    pid_t pid;

    test_board(&b, &layout);
    b.header->version = MST_FORMAT_VERSION + 1;
    b.header->stopped_ns = 1;      /* what this word is there, nobody knows either */
    if (test_fork(&pid))
        _exit(create(&again, b.path, &layout) == 0 ? 1 : strstr(error, "format 3;") == NULL);
    status = test_wait(pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    b.header->pid_start_ticks++;   /* the pid is another's by now */
    ck_assert_int_eq(create(&again, b.path, &layout), 0);
    mst_board_close(&again);
    mst_board_close(&b);
}
END_TEST

static int create_elsewhere(const char *path)
{
    struct mst_layout layout = test_layout();
    struct mst_board again;
    pid_t pid;

    if (test_fork(&pid))
        _exit(create(&again, path, &layout) == 0 ? 0 : 1);
    return WEXITSTATUS(test_wait(pid));
}

/* A worker may write any pid into the header: only a process that has the board mapped is its
 * server. */
START_TEST(a_process_that_only_the_header_calls_its_server_keeps_no_board)
{
    struct mst_layout layout = test_layout();
    struct mst_board b;

    test_board(&b, &layout);
    b.header->pid = 1;
    b.header->pid_start_ticks = mst_host_start_ticks(1);
    ck_assert_int_eq(create_elsewhere(b.path), 0);
    mst_board_close(&b);
}
END_TEST

/* A worker overwrites the first bytes: the next start replaces the file, for only this user can
 * have put it there, and its name is a board's. */
START_TEST(a_scribbled_board_is_replaced_where_nobody_else_can_have_put_it)
{
    struct mst_layout layout = test_layout();
    struct mst_board b;
    char other[600];

    test_board(&b, &layout);
    memset(b.header, 0x55, sizeof *b.header);
    ck_assert_int_eq(create_elsewhere(b.path), 0);

    snprintf(other, sizeof other, "%s.txt", b.path);
    ck_assert_int_eq(rename(b.path, other), 0);
    memset(b.header, 0x55, sizeof *b.header);
    ck_assert_int_eq(truncate(other, 0), 0);
    ck_assert_int_eq(truncate(other, 100), 0);   /* another program's file, by its name */
    ck_assert_int_eq(create_elsewhere(other), 1);
    mst_board_close(&b);
}
END_TEST

START_TEST(a_file_that_is_no_board_stays_in_a_directory_for_all)
{
    char directory[160], path[200];
    int fd;

    snprintf(directory, sizeof directory, "%s.d", test_path());
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    ck_assert_int_eq(chmod(directory, 01777), 0);
    snprintf(path, sizeof path, "%s/letter.board", directory);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(write(fd, "a letter to grandmother", 23), 23);
    close(fd);
    ck_assert_int_eq(create_elsewhere(path), 1);
    ck_assert_int_eq(chmod(directory, 0755), 0);
    ck_assert_int_eq(create_elsewhere(path), 0);
}
END_TEST

START_TEST(the_board_of_a_dead_server_is_replaced_and_its_reader_keeps_the_old_one)
{
    struct mst_layout layout = test_layout();
    struct mst_board old, new;
    struct mst_reader reader;
    struct mst_copy copy;

    test_board(&old, &layout);
    old.header->pid = (uint32_t)test_dead_pid();
    old.totals->shed = 7;
    ck_assert_int_eq(mst_reader_open(&reader, old.path, error), 0);
    ck_assert_msg(create(&new, old.path, &layout) == 0, "%s", error);
    ck_assert_msg(mst_copy_take(&copy, &reader, error) == 0, "%s", error);
    ck_assert_uint_eq(copy.totals.shed, 7);
    mst_copy_free(&copy);
    mst_reader_close(&reader);
    ck_assert_int_eq(mst_reader_open(&reader, new.path, error), 0);
    ck_assert_int_eq(mst_copy_take(&copy, &reader, error), 0);
    ck_assert_uint_eq(copy.totals.shed, 0);
    mst_copy_free(&copy);
    mst_reader_close(&reader);
    mst_board_close(&old);
    mst_board_close(&new);
}
END_TEST

/* ---- process entries --------------------------------------------------------------- */

static struct mst_board board;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

/* Forks a child that claims an entry, serves `requests`, leaves one unfinished
 * in each worker, and waits to be killed. Returns once it has done so. */
static pid_t start_child(unsigned requests)
{
    int ready[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(ready), 0);
    if (test_fork(&pid)) {
        int process = mst_process_claim(&board, (uint64_t)getpid(), 1, mst_now_ns());
        uint32_t t;

        if (process < 0)
            _exit(1);
        alarm(60);
        for (t = 0; t < board.threads; t++) {
            struct mst_worker *w = &board.workers[(uint32_t)process * board.threads + t];

            w->requests += requests;
            mst_worker_show(w, 0, mst_now_ns(), MST_LABEL_OTHER);
            mst_worker_enter(w, MST_STATE_HANDLING, mst_worker_since(w), mst_now_ns());
        }
        __atomic_add_fetch(&board.in_flight[(uint32_t)process * board.in_flight_stride], 1,
                           __ATOMIC_RELAXED);   /* that no worker shows */
        board.processes[process].accepted += requests;
        board.processes[process].connections = 2;
        if (write(ready[1], "!", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    ck_assert_msg(read(ready[0], &byte, 1) == 1, "expected the child to claim an entry");
    close(ready[0]);
    return pid;
}

static void kill_child(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    test_wait(pid);
}

/* The counters that readers see, none of which may ever go back. */
struct counters {
    uint64_t state_ns, accepted, requests;
};

static struct counters count(void)
{
    struct counters c = { 0 };
    struct test_view v;
    size_t i;

    test_view(&v, board.path, 1);
    for (i = 0; i < MST_STATE_COUNT; i++)
        c.state_ns += v.s.state_ns[i];
    for (i = 0; i < v.copy.worker_count; i++)
        c.requests += v.copy.workers[i].requests;
    c.accepted = v.s.accepted;
    test_view_free(&v);
    return c;
}

static void assert_not_less(struct counters *before)
{
    struct counters now = count();

    ck_assert_uint_ge(now.state_ns, before->state_ns);
    ck_assert_uint_ge(now.requests, before->requests);
    ck_assert_uint_ge(now.accepted, before->accepted);
    *before = now;
}

/* The entry that belongs to pid, or -1. */
static int entry_of(uint64_t pid)
{
    uint32_t i;

    for (i = 0; i < board.process_count; i++)
        if (__atomic_load_n(&board.processes[i].pid, __ATOMIC_ACQUIRE) == pid)
            return (int)i;
    return -1;
}

START_TEST(a_killed_childs_entry_is_released_with_what_it_left)
{
    struct mst_process_end end;
    struct test_view v;
    int process;
    pid_t pid;

    make();
    pid = start_child(5);
    process = entry_of((uint64_t)pid);
    ck_assert_int_ge(process, 0);
    kill_child(pid);
    mst_process_release(&board, board.processes[process].pid, mst_now_ns(), &end);
    ck_assert_uint_eq(end.requests, 10);
    ck_assert_uint_eq(end.unfinished, 3);
    ck_assert_uint_eq(end.generation, 1);
    ck_assert_int_eq(end.mpm_slot, -1);
    ck_assert(!end.clean);
    ck_assert_uint_gt(end.lifetime_ns, 0);
    ck_assert_int_eq(entry_of((uint64_t)pid), -1);
    test_view(&v, board.path, 1);
    ck_assert_uint_eq(v.s.slot_count, 0);
    ck_assert_uint_eq(v.s.connections, 0);
    ck_assert_uint_eq(v.s.labels[MST_LABEL_OTHER].in_flight, 0);
    ck_assert_uint_eq(v.s.accepted, 5);
    test_view_free(&v);
    mst_board_close(&board);
}
END_TEST

START_TEST(counters_never_go_back_while_children_come_and_are_killed)
{
    struct counters before = { 0 };
    struct mst_process_end end;
    unsigned i;

    make();
    for (i = 0; i < 20; i++) {
        pid_t pid = start_child(3);
        int process = entry_of((uint64_t)pid);

        ck_assert_int_ge(process, 0);
        assert_not_less(&before);
        kill_child(pid);
        assert_not_less(&before);
        if (i % 2 == 0)
            mst_process_release(&board, board.processes[process].pid, mst_now_ns(), &end);
        assert_not_less(&before);
    }
    ck_assert_uint_eq(before.requests, 20 * 3 * 2);
    ck_assert_uint_eq(before.accepted, 20 * 3);
    ck_assert_uint_eq(board.header->serial, 20);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_new_owner_starts_without_the_old_ones_requests)
{
    struct mst_process_end end;
    struct test_view v;
    int process;
    pid_t pid;

    make();
    pid = start_child(5);
    process = entry_of((uint64_t)pid);
    kill_child(pid);
    mst_process_release(&board, board.processes[process].pid, mst_now_ns(), &end);
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 2, mst_now_ns()), process);
    test_view(&v, board.path, 1);
    ck_assert_uint_eq(v.s.slot_count, 2);
    ck_assert_uint_eq(v.s.workers[MST_STATE_IDLE], 2);
    ck_assert_ptr_null(v.s.slots[0].label);
    ck_assert_uint_eq(v.s.slots[0].request_for_ns, MST_UNKNOWN);
    ck_assert_uint_lt(v.s.slots[0].state_for_ns, 10 * MST_NS_PER_S);
    ck_assert_uint_eq(v.s.connections, 0);
    test_view_free(&v);
    mst_process_release(&board, board.processes[process].pid, mst_now_ns(), &end);
    ck_assert_uint_eq(end.requests, 0);
    ck_assert_uint_eq(end.unfinished, 0);
    mst_board_close(&board);
}
END_TEST

/* Between two owners no time passes in an entry, and none is counted twice. */
START_TEST(an_entrys_times_are_those_of_its_owners)
{
    struct mst_process_end end;
    struct test_view v;
    uint64_t now = mst_now_ns(), sum = 0;
    unsigned i;

    make();
    for (i = 9; i > 5; i--) {
        int process = mst_process_claim(&board, (uint64_t)getpid(), 0, now - i * MST_NS_PER_S);

        ck_assert_int_eq(process, 0);
        mst_process_release(&board, board.processes[process].pid,
                            now - i * MST_NS_PER_S + MST_NS_PER_MS, &end);
    }
    mst_process_claim(&board, (uint64_t)getpid(), 0, now);
    test_view(&v, board.path, 1);
    for (i = 0; i < MST_STATE_COUNT; i++)
        sum += v.s.state_ns[i];
    ck_assert_uint_eq(sum, 2 * (4 * MST_NS_PER_MS + v.s.taken_ns - now));
    ck_assert_uint_eq(v.s.slots[0].state_for_ns, v.s.taken_ns - now);
    test_view_free(&v);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_clean_exit_is_told)
{
    struct mst_process_end end;
    int process;

    make();
    process = mst_process_claim(&board, (uint64_t)getpid(), 3, 1000);
    board.processes[process].clean_exit = 1;
    board.processes[process].mpm_slot = 9;
    mst_process_release(&board, board.processes[process].pid, 3000, &end);
    ck_assert(end.clean);
    ck_assert_int_eq(end.mpm_slot, 9);
    ck_assert_uint_eq(end.lifetime_ns, 2000);
    ck_assert_uint_eq(end.generation, 3);
    mst_board_close(&board);
}
END_TEST

START_TEST(with_all_entries_taken_by_the_living_a_claim_fails)
{
    int i;

    make();
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), i);
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), -1);
    mst_board_close(&board);
}
END_TEST

START_TEST(with_all_entries_taken_a_dead_owners_is_reclaimed)
{
    struct counters before;
    pid_t dead;
    int process, i;

    make();
    for (i = 0; i < 3; i++)
        mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());
    dead = start_child(4);
    process = entry_of((uint64_t)dead);
    before = count();
    kill_child(dead);
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), process);
    assert_not_less(&before);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_pid_used_again_by_another_process_is_a_dead_owner)
{
    int i;

    make();
    for (i = 0; i < 4; i++)
        mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());
    board.processes[2].start_ticks--;
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), 2);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_entry_whose_claimant_was_killed_is_reclaimed)
{
    int i;

    make();
    for (i = 0; i < 4; i++)
        mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());
    board.processes[1].pid = (uint64_t)getpid() | MST_PROCESS_CLAIMING;
    board.processes[1].start_ticks = 0;   /* not filled in yet */
    board.processes[3].pid = (uint64_t)test_dead_pid() | MST_PROCESS_CLAIMING;
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), 3);
    ck_assert_int_eq(mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns()), -1);
    mst_board_close(&board);
}
END_TEST

/* Eight children want four entries at the same time: no entry has two owners. */
START_TEST(simultaneous_claims_get_an_entry_each)
{
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile unsigned char *taken = shared;
    pid_t children[8];
    int i, claimed = 0;

    make();
    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (i = 0; i < 8; i++) {
        if (test_fork(&children[i])) {
            int process;

            while (taken[100] == 0)
                usleep(100);
            process = mst_process_claim(&board, (uint64_t)getpid(), 0, mst_now_ns());
            if (process >= 0)
                __atomic_add_fetch(&taken[process], 1, __ATOMIC_RELAXED);
            while (taken[101] == 0)
                usleep(100);
            _exit(process >= 0);
        }
    }
    taken[100] = 1;
    usleep(100000);
    taken[101] = 1;
    for (i = 0; i < 8; i++)
        claimed += WEXITSTATUS(test_wait(children[i]));
    ck_assert_int_eq(claimed, 4);
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(taken[i], 1);
    munmap(shared, 4096);
    mst_board_close(&board);
}
END_TEST

/* ---- labels ----------------------------------------------------------------------------- */

START_TEST(a_label_has_one_index)
{
    char long_name[200];
    uint32_t index;

    make();
    ck_assert_uint_eq(mst_label_intern(&board, "other"), MST_LABEL_OTHER);
    ck_assert_uint_eq(mst_label_intern(&board, "mpm-status"), MST_LABEL_STATUS);
    ck_assert_uint_eq(mst_label_intern(&board, "a"), 2);
    ck_assert_uint_eq(mst_label_intern(&board, "b"), 3);
    ck_assert_uint_eq(mst_label_intern(&board, "a"), 2);
    memset(long_name, 'n', sizeof long_name);
    long_name[199] = '\0';
    index = mst_label_intern(&board, long_name);
    ck_assert_uint_eq(mst_label_intern(&board, long_name), index);
    ck_assert_uint_eq(strlen(board.labels[index].name), MST_NAME_MAX - 1);
    mst_board_close(&board);
}
END_TEST

START_TEST(labels_without_room_are_other)
{
    char name[16];
    uint32_t i;

    make();
    for (i = 2; i < 8; i++) {
        snprintf(name, sizeof name, "site%u", i);
        ck_assert_uint_eq(mst_label_intern(&board, name), i);
    }
    ck_assert_uint_eq(mst_label_intern(&board, "one more"), MST_LABEL_OTHER);
    ck_assert_uint_eq(mst_label_intern(&board, "site7"), 7);
    mst_board_close(&board);
}
END_TEST

/* Processes that meet the same new names at the same time agree on them. */
START_TEST(simultaneous_labels_are_interned_once)
{
    struct test_view v;
    pid_t children[6];
    unsigned i, j;

    make();
    for (i = 0; i < 6; i++) {
        if (test_fork(&children[i])) {
            for (j = 0; j < 5; j++) {
                char name[16];

                snprintf(name, sizeof name, "site%u", (i + j) % 5);
                mst_count(&mst_counters_of(&board, mst_label_intern(&board, name), i)->bytes, 1);
            }
            _exit(0);
        }
    }
    for (i = 0; i < 6; i++)
        ck_assert_int_eq(test_wait(children[i]), 0);
    test_view(&v, board.path, 1);
    ck_assert_uint_eq(v.s.label_count, 7);
    for (i = 2; i < 7; i++)
        ck_assert_uint_eq(v.s.labels[i].bytes, 6);
    test_view_free(&v);
    mst_board_close(&board);
}
END_TEST

/* ---- lifecycle events ------------------------------------------------------------------- */

static void event(enum mst_event what, enum mst_kind kind, enum mst_reason reason)
{
    struct mst_lifecycle e = {
        .time_ns = mst_now_ns(), .event_kind = (uint64_t)what << 32 | kind, .reason = reason,
        .unfinished = what == MST_EVENT_EXIT ? 2 : 0,
    };

    mst_journal_lifecycle(&board, &e);
}

START_TEST(lifecycle_events_are_counted)
{
    struct test_view v;

    make();
    event(MST_EVENT_FORK, MST_KIND_CHILD, 0);
    event(MST_EVENT_FORK, MST_KIND_HELPER, 0);
    event(MST_EVENT_FORK, MST_KIND_HELPER, 0);
    event(MST_EVENT_EXIT, MST_KIND_CHILD, MST_REASON_KILLED);
    event(MST_EVENT_GENERATION, 0, 0);
    event(MST_EVENT_FORK_FAILED, 0, 0);
    event(MST_EVENT_LIMIT, 0, 0);
    test_view(&v, board.path, 1);
    ck_assert_uint_eq(v.s.forks[MST_KIND_CHILD], 1);
    ck_assert_uint_eq(v.s.forks[MST_KIND_HELPER], 2);
    ck_assert_uint_eq(v.s.exits[MST_REASON_KILLED], 1);
    ck_assert_uint_eq(v.s.unfinished, 2);
    ck_assert_uint_eq(v.s.generations, 1);
    ck_assert_uint_eq(v.s.forks_failed, 1);
    ck_assert_uint_eq(v.s.lifecycle_written, 7);
    test_view_free(&v);
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("board");
    TCase *making = tcase_create("making"), *processes = tcase_create("processes"),
          *labels = tcase_create("labels"), *lifecycle = tcase_create("lifecycle");

    tcase_add_test(making, a_board_is_as_large_as_the_layout_says);
    tcase_add_loop_test(making, layouts_out_of_range_are_refused, 0, 9);
    tcase_add_test(making, stripes_are_a_power_of_two);
    tcase_add_test(making, a_board_that_cannot_be_made_is_a_sentence);
    tcase_add_test(making, the_board_of_a_live_server_is_not_replaced);
    tcase_add_test(making, a_process_that_only_the_header_calls_its_server_keeps_no_board);
    tcase_add_test(making, a_scribbled_board_is_replaced_where_nobody_else_can_have_put_it);
    tcase_add_test(making, a_file_that_is_no_board_stays_in_a_directory_for_all);
    tcase_add_test(making, nor_is_one_of_a_format_that_nobody_knows_here);
    tcase_add_test(making, the_board_of_a_dead_server_is_replaced_and_its_reader_keeps_the_old_one);
    tcase_add_test(processes, a_killed_childs_entry_is_released_with_what_it_left);
    tcase_add_test(processes, counters_never_go_back_while_children_come_and_are_killed);
    tcase_add_test(processes, a_new_owner_starts_without_the_old_ones_requests);
    tcase_add_test(processes, an_entrys_times_are_those_of_its_owners);
    tcase_add_test(processes, a_clean_exit_is_told);
    tcase_add_test(processes, with_all_entries_taken_by_the_living_a_claim_fails);
    tcase_add_test(processes, with_all_entries_taken_a_dead_owners_is_reclaimed);
    tcase_add_test(processes, a_pid_used_again_by_another_process_is_a_dead_owner);
    tcase_add_test(processes, an_entry_whose_claimant_was_killed_is_reclaimed);
    tcase_add_test(processes, simultaneous_claims_get_an_entry_each);
    tcase_add_test(labels, a_label_has_one_index);
    tcase_add_test(labels, labels_without_room_are_other);
    tcase_add_test(labels, simultaneous_labels_are_interned_once);
    tcase_add_test(lifecycle, lifecycle_events_are_counted);
    suite_add_tcase(suite, making);
    suite_add_tcase(suite, processes);
    suite_add_tcase(suite, labels);
    suite_add_tcase(suite, lifecycle);
    tcase_set_timeout(processes, 60);
    return test_run(suite);
}

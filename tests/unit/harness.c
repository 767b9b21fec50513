/* harness.c - what the board's unit tests share. See harness.h. */
#include "harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "write/journal.h"

/* Bytes of the largest entry of a board, the counters of a label, with room to grow. */
#define ENTRY_MAX (sizeof(struct mst_counters) + 1024)

static char directory[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void remove_directory(void)
{
    if (nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        perror(directory);
}

int test_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    strcpy(directory, access("/dev/shm", W_OK) == 0 ? "/dev/shm/mpmstat-test.XXXXXX"
                                                     : "/tmp/mpmstat-test.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        return EXIT_FAILURE;
    }
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    remove_directory();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

const char *test_path(void)
{
    static char path[128];
    static unsigned count;

    snprintf(path, sizeof path, "%s/%ld-%u.board", directory, (long)getpid(), count++);
    return path;
}

static apr_pool_t *memory;

/* What its cleanups free is no leak. */
static void free_memory(void)
{
    apr_pool_destroy(memory);
}

apr_pool_t *memory_of_test(void)
{
    if (memory == NULL) {
        memory = mst_pool_new(NULL);
        atexit(free_memory);
    }
    return memory;
}

struct mst_layout test_layout(void)
{
    struct mst_layout layout = {
        .producer = MST_PRODUCER_APACHE, .processes = 4, .threads_per_process = 2, .labels = 8,
        .stripes = 2, .requests = 16, .lifecycle = 16,
    };

    return layout;
}

struct mst_layout test_php_layout(void)
{
    struct mst_layout layout = test_layout();

    layout.producer = MST_PRODUCER_PHP;
    layout.threads_per_process = 1;
    return layout;
}

void test_board(struct mst_board *b, const struct mst_layout *layout)
{
    static const struct mst_identity apache = {
        .server = "Apache/2.4.0 (Test)", .mpm = "event", .version = "0.0.1", .workers_limit = 8,
    };
    static const struct mst_identity php = {
        .server = "PHP/8.2.0", .sapi = "fpm-fcgi", .version = "0.0.1",
        .workers_limit = MST_UNKNOWN,
    };
    char warning[MST_ERROR_MAX], error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_board_create(b, test_path(), layout,
                                   layout->producer == MST_PRODUCER_PHP ? &php : &apache,
                                   (gid_t)-1, warning, error) == 0, "%s", error);
}

static void write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
    ck_assert_int_eq(pwrite(fd, from, bytes, (off_t)offset), (ssize_t)bytes);
}

/* One entry with `extra` bytes more: a journal's record keeps its check last. */
static void write_grown(int fd, enum mst_section_id id, const char *entry, uint32_t stride,
                        uint32_t extra, uint64_t offset)
{
    bool is_record = id == MST_SECTION_REQUESTS || id == MST_SECTION_LIFECYCLE
                  || id == MST_SECTION_PHP_REQUESTS || id == MST_SECTION_MARKS
                  || id == MST_SECTION_DELIVERIES;
    uint64_t grown[ENTRY_MAX / 8] = { 0 };
    size_t words = (stride + extra) / 8;

    ck_assert_uint_le(stride + extra, sizeof grown);
    memset(grown, 0x5a, stride + extra);
    memcpy(grown, entry, stride);
    if (is_record) {
        grown[stride / 8 - 1] = UINT64_C(0x5a5a);
        grown[words - 1] = mst_journal_check(grown[0], grown + 1, words - 2);
    }
    write_at(fd, grown, stride + extra, offset);
}

const char *test_grown_board(const struct mst_board *b, uint32_t extra)
{
    static char path[128];
    struct mst_header header = *b->header;
    uint64_t end = MST_PAGE;
    int fd;
    unsigned id;
    uint32_t i;

    snprintf(path, sizeof path, "%s", test_path());
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    for (id = 0; id < MST_SECTION_COUNT; id++) {
        struct mst_section *s = mst_section_of(&header, id);
        const char *from = (const char *)b->header + s->offset;

        for (i = 0; i < s->count; i++)
            write_grown(fd, (enum mst_section_id)id, from + (size_t)i * s->stride, s->stride,
                        extra, end + (uint64_t)i * (s->stride + extra));
        s->offset = end;
        s->stride += extra;
        end += (uint64_t)s->count * s->stride;
    }
    header.file_bytes = end;
    write_at(fd, &header, sizeof header, 0);
    close(fd);
    return path;
}

void test_view(struct test_view *v, const char *path, int running)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_world world = { .running = running };

    ck_assert_msg(mst_reader_open(&v->reader, path, error) == 0, "%s", error);
    ck_assert_msg(mst_copy_take(&v->copy, &v->reader, error) == 0, "%s", error);
    ck_assert_int_eq(mst_snapshot_make(&v->s, &v->copy, &world), 0);
}

void test_view_free(struct test_view *v)
{
    mst_snapshot_free(&v->s);
    mst_copy_free(&v->copy);
    mst_reader_close(&v->reader);
}

const struct mst_snapshot_label *test_label(const struct mst_snapshot *s, const char *name)
{
    size_t i;

    for (i = 0; i < s->label_count; i++)
        if (strcmp(s->labels[i].label, name) == 0)
            return &s->labels[i];
    ck_abort_msg("expected a label %s in the snapshot, found none", name);
    return NULL;
}

bool test_fork(pid_t *pid)
{
    *pid = fork();
    if (*pid != 0)   /* an assertion writes to the file that the child shares, at the same place */
        ck_assert_int_gt(*pid, 0);
    return *pid == 0;
}

int test_wait(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

pid_t test_dead_pid(void)
{
    pid_t pid;

    if (test_fork(&pid))
        _exit(0);
    test_wait(pid);
    return pid;
}

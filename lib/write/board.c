/* board.c - makes a board and publishes it; maps it for its writers.
 *
 * A server's parent calls it before it forks. What can fail fails here, with a sentence, and
 * leaves no file behind.
 */
#include "write/board.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "segment/liveness.h"
#include "write/build.h"
#include "write/path.h"
#include "write/call_stack.h"

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* Does not write a text that stays the same: readers may read it meanwhile. */
static void set_text(char *to, size_t size, const char *from)
{
    if (strncmp(to, from ? from : "", size - 1) != 0)
        copy_text(to, size, from);
}

static void set_identity(struct mst_header *h, const struct mst_identity *id)
{
    set_text(h->server, sizeof h->server, id->server);
    set_text(h->mpm, sizeof h->mpm, id->mpm);
    set_text(h->sapi, sizeof h->sapi, id->sapi);
    set_text(h->version_text, sizeof h->version_text, id->version);
    set_text(h->settings, sizeof h->settings, id->settings);
    __atomic_store_n(&h->workers_limit, id->workers_limit, __ATOMIC_RELAXED);
    __atomic_store_n(&h->http2_workers_limit, id->http2_workers_limit, __ATOMIC_RELAXED);
}

static void fill_header(struct mst_header *h, const struct mst_layout *layout,
                        const struct mst_identity *id, uint64_t bytes)
{
    memcpy(h->magic, MST_MAGIC, sizeof h->magic);
    h->version = MST_FORMAT_VERSION;
    h->header_bytes = sizeof *h;
    h->file_bytes = bytes;
    h->byte_order = 0x01020304;
    h->producer = layout->producer;
    if (!id->no_parent) {
        h->pid = (uint32_t)getpid();
        h->pid_start_ticks = mst_host_start_ticks(h->pid);
    }
    h->started_ns = mst_now_ns();
    h->realtime_offset_ns = (int64_t)(mst_realtime_ns() - mst_now_ns());
    h->pid_namespace = mst_host_namespace("pid");
    h->time_namespace = mst_host_namespace("time");
    h->kernel_hz = mst_host_hz();
    h->threads_per_process = layout->threads_per_process;
    h->stripes = layout->stripes;
    mst_host_boot_id(h->boot_id, sizeof h->boot_id);
    set_identity(h, id);
}

void mst_board_identify(struct mst_board *b, const struct mst_identity *identity)
{
    set_identity(b->header, identity);
}

void mst_board_fill_fields(struct mst_field_name *names)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];

        if (f->storage == MST_STORAGE_NONE)
            continue;
        copy_text(names->name, sizeof names->name, f->id);
        names->storage = f->storage;
        names->type = f->type;
        names->offset = (uint32_t)f->stored_offset;
        names->words = (uint32_t)f->stored_words;
        names++;
    }
}

static void *at(const struct mst_board *b, uint64_t offset)
{
    return (char *)b->header + offset;
}

void mst_board_locate(struct mst_board *b, const struct mst_section s[MST_SECTION_COUNT],
                      uint32_t threads, uint32_t stripes)
{
    b->totals = at(b, s[MST_SECTION_TOTALS].offset);
    b->processes = at(b, s[MST_SECTION_PROCESSES].offset);
    b->workers = at(b, s[MST_SECTION_WORKERS].offset);
    b->in_flight = at(b, s[MST_SECTION_IN_FLIGHT].offset);
    b->labels = at(b, s[MST_SECTION_LABELS].offset);
    b->counters = at(b, s[MST_SECTION_COUNTERS].offset);
    b->requests = at(b, s[MST_SECTION_REQUESTS].offset);
    b->lifecycle = at(b, s[MST_SECTION_LIFECYCLE].offset);
    b->php_requests = at(b, s[MST_SECTION_PHP_REQUESTS].offset);
    b->marks = at(b, s[MST_SECTION_MARKS].offset);
    b->forks = at(b, s[MST_SECTION_FORKS].offset);
    b->ends = at(b, s[MST_SECTION_ENDS].offset);
    b->end_counters = at(b, s[MST_SECTION_END_COUNTERS].offset);
    b->deliveries = at(b, s[MST_SECTION_DELIVERIES].offset);
    b->paths = at(b, s[MST_SECTION_PATHS].offset);
    b->frames = at(b, s[MST_SECTION_FRAMES].offset);
    b->stacks = at(b, s[MST_SECTION_STACKS].offset);
    b->code_samples = at(b, s[MST_SECTION_CODE_SAMPLES].offset);
    b->process_count = s[MST_SECTION_PROCESSES].count;
    b->threads = b->threads_used = threads;
    b->label_count = s[MST_SECTION_LABELS].count;
    b->in_flight_stride = s[MST_SECTION_IN_FLIGHT].stride / (uint32_t)sizeof(uint32_t);
    b->stripe_mask = stripes - 1;
    b->requests_mask = s[MST_SECTION_REQUESTS].count - 1;
    b->lifecycle_mask = s[MST_SECTION_LIFECYCLE].count - 1;
    b->php_requests_mask = s[MST_SECTION_PHP_REQUESTS].count - 1;
    b->marks_mask = s[MST_SECTION_MARKS].count - 1;
    b->fork_count = s[MST_SECTION_FORKS].count;
    b->end_count = s[MST_SECTION_ENDS].count;
    b->deliveries_mask = s[MST_SECTION_DELIVERIES].count - 1;
    b->path_count = s[MST_SECTION_PATHS].count;
    b->frame_count = s[MST_SECTION_FRAMES].count;
    b->stack_count = s[MST_SECTION_STACKS].count;
    b->code_samples_mask = s[MST_SECTION_CODE_SAMPLES].count - 1;
}

static void fill(struct mst_board *b, const struct mst_layout *layout,
                 const struct mst_section sections[MST_SECTION_COUNT],
                 const struct mst_identity *identity)
{
    uint64_t i, workers;

    memcpy(b->header->section, sections, sizeof b->header->section);
    memcpy(b->header->more, sections + MST_SECTION_FIRST,
           (MST_SECTION_COUNT - MST_SECTION_FIRST) * sizeof *sections);
    fill_header(b->header, layout, identity, b->bytes);
    mst_board_locate(b, sections, layout->threads_per_process, layout->stripes);
    mst_board_fill_fields(at(b, sections[MST_SECTION_FIELDS].offset));
    workers = (uint64_t)b->process_count * b->threads;
    for (i = 0; i < workers; i++)
        b->workers[i].state = MST_WORKER_FREE;
    mst_label_intern(b, MST_LABEL_OTHER_NAME);
    mst_label_intern(b, MST_LABEL_STATUS_NAME);
    mst_other_end_intern(b, MST_END_KIND_COUNT, MST_END_OTHER_NAME);
    mst_path_begin(b);
    mst_call_stack_begin(b);
    __atomic_store_n(&b->header->ready, MST_READY, __ATOMIC_RELEASE);
}

/* Reads the part of the header that is the same in every version. */
static bool read_old_header(const char *path, struct mst_header *h)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n;

    _Static_assert(offsetof(struct mst_header, started_ns) == MST_HEADER_FOREVER, "they stay");
    if (fd < 0)
        return false;
    n = pread(fd, h, MST_HEADER_FOREVER, 0);
    close(fd);
    return n == (ssize_t)MST_HEADER_FOREVER && memcmp(h->magic, MST_MAGIC, sizeof h->magic) == 0;
}

/* Whether the board at path belongs to another server that runs. The process that the header names
 * must live and must have the board mapped: the header alone proves nothing, since a worker may
 * have written any pid there. Where this build cannot read the board's version, this is the whole
 * check; else the board must also not be marked as stopped. */
static bool taken_by_live_server(const char *path, struct mst_header *h)
{
    struct mst_host_process process;
    char ignored[MST_ERROR_MAX];
    struct mst_reader reader;
    bool taken;

    if (!read_old_header(path, h) || h->pid == (uint32_t)getpid()
        || !mst_host_process(h->pid, &process) || process.start_ticks != h->pid_start_ticks
        || process.state == 'Z' || !mst_host_has_mapped(h->pid, path))
        return false;
    if (mst_reader_open(&reader, path, ignored) != 0)
        return true;
    taken = reader.header.stopped_ns == 0 && mst_header_running(&reader.header) == 1;
    mst_reader_close(&reader);
    return taken;
}

bool mst_board_is_other_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char magic[sizeof MST_MAGIC];
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, magic, sizeof magic);
    close(fd);
    return n != 0 && (n != (ssize_t)sizeof magic || memcmp(magic, MST_MAGIC, sizeof magic) != 0);
}

/* Whether only this user can have made the file: it is this user's, in a directory where no other
 * user but root may make files. */
static bool is_ours_alone(const char *path, const struct stat *file)
{
    const char *slash = strrchr(path, '/');
    char directory[sizeof ((struct mst_board *)0)->path];
    struct stat st;
    size_t length = slash ? (size_t)(slash - path) : 0;

    if (slash == NULL || length >= sizeof directory)
        return false;
    snprintf(directory, sizeof directory, "%.*s/", (int)length, path);
    return stat(directory, &st) == 0 && file->st_uid == geteuid() && !(st.st_mode & 022)
        && (st.st_uid == geteuid() || st.st_uid == 0);
}

/* Whether a file is a board by its name, where only this user can have put it there. A worker may
 * have overwritten the board's first bytes, which must not end recording for good. */
static bool is_board_by_name(const char *path, const struct stat *file)
{
    size_t length = strlen(path), suffix = strlen(MST_BOARD_SUFFIX);

    return length > suffix && strcmp(path + length - suffix, MST_BOARD_SUFFIX) == 0
        && is_ours_alone(path, file);
}

/* Only a board or an empty file may be replaced: never a device or a link that a local user put
 * there for root to follow, nor a file that a mistyped directive names. */
static int check_place(const char *path, char error[MST_ERROR_MAX])
{
    struct mst_header taken;
    struct stat st;

    if (lstat(path, &st) != 0)
        return 0;   /* no file is there, or making the board will report what is wrong */
    if (!S_ISREG(st.st_mode))
        return mst_fail(error, "%s is not a regular file; "
                        "name another place for the board, or remove it", path);
    if (mst_board_is_other_file(path) && !is_board_by_name(path, &st))
        return mst_fail(error, "%s is a file that is not a board; "
                        "name another place for the board, or remove it", path);
    if (taken_by_live_server(path, &taken))
        return mst_fail(error, "%s is the board of another running server (pid %u, format %u; "
                        "this is format %u); give each server a board of its own", path, taken.pid,
                        taken.version, MST_FORMAT_VERSION);
    return 0;
}

static void warn_unless_tmpfs(int fd, const char *path, char warning[MST_ERROR_MAX])
{
    struct statfs fs;

    warning[0] = '\0';
    if (fstatfs(fd, &fs) == 0 && fs.f_type != TMPFS_MAGIC)
        snprintf(warning, MST_ERROR_MAX, "%s is not on a tmpfs: the kernel will write the board "
                 "to disk again and again; put it under /run or /dev/shm", path);
}

/* Allocates every block: a hole in a file on a full tmpfs would be a SIGBUS in the child that first
 * touches it. */
static int allocate(int fd, uint64_t bytes, const char *path, char error[MST_ERROR_MAX])
{
    int rc = posix_fallocate(fd, 0, (off_t)bytes);

    if (rc == 0)
        return 0;
    return mst_fail(error, "cannot allocate the %llu bytes of the board %s: %s; free room there, "
                    "or ask for less (MPMStatJournal, MPMStatMaxLabels)",
                    (unsigned long long)bytes, path, strerror(rc));
}

int mst_board_open_to_readers(const struct mst_board *b, gid_t gid, char error[MST_ERROR_MAX])
{
    /* A process that may not give it that group (not root) leaves its own. */
    if (gid != (gid_t)-1 && fchown(b->fd, (uid_t)-1, gid) != 0 && errno != EPERM)
        return mst_fail(error, "cannot give the board %s to group %lu: %s", b->path,
                        (unsigned long)gid, strerror(errno));
    if (fchmod(b->fd, 0640) != 0)
        return mst_fail(error, "cannot set the mode of the board %s: %s", b->path,
                        strerror(errno));
    return 0;
}

void mst_board_discard(struct mst_board *b, const char *built)
{
    unlink(built);
    mst_board_close(b);
}

int mst_board_map(struct mst_board *b, int fd, char error[MST_ERROR_MAX])
{
    b->header = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (b->header == MAP_FAILED) {
        b->header = NULL;
        return mst_fail(error, "cannot map the board %s: %s", b->path, strerror(errno));
    }
    mst_guard_begin(&b->guard, b->header, b->bytes);
    return 0;
}

static bool is_same_file(int a, int b)
{
    struct stat of_a, of_b;

    return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_ino == of_b.st_ino
        && of_a.st_dev == of_b.st_dev;
}

int mst_board_keep_read_only(struct mst_board *b, int fd, const char *path,
                             char error[MST_ERROR_MAX])
{
    int only_reads = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int reason = errno;

    if (only_reads >= 0 && is_same_file(only_reads, fd)) {
        close(fd);
        b->fd = only_reads;
        return 0;
    }
    close(fd);
    if (only_reads < 0)
        return mst_fail(error, "cannot open the board %s for reading: %s", b->path,
                        strerror(reason));
    close(only_reads);
    return mst_fail(error, "the board %s was replaced by another file while it was opened; "
                    "look for another program that writes to its directory", b->path);
}

/* Allocates and maps the private file; then no descriptor is left that may change its size. */
static int map_private_file(struct mst_board *b, int fd, const char *built,
                            char error[MST_ERROR_MAX])
{
    if (allocate(fd, b->bytes, b->path, error) != 0 || mst_board_map(b, fd, error) != 0) {
        close(fd);
        return -1;
    }
    return mst_board_keep_read_only(b, fd, built, error);
}

int mst_board_build(struct mst_board *b, const char *path, const struct mst_layout *layout,
                    const struct mst_identity *identity, char built[MST_BUILT_MAX],
                    char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX])
{
    struct mst_section sections[MST_SECTION_COUNT];
    int fd;

    memset(b, 0, sizeof *b);
    b->fd = -1;
    b->bytes = (size_t)mst_layout_place(layout, sections);
    if (b->bytes == 0)
        return mst_fail(error, "a board for %u processes of %u threads with %u labels and "
                        "%u journal records is out of range; lower the limits", layout->processes,
                        layout->threads_per_process, layout->labels, layout->requests);
    if ((size_t)snprintf(b->path, sizeof b->path, "%s", path) >= sizeof b->path)
        return mst_fail(error, "the board's path is longer than %zu bytes", sizeof b->path - 1);
    snprintf(built, MST_BUILT_MAX, "%s.XXXXXX", b->path);
    fd = mkostemp(built, O_CLOEXEC);   /* O_EXCL, mode 0600 */
    if (fd < 0)
        return mst_fail(error, "cannot make the board %s: %s; the directory must exist and be "
                        "writable for the user that starts the server", path, strerror(errno));
    warn_unless_tmpfs(fd, path, warning);
    if (map_private_file(b, fd, built, error) != 0) {
        mst_board_discard(b, built);
        return -1;
    }
    fill(b, layout, sections, identity);
    return 0;
}

int mst_board_create(struct mst_board *b, const char *path, const struct mst_layout *layout,
                     const struct mst_identity *identity, gid_t gid,
                     char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX])
{
    char built[MST_BUILT_MAX];

    memset(b, 0, sizeof *b);
    b->fd = -1;
    if (check_place(path, error) != 0
        || mst_board_build(b, path, layout, identity, built, warning, error) != 0)
        return -1;
    if (mst_board_open_to_readers(b, gid, error) == 0) {
        if (rename(built, b->path) == 0)
            return 0;
        mst_fail(error, "cannot publish the board as %s: %s", b->path, strerror(errno));
    }
    mst_board_discard(b, built);
    return -1;
}

bool mst_board_is_to_tell_loss(struct mst_board *b, char sentence[MST_ERROR_MAX])
{
    /* Where the file system has room, pages that a process took away come back as zeroes. */
    if (b->header != NULL && memcmp(b->header->magic, MST_MAGIC, sizeof b->header->magic) != 0)
        mst_guard_note_loss(&b->guard);
    if (!mst_guard_is_to_tell(&b->guard))
        return false;
    __atomic_store_n(&b->header->ready, MST_READY_ENDED, __ATOMIC_RELAXED);
    mst_fail(sentence, "recording has ended: a process has taken pages away from the board %s, "
             "has unmapped it, or has overwritten its header; requests are served as before, "
             "and a restart of the server (a graceful one, too) makes a new board", b->path);
    return true;
}

void mst_board_close(struct mst_board *b)
{
    mst_guard_end(&b->guard);
    if (b->header)
        munmap(b->header, b->bytes);
    if (b->fd >= 0)
        close(b->fd);
    b->header = NULL;
    b->fd = -1;
}

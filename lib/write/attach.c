/* attach.c - maps a board that exists: this process's own from before an exec, or the one that the
 * processes of a user share.
 *
 * Other users may put files into its directory, and less trusted processes may have written to the
 * board itself (FPM's workers, whose master is root). So the owner and the mode are those of the
 * open file, never of the path; the layout is compared with one computed here, which is the one
 * that is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "segment/liveness.h"
#include "write/build.h"

#define TRIES 8   /* other processes make and remove boards at the same time */

enum finding { USABLE, UNUSABLE, REFUSED };

/* O_NONBLOCK: to open a FIFO must not hang. */
static int open_file(const char *path)
{
    return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* Only this user may have made the file, and may write to it. */
static int check_owner(int fd, const char *path, char error[MST_ERROR_MAX])
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return mst_fail(error, "cannot look at %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
        return mst_fail(error, "%s should be a regular file of user %lu that only this user may "
                        "write to; it belongs to user %lu and its mode is %o: remove it", path,
                        (unsigned long)geteuid(), (unsigned long)st.st_uid,
                        (unsigned)st.st_mode & 07777);
    return 0;
}

/* The layout that a board has, from its header as it was read and checked. */
static struct mst_layout layout_of(const struct mst_header *h)
{
    return (struct mst_layout){
        .producer = h->producer,
        .processes = h->section[MST_SECTION_PROCESSES].count,
        .threads_per_process = h->threads_per_process,
        .labels = h->section[MST_SECTION_LABELS].count,
        .stripes = h->stripes,
        .requests = h->section[MST_SECTION_REQUESTS].count
                  + h->section[MST_SECTION_PHP_REQUESTS].count,
        .lifecycle = h->section[MST_SECTION_LIFECYCLE].count,
        .code_samples = mst_section_in(h, MST_SECTION_CODE_SAMPLES)->count,
    };
}

/* Whether the board's counters are those of this build, each in the same place. */
static bool has_same_fields(const struct mst_reader *r, const struct mst_section *fields)
{
    size_t bytes = (size_t)fields->count * fields->stride;
    struct mst_field_name *ours = calloc(2 * fields->count, fields->stride);
    char ignored[MST_ERROR_MAX];
    bool same = false;

    if (ours == NULL)
        return false;
    mst_board_fill_fields(ours);
    if (mst_reader_read(r, fields->offset, ours + fields->count, bytes, ignored) == 0)
        same = memcmp(ours, ours + fields->count, bytes) == 0;
    free(ours);
    return same;
}

bool mst_board_fits(const struct mst_reader *r, const struct mst_layout *layout,
                    struct mst_section sections[MST_SECTION_COUNT])
{
    const struct mst_header *h = &r->header;

    return h->ready == MST_READY && h->header_bytes == sizeof *h
        && mst_layout_place(layout, sections) == h->file_bytes
        && memcmp(sections, h->section, sizeof h->section) == 0
        && memcmp(sections + MST_SECTION_FIRST, h->more,
                  (MST_SECTION_COUNT - MST_SECTION_FIRST) * sizeof *sections) == 0
        && has_same_fields(r, &sections[MST_SECTION_FIELDS]);
}

static int map(struct mst_board *b, int fd, const char *path, const struct mst_layout *layout,
               const struct mst_section *sections, char error[MST_ERROR_MAX])
{
    memset(b, 0, sizeof *b);
    b->fd = -1;
    b->bytes = (size_t)mst_layout_bytes(layout);
    if (strlen(path) >= sizeof b->path)
        return mst_fail(error, "the board's path is longer than %zu bytes", sizeof b->path - 1);
    strcpy(b->path, path);
    if (mst_board_map(b, fd, error) != 0)
        return -1;
    mst_board_locate(b, sections, layout->threads_per_process, layout->stripes);
    return 0;
}

/* Closes `fd`, through which the board was mapped, and keeps a descriptor that only reads. */
static bool keep(struct mst_board *b, int fd, const char *path, char error[MST_ERROR_MAX])
{
    if (mst_board_keep_read_only(b, fd, path, error) == 0)
        return true;
    mst_board_close(b);
    return false;
}

/* ---- this process's own -------------------------------------------------------------- */

static bool is_own(const struct mst_header *h)
{
    return h->pid == (uint32_t)getpid() && h->pid_start_ticks == mst_host_start_ticks(h->pid)
        && mst_header_running(h) == 1;
}

bool mst_board_adopt(struct mst_board *b, const char *path, const struct mst_layout *layout)
{
    struct mst_section sections[MST_SECTION_COUNT];
    char ignored[MST_ERROR_MAX];
    struct mst_reader reader;
    bool adopted = false;
    int fd = open_file(path);

    if (fd < 0)
        return false;
    if (check_owner(fd, path, ignored) == 0 && mst_reader_attach(&reader, fd, path, ignored) == 0) {
        adopted = is_own(&reader.header) && reader.header.producer == layout->producer
               && mst_board_fits(&reader, layout, sections)
               && map(b, fd, path, layout, sections, ignored) == 0;
        mst_reader_close(&reader);
    }
    if (adopted)
        return keep(b, fd, path, ignored);
    close(fd);
    return false;
}

uint64_t mst_board_next_generation(const char *path, uint64_t pid, uint64_t start_ticks)
{
    char ignored[MST_ERROR_MAX];
    struct mst_reader reader;
    uint64_t generation = 0;
    int fd = open_file(path);

    if (fd < 0)
        return 0;
    if (check_owner(fd, path, ignored) == 0 && mst_reader_attach(&reader, fd, path, ignored) == 0) {
        if (reader.header.pid == pid && reader.header.pid_start_ticks == start_ticks)
            generation = reader.header.generation + 1;
        mst_reader_close(&reader);
    }
    close(fd);
    return generation;
}

/* ---- the shared one ------------------------------------------------------------------ */

/* Whether the board can be shared. */
static enum finding examine(const struct mst_reader *r, struct mst_section *sections,
                            const struct mst_layout *wanted, char error[MST_ERROR_MAX])
{
    struct mst_layout layout = layout_of(&r->header);

    if (r->header.pid == 0 && mst_header_running(&r->header) == 1
        && layout.producer == wanted->producer
        && layout.threads_per_process == wanted->threads_per_process
        && mst_board_fits(r, &layout, sections))
        return USABLE;
    if (mst_reader_alive(r) == 0)
        return UNUSABLE;
    mst_fail(error, "%s is the board of running processes of another kind (another version, or "
             "another pid namespace); wait until they have ended, or name another place", r->path);
    return REFUSED;
}

/* Removes the board that was found to be unusable, if it is still the one at path. The lock: two
 * processes that found the same must not remove each other's new board. */
static void remove_unusable(int fd, const char *path)
{
    struct stat opened, named;

    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && lstat(path, &named) == 0
        && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
        unlink(path);
}

/* USABLE: it is mapped. UNUSABLE: it is removed, or another process removes it; try again. */
static enum finding map_shared(struct mst_board *b, int fd, const char *path,
                               const struct mst_layout *wanted, char error[MST_ERROR_MAX])
{
    struct mst_section sections[MST_SECTION_COUNT];
    enum finding finding = UNUSABLE;
    struct mst_layout layout;
    struct mst_reader reader;

    if (check_owner(fd, path, error) != 0)
        return REFUSED;
    if (mst_board_is_other_file(path)) {
        mst_fail(error, "%s is a file that is not a board; name another place for the board, "
                 "or remove it", path);
        return REFUSED;
    }
    if (mst_reader_attach(&reader, fd, path, error) == 0) {
        finding = examine(&reader, sections, wanted, error);
        layout = layout_of(&reader.header);
        if (finding == USABLE && map(b, fd, path, &layout, sections, error) != 0)
            finding = REFUSED;
        mst_reader_close(&reader);
    }
    if (finding == UNUSABLE)
        remove_unusable(fd, path);
    return finding;
}

/* Returns 0: made; 1: another process was first; -1 with a sentence. */
static int make_shared(struct mst_board *b, const char *path, const struct mst_layout *layout,
                       const struct mst_identity *identity, gid_t gid,
                       char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX])
{
    char built[MST_BUILT_MAX];
    int failure;

    if (mst_board_build(b, path, layout, identity, built, warning, error) != 0)
        return -1;
    if (mst_board_open_to_readers(b, gid, error) != 0) {
        mst_board_discard(b, built);
        return -1;
    }
    if (link(built, path) == 0) {
        unlink(built);
        return 0;
    }
    failure = errno;
    mst_fail(error, "cannot publish the board as %s: %s", path, strerror(failure));
    mst_board_discard(b, built);
    return failure == EEXIST ? 1 : -1;
}

int mst_board_share(struct mst_board *b, const char *path, const struct mst_layout *layout,
                    const struct mst_identity *identity, gid_t gid,
                    char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX])
{
    int tries, made, fd;
    enum finding finding;

    memset(b, 0, sizeof *b);
    b->fd = -1;
    warning[0] = '\0';
    for (tries = 0; tries < TRIES; tries++) {
        fd = open_file(path);
        if (fd < 0 && errno == ENOENT) {
            made = make_shared(b, path, layout, identity, gid, warning, error);
            if (made <= 0)
                return made;
            continue;
        }
        if (fd < 0)
            return mst_fail(error, "cannot open the board %s: %s; it should be a regular file of "
                            "user %lu", path, strerror(errno), (unsigned long)geteuid());
        finding = map_shared(b, fd, path, layout, error);
        if (finding == USABLE)
            return keep(b, fd, path, error) ? 0 : -1;
        close(fd);
        if (finding == REFUSED)
            return -1;
    }
    return mst_fail(error, "%s changes again and again: others make and remove it", path);
}

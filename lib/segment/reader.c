/* reader.c - opens a board's file and checks it: see reader.h.
 *
 * Any user can write a board that root reads, so each number is checked before it is
 * used.
 */
#include "segment/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/host.h"
#include "base/saturate.h"
#include "segment/fields.h"

#define BYTE_ORDER_HERE    0x01020304u
#define BYTE_ORDER_SWAPPED 0x04030201u
#define CHUNK_BYTES        65536u
#define STAT_BLOCK         512u       /* bytes of a block in st_blocks */
#define FIELDS_AT_ONCE     32u
#define HISTOGRAM_WORDS    (sizeof(struct mst_histogram) / sizeof(uint64_t))
#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* What each section must be like. Strides are at least those of the first writer of this format
 * version, and so small that many entries are read at once. */
struct section_rule {
    const char *name;
    uint32_t    count_max, stride_min, stride_max;
    unsigned    of;    /* producers that have it (MST_OF_); on other boards its count can be 0 */
};
#define RECORD_STRIDE(payload, last) \
    (sizeof(uint64_t) + END_OF(payload, last) + sizeof(uint64_t))   /* ticket, payload, check */
static const struct section_rule section_rules[MST_SECTION_COUNT] = {
    [MST_SECTION_FIELDS]    = { "fields", 1024, sizeof(struct mst_field_name), 1024, MST_OF_ANY },
    [MST_SECTION_TOTALS]    = { "totals", 1, sizeof(uint64_t), CHUNK_BYTES, MST_OF_ANY },
    [MST_SECTION_PROCESSES] = { "processes", 1u << 20, END_OF(struct mst_process, busy), 4096,
                                MST_OF_ANY },
    [MST_SECTION_WORKERS]   = { "workers", UINT32_MAX, END_OF(struct mst_worker, path), 4096,
                                MST_OF_ANY },
    [MST_SECTION_IN_FLIGHT] = { "in_flight", 1u << 20, 2 * sizeof(uint32_t), CHUNK_BYTES,
                                MST_OF_ANY },
    [MST_SECTION_LABELS]    = { "labels", MST_LABELS_MAX, END_OF(struct mst_name, name), 4096,
                                MST_OF_ANY },
    [MST_SECTION_COUNTERS]   = { "counters", MST_LABELS_MAX * MST_STRIPES_MAX,
                                MST_COUNTED_PHASES * sizeof(struct mst_histogram), CHUNK_BYTES,
                                MST_OF_ANY },
    [MST_SECTION_REQUESTS]  = { "requests", MST_JOURNAL_MAX,
                                RECORD_STRIDE(struct mst_request, front_ns), 4096,
                                MST_OF_APACHE },
    [MST_SECTION_LIFECYCLE] = { "lifecycle", MST_JOURNAL_MAX,
                                RECORD_STRIDE(struct mst_lifecycle, reason), 4096, MST_OF_ANY },
    [MST_SECTION_PHP_REQUESTS] = { "php_requests", MST_JOURNAL_MAX,
                                RECORD_STRIDE(struct mst_php_request, script), 4096,
                                MST_OF_PHP },
    [MST_SECTION_MARKS]     = { "marks", MST_JOURNAL_MAX, RECORD_STRIDE(struct mst_mark, name),
                                4096, MST_OF_PHP },
    [MST_SECTION_FORKS]     = { "forks", 1u << 20, END_OF(struct mst_fork, generation), 4096,
                                MST_OF_APACHE },
    /* Boards of older writers lack these. */
    [MST_SECTION_ENDS]      = { "ends", MST_LABELS_MAX, END_OF(struct mst_name, owner), 4096, 0 },
    [MST_SECTION_END_COUNTERS] = { "end_counters", MST_LABELS_MAX * MST_STRIPES_MAX,
                                sizeof(uint64_t), CHUNK_BYTES, 0 },
    [MST_SECTION_DELIVERIES] = { "deliveries", MST_JOURNAL_MAX,
                                RECORD_STRIDE(struct mst_delivery, undelivered_bytes), 4096, 0 },
    [MST_SECTION_PATHS]     = { "paths", MST_PATHS_MAX, END_OF(struct mst_path, path), 4096, 0 },
    [MST_SECTION_FRAMES]    = { "frames", MST_FRAMES_MAX, END_OF(struct mst_frame, file), 4096, 0 },
    [MST_SECTION_STACKS]    = { "stacks", MST_STACKS_MAX, sizeof(struct mst_call_stack), 4096, 0 },
    [MST_SECTION_CODE_SAMPLES] = { "code_samples", MST_JOURNAL_MAX,
                                RECORD_STRIDE(struct mst_code_sample, weight_ns), 4096, 0 },
};

int mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t bytes,
                    char error[MST_ERROR_MAX])
{
    char *at = to;

    while (bytes > 0) {
        ssize_t n = pread(r->fd, at, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mst_fail(error, "cannot read the board %s: %s", r->path, strerror(errno));
        if (n == 0)
            return mst_fail(error, "the board %s was cut while it was being read: expected %zu "
                            "bytes at offset %" PRIu64 ", found its end; has something truncated "
                            "it? Restart the server to get a new one",
                            r->path, bytes, offset);
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

int mst_reader_entries(const struct mst_reader *r, enum mst_section_id id, uint64_t first,
                       uint64_t count, void *to, size_t size, char error[MST_ERROR_MAX])
{
    const struct mst_section *s = mst_section_in(&r->header, id);
    size_t stride = s->stride, use = stride < size ? stride : size;
    uint64_t offset = s->offset + first * stride;
    unsigned char chunk[CHUNK_BYTES], *at = to;

    if (stride == size)
        return mst_reader_read(r, offset, to, (size_t)count * size, error);
    while (count > 0) {
        size_t fit = CHUNK_BYTES / stride, n = count < fit ? (size_t)count : fit, i;

        if (mst_reader_read(r, offset, chunk, n * stride, error) != 0)
            return -1;
        for (i = 0; i < n; i++, at += size)
            memcpy(at, chunk + i * stride, use);
        offset += n * stride;
        count -= n;
    }
    return 0;
}

/* ---- opening and checking -------------------------------------------------- */

static int fail_damaged(const struct mst_reader *r, char error[MST_ERROR_MAX], const char *what,
                        uint64_t expected, uint64_t found)
{
    return mst_fail(error, "the board %s is damaged: expected %s %" PRIu64 ", found %" PRIu64
                    "; restart its server to get a new one", r->path, what, expected, found);
}

static int check_identity(const struct mst_reader *r, char error[MST_ERROR_MAX])
{
    const struct mst_header *h = &r->header;

    if (memcmp(h->magic, MST_MAGIC, sizeof h->magic) != 0)
        return mst_fail(error, "%s is not an mpmstat board: expected it to begin with \"%s\", "
                        "found %s; name the server's board file", r->path, MST_MAGIC,
                        memcmp(h->magic, "SQLite", 6) == 0 ?
                        "an SQLite file (mpmstat report shows archives)" : "other bytes");
    if (h->byte_order == BYTE_ORDER_SWAPPED)
        return mst_fail(error, "the board %s was written by a machine of the other byte order; "
                        "read it there", r->path);
    if (h->byte_order != BYTE_ORDER_HERE)
        return fail_damaged(r, error, "byte order", BYTE_ORDER_HERE, h->byte_order);
    if (h->version > MST_FORMAT_VERSION)
        return mst_fail(error, "the board %s was made by a newer mpmstat: expected format %u, "
                        "found %" PRIu32 "; upgrade the tool", r->path, MST_FORMAT_VERSION,
                        h->version);
    if (h->version < MST_FORMAT_VERSION)
        return mst_fail(error, "the board %s was made by an older mpmstat: expected format %u, "
                        "found %" PRIu32 "; upgrade it in the server and restart that", r->path,
                        MST_FORMAT_VERSION, h->version);
    if (h->producer != MST_PRODUCER_APACHE && h->producer != MST_PRODUCER_PHP)
        return mst_fail(error, "the board %s was written by a kind of server that this version "
                        "does not know (%" PRIu32 "); upgrade the tool", r->path, h->producer);
    if (h->ready == MST_READY_ENDED)
        return mst_fail(error, "the board %s has ended: a process of its server has taken pages "
                        "away from it; restart the server, gracefully or not, to get a new one",
                        r->path);
    if (h->ready != MST_READY)
        return mst_fail(error, "the board %s is still being built; try again, and if it stays "
                        "so, restart its server", r->path);
    return 0;
}

static int check_size(const struct mst_reader *r, uint64_t size, char error[MST_ERROR_MAX])
{
    const struct mst_header *h = &r->header;

    if (h->header_bytes < MST_HEADER_MIN || h->header_bytes > CHUNK_BYTES)
        return fail_damaged(r, error, "a header of at least", MST_HEADER_MIN, h->header_bytes);
    if (h->file_bytes > MST_FILE_MAX)
        return fail_damaged(r, error, "a file of at most", MST_FILE_MAX, h->file_bytes);
    if (size < h->file_bytes)
        return mst_fail(error, "the board %s is truncated: expected %" PRIu64 " bytes, found %"
                        PRIu64 "; restart its server to get a new one", r->path, h->file_bytes,
                        size);
    return 0;
}

/* Servers allocate every block of a board. A file system that compresses stores zeroes as holes;
 * a tmpfs does not. Only root's files and the reader's own are trusted to be of that kind. */
static bool may_have_holes(const struct mst_reader *r)
{
    struct statfs fs;

    return mst_owner_is_ours(r->owner) && fstatfs(r->fd, &fs) == 0 && fs.f_type != TMPFS_MAGIC;
}

/* A file that takes little room must not make its readers allocate much memory. */
static int check_allocated(const struct mst_reader *r, uint64_t allocated,
                           char error[MST_ERROR_MAX])
{
    if (allocated >= r->header.file_bytes || may_have_holes(r))
        return 0;
    return mst_fail(error, "the board %s has holes: expected %" PRIu64 " allocated bytes, found %"
                    PRIu64 "; a process has punched holes into it, or it was made so: restart its "
                    "server to get a new one", r->path, r->header.file_bytes, allocated);
}

static int check_section(const struct mst_reader *r, enum mst_section_id id,
                         char error[MST_ERROR_MAX])
{
    const struct section_rule *rule = &section_rules[id];
    const struct mst_section *s = mst_section_in(&r->header, id);
    uint64_t file_bytes = r->header.file_bytes;
    const char *wrong = NULL;

    if (s->count == 0 && !(rule->of & 1u << r->header.producer))
        return 0;
    if (s->count < 1 || s->count > rule->count_max)
        wrong = "count";
    else if (s->stride < rule->stride_min || s->stride > rule->stride_max || s->stride % 8 != 0)
        wrong = "stride";
    else if (s->offset < MST_HEADER_MIN || s->offset > file_bytes || s->offset % 8 != 0)
        wrong = "offset";
    else if ((uint64_t)s->count * s->stride > file_bytes - s->offset)
        wrong = "end";
    if (wrong == NULL)
        return 0;
    return mst_fail(error, "the board %s was made by another build of format %u, or is damaged: "
                    "the %s of its section `%s` is wrong: expected 1 to %" PRIu32 " entries of %"
                    PRIu32 " to %" PRIu32 " bytes within %" PRIu64 " bytes, all aligned to 8; "
                    "found %" PRIu32 " of %" PRIu32 " at %" PRIu64 "; restart its server to get "
                    "a new one", r->path, MST_FORMAT_VERSION, wrong, rule->name, rule->count_max,
                    rule->stride_min, rule->stride_max, file_bytes, s->count, s->stride,
                    s->offset);
}

static bool is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* The rings: a mask of the ticket selects the entry. */
static int check_rings(const struct mst_reader *r, char error[MST_ERROR_MAX])
{
    static const enum mst_section_id rings[] = { MST_SECTION_REQUESTS, MST_SECTION_LIFECYCLE,
                                                 MST_SECTION_PHP_REQUESTS, MST_SECTION_MARKS,
                                                 MST_SECTION_DELIVERIES };
    size_t i;

    for (i = 0; i < sizeof rings / sizeof rings[0]; i++) {
        uint32_t count = mst_section_in(&r->header, rings[i])->count;
        char what[64];

        if (count == 0 || is_power_of_two(count))
            continue;
        snprintf(what, sizeof what, "records in `%s`, a power of two up to",
                 section_rules[rings[i]].name);
        return fail_damaged(r, error, what, MST_JOURNAL_MAX, count);
    }
    return 0;
}

/* Checks that the sections agree with each other. */
static int check_shape(const struct mst_reader *r, char error[MST_ERROR_MAX])
{
    const struct mst_header *h = &r->header;
    const struct mst_section *s = h->section;
    uint64_t processes = s[MST_SECTION_PROCESSES].count, labels = s[MST_SECTION_LABELS].count;

    if (processes * h->threads_per_process != s[MST_SECTION_WORKERS].count)
        return fail_damaged(r, error, "workers (processes times threads)",
                            processes * h->threads_per_process, s[MST_SECTION_WORKERS].count);
    if (!is_power_of_two(h->stripes) || h->stripes > MST_STRIPES_MAX)
        return fail_damaged(r, error, "stripes, a power of two, at most", MST_STRIPES_MAX,
                            h->stripes);
    if (labels * h->stripes != s[MST_SECTION_COUNTERS].count)
        return fail_damaged(r, error, "counters (labels times stripes)", labels * h->stripes,
                            s[MST_SECTION_COUNTERS].count);
    if (processes != s[MST_SECTION_IN_FLIGHT].count)
        return fail_damaged(r, error, "rows of in_flight (processes)", processes,
                            s[MST_SECTION_IN_FLIGHT].count);
    if (labels * sizeof(uint32_t) > s[MST_SECTION_IN_FLIGHT].stride)
        return fail_damaged(r, error, "rows of in_flight of at least", labels * sizeof(uint32_t),
                            s[MST_SECTION_IN_FLIGHT].stride);
    if ((uint64_t)h->more[0].count * h->stripes != h->more[1].count)
        return fail_damaged(r, error, "end_counters (ends times stripes)",
                            (uint64_t)h->more[0].count * h->stripes, h->more[1].count);
    return check_rings(r, error);
}

uint64_t mst_wall_ns(const struct mst_header *h, uint64_t monotonic_ns)
{
    if (h->realtime_offset_ns >= 0)
        return mst_add_saturated(monotonic_ns, (uint64_t)h->realtime_offset_ns);
    return mst_elapsed(-(uint64_t)h->realtime_offset_ns, monotonic_ns);
}

void mst_header_terminate(struct mst_header *h)
{
    h->boot_id[sizeof h->boot_id - 1] = '\0';
    h->server[sizeof h->server - 1] = '\0';
    h->mpm[sizeof h->mpm - 1] = '\0';
    h->sapi[sizeof h->sapi - 1] = '\0';
    h->version_text[sizeof h->version_text - 1] = '\0';
    h->settings[sizeof h->settings - 1] = '\0';
}

/* Reads what the writer's header has beyond MST_HEADER_MIN. */
static int read_later_header(struct mst_reader *r, char error[MST_ERROR_MAX])
{
    size_t bytes = mst_header_bytes(&r->header);

    return mst_reader_read(r, MST_HEADER_MIN, (char *)&r->header + MST_HEADER_MIN,
                           bytes - MST_HEADER_MIN, error);
}

static int read_header(struct mst_reader *r, char error[MST_ERROR_MAX])
{
    unsigned id;
    struct stat st;

    if (fstat(r->fd, &st) != 0)
        return mst_fail(error, "cannot examine %s: %s", r->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return mst_fail(error, "%s is not an mpmstat board: expected a regular file, found %s",
                        r->path, S_ISDIR(st.st_mode) ? "a directory" : "a device, pipe or socket");
    r->owner = st.st_uid;
    r->device = st.st_dev;
    r->inode = st.st_ino;
    if ((uint64_t)st.st_size < MST_HEADER_MIN)
        return mst_fail(error, "%s is not an mpmstat board: expected at least %zu bytes, found %"
                        PRIu64 "; name the server's board file", r->path, MST_HEADER_MIN,
                        (uint64_t)st.st_size);
    if (mst_reader_read(r, 0, &r->header, MST_HEADER_MIN, error) != 0
        || check_identity(r, error) != 0
        || check_size(r, (uint64_t)st.st_size, error) != 0
        || read_later_header(r, error) != 0
        || check_allocated(r, (uint64_t)st.st_blocks * STAT_BLOCK, error) != 0)
        return -1;
    for (id = 0; id < MST_SECTION_COUNT; id++)
        if (check_section(r, (enum mst_section_id)id, error) != 0)
            return -1;
    mst_header_terminate(&r->header);
    return check_shape(r, error);
}

/* How many of a field's words this reader can use: those of the elements that both sides know.
 * Enumerations grow at their ends. */
static size_t usable_words(const struct mst_field *f, uint32_t words)
{
    size_t element = f->type == MST_TYPE_HISTOGRAM ? HISTOGRAM_WORDS : 1;
    size_t both = words < f->stored_words ? words : f->stored_words;

    return words % element == 0 ? both : 0;
}

static int locate_field(struct mst_reader *r, const struct mst_field_name *name,
                        char error[MST_ERROR_MAX])
{
    static const enum mst_section_id homes[] = {
        [MST_STORAGE_TOTAL] = MST_SECTION_TOTALS, [MST_STORAGE_COUNTERS] = MST_SECTION_COUNTERS,
        [MST_STORAGE_ENDS] = MST_SECTION_END_COUNTERS,
    };
    uint32_t stride;
    size_t i;

    if (name->storage == MST_STORAGE_NONE || name->storage > MST_STORAGE_ENDS)
        return 0;   /* a newer writer has storages that this reader skips */
    stride = mst_section_in(&r->header, homes[name->storage])->stride;
    if (name->offset % 8 != 0 || name->offset + (uint64_t)name->words * 8 > stride)
        return mst_fail(error, "the board %s is damaged: expected the field `%.*s` within the %"
                        PRIu32 " bytes of an entry, found %" PRIu32 " words at offset %" PRIu32
                        "; restart its server to get a new one", r->path,
                        (int)strnlen(name->name, sizeof name->name), name->name, stride,
                        name->words, name->offset);
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];

        if (name->storage == (uint32_t)f->storage && name->type == (uint32_t)f->type
            && strncmp(name->name, f->id, sizeof name->name) == 0) {
            r->stored_offset[i] = name->offset;
            r->stored_words[i] = usable_words(f, name->words);
        }
    }
    return 0;
}

static int locate_fields(struct mst_reader *r, char error[MST_ERROR_MAX])
{
    struct mst_field_name names[FIELDS_AT_ONCE];
    uint32_t count = r->header.section[MST_SECTION_FIELDS].count, first, i;

    r->stored_offset = calloc(2 * mst_field_count, sizeof *r->stored_offset);
    if (r->stored_offset == NULL)
        return mst_fail(error, "out of memory while opening the board %s", r->path);
    r->stored_words = r->stored_offset + mst_field_count;
    for (first = 0; first < count; first += FIELDS_AT_ONCE) {
        uint32_t n = count - first < FIELDS_AT_ONCE ? count - first : FIELDS_AT_ONCE;

        if (mst_reader_entries(r, MST_SECTION_FIELDS, first, n, names, sizeof names[0], error) != 0)
            return -1;
        for (i = 0; i < n; i++)
            if (locate_field(r, &names[i], error) != 0)
                return -1;
    }
    return 0;
}

int mst_reader_attach(struct mst_reader *r, int fd, const char *path, char error[MST_ERROR_MAX])
{
    memset(r, 0, sizeof *r);
    r->fd = fd;
    if (strlen(path) >= sizeof r->path) {
        mst_fail(error, "expected a path of at most %zu bytes for a board, found %zu; use a "
                 "shorter one", sizeof r->path - 1, strlen(path));
        goto failed;
    }
    memcpy(r->path, path, strlen(path) + 1);
    if (read_header(r, error) == 0 && locate_fields(r, error) == 0)
        return 0;

failed:
    mst_reader_close(r);
    return -1;
}

static int fail_open(const char *path, int reason, char error[MST_ERROR_MAX])
{
    switch (reason) {
    case ENOENT:
        return mst_fail(error, "there is no board at %s; is the server running, with "
                        "mod_mpmstat loaded?", path);
    case EACCES:
        return mst_fail(error, "the board %s may not be read by this user: root and its group may "
                        "(ls -l shows it)", path);
    case ELOOP:
        return mst_fail(error, "%s is a symbolic link, and a board is opened only by its own "
                        "name; name the file that it points to", path);
    default:
        return mst_fail(error, "cannot open the board %s: %s", path, strerror(reason));
    }
}

int mst_reader_open(struct mst_reader *r, const char *path, char error[MST_ERROR_MAX])
{
    /* O_NONBLOCK: opening a FIFO in the board's place must not block. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        int reason = errno;

        memset(r, 0, sizeof *r);
        r->fd = -1;
        return fail_open(path, reason, error);
    }
    if (mst_reader_attach(r, fd, path, error) != 0) {
        close(fd);
        return -1;
    }
    r->owns_fd = true;
    return 0;
}

void mst_reader_close(struct mst_reader *r)
{
    free(r->stored_offset);
    r->stored_offset = r->stored_words = NULL;
    if (r->owns_fd)
        close(r->fd);
    r->owns_fd = false;
    r->fd = -1;
}

/* reader.h - an open board: its file, checked. Trusts nothing in it.
 *
 * Used by: everything that copies boards or follows their journals; writers, before they take
 * over or replace a board that is there. Reads with pread, never through a mapping: a file
 * that is cut short meanwhile is an error, not a SIGBUS. Nothing here writes, locks or
 * signals: no reader can disturb a writer.
 */
#ifndef MPMSTAT_READER_H
#define MPMSTAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "segment/format.h"

/* Bytes of a header that every writer of this format has. Of older writers' headers the rest is
 * zeroes in memory. */
#define MST_HEADER_MIN \
    (offsetof(struct mst_header, marks_written) + sizeof ((struct mst_header *)0)->marks_written)

/* An open board. The descriptor remains that of the same file after the server has replaced
 * the board by a new one. */
struct mst_reader {
    int               fd;
    bool              owns_fd;
    char              path[512];
    uid_t             owner;       /* of the file; this user decides what is in it */
    dev_t             device;
    ino_t             inode;
    struct mst_header header;      /* as read at open, checked; texts end with a NUL */
    /* Where this build's stored fields are in the board's counters and totals, found by their
     * names: [i] belongs to mst_fields[i]. Words: how many of the field's words the board has
     * (a writer may know fewer states or phases); 0: it does not have the field. */
    size_t           *stored_offset;
    size_t           *stored_words;
};

/* Bytes of a checked header that both its writer and this build have. */
static inline size_t mst_header_bytes(const struct mst_header *h)
{
    return h->header_bytes < sizeof *h ? h->header_bytes : sizeof *h;
}

/* Opens and checks the board at `path` (O_RDONLY | O_NOFOLLOW). Returns 0; or -1 with a
 * sentence in error: what was expected, what was found. Close it after success. */
int mst_reader_open(struct mst_reader *r, const char *path, char error[MST_ERROR_MAX]);

/* The same over a descriptor that the caller keeps open and closes. path is only a name for
 * messages and for the snapshot. */
int mst_reader_attach(struct mst_reader *r, int fd, const char *path, char error[MST_ERROR_MAX]);
void mst_reader_close(struct mst_reader *r);

/* Reads bytes of the board's file. Returns 0, or -1 with a sentence, also where the file has
 * become shorter. */
int mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t bytes,
                    char error[MST_ERROR_MAX]);

/* Reads entries first..first+count of a section into an array of `size` bytes each. What the
 * writer's entries have beyond that is left out; what they lack is left as it is in `to`. */
int mst_reader_entries(const struct mst_reader *r, enum mst_section_id id, uint64_t first,
                       uint64_t count, void *to, size_t size, char error[MST_ERROR_MAX]);

/* A CLOCK_MONOTONIC time of the board as nanoseconds since 1970. */
uint64_t mst_wall_ns(const struct mst_header *header, uint64_t monotonic_ns);

/* Ends each text of a header with a NUL. */
void mst_header_terminate(struct mst_header *header);

#endif

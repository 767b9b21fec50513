/* copy.h - copies a board out of its file, for readers. Trusts nothing in it.
 *
 * Readers use pread, never mmap: a file cut short under a reader is an error,
 * not a SIGBUS. A copy is coherent word by word but no moment in time. Nothing
 * here writes, locks or signals: no reader can disturb a writer.
 */
#ifndef MPMSTAT_COPY_H
#define MPMSTAT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/fields.h"
#include "segment/format.h"

#define MST_ERROR_MAX 1024u   /* bytes of an error sentence, with its NUL: a path fits in */

/* Writes the sentence into error, cut where too long. Returns -1. */
int mst_fail(char error[MST_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* count * size bytes of zeroes, aligned to a cache line as the board's structs
 * (and those below, which hold a header) want it; NULL: out of memory. free() it. */
void *mst_zalloc(size_t count, size_t size);

/* An open board. fd stays open: after the server replaced the file (a new
 * start), it is the old board still. */
struct mst_reader {
    int               fd;
    bool              owns_fd;
    char              path[512];
    uid_t             owner;       /* of the file: whoever it is decides what is in it */
    dev_t             device;
    ino_t             inode;
    struct mst_header header;      /* as read at open, checked */
    /* Places of this build's stored fields in the board's tallies and totals,
     * by name: [i] belongs to mst_fields[i]. Words: how many of its words are
     * there (a writer may know fewer states or phases); 0: no such field. */
    size_t           *stored_offset;
    size_t           *stored_words;
};

/* Opens and checks the board at `path` (O_RDONLY | O_NOFOLLOW). Returns 0; or
 * -1 with a sentence in error: what was expected, what was found. */
int mst_reader_open(struct mst_reader *r, const char *path, char error[MST_ERROR_MAX]);

/* The same over a descriptor that the caller keeps open and closes. path is
 * only a name for messages and for the snapshot. */
int mst_reader_attach(struct mst_reader *r, int fd, const char *path, char error[MST_ERROR_MAX]);
void mst_reader_close(struct mst_reader *r);

/* Reads bytes of the board's file. Returns 0, or -1 with a sentence; a file
 * that was cut meanwhile is one. For copy.c and tail.c. */
int mst_reader_read(const struct mst_reader *r, uint64_t offset, void *to, size_t bytes,
                    char error[MST_ERROR_MAX]);

/* The journal's window: what its request records cover. */
struct mst_window {
    uint64_t since_ns;   /* CLOCK_MONOTONIC: the oldest record's start, or the board's until the
                          * journal is full; MST_UNKNOWN */
    uint64_t told_ns;    /* time without an idle worker in it that events tell; MST_UNKNOWN */
};

/* A board without its journal, in private memory. */
struct mst_copy {
    const struct mst_reader *reader;
    struct mst_header       header;       /* as of this copy */
    uint64_t                taken_ns;     /* CLOCK_MONOTONIC just before reading */
    struct mst_window       window;
    struct mst_totals       totals;       /* words the writer lacks: MST_UNKNOWN */
    size_t                  process_count;
    struct mst_process     *processes;
    size_t                  worker_count; /* process_count * threads_per_process */
    struct mst_worker      *workers;
    size_t                  label_count;  /* from index 0 to the last one in use */
    struct mst_label_name  *labels;       /* `used` is 1, or 0 for a gap: its namer was killed */
    uint32_t               *in_flight;    /* [process * label_count + label] */
    struct mst_tally       *tallies;      /* [label]: the stripes already summed; words that
                                           * the writer lacks: MST_UNKNOWN */
};

/* Copies the board: asks for as much memory as budget.h says at most, which is to be asked
 * first. Returns 0, or -1 with a sentence. Free with mst_copy_free. */
int mst_copy_take(struct mst_copy *c, const struct mst_reader *r, char error[MST_ERROR_MAX]);
void mst_copy_free(struct mst_copy *c);

/* ---- the journal ---------------------------------------------------------- */

/* Follows one ring, in order of the tickets. Each record is given exactly once
 * or counted as lost. A record that is being written is waited for: the reader
 * goes on past it and comes back, until it is there, the ring has lapped it, or
 * MST_TAIL_PATIENCE_NS have passed (its writer was killed). */
#define MST_TAIL_HOLES       256u
#define MST_TAIL_PATIENCE_NS UINT64_C(5000000000)

struct mst_hole { uint64_t ticket, since_ns; };

struct mst_tail {
    const struct mst_reader *reader;
    enum mst_section_id      section;    /* one of the four rings */
    uint64_t                 next;       /* first ticket not looked at yet */
    uint64_t                 lost;       /* records lost so far */
    size_t                   hole_count;
    struct mst_hole          holes[MST_TAIL_HOLES];
    unsigned char           *buffer;     /* records of one pread */
    size_t                   buffer_records;
};

/* Where the ring's head is now: a tail from there sees only what comes. */
int mst_journal_head(const struct mst_reader *r, enum mst_section_id section, uint64_t *next,
                     char error[MST_ERROR_MAX]);

/* next: the first ticket wanted; 1 is the oldest ever, mst_journal_head()'s the
 * next to come. Records that the ring has already overwritten count as lost. */
int  mst_tail_open(struct mst_tail *t, const struct mst_reader *r, enum mst_section_id section,
                   uint64_t next, char error[MST_ERROR_MAX]);
void mst_tail_close(struct mst_tail *t);

/* Gives every record that is there to `take` (payload: the struct of the ring's
 * record, e.g. struct mst_request, zero-filled beyond what the writer has; not all in
 * ticket order, after holes). At most `limit` records (SIZE_MAX: all).
 * Returns the number given, or -1 with a sentence. A nonzero return of `take`
 * stops the poll; the record counts as given. */
typedef int mst_take(void *context, uint64_t ticket, const void *payload);
long mst_tail_poll(struct mst_tail *t, size_t limit, mst_take *take, void *context,
                   char error[MST_ERROR_MAX]);

/* Gives up on the holes: what is still missing is lost. Call it at the end. */
void mst_tail_finish(struct mst_tail *t);

#endif

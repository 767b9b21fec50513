/* tail.h - follows one of a board's journals: each record once, or counted as lost. */
#ifndef MPMSTAT_TAIL_H
#define MPMSTAT_TAIL_H

#include "segment/reader.h"

/* A record that its writer has not completed is a gap. The reader goes on past it and looks at
 * it again in each poll, until the record is complete, the ring has overwritten it, or
 * MST_TAIL_PATIENCE_NS have passed (its writer was killed). */
#define MST_TAIL_GAPS        256u                     /* followed at a time */
#define MST_TAIL_PATIENCE_NS UINT64_C(5000000000)

struct mst_gap { uint64_t ticket, since_ns; };

/* The payload of a record of any ring. What its writer lacks is MST_UNKNOWN among the intervals and
 * waits, else 0. Its texts end with a NUL. */
union mst_payload {
    struct mst_request     request;
    struct mst_lifecycle   lifecycle;
    struct mst_php_request php_request;
    struct mst_mark        mark;
    struct mst_delivery    delivery;
    struct mst_code_sample code_sample;
};

/* The time of all phases of a request, but for those in no sum (held, front). */
uint64_t mst_request_total_ns(const struct mst_request *request);


/* Set the indices of a record's other ends. MST_UNKNOWN: none, or not known. */
void mst_request_ends(const struct mst_request *request, uint64_t ends[MST_RECORD_ENDS]);
void mst_php_request_ends(const struct mst_php_request *request, uint64_t ends[MST_RECORD_ENDS]);

/* The index of the path that a request was for. MST_UNKNOWN: not recorded, or not known. */
static inline uint64_t mst_request_path(const struct mst_request *request)
{
    return request->path != MST_NO_PATH ? request->path : MST_UNKNOWN;
}

/* Whether the writer measured what PHP waited for. */
static inline bool mst_php_waits_known(const struct mst_php_request *request)
{
    return request->waits_ns[0] != MST_UNKNOWN;
}

/* One ring as far as it was read. */
struct mst_tail {
    const struct mst_reader *reader;
    enum mst_section_id      section;    /* one of the rings */
    uint64_t                 next;       /* first ticket that was not read yet */
    uint64_t                 lost;       /* records lost so far */
    size_t                   gap_count;
    struct mst_gap           gaps[MST_TAIL_GAPS];
    uint64_t                *buffer;     /* the records of one pread, in words */
    size_t                   buffer_records;
};

/* Sets *next to the ticket of the next record that a writer begins. Returns 0, or -1 with a
 * sentence. */
int mst_journal_head(const struct mst_reader *r, enum mst_section_id section, uint64_t *next,
                     char error[MST_ERROR_MAX]);

/* Begins at ticket `next`: 1 is the first of the board's life, mst_journal_head()'s the next to
 * come. Records that the ring has already overwritten count as lost. *r must stay open as long
 * as the tail. Returns 0, or -1 with a sentence. Close it after success. */
int  mst_tail_open(struct mst_tail *t, const struct mst_reader *r, enum mst_section_id section,
                   uint64_t next, char error[MST_ERROR_MAX]);
void mst_tail_close(struct mst_tail *t);

/* Calls `take` for each complete record that was not given yet, at most `limit` (SIZE_MAX: no
 * limit). payload: a union mst_payload, valid during the call. Records come in the order of their
 * tickets, except those that were gaps before. A nonzero return of `take` ends the poll; its
 * record counts as given. Returns the number of records given, or -1 with a sentence. */
typedef int mst_take(void *context, uint64_t ticket, const void *payload);
long mst_tail_poll(struct mst_tail *t, size_t limit, mst_take *take, void *context,
                   char error[MST_ERROR_MAX]);

/* Counts the gaps that remain as lost. For the end of a recording. */
void mst_tail_finish(struct mst_tail *t);

#endif

/* copy.h - copies an open board into private memory.
 *
 * A copy is coherent word by word, but shows no single moment: the server goes on writing
 * while it is taken.
 */
#ifndef MPMSTAT_COPY_H
#define MPMSTAT_COPY_H

#include "read/window.h"
#include "segment/fields.h"
#include "segment/reader.h"

/* A board without its journal, in private memory. */
struct mst_copy {
    const struct mst_reader *reader;
    struct mst_header       header;       /* as of this copy */
    uint64_t                taken_ns;     /* CLOCK_MONOTONIC just before reading */
    struct mst_window       window;
    struct mst_totals       totals;       /* MST_UNKNOWN: words that the writer lacks */
    size_t                  process_count;
    struct mst_process     *processes;
    size_t                  worker_count; /* process_count * threads_per_process */
    struct mst_worker      *workers;
    size_t                  label_count;  /* from index 0 to the last one in use */
    struct mst_name  *labels;       /* `used` is 1, or 0 where its maker was killed midway */
    uint32_t               *in_flight;    /* [process * label_count + label] */
    struct mst_counters    *counters;     /* [label], summed over the stripes; MST_UNKNOWN:
                                           * words that the writer lacks */
    size_t                  end_count;    /* as label_count; 0 on boards of older writers */
    struct mst_name        *ends;         /* as labels */
    struct mst_other_end_counters *end_counters;   /* as counters */
};

/* Copies the board. It allocates up to mst_reader_cost() bytes: the caller takes them from its
 * allowance first (allowance.h). *r must stay open as long as the copy. Returns 0, or -1 with a
 * sentence. Free with mst_copy_free(). */
int mst_copy_take(struct mst_copy *c, const struct mst_reader *r, char error[MST_ERROR_MAX]);
void mst_copy_free(struct mst_copy *c);

/* The label of the FPM pool that listens at an address, as the kernel writes it. Returns
 * c->label_count where it is not a pool's, or its pool's address is not known. */
size_t mst_copy_pool_at(const struct mst_copy *c, const char *address);

#endif

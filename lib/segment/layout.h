/* layout.h - how large a board is, and where its sections are. */
#ifndef MPMSTAT_LAYOUT_H
#define MPMSTAT_LAYOUT_H

#include "segment/format.h"

/* What a board has room for. */
struct mst_layout {
    enum mst_producer producer;
    uint32_t processes;            /* entries; old generations that still finish
                                    * requests need theirs, too */
    uint32_t threads_per_process;
    uint32_t labels;               /* 2..MST_LABELS_MAX, `other` and `mpm-status` included */
    uint32_t stripes;              /* mst_layout_stripes() */
    uint32_t requests;             /* journal records (PHP's: of PHP requests), rounded up to a
                                    * power of two */
    uint32_t lifecycle;            /* lifecycle records, rounded up to a power of two */
    uint32_t code_samples;         /* samples of PHP's code, a power of two; 0: none, nor tables of
                                    * functions and stacks */
};

/* CPUs rounded up to a power of two, at most MST_STRIPES_MAX. */
uint32_t mst_layout_stripes(void);

/* How many request records there are where that is not configured: as many for each CPU as it can
 * serve in a second at most, so that a recorder that is late by that time loses none. More would be
 * memory that a small server misses. */
#define MST_JOURNAL_OF_CPU 8192u
#define MST_JOURNAL_LEAST  16384u
#define MST_JOURNAL_MOST   65536u

/* The number of request records: the configured one, or where that is 0, the one above. */
uint32_t mst_layout_requests(uint32_t configured);

/* The size of such a board in bytes; 0 where the layout is out of range. */
uint64_t mst_layout_bytes(const struct mst_layout *layout);

/* Fills the section table. Returns the size as above. */
uint64_t mst_layout_place(const struct mst_layout *layout,
                          struct mst_section sections[MST_SECTION_COUNT]);

#endif

/* top.h - servers as they are now, again and again: mpmstat top. */
#ifndef MPMSTAT_TOP_H
#define MPMSTAT_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/target.h"

struct mst_top_options {
    struct mst_target_names targets;   /* none: all of this machine */
    uint64_t     delay_ns;
    uint64_t     frames;          /* ends after so many; 0: does not */
    bool         is_batch;        /* frames of plain text on stdout; no terminal, no keys */
};

/* Runs until the user ends it. Returns an enum mst_exit, having said the error. */
int mst_top_run(const struct mst_top_options *options);

#endif

/* thin_choose.h - which rows of one minute a thinned archive keeps, and how many each stands for.
 *
 * Rows that are kept in advance, the slowest ones and the slowest share of each label stand for
 * themselves. The rest is taken cell by cell: the rows of a cell are put into the order of their
 * times and cut into runs of nearly equal length, and of each run the row that is closest to its
 * mean stands for it. So the weights of a cell add up to its rows exactly, a quantile is wrong by
 * one run at most, and the mean stays close.
 */
#ifndef MPMSTAT_ARCHIVE_THIN_CHOOSE_H
#define MPMSTAT_ARCHIVE_THIN_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request of an Apache's, of PHP's, or both that belong together; or a sample. */
enum mst_thin_side { MST_THIN_FIRST, MST_THIN_PHP, MST_THIN_SIDES };
struct mst_thin_row {
    int64_t  rowid[MST_THIN_SIDES];    /* 0: it has no such side */
    uint64_t label[MST_THIN_SIDES];    /* whose slowest share is kept; of a sample: 0 */
    uint64_t order[MST_THIN_SIDES];    /* time of the request; of a sample: a number */
    uint64_t cell;                     /* only rows of the same cell stand for each other */
    uint64_t weight;                   /* how many it stands for; 0: it is not kept */
    bool     is_kept;                  /* in advance, or as one of the slowest */
};

struct mst_thin_rule {
    size_t slowest;                    /* of each side */
    size_t slow_one_of;                /* of each label one of so many; 0: none */
    /* Into how many runs a cell is cut: at least the first number, more where a run would have more
     * than run_few rows, up to the second number; and more again where a run would have more than
     * run_many rows. All 0: nothing of the rest is kept. */
    size_t runs, runs_enough, run_few, run_many;
};

/* Sets the weights, and changes the order of the rows. *random: a seed, see stats/random.h. */
void mst_thin_choose(struct mst_thin_row *rows, size_t count, const struct mst_thin_rule *rule,
                     uint64_t *random);

#endif

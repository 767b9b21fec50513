/* directory.h - the boards of a directory: listed, and opened to be shown.
 *
 * Used by: the module's handler (PHP's boards), the tool. Other users may make files in such a
 * directory: names, files and their contents prove nothing, and one user's many or huge files
 * must not keep the boards of root, the reader or a third user from being shown.
 */
#ifndef MPMSTAT_DIRECTORY_H
#define MPMSTAT_DIRECTORY_H

#include "read/allowance.h"

/* Limit of entries that are read of one directory. Files behind them are not found. */
#define MST_DIRECTORY_ENTRIES 65536u

/* A file *.board of a directory, as lstat() shows it. Names that begin with a dot are left out. */
struct mst_board_file {
    char    *path;
    uid_t    owner;
    unsigned rank;    /* 0: root's, 1: the reader's own, 2: another user's */
    dev_t    device;
    ino_t    inode;
    size_t   nth;     /* its number in the order of the listing */
};

/* A list of files. All zero: empty. */
struct mst_board_list {
    size_t                 count;
    struct mst_board_file *files;
    bool                   cut;     /* a directory has too many entries */
};

/* Adds the files of a directory in the order of their names. Returns 0; or -1 with errno where
 * the directory cannot be read, or there is not enough memory. */
int  mst_board_list_add(struct mst_board_list *list, const char *directory);

/* Puts root's files first, then the reader's own, then those of other users: the first
 * one of each user, then the second one of each, and so on. */
void mst_board_list_order(struct mst_board_list *list);
void mst_board_list_free(struct mst_board_list *list);

/* The limits of a status page: boards, and what they may cost together in bytes; of that, other
 * users' boards. They are enough for as many boards of the usual layouts on a machine of
 * sixteen CPUs or more: FPM's of root, php-cgi's of other users. */
#define MST_PAGE_BOARDS     16u
#define MST_PAGE_COST       (UINT64_C(640) << 20)
#define MST_PAGE_COST_OTHER (UINT64_C(128) << 20)

/* What is wanted of a directory. */
struct mst_boards_wanted {
    enum mst_producer producer;    /* boards of others are skipped */
    size_t            limit;       /* boards to open at most, and to name as unreadable */
    struct mst_allowance allowance;  /* what all boards together may cost */
};

/* A board that was found, or a directory that cannot be read. */
struct mst_found_board {
    char             *path;
    bool              open;        /* `reader` is valid; mst_found_boards_free() closes it */
    struct mst_reader reader;
    char              reason[MST_ERROR_MAX];   /* why it is not open */
};

struct mst_found_boards {
    size_t                  count;
    size_t                  omitted;   /* files beyond the limits: not opened */
    struct mst_found_board *items;     /* in the order of mst_board_list_order() */
};

/* Opens the boards of the directory, and of the directory `php` in it; either can be missing.
 * Returns 0, or -1 out of memory. Free *found after success. */
int  mst_found_boards_open(struct mst_found_boards *found, const char *directory,
                           const struct mst_boards_wanted *wanted);
void mst_found_boards_free(struct mst_found_boards *found);

#endif

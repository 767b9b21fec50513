/* directory.h - the boards of a directory: listed, and opened for whoever shows them.
 *
 * Read by: the module's handler (PHP's boards), the tool. Other users may make files in
 * such a directory: names, files and what is in them prove nothing, and many or huge
 * ones of one user must not keep root's, the reader's or a third user's from being shown.
 */
#ifndef MPMSTAT_DIRECTORY_H
#define MPMSTAT_DIRECTORY_H

#include "read/budget.h"

/* Entries of one directory that are read at most. In one that has more, files behind
 * them are not found. */
#define MST_DIRECTORY_ENTRIES 65536u

/* A directory's *.board, but for those that begin with a dot: as lstat() showed it. */
struct mst_board_file {
    char    *path;
    uid_t    owner;
    unsigned rank;    /* 0: root's, 1: the reader's own, 2: another user's */
    dev_t    device;
    ino_t    inode;
    size_t   nth;     /* in the order in which they were listed */
};

/* All zero: empty. */
struct mst_board_list {
    size_t                 count;
    struct mst_board_file *files;
    bool                   cut;     /* a directory has too many entries */
};

/* Adds the files of a directory in the order of their names. Returns 0, or -1 with errno:
 * the directory cannot be read, or out of memory. */
int  mst_board_list_add(struct mst_board_list *list, const char *directory);

/* Puts root's files first, then the reader's own, then those of other users: the first
 * one of each user, then the second one of each, and so on. */
void mst_board_list_order(struct mst_board_list *list);
void mst_board_list_free(struct mst_board_list *list);

/* What a status page wants: so many boards, and what they may cost together; of other
 * users' boards. Enough for as many of the usual layouts on a machine of sixteen CPUs or
 * more: FPM's of root, php-cgi's of other users. */
#define MST_PAGE_BOARDS     16u
#define MST_PAGE_COST       (UINT64_C(640) << 20)
#define MST_PAGE_COST_OTHER (UINT64_C(128) << 20)

/* What is wanted of a directory. */
struct mst_boards_wanted {
    enum mst_producer producer;    /* the others' are passed over */
    size_t            limit;       /* boards opened at most; as many may be named unreadable */
    struct mst_budget budget;      /* what they may cost together */
};

/* A board that was found, or a directory that may not be read. */
struct mst_found_board {
    char             *path;
    bool              open;        /* reader is to be used; closed by mst_found_boards_free */
    struct mst_reader reader;
    char              reason[MST_ERROR_MAX];   /* not open: why */
};

struct mst_found_boards {
    size_t                  count;
    size_t                  omitted;   /* files beyond what was wanted: not looked at */
    struct mst_found_board *items;     /* in the order of mst_board_list_order() */
};

/* Opens the boards of the directory, and of the directory `php` in it. Those that do not
 * exist have none. Returns 0, or -1: out of memory. */
int  mst_found_boards_open(struct mst_found_boards *found, const char *directory,
                           const struct mst_boards_wanted *wanted);
void mst_found_boards_free(struct mst_found_boards *found);

#endif

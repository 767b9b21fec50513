/* directory.h - the boards of a directory: listed, and opened for whoever shows them.
 *
 * Read by: the module's handler (PHP's boards), the tool. Anybody may make files in
 * such a directory (PHP's is 1733): names, files and what is in them are nobody's
 * word, and somebody's many or huge ones must not keep others from being shown.
 */
#ifndef MPMSTAT_DIRECTORY_H
#define MPMSTAT_DIRECTORY_H

#include "copy.h"

#define MST_BOARD_SUFFIX ".board"

/* Paths of a directory's *.board, but for those that begin with a dot, in the order of
 * their names. A directory that has none is an empty list. */
struct mst_board_list {
    size_t count;
    char **paths;
};

/* Returns 0, or -1 with errno: the directory cannot be read, or out of memory. */
int  mst_board_list_read(struct mst_board_list *list, const char *directory);
void mst_board_list_free(struct mst_board_list *list);

/* Adds the paths of another directory. Returns what mst_board_list_read() does. */
int  mst_board_list_add(struct mst_board_list *list, const char *directory);

/* What is wanted of a directory. */
struct mst_boards_wanted {
    enum mst_producer producer;    /* the others' are passed over */
    size_t            limit;       /* boards opened at most; as many may be named unreadable */
    uint64_t          copy_bytes;  /* a board of which a copy reads more is too large */
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
    struct mst_found_board *items;     /* root's first, then by owner, then by name */
};

/* Opens the boards of the directory, and of the directory `php` in it. Those that do not
 * exist have none. Returns 0, or -1: out of memory. */
int  mst_found_boards_open(struct mst_found_boards *found, const char *directory,
                           const struct mst_boards_wanted *wanted);
void mst_found_boards_free(struct mst_found_boards *found);

#endif

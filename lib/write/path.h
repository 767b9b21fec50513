/* path.h - the pages that requests are for, in the board's table of paths (format.h). Hot path: it
 * takes no lock, makes no system call, allocates nothing and does not wait. */
#ifndef MPMSTAT_PATH_H
#define MPMSTAT_PATH_H

#include "write/board.h"

/* Sets the name of the page that a request's target is for, with zeroes behind it. It has the
 * path alone, in printable ASCII, one spelling for all that mean the same: without query, fragment
 * and parameters (;...), with dot segments and double slashes removed; a segment that is a number,
 * or an id of 16 hexadecimal digits or more, is {n}. What is longer than the room ends with "...".
 * is_file: the last segment is * and its extension. False: the target has no path. */
bool mst_path_fold(const char *target, bool is_file, char name[MST_PATH_NAME_MAX]);

/* What an answer says of its path. Clients can ask for any path, and entries are never freed. */
enum mst_path_answer {
    MST_PATH_GOOD,       /* the server has that page */
    MST_PATH_DOUBTFUL,   /* it can have it: such paths get a quarter of the entries at most */
    MST_PATH_REFUSED     /* it is counted under its name only where that has an entry */
};

/* The index of a folded path; MST_PATH_OTHER, MST_PATH_UNNAMED: it has none, and gets none. Always
 * below path_count. Precondition: the board has paths. */
uint32_t mst_path_find(struct mst_board *b, const char name[MST_PATH_NAME_MAX],
                       enum mst_path_answer answer);

/* Fills the entries that no path gets, of a new board. */
void mst_path_begin(struct mst_board *b);

#endif

/* build.h - steps of making a board. Only for board.c, which publishes a server's board, and
 * attach.c, which publishes one that processes without a common parent share. */
#ifndef MPMSTAT_BUILD_H
#define MPMSTAT_BUILD_H

#include "write/board.h"

/* The private file's name: the board's path and ".XXXXXX". */
#define MST_BUILT_MAX (sizeof ((struct mst_board *)0)->path + 16)

/* Makes the board in a private file in the directory of `path`: complete, not published. Sets
 * `built` to the file's name. Returns 0, or -1 with a sentence; then no file is left behind. */
int mst_board_build(struct mst_board *b, const char *path, const struct mst_layout *layout,
                    const struct mst_identity *identity, char built[MST_BUILT_MAX],
                    char warning[MST_ERROR_MAX], char error[MST_ERROR_MAX]);

/* Gives the private file its group and mode 0640. Returns 0, or -1 with a sentence. */
int mst_board_open_to_readers(const struct mst_board *b, gid_t gid, char error[MST_ERROR_MAX]);

/* Removes the private file and closes the board. */
void mst_board_discard(struct mst_board *b, const char *built);

/* Maps b->bytes of the file `fd`, which must be open for writing, and guards the mapping. Returns
 * 0, or -1 with a sentence. */
int mst_board_map(struct mst_board *b, int fd, char error[MST_ERROR_MAX]);

/* Closes `fd`, which is open for writing to the board's file at `path`, and opens b->fd for
 * reading only. Returns 0, or -1 with a sentence. */
int mst_board_keep_read_only(struct mst_board *b, int fd, const char *path,
                             char error[MST_ERROR_MAX]);

/* Sets the pointers into the mapping at b->header. Precondition: the sections are the caller's
 * own, not read from the board, to which other processes may write. */
void mst_board_locate(struct mst_board *b, const struct mst_section sections[MST_SECTION_COUNT],
                      uint32_t threads, uint32_t stripes);

/* Writes the entries of MST_SECTION_FIELDS: the names of this build's counters. */
void mst_board_fill_fields(struct mst_field_name *names);

/* Whether the file at `path` is another program's: neither empty nor a board of any version. */
bool mst_board_is_other_file(const char *path);

#endif

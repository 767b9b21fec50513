/* board_place.h - which board is this process's. */
#ifndef MPMSTAT_PHP_PLACE_H
#define MPMSTAT_PHP_PLACE_H

#include "state.h"

/* How a process of this SAPI gets its board. */
enum mst_board_origin mst_board_place_origin(void);

/* How many threads of a process can have requests under this SAPI, as far as they are shown. FPM's
 * and php-cgi's processes have one thread, whether PHP is built with threads or not. */
uint32_t mst_board_place_threads(void);

/* Opens the board or makes one. The server's parent takes the board that it had before a
 * restart; a process without a common parent (MST_ORIGIN_SHARED) that of its user. Sets
 * mst_php.is_open; or mst_php.given_up and why_not, and logs the reason. */
void mst_board_place_open(void);

/* Writes a warning into PHP's error log. */
void mst_board_place_warn(const char *text);

/* Whether this is plain CGI: a process for each request, each of which would log the same. */
bool mst_board_place_is_one_of_many(void);

/* Opens this process's command line. Returns a descriptor that can be read after a change of the
 * root directory, too; or -1. */
int mst_board_place_title_open(void);

/* Reads the first size - 1 bytes of a command line, its NULs as spaces, and closes fd. */
void mst_board_place_title_read(int fd, char *to, size_t size);

#endif

/* place.h - which board is this process's. */
#ifndef MPMSTAT_PHP_PLACE_H
#define MPMSTAT_PHP_PLACE_H

#include "state.h"

enum mst_sapi mst_place_sapi(void);

/* The server's parent: takes up the board that it had before a restart, or makes one.
 * Sets mst_php.is_open, or given_up after having said why, once. */
void mst_place_open_parent(void);

/* A process without a parent: takes the board of its user, or makes it. */
void mst_place_open_shared(void);

/* A line in PHP's error log. */
void mst_place_say(const char *text);

/* Plain CGI: a process for each request, each of which would log the same. */
bool mst_place_is_one_of_many(void);

/* This process's command line, or -1; it stays that of this process, whatever root it has
 * when it is read. */
int mst_place_title_open(void);

/* Reads the beginning of a command line, its NULs as spaces, and closes it. */
void mst_place_title_read(int fd, char *to, size_t size);

#endif

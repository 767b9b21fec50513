/* made_archive.h - archives with a run, for tests of what is written and read. */
#ifndef MPMSTAT_TESTS_MADE_ARCHIVE_H
#define MPMSTAT_TESTS_MADE_ARCHIVE_H

#include <stdint.h>

#include "archive/archive.h"

struct mst_archive *create(const char *path);

int64_t begin(struct mst_archive *a);

int64_t add_server(struct mst_archive *a, int64_t run_id);

int add_request(struct mst_archive *a, int64_t server_id, uint64_t key);

void close_archive(struct mst_archive *a);

/* The one value that a query of the archive at path gives. */
int64_t ask(const char *path, const char *sql);

enum { WITH_LOG, WITHOUT_LOG, LOGS };

void choose_log(int which);

/* How many files hold some of the archive. A recorder that is killed right after SQLite made a
 * journal leaves it empty; SQLite neither uses nor removes it. */
int files_of(const char *path);

#endif

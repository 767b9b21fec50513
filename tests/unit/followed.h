/* followed.h - a board whose journal is written and followed. */
#ifndef MPMSTAT_TESTS_FOLLOWED_H
#define MPMSTAT_TESTS_FOLLOWED_H

#include "harness.h"
#include "read/tail.h"
#include "write/journal.h"

#define CAPACITY 16u      /* of test_layout's rings */

extern struct mst_board board;
extern struct mst_reader reader;
extern struct mst_tail tail;
extern char error[MST_ERROR_MAX];

/* What the tail gave: the tickets in order, and the ids of the requests. */
extern uint64_t given[4096], ids[4096];
extern size_t given_count, stop_after;

int remember(void *context, uint64_t ticket, const void *payload);

void attach(const char *path, enum mst_section_id section, uint64_t next);

void make(uint32_t requests);

void tear_down(void);

/* Writes n requests, whose ids are their tickets plus 1000. */
void serve(unsigned n);

long poll_tail(size_t limit);

void assert_given(size_t count, uint64_t first);

#define WRITERS     5u
#define THREADS     2u
#define RECORDS_MAX (1u << 24)

/* A payload that tells whether it is whole: each word follows from the id. */
void sign(struct mst_request *request, uint64_t id);

/* Marks each ticket given, and fails on the second time or a torn payload. */
int mark(void *context, uint64_t ticket, const void *payload);

#endif

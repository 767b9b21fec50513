/* journal_client.h - a server that writes a journal, and a client that asks for it. */
#ifndef MPMSTAT_TESTS_JOURNAL_CLIENT_H
#define MPMSTAT_TESTS_JOURNAL_CLIENT_H

#include "harness.h"
#include "read/tail.h"
#include "render/cursor.h"
#include "write/journal.h"
#include "write/worker.h"

/* A client of the status URL: its cursor, and what it has seen so far. */
struct client {
    char     cursor[MST_CURSOR_MAX];
    uint64_t lost, given;
    bool     more, forgot;             /* forgot: "lost":null */
    size_t   lines;                    /* of the last answer, without the trailer */
    uint64_t tickets[4096];            /* of requests, in the order given */
};

extern const struct client newcomer;

/* A request whose response was complete at that time: 4 phases of 1 ms. */
struct mst_request request_at(uint64_t complete_ns);

void write_requests(struct mst_board *b, unsigned n, uint64_t complete_ns);

void take_answer(struct client *c, char *text);

/* The board's answer to the client's cursor. */
void ask_for(struct client *c, const struct mst_board *b, size_t limit, bool lifecycle_only);

void ask(struct client *c, const struct mst_board *b, size_t limit);

/* Every ticket from 1 to the last one written was given once, in order, or lost. */
void expect_all(const struct client *c, const struct mst_board *b);

/* A board that belongs to this process, so that its server is alive. */
void begin(struct mst_board *b, uint32_t records);

#endif

/* written_board.h - a board that is written while it is read as a source. */
#ifndef MPMSTAT_TESTS_WRITTEN_BOARD_H
#define MPMSTAT_TESTS_WRITTEN_BOARD_H

#include "harness.h"
#include "source/source.h"
#include "write/journal.h"
#include "write/worker.h"

struct watched {
    struct mst_board   board;
    struct mst_targets targets;
    struct mst_source *source;
};

void watch_board(struct watched *w);

void watch(struct watched *w, const struct mst_layout *layout);

void unwatch(struct watched *w);

/* The server starts again: another board is at the same path. */
void restart(struct watched *w, const struct mst_layout *layout);

void serve(struct mst_board *b, uint64_t id, uint32_t label);

/* What a poll gave. */
struct seen {
    unsigned requests, events, stop_after;
    uint64_t ids[64], keys[64], wall_ns;
    char     label[MST_NAME_MAX], handler[MST_NAME_MAX], backend[MST_NAME_MAX];
    char     path[MST_PATH_NAME_MAX];
    uint64_t event, event_wall_ns;
    unsigned deliveries;
    struct mst_delivery delivery;     /* the last */
};

int see_request(void *context, const struct mst_request *request,
                const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key);

int see_event(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
              uint64_t key);

long look(struct watched *w, struct seen *s);

void mark(struct watched *w);

#endif

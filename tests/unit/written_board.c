/* written_board.c - see written_board.h. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "source/source.h"
#include "write/journal.h"
#include "write/worker.h"
#include "written_board.h"

void watch_board(struct watched *w)
{
    char *args[1], error[MST_ERROR_MAX] = "";

    args[0] = w->board.path;
    ck_assert_int_eq(mst_targets_resolve(&w->targets, args, 1, error), 0);
    w->source = mst_source_open(&w->targets.items[0], error);
    ck_assert_msg(w->source != NULL, "%s", error);
}

void watch(struct watched *w, const struct mst_layout *layout)
{
    test_board(&w->board, layout);
    watch_board(w);
}

void unwatch(struct watched *w)
{
    mst_source_close(w->source);
    mst_targets_free(&w->targets);
    mst_board_close(&w->board);
}

void restart(struct watched *w, const struct mst_layout *layout)
{
    struct mst_board next;

    test_board(&next, layout);
    ck_assert_int_eq(rename(next.path, w->board.path), 0);
    memcpy(next.path, w->board.path, sizeof next.path);
    mst_board_close(&w->board);
    w->board = next;
}

void serve(struct mst_board *b, uint64_t id, uint32_t label)
{
    struct mst_request r = { .id = id, .start_ns = mst_now_ns(), .handle_ns = 1000,
                             .label_status = (uint64_t)label << 32 | 200 };

    mst_journal_request(b, &r);
}

int see_request(void *context, const struct mst_request *request,
                const struct mst_record_names *names, uint64_t wall_start_ns, uint64_t key)
{
    struct seen *s = context;

    ck_assert_uint_lt(s->requests, 64);
    s->ids[s->requests] = request->id;
    s->keys[s->requests++] = key;
    s->wall_ns = wall_start_ns;
    snprintf(s->label, sizeof s->label, "%s", names->label);
    snprintf(s->handler, sizeof s->handler, "%s", names->ends[0] != NULL ? names->ends[0] : "");
    snprintf(s->backend, sizeof s->backend, "%s", names->ends[1] != NULL ? names->ends[1] : "");
    snprintf(s->path, sizeof s->path, "%s", names->path != NULL ? names->path : "");
    return s->requests == s->stop_after;
}

int see_event(void *context, const struct mst_lifecycle *event, uint64_t wall_ns,
              uint64_t key)
{
    struct seen *s = context;

    s->events++;
    s->event = event->event_kind >> 32;
    s->event_wall_ns = wall_ns;
    ck_assert_uint_gt(key, 0);
    return 0;
}

static int see_delivery(void *context, const struct mst_delivery *delivery, uint64_t key)
{
    struct seen *s = context;

    (void)key;
    s->deliveries++;
    s->delivery = *delivery;
    return 0;
}

long look(struct watched *w, struct seen *s)
{
    struct mst_source_events events = { .context = s, .on_request = see_request,
                                        .on_lifecycle = see_event,
                                        .on_delivery = see_delivery };
    char error[MST_ERROR_MAX] = "";
    long given = mst_source_poll(w->source, &events, error);

    ck_assert_msg(given >= 0, "%s", error);
    return given;
}

void mark(struct watched *w)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_source_mark(w->source, error) == 0, "%s", error);
}

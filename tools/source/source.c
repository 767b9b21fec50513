/* source.c - the calls of source.h that are the same for all kinds of source, and what the kinds
 * share. Which kind a target is, open.c knows. */
#include "source/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "segment/liveness.h"
#include "source/source_kind.h"

void mst_source_close(struct mst_source *source)
{
    if (source != NULL)
        source->kind->close(source);
}

const struct mst_source_identity *mst_source_identity(const struct mst_source *source)
{
    return &source->identity;
}

const char *mst_source_name(const struct mst_source *source)
{
    return source->target->name;
}

const char *mst_source_called(const struct mst_source *source)
{
    return source->target->label != NULL ? source->target->label : source->target->name;
}

const struct mst_target *mst_source_target(const struct mst_source *source)
{
    return source->target;
}

const char *mst_source_other(const struct mst_source *source, size_t index)
{
    return index < source->others.count ? source->others.items[index] : NULL;
}

void mst_source_set_clock(struct mst_source *source)
{
    source->clock_offset_ns = mst_realtime_ns() - mst_now_ns();
    if (source->same_clock)
        source->identity.clock_offset_ns = source->clock_offset_ns;
}

const struct mst_clock_offset *mst_source_clock(const struct mst_source *source)
{
    return source->knows_clock && !source->local ? &source->clock : NULL;
}

uint64_t mst_source_clock_jump_ns(const struct mst_source *source)
{
    return source->clock_jump_ns;
}

bool mst_source_local(const struct mst_source *source)
{
    return source->local;
}

bool mst_source_is_beside(const struct mst_source *a, const struct mst_source *b)
{
    const char *name = mst_source_name(a), *other = mst_source_name(b);
    size_t length = strcspn(name, "#");

    return (a->local && b->local) ||
           (length == strcspn(other, "#") && strncmp(name, other, length) == 0);
}

const char *mst_source_doubt(const struct mst_source *source)
{
    return source->doubt;
}

const struct mst_board_file_id *mst_source_board(const struct mst_source *source)
{
    return source->has_board ? &source->board : NULL;
}

void mst_source_take_board(struct mst_source *s, const struct mst_reader *r)
{
    int running = mst_header_running(&r->header);

    s->has_board = true;
    s->board = (struct mst_board_file_id){
        .owner = r->owner, .device = r->device, .inode = r->inode, .path = s->identity.board,
    };
    s->doubt[0] = '\0';
    s->local = running >= 0 && (running == 0 || r->header.pid == 0 ||
                                mst_process_has_board(r->header.pid, &s->board, s->doubt));
}

void mst_source_set_stop(struct mst_source *source, const volatile sig_atomic_t *stop)
{
    source->stop = stop;
}

void mst_source_set_wait(struct mst_source *source, const struct mst_source_wait *wait)
{
    source->wait = wait;
}

void mst_source_set_deadline(struct mst_source *source, uint64_t deadline_ns)
{
    source->deadline_ns = deadline_ns;
}

bool mst_source_is_over(const struct mst_source *source)
{
    return (source->stop != NULL && *source->stop) || mst_now_ns() >= source->deadline_ns;
}

static int mark(struct mst_source *source, bool from_head, char error[MST_ERROR_MAX])
{
    source->lost = source->lost_before = 0;
    source->restarts = source->restarts_before = 0;
    source->pending = source->cut = false;
    return source->kind->mark(source, from_head, error);
}

void mst_source_forget_code(struct mst_source *source)
{
    if (source->kind->forget_code != NULL)
        source->kind->forget_code(source);
}

int mst_source_mark(struct mst_source *source, char error[MST_ERROR_MAX])
{
    return mark(source, true, error);
}

int mst_source_rewind(struct mst_source *source, char error[MST_ERROR_MAX])
{
    return mark(source, false, error);
}

long mst_source_poll(struct mst_source *source, const struct mst_source_events *events,
                     char error[MST_ERROR_MAX])
{
    source->cut = false;
    return source->kind->poll(source, events, error);
}

void mst_source_count_on(struct mst_source *source)
{
    if (source->lost == MST_UNKNOWN)
        source->lost = 0;
    source->lost_before = source->lost;
    source->restarts_before = source->restarts;
}

bool mst_source_pending(const struct mst_source *source)
{
    return source->pending;
}

void mst_source_finish(struct mst_source *source)
{
    source->kind->finish(source);
    source->pending = false;
    if (source->cut)
        source->lost = MST_UNKNOWN;
}

uint64_t mst_source_lost(const struct mst_source *source)
{
    return source->lost == MST_UNKNOWN ? MST_UNKNOWN : source->lost - source->lost_before;
}

unsigned mst_source_restarts(const struct mst_source *source)
{
    return source->restarts - source->restarts_before;
}

/* ---- samples --------------------------------------------------------------- */

int mst_source_sample(struct mst_source *source, struct mst_sample *sample,
                      char error[MST_ERROR_MAX])
{
    uint64_t begun = mst_now_ns();
    int result;

    sample->process_count = 0;
    result = source->kind->sample(source, sample, error);
    sample->cost_ns = mst_now_ns() - begun;
    return result;
}

void mst_source_watch(struct mst_source *source, mst_source_see *see, void *context)
{
    source->see = see;
    source->see_context = context;
}

void mst_source_show(const struct mst_source *source, const struct mst_snapshot *board)
{
    if (source->see != NULL)
        source->see(source->see_context, board);
}

void mst_sample_free(struct mst_sample *sample)
{
    free(sample->processes);
    free(sample->pools);
    memset(sample, 0, sizeof *sample);
}

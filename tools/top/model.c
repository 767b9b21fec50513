/* model.c - what mpmstat top shows of servers: see model.h. */
#include "top/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "top/counts.h"
#include "top/events.h"

bool mst_top_init(struct mst_top *top, size_t servers)
{
    memset(top, 0, sizeof *top);
    top->servers = calloc(servers + 1, sizeof *top->servers);
    top->server_count = top->servers != NULL ? servers : 0;
    return top->servers != NULL;
}

void mst_top_free(struct mst_top *top)
{
    size_t i;

    for (i = 0; i < top->server_count; i++) {
        struct mst_top_server *s = &top->servers[i];

        free(s->labels);
        mst_present_free(&s->present);
        free(s->ends);
        free(s->queues);
        mst_top_counts_free(&s->counts[0]);
        mst_top_counts_free(&s->counts[1]);
    }
    free(top->servers);
    memset(top, 0, sizeof *top);
}

/* ---- now ------------------------------------------------------------------------------------- */

static bool is_idle(const struct mst_snapshot_slot *slot)
{
    return slot->state == NULL || strcmp(slot->state, mst_state_names[MST_STATE_IDLE]) == 0;
}

/* By URL one worker is busy because we ask. */
static void leave_out_asker(struct mst_top_server *s)
{
    uint64_t *handling = &s->states[MST_STATE_HANDLING];

    if (s->busy > 0 && s->busy != MST_UNKNOWN)
        s->busy--;
    if (s->wanted > 0 && s->wanted != MST_UNKNOWN)
        s->wanted--;
    if (*handling > 0 && *handling != MST_UNKNOWN)
        --*handling;
}

static void take_workers(struct mst_top_server *s, const struct mst_snapshot *board)
{
    bool has_asked = !s->is_url;
    size_t i, k;

    s->limit = board->workers_limit;
    s->busy = board->workers_busy;
    s->wanted = board->workers_wanted;
    memcpy(s->states, board->workers, sizeof s->states);
    s->connections = board->connections;
    for (i = 0; i < board->slot_count && !has_asked; i++)
        if (!is_idle(&board->slots[i]) && mst_top_is_status(board->slots[i].label)) {
            leave_out_asker(s);
            has_asked = true;
        }
    mst_present_take(&s->present, board);
    memset(s->waiting, 0, sizeof s->waiting);
    for (i = 0; i < s->present.worker_count; i++)
        for (k = 0; k < MST_WAIT_COUNT; k++)
            s->waiting[k] += strcmp(s->present.workers[i].wait, mst_wait_names[k]) == 0;
}

static void take_queues(struct mst_top_server *s, const struct mst_snapshot *board)
{
    struct mst_top_queue *q;
    size_t i;

    s->queue_count = 0;
    for (i = 0; board->listeners_known && i < board->listener_count; i++) {
        const struct mst_snapshot_listener *from = &board->listeners[i];

        if (!mst_grow(&s->queues, &s->queue_room, s->queue_count, sizeof *s->queues)) {
            s->out_of_memory = true;
            return;
        }
        q = &s->queues[s->queue_count++];
        mst_top_copy(q->address, sizeof q->address, from->address);
        mst_top_copy(q->pool, sizeof q->pool, from->pool);
        q->queue = from->queue;
        q->limit = from->queue_limit;
    }
}

/* ---- since the snapshot before --------------------------------------------------------------- */

static uint64_t rate_milli(uint64_t before, uint64_t now, uint64_t interval_ns)
{
    uint64_t added = mst_top_added(before, now);

    return added != MST_UNKNOWN && interval_ns > 0 ? mst_rate_milli(added, interval_ns)
                                                   : MST_UNKNOWN;
}

static void take_label(struct mst_top_server *s, const struct mst_snapshot_label *from,
                       const struct mst_top_label_counts *now,
                       const struct mst_top_label_counts *before)
{
    static const struct mst_top_label_counts none;
    struct mst_top_label *label;

    if (!mst_grow(&s->labels, &s->label_room, s->label_count, sizeof *s->labels)) {
        s->out_of_memory = true;
        return;
    }
    before = before != NULL ? before : &none;   /* it is new: its counters began at 0 */
    label = &s->labels[s->label_count++];
    memcpy(label->name, now->name, sizeof label->name);
    label->rate_milli = rate_milli(before->requests, now->requests, s->interval_ns);
    label->milli_4xx = rate_milli(before->class_4xx, now->class_4xx, s->interval_ns);
    label->milli_5xx = rate_milli(before->class_5xx, now->class_5xx, s->interval_ns);
    label->mean_ns = mst_top_mean(before->total, now->total);
    label->p99_ns = mst_top_p99(&before->histogram, &now->histogram);
    label->in_flight = from->in_flight;
    label->limit = from->workers_limit;
    label->wanted = from->workers_wanted;
}

static void take_labels(struct mst_top_server *s, const struct mst_snapshot *board,
                        const struct mst_top_counts *before, const struct mst_top_counts *now)
{
    size_t i, at = 0;

    s->label_count = 0;
    for (i = 0; i < board->label_count && at < now->label_count; i++)
        if (!mst_top_is_status(board->labels[i].label)) {
            take_label(s, &board->labels[i], &now->labels[at],
                       mst_top_find_label(before, now->labels[at].name, at));
            at++;
        }
}

static void take_ends(struct mst_top_server *s, const struct mst_top_counts *before,
                      const struct mst_top_counts *now)
{
    static const struct mst_top_end_counts none;
    const struct mst_top_end_counts *old;
    struct mst_top_end *end;
    uint64_t time_ns;
    size_t i;

    s->end_count = 0;
    for (i = 0; i < now->end_count && s->interval_ns > 0; i++) {
        if (!mst_grow(&s->ends, &s->end_room, s->end_count, sizeof *s->ends)) {
            s->out_of_memory = true;
            return;
        }
        old = mst_top_find_end(before, &now->ends[i], i);
        old = old != NULL ? old : &none;
        time_ns = mst_top_added(old->time_ns, now->ends[i].time_ns);
        end = &s->ends[s->end_count++];
        memcpy(end->kind, now->ends[i].kind, sizeof end->kind);
        memcpy(end->name, now->ends[i].name, sizeof end->name);
        end->rate_milli = rate_milli(old->calls, now->ends[i].calls, s->interval_ns);
        end->failed_milli = rate_milli(old->failed, now->ends[i].failed, s->interval_ns);
        end->mean_ns = mst_top_mean(
            (struct mst_top_times){ old->calls, old->time_ns },
            (struct mst_top_times){ now->ends[i].calls, now->ends[i].time_ns });
        end->at_once_milli = time_ns != MST_UNKNOWN ? mst_milli(time_ns, s->interval_ns)
                                                    : MST_UNKNOWN;
    }
}

static void take_times(struct mst_top_server *s, const struct mst_top_counts *before,
                       const struct mst_top_counts *now)
{
    unsigned i;

    for (i = 0; i < MST_PHASE_COUNT; i++)
        s->mean_ns[i] = mst_top_mean(before->phases[i], now->phases[i]);
    s->p99_ns = mst_top_p99(&before->histogram, &now->histogram);
    for (i = 0; i < MST_PART_COUNT; i++)
        s->parts_ns[i] = mst_top_added(before->parts_ns[i], now->parts_ns[i]);
}

/* The first snapshot is compared with itself, so that nothing has happened yet. */
static void take_counts(struct mst_top *top, size_t which, const struct mst_snapshot *board,
                        uint64_t now_ns, uint64_t wall_ns)
{
    struct mst_top_server *s = &top->servers[which];
    const struct mst_top_counts *before = &s->counts[s->turn];
    struct mst_top_counts *now = &s->counts[!s->turn];

    s->out_of_memory = !mst_top_count(now, board);
    now->at_ns = now_ns;
    if (before->at_ns == 0)
        before = now;
    s->interval_ns = mst_elapsed(before->at_ns, now_ns);
    s->rate_milli = rate_milli(before->requests, now->requests, s->interval_ns);
    take_times(s, before, now);
    take_labels(s, board, before, now);
    take_ends(s, before, now);
    mst_top_compare(top, which, before, now, wall_ns);
    s->turn = !s->turn;
}

/* ---- whether it lives ------------------------------------------------------------------------ */

static void identify(struct mst_top_server *s, const struct mst_snapshot *board)
{
    s->is_known = true;
    s->is_php = board->producer != NULL && strcmp(board->producer, "php") == 0;
    mst_top_copy(s->kind, sizeof s->kind, s->is_php ? board->sapi : board->mpm);
    s->pid = board->pid;
    s->started_ns = board->started_ns;
    s->counts[s->turn].at_ns = 0;
    s->was_full = false;
}

/* The time of a stop is in the board only where the server had time to write it. */
static void find_gone(struct mst_top *top, size_t which, const struct mst_snapshot *board,
                      uint64_t wall_ns)
{
    struct mst_top_server *s = &top->servers[which];
    bool has_stopped = board->stopped_ns != MST_UNKNOWN && board->stopped_ns != 0;

    if (s->life == MST_TOP_GONE)
        return;
    s->since_ns = has_stopped ? board->stopped_ns : s->life != MST_TOP_UNSEEN ? wall_ns
                                                                              : MST_UNKNOWN;
    s->life = MST_TOP_GONE;
    mst_top_event(top, which, wall_ns, has_stopped ? "has stopped" :
                  "is gone: it was killed, or has crashed");
}

static void find_full(struct mst_top *top, size_t which, uint64_t wall_ns)
{
    struct mst_top_server *s = &top->servers[which];
    bool is_full = s->limit != MST_UNKNOWN && s->limit > 0 && s->busy != MST_UNKNOWN &&
                   s->busy >= s->limit;

    if (is_full != s->was_full)
        mst_top_event(top, which, wall_ns, is_full ? "all %" PRIu64 " workers are busy" :
                      "a worker is idle again (limit %" PRIu64 ")", s->limit);
    s->was_full = is_full;
}

void mst_top_take(struct mst_top *top, size_t which, const struct mst_snapshot *board,
                  uint64_t now_ns, uint64_t wall_ns)
{
    struct mst_top_server *s = &top->servers[which];
    bool is_new = !s->is_known || s->pid != board->pid || s->started_ns != board->started_ns;
    bool is_gone = board->running != NULL && strcmp(board->running, "no") == 0;

    if (is_new) {
        if (s->is_known)
            mst_top_event(top, which, wall_ns, "was started: pid %" PRIu64, board->pid);
        identify(s, board);
    } else if (s->life != MST_TOP_RUNNING && !is_gone) {
        mst_top_event(top, which, wall_ns, "can be read again");
    }
    if (is_gone) {
        if (is_new) {
            take_workers(s, board);
            take_counts(top, which, board, now_ns, wall_ns);
        }
        find_gone(top, which, board, wall_ns);
        return;
    }
    s->life = MST_TOP_RUNNING;
    take_workers(s, board);
    take_queues(s, board);
    take_counts(top, which, board, now_ns, wall_ns);
    find_full(top, which, wall_ns);
}

/* What to say first: who is stuck; where the workers of PHP are full, Apache's long requests wait
 * for one. */
static bool find_held(struct mst_present *const *servers, size_t count, struct mst_held *held)
{
    bool is_held = mst_present_held(servers, count, held, 1) > 0;
    struct mst_held full;

    if ((is_held && held->is_stuck) || !mst_present_full(servers, count, &full))
        return is_held;
    *held = full;
    return true;
}

void mst_top_conclude(struct mst_top *top)
{
    struct mst_present **servers = calloc(top->server_count + 1, sizeof *servers);
    size_t i, count = 0;
    struct mst_held held;

    top->sentence[0] = '\0';
    for (i = 0; servers != NULL && i < top->server_count; i++)
        if (top->servers[i].life == MST_TOP_RUNNING)
            servers[count++] = &top->servers[i].present;
    if (servers != NULL) {
        mst_present_join(servers, count);
        if (find_held(servers, count, &held)) {
            mst_held_say(top->sentence, &held);
            top->is_stuck = held.is_stuck;
        }
    }
    free(servers);
}

void mst_top_miss(struct mst_top *top, size_t which, const char *problem, uint64_t wall_ns)
{
    struct mst_top_server *s = &top->servers[which];

    mst_top_copy(s->problem, sizeof s->problem, problem);
    if (s->life == MST_TOP_SILENT)
        return;
    s->life = MST_TOP_SILENT;
    s->since_ns = wall_ns;
    mst_top_event(top, which, wall_ns, "cannot be read: %s", problem);
}

/* sample.c - a server's numbers at one moment, as every kind of source makes them. */
#include "source/source_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "segment/fields.h"

uint64_t mst_source_wall_ns(const struct mst_source *source, uint64_t monotonic_ns)
{
    return monotonic_ns + source->clock_offset_ns;
}

int mst_sample_add_process(struct mst_sample *sample, uint64_t pid, uint64_t start_ticks)
{
    size_t count = sample->process_count;

    /* Workers of a process stand together mostly. */
    if (count > 0 && sample->processes[count - 1].pid == pid)
        return 0;
    if (!mst_grow(&sample->processes, &sample->process_room, count, sizeof *sample->processes))
        return -1;
    sample->processes[count] = (struct mst_sample_process){ pid, start_ticks };
    sample->process_count++;
    return 0;
}

static int by_pid(const void *left, const void *right)
{
    const struct mst_sample_process *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

void mst_sample_unite_processes(struct mst_sample *sample)
{
    struct mst_sample_process *all = sample->processes;
    size_t i, kept = 0;

    if (sample->process_count > 1)
        qsort(all, sample->process_count, sizeof *all, by_pid);
    for (i = 0; i < sample->process_count; i++)
        if (kept == 0 || all[kept - 1].pid != all[i].pid)
            all[kept++] = all[i];
    sample->process_count = kept;
}

/* A sum with an unknown part is unknown. */
static void add_known(uint64_t *sum, uint64_t n)
{
    *sum = *sum == MST_UNKNOWN || n == MST_UNKNOWN || *sum > MST_UNKNOWN - n ? MST_UNKNOWN
                                                                            : *sum + n;
}

/* Out of memory, further pools are left out. */
static void add_pool(struct mst_sample *sample, const struct mst_snapshot_label *label)
{
    struct mst_sample_pool *pool;

    if (label->workers_limit == MST_UNKNOWN || label->label == NULL ||
        !mst_grow(&sample->pools, &sample->pool_room, sample->pool_count, sizeof *sample->pools))
        return;
    pool = &sample->pools[sample->pool_count++];
    *pool = (struct mst_sample_pool){
        .workers_limit = label->workers_limit, .in_flight = label->in_flight,
        .limit_reached = label->limit_reached,
    };
    snprintf(pool->label, sizeof pool->label, "%s", label->label);
}

static void add_label(struct mst_sample *sample, const struct mst_snapshot_label *label)
{
    size_t i;

    if (label->label != NULL && strcmp(label->label, MST_LABEL_STATUS_NAME) == 0) {
        add_known(&sample->requests_status, label->requests);
        return;
    }
    add_known(&sample->requests, label->requests);
    add_known(&sample->bytes, label->bytes);
    add_known(&sample->in_flight, label->in_flight);
    for (i = 0; i < MST_CLASS_COUNT; i++)
        add_known(&sample->classes[i], label->status[i]);
}

/* Of an FPM those that its workers have taken, at all of its sockets. */
static uint64_t connections_of(const struct mst_snapshot *board)
{
    uint64_t sum = board->connections;
    size_t i;

    for (i = 0; board->listeners_known && i < board->listener_count; i++)
        if (board->listeners[i].connections != MST_UNKNOWN)
            sum = mst_known(sum) + board->listeners[i].connections;
    return sum;
}

/* Half a list would say that the server listens nowhere else. */
static void list_listeners(struct mst_sample *sample, const struct mst_snapshot *board)
{
    size_t used = 0, i;
    int length;

    sample->listens[0] = '\0';
    for (i = 0; board->listeners_known && i < board->listener_count; i++) {
        if (board->listeners[i].address == NULL)
            continue;
        length = snprintf(sample->listens + used, sizeof sample->listens - used, "%s%s",
                          used > 0 ? " " : "", board->listeners[i].address);
        if (length < 0 || (size_t)length >= sizeof sample->listens - used) {
            sample->listens[0] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* Takes the fullest listening socket. Each socket has a queue of its own, also where several listen
 * at one address: so one can be full while others are empty. Of several that are equally full, it
 * takes that with the smallest limit. Where one queue is unknown, the fullest one is not known. */
static void add_listeners(struct mst_sample *sample, const struct mst_snapshot *board)
{
    const struct mst_snapshot_listener *listener;
    unsigned __int128 here, there;
    uint64_t queue, limit;
    size_t i;

    sample->listen_queue = sample->listen_queue_limit = MST_UNKNOWN;
    sample->listen_address[0] = sample->listen_pool[0] = '\0';
    for (i = 0; board->listeners_known && i < board->listener_count; i++) {
        listener = &board->listeners[i];
        queue = listener->queue_fullest;
        limit = listener->queue_limit;
        if (queue == MST_UNKNOWN || limit == MST_UNKNOWN) {
            sample->listen_queue = sample->listen_queue_limit = MST_UNKNOWN;
            sample->listen_address[0] = sample->listen_pool[0] = '\0';
            return;
        }
        if (listener->sockets > 1 && listener->sockets != MST_UNKNOWN)
            limit /= listener->sockets;
        here = (unsigned __int128)queue * sample->listen_queue_limit;
        there = (unsigned __int128)sample->listen_queue * limit;
        if (i == 0 || here > there || (here == there && limit < sample->listen_queue_limit)) {
            sample->listen_queue = queue;
            sample->listen_queue_limit = limit;
            snprintf(sample->listen_address, sizeof sample->listen_address, "%s",
                     listener->address != NULL ? listener->address : "");
            snprintf(sample->listen_pool, sizeof sample->listen_pool, "%s",
                     listener->pool != NULL ? listener->pool : "");
        }
    }
}

/* While it makes the answer it is in the state `handling`. A request of a
 * monitor at the same time stays in. */
void mst_sample_leave_out_asker(struct mst_sample *sample, const struct mst_snapshot *board)
{
    uint64_t *handling = &sample->states[MST_STATE_HANDLING];
    const struct mst_snapshot_slot *slot;
    size_t i;

    for (i = 0; i < board->slot_count; i++) {
        slot = &board->slots[i];
        if (slot->label == NULL || strcmp(slot->label, MST_LABEL_STATUS_NAME) != 0 ||
            slot->state == NULL || strcmp(slot->state, mst_state_names[MST_STATE_HANDLING]) != 0)
            continue;
        if (sample->workers_busy > 0 && sample->workers_busy != MST_UNKNOWN)
            sample->workers_busy--;
        if (*handling > 0 && *handling != MST_UNKNOWN)
            --*handling;
        return;
    }
}

/* The kind's own name, which stays. */
static const char *end_kind(const char *name)
{
    size_t i;

    for (i = 0; name != NULL && i < MST_END_KIND_COUNT; i++)
        if (strcmp(mst_other_end_kind_names[i], name) == 0)
            return mst_other_end_kind_names[i];
    return NULL;
}

static void add_ends(struct mst_sample *sample, const struct mst_snapshot *board)
{
    size_t i;

    sample->end_count = board->end_count < MST_ENDS ? board->end_count : MST_ENDS;
    for (i = 0; i < sample->end_count; i++) {
        const struct mst_snapshot_end *from = &board->ends[i];
        struct mst_sample_end *to = &sample->ends[i];

        to->kind = end_kind(from->end_kind);
        snprintf(to->name, sizeof to->name, "%s", from->name != NULL ? from->name : "");
        to->calls = from->calls;
        to->failed = from->failed;
        to->end_ns = from->end_ns;
        to->connect_ns = from->connect_ns;
    }
}

static struct mst_opcache opcache_of(const struct mst_snapshot *board)
{
    return (struct mst_opcache){
        .state = mst_opcache_named(board->opcache), .used_bytes = board->opcache_used_bytes,
        .wasted_bytes = board->opcache_wasted_bytes, .limit_bytes = board->opcache_limit_bytes,
        .scripts = board->opcache_scripts, .keys = board->opcache_keys,
        .keys_limit = board->opcache_keys_limit, .hits = board->opcache_hits,
        .misses = board->opcache_misses, .restarts = board->opcache_restarts,
    };
}

void mst_sample_from_snapshot(struct mst_sample *sample, const struct mst_snapshot *board)
{
    size_t i;

    sample->has_ended = board->running != NULL && strcmp(board->running, "no") == 0;
    sample->stopped_ns = board->stopped_ns;
    sample->workers_limit = board->workers_limit;
    sample->workers_busy = board->workers_busy;
    memcpy(sample->states, board->workers, sizeof sample->states);
    memcpy(sample->state_ns, board->state_ns, sizeof sample->state_ns);
    sample->connections = connections_of(board);
    sample->accepted = board->accepted;
    sample->shed = board->shed;
    sample->http2_workers_limit = board->http2_workers_limit;
    sample->http2_workers_busy = board->http2_workers_busy;
    memcpy(sample->forks, board->forks, sizeof sample->forks);
    memcpy(sample->exits, board->exits, sizeof sample->exits);
    sample->forks_failed = board->forks_failed;
    sample->no_idle_ns = board->no_idle_ns;
    sample->generations = board->generations;
    sample->unfinished = board->unfinished;
    sample->requests_written = board->requests_written;
    sample->lifecycle_written = board->lifecycle_written;

    sample->opcache = opcache_of(board);
    list_listeners(sample, board);
    add_listeners(sample, board);
    add_ends(sample, board);
    sample->requests = sample->requests_status = sample->bytes = sample->in_flight = 0;
    memset(sample->classes, 0, sizeof sample->classes);
    sample->pool_count = 0;
    for (i = 0; i < board->label_count; i++) {
        add_label(sample, &board->labels[i]);
        add_pool(sample, &board->labels[i]);
    }
}

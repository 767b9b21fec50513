/* glance.c - a snapshot as ten lines for a person: see glance.h. */
#include "report/glance.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "console/format.h"
#include "read/split.h"
#include "report/items.h"

#define LISTED 4u   /* listeners, pools */

/* ---- numbers ------------------------------------------------------------------------ */

static bool is_known(uint64_t n)
{
    return n != MST_UNKNOWN;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static struct mst_formatted share(uint64_t part, uint64_t whole)
{
    return mst_format_percent(mst_milli(part, whole));
}

/* ---- the server --------------------------------------------------------------------- */

static void put_server(struct mst_sink *sink, const struct mst_snapshot *b)
{
    const char *producer = b->producer != NULL ? b->producer : "unknown";
    const char *kind = b->mpm != NULL ? b->mpm : b->sapi;
    struct mst_items items = { .used = 0 };

    mst_items_add(&items, "%s", mst_items_name(b->server != NULL ? b->server : producer).text);
    if (kind != NULL)
        mst_items_add(&items, "%s", mst_items_name(kind).text);
    if (b->path != NULL)
        mst_items_add(&items, "%s", mst_items_name(b->path).text);
    mst_items_put(sink, "Server", &items);
}

static void put_running(struct mst_sink *sink, const struct mst_snapshot *b)
{
    bool is_running = b->running == NULL || strcmp(b->running, "no") != 0;
    struct mst_items items = { .used = 0 };

    mst_items_add(&items, "%s", b->running != NULL ? mst_items_name(b->running).text : "unknown");
    if (is_known(b->started_ns))
        mst_items_add(&items, "%s %s", is_running ? "since" : "started",
                      mst_format_instant(b->started_ns).text);
    if (is_known(b->uptime_ns))
        mst_items_more(&items, " (%s)", mst_format_duration(b->uptime_ns).text);
    if (is_known(b->stopped_ns))
        mst_items_add(&items, "stopped %s", mst_format_instant(b->stopped_ns).text);
    if (is_known(b->pid))
        mst_items_add(&items, "pid %" PRIu64, b->pid);
    if (is_known(b->owner))
        mst_items_add(&items, "the board is user %" PRIu64 "'s", b->owner);
    mst_items_put(sink, "Running", &items);
}

/* The status page's own requests are not load: one of them is in flight whenever a URL answers. */
static bool is_load(const char *label)
{
    return label == NULL || strcmp(label, MST_LABEL_STATUS_NAME) != 0;
}

static void put_requests(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t requests = 0, in_flight = 0;
    struct mst_items items = { .used = 0 };
    size_t i;

    for (i = 0; i < b->label_count; i++)
        if (is_load(b->labels[i].label)) {
            mst_add_known(&requests, b->labels[i].requests);
            mst_add_known(&in_flight, b->labels[i].in_flight);
        }
    mst_items_add(&items, "%" PRIu64 " since the start", requests);
    if (is_known(b->uptime_ns) && b->uptime_ns > 0)
        mst_items_add(&items, "%s/s on average",
                      mst_format_milli(mst_rate_milli(requests, b->uptime_ns)).text);
    /* Where the journal has gone round, its window is shorter than the server's life. */
    if (is_known(b->requests_written) && is_known(b->requests_capacity) &&
        b->requests_written > b->requests_capacity && is_known(b->window_ns) && b->window_ns > 0)
        mst_items_add(&items, "%s/s in the last %s",
                      mst_format_milli(mst_rate_milli(b->requests_capacity, b->window_ns)).text,
                      mst_format_duration(b->window_ns).text);
    mst_items_add(&items, "%" PRIu64 " in flight", in_flight);
    mst_items_put(sink, "Requests", &items);
}

/* ---- workers and queues --------------------------------------------------------------- */

static uint64_t busy_now(const struct mst_snapshot *b)
{
    uint64_t busy = 0;
    size_t i;

    if (is_known(b->workers_busy))
        return b->workers_busy;
    for (i = MST_STATE_IDLE + 1; i < MST_STATE_COUNT; i++)
        mst_add_known(&busy, b->workers[i]);
    return busy;
}

static void put_workers(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t busy = busy_now(b);
    struct mst_items items = { .used = 0 };
    size_t i;

    mst_items_add(&items, "%" PRIu64, busy);
    if (is_known(b->workers_limit) && b->workers_limit > 0)
        mst_items_more(&items, " of %" PRIu64 " busy (%s)", b->workers_limit,
                       share(busy, b->workers_limit).text);
    else
        mst_items_more(&items, " busy");
    if (is_known(b->workers_busy_max))
        mst_items_add(&items, "at most %" PRIu64 " so far", b->workers_busy_max);
    for (i = MST_STATE_IDLE + 1; i < MST_STATE_COUNT; i++)
        if (is_known(b->workers[i]) && b->workers[i] > 0)
            mst_items_add(&items, "%" PRIu64 " %s", b->workers[i], mst_state_names[i]);
    mst_items_put(sink, "Workers", &items);
}

static void put_pools(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct mst_items items = { .used = 0 };
    size_t i, shown = 0, more = 0;

    for (i = 0; i < b->label_count; i++) {
        const struct mst_snapshot_label *pool = &b->labels[i];

        if (!is_known(pool->workers_limit) || !is_known(pool->in_flight))
            continue;
        if (shown == LISTED) {
            more++;
            continue;
        }
        shown++;
        mst_items_add(&items, "%s %" PRIu64 " of %" PRIu64 " busy",
                      mst_items_name(pool->label).text, pool->in_flight, pool->workers_limit);
    }
    if (more > 0)
        mst_items_add(&items, "%zu more", more);
    mst_items_put(sink, "Pools", &items);
}

static void put_queues(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct mst_items items = { .used = 0 };
    size_t i, shown = 0, more = 0;

    for (i = 0; b->listeners_known && i < b->listener_count; i++) {
        const struct mst_snapshot_listener *l = &b->listeners[i];

        if (!is_known(l->queue))
            continue;
        if (shown == LISTED) {
            more++;
            continue;
        }
        shown++;
        mst_items_add(&items, "%" PRIu64, l->queue);
        if (is_known(l->queue_limit))
            mst_items_more(&items, " of %" PRIu64, l->queue_limit);
        mst_items_more(&items, " at %s", l->address != NULL ? mst_items_name(l->address).text
                                                          : "a socket without a name");
    }
    if (more > 0)
        mst_items_add(&items, "%zu more sockets", more);
    mst_items_put(sink, "Accept queue", &items);
}

/* ---- where the time went ---------------------------------------------------------------- */

static void put_time(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t parts_ns[MST_PART_COUNT] = { 0 }, whole = 0;
    struct mst_items items = { .used = 0 };
    enum mst_part part;
    size_t i;

    for (i = 0; i < b->label_count; i++)
        if (is_load(b->labels[i].label))
            mst_split_add_label(parts_ns, &b->labels[i]);
    for (part = 0; part < MST_PART_COUNT; part++)
        whole = mst_add_saturated(whole, parts_ns[part]);
    for (part = 0; part < MST_PART_COUNT; part++)
        if (parts_ns[part] > 0)
            mst_items_add(&items, "%s %s", mst_parts[part].name,
                          share(parts_ns[part], whole).text);
    mst_items_put(sink, "Time went to", &items);
}

/* ---- what went wrong --------------------------------------------------------------------- */

static void put_ran_out(struct mst_sink *sink, const struct mst_snapshot *b)
{
    struct mst_items items = { .used = 0 };
    size_t i;

    if (is_known(b->no_idle_ns) && b->no_idle_ns > 0)
        mst_items_add(&items, "no worker was idle for %s", mst_format_time(b->no_idle_ns).text);
    for (i = 0; i < b->label_count; i++)
        if (is_known(b->labels[i].limit_reached) && b->labels[i].limit_reached > 0)
            mst_items_add(&items, "pool %s reached its limit %" PRIu64 " time%s",
                          mst_items_name(b->labels[i].label).text, b->labels[i].limit_reached,
                          plural(b->labels[i].limit_reached));
    if (is_known(b->forks_failed) && b->forks_failed > 0)
        mst_items_add(&items, "%" PRIu64 " fork%s failed", b->forks_failed,
                      plural(b->forks_failed));
    if (items.used == 0)
        mst_items_add(&items, "nothing so far");
    mst_items_put(sink, "Ran out", &items);
}

static void put_errors(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t server = 0, client = 0, aborted = 0, fatal = 0, timeouts = 0, unfinished = 0, died = 0;
    struct mst_items items = { .used = 0 };
    size_t i;

    for (i = 0; i < b->label_count; i++) {
        const struct mst_snapshot_label *label = &b->labels[i];

        if (!is_load(label->label))
            continue;
        mst_add_known(&server, label->status[MST_CLASS_5XX]);
        mst_add_known(&client, label->status[MST_CLASS_4XX]);
        mst_add_known(&aborted, label->status[MST_CLASS_ABORTED]);
        mst_add_known(&fatal, label->php_fatal);
        mst_add_known(&timeouts, label->php_timeouts);
    }
    mst_add_known(&unfinished, b->unfinished);
    mst_add_known(&died, b->exits[MST_REASON_SIGNAL]);
    mst_add_known(&died, b->exits[MST_REASON_KILLED]);
    if (server > 0)
        mst_items_add(&items, "%" PRIu64 " of status 5xx", server);
    if (client > 0)
        mst_items_add(&items, "%" PRIu64 " of status 4xx", client);
    if (aborted > 0)
        mst_items_add(&items, "%" PRIu64 " aborted by the client", aborted);
    if (fatal > 0)
        mst_items_add(&items, "%" PRIu64 " fatal error%s of PHP", fatal, plural(fatal));
    if (timeouts > 0)
        mst_items_add(&items, "%" PRIu64 " timeout%s of PHP", timeouts, plural(timeouts));
    if (unfinished > 0)
        mst_items_add(&items, "%" PRIu64 " request%s without an end", unfinished,
                      plural(unfinished));
    if (died > 0)
        mst_items_add(&items, "%" PRIu64 " process%s killed", died, died == 1 ? "" : "es");
    if (items.used == 0)
        mst_items_add(&items, "none so far");
    mst_items_put(sink, "Errors", &items);
}

/* ---- the longest in flight ----------------------------------------------------------------- */

static void put_longest(struct mst_sink *sink, const struct mst_snapshot *b)
{
    const struct mst_snapshot_slot *longest = NULL;
    struct mst_items items = { .used = 0 };
    size_t i;

    for (i = 0; i < b->slot_count; i++)
        if (is_known(b->slots[i].request_for_ns) && is_load(b->slots[i].label) &&
            (longest == NULL || b->slots[i].request_for_ns > longest->request_for_ns))
            longest = &b->slots[i];
    if (longest == NULL)
        return;
    mst_items_add(&items, "%s", mst_format_time(longest->request_for_ns).text);
    if (longest->state != NULL)
        mst_items_more(&items, " (%s)", mst_items_name(longest->state).text);
    if (longest->label != NULL)
        mst_items_add(&items, "%s", mst_items_name(longest->label).text);
    if (longest->path != NULL)
        mst_items_more(&items, " %s", mst_items_name(longest->path).text);
    if (is_known(longest->pid))
        mst_items_add(&items, "pid %" PRIu64, longest->pid);
    if (longest->wait != NULL) {
        mst_items_add(&items, "waits");
        if (is_known(longest->wait_for_ns))
            mst_items_more(&items, " %s", mst_format_time(longest->wait_for_ns).text);
        mst_items_more(&items, " for %s", mst_items_name(longest->wait).text);
        /* An end without a name of its own has the wait's. */
        if (longest->wait_end != NULL && strcmp(longest->wait_end, longest->wait) != 0)
            mst_items_more(&items, " (%s)", mst_items_name(longest->wait_end).text);
    }
    if (longest->code_function != NULL) {
        mst_items_add(&items, "%s %s", longest->wait != NULL ? "in" : "last seen in",
                      mst_items_name(longest->code_function).text);
        if (longest->code_component != NULL)
            mst_items_more(&items, " (%s)", mst_items_name(longest->code_component).text);
    }
    mst_items_put(sink, "Longest now", &items);
}

/* Of processes with workers: Apache's children, or PHP's. */
static uint64_t of_workers(const uint64_t by_kind[MST_KIND_COUNT])
{
    uint64_t sum = mst_known(by_kind[MST_KIND_CHILD]);

    if (!is_known(by_kind[MST_KIND_CHILD]) && !is_known(by_kind[MST_KIND_PHP]))
        return MST_UNKNOWN;
    mst_add_known(&sum, by_kind[MST_KIND_PHP]);
    return sum;
}

static void put_processes(struct mst_sink *sink, const struct mst_snapshot *b)
{
    uint64_t started = of_workers(b->forks), ended = of_workers(b->ended);
    struct mst_items items = { .used = 0 };

    if (is_known(started))
        mst_items_add(&items, "%" PRIu64 " started", started);
    if (is_known(ended))
        mst_items_add(&items, "%" PRIu64 " ended", ended);
    if (is_known(b->generation) && b->generation > 0)
        mst_items_add(&items, "%" PRIu64 " restart%s", b->generation, plural(b->generation));
    mst_items_put(sink, "Processes", &items);
}

void mst_glance(struct mst_sink *sink, const struct mst_snapshot *board)
{
    put_server(sink, board);
    put_running(sink, board);
    put_requests(sink, board);
    put_workers(sink, board);
    put_pools(sink, board);
    put_queues(sink, board);
    put_time(sink, board);
    put_ran_out(sink, board);
    put_errors(sink, board);
    put_longest(sink, board);
    put_processes(sink, board);
}

/* split.c - divides one request's time into its parts: see split.h. */
#include "read/split.h"

#include <string.h>

#include "base/saturate.h"

/* Takes a part from what is left of the whole. */
static uint64_t take(uint64_t *left, uint64_t ns)
{
    uint64_t part = mst_known(ns) > *left ? *left : mst_known(ns);

    *left -= part;
    return part;
}

/* Takes the intervals of a phase, except SEND, in the order of the parts. What overlaps with other
 * parts is cut before. */
static void take_intervals(uint64_t *parts, uint64_t *left, enum mst_within within,
                           const uint64_t interval[MST_INTERVAL_COUNT])
{
#define MST_INTERVAL_PART(id, in, name, colour, noun, meaning, todo) \
    if (MST_WITHIN_##in == within) \
        parts[MST_PART_##id] = take(left, interval[MST_INTERVAL_##id]);
#include "segment/parts.def"
}

/* PHP can go on after the response, and its measured times include that. Then it computes, or waits
 * for a CPU. So where the times are longer than the run, these two are cut first, and the other
 * waits last. */
static void split_run(uint64_t *parts, uint64_t run, const struct mst_split_times *t)
{
    uint64_t cpu;
    unsigned i;

    for (i = 0; i < MST_WAIT_COUNT; i++)
        parts[MST_PART_WAITS + i] = take(&run, t->waits_ns[i]);
    cpu = take(&run, t->cpu_ns);
    parts[MST_PART_COMPILE] = take(&cpu, t->compile_ns);
    parts[MST_PART_GC] = take(&cpu, t->gc_ns);
    parts[MST_PART_CPU] = cpu;
    parts[MST_PART_CPU_WAIT] = take(&run, t->cpu_wait_ns);
    parts[MST_PART_REST] = run;
}

/* Where a request comes to PHP twice, one of the two can wait while the other runs: that time
 * counts as run. Where the backend is PHP, Apache waits for it as long as PHP's own parts last:
 * only the time beyond them is the backend's. */
static void split_handle(struct mst_split *to, uint64_t left, const struct mst_split_times *t)
{
    uint64_t interval[MST_INTERVAL_COUNT], *backend = &interval[MST_INTERVAL_BACKEND], room;

    memcpy(interval, t->intervals_ns, sizeof interval);
    to->handle_run_ns = take(&left, t->php_run_ns);
    room = mst_subtract_saturated(left, mst_known(interval[MST_INTERVAL_UPLOAD]));
    to->parts_ns[MST_PART_PHP_WAIT] = take(&room, t->php_wait_ns);
    left -= to->parts_ns[MST_PART_PHP_WAIT];
    *backend = mst_subtract_saturated(mst_known(*backend), to->parts_ns[MST_PART_PHP_WAIT] +
                                      to->handle_run_ns);
    take_intervals(to->parts_ns, &left, MST_WITHIN_HANDLE, interval);
    to->parts_ns[MST_PART_HANDLE] = left;
}

/* How much of PHP's run in `send` was certainly not spent with waiting until the server takes the
 * answer: what PHP computed and waited for, as far as it has no room in the rest of its run. */
static uint64_t active_in_send(uint64_t send_run, const struct mst_split_times *t)
{
    uint64_t active = mst_add_saturated(mst_known(t->cpu_ns), mst_known(t->cpu_wait_ns));
    uint64_t elsewhere = mst_subtract_saturated(mst_known(t->php_all_ns), send_run);
    unsigned i;

    for (i = 0; i < MST_WAIT_COUNT; i++)
        mst_add_known(&active, t->waits_ns[i]);
    active = mst_subtract_saturated(active, elsewhere);
    return active < send_run ? active : send_run;
}

/* While PHP is active, the server has nothing new to send: that time is PHP's, whatever the network
 * and the client do with what came before. Otherwise their time is theirs: PHP waits for them, too,
 * where its answer does not fit into the buffers. The rest of PHP's run takes the place of what the
 * server seems to do. */
static void split_send(struct mst_split *to, uint64_t left, const struct mst_split_times *t)
{
    const uint64_t *interval = t->intervals_ns;
    uint64_t *parts = to->parts_ns, server = mst_known(interval[MST_INTERVAL_SEND_SERVER]);
    uint64_t run = mst_known(t->php_send_ns), active = active_in_send(run, t);

    to->send_run_ns = take(&left, active);
    parts[MST_PART_SEND_CLIENT] = take(&left, interval[MST_INTERVAL_SEND_CLIENT]);
    parts[MST_PART_SEND_NETWORK] = take(&left, interval[MST_INTERVAL_SEND_NETWORK]);
    to->send_run_ns += take(&left, run - active);
    parts[MST_PART_SEND_SERVER] = take(&left, mst_subtract_saturated(server, to->send_run_ns));
    parts[MST_PART_SEND] = left;
}

void mst_split(struct mst_split *to, const struct mst_split_times *t)
{
    uint64_t queue = t->queue_ns, read = t->read_ns;

    memset(to, 0, sizeof *to);
    take_intervals(to->parts_ns, &queue, MST_WITHIN_QUEUE, t->intervals_ns);
    to->parts_ns[MST_PART_QUEUE] = queue;
    take_intervals(to->parts_ns, &read, MST_WITHIN_READ, t->intervals_ns);
    to->parts_ns[MST_PART_READ] = read;
    split_handle(to, t->handle_ns, t);
    split_send(to, t->send_ns, t);
    split_run(to->parts_ns, to->handle_run_ns + to->send_run_ns, t);
}

/* A sum's parts are the sum of the parts, as none is longer than its phase in any request. */
void mst_split_add_label(uint64_t parts_ns[MST_PART_COUNT],
                         const struct mst_snapshot_label *label)
{
    const struct mst_snapshot_phase *phases = label->phases;
    uint64_t wait = mst_known(phases[MST_PHASE_PHP_WAIT].sum_ns);
    uint64_t run = mst_known(phases[MST_PHASE_PHP_RUN].sum_ns);
    struct mst_split_times t = {
        .queue_ns = mst_known(phases[MST_PHASE_QUEUE].sum_ns),
        .read_ns = mst_known(phases[MST_PHASE_READ].sum_ns),
        .handle_ns = mst_known(phases[MST_PHASE_HANDLE].sum_ns) + wait + run,
        .send_ns = mst_known(phases[MST_PHASE_SEND].sum_ns),
        .php_wait_ns = wait, .php_run_ns = run, .php_all_ns = run,
        .cpu_ns = mst_add_saturated(mst_known(label->php_user_ns), mst_known(label->php_system_ns)),
        .cpu_wait_ns = label->php_cpu_wait_ns, .compile_ns = label->php_compile_ns,
        .gc_ns = label->php_gc_ns,
    };
    struct mst_split split;
    unsigned i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        t.intervals_ns[i] = label->interval_ns[i];
    for (i = 0; i < MST_WAIT_COUNT; i++)
        t.waits_ns[i] = label->php_waits_ns[i];
    mst_split(&split, &t);
    for (i = 0; i < MST_PART_COUNT; i++)
        parts_ns[i] = mst_add_saturated(parts_ns[i], split.parts_ns[i]);
}

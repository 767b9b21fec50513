/* unseen.c - what cannot be seen of a single request, but of all of them together: building.h. */
#include <string.h>

#include "analysis/bottleneck.h"
#include "base/saturate.h"
#include "model/building.h"

#define WAITING_MIN      2.0      /* with so many on average, nearly always one waits */
#define AT_ONCE_MIN      1.1      /* of fewer, it is not told by how many others one waits for */
#define KERNEL_MOST      0.5      /* of what server and load tool take: more was taken by programs
                                   * that ended before they were seen */

/* ---- ends that let in one at a time ------------------------------------------------ */

/* The findings' answer, of a kind of PHP's waits. */
static bool is_one_at_a_time(const struct mst_summary *s, const char *kind)
{
    static const enum mst_code codes[MST_WAIT_COUNT] = {
#define MST_WAIT_PART(id, ...) [MST_WAIT_##id] = MST_CODE_##id,
#include "segment/parts.def"
    };
    unsigned wait = mst_wait_named(kind);
    size_t i;

    for (i = 0; wait < MST_WAIT_COUNT && i < s->finding_count; i++)
        if (s->findings[i].code == codes[wait] &&
            mst_finding_answer(&s->findings[i], MST_ONE_AT_A_TIME) == MST_ANSWER_YES)
            return true;
    return false;
}

/* So many a second of what the whole run of the server had so many of: what was in flight when the
 * load ended came to its end later, and is no part of the rate. */
static double rate_of(const struct mst_building *b, double count)
{
    const struct mst_summary_server *front = b->at->front;

    return mst_model_measured(b->r->summary, front, false, MST_MEASURE_RATE) * count /
           (double)front->requests;
}

/* For how long a request has a lock. A request that comes while another one has it waits, so that
 * the part of the requests that waited is the part of the time in which one of the others had it.
 * Several locks of one name are like one that is held for a shorter time. */
static double lock_held(const struct mst_building *b, const struct mst_end_sum *lock)
{
    const struct mst_summary_server *php = b->at->php;
    double at_once = mst_or_zero((double)php->mean_busy_milli / 1000);
    double rate = rate_of(b, (double)php->requests);

    if (php->mean_busy_milli == MST_UNKNOWN || at_once < AT_ONCE_MIN)
        return 0;
    return fmin((double)lock->long_ones / (double)php->requests * at_once / (at_once - 1), 1) /
           rate;
}

/* An end that lets in one at a time, and has always one inside: so many a second come out of it as
 * fit into one. */
void mst_building_make_serial_ends(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *php = b->at->php;
    struct mst_model_end *end;
    bool is_lock, is_full;
    size_t i;

    for (i = b->at->ends + MST_END_SERVER_COUNT; i < r->system.end_count; i++) {
        end = &r->system.ends[i];
        is_lock = strcmp(end->kind, "lock") == 0;
        is_full = is_one_at_a_time(r->summary, end->kind);
        if (b->sums[i].requests == 0 || (!is_full && !is_lock) ||
            (!is_full && lock_held(b, &b->sums[i]) <= 0))
            continue;
        b->sums[i].gate = mst_model_add_gate(r, end->called, 1);
        b->sums[i].is_full = is_full;
        b->sums[i].inside = !is_full ? lock_held(b, &b->sums[i]) :
            fmin(1 / rate_of(b, (double)b->sums[i].requests),
                 b->sums[i].seconds / (double)b->sums[i].requests);
    }
    if (php != NULL)
        b->unlocked = mst_or_zero(mst_in_seconds(php->phases[MST_PHASE_PHP_RUN].mean_ns)) -
                      mst_or_zero(mst_in_seconds(php->parts[MST_PART_LOCK].times.mean_ns)) -
                      mst_or_zero(mst_in_seconds(php->parts[MST_PART_CPU_WAIT].times.mean_ns));
}

/* ---- CPU time of processes --------------------------------------------------------- */

/* A load tool that ended before the programs were looked at is not among them, and an older archive
 * has none at all. */
static double all_programs_cpu(const struct mst_summary *s)
{
    double all = 0, tool = 0;
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner == MST_PROC_TOOL)
            tool += mst_or_zero(mst_in_seconds(s->programs[i].cpu_ns));
        else
            all += mst_or_zero(mst_in_seconds(s->programs[i].cpu_ns));
    return fmax(all, mst_or_zero(mst_in_seconds(mst_servers_cpu_ns(s)))) +
           fmax(tool, mst_or_zero(mst_in_seconds(s->tool_cpu_ns)));
}

/* Whether another program works while PHP waits for that end. */
static bool may_compute(const struct mst_building *b, size_t end)
{
    const struct mst_model_end *e = &b->r->system.ends[end];

    return e->is_other && b->sums[end].gate == 0 && strcmp(e->kind, "sleep") != 0 &&
           strcmp(e->kind, "lock") != 0;
}

static bool is_backend(const struct mst_building *b, size_t end)
{
    return strcmp(b->r->system.ends[end].kind, "backend") == 0;
}

/* A backend that is Apache's own (mod_wsgi's daemons) computes while Apache waits for it: its CPU
 * time is Apache's, and is more than fits into what Apache does itself. Returns what is left. */
static double give_to_backends(struct mst_building *b, double cpu)
{
    double own = 0, waits = 0, surplus;
    size_t i;

    for (i = 0; i < b->at->own_count; i++)
        own += b->at->own[i];
    own *= (double)b->at->front->requests / (double)(b->at->own_count + (b->at->own_count == 0));
    for (i = b->at->ends + MST_END_SERVER_COUNT; i < b->r->system.end_count; i++)
        if (is_backend(b, i))
            waits += b->sums[i].seconds;
    surplus = fmin(cpu - own, waits);
    if (surplus <= 0)
        return cpu;
    for (i = b->at->ends + MST_END_SERVER_COUNT; i < b->r->system.end_count; i++)
        if (is_backend(b, i))
            b->sums[i].front_part = surplus / waits;
    return cpu - surplus;
}

/* Spreads what is known of the server's processes over its requests. */
void mst_building_spread_server_cpu(struct mst_building *b)
{
    const struct mst_summary_server *front = b->at->front, *php = b->at->php;
    struct mst_model_end *ends = &b->r->system.ends[b->at->ends];
    double own = mst_or_zero(mst_in_seconds(front->cpu_ns)), php_own = 0;

    if (!mst_summary_is_php(front) && php != NULL && !b->has_php_gate)
        own -= b->php_seconds;    /* mod_php and CGI: PHP computes in Apache's processes */
    if (b->has_php_gate)
        php_own = mst_or_zero(mst_in_seconds(php->cpu_ns)) - b->php_seconds;
    if (mst_summary_is_php(front))
        own = 0;
    own = give_to_backends(b, own);
    ends[MST_END_SERVER].compute_factor = fmax(own, 0) / (double)front->requests;
    ends[MST_END_PHP_ITSELF].compute_factor = b->php_requests > 0 ?
                                              fmax(php_own, 0) / b->php_requests : 0;
    b->all_php_seconds += b->php_seconds;
}

/* The mean of a request of all servers. */
static double servers_cpu(const struct mst_model_run *r)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < r->server_count; i++)
        sum += r->system.ends[r->servers[i].ends + MST_END_SERVER].compute_factor *
               (double)r->servers[i].front->requests;
    return sum / (double)r->requests;
}

/* The same of the other programs' processes and of the kernel. */
void mst_building_spread_cpu(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary *s = r->summary;
    struct mst_model_end *ends = r->system.ends;
    double n = (double)r->requests, waits = 0, others, rest;
    size_t i;

    ends[MST_END_TOOL].compute_factor = r->tool_gate == SIZE_MAX ? 0 :
                                        mst_in_seconds(s->tool_cpu_ns) / n;
    /* Of programs that work for the servers and have no board: a database on this machine. */
    others = mst_in_seconds(mst_own_cpu_ns(s) - mst_known(s->tool_cpu_ns) - mst_servers_cpu_ns(s));
    for (i = 0; i < r->system.end_count; i++)
        if (may_compute(b, i))
            waits += b->sums[i].seconds;
    for (i = 0; i < r->system.end_count; i++)
        if (ends[i].is_other)
            ends[i].compute_factor = may_compute(b, i) && waits > 0 ?
                                     fmin(others / waits + b->sums[i].front_part, 1) : 0;
    rest = isnan(r->cpus) ? 0 : (double)mst_cpu_worked_ns(s) / (double)MST_NS_PER_S -
                                all_programs_cpu(s);
    ends[MST_END_KERNEL].compute_factor = fmin(fmax(rest, 0) / n, KERNEL_MOST *
        (servers_cpu(r) + ends[MST_END_TOOL].compute_factor));
    ends[MST_END_OUTSIDE].wait_factor = 0;
    r->php_stretch = b->all_php_seconds > 0 ?
                     (b->all_php_seconds + b->all_php_cpu_wait) / b->all_php_seconds : NAN;
}

/* ---- between two requests ---------------------------------------------------------- */

/* A worker that always finds the next request waiting has so much time for each; what the request
 * itself does not take of it passes between two of them. Not known where there were not always as
 * many workers. */
static double turn_of(const struct mst_model_run *r, size_t gate, double rate, double waited,
                      double held)
{
    uint32_t limit = r->system.gates[gate].limit;

    if (limit == MST_ALWAYS || r->system.gates[gate].growth.start > 0 || isnan(waited) ||
        isnan(held) || rate * waited < WAITING_MIN)
        return NAN;
    return fmax((double)limit / rate - held, 0);
}

void mst_building_find_turns(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    struct mst_model_server *at = b->at;
    const struct mst_summary_server *front = at->front, *php = at->php;
    double queue = mst_in_seconds(front->phases[MST_PHASE_QUEUE].mean_ns);
    double rate = rate_of(b, (double)front->requests);

    at->php_turn = at->front_turn = NAN;
    if (!mst_summary_is_php(front) && front->mpm != NULL && strcmp(front->mpm, "event") != 0 &&
        r->system.load.keepalive_timeout <= 0)
        at->front_turn = turn_of(r, r->system.fronts[r->system.front_count - 1].gate, rate, queue,
                                 mst_in_seconds(front->phases[MST_PHASE_TOTAL].mean_ns) - queue);
    if (b->has_php_gate && php->pool_count <= 1)
        at->php_turn = turn_of(r, r->workers[r->workers_count - 1].gate,
                               rate_of(b, b->php_requests),
                               mst_in_seconds(php->phases[MST_PHASE_PHP_WAIT].mean_ns),
                               mst_in_seconds(php->phases[MST_PHASE_PHP_RUN].mean_ns));
}

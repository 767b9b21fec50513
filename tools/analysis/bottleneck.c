/* bottleneck.c - what a server's requests, workers, CPUs and memory were short of: the conditions
 * of the verdict's rules. See bottleneck.h.
 */
#include "analysis/bottleneck.h"

#include <string.h>

#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "base/saturate.h"

static uint64_t part_milli(const struct mst_summary_server *server,
                           const struct mst_summary_times *part)
{
    uint64_t total = server->phases[MST_PHASE_TOTAL].sum_ns;

    if (total == MST_UNKNOWN || part->sum_ns == MST_UNKNOWN || total == 0)
        return 0;
    return mst_milli(part->sum_ns, total);
}

static uint64_t phase_milli(const struct mst_summary_server *server, enum mst_phase phase)
{
    return part_milli(server, &server->phases[phase]);
}

uint64_t mst_mean_wait_ns(const struct mst_summary_server *server)
{
    uint64_t sum = server->phases[MST_PHASE_QUEUE].sum_ns;

    return server->waited > 0 && sum != MST_UNKNOWN ? sum / server->waited : 0;
}

bool mst_summary_waits(const struct mst_summary_server *server)
{
    const struct mst_summary_times *php = &server->phases[MST_PHASE_PHP_WAIT];

    if (mst_summary_is_php(server))
        return php->count > 0 && php->mean_ns >= MST_PHP_WAIT_MEAN_MIN_NS;
    return mst_mean_wait_ns(server) >= MST_QUEUE_MEAN_MIN_NS;
}

/* True where the smaller part of the waits passed while the workers were at the limit (sum_ns: all
 * waits; waited_ns: those at the limit), and requests hardly waited there: of the time that they
 * spent at the limit, with a worker or waiting, the waits are too little for a finding. */
static bool hardly_at_limit(uint64_t sum_ns, uint64_t waited_ns, uint64_t full_ns, uint64_t workers)
{
    double there;

    if (sum_ns == MST_UNKNOWN || waited_ns == MST_UNKNOWN || workers == MST_UNKNOWN)
        return false;
    there = (double)waited_ns + (double)full_ns * (double)workers;
    return waited_ns < sum_ns / MST_STARTED_LATE_PART && there > 0 &&
           (double)waited_ns < MST_FINDING_MILLI / 1000.0 * there;
}

bool mst_summary_started_late(const struct mst_summary_server *server)
{
    enum mst_phase wait = mst_summary_is_php(server) ? MST_PHASE_PHP_WAIT : MST_PHASE_QUEUE;

    return mst_known(server->forks) > 0 &&
           hardly_at_limit(server->phases[wait].sum_ns, server->waited_at_limit_ns,
                           server->at_limit_ns, server->max_busy);
}

static bool pool_started_late(const struct mst_summary_server *server,
                              const struct mst_summary_pool *pool)
{
    return mst_known(server->forks) > 0 &&
           hardly_at_limit(pool->wait_sum_ns, pool->waited_at_limit_ns, pool->at_limit_ns,
                           pool->max_busy);
}

bool mst_summary_is_short(const struct mst_summary_server *server)
{
    return mst_summary_all_busy(server) && !mst_summary_started_late(server);
}

bool mst_pool_is_short(const struct mst_summary_server *server, const struct mst_summary_pool *pool)
{
    uint64_t wait_ns = mst_pool_mean_wait_ns(pool);

    return pool->workers_limit != MST_UNKNOWN && pool->max_busy != MST_UNKNOWN &&
           pool->max_busy >= pool->workers_limit && wait_ns != MST_UNKNOWN &&
           wait_ns >= MST_PHP_WAIT_MEAN_MIN_NS && !pool_started_late(server, pool);
}

/* Where the limit of PHP's workers is not known (this PHP is not FPM, or FPM's configuration was
 * not found), a number that stayed the same for the whole load tells it. A process that is started
 * for its request has no limit. */
bool mst_summary_all_busy(const struct mst_summary_server *server)
{
    if (server->max_busy == MST_UNKNOWN || server->max_busy == 0 ||
        server->sapi_kind == MST_SAPI_CGI)
        return false;
    if (server->workers_limit != MST_UNKNOWN)
        return server->max_busy >= server->workers_limit;
    return mst_summary_is_php(server) && server->mean_busy_milli != MST_UNKNOWN &&
           server->mean_busy_milli >= server->max_busy * MST_CONSTANT_BUSY_MILLI;
}

const char *mst_workers_directive(const struct mst_summary_server *server)
{
    if (!mst_summary_is_php(server) || server->sapi_kind == MST_SAPI_MOD_PHP)
        return "MaxRequestWorkers";
    if (server->sapi_kind == MST_SAPI_FCGID)
        return "FcgidMaxProcesses and FcgidMaxProcessesPerClass";
    return server->sapi == NULL || server->sapi_kind == MST_SAPI_FPM ?
           "pm.max_children" : "the number of PHP's processes";
}

bool mst_mostly_in(const struct mst_summary_server *server, enum mst_state state)
{
    uint64_t in_state = server->mean_state_milli[state];

    return in_state != MST_UNKNOWN && server->mean_busy_milli != MST_UNKNOWN && in_state > 0 &&
           in_state * 2 >= server->mean_busy_milli;
}

bool mst_starved_by_keepalive(const struct mst_summary_server *server)
{
    return mst_summary_all_busy(server) && mst_mostly_in(server, MST_STATE_KEEPALIVE) &&
           phase_milli(server, MST_PHASE_QUEUE) >= MST_WAIT_SHARE_MILLI &&
           (mst_summary_waits(server) ||
            server->phases[MST_PHASE_QUEUE].max_ns >= MST_LONG_WAIT_NS);
}

/* Time in `send` during which PHP still ran is not the clients'. */
bool mst_clients_are_slow(const struct mst_summary_server *server)
{
    const struct mst_summary_times *send = &server->phases[MST_PHASE_SEND];
    const struct mst_summary_times *others =
        server->php.joined > 0 ? &server->php.send_other : send;

    return part_milli(server, others) >= MST_SLOW_SEND_MILLI &&
           send->mean_ns >= MST_SLOW_SEND_MEAN_MIN_NS;
}

const struct mst_summary_times *mst_php_wait(const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) ? &server->phases[MST_PHASE_PHP_WAIT]
                                      : &server->php.handle_wait;
}

/* Whether the server's CPU time is known and in no other server's: that of php-cgi's processes,
 * which have no parent of their own, is mostly in Apache's. */
static bool has_own_cpu(const struct mst_summary_server *server)
{
    return server->cpu_ns != MST_UNKNOWN &&
           (!mst_summary_is_php(server) || server->sapi_kind == MST_SAPI_FPM);
}

bool mst_cpu_is_full(const struct mst_summary *s)
{
    return s->machine_busy_milli != MST_UNKNOWN && s->machine_busy_milli >= MST_CPU_FULL_MILLI;
}

uint64_t mst_servers_cpu_ns(const struct mst_summary *s)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (has_own_cpu(&s->servers[i]))
            sum += s->servers[i].cpu_ns;
    return sum;
}

/* The CPU time of this run: the load tool's and the servers'. The servers' is the larger of two
 * sums. One is that of their processes, with all that descend from them. The other is that of the
 * programs which the recording found to be the servers': it has backends without a board, too, but
 * no program that took little. */
uint64_t mst_own_cpu_ns(const struct mst_summary *s)
{
    uint64_t servers = mst_servers_cpu_ns(s), programs = 0;
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].owner == MST_PROC_SERVER && s->programs[i].cpu_ns != MST_UNKNOWN)
            programs += s->programs[i].cpu_ns;
    return mst_known(s->tool_cpu_ns) +
           (programs > servers ? programs : servers);
}

uint64_t mst_cpu_worked_ns(const struct mst_summary *s)
{
    uint64_t worked_milli = mst_subtract_saturated(s->machine_busy_milli,
                                                   mst_known(s->machine_stolen_milli));

    return (uint64_t)((unsigned __int128)s->duration_ns * s->cpus * worked_milli / 1000);
}

uint64_t mst_cpu_of_others_milli(const struct mst_summary *s)
{
    uint64_t worked, own = mst_own_cpu_ns(s);

    if (s->program_count == 0 || s->cpus == MST_UNKNOWN)
        return 0;
    worked = mst_cpu_worked_ns(s);
    return worked > own ? mst_milli(worked - own, worked) : 0;
}

bool mst_cpu_is_ours(const struct mst_summary *s)
{
    return mst_cpu_of_others_milli(s) <= 500;
}

/* A program of an older archive is another's where it took more than all of the run's own. */
const struct mst_summary_program *mst_program_of_others(const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->program_count; i++) {
        const struct mst_summary_program *program = &s->programs[i];

        if (program->cpu_ns == MST_UNKNOWN)
            continue;
        if (program->owner == MST_PROC_OTHER || program->owner == MST_PROC_UNSEEN ||
            (program->owner == MST_PROC_OWNER_COUNT && program->cpu_ns > mst_own_cpu_ns(s)))
            return program;
    }
    return NULL;
}

struct mst_disk_use mst_disk_use_of(const struct mst_summary *s)
{
    struct mst_disk_use use = { 0 };
    bool is_known = true;
    size_t i;

    for (i = 0; i < s->program_count; i++) {
        const struct mst_summary_program *program = &s->programs[i];
        uint64_t bytes = mst_known(program->disk_bytes);

        if (program->owner != MST_PROC_OTHER) {
            use.own_bytes += bytes;
            is_known &= program->owner == MST_PROC_UNSEEN || program->disk_bytes != MST_UNKNOWN;
        } else if (bytes > 0) {
            use.others_bytes += bytes;
            if (use.other == NULL || bytes > use.other->disk_bytes)
                use.other = program;
        }
    }
    use.of_others = is_known && use.others_bytes > use.own_bytes;
    return use;
}

bool mst_waits_are_too_short(const struct mst_summary_server *server)
{
    return mst_summary_is_short(server) &&
           phase_milli(server, MST_PHASE_QUEUE) >= MST_WAIT_SHARE_MILLI;
}

bool mst_load_was_hurt(const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].killed > 0 || s->servers[i].errors_5xx > 0)
            return true;
    return s->outcome == MST_OUTCOME_FAILED;
}

/* Whether an earlier server of the run is in the same group: its numbers are these. */
static bool is_told_already(const struct mst_summary *s, size_t which)
{
    size_t i;

    for (i = 0; i < which; i++)
        if (s->servers[i].cgroup != NULL && strcmp(s->servers[i].cgroup,
                                                   s->servers[which].cgroup) == 0)
            return true;
    return false;
}

struct mst_memory_shortage mst_find_memory_shortage(const struct mst_summary *s,
                                                    const struct mst_summary_server *server)
{
    struct mst_memory_shortage found = { false, false, s->oom_kills, s->memory_stall_ns };
    const struct mst_summary_server *other;
    size_t i;

    if (server->cgroup == NULL || server->oom_kills == MST_UNKNOWN)
        return found;
    found = (struct mst_memory_shortage){ true, true, 0, server->memory_stall_ns };
    for (i = 0; i < s->server_count; i++) {
        other = &s->servers[i];
        if (other->cgroup == NULL || is_told_already(s, i))
            continue;
        if (other->oom_kills != MST_UNKNOWN)
            found.kills += other->oom_kills;
        if (other->memory_stall_ns != MST_UNKNOWN &&
            (found.stall_ns == MST_UNKNOWN || other->memory_stall_ns > found.stall_ns))
            found.stall_ns = other->memory_stall_ns;
    }
    if (found.stall_ns == MST_UNKNOWN) {
        found.stall_of_groups = false;
        found.stall_ns = s->memory_stall_ns;
    }
    return found;
}

const struct mst_summary_server *mst_throttled_server(const struct mst_summary *s)
{
    const struct mst_summary_server *most = NULL, *server;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        server = &s->servers[i];
        if (server->throttled_ns != MST_UNKNOWN &&
            server->throttled_ns / MST_THROTTLED_MILLI >= s->duration_ns / 1000 &&
            (most == NULL || server->throttled_ns > most->throttled_ns))
            most = server;
    }
    return most;
}

/* The kernel adds up the times of all CPUs. They can have been held up at once, ... */
uint64_t mst_throttled_at_least(const struct mst_summary *s,
                                const struct mst_summary_server *throttled)
{
    return s->cpus != MST_UNKNOWN && s->cpus > 0 ? throttled->throttled_ns / s->cpus : 0;
}

/* ... or one after the other. */
uint64_t mst_throttled_at_most(const struct mst_summary *s,
                               const struct mst_summary_server *throttled)
{
    return throttled->throttled_ns < s->duration_ns ? throttled->throttled_ns : s->duration_ns;
}

bool mst_is_throttled_for_sure(const struct mst_summary *s,
                               const struct mst_summary_server *throttled)
{
    return mst_throttled_at_least(s, throttled) / MST_THROTTLED_MILLI >= s->duration_ns / 1000;
}

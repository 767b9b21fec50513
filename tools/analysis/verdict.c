/* verdict.c - the verdict's rules: what ran out, or that it cannot be told.
 *
 * From the most certain rule to the least; the first that holds decides.
 */
#include "analysis/steps.h"

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"
#include "analysis/verdict_text.h"

/* Why nothing can be said about this run. NULL: something can. */
static const char *obstacle(const struct mst_summary *s, const struct mst_summary_server *server)
{
    static const char *const incomplete[MST_OUTCOME_COUNT] = {
        [MST_OUTCOME_UNFINISHED] = "the recording did not come to its end",
        [MST_OUTCOME_COMPLETE] = "the run was interrupted",
        [MST_OUTCOME_FAILED] = "the load tool failed",
        [MST_OUTCOME_TIMEOUT] = "the load tool did not end in time",
        [MST_OUTCOME_INTERRUPTED] = "the run was interrupted",
    };

    if (!s->complete || s->outcome == MST_OUTCOME_UNFINISHED)
        return incomplete[s->outcome];
    if (server == NULL || server->requests == 0)
        return "no request of the load was recorded";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < MST_VERDICT_RUN_MIN_NS ||
        server->samples < MST_SAMPLES_MIN)
        return "the run was too short";
    if (server->restarts != 0)
        return "the server was started anew during the run";
    if ((server->workers_limit == MST_UNKNOWN && !mst_summary_is_php(server)) ||
        server->max_busy == MST_UNKNOWN || server->mean_busy_milli == MST_UNKNOWN)
        return "how busy the workers were is not known";
    return NULL;
}

/* Memory ran out on the server's machine. Tested before what obstacle() found, because it can be
 * why the load failed. */
static bool memory_ran_out(struct mst_summary *s, const struct mst_summary_server *server)
{
    struct mst_memory_shortage found;

    if (server == NULL || !server->local || s->duration_ns == MST_UNKNOWN)
        return false;
    found = mst_find_memory_shortage(s, server);
    if (found.kills != MST_UNKNOWN && found.kills > 0 && mst_load_was_hurt(s))
        mst_say_killed(s, server, &found);
    else if (found.stall_ns != MST_UNKNOWN && s->duration_ns >= MST_VERDICT_RUN_MIN_NS &&
             found.stall_ns / MST_STALL_MILLI >= s->duration_ns / 1000)
        mst_say_memory_short(s, &found);
    else
        return false;
    return true;
}

static void judge(struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_server *php = mst_summary_behind(s);
    bool waited = mst_waited_for_workers(server);
    bool php_waited = php != NULL && mst_waited_for_php(server);
    bool cpu_bound = s->machine_busy_milli != MST_UNKNOWN &&
                     s->machine_busy_milli >= MST_CPU_FULL_MILLI;
    const struct mst_summary_server *throttled = mst_throttled_server(s);

    if (s->checks[MST_CHECK_GENERATOR].ok == MST_ANSWER_NO)
        mst_say_generator(s);
    else if (php_waited && mst_summary_all_busy(php))
        mst_say_php_workers(s, server, php, cpu_bound);
    else if (mst_starved_by_keepalive(server))
        mst_say_keepalive(s, server);
    else if (waited && mst_summary_all_busy(server))
        mst_say_workers(s, server, cpu_bound);
    else if (s->checks[MST_CHECK_ACCEPT_QUEUE].ok == MST_ANSWER_NO)
        mst_say_accept_queue(s);
    else if (throttled != NULL &&
             mst_throttled_at_least(s, throttled) / MST_THROTTLED_MILLI >= s->duration_ns / 1000)
        mst_say_throttled(s, throttled);
    else if (cpu_bound)
        mst_say_cpu(s, server);
    else if (php_waited)
        mst_say_php_below_limit(s, server, php);
    else if (waited)
        mst_say_waited_below_limit(s, server);
    else if (mst_waits_are_too_short(server))
        mst_say_short_waits(s, server);
    else if (throttled != NULL)
        mst_say_perhaps_throttled(s, throttled);
    else if (s->machine_busy_milli == MST_UNKNOWN)
        mst_say_cannot_tell(s, "the workers did not run out, and how busy the CPUs were is not "
                               "known");
    else if (mst_clients_are_slow(server))
        mst_say_slow_clients(s, server);
    else
        mst_say_nothing_ran_out(s, server);
}

void mst_summary_judge(struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    const char *why = obstacle(s, server);

    if (memory_ran_out(s, server))
        return;
    if (why != NULL)
        mst_say_cannot_tell(s, why);
    else
        judge(s, server);
}

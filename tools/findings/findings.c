/* findings.c - makes a run's findings, puts them in order, and makes the verdict: findings.h. */
#include "findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/array.h"
#include "findings/advice.h"
#include "findings/chains.h"
#include "findings/fleet.h"
#include "findings/needs.h"
#include "findings/rules.h"
#include "findings/sentences.h"
#include "findings/when.h"

/* ---- when nothing can be said -------------------------------------------------------------- */

/* Why what was recorded is not evidence of what ran out. NULL: it can be. */
static const char *find_obstacle(const struct mst_inquiry *q, enum mst_code *code)
{
    const struct mst_summary *s = q->s;

    *code = MST_CODE_CANNOT_TELL;
    if (s->outcome == MST_OUTCOME_UNFINISHED)
        return "the recording did not come to its end";
    if (q->b.front == NULL || q->b.front->requests == 0)
        return s->command_line == NULL ? "no request came while this was recorded" :
               "no request of the load was recorded (does its URL lead to this server, and is "
               "MPMStat on there? Requests for the status page do not count)";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < MST_VERDICT_RUN_MIN_NS) {
        *code = MST_CODE_TOO_SHORT;
        return "the run was too short";
    }
    return NULL;
}

/* The same of what was recorded of one server. */
static const char *find_obstacle_of(const struct mst_summary_server *server, enum mst_code *code)
{
    *code = MST_CODE_CANNOT_TELL;
    /* Few samples can all miss a peak. Where one saw all workers busy there is nothing to miss: the
     * status page itself waits for a worker then, and so it is asked seldom. */
    if (server->samples < MST_SAMPLES_MIN && !mst_summary_all_busy(server)) {
        *code = MST_CODE_TOO_SHORT;
        return "the run has fewer than five samples of the server (a longer run has more, and one "
               "that reads the board's file, not a URL)";
    }
    if (server->restarts != 0)
        return "the server was started anew during the run, so what its workers did in between is "
               "not known";
    if ((server->workers_limit == MST_UNKNOWN && !mst_summary_is_php(server)) ||
        server->max_busy == MST_UNKNOWN || server->mean_busy_milli == MST_UNKNOWN)
        return "how busy the workers were is not known";
    return NULL;
}

/* ---- order and verdict --------------------------------------------------------------------- */

static int by_weight(const void *left, const void *right)
{
    const struct mst_finding *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (int)a->code - (int)b->code;
}

/* That the load was cut short says nothing of the servers. */
static uint64_t heaviest_of_servers(const struct mst_summary *s)
{
    uint64_t most = 0;
    size_t i;

    for (i = 0; i < s->finding_count; i++)
        if (s->findings[i].code != MST_CODE_LOAD_CUT_SHORT && s->findings[i].weight > most)
            most = s->findings[i].weight;
    return most;
}

static void add_text(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s", more);
}

/* " So PHP's workers ran out, and 3 requests got no answer." of what follows from a headline and is
 * none itself. */
static void add_consequences(char text[MST_HEADLINE_MAX], const struct mst_summary *s,
                             const struct mst_finding *root)
{
    char said[2 * MST_CONSEQUENCE_MAX] = "", one[MST_CONSEQUENCE_MAX];
    size_t i;

    for (i = s->headline_count; i < s->finding_count; i++) {
        if (!s->findings[i].caused_by.known || mst_finding_root(s, &s->findings[i]) != root)
            continue;
        mst_say_consequence(one, &s->findings[i]);
        if (one[0] == '\0')
            continue;
        add_text(said, sizeof said, said[0] == '\0' ? " So " : ", and ");
        add_text(said, sizeof said, one);
    }
    if (said[0] != '\0') {
        add_text(text, MST_HEADLINE_MAX, said);
        add_text(text, MST_HEADLINE_MAX, ".");
    }
}

/* Makes the verdict of the first finding, and of the second where it explains a headline's share,
 * too: it can be the cause of what failed. */
static void judge(struct mst_summary *s)
{
    size_t i;

    s->headline_count = s->finding_count > 1 && s->findings[1].weight >= MST_HEADLINE_MILLI ? 2 :
                        s->finding_count > 0;
    s->verdict[0] = '\0';
    for (i = 0; i < s->headline_count; i++) {
        bool is_cause = i > 0 && mst_finding_root(s, &s->findings[0]) == &s->findings[i];

        snprintf(s->headlines[i], sizeof s->headlines[i], "%s%s", is_cause ? "The cause: " : "",
                 s->findings[i].text);
        add_consequences(s->headlines[i], s, &s->findings[i]);
        add_text(s->verdict, sizeof s->verdict, i > 0 ? " " : "");
        add_text(s->verdict, sizeof s->verdict, s->headlines[i]);
    }
}

/* The finding that the CPUs were full. find_nothing() puts it into the verdict, although it is not
 * known whom they delayed: "nothing ran out" would be wrong. NULL: the CPUs were not full. */
static struct mst_finding *full_cpus(struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->finding_count && mst_cpu_is_full(s); i++)
        if (s->findings[i].code == MST_CODE_CPU_NEIGHBOUR || s->findings[i].code == MST_CODE_CPU)
            return &s->findings[i];
    return NULL;
}

/* Makes a verdict where no finding explains enough for one. The other findings stay behind it. */
static void find_nothing(struct mst_inquiry *q)
{
    struct mst_finding *f = full_cpus(q->s);

    if (f != NULL) {
        f->weight = MST_HEADLINE_MILLI;
        return;
    }
    if (q->b.front->local && q->s->machine_busy_milli == MST_UNKNOWN) {
        f = mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL, 0);
        mst_say_obstacle(f, q->s, "the workers did not run out, and how busy the CPUs were is not "
                         "known");
    } else {
        f = mst_found(q, MST_CODE_NOTHING, MST_CERTAIN, 0);
        mst_say_nothing(f, &q->b);
    }
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_HEADLINE_MILLI;
}

/* By the requests of one server, the budget's front. */
static void find_of_server(struct mst_inquiry *q)
{
    size_t first = q->s->finding_count;
    enum mst_code code;
    const char *obstacle;

    obstacle = find_obstacle_of(q->b.front, &code);
    q->obstacle = q->b.fleet ? NULL : obstacle;
    if (obstacle != NULL) {
        mst_find_needs(q);
        mst_say_obstacle(mst_found(q, code, MST_CANNOT_TELL, 0), q->s, obstacle);
        return;
    }
    mst_find_waits(q);
    mst_find_needs(q);   /* what they wait for can be what bounds them */
    mst_find_workers(q);
    mst_find_h2_workers(q);
    mst_find_holders(q);
    mst_find_tail(q);
    mst_find_cold_start(q);
    mst_find_predictions(q);
    mst_chain_slowness(q);
    mst_find_settings(q, first);
    mst_find_stall(q);
    mst_find_when(q);
}

static void find_failures(struct mst_inquiry *q)
{
    mst_find_failures(q);
    mst_find_down(q);
}

static void find_all(struct mst_inquiry *q)
{
    enum mst_code code;
    const char *obstacle;
    bool front_tells;
    size_t first;

    mst_find_client_failures(q);
    if (q->b.front != NULL)
        mst_for_each_front(q, MST_FLEET_REQUESTS, find_failures);
    mst_find_memory(q);
    q->obstacle = obstacle = find_obstacle(q, &code);
    if (obstacle != NULL) {
        mst_say_obstacle(mst_found(q, code, MST_CANNOT_TELL, 0), q->s, obstacle);
        if (q->b.front != NULL)
            mst_for_each_front(q, MST_FLEET_TIME, mst_find_needs);
        mst_chain_failures(q);
        return;
    }
    front_tells = find_obstacle_of(q->b.front, &code) == NULL;
    if (front_tells) {
        mst_find_generator(q);
        first = q->s->finding_count;
        mst_find_accept_queue(q);
        mst_find_cpu(q);
        mst_find_exhausted(q);
        mst_find_settings(q, first);
    }
    mst_for_each_front(q, MST_FLEET_TIME, find_of_server);
    if (front_tells)
        mst_find_beyond(q);
    if (front_tells || q->b.fleet)
        mst_find_odd(q);
    mst_chain_failures(q);
    mst_fleet_causes_first(q->s);
    if (front_tells && heaviest_of_servers(q->s) < MST_HEADLINE_MILLI)
        find_nothing(q);
}

static void conclude(struct mst_summary *s)
{
    mst_chain_order(s);
    qsort(s->findings, s->finding_count, sizeof *s->findings, by_weight);
    judge(s);
}

bool mst_findings_add(struct mst_summary *s, const struct mst_finding *f)
{
    struct mst_finding *added = mst_append(&s->findings, &s->finding_count, sizeof *added);

    if (added == NULL)
        return false;
    *added = *f;
    conclude(s);
    return true;
}

enum depth { CAUSES, PREDICTIONS, SIZING };

static int make(struct mst_summary *s, struct mst_archive *a, enum depth depth,
                char error[MST_ERROR_MAX])
{
    struct mst_inquiry q = {
        .s = s, .db = mst_archive_db(a), .b = mst_budget_make(s), .predicts = depth > CAUSES,
    };

    find_all(&q);
    mst_needs_add_up(&q);
    if (!q.failed)
        conclude(s);
    if (!q.failed && depth == SIZING)
        mst_find_sizing(&q);
    mst_foresight_end(&q);
    mst_code_bills_free(&q.code);
    return q.failed ? mst_archive_unreadable(a, error) : 0;
}

int mst_findings_make(struct mst_summary *s, struct mst_archive *a, char error[MST_ERROR_MAX])
{
    return make(s, a, PREDICTIONS, error);
}

int mst_findings_causes(struct mst_summary *s, struct mst_archive *a, char error[MST_ERROR_MAX])
{
    return make(s, a, CAUSES, error);
}

int mst_findings_summary(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                         char error[MST_ERROR_MAX])
{
    return mst_summary_make(s, a, run_id, error) != 0 ? -1 : mst_findings_make(s, a, error);
}

int mst_findings_sizing(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                        char error[MST_ERROR_MAX])
{
    return mst_summary_make(s, a, run_id, error) != 0 ? -1 : make(s, a, SIZING, error);
}

/* explain.c - why servers are as they are: see explain.h. */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "console/diag.h"
#include "explain/steps.h"
#include "findings/findings.h"
#include "findings/say.h"

#define LAST_MAX_S (7.0 * 86400)   /* no journal reaches back further */

bool mst_explain_last_parse(const char *text, uint64_t *last_ns)
{
    static const struct { const char *unit; double seconds; } units[] = {
        { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 },
    };
    char *unit;
    double number = strtod(text, &unit);
    size_t i;

    for (i = 0; i < sizeof units / sizeof *units && unit != text; i++)
        if (strcmp(unit, units[i].unit) == 0 && number * units[i].seconds >= 1 &&
            number * units[i].seconds <= LAST_MAX_S) {
            *last_ns = (uint64_t)(number * units[i].seconds * 1e9);
            return true;
        }
    return false;
}

/* Without a request of the window there is no evidence for the rules, whose sentences are of a
 * load. */
static bool find_nothing(struct mst_explanation *e)
{
    struct mst_finding f = {
        .code = MST_CODE_CANNOT_TELL, .certainty = MST_CANNOT_TELL, .share_milli = MST_UNKNOWN,
        .requests = MST_UNKNOWN, .weight = MST_WEIGHT_FIRST,
    };

    MST_TEXT(&f, "No request has ended in this time, and no server is stuck: there is nothing to "
             "explain.");
    MST_ACTION(&f, "Name a longer time (--last), or ask while there is a load.");
    return mst_findings_add(&e->summary, &f);
}

/* In which states the workers were is not in the journals: the samples that were made of them have
 * only whether they were busy, and what idle connections are taken to have held. */
static void forget_states(struct mst_summary *s)
{
    uint64_t kept_milli;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        kept_milli = s->servers[i].mean_state_milli[MST_STATE_KEEPALIVE];
        memset(s->servers[i].mean_state_milli, 0xff, sizeof s->servers[i].mean_state_milli);
        s->servers[i].mean_state_milli[MST_STATE_KEEPALIVE] = kept_milli;
    }
}

/* That these workers were at idle connections is concluded from what they were not at. */
static void doubt_keepalive(struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->finding_count; i++) {
        if (s->findings[i].code != MST_CODE_KEEPALIVE)
            continue;
        s->findings[i].certainty = MST_LIKELY;
        MST_MORE(&s->findings[i], " This is concluded: these workers were busy, and "
                 "had no request.");
    }
}

static bool has_requests(const struct mst_explanation *e)
{
    size_t i;

    for (i = 0; i < e->summary.server_count; i++)
        if (e->summary.servers[i].requests > 0)
            return true;
    return false;
}

static bool has_headline(const struct mst_explanation *e)
{
    return e->summary.finding_count > 0 && e->summary.findings[0].weight >= MST_HEADLINE_MILLI;
}

/* False: out of memory. */
static bool find_stuck(struct mst_explanation *e)
{
    struct mst_present **all = mst_explain_present(e);
    bool has_memory = all != NULL;

    if (has_memory)
        e->stuck_count = mst_present_held(all, e->server_count, e->stuck, MST_EXPLAIN_STUCK);
    if (e->stuck_count > 0 && !e->stuck[0].is_stuck)
        e->stuck_count = 0;   /* long requests, which stuck.c judges by the past */
    free(all);
    return has_memory;
}

static void look_at_machine(struct mst_explanation *e)
{
    size_t i;

    for (i = 0; i < e->server_count && !e->knows_pressure; i++)
        e->knows_pressure = mst_source_local(e->servers[i].source) &&
                            mst_machine_cpu_pressure(e->cpu_pressure_milli);
}

int mst_explain(struct mst_explanation *e, const struct mst_target_names *targets,
                uint64_t last_ns)
{
    char error[MST_ERROR_MAX];
    int status;

    *e = (struct mst_explanation){ .last_ns = last_ns };
    status = mst_explain_look(e, targets);
    if (status != MST_EXIT_OK)
        return status;
    look_at_machine(e);
    if (!find_stuck(e))
        return mst_failed(MST_EXIT_OUTPUT, "out of memory");
    status = mst_explain_past(e);
    if (status != MST_EXIT_OK)
        return status;
    if (mst_summary_make(&e->summary, e->archive, e->run_id, error) != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    mst_explain_note_cpu(e);
    mst_explain_note_files(e);
    forget_states(&e->summary);
    if (has_requests(e) && mst_findings_make(&e->summary, e->archive, error) != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    doubt_keepalive(&e->summary);
    if (!mst_explain_now(e) || (!has_requests(e) && !has_headline(e) && !find_nothing(e)))
        return mst_failed(MST_EXIT_OUTPUT, "out of memory");
    return MST_EXIT_OK;
}

int mst_explain_requests(struct mst_explanation *e, const struct mst_target_names *targets,
                         uint64_t last_ns)
{
    char error[MST_ERROR_MAX];
    int status;

    *e = (struct mst_explanation){ .last_ns = last_ns };
    status = mst_explain_look(e, targets);
    if (status == MST_EXIT_OK)
        status = mst_explain_past(e);
    if (status == MST_EXIT_OK && mst_summary_make(&e->summary, e->archive, e->run_id, error) != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    return status;
}

const char *mst_explanation_sentence(const struct mst_explanation *e)
{
    return e->summary.finding_count > 0 ? e->summary.findings[0].text : "";
}

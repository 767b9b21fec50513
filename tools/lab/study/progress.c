/* progress.c - what a study that runs tells a person: see lab.h. */
#include "lab/study/lab.h"

#include <stdio.h>

#include "archive/query.h"
#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"

#define SHOWN_NS (MST_NS_PER_S / 2)     /* between two drawings of the progress */

uint64_t mst_lab_expected_ns(const struct mst_step *step)
{
    return step->of->runs->about_ns + step->of->runs->warmup_ns / 4;
}

/* What the steps that are left will take, as those before took against what was expected. */
uint64_t mst_lab_left_ns(const struct mst_lab *lab)
{
    uint64_t left = 0, now = mst_now_ns(), gone;
    size_t i;

    for (i = 0; i < lab->schedule.step_count; i++)
        if (!lab->finished[i])
            left += mst_lab_expected_ns(&lab->schedule.steps[i]);
    if (lab->expected_ns > 0)
        left = (uint64_t)((double)left * (double)lab->taken_ns / (double)lab->expected_ns);
    gone = lab->running != NULL ? now - lab->step_began_ns : 0;
    return left > gone ? left - gone : 0;
}

void mst_lab_show_progress(void *context)
{
    struct mst_lab *lab = context;
    uint64_t now = mst_now_ns();
    char line[400];

    if (lab->running == NULL || now - lab->shown_ns < SHOWN_NS)
        return;
    lab->shown_ns = now;
    snprintf(line, sizeof line, "step %u of %zu: %.200s, %s; %s left", lab->running->ordinal,
             lab->schedule.step_count, lab->step_name,
             mst_format_duration(now - lab->step_began_ns).text,
             mst_format_duration(mst_lab_left_ns(lab)).text);
    mst_status_line(line);
}

/* "98.2 requests/s, mean 1.02 s", of the run. */
static void put_result(char *text, size_t size, struct mst_lab *lab, int64_t run_id)
{
    struct mst_query q = mst_query_ask(mst_archive_db(lab->archive),
        "SELECT requests_per_1000s, mean_ns, failed, non_2xx FROM client_results "
        "WHERE run_id = :id", run_id);
    uint64_t failed;

    text[0] = '\0';
    if (mst_query_next(&q)) {
        failed = mst_row_number(&q, "failed");
        snprintf(text, size, "%s requests/s, mean %s%s%s",
                 mst_format_milli(mst_row_number(&q, "requests_per_1000s")).text,
                 mst_format_time(mst_row_number(&q, "mean_ns")).text,
                 failed != 0 && failed != MST_UNKNOWN ? ", failed " : "",
                 failed != 0 && failed != MST_UNKNOWN ? mst_format_count(failed).text : "");
    }
    mst_query_done(&q);
}

/* A line a step, above the one that is redrawn. */
void mst_lab_say_done(struct mst_lab *lab, const struct mst_step *step,
                     const struct mst_step_result *result)
{
    char came[160];

    put_result(came, sizeof came, lab, result->run_id);
    mst_progress_enable(true);
    mst_progress("%u/%zu %s: %s", step->ordinal, lab->schedule.step_count, lab->step_name, came);
    mst_progress_enable(false);
}

void mst_lab_say_failed(const struct mst_lab *lab, const struct mst_step *step,
                       const struct mst_step_result *result)
{
    mst_error("%u/%zu %s failed: %s", step->ordinal, lab->schedule.step_count, lab->step_name,
              result->failure);
}

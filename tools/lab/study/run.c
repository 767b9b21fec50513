/* run.c - mpmstat lab run: step after step, to the reports. See run.h. */
#include "lab/study/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"
#include "console/format.h"
#include "exec/supervise.h"
#include "lab/study/lab.h"
#include "lab/study/repetition.h"

#define OPEN_FILES 20000u     /* for the warm-up, the servers and load tools */

/* ---- the steps ------------------------------------------------------------------- */

static int store_end(struct mst_lab *lab, const struct mst_step *step,
                     enum mst_step_outcome outcome, const struct mst_step_result *result)
{
    const bool again = outcome == MST_STEP_INTERRUPTED;
    const struct mst_archive_step_end end = {
        .state = mst_step_state_after(outcome), .failure = result->failure,
        .run_id = result->run_id > 0 && !again ? (uint64_t)result->run_id : MST_UNKNOWN,
        .page_bytes = result->page_bytes, .warmup_ns = result->warmup_ns,
        .ended_ns = again ? MST_UNKNOWN : mst_realtime_ns(), .load = again ? NULL : result->load,
    };

    if (mst_archive_end_step(lab->archive, lab->study_id, step->ordinal, &end) != 0)
        return mst_lab_archive_failed(lab);
    lab->finished[step->ordinal - 1] = !again;
    return again ? MST_EXIT_INTERRUPTED : MST_EXIT_OK;
}

static int end_step(struct mst_lab *lab, const struct mst_step *step,
                    enum mst_step_outcome outcome, const struct mst_step_result *result)
{
    switch (outcome) {
    case MST_STEP_DONE:
        lab->done++;
        lab->taken_ns += mst_now_ns() - lab->step_began_ns;
        lab->expected_ns += mst_lab_expected_ns(step);
        mst_lab_say_done(lab, step, result);
        break;
    case MST_STEP_FAILED:
        lab->failed++;
        mst_lab_say_failed(lab, step, result);
        break;
    case MST_STEP_SKIPPED:
        lab->skipped++;
        break;
    case MST_STEP_INTERRUPTED:
        break;
    case MST_STEP_NO_ARCHIVE:
        return MST_EXIT_OUTPUT;
    }
    return store_end(lab, step, outcome, result);
}

static int skip_step(struct mst_lab *lab, const struct mst_step *step, const char *why)
{
    const struct mst_step_result result = { .failure = (char *)why, .page_bytes = MST_UNKNOWN,
                                            .warmup_ns = MST_UNKNOWN };

    return end_step(lab, step, MST_STEP_SKIPPED, &result);
}

static int run_step(struct mst_lab *lab, const struct mst_step *step)
{
    const bool time_is_up = mst_now_ns() - lab->began_ns >= lab->limit_ns;
    const char *why = mst_repetition_why_skipped(step, time_is_up);
    struct mst_step_result result;
    enum mst_step_outcome outcome;
    apr_pool_t *pool;
    int status;

    if (why != NULL)
        return skip_step(lab, step, why);
    lab->running = step;
    lab->step_began_ns = mst_now_ns();
    lab->shown_ns = 0;
    if (mst_archive_begin_step(lab->archive, lab->study_id, step->ordinal,
                               mst_realtime_ns()) != 0)
        return mst_lab_archive_failed(lab);
    pool = mst_pool_new(lab->pool);
    lab->step_name = mst_planned_name(pool, step->of, step->of->runs->workloads[1] != NULL);
    mst_lab_show_progress(lab);
    outcome = mst_step_run(pool, &lab->stage, step, &result);
    status = end_step(lab, step, outcome, &result);
    lab->running = NULL;
    apr_pool_destroy(pool);
    return status;
}

static int run_steps(struct mst_lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    int status = MST_EXIT_OK;
    char error[MST_ERROR_MAX];
    size_t i;

    for (i = 0; i < s->step_count && status == MST_EXIT_OK; i++) {
        if (lab->stop.raised)
            status = MST_EXIT_INTERRUPTED;
        else if (!lab->finished[i])
            status = run_step(lab, &s->steps[i]);
    }
    mst_status_line(NULL);
    if (mst_stage_clear(&lab->stage, error) != 0)
        mst_warn("%s", error);
    return status;
}

/* ---- the end --------------------------------------------------------------------- */

static int say_end(struct mst_lab *lab, int status)
{
    if (status == MST_EXIT_INTERRUPTED) {
        if (mst_archive_interrupt_study(lab->archive, lab->study_id) != 0)
            return mst_lab_archive_failed(lab);
        mst_error("interrupted: everything is stopped. Go on with: mpmstat lab run --resume %s",
                  lab->directory);
        return status;
    }
    if (mst_archive_end_study(lab->archive, lab->study_id, mst_realtime_ns()) != 0)
        return mst_lab_archive_failed(lab);
    status = mst_lab_write_reports(lab);
    printf("%s: %zu steps done", lab->study.title, lab->done);
    if (lab->failed > 0)
        printf(", %zu failed", lab->failed);
    if (lab->skipped > 0)
        printf(", %zu left out", lab->skipped);
    printf(" in %s\n", mst_format_duration(mst_now_ns() - lab->began_ns).text);
    if (status == MST_EXIT_OK)
        printf("%s/report.html\n", lab->directory);
    return status != MST_EXIT_OK ? status
                                 : lab->failed + lab->skipped > 0 ? MST_EXIT_BAD : MST_EXIT_OK;
}

static int run_study(struct mst_lab *lab)
{
    int status;

    lab->stage = (struct mst_stage){
        .pool = lab->pool, .archive = lab->archive, .directory = lab->directory,
        .verbose = lab->options->verbose, .stop = &lab->stop.raised,
        .tick = mst_lab_show_progress, .context = lab,
    };
    lab->began_ns = mst_now_ns();
    mst_raise_open_files(OPEN_FILES);
    mst_progress_enable(true);
    mst_progress("%s (%s): %zu steps, about %s, %s at most; into %s", lab->study.title,
                 mst_study_size_names[lab->study.size],
                 lab->schedule.step_count - lab->done - lab->failed - lab->skipped,
                 mst_format_duration(mst_lab_left_ns(lab)).text,
                 mst_format_duration(lab->limit_ns).text, lab->directory);
    mst_progress_enable(false);
    status = run_steps(lab);
    return status == MST_EXIT_OK || status == MST_EXIT_INTERRUPTED ? say_end(lab, status)
                                                                   : status;
}

/* ---- all of it ------------------------------------------------------------------- */

static int begin_study(struct mst_lab *lab)
{
    int status = mst_lab_read_study(lab);

    if (status == MST_EXIT_OK)
        status = mst_lab_plan(lab, mst_lab_choose_seed(lab->options), lab->options->only.items);
    if (status != MST_EXIT_OK || lab->options->dry_run)
        return status;
    status = mst_lab_check_needs(lab);
    if (status == MST_EXIT_OK)
        status = mst_lab_make_output(lab);
    return status == MST_EXIT_OK ? mst_lab_store_study(lab) : status;
}

static void close_lab(struct mst_lab *lab, int *status)
{
    char error[MST_ERROR_MAX];

    if (mst_archive_close(lab->archive, error) != 0 && *status != MST_EXIT_OUTPUT) {
        mst_error("%s", error);
        *status = MST_EXIT_OUTPUT;
    }
    if (lab->lock >= 0)
        close(lab->lock);
}

static int run_lab(apr_pool_t *pool, const struct mst_lab_options *o)
{
    struct mst_lab lab = { .pool = pool, .options = o, .lock = -1 };
    int status;

    mst_stop_begin(&lab.stop);
    status = o->resume != NULL ? mst_lab_resume(&lab) : begin_study(&lab);
    if (status == MST_EXIT_OK && o->resume != NULL)
        status = mst_lab_check_needs(&lab);
    if (status == MST_EXIT_OK)
        status = o->dry_run ? mst_lab_dry_run(&lab) : run_study(&lab);
    close_lab(&lab, &status);
    mst_stop_end(&lab.stop);
    return status;
}

int mst_lab_run(int argc, char **argv)
{
    struct mst_lab_options o = { .size = MST_STUDY_QUICK };
    apr_pool_t *pool = mst_pool_new(NULL);
    int status = mst_lab_read_options(pool, &o, argc, argv);

    if (status == MST_EXIT_OK && o.help)
        fputs(mst_lab_run_help, stdout);
    else if (status == MST_EXIT_OK)
        status = run_lab(pool, &o);
    apr_pool_destroy(pool);
    return status;
}

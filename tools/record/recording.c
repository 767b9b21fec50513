/* recording.c - one run, from opening the servers to closing the archive: see recording.h. */
#include "record/recording_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "console/diag.h"

static int prepare_command(struct mst_recording *r)
{
    const struct mst_recording_options *o = r->options;
    char error[MST_ERROR_MAX];

    if (o->command == NULL)
        return MST_EXIT_OK;
    if (!mst_spawn_finds(o->command[0])) {
        const char *package = mst_loadtool_for(o->command[0])->package;

        if (strchr(o->command[0], ' ') != NULL)
            return mst_failed(MST_EXIT_BAD, "cannot run \"%s\": the quotes make one word of the "
                              "whole command, and no program has that name. Quote only the URL: "
                              "mpmstat record -- %s",
                              o->command[0], o->command[0]);
        if (strstr(o->command[0], "://") != NULL)
            return mst_failed(MST_EXIT_BAD, "expected a command, found the URL %s: begin with a "
                              "load tool, for example ab -n 1000 -c 10 %s", o->command[0],
                              o->command[0]);
        return mst_failed(MST_EXIT_BAD, "cannot run %s: there is no such command%s%s%s",
                          o->command[0], package != NULL ? " (Debian: apt-get install " :
                          ". Is it spelt right, and in PATH?", package != NULL ? package : "",
                          package != NULL ? ")" : "");
    }
    r->load.environment = o->environment;
    if (mst_load_prepare(&r->load, o->command, o->add_flags, error) != 0)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    if (r->load.plan.added != NULL)
        mst_progress("adding %s to %s, for %s (--no-flags prevents this)", r->load.plan.added,
                     mst_load_name(&r->load), r->load.plan.added_for);
    if (r->load.tool == &mst_loadtool_generic)
        mst_progress("%s is not a load tool that mpmstat can read (those are: %s): recording the "
                     "server's side only", mst_load_name(&r->load), mst_loadtool_names());
    return MST_EXIT_OK;
}

/* For the next archive of a rotation. */
static int begin_again(struct mst_recording *r)
{
    int status = mst_recording_close_archive(r);

    mst_programs_free(&r->programs);
    r->end = (struct mst_archive_run_end){ 0 };
    r->hands_over = false;
    return status;
}

static int record_archive(struct mst_recording *r)
{
    int (*const steps[])(struct mst_recording *) = {
        mst_recording_open_archive, mst_recording_begin_samplers, mst_recording_start_load,
        mst_recording_follow_load, mst_recording_drain, mst_recording_finish,
    };
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < sizeof steps / sizeof *steps && status == MST_EXIT_OK; i++) {
        if (r->stop.count > 0 && r->started_ns == 0)
            return MST_EXIT_INTERRUPTED;
        status = steps[i](r);
    }
    return status;
}

static int run(struct mst_recording *r)
{
    int (*const steps[])(struct mst_recording *) = {
        mst_recording_open_targets, prepare_command, mst_recording_settle, record_archive,
    };
    int status = MST_EXIT_OK;
    size_t i;

    for (i = 0; i < sizeof steps / sizeof *steps && status == MST_EXIT_OK; i++) {
        if (r->stop.count > 0 && r->started_ns == 0)
            return MST_EXIT_INTERRUPTED;
        status = steps[i](r);
    }
    while (status == MST_EXIT_OK && r->hands_over) {
        status = begin_again(r);
        if (status == MST_EXIT_OK)
            status = record_archive(r);
    }
    if (status == MST_EXIT_OUTPUT && r->runner != NULL)
        mst_recording_end_load_unrecorded(r);
    /* A signal makes waiting for a server fail. */
    if (status != MST_EXIT_OK && r->stop.count > 0 && r->started_ns == 0)
        return MST_EXIT_INTERRUPTED;
    return status;
}

/* As mst_rotation_begin(). */
static int begin_rotation(struct mst_recording *r, char error[MST_ERROR_MAX])
{
    uint64_t id;

    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return mst_fail(error, "the kernel gives no random number: %s", strerror(errno));
    snprintf(r->recording, sizeof r->recording, "%016" PRIx64, id);
    return mst_rotation_begin(r->options->rotation, error);
}

int mst_record(const struct mst_recording_options *options, int64_t *run_id)
{
    struct mst_recording r = { .options = options };
    char error[MST_ERROR_MAX];
    int status, directory = -1;
    size_t i;

    mst_load_init(&r.load);
    mst_stop_begin(&r.stop);
    if (options->rotation != NULL)
        directory = begin_rotation(&r, error);
    if (options->rotation != NULL && directory < 0)
        status = mst_failed(MST_EXIT_OUTPUT, "%s", error);
    else
        status = run(&r);
    mst_thinning_end(&r.thinning);
    if (directory >= 0)
        close(directory);
    mst_runner_close(r.runner);
    for (i = 0; i < r.sampler_count; i++)
        mst_sampler_close(&r.samplers[i]);
    if (mst_archive_close(r.archive, error) != 0 && status != MST_EXIT_OUTPUT) {
        mst_error("%s", error);
        status = MST_EXIT_OUTPUT;
    }
    free(r.path);
    mst_recording_end_progress(&r);
    mst_programs_free(&r.programs);
    free(r.samplers);
    mst_all_processes_free(&r.processes);
    mst_targets_free(&r.targets);
    mst_targets_free(&r.behind);
    mst_load_close(&r.load);
    mst_stop_end(&r.stop);
    *run_id = r.run_id;
    return status;
}

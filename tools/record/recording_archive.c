/* recording_archive.c - what a recording puts into its archive besides its servers' samples: see
 * recording_steps.h. */
#include "record/recording_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "console/diag.h"
#include "record/environment.h"

int mst_recording_archive_failed(const struct mst_recording *r)
{
    const char *why = mst_archive_error(r->archive);

    if (r->runner != NULL && r->end.ended_ns == 0)
        mst_error("%s. %s goes on, but nothing more of it is recorded", why,
                  mst_load_name(&r->load));
    else
        mst_error("%s", why);
    return MST_EXIT_OUTPUT;
}

int mst_recording_note(struct mst_recording *r, const char *text)
{
    mst_warn("%s", text);
    return mst_archive_add_note(r->archive, r->run_id, mst_realtime_ns(), text);
}

/* The next archive of a rotation, when those that it takes the place of are removed. */
static char *next_path(const struct mst_recording *r, char error[MST_ERROR_MAX])
{
    const struct mst_rotation *rotation = r->options->rotation;
    char *path;

    if (rotation != NULL)
        return mst_rotation_remove_old(rotation, mst_realtime_ns(), error) != 0 ? NULL :
               mst_rotation_path(rotation, mst_realtime_ns(), error);
    path = strdup(r->options->archive);
    if (path == NULL)
        mst_fail(error, "out of memory for the name of the archive");
    return path;
}

int mst_recording_open_archive(struct mst_recording *r)
{
    const struct mst_archive_run run = {
        .name = r->options->name, .argv = r->load.plan.argv, .added = r->load.plan.added,
        .tool = r->load.tool != NULL ? r->load.tool->name : NULL, .started_ns = mst_realtime_ns(),
        .tool_threads = r->load.tool != NULL ? r->load.plan.threads : MST_UNKNOWN,
        .repetition = r->options->repetition,
        .recording = r->options->rotation != NULL ? r->recording : NULL, .part = ++r->part,
    };
    char error[MST_ERROR_MAX];

    r->path = next_path(r, error);
    if (r->path != NULL)
        r->archive = mst_archive_create(r->path, mst_tell, error);
    if (r->archive == NULL)
        return mst_failed(MST_EXIT_OUTPUT, "%s", error);
    if (mst_archive_begin_run(r->archive, &run, &r->run_id) != 0 ||
        mst_environment_record(r->archive, r->run_id) != 0 ||
        (r->options->until_decided &&
         mst_archive_add_environment(r->archive, r->run_id, MST_ENVIRONMENT_REPEATED,
                                     MST_UNTIL_DECIDED) != 0))
        return mst_recording_archive_failed(r);
    mst_thinning_look(&r->thinning, r->options->rotation);
    return MST_EXIT_OK;
}

int mst_recording_close_archive(struct mst_recording *r)
{
    char error[MST_ERROR_MAX];
    int status = mst_archive_close(r->archive, error);

    r->archive = NULL;
    free(r->path);
    r->path = NULL;
    return status == 0 ? MST_EXIT_OK : mst_failed(MST_EXIT_OUTPUT, "%s", error);
}

uint64_t mst_recording_interval_ns(const struct mst_recording *r)
{
    return r->options->rotation != NULL ? MST_SAMPLE_LONG_NS : MST_SAMPLE_NS;
}

int mst_recording_sample_machine(struct mst_recording *r, enum mst_moment moment)
{
    struct mst_machine machine;

    mst_machine_read(&machine, r->servers_have_few_cpus ? &r->servers_cpus : NULL);
    if (moment == MST_MOMENT_BEFORE)
        r->process_before_ns = machine.process_ns;
    r->process_ns = machine.process_ns;
    return mst_archive_add_machine(r->archive, r->run_id, mst_realtime_ns(), moment, &machine);
}

int mst_recording_offer_before(struct mst_recording *r, const struct mst_sampler *s)
{
    return s->by_url ? mst_archive_offer(r->archive) : 0;
}

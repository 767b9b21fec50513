/* recording_targets.c - opens the servers of a recording: those that the user names, or all that
 * run here, and the PHP's boards behind a status URL. */
#include "record/recording_steps.h"

#include <stdlib.h>

#include "console/diag.h"
#include "segment/liveness.h"

/* A board file whose server has ended can only be shown by `mpmstat status`. */
static bool has_stopped(const struct mst_target *target)
{
    return target->kind == MST_TARGET_FILE && target->is_open &&
           mst_reader_running(&target->reader) == 0;
}

/* The sampler, if any, that records the same server already: from its board, through its
 * status, or by another spelling of either. Two boards are not made at one moment. */
static const struct mst_sampler *known_as(const struct mst_recording *r,
                                          const struct mst_sampler *last)
{
    const struct mst_source_identity *other, *identity = mst_source_identity(last->source);
    size_t i;

    for (i = 0; i < r->sampler_count && identity->started_wall_ns != MST_UNKNOWN; i++) {
        other = mst_source_identity(r->samplers[i].source);
        if (other->producer == identity->producer && other->pid == identity->pid &&
            other->started_wall_ns == identity->started_wall_ns)
            return &r->samplers[i];
    }
    return NULL;
}

/* Remembers the PHP's boards that the status of a named URL shows, but for those that
 * are named themselves. */
static bool find_behind(struct mst_recording *r, const struct mst_sampler *s)
{
    const char *name;
    size_t k;

    for (k = 0; (name = mst_source_other(s->source, k)) != NULL; k++)
        if (!mst_targets_have(&r->targets, name) && !mst_targets_have(&r->behind, name) &&
            mst_targets_add_behind(&r->behind, name, mst_source_target(s->source)) != 0) {
            mst_error("out of memory for %zu targets", r->behind.count + 1);
            return false;
        }
    return true;
}

/* Takes an opened sampler in. 0; 1: left out; -1 said why. */
static int keep_target(struct mst_recording *r, struct mst_sampler *s)
{
    const struct mst_sampler *same = known_as(r, s);

    if (!find_behind(r, s)) {
        mst_sampler_close(s);
        return -1;
    }
    if (same == NULL) {
        r->sampler_count++;
        return 0;
    }
    mst_warn("%s is the server of %s: it is recorded once, from there",
             mst_source_called(s->source), mst_source_called(same->source));
    mst_sampler_close(s);
    return 1;
}

/* Opens one target. 0; 1: left out, because the user did not name it, or named it twice; -1: the
 * error has been said. */
static int open_target(struct mst_recording *r, struct mst_target *target)
{
    struct mst_sampler *s = &r->samplers[r->sampler_count];
    bool asked_for = mst_targets_named(&r->options->targets);
    char error[MST_ERROR_MAX];

    if (mst_sampler_open(s, target, &r->stop.raised, error) != 0) {
        (asked_for ? mst_error : mst_warn)("%s", error);
        return asked_for ? -1 : 1;
    }
    if (!has_stopped(target))
        return keep_target(r, s);
    (asked_for ? mst_error : mst_warn)("the server of %s is not running: start it first",
                                       target->name);
    mst_sampler_close(s);
    return asked_for ? -1 : 1;
}

/* Room for a sampler of each target, those found behind the others too. */
static bool make_room(struct mst_recording *r)
{
    size_t room = r->targets.count + r->behind.count + 1;
    struct mst_sampler *samplers = reallocarray(r->samplers, room, sizeof *samplers);

    if (samplers != NULL)
        r->samplers = samplers;
    else
        mst_error("out of memory for %zu targets", room);
    return samplers != NULL;
}

/* A PHP's board shown by an Apache is recorded with it; where it cannot be, the
 * Apache still is. */
static void open_behind(struct mst_recording *r)
{
    char error[MST_ERROR_MAX];
    struct mst_sampler *s;
    size_t i;

    for (i = 0; i < r->behind.count; i++) {
        s = &r->samplers[r->sampler_count];
        if (mst_sampler_open(s, &r->behind.items[i], &r->stop.raised, error) != 0)
            mst_warn("%s", error);
        else if (known_as(r, s) != NULL)
            mst_sampler_close(s);
        else
            r->sampler_count++;
    }
}

int mst_recording_open_targets(struct mst_recording *r)
{
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_targets_find(&r->targets, &r->options->targets, error) != 0)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    if (r->targets.note[0] != '\0')
        mst_warn("%s", r->targets.note);
    if (!make_room(r))
        return MST_EXIT_TARGET;
    for (i = 0; i < r->targets.count; i++)
        if (open_target(r, &r->targets.items[i]) < 0)
            return MST_EXIT_TARGET;
    if (!make_room(r))
        return MST_EXIT_TARGET;
    open_behind(r);
    if (r->sampler_count > 0)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_TARGET, "there is no running server to record: name one with -t "
                      "TARGET (its board, or its status URL)");
}

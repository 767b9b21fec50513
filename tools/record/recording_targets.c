/* recording_targets.c - opens the servers of a recording: those that the user names, or all that
 * run here, and the PHP's boards behind a status URL. */
#include "record/recording_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/diag.h"
#include "console/format.h"
#include "segment/liveness.h"
#include "system/uninstrumented.h"

/* Whether it is the board of a server that has ended, or of a mod_php that its Apache has unloaded:
 * only `mpmstat status` can show it. */
static bool is_left_over(const struct mst_target *target, const struct mst_sampler *s)
{
    const struct mst_reader *r = &target->reader;
    int running;

    if (target->kind != MST_TARGET_FILE || !target->is_open)
        return false;
    running = mst_reader_running(r);
    return running == 0 ||
           (running == 1 && strcmp(r->header.sapi, "apache2handler") == 0 &&
            mst_process_left_board(r->header.pid, mst_source_board(s->source)));
}

static unsigned kind_of(const struct mst_source_identity *identity)
{
    return identity->producer == MST_PRODUCER_APACHE ? MST_ASK_APACHE : MST_ASK_PHP;
}

/* The server may have been started again without what writes a board. */
static void say_stopped(const struct mst_target *target, const struct mst_sampler *s)
{
    char hint[MST_ERROR_MAX / 2];

    if (mst_targets_hint(kind_of(mst_source_identity(s->source)), hint, sizeof hint))
        mst_error("the server of %s is not running. %s", target->name, hint);
    else
        mst_error("the server of %s is not running: start it first", target->name);
}

/* It is of no use to this recording. */
static void note_left_over(struct mst_left_over *left_over, const struct mst_target *target)
{
    const struct mst_header *h = &target->reader.header;
    bool is_fpm = strcmp(h->sapi, "fpm-fcgi") == 0;
    uint32_t workers = is_fpm ? mst_reader_processes_alive(&target->reader) : 0;

    if (workers > 0) {
        mst_warn("PHP-FPM's master process does not run, and %" PRIu32 " of its workers serve "
                 "without it: they are not recorded. Restart PHP-FPM.",
                 workers);
        return;
    }
    if (left_over->count++ == 0)
        left_over->board = target->name;
    if (is_fpm && left_over->fpm == NULL) {
        left_over->fpm = target->name;
        left_over->fpm_stopped_ns = h->stopped_ns != 0 ? mst_wall_ns(h, h->stopped_ns) : 0;
    }
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
    bool was_found = target->has_owner;   /* also in a directory that was named */
    char error[MST_ERROR_MAX];

    if (mst_sampler_open(s, target, &r->stop.raised, error) != 0) {
        (asked_for ? mst_error : mst_warn)("%s", error);
        return asked_for ? -1 : 1;
    }
    if (!is_left_over(target, s))
        return keep_target(r, s);
    if (was_found)
        note_left_over(&r->left_over, target);
    else
        say_stopped(target, s);
    mst_sampler_close(s);
    return was_found ? 1 : -1;
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

/* Kinds of servers of which none is recorded. */
static unsigned missing_kinds(const struct mst_recording *r)
{
    unsigned missing = MST_ASK_APACHE | MST_ASK_PHP;
    size_t i;

    for (i = 0; i < r->sampler_count; i++)
        missing &= ~kind_of(mst_source_identity(r->samplers[i].source));
    return missing;
}

/* Where the user names no server: one that runs without a board would be missed only later. False:
 * there is none. */
static bool warn_of_missing(const struct mst_recording *r, unsigned missing)
{
    char hint[MST_ERROR_MAX];

    if (mst_targets_named(&r->options->targets) || r->options->repetition > 1 ||
        !mst_targets_hint(missing, hint, sizeof hint))
        return false;
    mst_warn("%s", hint);
    return true;
}

/* One line, and the last: removing them is not urgent. A PHP-FPM that does not run is more than
 * litter, where no PHP is recorded: Apache answers 503 in its place. */
static void say_left_over(const struct mst_left_over *left, bool lacks_php)
{
    char how[64] = "killed, or crashed";

    if (left->fpm_stopped_ns != 0)
        snprintf(how, sizeof how, "stopped at %s", mst_format_clock(left->fpm_stopped_ns).text);
    if (left->fpm != NULL && lacks_php)
        mst_say_last("left out: PHP-FPM, which does not run: it was %s. Start it, or remove its "
                     "board, %s", how, left->fpm);
    else if (left->count > 1)
        mst_say_last("left out: the boards of %zu servers that have ended, one of them %s (rm "
                     "removes them)", left->count, left->board);
    else if (left->count == 1)
        mst_say_last("left out: the board of a server that has ended, %s (rm removes it)",
                     left->board);
}

static int say_nothing_to_record(void)
{
    char hint[MST_ERROR_MAX];

    if (mst_targets_hint(MST_ASK_APACHE | MST_ASK_PHP, hint, sizeof hint))
        return mst_failed(MST_EXIT_TARGET, "there is no server to record. %s", hint);
    return mst_failed(MST_EXIT_TARGET, "there is no running server to record: start it, or name "
                      "one with -t TARGET (its board, or its status URL)");
}

int mst_recording_open_targets(struct mst_recording *r)
{
    char error[MST_ERROR_MAX];
    unsigned missing;
    bool is_warned;
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
    missing = missing_kinds(r);
    is_warned = r->sampler_count > 0 && warn_of_missing(r, missing);
    say_left_over(&r->left_over, !is_warned && (missing & MST_ASK_PHP) != 0);
    return r->sampler_count > 0 ? MST_EXIT_OK : say_nothing_to_record();
}

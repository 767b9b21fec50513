/* watch.c - looks at the servers again and again: see watch.h. */
#include "top/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"

/* ---- looking --------------------------------------------------------------------------------- */

/* A mst_source_see. */
static void see(void *context, const struct mst_snapshot *board)
{
    const struct mst_top_seat *seat = context;
    struct mst_top_watch *watch = seat->watch;

    pthread_mutex_lock(&watch->lock);
    mst_top_take(&watch->top, seat->server, board, mst_now_ns(), mst_realtime_ns());
    pthread_mutex_unlock(&watch->lock);
}

static void miss(struct mst_top_watch *watch, size_t server, const char *problem)
{
    pthread_mutex_lock(&watch->lock);
    mst_top_miss(&watch->top, server, problem, mst_realtime_ns());
    pthread_mutex_unlock(&watch->lock);
}

void mst_top_watch_look(struct mst_top_watch *watch)
{
    char error[MST_ERROR_MAX];
    size_t i;

    for (i = 0; i < watch->count && !watch->is_over; i++)
        if (mst_source_sample(watch->sources[i], &watch->sample, error) != 0)
            miss(watch, i, error);
    pthread_mutex_lock(&watch->lock);
    mst_top_conclude(&watch->top);
    watch->looked_ns = mst_realtime_ns();
    pthread_mutex_unlock(&watch->lock);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Until the next look is due; whether there is to be one. */
static bool wait_for_turn(struct mst_top_watch *watch, uint64_t due_ns)
{
    const struct timespec due = { (time_t)(due_ns / MST_NS_PER_S), (long)(due_ns % MST_NS_PER_S) };
    int status = 0;

    pthread_mutex_lock(&watch->lock);
    while (!watch->is_over && (watch->is_paused || status != ETIMEDOUT))
        status = watch->is_paused ? pthread_cond_wait(&watch->wake, &watch->lock)
                                  : pthread_cond_timedwait(&watch->wake, &watch->lock, &due);
    pthread_mutex_unlock(&watch->lock);
    return !watch->is_over;
}

/* A look that took longer than the delay is followed by a whole delay. */
static void *run(void *context)
{
    struct mst_top_watch *watch = context;
    uint64_t due_ns = mst_now_ns() + watch->delay_ns;

    while (wait_for_turn(watch, due_ns)) {
        mst_top_watch_look(watch);
        eventfd_write(watch->news, 1);
        due_ns += watch->delay_ns;
        if (due_ns < mst_now_ns())
            due_ns = mst_now_ns() + watch->delay_ns;
    }
    return NULL;
}

/* Signals are for the thread that has the terminal. */
bool mst_top_watch_start(struct mst_top_watch *watch)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch->is_started = pthread_create(&watch->thread, NULL, run, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return watch->is_started;
}

void mst_top_watch_pause(struct mst_top_watch *watch, bool is_paused)
{
    pthread_mutex_lock(&watch->lock);
    watch->is_paused = is_paused;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->lock);
}

/* ---- open and close -------------------------------------------------------------------------- */

/* A server that the user did not name, and that cannot be opened, is left out. */
static int open_targets(struct mst_top_watch *watch, struct mst_targets *targets, bool are_named)
{
    struct mst_source **sources;
    char error[MST_ERROR_MAX];
    size_t i;

    sources = reallocarray(watch->sources, watch->count + targets->count + 1, sizeof *sources);
    if (sources == NULL)
        return mst_failed(MST_EXIT_TARGET, "out of memory");
    watch->sources = sources;
    for (i = 0; i < targets->count; i++) {
        sources[watch->count] = mst_source_open(&targets->items[i], error);
        if (sources[watch->count] != NULL)
            mst_source_set_stop(sources[watch->count++], &watch->is_over);
        else if (are_named)
            return mst_failed(MST_EXIT_TARGET, "%s", error);
        else
            mst_warn("%s", error);
    }
    return MST_EXIT_OK;
}

/* A status URL shows PHP's boards, too. */
static int open_behind(struct mst_top_watch *watch)
{
    const char *name;
    size_t i, k;

    for (i = 0; i < watch->count; i++)
        for (k = 0; (name = mst_source_other(watch->sources[i], k)) != NULL; k++)
            if (!mst_targets_have(&watch->targets, name) &&
                !mst_targets_have(&watch->behind, name) &&
                mst_targets_add_behind(&watch->behind, name,
                                       mst_source_target(watch->sources[i])) != 0)
                return mst_failed(MST_EXIT_TARGET, "out of memory");
    return open_targets(watch, &watch->behind, false);
}

static int seat_all(struct mst_top_watch *watch)
{
    size_t i, k;

    watch->seats = calloc(watch->count + 1, sizeof *watch->seats);
    if (watch->seats == NULL || !mst_top_init(&watch->top, watch->count))
        return mst_failed(MST_EXIT_TARGET, "out of memory");
    for (i = 0; i < watch->count; i++) {
        struct mst_top_server *server = &watch->top.servers[i];

        snprintf(server->name, sizeof server->name, "%s", mst_source_called(watch->sources[i]));
        for (k = 0; k < i && !mst_source_is_beside(watch->sources[k], watch->sources[i]); k++)
            ;
        server->present.place = k;
        server->is_url = mst_source_target(watch->sources[i])->kind == MST_TARGET_URL;
        watch->seats[i] = (struct mst_top_seat){ watch, i };
        mst_source_watch(watch->sources[i], see, &watch->seats[i]);
    }
    return MST_EXIT_OK;
}

int mst_top_watch_open(struct mst_top_watch *watch, const struct mst_target_names *targets,
                       uint64_t delay_ns)
{
    pthread_condattr_t attributes;
    char error[MST_ERROR_MAX];
    int status;

    *watch = (struct mst_top_watch){ .delay_ns = delay_ns, .news = -1 };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&watch->lock, NULL);
    watch->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->news < 0)
        return mst_failed(MST_EXIT_TARGET, "eventfd: %s", strerror(errno));
    if (mst_targets_find(&watch->targets, targets, error) != 0)
        return mst_failed(MST_EXIT_TARGET, "%s", error);
    if (watch->targets.note[0] != '\0')
        mst_warn("%s", watch->targets.note);
    status = open_targets(watch, &watch->targets, mst_targets_named(targets));
    if (status == MST_EXIT_OK)
        status = open_behind(watch);
    if (status == MST_EXIT_OK && watch->count == 0)
        status = mst_failed(MST_EXIT_TARGET, "no server could be read");
    if (status == MST_EXIT_OK)
        status = seat_all(watch);
    if (status == MST_EXIT_OK)
        mst_top_watch_look(watch);
    return status;
}

void mst_top_watch_close(struct mst_top_watch *watch)
{
    size_t i;

    pthread_mutex_lock(&watch->lock);
    watch->is_over = 1;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->lock);
    if (watch->is_started)
        pthread_join(watch->thread, NULL);
    for (i = 0; i < watch->count; i++)
        mst_source_close(watch->sources[i]);
    free(watch->sources);
    free(watch->seats);
    mst_sample_free(&watch->sample);
    mst_top_free(&watch->top);
    mst_targets_free(&watch->behind);
    mst_targets_free(&watch->targets);
    if (watch->news >= 0)
        close(watch->news);
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->lock);
}

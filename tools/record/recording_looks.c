/* recording_looks.c - a thread for each server that is asked by URL, during the load: one that
 * answers late, or not at all, delays no look at the others.
 *
 * One lock is held by whoever works: the recording's own thread, and each of these. They give it
 * up only while they wait, for an answer or for the next look. So the archive has one writer at a
 * time, and nothing else needs a lock.
 */
#include "record/recording_steps.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"

struct mst_look_thread {
    struct mst_recording *recording;
    struct mst_sampler   *sampler;
    pthread_t             thread;
    bool                  failed;   /* the archive */
};

static void give_way(void *recording)
{
    struct mst_recording *r = recording;

    pthread_mutex_unlock(&r->looks.lock);
}

static void go_on(void *recording)
{
    struct mst_recording *r = recording;

    pthread_mutex_lock(&r->looks.lock);
}

static void *look_on(void *context)
{
    struct mst_look_thread *t = context;
    struct mst_looks *looks = &t->recording->looks;

    pthread_mutex_lock(&looks->lock);
    while (!looks->is_over && !t->failed) {
        t->failed = mst_sampler_tick(t->sampler, mst_now_ns()) != 0;
        if (!looks->is_over && !t->failed) {
            const struct timespec due = {
                (time_t)(t->sampler->due_ns / MST_NS_PER_S),
                (long)(t->sampler->due_ns % MST_NS_PER_S),
            };

            pthread_cond_timedwait(&looks->end, &looks->lock, &due);
        }
    }
    pthread_mutex_unlock(&looks->lock);
    return NULL;
}

/* Signals are the recording's own thread's. Where there can be no thread, that one looks. */
static bool start_thread(struct mst_look_thread *t)
{
    sigset_t all, before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&t->thread, NULL, look_on, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void init_locks(struct mst_looks *looks)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&looks->end, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&looks->lock, NULL);
}

void mst_looks_begin(struct mst_recording *r)
{
    struct mst_looks *looks = &r->looks;
    struct mst_look_thread *t;
    size_t i;

    init_locks(looks);
    looks->is_over = 0;
    looks->wait = (struct mst_source_wait){ give_way, go_on, r };
    looks->threads = calloc(r->sampler_count + 1, sizeof *looks->threads);
    pthread_mutex_lock(&looks->lock);
    for (i = 0; i < r->sampler_count && looks->threads != NULL; i++) {
        t = &looks->threads[looks->count];
        *t = (struct mst_look_thread){ r, &r->samplers[i], .failed = false };
        if (!r->samplers[i].by_url || !start_thread(t))
            continue;
        mst_source_set_wait(t->sampler->source, &looks->wait);
        mst_sampler_set_stop(t->sampler, &looks->is_over);
        t->sampler->has_thread = true;
        looks->count++;
    }
}

void mst_looks_pause(struct mst_recording *r)
{
    if (r->looks.threads != NULL)
        pthread_mutex_unlock(&r->looks.lock);
}

void mst_looks_resume(struct mst_recording *r)
{
    if (r->looks.threads != NULL)
        pthread_mutex_lock(&r->looks.lock);
}

bool mst_looks_failed(const struct mst_recording *r)
{
    bool failed = false;
    size_t i;

    for (i = 0; i < r->looks.count; i++)
        failed |= r->looks.threads[i].failed;
    return failed;
}

void mst_looks_end(struct mst_recording *r)
{
    struct mst_looks *looks = &r->looks;
    size_t i;

    looks->is_over = 1;
    pthread_cond_broadcast(&looks->end);
    pthread_mutex_unlock(&looks->lock);
    for (i = 0; i < looks->count; i++) {
        pthread_join(looks->threads[i].thread, NULL);
        mst_source_set_wait(looks->threads[i].sampler->source, NULL);
        mst_sampler_set_stop(looks->threads[i].sampler, &r->stop.raised);
        looks->threads[i].sampler->has_thread = false;
    }
    free(looks->threads);
    looks->threads = NULL;
    looks->count = 0;
    pthread_cond_destroy(&looks->end);
    pthread_mutex_destroy(&looks->lock);
}

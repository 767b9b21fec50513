/* clients.c - the connections of mpmstat serve: see clients.h.
 *
 * To end a connection is to shut its socket down: the thread that waits there sees it, and closes
 * it. A socket in the list is open, so its number is no other file's.
 */
#include "serve/clients.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/saturate.h"

/* What a client has time for, from its beginning to its end. */
#define FIRST_REQUEST_NS (10 * MST_NS_PER_S)    /* the TLS handshake is part of it */
#define NEXT_REQUEST_NS  (150 * MST_NS_PER_S)   /* Prometheus asks every 15 to 120 s */
#define ANSWER_NS        (120 * MST_NS_PER_S)   /* 10 MB of a journal over a slow line */

/* One that has just been accepted has its request under way. */
#define YOUNG_NS (100 * MST_NS_PER_MS)

struct mst_client {
    struct mst_client *next, **place;   /* the pointer that points here */
    int      fd;
    uint64_t since_ns;         /* when the present part began */
    bool     is_answered, was_answered, is_ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;   /* removed, or answered */
static struct mst_client *first;
static size_t open_count;      /* of those in the list, not ended */

struct mst_client *mst_client_add(int fd)
{
    struct mst_client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->fd = fd;
    client->since_ns = mst_now_ns();
    pthread_mutex_lock(&lock);
    client->next = first;
    client->place = &first;
    if (first != NULL)
        first->place = &client->next;
    first = client;
    open_count++;
    pthread_mutex_unlock(&lock);
    return client;
}

/* Precondition: the lock is held. */
static void end(struct mst_client *client)
{
    if (client->is_ended)
        return;
    client->is_ended = true;
    open_count--;
    shutdown(client->fd, SHUT_RDWR);
}

void mst_client_remove(struct mst_client *client)
{
    pthread_mutex_lock(&lock);
    *client->place = client->next;
    if (client->next != NULL)
        client->next->place = client->place;
    open_count -= !client->is_ended;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    free(client);
}

static void begin_part(struct mst_client *client, bool is_answered)
{
    pthread_mutex_lock(&lock);
    client->is_answered = is_answered;
    client->was_answered |= !is_answered;
    client->since_ns = mst_now_ns();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void mst_client_asks(struct mst_client *client)
{
    begin_part(client, true);
}

void mst_client_answered(struct mst_client *client)
{
    begin_part(client, false);
}

size_t mst_clients_count(void)
{
    size_t count;

    pthread_mutex_lock(&lock);
    count = open_count;
    pthread_mutex_unlock(&lock);
    return count;
}

bool mst_clients_make_room(void)
{
    struct mst_client *c, *longest = NULL;
    uint64_t now = mst_now_ns();

    pthread_mutex_lock(&lock);
    for (c = first; c != NULL; c = c->next)
        if (!c->is_ended && !c->is_answered && mst_elapsed(c->since_ns, now) > YOUNG_NS
            && (longest == NULL || c->since_ns < longest->since_ns))
            longest = c;
    if (longest != NULL)
        end(longest);
    pthread_mutex_unlock(&lock);
    return longest != NULL;
}

void mst_clients_end_late(void)
{
    struct mst_client *c;
    uint64_t now = mst_now_ns(), most_ns;

    pthread_mutex_lock(&lock);
    for (c = first; c != NULL; c = c->next) {
        most_ns = c->is_answered ? ANSWER_NS : c->was_answered ? NEXT_REQUEST_NS
                                                               : FIRST_REQUEST_NS;
        if (mst_elapsed(c->since_ns, now) > most_ns)
            end(c);
    }
    pthread_mutex_unlock(&lock);
}

/* Precondition: the lock is held. */
static void end_idle(void)
{
    struct mst_client *c;

    for (c = first; c != NULL; c = c->next)
        if (!c->is_answered)
            end(c);
}

void mst_clients_end(uint64_t most_ns)
{
    uint64_t until_ns = mst_now_ns() + most_ns;
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / MST_NS_PER_S), .tv_nsec = (long)(until_ns % MST_NS_PER_S),
    };
    int waited = 0;

    pthread_mutex_lock(&lock);
    while (first != NULL && waited == 0) {
        end_idle();
        waited = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
    }
    pthread_mutex_unlock(&lock);
}

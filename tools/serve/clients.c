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

/* What all answers together may have: the journal of a busy server has 10 MB in one. One is made
 * only while half of it is free, so it fits. */
#define ANSWERS_BYTES (64u << 20)

/* A client that reads has 10 MB within a second. */
#define READING_NS     MST_NS_PER_S
#define WAIT_ANSWER_NS (3 * MST_NS_PER_S)     /* for room */
#define WAIT_STEP_NS   (50 * MST_NS_PER_MS)

struct mst_client {
    struct mst_client *next, **place;   /* the pointer that points here */
    int      fd;
    uint64_t since_ns;         /* when the present part began */
    size_t   held;             /* bytes of its answer */
    bool     is_answered, was_answered, is_ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;   /* added, removed, or answered */
static struct mst_client *first;
static size_t all_count;       /* of the list */
static size_t open_count;      /* of those, not ended */
static size_t all_held;        /* by those of the list */
static size_t open_held;       /* by those, not ended */
static uint64_t added;

/* Waits for a change until a time of CLOCK_MONOTONIC. False: it is that time. Precondition: the
 * lock is held. */
static bool wait_for_change(uint64_t until_ns)
{
    const struct timespec until = {
        .tv_sec = (time_t)(until_ns / MST_NS_PER_S), .tv_nsec = (long)(until_ns % MST_NS_PER_S),
    };

    return pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until) == 0;
}

/* Precondition: the lock is held. */
static void insert(struct mst_client *client)
{
    client->next = first;
    client->place = &first;
    if (first != NULL)
        first->place = &client->next;
    first = client;
    all_count++;
    open_count++;
}

struct mst_client *mst_client_add(int fd)
{
    struct mst_client *client = calloc(1, sizeof *client);

    pthread_mutex_lock(&lock);
    if (client != NULL) {
        client->fd = fd;
        client->since_ns = mst_now_ns();
        insert(client);
    } else {
        shutdown(fd, SHUT_RDWR);
    }
    added++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return client;
}

uint64_t mst_clients_added(void)
{
    uint64_t count;

    pthread_mutex_lock(&lock);
    count = added;
    pthread_mutex_unlock(&lock);
    return count;
}

void mst_clients_wait_added(uint64_t count, uint64_t most_ns)
{
    uint64_t until_ns = mst_now_ns() + most_ns;

    pthread_mutex_lock(&lock);
    while (added < count && wait_for_change(until_ns))
        continue;
    pthread_mutex_unlock(&lock);
}

/* Precondition: the lock is held. */
static void end(struct mst_client *client)
{
    if (client->is_ended)
        return;
    client->is_ended = true;
    open_count--;
    open_held -= client->held;
    shutdown(client->fd, SHUT_RDWR);
}

/* Precondition: the lock is held. */
static void hold(struct mst_client *client, size_t bytes)
{
    all_held += bytes - client->held;
    if (!client->is_ended)
        open_held += bytes - client->held;
    client->held = bytes;
}

void mst_client_remove(struct mst_client *client)
{
    pthread_mutex_lock(&lock);
    hold(client, 0);
    *client->place = client->next;
    if (client->next != NULL)
        client->next->place = client->place;
    all_count--;
    open_count -= !client->is_ended;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    free(client);
}

static void begin_part(struct mst_client *client, bool is_answered)
{
    pthread_mutex_lock(&lock);
    hold(client, 0);
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

/* Precondition: the lock is held. */
static bool end_waiting(uint64_t now)
{
    struct mst_client *c, *longest = NULL;

    for (c = first; c != NULL; c = c->next)
        if (!c->is_ended && !c->is_answered && mst_elapsed(c->since_ns, now) > YOUNG_NS
            && (longest == NULL || c->since_ns < longest->since_ns))
            longest = c;
    if (longest != NULL)
        end(longest);
    return longest != NULL;
}

bool mst_clients_make_room(void)
{
    bool has_room;

    pthread_mutex_lock(&lock);
    has_room = all_count < MST_CLIENTS_ALL_MAX
            && (open_count < MST_CLIENTS_MAX || end_waiting(mst_now_ns()));
    pthread_mutex_unlock(&lock);
    return has_room;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Precondition: the lock is held. */
static bool end_reading(uint64_t now)
{
    struct mst_client *c, *longest = NULL;

    for (c = first; c != NULL; c = c->next)
        if (!c->is_ended && c->held > 0 && mst_elapsed(c->since_ns, now) > READING_NS
            && (longest == NULL || c->since_ns < longest->since_ns))
            longest = c;
    if (longest != NULL)
        end(longest);
    return longest != NULL;
}

bool mst_clients_make_answer_room(void)
{
    uint64_t now = mst_now_ns(), until_ns = now + WAIT_ANSWER_NS;
    bool has_room;

    pthread_mutex_lock(&lock);
    while (!(has_room = all_held <= ANSWERS_BYTES / 2) && now < until_ns) {
        while (open_held > ANSWERS_BYTES / 2 && end_reading(now))
            continue;
        wait_for_change(now + WAIT_STEP_NS);
        now = mst_now_ns();
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

bool mst_client_holds(struct mst_client *client, size_t bytes)
{
    bool has_room;

    pthread_mutex_lock(&lock);
    has_room = all_held + bytes <= ANSWERS_BYTES;
    if (has_room)
        hold(client, bytes);
    pthread_mutex_unlock(&lock);
    return has_room;
}

/* ---- the end ------------------------------------------------------------------------------- */

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
    bool in_time = true;

    pthread_mutex_lock(&lock);
    while (first != NULL && in_time) {
        end_idle();
        in_time = wait_for_change(until_ns);
    }
    pthread_mutex_unlock(&lock);
}

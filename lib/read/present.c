/* present.c - what busy workers do at this moment: see present.h. */
#include "read/present.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"

/* Groups of workers that are counted before the largest of them has to do: a board's file, which
 * other users may write, can have a group for each worker. */
#define GROUPS_MAX 64u

/* Boards are read one after the other. */
#define BETWEEN_LOOKS_NS UINT64_C(1000000000)

/* ---- taking -------------------------------------------------------------------------------- */

/* As snprintf() would, several times faster: a page copies the texts of all busy workers. */
static void copy(char *to, size_t size, const char *text)
{
    size_t length = text != NULL ? strnlen(text, size - 1) : 0;

    if (length > 0)
        memcpy(to, text, length);
    to[length] = '\0';
}

/* The status page's own request is nobody's load. */
static bool is_askers(const struct mst_snapshot_slot *slot)
{
    return slot->label != NULL && strcmp(slot->label, MST_LABEL_STATUS_NAME) == 0;
}

static bool is_busy(const struct mst_snapshot_slot *slot)
{
    return slot->state != NULL && strcmp(slot->state, mst_state_names[MST_STATE_IDLE]) != 0;
}

static void add_worker(struct mst_present *p, const struct mst_snapshot_slot *slot)
{
    struct mst_present_worker *w;

    if (!mst_grow(&p->workers, &p->worker_room, p->worker_count, sizeof *p->workers)) {
        p->out_of_memory = true;
        return;
    }
    w = &p->workers[p->worker_count++];
    w->pid = slot->pid;
    w->request_id = slot->request_id;
    copy(w->state, sizeof w->state, slot->state);
    copy(w->label, sizeof w->label, slot->label);
    copy(w->path, sizeof w->path, slot->path);
    copy(w->wait, sizeof w->wait, slot->wait);
    copy(w->wait_end, sizeof w->wait_end, slot->wait_end);
    w->wait_ns = slot->wait_for_ns;
    copy(w->code.function, sizeof w->code.function, slot->code_function);
    copy(w->code.file, sizeof w->code.file, slot->code_file);
    copy(w->code.component, sizeof w->code.component, slot->code_component);
    w->code.line = slot->code_line != MST_UNKNOWN ? slot->code_line : 0;
    w->since_ns = slot->request_since_ns;
    w->has_request = slot->request_for_ns != MST_UNKNOWN;
    w->busy_ns = w->has_request ? slot->request_for_ns : slot->state_for_ns;
}

static void add_pool(struct mst_present *p, const struct mst_snapshot *board,
                     const struct mst_snapshot_label *label)
{
    struct mst_present_pool *pool;

    if (label->workers_limit == MST_UNKNOWN || label->label == NULL)
        return;
    if (!mst_grow(&p->pools, &p->pool_room, p->pool_count, sizeof *p->pools)) {
        p->out_of_memory = true;
        return;
    }
    pool = &p->pools[p->pool_count++];
    copy(pool->label, sizeof pool->label, label->label);
    pool->limit = label->workers_limit;
    pool->queue = mst_snapshot_queue(board, label->label);
}

void mst_present_take(struct mst_present *p, const struct mst_snapshot *board)
{
    size_t i;

    p->worker_count = p->pool_count = p->left_count = 0;
    p->out_of_memory = false;
    p->is_php = board->producer != NULL && strcmp(board->producer, "php") == 0;
    p->is_running = board->running == NULL || strcmp(board->running, "no") != 0;
    p->has_stopped = board->stopped_ns != MST_UNKNOWN && board->stopped_ns != 0;
    p->limit = board->workers_limit;
    p->queue = mst_snapshot_queue(board, NULL);
    for (i = 0; i < board->slot_count; i++)
        if (is_busy(&board->slots[i]) && !is_askers(&board->slots[i]))
            add_worker(p, &board->slots[i]);
    if (!p->is_running) {
        p->left_count = p->worker_count;
        p->worker_count = 0;
    }
    for (i = 0; i < board->label_count; i++)
        add_pool(p, board, &board->labels[i]);
}

void mst_present_free(struct mst_present *p)
{
    free(p->workers);
    free(p->pools);
    *p = (struct mst_present){ 0 };
}

/* ---- joining ------------------------------------------------------------------------------- */

/* One worker that has a request with a number. */
struct numbered { struct mst_present_worker *worker; const struct mst_present *server; };

static int by_number(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;

    if (a->server->place != b->server->place)
        return a->server->place < b->server->place ? -1 : 1;
    if (a->worker->request_id != b->worker->request_id)
        return a->worker->request_id < b->worker->request_id ? -1 : 1;
    return a->server->is_php - b->server->is_php;
}

static bool is_one_request(const struct numbered *a, const struct numbered *b)
{
    return a->server->place == b->server->place && a->worker->request_id == b->worker->request_id;
}

/* The workers whose requests have one number, Apache's first. They are joined where one is Apache's
 * and one is PHP's, and PHP has not had its request for longer than Apache: PHP begins later. A
 * second worker of PHP's can belong to an Apache that is not known here: then it is not known which
 * of the two has the request of Apache's worker. */
static void join_group(const struct numbered *group, size_t count)
{
    struct mst_present_worker *apache = group[0].worker, *php = group[count - 1].worker;

    php->is_joined = count > 1 && !group[0].server->is_php && group[count - 1].server->is_php;
    if (count != 2 || group[0].server->is_php || !group[1].server->is_php ||
        php->busy_ns > mst_add_saturated(apache->busy_ns, BETWEEN_LOOKS_NS))
        return;
    memcpy(apache->wait, php->wait, sizeof apache->wait);
    memcpy(apache->wait_end, php->wait_end, sizeof apache->wait_end);
    apache->wait_ns = php->wait_ns;
    apache->code = php->code;
}

void mst_present_join(struct mst_present *const *servers, size_t count)
{
    struct numbered *all;
    size_t i, k, n = 0, room = 0;

    for (i = 0; i < count; i++)
        room += servers[i]->worker_count;
    all = calloc(room + 1, sizeof *all);
    for (i = 0; all != NULL && i < count; i++)
        for (k = 0; k < servers[i]->worker_count; k++)
            if (servers[i]->workers[k].request_id != MST_UNKNOWN &&
                servers[i]->workers[k].has_request)
                all[n++] = (struct numbered){ &servers[i]->workers[k], servers[i] };
    if (n > 1)
        qsort(all, n, sizeof *all, by_number);
    for (i = 0; i < n; i = k) {
        for (k = i + 1; k < n && is_one_request(&all[i], &all[k]); k++)
            ;
        join_group(&all[i], k - i);
    }
    free(all);
}

/* ---- who is held --------------------------------------------------------------------------- */

/* Whether the worker is among those that are meant. */
static bool is_of(const struct mst_held *h, const struct mst_present_worker *w)
{
    if (h->pool != NULL && strcmp(w->label, h->pool->label) != 0)
        return false;
    return h->is_stuck || h->is_full || (w->has_request && w->busy_ns > h->than_ns);
}

static bool does_the_same(const struct mst_present_worker *a, const struct mst_present_worker *b)
{
    if (a->wait[0] != '\0' || b->wait[0] != '\0')
        return strcmp(a->wait, b->wait) == 0 && strcmp(a->wait_end, b->wait_end) == 0;
    return strcmp(a->state, b->state) == 0;
}

static void count_same(struct mst_held *h, const struct mst_present_worker *example)
{
    const struct mst_present_worker *w;
    size_t i;

    h->example = example;
    h->count = h->longest_ns = h->longest_wait_ns = 0;
    for (i = 0; i < h->server->worker_count; i++) {
        w = &h->server->workers[i];
        if (!is_of(h, w) || !does_the_same(w, example))
            continue;
        h->count++;
        if (w->busy_ns > h->longest_ns)
            h->longest_ns = w->busy_ns;
        if (w->wait_ns != MST_UNKNOWN && w->wait_ns > h->longest_wait_ns)
            h->longest_wait_ns = w->wait_ns;
    }
}

static bool is_in(const struct mst_present_worker *const *examples, unsigned count,
                  const struct mst_present_worker *w)
{
    while (count > 0)
        if (does_the_same(examples[--count], w))
            return true;
    return false;
}

/* What most of them do. Where one group has half of all, no other has to be counted. */
static void find_group(struct mst_held *h)
{
    const struct mst_present_worker *examples[GROUPS_MAX];
    struct mst_held group = *h;
    unsigned groups = 0;
    size_t i;

    for (i = 0; i < h->server->worker_count && groups < GROUPS_MAX; i++) {
        const struct mst_present_worker *w = &h->server->workers[i];

        if (2 * h->count > h->busy)
            return;
        if (!is_of(h, w) || is_in(examples, groups, w))
            continue;
        count_same(&group, w);
        examples[groups++] = w;
        if (group.count > h->count)
            *h = group;
    }
}

static bool is_one_function(const struct mst_code_at *a, const struct mst_code_at *b)
{
    return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* Finds the function that more than half of the group can be in, by a vote (Boyer and Moore), and
 * counts. */
static void find_code(struct mst_held *h)
{
    const struct mst_present_worker *most = NULL, *w;
    uint64_t votes = 0;
    size_t i;

    for (i = 0; i < h->server->worker_count; i++) {
        w = &h->server->workers[i];
        if (!is_of(h, w) || !does_the_same(w, h->example))
            continue;
        if (votes == 0)
            most = w;
        votes = is_one_function(&w->code, &most->code) ? votes + 1 : votes - 1;
    }
    h->in_code = most;
    h->code_count = 0;
    if (most == NULL || most->code.function[0] == '\0')
        return;
    for (i = 0; i < h->server->worker_count; i++) {
        w = &h->server->workers[i];
        h->code_count += is_of(h, w) && does_the_same(w, h->example) &&
                         is_one_function(&w->code, &most->code);
    }
    if (2 * h->code_count <= h->count)
        h->code_count = 0;
}

static void find_most(struct mst_held *h)
{
    find_group(h);
    find_code(h);
}

/* How many are meant, and since when none of them has taken a request. */
static void count_all(struct mst_held *h)
{
    size_t i;

    h->idle_ns = MST_UNKNOWN;
    for (i = 0; i < h->server->worker_count; i++)
        if (is_of(h, &h->server->workers[i])) {
            h->busy++;
            if (h->server->workers[i].busy_ns < h->idle_ns)
                h->idle_ns = h->server->workers[i].busy_ns;
        }
}

bool mst_present_is_stuck(const struct mst_present *p, const struct mst_present_pool *pool,
                          struct mst_held *held)
{
    *held = (struct mst_held){
        .server = p, .pool = pool, .is_stuck = true, .limit = pool != NULL ? pool->limit : p->limit,
    };
    count_all(held);
    if (!p->is_running || held->limit == MST_UNKNOWN || held->limit == 0 || held->busy == 0 ||
        held->busy * 1000 / MST_STUCK_MILLI < held->limit || held->idle_ns == MST_UNKNOWN ||
        held->idle_ns < MST_STUCK_NS)
        return false;
    find_most(held);
    return true;
}

bool mst_present_is_long(const struct mst_present *p, uint64_t than_ns, struct mst_held *held)
{
    *held = (struct mst_held){ .server = p, .limit = p->limit, .than_ns = than_ns };
    if (p->is_running)
        count_all(held);
    if (held->busy > 0)
        find_most(held);
    return held->busy > 0;
}

static bool is_full(const struct mst_present *p, const struct mst_present_pool *pool,
                    struct mst_held *held)
{
    uint64_t queue = pool != NULL ? pool->queue : p->queue;

    *held = (struct mst_held){
        .server = p, .pool = pool, .is_full = true, .limit = pool != NULL ? pool->limit : p->limit,
    };
    if (!p->is_running || held->limit == MST_UNKNOWN || queue == MST_UNKNOWN || queue == 0)
        return false;
    count_all(held);
    if (held->busy == 0 || held->busy < held->limit)
        return false;
    find_most(held);
    return true;
}

/* Looks at the server by `look`, or at each of its pools where there are several. */
static size_t add_pools(bool look(const struct mst_present *p, const struct mst_present_pool *pool,
                                  struct mst_held *held),
                        const struct mst_present *p, struct mst_held *held, size_t room)
{
    size_t i, n = 0;

    if (p->pool_count < 2)
        return room > 0 && look(p, NULL, held);
    for (i = 0; i < p->pool_count && n < room; i++)
        n += look(p, &p->pools[i], &held[n]);
    return n;
}

static bool is_handling(const struct mst_present_worker *w)
{
    return strcmp(w->state, mst_state_names[MST_STATE_HANDLING]) == 0;
}

/* Counts all workers that handle a request. A worker whose request is with a worker of PHP's
 * counts, too, whatever PHP's worker waits for. */
static void count_handling(struct mst_held *h)
{
    const struct mst_present_worker *w;
    size_t i;

    h->count = 0;
    for (i = 0; i < h->server->worker_count; i++) {
        w = &h->server->workers[i];
        if (!is_of(h, w) || !is_handling(w))
            continue;
        h->count++;
        if (w->busy_ns > h->longest_ns)
            h->longest_ns = w->busy_ns;
    }
}

static uint64_t count_joined(const struct mst_present *php)
{
    uint64_t count = 0;
    size_t i;

    for (i = 0; i < php->worker_count; i++)
        count += php->workers[i].is_joined;
    return count;
}

/* Apache's workers that handle requests of which no more is known wait for PHP where PHP's workers
 * have their requests, or are all busy, and workers and queues have as many. Of several Apaches it
 * is not known whose they are. */
static void find_php(struct mst_present *const *servers, size_t count, struct mst_held *h)
{
    uint64_t apaches = 0, busy = 0, queue = 0, joined;
    size_t i;

    if (h->server->is_php || h->example->wait[0] != '\0' || !is_handling(h->example))
        return;
    for (i = 0; i < count; i++) {
        if (servers[i]->place != h->server->place)
            continue;
        apaches += !servers[i]->is_php;
        if (!servers[i]->is_php || !servers[i]->is_running || servers[i]->limit == MST_UNKNOWN)
            continue;
        joined = count_joined(servers[i]);
        if (joined == 0 && servers[i]->worker_count < servers[i]->limit)
            continue;   /* it works for another server */
        busy += joined;
        queue = servers[i]->queue != MST_UNKNOWN ? mst_add_saturated(queue, servers[i]->queue)
                                                 : queue;
    }
    if (apaches != 1 || mst_add_saturated(busy, queue) == 0 ||
        mst_add_saturated(busy, queue) < h->count * MST_STUCK_MILLI / 1000)
        return;
    h->php_busy = busy;
    h->php_queue = queue;
    count_handling(h);
}

static bool add_long(const struct mst_present *p, struct mst_held *held, size_t room)
{
    return room > 0 && mst_present_is_long(p, MST_STUCK_NS, held);
}

/* PHP is behind Apache. Where its workers have no limit of their own, they are Apache's (mod_php):
 * then Apache's figures say more. */
static unsigned rank_of(const struct mst_present *p)
{
    return !p->is_php ? 1 : p->limit != MST_UNKNOWN ? 0 : 2;
}

size_t mst_present_held(struct mst_present *const *servers, size_t count,
                        struct mst_held *held, size_t room)
{
    size_t i, n = 0;
    unsigned rank;

    for (rank = 0; rank <= 2; rank++)
        for (i = 0; i < count; i++)
            if (rank_of(servers[i]) == rank)
                n += add_pools(mst_present_is_stuck, servers[i], &held[n], room - n);
    for (rank = 0; rank <= 2 && n == 0; rank++)
        for (i = 0; i < count; i++)
            if (rank_of(servers[i]) == rank)
                n += add_long(servers[i], &held[n], room - n);
    for (i = 0; i < n; i++)
        find_php(servers, count, &held[i]);
    return n;
}

bool mst_present_full(struct mst_present *const *servers, size_t count, struct mst_held *held)
{
    unsigned rank;
    size_t i;

    for (rank = 0; rank <= 2; rank++)
        for (i = 0; i < count; i++)
            if (rank_of(servers[i]) == rank &&
                add_pools(is_full, servers[i], held, 1) > 0) {
                find_php(servers, count, held);
                return true;
            }
    return false;
}

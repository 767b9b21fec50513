/* works.c - what each recorded request does, step by step: see building.h. */
#include <string.h>

#include "archive/query.h"
#include "base/array.h"
#include "memory/pool.h"
#include "model/building.h"

#define REQUESTS_MOST    20000u   /* for each server; of more, evenly chosen ones are taken */
#define AT_ALL           100e-6   /* a lock that is free takes less */
#define ENDS_MOST        256u     /* other ends with a name; further ones are one for each kind */

/* ---- the ends and PHP's waits for them ---------------------------------------------- */

size_t mst_building_add_end(struct mst_building *b, const char *kind, const char *name)
{
    apr_pool_t *pool = b->r->pool;
    struct mst_model_end *end = mst_pool_append(pool, &b->r->system.ends, &b->r->system.end_count,
                                                sizeof *end);

    *end = (struct mst_model_end){
        .kind = apr_pstrdup(pool, kind), .name = apr_pstrdup(pool, name),
        .wait_factor = 1, .compute_factor = 1,
    };
    /* Some names begin with their kind: "lock flock". */
    end->called = name[0] == '\0' ? end->kind : strncmp(name, kind, strlen(kind)) == 0 ? end->name :
                  apr_pstrcat(pool, kind, " ", name, NULL);
    mst_pool_append(pool, &b->sums, &b->sum_count, sizeof *b->sums);
    return b->r->system.end_count - 1;
}

static size_t find_end(struct mst_building *b, const char *kind, const char *name)
{
    const struct mst_model_run *r = b->r;
    size_t first = b->at->ends + MST_END_SERVER_COUNT, i;

    for (i = first; i < r->system.end_count; i++)
        if (strcmp(r->system.ends[i].kind, kind) == 0 &&
            strcmp(r->system.ends[i].name, name) == 0)
            return i;
    if (i - first >= ENDS_MOST && name[0] != '\0')
        return find_end(b, kind, "");
    i = mst_building_add_end(b, kind, name);
    r->system.ends[i].is_other = true;
    return i;
}

/* The gate of a pool of the PHP's, by its label. */
static size_t gate_of(const struct mst_building *b, const char *label)
{
    const struct mst_model_run *r = b->r;
    size_t i;

    for (i = 0; i < r->workers_count; i++)
        if (r->workers[i].server == b->at->php &&
            (r->workers[i].pool == NULL || strcmp(r->workers[i].pool->label, label) == 0))
            return r->workers[i].gate;
    return SIZE_MAX;
}

bool mst_building_read_waits(struct mst_building *b)
{
    static const char sql[] =
        "SELECT p.rowid AS id, p.label AS label, w.kind AS kind, w.end AS end, "
        "w.wait_ns AS wait_ns FROM main.php_requests p LEFT JOIN main.php_waits w ON "
        "w.server_id = p.server_id AND w.key = p.key WHERE p.server_id = :id ORDER BY p.rowid";
    struct mst_query q = mst_query_ask(b->r->db, sql, b->at->php->id);
    const char *kind, *name;
    char label[MST_NAME_MAX];

    b->wait_count = 0;
    while (mst_query_next(&q)) {
        struct mst_recorded_wait w = { mst_row_number(&q, "id"), 0, SIZE_MAX, 0 };

        mst_row_copy(&q, "label", label, sizeof label);
        w.gate = gate_of(b, label);
        kind = mst_row_text(&q, "kind");
        name = mst_row_text(&q, "end");
        if (kind != NULL && mst_wait_named(kind) < MST_WAIT_COUNT) {
            char known[MST_NAME_MAX];

            apr_cpystrn(known, kind, sizeof known);
            w.end = find_end(b, known, name != NULL ? name : "");
            w.seconds = mst_or_zero(mst_in_seconds(mst_row_number(&q, "wait_ns")));
            b->sums[w.end].seconds += w.seconds;
            b->sums[w.end].requests++;
            b->sums[w.end].long_ones += w.seconds > AT_ALL;
        }
        if (!mst_grow(&b->waits, &b->wait_room, b->wait_count, sizeof *b->waits))
            mst_out_of_memory();
        b->waits[b->wait_count++] = w;
    }
    return mst_query_done(&q);
}

/* The first of a request's rows; `wait_count`: there is none. */
static size_t waits_of(const struct mst_building *b, uint64_t row)
{
    size_t low = 0, high = b->wait_count, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (b->waits[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->wait_count && b->waits[low].row == row ? low : b->wait_count;
}

/* ---- the steps of a request -------------------------------------------------------- */

static void add_step(struct mst_building *b, enum mst_step_kind kind, size_t at, size_t end,
                     double seconds)
{
    struct mst_system *s = &b->r->system;

    if (!mst_grow(&s->steps, &b->step_room, s->step_count, sizeof *s->steps))
        mst_out_of_memory();
    s->steps[s->step_count++] = (struct mst_model_step){
        kind, (uint32_t)at, (uint32_t)end, seconds,
    };
    s->works[s->work_count - 1].count++;
}

static void compute(struct mst_building *b, size_t cpus, size_t end, double seconds)
{
    add_step(b, MST_STEP_COMPUTE, cpus, end, seconds);
}

static void wait_for(struct mst_building *b, size_t end, double seconds)
{
    if (seconds > 0)
        add_step(b, MST_STEP_WAIT, 0, end, seconds);
}

static size_t own_end(const struct mst_building *b, enum mst_server_end which)
{
    return b->at->ends + which;
}

/* Whether it is a lock that lets in one at a time. */
static bool is_lock(const struct mst_building *b, size_t end)
{
    return b->sums[end].gate != 0 && strcmp(b->r->system.ends[end].kind, "lock") == 0;
}

static double part(const struct mst_walked *w, enum mst_part which)
{
    return (double)w->split.parts_ns[which] / (double)MST_NS_PER_S;
}

/* A named wait, and what the other end computes for it where it is on this machine. */
static void add_wait(struct mst_building *b, size_t end, double seconds)
{
    const struct mst_end_sum *sum = &b->sums[end];

    if (sum->gate != 0) {
        add_step(b, MST_STEP_ENTER, sum->gate, end, 0);
        wait_for(b, end, sum->inside);
        add_step(b, MST_STEP_LEAVE, sum->gate, end, 0);
    } else {
        compute(b, 0, end, seconds);
        wait_for(b, end, seconds);
    }
}

/* A part of what PHP does for a request, without its locks that let in one at a time. */
static void add_run(struct mst_building *b, const struct mst_walked *w, size_t first, double share)
{
    double cpu = part(w, MST_PART_CPU) + part(w, MST_PART_COMPILE) + part(w, MST_PART_GC);
    size_t i;

    compute(b, b->php_cpus, own_end(b, MST_END_PHP), cpu * share / 2);
    for (i = first; i < b->wait_count && b->waits[i].row == w->php_row; i++)
        if (b->waits[i].end != SIZE_MAX && !is_lock(b, b->waits[i].end))
            add_wait(b, b->waits[i].end, b->waits[i].seconds * share);
    wait_for(b, own_end(b, MST_END_PHP), part(w, MST_PART_REST) * share);
    compute(b, b->php_cpus, own_end(b, MST_END_PHP), cpu * share / 2);
}

/* The lock among a request's waits; SIZE_MAX: there is none. */
static size_t lock_of(const struct mst_building *b, const struct mst_walked *w, size_t first)
{
    size_t i;

    for (i = first; i < b->wait_count && b->waits[i].row == w->php_row; i++)
        if (b->waits[i].end != SIZE_MAX && is_lock(b, b->waits[i].end))
            return b->waits[i].end;
    return SIZE_MAX;
}

/* A lock is held while the script does something else: as much of its work lies inside as takes
 * the time for which each request has the lock. */
static void add_locked_run(struct mst_building *b, const struct mst_walked *w, size_t first,
                           size_t lock)
{
    double inside = b->sums[lock].inside, work = b->unlocked;
    double share = work > inside ? inside / work : 1;

    add_step(b, MST_STEP_ENTER, b->sums[lock].gate, lock, 0);
    add_run(b, w, first, share);
    wait_for(b, lock, inside - work);
    add_step(b, MST_STEP_LEAVE, b->sums[lock].gate, lock, 0);
    if (share < 1)
        add_run(b, w, first, 1 - share);
}

static void add_php(struct mst_building *b, const struct mst_walked *w)
{
    size_t first = waits_of(b, w->php_row), lock = lock_of(b, w, first);
    size_t gate = first < b->wait_count ? b->waits[first].gate : SIZE_MAX;
    bool has_gate = b->has_php_gate && gate != SIZE_MAX;

    b->php_seconds += b->stands_for * (part(w, MST_PART_CPU) + part(w, MST_PART_COMPILE) +
                                       part(w, MST_PART_GC));
    b->all_php_cpu_wait += b->stands_for * part(w, MST_PART_CPU_WAIT);
    b->php_requests += b->stands_for;
    if (has_gate)
        add_step(b, MST_STEP_ENTER, gate, 0, 0);
    else
        wait_for(b, own_end(b, MST_END_PHP), part(w, MST_PART_PHP_WAIT));
    compute(b, b->php_cpus, own_end(b, MST_END_PHP_ITSELF), 1);
    wait_for(b, own_end(b, MST_END_PHP_ITSELF), 1);
    if (lock != SIZE_MAX)
        add_locked_run(b, w, first, lock);
    else
        add_run(b, w, first, 1);
    if (has_gate)
        add_step(b, MST_STEP_LEAVE, gate, 0, 0);
}

static void add_backend(struct mst_building *b, size_t end, double seconds)
{
    b->sums[end].seconds += b->stands_for * seconds;
    b->sums[end].requests++;
    add_wait(b, end, seconds);
}

static void add_front(struct mst_building *b, const struct mst_walked *w)
{
    double own = part(w, MST_PART_READ) + part(w, MST_PART_CHECKS) + part(w, MST_PART_HANDLE) +
                 part(w, MST_PART_SEND) + part(w, MST_PART_TLS);
    double backend = part(w, MST_PART_BACKEND);

    /* What PHP's time does not explain of Apache's wait for it is work of both. */
    if (w->has_php)
        own += backend;
    if (!mst_grow(&b->at->own, &b->own_room, b->at->own_count, sizeof own))
        mst_out_of_memory();
    b->at->own[b->at->own_count++] = own;
    compute(b, b->front_cpus, own_end(b, MST_END_SERVER), 0.5);
    wait_for(b, own_end(b, MST_END_SERVER), own);
    wait_for(b, MST_END_CLIENT, part(w, MST_PART_UPLOAD) + part(w, MST_PART_H2_WAIT));
    if (w->has_php)
        add_php(b, w);
    else if (backend > 0)
        add_backend(b, find_end(b, "backend", w->handler), backend);
    wait_for(b, MST_END_CLIENT, part(w, MST_PART_SEND_CLIENT) + part(w, MST_PART_SEND_NETWORK) +
                                part(w, MST_PART_SEND_SERVER));
    compute(b, b->front_cpus, own_end(b, MST_END_SERVER), 0.5);
}

bool mst_building_take(void *context, const struct mst_walked *w)
{
    struct mst_building *b = context;
    struct mst_model_run *r = b->r;
    struct mst_system *s = &r->system;
    uint64_t n = r->requests, most = REQUESTS_MOST * r->server_count;
    struct mst_front *front = &s->fronts[s->front_count - 1];

    if (!mst_grow(&b->arrivals, &b->arrival_room, b->arrival_count, sizeof *b->arrivals) ||
        mst_values_add(&b->totals, w->total_ns) != 0)
        mst_out_of_memory();
    b->arrivals[b->arrival_count++] = (struct mst_arrival){ w->start_ns,
                                                           (uint32_t)s->front_count - 1 };
    b->seen++;
    if (n > most && b->seen * most / n == (b->seen - 1) * most / n)
        return true;
    b->stands_for = n > most ? (double)n / (double)most : 1;
    if (!mst_grow(&s->works, &b->work_room, s->work_count, sizeof *s->works))
        mst_out_of_memory();
    s->works[s->work_count++] = (struct mst_work){ s->step_count, 0 };
    front->work_count++;
    compute(b, 0, MST_END_KERNEL, 1);
    add_step(b, MST_STEP_ENTER, front->gate, 0, 0);
    if (mst_summary_is_php(b->at->front))
        add_php(b, w);
    else
        add_front(b, w);
    wait_for(b, own_end(b, MST_END_SERVER_ITSELF), 1);
    add_step(b, MST_STEP_LEAVE, front->gate, 0, 0);
    add_step(b, MST_STEP_WAIT, 0, MST_END_OUTSIDE, 1);
    if (r->tool_gate != SIZE_MAX) {
        add_step(b, MST_STEP_ENTER, r->tool_gate, 0, 0);
        compute(b, 0, MST_END_TOOL, 1);
        add_step(b, MST_STEP_LEAVE, r->tool_gate, 0, 0);
    }
    return true;
}

/* serial.c - whether what requests waited for lets in one of them at a time: see serial.h. */
#include "findings/serial.h"

#include <math.h>

#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "findings/sentences.h"

#define APACHES_ENDS(ended, ns) \
    "SELECT start_ns + queue_ns + read_ns + " ended " AS ended, " ns " AS ns " \
    MST_FROM_APACHES_REQUESTS "AND " ns " > 0 ORDER BY 1"
/* PHP's waits have no instants of their own: those of a kind that fills php_run end with it. The
 * index of php_waits finds those of each request; a plain JOIN can go the other way, and then reads
 * all requests for each wait. */
static const char *const ends_of[] = {
    [MST_SERIAL_CHECKS] = APACHES_ENDS("checks_ns", "checks_ns"),
    [MST_SERIAL_BACKEND] = APACHES_ENDS("checks_ns + upload_ns + backend_ns", "backend_ns"),
    [MST_SERIAL_SENDING] = APACHES_ENDS("handle_ns + send_ns", "send_server_ns"),
    [MST_SERIAL_WAIT] =
        "SELECT p.start_ns + p.run_ns AS ended, sum(w.wait_ns) AS ns FROM php_requests p "
        "CROSS JOIN php_waits w ON w.server_id = p.server_id AND w.key = p.key "
        "WHERE p.server_id = :id AND p.ghost = 0 AND w.kind = :kind GROUP BY p.rowid ORDER BY 1",
};

#define LATEST 16u   /* ends that are kept: no distance goes further back */

struct distances { double sum, squares, count; };

/* What is known of the ends of waits. `latest` is a ring of ends; `next`, `fourth` and `sixteenth`
 * are the distances from an end to the first, fourth and sixteenth one after it. */
struct spacing {
    uint64_t count, shortest_ns, sum_ns, latest[LATEST];
    struct distances next, fourth, sixteenth;
};

static void add_distance(struct distances *d, uint64_t from, uint64_t to)
{
    double distance = (double)(to - from);

    d->sum += distance;
    d->squares += distance * distance;
    d->count++;
}

/* Whether they deviate by at most this part of their mean. */
static bool are_regular(const struct distances *d, double most)
{
    double mean = d->sum / d->count;

    return sqrt(fmax(d->squares / d->count - mean * mean, 0)) <= most * mean;
}

/* The distance from the end that is `before` ends before this one. */
static void add_distance_from(struct distances *d, const struct spacing *p, uint64_t before,
                              uint64_t ended)
{
    if (p->count >= before)
        add_distance(d, p->latest[(p->count - before) % LATEST], ended);
}

static void add_end(struct spacing *p, uint64_t ended, uint64_t ns)
{
    if (ended == MST_UNKNOWN || ns == MST_UNKNOWN)
        return;
    add_distance_from(&p->next, p, 1, ended);
    add_distance_from(&p->fourth, p, 4, ended);
    add_distance_from(&p->sixteenth, p, 16, ended);
    p->latest[p->count % LATEST] = ended;
    p->count++;
    if (p->shortest_ns == 0 || ns < p->shortest_ns)
        p->shortest_ns = ns;
    p->sum_ns += ns;
}

/* Whether the waits ended as where one request at a time is served, and answered at once. */
static bool are_single(const struct spacing *p)
{
    return are_regular(&p->next, MST_SERIAL_NEXT_MAX) &&
           are_regular(&p->fourth, MST_SERIAL_FOURTH_MAX);
}

/* The same where some answers are sent together: so no distance is regular but those that are much
 * longer than what is together. `shortest` and `inside` are in distances of two ends. */
static bool are_together(const struct spacing *p, double shortest, double inside)
{
    return p->count >= MST_TOGETHER_REQUESTS_MIN && inside >= MST_TOGETHER_INSIDE_MIN &&
           shortest >= MST_TOGETHER_SHORTEST_MIN &&
           are_regular(&p->sixteenth, MST_TOGETHER_SIXTEENTH_MAX);
}

/* YES: the waits ended one by one, as regularly as where one request at a time is served, and the
 * shortest wait took about as long as serving one request. NO also where too few requests waited at
 * once on average. UNKNOWN: enough did, but a thinned archive does not have all single ends. */
static enum mst_answer is_serial(const struct spacing *p, double inside_min, bool has_all_ends)
{
    double mean, inside, shortest;

    if (p->count < MST_SERIAL_REQUESTS_MIN)
        return MST_ANSWER_NO;
    mean = p->next.sum / p->next.count;
    if (mean <= 0)
        return MST_ANSWER_NO;
    inside = (double)p->sum_ns / (double)p->count / mean;
    shortest = (double)p->shortest_ns / mean;
    if (inside < inside_min)
        return MST_ANSWER_NO;
    if (!has_all_ends)
        return MST_ANSWER_UNKNOWN;
    return shortest <= MST_SERIAL_SHORTEST_MAX &&
           (are_single(p) || are_together(p, shortest, inside)) ? MST_ANSWER_YES : MST_ANSWER_NO;
}

/* Whether each of the server's requests is a row: of a thinned archive, some stand for others. */
static bool has_all_requests(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    struct mst_query row;
    bool found;

    if (q->s->thinned_of == 0)
        return true;
    row = mst_query_ask(q->db, mst_summary_is_php(server) ?
                        "SELECT 1 AS one " MST_FROM_PHPS_ROWS "AND weight > 1 LIMIT 1" :
                        "SELECT 1 AS one " MST_FROM_APACHES_ROWS "AND weight > 1 LIMIT 1",
                        server->id);
    found = mst_query_next(&row);
    q->failed |= !mst_query_done(&row);
    return !found;
}

enum mst_answer mst_serial(struct mst_inquiry *q, enum mst_serial_of what,
                           const struct mst_summary_server *server, const char *kind,
                           double inside_min)
{
    struct mst_query rows = mst_query_ask(q->db, ends_of[what], server->id);
    struct spacing p = { 0 };

    if (kind != NULL)
        mst_query_set_text(&rows, ":kind", kind);
    while (mst_query_next(&rows))
        add_end(&p, mst_row_number(&rows, "ended"), mst_row_number(&rows, "ns"));
    q->failed |= !mst_query_done(&rows);
    return is_serial(&p, inside_min, has_all_requests(q, server));
}

void mst_note_serial(struct mst_inquiry *q, struct mst_finding *f, enum mst_serial_of what,
                     uint64_t part_ns)
{
    enum mst_answer serial = mst_serial(q, what, q->b.front, NULL, MST_SERIAL_INSIDE_MIN);

    mst_found_answer(f, MST_ONE_AT_A_TIME, serial);
    if (serial != MST_ANSWER_YES)
        return;
    f->weight = mst_weight_with_all_waiting(&q->b, part_ns) + 1;
    mst_say_serial(f);
}

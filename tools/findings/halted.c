/* halted.c - processes that were stopped, or waited uninterruptibly, while they had requests. See
 * rules.h.
 *
 * The recording sees a process's state once in two seconds or more. Stopped once is enough to be
 * told, and comes first; a disk makes each process wait so for a moment, which counts when it was
 * seen twice.
 */
#include "analysis/run_requests.h"
#include "archive/query.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* By spells: samples of a process in a row that have the same state. */
static const char halted_processes[] =
    "SELECT pid, state, min(time_ns) AS since, max(time_ns) AS until FROM "
    "(SELECT pid, state, time_ns, row_number() OVER (PARTITION BY pid ORDER BY time_ns) - "
    "row_number() OVER (PARTITION BY pid, state ORDER BY time_ns) AS spell "
    "FROM process_samples WHERE server_id = :id) WHERE state IN ('T', 't', 'D') "
    "GROUP BY pid, state, spell HAVING count(*) > (state = 'D') "
    "ORDER BY state = 'D', max(time_ns) - min(time_ns) DESC, pid LIMIT 1";

/* Those that it had for all of that time. */
static const char apaches_requests[] =
    "SELECT count(*) AS number " MST_FROM_APACHES_REQUESTS "AND pid = :pid AND start_ns <= :since "
    "AND start_ns + queue_ns + read_ns + handle_ns + send_ns >= :until";
static const char phps_requests[] =
    "SELECT count(*) AS number " MST_FROM_PHPS_REQUESTS "AND pid = :pid AND start_ns <= :since "
    "AND start_ns + run_ns >= :until";

static bool read_halted(struct mst_inquiry *q, const struct mst_summary_server *server,
                        struct mst_halted *h)
{
    struct mst_query row = mst_query_ask(q->db, halted_processes, server->id);
    bool found = mst_query_next(&row);

    if (found)
        *h = (struct mst_halted){
            .pid = mst_row_number(&row, "pid"), .state = mst_row_text(&row, "state")[0],
            .since_ns = mst_row_number(&row, "since"), .until_ns = mst_row_number(&row, "until"),
            .is_php = mst_summary_is_php(server),
        };
    q->failed |= !mst_query_done(&row);
    if (!found)
        return false;
    row = mst_query_ask(q->db, h->is_php ? phps_requests : apaches_requests, server->id);
    mst_query_set(&row, ":pid", (int64_t)h->pid);
    mst_query_set(&row, ":since", (int64_t)h->since_ns);
    mst_query_set(&row, ":until", (int64_t)h->until_ns);
    h->requests = mst_known(mst_end_with_number(q, &row));
    return true;
}

bool mst_was_stopped(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    struct mst_halted h;

    return read_halted(q, server, &h) && h.state != 'D';
}

/* Requests that are stuck or wait for workers tell of it without one of the process, too. */
static bool is_told(const struct mst_halted *h, enum mst_code code)
{
    return h->requests > 0 || code == MST_CODE_STUCK_REQUESTS ||
           (code == MST_CODE_CANNOT_TELL && h->state != 'D');
}

void mst_note_halted(struct mst_inquiry *q, struct mst_finding *f)
{
    const struct mst_summary_server *servers[] = { q->b.php, q->b.front };
    struct mst_halted h, told = { 0 };
    size_t i;

    for (i = 0; i < 2; i++)   /* stopped says more than a wait for a disk */
        if (servers[i] != NULL && (told.state == '\0' || told.state == 'D') &&
            read_halted(q, servers[i], &h) && is_told(&h, f->code) &&
            (told.state == '\0' || h.state != 'D'))
            told = h;
    if (told.state == '\0')
        return;
    mst_found_number(f, MST_STOPPED_PID, told.state != 'D' ? told.pid : MST_UNKNOWN);
    mst_say_halted(f, &told);
}

/* read_ends.c - reads the calls of other ends: databases, caches, servers. See steps.h. */
#include "analysis/steps.h"
#include "archive/query.h"
#include "base/array.h"

/* A board has 64, and other archives may have any number. */
#define ENDS_MAX 4096u

bool mst_summary_read_ends(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT kind, end, calls, failed, end_ns, connect_ns FROM ends WHERE server_id = :id "
        "ORDER BY end_ns DESC, kind, end", s->id);
    struct mst_summary_end *end;

    while (s->end_count < ENDS_MAX && mst_query_next(&q)) {
        end = mst_append(&s->ends, &s->end_count, sizeof *end);
        if (end == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *end = (struct mst_summary_end){
            .kind = mst_row_string(&q, "kind"), .name = mst_row_string(&q, "end"),
            .calls = mst_row_number(&q, "calls"), .failed = mst_row_number(&q, "failed"),
            .end_ns = mst_row_number(&q, "end_ns"),
            .connect_ns = mst_row_number(&q, "connect_ns"),
        };
    }
    return mst_query_done(&q);
}

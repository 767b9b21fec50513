/* slowest.h - the slowest requests of a server, each with the parts of its time. */
#ifndef MPMSTAT_SLOWEST_H
#define MPMSTAT_SLOWEST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "read/split.h"
#include "segment/fields.h"

#define MST_SLOWEST_MOST   20u
#define MST_SLOWEST_MARKS  64u   /* of a request: no PHP records more */

struct mst_slow_mark { char name[64]; uint64_t after_ns; };   /* after: since the request began */

struct mst_slow {
    uint64_t start_ns, total_ns, status;
    bool     aborted;
    char     label[128], path[128], script[128], handler[160];   /* "": not known */
    uint64_t parts_ns[MST_PART_COUNT];               /* they add up to total_ns */
    uint64_t php_id, php_row;        /* the server and the row of PHP's request; 0: none */
    /* Of PHP's request, by PHP's clock: its process and start, by which marks name it; its start
     * after that of the request. */
    uint64_t php_pid, php_start_ns, php_after_ns;
    char     place[MST_CODE_WORDS_MAX];   /* where in PHP's code most of it was; "": not known */
    size_t   mark_count;
    struct mst_slow_mark marks[MST_SLOWEST_MARKS];
};

struct mst_slowest {
    size_t count;
    struct mst_slow *rows;           /* the slowest first */
};

/* At most MST_SLOWEST_MOST. False: SQLite failed, or memory ran out. Free in either case. */
bool mst_slowest_read(struct mst_slowest *slowest, const struct mst_summary *s, sqlite3 *db,
                      const struct mst_summary_server *server, size_t most);
void mst_slowest_free(struct mst_slowest *slowest);

#endif

/* request.h - a request to export, and what PHP did for it. */
#ifndef MPMSTAT_EXPORT_REQUEST_H
#define MPMSTAT_EXPORT_REQUEST_H

#include "export/export.h"
#include "read/call_place.h"
#include "read/split.h"
#include "segment/format.h"
#include "segment/records.h"

#define MST_EXPORT_WAITS 16u     /* of a request; an archive has two ends, and a rest by kind */

struct mst_export_wait {
    unsigned kind;               /* enum mst_wait */
    uint64_t wait_ns, calls, failed;
    char     end[MST_NAME_MAX];  /* "": several, or not known */
    struct mst_code_at from;     /* PHP's code that most of it was called from; all "": not known */
};

struct mst_export_request {
    uint64_t id, start_ns, total_ns, status, bytes, pid;
    bool     aborted, sampled;
    char     label[MST_NAME_MAX], handler[MST_NAME_MAX], backend[MST_NAME_MAX];
    char     path[MST_PATH_NAME_MAX];        /* "": not recorded */
    char     trace_id[33], parent[17];       /* "": it is in no trace */
    uint64_t parts_ns[MST_PART_COUNT];
    uint64_t php_row;                        /* 0: PHP has no record of it */
    uint64_t php_pid, php_memory_bytes;
    char     script[MST_PATH_MAX];
    size_t   wait_count;
    struct mst_export_wait waits[MST_EXPORT_WAITS];
};

/* Whether a record that was read right now is one of the chosen, unless that is for being one of
 * the slowest: what the walk would say of its row. */
bool mst_export_is_chosen(const struct mst_export_choice *choice, const struct mst_request *record,
                          const char *label);

/* False stops, and the walk fails. */
typedef bool mst_export_each(void *context, const struct mst_export_request *request);

/* Calls `each` for the chosen requests of an Apache, in the order of their rows. False: SQLite
 * failed, or `each` did. */
bool mst_export_walk(const struct mst_export_choice *choice, const struct mst_summary *s,
                     const struct mst_summary_server *server, sqlite3 *db, mst_export_each *each,
                     void *context);

#endif

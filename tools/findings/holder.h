/* holder.h - which group of a run's requests, a label, a page or a script, has most of a time: of
 * the busy workers' time, or of a wait. */
#ifndef MPMSTAT_HOLDER_H
#define MPMSTAT_HOLDER_H

#include "findings/inquiry.h"

struct mst_holder {
    char     name[128];
    uint64_t groups;             /* that the run has */
    uint64_t requests;           /* of the group with most of the time */
    uint64_t all_requests;
    double   time_ns;            /* of that group */
    double   all_time_ns;
    double   others_waited_ns;   /* for workers: the other groups' requests */
};

/* The requests of the server :id, with the name of their group, time_ns and waited_ns. :kind is a
 * parameter where the query has it; :front is the Apache in front of a PHP. */
struct mst_holders {
    const char *sql;
    bool        are_pages;
    const char *what;       /* "Label": what the name is, for mst_say_holder() */
};

/* Where SQLite fails, or memory runs out, the inquiry has failed. */
struct mst_holder mst_holder_ask(struct mst_inquiry *q, const struct mst_holders *holders,
                                 int64_t server_id, const char *kind);

/* The page of a PHP's row: its Apache's path. In a thinned archive the rows have no index. */
#define MST_PHPS_PATH \
    "(SELECT r.path FROM server_requests r WHERE r.server_id = :front AND r.request_id = " \
    "php_requests.request_id LIMIT 1)"

/* Whether the requests of `server` have known paths: its own, or of a PHP the Apache's. */
bool mst_holder_knows_pages(const struct mst_inquiry *q, const struct mst_summary_server *server);

/* Thousandths of the time and of the requests that the group has. 0: there are none. */
uint64_t mst_holder_of_time_milli(const struct mst_holder *h);
uint64_t mst_holder_of_requests_milli(const struct mst_holder *h);

/* True where the group has at least half of the time, and its share of the requests is at most half
 * as large as its share of the time. False for a page's name that is not a path ("(other)"), and
 * for the only group. */
bool mst_holder_stands_out(const struct mst_holder *h, const struct mst_holders *holders);

#endif

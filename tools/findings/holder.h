/* holder.h - which group of a run's requests, a label or a script, has most of a time: of the busy
 * workers' time, or of a wait. */
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

/* `sql` selects the requests of the server :id with their group's name, time_ns and waited_ns;
 * `kind` is its parameter :kind, or NULL. Where SQLite fails, or memory runs out, the inquiry has
 * failed. */
struct mst_holder mst_holder_ask(struct mst_inquiry *q, const char *sql, int64_t server_id,
                                 const char *kind);

/* Thousandths of the time and of the requests that the group has. 0: there are none. */
uint64_t mst_holder_of_time_milli(const struct mst_holder *h);
uint64_t mst_holder_of_requests_milli(const struct mst_holder *h);

/* Whether the group has most of the time, and far more of it than its requests are many. */
bool mst_holder_stands_out(const struct mst_holder *h);

#endif

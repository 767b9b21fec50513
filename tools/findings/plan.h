/* plan.h - how many workers the load that wanted to come takes, and what more of them change. How
 * many requests wanted to be served at once is measured; what they get with more workers is
 * foreseen (foresight.h). */
#ifndef MPMSTAT_FINDINGS_PLAN_H
#define MPMSTAT_FINDINGS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/foresight.h"
#include "model/enough.h"

/* What else limits, once there are more workers. */
enum mst_next_limit {
    MST_NEXT_NONE,           /* nothing that was measured: each request has a worker */
    MST_NEXT_CPU,            /* the CPUs are full before, or a group's share of them */
    MST_NEXT_ONE_BY_ONE,     /* what they wait for lets in one request at a time */
    MST_NEXT_MEMORY,         /* the machine's memory is used up before */
    MST_NEXT_OTHER           /* other workers, or the load tool: next_name */
};

/* How it is known how many requests want to be served at once. */
enum mst_wanted_by {
    MST_WANTED_ON_AVERAGE,   /* rate x (held + waited): Little's law */
    MST_WANTED_BY_TOOL,      /* the load tool's concurrency */
    MST_WANTED_AT_TIMES      /* 99 % of the samples, or of the requests, have no more: the load was
                              * not even */
};

struct mst_workers_plan {
    const char *why_not;           /* why there is no plan, for "How high is not known: ..."; NULL:
                                    * there is one */
    enum mst_next_limit next;
    char     next_name[80];        /* how the model names MST_NEXT_ONE_BY_ONE or MST_NEXT_OTHER; ""
                                    * where the findings say that it is one by one */
    bool     has_quota;            /* the CPUs are those that a control group may use */
    bool     perhaps_one_by_one;   /* whether that is MST_NEXT_ONE_BY_ONE is not known */
    uint64_t workers;              /* advised, in whole processes; no more than now where more
                                    * cannot help. MST_UNKNOWN: more than now, and an average does
                                    * not tell how many */
    uint64_t now;                  /* the limit, or what was seen busy where that is not known */
    uint64_t wanted;               /* requests at once, those that waited included */
    enum mst_wanted_by by;
    double   at_once;              /* the same on average */
    uint64_t cpu_then_milli;       /* part of the CPUs that as many as advised use; MST_UNKNOWN */
    struct mst_foreseen foreseen;  /* with as many as advised */
    double   process_bytes;        /* of one more process, upper end; 0: not known */
    uint64_t processes_fit;        /* in 80 % of the machine's memory; MST_UNKNOWN */
    bool     threaded;             /* several workers share a process */
};

/* Where SQLite fails, so has the inquiry, and why_not is set. */
void mst_plan_workers(struct mst_workers_plan *plan, struct mst_inquiry *q,
                      const struct mst_summary_server *server);

/* The same of one of several FPM pools, by what was there at once: which pool the load tool's
 * connections were for is not known. */
void mst_plan_pool(struct mst_workers_plan *plan, struct mst_inquiry *q,
                   const struct mst_summary_pool *pool);

/* How many workers are enough for the load as it came. */
struct mst_workers_enough {
    const char *why_not;           /* why nothing is simulated, a sentence without its end; NULL */
    uint64_t    workers;           /* least.limit, in whole processes */
    struct mst_model_least least;
};

/* Of a server, or of one of several FPM pools. Nothing is simulated before the findings are there:
 * the model takes from them what lets in one request at a time. */
void mst_plan_enough(struct mst_workers_enough *enough, struct mst_inquiry *q,
                     const struct mst_summary_server *server, const struct mst_summary_pool *pool);

#endif
